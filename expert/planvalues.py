"""One value of a plan file read by its declared type: numbers with units, choices, lists, money.

Every function returns a value or raises `Misread`, which carries the one mistake that the value has.
"""

from __future__ import annotations

from collections.abc import Iterable

from expert.errors import NO_TEXT, Span, Text, nearest
from expert.facts import Amount, Value
from expert.language.program import FactDecl, Program
from expert.quantities import Quantity, format_number, parse_quantity
from expert.units import PLAIN, ReadError, Unit, round12
from expert.yamldoc import Mapping, Node, Scalar, Sequence

MONEY_PERIODS = {"hour": "h", "month": "month", "total": ""}
_MONEY_KEYS = ("amount", "currency", "per")
_LISTED = 12


class Misread(Exception):  # noqa: N818
    """A value that cannot be read: code, message, place and help of its diagnostic."""

    def __init__(self, code: str, message: Text, span: Span, help: Text = NO_TEXT) -> None:
        super().__init__(message.en)
        self.code, self.message, self.span, self.help = code, message, span, help


def read_value(node: Node, decl: FactDecl, program: Program) -> Value:
    """The value of a fact of any type but money, in base units.

    Errors: Misread.
    """
    if isinstance(node, Scalar) and node.value is None:
        raise Misread("missing-value", Text(f"'{decl.name}' has no value", f"'{decl.name}' 没有值"), node.span, _example(decl))
    match decl.type:
        case "number":
            return _number(node, decl, program)
        case "yes-no":
            return _yes_no(node, decl)
        case "choice":
            return _choice(_scalar(node, decl), decl, program)
        case "list":
            return _list(node, decl, program)
        case _:
            return _scalar(node, decl).raw


def _example(decl: FactDecl) -> Text:
    return Text(f"for example {decl.example}", f"例如 {decl.example}") if decl.example else NO_TEXT


def _kind(decl: FactDecl) -> Text:
    return {
        "number": Text("a number", "数值"),
        "yes-no": Text("true or false", "true 或 false"),
        "choice": Text("one word", "单个选项"),
        "list": Text("a list of words", "选项列表"),
        "money": Text("an amount of money", "金额"),
    }.get(decl.type, Text("a text", "文本"))


def _wrong_kind(node: Node, decl: FactDecl) -> Misread:
    kind = _kind(decl)
    return Misread("wrong-kind", Text(f"'{decl.name}' is {kind.en}", f"'{decl.name}' 应为{kind.zh}"), node.span, _example(decl))


def _scalar(node: Node, decl: FactDecl) -> Scalar:
    if not isinstance(node, Scalar):
        raise _wrong_kind(node, decl)
    return node


def _yes_no(node: Node, decl: FactDecl) -> bool:
    found = _scalar(node, decl).value
    if not isinstance(found, bool):
        raise _wrong_kind(node, decl)
    return found


def _list(node: Node, decl: FactDecl, program: Program) -> tuple[str, ...]:
    members = node.items if isinstance(node, Sequence) else (node,)
    known = known_words(decl, program)
    words = [_scalar(member, decl) for member in members]
    found = tuple(_choice(word, decl, program) if known else word.raw for word in words)
    return tuple(dict.fromkeys(found))


# ------------------------------------------------------------------------------------------------ words


def known_words(decl: FactDecl, program: Program) -> tuple[str, ...]:
    """The words that a choice or list can hold; empty where any may stand."""
    if decl.domain is not None and decl.domain.table is not None:
        return tuple(program.tables[decl.domain.table].rows)
    if decl.choice_texts:
        return tuple(decl.choice_texts)
    return decl.domain.words if decl.domain is not None else ()


def _choice(node: Scalar, decl: FactDecl, program: Program) -> str:
    known = known_words(decl, program)
    if node.raw in known:
        return node.raw
    title = decl.title or Text(decl.name)
    word = short(node.raw)
    message = Text(f"'{word}' is no {title.of('en')} that the packs know", f"规则包中没有 '{word}' 这个{title.of('zh')}")
    raise Misread("unknown-choice", message, node.span, _choices_help(node.raw, known))


def _choices_help(word: str, known: tuple[str, ...]) -> Text:
    close = closest(word, known)
    if close is not None:
        return Text(f"did you mean '{close}'?", f"是否指 '{close}'？")
    listed = ", ".join(known[:_LISTED]) + (" …" if len(known) > _LISTED else "")
    return Text(f"it is one of {listed}", f"可用的值：{listed}")


