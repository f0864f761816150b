"""The durable engine: what each construct of the language matches on, worked out by hand, and always as the reference engine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("durable_rules_engine", exc_type=ImportError)

from expert.engine.durable import raw_share
from expert.facts import Amount, Value, point
from tests.engine.durable_packs import POINTS, Content, fire, program_of, rows_of, warning
from tests.engine.generated import both, number_fact, rule


def holds(folder: Path, condition: str, stated: Mapping[str, Value]) -> bool:
    """Whether a warning under the condition is given."""
    return rows_of(fire(program_of(folder, warning(condition)), stated)) == [()]


EDGES = (1.0, 1 + 1e-9, 1 - 1e-9, 1 + 1e-12, 1 - 1e-12, 1 + 1.01e-9, 1 - 1.01e-9, 1 + 3e-9, 1 - 3e-9)


@pytest.mark.parametrize("threshold", [4, 0.1, 3e15, 0])
def test_number_against_constant_at_the_edge(tmp_path: Path, threshold: float) -> None:
    operators = ("<", "<=", ">", ">=", "==", "!=")
    text = format(threshold, "f").rstrip("0").rstrip(".")
    program = program_of(tmp_path, *[warning(f"workload.a {op} {text}", name=f"w{i}") for i, op in enumerate(operators)])
    assert raw_share(program) == (6, 6)
    for factor in EDGES:
        value = threshold * factor if threshold else factor - 1
        fired = {match.rule for match in fire(program, {"workload.a": point(value)}).matches}
        near = abs(value - threshold) <= 0.99e-9 * threshold
        if near:
            assert fired == {"w1", "w3", "w4"}
        elif abs(value - threshold) > 1.005e-9 * threshold:
            assert fired == ({"w0", "w1", "w5"} if value < threshold else {"w2", "w3", "w5"})


def test_fact_against_fact_at_the_edge(tmp_path: Path) -> None:
    program = program_of(tmp_path, warning("workload.a > workload.b"), warning("not (workload.a > workload.b)", name="not"))
    assert raw_share(program) == (2, 2)
    for factor in EDGES:
        found = fire(program, {"workload.a": point(5.0 * factor), "workload.b": point(5.0)})
        assert bool(rows_of(found)) == (factor > 1 + 1.005e-9)
        assert bool(rows_of(found)) != bool(rows_of(found, "not"))


@pytest.mark.parametrize(
    ("condition", "stated", "expected"),
    [
        ("workload.a > 4", {"workload.a": Amount(5.0, None, 6.0)}, True),
        ("workload.a > 4", {"workload.a": Amount(4.0, None, 6.0)}, False),
        ("not workload.a > 4", {"workload.a": Amount(4.0, None, 6.0)}, False),
        ("workload.a == 4", {"workload.a": Amount(4.0, None, 6.0)}, False),
        ("workload.a != 4", {"workload.a": Amount(4.0, None, 6.0)}, False),
        ("workload.a != 4", {"workload.a": Amount(5.0, None, 6.0)}, True),
        ("low(workload.a) == 4", {"workload.a": Amount(4.0, None, 6.0)}, True),
        ("high(workload.a) > 5", {"workload.a": Amount(4.0, None, 6.0)}, True),
        ("2 < workload.a <= 3", POINTS, True),
        ("workload.a in [1, 3]", POINTS, True),
        ("not (workload.a in [1, 3])", POINTS, False),
        ("workload.a > 4 or workload.b == 3", POINTS, True),
        ("workload.a > 4 or site.strict", {**POINTS, "site.strict": True}, True),
        ("workload.a > 4 or site.strict", POINTS, False),
        ("not (workload.a > 2 and workload.b > 3)", POINTS, True),
        ("workload.a * 2 > workload.b + 2", POINTS, True),
        ("workload.a / (workload.b - 3) > 1", POINTS, False),
        ("not known(workload.a / (workload.b - 3))", POINTS, True),
        ("known(workload.a / workload.b)", POINTS, True),
        ("workload.a == workload.a", POINTS, True),
        ("workload.a == workload.a", {"workload.a": Amount(1.0, None, 2.0)}, False),
        ("coalesce(workload.a, 1) == 1", {}, True),
        ("coalesce(workload.a, 1) == 1", POINTS, False),
        ("coalesce(workload.card.memory, workload.b) == 3", {**POINTS, "workload.card": "blank"}, True),
        ("(workload.a if site.strict else 1) == 1", {**POINTS, "site.strict": False}, True),
        ("(workload.a if site.strict else 1) == 1", POINTS, False),
        ("site.strict == site.open", {"site.strict": False, "site.open": False}, True),
        ("site.strict != site.open", {"site.strict": False}, False),
        ("site.strict == (workload.a > 2)", {**POINTS, "site.strict": True}, True),
        ("not site.strict", {"site.strict": False}, True),
        ("not site.strict", {}, False),
        ("missing(site.strict)", {}, True),
        ("known(site.strict)", {"site.strict": False}, True),
        ("workload.task in [red, blue]", {"workload.task": "blue"}, True),
        ("not (workload.task in [red, blue])", {"workload.task": "blue"}, False),
        ("not (workload.task in [red, blue])", {"workload.task": "green"}, True),
        ("not (workload.task in [red, blue])", {}, False),
        ("workload.task == workload.next", {"workload.task": "red", "workload.next": "red"}, True),
        ("workload.task != workload.next", {"workload.task": "red", "workload.next": "red"}, False),
        ("red in workload.tags", {"workload.tags": ("red", "blue")}, True),
        ("not (red in workload.tags)", {"workload.tags": ("blue",)}, True),
        ("not (red in workload.tags)", {"workload.tags": ()}, True),
        ("not (red in workload.tags)", {}, False),
        ("workload.task in workload.tags", {"workload.tags": ("red", "blue"), "workload.task": "blue"}, True),
        ("not (workload.task in workload.tags)", {"workload.tags": ("red",), "workload.task": "blue"}, True),
        ("not (workload.task in plan.workload.tags)", {"workload.tags": ("red",), "workload.task": "red"}, False),
        ("workload.task in plan.workload.tags", {"workload.tags": ("red",), "workload.task": "red"}, True),
        ("workload.task in workload.card.tags", {"workload.card": "small", "workload.task": "blue"}, True),
        ("workload.task in workload.card.tags", {"workload.card": "large", "workload.task": "blue"}, False),
        ("not (workload.task in workload.card.tags)", {"workload.card": "large", "workload.task": "blue"}, True),
        ("not (workload.task in workload.card.tags)", {"workload.card": "blank", "workload.task": "blue"}, False),
        ("red in workload.card.tags and blue in workload.card.tags", {"workload.card": "small"}, True),
        ("not known(workload.card.tags)", {"workload.card": "blank"}, True),
        ("known(workload.tags)", {"workload.tags": ()}, True),
        ("missing(workload.tags)", {"workload.tags": ()}, False),
        ("workload.card.link.rate >= 4", {"workload.card": "large"}, True),
        ("workload.card.link.family == mesh", {"workload.card": "small"}, False),
        ("workload.card.memory == 8", {"workload.card": "large"}, False),
        ("workload.card.fast", {"workload.card": "large"}, True),
        ("not workload.card.fast", {"workload.card": "small"}, True),
        ("not workload.card.fast", {"workload.card": "blank"}, False),
        ("not known(workload.card.memory)", {"workload.card": "blank"}, True),
        ("not known(workload.card.memory)", {"workload.card": "small"}, False),
        ("not known(workload.card.link.rate)", {"workload.card": "blank"}, True),
        ("not known(workload.card.memory)", {}, True),
        ("workload.card.memory == workload.other.memory", {"workload.card": "small", "workload.other": "small"}, True),
        ("workload.card.memory < workload.other.memory", {"workload.card": "small", "workload.other": "large"}, True),
        ("workload.card == workload.other", {"workload.card": "small", "workload.other": "small"}, True),
        ("plan.workload.c == 4", {**POINTS, "workload.c": point(4.0)}, True),
        ("plan.workload.c == 4", POINTS, False),
        ("workload.c == 4", POINTS, True),
        ("not known(plan.workload.c)", POINTS, True),
        ("min(workload.a, workload.b, 2) == 2", POINTS, True),
        ("limit > 3", {}, True),
        ("limit > 4", {}, False),
        ("known(workload.note)", {"workload.note": 'a "quoted" 显存'}, True),
        ("missing(workload.note)", {"workload.note": ""}, False),
    ],
)
def test_condition(tmp_path: Path, condition: str, stated: dict[str, Value], expected: bool) -> None:
    assert holds(tmp_path, condition, stated) is expected


def test_rows_are_matched_by_one_rule(tmp_path: Path) -> None:
    program = program_of(
        tmp_path,
        warning("card.memory >= workload.card.memory", **{"for": {"card": "tables.cards"}}),
        warning("a.memory >= b.memory", "a.link.rate >= workload.a", name="two", **{"for": {"a": "tables.cards", "b": "tables.cards"}}),
        warning("card == workload.card or card.link.rate * 2 == 8", name="either", **{"for": {"card": "tables.cards"}}),
        warning("workload.a > 1", name="free", **{"for": {"link": "tables.links"}}),
    )
    found = fire(program, {"workload.card": "small", "workload.a": point(4.0)})
    # The named row is one of the rows: a cell fills two conditions.
    assert rows_of(found) == [("small",), ("large",)]
    # 8..9 >= 8..9 is unknown, 8..9 >= 2 is true.
    assert rows_of(found, "two") == [("large", "small")]
    assert rows_of(found, "either") == [("small",), ("large",)]
    assert rows_of(found, "free") == [("pcie",), ("nv",), ("odd",)]


def test_a_row_fills_two_variables(tmp_path: Path) -> None:
    program = program_of(tmp_path, warning("a.rate <= b.rate", **{"for": {"a": "tables.links", "b": "tables.links"}}))
    assert rows_of(fire(program, {})) == [("pcie", "pcie"), ("pcie", "nv"), ("nv", "nv")]


def test_values_are_computed_combined_and_chained(tmp_path: Path) -> None:
    program = program_of(
        tmp_path,
        rule("one", conclude={"need.x": "workload.a * 0.1"}),
        rule("two", ["workload.b > 1"], conclude={"need.x": "workload.a / 5"}),
        rule("rows", ["card.memory > 1"], conclude={"need.y": "card.memory * workload.b"}, **{"for": {"card": "tables.cards"}}),
        rule("chain", ["need.x > 0.8"], conclude={"need.z": "need.x + need.y"}),
        rule("red", ["need.z > 20"], conclude={"need.tags": "red"}),
        rule("own", conclude={"need.tags": "workload.task"}),
        warning("red in need.tags", "not (green in need.tags)"),
    )
    found = fire(program, {**POINTS, "workload.task": "blue"})
    # 3 * 0.1 + 3 / 5 = 0.9 without the dust of floats; 8..9 GiB times 3.
    assert found.values["need.x"] == point(0.9)
    assert found.values["need.y"] == Amount(24.0, None, 27.0)
    assert found.values["need.z"] == Amount(24.9, None, 27.9)
    assert found.values["need.tags"] == ("blue", "red")
    assert [match.effects for match in found.matches if match.rule == "rows"] == [
        (("need.y", point(6.0)),), (("need.y", Amount(24.0, None, 27.0)),)
    ]  # fmt: skip
    assert rows_of(found) == [()]


def test_else_conflict_and_stated_value(tmp_path: Path) -> None:
    program = program_of(
        tmp_path,
        rule("three", ["workload.a > 1"], conclude={"need.z": 3}),
        rule("four", ["workload.b > 1"], conclude={"need.z": 4}),
        warning("missing(need.z)"),
        warning("need.y == 7", name="else"),
    )
    found = fire(program, POINTS)
    assert found.values["need.z"] is None
    assert rows_of(found) == rows_of(found, "else") == [()]
    stated = fire(program, {**POINTS, "need.z": point(5.0)})
    assert stated.values["need.z"] == point(5.0)
    assert rows_of(stated) == []
    assert [match.rule for match in stated.matches] == ["three", "four", "else"]


def test_tests_are_satisfied_violated_or_neither(tmp_path: Path) -> None:
    def demand(name: str, test: str, effect: str = "require", **more: Any) -> Content:
        return rule(name, ["site.strict"], **{effect: {"workload.a": test}}, **more)

    program = program_of(
        tmp_path,
        demand("met", "workload.a == 3"),
        demand("missed", "workload.a > 3"),
        demand("open", "workload.a > need.z"),
        demand("liked", "workload.a in [1, 3]", "prefer", weight=3),
        demand("either", "workload.a > 3 or workload.b > 3"),
    )
    states = {match.rule: match.state for match in fire(program, {**POINTS, "site.strict": True}).matches}
    assert states == {"met": "satisfied", "missed": "violated", "liked": "satisfied", "either": "violated"}
    assert fire(program, {**POINTS, "site.strict": False}).matches == ()


def test_decided_values_are_asserted_at_their_step(tmp_path: Path) -> None:
    program = program_of(
        tmp_path,
        rule("size", conclude={"need.x": "design.n * 2"}),
        warning("need.x >= 8"),
        warning("missing(design.n)", name="none"),
        warning("not known(plan.design.n)", name="silent"),
        facts={"design.n": number_fact()},
        decisions=[{"id": "d", "title": both("d"), "topic": "t", "assigns": {"design.n": [1, 2, 4]}}],
    )
    assert [match.rule for match in fire(program, {}, {"design.n": point(4.0)}).matches] == ["size", "w", "silent"]
    assert [match.rule for match in fire(program, {}).matches] == ["none", "silent"]


def test_matches_name_the_facts_behind_hidden_rules(tmp_path: Path) -> None:
    program = program_of(
        tmp_path,
        warning("workload.a > 4 or workload.b * workload.c > 8"),
        warning("missing(need.z)", "workload.a in [3, 4]", name="gone"),
    )
    found = fire(program, {**POINTS, "workload.c": point(3.0)})
    assert [match.facts for match in found.matches] == [("workload.b", "workload.c"), ("need.z", "workload.a")]


def test_long_conjunctions_and_long_sums(tmp_path: Path) -> None:
    names = [f"workload.n{i:02}" for i in range(40)]
    program = program_of(
        tmp_path,
        warning(*[f"{name} == 1" for name in names]),
        warning(" + ".join(names) + " == 40", name="sum"),
        rule("total", [f"card.memory >= {name}" for name in names], conclude={"need.x": " + ".join([*names, "card.memory"])},
             **{"for": {"card": "tables.cards"}}),
        facts={name: number_fact() for name in names},
    )  # fmt: skip
    ones: dict[str, Value] = dict.fromkeys(names, point(1.0))
    found = fire(program, ones)
    assert rows_of(found) == rows_of(found, "sum") == [()]
    assert found.values["need.x"] == Amount(90.0, None, 91.0)
    assert all(set(match.facts) == set(names) for match in found.matches)
    assert rows_of(fire(program, {**ones, names[17]: point(2.0)})) == []
    assert fire(program, {name: one for name, one in ones.items() if name != names[39]}).matches == ()


def test_chained_columns_beyond_sixteen_in_one_rule(tmp_path: Path) -> None:
    many = [f"card.memory + {i} > workload.card.link.rate" for i in range(20)]
    program = program_of(tmp_path, warning(*many, **{"for": {"card": "tables.cards"}}))
    assert rows_of(fire(program, {"workload.card": "small"})) == [("small",), ("large",)]


def test_warnings_tests_and_risks_fire(tmp_path: Path) -> None:
    program = program_of(
        tmp_path,
        rule("risk", ["workload.a > 1"], risk={"likelihood": "low", "impact": both("i"), "trigger": both("t"), "mitigation": both("m"),
                                               "basis": "judgement"}),
        rule("test", ["workload.a > 1"], test={"metric": "workload.b", "at_least": "2 * workload.a", "stage": "running"}),
    )  # fmt: skip
    assert [(match.rule, match.state) for match in fire(program, POINTS).matches] == [("risk", "fired"), ("test", "fired")]
