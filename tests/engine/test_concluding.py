"""How conclusions become the value of a fact, by hand: combining, conflicts, defaults, `else`, rows, units, percentages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from expert.engine.firing import ReferenceEngine
from expert.engine.inference import infer
from expert.engine.trace import FIRED, NOT_CHECKED, SILENT, Trace
from expert.facts import ASSUMED, CONCLUDED, GIVEN, Amount, Value, point
from tests.engine.generated import Content, choice_fact, compiled, facts_of, number_fact, pack, rule

CARDS: Content = {
    "columns": {"memory": "GiB", "link": "tables.links", "price": "number"},
    "rows": {
        "a": {"memory": 80, "link": "fast", "price": 2},
        "b": {"memory": "24..48", "link": "slow", "price": {"unknown": "not published"}},
        "c": {"link": {"unknown": "not built yet"}, "price": 5},
    },
}
LINKS: Content = {"columns": {"rate": "GB/s"}, "rows": {"fast": {"rate": 300}, "slow": {}}}
FACTS: Content = {
    "workload.a": number_fact(),
    "workload.b": number_fact(),
    "workload.task": choice_fact(["red", "green"]),
    "workload.card": {"type": "choice", "from": "tables.cards"},
    "site.strict": {"type": "yes-no"},
}


def run(tmp_path: Path, facts: Content, rules: list[Content], plan: dict[str, Any] | None = None) -> Trace:
    """The trace of a pack for a plan; plain numbers stand for points."""
    program = compiled(pack({**FACTS, **facts}, rules, {"links": LINKS, "cards": CARDS}), tmp_path)
    values: dict[str, Value] = {k: point(float(v)) if type(v) in (int, float) else v for k, v in (plan or {}).items()}
    return infer(program, facts_of(program, values), ReferenceEngine())


def concluded(tmp_path: Path, combine: str, *values: object, **more: Any) -> Value | None:
    """The value of a fact into which rules conclude these values, each by a rule of its own."""
    plan = more.pop("plan", None)
    rules = [rule(f"r{i}", conclude={"need.n": value}) for i, value in enumerate(values)]
    return run(tmp_path, {"need.n": number_fact(combine=combine, **more)}, rules, plan).facts["need.n"].value


# Combining


@pytest.mark.parametrize(
    ("combine", "low", "typical", "high"),
    [("max", 3, 5, 8), ("min", 2, 4, 6), ("sum", 5, 9, 14)],  # of 2..4..8 and 3..5..6
)
def test_ranges_combine_end_by_end(tmp_path: Path, combine: str, low: float, typical: float, high: float) -> None:
    assert concluded(tmp_path, combine, "2..4..8", "3..5..6") == Amount(low, typical, high)


def test_sum_is_exact(tmp_path: Path) -> None:
    # Added one after the other, 0.1 ten times is 0.9999999999999999, and 1e16 + 1 - 1e16 is 0.
    assert concluded(tmp_path, "sum", *[0.1] * 10) == point(1.0)
    assert concluded(tmp_path, "sum", 2.0**53, 1, -(2.0**53)) == point(1.0)


def test_numbers_are_stored_to_twelve_digits(tmp_path: Path) -> None:
    assert concluded(tmp_path, "one", "1 / 3") == point(0.333333333333)
    assert concluded(tmp_path, "one", "2 / 3") == point(0.666666666667)


def test_one_takes_agreeing_values_and_refuses_others(tmp_path: Path) -> None:
    assert concluded(tmp_path, "one", 3, "9 / 3") == point(3.0)
    assert concluded(tmp_path, "one", 3, "3 * (1 + workload.a)", plan={"workload.a": 1e-12}) == point(3.0)
    trace = run(tmp_path, {"need.n": number_fact()}, [rule("p", conclude={"need.n": 3}), rule("q", conclude={"need.n": 4})])
    assert trace.facts["need.n"].value is None
    assert trace.facts["need.n"].conflict == ("rule:p", "rule:q")


def test_conflict_is_unknown_downstream(tmp_path: Path) -> None:
    facts: Content = {"need.n": number_fact(), "need.m": number_fact(**{"else": 7}), "need.k": number_fact()}
    rules = [
        rule("p", conclude={"need.n": 3}),
        rule("q", conclude={"need.n": 4}),
        rule("r", ["need.n > 1"], conclude={"need.m": 1}),
        rule("s", conclude={"need.k": "need.n + 1"}),
    ]
    trace = run(tmp_path, facts, rules)
    assert trace.facts["need.m"].value == point(7)
    assert trace.facts["need.k"].value is None
    assert trace.firings_of("r")[0].state == NOT_CHECKED


def test_all_unites_lists(tmp_path: Path) -> None:
    facts: Content = {"need.tags": {"type": "list", "combine": "all", "choices": {w: {"en": w, "zh": w} for w in ("u", "v", "w")}}}
    rules = [
        rule("p", conclude={"need.tags": "u"}),
        rule("q", conclude={"need.tags": "w"}),
        rule("r", ["1 == 2"], conclude={"need.tags": "v"}),
    ]
    value = run(tmp_path, facts, rules).facts["need.tags"].value
    assert isinstance(value, tuple)
    assert sorted(value) == ["u", "w"]


def test_else_stands_where_no_rule_concluded_one(tmp_path: Path) -> None:
    facts: Content = {"need.n": number_fact(combine="max", **{"else": 4})}
    rules = [rule("p", ["workload.a > 1"], conclude={"need.n": 2})]
    assert run(tmp_path, facts, rules, {"workload.a": 1}).facts["need.n"].value == point(4)  # silent
    assert run(tmp_path, facts, rules).facts["need.n"].value == point(4)  # unknown: fires only on true
    assert run(tmp_path, facts, rules, {"workload.a": 2}).facts["need.n"].value == point(2)  # else is no lower bound


def test_rule_of_an_unknown_value_contributes_nothing(tmp_path: Path) -> None:
    assert concluded(tmp_path, "sum", 3, "workload.b") == point(3)
    assert concluded(tmp_path, "sum", "workload.b") is None


# Defaults


CASES = [{"when": "workload.a > 4", "value": 10}, {"when": ["workload.task == red", "workload.a > 1"], "value": 20}, {"value": 30}]


@pytest.mark.parametrize(
    ("plan", "expected", "case"),
    [
        ({"workload.a": 5, "workload.task": "red"}, 10, 0),
        ({"workload.a": 4, "workload.task": "red"}, 20, 1),
        ({"workload.a": 4}, 30, 2),
        ({}, 30, 2),
    ],
)
def test_default_is_the_first_case_that_holds(tmp_path: Path, plan: dict[str, Any], expected: float, case: int) -> None:
    state = run(tmp_path, {"workload.c": number_fact(default=CASES)}, [], plan).facts["workload.c"]
    assert (state.value, state.origin, state.default) == (point(expected), ASSUMED, case)


def test_answer_replaces_a_default(tmp_path: Path) -> None:
    state = run(tmp_path, {"workload.c": number_fact(default=CASES)}, [], {"workload.a": 5, "workload.c": 1}).facts["workload.c"]
    assert (state.value, state.origin) == (point(1), GIVEN)


def test_plan_fact_does_not_see_a_default(tmp_path: Path) -> None:
    facts: Content = {"workload.c": number_fact(default=7), "need.n": number_fact(**{"else": 0})}
    rules = [rule("p", ["plan.workload.c == 7"], conclude={"need.n": 1})]
    assert run(tmp_path, facts, rules).facts["need.n"].value == point(0)
    assert run(tmp_path, facts, rules, {"workload.c": 7}).facts["need.n"].value == point(1)


def test_stated_value_wins_over_a_concluded_one(tmp_path: Path) -> None:
    facts: Content = {"workload.c": number_fact(), "need.n": number_fact()}
    rules = [rule("p", conclude={"workload.c": "workload.a * 2"}), rule("q", conclude={"need.n": "workload.c + 1"})]
    trace = run(tmp_path, facts, rules, {"workload.a": 2, "workload.c": 9})
    assert trace.facts["workload.c"].value == point(9)
    assert trace.facts["workload.c"].concluded == point(4)
    assert trace.facts["need.n"].value == point(10)


# Missing, known, coalesce


def test_missing_waits_until_its_fact_is_finished(tmp_path: Path) -> None:
    # Named so that the asking rule stands first in every order of names.
    facts: Content = {"need.late": number_fact(), "need.asked": {"type": "yes-no"}, "need.first": number_fact()}
    rules = [
        rule("a-asks", ["missing(need.late)"], conclude={"need.asked": True}),
        rule("z-late", ["need.first > 1"], conclude={"need.late": 1}),
        rule("z-first", ["workload.a > 0"], conclude={"need.first": "workload.a"}),
    ]
    assert run(tmp_path, facts, rules, {"workload.a": 2}).facts["need.asked"].value is None
    assert run(tmp_path, facts, rules, {"workload.a": 1}).facts["need.asked"].value is True


def test_coalesce_takes_the_first_known(tmp_path: Path) -> None:
    assert concluded(tmp_path, "one", "coalesce(workload.a, workload.b, 9)", plan={"workload.b": 5}) == point(5)
    assert concluded(tmp_path, "one", "coalesce(workload.a, 9)") == point(9)


# Rows, columns, units


def test_rule_for_rows_runs_once_per_row(tmp_path: Path) -> None:
    facts: Content = {"need.n": number_fact(combine="sum")}
    rules = [rule("p", ["row.price > 1"], conclude={"need.n": "row.price"}, **{"for": {"row": "tables.cards"}})]
    trace = run(tmp_path, facts, rules)
    assert trace.facts["need.n"].value == point(7)  # 2 of a and 5 of c; the price of b is unknown
    assert {dict(f.rows)["row"]: f.state for f in trace.firings_of("p")} == {"a": FIRED, "c": FIRED}


def test_columns_chain_through_rows_of_other_tables(tmp_path: Path) -> None:
    facts: Content = {"need.rate": number_fact("GB/s")}
    rules = [rule("p", conclude={"need.rate": "workload.card.link.rate"})]
    rate = 300e9
    assert run(tmp_path, facts, rules, {"workload.card": "a"}).facts["need.rate"].value == point(rate)
    for card, missing in (("b", "links.slow.rate"), ("c", "cards.c.link")):
        trace = run(tmp_path, facts, rules, {"workload.card": card})
        assert trace.facts["need.rate"].value is None
        (firing,) = trace.firings_of("p")
        assert firing.test is not None
        assert missing in firing.test.missing


def test_units_convert_and_binary_differs_from_decimal(tmp_path: Path) -> None:
    facts: Content = {"workload.size": number_fact("GiB"), "workload.rate": number_fact("Gbps"), "need.time": number_fact("min"),
                      "need.cost": number_fact("USD/month"), "site.budget": number_fact("CNY/month")}  # fmt: skip
    rules = [
        rule("p", conclude={"need.time": "workload.size / workload.rate"}),
        rule("q", conclude={"need.cost": "site.budget"}),
        rule("r", ["workload.size > 1 GB", "not (workload.size > 1074 MB)", "1 GiB == 1024 MiB"], conclude={"need.n": 1}),
    ]
    facts["need.n"] = number_fact()
    trace = run(tmp_path, facts, rules, {"workload.size": 1, "workload.rate": 8, "site.budget": 14})
    # 2^30 bytes at 10^9 bytes a second; in the base unit, seconds.
    assert trace.facts["need.time"].value == point(1.073741824)
    assert trace.facts["need.n"].value == point(1)
    # 14 CNY a month are 14 CNY a month in any currency: the base is CNY and the month has 365.25 / 12 days.
    value = trace.facts["need.cost"].value
    assert isinstance(value, Amount)
    assert value.low == pytest.approx(14 / (365.25 / 12 * 86400), rel=1e-11)


@pytest.mark.parametrize(
    ("loss", "fires"),
    [(5, True), (4.999999999995, True), (5.000000000005, True), (4.99, False), (0.05, False)],
)
def test_percentage_counts_as_a_fraction_and_is_compared_as_written(tmp_path: Path, loss: float, fires: bool) -> None:
    facts: Content = {"workload.loss": number_fact("percent"), "need.n": number_fact()}
    rules = [rule("p", ["workload.loss >= 5 %"], conclude={"need.n": "200 * workload.loss"})]
    trace = run(tmp_path, facts, rules, {"workload.loss": loss})
    assert trace.firings_of("p")[0].state == (FIRED if fires else SILENT)
    if fires:
        value = trace.facts["need.n"].value
        assert isinstance(value, Amount)
        assert value.low == pytest.approx(200 * 0.05, rel=1e-9)


def test_bare_number_concluded_into_a_percentage_has_its_unit(tmp_path: Path) -> None:
    facts: Content = {"need.loss": number_fact("percent")}
    state = run(tmp_path, facts, [rule("p", conclude={"need.loss": "5..15"})]).facts["need.loss"]
    assert (state.value, state.origin) == (Amount(0.05, None, 0.15), CONCLUDED)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("7 // 2", 3),
        ("-7 // 2", -4),
        ("2 ** 10", 1024),
        ("ceil(2.1) + floor(2.9) + round(2.5)", 8),
        ("sqrt(9) + log2(8)", 6),
        ("ceil(workload.a * 3)", 1),  # a third stored to twelve digits, times three, is one and not a hair below or above
        ("min(3, 2..5)", (2, 3)),
        ("max(3, 2..5)", (3, 5)),
        ("(2..3) * (4..5)", (8, 15)),
        ("(2..3) - (4..5)", (-3, -1)),
        ("6 / (2..3)", (2, 3)),
        ("low(2..5) + high(2..5)", 7),
        ("1 if workload.a > 0 else 2", 1),
        ("1 / (workload.a - workload.a)", None),
        ("sqrt(0 - workload.a)", None),
    ],
)
def test_arithmetic(tmp_path: Path, expression: str, expected: Any) -> None:
    value = concluded(tmp_path, "one", expression, plan={"workload.a": 0.333333333333})
    if isinstance(expected, tuple):
        assert isinstance(value, Amount)
        assert (value.low, value.high) == expected
    else:
        assert value == (None if expected is None else point(float(expected)))
