"""Lines on a page: wrapping by terminal cells, tables, a little colour. Every text is made inert on its way in."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cache
from typing import IO

from expert.errors import cell_width, inert
from expert.records import dataclass

DEFAULT_WIDTH, PIPED_WIDTH, LEAST_WIDTH = 80, 100, 40
STYLES = {"bold": "1", "dim": "2", "red": "1;31", "yellow": "1;33", "green": "1;32", "blue": "1;34"}


@dataclass(slots=True)
class Page:
    """Text under construction. `colour` adds terminal styles; `width` is in cells."""

    lang: str = "en"
    width: int = PIPED_WIDTH
    colour: bool = False
    lines: list[str] = field(default_factory=list)

    def text(self) -> str:
        """Everything written so far, one newline at the end, no blank ends of lines."""
        return "\n".join(line.rstrip() for line in self.lines).strip("\n") + "\n"

    def blank(self) -> None:
        """One empty line, never two."""
        if self.lines and self.lines[-1]:
            self.lines.append("")

    def heading(self, text: str) -> None:
        """A title above a part."""
        self.blank()
        self.put(text, style="bold")

    def put(self, text: str, indent: int = 0, hang: int = 0, style: str = "", tail: str = "") -> None:
        """A wrapped text; further lines are indented by `hang` more. `tail` (a place) follows at the end, dimmed."""
        room = max(LEAST_WIDTH // 2, self.width - indent - hang)
        rows = wrapped(harmless(text), room)
        for place, row in enumerate(rows):
            self.lines.append(" " * (indent + (hang if place else 0)) + self.styled(row, style))
        if tail:
            self._tail(harmless(tail), cells(rows[-1]) + indent + (hang if len(rows) > 1 else 0), indent + hang)

    def _tail(self, tail: str, used: int, indent: int) -> None:
        if used + 3 + cells(tail) <= self.width:
            self.lines[-1] += "   " + self.styled(tail, "dim")
        else:
            self.lines.append(" " * indent + self.styled(tail, "dim"))

    def labelled(self, label: str, text: str, indent: int, label_width: int, tail: str = "", style: str = "") -> None:
        """A label in a column of its own, and a wrapped text beside it."""
        label = harmless(label)
        gap = " " * max(2, label_width - cells(label))
        before = len(self.lines)
        self.put(text, indent + cells(label + gap), tail=tail, style=style)
        first = self.lines[before]
        self.lines[before] = " " * indent + self.styled(label, "dim") + gap + first[indent + cells(label + gap) :]

    def table(
        self, rows: Sequence[Sequence[str]], indent: int = 2, header: Sequence[str] = (), styles: Mapping[int, str] | None = None
    ) -> None:
        """Columns as wide as their content; the widest column gives way where the page is too narrow."""
        grid = [[harmless(cell) for cell in row] for row in ([header] if header else []) + list(rows)]
        if not grid:
            return
        widths = fitted([max(cells(row[i]) for row in grid) for i in range(len(grid[0]))], self.width - indent)
        for number, row in enumerate(grid):
            style = "dim" if header and number == 0 else ""
            self._row(row, widths, indent, style, styles or {})

    def _row(self, row: Sequence[str], widths: Sequence[int], indent: int, style: str, styles: Mapping[int, str]) -> None:
        columns = [wrapped(cell, width) for cell, width in zip(row, widths, strict=True)]
        for line in range(max(len(column) for column in columns)):
            parts = []
            for place, (column, width) in enumerate(zip(columns, widths, strict=True)):
                shown = column[line] if line < len(column) else ""
                pad = " " * (width - cells(shown)) if place < len(columns) - 1 else ""
                parts.append(self.styled(shown, style or styles.get(place, "")) + pad)
            self.lines.append(" " * indent + "  ".join(parts))

    def styled(self, text: str, style: str) -> str:
        """The text in a terminal style, where there is colour."""
        code = STYLES.get(style)
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and code and text else text


def page_for(stream: IO[str], lang: str, environ: Mapping[str, str] = os.environ) -> Page:
    """A page for a stream: width from COLUMNS, else the terminal's, else 100; colour on a terminal without NO_COLOR."""
    terminal = stream.isatty()
    colour = terminal and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"
    wanted = environ.get("COLUMNS", "")
    if wanted.isdigit() and int(wanted) > 0:
        return Page(lang, max(LEAST_WIDTH, min(int(wanted), 1000)), colour)
    return Page(lang, _terminal_width(stream) if terminal else PIPED_WIDTH, colour)


def _terminal_width(stream: IO[str]) -> int:
    try:
        return max(LEAST_WIDTH, os.get_terminal_size(stream.fileno()).columns)
    except (OSError, ValueError):
        return DEFAULT_WIDTH


def fitted(widths: list[int], room: int) -> list[int]:
    """Column widths that fit, two blanks between columns: the widest gives way, never below four cells."""
    found = list(widths)
    while sum(found) + 2 * (len(found) - 1) > room:
        widest = max(range(len(found)), key=lambda place: found[place])
        if found[widest] <= 4:
            break
        found[widest] -= 1
    return found


def wrapped(text: str, width: int) -> list[str]:
    """The text in lines of at most `width` cells: broken at blanks, inside wide scripts anywhere, long words cut."""
    lines: list[str] = []
    current, used = "", 0
    for piece in _pieces(text):
        size = cells(piece)
        if current and used + size > width and not piece.isspace():
            lines.append(current.rstrip())
            current, used = "", 0
        if not current and piece.isspace() and lines:
            continue
        while size > width:
            head = _cut(piece, width)
            lines.append(head)
            piece = piece[len(head) :]
            size = cells(piece)
        current, used = current + piece, used + size
    return [*lines, current.rstrip()] if current.strip() or not lines else lines


# Wide scripts are broken between any two characters, but no line begins with closing marks or ends with opening ones.
_WIDE = "\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6"
_WIDE += "\U0001f300-\U0001faff\U00020000-\U0003fffd"
_CLOSING = "，。；：！？、）》」』】”’"
_OPENING = "（《「『【“‘"
_WITHOUT_WIDE = re.compile(r"\s+|\S+")


@cache
def _pattern() -> re.Pattern[str]:
    return re.compile(rf"\s+|[{_OPENING}]*[{_WIDE}][{_CLOSING}]*|[^\s{_WIDE}]+[{_CLOSING}]*")  # compiling it takes 5 ms


def _pieces(text: str) -> list[str]:
    """Words, blanks and single wide characters; marks stay with their neighbours."""
    return (_pattern() if _may_be_wide(text) else _WITHOUT_WIDE).findall(text)


def _may_be_wide(text: str) -> bool:
    if text.isascii():
        return False
    return max(text) >= "\u2e80" or any("\u1100" <= char <= "\u115f" for char in text)  # the ends of _WIDE's first gap


def cells(text: str) -> int:
    """Terminal cells of a text; most texts are plain and need no look at each character."""
    return len(text) if text.isascii() else cell_width(text)


def harmless(text: str) -> str:
    """The text without anything that a terminal would act on, in one line."""
    joined = " ".join(text.split("\n"))
    return joined if joined.isascii() and joined.isprintable() else inert(joined)


def _cut(text: str, width: int) -> str:
    used, place = 0, 0
    while place < len(text) and used + cells(text[place]) <= width:
        used += cells(text[place])
        place += 1
    return text[: max(1, place)]
