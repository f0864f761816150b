"""Syntax of expressions: what the parser makes of one condition, value or threshold.

Names are not resolved here; the checker turns these into `terms`. Every node knows its span.
"""

from __future__ import annotations

from dataclasses import dataclass

from expert.errors import Span


@dataclass(frozen=True, slots=True)
class Number:
    """`32`, `32 gpu`, `5..15 %`, `80..95..120 GB`: `unit` holds for every end; None is a bare number."""

    span: Span
    low: float
    typical: float | None
    high: float
    unit: str | None
    unit_span: Span | None = None


@dataclass(frozen=True, slots=True)
class Boolean:
    """`true` or `false`."""

    span: Span
    value: bool


@dataclass(frozen=True, slots=True)
class Word:
    """A quoted choice. A bare choice is parsed as a `Name` of one part and told apart by the checker."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Name:
    """A dotted name: fact, fact and column, constant, row variable and column, or `plan.` and a fact.

    `parts` of `design.gpu.memory` is ("design", "gpu", "memory"); `rtx-4090-24g` is one part.
    """

    span: Span
    parts: tuple[str, ...]

    @property
    def dotted(self) -> str:
        """The name as written."""
        return ".".join(self.parts)


@dataclass(frozen=True, slots=True)
class ListOf:
    """`[a, b, c]`."""

    span: Span
    members: tuple[Syntax, ...]


@dataclass(frozen=True, slots=True)
class Negation:
    """`-x`."""

    span: Span
    operand: Syntax


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`a + b` with operator one of + - * / // **; `operator_span` is the operator's own place."""

    span: Span
    operator: str
    left: Syntax
    right: Syntax
    operator_span: Span


@dataclass(frozen=True, slots=True)
class Comparison:
    """`a < b <= c`: `operands` has one more member than `operators` (== != < <= > >=)."""

    span: Span
    operators: tuple[str, ...]
    operands: tuple[Syntax, ...]
    operator_spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Membership:
    """`x in y`; `y` is a `ListOf` or the name of a list fact. `x not in y` is a `Not` around it."""

    span: Span
    member: Syntax
    group: Syntax


@dataclass(frozen=True, slots=True)
class Not:
    """`not x`."""

    span: Span
    operand: Syntax


@dataclass(frozen=True, slots=True)
class Logic:
    """`a and b and c` or `a or b`; one operator per node, nested mixtures had parentheses."""

    span: Span
    operator: str
    operands: tuple[Syntax, ...]


@dataclass(frozen=True, slots=True)
class IfElse:
    """`then if condition else other`."""

    span: Span
    then: Syntax
    condition: Syntax
    other: Syntax


@dataclass(frozen=True, slots=True)
class Call:
    """`min(a, b)`, `known(x)` …; `name_span` is the place of the function's name."""

    span: Span
    name: str
    arguments: tuple[Syntax, ...]
    name_span: Span


Syntax = Number | Boolean | Word | Name | ListOf | Negation | Arithmetic | Comparison | Membership | Not | Logic | IfElse | Call

FUNCTIONS = {
    "min": (1, None),
    "max": (1, None),
    "ceil": (1, 1),
    "floor": (1, 1),
    "round": (1, 1),
    "sqrt": (1, 1),
    "log2": (1, 1),
    "low": (1, 1),
    "high": (1, 1),
    "known": (1, 1),
    "missing": (1, 1),
    "coalesce": (2, None),
}
"""Every function of the language with its least and greatest number of arguments (None: no bound)."""
