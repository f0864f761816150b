"""Findings: what the plan fixed and the rules refuse, what rules warn of, and what a decision could not do.

A pure reading of a trace; `consult` puts the findings into the advice.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import cast

from expert.advice import ERROR, INFO, WARNING, Finding
from expert.audit import Audit, fingerprint, plan_value
from expert.audit_decisions import of_decision
from expert.engine.checking import violations_after
from expert.engine.model import domain_values
from expert.engine.trace import FIRED, INFEASIBLE, VIOLATED, FactState, Firing, Outcome, Trace
from expert.errors import NO_TEXT, Text
from expert.explain.wording import environment, fill, in_both, term_words, value_words
from expert.facts import GIVEN, SET, Amount, Value
from expert.language.program import Prefer, Program, Require, Rule, Warn, attached
from expert.language.reads import names_read
from expert.language.terms import CompareTerm, facts_read
from expert.quantities import format_number

STRONG_PREFERENCE = 6
"""From this weight on a preference that the plan goes against is a warning, below it is only worth knowing."""

ORDER = {ERROR: 0, WARNING: 1, INFO: 2}


def findings(program: Program, trace: Trace, stated: Mapping[str, Value]) -> tuple[Finding, ...]:
    """All findings, errors first, then by rule and fact."""
    env = environment(program, {name: state.value for name, state in trace.facts.items()}, stated)
    audit = Audit(program, trace, stated, env)
    found: list[Finding] = []
    for firing in trace.firings:
        found += _of_rule(audit, firing)
    for outcome in trace.outcomes.values():
        found += of_decision(audit, outcome)
    for state in trace.facts.values():
        found += _of_fact(audit, state)
    found += _unread(audit)
    return tuple(sorted(found, key=lambda f: (ORDER[f.severity], f.rule, f.fact, f.message.en)))


def _of_rule(audit: Audit, firing: Firing) -> Iterator[Finding]:
    rule = audit.program.rules[firing.rule]
    effect = rule.effect
    if isinstance(effect, Warn) and firing.state == FIRED:
        bound = {**audit.env, **{"$" + variable: (frozenset((row,)), 0) for variable, row in firing.rows}}
        parts = [fill(effect.message, audit.program, bound)]
        if effect.costs is not None:
            parts.append(fill(effect.costs, audit.program, bound))
        message = Text(" ".join(p.en for p in parts), "".join(p.zh for p in parts))
        fix = NO_TEXT if effect.fix is None else fill(effect.fix, audit.program, bound)
        yield _finding(audit, rule, effect.severity, effect.fact, message, fix, firing)
    if firing.state != VIOLATED:
        return
    if any(rule.id in outcome.chosen.possible for outcome in audit.trace.outcomes.values() if outcome.chosen is not None):
        return  # it is false on what is known only; the decision's own finding says that it may not hold
    if isinstance(effect, Require):
        missed = _missed_aim(audit, rule)
        if missed is not None:
            yield _finding(audit, rule, WARNING, effect.fact, missed, NO_TEXT, firing)
        else:
            yield _finding(audit, rule, ERROR, effect.fact, _against(audit, rule, effect.fact), _fix(audit, rule), firing)
    if isinstance(effect, Prefer) and audit.stated_fact([effect.fact]) is not None:
        severity = WARNING if effect.weight >= STRONG_PREFERENCE else INFO
        yield _finding(audit, rule, severity, effect.fact, _against(audit, rule, effect.fact), _fix(audit, rule), firing)


def _against(audit: Audit, rule: Rule, fact: str) -> Text:
    """The rule's title, and what stands against it."""
    state = audit.trace.facts[fact]
    decl = audit.program.facts[fact]
    title = decl.title or Text(fact, fact)

    def words(lang: str) -> str:
        value = value_words(state.value, decl, audit.program, lang)
        says = rule.title.of(lang)
        return f"{says}: {title.of(lang)} is {value}" if lang == "en" else f"{says}：{title.of(lang)}为{value}"

    return in_both(words)


