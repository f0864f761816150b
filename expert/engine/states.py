"""The state of every rule and fact after a run, for the trace: what held, what failed, what was unknown and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from expert.engine.concluding import bindings
from expert.engine.evaluate import Env
from expert.engine.firing import Fired, Match
from expert.engine.model import knowledge_of
from expert.engine.solving import Solution
from expert.engine.trace import NOT_CHECKED, OVERLAP, SILENT, ConditionState, FactState, Firing
from expert.engine.unknowns import missing_in
from expert.engine.values import BOTH, FALSE, OPTION, RANGE, STATED, fails, from_slot, holds, is_known, slot_bits
from expert.facts import ASSUMED, CONCLUDED, DECIDED, Fact, Value
from expert.language.program import Conclude, Condition, Prefer, Program, Require, Rule


def firing_id(rule: str, rows: Sequence[str]) -> str:
    """The node id of a rule instance."""
    return f"rule:{rule}[{','.join(rows)}]" if rows else f"rule:{rule}"


def rule_firings(program: Program, solution: Solution, fired: Fired) -> tuple[Firing, ...]:
    """Every rule with its state: one firing per match, else one that is silent or not checked. By strata, then by id."""
    strata = strata_of(program)
    matched: dict[str, list[Match]] = {}
    for match in fired.matches:
        matched.setdefault(match.rule, []).append(match)
    off = {rule: why for solved in solution.solved.values() for rule, why in solved.not_in_force.items()}
    found: list[Firing] = []
    for rule in program.rules.values():
        found += _firings(rule, program, solution.env, matched.get(rule.id, []), strata, off)
    return tuple(sorted(found, key=lambda f: (f.stratum, f.rule)))


def strata_of(program: Program) -> dict[str, int]:
    """The position in the schedule at which each fact is finished, and "rule:ID" at which each rule runs."""
    position: dict[str, int] = {}
    for index, step in enumerate(program.schedule):
        for fact in step.facts:
            position[fact] = index
        if step.decision is not None:
            for fact in program.decisions[step.decision].assigns:
                position[fact] = index
    last = len(program.schedule)
    for rule in program.rules.values():
        if isinstance(rule.effect, Conclude):
            position["rule:" + rule.id] = min((position.get(f, last) for f, _ in rule.effect.values), default=last)
        else:
            position["rule:" + rule.id] = last
    return position


def _firings(
    rule: Rule, program: Program, env: Env, matches: list[Match], strata: Mapping[str, int], off: Mapping[str, tuple[str, ...]]
) -> list[Firing]:
    stratum = strata["rule:" + rule.id]
    if rule.id in off:
        return [_unchecked(rule, program, env, stratum, off[rule.id])]
    merged: dict[tuple[str, ...], tuple[Match, tuple[tuple[str, Value], ...]]] = {}
    for match in matches:
        earlier = merged.get(match.rows)
        merged[match.rows] = (match, (earlier[1] if earlier else ()) + match.effects)
    found = []
    for rows, (match, effects) in merged.items():
        bound = _bind(rule, rows, env)
        conditions, test = _conditions(rule, program, bound)
        premises = tuple("fact:" + f for f in match.facts if is_known(env[f]))
        named = tuple((variable, row) for (variable, _), row in zip(rule.rows, rows, strict=True))
        found.append(Firing(firing_id(rule.id, rows), rule.id, named, stratum, match.state, conditions, test, premises, effects))
    return found or [_quiet(rule, program, env, stratum)]


def _bind(rule: Rule, rows: Sequence[str], env: Env) -> Env:
    if not rows:
        return env
    return {**env, **{"$" + variable: (frozenset((row,)), 0) for (variable, _), row in zip(rule.rows, rows, strict=True)}}


def _test_of(rule: Rule) -> Condition | None:
    return rule.effect.test if isinstance(rule.effect, (Require, Prefer)) else None


def _conditions(rule: Rule, program: Program, env: Env) -> tuple[tuple[ConditionState, ...], ConditionState | None]:
    closures = knowledge_of(program).rule(rule.id)
    when = tuple(_state(c, truth(env), program, env) for c, truth in zip(rule.when, closures.when, strict=True))
    test = _test_of(rule)
    return when, None if test is None or closures.test is None else _state(test, closures.test(env), program, env)


def _state(condition: Condition, truth: int, program: Program, env: Env) -> ConditionState:
    """The truth of one condition, and what is missing where it is unknown."""
    if holds(truth) or fails(truth):
        return ConditionState(condition.text, "true" if holds(truth) else "false")
    missing = missing_in(condition.term, program, env)
    overlap = not missing and bool(truth & RANGE or truth & BOTH == BOTH)
    return ConditionState(condition.text, "unknown", (OVERLAP,) if overlap else missing)


def _unchecked(rule: Rule, program: Program, env: Env, stratum: int, why: tuple[str, ...]) -> Firing:
    conditions, test = ((), None) if rule.rows else _conditions(rule, program, env)
    return Firing(
        "rule:" + rule.id,
        rule.id,
        (),
        stratum,
        NOT_CHECKED,
        conditions,
        test or (ConditionState("", "unknown", why) if rule.rows else None),
        (),
    )


def _quiet(rule: Rule, program: Program, env: Env, stratum: int) -> Firing:
    """A rule without a match: silent if a condition is plainly false (for every row), else not checked."""
    states = []
    for rows in bindings(knowledge_of(program).rule(rule.id).loops, env):
        bound = _bind(rule, rows, env)
        conditions, test = _conditions(rule, program, bound)
        states.append((conditions, test))
        unknown = any(c.truth == "unknown" for c in conditions) or (test is not None and test.truth == "unknown")
        if not any(c.truth == "false" for c in conditions) and (unknown or isinstance(rule.effect, Conclude)):
            missing = None if test is None else test
            if isinstance(rule.effect, Conclude):
                missing = _value_state(rule, program, bound)
            named = tuple((v, row) for (v, _), row in zip(rule.rows, rows, strict=True))
            return Firing(firing_id(rule.id, rows), rule.id, named, stratum, NOT_CHECKED, conditions, missing, ())
    conditions, test = states[0] if states and not rule.rows else ((), None)
    return Firing("rule:" + rule.id, rule.id, (), stratum, SILENT, conditions, test, ())


def _value_state(rule: Rule, program: Program, env: Env) -> ConditionState | None:
    for _, value in cast(Conclude, rule.effect).values:
        missing = missing_in(value.term, program, env)
        if missing:
            return ConditionState(value.text, "unknown", missing)
    return None


def fact_states(
    program: Program, given: Mapping[str, Fact], solution: Solution, fired: Fired, firings: Sequence[Firing]
) -> dict[str, FactState]:
    """Every fact with value, origin and contributions, in the order of the schedule."""
    strata = strata_of(program)
    contributions: dict[str, list[tuple[str, Value]]] = {}
    for firing in firings:
        for fact, value in firing.effects:
            contributions.setdefault(fact, []).append((firing.id, value))
    ordered = sorted(program.facts, key=lambda f: strata.get(f, -1))
    return {name: _fact_state(name, program, given, solution, fired, contributions.get(name, []), strata.get(name, 0)) for name in ordered}


def _fact_state(
    name: str,
    program: Program,
    given: Mapping[str, Fact],
    solution: Solution,
    fired: Fired,
    contributions: list[tuple[str, Value]],
    stratum: int,
) -> FactState:
    value = fired.values[name]
    ids = tuple(node for node, _ in contributions)
    closure = knowledge_of(program).facts.get(name)
    if name in given:
        fact = given[name]
        concluded = _concluded(name, program, solution.env) if program.contributors.get(name) else None
        return FactState(name, fact.value, fact.origin, stratum, ids, fact.span, fact.at, concluded)
    if name in program.deciders:
        return FactState(name, value, DECIDED, stratum, () if value is None else ("decision:" + program.deciders[name],))
    bits = slot_bits(solution.env[name]) & (OPTION | RANGE)
    tainted = _unknown_contributors(name, program, solution.env) if value is not None and (bits or _sums(name, program)) else ()
    if contributions:
        conflict = ids if value is None and program.facts[name].combine == "one" else ()
        return FactState(name, value, CONCLUDED, stratum, ids, conflict=conflict, tainted=tainted)
    used = closure.default_used(solution.env) if closure is not None else None
    if used is not None:
        decl = program.facts[name]
        return FactState(name, value, ASSUMED, stratum, default=used, aim=decl.default[used].aim, span=decl.default[used].span)
    return FactState(name, value, CONCLUDED, stratum, tainted=tainted)


def _sums(name: str, program: Program) -> bool:
    return program.facts[name].combine == "sum"


def _concluded(name: str, program: Program, env: Env) -> Value | None:
    closure = knowledge_of(program).facts.get(name)
    return None if closure is None else from_slot(closure.exact(env, STATED), closure.decl.kind)


def _unknown_contributors(name: str, program: Program, env: Env) -> tuple[str, ...]:
    """Rules whose contribution is unknown although others spoke, so that a sum is only a part."""
    closure = knowledge_of(program).facts[name]
    found = []
    for contributor in closure.contributors:
        for truth, value in contributor.contributions(env):
            if truth != FALSE and not (holds(truth) and is_known(value)):
                found.append(contributor.rule)
    return tuple(dict.fromkeys(found))
