"""The explanation of a consultation, or of one fact, rule or decision. Data; `expert.report` prints it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from expert.advice import Advice
from expert.errors import NO_TEXT, Text, fail, nearest
from expert.explain.deciding import decision_node
from expert.explain.evidence import place
from expert.explain.nodes import Explanation, Line, Node
from expert.explain.prover import Prover
from expert.explain.wording import in_both
from expert.explain.words import STATED
from expert.language.program import Rule

FULL, PARAGRAPH, LINE = "full", "paragraph", "line"


def explain(advice: Advice, target: str | None = None, level: str = FULL, topic: str | None = None) -> Explanation:
    """The explanation of a whole consultation, or of one fact, rule or decision.

    level: full, paragraph (one node without what it rests on) or line (its title). topic: only decisions and rules of it.
    Errors: ExpertError "unknown-target" with the nearest name.
    """
    prover = Prover(advice)
    if target is not None:
        nodes: tuple[Node, ...] = tuple(_target(prover, target))
    else:
        nodes = tuple(
            decision_node(prover, name) for name in advice.trace.outcomes if topic is None or advice.program.decisions[name].topic == topic
        )
        nodes += tuple(_derived(prover, topic))
    silent = () if target is not None else tuple(_silent(prover, topic))
    return Explanation(tuple(_cut(node, level) for node in nodes), silent, frozenset(prover.words.told))


def _target(prover: Prover, target: str) -> Iterator[Node]:
    program = prover.program
    if target in program.facts:
        if target in program.deciders:
            yield decision_node(prover, program.deciders[target])
        else:
            yield prover.fact(target)
    elif target in program.decisions:
        yield decision_node(prover, target)
    elif target in program.rules:
        yield from (prover.rule(firing) for firing in prover.trace.firings_of(target))
    else:
        names = (*program.facts, *program.rules, *program.decisions)
        close = nearest(target, names)
        help = Text(f"did you mean '{close}'?", f"是否指 '{close}'？") if close else NO_TEXT
        message = Text(f"no fact, rule or decision is called '{target}'", f"没有名为 '{target}' 的事实、规则或决策")
        raise fail("unknown-target", message, help=help)


def _derived(prover: Prover, topic: str | None) -> Iterator[Node]:
    """Design facts that rules conclude, unless a decision's proof explained them already."""
    for name, choice in prover.advice.choices.items():
        state = prover.trace.facts.get(name)
        wanted = topic is None or prover.program.facts[name].topic == topic
        if choice.decision or not wanted or state is None or state.id in prover.numbers or state.value is None:
            continue
        if state.origin not in STATED:
            yield prover.fact(name)


def _silent(prover: Prover, topic: str | None) -> Iterator[Line]:
    told = {id for outcome in prover.trace.outcomes.values() for id, _ in outcome.not_in_force}
    for unchecked in prover.advice.not_checked:
        if unchecked.rule in told:
            continue
        rule = prover.program.rules.get(unchecked.rule)
        if topic is not None and (rule is None or rule.topic != topic):
            continue

        def shown(lang: str, rule: Rule | None = rule, names: tuple[str, ...] = unchecked.unknown, id: str = unchecked.rule) -> str:
            title = rule.title.of(lang) if rule is not None and rule.title else id
            missing = ("；" if lang == "zh" else "; ").join(prover.missing(name, lang) for name in names)
            return f"{title}（{missing}）" if lang == "zh" else f"{title} ({missing})"

        yield Line("silent", in_both(shown), "" if rule is None else place(rule.span))


def _cut(node: Node, level: str) -> Node:
    if level == FULL:
        return node
    return replace(node, children=(), lines=() if level == LINE else node.lines)
