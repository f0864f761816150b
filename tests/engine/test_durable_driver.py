"""The driver of durable_rules against hand-computed results and a naive matcher that shares no code with it."""

from __future__ import annotations

import gc
import itertools
import locale
import operator
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest

pytest.importorskip("durable_rules_engine", exc_type=ImportError)

from expert.engine import durable_driver, durable_probe
from expert.engine.durable_driver import Ruleset
from expert.engine.durable_layout import lay_out
from expert.engine.durable_raw import (
    CONDITIONS_PER_RULE,
    JOINS_PER_CONDITION,
    Constant,
    Definition,
    DurableFaultError,
    DurableLimitError,
    DurableMisuseError,
    DurableRuleError,
    Exists,
    Join,
    Op,
    Property,
    RawCondition,
    RawRule,
    Test,
    Value,
    ValueType,
    encode_value,
)

NUMBER, TEXT, YES_NO = (Property(t) for t in (ValueType.NUMBER, ValueType.TEXT, ValueType.YES_NO))
OPTIONAL = Property(ValueType.NUMBER, optional=True)
SCHEMA = {
    "gpu": {"oid": TEXT, "mem": NUMBER, "link": YES_NO},
    "need": {"mem": NUMBER, "oid": TEXT},
    "range": {"lo": NUMBER, "hi": OPTIONAL},
}
Fact = tuple[str, Mapping[str, Value]]


def rule(*conditions: RawCondition) -> RawRule:
    return RawRule(conditions)


def condition(kind: str, *tests: Test) -> RawCondition:
    return RawCondition(kind, tests)


def define(*rules: RawRule, schema: Mapping[str, Mapping[str, Property]] = SCHEMA) -> Definition:
    return Definition(rules, schema)


def fire(definition: Definition, facts: Sequence[Fact]) -> list[tuple[int, tuple[int, ...]]]:
    """All matches as (rule, positions of its facts), sorted."""
    found = []
    with Ruleset(definition) as ruleset, ruleset.session() as session:
        ids = [session.add(*fact) for fact in facts]
        session.drain(lambda number, used: found.append((number, tuple(ids.index(i) for i in used))))
    return sorted(found)


def gpu(oid: str, mem: float, link: bool = True) -> Fact:
    return "gpu", {"oid": oid, "mem": mem, "link": link}


BIG_ENOUGH = rule(condition("need"), condition("gpu", Join("mem", Op.GE, 0, "mem")))


def test_a_join_matches_each_pair_that_compares() -> None:
    facts: list[Fact] = [gpu("a", 40), gpu("b", 80), ("need", {"mem": 80, "oid": "b"}), gpu("c", 94.5)]
    assert fire(define(BIG_ENOUGH), facts) == [(0, (2, 1)), (0, (2, 3))]


def test_equality_joins_text_and_numbers_of_either_spelling() -> None:
    same = rule(condition("need"), condition("gpu", Join("oid", Op.EQ, 0, "oid"), Join("mem", Op.EQ, 0, "mem")))
    facts: list[Fact] = [("need", {"mem": 64, "oid": "显卡"}), gpu("显卡", 64.0), gpu("显卡", 64.5), gpu("other", 64)]
    assert fire(define(same), facts) == [(0, (0, 1))]


def test_minus_zero_joins_zero() -> None:
    same = rule(condition("need"), condition("gpu", Join("mem", Op.EQ, 0, "mem")))
    assert fire(define(same), [("need", {"mem": -0.0, "oid": ""}), gpu("a", 0)]) == [(0, (0, 1))]


def test_one_fact_never_fills_two_conditions() -> None:
    pair = rule(condition("gpu"), condition("gpu"))
    assert fire(define(pair), [gpu("a", 1)]) == []
    assert fire(define(pair), [gpu("a", 1), gpu("b", 1)]) == [(0, (0, 1)), (0, (1, 0))]


def test_an_optional_property_is_compared_only_where_present() -> None:
    rules = (rule(condition("range", Constant("hi", Op.LE, 5))), rule(condition("range", Exists("hi"))))
    facts: list[Fact] = [("range", {"lo": 1}), ("range", {"lo": 1, "hi": 5}), ("range", {"lo": 1, "hi": 6})]
    assert fire(define(*rules), facts) == [(0, (1,)), (1, (1,)), (1, (2,))]


def test_actions_chain_and_steps_are_counted() -> None:
    count_down = rule(condition("need", Constant("mem", Op.GT, 0)))
    with Ruleset(define(count_down)) as ruleset, ruleset.session() as session:
        session.add("need", {"mem": 5, "oid": ""})
        left = iter([4, 3, 2, 1, 0])
        assert session.drain(lambda number, facts: add_need(session, left)) == 5
        assert list(left) == []
        assert session.drain(lambda number, facts: None) == 0


