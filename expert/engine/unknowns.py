"""Why something is unknown: traced through the rules that could have concluded it, down to what nobody stated.

Only what stands in the way is named: a rule whose condition is false could not have helped, whatever else it lacks.
"""

from __future__ import annotations

from collections.abc import Iterator

from expert.engine.concluding import bindings
from expert.engine.evaluate import PLAN_KEY, Env, cell_slot, compile_term
from expert.engine.model import knowledge_of
from expert.engine.values import STATED, fails, from_slot, holds, is_known
from expert.language.program import Conclude, Prefer, Program, Require, Rule
from expert.language.terms import CellTerm, FactTerm, StatedTerm, Term, walk


def missing_in(term: Term, program: Program, env: Env) -> tuple[str, ...]:
    """What is unknown in a term: facts that nobody stated or decided, "plan.X", or "table.row.column" of an empty cell."""
    return tuple(dict.fromkeys(_missing(term, program, env, set())))


def missing_for(rule: Rule, program: Program, env: Env) -> tuple[str, ...]:
    """What a rule lacks: of its conditions that are not false, and of its test or values."""
    return tuple(dict.fromkeys(_missing_for(rule, program, env, set(), None)))


def _why(fact: str, program: Program, env: Env, seen: set[str]) -> Iterator[str]:
    if fact in seen or is_known(env[fact]):
        return
    seen.add(fact)
    found = False
    for rule in program.contributors.get(fact, ()):
        for name in _missing_for(program.rules[rule], program, env, seen, fact):
            found = True
            yield name
    if not found:
        yield fact


def _missing_for(rule: Rule, program: Program, env: Env, seen: set[str], concluded: str | None) -> Iterator[str]:
    closures = knowledge_of(program).rule(rule.id)
    for _ in bindings(closures.loops, env):
        truths = [truth(env) for truth in closures.when]
        if any(fails(truth) for truth in truths):
            continue
        for condition, truth in zip(rule.when, truths, strict=True):
            if not holds(truth):
                yield from _missing(condition.term, program, env, seen)
        for term in _results(rule, concluded):
            yield from _missing(term, program, env, seen)


def _results(rule: Rule, concluded: str | None) -> list[Term]:
    if isinstance(rule.effect, (Require, Prefer)):
        return [rule.effect.test.term]
    if isinstance(rule.effect, Conclude):
        return [value.term for name, value in rule.effect.values if concluded is None or name == concluded]
    return []


def _missing(term: Term, program: Program, env: Env, seen: set[str]) -> Iterator[str]:
    for part in walk(term):
        if isinstance(part, FactTerm):
            yield from _why(part.fact, program, env, seen)
        elif isinstance(part, StatedTerm) and not is_known(env.get(PLAN_KEY + part.fact, STATED)):
            yield PLAN_KEY + part.fact
        elif isinstance(part, CellTerm):
            yield from _empty_cell(part, program, env)


def _empty_cell(part: CellTerm, program: Program, env: Env) -> Iterator[str]:
    row = from_slot(compile_term(part.row, program, exact=True)(env), "word")
    if not isinstance(row, str):
        return
    found = program.tables[part.table].rows.get(row)
    if not is_known(cell_slot(None if found is None else found.cells.get(part.column), part.kind)):
        yield f"{part.table}.{row}.{part.column}"
