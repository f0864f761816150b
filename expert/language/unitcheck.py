"""Units of numbers in expressions: what may be compared and added, and the unit of what is computed.

Counting units and per-parts bind in comparisons and sums and are plain in products and quotients. A bare number takes
the unit of the fact that it meets.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from expert.errors import Diagnostic, Span, Text
from expert.language.printing import describe, number_text
from expert.language.terms import NUMBER, ArithmeticTerm, ChoiceTerm, FunctionTerm, Literal, Term
from expert.physical import Dims
from expert.units import PLAIN, Unit

Report = Callable[[Diagnostic], None]


@dataclass(frozen=True, slots=True)
class Measured:
    """A number term with what its unit means here.

    bare: written digits only, so it takes the unit of what it meets. free: counting unit and per-part are open
    (a product or quotient). computed: the result of arithmetic, whose unit the reader does not see.
    """

    term: Term
    unit: Unit = PLAIN
    bare: bool = False
    free: bool = False
    computed: bool = False

    @property
    def text(self) -> str:
        """The term as written."""
        return describe(self.term)


_SYMBOLS = {"byte": "B", "second": "s", "flop": "FLOP", "watt": "W", "metre": "m", "kilogram": "kg", "money": "money"}


def base_unit(dims: Dims) -> Unit:
    """The unit of a computed value: base units, without counting units."""
    if dims == (("flop", 1), ("second", -1)):
        return Unit("FLOPS", dims)
    above = "*".join(_powered(name, power) for name, power in dims if power > 0)
    below = "".join(f"/{_powered(name, -power)}" for name, power in dims if power < 0)
    return Unit(f"{above or '1'}{below}", dims) if dims else PLAIN


def _powered(name: str, power: int) -> str:
    symbol = _SYMBOLS.get(name, name)
    return symbol if power == 1 else f"{symbol}^{power}"


def _measured_in(unit: Unit) -> Text:
    return Text(f"in {unit.text}", f"的单位是 {unit.text}") if unit.text else Text("a plain number", "是纯数字")


def _clash(code: str, span: Span, left: Measured, right: Measured, act: Text, report: Report) -> None:
    a, b = _measured_in(left.unit), _measured_in(right.unit)
    message = Text(
        f"'{left.text}' is {a.en} and '{right.text}' is {b.en}: {act.en}",
        f"“{left.text}”{a.zh}，“{right.text}”{b.zh}，{act.zh}",
    )
    report(Diagnostic(code, message, span))


COMPARED = Text("they cannot be compared", "不能比较")
COMBINED = Text("they cannot be added or subtracted", "不能相加减")
CHOSEN = Text("one cannot stand for the other", "不能互相替代")
CONCLUDED = Text("the one does not fit the other", "二者不相容")


def reconcile(left: Measured, right: Measured, act: Text, span: Span, report: Report) -> tuple[Measured, Measured] | None:
    """Both sides with bare numbers in the other's unit, or None when they do not go together (and that was reported)."""
    if left.bare and not right.bare:
        adopted = adopt(left, right, report)
        return None if adopted is None else (adopted, right)
    if right.bare and not left.bare:
        adopted = adopt(right, left, report)
        return None if adopted is None else (left, adopted)
    if left.unit.dims != right.unit.dims:
        _clash("unit-mismatch", span, left, right, act, report)
        return None
    if left.free or right.free:
        return left, right
    if left.unit.count != right.unit.count:
        _clash("counting-unit-mismatch", span, left, right, act, report)
        return None
    if left.unit.per != right.unit.per:
        _clash("per-part-mismatch", span, left, right, act, report)
        return None
    return left, right


