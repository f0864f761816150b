"""Findings about decisions: none of the options is left, none is certain, or none can be confirmed."""

from __future__ import annotations

from collections.abc import Iterator

from expert.advice import ERROR, WARNING, Finding
from expert.audit import Audit, fingerprint, plan_value
from expert.engine.trace import INFEASIBLE, UNDETERMINED, VIOLATED, Outcome
from expert.errors import NO_TEXT, Text
from expert.explain.wording import fill, in_both, term_words
from expert.language.program import Prefer, Require, Template
from expert.language.terms import NUMBER, CompareTerm


def of_decision(audit: Audit, outcome: Outcome) -> Iterator[Finding]:
    program = audit.program
    decision = program.decisions[outcome.decision]
    fact = next(iter(outcome.pins or decision.assigns))
    if outcome.status == INFEASIBLE and not _told_by_rules(audit, outcome):
        yield _decision_finding(audit, "no-option", outcome, fact, _nothing_left(audit, outcome), _to_free(audit, outcome))
    if outcome.status == UNDETERMINED and outcome.unproven:
        yield _decision_finding(audit, "only-unproven", outcome, fact, _unconfirmed(audit, outcome), _to_confirm(outcome), WARNING)
    chosen = outcome.chosen
    if chosen is not None and chosen.certainty == "possible":
        for rule in chosen.possible:
            yield _decision_finding(audit, "only-possible", outcome, fact, _possible_words(audit, outcome, rule), NO_TEXT, WARNING, rule)


def _unconfirmed(audit: Audit, outcome: Outcome) -> Text:
    """That no option can be confirmed: the empty cells, and the rules that keep away what could be."""
    program = audit.program
    title = program.decisions[outcome.decision].title or Text(outcome.decision)
    blockers = [program.rules[r].title for names in outcome.relaxations for r in names]
    cells = ", ".join(outcome.missing[:6]) + (" …" if len(outcome.missing) > 6 else "")

    def words(lang: str) -> str:
        why = ("；" if lang == "zh" else "; ").join(title.of(lang) for title in blockers)
        if lang == "zh":
            return f"{title.of(lang)}：没有可以确认的选项，缺少 {cells}" + (f"。排除其余选项的规则：{why}" if why else "")
        return f"{title.of(lang)}: no option can be confirmed, {cells} being unknown" + (
            f". What keeps the others away: {why}" if why else ""
        )

    return in_both(words)


def _to_confirm(outcome: Outcome) -> Text:
    missing = Text("add what is missing to a pack of your own", "在自己的规则包中补上缺少的内容")
    if not outcome.relaxations:
        return missing
    return Text(f"{missing.en}, or change what the plan asks for there", f"{missing.zh}，或修改方案中与之相关的要求")


def _possible_words(audit: Audit, outcome: Outcome, name: str) -> Text:
    """That a requirement holds only for a part of the ranges, with both ranges."""
    rule = audit.program.rules.get(name)
    free = len(outcome.pins) < len(audit.program.decisions[outcome.decision].assigns)

    def words(lang: str) -> str:
        title = name if rule is None else rule.title.of(lang)
        test = rule.effect.test.term if rule is not None and isinstance(rule.effect, Require) else None
        sides = (
            [term_words(side, audit.program, audit.env, lang) for side in (test.left, test.right)] if isinstance(test, CompareTerm) else []
        )
        ranges = f" {test.operator} ".join(sides) if isinstance(test, CompareTerm) else ""
        if lang == "zh":
            return f"可能不成立：{title}" + (f"（{ranges}）" if ranges else "") + ("；没有确定可行的选项" if free else "")
        return f"may not hold: {title}" + (f" ({ranges})" if ranges else "") + ("; no option is certain" if free else "")

    return in_both(words)


def _told_by_rules(audit: Audit, outcome: Outcome) -> bool:
    """True when the plan fixes every fact of the decision and the rules that refuse it have findings of their own."""
    if len(outcome.pins) < len(audit.program.decisions[outcome.decision].assigns) or not outcome.excluding:
        return False
    return all(any(f.state == VIOLATED for f in audit.trace.firings_of(rule)) for rule in outcome.excluding)


def _nothing_left(audit: Audit, outcome: Outcome) -> Text:
    title = audit.program.decisions[outcome.decision].title or Text(outcome.decision)
    rules = [audit.program.rules[r].title if r in audit.program.rules else Text(r) for r in outcome.excluding]

    def words(lang: str) -> str:
        pins = ", ".join(outcome.pins)
        why = ("；" if lang == "zh" else "; ").join(r.of(lang) for r in rules)
        if lang == "zh":
            return (
                f"{title.of(lang)}：没有可行的选项"
                + (f"（计划固定了 {pins}）" if pins else "")
                + (f"。排除它们的规则：{why}" if why else "")
            )
        fixed = f" with what the plan fixes ({pins})" if pins else ""
        return f"{title.of(lang)}: no option is left{fixed}" + (f". What excludes them: {why}" if why else "")

    return in_both(words)


def _to_free(audit: Audit, outcome: Outcome) -> Text:
    """Which pins to free and what the nearest option then is."""

    def words(lang: str) -> str:
        parts = []
        for freed in outcome.freed:
            values = ", ".join(f"{pin}: {plan_value(audit, pin, freed.option.values[pin], lang)}" for pin in freed.pins)
            names = (" and " if lang == "en" else " 和 ").join(freed.pins)
            parts.append(f"free {names} (nearest {values})" if lang == "en" else f"放开 {names}（最接近的是 {values}）")
        return (" or " if lang == "en" else "，或者").join(parts)

    if outcome.freed:
        return in_both(words)
    own = [fill(fix, audit.program, audit.env) for rule in outcome.excluding if (fix := _own_fix(audit, rule)) is not None]
    asks = _asked(audit, outcome)
    parts = [Text("; ".join(t.en for t in own), "；".join(t.zh for t in own))] if own else []
    if asks:
        parts.append(Text(f"change {' or '.join(asks)} in the plan", f"修改方案中的 {' 或 '.join(asks)}"))
    return Text("; or ".join(p.en for p in parts), "；或".join(p.zh for p in parts))


def _own_fix(audit: Audit, rule: str) -> Template | None:
    effect = audit.program.rules[rule].effect if rule in audit.program.rules else None
    return effect.fix if isinstance(effect, (Require, Prefer)) else None


def _asked(audit: Audit, outcome: Outcome) -> list[str]:
    """What the plan states and a rule that could be relaxed reads: a budget, a deadline, a region. Never for a law."""
    own = audit.program.decisions[outcome.decision].assigns
    found: list[str] = []
    for names in outcome.relaxations:
        for rule in names:
            reads = audit.program.dependencies.get("rule:" + rule, frozenset())
            limits = [fact for fact in sorted(reads) if audit.program.facts[fact].kind == NUMBER]
            found += [fact for fact in limits if fact in audit.stated and fact not in own]
    return [name.removesuffix("_rate").removesuffix("_total") for name in dict.fromkeys(found)][:4]


def _decision_finding(
    audit: Audit, name: str, outcome: Outcome, fact: str, message: Text, fix: Text, severity: str = ERROR, rule: str = ""
) -> Finding:
    state = audit.stated_fact(outcome.pins)
    topic = audit.program.decisions[outcome.decision].topic
    rules = (rule,) if rule else outcome.excluding
    cite = tuple(dict.fromkeys(c for r in rules if r in audit.program.rules for c in audit.program.rules[r].cite))
    span = None if state is None else state.span
    return Finding(name, topic, severity, fact, message, fix, span, fingerprint(name, outcome.decision, rule), cite, outcome.id)