def _missed_aim(audit: Audit, rule: Rule) -> Text | None:
    """The message when the rule only aims and the decision could not meet it: by how much the nearest option misses."""
    for outcome in audit.trace.outcomes.values():
        for missed, distance in outcome.missed:
            if missed == rule.id:
                return in_both(lambda lang, o=outcome, d=distance: _miss_words(audit, rule, o, d, lang))  # type: ignore[misc]
    return None


def _miss_words(audit: Audit, rule: Rule, outcome: Outcome, distance: float, lang: str) -> str:
    test = cast(Require, rule.effect).test.term
    title = rule.title.of(lang)
    percent = format_number(distance * 100)
    off = Text(f" (off by {percent} %)", f"（相差 {percent} %）") if math.isfinite(distance) else NO_TEXT
    # Look-ahead may have passed over options that reach it, for what they would have left empty or unsure further on.
    who = Text("No option reaches the aim", "没有选项能达到目标")
    if outcome.passed_over:
        who = Text("No option whose later decisions are sure reaches the aim", "后续决策都确定可行的选项中，没有能达到目标的")
    if not isinstance(test, CompareTerm):
        return f"{who.of(lang)} “{title}”" if lang == "en" else f"{who.of(lang)}“{title}”"
    has, wanted = (term_words(side, audit.program, audit.env, lang) for side in (test.left, test.right))
    most = test.operator in ("<", "<=")
    if lang == "zh":
        return f"{who.of(lang)}“{title}”：最接近的为{has}，目标是{'至多' if most else '至少'}{wanted}{off.of(lang)}"
    bound = "at most" if most else "at least"
    return f"{who.of(lang)} “{title}”: the nearest gives {has}, the aim is {bound} {wanted}{off.of(lang)}"


def _fix(audit: Audit, rule: Rule) -> Text:
    """The rule's own advice, else the nearest value of the blamed fact with which the rule holds."""
    effect = rule.effect
    assert isinstance(effect, (Require, Prefer))
    nearest = nearest_passing(audit, rule)
    own = NO_TEXT if effect.fix is None else fill(effect.fix, audit.program, audit.env)
    if nearest is None:
        return own
    fact, value = nearest

    def words(lang: str) -> str:
        shown = plan_value(audit, fact, value, lang)
        change = f"set {fact} to {shown}" if lang == "en" else f"把 {fact} 改为 {shown}"
        return f"{own.of(lang)} ({change})" if own and lang == "en" else f"{own.of(lang)}（{change}）" if own else change

    return in_both(words)


def nearest_passing(audit: Audit, rule: Rule) -> tuple[str, Value] | None:
    """The fact to change and its nearest value for which the rule is no longer violated and no other requirement newly is.

    The blamed fact is tried first, then the stated facts that the test and the conditions read. Nearest is by distance for
    numbers, by table order for choices; a value that violates another requirement comes after those that violate none.
    """
    effect = rule.effect
    assert isinstance(effect, (Require, Prefer))
    read = facts_read(effect.test.term).union(*(facts_read(c.term) for c in rule.when))
    for fact in dict.fromkeys([effect.fact, *sorted(read)]):
        if audit.stated_fact([fact]) is None:
            continue
        empty = _empty_decision(audit, fact)
        if empty is not None:
            # Without its other facts most rules cannot speak, and a value that seems to pass may lead nowhere.
            freed = [f.option.values[fact] for f in empty.freed if f.pins == (fact,)]
            return (fact, freed[0]) if freed else None
        before = _violations(audit, fact, audit.stated[fact])
        passing = [(_violations(audit, fact, value), value) for value in _candidates(audit, fact)]
        counted = isinstance(audit.stated[fact], Amount)
        good = [
            # A number moves no further than it must; among choices the one that leaves least to complain of is nearest.
            (len(broken - before), 0 if counted else len(broken), place, value)
            for place, (broken, value) in enumerate(passing)
            if rule.id not in broken
        ]
        if good:
            return fact, min(good, key=lambda g: g[:3])[3]
    return None


def _empty_decision(audit: Audit, fact: str) -> Outcome | None:
    """The outcome of the decision that assigns a fact, where it is empty and leaves other facts open."""
    outcome = audit.trace.outcomes.get(audit.program.deciders.get(fact, ""))
    if outcome is None or outcome.status != INFEASIBLE:
        return None
    return outcome if len(outcome.pins) < len(audit.program.decisions[outcome.decision].assigns) else None


