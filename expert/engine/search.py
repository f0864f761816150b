"""The joint choice of one decision: exhaustive in meaning, branch and bound in deed.

Options are points of the product of the variables' domains. Boxes of options are evaluated with intervals; a box that a
requirement rejects whole is dropped, the rest is split. Cells (boxes whose cost is fixed) are visited from cheap to dear.
Nothing here knows plans or packs; `Problem` carries what one consultation fixes.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import cast

from expert.engine.evaluate import Env
from expert.engine.model import CONCLUDED_KEY, DecisionModel, TestModel
from expert.engine.values import (
    BOTH,
    FALSE,
    OPTION,
    STATED,
    TRUE,
    Num,
    Slot,
    down,
    holds,
    to_slot,
)
from expert.facts import Amount, Value
from expert.language.terms import NUMBER

CERTAIN, POSSIBLE, UNPROVEN, REJECTED = "certain", "possible", "unproven", "rejected"
INFINITE = float("inf")
MEET = -1.0
"""In the place of a miss limit: every goal must be met."""

Excluded = Callable[[Mapping[str, Value]], bool]


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
    """A box with its evaluated environment; children and the found options of a cell are kept for later searches."""

    domains: dict[str, tuple[Value, ...]]
    env: Env
    open_requires: tuple[TestModel, ...]
    rejected_by: str | None = None
    bound: float = 0.0
    children: list[Node] | None = None
    cells: dict[tuple[int, float], Leaves] = field(default_factory=dict)


@dataclass(slots=True)
class Leaves:
    """What the options of a cell are: the best acceptable one, a possible one, and unproven ones."""

    best: Option | None = None
    possible: Option | None = None
    unproven: list[Option] = field(default_factory=list)


@dataclass(slots=True)
class Ranking:
    """The result of a search: the best option, one alternative per other value of the pivot, and what else was met."""

    chosen: Option | None = None
    alternatives: list[Option] = field(default_factory=list)
    possible: Option | None = None
    unproven: list[Option] = field(default_factory=list)
    runner_up: Option | None = None
    cell: Node | None = None


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


class Search:
    """Searches one `Problem`; boxes once evaluated are kept, so a second search with exclusions is cheap."""

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

    # Boxes.

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
        if self._is_cell(node):
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

    def _is_cell(self, node: Node) -> bool:
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

    # The search proper.

    def best(self, excluded: Excluded = lambda values: False, shortlist: int = 0) -> Ranking:
        """The best option by the rules of decisions 2, 3 and 6, over those that are not excluded.

        `excluded` may read only the cell variables of the problem.
        """
        certain = self._accepting(CERTAIN, excluded, shortlist)
        if certain.chosen is not None:
            return certain
        return self._accepting(POSSIBLE, excluded, shortlist)

    def _accepting(self, accepted: str, excluded: Excluded, shortlist: int) -> Ranking:
        ranking = self._cheapest_first(accepted, MEET, excluded, shortlist)
        if ranking.chosen is None and self.problem.goals:
            nearest = self._least_miss(accepted, excluded)
            if nearest is not None:
                return self._cheapest_first(accepted, nearest, excluded, shortlist)
        return ranking

    def _cheapest_first(self, accepted: str, miss: float, excluded: Excluded, shortlist: int) -> Ranking:
        result = Ranking()
        limit = INFINITE
        heap: list[tuple[float, int, Node]] = []
        serial = 0
        if self.root.rejected_by is None:
            heap.append((self.root.bound, serial, self.root))
        within = self.problem.model.decision.within
        by_pivot: dict[Value | None, Option] = {}
        while heap:
            bound, _, node = heapq.heappop(heap)
            beyond = bound > limit
            if beyond and self._enough(by_pivot, node, shortlist):
                if len(by_pivot) > shortlist:
                    break
                continue
            if not self._is_cell(node):
                for child in self.split(node, self.cell_variables):
                    if child.rejected_by is None and self._miss_bound(child) <= _slack(miss):
                        serial += 1
                        heapq.heappush(heap, (child.bound, serial, child))
                continue
            if excluded({v: values[0] for v, values in node.domains.items() if len(values) == 1}):
                continue
            leaves = self._cell(node, accepted, miss)
            self._note(result, leaves)
            if leaves.best is None:
                continue
            if limit == INFINITE and bound < INFINITE and self.cost_fact:
                limit = _slack(bound * (1 + within)) if bound > 0 else _slack(0.0)
            pivot = leaves.best.values[self.pivot] if self.pivot else None
            kept = by_pivot.get(pivot)
            if not beyond:
                self._challenge(result, leaves.best, node)
            if kept is None or (not beyond and self._beats(leaves.best, kept)):
                by_pivot[pivot] = leaves.best
        if result.chosen is not None:
            own = result.chosen.values[self.pivot] if self.pivot else None
            others = [option for value, option in by_pivot.items() if value != own]
            others.sort(key=lambda o: (rank_cost(o.cost) if self.cost_fact else (0.0, 0.0), -o.score, o.order, o.position))
            in_band = [o for o in others if o.typical_cost <= limit]
            in_band.sort(key=self._rank)
            result.alternatives = (in_band + [o for o in others if o.typical_cost > limit])[:shortlist]
        return result

    def _challenge(self, result: Ranking, option: Option, node: Node) -> None:
        if result.chosen is None or self._beats(option, result.chosen):
            result.runner_up, result.chosen, result.cell = result.chosen, option, node
        elif result.runner_up is None or self._beats(option, result.runner_up):
            result.runner_up = option

    def second(self, ranking: Ranking, limit: int = 400) -> Option | None:
        """The best acceptable option after the chosen one: in its cell (of at most `limit` options) or another in reach."""
        best = ranking.runner_up or (ranking.alternatives[0] if ranking.alternatives else None)
        if ranking.chosen is None or ranking.cell is None:
            return best
        for count, option in enumerate(self._leaves(ranking.cell)):
            if count >= limit:
                break
            same_class = option.certainty in (CERTAIN, ranking.chosen.certainty) and option.met >= ranking.chosen.met
            if option.values != ranking.chosen.values and same_class and (best is None or self._beats(option, best)):
                best = option
        return best

    def _enough(self, by_pivot: dict[Value | None, Option], node: Node, shortlist: int) -> bool:
        if len(by_pivot) > shortlist or self.pivot is None:
            return True
        return all(value in by_pivot for value in node.domains[self.pivot])

    def _note(self, result: Ranking, leaves: Leaves) -> None:
        if leaves.possible is not None and result.possible is None:
            result.possible = leaves.possible
        if len(result.unproven) < 5:
            result.unproven += leaves.unproven[: 5 - len(result.unproven)]

    def _rank(self, option: Option) -> tuple[object, ...]:
        return (-option.score, option.order, rank_cost(option.cost), option.position)

    def _beats(self, a: Option, b: Option) -> bool:
        known = (a.typical_cost < INFINITE, b.typical_cost < INFINITE)
        if self.cost_fact and known[0] != known[1]:
            return known[0]
        return self._rank(a) < self._rank(b)

    def _miss_bound(self, node: Node) -> float:
        return sum(goal.miss_box(node.env) for goal in self.problem.goals)

    def _least_miss(self, accepted: str, excluded: Excluded) -> float | None:
        """The least total distance from the goals among the acceptable options, or None when there are none."""
        heap: list[tuple[float, int, Node]] = [(0.0, 0, self.root)] if self.root.rejected_by is None else []
        least: float | None = None
        serial = 0
        while heap:
            bound, _, node = heapq.heappop(heap)
            if least is not None and bound > least:
                break
            if self._is_cell(node):
                if excluded({v: values[0] for v, values in node.domains.items() if len(values) == 1}):
                    continue
                for option in self._leaves(node):
                    if option.certainty == accepted or option.certainty == CERTAIN:
                        least = option.miss if least is None else min(least, option.miss)
                continue
            for child in self.split(node, self.cell_variables):
                if child.rejected_by is None:
                    serial += 1
                    heapq.heappush(heap, (self._miss_bound(child), serial, child))
        return least

    # Cells.

    def _leaves(self, node: Node) -> Iterator[Option]:
        if node.rejected_by is not None:
            return
        if all(len(node.domains[v]) == 1 for v in self.inner_variables):
            option = self.option({v: values[0] for v, values in node.domains.items()})
            if option.certainty != REJECTED:
                yield option
            return
        for child in self.split(node, self.inner_variables):
            yield from self._leaves(child)

    def _cell(self, node: Node, accepted: str, miss: float) -> Leaves:
        key = (0 if accepted == CERTAIN else 1, miss)
        found = node.cells.get(key)
        if found is None:
            found = node.cells[key] = Leaves()
            self._descend(node, accepted, miss, found)
        return found

    def _descend(self, node: Node, accepted: str, miss: float, found: Leaves) -> None:
        if node.rejected_by is not None or self._miss_bound(node) > _slack(miss):
            return
        if found.best is not None and not self._can_beat(node, found.best):
            return
        if all(len(node.domains[v]) == 1 for v in self.inner_variables):
            self._take(self.option({v: values[0] for v, values in node.domains.items()}), accepted, miss, found)
            return
        for child in self.split(node, self.inner_variables):
            self._descend(child, accepted, miss, found)

    def _can_beat(self, node: Node, best: Option) -> bool:
        """False when every option below has at most the best score and comes later in the order.

        Options of a cell are met in the order of the decision only where numbers ascend; a score that ties is looked into.
        """
        most = sum(p.weight for p in self.problem.prefers if p.box(node.env) & TRUE)
        if most != best.score:
            return most > best.score
        return self._least_order(node) < (best.order, best.position)

    def _least_order(self, node: Node) -> tuple[tuple[float, ...], tuple[int, ...]]:
        ranks, model = self.problem.ranks, self.problem.model
        order = tuple(min(self._order_key(v, x) for x in node.domains[v]) for v in model.decision.order)
        return order, tuple(min(ranks[v].get(x, 0) for x in node.domains[v]) for v in model.variables)

    def _order_key(self, variable: str, value: Value) -> float:
        if isinstance(value, Amount):
            return value.low
        return float(self.problem.ranks[variable].get(value, 0))

    def _take(self, option: Option, accepted: str, miss: float, found: Leaves) -> None:
        if option.certainty == UNPROVEN:
            if len(found.unproven) < 2:
                found.unproven.append(option)
            return
        if option.certainty == REJECTED:
            return
        if option.certainty == POSSIBLE and (found.possible is None or self._beats(option, found.possible)):
            found.possible = option
        acceptable = option.certainty == CERTAIN or accepted == POSSIBLE
        near_enough = option.met if miss == MEET else option.miss <= _slack(miss)
        if not acceptable or not near_enough:
            return
        if found.best is None or self._beats(option, found.best):
            found.best = option

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
            order=tuple(self._order_key(v, values[v]) for v in problem.model.decision.order),
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


def _slack(x: float) -> float:
    """An upper limit widened by the tolerance of comparisons; `MEET` leaves no miss at all."""
    if x == MEET:
        return 1e-12
    if x == INFINITE:
        return x
    return -down(-x) + 1e-12 if x >= 0 else x + 1e-9 * -x
