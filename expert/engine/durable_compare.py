"""Comparisons as tests on messages, with the same float operations as `arithmetic.greater` and `arithmetic.equal`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import cast

from expert.engine.durable_pattern import FLIPPED, NOTHING, Pattern, Tie, merged
from expert.engine.durable_places import Place
from expert.engine.durable_raw import Constant, Op
from expert.engine.values import Num, Slot, Words, down

Patterns = list[Pattern]
_SIMPLE: dict[Op, Callable[[float, float], bool]] = {
    Op.GT: lambda a, b: a > b, Op.GE: lambda a, b: a >= b, Op.LT: lambda a, b: a < b, Op.LE: lambda a, b: a <= b,
}  # fmt: skip
_LOW, _HIGH, _LOWERED, _HIGH_LOWERED = range(4)


def some(patterns: Iterable[Pattern | None]) -> Patterns:
    """The patterns that can hold."""
    return [pattern for pattern in patterns if pattern is not None]


def all_of(patterns: Iterable[Pattern | None]) -> Pattern | None:
    """All patterns together; None when one of them never holds."""
    found = list(patterns)
    return None if None in found else merged(some(found))


def word_of(slot: Slot) -> str:
    """The word of a known constant."""
    (word,) = cast(Words, slot)[0]
    return word


def compare_words(operator: str, left: Place | Slot, right: Place | Slot) -> Pattern | None:
    """When two words are equal ("==") or different ("!="); one side at least is in a message."""
    op = Op.EQ if operator == "==" else Op.NE
    if isinstance(left, Place) and isinstance(right, Place):
        return merged([left.pattern, right.pattern, Pattern(ties=(Tie(left.key, left.prop, op, right.key, right.prop),))])
    if isinstance(left, Place):
        return left.pattern.with_test(left.key, Constant(left.prop, op, word_of(cast(Slot, right))))
    assert isinstance(right, Place)  # two constants are settled before
    return right.pattern.with_test(right.key, Constant(right.prop, op, word_of(left)))


def compare_numbers(operator: str, left: Place | Slot, right: Place | Slot) -> Patterns:
    """When a comparison is true for the whole of both ranges."""
    match operator:
        case ">":
            return some([_above(left, right)])
        case "<":
            return some([_above(right, left)])
        case ">=":
            return some([_not_above(right, left)])
        case "<=":
            return some([_not_above(left, right)])
        case "==":
            return some([all_of([_not_above(left, right), _not_above(right, left)])])
        case _:
            return some([_above(left, right), _above(right, left)])


def _above(a: Place | Slot, b: Place | Slot) -> Pattern | None:
    """a > b for the whole ranges: down(a.low) > b.high."""
    return _relation(a, _LOWERED, Op.GT, b, _HIGH)


def _not_above(a: Place | Slot, b: Place | Slot) -> Pattern | None:
    """a > b for no part of the ranges: down(a.high) <= b.low."""
    return _relation(a, _HIGH_LOWERED, Op.LE, b, _LOW)


def _relation(a: Place | Slot, end: int, op: Op, b: Place | Slot, other: int) -> Pattern | None:
    if isinstance(a, Place) and isinstance(b, Place):
        return merged([a.pattern, b.pattern, Pattern(ties=(Tie(a.key, a.ends[end], op, b.key, b.ends[other]),))])
    if isinstance(a, Place):
        bound = _end(cast(Slot, b), other)
        return None if bound is None else a.pattern.with_test(a.key, Constant(a.ends[end], op, bound))
    bound = _end(a, end)
    if bound is None:
        return None
    if isinstance(b, Place):
        return b.pattern.with_test(b.key, Constant(b.ends[other], FLIPPED[op], bound))
    limit = _end(b, other)
    return NOTHING if limit is not None and _SIMPLE[op](bound, limit) else None


def _end(slot: Slot, end: int) -> float | None:
    number = cast(Num, slot)
    x = number[0] if end in (_LOW, _LOWERED) else number[1]
    return x if x is None or end in (_LOW, _HIGH) else down(x)
