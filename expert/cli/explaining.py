"""`expert explain PLAN [FACT|RULE]`: the proofs behind a recommendation."""

from __future__ import annotations

import argparse

from expert.advice import Advice
from expert.cli.loading import advice_of, exit_code
from expert.cli.options import Parser, add_general, add_output, add_packs, add_plan
from expert.cli.output import deliver, page_to
from expert.errors import Text
from expert.explain.nodes import Explanation
from expert.explain.proof import FULL, LINE, PARAGRAPH, explain

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
    parser.option("--level", choices=[FULL, PARAGRAPH, LINE], default=FULL, metavar="full|paragraph|line", says=says)
    parser.option("--topic", metavar="TOPIC", says=Text("only decisions and rules of one topic", "只看某个主题的决策与规则"))
    add_packs(parser)
    add_output(parser)
    add_general(parser)
    return {"": parser}


def run(options: argparse.Namespace, lang: str) -> int:
    """Run the command."""
    advice = advice_of(options, lang)
    if options.topic is not None and options.topic not in advice.program.topics:
        raise _unknown_topic(options.topic, advice)
    found = explain(advice, options.target, options.level, options.topic)
    deliver(_json(advice, found, lang) if options.format == "json" else _text(advice, found, options, lang), options.output)
    return exit_code(advice, recommending=False)


def _unknown_topic(topic: str, advice: Advice) -> Exception:
    from expert.errors import fail, inert, nearest

    close = nearest(topic, advice.program.topics)
    listed = ", ".join(advice.program.topics)
    help = Text(f"did you mean '{close}'?", f"是否指 '{close}'？") if close else Text(f"topics are {listed}", f"可用的主题：{listed}")
    shown = inert(topic)[:60]
    return fail("unknown-target", Text(f"there is no topic '{shown}'", f"没有主题 '{shown}'"), help=help)


def _json(advice: Advice, found: Explanation, lang: str) -> str:
    from expert.report.json import to_json

    return to_json(advice, lang, found)


def _text(advice: Advice, found: Explanation, options: argparse.Namespace, lang: str) -> str:
    from expert.report.proofs import put_explanation
    from expert.report.text import put_report, put_verdict

    page = page_to(options.output, lang)
    if options.target is None and options.topic is None:
        put_report(page, advice, found)
    else:
        put_verdict(page, advice)
        put_explanation(page, found)
    return page.text()
