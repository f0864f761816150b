"""Inference: a program and facts -> a trace. The search settles the decisions; the engine of record fires and must agree."""

from __future__ import annotations

from collections.abc import Mapping
from math import isclose

from expert.engine.firing import Engine, Fired
from expert.engine.outcomes import outcomes
from expert.engine.solving import Solution, Solver
from expert.engine.states import fact_states, rule_firings
from expert.engine.trace import SATISFIED, VIOLATED, Trace
from expert.engine.values import fails, from_slot
from expert.facts import Amount, Fact, Value
from expert.language.program import Program


class EngineDisagreementError(Exception):
    """The engine of record and the search derived different results: a fault of the program, exit 4."""


def infer(program: Program, facts: Mapping[str, Fact], engine: Engine, *, full: bool = True) -> Trace:
    """Derive everything from the given facts.

    full: also compute what explanations need beside the result: rejected values, freed pins, recommended values.
    Errors: EngineDisagreementError, with both results.
    """
    stated = {name: fact.value for name, fact in facts.items()}
    solution = Solver(program, stated).solve()
    decided = {
        fact: value
        for solved in solution.solved.values()
        if solved.chosen is not None
        for fact, value in solved.chosen.values.items()
        if fact not in stated
    }
    fired = engine.fire(program, stated, decided)
    confirm(program, solution, fired)
    firings = rule_firings(program, solution, fired)
    states = fact_states(program, facts, solution, fired, firings)
    return Trace(engine.name, states, firings, outcomes(program, stated, solution, full), outside_covers(program, fired))


def confirm(program: Program, solution: Solution, fired: Fired) -> None:
    """Check that the engine of record derived what the search did: fact values, and the tests of the chosen options."""
    wrong = []
    for name, decl in program.facts.items():
        searched = from_slot(solution.env[name], decl.kind)
        if not _agree(searched, fired.values.get(name)):
            wrong.append(f"{name}: the search has {searched}, the {fired.engine} engine has {fired.values.get(name)}")
    verdicts: dict[str, set[str]] = {}
    for match in fired.matches:
        verdicts.setdefault(match.rule, set()).add(match.state)
    for solved in solution.solved.values():
        if solved.search is None or solved.chosen is None:
            continue
        env = solution.env
        for test in solved.search.problem.requires:
            if test.rule is None:
                continue
            searched_state = VIOLATED if fails(test.exact(env)) else SATISFIED
            if VIOLATED in verdicts.get(test.id, set()) and searched_state != VIOLATED:
                wrong.append(f"rule {test.id}: the search has {searched_state}, the {fired.engine} engine has violated")
    if wrong:
        raise EngineDisagreementError("; ".join(wrong[:5]))


def _agree(a: Value | None, b: Value | None) -> bool:
    if isinstance(a, Amount) and isinstance(b, Amount):
        return isclose(a.low, b.low, rel_tol=1e-9, abs_tol=1e-300) and isclose(a.high, b.high, rel_tol=1e-9, abs_tol=1e-300)
    return a == b


def outside_covers(program: Program, fired: Fired) -> tuple[str, ...]:
    """Facts whose value lies outside what the packs cover."""
    found = []
    for name, decl in program.facts.items():
        value = fired.values.get(name)
        if decl.covers is not None and isinstance(value, Amount) and not (decl.covers[0] <= value.low and value.high <= decl.covers[1]):
            found.append(name)
    return tuple(found)
