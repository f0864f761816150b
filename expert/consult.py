"""The one function that everything is a face of: `consult(plan, program) -> Advice`. Read this first.

A plan's facts and the compiled packs go in; the engine derives a trace; the trace is read as advice. Pure: the same plan and
packs give the same advice, whichever engine fired.
"""

from __future__ import annotations

from collections.abc import Iterator

from expert.advice import (
    DERIVED,
    INFEASIBLE,
    RECOMMENDED,
    UNDETERMINED,
    AcceptanceTest,
    Advice,
    Assumption,
    Choice,
    RiskEntry,
    Unchecked,
)
from expert.advice import GIVEN as STATUS_GIVEN
from expert.auditing import findings
from expert.dissent import dissents
from expert.engine.evaluate import Env, compile_term, compile_truth
from expert.engine.firing import Engine, ReferenceEngine
from expert.engine.inference import infer
from expert.engine.trace import DECIDED, FIRED, NOT_CHECKED, SATISFIED, FactState, Firing, Outcome, Trace
from expert.engine.trace import INFEASIBLE as OUTCOME_INFEASIBLE
from expert.engine.trace import UNDETERMINED as OUTCOME_UNDETERMINED
from expert.engine.values import fails, from_slot, holds
from expert.errors import NO_TEXT, Text
from expert.explain.wording import environment, fill, in_both, value_words
from expert.facts import ASSUMED, GIVEN, SET, point
from expert.language.program import Program, Require, Risk, Threshold
from expert.language.terms import BOOL, CompareTerm, FactTerm
from expert.plan import Plan

DESIGN = "design."


def consult(plan: Plan, program: Program, engine: Engine | None = None, *, full: bool = True) -> Advice:
    """The advice for a plan under the compiled packs.

    engine: fires and must agree with the search; the reference engine where none is given.
    full: also what explanations need (rejected values, freed pins, recommended values); False for a quick answer.
    Errors: EngineDisagreementError when the two disagree, a fault of the program.
    """
    trace = infer(program, plan.facts, engine or ReferenceEngine(), full=full)
    return advise(plan, program, trace)


def advise(plan: Plan, program: Program, trace: Trace) -> Advice:
    """Read a trace as advice."""
    stated = {name: fact.value for name, fact in plan.facts.items()}
    env = environment(program, {name: state.value for name, state in trace.facts.items()}, stated)
    found = findings(program, trace, stated)
    choices = _choices(program, trace)
    refused = any(f.severity == "error" and _refuses(program, f.rule) for f in found)
    empty = any(choice.status == INFEASIBLE for choice in choices.values())
    open_choices = any(outcome.status == OUTCOME_UNDETERMINED for outcome in trace.outcomes.values())
    verdict = "infeasible" if refused or empty else "incomplete" if open_choices else "findings" if found else "ok"
    return Advice(
        program=program,
        plan_name=plan.name,
        plan_digest=plan.digest,
        packs=program.packs,
        engine=trace.engine,
        trace=trace,
        choices=choices,
        findings=found,
        tests=tuple(_tests(program, trace, env)),
        risks=tuple(_risks(program, trace, env)),
        assumptions=tuple(_assumptions(program, trace)),
        not_checked=tuple(_not_checked(trace)),
        dissent=tuple(dissents(program, trace, env)),
        verdict=verdict,
        outside=_outside(program, trace),
    )


def _refuses(program: Program, rule: str) -> bool:
    return rule == "no-option" or (rule in program.rules and isinstance(program.rules[rule].effect, Require))


# Choices.


def _choices(program: Program, trace: Trace) -> dict[str, Choice]:
    """Every design fact that is decided, concluded or stated, in the order of the schedule's decisions, then the rest."""
    found = {}
    for outcome in trace.outcomes.values():
        for fact in program.decisions[outcome.decision].assigns:
            found[fact] = _decided_choice(program, trace, outcome, fact)
    for name, state in trace.facts.items():
        if name.startswith(DESIGN) and name not in found and (state.value is not None or program.contributors.get(name)):
            found[name] = _other_choice(program, trace, state)
    return found


def _decided_choice(program: Program, trace: Trace, outcome: Outcome, fact: str) -> Choice:
    state = trace.facts[fact]
    pinned = state.origin in (GIVEN, SET)
    status = STATUS_GIVEN if pinned else RECOMMENDED
    if outcome.status == OUTCOME_INFEASIBLE:
        status = INFEASIBLE
    elif outcome.status == OUTCOME_UNDETERMINED and not pinned:
        status = UNDETERMINED
    recommended = None if outcome.recommended is None else outcome.recommended.get(fact)
    certainty = outcome.chosen.certainty if outcome.chosen is not None else "unproven" if outcome.unproven else ""
    decided_by = "pin" if pinned else outcome.decided_by if outcome.status == DECIDED else ""
    return Choice(fact, state.value, status, recommended, certainty, decided_by, _reasons(program, trace, outcome, fact), outcome.decision)


def _reasons(program: Program, trace: Trace, outcome: Outcome, fact: str) -> tuple[str, ...]:
    """Rules in force that speak of the fact: requirements that hold for the choice, and preferences that it meets."""
    preferences = outcome.chosen.preferences if outcome.chosen is not None else ()
    found = []
    for rule_id in outcome.in_force:
        rule = program.rules[rule_id]
        if fact not in program.dependencies.get("rule:" + rule_id, frozenset()):
            continue
        states = {f.state for f in trace.firings_of(rule_id)}
        met = SATISFIED in states if isinstance(rule.effect, Require) else rule_id in preferences
        if met:
            found.append(rule_id)
    return tuple(found)