def closest(word: str, known: Iterable[str]) -> str | None:
    """The nearest known id: as spelt, in small letters, or the one id that contains what was written."""
    names = tuple(known)
    small = word.strip().lower().replace("_", "-").replace(" ", "-")
    holding = [name for name in names if len(small) > 1 and small in name]
    return small if small in names else holding[0] if len(holding) == 1 else nearest(word, names) or nearest(small, names)


def short(text: str) -> str:
    """A text of a file cut to what fits into a message."""
    return text if len(text) <= 60 else text[:59] + "…"


# ---------------------------------------------------------------------------------------------- numbers


def _number(node: Node, decl: FactDecl, program: Program) -> Amount:
    scalar = _scalar(node, decl)
    if isinstance(scalar.value, bool):
        raise _wrong_kind(node, decl)
    quantity = _quantity(scalar, program)
    amount = _in_base(quantity, scalar, decl)
    _refuse_range(quantity, scalar, decl, program)
    _refuse_count(quantity, amount, scalar, decl)
    return amount


def _quantity(node: Scalar, program: Program) -> Quantity:
    if isinstance(node.value, (int, float)):
        return Quantity(float(node.value), None, float(node.value), None)
    try:
        return parse_quantity(node.raw, program.units)
    except ReadError as error:
        place = node.locate(error.offset, max(1, len(error.bad))) if error.bad else node.span
        raise Misread("bad-quantity", error.message, place, error.help) from None


def _in_base(quantity: Quantity, node: Scalar, decl: FactDecl) -> Amount:
    declared = decl.unit or PLAIN
    unit = quantity.unit or declared
    if not fits(unit, declared):
        raise Misread("wrong-unit", _misfit(unit, declared, decl), node.span, _unit_help(declared, decl))
    low, high = round12(unit.to_base(quantity.low)), round12(unit.to_base(quantity.high))
    if quantity.low == quantity.high:
        return Amount(low, low, high)
    return Amount(low, None if quantity.typical is None else round12(unit.to_base(quantity.typical)), high)


def fits(given: Unit, declared: Unit) -> bool:
    """Whether a number with unit `given` can stand for a fact in `declared`: same dimension, same count; per-parts may be left out."""
    alike = given.same_dimension(declared) and given.percent == declared.percent and given.count == declared.count
    return alike and given.per in ((), declared.per)


def _misfit(unit: Unit, declared: Unit, decl: FactDecl) -> Text:
    wanted = Text("is a plain number", "是不带单位的数")
    if declared.text:
        wanted = Text(f"is in '{declared.text}'", f"的单位是 '{declared.text}'")
    return Text(f"'{unit.text}' does not fit: {decl.name} {wanted.en}", f"单位 '{unit.text}' 不符：{decl.name} {wanted.zh}")


def _unit_help(declared: Unit, decl: FactDecl) -> Text:
    if decl.example:
        return _example(decl)
    if not declared.text:
        return Text("leave the unit out", "请去掉单位")
    return Text(f"write it in {declared.text}, or in another unit of that kind", f"请用 {declared.text} 或同类单位书写")


def _refuse_range(quantity: Quantity, node: Scalar, decl: FactDecl, program: Program) -> None:
    if quantity.low == quantity.high:
        return
    if decl.whole or decl.name in program.deciders:
        message = Text(f"'{decl.name}' is one number, not a range", f"'{decl.name}' 是单个数值，不能是范围")
        raise Misread("range-refused", message, node.span, Text("write the number you plan with", "请写计划采用的数值"))


def _refuse_count(quantity: Quantity, amount: Amount, node: Scalar, decl: FactDecl) -> None:
    declared = decl.unit or PLAIN
    never_negative = decl.whole or declared.count is not None or declared.dims or (decl.covers is not None and decl.covers[0] >= 0)
    if quantity.low < 0 and never_negative:
        raise Misread("negative-number", Text(f"'{decl.name}' cannot be negative", f"'{decl.name}' 不能为负数"), node.span)
    if decl.whole and any(declared.from_base(x) % 1 for x in (amount.low, amount.high)):
        raise Misread("not-whole", Text(f"'{decl.name}' is a whole number", f"'{decl.name}' 应为整数"), node.span)


# ------------------------------------------------------------------------------------------------ money


