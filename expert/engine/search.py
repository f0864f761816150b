"""The joint choice of one decision: exhaustive in meaning, branch and bound in deed.

Cells (boxes whose cost is fixed) are visited from cheap to dear; inside a cell the greatest summed preference, then the
order of the decision wins.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from dataclasses import field

from expert.engine.boxes import CERTAIN, INFINITE, POSSIBLE, REJECTED, UNPROVEN, Boxes, Node, Option, Problem, rank_cost
from expert.engine.values import TRUE, down
from expert.facts import Value
from expert.records import dataclass

UNPROVEN_SHOWN = 5
"""Unproven options are listed so that the missing cells are seen, not to be chosen from: a few will do."""

MEET = -1.0
"""In the place of a miss limit: every goal must be met."""

Excluded = Callable[[Mapping[str, Value]], bool]


@dataclass(slots=True)
class Leaves:
    """What the options of a cell are: the best acceptable one (other than `skip`), a possible one, and unproven ones."""

    best: Option | None = None
    possible: Option | None = None
    unproven: list[Option] = field(default_factory=list)
    skip: tuple[int, ...] | None = None


@dataclass(slots=True)
class Ranking:
    """The result of a search: the best option, one alternative per other value of the pivot, and what else was met."""

    chosen: Option | None = None
    alternatives: list[Option] = field(default_factory=list)
    possible: Option | None = None
    unproven: list[Option] = field(default_factory=list)
    runner_up: Option | None = None
    cell: Node | None = None


class Search(Boxes):
    """Searches one `Problem`; boxes once evaluated are kept, so a second search with exclusions is cheap."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self._found: dict[tuple[int, int, float], Leaves] = {}
        self._unmet: set[str] = set()
        self._misses: dict[tuple[int, str], float] = {}

    def best(self, excluded: Excluded = lambda values: False, shortlist: int = 0) -> Ranking:
        """The best option by the rules of decisions 2, 3 and 6, over those that are not excluded.

        `excluded` may read only the cell variables of the problem.
        """
        certain = self._accepting(CERTAIN, excluded, shortlist)
        if certain.chosen is not None:
            return certain
        possible = self._accepting(POSSIBLE, excluded, shortlist)
        if possible.chosen is None and self.problem.goals:
            # Whether anything is unproven must not depend on goals: it tells undetermined from infeasible.
            return self._cheapest_first(POSSIBLE, INFINITE, excluded, shortlist)
        return possible

    def _accepting(self, accepted: str, excluded: Excluded, shortlist: int) -> Ranking:
        ranking = Ranking()
        if accepted not in self._unmet:
            ranking = self._cheapest_first(accepted, MEET, excluded, shortlist)
            if ranking.chosen is None and self.problem.goals:
                # Excluding more never brings back an option that meets the aims.
                self._unmet.add(accepted)
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
            if not self.is_cell(node):
                for child in self.split(node, self.cell_places):
                    if child.rejected_by is None and self._near(child, miss):
                        serial += 1
                        heapq.heappush(heap, (child.bound, serial, child))
                continue
            if excluded(self.fixed(node)):
                continue
            if node.cap == UNPROVEN and len(result.unproven) >= UNPROVEN_SHOWN:
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

    def second(self, ranking: Ranking) -> Option | None:
        """The best acceptable option after the chosen one: in its cell, or another in reach."""
        best = ranking.runner_up or (ranking.alternatives[0] if ranking.alternatives else None)
        chosen = ranking.chosen
        if chosen is None or ranking.cell is None:
            return best
        found = Leaves(skip=chosen.position)
        self._descend(ranking.cell, chosen.certainty, MEET if chosen.met else chosen.miss, found)
        if found.best is not None and (best is None or self._dearer(best, found.best) or self._beats(found.best, best)):
            return found.best
        return best

    def _dearer(self, option: Option, than: Option) -> bool:
        """True when the option costs more than preferences may bring about beside the other one."""
        return option.typical_cost > _slack(than.typical_cost * (1 + self.problem.model.decision.within))

    def other(self, chosen: Option) -> Option | None:
        """Some option as certain as the chosen one: as near to the aims, in or out of reach, else whatever aims it misses."""
        near = self._any_but(chosen, MEET if chosen.met else chosen.miss)
        return near or (self._any_but(chosen, INFINITE) if self.problem.goals else None)

    def _any_but(self, chosen: Option, miss: float) -> Option | None:
        stack = [self.root]
        while stack:
            node = stack.pop()
            if node.rejected_by is not None:
                continue
            if not self.is_cell(node):
                stack += self.split(node, self.cell_places)
                continue
            found = Leaves(skip=chosen.position)
            self._descend(node, chosen.certainty, miss, found)
            if found.best is not None:
                return found.best
        return None

    def _enough(self, by_pivot: dict[Value | None, Option], node: Node, shortlist: int) -> bool:
        if len(by_pivot) > shortlist or self.pivot is None:
            return True
        return all(value in by_pivot for value in self.evaluation.values(node.ids, self.evaluation.place(self.pivot)))

    def _note(self, result: Ranking, leaves: Leaves) -> None:
        if leaves.possible is not None and result.possible is None:
            result.possible = leaves.possible
        result.unproven += leaves.unproven[: max(0, UNPROVEN_SHOWN - len(result.unproven))]

    def _rank(self, option: Option) -> tuple[object, ...]:
        return (-option.score, option.order, rank_cost(option.cost), option.position)

    def _beats(self, a: Option, b: Option) -> bool:
        known = (a.typical_cost < INFINITE, b.typical_cost < INFINITE)
        if self.cost_fact and known[0] != known[1]:
            return known[0]
        return self._rank(a) < self._rank(b)

    def _near(self, node: Node, miss: float) -> bool:
        """False when no option of the box can come within the miss limit, or meet all goals where that is asked."""
        if miss != MEET:
            return self._miss_bound(node) <= _slack(miss)
        truths = [(goal, self.evaluation.test(goal, node.ids)) for goal in self.problem.goals]
        return all(truth & TRUE and (truth == TRUE or not self.evaluation.decides(goal, node.ids)) for goal, truth in truths)

    def _miss_bound(self, node: Node) -> float:
        return sum(self.evaluation.miss(goal, node.ids) for goal in self.problem.goals)

    def _least_miss(self, accepted: str, excluded: Excluded) -> float | None:
        """The least total distance from the goals among the acceptable options, or None when there are none."""
        caps = (CERTAIN,) if accepted == CERTAIN else (CERTAIN, POSSIBLE)
        heap: list[tuple[float, int, Node]] = [(0.0, 0, self.root)] if self.root.rejected_by is None else []
        serial = 0
        found: list[float] = []
        while heap:
            bound, _, node = heapq.heappop(heap)
            if found and bound >= found[0]:
                break
            if self.is_cell(node):
                if not excluded(self.fixed(node)):
                    least = self._cell_miss(node, caps)
                    found = [min([least, *found])] if least >= 0 else found
                continue
            for child in self.split(node, self.cell_places):
                if child.rejected_by is None and child.cap in caps:
                    serial += 1
                    heapq.heappush(heap, (self._miss_bound(child), serial, child))
        return found[0] if found else None

    def _cell_miss(self, cell: Node, caps: tuple[str, ...]) -> float:
        """The least distance among the acceptable options of a cell, -1 where there are none; kept for later searches."""
        key = (id(cell), caps[-1])
        if key in self._misses:
            return self._misses[key]
        heap: list[tuple[float, int, Node]] = [(0.0, 0, cell)]
        serial, least = 0, -1.0
        while heap:
            bound, _, node = heapq.heappop(heap)
            if 0 <= least <= bound:
                break
            if self.is_option(node):
                option = self.option(node.ids)
                if option.certainty in caps:
                    least = option.miss if least < 0 else min(least, option.miss)
                continue
            for child in self.split(node, self.inner_places):
                if child.rejected_by is None and child.cap in caps:
                    serial += 1
                    heapq.heappush(heap, (self._miss_bound(child), serial, child))
        self._misses[key] = least
        return least

    def _cell(self, node: Node, accepted: str, miss: float) -> Leaves:
        key = (id(node), 0 if accepted == CERTAIN else 1, miss)
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = Leaves()
            self._descend(node, accepted, miss, found)
        return found

    def _descend(self, node: Node, accepted: str, miss: float, found: Leaves) -> None:
        if node.rejected_by is not None or not self._near(node, miss):
            return
        if node.cap == UNPROVEN and found.unproven:
            return
        if node.cap == POSSIBLE and accepted == CERTAIN and found.possible is not None:
            return
        if found.best is not None and not self._can_beat(node, found.best):
            return
        if all(self.evaluation.is_single(node.ids, place) for place in self.inner_places):
            self._take(self.option(node.ids), accepted, miss, found)
            return
        for child in self.split(node, self.inner_places):
            self._descend(child, accepted, miss, found)

    def _can_beat(self, node: Node, best: Option) -> bool:
        """False when every option below has at most the best score and comes later in the order.

        Options of a cell are met in the order of the decision only where numbers ascend; a score that ties is looked into.
        """
        most = sum(p.weight for p in self.problem.prefers if self.evaluation.test(p, node.ids) & TRUE)
        if most != best.score:
            return most > best.score
        return self._least_order(node) < (best.order, best.position)

    def _least_order(self, node: Node) -> tuple[tuple[float, ...], tuple[int, ...]]:
        ranks, model = self.problem.ranks, self.problem.model
        values = self.evaluation.values
        order = tuple(min(self.order_key(v, x) for x in values(node.ids, place)) for place, v in self.order_places)
        return order, tuple(min(ranks[v].get(x, 0) for x in values(node.ids, i)) for i, v in enumerate(model.variables))

    def _take(self, option: Option, accepted: str, miss: float, found: Leaves) -> None:
        if option.certainty == UNPROVEN:
            if len(found.unproven) < 2:
                found.unproven.append(option)
            return
        if option.certainty == REJECTED:
            return
        if option.certainty == POSSIBLE and (found.possible is None or self._beats(option, found.possible)):
            found.possible = option
        acceptable = (option.certainty == CERTAIN or accepted == POSSIBLE) and option.position != found.skip
        near_enough = option.met if miss == MEET else option.miss <= _slack(miss)
        if not acceptable or not near_enough:
            return
        if found.best is None or self._beats(option, found.best):
            found.best = option


def _slack(x: float) -> float:
    """An upper limit widened by the tolerance of comparisons; `MEET` leaves no miss at all."""
    if x == MEET:
        return 1e-12
    if x == INFINITE:
        return x
    return -down(-x) + 1e-12 if x >= 0 else x + 1e-9 * -x
