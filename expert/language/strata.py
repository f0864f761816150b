"""The order in which facts are finished and decisions are taken, from what reads what.

Edges run from a fact to the facts that its rules, default and `else` read. A decided fact is a leaf there: it
comes from its decision. Decisions are ordered by what their `needs`, `cost` and `after` lead to; facts stand
behind the last decision they depend on, in levels.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter

from expert.errors import Diagnostic, Text
from expert.language.cycles import decision_cycle, fact_cycles
from expert.language.program import Decision, FactDecl, Prefer, Require, Rule, Step
from expert.language.reads import contributors_of, fact_reads, is_test, rule_reads


@dataclass(frozen=True, slots=True)
class Strata:
    """The order of a program; the fields are those of `Program`. `mistakes` is empty when the order is sound."""

    schedule: tuple[Step, ...]
    contributors: Mapping[str, tuple[str, ...]]
    tests_of: Mapping[str, tuple[str, ...]]
    bodies: Mapping[str, tuple[str, ...]]
    dependencies: Mapping[str, frozenset[str]]
    deciders: Mapping[str, str]
    mistakes: tuple[Diagnostic, ...]


def stratify(facts: Mapping[str, FactDecl], rules: Mapping[str, Rule], decisions: Mapping[str, Decision]) -> Strata:
    """Order facts and decisions so that everything is finished before it is read.

    Errors: none raised; `mistakes` has rule-cycle, decision-order, needs-own-fact, decided-twice, decided-and-concluded.
    Source: Apt, Blair and Walker 1988, stratified programs.
    """
    deciders, mistakes = _deciders(decisions)
    contributors = contributors_of(rules, facts)
    mistakes += _decided_and_concluded(facts, rules, contributors, deciders)
    reads = {name: {} if name in deciders else fact_reads(facts[name], tuple(rules[rule] for rule in contributors[name])) for name in facts}
    mistakes += fact_cycles(reads, facts, rules)
    closures = close(reads)
    before, needed = decisions_before(decisions, closures, deciders)
    mistakes += needed
    mistakes += decision_cycle(before, decisions, deciders, closures)
    dependencies = {**closures, **{f"rule:{rule.id}": _with_closures(rule_reads(rule), closures) for rule in rules.values()}}
    if mistakes:
        return Strata((), contributors, {}, {}, dependencies, deciders, tuple(mistakes))
    ranks = {decision: place + 1 for place, decision in enumerate(decision_order(before))}
    tests_of, unordered = _tests_of(rules, dependencies, deciders, ranks, before, decisions)
    levels = _levels(reads, closures, deciders, ranks)
    bodies = {name: _body(decisions[name], tests_of[name], dependencies, deciders, ranks, levels) for name in decisions}
    schedule = _schedule(facts, contributors, deciders, decisions, ranks, levels)
    return Strata(schedule, contributors, tests_of, bodies, dependencies, deciders, tuple(unordered))


def close(reads: Mapping[str, Iterable[str]]) -> dict[str, frozenset[str]]:
    """For each fact all facts that it depends on, transitively; a fact on a cycle depends on itself."""
    closures: dict[str, frozenset[str]] = {}
    for name in reads:
        found: set[str] = set()
        waiting = [*reads[name]]
        while waiting:
            fact = waiting.pop()
            if fact in found:
                continue
            found.add(fact)
            if fact in closures:
                found |= closures[fact]
            else:
                waiting += reads.get(fact, ())
        closures[name] = frozenset(found)
    return closures


def _with_closures(names: Iterable[str], closures: Mapping[str, frozenset[str]]) -> frozenset[str]:
    return frozenset(names).union(*(closures.get(name, frozenset()) for name in names))


def _deciders(decisions: Mapping[str, Decision]) -> tuple[dict[str, str], list[Diagnostic]]:
    found: dict[str, str] = {}
    mistakes: list[Diagnostic] = []
    for decision in decisions.values():
        for fact in decision.assigns:
            if fact not in found:
                found[fact] = decision.id
                continue
            message = Text(
                f"'{fact}' is assigned by '{found[fact]}' and by '{decision.id}'",
                f"'{fact}' 同时由 '{found[fact]}' 和 '{decision.id}' 决定",
            )
            cure = Text(f"take it out of one of them; rules of '{decision.id}' may read it all the same",
                        f"请从其中一个中删去；'{decision.id}' 的规则仍可读取它")  # fmt: skip
            mistakes.append(Diagnostic("decided-twice", message, decision.span, cure))
    return found, mistakes


def _decided_and_concluded(
    facts: Mapping[str, FactDecl], rules: Mapping[str, Rule], contributors: Mapping[str, tuple[str, ...]], deciders: Mapping[str, str]
) -> list[Diagnostic]:
    """A decided fact has one origin: no rule concludes it, and it has neither default nor `else`."""
    mistakes: list[Diagnostic] = []
    for fact, decision in deciders.items():
        for rule in contributors.get(fact, ()):
            message = Text(
                f"'{fact}' is concluded here and assigned by the decision '{decision}'",
                f"'{fact}' 在此得出结论，又由决策 '{decision}' 赋值",
            )
            cure = Text("turn the conclusion into 'prefer:' or 'require:'", "请把结论改为 'prefer:' 或 'require:'")
            mistakes.append(Diagnostic("decided-and-concluded", message, rules[rule].span, cure))
        declared = facts.get(fact)
        if declared is not None and (declared.default or declared.otherwise is not None):
            message = Text(
                f"'{fact}' has a default and is assigned by the decision '{decision}'", f"'{fact}' 有默认值，又由决策 '{decision}' 赋值"
            )
            cure = Text("drop the default; a 'prefer:' rule says which option to favour", "请删去默认值；用 'prefer:' 规则说明偏好")
            mistakes.append(Diagnostic("decided-and-concluded", message, declared.span, cure))
    return mistakes


def decisions_before(
    decisions: Mapping[str, Decision], closures: Mapping[str, frozenset[str]], deciders: Mapping[str, str]
) -> tuple[dict[str, dict[str, str]], list[Diagnostic]]:
    """For each decision those that must be taken earlier, each with what leads there: a fact, or "" for `after`."""
    before: dict[str, dict[str, str]] = {name: {} for name in sorted(decisions)}
    mistakes: list[Diagnostic] = []
    for decision in decisions.values():
        edges = before[decision.id]
        edges.update({earlier: "" for earlier in sorted(decision.after) if earlier in decisions})
        for need in decision.needs:
            leads = {deciders[fact] for fact in (need, *closures.get(need, ())) if fact in deciders}
            if decision.id in leads:
                mistakes.append(_needs_own(decision, need))
            edges.update({earlier: edges.get(earlier, need) for earlier in sorted(leads - {decision.id})})
        if decision.cost is not None:
            leads = {deciders[fact] for fact in closures.get(decision.cost, ()) if fact in deciders} - {decision.id}
            edges.update({earlier: edges.get(earlier, decision.cost) for earlier in sorted(leads)})
    return before, mistakes


def _needs_own(decision: Decision, need: str) -> Diagnostic:
    message = Text(
        f"'{decision.id}' needs '{need}', which depends on what it decides", f"'{decision.id}' 需要 '{need}'，而后者取决于它自己的决定"
    )
    cure = Text(
        f"leave '{need}' out of 'needs:'; its tests and its cost may read it", f"请从 'needs:' 中删去 '{need}'；其检验与成本仍可读取它"
    )
    return Diagnostic("needs-own-fact", message, decision.span, cure)


def decision_order(before: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """Decisions in order: each after those it waits for, ids in alphabetical order among the ready ones."""
    sorter = TopologicalSorter({name: sorted(earlier) for name, earlier in before.items()})
    sorter.prepare()
    order: list[str] = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready())
        order += ready
        sorter.done(*ready)
    return tuple(order)


def _tests_of(
    rules: Mapping[str, Rule],
    dependencies: Mapping[str, frozenset[str]],
    deciders: Mapping[str, str],
    ranks: Mapping[str, int],
    before: Mapping[str, Iterable[str]],
    decisions: Mapping[str, Decision],
) -> tuple[dict[str, tuple[str, ...]], list[Diagnostic]]:
    """Each require and prefer rule goes to the last decision that it depends on."""
    found: dict[str, list[str]] = {"": [], **{name: [] for name in decisions}}
    mistakes: list[Diagnostic] = []
    earlier = close(before)
    for rule in sorted((rule for rule in rules.values() if is_test(rule)), key=lambda rule: rule.id):
        leads = sorted({deciders[fact] for fact in dependencies[f"rule:{rule.id}"] if fact in deciders}, key=lambda name: ranks[name])
        found[leads[-1] if leads else ""].append(rule.id)
        for first, second in itertools.pairwise(leads):
            if first not in earlier[second]:
                mistakes.append(_unordered(rule, first, second))
                break
    return {name: tuple(ids) for name, ids in found.items()}, mistakes


def _unordered(rule: Rule, first: str, second: str) -> Diagnostic:
    assert isinstance(rule.effect, Require | Prefer)
    message = Text(f"the rule '{rule.id}' reads the decisions '{first}' and '{second}', and nothing says which is taken first",
                   f"规则 '{rule.id}' 同时读取决策 '{first}' 和 '{second}'，但没有规定先后")  # fmt: skip
    cure = Text(
        f"write 'after: [{first}]' at the decision '{second}', or the other way round",
        f"请在决策 '{second}' 处写 'after: [{first}]'，或反之",
    )
    return Diagnostic("decision-order", message, rule.effect.test.span, cure)


def _levels(
    reads: Mapping[str, Iterable[str]], closures: Mapping[str, frozenset[str]], deciders: Mapping[str, str], ranks: Mapping[str, int]
) -> dict[str, tuple[int, int]]:
    """For each fact that is not decided: the rank of the last decision it depends on, and its level behind it."""
    levels: dict[str, tuple[int, int]] = {}
    for name in TopologicalSorter({name: sorted(read) for name, read in reads.items()}).static_order():
        if name in deciders or name not in reads:
            continue
        phase = max((ranks[deciders[fact]] for fact in closures[name] if fact in deciders), default=0)
        inside = [levels[fact][1] for fact in reads[name] if fact in levels and levels[fact][0] == phase]
        levels[name] = (phase, 1 + max(inside, default=0))
    return levels


def _body(
    decision: Decision,
    tests: Sequence[str],
    dependencies: Mapping[str, frozenset[str]],
    deciders: Mapping[str, str],
    ranks: Mapping[str, int],
    levels: Mapping[str, tuple[int, int]],
) -> tuple[str, ...]:
    """Facts behind this decision that its tests, its cost or a concluded design fact read, in evaluation order.

    A design fact that rules conclude belongs to it: where the plan states one, it rejects the options that conclude another.
    """
    rank = ranks[decision.id]
    own = {name for name, (phase, _) in levels.items() if phase == rank}
    wanted = {name for name in own if name.startswith("design.")} | ({decision.cost} if decision.cost else set())
    wanted = wanted.union(*(dependencies[name] for name in sorted(wanted)), *(dependencies[f"rule:{rule}"] for rule in tests))
    return tuple(sorted(wanted & own, key=lambda name: (levels[name], name)))


def _schedule(
    facts: Mapping[str, FactDecl],
    contributors: Mapping[str, tuple[str, ...]],
    deciders: Mapping[str, str],
    decisions: Mapping[str, Decision],
    ranks: Mapping[str, int],
    levels: Mapping[str, tuple[int, int]],
) -> tuple[Step, ...]:
    """Steps: facts that only the plan gives, then levels, each decision with its own facts, levels behind it."""
    groups: dict[tuple[int, int], list[str]] = {}
    for name in sorted(facts):
        if name in deciders:
            continue
        plain = not contributors[name] and not facts[name].default and facts[name].otherwise is None
        groups.setdefault((0, 0) if plain else levels[name], []).append(name)
    order = {rank: name for name, rank in ranks.items()}
    keys = sorted([*groups, *((rank, 0) for rank in order)])
    steps: list[Step] = []
    for stratum, key in enumerate(keys):
        decision = order.get(key[0]) if key[1] == 0 else None
        members = tuple(groups[key]) if decision is None else tuple(decisions[decision].assigns)
        steps.append(Step(stratum, members, decision))
    return tuple(steps)
