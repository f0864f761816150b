"""`expert explain PLAN [FACT|RULE]`: the proofs behind a recommendation."""

from __future__ import annotations

import argparse

from expert.advice import Advice
from expert.cli.loading import advice_of, exit_code
from expert.cli.options import Parser, add_general, add_output, add_packs, add_plan
from expert.cli.output import deliver, page_to
from expert.errors import Text, fail
from expert.explain.nodes import Explanation
from expert.explain.proof import explain
from expert.explain.selecting import FULL, LEVELS, selection_of

SUMMARY = Text(
    "Explain a whole recommendation, or one fact, rule or decision, down to plan lines, constants, table rows and sources.",
    "解释整个推荐结果，或某个事实、规则、决策，直到方案行、常量、表格行与来源。",
)


def parsers(lang: str) -> dict[str, Parser]:
    """The command line of the command."""
    parser = Parser("explain", SUMMARY, lang)
    add_plan(parser)
    says = Text("a fact, a rule or a decision (default: everything)", "事实、规则或决策（默认：全部）")
    parser.option("target", nargs="?", metavar="FACT|RULE", says=says)
    says = Text("how much to say (default: full)", "详细程度（默认 full）")
    parser.option("--level", choices=LEVELS, default=FULL, metavar="full|paragraph|line", says=says)
    says = Text("only what belongs to these topics; names with commas, may be repeated", "只看这些主题；名称以逗号分隔，可重复")
    parser.option("--topic", action="append", default=[], metavar="TOPIC", says=says)
    says = Text("only the findings of these severities", "只看这些级别的发现")
    parser.option("--severity", action="append", default=[], metavar="error|warning|info", says=says)
    says = Text("only what rests on these claims or sources, by id", "只看以这些论断或来源（按编号）为依据的内容")
    parser.option("--source", action="append", default=[], metavar="ID", says=says)
    add_packs(parser)
    add_output(parser)
    add_general(parser)
    return {"": parser}


def run(options: argparse.Namespace, lang: str) -> int:
    """Run the command."""
    if options.target is not None and (options.topic or options.severity):
        message = Text(
            "--topic and --severity choose among all proofs; FACT|RULE names one",
            "--topic 与 --severity 用于筛选全部证明；FACT|RULE 只指定一个",
        )
        raise fail(
            "bad-call",
            message,
            help=Text("leave one of them out; --source also prunes a single proof", "请去掉其一；--source 也可裁剪单个证明"),
        )
    advice = advice_of(options, lang)
    selection = selection_of(advice.program, options.topic, options.severity, options.source)
    found = explain(advice, options.target, options.level, selection)
    deliver(_json(advice, found, lang) if options.format == "json" else _text(advice, found, options, lang), options.output)
    return exit_code(advice, recommending=False)


def _json(advice: Advice, found: Explanation, lang: str) -> str:
    from expert.report.json import to_json

    return to_json(advice, lang, found)


def _text(advice: Advice, found: Explanation, options: argparse.Namespace, lang: str) -> str:
    from expert.report.proofs import put_explanation
    from expert.report.text import put_report, put_verdict

    page = page_to(options.output, lang)
    if options.target is None and not (options.topic or options.severity or options.source):
        put_report(page, advice, found)
    else:
        put_verdict(page, advice)
        put_explanation(page, found)
        if not found.nodes and not found.silent:
            page.blank()
            page.put(Text("nothing in this advice fits the selection", "本次建议中没有符合筛选条件的内容").of(lang))
    return page.text()
