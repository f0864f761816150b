"""What one changed fact would break: the requirements and preferences that are violated after it, without any search."""

from __future__ import annotations

from expert.engine.evaluate import Env
from expert.engine.firing import PLAN_KEY
from expert.engine.model import implications, knowledge_of
from expert.engine.values import FALSE, STATED, to_slot
from expert.facts import Value
from expert.language.program import Program


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
