"""Why options are not to be had: rejected values, what excludes everything, and what to free or relax.

All by splitting boxes: a requirement that is false over a whole box rejects every option in it, and a box without open
requirements holds only admissible ones, so only variables that open requirements touch are ever split.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from expert.engine.boxes import REJECTED, Boxes, Node, Option, Problem
from expert.engine.evaluate import PLAN_KEY
from expert.engine.evaluation import Evaluation
from expert.engine.model import STATED_TEST, TestModel
from expert.engine.search import Search
from expert.engine.solving import needs_unstated
from expert.engine.trace import Rejection
from expert.engine.values import FALSE, OPTION, STATED, TRUE, holds
from expert.facts import Amount, Value

BOX_LIMIT = 2000
TOTAL_LIMIT = 6000
RELAXATION_LIMIT = 20


class SearchEnded(Exception):  # noqa: N818 - an ending, not an error
    """The box limit was reached; the answer is left out rather than guessed."""


class Budget:
    """How many more boxes may be looked at."""

    def __init__(self, boxes: int) -> None:
        self.left = boxes

    def spend(self) -> None:
        """Count one box. Errors: SearchEnded when none is left."""
        self.left -= 1
        if self.left < 0:
            raise SearchEnded


def narrowed(problem: Problem, domains: Mapping[str, tuple[Value, ...]], requires: Sequence[TestModel] | None = None) -> Problem:
    """The problem with other domains, and perhaps with other requirements; it shares all that was evaluated."""
    merged = {**problem.domains, **domains}
    return replace(problem, domains=merged, requires=problem.requires if requires is None else tuple(requires))


def _split_place(boxes: Boxes, node: Node) -> int | None:
    """The variable to split: one of the open requirement that has the fewest open variables; None when all are fixed."""
    best: tuple[int, int] | None = None
    for test in node.open_requires:
        places = [boxes.evaluation.place(v) for v in test.touches]
        free = sorted(p for p in places if not boxes.evaluation.is_single(node.ids, p))
        if free and (best is None or len(free) < best[0]):
            best = (len(free), free[0])
    return None if best is None else best[1]


def _walk(problem: Problem, budget: Budget) -> Iterator[Option | str]:
    """Yields an option for every box without a rejection, and the id of the rejecting requirement for every other box."""
    boxes = Boxes(problem)
    stack = [boxes.root]
    while stack:
        node = stack.pop()
        budget.spend()
        if node.rejected_by is not None:
            yield node.rejected_by
            continue
        place = _split_place(boxes, node)
        if place is not None:
            stack += reversed(boxes.children(node, place))
            continue
        ids = boxes.evaluation.ids({v: (x,) for v, x in boxes.evaluation.option_of(node.ids).items()})
        option = boxes.option(ids)
        if option.certainty != REJECTED:
            yield option
        else:
            yield next(t.id for t in problem.requires if boxes.evaluation.test(t, ids, exact=True) == FALSE)


def witness(problem: Problem, budget: Budget) -> Option | None:
    """Some option that no requirement rejects, or None when there is none. Errors: SearchEnded past the budget."""
    return next((found for found in _walk(problem, budget) if isinstance(found, Option)), None)


def covering(problem: Problem, budget: Budget) -> tuple[str, ...] | None:
    """A small set of requirements that together reject every option: one rule if one does, else a cover without a rule to spare.

    None when an option is left. Errors: SearchEnded past the budget.
    """
    used: list[str] = []
    for found in _walk(problem, budget):
        if isinstance(found, Option):
            return None
        used.append(found)
    tests = {test.id: test for test in problem.requires}
    names = sorted(set(used), key=used.index)
    # One rule may reject every option and yet never be the first to reject a box.
    for name in (*names, *(test for test in tests if test not in names)):
        if witness(replace(problem, requires=(tests[name],)), budget) is None:
            return (name,)
    for name in reversed(list(names)):
        rest = [other for other in names if other != name]
        if witness(replace(problem, requires=tuple(tests[o] for o in rest)), budget) is None:
            names = rest
    return tuple(names)


def excluding(search: Search, limit: int = BOX_LIMIT) -> tuple[str, ...]:
    """The requirements that leave nothing of a problem whose search found no option: a small cover where one is found
    within `limit` boxes, else every requirement that rejected a box, the one that rejected most first.
    """
    counts: dict[str, int] = {}
    stack = [search.root]
    while stack:
        node = stack.pop()
        name = node.rejected_by
        if name is None and search.is_option(node):
            name = next((t.id for t in search.problem.requires if search.evaluation.test(t, node.ids, exact=True) == FALSE), None)
        if name is not None:
            counts[name] = counts.get(name, 0) + 1
        stack += node.children or ()
    try:
        return covering(search.problem, Budget(limit)) or ()
    except SearchEnded:
        return tuple(sorted(counts, key=lambda name: (-counts[name], name)))


def rejections(problem: Problem, seen: Sequence[Option], limit: int = BOX_LIMIT) -> tuple[Rejection, ...]:
    """Values that no admissible option has, with the rules that reject them. `seen` are options known to be admissible.

    A value whose proof would take more than `limit` boxes is left out, and so is the rest after `TOTAL_LIMIT` boxes.
    """
    found = []
    admitted = {(v, option.values[v]) for option in seen for v in option.values}
    total = TOTAL_LIMIT
    for variable in problem.model.variables:
        values = problem.domains[variable]
        for value in values if len(values) > 1 else ():
            if (variable, value) in admitted or total <= 0:
                continue
            near = _neighbour(problem, seen, variable, value)
            if near is not None:
                admitted |= set(near.values.items())
                continue
            budget = Budget(min(limit, total))
            try:
                part = narrowed(problem, {variable: (value,)})
                option = witness(part, budget)
                if option is not None:
                    admitted |= set(option.values.items())
                else:
                    rules = covering(part, budget) or ()
                    found.append(Rejection(variable, value, rules, len(rules) > 1))
            except SearchEnded:
                pass
            finally:
                total -= min(limit, total) - max(0, budget.left)
    return tuple(found)


def _neighbour(problem: Problem, seen: Sequence[Option], variable: str, value: Value) -> Option | None:
    """An admissible option that differs from a known one in this variable only."""
    boxes = Boxes(problem)
    for option in seen:
        values = {**option.values, variable: value}
        near = boxes.option(boxes.evaluation.ids({v: (x,) for v, x in values.items()}))
        if near.certainty != REJECTED:
            return near
    return None


def freeable(problem: Problem, pins: Sequence[str], limit: int = BOX_LIMIT) -> list[tuple[tuple[str, ...], Option]]:
    """For each pin (else each pair, else all) whose freeing leaves an option: the pins, and the option nearest to what they were."""
    singles = [(pin,) for pin in pins]
    pairs = [(a, b) for i, a in enumerate(pins) for b in pins[i + 1 :]]
    everything = [tuple(pins)] if len(pins) > 2 else []
    for groups in (singles, pairs, everything):
        found = []
        for group in groups:
            option = _nearest(problem, group, limit)
            if option is not None:
                found.append((tuple(group), option))
        if found:
            return found
    return []


def _freed(problem: Problem, domains: Mapping[str, tuple[Value, ...]]) -> Problem:
    """The problem with pins freed: "plan.X" of them is unknown, and more tests may need what nobody stated, so are not in force."""
    wide = narrowed(_unsaid(problem, domains), domains)
    whole = wide.evaluation.ids(wide.domains)

    def kept(tests: Sequence[TestModel]) -> tuple[TestModel, ...]:
        return tuple(t for t in tests if t.rule is None or not needs_unstated(wide.evaluation, t, whole))

    return replace(wide, requires=kept(wide.requires), goals=kept(wide.goals), prefers=kept(wide.prefers))


def _unsaid(problem: Problem, pins: Iterable[str]) -> Problem:
    """The problem without what the plan states of these pins, where a test or the body reads it."""
    evaluation, model = problem.evaluation, problem.model
    unsaid = {PLAN_KEY + pin for pin in pins} & set(model.upstream)
    if not unsaid:
        return problem
    env = {key: slot for key, slot in evaluation.env.items() if key not in unsaid}
    kinds = dict(zip(model.variables, evaluation.kinds, strict=True))
    return replace(problem, evaluation=Evaluation(model, env, evaluation.stated, kinds))


def _nearest(problem: Problem, pins: Sequence[str], limit: int) -> Option | None:
    """The best option with the pins freed; a number that was pinned first moves no further than it must."""
    domains = {pin: problem.model.domains[pin] for pin in pins}
    first = pins[0]
    pinned = problem.domains[first][0]
    # What would do is asked, not what an assumed aim would rather have.
    freed = replace(_freed(problem, domains), goals=())
    if not isinstance(pinned, Amount):
        return Search(freed).best().chosen
    middle = pinned.middle
    for value in sorted(domains[first], key=lambda v: abs(v.low - middle) if isinstance(v, Amount) else 0.0):
        try:
            part = narrowed(freed, {first: (value,)})
            if witness(part, Budget(limit)) is not None:
                chosen = Search(part).best().chosen
                if chosen is not None:
                    return chosen
        except SearchEnded:
            continue
    return None


def relaxations(problem: Problem, limit: int = BOX_LIMIT) -> tuple[tuple[str, ...], ...]:
    """Inclusion-minimal sets of rules (never laws, never what the plan states) whose loss would admit an option; at most 20."""
    boxes = Boxes(replace(problem, requires=tuple(t for t in problem.requires if _never_offered(t))))
    offered = tuple(t for t in problem.requires if not _never_offered(t))
    minimal: list[frozenset[str]] = []
    stack = [boxes.root]
    while stack and limit:
        limit -= 1
        node = stack.pop()
        if node.rejected_by is not None:
            continue
        names = frozenset(t.id for t in offered if boxes.evaluation.test(t, node.ids) == FALSE)
        if any(known <= names for known in minimal):
            continue
        undecided = tuple(t for t in (*node.open_requires, *offered) if boxes.evaluation.test(t, node.ids) not in (TRUE, FALSE))
        place = _split_place(boxes, replace(node, open_requires=undecided))
        if place is not None:
            stack += reversed(boxes.children(node, place))
            continue
        ids = boxes.evaluation.ids({v: (x,) for v, x in boxes.evaluation.option_of(node.ids).items()})
        failing = [t for t in problem.requires if _forbids(boxes.evaluation.test(t, ids, exact=True))]
        names = frozenset(t.id for t in failing)
        if not any(_never_offered(t) for t in failing) and not any(known <= names for known in minimal):
            minimal = [known for known in minimal if not names <= known] + [names]
    ordered = sorted((tuple(sorted(names)) for names in minimal if names), key=lambda names: (len(names), names))
    return tuple(ordered[:RELAXATION_LIMIT])


def _forbids(truth: int) -> bool:
    """True for the exact verdict of a requirement that rejects its option or leaves it unproven; an overlap still admits it."""
    return truth == FALSE or bool(truth & OPTION) or bool(truth & STATED and not holds(truth))


def _never_offered(test: TestModel) -> bool:
    return test.id.startswith(STATED_TEST) or (test.rule is not None and test.rule.law)
