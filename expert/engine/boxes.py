"""Boxes of options: the product of a decision's domains, split and evaluated with intervals.

A box is dropped when a requirement is false for all of it. `Problem` carries what one consultation fixes; nothing here knows
plans or packs, or which option is better.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from expert.engine.evaluate import Env
from expert.engine.evaluation import Evaluation, Ids
from expert.engine.model import DecisionModel, TestModel
from expert.engine.values import BOTH, FALSE, OPTION, STATED, TRUE, Num, holds
from expert.facts import Amount, Value

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

    domains: allowed values (pins have one). requires, prefers: the tests in force; goals: requirements that only aim.
    cell_variables: variables to fix before a cell is searched, beside those of the cost. ranks: places in table order.
    """

    evaluation: Evaluation
    domains: Mapping[str, tuple[Value, ...]]
    requires: tuple[TestModel, ...]
    goals: tuple[TestModel, ...]
    prefers: tuple[TestModel, ...]
    cell_variables: frozenset[str]
    ranks: Mapping[str, Mapping[Value, int]]

    @property
    def model(self) -> DecisionModel:
        """The decision's model."""
        return self.evaluation.model


@dataclass(slots=True)
class Node:
    """A box with the requirements that it leaves open; children are kept for later searches.

    cap: the best that any of its options can be: certain, possible or unproven.
    """

    ids: Ids
    open_requires: tuple[TestModel, ...]
    cap: str = CERTAIN
    rejected_by: str | None = None
    bound: float = 0.0
    children: list[Node] | None = None


class Boxes:
    """The boxes of one `Problem`, split on demand; what was evaluated is kept for later searches."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.evaluation = problem.evaluation
        model = problem.model
        cost = model.decision.cost
        self.cost_fact = cost
        support = model.support.get(cost, frozenset()) if cost else frozenset()
        free = tuple(v for v in model.variables if len(problem.domains[v]) > 1)
        self.pivot = free[0] if free else None
        wanted = support | problem.cell_variables | ({self.pivot} if self.pivot else set())
        ordered = [v for v in model.decision.order if v in free]
        # What an aim depends on is fixed first: whether it is met is then known for all that is below.
        aimed = [v for v in free if any(v in goal.touches for goal in problem.goals)]
        rest = [*aimed, *(v for v in ordered if v not in aimed), *(v for v in free if v not in ordered and v not in aimed)]
        place = self.evaluation.place
        self.cell_places = tuple(place(v) for v in free if v in wanted)
        self.inner_places = tuple(place(v) for v in rest if v not in wanted)
        self.order_places = tuple((place(v), v) for v in model.decision.order)
        self.root = self.node(self.evaluation.ids(problem.domains), problem.requires, problem.requires)

    def node(self, ids: Ids, open_requires: tuple[TestModel, ...], touched: tuple[TestModel, ...], cap: str = CERTAIN) -> Node:
        """The box, judged by the requirements that its last split touched; `cap` is its parent's."""
        node = Node(ids, open_requires, cap)
        settled = []
        for test in touched:
            truth = self.evaluation.test(test, ids)
            if truth == FALSE:
                node.rejected_by = test.id
                return node
            if truth == TRUE:
                settled.append(test)
            elif truth & ~OPTION == 0:
                node.cap = UNPROVEN
            elif self.evaluation.decides(test, ids):
                node.cap = UNPROVEN if _lacks(truth) else POSSIBLE if node.cap == CERTAIN else node.cap
            elif not truth & TRUE and node.cap == CERTAIN:
                node.cap = POSSIBLE
        if settled:
            node.open_requires = tuple(t for t in open_requires if t not in settled)
        node.bound = self._cost_bound(ids)
        return node

    def _cost_bound(self, ids: Ids) -> float:
        if self.cost_fact is None:
            return 0.0
        if all(self.evaluation.is_single(ids, place) for place in self.cell_places):
            return rank_cost(cast(Num, self.evaluation.value(self.cost_fact, ids, exact=True)))[0]
        low = cast(Num, self.evaluation.value(self.cost_fact, ids))[0]
        return INFINITE if low is None else low

    def is_cell(self, node: Node) -> bool:
        """True for a box in which every cell variable, and so the cost, is fixed."""
        return all(self.evaluation.is_single(node.ids, place) for place in self.cell_places)

    def is_option(self, node: Node) -> bool:
        """True for a box of one option."""
        return all(len(self.evaluation.values(node.ids, i)) == 1 for i in range(len(node.ids)))

    def fixed(self, node: Node) -> dict[str, Value]:
        """The variables that a box fixes."""
        variables = self.problem.model.variables
        return {v: self.evaluation.values(node.ids, i)[0] for i, v in enumerate(variables) if self.evaluation.is_single(node.ids, i)}

    def split(self, node: Node, places: tuple[int, ...]) -> list[Node]:
        """The children of a box: split at the first of `places` that is open; kept for later searches."""
        if node.children is None:
            node.children = self.children(node, next(p for p in places if not self.evaluation.is_single(node.ids, p)))
        return node.children

    def children(self, node: Node, place: int, wide: bool = False) -> list[Node]:
        """The boxes of splitting one variable, `wide` into single values."""
        variable = self.problem.model.variables[place]
        touched = tuple(t for t in node.open_requires if variable in t.touches)
        return [self.node(ids, node.open_requires, touched, node.cap) for ids in self.evaluation.split(node.ids, place, wide)]

    def order_key(self, variable: str, value: Value) -> float:
        """Where a value stands in the order of its fact: the number itself, or the place in the table."""
        if isinstance(value, Amount):
            return value.low
        return float(self.problem.ranks[variable].get(value, 0))

    def option(self, ids: Ids) -> Option:
        """The exact evaluation of a box of one option."""
        problem, evaluation = self.problem, self.evaluation
        values = evaluation.option_of(ids)
        certainty, unproven, possible = self._certainty(ids)
        score = sum(p.weight for p in problem.prefers if evaluation.test(p, ids, exact=True) == TRUE)
        cost = cast(Num, evaluation.value(self.cost_fact, ids, exact=True)) if self.cost_fact else (0.0, 0.0, 0.0, 0)
        return Option(
            values=values,
            certainty=certainty,
            score=score,
            cost=cost,
            order=tuple(self.order_key(v, values[v]) for v in problem.model.decision.order),
            position=tuple(problem.ranks[v].get(values[v], 0) for v in problem.model.variables),
            miss=sum(evaluation.miss(g, ids, exact=True) for g in problem.goals),
            met=all(evaluation.test(g, ids, exact=True) == TRUE for g in problem.goals),
            unproven=unproven,
            possible=possible,
        )

    def exact_env(self, values: Mapping[str, Value]) -> Env:
        """The environment with the option bound and its body evaluated."""
        return self.evaluation.full_env(self.evaluation.ids({v: (x,) for v, x in values.items()}))

    def _certainty(self, ids: Ids) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        unproven, possible = [], []
        for test in self.problem.requires:
            truth = self.evaluation.test(test, ids, exact=True)
            if truth == FALSE:
                return REJECTED, (), ()
            if _lacks(truth):
                unproven.append(test.id)
            elif truth != TRUE and (truth & BOTH != TRUE or truth & ~BOTH):
                possible.append(test.id)
        certainty = UNPROVEN if unproven else POSSIBLE if possible else CERTAIN
        return certainty, tuple(unproven), tuple(possible)


def _lacks(truth: int) -> bool:
    """True for an exact verdict that needs what is unknown, not only ranges that overlap."""
    return bool(truth & OPTION or (truth & STATED and not holds(truth)))
