"""How each decision ended, as data: what decided, what came second, what was rejected, what freeing a pin would give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from expert.engine.boxes import INFINITE, Option, Problem, rank_cost
from expert.engine.evaluate import Env
from expert.engine.evaluation import Pool
from expert.engine.exclusion import excluding, freeable, narrowed, rejections, relaxations
from expert.engine.search import Search
from expert.engine.solving import Solution, Solved, Solver
from expert.engine.trace import INFEASIBLE, UNDETERMINED, Freed, OptionState, Outcome, Rejection
from expert.engine.unknowns import missing_for
from expert.engine.values import OPTION, TRUE, from_slot
from expert.facts import Amount, Value
from expert.language.program import Program

PIN, REQUIREMENT, PREFERENCE, AIM, COST, ORDER = "pin", "requirement", "preference", "aim", "cost", "order"


def outcomes(program: Program, stated: Mapping[str, Value], solution: Solution, full: bool) -> dict[str, Outcome]:
    """Every decision's outcome. With `full`, also rejected values, freed pins, relaxations and what freed facts would become."""
    return {name: _outcome(program, stated, solution, solved, full) for name, solved in solution.solved.items()}


def _outcome(program: Program, stated: Mapping[str, Value], solution: Solution, solved: Solved, full: bool) -> Outcome:
    search, ranking = solved.search, solved.ranking
    name = solved.model.decision.id
    recommended = _recommended(program, stated, solved, solution.pool) if full and solved.pins else None
    if search is None or ranking is None:
        return Outcome(name, solved.status, None, PIN if solved.pins else REQUIREMENT, solved.pins, solved.missing, recommended=recommended)
    second = search.second(ranking) if solved.chosen is not None else None
    beaten = search.other(solved.chosen) if second is None and solved.chosen is not None else second
    decided_by, tie = _decided_by(solved, beaten)
    problem = search.problem
    known = [o for o in (solved.chosen, *ranking.alternatives, second) if o is not None]
    infeasible = solved.status == INFEASIBLE
    alternatives = list(ranking.alternatives)
    if second is not None and all(second.values != other.values for other in alternatives):
        alternatives = [second, *alternatives][: max(1, solved.model.decision.shortlist)]
    return Outcome(
        decision=name,
        status=solved.status,
        chosen=None if solved.chosen is None else option_state(program, search, solved.chosen),
        decided_by=decided_by,
        pins=solved.pins,
        missing=_missing_cells(program, solved) if solved.missing and ranking.unproven else solved.missing,
        in_force=tuple(t.id for t in (*problem.requires, *problem.goals, *problem.prefers) if t.rule is not None),
        not_in_force=tuple(sorted(solved.not_in_force.items())),
        alternatives=tuple(option_state(program, search, o) for o in alternatives),
        cheapest_possible=None if ranking.possible is None else option_state(program, search, ranking.possible),
        unproven=tuple(option_state(program, search, o) for o in ranking.unproven),
        rejected=_rejected(search, known) if full and not infeasible else (),
        recommended=recommended,
        excluding=excluding(search) if infeasible else (),
        freed=_freed(program, search, solved) if infeasible and full else (),
        relaxations=relaxations(problem) if infeasible and full else _blockers(problem, solved) if full else (),
        missed=_missed(search, solved.chosen),
        options=_count(search),
        tie=tie,
        passed_over=solved.passed_over,
    )


def _blockers(problem: Problem, solved: Solved) -> tuple[tuple[str, ...], ...]:
    """Where only unproven options are left: rules, other than laws, each of which alone keeps the certain ones away."""
    if solved.status != UNDETERMINED or solved.ranking is None or not solved.ranking.unproven:
        return ()
    found = []
    for test in problem.requires:
        if test.rule is None or test.rule.law:
            continue
        rest = tuple(t for t in problem.requires if t is not test)
        if Search(narrowed(problem, {}, rest)).best().chosen is not None:
            found.append((test.id,))
    return tuple(found)


def _count(search: Search) -> int:
    product = 1
    for values in search.problem.domains.values():
        product *= len(values)
    return product


def _rejected(search: Search, known: list[Option]) -> tuple[Rejection, ...]:
    return rejections(search.problem, known)


def _freed(program: Program, search: Search, solved: Solved) -> tuple[Freed, ...]:
    groups = freeable(search.problem, solved.pins)
    return tuple(Freed(pins, option_state(program, search, option)) for pins, option in groups)


def _recommended(program: Program, stated: Mapping[str, Value], solved: Solved, pool: Pool) -> dict[str, Value | None]:
    """For each pinned fact, what the rules choose with it freed (everything else as stated)."""
    found: dict[str, Value | None] = {}
    for pin in solved.pins:
        freed = Solver(program, {n: value for n, value in stated.items() if n != pin}, pool, alternatives=False).solve()
        again = freed.solved.get(solved.model.decision.id)
        chosen = None if again is None else again.chosen
        found[pin] = None if chosen is None else chosen.values[pin]
    return found


def _decided_by(solved: Solved, second: Option | None) -> tuple[str, bool]:
    """The first criterion by which the chosen option beats the best other one, and whether only table order told them apart."""
    chosen = solved.chosen
    assert solved.search is not None
    if len(solved.pins) == len(solved.model.variables):
        return PIN, False
    if chosen is None or second is None:
        return REQUIREMENT, False
    if chosen.certainty != second.certainty:
        return REQUIREMENT, False
    if (chosen.met, chosen.miss) != (second.met, second.miss):
        return AIM, False
    within = solved.model.decision.within
    if chosen.typical_cost < INFINITE and second.typical_cost > chosen.typical_cost * (1 + within) * (1 + 1e-9):
        return COST, False
    if chosen.score != second.score:
        return PREFERENCE, False
    if chosen.order != second.order:
        return ORDER, False
    if solved.search.cost_fact and rank_cost(chosen.cost) != rank_cost(second.cost):
        return COST, False
    return ORDER, True


def option_state(program: Program, search: Search, option: Option) -> OptionState:
    """An option as data, with the preferences it meets and, where it is unproven, the cells that are missing."""
    env = search.exact_env(option.values)
    preferences = tuple(p.id for p in search.problem.prefers if p.exact(env) == TRUE)
    unproven = tuple((rule, _missing_for(program, rule, env)) for rule in option.unproven)
    cost = None
    if search.cost_fact and not option.cost[3] & OPTION:
        cost = cast("Amount | None", from_slot(option.cost, "number"))
    rejected = tuple(t.id for t in search.problem.requires if t.exact(env) == 2)
    return OptionState(option.values, option.certainty, option.score, cost, preferences, unproven, option.possible, rejected)


def _missing_for(program: Program, rule_id: str, env: Env) -> tuple[str, ...]:
    """What a test that is unproven lacks: the empty cells, else what no rule concluded."""
    rule = program.rules.get(rule_id)
    names = () if rule is None else missing_for(rule, program, env)
    return tuple(name for name in names if name.split(".")[0] in program.tables) or names


def _missing_cells(program: Program, solved: Solved) -> tuple[str, ...]:
    assert solved.ranking is not None
    assert solved.search is not None
    found: list[str] = []
    for option in solved.ranking.unproven:
        env = solved.search.exact_env(option.values)
        for rule in option.unproven:
            found += _missing_for(program, rule, env)
    return tuple(dict.fromkeys(found))


def _missed(search: Search, chosen: Option | None) -> tuple[tuple[str, float], ...]:
    if chosen is None or chosen.met:
        return ()
    env = search.exact_env(chosen.values)
    return tuple((goal.id, goal.miss_exact(env)) for goal in search.problem.goals if goal.exact(env) != TRUE)
