"""Checked values, and what a value tells about the unknown words beside it."""

from __future__ import annotations

from dataclasses import dataclass

from expert.errors import Span
from expert.language.misfits import Wanted
from expert.language.nodes import Arithmetic, Call, IfElse, ListOf, Name, Negation, Number, Syntax, Word
from expert.language.scope import Resolved, Scope, Signature, is_family, resolve
from expert.language.terms import BOOL, NUMBER, WORD, ChoiceTerm, FactTerm, FunctionTerm, Term
from expert.language.unitcheck import Measured
from expert.units import PLAIN


@dataclass(frozen=True, slots=True)
class Value:
    """A checked value: `number` for numbers, `words` what a word can be (None: anything)."""

    term: Term
    kind: str
    number: Measured | None = None
    words: frozenset[str] | None = None
    table: str | None = None


def number_value(number: Measured) -> Value:
    """The value that a number is."""
    return Value(number.term, NUMBER, number)


def value_of(found: Resolved, scope: Scope) -> Value:
    """The value that a resolved name is."""
    signature = found.signature
    number = Measured(found.term, signature.unit or PLAIN) if signature.kind == NUMBER else None
    return Value(found.term, signature.kind, number, scope.allowed(signature), signature.table)


def alternatives(term: Term, values: list[Value]) -> Value:
    """The value of a term that is one of several words or yes-no values."""
    first = values[0]
    same_table = first.table if len({value.table for value in values}) == 1 else None
    return Value(retyped(term, first.kind, None), first.kind, words=_all_words(values), table=same_table)


def _all_words(values: list[Value]) -> frozenset[str] | None:
    words: frozenset[str] = frozenset()
    for value in values:
        if value.words is None:
            return None
        words |= value.words
    return words


def retyped(term: Term, kind: str, number: Measured | None) -> Term:
    """An `if` or `coalesce` term with the kind and unit of what it holds."""
    unit = number.unit if number is not None else None
    match term:
        case FunctionTerm(span=span, function=function, arguments=arguments):
            return FunctionTerm(span, kind, function, arguments, unit)
        case ChoiceTerm(span=span, then=then, condition=condition, other=other):
            return ChoiceTerm(span, kind, then, condition, other, unit)
        case _:
            raise TypeError(f"holds no alternatives: {term!r}")


def wanted_of(shown: str, signature: Signature, scope: Scope) -> Wanted:
    """What a fact of this signature makes of a word."""
    return Wanted(signature.kind, scope.allowed(signature), shown, signature.declared)


A_NUMBER = Wanted(NUMBER, None, "a number", None)
ANY_WORD = Wanted(WORD, None, "a word", None)
A_CONDITION = Wanted(BOOL, None, "a condition", None)


def expectation(syntax: Syntax, scope: Scope) -> Wanted | None:
    """What an operand tells about a word beside it, without checking it; None where it tells nothing."""
    match syntax:
        case Name():
            found = resolve(syntax, scope)
            if isinstance(found, Resolved):
                return wanted_of(syntax.dotted, found.signature, scope)
            # A misspelt fact is reported where it stands; nobody knows what it would make of its neighbours.
            return ANY_WORD if found is not None or is_family(syntax, scope) else None
        case Number() | Negation() | Arithmetic():
            return A_NUMBER
        case IfElse(then=then, other=other):
            return expectation(then, scope) or expectation(other, scope)
        case Call(name="coalesce", arguments=arguments):
            return first_expectation(arguments, scope)
        case Call(name=name):
            return A_CONDITION if name in ("known", "missing") else A_NUMBER
        case Word() | ListOf():
            return None
        case _:
            return A_CONDITION


def first_expectation(parts: tuple[Syntax, ...], scope: Scope) -> Wanted | None:
    """What the first telling one of several operands tells."""
    return next((wanted for part in parts if (wanted := expectation(part, scope)) is not None), None)


def holder_of(target: Signature, scope: Scope) -> Value:
    """A fact of a signature, as the other side of what is concluded into it."""
    nowhere = Span("", 0, 0, 0)
    return Value(FactTerm(nowhere, target.kind, ""), target.kind, words=scope.allowed(target), table=target.table)


def signed(syntax: Syntax) -> Syntax:
    """`-5` in a list is one literal."""
    if isinstance(syntax, Negation) and isinstance(syntax.operand, Number):
        inner = syntax.operand
        typical = None if inner.typical is None else -inner.typical
        return Number(syntax.span, -inner.high, typical, -inner.low, inner.unit, inner.unit_span)
    return syntax
