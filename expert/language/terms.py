"""Checked expressions: names are resolved, units are reconciled, every term has a static kind.

A term is what both engines evaluate and what explanations print. Numbers in terms are in base units
(bytes, seconds, FLOP, the base currency; 5 % is 0.05), so evaluation never converts.
"""

from __future__ import annotations

from expert.errors import Span
from expert.records import dataclass
from expert.units import Unit

NUMBER, WORD, BOOL, LIST, TEXT = "number", "word", "bool", "list", "text"


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant written in place. `low == typical == high` for a plain number; words and booleans use `word` and `flag`.

    `text` is the source text ("32 gpu", "5..15 %", "nvlink") for printing.
    """

    span: Span
    kind: str
    text: str
    low: float = 0.0
    typical: float | None = None
    high: float = 0.0
    word: str = ""
    flag: bool = False
    unit: Unit | None = None


@dataclass(frozen=True, slots=True)
class FactTerm:
    """The value of a fact in working memory (a choice is its word)."""

    span: Span
    kind: str
    fact: str
    unit: Unit | None = None


@dataclass(frozen=True, slots=True)
class StatedTerm:
    """`plan.X`: what the plan itself states about X; unknown where the plan is silent or X is freed."""

    span: Span
    kind: str
    fact: str
    unit: Unit | None = None


@dataclass(frozen=True, slots=True)
class ConstantTerm:
    """A named constant; `Program.constants[name]` has its value, basis and claims."""

    span: Span
    kind: str
    constant: str
    unit: Unit | None = None


@dataclass(frozen=True, slots=True)
class RowTerm:
    """The row id that a `for` variable stands for; kind is always WORD."""

    span: Span
    kind: str
    variable: str
    table: str
    unit: Unit | None = None


@dataclass(frozen=True, slots=True)
class CellTerm:
    """Column `column` of the row of `table` whose id is the value of `row` (a WORD term)."""

    span: Span
    kind: str
    row: Term
    table: str
    column: str
    unit: Unit | None = None


@dataclass(frozen=True, slots=True)
class ArithmeticTerm:
    """`operator` is + - * / // **, or `neg` with one argument."""

    span: Span
    kind: str
    operator: str
    arguments: tuple[Term, ...]
    unit: Unit | None = None


@dataclass(frozen=True, slots=True)
class FunctionTerm:
    """min max ceil floor round sqrt log2 low high coalesce; known and missing have kind BOOL."""

    span: Span
    kind: str
    function: str
    arguments: tuple[Term, ...]
    unit: Unit | None = None


@dataclass(frozen=True, slots=True)
class ChoiceTerm:
    """`then if condition else other`."""

    span: Span
    kind: str
    then: Term
    condition: Term
    other: Term
    unit: Unit | None = None


@dataclass(frozen=True, slots=True)
class CompareTerm:
    """One comparison of numbers (all six operators), or of words or booleans (== and != only). Chains are conjunctions."""

    span: Span
    kind: str
    operator: str
    left: Term
    right: Term


@dataclass(frozen=True, slots=True)
class InTerm:
    """`member in [literals]`, or, with `group` a LIST fact, membership in its value."""

    span: Span
    kind: str
    member: Term
    literals: tuple[Literal, ...] = ()
    group: Term | None = None


@dataclass(frozen=True, slots=True)
class NotTerm:
    span: Span
    kind: str
    operand: Term


@dataclass(frozen=True, slots=True)
class LogicTerm:
    """`operator` is "and" or "or"."""

    span: Span
    kind: str
    operator: str
    operands: tuple[Term, ...]


Term = (
    Literal
    | FactTerm
    | StatedTerm
    | ConstantTerm
    | RowTerm
    | CellTerm
    | ArithmeticTerm
    | FunctionTerm
    | ChoiceTerm
    | CompareTerm
    | InTerm
    | NotTerm
    | LogicTerm
)


def members_of(literal: Literal) -> tuple[str, ...]:
    """The words of a list literal, which `word` holds one a line."""
    return tuple(literal.word.split("\n")) if literal.word else ()


_LEAVES = (Literal, FactTerm, StatedTerm, ConstantTerm, RowTerm)


def children(term: Term) -> tuple[Term, ...]:
    """The direct sub-terms, left to right."""
    if isinstance(term, _LEAVES):
        return ()  # most terms
    match term:
        case CellTerm(row=row):
            return (row,)
        case ArithmeticTerm(arguments=arguments) | FunctionTerm(arguments=arguments):
            return arguments
        case ChoiceTerm(then=then, condition=condition, other=other):
            return (then, condition, other)
        case CompareTerm(left=left, right=right):
            return (left, right)
        case InTerm(member=member, literals=literals, group=group):
            return (member, *literals) if group is None else (member, group)
        case NotTerm(operand=operand):
            return (operand,)
        case LogicTerm(operands=operands):
            return operands


def walk(term: Term) -> list[Term]:
    """The term and all its sub-terms, depth first, left to right."""
    found: list[Term] = [term]
    for child in children(term):
        found += walk(child)
    return found


def facts_read(term: Term) -> frozenset[str]:
    """Names of the facts whose working-memory value the term reads (not `plan.X`)."""
    return frozenset(t.fact for t in walk(term) if isinstance(t, FactTerm))


def constants_read(term: Term) -> frozenset[str]:
    """Names of the constants that the term reads."""
    return frozenset(t.constant for t in walk(term) if isinstance(t, ConstantTerm))
