"""A decision compiled: its variables, body and tests, and which of them each variable touches.

Made once per program; nothing here depends on a plan.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import cast

from expert.engine import arithmetic
from expert.engine.concluding import FactClosure, RowLoop, bindings, compile_fact, compile_loops, conjunction
from expert.engine.evaluate import PLAN_KEY, Env, compile_term, compile_truth
from expert.engine.values import (
    BOTH,
    FALSE,
    OPTION,
    TRUE,
    Members,
    Num,
    Slot,
    Words,
    both_hold,
    down,
    has_value,
    is_known,
    negate,
    one_holds,
    slot_bits,
)
from expert.facts import Value, point
from expert.language.program import Conclude, Decision, Domain, Prefer, Program, Require, Rule, attached
from expert.language.terms import BOOL, NUMBER, CompareTerm, LogicTerm, StatedTerm, Term, facts_read, walk
from expert.records import dataclass

Truth = Callable[[Env], int]

CONCLUDED_KEY = "concluded."
"""Prefix of the environment entry that holds what rules conclude of a fact that the plan states."""

STATED_TEST = "stated:"
"""Prefix of the id of a requirement that guards what the plan states of a concluded fact."""


@dataclass(frozen=True, slots=True)
class TestModel:
    """A require or prefer rule. `verdict` is the implication for a require, the conjunction for a prefer.

    `touches` holds the decision's variables that the rule depends on; `facts` all that it depends on.
    `miss` gives how far an exact environment misses the test, relative to the threshold (0 when met).
    """

    id: str
    rule: Rule | None
    weight: int
    exact: Truth
    box: Truth
    touches: frozenset[str]
    facts: frozenset[str]
    reads: tuple[str, ...]
    miss_exact: Callable[[Env], float]
    miss_box: Callable[[Env], float]


@dataclass(frozen=True, slots=True)
class DecisionModel:
    """Variables in the order of `assigns`; `body` and `tests` by variable; domains as values."""

    decision: Decision
    variables: tuple[str, ...]
    domains: Mapping[str, tuple[Value, ...]]
    body: tuple[str, ...]
    exact: Mapping[str, FactClosure]
    box: Mapping[str, FactClosure]
    requires: tuple[TestModel, ...]
    prefers: tuple[TestModel, ...]
    direct: Mapping[str, tuple[str, ...]]
    support: Mapping[str, frozenset[str]]
    downstream: frozenset[str]
    reads: frozenset[str]
    upstream: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RuleClosures:
    """A rule's `for` loops, conditions and, for require and prefer, its test, compiled for exact environments."""

    loops: tuple[RowLoop, ...]
    when: tuple[Truth, ...]
    test: Truth | None


