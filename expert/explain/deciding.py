"""Why a decision ended as it did: what is required, what decided, what was rejected, what else there is, what to free."""

from __future__ import annotations

import math
from collections.abc import Iterator

from expert.engine.trace import INFEASIBLE, SATISFIED, UNDETERMINED, VIOLATED, Outcome
from expert.errors import Text
from expert.explain.evidence import Rows, evidence, place, rule_terms, sources
from expert.explain.margins import margin
from expert.explain.nodes import DECISION, Line, Node
from expert.explain.options import NO_OTHER, option_text, pair, runners_up, unproven_text
from expert.explain.ordering import order_text
from expert.explain.prover import Prover
from expert.explain.rejecting import rejected_lines
from expert.explain.wording import in_both
from expert.facts import Value
from expert.language.program import Prefer, Require, Rule
from expert.language.terms import facts_read
from expert.quantities import format_number

DECIDED_BY = {
    "requirement": Text("the requirements leave nothing better", "其余选项都被要求排除"),
    "preference": Text("the preferences decided", "由偏好决定"),
    "aim": Text("it comes nearest to the aims", "最接近目标"),
    "cost": Text("the cost decided", "由成本决定"),
    "pin": Text("the plan fixed it", "方案已固定"),
}
_TIE = Text("a tie: nothing but the order of the table tells the best two apart", "并列：仅由表中次序区分前两名")
_STATUS = {
    UNDETERMINED: Text("undetermined", "未定"),
    INFEASIBLE: Text("nothing fits", "没有可行选项"),
}


def decision_node(prover: Prover, name: str) -> Node:
    """The proof of one decision."""
    outcome = prover.trace.outcomes[name]
    decision = prover.program.decisions[name]
    number = prover.number(outcome.id)
    lines: list[Line] = []
    children: list[Node] = []
    if outcome.chosen is not None:
        lines += _chosen(prover, outcome)
        wanted: list[str] = []
        for found, read in (_required(prover, outcome), _preferred(prover, outcome)):
            lines += found
            wanted += read
        lines += _what_decided(prover, outcome)
        lines += _uncertain(prover, outcome)
        lines += rejected_lines(prover, outcome)
        lines += _alternatives(prover, outcome)
        children = _explained(prover, wanted)
    elif outcome.status == UNDETERMINED:
        lines += _undetermined(prover, outcome)
    else:
        found, children = _nothing_left(prover, outcome)
        lines += found
    lines += _not_in_force(prover, outcome)
    title = decision.title or Text(name, name)
    if outcome.status in _STATUS:
        status = _STATUS[outcome.status]
        title = Text(f"{title.en}: {status.en}", f"{title.zh or title.en}：{status.zh}")
    return Node(outcome.id, DECISION, title, number, place(decision.span), tuple(lines), tuple(children), outcome.status == INFEASIBLE)


def _chosen(prover: Prover, outcome: Outcome) -> Iterator[Line]:
    """What the plan fixed, each with its place, and what was chosen, in one line."""
    assert outcome.chosen is not None
    values = outcome.chosen.values
    for fact in outcome.pins:
        state = prover.trace.facts.get(fact)
        text = in_both(lambda lang, f=fact: pair(prover, f, values.get(f), lang))  # type: ignore[misc]
        yield Line("given", text, state.at if state is not None else "")
    free = [fact for fact in prover.program.decisions[outcome.decision].assigns if fact not in outcome.pins]
    if free:
        yield Line("chosen", in_both(lambda lang: _listed([pair(prover, fact, values.get(fact), lang) for fact in free], lang)))

    for fact in free:
        yield from _row_line(prover, fact, values.get(fact))


def _row_line(prover: Prover, fact: str, value: Value | None) -> Iterator[Line]:
    """Where the row of a chosen option stands in its table."""
    domain = prover.program.decisions[prover.program.deciders[fact]].assigns[fact]
    table = prover.program.tables.get(domain.table) if domain.table else None
    row = table.rows.get(value) if table is not None and isinstance(value, str) else None
    if table is None or row is None:
        return
    title = table.title or Text(table.name, table.name)
    name = row.title or Text(row.id, row.id)
    yield Line("cell", Text(f"{name.en}, a row of {title.en}", f"{title.of('zh')}中的 {name.of('zh')}"), place(row.span))


def _listed(parts: list[str], lang: str) -> str:
    return ("；" if lang == "zh" else "; ").join(parts)


# ------------------------------------------------------------------------------------------ requirements


def _required(prover: Prover, outcome: Outcome) -> tuple[list[Line], list[str]]:
    """Requirements in force with their margins, and the facts they read; a violated one says what harm it does."""
    lines: list[Line] = []
    read: list[str] = []
    for rule in _rules(prover, outcome, Require):
        assert isinstance(rule.effect, Require)
        for firing in prover.trace.firings_of(rule.id):
            if firing.state not in (SATISFIED, VIOLATED):
                continue
            shown = margin(rule.effect.test.term, firing.rows, prover.words)
            lines.append(_requirement(rule, shown, firing.state == VIOLATED))
            found, names = _backing(prover, outcome, rule, firing.rows)
            lines += found
            read += names
    return lines, read


