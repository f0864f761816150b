"""Every finding points at file, line, column and path of the value in the plan, however YAML wrote it there.

Expected places are found in the text of the fixture (`text.index`), or by PyYAML's own composer: never from our loader.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from expert.advice import Finding
from expert.cli.main import main
from expert.consult import consult
from expert.language.store import load_program
from expert.places import builtin_rules
from expert.plan import read_plan
from tests.bicycle.consulting import ROOT, program

# 70 km need 105 km of range, the Volt 9 goes 60 to 80; 30 kg do not fit into a basket; 500 EUR do not pay for a Volt 9.
WRONG = {"range-lasts-the-day": "design.bike", "heavy-load-is-noted": "site.load", "price-keeps-to-the-budget": "design.bike"}
PLANS = {
    "block": "plan: 1\nsite:\n  distance: 70 km\n  load: 30 kg\n  budget: 500 EUR\ndesign:\n  bike: volt-9\n",
    "flow": "plan: 1\nsite: {distance: 70 km, load: 30 kg, budget: 500 EUR}\ndesign: {bike: volt-9}\n",
    "quoted": "plan: 1\nsite:\n  distance: '70 km'\n  load: \"30 kg\"\n  budget: 500 EUR\ndesign: {'bike': 'volt-9'}\n",
    "anchors": "plan: 1\nsite:\n  distance: &far 70 km\n  load: &heavy 30 kg\n  budget: &money 500 EUR\ndesign:\n  bike: &mine volt-9\n",
    "aliases of a name": "plan: 1\nname: &id volt-9\nsite: {distance: 70 km, load: 30 kg, budget: 500 EUR}\ndesign:\n  bike: *id\n",
    "a merged mapping": "plan: 1\nsite: {distance: 70 km, <<: {load: 30 kg, budget: 500 EUR}}\ndesign:\n  <<: {bike: volt-9}\n",
    "a merged list": "plan: 1\nsite:\n  <<: [{load: 30 kg}, {load: 5 kg, distance: 70 km}]\n  budget: 500 EUR\ndesign: {bike: volt-9}\n",
    "what is merged is overruled": (
        "plan: 1\nsite:\n  <<: {load: 1 kg, distance: 70 km}\n  load: 30 kg\n  budget: 500 EUR\ndesign: {bike: volt-9}\n"
    ),
    "Windows lines": "plan: 1\r\nsite:\r\n  distance: 70 km\r\n  load: 30 kg\r\n  budget: 500 EUR\r\ndesign:\r\n  bike: volt-9\r\n",
    "wide characters": "plan: 1\nname: 通勤\nsite: {distance: 70 km, 'load': 30 kg, budget: 500 EUR} # 备注\ndesign: {bike: volt-9}\n",
    "a byte order mark": "\ufeffplan: 1\nsite: {distance: 70 km, load: 30 kg, budget: 500 EUR}\ndesign: {bike: volt-9}\n",
    "comments": (
        "# volt-9, 30 kg\nplan: 1 # one\nsite: # here\n  distance: 70 km\n  load:   30 kg # heavy\n  budget: 500 EUR\n"
        "design:\n\n  bike:\n    volt-9\n"
    ),
    "dotted names": "plan: 1\nsite.distance: 70 km\nsite.load: 30 kg\nsite.budget: 500 EUR\ndesign.bike: volt-9\n",
}
TEXTS = {"site.load": "30 kg", "design.bike": "volt-9"}


def place_of(text: str, words: str) -> tuple[int, int]:
    """1-based line and column of the last place where the words stand, quotes counted as part of the value."""
    before = text.removeprefix("\ufeff")
    before = before[: before.rindex(words)]
    before = before[:-1] if before[-1] in "'\"" else before
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


def json_findings(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, object]]:
    packs = ["--without", "base", "--without", "errata", "--pack", "tests/bicycle/base", "--engine", "reference", "--format", "json"]
    main(["recommend", *arguments, *packs])
    found: list[dict[str, object]] = json.loads(capsys.readouterr().out)["findings"]
    return found


@pytest.mark.parametrize("name", PLANS)
def test_findings_point_at_the_value(
    name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    path = tmp_path / "plan.yaml"
    path.write_bytes(PLANS[name].encode())
    found = {str(finding["rule"]): finding for finding in json_findings(capsys, str(path))}
    for rule, fact in WRONG.items():
        finding = found[rule]
        assert (finding["file"], finding["path"]) == (str(path), fact)
        # A comment and a name may hold the same words: the value is the last mention, save for an alias, which stands where its anchor is.
        assert (finding["line"], finding["column"]) == place_of(PLANS[name], TEXTS[fact]), rule


def test_a_value_that_a_flag_states_points_at_the_flag(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    found = json_findings(capsys, "tests/bicycle/plan.yaml", "--set", "site.load=30 kg")
    (load,) = [finding for finding in found if finding["rule"] == "heavy-load-is-noted"]
    # "site.load=" has ten characters.
    assert (load["file"], load["line"], load["column"]) == ("--set", 1, 11)


# ------------------------------------------------------------------------------------------- example plans


def composed(text: str, path: Sequence[str]) -> yaml.Node:
    """The node at a path, by PyYAML's composer."""
    node = yaml.compose(text)
    for step in path:
        assert isinstance(node, yaml.MappingNode)
        node = next(value for key, value in node.value if key.value == step)
    assert node is not None
    return node


EXAMPLES = sorted((ROOT / "docs/examples").glob("*.yaml"))


def example_findings(path: Path) -> tuple[Finding, ...]:
    packs = [ROOT / "docs/examples/ups-pack"] if path.stem == "rack" else [builtin_rules() / "base", builtin_rules() / "errata"]
    known = load_program(packs)
    return consult(read_plan(path, known), known).findings


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_findings_of_the_examples_point_where_the_composer_finds_the_value(path: Path) -> None:
    text = path.read_text("utf-8")
    for finding in example_findings(path):
        if finding.span is None:
            continue  # nothing that the plan states has part in it
        assert finding.span.file == path.as_posix()
        mark = composed(text, finding.span.path.split(".")).start_mark
        assert (finding.span.line, finding.span.column) == (mark.line + 1, mark.column + 1), finding.rule


def test_some_example_has_findings_with_a_place() -> None:
    assert any(finding.span is not None for path in EXAMPLES for finding in example_findings(path))


def test_every_fact_of_a_plan_knows_its_place() -> None:
    for name, text in PLANS.items():
        for fact, given in read_plan(text, program("base")).facts.items():
            if fact in TEXTS:
                assert given.span is not None
                assert (given.span.line, given.span.column) == place_of(text, TEXTS[fact]), name