class Knowledge:
    """A program with its closures. Get it by `knowledge_of(program)`; it holds no plan and is never changed after."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.facts = {name: compile_fact(name, program, exact=True) for name in program.facts if name not in program.deciders}
        self.models = {name: _model(name, program, self.facts) for name in program.decisions}
        self._rules: dict[str, RuleClosures] = {}

    def rule(self, name: str) -> RuleClosures:
        """The closures of a rule, compiled when first asked for."""
        found = self._rules.get(name)
        if found is None:
            found = self._rules[name] = _rule_closures(self.program.rules[name], self.program)
        return found


def _rule_closures(rule: Rule, program: Program) -> RuleClosures:
    test = rule.effect.test.term if isinstance(rule.effect, (Require, Prefer)) else None
    return RuleClosures(
        compile_loops(rule, program, exact=True),
        tuple(compile_truth(c.term, program, exact=True) for c in rule.when),
        None if test is None else compile_truth(test, program, exact=True),
    )


def knowledge_of(program: Program) -> Knowledge:
    """The closures of a program, compiled at the first call."""
    return attached(program, "closures", lambda: Knowledge(program))


def implications(program: Program) -> Mapping[str, Truth]:
    """For every require and prefer rule: false exactly when its conditions hold and its test does not. Compiled once."""
    return attached(program, "implications", lambda: _implications(program))


def _implications(program: Program) -> Mapping[str, Truth]:
    return {
        rule.id: _implication(rule, rule.effect.test.term, program, True)
        for rule in program.rules.values()
        if isinstance(rule.effect, (Require, Prefer))
    }


def domain_values(domain: Domain, kind: str, program: Program) -> tuple[Value, ...]:
    """All values of a domain in table order: words, yes and no, or numbers in base units (the `value` column of a table)."""
    if kind == BOOL:
        return tuple(word == "true" for word in domain.words)
    if domain.table is None:
        return tuple(point(x) for x in domain.numbers) if kind == NUMBER else domain.words
    rows = program.tables[domain.table].rows
    if kind != NUMBER:
        return tuple(rows)
    cells = [row.cells.get("value") for row in rows.values()]
    return tuple(point(cell.literal.low) for cell in cells if cell is not None and cell.literal is not None)


def _model(name: str, program: Program, exact: Mapping[str, FactClosure]) -> DecisionModel:
    decision = program.decisions[name]
    variables = tuple(decision.assigns)
    own = frozenset(variables)
    body = program.bodies[name]
    support = {fact: _depends(fact, program) & own for fact in body} | {v: frozenset((v,)) for v in variables}
    tests = [test_model(program.rules[rule], program, own, body) for rule in program.tests_of.get(name, ())]
    later = _later_reads(name, program)
    leads = (*body, *decision.needs, *((decision.cost,) if decision.cost else ()))
    reads = frozenset().union(*(t.facts for t in tests), *(_depends(f, program) | {f} for f in leads))
    return DecisionModel(
        decision=decision,
        variables=variables,
        domains={v: domain_values(d, program.facts[v].kind, program) for v, d in decision.assigns.items()},
        body=body,
        exact={fact: exact[fact] for fact in body},
        box={fact: compile_fact(fact, program, exact=False) for fact in body},
        requires=tuple(t for t in tests if isinstance(_effect(t), Require)),
        prefers=tuple(t for t in tests if isinstance(_effect(t), Prefer)),
        direct={fact: tuple(f for f in body if f in direct_reads(fact, program)) for fact in body},
        support=support,
        downstream=later & own,
        reads=reads,
        upstream=_upstream(reads - own - frozenset(body), (*body, *(t.id for t in tests)), program),
    )


def _upstream(reads: frozenset[str], users: Sequence[str], program: Program) -> tuple[str, ...]:
    """Environment keys from outside that body and tests can read: facts, and "plan." entries of what their terms name."""
    stated = {PLAN_KEY + t.fact for term in _terms_of(users, program) for t in walk(term) if isinstance(t, StatedTerm)}
    return tuple(sorted(reads | stated))


def _terms_of(users: Sequence[str], program: Program) -> list[Term]:
    """All terms of these body facts (their rules, defaults and `else`) and rules."""
    rules = [program.rules[u] for u in users if u in program.rules]
    rules += [program.rules[r] for u in users for r in program.contributors.get(u, ())]
    found = [c.term for rule in rules for c in rule.when]
    for rule in rules:
        if isinstance(rule.effect, (Require, Prefer)):
            found.append(rule.effect.test.term)
        elif isinstance(rule.effect, Conclude):
            found += [value.term for _, value in rule.effect.values]
    decls = [program.facts[u] for u in users if u in program.facts]
    found += [c.term for decl in decls for case in decl.default for c in (*case.when, case.value)]
    return found + [decl.otherwise.term for decl in decls if decl.otherwise is not None]


def _effect(test: TestModel) -> object:
    return None if test.rule is None else test.rule.effect


def _depends(fact: str, program: Program) -> frozenset[str]:
    return program.dependencies.get(fact, frozenset())


def _later_reads(name: str, program: Program) -> frozenset[str]:
    order = [step.decision for step in program.schedule if step.decision is not None]
    reads: set[str] = set()
    for later in order[order.index(name) + 1 :]:
        decision = program.decisions[later]
        for rule in program.tests_of.get(later, ()):
            reads |= program.dependencies.get("rule:" + rule, frozenset())
        for fact in (*program.bodies[later], *decision.needs, *decision.assigns):
            reads |= _depends(fact, program) | {fact}
    return frozenset(reads)


def direct_reads(fact: str, program: Program) -> frozenset[str]:
    """Facts that the rules, defaults and `else` of a fact read themselves."""
    decl = program.facts[fact]
    terms = [c.term for case in decl.default for c in (*case.when, case.value)]
    if decl.otherwise is not None:
        terms.append(decl.otherwise.term)
    for rule_id in program.contributors.get(fact, ()):
        rule = program.rules[rule_id]
        terms += [c.term for c in rule.when]
        terms += [value.term for name, value in cast(Conclude, rule.effect).values if name == fact]
    return frozenset().union(*(facts_read(term) for term in terms))


def test_model(rule: Rule, program: Program, own: frozenset[str], body: tuple[str, ...]) -> TestModel:
    """A require or prefer rule compiled for exact environments and for boxes."""
    effect = rule.effect
    assert isinstance(effect, (Require, Prefer))
    facts = program.dependencies.get("rule:" + rule.id, frozenset())
    build = _implication if isinstance(effect, Require) else _conjunction
    term = effect.test.term
    return TestModel(
        id=rule.id,
        rule=rule,
        weight=effect.weight if isinstance(effect, Prefer) else 0,
        exact=build(rule, term, program, True),
        box=build(rule, term, program, False),
        touches=facts & own,
        facts=facts,
        reads=tuple(f for f in body if f in facts_read(term).union(*(facts_read(c.term) for c in rule.when))),
        miss_exact=_miss_over_rows(rule, term, program, True),
        miss_box=_miss_over_rows(rule, term, program, False),
    )


def stated_test(fact: str, stated: Slot, touches: frozenset[str]) -> TestModel:
    """A requirement without a rule: what the rules conclude of a body fact must not differ from what the plan states."""

    def verdict(env: Env) -> int:
        concluded = env[CONCLUDED_KEY + fact]
        if not has_value(concluded) or slot_bits(concluded):
            return TRUE if not is_known(concluded) else BOTH
        return same_truth(concluded, stated)

    return TestModel(
        STATED_TEST + fact,
        None,
        0,
        lambda env: TRUE if verdict(env) == BOTH else verdict(env),
        verdict,
        touches,
        touches,
        (fact,),
        _no_miss,
        _no_miss,
    )


def same_truth(a: Slot, b: Slot) -> int:
    """Truth of two slots of one kind being equal."""
    if isinstance(a, int):
        return one_holds(both_hold(a, cast(int, b)), both_hold(negate(a), negate(cast(int, b))))
    if len(a) == 4:
        return arithmetic.equal(a, cast(Num, b))
    first, other = a[0], cast("Words | Members", b)[0]
    if isinstance(first, frozenset) and isinstance(other, frozenset):
        return FALSE if first.isdisjoint(other) else TRUE if len(first) == 1 and len(other) == 1 else BOTH
    return TRUE if first == other else FALSE


def _no_miss(env: Env) -> float:
    return 0.0


def _implication(rule: Rule, test: Term, program: Program, exact: bool) -> Truth:
    """True unless the conditions hold and the test does not, for every row of the `for` variables."""
    loops = compile_loops(rule, program, exact)
    when = [compile_truth(c.term, program, exact) for c in rule.when]
    wanted = compile_truth(test, program, exact)

    def verdict(env: Env) -> int:
        result = TRUE
        for _ in bindings(loops, env):
            force = conjunction(when, env)
            if force == FALSE:
                continue
            result = both_hold(result, one_holds(negate(force), wanted(env)))
        return result

    return verdict


def _conjunction(rule: Rule, test: Term, program: Program, exact: bool) -> Truth:
    """True when the conditions and the test hold for some row of the `for` variables."""
    loops = compile_loops(rule, program, exact)
    when = [compile_truth(c.term, program, exact) for c in rule.when]
    wanted = compile_truth(test, program, exact)

    def verdict(env: Env) -> int:
        result = FALSE
        for _ in bindings(loops, env):
            force = conjunction(when, env)
            if force != FALSE:
                result = one_holds(result, both_hold(force, wanted(env)))
        return result

    return verdict


def _miss_over_rows(rule: Rule, term: Term, program: Program, exact: bool) -> Callable[[Env], float]:
    loops = compile_loops(rule, program, exact)
    when = [compile_truth(c.term, program, exact) for c in rule.when]
    distance = miss_distance(term, program, exact)

    def miss(env: Env) -> float:
        worst = 0.0
        for _ in bindings(loops, env):
            force = conjunction(when, env)
            if force != FALSE if exact else force == TRUE:
                worst = max(worst, distance(env))
        return worst

    return miss


def miss_distance(term: Term, program: Program, exact: bool) -> Callable[[Env], float]:
    """How far a test is missed: for `a <= b` the excess of a over b relative to b, by typical values; else 1 when false.

    Infinite where it is unknown because of the option, so that an empty cell never comes nearest. Over a box it is a lower
    bound of the exact distances. A conjunction adds up, a disjunction takes the least.
    """
    if isinstance(term, CompareTerm) and term.left.kind == NUMBER and term.operator in ("<", "<=", ">", ">="):
        return _comparison_distance(term, program, exact)
    if isinstance(term, LogicTerm):
        parts = [miss_distance(operand, program, exact) for operand in term.operands]
        fold = sum if term.operator == "and" else min
        return lambda env: float(fold(part(env) for part in parts))
    truth = compile_truth(term, program, exact)
    if exact:
        return lambda env: _flat_distance(truth(env))
    return lambda env: 1.0 if truth(env) == FALSE else 0.0


def _flat_distance(truth: int) -> float:
    """The distance of a test that has no threshold."""
    return 0.0 if truth == TRUE else math.inf if truth & OPTION else 1.0


def _comparison_distance(term: CompareTerm, program: Program, exact: bool) -> Callable[[Env], float]:
    flip = term.operator in (">", ">=")
    small, large = (term.right, term.left) if flip else (term.left, term.right)
    less = cast("Callable[[Env], Num]", compile_term(small, program, exact))
    more = cast("Callable[[Env], Num]", compile_term(large, program, exact))
    threshold_is_large = not flip

    def distance(env: Env) -> float:
        a, b = less(env), more(env)
        if exact and (a[3] | b[3]) & OPTION:
            return math.inf
        if a[0] is None or b[0] is None:
            return math.inf if exact else 0.0
        x, y = (_middle(a), _middle(b)) if exact else (a[0], cast(float, b[1]))
        scale = abs(y if threshold_is_large else x)
        if not exact:
            # The exact threshold may be anywhere in the box: the largest magnitude gives the least distance.
            scale = max(abs(z) for z in ((b[0], cast(float, b[1])) if threshold_is_large else (a[0], cast(float, a[1]))))
        if down(x) <= y:
            return 0.0
        return (x - y) / scale if scale else x - y

    return distance


def _middle(value: Num) -> float:
    if value[2] is not None:
        return value[2]
    return (cast(float, value[0]) + cast(float, value[1])) / 2