def _backing(prover: Prover, outcome: Outcome, rule: Rule, rows: Rows) -> tuple[list[Line], list[str]]:
    """What a rule in force rests on: plan facts, constants, sources, dissent and layers; and the facts that it reads."""
    own = {*prover.program.decisions[outcome.decision].assigns}
    read = sorted({name for condition in rule_terms(rule) for name in facts_read(condition.term)} - own)
    kinds = ("constant", "source", "dissent", "layer")
    lines = [line for line in evidence(rule, rows, prover.words) if line.label in kinds]
    return [*prover.stated_once(read), *lines], read


def _requirement(rule: Rule, shown: Text | None, violated: bool) -> Line:
    title = rule.title or Text(rule.id, rule.id)
    if violated:
        because = rule.because or title
        return Line("violated", Text(f"{title.en}: {because.en}", f"{title.zh or title.en}：{because.zh or because.en}"), place(rule.span))
    if shown is not None:
        title = Text(f"{title.en}: {shown.en}", f"{title.zh or title.en}：{shown.zh}")
    return Line("required", title, place(rule.span))


def _explained(prover: Prover, names: list[str]) -> list[Node]:
    """Nodes for concluded facts that were not explained yet; decided and stated ones need none."""
    found: list[Node] = []
    for name in names:
        state = prover.trace.facts.get(name)
        if state is None or state.value is None or state.id in prover.numbers or name in prover.program.deciders:
            continue
        if state.origin in ("concluded", "assumed"):
            found.append(prover.fact(name))
    return found


def _rules(prover: Prover, outcome: Outcome, kind: type) -> Iterator[Rule]:
    for id in outcome.in_force:
        rule = prover.program.rules.get(id)
        if rule is not None and isinstance(rule.effect, kind):
            yield rule


# ------------------------------------------------------------------------------------------ what decided


def _preferred(prover: Prover, outcome: Outcome) -> tuple[list[Line], list[str]]:
    """Preferences that the choice meets and what they rest on; where something was left to choose, also why."""
    assert outcome.chosen is not None
    lines: list[Line] = []
    read: list[str] = []
    for rule in _rules(prover, outcome, Prefer):
        assert isinstance(rule.effect, Prefer)
        if rule.id in outcome.chosen.preferences:
            title = rule.title or Text(rule.id, rule.id)
            weight = rule.effect.weight
            text = Text(f"{title.en} (weight {weight})", f"{title.zh or title.en}（权重 {weight}）")
            lines.append(Line("preferred", text, place(rule.span)))
            if rule.because and outcome.decided_by != "pin":
                lines.append(Line("why", rule.because))
            firing = next((f for f in prover.trace.firings_of(rule.id) if f.state == SATISFIED), None)
            found, names = _backing(prover, outcome, rule, firing.rows if firing is not None else ())
            lines += found
            read += names
    return lines, read


def _what_decided(prover: Prover, outcome: Outcome) -> Iterator[Line]:
    ordered = outcome.decided_by == "order" and not outcome.tie
    text = _TIE if outcome.tie else in_both(lambda lang: order_text(prover, outcome, lang)) if ordered else DECIDED_BY[outcome.decided_by]
    yield Line("decided_by", text)
    chosen, decision = outcome.chosen, prover.program.decisions[outcome.decision]
    if chosen is not None and chosen.cost is not None and decision.cost is not None:
        yield Line("cost", in_both(lambda lang: pair(prover, str(decision.cost), chosen.cost, lang)))
    for rule_id, distance in outcome.missed:
        rule = prover.program.rules.get(rule_id)
        title = rule.title if rule is not None and rule.title else Text(rule_id, rule_id)
        percent = format_number(distance * 100)
        by = Text(f"{percent} %", f"{percent} %") if math.isfinite(distance) else Text("an unknown amount", "未知的量")
        yield Line("missed", Text(f"{title.en}: missed by {by.en}", f"{title.zh or title.en}：差 {by.zh}"))
    for fact, value in (outcome.recommended or {}).items():
        if value is not None and chosen is not None and value != chosen.values.get(fact):
            said = in_both(lambda lang, f=fact, v=value: pair(prover, f, v, lang))  # type: ignore[misc]
            yield Line("freed", Text(f"freed, the rules choose {said.en}", f"若不固定，规则会选 {said.zh}"))
    if outcome.passed_over:
        yield Line(
            "note", Text("a better option was passed over: it leaves a later decision empty", "更优的选项会使后面的决策无解，故未采用")
        )


def _uncertain(prover: Prover, outcome: Outcome) -> Iterator[Line]:
    assert outcome.chosen is not None
    for rule_id in outcome.chosen.possible:
        rule = prover.program.rules.get(rule_id)
        title = rule.title if rule is not None and rule.title else Text(rule_id, rule_id)
        text = Text(f"possible, not certain: {title.en} (ranges overlap)", f"可能而非确定：{title.zh or title.en}（区间重叠）")
        yield Line("possible", text, "" if rule is None else place(rule.span))