def merged(term: Term, sides: tuple[Measured, ...], computed: bool) -> Measured:
    """The measure of a term that holds one of, or the sum of, reconciled sides."""
    if all(side.bare for side in sides):
        return Measured(term, PLAIN, bare=True)
    definite = [side for side in sides if not side.bare]
    first = next((side for side in definite if not side.free), definite[0])
    percent = next((side for side in definite if side.unit.percent), first)
    unit = percent.unit if not first.unit.dims and first.unit.count is None else first.unit
    mixed = any((side.unit.mul, side.unit.div) != (unit.mul, unit.div) for side in definite)
    return Measured(term, unit, free=first.free, computed=computed or mixed or any(side.computed for side in definite))


def adopt(number: Measured, other: Measured, report: Report) -> Measured | None:
    """A bare number in the unit of `other`, or None when that would be a guess (reported).

    Errors reported: "fraction-of-percent", "bare-number".
    """
    unit = other.unit
    if not _zero(number.term) and other.computed and (unit.dims or (unit.mul, unit.div) != (1, 1)):
        _ask_unit(number, other, report)
        return None
    term = _rescaled(number.term, other, report)
    return None if term is None else Measured(term, unit, free=other.free, computed=number.computed)


def summands(left: Measured, right: Measured, span: Span, report: Report) -> tuple[Measured, Measured] | None:
    """Both sides of a sum, reconciled. Beside a percentage, a bare 1 is the whole (`1 - loss`) and other bare numbers are refused."""
    for number, other in ((left, right), (right, left)):
        if number.bare and not other.bare and other.unit.percent and not _zero(number.term):
            if not (isinstance(number.term, Literal) and number.term.low == number.term.high == 1):
                _ask_unit(number, other, report)
                return None
            whole = Measured(in_unit(number.term, PLAIN), PLAIN, free=True)
            return (whole, other) if number is left else (other, whole)
    return reconcile(left, right, COMBINED, span, report)


def _zero(term: Term) -> bool:
    return isinstance(term, Literal) and term.low == term.high == 0


def _ask_unit(number: Measured, other: Measured, report: Report) -> None:
    unit = "%" if other.unit.percent else other.unit.text
    word = "a computed percentage" if other.computed else "a percentage"
    what = Text(word, "是计算得到的百分比") if other.unit.percent else Text(f"in {unit}", f"以 {unit} 为单位")
    example = f"{number.text if isinstance(number.term, Literal) else 5} {unit}"
    if other.unit.percent and isinstance(number.term, Literal) and 0 < abs(number.term.high) <= 1:
        example = f"{_hundredfold(number.term)} % or {example}"
    message = Text(f"'{other.text}' is {what.en}, so this number needs its unit", f"“{other.text}”{what.zh}，此数字必须写明单位")
    report(Diagnostic("bare-number", message, number.term.span, Text(f"write {example}", f"请写 {example}")))


def _rescaled(term: Term, other: Measured, report: Report) -> Term | None:
    unit = other.unit
    match term:
        case Literal():
            return _rescaled_literal(term, other, report)
        case ArithmeticTerm(operator="neg") | FunctionTerm(function="min" | "max" | "coalesce" | "low" | "high"):
            parts = [_rescaled(argument, other, report) for argument in term.arguments]
            kept = tuple(part for part in parts if part is not None)
            return replace(term, arguments=kept, unit=unit) if len(kept) == len(parts) else None
        case ChoiceTerm():
            then, last = _rescaled(term.then, other, report), _rescaled(term.other, other, report)
            return None if then is None or last is None else replace(term, then=then, other=last, unit=unit)
        case _:
            return _rescaled_result(term, other, report)


def _rescaled_literal(literal: Literal, other: Measured, report: Report) -> Term | None:
    if other.unit.percent and 0 < abs(literal.high) < 1:
        hundred = _hundredfold(literal)
        message = Text(
            f"'{other.text}' is a percentage, so {literal.text} can be read in two ways",
            f"“{other.text}”是百分比，{literal.text} 有歧义",
        )
        help = Text(f"write {hundred} % or {literal.text} %", f"请写 {hundred} % 或 {literal.text} %")
        report(Diagnostic("fraction-of-percent", message, literal.span, help))
        return None
    return finite(in_unit(literal, other.unit), report)


