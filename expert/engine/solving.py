"""Running the schedule in Python: facts are settled stratum by stratum, decisions are searched, and looked ahead of.

`Solver` gives the values that both engines then fire with. It derives no trace; `inference` does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

from expert.engine.boxes import CERTAIN, Option, Problem
from expert.engine.evaluate import Env
from expert.engine.evaluation import Evaluation, Ids, Pool
from expert.engine.firing import start_env
from expert.engine.model import STATED_TEST, DecisionModel, Knowledge, TestModel, knowledge_of, stated_test
from expert.engine.search import Ranking, Search
from expert.engine.trace import DECIDED, INFEASIBLE, UNDETERMINED
from expert.engine.unknowns import missing_for
from expert.engine.values import (
    OPTION,
    STATED,
    Slot,
    is_known,
    slot_bits,
    to_slot,
    unknown_slot,
    with_bits,
)
from expert.facts import Value
from expert.language.program import Program
from expert.records import dataclass

FORCE_LIMIT = 2000

Grade = tuple[int, int, int]
"""How complete a design is, least is best: something empty, something not certain, an aim missed."""


@dataclass(frozen=True, slots=True)
class Solved:
    """One decision as the search left it. `problem` and `search` are kept for explanations; None where it never ran."""

    model: DecisionModel
    status: str
    chosen: Option | None
    pins: tuple[str, ...]
    missing: tuple[str, ...] = ()
    ranking: Ranking | None = None
    search: Search | None = None
    not_in_force: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    passed_over: bool = False
    stated_dropped: bool = False


@dataclass(frozen=True, slots=True)
class Solution:
    """The final environment, the decisions, the aims that are only assumed, and how complete it is."""

    env: Env
    solved: Mapping[str, Solved]
    aims: frozenset[str]
    grade: Grade
    pool: Pool


class Solver:
    """Solves one plan: `stated` holds the values of given facts in base units. Pure; use a new one per plan."""

    def __init__(self, program: Program, stated: Mapping[str, Value], pool: Pool | None = None, *, alternatives: bool = True) -> None:
        """pool: evaluations of an earlier solver of the same program, to be shared; alternatives: also look for runners-up."""
        self.pool = Pool() if pool is None else pool
        self.alternatives = alternatives
        self.program = program
        self.knowledge: Knowledge = knowledge_of(program)
        self.stated = stated
        self.slots = {name: to_slot(value, program.facts[name].kind) for name, value in stated.items()}
        self.aims: set[str] = set()

    def solve(self) -> Solution:
        """Run the whole schedule."""
        grade, env, solved = self._run(0, start_env(self.program, self.stated))
        return Solution(env, solved, frozenset(self.aims), grade, self.pool)

    def _run(self, index: int, env: Env) -> tuple[Grade, Env, dict[str, Solved]]:
        """Run the schedule from a step on. `env` is this call's own."""
        for position in range(index, len(self.program.schedule)):
            step = self.program.schedule[position]
            for fact in step.facts:
                if fact not in self.program.deciders:
                    self.settle(fact, env)
            if step.decision is not None:
                return self._decide(position, self.knowledge.models[step.decision], env)
        return (0, 0, 0), env, {}

    def settle(self, fact: str, env: Env) -> None:
        """Finish one fact: stated, concluded, assumed or unknown."""
        if fact in self.slots:
            env[fact] = self.slots[fact]
            return
        env[fact] = upstream(self.knowledge.facts[fact].exact(env, STATED))
        used = self.knowledge.facts[fact].default_used(env)
        if used is not None and self.program.facts[fact].default[used].aim:
            self.aims.add(fact)

    # Decisions.

    def _decide(self, position: int, model: DecisionModel, env: Env) -> tuple[Grade, Env, dict[str, Solved]]:
        pins = tuple(v for v in model.variables if v in self.stated)
        missing = self._missing(model, env)
        if missing and len(pins) < len(model.variables):
            return self._without(position, Solved(model, UNDETERMINED, None, pins, missing), env, (0, 1, 0))
        problem, not_in_force = self.problem(model, env, pins)
        search = Search(problem)
        ranking = search.best(shortlist=self._shortlist(model))
        dropped = False
        if ranking.chosen is None and not ranking.unproven and problem.evaluation.stated:
            relaxed = replace(problem, requires=tuple(t for t in problem.requires if not t.id.startswith(STATED_TEST)))
            retry = Search(relaxed)
            search, ranking, dropped = retry, retry.best(shortlist=self._shortlist(model)), True
        if ranking.chosen is None:
            status = UNDETERMINED if ranking.unproven else INFEASIBLE
            cells = tuple(sorted({r for o in ranking.unproven for r in o.unproven})) if ranking.unproven else ()
            grade: Grade = (0, 1, 0) if ranking.unproven else (1, 0, 0)
            empty = Solved(model, status, None, pins, cells, ranking, search, not_in_force)
            return self._without(position, empty, env, grade)
        found = Solved(model, DECIDED, ranking.chosen, pins, (), ranking, search, not_in_force, False, dropped)
        return self._look_ahead(position, found, env)

    def _shortlist(self, model: DecisionModel) -> int:
        return model.decision.shortlist if self.alternatives else 0

    def _missing(self, model: DecisionModel, env: Env) -> tuple[str, ...]:
        """What leaves the decision undetermined: unknown needs, and unknown facts of earlier decisions that it reads."""
        needs = [f for f in model.decision.needs if not is_known(env[f])]
        own = frozenset(model.variables)
        deciders = self.program.deciders
        unread = [f for f in sorted(model.reads - own) if f in deciders and f in env and not is_known(env[f])]
        later = {f for f in unread if not self._before(deciders[f], model.decision.id)}
        return tuple(dict.fromkeys([*needs, *(f for f in unread if f not in later)]))

    def _before(self, first: str, second: str) -> bool:
        order = [step.decision for step in self.program.schedule if step.decision]
        return order.index(first) < order.index(second)

    def problem(self, model: DecisionModel, env: Env, pins: tuple[str, ...]) -> tuple[Problem, dict[str, tuple[str, ...]]]:
        """What the search needs, and the tests that are not in force with the facts that are unknown."""
        domains = {v: (self.stated[v],) if v in pins else model.domains[v] for v in model.variables}
        stated = {f: self.slots[f] for f in model.body if f in self.slots}
        kinds = {v: self.program.facts[v].kind for v in model.variables}
        evaluation = self.pool.evaluation(model, env, stated, kinds)
        whole = evaluation.ids(domains)
        off = {t.id: self._lacking(t, env, model) for t in (*model.requires, *model.prefers) if needs_unstated(evaluation, t, whole)}
        requires = [t for t in model.requires if t.id not in off]
        hard = [t for t in requires if not t.facts & self.aims]
        hard += [stated_test(fact, slot, model.support[fact]) for fact, slot in stated.items()]
        problem = Problem(
            evaluation=evaluation,
            domains=domains,
            requires=tuple(hard),
            goals=tuple(t for t in requires if t.facts & self.aims),
            prefers=tuple(t for t in model.prefers if t.id not in off),
            cell_variables=model.downstream,
            ranks={v: {value: i for i, value in enumerate(model.domains[v])} for v in model.variables},
        )
        return problem, off

    def _lacking(self, test: TestModel, env: Env, model: DecisionModel) -> tuple[str, ...]:
        """What a test that is not in force lacks, other than the decision's own variables."""
        assert test.rule is not None
        return tuple(name for name in missing_for(test.rule, self.program, env) if name not in model.variables)

    def _look_ahead(self, position: int, found: Solved, env: Env) -> tuple[Grade, Env, dict[str, Solved]]:
        """Take the best option whose completion leaves nothing empty, is certain and meets the aims, as far as there is one."""
        assert found.search is not None
        assert found.ranking is not None
        assert found.chosen is not None
        downstream = tuple(v for v in found.model.variables if v in found.model.downstream)
        seen: set[tuple[Value, ...]] = set()
        floor = _own_grade(found.chosen)
        best: tuple[Grade, Env, dict[str, Solved]] | None = None
        least: Grade | None = None
        ranking, chosen = found.ranking, found.chosen
        while True:
            own = replace(found, chosen=chosen, ranking=ranking, passed_over=bool(seen))
            result = self._complete(position, own, env)
            grade = self._grade(result[2], found.model)
            if least is None or best is None or grade < least:
                least, best = grade, result
            if grade <= floor or not downstream:
                break
            seen.add(tuple(chosen.values[v] for v in downstream))
            ranking = found.search.best(lambda values: _all_in(values, downstream, seen), self._shortlist(found.model))
            if ranking.chosen is None:
                break
            chosen = ranking.chosen
        if least[0]:
            return self._complete(position, found, env)
        return best

    def _complete(self, position: int, solved: Solved, env: Env) -> tuple[Grade, Env, dict[str, Solved]]:
        assert solved.search is not None
        assert solved.chosen is not None
        bound = solved.search.exact_env(solved.chosen.values)
        # Of a shared evaluation only what the decision itself gives may be taken: the rest of its environment is another run's.
        following = {**env, **{variable: bound[variable] for variable in solved.model.variables}}
        following.update({fact: upstream(bound[fact]) for fact in solved.model.body})
        grade, final, later = self._run(position + 1, following)
        own = _own_grade(solved.chosen)
        return (max(grade[0], own[0]), max(grade[1], own[1]), max(grade[2], own[2])), final, {solved.model.decision.id: solved, **later}

    def _without(self, position: int, solved: Solved, env: Env, own: Grade) -> tuple[Grade, Env, dict[str, Solved]]:
        """Go on without this decision: what the plan states stands, the rest is unknown."""
        for variable in solved.model.variables:
            if variable not in self.slots:
                env[variable] = unknown_slot(self.program.facts[variable].kind, STATED)
        grade, final, later = self._run(position + 1, env)
        return (max(grade[0], own[0]), max(grade[1], own[1]), max(grade[2], own[2])), final, {solved.model.decision.id: solved, **later}

    def _grade(self, solved: Mapping[str, Solved], model: DecisionModel) -> Grade:
        """The worst of a decision and the later ones that depend on it, directly or through decisions between.

        What is empty whatever this one chooses is no reason to give way, nor to give up what can be saved.
        """
        moved = set(model.variables)
        grade: Grade = (0, 0, 0)
        for each in solved.values():
            if each.model is not model and not each.model.reads & moved:
                continue
            moved |= set(each.model.variables)
            found = _grade_of(each)
            grade = (max(grade[0], found[0]), max(grade[1], found[1]), max(grade[2], found[2]))
        return grade


