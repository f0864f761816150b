"""Every leaf of a proof is an answer, a catalogue entry, a constant, a default or a stated absence; no node is an orphan.

Over every scenario of the built-in packs, the packs under docs/examples and tests/bicycle, and every example plan.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from expert.advice import Advice
from expert.consult import consult
from expert.explain.nodes import ASSUMPTION, DECISION, FACT, MISSING, RULE, STATED, Explanation, Line, Node
from expert.explain.proof import explain
from expert.explain.selecting import selection_of
from expert.language.program import Program
from expert.language.scenarios import Scenario
from expert.language.store import load_program
from expert.places import builtin_rules
from expert.plan import plan_of_facts, read_plan
from tests.bicycle.consulting import ROOT

WORLDS: dict[str, tuple[Path, ...]] = {
    "built-in": (builtin_rules() / "base", builtin_rules() / "errata"),
    "articles": (builtin_rules() / "base",),
    "company": (builtin_rules() / "base", builtin_rules() / "errata", ROOT / "docs/examples/company-pack"),
    "ups": (ROOT / "docs/examples/ups-pack",),
    "bicycle": (ROOT / "tests/bicycle/base", ROOT / "tests/bicycle/shop"),
}

# What a proof may end in, by the label of its lines.
STATED_LINES = {"because", "but", "and", "given"}
CATALOGUE = {"cell", "constant"}
ABSENT = {"unknown", "missing", "silent", "conflict"}
DEFAULT = {"assumed", "otherwise"}
# A rule without conditions that concludes a number of its own is a published value: it must name its source or its place.
PUBLISHED = {"source", "concluded", "rule"}


@cache
def world(name: str) -> Program:
    return load_program(WORLDS[name])


def scenarios(name: str) -> Iterator[Scenario]:
    """The scenarios that the last pack of a world states."""
    program = world(name)
    for scenario in program.scenarios:
        if isinstance(scenario, Scenario) and scenario.layer == program.packs[-1].name and not scenario.without:
            yield scenario


def plans() -> Iterator[tuple[str, str, Scenario | Path]]:
    for name in WORLDS:
        yield from ((f"{name}: {scenario.name}", name, scenario) for scenario in scenarios(name))
    for path in sorted((ROOT / "docs/examples").glob("*.yaml")):
        yield path.name, "ups" if path.stem == "rack" else "built-in", path
    yield "bicycle plan", "bicycle", ROOT / "tests/bicycle/plan.yaml"


def advice_of(name: str, given: Scenario | Path) -> Advice:
    program = world(name)
    plan = read_plan(given, program) if isinstance(given, Path) else plan_of_facts(given.given, program, given.span)
    return consult(plan, program)


def within(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        yield from within(child)


def fault_of(node: Node, numbers: set[int], known: set[str]) -> str:
    """What is wrong with a node, "" where nothing is."""
    labels = {line.label for line in node.lines}
    if not node.title.en or node.kind not in (DECISION, FACT, STATED, ASSUMPTION, RULE, MISSING):
        return "no title or kind"
    if node.id.partition(":")[2].partition("[")[0] not in known:
        return "its id names nothing in the packs"
    if node.kind == STATED:
        return "" if node.at else "a stated fact without its place"
    if node.kind == MISSING:
        return ""
    if not node.lines:
        return "no lines"
    if any(line.see and line.see not in numbers for line in node.lines):
        return "a line refers to a node that is not there"
    if any(_hangs(line) for line in node.lines):
        return "a premise with neither place nor number"
    if node.children or labels & (STATED_LINES | CATALOGUE | ABSENT | DEFAULT):
        return ""
    if labels & {"when", "formula"} or not labels & PUBLISHED:
        return "a leaf that rests on nothing"
    return ""


def _hangs(line: Line) -> bool:
    return line.label in STATED_LINES and not line.at and not line.see


def faults(found: Explanation, program: Program) -> list[str]:
    nodes = [node for top in found.nodes for node in within(top)]
    numbers = [node.number for node in nodes]
    wrong = [] if sorted(numbers) == list(range(1, len(nodes) + 1)) else ["numbers are not 1, 2, 3 …"]
    known = {*program.facts, *program.rules, *program.decisions}
    return wrong + [f"{node.id}: {fault}" for node in nodes if (fault := fault_of(node, set(numbers), known))]


PLANS = list(plans())


@pytest.mark.parametrize(("name", "given"), [plan[1:] for plan in PLANS], ids=[plan[0] for plan in PLANS])
def test_every_leaf_is_grounded_and_no_node_is_an_orphan(name: str, given: Scenario | Path) -> None:
    advice, program = advice_of(name, given), world(name)
    assert faults(explain(advice), program) == []
    every = selection_of(program, topics=tuple(program.topics))
    assert faults(explain(advice, selection=every), program) == []


def test_a_fault_is_found() -> None:
    program, advice = world("bicycle"), advice_of("bicycle", ROOT / "tests/bicycle/plan.yaml")
    good = explain(advice, "need.range").nodes[0]
    assert faults(Explanation((good,)), program) == []

    def changed(**parts: object) -> list[str]:
        fields = {"id": good.id, "kind": good.kind, "title": good.title, "number": 1, "at": "", "lines": good.lines, "children": ()}
        return faults(Explanation((Node(**(fields | parts)),)), program)  # type: ignore[arg-type]

    assert changed(lines=()) == ["fact:need.range: no lines"]
    assert changed(id="fact:need.nothing") == ["fact:need.nothing: its id names nothing in the packs"]
    assert changed(number=2) == ["numbers are not 1, 2, 3 …"]
    assert changed(lines=(Line("because", good.title),)) == ["fact:need.range: a premise with neither place nor number"]
    assert changed(lines=(Line("formula", good.title),)) == ["fact:need.range: a leaf that rests on nothing"]
    assert changed(lines=(Line("because", good.title, see=7),)) == ["fact:need.range: a line refers to a node that is not there"]
