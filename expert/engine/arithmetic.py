"""Interval arithmetic on `Num` slots. Unknown in, unknown out; the causes are united.

Source: Moore, Interval Analysis (1966) for the four operations; typical values are carried point by point.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from expert.engine.values import BOTH, FALSE, OPTION, TRUE, UNKNOWN_BITS, Num, down
from expert.units import round12

INFINITE = math.inf
Unary = Callable[[float], float]


def _nothing(bits: int) -> Num:
    return (None, None, None, bits or OPTION)


def _finite(low: float, high: float, typical: float | None, bits: int) -> Num:
    # Not math.isfinite: this runs for every operation of every box, and NaN fails both comparisons too.
    if low > -INFINITE and high < INFINITE:
        return (low, high, typical, bits)
    return _nothing(bits)


def add(a: Num, b: Num) -> Num:
    """a + b."""
    bits = a[3] | b[3]
    if a[0] is None or b[0] is None:
        return _nothing(bits)
    typical = None if a[2] is None or b[2] is None else a[2] + b[2]
    return _finite(a[0] + b[0], a[1] + b[1], typical, bits)  # type: ignore[operator]


def subtract(a: Num, b: Num) -> Num:
    """a - b."""
    bits = a[3] | b[3]
    if a[0] is None or b[0] is None:
        return _nothing(bits)
    typical = None if a[2] is None or b[2] is None else a[2] - b[2]
    return _finite(a[0] - b[1], a[1] - b[0], typical, bits)  # type: ignore[operator]


def multiply(a: Num, b: Num) -> Num:
    """a * b."""
    bits = a[3] | b[3]
    if a[0] is None or b[0] is None:
        return _nothing(bits)
    typical = None if a[2] is None or b[2] is None else a[2] * b[2]
    if a[0] >= 0 and b[0] >= 0:
        return _finite(a[0] * b[0], a[1] * b[1], typical, bits)  # type: ignore[operator]
    ends = (a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1])  # type: ignore[operator]
    return _finite(min(ends), max(ends), typical, bits)


def divide(a: Num, b: Num) -> Num:
    """a / b; unknown where b may be zero."""
    bits = a[3] | b[3]
    if a[0] is None or b[0] is None:
        return _nothing(bits)
    if b[0] <= 0 <= b[1]:  # type: ignore[operator]
        return _nothing(bits | OPTION)
    typical = None if a[2] is None or not b[2] else a[2] / b[2]
    if a[0] >= 0 and b[0] > 0:
        return _finite(a[0] / b[1], a[1] / b[0], typical, bits)  # type: ignore[operator]
    ends = (a[0] / b[0], a[0] / b[1], a[1] / b[0], a[1] / b[1])  # type: ignore[operator]
    return _finite(min(ends), max(ends), typical, bits)


def floor_divide(a: Num, b: Num) -> Num:
    """floor(a / b)."""
    return mapped(divide(a, b), _floor)


def power(a: Num, b: Num) -> Num:
    """a ** b for a non-negative base, or a whole exponent that is a plain number; else unknown."""
    bits = a[3] | b[3]
    if a[0] is None or b[0] is None:
        return _nothing(bits)
    try:
        if a[0] >= 0:
            ends = [x**y for x in (a[0], a[1]) for y in (b[0], b[1])]  # type: ignore[operator]
        elif b[0] == b[1] and b[0] == int(b[0]):
            ends = [a[0] ** b[0], a[1] ** b[0]] + ([0.0] if a[1] >= 0 and b[0] % 2 == 0 else [])  # type: ignore[operator]
        else:
            return _nothing(bits | OPTION)
        typical = None if a[2] is None or b[2] is None else a[2] ** b[2]
    except (OverflowError, ZeroDivisionError):
        return _nothing(bits | OPTION)
    return _finite(min(ends), max(ends), typical, bits)


def mapped(a: Num, function: Unary) -> Num:
    """A non-decreasing function applied to both ends; unknown where it is not defined."""
    if a[0] is None:
        return a
    try:
        typical = None if a[2] is None else function(a[2])
        return _finite(function(a[0]), function(a[1]), typical, a[3])  # type: ignore[arg-type]
    except (ValueError, OverflowError):
        return _nothing(a[3] | OPTION)


def negative(a: Num) -> Num:
    """-a."""
    if a[0] is None:
        return a
    return (-a[1], -a[0], None if a[2] is None else -a[2], a[3])  # type: ignore[operator]


def least(values: Sequence[Num]) -> Num:
    """min(...); unknown where one is unknown."""
    return _extreme(values, min)


def greatest(values: Sequence[Num]) -> Num:
    """max(...); unknown where one is unknown."""
    return _extreme(values, max)


def _extreme(values: Sequence[Num], pick: Callable[..., float]) -> Num:
    bits = 0
    for value in values:
        bits |= value[3]
    if any(value[0] is None for value in values):
        return _nothing(bits)
    typicals = [value[2] for value in values]
    typical = None if None in typicals else pick(typicals)
    return (pick(v[0] for v in values), pick(v[1] for v in values), typical, bits)


def rounded(a: Num) -> Num:
    """Every end to 12 significant digits, as facts are stored."""
    if a[0] is None:
        return a
    return (round12(a[0]), round12(a[1]), None if a[2] is None else round12(a[2]), a[3])  # type: ignore[arg-type]


def greater(a: Num, b: Num) -> int:
    """Truth of a > b with the tolerance of one part in 10⁹."""
    bits = (a[3] | b[3]) & UNKNOWN_BITS
    if a[0] is None or b[0] is None:
        return bits or OPTION
    if down(a[0]) > b[1]:  # type: ignore[operator]
        return bits | TRUE
    if down(a[1]) <= b[0]:  # type: ignore[arg-type]
        return bits | FALSE
    return bits | BOTH


def equal(a: Num, b: Num) -> int:
    """Truth of a == b with the same tolerance: true for two equal points, false where the ranges are apart."""
    bits = (a[3] | b[3]) & UNKNOWN_BITS
    if a[0] is None or b[0] is None:
        return bits or OPTION
    if down(a[0]) > b[1] or down(b[0]) > a[1]:  # type: ignore[operator]
        return bits | FALSE
    if down(a[1]) <= b[0] and down(b[1]) <= a[0]:  # type: ignore[arg-type]
        return bits | TRUE
    return bits | BOTH


def _floor(x: float) -> float:
    return float(math.floor(round12(x)))


def _ceil(x: float) -> float:
    return float(math.ceil(round12(x)))


def _round(x: float) -> float:
    return float(math.floor(round12(x) + 0.5))


MAPPED: dict[str, Unary] = {"ceil": _ceil, "floor": _floor, "round": _round, "sqrt": math.sqrt, "log2": math.log2}
"""Functions of one number; `round` takes halves up. All are non-decreasing."""

BINARY: dict[str, Callable[[Num, Num], Num]] = {
    "+": add,
    "-": subtract,
    "*": multiply,
    "/": divide,
    "//": floor_divide,
    "**": power,
}