def _candidates(audit: Audit, fact: str) -> list[Value]:
    decl, program = audit.program.facts[fact], audit.program
    decider = program.deciders.get(fact)
    domain = program.decisions[decider].assigns[fact] if decider else decl.domain
    current = audit.stated[fact]
    values: list[Value] = [] if domain is None else [v for v in domain_values(domain, decl.kind, program) if v != current]
    if isinstance(current, Amount):
        middle = current.middle
        values.sort(key=lambda v: abs(v.middle - middle) if isinstance(v, Amount) else 0.0)
    return values[:64]


def _violations(audit: Audit, fact: str, value: Value) -> set[str]:
    return violations_after(audit.program, audit.env, frozenset(audit.stated), fact, value)


def _unread(audit: Audit) -> Iterator[Finding]:
    """One finding for all that the plan states and no rule, message or decision of the packs reads."""
    used = attached(audit.program, "names read", lambda: names_read(audit.program))
    states = [audit.trace.facts[name] for name in audit.stated if name not in used]
    states = [s for s in states if s.origin in (GIVEN, SET) and audit.program.facts[s.name].type != "money"]
    if not states:
        return
    names = ", ".join(state.name for state in states)
    message = Text(f"no rule uses what the plan states here: {names}", f"没有规则用到方案中的这些内容：{names}")
    yield _built_in(audit, "unread-facts", INFO, states[0], message)


def _of_fact(audit: Audit, state: FactState) -> Iterator[Finding]:
    program = audit.program
    if state.conflict:
        message = in_both(lambda lang: _conflict_words(audit, state, lang))
        yield _built_in(audit, "conflict", ERROR, state, message)
    if state.concluded is not None and state.concluded != state.value and not _same_number(state.concluded, state.value):
        decl = program.facts[state.name]
        message = in_both(
            lambda lang: (
                f"The plan's {state.name} ({value_words(state.value, decl, program, lang)}) is used; "
                f"the rules would conclude {value_words(state.concluded, decl, program, lang)}"
                if lang == "en"
                else f"采用计划中的 {state.name}（{value_words(state.value, decl, program, lang)}）；规则的结论是"
                f"{value_words(state.concluded, decl, program, lang)}"
            )
        )
        yield _built_in(audit, "stated-differs", INFO, state, message)


def _conflict_words(audit: Audit, state: FactState, lang: str) -> str:
    """Which rules conclude which values of a fact, and where they stand."""
    decl = audit.program.facts[state.name]
    parts = []
    for firing in audit.trace.firings:
        for fact, value in firing.effects:
            if fact == state.name:
                rule = audit.program.rules[firing.rule]
                shown = value_words(value, decl, audit.program, lang)
                parts.append(f"{shown} ({rule.id}, {rule.span})" if lang == "en" else f"{shown}（{rule.id}，{rule.span}）")
    listed = (" and " if lang == "en" else " 与 ").join(parts)
    return f"rules conclude different values of {state.name}: {listed}" if lang == "en" else f"规则对 {state.name} 得出不同的值：{listed}"


def _same_number(a: Value | None, b: Value | None) -> bool:
    return isinstance(a, Amount) and isinstance(b, Amount) and abs(a.middle - b.middle) <= 1e-9 * abs(b.middle)


def _finding(audit: Audit, rule: Rule, severity: str, fact: str, message: Text, fix: Text, firing: Firing) -> Finding:
    named = [p.removeprefix("fact:") for p in firing.premises]
    state = audit.stated_fact([fact, *named])
    rows = ",".join(row for _, row in firing.rows)
    return Finding(
        rule=rule.id,
        topic=rule.topic,
        severity=severity,
        fact=fact,
        message=message,
        fix=fix,
        span=None if state is None else state.span,
        fingerprint=fingerprint(rule.id, fact, rows),
        cite=rule.cite,
        node=firing.id,
    )


def _built_in(audit: Audit, name: str, severity: str, state: FactState, message: Text) -> Finding:
    decl = audit.program.facts[state.name]
    return Finding(name, decl.topic, severity, state.name, message, NO_TEXT, state.span, fingerprint(name, state.name, ""), (), state.id)
