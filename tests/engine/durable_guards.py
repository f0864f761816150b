"""The scenarios of durable_faults.py through our driver; and, in two of them, the driver without its layout."""

from __future__ import annotations

import locale
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import durable_rules_engine as library
from durable_faults import COLLIDING, grown

from expert.engine import durable_driver, durable_layout
from expert.engine.durable_driver import Ruleset
from expert.engine.durable_raw import (
    Constant,
    Definition,
    DurableError,
    Exists,
    Join,
    Op,
    Property,
    RawCondition,
    RawRule,
    Value,
    ValueType,
)

NUMBER, TEXT = Property(ValueType.NUMBER), Property(ValueType.TEXT)
SCHEMA = {"x": {"v": NUMBER}, "y": {"v": NUMBER}, "t": {"s": TEXT}, "o": {"v": Property(ValueType.NUMBER, optional=True)}}


def through_driver(rules: Sequence[RawRule], facts: Sequence[tuple[str, Mapping[str, Value]]], schema: Any = SCHEMA) -> list[Any]:
    found: list[Any] = []
    try:
        with Ruleset(Definition(tuple(rules), schema)) as ruleset, ruleset.session() as session:
            for fact in facts:
                session.add(*fact)
            session.drain(lambda number, used: found.append(number))
    except DurableError as problem:
        found.append(f"{type(problem).__name__}: {problem}"[-80:])
    return sorted(found)


def ladder(size: int) -> list[Any]:
    return through_driver([RawRule((RawCondition("x", (Constant("v", Op.GE, i),)),)) for i in range(size)], [("x", {"v": 9999})])


AT_LEAST = RawRule((RawCondition("y"), RawCondition("x", (Join("v", Op.GE, 0, "v"),))))


def refused(attempt: Callable[[], object]) -> str:
    try:
        attempt()
    except DurableError as problem:
        return type(problem).__name__
    return "accepted"


def guard_join_whose_last_test_fails() -> int:
    fired_rules = 0
    for pad in (0, 5, 40, 100, 150, 200, 400):
        rules = [*(RawRule((RawCondition("o", (Constant("v", Op.EQ, i),)),)) for i in range(pad)), AT_LEAST]
        with Ruleset(Definition(tuple(rules), SCHEMA)) as ruleset:
            for _ in range(20):
                with ruleset.session() as session:
                    session.add("y", {"v": 10})
                    session.add("x", {"v": 1})
                    fired_rules += session.drain(lambda number, facts: None)
    return fired_rules


def guard_sessions_that_never_fire() -> str:
    with Ruleset(Definition((AT_LEAST,), SCHEMA)) as ruleset:
        del [bytearray(b"\xff" * size) for size in range(64, 60_000, 64)][:]
        for _ in range(200):
            with ruleset.session() as session:
                session.add("y", {"v": 10})
            with ruleset.session():
                pass
    return "survived"


def guard_thousands_of_kinds() -> list[Any]:
    schema = {f"k{i}": {"v": NUMBER} for i in range(3000)}
    return through_driver([RawRule((RawCondition(f"k{i}"),)) for i in range(3000)], [("k1", {"v": 1}), ("k2999", {"v": 1})], schema)


def guard_256_ends() -> list[Any]:
    rules = [RawRule((RawCondition("x", (Constant("v", Op.GE, 2 if i == 1 else 1),)),)) for i in range(300)]
    found = through_driver(rules, [("x", {"v": 1})])
    return [len(found), 1 in found]


def guard_65_true_tests() -> int:
    return len(ladder(65)) + len(ladder(1000))


def guard_65_joins() -> int:
    return len(through_driver([AT_LEAST] * 300, [("y", {"v": 1}), ("x", {"v": 2})]))


def guard_join_on_a_missing_property() -> list[object]:
    missing = RawRule((RawCondition("o"), RawCondition("x", (Join("v", Op.LT, 0, "v"),))))
    present = RawRule((RawCondition("o", (Exists("v"),)), RawCondition("x", (Join("v", Op.LT, 0, "v"),))))
    facts: list[tuple[str, Mapping[str, Value]]] = [("o", {}), ("y", {"v": 1}), ("x", {"v": 5}), ("o", {"v": 6})]
    return [refused(lambda: Ruleset(Definition((missing,), SCHEMA))), through_driver([AT_LEAST, present], facts)]


