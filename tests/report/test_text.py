"""Reports word by word, in both languages."""

from __future__ import annotations

from itertools import pairwise

import pytest

from expert.advice import Advice
from expert.errors import cell_width
from expert.explain.proof import explain
from expert.report.page import Page
from expert.report.proofs import put_explanation
from expert.report.text import put_report
from tests.bicycle.consulting import ROOT, advice, sample
from tests.golden_text import assert_golden


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def report(found: Advice, lang: str, explained: bool = False, width: int = 100) -> str:
    page = Page(lang, width)
    put_report(page, found, explain(found) if explained else None)
    return page.text()


CASES = {
    "complete": lambda: sample(),
    "pinned": lambda: sample("design.bike=tour-21"),
    "infeasible": lambda: sample("design.bike=volt-9", "site.distance=100"),
    "outside": lambda: sample("site.distance=301"),
    "undetermined": lambda: advice("site: {load: 3 kg}"),
    "plain": lambda: advice("site: {distance: 5 km}"),
}


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("case", CASES)
def test_a_recommendation_reads_as_it_was_reviewed(case: str, lang: str) -> None:
    assert_golden(f"bicycle-recommend-{case}.{lang}.txt", report(CASES[case](), lang))


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("case", ["complete", "infeasible", "undetermined"])
def test_an_explanation_reads_as_it_was_reviewed(case: str, lang: str) -> None:
    assert_golden(f"bicycle-explain-{case}.{lang}.txt", report(CASES[case](), lang, explained=True))


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_no_line_is_wider_than_the_page(width: int, lang: str) -> None:
    lines = report(sample(), lang, explained=True, width=width).split("\n")
    unbroken = [line for line in lines if cell_width(line) > width]
    # A place is never broken: what is too long then is a single word.
    assert all(len(line.split()) == 1 for line in unbroken)


def test_no_line_of_a_report_is_said_twice_in_a_row() -> None:
    lines = [line for line in report(sample(), "en", explained=True).split("\n") if line]
    assert all(first != second for first, second in pairwise(lines))


def test_text_of_the_plan_comes_out_inert() -> None:
    found = advice('name: "[bold]x[/bold] \u202egnp.exe"\nsite: {distance: 5 km}')
    assert report(found, "en", explained=True).startswith("[bold]x[/bold] \\u202egnp.exe: ")


def test_one_fact_alone_is_short() -> None:
    page = Page()
    put_explanation(page, explain(sample(), "need.range"))
    assert len(page.text().split("\n")) < 15