def _other_choice(program: Program, trace: Trace, state: FactState) -> Choice:
    stated = state.origin in (GIVEN, SET)
    reasons = tuple(dict.fromkeys(node.removeprefix("rule:").split("[")[0] for node in state.contributions))
    status = STATUS_GIVEN if stated else UNDETERMINED if state.value is None else DERIVED
    certainty = "" if state.value is None else "certain"
    return Choice(
        state.name, state.value, status, state.concluded if stated else None, certainty, "pin" if stated else "requirement", reasons, ""
    )


# Tests, risks, assumptions, what was not checked.


def _tests(program: Program, trace: Trace, env: Env) -> Iterator[AcceptanceTest]:
    for firing in trace.firings:
        rule = program.rules[firing.rule]
        effect = rule.effect
        if not isinstance(effect, Threshold) or firing.state != FIRED:
            continue
        bound = _bound(env, firing)
        limit = (
            None if effect.limit is None else from_slot(compile_term(effect.limit.term, program, exact=True)(bound), effect.limit.term.kind)
        )
        yield AcceptanceTest(
            rule=rule.id,
            stage=effect.stage,
            metric=effect.metric,
            bound=effect.bound,
            limit=limit,
            tool=effect.tool,
            command=effect.command,
            rerun=NO_TEXT if effect.rerun is None else fill(effect.rerun, program, bound),
            confirm=tuple(fill(step, program, bound) for step in effect.confirm),
            observed=trace.facts[effect.metric].value if effect.metric in trace.facts else None,
            verdict=_verdict(program, effect, bound),
        )


def _verdict(program: Program, effect: Threshold, env: Env) -> str:
    """met or missed where the metric is observed and the threshold known, else untested."""
    if effect.limit is None or effect.metric not in program.facts or not effect.bound:
        return "untested"
    decl = program.facts[effect.metric]
    metric = FactTerm(effect.limit.span, decl.kind, effect.metric, decl.unit)
    operator = ">=" if effect.bound == "at_least" else "<="
    truth = compile_truth(CompareTerm(effect.limit.span, BOOL, operator, metric, effect.limit.term), program, exact=True)(env)
    return "met" if holds(truth) else "missed" if fails(truth) else "untested"


def _bound(env: Env, firing: Firing) -> Env:
    return {**env, **{"$" + variable: (frozenset((row,)), 0) for variable, row in firing.rows}} if firing.rows else env


def _risks(program: Program, trace: Trace, env: Env) -> Iterator[RiskEntry]:
    for firing in trace.firings:
        rule = program.rules[firing.rule]
        effect = rule.effect
        if not isinstance(effect, Risk) or firing.state != FIRED:
            continue
        bound = _bound(env, firing)
        impact = NO_TEXT if effect.impact is None else fill(effect.impact, program, bound)
        trigger, mitigation = fill(effect.trigger, program, bound), fill(effect.mitigation, program, bound)
        yield RiskEntry(rule.id, effect.likelihood, impact, effect.impact_fact, trigger, mitigation, effect.basis, rule.cite)


def _assumptions(program: Program, trace: Trace) -> Iterator[Assumption]:
    for state in trace.facts.values():
        if state.origin != ASSUMED or state.value is None:
            continue
        used = tuple(dict.fromkeys(f.rule for f in trace.firings if state.id in f.premises))
        yield Assumption(state.name, state.value, state.aim, used)


def _not_checked(trace: Trace) -> Iterator[Unchecked]:
    merged: dict[str, list[str]] = {}
    # What excludes every option has been checked, option by option, although the empty decision leaves it unknown now.
    told = {rule for outcome in trace.outcomes.values() for rule in outcome.excluding}
    # What may or may not hold for the chosen option has a finding of its own.
    told |= {rule for outcome in trace.outcomes.values() if outcome.chosen is not None for rule in outcome.chosen.possible}
    for firing in trace.firings:
        if firing.state == NOT_CHECKED and firing.rule not in told:
            parts = [*firing.conditions, *([firing.test] if firing.test is not None else [])]
            merged.setdefault(firing.rule, []).extend(name for part in parts for name in part.missing)
    for rule, unknown in merged.items():
        yield Unchecked(rule, tuple(dict.fromkeys(unknown)))


def _outside(program: Program, trace: Trace) -> Text:
    """One sentence for every fact outside what the packs cover."""
    if not trace.outside:
        return NO_TEXT

    def words(lang: str) -> str:
        parts = []
        for name in trace.outside:
            decl = program.facts[name]
            shown = value_words(trace.facts[name].value, decl, program, lang)
            low, high = (value_words(point(x), decl, program, lang) for x in decl.covers or (0.0, 0.0))
            covers = f"{low} – {high}"
            where = f" ({trace.facts[name].at})" if trace.facts[name].at else ""
            parts.append(
                f"{name} is {shown}{where}, outside what I know ({covers})"
                if lang == "en"
                else f"{name} 为 {shown}{where}，超出了我的知识范围（{covers}）"
            )
        return ("; " if lang == "en" else "；").join(parts)

    return in_both(words)
