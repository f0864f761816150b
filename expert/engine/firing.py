"""What an engine is: it fires a program over stated and decided facts. The reference engine, and the choice of one.

Both engines give a `Fired`: every match (a rule instance whose conditions hold) and the value of every fact.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol, cast

from expert.engine.concluding import Contributor, bindings, combine_exact, conjunction
from expert.engine.evaluate import PLAN_KEY, Env
from expert.engine.model import knowledge_of
from expert.engine.support import facts_behind, support_of
from expert.engine.trace import FIRED, SATISFIED, VIOLATED
from expert.engine.values import STATED, Slot, fails, from_slot, holds, is_known, to_slot, unknown_slot
from expert.facts import Value
from expert.language.program import Conclude, Program, Rule
from expert.language.terms import facts_read
from expert.records import dataclass


@dataclass(frozen=True, slots=True)
class Match:
    """A rule instance whose conditions hold. `state` is fired, or for require and prefer satisfied or violated.

    rows: row ids of the `for` variables, in their order. facts: names of the facts it rests on, sorted. effects: concluded values.
    """

    rule: str
    rows: tuple[str, ...]
    state: str
    facts: tuple[str, ...]
    effects: tuple[tuple[str, Value], ...] = ()


@dataclass(frozen=True, slots=True)
class Fired:
    """All matches in running order, and the value of every fact (None: unknown)."""

    engine: str
    matches: tuple[Match, ...]
    values: Mapping[str, Value | None]


class Engine(Protocol):
    """Fires a program. `stated` are given facts, `decided` the values that decisions gave, in base units."""

    name: str

    def fire(self, program: Program, stated: Mapping[str, Value], decided: Mapping[str, Value]) -> Fired:
        """Run all strata in order and return every match and every fact."""
        ...


class ReferenceEngine:
    """The Python engine: each rule's closures, run once in the order of the strata."""

    name = "reference"

    def fire(self, program: Program, stated: Mapping[str, Value], decided: Mapping[str, Value]) -> Fired:
        """Run all strata in order and return every match and every fact."""
        env = start_env(program, stated)
        matches: list[Match] = []
        for step in program.schedule:
            for fact in step.facts:
                if fact not in program.deciders:
                    _conclude(fact, program, env, stated, matches)
            if step.decision is not None:
                for fact in program.decisions[step.decision].assigns:
                    if fact in decided:
                        env[fact] = to_slot(decided[fact], program.facts[fact].kind)
        for rule in program.rules.values():
            if not isinstance(rule.effect, Conclude):
                matches += _test_matches(rule, program, env)
        values = {name: from_slot(env[name], decl.kind) for name, decl in program.facts.items()}
        return Fired(self.name, in_canonical_order(program, matches), values)


def in_canonical_order(program: Program, matches: Iterable[Match]) -> tuple[Match, ...]:
    """Matches in running order, the same for every engine: by the step of the concluded fact (tests last), rule and rows."""
    last = len(program.schedule)
    steps = {fact: (i, j) for i, step in enumerate(program.schedule) for j, fact in enumerate(step.facts)}
    rules = {rule: i for i, rule in enumerate(program.rules)}
    positions = {name: {row: i for i, row in enumerate(table.rows)} for name, table in program.tables.items()}

    def key(match: Match) -> tuple[tuple[int, int], int, tuple[int, ...]]:
        step = steps.get(match.effects[0][0], (last, 0)) if match.effects else (last, 0)
        tables = [table for _, table in program.rules[match.rule].rows]
        return step, rules[match.rule], tuple(positions[table][row] for table, row in zip(tables, match.rows, strict=True))

    return tuple(sorted(matches, key=key))


def start_env(program: Program, stated: Mapping[str, Value]) -> Env:
    """An environment with what the plan states, everything else unknown."""
    env: Env = {name: unknown_slot(decl.kind, STATED) for name, decl in program.facts.items()}
    for name, value in stated.items():
        env[name] = env[PLAN_KEY + name] = to_slot(value, program.facts[name].kind)
    return env


def _conclude(fact: str, program: Program, env: Env, stated: Mapping[str, Value], matches: list[Match]) -> None:
    closure = knowledge_of(program).facts[fact]
    contributions = []
    for contributor in closure.contributors:
        rule = program.rules[contributor.rule]
        support = support_of(rule, program)
        for rows, truth, value in _instances(contributor, env):
            contributions.append((truth, value))
            if holds(truth) and is_known(value):
                effect = (fact, cast(Value, from_slot(value, closure.decl.kind)))
                facts = facts_behind(support, env, value=_value_reads(rule, fact)) if support.open else contributor.reads
                matches.append(Match(contributor.rule, rows, FIRED, facts, (effect,)))
    if fact not in stated:
        env[fact] = combine_exact(closure.decl, contributions, closure.fallback(env), STATED)


def _instances(contributor: Contributor, env: Env) -> Iterator[tuple[tuple[str, ...], int, Slot]]:
    for rows in bindings(contributor.loops, env):
        truth = conjunction(contributor.when, env)
        if not fails(truth):
            yield rows, truth, contributor.value(env)


def _test_matches(rule: Rule, program: Program, env: Env) -> Iterator[Match]:
    closures = knowledge_of(program).rule(rule.id)
    loops, when, wanted = closures.loops, closures.when, closures.test
    support = support_of(rule, program)
    for rows in bindings(loops, env):
        if not holds(conjunction(when, env)):
            continue
        if wanted is None:
            yield Match(rule.id, rows, FIRED, facts_behind(support, env))
            continue
        truth = wanted(env)
        if holds(truth) or fails(truth):
            facts = facts_behind(support, env, verdict=holds(truth))
            yield Match(rule.id, rows, SATISFIED if holds(truth) else VIOLATED, facts)


def _value_reads(rule: Rule, fact: str) -> frozenset[str]:
    return next(facts_read(value.term) for name, value in cast(Conclude, rule.effect).values if name == fact)