def _grade_of(solved: Solved) -> Grade:
    """Empty; undetermined or not certain; an aim missed."""
    if solved.chosen is not None:
        return _own_grade(solved.chosen)
    return (1, 0, 0) if solved.status == INFEASIBLE else (0, 1, 0)


def needs_unstated(evaluation: Evaluation, test: TestModel, whole: Ids) -> bool:
    """True when for some option of the box the truth of a test needs something that nobody stated.

    The box as a whole may seem to (a count of 1 or 8 covers 4), so it is split; past the limit its word is taken.
    """
    stack, left = [whole], FORCE_LIMIT
    while stack:
        ids = stack.pop()
        if not evaluation.test(test, ids) & STATED:
            continue
        left -= 1
        open_places = [p for p in map(evaluation.place, sorted(test.touches)) if not evaluation.is_single(ids, p)]
        if left < 0 or (not open_places and evaluation.test(test, ids, exact=True) & STATED):
            return True
        if open_places:
            stack += evaluation.split(ids, open_places[0])
    return False


def _own_grade(option: Option) -> Grade:
    return (0, 0 if option.certainty == CERTAIN else 1, 0 if option.met else 1)


def _all_in(values: Mapping[str, Value], names: tuple[str, ...], seen: set[tuple[Value, ...]]) -> bool:
    return all(name in values for name in names) and tuple(values[name] for name in names) in seen


def upstream(slot: Slot) -> Slot:
    """A finished fact as later steps see it: what was unknown because of an option is now simply not stated."""
    bits = slot_bits(slot)
    if not bits & OPTION:
        return slot
    if isinstance(slot, int):
        return (slot & ~OPTION) | STATED
    cleared: Slot = (*slot[:-1], bits & ~OPTION)
    return with_bits(cleared, STATED)
