"""Dissent: claims of the sources that lose where a value or a rule is used, or where a rule was put out of force."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from expert.advice import Dissent
from expert.engine.checking import would_speak
from expert.engine.evaluate import Env
from expert.engine.trace import FIRED, SATISFIED, VIOLATED, Firing, Trace
from expert.errors import NO_TEXT, Text
from expert.explain.evidence import overruled
from expert.explain.wording import cell_words, in_both, literal_words
from expert.language.program import Change, Conclude, Program
from expert.language.terms import CellTerm, ConstantTerm, FactTerm, Literal, RowTerm, Term, walk


def dissents(program: Program, trace: Trace, env: Env) -> Iterator[Dissent]:
    """Losing claims of the rules that fired or decided, of the constants and cells that these used, and of rules that a layer
    disabled and that would have objected here. Each claim once per fact."""
    seen: set[tuple[str, str]] = set()
    live = (FIRED, SATISFIED, VIOLATED)
    for firing in trace.firings:
        if firing.state not in live:
            continue
        rule = program.rules[firing.rule]
        fact = _subject(rule.effect)
        lost = {*rule.dissent, *overruled(rule.changes)}
        cite = tuple(name for name in rule.cite if name not in lost)
        for claim in rule.dissent:
            if (fact, claim) not in seen:
                seen.add((fact, claim))
                yield _dissenting(program, fact, rule.title, claim, NO_TEXT, cite, rule.id)
        for change in (*rule.changes, *_changes_used(program, trace, firing)):
            for claim in change.losing:
                if (fact, claim) not in seen:
                    seen.add((fact, claim))
                    yield _dissenting(program, fact, _change_words(program, change), claim, change.because, (), rule.id)
    for change in program.disabled:
        retired = program.retired.get(change.at.removeprefix("rules."))
        if retired is None or not would_speak(program, retired, env):
            continue
        for claim in change.losing:
            if claim not in {found for _, found in seen}:
                seen.add(("", claim))
                used = Text(f"out of force: {retired.title.of('en')}", f"已停用：{retired.title.of('zh')}")
                yield _dissenting(program, _subject(retired.effect), used, claim, change.because, (), "")


def _subject(effect: object) -> str:
    if isinstance(effect, Conclude):
        return effect.values[0][0]
    return str(getattr(effect, "fact", getattr(effect, "metric", "")))


def _changes_used(program: Program, trace: Trace, firing: Firing) -> Iterator[Change]:
    rule = program.rules[firing.rule]
    rows = dict(firing.rows)
    terms = [c.term for c in rule.when]
    if isinstance(rule.effect, Conclude):
        terms += [value.term for _, value in rule.effect.values]
    elif hasattr(rule.effect, "test"):
        terms.append(rule.effect.test.term)
    for term in terms:
        for part in walk(term):
            yield from _changes_of(program, trace, part, rows)


def _changes_of(program: Program, trace: Trace, part: Term, rows: Mapping[str, str]) -> Iterator[Change]:
    if isinstance(part, ConstantTerm):
        yield from program.constants[part.constant].changes
    if isinstance(part, CellTerm):
        row = _row_of(trace, part.row, rows)
        found = program.tables[part.table].rows.get(row) if row is not None else None
        cell = found.cells.get(part.column) if found is not None else None
        if cell is not None:
            yield from cell.changes


def _change_words(program: Program, change: Change) -> Text:
    """What a change put in force, by the names that people know: a constant, a table cell, or a field of a rule."""
    kind, _, rest = change.at.partition(".")
    name = rest.removesuffix(".value")
    if kind == "constants" and name in program.constants:
        constant = program.constants[name]
        title = constant.title or Text(name)
        return in_both(lambda lang: f"{title.of(lang)} = {literal_words(constant.value, constant.unit, None, program, lang)}")
    if kind == "tables":
        return _cell_words(program, change, rest)
    if kind == "rules":
        rule, _, field = rest.partition(".")
        title = program.rules[rule].title if rule in program.rules else Text(rule)
        return in_both(lambda lang: f"{title.of(lang)} ({field})" if lang == "en" else f"{title.of(lang)}（{field}）")
    return Text(f"{rest} = {change.now}")


def _cell_words(program: Program, change: Change, path: str) -> Text:
    """A changed table cell: row, column and its value now."""
    name, *_, row, column = path.split(".")
    table = program.tables.get(name)
    found = table.rows.get(row) if table is not None else None
    cell = found.cells.get(column) if found is not None else None
    if table is None or found is None or cell is None:
        return Text(f"{path} = {change.now}")
    titles = (found.title or Text(row), table.columns[column].title or Text(column))

    def words(lang: str) -> str:
        shown = cell_words(cell, table.columns[column], program, lang) or change.now
        return (
            f"{titles[0].of(lang)}: {titles[1].of(lang)} {shown}" if lang == "en" else f"{titles[0].of(lang)}：{titles[1].of(lang)} {shown}"
        )

    return in_both(words)


def _row_of(trace: Trace, term: Term, rows: Mapping[str, str]) -> str | None:
    if isinstance(term, Literal):
        return term.word
    if isinstance(term, RowTerm):
        return rows.get(term.variable)
    value = trace.facts[term.fact].value if isinstance(term, FactTerm) else None
    return value if isinstance(value, str) else None


def _dissenting(program: Program, fact: str, used: Text, claim: str, because: Text, cite: tuple[str, ...], rule: str) -> Dissent:
    says = program.claims[claim].says if claim in program.claims else Text(claim)
    return Dissent(fact, used, claim, says, because, cite, rule)
