"""Values and facts in words: what the vocabulary, the tables and the units say a value is called.

`Words` belongs to one consultation; it fills message templates and prints formulas with the values of that run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from expert.engine.evaluate import Env, compile_term
from expert.engine.trace import FactState
from expert.engine.values import from_slot, to_slot
from expert.errors import Text, inert
from expert.explain.wording import amount_words, environment, fill, row_words, term_words, value_words
from expert.facts import GIVEN, IMPLIED, SET, Amount, Value
from expert.language.printing import describe
from expert.language.program import Program, Template
from expert.language.terms import (
    ArithmeticTerm,
    CellTerm,
    ChoiceTerm,
    CompareTerm,
    ConstantTerm,
    FactTerm,
    FunctionTerm,
    InTerm,
    Literal,
    LogicTerm,
    NotTerm,
    RowTerm,
    StatedTerm,
    Term,
)
from expert.units import Unit

STATED = (GIVEN, SET, IMPLIED)
Rows = tuple[tuple[str, str], ...]


class Words:
    """The words of one run: `states` are its facts."""

    def __init__(self, program: Program, states: Mapping[str, FactState]) -> None:
        self.program = program
        self.states = states
        # Claims and sources that were quoted already: an explanation quotes each once.
        self.told: set[str] = set()
        values = {name: state.value for name, state in states.items()}
        stated = {name: state.value for name, state in states.items() if state.origin in STATED and state.value is not None}
        self._env: Env = environment(program, values, stated)

    # Values.

    def quantity(self, amount: Amount, unit: Unit | None, lang: str) -> str:
        """A number or range in base units, printed in `unit`."""
        return amount_words(amount, unit, self.program, lang)

    def value(self, fact: str, value: Value | None, lang: str) -> str:
        """The value of a fact for people."""
        return value_words(value, self.program.facts.get(fact), self.program, lang)

    def title(self, fact: str, lang: str) -> str:
        """The short name of a fact, else its dotted name."""
        decl = self.program.facts.get(fact)
        return inert(decl.title.of(lang)) if decl is not None and decl.title else fact

    def sentence(self, fact: str, value: Value | None, lang: str) -> str:
        """A fact as a sentence: its `say`, else "title: value"; unknown values say so in their own words."""
        decl = self.program.facts.get(fact)
        if value is None or decl is None or decl.say is None:
            return f"{self.title(fact, lang)}{'：' if lang == 'zh' else ': '}{self.value(fact, value, lang)}"
        shown = self.value(fact, value, lang)
        parts = decl.say.parts(lang)
        return "".join(p if isinstance(p, str) else shown if _is_value(p, fact) else self.term(p, (), lang) for p in parts)

    # Terms and templates.

    def env(self, rows: Rows = ()) -> Env:
        """The environment of this run, with rows bound to `for` variables."""
        return self._env | {"$" + variable: to_slot(row, "word") for variable, row in rows}

    def fill(self, template: Template, rows: Rows = ()) -> Text:
        """A template with the values of this run, in both languages."""
        return fill(template, self.program, self.env(rows))

    def evaluated(self, term: Term, rows: Rows = ()) -> Value | None:
        """What a term comes to with the facts of this run."""
        return from_slot(compile_term(term, self.program, True)(self.env(rows)), term.kind)

    def term(self, term: Term, rows: Rows, lang: str) -> str:
        """The value of a term for people, in the unit that it has in the packs."""
        return term_words(term, self.program, self.env(rows), lang)

    def in_numbers(self, term: Term, rows: Rows, lang: str) -> str:
        """A formula with every name replaced by its value and unit; parentheses are kept."""
        return describe(_mapped(term, lambda leaf: self._as_literal(leaf, rows, lang)))

    def _as_literal(self, leaf: Term, rows: Rows, lang: str) -> Term:
        value = self.evaluated(leaf, rows)
        # Words stand as ids, since the expression compares them with ids.
        shown = inert(value) if isinstance(value, str) else self.term(leaf, rows, lang)
        if isinstance(value, Amount):
            # A reader multiplies these: three digits would not give the result that stands beside them.
            decl = self.program.facts.get(leaf.fact) if isinstance(leaf, FactTerm | StatedTerm) else None
            shown = amount_words(value, decl.unit if decl is not None else getattr(leaf, "unit", None), self.program, lang, 6)
        if isinstance(value, Amount) and not value.is_point:
            shown = f"({shown})"
        return Literal(leaf.span, leaf.kind, shown, unit=getattr(leaf, "unit", None))

    def unknown(self, fact: str) -> Text:
        """Why a fact has no value: nobody answered, no rule concluded it, or its rules disagree."""
        state = self.states.get(fact)
        if state is not None and state.conflict:
            return Text("its rules disagree", "规则给出的值互相矛盾")
        if self.program.deciders.get(fact):
            return Text("it is not decided", "尚未确定")
        if self.program.contributors.get(fact):
            return Text("no rule concluded it", "没有规则得出它")
        return Text("nobody stated it", "未提供")

    def missing(self, name: str, lang: str) -> str:
        """What is missing, in words: a fact by its title, an empty cell "table.row.column" by row and column."""
        table, _, rest = name.partition(".")
        row, _, column = rest.rpartition(".")
        if name not in self.program.facts and table in self.program.tables and row:
            cell = self.program.tables[table].columns.get(column)
            heading = cell.title.of(lang) if cell is not None and cell.title else column
            return f"{row_words(table, row, self.program, lang)}{'：' if lang == 'zh' else ': '}{inert(heading)}"
        return self.title(self._asked(name.removeprefix("plan.")), lang)

    def _asked(self, name: str) -> str:
        """The fact that a plan states: of an amount per month or in total, the statement about money."""
        stem = re.sub(r"_(rate|total)$", "", name)
        money = self.program.facts.get(stem)
        return stem if money is not None and money.type == "money" else name


def _is_value(term: Term, fact: str) -> bool:
    return isinstance(term, FactTerm) and term.fact == fact


def _mapped(term: Term, change: Callable[[Term], Term]) -> Term:
    """The term with every name replaced by `change`."""
    match term:
        case FactTerm() | StatedTerm() | ConstantTerm() | RowTerm() | CellTerm():
            return change(term)
        case FunctionTerm(function="known" | "missing"):
            return term
        case FunctionTerm(arguments=arguments):
            return replace(term, arguments=tuple(_bare(_mapped(a, change)) for a in arguments))
        case ArithmeticTerm(arguments=arguments):
            return replace(term, arguments=tuple(_mapped(a, change) for a in arguments))
        case ChoiceTerm(then=then, condition=test, other=other):
            return replace(term, then=_mapped(then, change), condition=_mapped(test, change), other=_mapped(other, change))
        case CompareTerm(left=left, right=right):
            return replace(term, left=_mapped(left, change), right=_mapped(right, change))
        case InTerm(member=member, group=group):
            return replace(term, member=_mapped(member, change), group=None if group is None else _mapped(group, change))
        case NotTerm(operand=operand):
            return replace(term, operand=_mapped(operand, change))
        case LogicTerm(operands=operands):
            return replace(term, operands=tuple(_mapped(o, change) for o in operands))
        case _:
            return term


def _bare(term: Term) -> Term:
    """A range that is the argument of a function: one pair of parentheses is enough."""
    if isinstance(term, Literal) and term.text.startswith("(") and term.text.endswith(")"):
        return replace(term, text=term.text[1:-1])
    return term
