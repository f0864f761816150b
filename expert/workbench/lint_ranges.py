"""Ranges that spread: an uncertain number that reaches an expression twice is counted as two independent ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from expert.errors import Diagnostic, Text
from expert.language.program import Conclude, Program, Rule
from expert.language.terms import CellTerm, ConstantTerm, FactTerm, FunctionTerm, Literal, Term, children

Origins = frozenset[str]
_NONE: Origins = frozenset()


def spreading_ranges(program: Program) -> Iterator[Diagnostic]:
    """A warning for each concluded value that one source of uncertainty reaches twice."""
    sources = uncertain_sources(program)
    for rule in program.rules.values():
        if not isinstance(rule.effect, Conclude):
            continue
        for fact, condition in rule.effect.values:
            shared = _shared([origins for _, origins in _leaves(condition.term, sources, program)])
            if shared:
                message = Text(f"the range of {shared} reaches '{fact}' twice, so its width is counted twice",
                               f"{shared} 的范围两次进入 '{fact}'，宽度被重复计算")  # fmt: skip
                help = Text("compute with plain numbers and put the width on the last step", "请用单值计算，并把宽度放在最后一步")
                yield Diagnostic("range-spreads", message, condition.span, help, severity="warning")


def _shared(leaves: list[Origins]) -> str:
    seen: set[str] = set()
    for origins in leaves:
        again = sorted(seen & origins)
        if again:
            return again[0]
        seen |= origins
    return ""


def uncertain_sources(program: Program) -> dict[str, Origins]:
    """For each fact the sources of its width: constants, columns, and rules that write a range; none for a plain number."""
    found: dict[str, Origins] = {}
    for step in program.schedule:
        for fact in step.facts:
            found[fact] = _of_fact(fact, program, found)
    return found


def _of_fact(fact: str, program: Program, found: Mapping[str, Origins]) -> Origins:
    origins: set[str] = set()
    for rule_id in program.contributors.get(fact, ()):
        rule: Rule = program.rules[rule_id]
        assert isinstance(rule.effect, Conclude)
        for name, condition in rule.effect.values:
            if name == fact:
                origins |= _NONE.union(*(leaf for _, leaf in _leaves(condition.term, found, program)))
    return frozenset(origins)


def _leaves(term: Term, sources: Mapping[str, Origins], program: Program) -> list[tuple[Term, Origins]]:
    """The parts of an expression that may be ranges, each with the sources of its width."""
    match term:
        case FactTerm(fact=fact):
            return [(term, sources.get(fact, _NONE))]
        case ConstantTerm(constant=name):
            value = program.constants[name].value
            return [(term, frozenset({f"the constant '{name}'"}) if value.low != value.high else _NONE)]
        case CellTerm(table=table, column=column):
            wide = any(_is_wide(row.cells[column].literal) for row in program.tables[table].rows.values() if column in row.cells)
            return [(term, frozenset({f"the column '{table}.{column}'"}) if wide else _NONE)]
        case Literal(text=text, span=span):
            return [(term, frozenset({f"'{text}' at {span}"}) if _is_wide(term) else _NONE)]
        case FunctionTerm(function="low" | "high" | "known" | "missing"):
            return []
        case _:
            return [leaf for child in children(term) for leaf in _leaves(child, sources, program)]


def _is_wide(literal: Term | None) -> bool:
    return isinstance(literal, Literal) and literal.low != literal.high
