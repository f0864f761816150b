"""Values and templates in words, for any environment: what findings and advice are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from expert.engine.evaluate import PLAN_KEY, Env, compile_term
from expert.engine.values import from_slot, to_slot
from expert.errors import Text, inert
from expert.facts import Amount, Value
from expert.language.program import Cell, Column, FactDecl, Program, Template
from expert.language.terms import BOOL, NUMBER, TEXT, CellTerm, FactTerm, Literal, RowTerm, StatedTerm, Term
from expert.quantities import format_quantity
from expert.units import Unit

UNKNOWN = Text("unknown", "未知")
YES_NO = {True: Text("yes", "是"), False: Text("no", "否")}


def in_both(words: Callable[[str], str]) -> Text:
    """A text made by calling `words` with each language."""
    return Text(words("en"), words("zh"))


def environment(program: Program, values: Mapping[str, Value | None], stated: Mapping[str, Value]) -> Env:
    """An environment for terms: the value of every fact, and what the plan states."""
    env: Env = {name: to_slot(values.get(name), decl.kind) for name, decl in program.facts.items()}
    return env | {PLAN_KEY + name: to_slot(stated.get(name), decl.kind) for name, decl in program.facts.items()}


def fill(template: Template, program: Program, env: Env) -> Text:
    """A template with the values of an environment ("$variable" for rows), in both languages."""
    return in_both(
        lambda lang: "".join(part if isinstance(part, str) else term_words(part, program, env, lang) for part in template.parts(lang))
    )


def term_words(term: Term, program: Program, env: Env, lang: str) -> str:
    """The value of a term for people, in the unit that it has in the packs."""
    value = from_slot(compile_term(term, program, True)(env), term.kind)
    if isinstance(term, FactTerm | StatedTerm):
        return value_words(value, program.facts.get(term.fact), program, lang)
    if isinstance(value, Amount):
        return amount_words(value, getattr(term, "unit", None), program, lang)
    if isinstance(value, str) and isinstance(term, CellTerm):
        target = program.tables[term.table].columns[term.column].table
        return row_words(target, value, program, lang) if target else inert(value)
    if isinstance(value, str) and isinstance(term, RowTerm):
        return row_words(term.table, value, program, lang)
    return value_words(value, None, program, lang)


def amount_words(amount: Amount, unit: Unit | None, program: Program, lang: str, digits: int = 3) -> str:
    """A number or range in base units, printed in `unit`."""
    ends = [amount.low, amount.high] if amount.is_point or amount.typical is None else [amount.low, amount.typical, amount.high]
    shown = ends if unit is None else [unit.from_base(x) for x in ends]
    return format_quantity(shown[0], shown[1] if len(shown) == 3 else None, shown[-1], unit, lang, program.unit_texts, digits)


def value_words(value: Value | None, decl: FactDecl | None, program: Program, lang: str) -> str:
    """A value for people: numbers in the declared unit, choices by their texts or row titles."""
    if value is None:
        return UNKNOWN.of(lang)
    if isinstance(value, Amount):
        return amount_words(value, decl.unit if decl is not None else None, program, lang)
    if isinstance(value, bool):
        return YES_NO[value].of(lang)
    if isinstance(value, tuple):
        return ("、" if lang == "zh" else ", ").join(word_words(word, decl, program, lang) for word in value) or Text("none", "无").of(lang)
    return word_words(value, decl, program, lang)


def word_words(word: str, decl: FactDecl | None, program: Program, lang: str) -> str:
    """A choice by its text, else by the title of the row that it names, else the word itself; never alive in a terminal."""
    if decl is not None and word in decl.choice_texts:
        return inert(decl.choice_texts[word].of(lang) or word)
    table = decl.domain.table if decl is not None and decl.domain is not None else None
    return row_words(table, word, program, lang) if table else inert(word)


def cell_words(cell: Cell, column: Column, program: Program, lang: str) -> str:
    """What a table's cell holds, for people; "" where that is not known."""
    if cell.members is not None:
        return ("、" if lang == "zh" else ", ").join(inert(member) for member in cell.members) or Text("none", "无").of(lang)
    if cell.literal is None or (column.kind == TEXT and cell.text):
        return inert(cell.text.of(lang)) if cell.text else ""
    return literal_words(cell.literal, column.unit, column.table, program, lang)


def literal_words(literal: Literal, unit: Unit | None, table: str | None, program: Program, lang: str) -> str:
    """A value written in a pack, for people: a number in its unit, yes or no, a row by its title, else the word."""
    if literal.kind == NUMBER:
        return amount_words(Amount(literal.low, literal.typical, literal.high), unit, program, lang)
    if literal.kind == BOOL:
        return YES_NO[literal.flag].of(lang)
    return row_words(table, literal.word, program, lang) if table else inert(literal.word)


def row_words(table: str, row: str, program: Program, lang: str) -> str:
    """The title of a table's row, else its id."""
    found = program.tables[table].rows.get(row) if table in program.tables else None
    return inert(found.title.of(lang) if found is not None and found.title else row)