def guard_live_sessions() -> list[object]:
    durable_driver.LIVE_SESSIONS = 3
    with Ruleset(Definition((AT_LEAST,), SCHEMA)) as ruleset:
        with ruleset.session(), ruleset.session(), ruleset.session():
            fourth = refused(lambda: ruleset.session(0.01).__enter__())
        for _ in range(2500):
            with ruleset.session() as session:
                session.add("y", {"v": 1})
                session.add("x", {"v": 1})
                session.drain(lambda number, facts: None)
    return [fourth, "survived"]


def guard_calls_after_the_end() -> list[str]:
    with Ruleset(Definition((AT_LEAST,), SCHEMA)) as ruleset:
        with ruleset.session() as session:
            session.add("y", {"v": 1})
        late = [refused(lambda: session.add("y", {"v": 2})), refused(lambda: session.drain(lambda number, facts: None))]
        session.end()
    return [*late, refused(lambda: ruleset.session().__enter__())]


def guard_texts_of_10_mb() -> list[str]:
    long = "s" * (10 << 20)
    with Ruleset(Definition((RawRule((RawCondition("t"),)),), SCHEMA)) as ruleset, ruleset.session() as session:
        return [
            refused(lambda: session.add("t", {"s": long})),
            refused(lambda: session.add(long, {"s": "a"})),
            refused(lambda: session.add("t", {long: "a"})),
            refused(lambda: Ruleset(Definition((), {long: {"v": NUMBER}}))),
            refused(lambda: Ruleset(Definition((), {"x": {long: NUMBER}}))),
        ]


def guard_property_names_with_one_hash() -> str:
    return refused(lambda: Ruleset(Definition((), {"x": {COLLIDING[0]: NUMBER}, "y": {COLLIDING[1]: NUMBER}})))


def guard_session_after_an_exception() -> int:
    """More sessions than names, each left by an exception inside an action: each name is used again, none is locked."""
    count = 0

    def act(number: int, facts: object) -> None:
        nonlocal count
        count += 1
        raise KeyError

    with Ruleset(Definition((AT_LEAST,), SCHEMA)) as ruleset:
        for _ in range(1100):
            try:
                with ruleset.session() as session:
                    session.add("y", {"v": 1})
                    session.add("x", {"v": 1})
                    session.drain(act)
            except KeyError:
                continue
    return count


def guard_interrupted_opening() -> list[object]:
    """Ctrl-C between the bootstrap fact and its firing: the session is not deleted, and its name not used again."""

    class Interrupted:
        error = library.error

        def __getattr__(self, name: str) -> Any:
            return getattr(library, name)

        def start_action_for_state(self, handle: int, offset: int) -> object:
            raise KeyboardInterrupt

    ruleset = Ruleset(Definition((AT_LEAST,), SCHEMA))
    vars(durable_driver)["library"] = Interrupted()
    names = set()
    for _ in range(3):
        try:
            with ruleset.session() as session:
                names.add(session.name)
                session.add("y", {"v": 1})
        except KeyboardInterrupt:
            continue
    vars(durable_driver)["library"] = library
    free = {ruleset._names.popleft() for _ in range(len(ruleset._names))}
    return [len(names), sorted(names & free)]


def fault_layout_without_buckets_and_groups() -> list[Any]:
    vars(durable_layout).update(BUCKETS=1, GROUP_SIZE=10**6, TABLE=10**6)
    schema = {f"k{i}": {"v": NUMBER} for i in range(600)}
    return through_driver([RawRule((RawCondition(f"k{i}"),)) for i in range(600)], [("k1", {"v": 1})], schema)


def fault_layout_without_groups() -> list[Any]:
    vars(durable_layout).update(WIDTHS=((10**6, 10**6),), STACK=10**6)
    return ladder(65)


def guard_refused_definitions_leak_nothing() -> float:
    raw = RawRule((RawCondition("x", (Constant("v", Op.EQ, "1"),)),))
    return grown(lambda: Ruleset(Definition((raw,) * 300, SCHEMA)))


def guard_locale_with_a_decimal_comma() -> str:
    locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
    return refused(lambda: Ruleset(Definition((), SCHEMA)))