def add_need(session: durable_driver.Session, numbers: Iterator[int]) -> None:
    session.add("need", {"mem": next(numbers), "oid": ""})


def test_an_equal_fact_gets_the_same_id_and_fires_once() -> None:
    with Ruleset(define(rule(condition("gpu")))) as ruleset, ruleset.session() as session:
        ids = [session.add(*gpu("a", 8)), session.add(*gpu("a", 8.0)), session.add(*gpu("b", 8))]
        assert ids == ["f0", "f0", "f1"]
        assert session.drain(lambda number, facts: None) == 2


def test_sessions_know_nothing_of_each_other() -> None:
    with Ruleset(define(BIG_ENOUGH)) as ruleset, ruleset.session() as one, ruleset.session() as two:
        one.add("need", {"mem": 1, "oid": ""})
        two.add(*gpu("a", 8))
        assert (one.drain(lambda number, facts: None), two.drain(lambda number, facts: None)) == (0, 0)


def test_endless_rules_stop_at_the_step_limit() -> None:
    with Ruleset(define(rule(condition("need")))) as ruleset:
        numbers = itertools.count()
        with ruleset.session() as session:
            session.add("need", {"mem": -1, "oid": ""})
            with pytest.raises(DurableLimitError, match="limit steps: found 501, allowed 500"):
                session.drain(lambda number, facts: add_need(session, numbers), max_steps=500)
        assert next(numbers) == 500


def test_the_step_limit_itself_is_allowed() -> None:
    with Ruleset(define(rule(condition("gpu")))) as ruleset, ruleset.session() as session:
        for number in range(3):
            session.add(*gpu("a", number))
        assert session.drain(lambda number, facts: None, max_steps=3) == 3


def test_a_session_refuses_everything_after_a_failed_action_and_the_next_one_works() -> None:
    with Ruleset(define(rule(condition("gpu")))) as ruleset:
        for _ in range(100):
            with ruleset.session() as session:
                session.add(*gpu("a", 1))
                with pytest.raises(ZeroDivisionError):
                    session.drain(lambda number, facts: operator.truediv(1, 0))
                with pytest.raises(DurableMisuseError):
                    session.add(*gpu("b", 1))
        with ruleset.session() as session:
            session.add(*gpu("a", 1))
            assert session.drain(lambda number, facts: None) == 1


@pytest.mark.parametrize("call", ["drain", "end"])
def test_an_action_may_not_drain_or_end_its_session(call: str) -> None:
    with Ruleset(define(rule(condition("gpu")))) as ruleset, ruleset.session() as session:
        session.add(*gpu("a", 1))
        actions: dict[str, Callable[[int, Any], Any]] = {
            "drain": lambda n, f: session.drain(lambda n, f: None),
            "end": lambda n, f: session.end(),
        }
        with pytest.raises(DurableMisuseError):
            session.drain(actions[call])


def test_a_session_belongs_to_its_thread() -> None:
    raised: list[BaseException] = []

    def elsewhere() -> None:
        try:
            session.add(*gpu("a", 1))
        except DurableMisuseError as problem:
            raised.append(problem)

    with Ruleset(define(rule(condition("gpu")))) as ruleset, ruleset.session() as session:
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
    assert len(raised) == 1


def test_threads_with_a_session_each_agree_with_one_thread() -> None:
    totals: list[int] = []

    def work() -> None:
        for _ in range(50):
            with ruleset.session() as session:
                session.add("need", {"mem": 3, "oid": ""})
                for mem in range(6):
                    session.add(*gpu("a", mem))
                totals.append(session.drain(lambda number, facts: None))

    with Ruleset(define(BIG_ENOUGH)) as ruleset:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert totals == [3] * 200


def test_closing_waits_for_no_one_and_is_final() -> None:
    ruleset = Ruleset(define(rule(condition("gpu"))))
    with ruleset.session(), pytest.raises(DurableMisuseError):
        ruleset.close()
    ruleset.close()
    ruleset.close()
    with pytest.raises(DurableMisuseError), ruleset.session():
        pass


def test_a_forgotten_ruleset_is_freed() -> None:
    gc.collect()
    before = len(durable_driver._live)
    Ruleset(define(rule(condition("gpu"))))
    gc.collect()
    assert len(durable_driver._live) == before


def test_a_locale_with_a_decimal_comma_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locale, "localeconv", lambda: {"decimal_point": ","})
    with pytest.raises(DurableRuleError, match="decimal point"):
        Ruleset(define(rule(condition("gpu"))))


