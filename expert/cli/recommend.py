"""`expert recommend PLAN`: what to build, with findings and what it rests on."""

from __future__ import annotations

import argparse

from expert.cli.loading import advice_of, exit_code
from expert.cli.options import Parser, add_general, add_output, add_packs, add_plan
from expert.cli.output import deliver, page_to
from expert.errors import Text

SUMMARY = Text(
    "Recommend a design for a plan: what the plan states is audited, the rest is decided. "
    "Exit code 3: nothing satisfies what the plan fixed.",
    "为方案推荐设计：已给定的内容会被审查，其余由规则决定。退出码 3：没有设计能满足方案中固定的内容。",
)


def parsers(lang: str) -> dict[str, Parser]:
    """The command line of the command."""
    parser = Parser("recommend", SUMMARY, lang)
    add_plan(parser)
    add_packs(parser)
    add_output(parser)
    add_general(parser)
    return {"": parser}


def run(options: argparse.Namespace, lang: str) -> int:
    """Run the command."""
    advice = advice_of(options, lang)
    if options.format == "json":
        from expert.report.json import to_json

        deliver(to_json(advice, lang), options.output)
    else:
        from expert.report.text import put_report

        page = page_to(options.output, lang)
        put_report(page, advice)
        deliver(page.text(), options.output)
    return exit_code(advice, recommending=True)
