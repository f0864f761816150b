"""Boxes of options: the product of a decision's domains, split and evaluated with intervals.

A box is dropped when a requirement is false for all of it. `Problem` carries what one consultation fixes; nothing here knows
plans or packs, or which option is better.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from expert.engine.evaluate import Env
from expert.engine.model import CONCLUDED_KEY, DecisionModel, TestModel
from expert.engine.values import BOTH, FALSE, OPTION, STATED, TRUE, Num, Slot, holds, to_slot
from expert.facts import Amount, Value
from expert.language.terms import NUMBER

CERTAIN, POSSIBLE, UNPROVEN, REJECTED = "certain", "possible", "unproven", "rejected"
INFINITE = float("inf")


@dataclass(frozen=True, slots=True)
class Option:
    """One option with what its evaluation gave. `position` is its place in table order; `cost` is a slot."""

    values: Mapping[str, Value]
    certainty: str
    score: int
    cost: Num
    order: tuple[float, ...]
    position: tuple[int, ...]
    miss: float
    met: bool = True
    unproven: tuple[str, ...] = ()
    possible: tuple[str, ...] = ()

    @property
    def typical_cost(self) -> float:
        """The cost that ranks: typical, else the middle; infinite where it is unknown."""
        return rank_cost(self.cost)[0]


def rank_cost(cost: Num) -> tuple[float, float]:
    """Typical cost (else the middle) and its high end; an unknown or tainted cost ranks behind every known one."""
    if cost[0] is None or cost[3] & OPTION:
        return (INFINITE, INFINITE)
    typical = cost[2] if cost[2] is not None else (cost[0] + cast(float, cost[1])) / 2
    return (typical, cast(float, cost[1]))


@dataclass(frozen=True, slots=True)
class Problem:
    """One decision within one consultation.

    env: exact slots of everything upstream, with "plan." entries. domains: allowed values (pins have one).
    requires, prefers: the tests in force; goals: requirements that only aim. stated: body facts that the plan states.
    cell_variables: variables to fix before a cell is searched, beside those of the cost.
    """

    model: DecisionModel
    env: Env
    domains: Mapping[str, tuple[Value, ...]]
    requires: tuple[TestModel, ...]
    goals: tuple[TestModel, ...]
    prefers: tuple[TestModel, ...]
    stated: Mapping[str, Slot]
    cell_variables: frozenset[str]
    kinds: Mapping[str, str]
    ranks: Mapping[str, Mapping[Value, int]]
    root_env: Env


@dataclass(slots=True)
class Node:
    """A box with its evaluated environment; children are kept for later searches."""

    domains: dict[str, tuple[Value, ...]]
    env: Env
    open_requires: tuple[TestModel, ...]
    rejected_by: str | None = None
    bound: float = 0.0
    children: list[Node] | None = None


def domain_slot(values: tuple[Value, ...], kind: str) -> Slot:
    """The slot that covers all values of a domain."""
    if kind != NUMBER:
        return (frozenset(cast("tuple[str, ...]", values)), 0)
    lows = [cast(Amount, v).low for v in values]
    highs = [cast(Amount, v).high for v in values]
    return (min(lows), max(highs), lows[0] if len(lows) == 1 and lows == highs else None, 0)


def evaluate_body(model: DecisionModel, env: Env, stated: Mapping[str, Slot], facts: tuple[str, ...]) -> None:
    """Evaluate body facts over a box into `env`; what the plan states of them stands, the conclusion is kept beside it."""
    for fact in facts:
        value = model.box[fact].box(env, OPTION)
        if fact in stated:
            env[CONCLUDED_KEY + fact] = value
            value = stated[fact]
        env[fact] = value


class Boxes:
    """The boxes of one `Problem`, split on demand; what was evaluated is kept for later searches."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        model = problem.model
        cost = model.decision.cost
        self.cost_fact = cost
        support = model.support.get(cost, frozenset()) if cost else frozenset()
        self.free = tuple(v for v in model.variables if len(problem.domains[v]) > 1)
        self.pivot = self.free[0] if self.free else None
        wanted = support | problem.cell_variables | ({self.pivot} if self.pivot else set())
        self.cell_variables = tuple(v for v in self.free if v in wanted)
        ordered = [v for v in model.decision.order if v in self.free]
        self.inner_variables = tuple(v for v in [*ordered, *[v for v in self.free if v not in ordered]] if v not in self.cell_variables)
        self.evaluations = 0
        self.root = self._root()

    def _root(self) -> Node:
        node = Node(dict(self.problem.domains), self.problem.root_env, self.problem.requires)
        self._judge(node, self.problem.requires)
        return node

    def _judge(self, node: Node, tests: tuple[TestModel, ...]) -> None:
        still_open = []
        for test in tests:
            truth = test.box(node.env)
            if truth == FALSE:
                node.rejected_by = test.id
                return
            if truth != TRUE:
                still_open.append(test)
        node.open_requires = tuple(still_open)
        node.bound = self._cost_bound(node)

    def _cost_bound(self, node: Node) -> float:
        if self.cost_fact is None:
            return 0.0
        if self.is_cell(node):
            return rank_cost(self._exact_cost(node))[0]
        low = cast(Num, node.env[self.cost_fact])[0]
        return INFINITE if low is None else low

    def _exact_cost(self, node: Node) -> Num:
        """The cost of a cell: its support is fixed, so the other variables can stand at any value."""
        env = dict(self.problem.env)
        for variable in self.problem.model.variables:
            env[variable] = to_slot(node.domains[variable][0], self.problem.kinds[variable])
        support = self.problem.model.support
        for fact in self.problem.model.body:
            if support[fact] <= support[cast(str, self.cost_fact)]:
                self._settle(env, fact)
        return cast(Num, env[cast(str, self.cost_fact)])

    def _settle(self, env: Env, fact: str) -> None:
        stated = self.problem.stated
        value = self.problem.model.exact[fact].exact(env, OPTION)
        if fact in stated:
            env[CONCLUDED_KEY + fact] = value
            value = stated[fact]
        env[fact] = value

    def is_cell(self, node: Node) -> bool:
        """True for a box in which every cell variable, and so the cost, is fixed."""
        return all(len(node.domains[v]) == 1 for v in self.cell_variables)

    def _child(self, parent: Node, variable: str, values: tuple[Value, ...]) -> Node:
        node = Node({**parent.domains, variable: values}, dict(parent.env), parent.open_requires)
        node.env[variable] = domain_slot(values, self.problem.kinds[variable])
        evaluate_body(self.problem.model, node.env, self.problem.stated, self.problem.model.touched_body[variable])
        self.evaluations += 1
        touched = tuple(t for t in parent.open_requires if variable in t.touches)
        untouched = tuple(t for t in parent.open_requires if variable not in t.touches)
        self._judge(node, touched)
        node.open_requires = tuple(t for t in parent.open_requires if t in untouched or t in node.open_requires)
        return node

    def split(self, node: Node, variables: tuple[str, ...]) -> list[Node]:
        """The children of a box: split at the first of `variables` that is open; kept for later searches."""
        if node.children is None:
            variable = next(v for v in variables if len(node.domains[v]) > 1)
            node.children = [self._child(node, variable, part) for part in self._parts(variable, node.domains[variable])]
        return node.children

    def _parts(self, variable: str, values: tuple[Value, ...]) -> Iterator[tuple[Value, ...]]:
        if self.problem.kinds[variable] != NUMBER or len(values) <= 3:
            yield from ((value,) for value in values)
            return
        ascending = sorted(values, key=lambda v: cast(Amount, v).low)
        half = len(ascending) // 2
        yield tuple(ascending[:half])
        yield tuple(ascending[half:])

    def leaves(self, node: Node) -> Iterator[Option]:
        """Every option of a cell that is not rejected."""
        if node.rejected_by is not None:
            return
        if all(len(node.domains[v]) == 1 for v in self.inner_variables):
            option = self.option({v: values[0] for v, values in node.domains.items()})
            if option.certainty != REJECTED:
                yield option
            return
        for child in self.split(node, self.inner_variables):
            yield from self.leaves(child)

    def order_key(self, variable: str, value: Value) -> float:
        """Where a value stands in the order of its fact: the number itself, or the place in the table."""
        if isinstance(value, Amount):
            return value.low
        return float(self.problem.ranks[variable].get(value, 0))

    def option(self, values: Mapping[str, Value]) -> Option:
        """The exact evaluation of one option."""
        env = self.exact_env(values)
        problem = self.problem
        certainty, unproven, possible = self._certainty(env)
        score = sum(p.weight for p in problem.prefers if p.exact(env) == TRUE)
        cost = cast(Num, env[self.cost_fact]) if self.cost_fact else (0.0, 0.0, 0.0, 0)
        return Option(
            values={v: values[v] for v in problem.model.variables},
            certainty=certainty,
            score=score,
            cost=cost,
            order=tuple(self.order_key(v, values[v]) for v in problem.model.decision.order),
            position=tuple(problem.ranks[v].get(values[v], 0) for v in problem.model.variables),
            miss=sum(g.miss_exact(env) for g in problem.goals),
            met=all(g.exact(env) == TRUE for g in problem.goals),
            unproven=unproven,
            possible=possible,
        )

    def exact_env(self, values: Mapping[str, Value]) -> Env:
        """The environment with the option bound and its body evaluated."""
        env = dict(self.problem.env)
        for variable, value in values.items():
            env[variable] = to_slot(value, self.problem.kinds[variable])
        for fact in self.problem.model.body:
            self._settle(env, fact)
        return env

    def _certainty(self, env: Env) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        unproven, possible = [], []
        for test in self.problem.requires:
            truth = test.exact(env)
            if truth == FALSE:
                return REJECTED, (), ()
            if truth & OPTION or (truth & STATED and not holds(truth)):
                unproven.append(test.id)
            elif truth != TRUE and (truth & BOTH != TRUE or truth & ~BOTH):
                possible.append(test.id)
        certainty = UNPROVEN if unproven else POSSIBLE if possible else CERTAIN
        return certainty, tuple(unproven), tuple(possible)