def test_four_kilobytes_of_text_are_taken() -> None:
    facts = [gpu("a" * 4096, 1), gpu('"' * 4096, 1), gpu("显" * 1365, 1)]
    rules = [rule(condition("gpu", Constant("oid", Op.EQ, fact[1]["oid"]))) for fact in facts]
    assert fire(define(*rules), facts) == [(0, (0,)), (1, (1,)), (2, (2,))]


NUMBERS = [0, 1, -1, 64, 2**31, 2**53, -(2**53), 0.1, 0.3, 0.1 + 0.2, -2.5, 1e-7, 1.5e-7, 1e-300, 5e-324, 1e16, 1e22, 1.7e308, 64.0, 10**22]
TEXTS = [
    "",
    "a",
    "ab",
    "a ",
    "a!",
    "A",
    "1",
    "64",
    "true",
    "显卡",
    "é",
    "e\u0301",
    "🚀",
    'a"b',
    "a\\b",
    "a\nb",
    "a\0b",
    "\x7f",
    '},{"v":1',
    "\\u0041",
]
COMPARE: dict[Op, Callable[[Any, Any], bool]] = {
    Op.EQ: operator.eq, Op.NE: operator.ne, Op.LT: operator.lt, Op.LE: operator.le, Op.GT: operator.gt, Op.GE: operator.ge,
}  # fmt: skip


@pytest.mark.parametrize(
    ("declared", "values", "ops"),
    [(NUMBER, NUMBERS, list(Op)), (TEXT, TEXTS, [Op.EQ, Op.NE]), (YES_NO, [True, False], [Op.EQ, Op.NE])],
    ids=["numbers", "texts", "yes-no"],
)
def test_every_comparison_agrees_with_python(declared: Property, values: list[Value], ops: list[Op]) -> None:
    schema = {"x": {"v": declared, "n": NUMBER}, "y": {"v": declared, "n": NUMBER}}
    tests = list(itertools.product(ops, values))
    rules = [rule(condition("x", Constant("v", op, value))) for op, value in tests]
    rules += [rule(condition("y"), condition("x", Join("v", op, 0, "v"))) for op in ops]
    facts: list[Fact] = [(kind, {"v": value, "n": n}) for kind in "xy" for n, value in enumerate(values)]
    wanted: list[tuple[int, tuple[int, ...]]] = [
        (r, (n,)) for r, (op, c) in enumerate(tests) for n, v in enumerate(values) if COMPARE[op](v, c)
    ]
    wanted += [
        (len(tests) + r, (len(values) + m, n))
        for r, op in enumerate(ops) for m, b in enumerate(values) for n, a in enumerate(values) if COMPARE[op](a, b)
    ]  # fmt: skip
    assert fire(define(*rules, schema=schema), facts) == sorted(wanted)


@pytest.mark.parametrize("name", ["all", "any", "count", "pri", "name", "run", "m0"])
def test_words_of_the_rule_level_are_plain_property_names(name: str) -> None:
    raw = rule(condition("x"), condition("y", Constant(name, Op.GE, 2), Join(name, Op.GT, 0, name)))
    facts: list[Fact] = [("x", {name: 2}), ("y", {name: 2}), ("y", {name: 3})]
    assert fire(define(raw, schema={"x": {name: NUMBER}, "y": {name: NUMBER}}), facts) == [(0, (0, 2))]


def test_the_largest_allowed_rule_fires() -> None:
    joins = [Join("mem", Op.GE, 0, "mem")] * JOINS_PER_CONDITION
    wide = rule(condition("need"), condition("gpu", *joins, *(Constant("mem", Op.NE, i) for i in range(64))))
    deep = rule(*(condition(f"k{i}") for i in range(CONDITIONS_PER_RULE)))
    schema = {**SCHEMA, **{f"k{i}": {"v": NUMBER} for i in range(CONDITIONS_PER_RULE)}}
    facts: list[Fact] = [("need", {"mem": 300, "oid": ""}), gpu("a", 300), gpu("b", 63), *((f"k{i}", {"v": 1}) for i in range(16))]
    assert fire(define(wide, deep, schema=schema), facts) == [(0, (0, 1)), (1, tuple(range(3, 19)))]


def ladder(size: int) -> list[RawRule]:
    return [rule(condition("gpu", Constant("mem", Op.GE, i))) for i in range(size)]


LARGE: list[tuple[str, list[RawRule], Callable[[int], bool]]] = [
    ("thresholds", ladder(2000), lambda i: i <= 1500),
    ("equal tests", [rule(condition("gpu", Constant("mem", Op.GE, 1)))] * 2000, lambda i: True),
    ("joins", [rule(condition("need"), condition("gpu", Join("mem", Op.GE, 0, "mem")))] * 2000, lambda i: True),
    ("equalities", [rule(condition("gpu", Constant("mem", Op.EQ, i))) for i in range(2000)], lambda i: i == 1500),
    ("more than one rule set", ladder(9000), lambda i: i <= 1500),
]


