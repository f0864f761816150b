"""From pack folders to a `Program`: read, layer, check, order. All mistakes of all files come in one error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from expert.errors import Diagnostic, ExpertError
from expert.language.blame import blamed
from expert.language.build_decisions import build_decisions
from expert.language.build_facts import Known, declare_facts, finish_facts, signature_of
from expert.language.build_rules import RuleContext, build_retired, build_rules, check_losing
from expert.language.build_scenarios import build_scenarios
from expert.language.build_sources import build_sources, build_topics, build_units
from expert.language.build_tables import build_constants, build_tables
from expert.language.changes import apply_changes
from expert.language.expressions import Expressions
from expert.language.layers import Layered, add_pack
from expert.language.limits import check_entries
from expert.language.packs import RawPack, read_packs
from expert.language.program import Constant, FactDecl, Program, Table
from expert.language.reading import Reading
from expert.language.scope import Scope, Signature
from expert.language.strata import stratify
from expert.language.terms import WORD
from expert.units import UnitTable
from expert.yamldoc import PACK_LIMIT_BYTES, Source


def compile_packs(folders: Sequence[Path], *, without: frozenset[str] = frozenset(), limit_bytes: int = PACK_LIMIT_BYTES) -> Program:
    """The program that pack folders make, layered in the order given; packs named in `without` are left out.

    Errors: ExpertError with every mistake of every file, sorted by place.
    """
    reading = Reading()
    packs = read_packs(folders, without, reading, limit_bytes)
    unreadable = tuple(reading.mistakes)
    try:
        return _program(packs, reading)
    except ExpertError as error:
        if reading.lost or unreadable:
            raise
        found = blamed(error, packs, lambda fewer: _mistakes(fewer, reading.sources))
        raise ExpertError(tuple(map(reading.with_line, found.diagnostics)), found.exit_code) from None


def _mistakes(packs: Sequence[RawPack], sources: Mapping[str, Source]) -> tuple[Diagnostic, ...]:
    """What is wrong with packs that have been read, () where nothing is."""
    reading = Reading()
    reading.sources.update(sources)
    try:
        _program(packs, reading)
    except ExpertError as error:
        return error.diagnostics
    return ()


def _program(packs: Sequence[RawPack], reading: Reading) -> Program:
    """The program of packs that have been read. Errors: ExpertError, with what `reading` has already."""
    layered = layer_packs(packs, reading)
    check_entries(layered, reading)
    sources, claims = build_sources(layered, reading)
    cites = frozenset(layered.entries["sources"]) | frozenset(layered.entries["claims"])
    topics = build_topics(layered, reading)
    units, unit_texts, currency = build_units(layered, reading)
    tables = build_tables(layered, units, cites, reading)
    constants = build_constants(layered, units, cites, reading)
    known = Known(layered, units, currency, frozenset(topics), cites, reading)
    declared = declare_facts(known)
    expressions = Expressions(scope_of(declared, tables, constants, units), reading, broken_names(layered))
    facts = finish_facts(declared, expressions, known)
    context = RuleContext(layered, facts, constants, frozenset(topics), cites, expressions, reading, unit_texts)
    rules = build_rules(context)
    decisions = build_decisions(context, tables, units)
    check_losing(context)
    scenarios = build_scenarios(layered.packs, facts, frozenset(layered.entries["rules"]), reading)
    quiet = Reading()
    retired = build_retired(replace(context, reading=quiet, expressions=replace(expressions, reading=quiet)))
    strata = stratify(facts, rules, decisions)
    # Without the edges of a broken rule or decision an order may seem to be missing.
    sure = [found for found in strata.mistakes if not (reading.mistakes and found.code == "decision-order")]
    reading.mistakes += [] if reading.lost else [reading.with_line(found) for found in sure]
    reading.raise_if_any()
    return Program(
        packs=tuple(pack.pack for pack in layered.packs),
        topics=topics,
        units=units,
        unit_texts=unit_texts,
        facts=facts,
        tables=tables,
        constants=constants,
        rules=rules,
        decisions=decisions,
        sources=sources,
        claims=claims,
        schedule=strata.schedule,
        contributors=strata.contributors,
        tests_of=strata.tests_of,
        bodies=strata.bodies,
        dependencies=strata.dependencies,
        deciders=strata.deciders,
        disabled=tuple(layered.disabled.values()),
        scenarios=scenarios,
        retired=retired,
    )


def layer_packs(packs: Sequence[RawPack], reading: Reading) -> Layered:
    """All packs in order, each one's changes applied to what lies below it.

    Errors: recorded in `reading`.
    """
    layered = Layered(tuple(packs))
    for pack in packs:
        # Before the pack's own entries are there: a layer changes what is below it, its own text it edits in place.
        apply_changes(layered, pack, reading)
        add_pack(layered, pack, reading)
    return layered


def scope_of(facts: Mapping[str, FactDecl], tables: Mapping[str, Table], constants: Mapping[str, Constant], units: UnitTable) -> Scope:
    """Everything that an expression of these packs may name. Money facts are read through NAME_rate and NAME_total only."""
    return Scope(
        facts={name: signature_of(declared) for name, declared in facts.items() if declared.type != "money"},
        columns={name: columns_of(table) for name, table in tables.items()},
        constants={name: _constant_signature(constant) for name, constant in constants.items()},
        rows={},
        units=units,
        table_rows={name: frozenset(table.rows) for name, table in tables.items()},
    )


def columns_of(table: Table) -> dict[str, Signature]:
    """What the columns of a table hold."""
    return {name: Signature(column.kind, column.unit, column.table, None, table.span) for name, column in table.columns.items()}


def _constant_signature(constant: Constant) -> Signature:
    words = frozenset({constant.value.word}) if constant.value.kind == WORD else None
    return replace(Signature(constant.value.kind, constant.unit, None, words, constant.span))


def broken_names(layered: Layered) -> frozenset[str]:
    """Names that were refused: facts and constants as they are, columns as `.COLUMN`, every column of a broken table."""
    found = {name for heading, name in layered.broken if heading in ("facts", "constants")}
    found |= {f".{name.rsplit('.', 1)[1]}" for heading, name in layered.broken if heading == "columns"}
    return frozenset(found)
