"""Why options are not to be had: rejected values, what excludes everything, and what to free or relax.

All by splitting boxes: a requirement that is false over a whole box rejects every option in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from expert.engine.boxes import REJECTED, Option, Problem, domain_slot, evaluate_body
from expert.engine.model import STATED_TEST, TestModel
from expert.engine.search import Search
from expert.engine.trace import Rejection
from expert.engine.values import FALSE, TRUE
from expert.facts import Amount, Value

BOX_LIMIT = 4000
RELAXATION_LIMIT = 20


class SearchEnded(Exception):  # noqa: N818 - an ending, not an error
    """The box limit was reached; the answer is left out rather than guessed."""


def narrowed(problem: Problem, domains: Mapping[str, tuple[Value, ...]], requires: Sequence[TestModel] | None = None) -> Problem:
    """The problem with other domains, and perhaps with other requirements."""
    merged = {**problem.domains, **domains}
    env = dict(problem.root_env)
    for variable, values in domains.items():
        env[variable] = domain_slot(values, problem.kinds[variable])
    evaluate_body(problem.model, env, problem.stated, problem.model.body)
    return replace(problem, domains=merged, root_env=env, requires=problem.requires if requires is None else tuple(requires))


def _admissible(problem: Problem, budget: list[int]) -> Iterator[Option | str]:
    """Walk the options: yields each that is not rejected, and the ids of requirements that rejected boxes."""
    search = Search(problem)
    variables = search.cell_variables + search.inner_variables
    stack = [search.root]
    while stack:
        node = stack.pop()
        budget[0] -= 1
        if budget[0] < 0:
            raise SearchEnded
        if node.rejected_by is not None:
            yield node.rejected_by
            continue
        if all(len(values) == 1 for values in node.domains.values()):
            option = search.option({v: values[0] for v, values in node.domains.items()})
            if option.certainty != REJECTED:
                yield option
            else:
                yield from _rejecting(search, option)
            continue
        stack += reversed(search.split(node, variables))


def _rejecting(search: Search, option: Option) -> Iterator[str]:
    env = search.exact_env(option.values)
    for test in search.problem.requires:
        if test.exact(env) == FALSE:
            yield test.id
            return


def witness(problem: Problem, budget: list[int]) -> Option | None:
    """Some option that no requirement rejects, or None when there is none. Raises `SearchEnded` past the budget."""
    for found in _admissible(problem, budget):
        if isinstance(found, Option):
            return found
    return None


def covering(problem: Problem, budget: list[int]) -> tuple[str, ...] | None:
    """A small set of requirements that together reject every option: one rule if one does, else a cover without a rule to spare.

    None when an option is left. Raises `SearchEnded` past the budget.
    """
    used: list[str] = []
    for found in _admissible(problem, budget):
        if isinstance(found, Option):
            return None
        used.append(found)
    tests = {test.id: test for test in problem.requires}
    names = sorted(set(used), key=used.index)
    for name in names:
        if witness(replace(problem, requires=(tests[name],)), budget) is None:
            return (name,)
    for name in reversed(list(names)):
        rest = [other for other in names if other != name]
        if witness(replace(problem, requires=tuple(tests[o] for o in rest)), budget) is None:
            names = rest
    return tuple(names)


def rejections(problem: Problem, seen: Sequence[Option], limit: int = BOX_LIMIT) -> tuple[Rejection, ...]:
    """Values that no admissible option has, with the rules that reject them. `seen` are options known to be admissible.

    A value whose proof would take more than `limit` boxes is left out.
    """
    found = []
    admitted = {(v, option.values[v]) for option in seen for v in option.values}
    for variable in problem.model.variables:
        values = problem.domains[variable]
        if len(values) < 2:
            continue
        for value in values:
            if (variable, value) in admitted:
                continue
            try:
                part = narrowed(problem, {variable: (value,)})
                option = witness(part, [limit])
                if option is not None:
                    admitted |= {(v, x) for v, x in option.values.items()}
                    continue
                rules = covering(part, [limit])
            except SearchEnded:
                continue
            if rules:
                found.append(Rejection(variable, value, rules, len(rules) > 1))
    return tuple(found)


def freeable(problem: Problem, pins: Sequence[str], limit: int = BOX_LIMIT) -> list[tuple[tuple[str, ...], Option]]:
    """For each pin (else each pair of pins) whose freeing leaves an option: the pins, and the option nearest to what they were."""
    singles = [(pin,) for pin in pins]
    pairs = [(a, b) for i, a in enumerate(pins) for b in pins[i + 1 :]]
    triples = [tuple(pins)] if len(pins) > 2 else []
    for groups in (singles, pairs, triples):
        found = []
        for group in groups:
            option = _nearest(problem, group, limit)
            if option is not None:
                found.append((tuple(group), option))
        if found:
            return found
    return []


def _nearest(problem: Problem, pins: Sequence[str], limit: int) -> Option | None:
    """The best option with the pins freed; a single number that was pinned moves no further than it must."""
    domains = {pin: problem.model.domains[pin] for pin in pins}
    first = pins[0]
    pinned = problem.domains[first][0]
    values = domains[first]
    if isinstance(pinned, Amount):
        values = tuple(sorted(values, key=lambda v: abs(v.low - pinned.low) if isinstance(v, Amount) else 0.0))
        for value in values:
            try:
                part = narrowed(problem, {**domains, first: (value,)})
                if witness(part, [limit]) is not None:
                    chosen = Search(part).best().chosen
                    if chosen is not None:
                        return chosen
            except SearchEnded:
                continue
        return None
    return Search(narrowed(problem, domains)).best().chosen


def relaxations(problem: Problem, limit: int = BOX_LIMIT) -> tuple[tuple[str, ...], ...]:
    """Inclusion-minimal sets of rules (never laws, never what the plan states) whose loss would admit an option; at most 20."""
    search = Search(replace(problem, requires=()))
    variables = search.cell_variables + search.inner_variables
    minimal: list[frozenset[str]] = []
    stack = [search.root]
    budget = limit
    while stack and budget:
        budget -= 1
        node = stack.pop()
        against = [test for test in problem.requires if test.box(node.env) == FALSE]
        names = frozenset(test.id for test in against)
        if any(_never_offered(test) for test in against) or any(known <= names for known in minimal):
            continue
        if all(len(values) == 1 for values in node.domains.values()):
            exact = search.exact_env({v: values[0] for v, values in node.domains.items()})
            failing = [test for test in problem.requires if test.exact(exact) != TRUE]
            names = frozenset(test.id for test in failing)
            if not any(_never_offered(test) for test in failing) and not any(known <= names for known in minimal):
                minimal = [known for known in minimal if not names <= known] + [names]
            continue
        stack += reversed(search.split(node, variables))
    ordered = sorted((tuple(sorted(names)) for names in minimal if names), key=lambda names: (len(names), names))
    return tuple(ordered[:RELAXATION_LIMIT])


def _never_offered(test: TestModel) -> bool:
    return test.id.startswith(STATED_TEST) or (test.rule is not None and test.rule.law)
