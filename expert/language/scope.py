"""What the names in an expression can mean: facts, columns, constants and row variables, and how a dotted name is found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from expert.errors import NO_TEXT, Diagnostic, Span, Text
from expert.language.near import nearest
from expert.language.nodes import Name
from expert.language.terms import WORD, CellTerm, ConstantTerm, FactTerm, RowTerm, StatedTerm, Term
from expert.units import Unit, UnitTable


@dataclass(frozen=True, slots=True)
class Signature:
    """What a name holds. `kind` as in terms; `unit` of a number.

    table: the word (or each word of a list) is a row id of this table. words: the words allowed, None for any.
    """

    kind: str
    unit: Unit | None = None
    table: str | None = None
    words: frozenset[str] | None = None
    declared: Span | None = None


@dataclass(frozen=True)
class Scope:
    """Everything an expression may name. `rows` are the `for` variables with their tables."""

    facts: Mapping[str, Signature]
    columns: Mapping[str, Mapping[str, Signature]]
    constants: Mapping[str, Signature]
    rows: Mapping[str, str]
    units: UnitTable
    table_rows: Mapping[str, frozenset[str]]

    def allowed(self, signature: Signature) -> frozenset[str] | None:
        """The words that a word or list of this signature can hold, None for any."""
        if signature.words is not None or signature.table is None:
            return signature.words
        return self.table_rows.get(signature.table)


@dataclass(frozen=True, slots=True)
class Resolved:
    """A name that was found: its term and what it holds."""

    term: Term
    signature: Signature


def resolve(name: Name, scope: Scope) -> Resolved | Diagnostic | None:
    """What a name stands for, the mistake in its columns, or None where nothing has that name (it may be a word).

    The longest declared fact that begins the name wins; what follows are columns, row by row.
    """
    stated = name.parts[0] == "plan" and len(name.parts) > 1
    parts = name.parts[1:] if stated else name.parts
    for length in range(len(parts), 0, -1):
        fact = ".".join(parts[:length])
        signature = scope.facts.get(fact)
        if signature is not None:
            make = StatedTerm if stated else FactTerm
            base = Resolved(make(name.span, signature.kind, fact, signature.unit), signature)
            return _columns(name, base, len(name.parts) - len(parts) + length, scope)
    if stated:
        return unknown_name(name, scope)
    if parts[0] in scope.rows:
        table = scope.rows[parts[0]]
        return _columns(name, Resolved(RowTerm(name.span, WORD, parts[0], table), Signature(WORD, table=table)), 1, scope)
    constant = scope.constants.get(parts[0]) if len(parts) == 1 else None
    if constant is not None:
        return Resolved(ConstantTerm(name.span, constant.kind, parts[0], constant.unit), constant)
    return None


def _columns(name: Name, base: Resolved, used: int, scope: Scope) -> Resolved | Diagnostic:
    found = base
    for place in range(used, len(name.parts)):
        before, column = ".".join(name.parts[:place]), name.parts[place]
        table = found.signature.table if found.signature.kind == WORD else None
        if table is None:
            return _no_columns(name, before, scope)
        signature = scope.columns.get(table, {}).get(column)
        if signature is None:
            return _unknown_column(name, before, column, table, scope)
        found = Resolved(CellTerm(name.span, signature.kind, found.term, table, column, signature.unit), signature)
    return found


def _no_columns(name: Name, before: str, scope: Scope) -> Diagnostic:
    close = nearest(name.dotted, scope.facts)
    help = did_you_mean(close, scope.facts[close].declared) if close is not None and close != before else NO_TEXT
    message = Text(f"'{before}' names no row of a table, so it has no '{name.dotted[len(before) + 1 :]}'", f"“{before}”不是表的行，没有列")
    return Diagnostic("no-columns", message, part_span(name.span, name.dotted, len(before) + 1), help)


def _unknown_column(name: Name, before: str, column: str, table: str, scope: Scope) -> Diagnostic:
    columns = scope.columns.get(table, {})
    close = nearest(column, columns)
    known = ", ".join(columns)
    help = did_you_mean(f"{before}.{close}", columns[close].declared) if close else Text(f"its columns are {known}", f"该表的列：{known}")
    message = Text(f"table '{table}' has no column '{column}'", f"表“{table}”没有列“{column}”")
    return Diagnostic("unknown-column", message, part_span(name.span, name.dotted, len(before) + 1, len(column)), help)


def part_span(span: Span, text: str, offset: int, length: int | None = None) -> Span:
    """The place of a stretch of a name or unit, or the whole where escapes in the file hide the columns."""
    if span.end_column - span.column != len(text):
        return span
    end = offset + length if length is not None else len(text)
    return replace(span, column=span.column + offset, end_column=span.column + end)


def did_you_mean(name: str, declared: Span | None) -> Text:
    """The help line that names the nearest right name and where it is declared."""
    if declared is None:
        return Text(f"did you mean '{name}'?", f"是否应为“{name}”？")
    place = f"{declared.file}:{declared.line}"
    return Text(f"did you mean '{name}', declared at {place}?", f"是否应为“{name}”（声明于 {place}）？")


def is_family(name: Name, scope: Scope) -> bool:
    """Whether a dotted name begins like the facts do, so that it is meant as a fact and not as a word."""
    if len(name.parts) < 2:
        return False
    head = name.parts[0]
    return head == "plan" or head in scope.rows or any(fact.split(".", 1)[0] == head for fact in scope.facts)


def unknown_name(name: Name, scope: Scope) -> Diagnostic:
    """Nothing is called so: the nearest name, or that minus needs blanks around it."""
    stated = "plan." if name.parts[0] == "plan" and len(name.parts) > 1 else ""
    written = name.dotted[len(stated) :]
    if len(name.parts) > 1:
        code, message = "unknown-fact", Text(f"no fact is called '{written}'", f"没有名为“{written}”的事实")
    else:
        code, message = "unknown-name", Text(f"nothing is called '{written}'", f"没有名为“{written}”的事实、常量或变量")
    return Diagnostic(code, message, part_span(name.span, name.dotted, len(stated)), _help(name, written, stated, scope))


def _help(name: Name, written: str, stated: str, scope: Scope) -> Text:
    minus = _as_difference(name, scope)
    if minus is not None:
        return Text(f"minus needs blanks around it: {minus}", f"减号两侧都需要空格：{minus}")
    close = nearest_name(written, scope)
    if close is None:
        return NO_TEXT
    signature = scope.facts.get(close) or scope.constants.get(close)
    return did_you_mean(stated + close, signature.declared if signature else None)


def nearest_name(written: str, scope: Scope) -> str | None:
    """The fact, constant, variable or variable's column whose name is closest."""
    cells = [f"{variable}.{column}" for variable, table in scope.rows.items() for column in scope.columns.get(table, {})]
    names: Iterable[str] = (*scope.facts, *scope.constants, *scope.rows, *cells)
    return nearest(written, names)


def _as_difference(name: Name, scope: Scope) -> str | None:
    text = name.dotted
    for place in (place for place, char in enumerate(text) if char == "-"):
        left, right = text[:place], text[place + 1 :]
        if all(_stands(side, name.span, scope) for side in (left, right)):
            return f"{left} - {right}"
    return None


def _stands(text: str, span: Span, scope: Scope) -> bool:
    return text.isdigit() or isinstance(resolve(Name(span, tuple(text.split("."))), scope), Resolved)
