"""Names, kinds and units of an expression: `nodes` become `terms`, and every mistake that stands alone is reported.

A value that could not be checked is None; whatever holds it stays silent, so one mistake gives one message.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from expert.errors import Diagnostic, Span
from expert.language import misfits
from expert.language.arithmetic import applied, combined, like, negated, reconciled
from expert.language.lexer import no_line
from expert.language.misfits import Wanted
from expert.language.nodes import (
    Arithmetic,
    Boolean,
    Call,
    Comparison,
    IfElse,
    ListOf,
    Logic,
    Membership,
    Name,
    Negation,
    Not,
    Number,
    Syntax,
    Word,
)
from expert.language.printing import describe, number_text, word_text
from expert.language.scope import Scope, Signature, is_family, resolve
from expert.language.terms import (
    BOOL,
    LIST,
    NUMBER,
    TEXT,
    WORD,
    ChoiceTerm,
    CompareTerm,
    FactTerm,
    FunctionTerm,
    InTerm,
    Literal,
    LogicTerm,
    NotTerm,
    Term,
)
from expert.language.unitcheck import (
    COMPARED,
    CONCLUDED,
    Measured,
    finite,
    in_unit,
    merged,
    reconcile,
)
from expert.language.wanted import (
    Value,
    alternatives,
    expectation,
    first_expectation,
    holder_of,
    number_value,
    retyped,
    signed,
    value_of,
    wanted_of,
)
from expert.units import PLAIN, UnitError

Report = Callable[[Diagnostic], None]
LineOf = Callable[[int], str]


def check_condition(syntax: Syntax, scope: Scope, report: Report, line_of: LineOf = no_line) -> Term | None:
    """The checked term of a condition or test, of kind BOOL; None when something was reported."""
    return _Checker(scope, report, line_of).condition(syntax)


def check_value(syntax: Syntax, scope: Scope, target: Signature, report: Report, line_of: LineOf = no_line, name: str = "") -> Term | None:
    """The checked term of a value concluded into, or compared with, a fact of the signature `target`.

    `name` is the fact's name, for messages. Into a list fact goes a word (one member) or a list, whose literal
    is read with `members_of`.
    """
    return _Checker(scope, report, line_of).into(syntax, target, name)


def check_shown(syntax: Syntax, scope: Scope, report: Report, line_of: LineOf = no_line) -> Term | None:
    """The checked term of an expression that a message prints; any kind will do."""
    found = _Checker(scope, report, line_of).value(syntax, None, anything=True)
    return None if found is None else found.term


class _Checker:
    """One expression being checked."""

    def __init__(self, scope: Scope, report: Report, line_of: LineOf) -> None:
        self.scope, self._report, self._line_of = scope, report, line_of

    def report(self, found: Diagnostic) -> None:
        line = self._line_of(found.span.line) if found.span is not None else ""
        self._report(Diagnostic(found.code, found.message, found.span, found.help, line, found.severity))

    # Conditions

    def condition(self, syntax: Syntax) -> Term | None:
        """A term of kind BOOL."""
        found = self.value(syntax, None)
        if found is None:
            return None
        if found.kind != BOOL:
            self.report(misfits.not_a_condition(syntax.span, found.term, found.kind, found.words))
            return None
        return found.term

    def into(self, syntax: Syntax, target: Signature, name: str) -> Term | None:
        """A term that fits a fact's signature."""
        if target.kind == TEXT and isinstance(syntax, Word):
            return Literal(syntax.span, TEXT, word_text(syntax.text), word=syntax.text)
        wanted = wanted_of(name or "this fact", target, self.scope)
        if target.kind == LIST and isinstance(syntax, ListOf):
            return self._list_literal(syntax, wanted)
        found = self.value(syntax, wanted, anything=target.kind in (LIST, TEXT))
        if found is None:
            return None
        if found.kind != target.kind and (found.kind, target.kind) != (WORD, LIST):
            self.report(misfits.wrong_kind(syntax.span, found.term, found.kind, name or "this fact", target.kind))
            return None
        if found.number is not None:
            return self._number_into(found.number, target, name, syntax.span)
        return found.term if self._words_fit(found, holder_of(target, self.scope), wanted.shown, syntax.span) else None

    def _number_into(self, number: Measured, target: Signature, name: str, span: Span) -> Term | None:
        holder = Measured(FactTerm(span, NUMBER, name or "this fact", target.unit), target.unit or PLAIN)
        fitted = reconcile(number, holder, CONCLUDED, span, self.report)
        return None if fitted is None else fitted[0].term

    def _list_literal(self, syntax: ListOf, wanted: Wanted) -> Term | None:
        found = [self.value(member, wanted) for member in syntax.members]
        terms = [value.term for value in found if value is not None and isinstance(value.term, Literal) and value.kind == WORD]
        for member, value in zip(syntax.members, found, strict=True):
            if value is not None and value.term not in terms:
                self.report(misfits.no_member(member.span, describe(value.term)))
        if len(terms) < len(found):
            return None
        return Literal(syntax.span, LIST, f"[{', '.join(term.text for term in terms)}]", word="\n".join(term.word for term in terms))

    # Values of any kind

    def value(self, syntax: Syntax, wanted: Wanted | None, anything: bool = False) -> Value | None:
        """A checked value. `wanted` tells what an unknown word would mean; `anything` lets texts and lists through."""
        match syntax:
            case Number():
                return self._number(syntax, wanted)
            case Boolean():
                return Value(Literal(syntax.span, BOOL, "true" if syntax.value else "false", flag=syntax.value), BOOL)
            case Word():
                return self._word(syntax.span, syntax.text, word_text(syntax.text), wanted)
            case Name():
                return self._name(syntax, wanted, anything)
            case ListOf():
                self.report(misfits.list_outside_in(syntax.span))
                return None
            case Negation() | Arithmetic() | Call():
                return self._computed(syntax, wanted, anything)
            case IfElse():
                return self._if_else(syntax, wanted, anything)
            case _:
                return self._truth(syntax)

    def _number(self, syntax: Number, wanted: Wanted | None) -> Value | None:
        ends = (syntax.low, syntax.high) if syntax.typical is None else (syntax.low, syntax.typical, syntax.high)
        shown = (syntax.low,) if syntax.low == syntax.high and syntax.typical is not None else ends
        literal = Literal(syntax.span, NUMBER, number_text(shown, syntax.unit), syntax.low, syntax.typical, syntax.high, unit=PLAIN)
        if syntax.unit is None:
            return number_value(Measured(literal, bare=True))
        try:
            unit = self.scope.units.parse(syntax.unit)
        except UnitError as problem:
            self.report(misfits.unknown_unit(syntax, problem, wanted, self.scope))
            return None
        measured = finite(in_unit(literal, unit), self.report)
        return None if measured is None else number_value(Measured(measured, unit))

    def _name(self, syntax: Name, wanted: Wanted | None, anything: bool) -> Value | None:
        found = resolve(syntax, self.scope)
        if isinstance(found, Diagnostic):
            self.report(found)
            return None
        if found is None:
            return self._loose_name(syntax, wanted)
        if found.signature.kind in (TEXT, LIST) and not anything:
            self.report(misfits.text_or_list(syntax, found.signature.kind))
            return None
        return value_of(found, self.scope)

    def _loose_name(self, syntax: Name, wanted: Wanted | None) -> Value | None:
        # A column that holds any word would swallow a misspelt fact.
        if wanted is not None and wanted.takes(syntax.dotted) and (wanted.words is not None or not is_family(syntax, self.scope)):
            return self._word(syntax.span, syntax.dotted, syntax.dotted, wanted)
        self.report(misfits.unknown_word(syntax, wanted, self.scope))
        return None

    def _word(self, span: Span, word: str, text: str, wanted: Wanted | None) -> Value | None:
        if wanted is not None and not wanted.takes(word):
            self.report(misfits.misplaced_word(span, word, wanted))
            return None
        return Value(Literal(span, WORD, text, word=word), WORD, words=frozenset({word}))

    # Truth

    def _truth(self, syntax: Syntax) -> Value | None:
        match syntax:
            case Not(operand=operand):
                inner = self.condition(operand)
                term: Term | None = None if inner is None else NotTerm(syntax.span, BOOL, inner)
            case Logic():
                term = self._logic(syntax)
            case Comparison():
                term = self._comparison(syntax)
            case Membership():
                term = self._membership(syntax)
            case _:
                raise TypeError(f"no condition: {syntax!r}")
        return None if term is None else Value(term, BOOL)

    def _logic(self, syntax: Logic) -> Term | None:
        stray = misfits.stray_words(syntax, self.scope)
        if stray is not None:
            self.report(stray.diagnostic)
        operands = [self.condition(operand) for operand in syntax.operands if stray is None or operand not in stray.words]
        kept = tuple(operand for operand in operands if operand is not None)
        return LogicTerm(syntax.span, BOOL, syntax.operator, kept) if len(kept) == len(syntax.operands) else None

    def _comparison(self, syntax: Comparison) -> Term | None:
        kinds = [expectation(operand, self.scope) for operand in syntax.operands]
        values: list[Value | None] = []
        for place, operand in enumerate(syntax.operands):
            beside = [kinds[near] for near in (place - 1, place + 1) if 0 <= near < len(kinds)]
            values.append(self.value(operand, next((kind for kind in beside if kind is not None), None)))
        terms = [
            None if left is None or right is None else self._compare(syntax, place, left, right)
            for place, (left, right) in enumerate(pairwise(values))
        ]
        kept = tuple(term for term in terms if term is not None)
        if len(kept) < len(terms):
            return None
        return kept[0] if len(kept) == 1 else LogicTerm(syntax.span, BOOL, "and", kept)

    def _compare(self, syntax: Comparison, place: int, left: Value, right: Value) -> Term | None:
        operator, sign = syntax.operators[place], syntax.operator_spans[place]
        span = syntax.span if len(syntax.operators) == 1 else sign
        if left.kind != right.kind:
            self.report(misfits.different_kinds(sign, left.term, left.kind, right.term, right.kind))
            return None
        if left.number is not None and right.number is not None:
            sides = reconcile(left.number, right.number, COMPARED, sign, self.report)
            return None if sides is None else CompareTerm(span, BOOL, operator, sides[0].term, sides[1].term)
        if operator not in ("==", "!="):
            self.report(misfits.no_order(sign, operator, left.kind))
            return None
        if not self._words_fit(left, right, describe(right.term), sign):
            return None
        return CompareTerm(span, BOOL, operator, left.term, right.term)

    def _words_fit(self, left: Value, right: Value, shown: str, span: Span) -> bool:
        if left.words is None or right.words is None or left.words & right.words or (left.table and left.table == right.table):
            return True
        self.report(misfits.never_equal(span, left.term, shown))
        return False

    def _membership(self, syntax: Membership) -> Term | None:
        if isinstance(syntax.group, ListOf):
            return self._in_list(syntax, syntax.group)
        group = self.value(syntax.group, None, anything=True)
        if group is not None and group.kind != LIST:
            self.report(misfits.not_a_list(syntax.group.span, group.term))
        if group is None or group.kind != LIST:
            return None
        wanted = Wanted(WORD, group.words, describe(group.term), None)
        member = self.value(syntax.member, wanted)
        if member is not None and member.kind != WORD:
            self.report(misfits.wrong_kind(syntax.member.span, member.term, member.kind, describe(group.term), LIST))
            return None
        if member is None or not self._words_fit(member, group, wanted.shown, syntax.span):
            return None
        return InTerm(syntax.span, BOOL, member.term, (), group.term)

    def _in_list(self, syntax: Membership, group: ListOf) -> Term | None:
        if not group.members:
            self.report(misfits.empty_list(group.span))
            return None
        member = self.value(syntax.member, first_expectation(group.members, self.scope))
        wanted = expectation(syntax.member, self.scope)
        literals = [self._list_member(part, member, wanted) for part in group.members]
        kept = tuple(literal for literal in literals if literal is not None)
        if member is None or len(kept) < len(literals):
            return None
        if member.kind == BOOL:
            self.report(misfits.wrong_kind(syntax.member.span, member.term, BOOL, "the list", LIST))
            return None
        return InTerm(syntax.span, BOOL, member.term, kept)

    def _list_member(self, syntax: Syntax, member: Value | None, wanted: Wanted | None) -> Literal | None:
        value = self.value(signed(syntax), wanted)
        if value is None:
            return None
        if not isinstance(value.term, Literal) or value.kind == BOOL or value.term.low != value.term.high:
            self.report(misfits.no_member(syntax.span, describe(value.term)))
            return None
        if member is None:
            return value.term
        if member.kind != value.kind:
            self.report(misfits.different_kinds(syntax.span, member.term, member.kind, value.term, value.kind))
            return None
        if member.number is None or value.number is None:
            return value.term
        sides = reconcile(member.number, value.number, COMPARED, syntax.span, self.report)
        return sides[1].term if sides is not None and isinstance(sides[1].term, Literal) else None

    # Arithmetic and functions

    def _numeric(self, syntax: Syntax, act: str) -> Measured | None:
        found = self.value(syntax, Wanted(NUMBER, None, f"an operand of {act}", None))
        if found is None:
            return None
        if found.number is None:
            self.report(misfits.needs_number(syntax.span, found.term, found.kind, act))
        return found.number

    def _computed(self, syntax: Negation | Arithmetic | Call, wanted: Wanted | None, anything: bool) -> Value | None:
        if isinstance(syntax, Call) and syntax.name in ("known", "missing"):
            return self._presence(syntax)
        if isinstance(syntax, Call) and syntax.name == "coalesce":
            return self._one_of(syntax.arguments, wanted, anything, lambda terms: FunctionTerm(syntax.span, NUMBER, "coalesce", terms))
        number = self._measured(syntax)
        return None if number is None else number_value(number)

    def _measured(self, syntax: Negation | Arithmetic | Call) -> Measured | None:
        if isinstance(syntax, Negation):
            inner = self._numeric(syntax.operand, "-")
            return None if inner is None else negated(syntax.span, inner)
        if isinstance(syntax, Arithmetic):
            left, right = self._numeric(syntax.left, syntax.operator), self._numeric(syntax.right, syntax.operator)
            return None if left is None or right is None else combined(syntax, left, right, self.report)
        arguments = [self._numeric(argument, syntax.name) for argument in syntax.arguments]
        kept = tuple(argument for argument in arguments if argument is not None)
        return applied(syntax, kept, self.report) if len(kept) == len(arguments) else None

    def _presence(self, syntax: Call) -> Value | None:
        (argument,) = syntax.arguments
        found = self.value(argument, None, anything=True)
        if found is None:
            return None
        if syntax.name == "missing" and not isinstance(found.term, FactTerm):
            self.report(misfits.missing_of(argument.span, found.term))
            return None
        return Value(FunctionTerm(syntax.span, BOOL, syntax.name, (found.term,)), BOOL)

    def _if_else(self, syntax: IfElse, wanted: Wanted | None, anything: bool) -> Value | None:
        condition = self.condition(syntax.condition)
        branches = (syntax.then, syntax.other)

        def build(terms: tuple[Term, ...]) -> Term:
            then, other = terms
            return ChoiceTerm(syntax.span, NUMBER, then, condition or then, other)

        found = self._one_of(branches, wanted, anything, build)
        return None if condition is None else found

    def _one_of(
        self, parts: tuple[Syntax, ...], wanted: Wanted | None, anything: bool, build: Callable[[tuple[Term, ...]], Term]
    ) -> Value | None:
        """The value that is one of several parts (`if`, `coalesce`): one kind, one unit, the words of all."""
        hint = wanted or first_expectation(parts, self.scope)
        values = [self.value(part, hint, anything) for part in parts]
        kept = [value for value in values if value is not None]
        if len(kept) < len(values):
            return None
        for part, value in zip(parts[1:], kept[1:], strict=True):
            if value.kind != kept[0].kind:
                self.report(misfits.different_kinds(part.span, kept[0].term, kept[0].kind, value.term, value.kind))
                return None
        numbers = tuple(value.number for value in kept if value.number is not None)
        if numbers:
            sides = reconciled(numbers, [part.span for part in parts], self.report)
            if sides is None:
                return None
            total = merged(kept[0].term, sides, computed=False)
            return number_value(like(retyped(build(tuple(side.term for side in sides)), NUMBER, total), total))
        return alternatives(build(tuple(value.term for value in kept)), kept)
