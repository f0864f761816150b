"""Which part of an explanation is wanted: by topic, by severity, by source, and how much of it.

The grammar: each of topic, severity and source is a list of names; names of one list are alternatives, the lists must all hold.
Proofs are chosen by topic and severity; by source they are also pruned to the branches that lead to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from expert.advice import ERROR, INFO, WARNING, Finding
from expert.errors import Diagnostic, ExpertError, Text, inert, nearest
from expert.explain.deciding import decision_node
from expert.explain.evidence import DISSENT, SOURCE, is_overruled, losing, sources
from expert.explain.nodes import DECISION, Line, Node
from expert.explain.prover import Prover
from expert.explain.words import Words
from expert.language.program import Program
from expert.records import dataclass

FULL, PARAGRAPH, LINE = "full", "paragraph", "line"
LEVELS = (FULL, PARAGRAPH, LINE)
SEVERITIES = (ERROR, WARNING, INFO)


@dataclass(frozen=True, slots=True)
class Selection:
    """What is wanted; an empty set wants everything. `sources` holds ids of claims and of documents."""

    topics: frozenset[str] = frozenset()
    severities: frozenset[str] = frozenset()
    sources: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.topics or self.severities or self.sources)

    def wants_topic(self, topic: str) -> bool:
        """Whether something with this topic is wanted."""
        return not self.topics or topic in self.topics


EVERYTHING = Selection()


def selection_of(program: Program, topics: Sequence[str] = (), severities: Sequence[str] = (), sources: Sequence[str] = ()) -> Selection:
    """The selection that lists of names make; each may hold several names with commas between them.

    Errors: ExpertError, one diagnostic per unknown name, with the nearest.
    """
    mistakes: list[Diagnostic] = []
    topic_set = _known(topics, program.topics, Text("topic", "主题"), "unknown-target", mistakes)
    severity_set = _known(severities, SEVERITIES, Text("severity", "级别"), "unknown-value", mistakes)
    # Claims and sources are read from the cache only where one is asked for.
    cited = (*program.sources, *program.claims) if sources else ()
    source_set = _known(sources, cited, Text("source or claim", "来源或论断"), "unknown-target", mistakes)
    if mistakes:
        raise ExpertError(tuple(mistakes))
    return Selection(topic_set, severity_set, source_set)


_LISTED = 12


def _known(given: Sequence[str], known: Iterable[str], what: Text, code: str, mistakes: list[Diagnostic]) -> frozenset[str]:
    names = tuple(known)
    words = [word.strip() for text in given for word in text.split(",")]
    for word in words:
        if word in names:
            continue
        close = nearest(word, names)
        listed = ", ".join(names[:_LISTED]) + (" …" if len(names) > _LISTED else "")
        help = Text(f"did you mean '{close}'?", f"是否指 '{close}'？") if close else Text(f"there are {listed}", f"可用的有：{listed}")
        shown = inert(word)[:60]
        mistakes.append(Diagnostic(code, Text(f"there is no {what.en} '{shown}'", f"没有{what.zh} '{shown}'"), None, help))
    return frozenset(words)


# ------------------------------------------------------------------------------------------------ findings


def finding_nodes(prover: Prover, selection: Selection) -> Iterator[Node]:
    """The proofs of the findings that are wanted, each once."""
    for finding in prover.advice.findings:
        if selection.wants_topic(finding.topic) and (not selection.severities or finding.severity in selection.severities):
            node = _finding_node(prover, finding)
            if node is not None:
                yield node


def _finding_node(prover: Prover, finding: Finding) -> Node | None:
    """The proof of a finding's rule; of a finding of the program itself, that of the decision or fact it speaks of. None: told already."""
    firing = prover.firing(finding.node)
    if firing is not None:
        return prover.rule(firing) if firing.id not in prover.numbers else None
    decision = finding.node.removeprefix("decision:") or prover.program.deciders.get(finding.fact, "")
    if decision in prover.trace.outcomes:
        return decision_node(prover, decision) if prover.trace.outcomes[decision].id not in prover.numbers else None
    state = prover.trace.facts.get(finding.fact)
    return prover.fact(finding.fact) if state is not None and state.id not in prover.numbers else None


# ------------------------------------------------------------------------------------- pruning and cutting


def reduced(nodes: Iterable[Node], selection: Selection, level: str, words: Words) -> tuple[tuple[Node, ...], frozenset[str]]:
    """The nodes pruned to what leads to the wanted sources and cut to a level, and the claims that what is left quotes.

    What a cut takes away is told where it is mentioned next, and no line refers to a node that is gone.
    """
    found = tuple(nodes)
    if level == FULL and not selection:
        return found, frozenset(words.told)
    if selection.sources:
        leading = _leading(found, _names(selection.sources, words.program))
        found = tuple(_pruned(node, leading) for node in found if node.id in leading)
    kept = [_cut(node, level) for node in found]
    numbers = {node.number for top in kept for node in _within(top)} - {0}
    words.told.clear()
    return tuple(_retold(node, numbers, words) for node in kept), frozenset(words.told)


def _names(wanted: frozenset[str], program: Program) -> frozenset[str]:
    """The wanted ids, with every claim of a wanted document."""
    return wanted | {claim.id for claim in program.claims.values() if claim.source in wanted}


def _within(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        yield from _within(child)


def _leading(nodes: Sequence[Node], wanted: frozenset[str]) -> set[str]:
    """The ids of nodes that quote one of the wanted names, or rest on a fact that does, below them or by its number.

    What rests on a decision as such does not count: that is nearly everything.
    """
    every = [node for top in nodes for node in _within(top)]
    ids = {node.number: node.id for node in every if node.kind != DECISION}
    rests_on = {
        node.id: {child.id for child in node.children} | {ids[line.see] for line in node.lines if line.see in ids} for node in every
    }
    leading = {node.id for node in every if any(not wanted.isdisjoint(line.cites) for line in node.lines)}
    while more := {id for id, below in rests_on.items() if id not in leading and not leading.isdisjoint(below)}:
        leading |= more
    return leading


def _pruned(node: Node, leading: set[str]) -> Node:
    return replace(node, children=tuple(_pruned(child, leading) for child in node.children if child.id in leading))


def _cut(node: Node, level: str) -> Node:
    if level == FULL:
        return node
    if level == PARAGRAPH:
        return replace(node, children=())
    return replace(node, title=_in_one_line(node), lines=(), children=())


def _in_one_line(node: Node) -> Text:
    """A decision's title with what was given and chosen; other titles are sentences as they are."""
    values = [line.text for line in node.lines if line.label in ("given", "chosen")]
    if node.kind != DECISION or node.harm or not values:
        return node.title
    english, chinese = "; ".join(text.en for text in values), "；".join(text.of("zh") for text in values)
    return Text(f"{node.title.en}: {english}", f"{node.title.of('zh')}：{chinese}")


def _retold(node: Node, numbers: set[int], words: Words) -> Node:
    """The node with its sources told anew, in the order of reading, and without references to nodes that are gone."""
    lines: list[Line] = []
    batch: list[str] = []
    for line in node.lines:
        if line.label == SOURCE:
            batch += line.cites
            continue
        lines += sources(batch, words)
        batch = []
        if line.label == DISSENT and line.cites:
            lines += losing(line.cites[0], words, is_overruled(line))
        else:
            lines.append(line if line.see in numbers else replace(line, see=0))
    lines += sources(batch, words)
    return replace(node, lines=tuple(lines), children=tuple(_retold(child, numbers, words) for child in node.children))
