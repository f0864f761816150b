"""A program as one durable definition: every rule of the packs, the hidden rules they need, and what is to be asserted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from expert.engine.durable_draft import Action, CellColumn, Draft, Report
from expert.engine.durable_mapping import Translator
from expert.engine.durable_pattern import ROW, merged, row_pattern
from expert.engine.durable_raw import Definition
from expert.engine.evaluate import cell_slot
from expert.engine.model import knowledge_of
from expert.engine.trace import FIRED, SATISFIED, VIOLATED
from expert.engine.values import Slot
from expert.language.program import Conclude, Condition, Prefer, Program, Require, Rule
from expert.language.terms import NotTerm, Term
from expert.records import dataclass


@dataclass(frozen=True, slots=True)
class Compiled:
    """What `fire` needs of a program. Nothing in it refers back to the program, so that it dies with it.

    copies: how many copies of each kind of message some rule reads; kinds that are absent here are never asserted.
    sources: kinds of messages that name table rows, with the columns in use of those rows. cells: by column, then row.
    rows: tables whose rows are asserted. lacks: words whose absence from a list fact some condition reads.
    """

    definition: Definition
    roles: tuple[tuple[str, ...], ...]
    actions: tuple[Action, ...]
    copies: Mapping[str, int]
    sources: Mapping[str, tuple[CellColumn, ...]]
    cells: Mapping[CellColumn, Mapping[str, Slot]]
    fixed: tuple[tuple[str, str, str], ...]
    rows: Mapping[str, tuple[str, ...]]
    lacks: Mapping[str, tuple[str, ...]]


def compile_rules(program: Program) -> Compiled:
    """The durable definition of a program.

    Errors: DurableLimitError "row-variables" or "conditions-per-rule".
    """
    draft = Draft(program.tables)
    translator = Translator(program, draft)
    for rule in program.rules.values():
        _add_rule(rule, program, draft, translator)
    columns = {column for found in draft.sources.values() for column in found} | {(table, column) for table, _, column in draft.fixed}
    return Compiled(
        definition=draft.definition(),
        roles=tuple(draft.roles),
        actions=tuple(draft.actions),
        copies=draft.copies,
        sources={kind: tuple(found) for kind, found in draft.sources.items()},
        cells={key: _cells(key, program) for key in sorted(columns)},
        fixed=tuple(draft.fixed),
        rows={name: tuple(table.rows) for name, table in program.tables.items() if f"{ROW}:{name}" in draft.copies},
        lacks={fact: tuple(words) for fact, words in draft.lacks.items()},
    )


def _cells(key: CellColumn, program: Program) -> dict[str, Slot]:
    table, name = key
    kind = program.tables[table].columns[name].kind
    return {row.id: cell_slot(row.cells.get(name), kind) for row in program.tables[table].rows.values()}


def _add_rule(rule: Rule, program: Program, draft: Draft, translator: Translator) -> None:
    variables = dict(rule.rows)
    names = tuple(variables)
    rows = row_pattern(variables)
    if isinstance(rule.effect, Conclude):
        when = translator.together(condition.term for condition in rule.when)
        if when is not None:
            for fact, value in rule.effect.values:
                if fact not in program.deciders:
                    pattern = merged([rows, when, translator.places.inputs(value.term)])
                    draft.add(pattern, _conclusion(rule, fact, names, program), variables)
        return
    for state, terms in _outcomes(rule):
        found = translator.together(terms)
        if found is not None:
            draft.add(merged([rows, found]), Report(rule.id, state, names), variables)


def _conclusion(rule: Rule, fact: str, names: tuple[str, ...], program: Program) -> Report:
    contributors = knowledge_of(program).facts[fact].contributors
    place = next(i for i, contributor in enumerate(contributors) if contributor.rule == rule.id)
    return Report(rule.id, FIRED, names, fact, place, contributors[place].value)


def _outcomes(rule: Rule) -> Iterable[tuple[str, list[Term]]]:
    when = [condition.term for condition in rule.when]
    test = test_of(rule)
    if test is None:
        yield FIRED, when
        return
    yield SATISFIED, [*when, test.term]
    yield VIOLATED, [*when, NotTerm(test.span, test.term.kind, test.term)]


def test_of(rule: Rule) -> Condition | None:
    """The test of a require or prefer rule."""
    return rule.effect.test if isinstance(rule.effect, Require | Prefer) else None


def raw_share(program: Program) -> tuple[int, int]:
    """How many conditions (lines of `when`, and tests) the engine matches without arithmetic, and how many there are.

    The rest need a hidden rule whose action computes a value that is then compared.
    """
    translator = Translator(program, Draft(program.tables))
    raw = total = 0
    for rule in program.rules.values():
        test = test_of(rule)
        for condition in (*rule.when, *([] if test is None else [test])):
            sides = (True, False) if condition is test else (True,)
            patterns = [translator.pattern(condition.term, wanted) for wanted in sides]
            total += 1
            raw += not any(pattern is not None and pattern.computed for pattern in patterns)
    return raw, total
