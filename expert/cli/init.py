"""`expert init`: a commented sample plan, as the base pack ships it."""

from __future__ import annotations

import argparse
from pathlib import Path

from expert.cli.options import Parser, add_general
from expert.cli.output import deliver
from expert.errors import EXIT_OK, Text, fail
from expert.places import builtin_rules

SUMMARY = Text("Write a commented sample plan to standard output or a file.", "将带注释的示例方案写到标准输出或文件。")


def parsers(lang: str) -> dict[str, Parser]:
    """The command line of the command."""
    parser = Parser("init", SUMMARY, lang)
    parser.option("-o", "--output", metavar="FILE", says=Text("write to FILE, whole or not at all", "写入文件（要么完整写入，要么不写）"))
    add_general(parser)
    return {"": parser}


def run(options: argparse.Namespace, lang: str) -> int:
    """Run the command."""
    # The sample speaks of what the pack is about, so it lies in the pack. It ends in .txt: a pack's YAML files are rules.
    if options.output is not None and Path(options.output).exists():
        message = Text(f"'{options.output}' exists already", f"'{options.output}' 已存在")
        raise fail("file-exists", message, help=Text("name another file, or delete this one first", "请换一个文件名，或先删除它"))
    sample = builtin_rules() / "base" / f"sample-plan.{lang}.txt"
    deliver(sample.read_text("utf-8"), options.output)
    return EXIT_OK
