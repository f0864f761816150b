"""Rule examples and scenarios, run in the world of the layer that states them: the packs up to that layer.

An example tests one rule: its facts are stated, nothing else is decided. A scenario is a whole plan through `consult`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from expert.consult import consult
from expert.engine.concluding import bindings, compile_loops
from expert.engine.evaluate import Env, compile_truth
from expert.engine.firing import Engine, Fired, ReferenceEngine, start_env
from expert.engine.trace import FIRED, NOT_CHECKED, SATISFIED, SILENT, VIOLATED, ConditionState
from expert.engine.unknowns import missing_in
from expert.engine.values import fails, holds, to_slot
from expert.errors import EXIT_NO_DESIGN, EXIT_OK, ExpertError, Span, Text
from expert.explain.wording import value_words
from expert.facts import Value
from expert.language.program import Condition, Example, Prefer, Program, Require, Rule
from expert.language.scenarios import EXPECT_KEYS, Scenario
from expert.plan import plan_of_facts
from expert.workbench.matching import matches

STATES = (FIRED, SILENT, VIOLATED, SATISFIED, NOT_CHECKED)
_SPOKEN = {"fires": FIRED, "not_checked": NOT_CHECKED}
Worlds = Callable[[str, tuple[str, ...]], Program]
"""Gives the program of the packs up to a layer, with some left out."""


@dataclass(frozen=True, slots=True)
class Result:
    """One example or scenario: what it is called, and what differs ("" when it passed)."""

    name: str
    span: Span
    layer: str
    wrong: tuple[Text, ...]

    @property
    def passed(self) -> bool:
        """Whether everything came out as expected."""
        return not self.wrong


def run_tests(program: Program, worlds: Worlds, layers: frozenset[str], engine: Engine | None = None) -> Iterator[Result]:
    """All examples and scenarios that the layers state, in the order of the files."""
    for rule in program.rules.values():
        for example in rule.examples:
            if example.layer in layers:
                yield run_example(rule, example, worlds(example.layer, ()), engine)
    for scenario in program.scenarios:
        if isinstance(scenario, Scenario) and scenario.layer in layers:
            yield run_scenario(scenario, worlds(scenario.layer, scenario.without), engine)


# ------------------------------------------------------------------------------------------------ examples


def run_example(rule: Rule, example: Example, program: Program, engine: Engine | None = None) -> Result:
    """One example of a rule, in a program that may hold an earlier form of the rule."""
    own = program.rules.get(rule.id, rule)
    try:
        plan = plan_of_facts(example.given, program, example.span)
    except ExpertError as error:
        return Result(rule.id, example.span, example.layer, tuple(found.message for found in error.diagnostics))
    stated = {name: fact.value for name, fact in plan.facts.items()}
    fired = (engine or ReferenceEngine()).fire(program, stated, {})
    if isinstance(example.expect, Mapping):
        wrong = tuple(_wrong_facts({str(name): value for name, value in example.expect.items()}, fired.values, program))
    else:
        wrong = tuple(_wrong_state(str(example.expect), own, program, stated, fired))
    return Result(rule.id, example.span, example.layer, wrong)


def _wrong_state(expected: str, rule: Rule, program: Program, stated: Mapping[str, Value], fired: Fired) -> Iterator[Text]:
    wanted = _SPOKEN.get(expected, expected)
    found = rule_states(rule, program, stated, fired)
    # "fires" for a requirement means that it is in force, whatever its test says.
    if wanted in found or (wanted == FIRED and found & {SATISFIED, VIOLATED}):
        return
    shown = ", ".join(sorted(found))
    yield Text(f"expected {expected}, got {shown}", f"预期 {expected}，实际 {shown}")
    yield from _conditions(rule, program, stated, fired)


def rule_states(rule: Rule, program: Program, stated: Mapping[str, Value], fired: Fired) -> set[str]:
    """The states of a rule's instances: those of its matches, else silent or not checked."""
    found = {match.state for match in fired.matches if match.rule == rule.id}
    if found:
        return found
    env = _env(program, stated, fired)
    for _ in bindings(compile_loops(rule, program, exact=True), env):
        truths = [_state(condition, program, env).truth for condition in rule.when]
        if "false" not in truths:
            return {NOT_CHECKED}
    return {SILENT}


