"""The explanation of a consultation, or of one fact, rule or decision. Data; `expert.report` prints it."""

from __future__ import annotations

from collections.abc import Iterator

from expert.advice import Advice
from expert.engine.trace import OVERLAP
from expert.errors import NO_TEXT, Text, fail, nearest
from expert.explain.deciding import decision_node
from expert.explain.evidence import place
from expert.explain.nodes import Explanation, Line, Node
from expert.explain.prover import NO_VALUE, OVERLAPPING, Prover
from expert.explain.selecting import EVERYTHING, FULL, Selection, finding_nodes, reduced
from expert.explain.wording import in_both
from expert.explain.words import STATED
from expert.language.program import Conclude, Rule


def explain(advice: Advice, target: str | None = None, level: str = FULL, selection: Selection = EVERYTHING) -> Explanation:
    """The explanation of a whole consultation, or of one fact, rule or decision.

    level:     full, paragraph (one node without what it rests on) or line (its title); each has part of the nodes of the one before.
    selection: proofs of these topics, of findings of these severities, of what rests on these sources.
    Errors: ExpertError "unknown-target" with the nearest name.
    """
    prover = Prover(advice)
    found = _target(prover, target) if target is not None else _chosen(prover, selection)
    nodes, told = reduced(tuple(found), selection, level, prover.words)
    findings_only = selection.severities or selection.sources
    silent = () if target is not None or findings_only else tuple(silent_lines(prover, selection))
    return Explanation(nodes, silent, told)


def _chosen(prover: Prover, selection: Selection) -> Iterator[Node]:
    """Decisions, design facts that rules conclude, and where something is selected the findings, which a report shows by itself."""
    if not selection.severities:
        for name in prover.trace.outcomes:
            if selection.wants_topic(prover.program.decisions[name].topic):
                yield decision_node(prover, name)
        yield from _derived(prover, selection)
    if selection:
        yield from finding_nodes(prover, selection)


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


def _derived(prover: Prover, selection: Selection) -> Iterator[Node]:
    """Design facts that rules conclude, unless a decision's proof explained them already."""
    for name, choice in prover.advice.choices.items():
        state = prover.trace.facts.get(name)
        wanted = selection.wants_topic(prover.program.facts[name].topic)
        if choice.decision or not wanted or state is None or state.id in prover.numbers or state.value is None:
            continue
        if state.origin not in STATED:
            yield prover.fact(name)


def silent_lines(prover: Prover, selection: Selection = EVERYTHING) -> Iterator[Line]:
    """Rules that were not checked, grouped by what nobody stated; those that only wait for a decision are counted."""
    groups: dict[tuple[str, ...], list[Rule]] = {}
    without: list[tuple[Rule, Text]] = []
    for unchecked in prover.advice.not_checked:
        rule = prover.program.rules.get(unchecked.rule)
        if rule is None or isinstance(rule.effect, Conclude) or not selection.wants_topic(rule.topic):
            continue
        if unchecked.unknown in ((), (OVERLAP,)):
            without.append((rule, OVERLAPPING if unchecked.unknown else NO_VALUE))
            continue
        names = tuple(sorted(name for name in unchecked.unknown if _is_open(prover, name)))
        groups.setdefault(names, []).append(rule)
    waiting = groups.pop((), [])
    for names, rules in sorted(groups.items(), key=lambda group: (len(group[0]), -len(group[1]), group[0])):
        yield Line("silent", in_both(lambda lang, n=names, r=rules: _group(prover, n, r, lang)), _only_place(rules))  # type: ignore[misc]
    for rule, why in without:
        title = rule.title or Text(rule.id)
        yield Line("silent", Text(f"{title.en}: {why.en}", f"{title.of('zh')}：{why.zh}"), place(rule.span))
    if waiting:
        count = len(waiting)
        en = f"{count} {'rule waits' if count == 1 else 'rules wait'} for what is not decided or not known"
        yield Line("silent", Text(en, f"{count} 条规则要等尚未确定或未知的内容"))


def _is_open(prover: Prover, name: str) -> bool:
    """Whether a missing thing is a fact that a plan may state, or an empty cell: not a decision or a conclusion."""
    fact = name.removeprefix("plan.")
    program = prover.program
    return fact not in program.deciders and not program.contributors.get(fact)


_TITLES = 3


def _group(prover: Prover, names: tuple[str, ...], rules: list[Rule], lang: str) -> str:
    titles = [rule.title.of(lang) or rule.id for rule in rules]
    missing = ("、" if lang == "zh" else ", ").join(prover.words.missing(name, lang) for name in names)
    shown = ("；" if lang == "zh" else "; ").join(titles[:_TITLES])
    more = len(titles) - _TITLES
    if lang == "zh":
        return f"缺少 {missing}：{shown}" + (f"；另有 {more} 条" if more > 0 else "")
    return f"without {missing}: {shown}" + (f"; and {more} more" if more > 0 else "")


def _only_place(rules: list[Rule]) -> str:
    return place(rules[0].span) if len(rules) == 1 else ""
