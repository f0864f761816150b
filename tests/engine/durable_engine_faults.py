"""What durable_rules' own Python layer, durable.engine, adds to the faults of its C module; our loop is tested for the same."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from durable_faults import every

Facts = Sequence[Mapping[str, Any]]


class NoActions:
    def get_action(self, name: str) -> object:
        raise KeyError(name)


def by_durable_engine(*actions: Callable[..., object], facts: Facts = ({"k": "a"},)) -> tuple[Any, list[object]]:
    """One rule per action on {k: a}, driven by durable.engine; the rule set and what `complete` was called with."""
    from durable.engine import Ruleset as Theirs

    theirs = Theirs("scenario", NoActions(), {f"r{i}": {**every({"k": "a"}), "run": action} for i, action in enumerate(actions)})
    ends: list[object] = []
    for fact in facts:
        handle = theirs.assert_fact({**fact, "sid": "s"})
    theirs.do_actions(handle, lambda error, state: ends.append(error))
    return theirs, ends


def raising(error: BaseException) -> Callable[[Any], object]:
    def act(c: Any) -> object:
        raise error

    return act


def fault_engine_swallows_exceptions() -> list[object]:
    return [by_durable_engine(raising(error))[1] for error in (ValueError("x"), KeyboardInterrupt(), SystemExit(3))]


def fault_engine_stops_after_ten_seconds() -> list[object]:
    import durable.engine as theirs

    real, skew, log = theirs._unix_now, [0], list[str]()
    theirs._unix_now = lambda: real() + skew[0]

    def slow(c: Any) -> None:
        log.append("slow")
        skew[0] += 11

    return [log, by_durable_engine(slow, lambda c: log.append("next"))[1]]


def fault_engine_takes_a_default_for_a_callback() -> list[object]:
    log = list[str]()

    def act(c: Any, times: int = 0) -> None:
        log.append("act")

    return [log, by_durable_engine(act, lambda c: log.append("next"))[1]]


class Recorder:
    """An action that is an object."""

    def __init__(self) -> None:
        self.seen: list[int] = []

    def __call__(self, number: int, facts: object = None, times: int = 0) -> None:
        self.seen.append(number)


def fault_engine_refuses_callable_objects() -> str:
    try:
        by_durable_engine(Recorder())
    except AttributeError as problem:
        return type(problem).__name__
    return "accepted"


def fault_engine_raises_on_an_unread_fact() -> list[str]:
    log = list[str]()

    def act(c: Any) -> None:
        c.assert_fact({"zz": 1})
        log.append("after")

    by_durable_engine(act)
    return log


def fault_engine_starts_threads() -> int:
    from durable.engine import Host

    before = threading.active_count()
    Host({})
    return threading.active_count() - before


def fault_engine_empties_the_definition() -> list[str]:
    from durable.engine import Ruleset as Theirs

    definition: dict[str, Any] = {"r": {**every({"k": "a"}), "run": lambda c: None}}
    Theirs("scenario", NoActions(), definition)
    return sorted(definition["r"])
