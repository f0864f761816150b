"""`expert catalog [TABLE]`: the tables of the packs, and the rows of one."""

from __future__ import annotations

import argparse
import json

from expert.cli.loading import program_of
from expert.cli.options import Parser, add_general, add_output, add_packs
from expert.cli.output import deliver, page_to
from expert.errors import EXIT_OK, NO_TEXT, Text, fail, inert, nearest
from expert.language.program import Program, Table
from expert.report.page import Page
from expert.report.tables import put_table, put_tables, table_record

SUMMARY = Text("Show the tables of the packs, or the rows of one table.", "列出规则包中的表格，或某个表格的各行。")


def parsers(lang: str) -> dict[str, Parser]:
    """The command line of the command."""
    parser = Parser("catalog", SUMMARY, lang)
    parser.option("table", nargs="?", metavar="TABLE", says=Text("the table (default: a list of all)", "表格名（默认列出全部）"))
    add_packs(parser)
    add_output(parser)
    add_general(parser)
    return {"": parser}


def run(options: argparse.Namespace, lang: str) -> int:
    """Run the command."""
    program = program_of(options)
    tables = tuple(program.tables.values()) if options.table is None else (_table(program, options.table),)
    if options.format == "json":
        found = {table.name: table_record(table, lang) for table in tables}
        deliver(json.dumps(found, ensure_ascii=False, indent=2) + "\n", options.output)
        return EXIT_OK
    page: Page = page_to(options.output, lang)
    if options.table is None:
        put_tables(page, program)
    else:
        put_table(page, tables[0], program)
    deliver(page.text(), options.output)
    return EXIT_OK


def _table(program: Program, name: str) -> Table:
    found = program.tables.get(name)
    if found is not None:
        return found
    close = nearest(name, program.tables)
    help = Text(f"did you mean '{close}'?", f"是否指 '{close}'？") if close else NO_TEXT
    if not close:
        listed = ", ".join(program.tables)
        help = Text(f"tables are {listed}", f"可用的表格：{listed}")
    shown = inert(name)[:60]
    raise fail("unknown-table", Text(f"there is no table '{shown}'", f"没有表格 '{shown}'"), help=help)
