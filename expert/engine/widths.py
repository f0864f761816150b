"""Which conditions can be unknown because ranges overlap: found from the terms alone, on the safe side."""

from __future__ import annotations

from expert.language.program import Program
from expert.language.terms import (
    BOOL,
    NUMBER,
    CellTerm,
    CompareTerm,
    ConstantTerm,
    FactTerm,
    FunctionTerm,
    InTerm,
    Literal,
    StatedTerm,
    Term,
    children,
    walk,
)


def may_overlap(condition: Term, program: Program) -> bool:
    """False when no option can make ranges overlap in a condition: it compares words, or plain numbers only."""
    for term in walk(condition):
        if isinstance(term, (FactTerm, StatedTerm)) and term.kind == BOOL and term.fact not in program.deciders:
            return True
        sides = (
            (term.left, term.right) if isinstance(term, CompareTerm) else (term.member, *term.literals) if isinstance(term, InTerm) else ()
        )
        if any(side.kind == NUMBER and may_be_wide(side, program) for side in sides):
            return True
    return False


def may_be_wide(term: Term, program: Program) -> bool:
    """False for a number that is a plain number for every option; a fact that is not decided counts as wide."""
    match term:
        case Literal():
            return term.low != term.high
        case ConstantTerm():
            value = program.constants[term.constant].value
            return value.low != value.high
        case CellTerm():
            cells = (row.cells.get(term.column) for row in program.tables[term.table].rows.values())
            return any(cell is not None and cell.literal is not None and cell.literal.low != cell.literal.high for cell in cells)
        case FactTerm() | StatedTerm():
            return term.fact not in program.deciders
        case FunctionTerm(function="low" | "high"):
            return False
        case _:
            return any(child.kind == NUMBER and may_be_wide(child, program) for child in children(term))
