"""What one changed fact would break: the requirements and preferences that are violated after it, without any search."""

from __future__ import annotations

from expert.engine.concluding import bindings, compile_loops, conjunction
from expert.engine.evaluate import PLAN_KEY, Env, compile_truth
from expert.engine.model import implications, knowledge_of
from expert.engine.values import FALSE, STATED, fails, holds, to_slot
from expert.facts import Value
from expert.language.program import Prefer, Program, Require, Rule


def violations_after(program: Program, env: Env, stated: frozenset[str], fact: str, value: Value) -> set[str]:
    """Ids of require and prefer rules that depend on `fact` and are violated once it has this value, decisions kept."""
    knowledge = knowledge_of(program)
    changed = dict(env)
    changed[fact] = to_slot(value, program.facts[fact].kind)
    if fact in stated:
        changed[PLAN_KEY + fact] = changed[fact]
    for step in program.schedule:
        for name in step.facts:
            if name in stated or name in program.deciders or name == fact:
                continue
            if fact in program.dependencies.get(name, frozenset()):
                changed[name] = knowledge.facts[name].exact(changed, STATED)
    found = set()
    for rule, verdict in implications(program).items():
        if fact in program.dependencies.get("rule:" + rule, frozenset()) and verdict(changed) == FALSE:
            found.add(rule)
    return found


def would_speak(program: Program, rule: Rule, env: Env) -> bool:
    """True when a rule that is out of force would refuse or mark down what the environment holds, or conclude or warn there."""
    test = rule.effect.test.term if isinstance(rule.effect, (Require, Prefer)) else None
    when = [compile_truth(c.term, program, exact=True) for c in rule.when]
    wanted = None if test is None else compile_truth(test, program, exact=True)
    for _ in bindings(compile_loops(rule, program, exact=True), env):
        if holds(conjunction(when, env)) and (wanted is None or fails(wanted(env))):
            return True
    return False
