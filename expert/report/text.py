"""A consultation as text for people: a verdict line, the design as a table, findings with fix, then the proofs."""

from __future__ import annotations

from collections.abc import Iterator

from expert.advice import Advice, Choice, Finding
from expert.errors import Text
from expert.explain.nodes import Explanation, Line
from expert.explain.prover import Prover
from expert.explain.words import Words
from expert.report.labels import (
    CERTAINTY,
    HEADINGS,
    LABEL_WIDTH,
    LIKELIHOOD,
    LINES,
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
    _design(page, advice, words)
    _findings(page, advice)
    for prefix, heading in ((_NEED, "needs"), (_ESTIMATE, "estimates")):
        _quantities(page, advice, words, prefix, heading)
    _tests(page, advice, words)
    _risks(page, advice, words)
    _assumptions(page, advice, words)
    _dissent(page, advice)
    if explanation is None:
        _not_checked(page, advice)
        return
    page.heading(HEADINGS["why"].of(page.lang))
    put_explanation(page, explanation)


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
    beside = state.at if state is not None and choice.status == "given" else ""
    if choice.recommended is not None and choice.recommended != choice.value:
        other = words.value(choice.fact, choice.recommended, lang)
        said = Text(f"the rules would choose {other}", f"规则会选 {other}").of(lang)
        beside = f"{beside}; {said}" if beside else said
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
        place = f"{finding.span.file}:{finding.span.line}" if finding.span is not None else ""
        if place:
            _line(page, "but", Text(finding.fact, finding.fact), place)
        if finding.fix:
            page.labelled(Text("fix", "修正").of(lang), finding.fix.of(lang), 2, LABEL_WIDTH, style="green")
        return
    node = Prover(advice).rule(firing)
    for line in _grounds(node.lines):
        _line(page, line.label, line.text, line.at)
    if finding.fix:
        page.labelled(Text("fix", "修正").of(lang), finding.fix.of(lang), 2, LABEL_WIDTH, style="green")
    for line in node.lines:
        if line.label in ("why", "source", "dissent", "layer", "rule", "constant"):
            _line(page, line.label, line.text, line.at)


def _grounds(lines: tuple[Line, ...]) -> Iterator[Line]:
    for line in lines:
        if line.label in ("require", "prefer", "because", "but", "margin", "unknown"):
            yield line


def _line(page: Page, label: str, text: Text, at: str = "") -> None:
    page.labelled(LINES[label].of(page.lang), text.of(page.lang), 2, LABEL_WIDTH, at if not at.startswith("decision:") else "")


# ------------------------------------------------------------------------------------ needs and estimates


def _quantities(page: Page, advice: Advice, words: Words, prefix: str, heading: str) -> None:
    rows = []
    for name, state in advice.trace.facts.items():
        if name.startswith(prefix) and state.value is not None and (state.contributions or state.origin != "concluded"):
            rows.append((words.title(name, page.lang), words.value(name, state.value, page.lang), name))
    if rows:
        page.heading(HEADINGS[heading].of(page.lang))
        page.table(rows, styles={2: "dim"})


def _assumptions(page: Page, advice: Advice, words: Words) -> None:
    rows = [
        (words.title(a.fact, page.lang), words.value(a.fact, a.value, page.lang), a.fact) for a in advice.assumptions if a.used_by or a.aim
    ]
    if rows:
        page.heading(HEADINGS["assumptions"].of(page.lang))
        page.table(rows, styles={2: "dim"})


def _not_checked(page: Page, advice: Advice) -> None:
    if not advice.not_checked:
        return
    prover = Prover(advice)
    page.heading(HEADINGS["not_checked"].of(page.lang))
    for unchecked in advice.not_checked:
        rule = advice.program.rules.get(unchecked.rule)
        title = rule.title.of(page.lang) if rule is not None and rule.title else unchecked.rule
        missing = ("；" if page.lang == "zh" else "; ").join(prover.missing(name, page.lang) for name in unchecked.unknown)
        page.put(f"{title}（{missing}）" if page.lang == "zh" else f"{title} ({missing})", 2, 2)


def _dissent(page: Page, advice: Advice) -> None:
    if not advice.dissent:
        return
    page.heading(HEADINGS["dissent"].of(page.lang))
    for found in advice.dissent:
        colon = "：" if page.lang == "zh" else ": "
        page.put(f"{found.claim}{colon}{found.says.of(page.lang)}", 2, 2)
        used = Text(f"used here: {found.used}", f"此处采用：{found.used}").of(page.lang)
        page.put(used + (f"; {found.because.of(page.lang)}" if found.because else ""), 4, 2, "dim")


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
        for text in (risk.trigger.of(page.lang), impact, risk.mitigation.of(page.lang)):
            if text:
                page.put(text, 4, 2, "dim")
