"""Random programs through the driver of durable_rules, against a naive matcher that shares no code with it."""

from __future__ import annotations

import operator
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

pytest.importorskip("durable_rules_engine", exc_type=ImportError)

from expert.engine import durable_layout
from expert.engine.durable_driver import Ruleset
from expert.engine.durable_raw import Constant, Definition, Exists, Join, Op, Property, RawCondition, RawRule, Test, Value, ValueType

NUMBER, TEXT, YES_NO = (Property(t) for t in (ValueType.NUMBER, ValueType.TEXT, ValueType.YES_NO))
OPTIONAL = Property(ValueType.NUMBER, optional=True)
Fact = tuple[str, Mapping[str, Value]]
COMPARE: dict[Op, Callable[[Any, Any], bool]] = {
    Op.EQ: operator.eq, Op.NE: operator.ne, Op.LT: operator.lt, Op.LE: operator.le, Op.GT: operator.gt, Op.GE: operator.ge,
}  # fmt: skip

KINDS = {
    "a": {"n": NUMBER, "s": TEXT, "b": YES_NO},
    "b": {"n": NUMBER, "m": NUMBER, "s": TEXT},
    "c": {"s": TEXT, "n": OPTIONAL},
}
POOL: dict[ValueType, list[Value]] = {
    ValueType.NUMBER: [0, 1, 2.0, 2, 2.5, -3, 1e-7],
    ValueType.TEXT: ["", "a", "ab", "显", 'q"t'],
    ValueType.YES_NO: [True, False],
}


def random_fact(rng: random.Random) -> Fact:
    kind = rng.choice(sorted(KINDS))
    values = {name: rng.choice(POOL[p.type]) for name, p in KINDS[kind].items() if not p.optional or rng.random() < 0.5}
    return kind, values


def random_condition(rng: random.Random, before: Sequence[RawCondition]) -> RawCondition:
    kind = rng.choice(sorted(KINDS))
    tests: list[Test] = []
    for name, declared in KINDS[kind].items():
        ops = list(Op) if declared.type is ValueType.NUMBER else [Op.EQ, Op.NE]
        if rng.random() < 0.3:
            tests.append(Constant(name, rng.choice(ops), rng.choice(POOL[declared.type])))
        if before and rng.random() < 0.4:
            there = rng.randrange(len(before))
            fitting = [n for n, p in KINDS[before[there].kind].items() if p.type is declared.type and not p.optional]
            if fitting:
                tests += [Exists(name), Join(name, rng.choice(ops), there, rng.choice(fitting))]
    rng.shuffle(tests)
    return RawCondition(kind, tuple(tests))


def random_rule(rng: random.Random) -> tuple[RawRule, Fact | None]:
    conditions: list[RawCondition] = []
    for _ in range(rng.randint(1, 3)):
        conditions.append(random_condition(rng, conditions))
    return RawRule(tuple(conditions)), random_fact(rng) if rng.random() < 0.4 else None


def passes(test: Test, fact: Fact, earlier: Sequence[Fact]) -> bool:
    if test.prop not in fact[1]:
        return False
    if isinstance(test, Exists):
        return True
    other = test.value if isinstance(test, Constant) else earlier[test.condition][1][test.other]
    return COMPARE[test.op](fact[1][test.prop], other)


def naive_matches(raw: RawRule, facts: Sequence[Fact], chosen: tuple[int, ...] = ()) -> list[tuple[int, ...]]:
    if len(chosen) == len(raw.conditions):
        return [chosen]
    wanted, earlier, found = raw.conditions[len(chosen)], [facts[i] for i in chosen], []
    for i, fact in enumerate(facts):
        if i not in chosen and fact[0] == wanted.kind and all(passes(test, fact, earlier) for test in wanted.tests):
            found += naive_matches(raw, facts, (*chosen, i))
    return found


Match = tuple[int, tuple[Any, ...]]


def key(fact: Fact) -> tuple[str, tuple[tuple[str, Value], ...]]:
    return fact[0], tuple(sorted(fact[1].items()))


def naive(rules: Sequence[tuple[RawRule, Fact | None]], facts: Sequence[Fact]) -> Counter[Match]:
    known = list({key(fact): fact for fact in facts}.values())
    while True:
        found = [(number, used) for number, (raw, _) in enumerate(rules) for used in naive_matches(raw, known)]
        fresh = {key(fact): fact for number, _ in found if (fact := rules[number][1]) and key(fact) not in map(key, known)}
        if not fresh:
            return Counter((number, tuple(key(known[i]) for i in used)) for number, used in found)
        known += fresh.values()


def driven(rules: Sequence[tuple[RawRule, Fact | None]], facts: Sequence[Fact], ruleset: Ruleset) -> Counter[Match]:
    found: Counter[Match] = Counter()
    by_id: dict[str, Fact] = {}
    with ruleset.session() as session:

        def act(number: int, used: tuple[str, ...]) -> None:
            found[number, tuple(key(by_id[i]) for i in used)] += 1
            if (conclusion := rules[number][1]) is not None:
                by_id.setdefault(session.add(*conclusion), conclusion)

        for fact in facts:
            by_id.setdefault(session.add(*fact), fact)
        session.drain(act)
    return found


# usual; every table taken for tiny, so that groups of groups arise; rule sets of three rules
LAYOUTS: list[dict[str, Any]] = [
    {},
    {"WIDTHS": ((1, 2),), "GROUP_SIZE": 3, "ENDS_PER_NODE": 1, "STACK": 1000},
    {"RULES_PER_SET": 3},
]


@pytest.mark.parametrize("block", range(6))
def test_random_programs_agree_with_the_naive_matcher(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in LAYOUTS[block % 3].items():
        monkeypatch.setattr(durable_layout, name, value)
    fired = 0
    for seed in range(block * 100, block * 100 + 100):
        rng = random.Random(seed)
        rules = [random_rule(rng) for _ in range(rng.randint(1, 12))]
        with Ruleset(Definition(tuple(r for r, _ in rules), KINDS)) as ruleset:
            for _ in range(3):
                facts = [random_fact(rng) for _ in range(rng.randint(0, 9))]
                wanted = naive(rules, facts)
                assert driven(rules, facts, ruleset) == wanted, seed
                fired += wanted.total()
    assert fired > 1000  # else the programs are too dull to prove anything
