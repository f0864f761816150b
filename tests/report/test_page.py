"""The page: widths in terminal cells, wrapping in both scripts, tables, colour only where it is wanted, nothing alive."""

from __future__ import annotations

import io

import pytest

from expert.errors import cell_width
from expert.report.page import Page, fitted, page_for, wrapped


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("one two three", 7, ["one two", "three"]),
        ("one two three", 100, ["one two three"]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("显存需求很大", 6, ["显存需", "求很大"]),
        ("显存，需求", 6, ["显存，", "需求"]),
        ("需求（显存）", 6, ["需求", "（显", "存）"]),
        ("共 32 卡", 5, ["共 32", "卡"]),
        ("", 5, [""]),
    ],
)
def test_text_is_wrapped_by_cells(text: str, width: int, lines: list[str]) -> None:
    assert wrapped(text, width) == lines
    assert all(cell_width(line) <= width for line in lines)


def test_columns_line_up_in_both_scripts() -> None:
    page = Page(width=60)
    page.table([("显存", "80 GiB"), ("GPU", "8")], indent=0)
    assert page.lines == ["显存  80 GiB", "GPU   8"]


def test_a_table_too_wide_gives_way_in_its_widest_column() -> None:
    assert fitted([4, 40, 6], 30) == [4, 16, 6]
    page = Page(width=40)
    page.table([("a", "one two three four five six seven eight nine ten")], indent=2)
    assert all(cell_width(line) <= 40 for line in page.lines)
    assert len(page.lines) == 2


def test_a_place_follows_its_text_or_takes_a_line_of_its_own() -> None:
    page = Page(width=30)
    page.put("short", tail="plan.yaml:3")
    page.put("a text of twenty-five cells", tail="plan.yaml:4")
    assert page.lines == ["short   plan.yaml:3", "a text of twenty-five cells", "plan.yaml:4"]


def test_what_a_terminal_would_obey_is_escaped_and_markup_stays_as_it_is() -> None:
    page = Page()
    page.put("\x1b[31mred\x07 [bold]text[/bold]\u202e")
    page.table([("\x9b1m", "[link=x]")])
    assert page.text() == "\\x1b[31mred\\x07 [bold]text[/bold]\\u202e\n  \\x9b1m  [link=x]\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "environ", "width", "colour"),
    [
        (io.StringIO(), {}, 100, False),
        (io.StringIO(), {"COLUMNS": "72"}, 72, False),
        (io.StringIO(), {"COLUMNS": "x"}, 100, False),
        (io.StringIO(), {"COLUMNS": "3"}, 40, False),
        (Terminal(), {"COLUMNS": "90"}, 90, True),
        (Terminal(), {}, 80, True),
        (Terminal(), {"NO_COLOR": "1"}, 80, False),
        (Terminal(), {"TERM": "dumb"}, 80, False),
    ],
)
def test_a_page_fits_where_it_goes(stream: io.StringIO, environ: dict[str, str], width: int, colour: bool) -> None:
    page = page_for(stream, "en", environ)
    assert (page.width, page.colour) == (width, colour)


def test_colour_changes_nothing_but_colour() -> None:
    plain, coloured = Page(), Page(colour=True)
    for page in (plain, coloured):
        page.put("heading", style="bold", tail="file:1")
        page.labelled("why", "because", 2, 10)
    assert "\x1b[1mheading\x1b[0m" in coloured.text()
    for code in ("\x1b[1m", "\x1b[2m", "\x1b[0m"):
        coloured.lines = [line.replace(code, "") for line in coloured.lines]
    assert coloured.text() == plain.text()
