"""A consultation as text for people: a verdict line, the design as a table, findings with fix, then the proofs."""

from __future__ import annotations

from expert.advice import Advice, Choice, Finding
from expert.errors import Text
from expert.explain.evidence import rule_terms
from expert.explain.nodes import Explanation, Line
from expert.explain.options import NO_OTHER, option_text, runners_up
from expert.explain.proof import silent_lines
from expert.explain.prover import Prover
from expert.explain.wording import in_both
from expert.explain.words import STATED, Words
from expert.language.program import Conclude
from expert.language.terms import facts_read
from expert.report.labels import (
    CERTAINTY,
    HEADINGS,
    LABEL_WIDTH,
    LIKELIHOOD,
    LINES,
    RISK,
    SEVERITY,
    SEVERITY_STYLE,
    STAGE,
    STATUS,
    TEST_VERDICT,
)
from expert.report.page import Page
from expert.report.proofs import put_explanation

_NEED, _ESTIMATE = "need.", "estimate."


def put_report(page: Page, advice: Advice, explanation: Explanation | None = None) -> None:
    """The whole report; with an explanation, the proofs below it."""
    words = Words(advice.program, advice.trace.facts)
    put_verdict(page, advice)
    if advice.outside:
        # Beyond what the packs cover their formulas still give numbers, but nobody stands behind them.
        return
    _design(page, advice, words)
    _findings(page, advice)
    if explanation is None:
        _runners_up(page, advice)
    for prefix, heading in ((_NEED, "needs"), (_ESTIMATE, "estimates")):
        _quantities(page, advice, words, prefix, heading)
    _tests(page, advice, words)
    _risks(page, advice, words)
    _assumptions(page, advice, words)
    if explanation is None:
        _not_checked(page, advice)
        _disputed(page, advice)
        return
    page.heading(HEADINGS["why"].of(page.lang))
    put_explanation(page, explanation)
    _dissent(page, advice, explanation.told)


# --------------------------------------------------------------------------------------------- the verdict


def put_verdict(page: Page, advice: Advice) -> None:
    """One line that says how it stands, and one with what spoke."""
    style = {"ok": "green", "findings": "yellow", "incomplete": "yellow", "infeasible": "red"}[advice.verdict]
    name = advice.plan_name
    colon = "：" if page.lang == "zh" else ": "
    page.put(f"{name}{colon}{verdict(advice).of(page.lang)}", style=style)
    if advice.outside:
        page.put(advice.outside.of(page.lang), style="red")
    packs = ", ".join(f"{pack.name} {pack.version}" for pack in advice.packs)
    page.put(Text(f"packs {packs}; engine {advice.engine}", f"规则包 {packs}；引擎 {advice.engine}").of(page.lang), style="dim")


def verdict(advice: Advice) -> Text:
    """How the consultation ended, with the count of findings."""
    if advice.outside:
        return Text("outside what the packs know", "超出规则包的知识范围")
    heads = {
        "ok": Text("a complete design, nothing against it", "方案完整，未发现问题"),
        "findings": Text("a complete design", "方案完整"),
        "incomplete": Text("not everything can be decided yet", "部分内容尚无法确定"),
        "infeasible": Text("what the plan fixes does not fit", "方案中固定的内容不可行"),
    }
    head, counts = heads[advice.verdict], _counts(advice.findings)
    if not counts:
        return head
    return Text(f"{head.en}, {counts.en}", f"{head.zh}，{counts.zh}")


def _counts(findings: tuple[Finding, ...]) -> Text:
    english, chinese = [], []
    plain = {"error": ("error", "个错误"), "warning": ("warning", "个警告"), "info": ("note", "条提示")}
    for severity, (one, many) in plain.items():
        count = sum(finding.severity == severity for finding in findings)
        if count:
            english.append(f"{count} {one}" + ("s" if count > 1 else ""))
            chinese.append(f"{count} {many}")
    return Text(", ".join(english), "、".join(chinese))


# -------------------------------------------------------------------------------------------------- design


def _design(page: Page, advice: Advice, words: Words) -> None:
    if not advice.choices:
        return
    page.heading(HEADINGS["decisions"].of(page.lang))
    page.table([_design_row(page, advice, words, choice) for choice in advice.choices.values()], styles={1: "bold"})


