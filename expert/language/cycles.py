"""Cycles of dependencies that no decision resolves, and how they are told to the author."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence

from expert.errors import Diagnostic, Text
from expert.language.program import Decision, FactDecl, Rule

Reads = Mapping[str, Mapping[str, str]]


def fact_cycles(reads: Reads, facts: Mapping[str, FactDecl], rules: Mapping[str, Rule]) -> list[Diagnostic]:
    """One diagnostic per knot of facts that depend on one another through no decision, with a shortest cycle in it."""
    return [_fact_cycle(cycle, reads, facts, rules) for knot in knots(reads) if (cycle := shortest_cycle(reads, knot))]


def knots(reads: Mapping[str, Collection[str]]) -> list[tuple[str, ...]]:
    """Strongly connected parts of a graph that contain a cycle, each sorted, in alphabetical order.

    Source: Tarjan 1972, with a stack of its own instead of recursion.
    """
    numbers: dict[str, int] = {}
    lowest: dict[str, int] = {}
    path: list[str] = []
    found: list[tuple[str, ...]] = []
    for root in sorted(reads):
        if root not in numbers:
            _visit(root, reads, numbers, lowest, path, found)
    return sorted(knot for knot in found if len(knot) > 1 or knot[0] in reads[knot[0]])


def _visit(
    root: str,
    reads: Mapping[str, Collection[str]],
    numbers: dict[str, int],
    lowest: dict[str, int],
    path: list[str],
    found: list[tuple[str, ...]],
) -> None:
    numbers[root] = lowest[root] = len(numbers)
    path.append(root)
    waiting = [(root, iter(sorted(reads[root])))]
    while waiting:
        node, following = waiting[-1]
        target = next(following, None)
        if target is None:
            waiting.pop()
            if waiting:
                parent = waiting[-1][0]
                lowest[parent] = min(lowest[parent], lowest[node])
            if lowest[node] == numbers[node]:
                place = path.index(node)
                found.append(tuple(sorted(path[place:])))
                del path[place:]
        elif target in reads and target not in numbers:
            numbers[target] = lowest[target] = len(numbers)
            path.append(target)
            waiting.append((target, iter(sorted(reads[target]))))
        elif target in path:
            lowest[node] = min(lowest[node], numbers[target])


def shortest_cycle(reads: Mapping[str, Collection[str]], knot: Sequence[str]) -> tuple[str, ...]:
    """The nodes of a shortest cycle through the first member of a knot, starting and ending with it."""
    start, inside = knot[0], set(knot)
    came: dict[str, str] = {}
    layer = [start]
    while layer:
        following: list[str] = []
        for node in layer:
            for target in sorted(reads[node]):
                if target == start:
                    return _trail(came, start, node)
                if target in inside and target not in came:
                    came[target] = node
                    following.append(target)
        layer = following
    return ()


def _trail(came: Mapping[str, str], start: str, last: str) -> tuple[str, ...]:
    trail = [start, last] if last != start else [start]
    while trail[-1] != start:
        trail.append(came[trail[-1]])
    return tuple(reversed(trail)) if len(trail) == 1 else (start, *reversed(trail[1:-1]), start)


def _fact_cycle(cycle: tuple[str, ...], reads: Reads, facts: Mapping[str, FactDecl], rules: Mapping[str, Rule]) -> Diagnostic:
    ring = cycle if len(cycle) > 1 else (*cycle, *cycle)
    steps = [(fact, reads[fact][target], target) for fact, target in itertools.pairwise(ring)]
    span = next((rules[rule].span for _, rule, _ in steps if rule), facts[ring[0]].span)
    message = Text(f"'{ring[0]}' depends on itself: {' → '.join(ring)}", f"'{ring[0]}' 依赖于自身：{' → '.join(ring)}")
    english = "\n".join(f"{fact} reads {target} in {f'the rule {rule}' if rule else 'its default'}" for fact, rule, target in steps)
    chinese = "\n".join(f"{fact} 读取 {target}，见{f'规则 {rule}' if rule else '其默认值'}" for fact, rule, target in steps)
    last = ring[-1]
    return Diagnostic("rule-cycle", message, span, Text(
        f"let one of them read 'plan.{last}', what the plan itself states, or let one decision assign the facts together\n{english}",
        f"请让其中一处读取 'plan.{last}'（计划本身所述），或由一个决策共同决定这些事实\n{chinese}"))  # fmt: skip


def decision_cycle(
    before: Reads, decisions: Mapping[str, Decision], deciders: Mapping[str, str], closures: Mapping[str, frozenset[str]]
) -> list[Diagnostic]:
    """One diagnostic per knot of decisions that wait for one another."""
    found: list[Diagnostic] = []
    for knot in knots(before):
        cycle = shortest_cycle(before, knot)
        ring = cycle if len(cycle) > 1 else (*cycle, *cycle)
        steps = [_waiting(one, before[one][other], other, deciders, closures) for one, other in itertools.pairwise(ring)]
        names = " → ".join(ring)
        message = Text(f"the decisions wait for one another: {names}", f"这些决策互相等待：{names}")
        cure = Text(
            "join them into one decision, or read 'plan.X' in one of them\n" + "\n".join(text.en for text in steps),
            "请把它们合并为一个决策，或在其中一处读取 'plan.X'\n" + "\n".join(text.zh for text in steps),
        )
        found.append(Diagnostic("rule-cycle", message, decisions[ring[0]].span, cure))
    return found


def _waiting(one: str, through: str, other: str, deciders: Mapping[str, str], closures: Mapping[str, frozenset[str]]) -> Text:
    if not through:
        return Text(f"{one} stands after {other}", f"{one} 排在 {other} 之后")
    facts = sorted(fact for fact in (through, *closures.get(through, ())) if deciders.get(fact) == other)
    if through in facts:
        return Text(f"{one} reads {through}, assigned by {other}", f"{one} 读取 {through}，由 {other} 赋值")
    return Text(
        f"{one} reads {through}, which depends on {facts[0]}, assigned by {other}",
        f"{one} 读取 {through}，它取决于由 {other} 赋值的 {facts[0]}",
    )