def read_money(node: Node, decl: FactDecl, program: Program) -> tuple[tuple[str, Value], ...]:
    """What a statement about money gives: the fact itself as text, and NAME_rate (per month) or NAME_total in base units.

    Units:  an hour's rate counts 730.5 times a month (365.25 days a year).
    Errors: Misread.
    """
    quantity = _money_mapping(node, decl, program) if isinstance(node, Mapping) else _money_text(node, decl, program)
    unit = quantity.unit
    assert unit is not None
    if quantity.low < 0:
        raise Misread("negative-number", Text(f"'{decl.name}' cannot be negative", f"'{decl.name}' 不能为负数"), node.span)
    amount = Amount(round12(unit.to_base(quantity.low)), None, round12(unit.to_base(quantity.high)))
    if amount.is_point:
        amount = Amount(amount.low, amount.low, amount.high)
    numbers = (quantity.low,) if quantity.low == quantity.high else (quantity.low, quantity.high)
    shown = "–".join(format_number(x, digits=12) for x in numbers)
    text = f"{shown} {unit.text}"
    return (decl.name, text), (decl.name + ("_rate" if _is_rate(unit) else "_total"), amount)


def _is_rate(unit: Unit) -> bool:
    return ("second", -1) in unit.dims


def _money_example(program: Program) -> Text:
    base = _currencies(program)[0] if _currencies(program) else "EUR"
    written = f"{{amount: 400000, currency: {base}, per: month}}"
    return Text(f"write it as {written}", f"请写成 {written}")


def _currencies(program: Program) -> tuple[str, ...]:
    return tuple(name for name, _, _ in program.units.currencies)


def _money_mapping(node: Mapping, decl: FactDecl, program: Program) -> Quantity:
    for key, _ in node.entries:
        if key.raw not in _MONEY_KEYS:
            close = nearest(key.raw, _MONEY_KEYS)
            help = Text(f"did you mean '{close}'?", f"是否指 '{close}'？") if close else _money_example(program)
            raise Misread("unknown-key", Text(f"money has no '{short(key.raw)}'", f"金额没有 '{short(key.raw)}' 这个键"), key.span, help)
    parts = {key: _money_part(node, key, decl, program) for key in _MONEY_KEYS}
    currency = _one_of(parts["currency"], _currencies(program), Text("a currency that the packs know", "规则包已知的货币"))
    period = MONEY_PERIODS[_one_of(parts["per"], tuple(MONEY_PERIODS), Text("a period", "计价周期"))]
    amount = _quantity(parts["amount"], program)
    if amount.unit is not None or isinstance(parts["amount"].value, bool):
        raise Misread("wrong-kind", Text("the amount is a plain number", "amount 是不带单位的数"), parts["amount"].span)
    unit = program.units.parse(f"{currency}/{period}" if period else currency)
    return Quantity(amount.low, amount.typical, amount.high, unit)


def _money_part(node: Mapping, key: str, decl: FactDecl, program: Program) -> Scalar:
    found = node.get(key)
    if found is None:
        message = Text(f"'{decl.name}' needs '{key}'", f"'{decl.name}' 缺少 '{key}'")
        raise Misread("missing-key", message, node.span, _money_example(program))
    if not isinstance(found, Scalar) or found.value is None:
        raise Misread("wrong-kind", Text(f"'{key}' is one value", f"'{key}' 应为单个值"), found.span, _money_example(program))
    return found


def _one_of(node: Scalar, known: tuple[str, ...], what: Text) -> str:
    if node.raw in known:
        return node.raw
    close = nearest(node.raw, known) or nearest(node.raw.upper(), known)
    listed = ", ".join(known)
    help = Text(f"did you mean '{close}'?", f"是否指 '{close}'？") if close else Text(f"it is one of {listed}", f"可用的值：{listed}")
    raise Misread("unknown-choice", Text(f"'{short(node.raw)}' is not {what.en}", f"'{short(node.raw)}' 不是{what.zh}"), node.span, help)


def _money_text(node: Node, decl: FactDecl, program: Program) -> Quantity:
    if not isinstance(node, Scalar) or not isinstance(node.value, str):
        message = Text(f"'{decl.name}' is an amount of money", f"'{decl.name}' 应为金额")
        raise Misread("wrong-kind", message, node.span, _money_example(program))
    quantity = _quantity(node, program)
    dims = dict(quantity.unit.dims) if quantity.unit else {}
    if dims.pop("money", 0) != 1 or dims not in ({}, {"second": -1}):
        message = Text(f"'{short(node.raw)}' is no amount of money", f"'{short(node.raw)}' 不是金额")
        raise Misread("wrong-unit", message, node.span, _money_example(program))
    return quantity
