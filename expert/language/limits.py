"""How large packs may be, so that a pack from anywhere is refused within seconds instead of filling time or memory."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from math import prod

from expert.errors import Span, Text
from expert.language.layers import Layered
from expert.language.program import Rule
from expert.language.reading import Reading

COMBINATIONS_OF_A_RULE = 10_000
COMBINATIONS_IN_ALL = 200_000
ROWS_OF_A_TABLE = 10_000
CHANGES_OF_A_PACK = 2_000
ENTRIES = {
    "rules": 5_000, "facts": 5_000, "decisions": 100, "tables": 1_000, "constants": 10_000,
    "topics": 1_000, "units": 500, "sources": 10_000, "claims": 20_000,
}  # fmt: skip
"""How many entries all packs may have. What a fact depends on is kept for each fact and rule: memory grows with their product."""


def check_entries(layered: Layered, reading: Reading) -> None:
    """No heading has too many entries, all packs together.

    Errors: ExpertError too-many-entries, with what was found before: checking them all would take too long.
    """
    counted = {**layered.entries, "tables": {name: table.entry for name, table in layered.tables.items()}}
    for heading, limit in ENTRIES.items():
        entries = counted[heading]
        if len(entries) > limit:
            span = next(islice(entries.values(), limit, None)).span
            message = Text(f"the packs have {len(entries):,} {heading}; at most {limit:,} are taken",
                           f"各规则包的 '{heading}' 共有 {len(entries):,} 项，最多 {limit:,} 项")  # fmt: skip
            reading.report(
                "too-many-entries", span, message, Text("load fewer packs, or make this one shorter", "请少加载规则包，或精简此包")
            )
            reading.raise_if_any()


def check_tables(layered: Layered, reading: Reading) -> None:
    """No table has too many rows.

    Errors: recorded in `reading`: too-many-rows.
    """
    for name, table in layered.tables.items():
        if len(table.rows) > ROWS_OF_A_TABLE:
            message = Text(f"the table '{name}' has {len(table.rows):,} rows; at most {ROWS_OF_A_TABLE:,} are taken",
                           f"表 '{name}' 有 {len(table.rows):,} 行，最多 {ROWS_OF_A_TABLE:,} 行")  # fmt: skip
            help = Text("keep the rows that a decision can choose or a rule reads", "请只保留决策可选或规则读取的行")
            reading.report("too-many-rows", table.entry.span, message, help)


def within_combinations(rows: Mapping[str, str], layered: Layered, span: Span, reading: Reading) -> bool:
    """Whether the `for` of a rule runs over few enough combinations of rows.

    Errors: recorded in `reading`: too-many-combinations.
    """
    sizes = [len(layered.tables[table].rows) for table in rows.values()]
    if prod(sizes) <= COMBINATIONS_OF_A_RULE:
        return True
    shown = " × ".join(f"{size:,}" for size in sizes)
    message = Text(f"'for' makes {shown} = {prod(sizes):,} combinations of rows; at most {COMBINATIONS_OF_A_RULE:,} are tried",
                   f"'for' 产生 {shown} = {prod(sizes):,} 种行组合，最多 {COMBINATIONS_OF_A_RULE:,} 种")  # fmt: skip
    help = Text("take variables out, or make a table that has only the combinations that are meant",
                "请减少变量，或另建一张只含所需组合的表")  # fmt: skip
    reading.report("too-many-combinations", span, message, help)
    return False


def check_combinations(rules: Mapping[str, Rule], layered: Layered, reading: Reading) -> None:
    """All rules together run over few enough combinations of rows; the rule with most of them is named.

    Errors: recorded in `reading`: too-many-combinations.
    """
    counts = {name: prod(len(layered.tables[table].rows) for _, table in rule.rows) for name, rule in rules.items() if rule.rows}
    total = sum(counts.values())
    if total <= COMBINATIONS_IN_ALL:
        return
    most = max(counts, key=lambda name: counts[name])
    message = Text(f"the {len(counts):,} rules with 'for' make {total:,} combinations of rows; at most {COMBINATIONS_IN_ALL:,} are tried",
                   f"{len(counts):,} 条带 'for' 的规则共产生 {total:,} 种行组合，最多 {COMBINATIONS_IN_ALL:,} 种")  # fmt: skip
    help = Text(f"'{most}' makes most, {counts[most]:,}: take variables out, or make its table shorter",
                f"'{most}' 最多，为 {counts[most]:,} 种：请减少变量，或缩短其表")  # fmt: skip
    reading.report("too-many-combinations", rules[most].span, message, help)
