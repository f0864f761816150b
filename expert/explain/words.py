"""Values and facts in words: what the vocabulary, the tables and the units say a value is called.

`Words` belongs to one consultation; it fills message templates and prints formulas with the values of that run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from expert.engine.evaluate import Env, compile_term
from expert.engine.trace import FactState
from expert.engine.values import from_slot, to_slot
from expert.errors import LANGUAGES, Text, inert
from expert.facts import GIVEN, IMPLIED, SET, Amount, Value
from expert.language.printing import describe
from expert.language.program import FactDecl, Program, Template
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
from expert.quantities import format_quantity
from expert.units import Unit

UNKNOWN = Text("unknown", "未知")
_YES_NO = {True: Text("yes", "是"), False: Text("no", "否")}
_STATED = (GIVEN, SET, IMPLIED)
Rows = tuple[tuple[str, str], ...]


class Words:
    """The words of one run: `states` are its facts."""

    def __init__(self, program: Program, states: Mapping[str, FactState]) -> None:
        self.program = program
        self.states = states
        self._env: Env = {}
        for name, decl in program.facts.items():
            state = states.get(name)
            value = state.value if state is not None else None
            self._env[name] = to_slot(value, decl.kind)
            stated = value if state is not None and state.origin in _STATED else None
            self._env["plan." + name] = to_slot(stated, decl.kind)

    # Values.

    def quantity(self, amount: Amount, unit: Unit | None, lang: str) -> str:
        """A number or range in base units, printed in `unit`."""
        out = (lambda x: x) if unit is None else unit.from_base
        typical = None if amount.is_point or amount.typical is None else out(amount.typical)
        return format_quantity(out(amount.low), typical, out(amount.high), unit, lang, self.program.unit_texts)

    def value(self, fact: str, value: Value | None, lang: str) -> str:
        """The value of a fact for people."""
        decl = self.program.facts.get(fact)
        if value is None:
            return UNKNOWN.of(lang)
        if isinstance(value, Amount):
            return self.quantity(value, decl.unit if decl else None, lang)
        if isinstance(value, bool):
            return _YES_NO[value].of(lang)
        if isinstance(value, tuple):
            return ("、" if lang == "zh" else ", ").join(self._word(decl, word, lang) for word in value) or Text("none", "无").of(lang)
        return self._word(decl, value, lang)

    def _word(self, decl: FactDecl | None, word: str, lang: str) -> str:
        if decl is None:
            return inert(word)
        if word in decl.choice_texts:
            return inert(decl.choice_texts[word].of(lang))
        table = self.program.tables.get(decl.domain.table) if decl.domain is not None and decl.domain.table else None
        row = table.rows.get(word) if table is not None else None
        return inert(row.title.of(lang) if row is not None and row.title else word)

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

    def fill(self, template: Template, rows: Rows = ()) -> Text:
        """A template with the values of this run, in both languages."""
        filled = {lang: self._filled(template, rows, lang) for lang in LANGUAGES}
        return Text(filled["en"], filled["zh"])

    def _filled(self, template: Template, rows: Rows, lang: str) -> str:
        return "".join(part if isinstance(part, str) else self.term(part, rows, lang) for part in template.parts(lang))

    def evaluated(self, term: Term, rows: Rows = ()) -> Value | None:
        """What a term comes to with the facts of this run."""
        env = self._env | {"$" + variable: to_slot(row, "word") for variable, row in rows}
        return from_slot(compile_term(term, self.program, True)(env), term.kind)

    def term(self, term: Term, rows: Rows, lang: str) -> str:
        """The value of a term for people, in the unit that it has in the packs."""
        value = self.evaluated(term, rows)
        if isinstance(term, FactTerm | StatedTerm):
            return self.value(term.fact, value, lang)
        if isinstance(value, Amount):
            return self.quantity(value, getattr(term, "unit", None), lang)
        if isinstance(term, CellTerm) and isinstance(value, str):
            return self.cell_word(term.table, term.column, value, lang)
        if isinstance(term, RowTerm) and isinstance(value, str):
            return self.row_title(term.table, value, lang)
        if isinstance(value, bool):
            return _YES_NO[value].of(lang)
        if isinstance(value, tuple):
            return ", ".join(inert(word) for word in value)
        return inert(value) if value is not None else UNKNOWN.of(lang)

    def row_title(self, table: str, row: str, lang: str) -> str:
        """The title of a table's row, else its id."""
        found = self.program.tables[table].rows.get(row) if table in self.program.tables else None
        return inert(found.title.of(lang) if found is not None and found.title else row)

    def cell_word(self, table: str, column: str, word: str, lang: str) -> str:
        """A word in a cell: the title of the row that it names, else the word itself."""
        target = self.program.tables[table].columns[column].table
        return self.row_title(target, word, lang) if target else inert(word)

    def in_numbers(self, term: Term, rows: Rows, lang: str) -> str:
        """A formula with every name replaced by its value and unit; parentheses are kept."""
        return describe(_mapped(term, lambda leaf: self._as_literal(leaf, rows, lang)))

    def _as_literal(self, leaf: Term, rows: Rows, lang: str) -> Term:
        unit = getattr(leaf, "unit", None)
        return Literal(leaf.span, leaf.kind, self.term(leaf, rows, lang), unit=unit)

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
            return f"{self.row_title(table, row, lang)}{'：' if lang == 'zh' else ': '}{inert(heading)}"
        return self.title(name, lang)


def _is_value(term: Term, fact: str) -> bool:
    return isinstance(term, FactTerm) and term.fact == fact


def _mapped(term: Term, change: Callable[[Term], Term]) -> Term:
    """The term with every name replaced by `change`."""
    match term:
        case FactTerm() | StatedTerm() | ConstantTerm() | RowTerm() | CellTerm():
            return change(term)
        case ArithmeticTerm(arguments=arguments) | FunctionTerm(arguments=arguments):
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
