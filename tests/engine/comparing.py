"""What the engine says, checked against the oracle: values, decisions, and every reason given for what was not chosen."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from expert.engine.firing import ReferenceEngine
from expert.engine.inference import infer
from expert.engine.trace import FIRED, INFEASIBLE, NOT_CHECKED, SATISFIED, SILENT, VIOLATED, Outcome
from expert.facts import Amount, Fact, Value
from expert.language.program import Conclude, Prefer, Program, Require, Rule
from tests.engine.oracle import World
from tests.engine.oracle_decisions import CONCLUDES_OTHER, Judged, Solved, decided_by, judge, solve

STATED_TEST = "stated:"


class Comparison:
    """One plan run by both."""

    def __init__(self, program: Program, facts: Mapping[str, Fact]) -> None:
        self.program, self.facts = program, facts
        self.stated: dict[str, Value] = {name: fact.value for name, fact in facts.items()}
        self.trace = infer(program, facts, ReferenceEngine())
        self.solved = solve(program, self.stated)

    @cached_property
    def world(self) -> World:
        """The oracle's final state of affairs."""
        bound: dict[str, Value] = {}
        for solved in self.solved.values():
            bound.update(solved.chosen.values if solved.chosen is not None else {})
        return World(self.program, self.stated, bound)

    def differences(self) -> list[str]:
        """Everything in which the two differ, decisions first."""
        found = [f"{name}: {text}" for name, solved in self.solved.items() for text in self._decision(solved, self.trace.outcomes[name])]
        return found or [*self._values(), *self._states()]

    # Values and rules

    def _values(self) -> Iterator[str]:
        for name in self.program.facts:
            mine, theirs = self.world.fact(name).value, self.trace.facts[name].value
            if not same(mine, theirs):
                yield f"{name}: the oracle has {mine}, the engine {theirs}"

    def _states(self) -> Iterator[str]:
        off = {rule for outcome in self.trace.outcomes.values() for rule, _ in outcome.not_in_force}
        for rule in self.program.rules.values():
            if rule.id in off:
                continue
            mine = {state for state in self._states_of(rule) if state not in (SILENT, NOT_CHECKED)}
            theirs = {f.state for f in self.trace.firings_of(rule.id)} - {SILENT, NOT_CHECKED}
            if mine != theirs:
                yield f"rule {rule.id}: the oracle has {sorted(mine)}, the engine {sorted(theirs)}"

    def _states_of(self, rule: Rule) -> Iterator[str]:
        for rows in self.world.bindings(rule):
            when = self.world.all_of(rule.when, rows).value
            if when is not True:
                yield SILENT if when is False else NOT_CHECKED
                continue
            match rule.effect:
                case Require(test=test) | Prefer(test=test):
                    truth = self.world.evaluate(test.term, rows).value
                    yield NOT_CHECKED if truth is None else SATISFIED if truth else VIOLATED
                case Conclude(values=values):
                    known = any(self.world.evaluate(value.term, rows).value is not None for _, value in values)
                    yield FIRED if known else NOT_CHECKED
                case _:
                    yield FIRED

    # Decisions

    def _decision(self, solved: Solved, outcome: Outcome) -> Iterator[str]:
        if solved.status != outcome.status:
            yield f"the oracle says {solved.status}, the engine {outcome.status}"
            return
        if solved.options and set(solved.in_force) != set(outcome.in_force):
            yield f"in force are {sorted(solved.in_force)}, for the engine {sorted(outcome.in_force)}"
        if solved.chosen is not None:
            yield from self._chosen(solved.chosen, outcome)
            if not outcome.passed_over and len(outcome.pins) < len(solved.decision.assigns):
                mine = decided_by(solved)
                if mine != (outcome.decided_by, outcome.tie):
                    yield f"it was decided by {mine}, for the engine by {outcome.decided_by, outcome.tie}"
        if solved.options:
            yield from self._rejected(solved, outcome)
            yield from self._listed(solved, outcome)
        if outcome.status == INFEASIBLE:
            yield from self._excluding(solved, outcome)
            yield from self._relaxations(solved, outcome)
            yield from self._freed(solved, outcome)
        yield from self._recommended(solved, outcome)

    @staticmethod
    def _chosen(chosen: Judged, outcome: Outcome) -> Iterator[str]:
        theirs = outcome.chosen
        assert theirs is not None
        if dict(chosen.values) != dict(theirs.values):
            yield f"the oracle takes {shown(chosen.values)}, the engine {shown(theirs.values)}"
            return
        if chosen.certain != (theirs.certainty == "certain"):
            yield f"the chosen option is {theirs.certainty}"
        if chosen.score != theirs.score:
            yield f"the score is {chosen.score}, for the engine {theirs.score}"
        if {rule for rule, _ in outcome.missed} != set(chosen.missed):
            yield f"missed are {sorted(chosen.missed)}, for the engine {outcome.missed}"
        if any(abs(distance - chosen.missed[rule]) > 1e-6 for rule, distance in outcome.missed if distance != chosen.missed[rule]):
            yield f"missed by {chosen.missed}, for the engine by {outcome.missed}"

    def _rejected(self, solved: Solved, outcome: Outcome) -> Iterator[str]:
        if outcome.status == INFEASIBLE:
            return
        listed = {(r.fact, r.value): r for r in outcome.rejected}
        for fact, value in {(f, o.values[f]) for o in solved.options for f in o.values}:
            options = [o for o in solved.options if o.values[fact] == value]
            lost = all(o.rejected_by for o in options)
            found = listed.get((fact, value))
            free = len({o.values[fact] for o in solved.options}) > 1
            if found is None:
                if lost and free:
                    yield f"{fact} = {value} is rejected and not listed"
                continue
            if not lost:
                yield f"{fact} = {value} is listed as rejected, and is not"
            yield from self._cover(f"{fact} = {value}", options, found.rules, found.together)

    @staticmethod
    def _cover(what: str, options: Iterable[Judged], rules: tuple[str, ...], together: bool) -> Iterator[str]:
        sets = [o.rejected_by for o in options]
        named = frozenset(rule.replace(STATED_TEST, CONCLUDES_OTHER) for rule in rules)
        if not all(named & s for s in sets):
            yield f"{what}: {rules} do not reject all its options"
        if together != (len(rules) > 1):
            yield f"{what}: together is {together} for {rules}"
        if len(named) > 1 and frozenset.intersection(*sets):
            yield f"{what}: one rule alone rejects all, and {rules} are named"
        if any(all((named - {spare}) & s for s in sets) for spare in named):
            yield f"{what}: one of {rules} is spare"

    @staticmethod
    def _listed(solved: Solved, outcome: Outcome) -> Iterator[str]:
        by_values = {tuple(o.values.items()): o for o in solved.options}
        for option in outcome.alternatives:
            if not by_values[tuple(option.values.items())].admissible:
                yield f"the alternative {shown(option.values)} is not admissible"
        for option in outcome.unproven:
            mine = by_values[tuple(option.values.items())]
            if mine.rejected_by or not mine.unproven_by or {rule for rule, _ in option.unproven} != set(mine.unproven_by):
                yield f"{shown(option.values)} is not unproven by {option.unproven}"
        if any(not o.rejected_by and o.unproven_by for o in solved.options) and solved.chosen is None and not outcome.unproven:
            yield "unproven options are not listed"
        chosen = solved.chosen
        if chosen is None or chosen.cost is None or outcome.passed_over:
            return
        # As near to the aims as the chosen one: a cheaper option that misses them is no alternative to it.
        possible = [o for o in solved.options if o.admissible and not o.certain and o.group[1:] <= chosen.group[1:]]
        costs = [o.cost.middle for o in possible if o.cost is not None]
        sure = [o for o in solved.options if o.admissible and o.certain and o.group <= chosen.group]
        bar = min(o.cost.middle for o in (chosen, *sure) if o.cost is not None)
        if not costs or min(costs) >= bar * (1 - 1e-9):
            return
        if outcome.cheapest_possible is None:
            yield f"a possible option is cheaper ({min(costs)}), and none is shown"
        elif outcome.cheapest_possible.cost is None or outcome.cheapest_possible.cost.middle > min(costs) * (1 + 1e-9):
            yield f"the cheapest possible option costs {min(costs)}, {outcome.cheapest_possible.cost} is shown"

    @staticmethod
    def _excluding(solved: Solved, outcome: Outcome) -> Iterator[str]:
        named = set(outcome.excluding)
        if not all(named & o.rejected_by for o in solved.options):
            yield f"{outcome.excluding} do not exclude every option"

    def _relaxations(self, solved: Solved, outcome: Outcome) -> Iterator[str]:
        laws = {rule.id for rule in self.program.rules.values() if rule.law}
        needed = {o.rejected_by | o.unproven_by for o in solved.options}
        offered = {s for s in needed if not s & laws}
        minimal = {s for s in offered if not any(other < s for other in offered)}
        if {frozenset(s) for s in outcome.relaxations} != minimal:
            yield f"relaxations are {sorted(map(sorted, minimal))}, for the engine {outcome.relaxations}"

    def _freed(self, solved: Solved, outcome: Outcome) -> Iterator[str]:
        pins = outcome.pins
        for size in range(1, len(pins) + 1):
            groups = {group: [o for o in self._with_freed(solved, group) if o.admissible] for group in itertools.combinations(pins, size)}
            found = {group: options for group, options in groups.items() if options}
            if found:
                break
        else:
            found = {}
        if set(found) != {f.pins for f in outcome.freed}:
            yield f"freeing one of {sorted(found)} helps, for the engine {[f.pins for f in outcome.freed]}"
            return
        for freed in outcome.freed:
            options, pin = found[freed.pins], freed.pins[0]
            match = next((o for o in options if dict(o.values) == dict(freed.option.values)), None)
            if match is None:
                yield f"freed {freed.pins}: {shown(freed.option.values)} is not admissible"
            elif isinstance(pinned := self.stated[pin], Amount):
                nearest = min(abs(distance(o.values[pin], pinned)) for o in options)
                if abs(distance(match.values[pin], pinned)) > nearest + 1e-9:
                    yield f"freed {freed.pins}: {shown(freed.option.values)} is not the nearest"

    def _with_freed(self, solved: Solved, pins: tuple[str, ...]) -> list[Judged]:
        bound: dict[str, Value] = {}
        for earlier in self.solved.values():
            if earlier.decision is solved.decision:
                break
            bound.update(earlier.chosen.values if earlier.chosen is not None else {})
        stated = {name: value for name, value in self.stated.items() if name not in pins}
        return judge(self.program, stated, solved.decision, bound, solved.in_force)

    def _recommended(self, solved: Solved, outcome: Outcome) -> Iterator[str]:
        for pin in outcome.pins:
            freed = solve(self.program, {name: value for name, value in self.stated.items() if name != pin})[solved.decision.id]
            mine = freed.chosen.values[pin] if freed.chosen is not None else None
            if outcome.recommended is None or outcome.recommended[pin] != mine:
                yield f"with {pin} freed the rules choose {mine}, for the engine {outcome.recommended}"


def distance(value: Value, pinned: Amount) -> float:
    """How far a number is from what was pinned."""
    assert isinstance(value, Amount)
    return value.middle - pinned.middle


def same(a: Value | None, b: Value | None) -> bool:
    """Equal, numbers to eleven digits, lists as sets."""
    if isinstance(a, Amount) and isinstance(b, Amount):
        pairs = ((a.low, b.low), (a.high, b.high), (a.typical, b.typical))
        return all(x == y or (x is not None and y is not None and abs(x - y) <= 1e-11 * max(abs(x), abs(y))) for x, y in pairs)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return set(a) == set(b)
    return a == b


def shown(values: Mapping[str, Value]) -> str:
    """Option values, short."""
    return ", ".join(f"{name} {value.low if isinstance(value, Amount) else value}" for name, value in values.items())
