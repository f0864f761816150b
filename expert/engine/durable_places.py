"""Where the value of a term stands in the messages: facts, what the plan states, rows and cells; and what computing it needs."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple, cast

from expert.engine.durable_draft import OID, Draft, value_schema
from expert.engine.durable_pattern import NOTHING, Anchor, Key, Pattern, Want, merged, row_pattern, row_want, wanting
from expert.engine.durable_raw import Constant, Op
from expert.engine.evaluate import compile_term
from expert.engine.values import Slot, Words
from expert.language.program import Program
from expert.language.terms import (
    BOOL,
    LIST,
    CellTerm,
    ChoiceTerm,
    ConstantTerm,
    FactTerm,
    FunctionTerm,
    Literal,
    LogicTerm,
    RowTerm,
    StatedTerm,
    Term,
    children,
    walk,
)

LEAVES = (FactTerm, StatedTerm, RowTerm, CellTerm)
FACT, PLAN, CELL = "fact", "plan", "cell"
_LAZY_FUNCTIONS = ("known", "missing", "coalesce")


class Place(NamedTuple):
    """A value in the message that fills `key`, once `pattern` holds.

    ends: the properties of a number: low, high, and both lowered by the tolerance. prop: that of a word, row id or truth.
    """

    key: Key
    pattern: Pattern
    kind: str
    ends: tuple[str, str, str, str] = ("lo", "hi", "dlo", "dhi")
    prop: str = "oid"


def shape(term: Term) -> Hashable:
    """What a term says, wherever it stands in a file."""
    match term:
        case Literal():
            return ("literal", term.kind, term.low, term.typical, term.high, term.word, term.flag, term.text if term.kind == LIST else "")
        case FactTerm(fact=fact):
            return (FACT, fact)
        case StatedTerm(fact=fact):
            return (PLAN, fact)
        case ConstantTerm(constant=constant):
            return ("constant", constant)
        case RowTerm(variable=variable, table=table):
            return ("row", variable, table)
        case CellTerm(table=table, column=column, row=row):
            return (CELL, table, column, shape(row))
        case FunctionTerm(function=function):
            return (function, *map(shape, children(term)))
        case _:
            return (type(term).__name__, getattr(term, "operator", ""), *map(shape, children(term)))


def variables_of(*terms: Term) -> dict[str, str]:
    """The `for` variables that the terms read, with their tables, by name."""
    return dict(sorted({part.variable: part.table for term in terms for part in walk(term) if isinstance(part, RowTerm)}.items()))


def constant_slot(term: Term, program: Program) -> Slot | None:
    """The value of a term that reads nothing, else None."""
    if isinstance(term, LEAVES) or any(isinstance(part, LEAVES) for part in walk(term)):
        return None
    return compile_term(term, program, exact=True)({})


class Places:
    """Finds the messages of terms, and adds to the draft what they need."""

    def __init__(self, program: Program, draft: Draft) -> None:
        self.program = program
        self.draft = draft

    def find(self, term: Term) -> Place | None:
        """Where the value of the term stands, if it is asserted and not computed."""
        match term:
            case FactTerm(fact=fact, kind=kind):
                return self._fact(FACT, fact, kind)
            case StatedTerm(fact=fact, kind=kind):
                return self._fact(PLAN, fact, kind)
            case RowTerm(variable=variable, table=table):
                want = row_want(variable, table)
                return Place(want.key, wanting(want), want.kind)
            case CellTerm():
                return self._cell(term)
            case FunctionTerm(function="low" | "high" as end, arguments=(argument,)):
                found = self.find(argument)
                if found is None:
                    return None
                low, high, lowered, high_lowered = found.ends
                ends = (low, low, lowered, lowered) if end == "low" else (high, high, high_lowered, high_lowered)
                return found._replace(ends=ends)
            case _:
                return None

    def _fact(self, source: str, fact: str, kind: str) -> Place:
        role = fact if source == FACT else f"plan.{fact}"
        name = self.draft.declare(f"{source}:{fact}", value_schema(kind))
        want = Want((source, fact), name, role)
        return Place(want.key, wanting(want), name, prop="flag" if kind == BOOL else "oid")

    def _cell(self, term: CellTerm) -> Place | None:
        prop = {BOOL: "flag"}.get(term.kind, "val")
        kind = self.draft.declare(f"{CELL}:{term.table}.{term.column}", {**OID, **value_schema(term.kind, "val")})
        row = self.at_row(term, kind, CELL)
        return None if row is None else Place(row[0], row[1], kind, prop=prop)

    def at_row(self, term: CellTerm, kind: str, name: str) -> tuple[Key, Pattern] | None:
        """The message of `kind` about the row that the cell term names, if the row is asserted and not computed."""
        fixed = constant_slot(term.row, self.program)
        if fixed is not None:
            (word,) = _words(fixed)
            self.draft.fixed[term.table, word, term.column] = None
            want = Want((name, term.table, term.column, word), kind)
            return want.key, wanting(want).with_test(want.key, Constant("oid", Op.EQ, word))
        row = self.find(term.row)
        if row is None:
            return None
        self.draft.read_cell(row.kind, term.table, term.column)
        want = Want((name, term.table, term.column, row.key), kind, "", (Anchor("oid", row.key, row.prop),))
        return want.key, wanting(want, row.pattern)

    def absent(self, term: FactTerm | StatedTerm) -> Pattern:
        """The marker that says, once it is settled, that there is no value."""
        source = "absent" if isinstance(term, FactTerm) else "plan-absent"
        want = Want((source, term.fact), self.draft.declare(f"{source}:{term.fact}", {}))
        return wanting(want)

    def inputs(self, term: Term, lazy: bool = False) -> Pattern:
        """The messages that computing the term needs. What it may do without is joined when settled, known or not."""
        match term:
            case FactTerm(fact=fact) | StatedTerm(fact=fact):
                return self._settled(term, fact) if lazy else self._value(term)
            case RowTerm(variable=variable, table=table):
                return row_pattern({variable: table})
            case CellTerm(row=row):
                place = None if lazy else self.find(term)
                return merged([self.inputs(row, lazy), place.pattern if place is not None else NOTHING])
            case ChoiceTerm(condition=condition, then=then, other=other):
                return merged([self.inputs(condition, lazy), self.inputs(then, True), self.inputs(other, True)])
            case FunctionTerm(function=function) if function in _LAZY_FUNCTIONS:
                lazy = True
            case LogicTerm():
                lazy = True
        return merged(self.inputs(child, lazy) for child in children(term))

    def _value(self, term: Term) -> Pattern:
        place = self.find(term)
        assert place is not None  # a fact or what the plan states
        return place.pattern

    def _settled(self, term: Term, fact: str) -> Pattern:
        source, role = ("settled", fact) if isinstance(term, FactTerm) else ("plan-settled", f"plan.{fact}")
        return wanting(Want((source, fact), self.draft.declare(f"{source}:{fact}", {}), role))


def _words(slot: Slot) -> frozenset[str]:
    return cast(Words, slot)[0]
