"""Arithmetic and functions over checked numbers: the unit of the result, or a report that there is none."""

from __future__ import annotations

from collections.abc import Callable

from expert.errors import Diagnostic, Span, Text
from expert.language import misfits
from expert.language.nodes import Arithmetic, Call, Syntax
from expert.language.terms import NUMBER, ArithmeticTerm, FunctionTerm, Literal, Term
from expert.language.unitcheck import CHOSEN, Measured, merged, product, raised, reconcile, rooted, summands
from expert.units import PLAIN

Report = Callable[[Diagnostic], None]


def negated(term_span: Span, inner: Measured) -> Measured:
    """The measure of `-x`."""
    return like(ArithmeticTerm(term_span, NUMBER, "neg", (inner.term,), inner.unit), inner)


def combined(syntax: Arithmetic, left: Measured, right: Measured, report: Report) -> Measured | None:
    """The measure of a binary operation, or None when its operands do not go together (reported)."""
    term = ArithmeticTerm(syntax.span, NUMBER, syntax.operator, (left.term, right.term))
    if syntax.operator in ("+", "-"):
        sides = summands(left, right, syntax.operator_span, report)
        if sides is None:
            return None
        total = merged(term, sides, computed=True)
        whole = ArithmeticTerm(syntax.span, NUMBER, syntax.operator, (sides[0].term, sides[1].term), total.unit)
        return like(whole, total)
    if syntax.operator == "**":
        return _power(term, left, right, syntax.right, report)
    if syntax.operator != "*" and isinstance(right.term, Literal) and right.term.low <= 0 <= right.term.high:
        report(Diagnostic("division-by-zero", Text("this divides by zero", "除数为零"), syntax.right.span))
        return None
    found = product(term, left, right)
    if syntax.operator == "//" and (found.unit.dims or found.unit.percent):
        report(misfits.needs_count(syntax.operator_span, "//", found))
        return None
    return found


def _power(term: ArithmeticTerm, base: Measured, exponent: Measured, syntax: Syntax, report: Report) -> Measured | None:
    if exponent.unit != PLAIN:
        report(misfits.bad_exponent(syntax.span, base))
        return None
    if base.bare and exponent.bare:
        return Measured(ArithmeticTerm(term.span, NUMBER, "**", term.arguments, PLAIN), bare=True, computed=True)
    if not base.unit.dims:
        return Measured(ArithmeticTerm(term.span, NUMBER, "**", term.arguments, PLAIN), free=True, computed=True)
    whole = _whole(exponent.term)
    if whole is None:
        report(misfits.bad_exponent(syntax.span, base))
        return None
    return raised(term, base, whole)


def applied(syntax: Call, arguments: tuple[Measured, ...], report: Report) -> Measured | None:
    """The measure of a numeric function's result, or None when it does not fit its arguments (reported)."""
    if syntax.name in ("min", "max"):
        sides = reconciled(arguments, [argument.span for argument in syntax.arguments], report)
        if sides is None:
            return None
        best = merged(FunctionTerm(syntax.span, NUMBER, syntax.name, ()), sides, computed=False)
        return like(FunctionTerm(syntax.span, NUMBER, syntax.name, tuple(side.term for side in sides), best.unit), best)
    (inner,) = arguments
    term = FunctionTerm(syntax.span, NUMBER, syntax.name, (inner.term,), inner.unit)
    if syntax.name in ("low", "high"):
        return like(term, inner)
    if syntax.name == "sqrt":
        root = rooted(term, inner)
        if root is None:
            report(misfits.odd_root(syntax.name_span, inner))
        return root
    if inner.unit.dims or inner.unit.percent:
        report(misfits.needs_count(syntax.name_span, syntax.name, inner))
        return None
    if syntax.name == "log2":
        plain = FunctionTerm(syntax.span, NUMBER, "log2", (inner.term,), PLAIN)
        return Measured(plain, free=not inner.bare, bare=inner.bare, computed=True)
    return Measured(term, inner.unit, inner.bare, inner.free, computed=True)


def reconciled(sides: tuple[Measured, ...], spans: list[Span], report: Report) -> tuple[Measured, ...] | None:
    """All sides in one unit: each is reconciled with the first that has one."""
    anchors = [side for side in sides if not side.bare and not side.free] or [side for side in sides if not side.bare]
    if not anchors:
        return sides
    results = [
        side if side is anchors[0] else (pair[0] if (pair := reconcile(side, anchors[0], CHOSEN, span, report)) else None)
        for side, span in zip(sides, spans, strict=True)
    ]
    kept = tuple(side for side in results if side is not None)
    return kept if len(kept) == len(sides) else None


def like(term: Term, other: Measured) -> Measured:
    """A term that is measured as another one."""
    return Measured(term, other.unit, other.bare, other.free, other.computed)


def _whole(term: Term) -> int | None:
    if isinstance(term, ArithmeticTerm) and term.operator == "neg":
        inner = _whole(term.arguments[0])
        return None if inner is None else -inner
    if isinstance(term, Literal) and term.low == term.high and term.low == int(term.low):
        return int(term.low)
    return None
