"""Values during evaluation: three-valued truth with causes, and numbers as intervals.

Truth is a set of bits: TRUE, FALSE, and why it may be unknown. TRUE|FALSE together occur only over a box of options: it
depends on the option, or ranges overlap (in exact evaluation the cause RANGE says so). STATED: a stated or assumed fact is
missing. OPTION: an empty cell, no row, no conclusion or a conflict. RANGE: ranges overlapped in a condition. A known number
that carries OPTION or RANGE is tainted: it was computed although something it needed was unknown.

A number is the tuple (low, high, typical or None, bits); low None means unknown. A word is (frozenset of possible words, bits),
a list (tuple or None, bits).
"""

from __future__ import annotations

from typing import cast

from expert.facts import Amount, Value

TRUE, FALSE, STATED, OPTION, RANGE = 1, 2, 4, 8, 16
UNKNOWN_BITS = STATED | OPTION | RANGE
BOTH = TRUE | FALSE

Num = tuple[float | None, float | None, float | None, int]
Words = tuple[frozenset[str], int]
Members = tuple[tuple[str, ...] | None, int]
Slot = Num | Words | Members | int

NO_WORDS: frozenset[str] = frozenset()
RELATIVE_TOLERANCE = 1e-9


def down(x: float) -> float:
    """`x` lowered by one part in 10⁹: a > b is decided as down(a) > b, so that both engines round the same way."""
    return x - RELATIVE_TOLERANCE * x if x >= 0 else x + RELATIVE_TOLERANCE * x


def negate(bits: int) -> int:
    """Three-valued `not`."""
    return (bits & UNKNOWN_BITS) | (TRUE if bits & FALSE else 0) | (FALSE if bits & TRUE else 0)


def both_hold(a: int, b: int) -> int:
    """Three-valued `and`, lifted to sets of possible truths."""
    result = (a & b & TRUE) | ((a | b) & FALSE)
    if b & ~FALSE:
        result |= a & UNKNOWN_BITS
    if a & ~FALSE:
        result |= b & UNKNOWN_BITS
    return result


def one_holds(a: int, b: int) -> int:
    """Three-valued `or`, lifted to sets of possible truths."""
    result = ((a | b) & TRUE) | (a & b & FALSE)
    if b & ~TRUE:
        result |= a & UNKNOWN_BITS
    if a & ~TRUE:
        result |= b & UNKNOWN_BITS
    return result


def holds(bits: int) -> bool:
    """True when an exact result is true (on what is known)."""
    return bits & BOTH == TRUE


def fails(bits: int) -> bool:
    """True when an exact result is false."""
    return bits & BOTH == FALSE


def exactly(x: float) -> Num:
    """A plain number."""
    return (x, x, x, 0)


def unknown_slot(kind: str, bits: int) -> Slot:
    """The unknown value of a term kind, with its cause."""
    if kind == "number":
        return (None, None, None, bits)
    if kind == "bool":
        return bits
    return (None, bits) if kind == "list" else (NO_WORDS, bits)


def to_slot(value: Value | None, kind: str) -> Slot:
    """A fact's value as an evaluation slot; None becomes unknown because nobody stated it."""
    if value is None:
        return unknown_slot(kind, STATED)
    if isinstance(value, Amount):
        return (value.low, value.high, value.middle if value.is_point else value.typical, 0)
    if isinstance(value, bool):
        return TRUE if value else FALSE
    if isinstance(value, tuple):
        return (value, 0)
    return (frozenset((value,)), 0)


def from_slot(slot: Slot, kind: str) -> Value | None:
    """The value of an exact slot, or None when it is unknown."""
    if isinstance(slot, int):
        return True if holds(slot) else False if fails(slot) else None
    if len(slot) == 4:
        low, high, typical, _ = slot
        return None if low is None or high is None else Amount(low, typical, high)
    first = slot[0]
    if not isinstance(first, frozenset):
        return first
    return next(iter(first)) if len(first) == 1 else None


def slot_bits(slot: Slot) -> int:
    """The cause bits of a slot."""
    if isinstance(slot, int):
        return slot & UNKNOWN_BITS
    return (slot[3] if len(slot) == 4 else slot[1]) & UNKNOWN_BITS


def is_known(slot: Slot) -> bool:
    """True for an exact slot that has a value."""
    if isinstance(slot, int):
        return slot & BOTH in (TRUE, FALSE)
    return slot[0] is not None and slot[0] != NO_WORDS


def has_value(slot: Slot) -> bool:
    """True for a slot over a box that has a value for at least one option."""
    return slot & BOTH != 0 if isinstance(slot, int) else is_known(slot)


def with_bits(slot: Slot, bits: int) -> Slot:
    """The slot with further cause bits."""
    if not bits:
        return slot
    if isinstance(slot, int):
        return slot | bits
    if len(slot) == 4:
        return (slot[0], slot[1], slot[2], slot[3] | bits)
    return cast(Slot, (slot[0], slot[1] | bits))


def hull(a: Slot, b: Slot) -> Slot:
    """The smallest slot that covers both (bits are united). Both are of one kind."""
    if isinstance(a, int):
        return a | cast(int, b)
    if len(a) == 4:
        return _hull_numbers(a, cast(Num, b))
    first, second = cast("tuple[Words | Members, Words | Members]", (a, b))
    bits = first[1] | second[1]
    if isinstance(first[0], frozenset):
        return (first[0] | cast("frozenset[str]", second[0]), bits)
    if first[0] == second[0]:
        return (first[0], bits)
    return (None, bits | OPTION)


def _hull_numbers(a: Num, b: Num) -> Num:
    bits = a[3] | b[3]
    if a[0] is None or a[1] is None:
        return (b[0], b[1], b[2], bits)
    if b[0] is None or b[1] is None:
        return (a[0], a[1], a[2], bits)
    typical = a[2] if a[2] == b[2] else None
    return (min(a[0], b[0]), max(a[1], b[1]), typical, bits)