@pytest.mark.parametrize(("rules", "fires"), [case[1:] for case in LARGE], ids=[case[0] for case in LARGE])
def test_thousands_of_rules_over_one_kind_fire_exactly(rules: list[RawRule], fires: Callable[[int], bool]) -> None:
    found = fire(define(*rules), [gpu("a", 1500), ("need", {"mem": 1500, "oid": ""})])
    assert [number for number, _ in found] == [i for i in range(len(rules)) if fires(i)]
    assert all(layout.stack <= 30 for layout in lay_out(define(*rules)))


def comb(teeth: int, depth: int) -> list[RawRule]:
    """At each of `depth` levels of tests `teeth` that lead nowhere, and one that leads on: all of them true of one fact."""
    spine = [Constant("mem", Op.NE, 1000 + i) for i in range(depth)]
    sides = [[Constant("mem", Op.NE, 2000 + 100 * i + tooth) for tooth in range(teeth)] for i in range(depth)]
    return [rule(condition("gpu", *spine[:i], side)) for i in range(depth) for side in sides[i]]


def test_many_true_tests_on_many_levels_fire_exactly() -> None:
    rules = comb(11, 8)  # 12 true tests on each of 8 levels are too many at the usual width
    found = fire(define(*rules), [gpu("a", 1), gpu("b", 1003)])
    assert [number for number, (fact,) in found if fact == 0] == list(range(len(rules)))
    assert [number for number, (fact,) in found if fact == 1] == list(range(4 * 11))  # the spine ends at its fourth test


def test_true_tests_on_too_many_levels_are_refused_by_name() -> None:
    with pytest.raises(DurableLimitError, match=r"limit true-tests: found \d+, allowed 64"):
        Ruleset(define(*comb(3, 40)))


def test_thousands_of_kinds_fire_exactly() -> None:
    schema = {f"k{i}": {"v": NUMBER} for i in range(3000)}
    rules = [rule(condition(f"k{i}", Constant("v", Op.EQ, i))) for i in range(3000)]
    facts: list[Fact] = [(f"k{i}", {"v": i + i % 2}) for i in range(3000)]
    assert fire(define(*rules, schema=schema), facts) == [(i, (i,)) for i in range(0, 3000, 2)]


def test_parts_chain_into_each_other() -> None:
    """Rules 0 and 8,500 are in different rule sets; each one's action feeds the other."""
    first, last = rule(condition("need", Constant("mem", Op.EQ, 1))), rule(condition("range", Constant("lo", Op.EQ, 2)))
    end = rule(condition("need", Constant("mem", Op.EQ, 3)))
    never = [rule(condition("gpu", Constant("mem", Op.EQ, i))) for i in range(8499)]
    fired = []
    with Ruleset(define(first, *never, last, end)) as ruleset, ruleset.session() as session:
        following: dict[int, Fact] = {0: ("range", {"lo": 2}), 8500: ("need", {"mem": 3, "oid": ""}), 8501: ("range", {"lo": 9})}

        def act(number: int, facts: tuple[str, ...]) -> None:
            fired.append(number)
            session.add(*following[number])

        session.add("need", {"mem": 1, "oid": ""})
        assert session.drain(act) == 3
    assert fired == [0, 8500, 8501]


def test_the_probe_accepts_a_definition_and_leaves_it_unchanged() -> None:
    definition = define(BIG_ENOUGH, rule(condition("range", Exists("hi"), Constant("hi", Op.LE, 0.5))))
    durable_probe.probe_in_child(definition, 30)
    assert durable_probe.from_json(durable_probe.to_json(definition)) == definition
    assert durable_probe.digest(definition) != durable_probe.digest(define(BIG_ENOUGH))


def test_the_probe_names_the_deadline() -> None:
    with pytest.raises(DurableLimitError, match="limit deadline: found 2, allowed 1"):
        durable_probe.probe_in_child(define(*ladder(4000)), 0.001)


def test_the_probe_reports_a_refusal() -> None:
    with pytest.raises(DurableFaultError, match="DurableRuleError"):
        durable_probe.probe_in_child(define(rule()), 30)


def test_one_spelling_per_number() -> None:
    assert [encode_value(v, ValueType.NUMBER) for v in (2, 2.0, -0.0, 1e16, 1e-7, 1.5e-7)] == [
        "2",
        "2",
        "0",
        "1.0e+16",
        "1.0e-07",
        "1.5e-07",
    ]
