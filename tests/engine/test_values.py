"""Values by hand: tolerance, ranges, unknowns, percentages, units. Expected values are worked out from LANGUAGE, line by line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from expert.engine.firing import ReferenceEngine
from expert.engine.inference import infer
from expert.engine.trace import NOT_CHECKED, Trace
from expert.facts import Amount, Value, point
from tests.engine.generated import Content, choice_fact, compiled, facts_of, number_fact, pack, rule

FACTS: Content = {
    "workload.a": number_fact(),
    "workload.b": number_fact(),
    "workload.loss": number_fact("percent"),
    "workload.size": number_fact("GiB"),
    "workload.rate": number_fact("GB/s"),
    "workload.card": {"type": "choice", "from": "tables.cards"},
    "workload.task": choice_fact(["red", "green"]),
    "site.strict": {"type": "yes-no"},
    "need.n": number_fact(),
    "need.loss": number_fact("percent"),
    "need.time": number_fact("s"),
    "need.yes": {"type": "yes-no"},
}
TABLES: Content = {
    "links": {"columns": {"rate": "number"}, "rows": {"slow": {"rate": 1}, "fast": {"rate": "3..5"}, "new": {"rate": {"unknown": "?"}}}},
    "cards": {"columns": {"link": "tables.links"}, "rows": {"a": {"link": "fast"}, "b": {"link": "new"}, "c": {"link": {"unknown": "?"}}}},
}


def run(tmp_path: Path, rules: list[Content], plan: dict[str, Any]) -> Trace:
    """The trace of a few rules for a plan; plain numbers may stand for points."""
    program = compiled(pack(FACTS, rules, TABLES), tmp_path)
    values: dict[str, Value] = {k: point(float(v)) if type(v) in (int, float) else v for k, v in plan.items()}
    return infer(program, facts_of(program, values), ReferenceEngine())


def truth(tmp_path: Path, condition: str, plan: dict[str, Any]) -> bool | None:
    """A condition as the engine sees it: whether a rule with it fires, and one with its negation."""
    rules = [rule("yes", [condition], conclude={"need.n": 1}), rule("no", [f"not ({condition})"], conclude={"need.yes": True})]
    trace = run(tmp_path, rules, plan)
    return True if trace.facts["need.n"].value else False if trace.facts["need.yes"].value else None


BELOW, ABOVE = 1 - 0.9e-9, 1 + 0.9e-9
FAR_BELOW, FAR_ABOVE = 1 - 2e-9, 1 + 2e-9


@pytest.mark.parametrize(
    ("factor", "greater", "at_least", "equal"),
    [
        (1, False, True, True),
        (1 + 1e-12, False, True, True),
        (1 - 1e-12, False, True, True),
        (ABOVE, False, True, True),
        (BELOW, False, True, True),
        (FAR_ABOVE, True, True, False),
        (FAR_BELOW, False, False, False),
    ],
)
@pytest.mark.parametrize("threshold", [32.0, 0.001, 3e12, -7.0])
def test_comparison_allows_one_part_in_a_thousand_million(
    tmp_path: Path, factor: float, greater: bool, at_least: bool, equal: bool, threshold: float
) -> None:
    if threshold < 0 and factor != 1:
        factor = 2 - factor  # above a negative number is nearer to zero
    plan = {"workload.a": threshold * factor, "workload.b": threshold}
    assert truth(tmp_path, "workload.a > workload.b", plan) is greater
    assert truth(tmp_path, "workload.a >= workload.b", plan) is at_least
    assert truth(tmp_path, "workload.a == workload.b", plan) is equal
    assert truth(tmp_path, "workload.a < workload.b", plan) is not at_least
    assert truth(tmp_path, "workload.a <= workload.b", plan) is not greater


def test_zero_is_equal_only_to_zero(tmp_path: Path) -> None:
    assert truth(tmp_path, "workload.a > 0", {"workload.a": 1e-30}) is True
    assert truth(tmp_path, "workload.a == 0", {"workload.a": 0}) is True


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("workload.a > 2", True),  # 3..5 lies wholly above
        ("workload.a >= 3", True),
        ("workload.a > 3", None),
        ("workload.a < 3", False),
        ("workload.a <= 5", True),
        ("workload.a < 5", None),
        ("workload.a > 5", False),
        ("workload.a == 4", None),
        ("workload.a != 6", True),
        ("workload.a == 6", False),
        ("workload.a in [6, 7]", False),
        ("workload.a in [4, 7]", None),
        ("2 < workload.a < 6", True),
        ("2 < workload.a < 5", None),
        ("low(workload.a) == 3 and high(workload.a) == 5", True),
    ],
)
def test_comparison_with_a_range_is_true_for_all_of_it_false_for_none_of_it(tmp_path: Path, condition: str, expected: bool | None) -> None:
    assert truth(tmp_path, condition, {"workload.a": Amount(3, None, 5)}) is expected


KLEENE = {"true": True, "false": False, "unknown": None}


@pytest.mark.parametrize("other", ["site.strict", "workload.a < 4"], ids=["nobody stated it", "ranges overlap"])
@pytest.mark.parametrize(
    ("shape", "known", "expected"),
    [
        ("{u} and {k}", "1 == 1", None),
        ("{u} and {k}", "1 == 2", False),
        ("{u} or {k}", "1 == 1", True),
        ("{u} or {k}", "1 == 2", None),
        ("{u} and {u}", "", None),
        ("{u} or {u}", "", None),
        ("not {u}", "", None),
    ],
)
def test_unknown_is_kleene_whatever_makes_it_unknown(tmp_path: Path, other: str, shape: str, known: str, expected: bool | None) -> None:
    condition = shape.format(u=f"({other})", k=f"({known})")
    assert truth(tmp_path, condition, {"workload.a": Amount(3, None, 5)}) is expected


@pytest.mark.parametrize("operator", ["and", "or"])
@pytest.mark.parametrize("second", ["site.strict", "workload.b > 1", "workload.card.link.rate > 2", "workload.task == red"])
def test_two_unknowns_of_different_kinds_stay_unknown(tmp_path: Path, operator: str, second: str) -> None:
    """An overlap beside another unknown once came out true under `or` and false under `and`."""
    plan = {"workload.a": Amount(3, None, 5), "workload.card": "b"}
    assert truth(tmp_path, f"(workload.a < 4) {operator} ({second})", plan) is None
    assert truth(tmp_path, f"({second}) {operator} (workload.a < 4)", plan) is None


def test_a_requirement_of_two_unknowns_is_not_checked(tmp_path: Path) -> None:
    asked = rule("asks", require={"workload.a": "workload.a < 4 and site.strict"})
    (firing,) = run(tmp_path, [asked], {"workload.a": Amount(3, None, 5)}).firings_of("asks")
    assert firing.state == NOT_CHECKED