def _design_row(page: Page, advice: Advice, words: Words, choice: Choice) -> tuple[str, ...]:
    lang = page.lang
    state = advice.trace.facts.get(choice.fact)
    value = words.value(choice.fact, choice.value, lang) if choice.value is not None else "–"
    status = STATUS[choice.status].of(lang)
    if choice.certainty in CERTAINTY and choice.value is not None:
        status += f" ({CERTAINTY[choice.certainty].of(lang)})" if lang == "en" else f"（{CERTAINTY[choice.certainty].of(lang)}）"
    beside = state.at if state is not None and state.origin in STATED else ""
    if choice.recommended is not None and choice.recommended != choice.value:
        other = words.value(choice.fact, choice.recommended, lang)
        said = Text(f"the rules would choose {other}", f"规则会选{other}").of(lang)
        beside = f"{beside}{'；' if lang == 'zh' else '; '}{said}" if beside else said
    return words.title(choice.fact, lang), value, status, beside


# ------------------------------------------------------------------------------------------------ findings


def _findings(page: Page, advice: Advice) -> None:
    if not advice.findings:
        return
    page.heading(HEADINGS["findings"].of(page.lang))
    for finding in advice.findings:
        page.blank()
        put_finding(page, advice, finding)


def put_finding(page: Page, advice: Advice, finding: Finding) -> None:
    """One finding: what is wrong, on what grounds, why it matters, how to cure it, who says so."""
    rule = advice.program.rules.get(finding.rule)
    firing = next((firing for firing in advice.trace.firings if firing.id == finding.node), None)
    lang = page.lang
    head = f"{SEVERITY[finding.severity].of(lang)}  "
    page.put(head + finding.message.of(lang), 0, len(head), SEVERITY_STYLE[finding.severity])
    if rule is None or firing is None:
        words = Words(advice.program, advice.trace.facts)
        state = advice.trace.facts.get(finding.fact)
        if state is not None and state.value is not None:
            _lines(page, [Line("but", in_both(lambda lang: words.sentence(state.name, state.value, lang)), state.at)])
        if finding.fix:
            page.labelled(Text("fix", "修正").of(lang), finding.fix.of(lang), 2, LABEL_WIDTH, style="green")
        return
    lines = Prover(advice).rule(firing).lines
    _lines(page, [line for line in lines if line.label in _GROUNDS])
    if finding.fix:
        page.labelled(Text("fix", "修正").of(lang), finding.fix.of(lang), 2, LABEL_WIDTH, style="green")
    _lines(page, [line for line in lines if line.label in _BACKING])


_GROUNDS = ("require", "prefer", "because", "but", "margin", "unknown")
_BACKING = ("why", "constant", "layer", "source", "dissent", "rule")


def _lines(page: Page, lines: list[Line]) -> None:
    previous = ""
    for line in lines:
        label = "" if line.label == previous else LINES[line.label].of(page.lang)
        page.labelled(label, line.text.of(page.lang), 2, LABEL_WIDTH, line.at)
        previous = line.label


# ------------------------------------------------------------------------------------ needs and estimates


def _runners_up(page: Page, advice: Advice) -> None:
    """For each decision that was made here, the next best option: what differs, what it costs."""
    prover, rows = Prover(advice), []
    for name, outcome in advice.trace.outcomes.items():
        decision, chosen = advice.program.decisions[name], outcome.chosen
        if chosen is None or len(outcome.pins) == len(decision.assigns):
            continue
        others = runners_up(outcome)
        shown = option_text(prover, others[0], chosen.values, page.lang) if others else NO_OTHER.of(page.lang)
        rows.append((decision.title.of(page.lang) or name, shown))
    if rows:
        page.heading(HEADINGS["next"].of(page.lang))
        page.table(rows)


def _quantities(page: Page, advice: Advice, words: Words, prefix: str, heading: str) -> None:
    """Derived values that a requirement, a warning or a test reads, and those that nothing else is computed from."""
    inner = _read_by_conclusions(advice) - _read_by_tests(advice)
    rows = []
    for name, state in advice.trace.facts.items():
        known = state.value is not None and (state.contributions or state.origin != "concluded")
        if known and name.startswith(prefix) and name not in inner:
            rows.append((words.title(name, page.lang), words.value(name, state.value, page.lang), name))
    if rows:
        page.heading(HEADINGS[heading].of(page.lang))
        page.table(rows, styles={2: "dim"})


