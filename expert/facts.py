"""Facts: a dotted name, a value in base units, and where it came from."""

from __future__ import annotations

from expert.errors import Span
from expert.records import dataclass

GIVEN, SET, ASSUMED, CONCLUDED, DECIDED, IMPLIED = "given", "set", "assumed", "concluded", "decided", "implied"


@dataclass(frozen=True, slots=True)
class Amount:
    """A number or a range, in base units; `low == typical == high` for a plain number. `typical` may be absent."""

    low: float
    typical: float | None
    high: float

    @property
    def is_point(self) -> bool:
        """True for a plain number."""
        return self.low == self.high

    @property
    def middle(self) -> float:
        """The typical value, else the middle of the range."""
        return self.typical if self.typical is not None else (self.low + self.high) / 2


def point(value: float) -> Amount:
    """A plain number as an `Amount`."""
    return Amount(value, value, value)


Value = Amount | str | bool | tuple[str, ...]
"""What a fact can hold. A choice or a text is a str, a yes-no a bool, a list a tuple; unknown is None."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact with its origin: given (plan), set (--set), assumed (default), concluded (rules), decided, or implied (of money)."""

    name: str
    value: Value
    origin: str
    span: Span | None = None
    at: str = ""
