"""Decisions by brute force: every option of every decision is tried, and LANGUAGE's eight points are applied to the letter."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from expert.facts import Amount, Value, point
from expert.language.program import Decision, Prefer, Program, Require, Rule
from expert.language.terms import CompareTerm, Term, facts_read
from tests.engine.oracle import FALSE, OPTION, STATED, Result, World, compared, conjoined, disjoined, negated

CONCLUDES_OTHER = "concludes:"


@dataclass(frozen=True)
class Judged:
    """One option and what the tests say of it. `position` is its place in the tables, `order` its place by `order:`."""

    values: Mapping[str, Value]
    position: tuple[int, ...]
    order: tuple[float, ...]
    rejected_by: frozenset[str]
    unproven_by: frozenset[str]
    possible_by: frozenset[str]
    missed: Mapping[str, float]
    score: int
    cost: Amount | None

    @property
    def admissible(self) -> bool:
        return not self.rejected_by and not self.unproven_by

    @property
    def certain(self) -> bool:
        return not self.possible_by

    @property
    def group(self) -> tuple[bool, bool, float]:
        """Certain first, then those that meet all aims, then the least total miss."""
        return (not self.certain, bool(self.missed), round(sum(self.missed.values()), 9))


@dataclass
class Solved:
    """How a decision ended. `options` are all that the pins allow."""

    decision: Decision
    status: str
    chosen: Judged | None = None
    options: list[Judged] = field(default_factory=list)
    in_force: list[str] = field(default_factory=list)

    @property
    def grade(self) -> tuple[bool, bool, bool]:
        """Empty; not certain or undetermined; an aim missed. Smaller is better."""
        if self.chosen is None:
            return (self.status == "infeasible", self.status == "undetermined", False)
        return own_grade(self.chosen)


def own_grade(option: Judged) -> tuple[bool, bool, bool]:
    """The grade of an option before what follows is looked at."""
    return (False, not option.certain, bool(option.missed))


def solve(program: Program, stated: Mapping[str, Value]) -> dict[str, Solved]:
    """All decisions, each with look-ahead."""
    order = [step.decision for step in program.schedule if step.decision is not None]
    return _Brute(program, stated, order).solve(0, {})


def judge(
    program: Program, stated: Mapping[str, Value], decision: Decision, bound: Mapping[str, Value], in_force: Sequence[str]
) -> list[Judged]:
    """All options that the plan allows, judged by those of these tests that are in force; stated conclusions are not looked at."""
    brute = _Brute(program, stated, [])
    worlds = brute.worlds(decision, bound)
    tests = [rule for rule in map(program.rules.__getitem__, in_force) if not any(STATED in asked(w, rule).causes for _, _, w in worlds)]
    return [brute.judged(decision, tests, world, values, position, False) for values, position, world in worlds]


@functools.lru_cache(maxsize=200)
def reads(program: Program, name: str) -> frozenset[str]:
    """Every fact that a decision depends on, through rules, defaults and `else`; decided facts are leaves."""
    decision = program.decisions[name]
    direct = set(decision.needs) | ({decision.cost} if decision.cost else set())
    for name in own_tests(program, decision.id):
        direct |= rule_facts(program.rules[name])
    direct |= {name for name in program.contributors if name.startswith("design.") and _last(program, frozenset({name})) == decision.id}
    return closure(program, frozenset(direct))


@functools.lru_cache(maxsize=2000)
def closure(program: Program, direct: frozenset[str]) -> frozenset[str]:
    """The facts and all they depend on."""
    found: set[str] = set()
    waiting = list(direct)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += [] if name in program.deciders else fact_facts(program, name)
    return frozenset(found)


def fact_facts(program: Program, name: str) -> set[str]:
    """What a fact reads directly."""
    decl, found = program.facts[name], set[str]()
    for rule in program.contributors[name]:
        effect = program.rules[rule].effect
        terms = [c.term for c in program.rules[rule].when] + [c.term for f, c in getattr(effect, "values", ()) if f == name]
        found = found.union(*(facts_read(t) for t in terms))
    conditions = [c for case in decl.default for c in (*case.when, case.value)] + ([decl.otherwise] if decl.otherwise else [])
    return found.union(*(facts_read(c.term) for c in conditions))


def rule_facts(rule: Rule) -> frozenset[str]:
    """What a require or prefer rule reads directly."""
    assert isinstance(rule.effect, Require | Prefer)
    return frozenset[str]().union(*(facts_read(c.term) for c in (*rule.when, rule.effect.test)))


@functools.lru_cache(maxsize=2000)
def _last(program: Program, direct: frozenset[str]) -> str | None:
    leads = {program.deciders[f] for f in closure(program, direct) if f in program.deciders}
    order = [step.decision for step in program.schedule if step.decision in leads]
    return order[-1] if order else None


@functools.lru_cache(maxsize=200)
def own_tests(program: Program, decision: str) -> list[str]:
    """The require and prefer rules whose last decision this is."""
    return [
        rule.id
        for rule in program.rules.values()
        if isinstance(rule.effect, Require | Prefer) and _last(program, rule_facts(rule)) == decision
    ]


def verdict(world: World, rule: Rule) -> Result:
    """Whether a require rule is obeyed: for every row, what it asks holds wherever its conditions do."""
    assert isinstance(rule.effect, Require | Prefer)
    test = rule.effect.test.term
    return conjoined([disjoined([negated(world.all_of(rule.when, rows)), world.evaluate(test, rows)]) for rows in world.bindings(rule)])


def earned(world: World, rule: Rule) -> Result:
    """Whether a prefer rule is earned: its conditions and its test hold."""
    assert isinstance(rule.effect, Require | Prefer)
    test = rule.effect.test.term
    return disjoined([conjoined([world.all_of(rule.when, rows), world.evaluate(test, rows)]) for rows in world.bindings(rule)])


def miss(world: World, rule: Rule) -> float:
    """By how much a goal is missed: the excess over the threshold by typical values, the worst of the rows."""
    assert isinstance(rule.effect, Require | Prefer)
    touched = [rows for rows in world.bindings(rule) if world.all_of(rule.when, rows) != FALSE]
    return max(_distance(world, rule.effect.test.term, rows) for rows in touched)


def _distance(world: World, term: Term, rows: Mapping[str, str]) -> float:
    assert isinstance(term, CompareTerm), "the generator makes aims of comparisons"
    both = [world.evaluate(t, rows) for t in (term.left, term.right)]
    left, right = (r.value for r in both)
    if any(OPTION in r.causes for r in both) or not isinstance(left, Amount) or not isinstance(right, Amount):
        return float("inf")
    over = left.middle - right.middle if term.operator in ("<", "<=") else right.middle - left.middle
    return max(0.0, over / abs(right.middle))


class _Brute:
    def __init__(self, program: Program, stated: Mapping[str, Value], order: Sequence[str]) -> None:
        self.program, self.stated, self.order = program, stated, order

    def solve(self, place: int, bound: Mapping[str, Value]) -> dict[str, Solved]:
        """The decision at `place` and all later ones."""
        if place == len(self.order):
            return {}
        solved = self.judge(self.program.decisions[self.order[place]], bound)
        if solved.status != "decided":
            return {self.order[place]: solved, **self.solve(place + 1, bound)}
        return self._look_ahead(place, bound, solved)

    def _look_ahead(self, place: int, bound: Mapping[str, Value], solved: Solved) -> dict[str, Solved]:
        left = [o for o in solved.options if o.admissible]
        followers = self._followers(place)
        first: dict[str, Solved] | None = None
        best: tuple[tuple[bool, bool, bool], dict[str, Solved]] | None = None
        while left:
            option = top(left, solved.decision)
            if best is not None and best[0] <= own_grade(option):
                break
            solved.chosen = option
            later = self.solve(place + 1, {**bound, **option.values})
            ending = {solved.decision.id: Solved(solved.decision, "decided", option, solved.options, solved.in_force), **later}
            first = first or ending
            grades = [own_grade(option), *(later[d].grade for d in followers)]
            grade = (any(g[0] for g in grades), any(g[1] for g in grades), any(g[2] for g in grades))
            if best is None or grade < best[0]:
                best = (grade, ending)
            seen = self._seen(place, followers, bound, option)
            left = [o for o in left if self._seen(place, followers, bound, o) != seen]
        assert best is not None
        assert first is not None
        return first if best[0][0] else best[1]

    def _followers(self, place: int) -> list[str]:
        """Later decisions whose outcome depends on this one, also through others."""
        moving = {self.order[place]}
        for name in self.order[place + 1 :]:
            read = reads(self.program, name)
            if any(self.program.deciders.get(f) in moving for f in read):
                moving.add(name)
        return [name for name in self.order[place + 1 :] if name in moving]

    def _seen(self, place: int, followers: Sequence[str], bound: Mapping[str, Value], option: Judged) -> tuple[Result, ...]:
        """What later decisions see of an option: the values that they read directly."""
        world = World(self.program, self.stated, {**bound, **option.values})
        return tuple(world.fact(f) for f in self._border(place, followers))

    def _border(self, place: int, followers: Sequence[str]) -> list[str]:
        done = set(self.order[: place + 1])
        direct: set[str] = set()
        for name in followers:
            decision = self.program.decisions[name]
            direct |= set(decision.needs) | ({decision.cost} if decision.cost else set())
            direct = direct.union(*(rule_facts(self.program.rules[r]) for r in own_tests(self.program, decision.id)))
        border: set[str] = set()
        waiting, known = list(direct), set[str]()
        while waiting:
            fact = waiting.pop()
            if fact in known:
                continue
            known.add(fact)
            last = _last(self.program, frozenset({fact}))
            if last is None or last in done:
                border.add(fact)
            elif fact not in self.program.deciders:
                waiting += fact_facts(self.program, fact)
        return sorted(border)

    # One decision

    def judge(self, decision: Decision, bound: Mapping[str, Value]) -> Solved:
        """The status of a decision and all its options with their verdicts; the choice is still open."""
        world = World(self.program, self.stated, bound)
        wholly = all(f in self.stated for f in decision.assigns)
        earlier = {f for f in reads(self.program, decision.id) if f in self.program.deciders and f not in decision.assigns}
        if not wholly and any(world.fact(f).value is None for f in {*decision.needs, *earlier}):
            return Solved(decision, "undetermined")
        in_force, options = self._options(decision, bound, hints=True)
        if all(o.rejected_by for o in options):
            in_force, options = self._options(decision, bound, hints=False)
        if any(o.admissible for o in options):
            return Solved(decision, "decided", None, options, in_force)
        status = "undetermined" if any(not o.rejected_by for o in options) else "infeasible"
        return Solved(decision, status, None, options, in_force)

    def _options(self, decision: Decision, bound: Mapping[str, Value], hints: bool) -> tuple[list[str], list[Judged]]:
        tests = [self.program.rules[name] for name in own_tests(self.program, decision.id)]
        worlds = self.worlds(decision, bound)
        in_force = [rule for rule in tests if not any(STATED in asked(world, rule).causes for _, _, world in worlds)]
        judged = [self.judged(decision, in_force, world, values, position, hints) for values, position, world in worlds]
        return [rule.id for rule in in_force], judged

    def worlds(self, decision: Decision, bound: Mapping[str, Value]) -> list[tuple[dict[str, Value], tuple[int, ...], World]]:
        """Every option with its place in the tables and the state of affairs under it."""
        settled = functools.cache(lambda name: _last(self.program, frozenset({name})) != decision.id)
        return [
            (values, position, World(self.program, self.stated, {**bound, **values}, settled))
            for values, position in self.product(decision)
        ]

    def product(self, decision: Decision) -> Iterator[tuple[dict[str, Value], tuple[int, ...]]]:
        """All options that the pins allow, with their places in the domains."""
        domains: list[list[tuple[int, Value]]] = []
        for fact in decision.assigns:
            domain = list(enumerate(domain_values(self.program, decision, fact)))
            pinned = self.stated.get(fact)
            domains.append(domain if pinned is None else [(0, pinned)])
        for option in itertools.product(*domains):
            yield dict(zip(decision.assigns, (v for _, v in option), strict=True)), tuple(i for i, _ in option)

    def judged(
        self, decision: Decision, tests: Sequence[Rule], world: World, values: Mapping[str, Value], position: tuple[int, ...], hints: bool
    ) -> Judged:
        """What the tests say of one option."""
        rejected, unproven, possible, missed, score = set[str](), set[str](), set[str](), dict[str, float](), 0
        for rule in tests:
            if isinstance(rule.effect, Prefer):
                found = earned(world, rule)
                score += rule.effect.weight if found.sure and found.value is True else 0
                continue
            found = verdict(world, rule)
            if found.sure and found.value is True:
                continue
            if any(world.aimed(f) for f in closure(self.program, rule_facts(rule))):
                missed[rule.id] = miss(world, rule)
            elif found.sure:
                rejected.add(rule.id)
            else:
                (unproven if OPTION in found.causes else possible).add(rule.id)
        if hints:
            rejected |= self._contradicted(decision, world)
        cost = world.fact(decision.cost) if decision.cost else Result(None)
        known = cost.value if isinstance(cost.value, Amount) and OPTION not in cost.causes else None
        order = tuple(_place(values[f], position[list(decision.assigns).index(f)]) for f in decision.order)
        groups = (frozenset(rejected), frozenset(unproven), frozenset(possible))
        return Judged(values, position, order, *groups, missed, score, known)

    def _contradicted(self, decision: Decision, world: World) -> set[str]:
        """Stated design facts of the body that the rules conclude otherwise for this option."""
        found = set()
        for name, value in self.stated.items():
            if not name.startswith("design.") or name in self.program.deciders or _last(self.program, frozenset({name})) != decision.id:
                continue
            concluded = world.concluded(name)
            if concluded.sure and concluded.value is not None and _differ(concluded.value, value):
                found.add(CONCLUDES_OTHER + name)
        return found


def asked(world: World, rule: Rule) -> Result:
    """The truth that a test turns on: a require rule's obedience, a prefer rule's merit."""
    return verdict(world, rule) if isinstance(rule.effect, Require) else earned(world, rule)


def _differ(a: Value, b: Value) -> bool:
    if isinstance(a, Amount) and isinstance(b, Amount):
        return compared("==", a, b) is False
    return a != b


def _place(value: Value, position: int) -> float:
    return value.middle if isinstance(value, Amount) else float(position)


def domain_values(program: Program, decision: Decision, fact: str) -> list[Value]:
    """The options of one assigned fact, in the order of its table or list."""
    domain = decision.assigns[fact]
    if program.facts[fact].kind == "number":
        return [point(x) for x in domain.numbers]
    words = tuple(program.tables[domain.table].rows) if domain.table is not None else domain.words
    return [word == "true" for word in words] if program.facts[fact].kind == "bool" else list(words)


def top(options: Sequence[Judged], decision: Decision) -> Judged:
    """The best of some admissible options."""
    first = min(o.group for o in options)
    return min(in_band([o for o in options if o.group == first], decision), key=rank)


def in_band(rivals: Sequence[Judged], decision: Decision) -> Sequence[Judged]:
    """Those whose cost is within reach of the cheapest; an unknown cost is not, while another is known."""
    costs = [o.cost.middle for o in rivals if o.cost is not None]
    if not costs:
        return rivals
    limit = min(costs) * (1 + decision.within) * (1 + 1e-9)
    return [o for o in rivals if o.cost is not None and o.cost.middle <= limit]


def decided_by(solved: Solved) -> tuple[str, bool]:
    """The first criterion by which the chosen option beats the best other one, and whether only the table's order is left."""
    chosen, decision = solved.chosen, solved.decision
    assert chosen is not None
    others = [o for o in solved.options if o.admissible and o is not chosen and o.certain == chosen.certain]
    equals = [o for o in others if o.group == chosen.group]
    rivals = [o for o in in_band([chosen, *equals], decision) if o is not chosen]
    if not rivals:
        return ("cost" if equals else "aim" if others else "requirement"), False
    second = min(rivals, key=rank)
    if second.score != chosen.score:
        return "preference", False
    if second.order != chosen.order:
        return "order", False
    tie = rank(second)[:3] == rank(chosen)[:3]
    return ("order", True) if tie else ("cost", False)


def rank(option: Judged) -> tuple[object, ...]:
    """Greatest summed preference, then `order`, then cost (typical, high), then place in the tables."""
    cost = (option.cost.middle, option.cost.high) if option.cost is not None else (0.0, 0.0)
    return (-option.score, option.order, cost, option.position)
