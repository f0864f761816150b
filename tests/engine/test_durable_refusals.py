"""Facts and rules that durable_rules would misread are refused, and before it sees anything of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest

pytest.importorskip("durable_rules_engine", exc_type=ImportError)

from expert.engine import durable_driver
from expert.engine.durable_driver import Ruleset
from expert.engine.durable_raw import (
    CONDITIONS_PER_RULE,
    JOINS_PER_CONDITION,
    Constant,
    Definition,
    DurableError,
    DurableLimitError,
    DurableRuleError,
    DurableValueError,
    Exists,
    Join,
    Op,
    Property,
    RawCondition,
    RawRule,
    Test,
    Value,
    ValueType,
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


def gpu(oid: str, mem: float, link: bool = True) -> Fact:
    return "gpu", {"oid": oid, "mem": mem, "link": link}


REFUSED_FACTS: list[tuple[str, str, Mapping[str, Any]]] = [
    ("unknown kind", "cpu", {}),
    ("missing property", "gpu", {"oid": "a", "mem": 1}),
    ("unknown property", "range", {"lo": 1, "mid": 2}),
    ("library's own property", "range", {"lo": 1, "id": 2}),
    *((f"{value!r} as number", "range", {"lo": value}) for value in (math.nan, math.inf, -math.inf, 2**53 + 1, -(2**63) - 1, 10**400)),
    *((f"{value!r} as number", "range", {"lo": value}) for value in (None, True, "64", [1], {"a": 1}, 1j)),
    *((f"{value!r} as text", "need", {"mem": 1, "oid": value}) for value in (None, 1, b"a", "\ud800", "a" * 4097, "显" * 1366)),
    *((f"{value!r} as yes/no", "gpu", {"oid": "a", "mem": 1, "link": value}) for value in (None, 1, 0.0, "true")),
]


@pytest.mark.parametrize(("kind", "values"), [case[1:] for case in REFUSED_FACTS], ids=[case[0][:40] for case in REFUSED_FACTS])
def test_a_fact_that_the_library_would_misread_is_refused_and_the_session_goes_on(kind: str, values: Mapping[str, Any]) -> None:
    with Ruleset(define(rule(condition("gpu")))) as ruleset, ruleset.session() as session:
        with pytest.raises((DurableValueError, DurableLimitError)):
            session.add(kind, values)
        session.add(*gpu("a", 1))
        assert session.drain(lambda number, facts: None) == 1


REFUSED_RULES: list[tuple[str, type[DurableError], RawRule]] = [
    ("no conditions", DurableRuleError, rule()),
    ("unknown kind", DurableRuleError, rule(condition("cpu"))),
    ("unknown property", DurableRuleError, rule(condition("gpu", Exists("price")))),
    ("order of texts", DurableRuleError, rule(condition("gpu", Constant("oid", Op.LT, "b")))),
    ("order of yes/no", DurableRuleError, rule(condition("gpu", Constant("link", Op.GE, True)))),
    ("text against number", DurableValueError, rule(condition("gpu", Constant("mem", Op.EQ, "64")))),
    ("not a number", DurableValueError, rule(condition("gpu", Constant("mem", Op.EQ, math.nan)))),
    ("join of types", DurableRuleError, rule(condition("need"), condition("gpu", Join("mem", Op.EQ, 0, "oid")))),
    ("join with itself", DurableRuleError, rule(condition("gpu", Join("mem", Op.EQ, 0, "mem")))),
    ("join with a later one", DurableRuleError, rule(condition("gpu", Join("mem", Op.EQ, 1, "mem")), condition("need"))),
    ("join on optional", DurableRuleError, rule(condition("range"), condition("need", Join("mem", Op.LE, 0, "hi")))),
    ("optional joins", DurableRuleError, rule(condition("need"), condition("range", Join("hi", Op.LE, 0, "mem")))),
    ("17 conditions", DurableLimitError, rule(*[condition("gpu")] * (CONDITIONS_PER_RULE + 1))),
    ("30 joins", DurableLimitError, rule(condition("need"), condition("gpu", *[Join("mem", Op.GE, 0, "mem")] * (JOINS_PER_CONDITION + 1)))),
    ("65 tests", DurableLimitError, rule(condition("gpu", *(Constant("mem", Op.NE, i) for i in range(65))))),
    ("long text", DurableLimitError, rule(condition("gpu", Constant("oid", Op.EQ, "a" * 4097)))),
]


@pytest.mark.parametrize(("error", "bad"), [case[1:] for case in REFUSED_RULES], ids=[case[0] for case in REFUSED_RULES])
def test_a_rule_outside_the_subset_is_refused_before_the_library_sees_it(
    error: type[DurableError], bad: RawRule, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(durable_driver, "library", None)
    with pytest.raises(error):
        Ruleset(define(bad))


@pytest.mark.parametrize("name", ["id", "sid", "kind_", "bucket_", "boot_", "$s", "", "a.b", "a-b", "显存", "a" * 65])
def test_a_property_name_that_means_something_to_the_library_is_refused(name: str) -> None:
    with pytest.raises(DurableRuleError):
        Ruleset(define(schema={"x": {name: NUMBER}}))