def finite(literal: Literal, report: Report) -> Literal | None:
    """The literal, unless it is too large in base units (reported)."""
    if math.isfinite(literal.low) and math.isfinite(literal.high):
        return literal
    report(Diagnostic("number-too-large", Text("this number is too large", "数值过大"), literal.span))
    return None


def in_unit(literal: Literal, unit: Unit) -> Literal:
    """A literal whose digits count `unit`s, in base units."""
    typical = None if literal.typical is None else unit.to_base(literal.typical)
    return replace(literal, low=unit.to_base(literal.low), typical=typical, high=unit.to_base(literal.high), unit=unit)


def _hundredfold(literal: Literal) -> str:
    return number_text(tuple(round(value * 100, 9) for value in _ends(literal)))


def _ends(literal: Literal) -> tuple[float, ...]:
    if literal.low == literal.high:
        return (literal.low,)
    return (literal.low, literal.high) if literal.typical is None else (literal.low, literal.typical, literal.high)


def _rescaled_result(term: Term, other: Measured, report: Report) -> Term | None:
    """A computed bare number: the unit is multiplied on, which prints and evaluates as `2 * 40 * 1 GiB`."""
    unit = other.unit
    if unit.percent:
        _ask_unit(Measured(term), other, report)
        return None
    if (unit.mul, unit.div) == (1, 1):
        return replace(term, unit=unit) if isinstance(term, ArithmeticTerm | FunctionTerm) else term
    one = in_unit(Literal(term.span, NUMBER, f"1 {unit.text}", 1.0, 1.0, 1.0), unit)
    return ArithmeticTerm(term.span, NUMBER, "*", (term, one), unit)


def product(term: ArithmeticTerm, left: Measured, right: Measured) -> Measured:
    """The measure of `left * right` or, by the term's operator, `left / right`."""
    if left.bare and right.bare:
        return Measured(replace(term, unit=PLAIN), bare=True, computed=True)
    divides = term.operator != "*"
    dims = _multiplied(left.unit.dims, right.unit.dims, -1 if divides else 1)
    unit = _product_unit(left, right, dims, divides)
    return Measured(replace(term, unit=unit), unit, free=True, computed=True)


def _product_unit(left: Measured, right: Measured, dims: Dims, divides: bool) -> Unit:
    if right.bare or (left.bare and not divides):
        return left.unit if right.bare else right.unit
    if left.unit.percent and not divides and right.unit.percent:
        return left.unit
    pairs = [(left.unit, right.unit)] if divides else [(left.unit, right.unit), (right.unit, left.unit)]
    for kept, factor in pairs:
        keeps = kept.dims or (kept.percent and factor.count is None and not factor.percent)
        if keeps and not factor.dims and kept.count is None and not kept.per:
            return kept
    return base_unit(dims)


def _multiplied(left: Dims, right: Dims, power: int) -> Dims:
    total = dict(left)
    for name, exponent in right:
        total[name] = total.get(name, 0) + power * exponent
    return tuple(sorted((name, exponent) for name, exponent in total.items() if exponent))


def raised(term: ArithmeticTerm, base: Measured, exponent: int) -> Measured:
    """The measure of a dimensioned base to a whole power."""
    unit = base_unit(tuple((name, power * exponent) for name, power in base.unit.dims if exponent))
    return Measured(replace(term, unit=unit), unit, free=True, computed=True)


def rooted(term: FunctionTerm, base: Measured) -> Measured | None:
    """The measure of a square root, or None where a dimension has an odd power."""
    if base.bare:
        return Measured(replace(term, unit=PLAIN), bare=True, computed=True)
    if any(power % 2 for _, power in base.unit.dims):
        return None
    unit = base_unit(tuple((name, power // 2) for name, power in base.unit.dims))
    return Measured(replace(term, unit=unit), unit, free=True, computed=True)
