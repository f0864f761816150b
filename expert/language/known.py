"""Which names have a value whenever conditions hold: what a message may print."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from expert.language.printing import describe
from expert.language.program import FactDecl
from expert.language.terms import (
    CellTerm,
    ChoiceTerm,
    FactTerm,
    FunctionTerm,
    LogicTerm,
    NotTerm,
    RowTerm,
    StatedTerm,
    Term,
    children,
)

Names = frozenset[str]
_NONE: Names = frozenset()


def known_when_true(term: Term) -> Names:
    """Facts, `plan.` facts and cells that are known whenever the condition is true."""
    return _settled(term, True)


def known_when_false(term: Term) -> Names:
    """The same for a condition that is false."""
    return _settled(term, False)


def _settled(term: Term, truth: bool) -> Names:
    match term:
        case NotTerm(operand=operand):
            return _settled(operand, not truth)
        case LogicTerm(operator=operator, operands=operands):
            sides = [_settled(operand, truth) for operand in operands]
            # A true `and` needs all of its parts true, a false one only one of them false; `or` is its mirror.
            return frozenset().union(*sides) if (operator == "and") == truth else _common(sides)
        case FunctionTerm(function="known", arguments=(argument,)):
            return known_if_known(argument) if truth else _NONE
        case FunctionTerm(function="missing", arguments=(argument,)):
            return _NONE if truth else known_if_known(argument)
        case _:
            return known_if_known(term)


def known_if_known(term: Term) -> Names:
    """What is known whenever the term has a value."""
    match term:
        case FactTerm(fact=fact):
            return frozenset({fact})
        case StatedTerm(fact=fact):
            return frozenset({f"plan.{fact}"})
        case CellTerm(row=row):
            return known_if_known(row) | {describe(term)}
        case FunctionTerm(function="coalesce", arguments=arguments):
            return _common([known_if_known(argument) for argument in arguments])
        case ChoiceTerm(then=then, condition=condition, other=other):
            return known_if_known(condition) | _common([known_if_known(then), known_if_known(other)])
        case LogicTerm(operands=operands):
            return _common([known_if_known(operand) for operand in operands])
        case FunctionTerm(function="known" | "missing"):
            return _NONE
        case _:
            return frozenset().union(*(known_if_known(child) for child in children(term)))


def _common(sides: list[Names]) -> Names:
    return frozenset.intersection(*sides) if sides else _NONE


def always_known(facts: Mapping[str, FactDecl]) -> Names:
    """Facts with an `else`, or with a default that holds in every case."""
    return frozenset(name for name, fact in facts.items() if fact.otherwise is not None or any(not case.when for case in fact.default))


def maybe_unknown(term: Term, known: Names) -> Iterable[str]:
    """Names in a term of a message that may have no value, in order."""
    match term:
        case FactTerm(fact=fact):
            return () if fact in known else (fact,)
        case StatedTerm(fact=fact):
            return () if f"plan.{fact}" in known else (f"plan.{fact}",)
        case CellTerm(row=RowTerm()):
            return ()
        case CellTerm(row=row) if describe(term) not in known:
            return maybe_unknown(row, known)
        case FunctionTerm(function="coalesce", arguments=arguments):
            return maybe_unknown(arguments[-1], known)
        case ChoiceTerm(then=then, condition=condition, other=other):
            inside = known | known_when_true(condition)
            return (*maybe_unknown(condition, known), *maybe_unknown(then, inside), *maybe_unknown(other, known))
        case FunctionTerm(function="known" | "missing") | CellTerm():
            return ()
        case _:
            return tuple(name for child in children(term) for name in maybe_unknown(child, known))