def _alternatives(prover: Prover, outcome: Outcome) -> Iterator[Line]:
    """The strongest argument against the choice, the runners-up, and what cannot be compared."""
    chosen = outcome.chosen
    assert chosen is not None
    yield from _against(prover, outcome)
    others = runners_up(outcome)
    for option in others:
        yield Line("alternative", in_both(lambda lang, o=option: option_text(prover, o, chosen.values, lang)))  # type: ignore[misc]
    if not others and len(outcome.pins) < len(prover.program.decisions[outcome.decision].assigns):
        # With every fact fixed by the plan nothing else was looked for.
        yield Line("alternative", NO_OTHER)
    for option in outcome.unproven:
        yield Line("unproven", in_both(lambda lang, o=option: unproven_text(prover, o, chosen.values, lang)))  # type: ignore[misc]


def _against(prover: Prover, outcome: Outcome) -> Iterator[Line]:
    """The weightiest preference in force that the choice goes against, with the harm."""
    found = [
        rule for rule in _rules(prover, outcome, Prefer) if any(firing.state == VIOLATED for firing in prover.trace.firings_of(rule.id))
    ]
    if found:
        rule = max(found, key=lambda rule: (weight_of(rule), rule.id))
        title, because = rule.title or Text(rule.id, rule.id), rule.because
        en = f"{title.en} (weight {weight_of(rule)}): {because.en}" if because else title.en
        zh = f"{title.of('zh')}（权重 {weight_of(rule)}）：{because.of('zh')}" if because else title.of("zh")
        yield Line("against", Text(en, zh), place(rule.span))


def weight_of(rule: Rule) -> int:
    """The weight of a preference, 0 for other rules."""
    return rule.effect.weight if isinstance(rule.effect, Prefer) else 0


# -------------------------------------------------------------------------------------------- no outcome


def _undetermined(prover: Prover, outcome: Outcome) -> Iterator[Line]:
    for name in outcome.missing:
        if name in prover.program.decisions:
            title = prover.program.decisions[name].title or Text(name, name)
            yield Line("missing", Text(f"it waits for '{title.en}'", f"等待“{title.zh or title.en}”"))
        else:
            yield Line("missing", in_both(lambda lang, n=name: prover.missing(n, lang)))  # type: ignore[misc]
    for option in outcome.unproven:
        yield Line("unproven", in_both(lambda lang, o=option: unproven_text(prover, o, {}, lang)))  # type: ignore[misc]


def _nothing_left(prover: Prover, outcome: Outcome) -> tuple[list[Line], list[Node]]:
    """What excludes every option, what freeing gives, and which rules one could drop."""
    lines: list[Line] = []
    children: list[Node] = []
    for pin in outcome.pins:
        state = prover.trace.facts.get(pin)
        if state is not None:
            lines.append(Line("given", in_both(lambda lang, s=state: pair(prover, s.name, s.value, lang)), state.at))  # type: ignore[misc]
    for id in outcome.excluding:
        rule = prover.program.rules.get(id)
        if rule is None:
            lines.append(Line("excluded", Text(id, id)))
            continue
        because = rule.because or rule.title
        text = Text(f"{rule.title.en}: {because.en}", f"{rule.title.zh or rule.title.en}：{because.zh or because.en}")
        lines.append(Line("excluded", text, place(rule.span)))
        lines += sources(rule.cite, prover.words)
    for freed in outcome.freed:
        pins = in_both(lambda lang, f=freed: ", ".join(prover.words.title(pin, lang) for pin in f.pins))  # type: ignore[misc]
        option = in_both(lambda lang, f=freed: option_text(prover, f.option, _pinned(prover, outcome, f.pins), lang))  # type: ignore[misc]
        lines.append(Line("free", Text(f"{pins.en}; the nearest design then: {option.en}", f"{pins.zh}；此时最接近的方案：{option.zh}")))
    for rules in outcome.relaxations:
        titles = [prover.program.rules[id].title if id in prover.program.rules else Text(id, id) for id in rules]
        lines.append(Line("relax", Text("; ".join(t.en for t in titles), "；".join(t.zh or t.en for t in titles))))
    return lines, children


def _pinned(prover: Prover, outcome: Outcome, freed: tuple[str, ...]) -> dict[str, Value]:
    states = {pin: prover.trace.facts[pin].value for pin in outcome.pins if pin not in freed and pin in prover.trace.facts}
    return {pin: value for pin, value in states.items() if value is not None}


def _not_in_force(prover: Prover, outcome: Outcome) -> Iterator[Line]:
    for id, unknown in outcome.not_in_force:
        rule = prover.program.rules.get(id)
        title = rule.title if rule is not None and rule.title else Text(id, id)
        missing = in_both(lambda lang, u=unknown: prover.lacking(u, lang))  # type: ignore[misc]
        text = Text(f"{title.en} ({missing.en})", f"{title.zh or title.en}（{missing.zh}）")
        yield Line("silent", text, "" if rule is None else place(rule.span))
