"""`expert explain` with --level, --topic, --severity and --source: what is printed, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from expert.cli.main import main
from tests.bicycle.consulting import ROOT

PACKS = [
    "--without",
    "base",
    "--without",
    "errata",
    "--pack",
    "tests/bicycle/base",
    "--pack",
    "tests/bicycle/shop",
    "--engine",
    "reference",
]
PLAN = "tests/bicycle/plan.yaml"
HEAVY = ["--set", "site.load=30 kg"]


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("EXPERT_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "cache"))
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)


def explain(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["explain", PLAN, *PACKS, *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def ids(value: list[dict[str, object]]) -> set[str]:
    found = set()
    for node in value:
        found |= {str(node["id"])} | ids(node["children"])  # type: ignore[arg-type]
    return found


def selected(capsys: pytest.CaptureFixture[str], *arguments: str) -> set[str]:
    code, out, _ = explain(capsys, *HEAVY, "--format", "json", *arguments)
    assert code == 0
    explanation = json.loads(out)["explanation"]
    return ids(explanation["nodes"] if isinstance(explanation, dict) else explanation)


def test_a_selection_prints_the_proofs_alone(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = explain(capsys, *HEAVY, "--severity", "warning")
    assert (code, err) == (0, "")
    assert "A heavy load wants a rack" in out
    assert "\nDesign\n" not in out
    assert "[1]" in out
    assert "[2]" not in out


def test_selectors_may_be_repeated_and_combined(capsys: pytest.CaptureFixture[str]) -> None:
    heavy = {"rule:heavy-load-is-noted"}
    assert selected(capsys, "--severity", "error", "--severity", "warning") == heavy
    assert selected(capsys, "--severity", "error,warning", "--topic", "ride") == heavy
    # The shop's list stands behind the rule; the handbook's T-002 does not.
    assert selected(capsys, "--severity", "warning", "--source", "shop-list") == heavy
    assert selected(capsys, "--severity", "warning", "--source", "T-002") == set()


@pytest.mark.parametrize("selector", [["--severity", "warning"], ["--source", "T-002"], ["--topic", "ride"], []])
def test_levels_are_parts_of_each_other(capsys: pytest.CaptureFixture[str], selector: list[str]) -> None:
    full, paragraph, line = (selected(capsys, *selector, "--level", level) for level in ("full", "paragraph", "line"))
    assert line <= paragraph <= full
    assert line


def test_a_selection_of_nothing_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert "nothing in this advice fits the selection" in explain(capsys, "--severity", "error")[1]
    assert "没有符合筛选条件的内容" in explain(capsys, "--severity", "error", "--lang", "zh")[1]


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--topic", "rode"], "unknown-target", "did you mean 'ride'?"),
        (["--severity", "warn"], "unknown-value", "did you mean 'warning'?"),
        (["--severity", "error,"], "unknown-value", "there is no severity ''"),
        (["--source", "T-0002"], "unknown-target", "did you mean 'T-002'?"),
        (["--level", "lines"], "unknown-value", "did you mean 'line'?"),
        (["need.range", "--topic", "ride"], "bad-call", "FACT|RULE names one"),
    ],
)
def test_a_wrong_selector_is_an_error(capsys: pytest.CaptureFixture[str], arguments: list[str], code: str, says: str) -> None:
    found, out, err = explain(capsys, *arguments)
    assert (found, out) == (2, "")
    assert f"error[{code}]: " in err
    assert says in err


def test_a_source_prunes_a_single_proof(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    whole, pruned = selected(capsys, "design.bike"), selected(capsys, "design.bike", "--source", "T-002")
    assert {"decision:bike", "fact:need.range"} <= pruned < whole