def _read_by_conclusions(advice: Advice) -> set[str]:
    rules = [rule for rule in advice.program.rules.values() if isinstance(rule.effect, Conclude)]
    return {name for rule in rules for condition in rule_terms(rule) for name in facts_read(condition.term)}


def _read_by_tests(advice: Advice) -> set[str]:
    rules = [rule for rule in advice.program.rules.values() if not isinstance(rule.effect, Conclude)]
    costs = {decision.cost for decision in advice.program.decisions.values() if decision.cost is not None}
    return costs | {name for rule in rules for condition in rule_terms(rule) for name in facts_read(condition.term)}


def _assumptions(page: Page, advice: Advice, words: Words) -> None:
    rows = [
        (words.title(a.fact, page.lang), words.value(a.fact, a.value, page.lang), a.fact) for a in advice.assumptions if a.used_by or a.aim
    ]
    if rows:
        page.heading(HEADINGS["assumptions"].of(page.lang))
        page.table(rows, styles={2: "dim"})


def _not_checked(page: Page, advice: Advice) -> None:
    lines = list(silent_lines(Prover(advice)))
    if lines:
        page.heading(HEADINGS["not_checked"].of(page.lang))
        for line in lines:
            page.put(line.text.of(page.lang), 2, 2)


def _disputed(page: Page, advice: Advice) -> None:
    """How many claims lose; `explain` quotes them."""
    count = len({found.claim for found in advice.dissent})
    if count:
        page.blank()
        subject = "1 claim of the sources disagrees" if count == 1 else f"{count} claims of the sources disagree"
        en = f"{subject} with what is used here; 'expert explain' quotes what they say"
        page.put(Text(en, f"有 {count} 条来源论断与此处采用的内容不同；'expert explain' 会逐条列出").of(page.lang), style="dim")


def _dissent(page: Page, advice: Advice, told: frozenset[str]) -> None:
    """Losing claims that no proof has quoted: what they say, and why they lose."""
    rest = {found.claim: found for found in reversed(advice.dissent) if found.claim not in told}
    if not rest:
        return
    page.heading(HEADINGS["dissent"].of(page.lang))
    for found in reversed(rest.values()):
        colon = "：" if page.lang == "zh" else ": "
        page.put(f"{found.claim}{colon}{found.says.of(page.lang)}", 2, 2)
        used = Text(f"used here: {found.used.of('en')}", f"此处采用：{found.used.of('zh')}")
        page.put(used.of(page.lang), 4, 2, "dim")
        if found.because:
            page.put(found.because.of(page.lang), 4, 2, "dim")


def _tests(page: Page, advice: Advice, words: Words) -> None:
    if not advice.tests:
        return
    page.heading(HEADINGS["tests"].of(page.lang))
    rows = []
    for test in advice.tests:
        rule = advice.program.rules.get(test.rule)
        title = rule.title.of(page.lang) if rule is not None and rule.title else test.rule
        sign = {"at_least": "≥ ", "at_most": "≤ "}.get(test.bound, "")
        limit = sign + words.value(test.metric, test.limit, page.lang) if test.limit is not None else "–"
        stage = STAGE.get(test.stage, Text(test.stage)).of(page.lang)
        rows.append((title, limit, TEST_VERDICT.get(test.verdict, Text(test.verdict)).of(page.lang), stage, test.command or test.tool))
    page.table(rows)


def _risks(page: Page, advice: Advice, words: Words) -> None:
    if not advice.risks:
        return
    page.heading(HEADINGS["risks"].of(page.lang))
    for risk in advice.risks:
        rule = advice.program.rules.get(risk.rule)
        title = rule.title.of(page.lang) if rule is not None and rule.title else risk.rule
        grade = LIKELIHOOD.get(risk.likelihood, Text(risk.likelihood)).of(page.lang)
        page.put(f"{title}（{grade}）" if page.lang == "zh" else f"{title} ({grade})", 2, 2)
        impact = risk.impact.of(page.lang) or words.title(risk.impact_fact, page.lang)
        parts = {"trigger": risk.trigger.of(page.lang), "impact": impact, "mitigation": risk.mitigation.of(page.lang)}
        for label, text in parts.items():
            if text:
                page.labelled(RISK[label].of(page.lang), text, 4, LABEL_WIDTH)