def _state(condition: Condition, program: Program, env: Env) -> ConditionState:
    bits = compile_truth(condition.term, program, exact=True)(env)
    if holds(bits) or fails(bits):
        return ConditionState(condition.text, "true" if holds(bits) else "false")
    return ConditionState(condition.text, "unknown", missing_in(condition.term, program, env))


def _env(program: Program, stated: Mapping[str, Value], fired: Fired) -> Env:
    env = start_env(program, stated)
    return env | {name: to_slot(value, program.facts[name].kind) for name, value in fired.values.items()}


def _conditions(rule: Rule, program: Program, stated: Mapping[str, Value], fired: Fired) -> Iterator[Text]:
    """What each condition and the test came to, for a rule without `for`."""
    if rule.rows:
        return
    env = _env(program, stated, fired)
    conditions: tuple[Condition, ...] = rule.when
    if isinstance(rule.effect, Require | Prefer):
        conditions = (*conditions, rule.effect.test)
    for condition in conditions:
        state = _state(condition, program, env)
        missing = f" ({', '.join(state.missing)})" if state.missing else ""
        words = {"true": "成立", "false": "不成立", "unknown": "未知"}
        yield Text(f"  {state.text}: {state.truth}{missing}", f"  {state.text}：{words[state.truth]}{missing}")


def _wrong_facts(expected: Mapping[str, object], values: Mapping[str, Value | None], program: Program) -> Iterator[Text]:
    for name, wanted in expected.items():
        yield from _wrong_fact(name, wanted, values.get(name), program)


def _wrong_fact(name: str, wanted: object, found: Value | None, program: Program) -> Iterator[Text]:
    decl = program.facts.get(name)
    if decl is None:
        yield Text(f"no fact is called '{name}'", f"没有名为 '{name}' 的事实")
        return
    try:
        if matches(wanted, found, decl, program):
            return
    except ExpertError as error:
        yield from (diagnostic.message for diagnostic in error.diagnostics)
        return
    shown = {lang: value_words(found, decl, program, lang) for lang in ("en", "zh")}
    yield Text(f"{name}: expected {wanted}, got {shown['en']}", f"{name}：预期 {wanted}，实际 {shown['zh']}")


# ----------------------------------------------------------------------------------------------- scenarios


def run_scenario(scenario: Scenario, program: Program, engine: Engine | None = None) -> Result:
    """One scenario, through `consult`."""
    try:
        plan = plan_of_facts(scenario.given, program, scenario.span)
    except ExpertError as error:
        wrong = tuple(found.message for found in error.diagnostics)
        return Result(scenario.name, scenario.span, scenario.layer, wrong)
    advice = consult(plan, program, engine, full=False)
    expect = dict(scenario.expect)
    found: list[Text] = []
    facts = {name: wanted for name, wanted in expect.items() if name not in EXPECT_KEYS}
    found += _wrong_facts(facts, {name: state.value for name, state in advice.trace.facts.items()}, program)
    rules = {finding.rule for finding in advice.findings}
    found += _wrong_rules("findings", _names(expect.get("findings")), rules, wanted=True)
    found += _wrong_rules("no_findings", _names(expect.get("no_findings")), rules, wanted=False)
    for key, states in (("fired", {FIRED, SATISFIED, VIOLATED}), ("silent", {SILENT}), ("not_checked", {NOT_CHECKED})):
        there = {firing.rule for firing in advice.trace.firings if firing.state in states}
        found += _wrong_rules(key, _names(expect.get(key)), there, wanted=True)
    code = EXIT_NO_DESIGN if advice.outside or advice.verdict == "infeasible" else EXIT_OK
    if "exit" in expect and expect["exit"] != code:
        found.append(Text(f"exit: expected {expect['exit']}, got {code}", f"退出码：预期 {expect['exit']}，实际 {code}"))
    return Result(scenario.name, scenario.span, scenario.layer, tuple(found))


def _names(value: object) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(str(name) for name in value)
    return () if value is None else (str(value),)


def _wrong_rules(key: str, names: tuple[str, ...], there: set[str], wanted: bool) -> Iterator[Text]:
    for name in names:
        if (name in there) == wanted:
            continue
        listed = ", ".join(sorted(there)) if wanted and len(there) <= 12 else ""
        en = f"{key}: '{name}' is " + ("missing" if wanted else "there") + (f"; there are {listed}" if listed else "")
        zh = f"{key}：" + (f"缺少 '{name}'" if wanted else f"出现了 '{name}'") + (f"；实际有 {listed}" if listed else "")
        yield Text(en, zh)
