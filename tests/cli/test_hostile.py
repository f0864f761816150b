"""Hostile strings in every place that a user or a file can fill come out inert; places of facts survive anchors."""

from __future__ import annotations

from pathlib import Path

import pytest

from expert.cli.main import main
from expert.facts import point
from expert.plan import read_plan
from tests.bicycle.consulting import ROOT, program

PACKS = ["--without", "base", "--without", "errata", "--pack", "tests/bicycle/base", "--engine", "reference"]
EVIL = "\x1b]0;owned\x07\u202e[bold]"


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("LC_ALL", "C")


@pytest.mark.parametrize(
    "arguments",
    [
        [EVIL],
        ["--" + EVIL],
        ["recommend", EVIL, *PACKS],
        ["recommend", "tests/bicycle/plan.yaml", "--" + EVIL],
        ["recommend", "tests/bicycle/plan.yaml", "--engine", EVIL],
        ["recommend", "tests/bicycle/plan.yaml", *PACKS, "--set", EVIL],
        ["recommend", "tests/bicycle/plan.yaml", *PACKS, "--set", f"site.terrain={EVIL}"],
        ["recommend", "tests/bicycle/plan.yaml", *PACKS, "--set", f"{EVIL}=1"],
        ["recommend", "tests/bicycle/plan.yaml", *PACKS, "-o", f"/nowhere/{EVIL}"],
        ["recommend", "tests/bicycle/plan.yaml", *PACKS, "--pack", EVIL],
        ["recommend", "tests/bicycle/plan.yaml", *PACKS, "--without", EVIL],
        ["explain", "tests/bicycle/plan.yaml", EVIL, *PACKS],
        ["explain", "tests/bicycle/plan.yaml", *PACKS, "--topic", EVIL],
        ["catalog", EVIL, *PACKS[:-2]],
        ["rules", EVIL],
        ["rules", "test", EVIL],
    ],
    ids=lambda arguments: " ".join(arguments[:2]).replace(EVIL, "EVIL"),
)
def test_hostile_words_on_the_command_line_are_escaped(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "error[" in err
    assert not set(out + err) & {"\x1b", "\x07", "\u202e"}


@pytest.mark.parametrize("format", ["text", "json"])
def test_hostile_text_in_a_plan_is_escaped(capsys: pytest.CaptureFixture[str], tmp_path: Path, format: str) -> None:
    path = tmp_path / "plan\u202e.yaml"
    path.write_text("plan: 1\nname: '\u202e\u2066[link]'\nsite: {distance: 40, load: 20}\n", "utf-8")
    assert main(["explain", str(path), *PACKS, "--format", format]) == 0
    out = capsys.readouterr().out
    if format == "text":
        assert not set(out) & {"\u202e", "\u2066"}
    assert "[link]" in out


def test_a_fact_from_an_anchor_keeps_the_place_where_it_is_written() -> None:
    text = "plan: 1\nsite:\n  distance: &far 40 km\nobserved:\n  range: *far\n"
    facts = read_plan(text, program()).facts
    assert facts["observed.range"].value == point(40_000.0)
    span = facts["observed.range"].span
    assert span is not None
    assert (span.line, span.column, span.path) == (3, 18, "observed.range")


def test_a_fact_from_a_merge_keeps_the_place_where_it_is_written() -> None:
    text = "plan: 1\nsite: &here\n  distance: 40 km\n  <<: {load: 3 kg}\n"
    facts = read_plan(text, program()).facts
    span = facts["site.load"].span
    assert span is not None
    assert (span.line, span.path) == (4, "site.load")
