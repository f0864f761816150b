"""Body facts and tests of one decision over boxes, each evaluated once per projection on the variables it depends on.

A box is a tuple of ids, one per variable: each id stands for a set of values (a part). A fact or test that depends on two
variables is the same in all boxes that agree on those two, so it is looked up by their ids.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Generic, TypeVar, cast

from expert.engine.evaluate import Env
from expert.engine.model import CONCLUDED_KEY, DecisionModel, TestModel
from expert.engine.values import FALSE, OPTION, TRUE, Slot
from expert.facts import Amount, Value
from expert.language.terms import BOOL, NUMBER

Ids = tuple[int, ...]
V = TypeVar("V")


def domain_slot(values: tuple[Value, ...], kind: str) -> Slot:
    """The slot that covers all values of a domain."""
    if kind == BOOL:
        return (TRUE if True in values else 0) | (FALSE if False in values else 0)
    if kind != NUMBER:
        return (frozenset(cast("tuple[str, ...]", values)), 0)
    lows = [cast(Amount, v).low for v in values]
    highs = [cast(Amount, v).high for v in values]
    return (min(lows), max(highs), lows[0] if len(lows) == 1 and lows == highs else None, 0)


class Evaluation:
    """Evaluates for one environment (everything upstream, with "plan." entries) and what the plan states of the body."""

    def __init__(self, model: DecisionModel, env: Env, stated: Mapping[str, Slot], kinds: Mapping[str, str]) -> None:
        self.model = model
        self.env = env
        self.stated = stated
        self.kinds = [kinds[v] for v in model.variables]
        self._ids: list[dict[tuple[Value, ...], int]] = [{} for _ in model.variables]
        self._values: list[list[tuple[Value, ...]]] = [[] for _ in model.variables]
        self._slots: list[list[Slot]] = [[] for _ in model.variables]
        self._single: list[list[bool]] = [[] for _ in model.variables]
        self._halves: list[dict[int, tuple[int, ...]]] = [{} for _ in model.variables]
        self._facts: dict[str, _Memo[Slot]] = {}
        self._tests: dict[str, _Memo[int]] = {}
        self._distances: dict[str, _Memo[float]] = {}
        # One environment per mode, written over and over: a closure reads only what was set for it just before.
        self._scratch = (dict(env), dict(env))
        index = {variable: i for i, variable in enumerate(model.variables)}
        self._index = index

    # Parts.

    def ids(self, domains: Mapping[str, tuple[Value, ...]]) -> Ids:
        """The box with these values of each variable."""
        return tuple(self.part(i, domains[v]) for i, v in enumerate(self.model.variables))

    def part(self, place: int, values: tuple[Value, ...]) -> int:
        """The id of a set of values of the variable at `place`."""
        known = self._ids[place]
        found = known.get(values)
        if found is None:
            found = known[values] = len(self._values[place])
            self._values[place].append(values)
            self._single[place].append(len(values) == 1)
            self._slots[place].append(domain_slot(values, self.kinds[place]))
        return found

    def values(self, ids: Ids, place: int) -> tuple[Value, ...]:
        """The values that a box leaves to the variable at `place`."""
        return self._values[place][ids[place]]

    def is_single(self, ids: Ids, place: int) -> bool:
        """True when the variable is fixed."""
        return self._single[place][ids[place]]

    def option_of(self, ids: Ids) -> dict[str, Value]:
        """The first value of each variable; the option itself when the box is one option."""
        return {v: self._values[i][ids[i]][0] for i, v in enumerate(self.model.variables)}

    def split(self, ids: Ids, place: int, wide: bool = False) -> list[Ids]:
        """The boxes that come of splitting one variable: numbers of more than three values in halves, the rest in single values."""
        part = ids[place]
        halves = self._halves[place]
        found = halves.get(part)
        if found is None or wide:
            values = self._values[place][part]
            found = tuple(self.part(place, piece) for piece in self._pieces(place, values, wide))
            if not wide:
                halves[part] = found
        return [(*ids[:place], piece, *ids[place + 1 :]) for piece in found]

    def _pieces(self, place: int, values: tuple[Value, ...], wide: bool) -> Sequence[tuple[Value, ...]]:
        if self.kinds[place] != NUMBER or len(values) <= 3 or wide:
            return [(value,) for value in values]
        ascending = sorted(values, key=lambda v: cast(Amount, v).low)
        half = len(ascending) // 2
        return [tuple(ascending[:half]), tuple(ascending[half:])]

    def place(self, variable: str) -> int:
        """Where a variable stands in a box."""
        return self._index[variable]

    # Values.

    def fact(self, name: str, ids: Ids, exact: bool = False) -> Slot:
        """What the rules conclude of a body fact over a box, or, with `exact`, for its one option."""
        memo = self._facts.get(name) or self._fact_memo(name)
        known = memo.exact if exact else memo.box
        key = memo.key(ids)
        found = known.get(key)
        if found is None:
            if not exact and self._fixed(ids, memo.places):
                found = known[key] = self.fact(name, ids, exact=True)
                return found
            env = self._environment(ids, memo.places, self.model.direct[name], exact)
            closure = (self.model.exact if exact else self.model.box)[name]
            found = known[key] = closure.exact(env, OPTION) if exact else closure.box(env, OPTION)
        return found

    def value(self, name: str, ids: Ids, exact: bool = False) -> Slot:
        """The value of a body fact: what the plan states, else what the rules conclude; any other fact stands as it is."""
        stated = self.stated.get(name)
        if stated is None and name not in self.model.support:
            return self.env[name]
        return self.fact(name, ids, exact) if stated is None else stated

    def test(self, test: TestModel, ids: Ids, exact: bool = False) -> int:
        """The verdict of a test."""
        memo = self._tests.get(test.id) or self._test_memo(self._tests, test)
        known = memo.exact if exact else memo.box
        key = memo.key(ids)
        found = known.get(key)
        if found is None:
            if not exact and self._fixed(ids, memo.places):
                found = known[key] = self.test(test, ids, exact=True)
                return found
            env = self._environment(ids, memo.places, test.reads, exact)
            found = known[key] = (test.exact if exact else test.box)(env)
        return found

    def miss(self, test: TestModel, ids: Ids, exact: bool = False) -> float:
        """How far a test is missed; over a box, at least."""
        memo = self._distances.get(test.id) or self._test_memo(self._distances, test)
        known = memo.exact if exact else memo.box
        key = memo.key(ids)
        found = known.get(key)
        if found is None:
            env = self._environment(ids, memo.places, test.reads, exact)
            found = known[key] = (test.miss_exact if exact else test.miss_box)(env)
        return found

    def decides(self, test: TestModel, ids: Ids) -> bool:
        """True when a box fixes everything that a test depends on: its verdict there is final."""
        return self._fixed(ids, (self._tests.get(test.id) or self._test_memo(self._tests, test)).places)

    def _fixed(self, ids: Ids, places: Sequence[int]) -> bool:
        """True when a projection is one option: what is exact there covers it too, and need not be found twice."""
        return all(self._single[place][ids[place]] for place in places)

    def full_env(self, ids: Ids) -> Env:
        """The environment of one option with its whole body, and "concluded." entries beside what the plan states."""
        return {**self.env, **self._environment(ids, range(len(self.model.variables)), self.model.body, True)}

    def _fact_memo(self, name: str) -> _Memo[Slot]:
        memo: _Memo[Slot] = _memo(self._places(self.model.support[name]))
        self._facts[name] = memo
        return memo

    def _test_memo(self, memos: dict[str, _Memo[V]], test: TestModel) -> _Memo[V]:
        memo: _Memo[V] = _memo(self._places(test.touches))
        memos[test.id] = memo
        return memo

    def _places(self, variables: frozenset[str]) -> tuple[int, ...]:
        return tuple(i for i, v in enumerate(self.model.variables) if v in variables)

    def _environment(self, ids: Ids, places: Sequence[int], facts: Sequence[str], exact: bool) -> Env:
        """The scratch environment with these variables and facts set for the box."""
        env = self._scratch[exact]
        for place in places:
            env[self.model.variables[place]] = self._slots[place][ids[place]]
        for name in facts:
            value = self.fact(name, ids, exact)
            if name in self.stated:
                env[CONCLUDED_KEY + name] = value
                value = self.stated[name]
            env[name] = value
        return env


class Pool:
    """Evaluations to be shared: one that saw the same upstream values of everything its decision reads can serve again."""

    def __init__(self) -> None:
        self._kept: dict[str, list[tuple[tuple[object, ...], Evaluation]]] = {}

    def evaluation(self, model: DecisionModel, env: Env, stated: Mapping[str, Slot], kinds: Mapping[str, str]) -> Evaluation:
        """A kept evaluation that fits, else a new one, which is kept."""
        seen = (*(env.get(name) for name in model.upstream), tuple(sorted(stated.items())))
        kept = self._kept.setdefault(model.decision.id, [])
        for signature, evaluation in kept:
            if signature == seen:
                return evaluation
        evaluation = Evaluation(model, env, stated, kinds)
        kept.append((seen, evaluation))
        return evaluation


@dataclass(slots=True)
class _Memo(Generic[V]):
    """What was found for each projection on the variables at `places`."""

    places: tuple[int, ...]
    key: Callable[[Ids], object]
    box: dict[object, V]
    exact: dict[object, V]


def _memo(places: tuple[int, ...]) -> _Memo[V]:
    return _Memo(places, itemgetter(*places) if places else _nowhere, {}, {})


def _nowhere(ids: Ids) -> object:
    return ()
