"""Which facts a match rests on: of `or`, `a if c else b` and `coalesce` only the parts that made it so.

This is what durable_rules shows by the messages it matched; the reference engine finds it here, so that both give the same reasons.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import cast

from expert.engine.evaluate import Env, TruthClosure, compile_truth
from expert.engine.values import fails, holds
from expert.language.program import Prefer, Program, Require, Rule, attached
from expert.language.terms import (
    BOOL,
    ChoiceTerm,
    CompareTerm,
    FunctionTerm,
    InTerm,
    LogicTerm,
    NotTerm,
    Term,
    facts_read,
)
from expert.records import dataclass

Support = Callable[[Env, bool], frozenset[str]]
"""Facts on which it rests that a condition has the given truth. Empty when it has not."""
_NONE: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class RuleSupport:
    """Facts that the plain conditions read, and what the others and the test rest on."""

    fixed: frozenset[str]
    open: tuple[Support, ...]
    test: Support | None


def support_of(rule: Rule, program: Program) -> RuleSupport:
    """What the conditions of a rule rest on, compiled at the first call."""
    known: dict[str, RuleSupport] = attached(program, "support", dict)
    found = known.get(rule.id)
    if found is None:
        found = known[rule.id] = _rule_support(rule, program)
    return found


def facts_behind(support: RuleSupport, env: Env, verdict: bool | None = None, value: frozenset[str] = _NONE) -> tuple[str, ...]:
    """The facts of a match, sorted: its conditions hold in `env`, its test has this verdict, its value reads these facts."""
    found = support.fixed.union(value, *(part(env, True) for part in support.open))
    if support.test is not None and verdict is not None:
        found |= support.test(env, verdict)
    return tuple(sorted(found))


def _rule_support(rule: Rule, program: Program) -> RuleSupport:
    plain = [condition.term for condition in rule.when if _plain(condition.term)]
    others = [condition.term for condition in rule.when if not _plain(condition.term)]
    test = rule.effect.test.term if isinstance(rule.effect, Require | Prefer) else None
    return RuleSupport(
        frozenset().union(*map(facts_read, plain)),
        tuple(_support(term, program) for term in others),
        None if test is None else _support(test, program),
    )


def _plain(term: Term) -> bool:
    """True for a condition that has no cases: whatever its truth, it rests on all that it reads."""
    match term:
        case NotTerm(operand=operand):
            return _plain(operand)
        case CompareTerm(left=left, right=right):
            return not (_spreads(left) or _spreads(right)) and (left.kind != BOOL or (_plain(left) and _plain(right)))
        case InTerm(member=member):
            return not _spreads(member)
        case LogicTerm():
            return False
        case _:
            return not _spreads(term)


def _spreads(term: Term) -> bool:
    return isinstance(term, ChoiceTerm) or (isinstance(term, FunctionTerm) and term.function == "coalesce")


def _support(term: Term, program: Program) -> Support:
    if _plain(term):
        reads = facts_read(term)
        return lambda env, wanted: reads
    match term:
        case NotTerm(operand=operand):
            inner = _support(operand, program)
            return lambda env, wanted: inner(env, not wanted)
        case LogicTerm():
            return _logic(term, program)
        case CompareTerm(left=left) if _spreads(left):
            return _spread(left, lambda part: replace(term, left=part), program)
        case CompareTerm(right=right) if _spreads(right):
            return _spread(right, lambda part: replace(term, right=part), program)
        case CompareTerm(left=left, right=right):
            return _both([_case(left, program), _case(right, program)])
        case InTerm(member=member):
            return _spread(member, lambda part: replace(term, member=part), program)
        case _:
            return _spread(term, lambda part: part, program)


@dataclass(frozen=True, slots=True)
class _Case:
    """A condition with its truth and support."""

    truth: TruthClosure
    support: Support

    def when(self, env: Env, wanted: bool) -> frozenset[str] | None:
        """What it rests on that the condition is `wanted`; None when it is not."""
        truth = self.truth(env)
        return self.support(env, wanted) if (holds(truth) if wanted else fails(truth)) else None


def _case(term: Term, program: Program) -> _Case:
    return _Case(compile_truth(term, program, exact=True), _support(term, program))


def _both(cases: Sequence[_Case]) -> Support:
    """Two truths compared: it rests on both."""

    def found(env: Env, wanted: bool) -> frozenset[str]:
        return frozenset().union(*(case.support(env, holds(case.truth(env))) for case in cases))

    return found


def _logic(term: LogicTerm, program: Program) -> Support:
    cases = [_case(operand, program) for operand in term.operands]

    def found(env: Env, wanted: bool) -> frozenset[str]:
        # All parts of a true `and` or a false `or`; else every part that alone decides it.
        return frozenset().union(*(case.when(env, wanted) or _NONE for case in cases))

    return found


def _spread(term: Term, rebuild: Callable[[Term], Term], program: Program) -> Support:
    if isinstance(term, ChoiceTerm):
        condition, first, other = term.condition, term.then, term.other
    else:
        first, *rest = cast(FunctionTerm, term).arguments
        if not rest:
            return _support(rebuild(first), program)
        condition = FunctionTerm(first.span, BOOL, "known", (first,))
        other = rest[0] if len(rest) == 1 else replace(cast(FunctionTerm, term), arguments=tuple(rest))
    chosen = _case(condition, program)
    branches = ((True, _case(rebuild(first), program)), (False, _case(rebuild(other), program)))

    def found(env: Env, wanted: bool) -> frozenset[str]:
        for side, branch in branches:
            because, value = chosen.when(env, side), branch.when(env, wanted)
            if because is not None and value is not None:
                return because | value
        return _NONE

    return found
