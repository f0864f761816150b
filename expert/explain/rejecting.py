"""Rejected values of a decision, grouped by reason and named by what they have in common."""

from __future__ import annotations

from collections.abc import Iterator

from expert.engine.model import domain_values
from expert.engine.trace import Outcome
from expert.errors import Text, inert
from expert.explain.evidence import place
from expert.explain.nodes import Line
from expert.explain.prover import Prover
from expert.explain.wording import cell_words, in_both
from expert.facts import Amount, Value
from expert.language.program import Cell


def rejected_lines(prover: Prover, outcome: Outcome) -> Iterator[Line]:
    """Rejected values grouped by reason, those that one rule alone rejects first."""
    groups: dict[tuple[str, tuple[str, ...], bool], list[Value]] = {}
    for rejection in outcome.rejected:
        groups.setdefault((rejection.fact, rejection.rules, rejection.together), []).append(rejection.value)
    for (fact, rules, together), values in sorted(groups.items(), key=lambda group: (group[0][2], len(group[1]))):
        found = [prover.program.rules.get(id) for id in rules]

        def shown(lang: str, fact: str = fact, values: list[Value] = values, ids: tuple[str, ...] = rules, both: bool = together) -> str:
            titles = [rule.title.of(lang) if rule is not None and rule.title else id for rule, id in zip(found, ids, strict=True)]  # noqa: B023
            why = ("；" if lang == "zh" else "; ").join(titles)
            head = group_name(prover, fact, values, lang)
            joint = Text(" (together)", "（共同排除）").of(lang) if both else ""
            return f"{head}：{why}{joint}" if lang == "zh" else f"{head}: {why}{joint}"

        yield Line("rejected", in_both(shown), place(found[0].span) if len(found) == 1 and found[0] is not None else "")


_LISTED = 6


def group_name(prover: Prover, fact: str, values: list[Value], lang: str) -> str:
    """What rejected values have in common: a run of numbers, a cell that they alone share, else the values themselves."""
    title = prover.words.title(fact, lang)
    colon = " " if lang == "en" else ""
    if len(values) > 2:
        run = _run(prover, fact, values, lang) or _shared_cell(prover, fact, values, lang)
        if run is not None:
            return f"{title}{colon}{run}"
    listed = [prover.words.value(fact, value, lang) for value in values[:_LISTED]]
    more = len(values) - len(listed)
    tail = (f" 等 {len(values)} 项" if lang == "zh" else f" and {more} more") if more else ""
    return f"{title} {('、' if lang == 'zh' else ', ').join(listed)}{tail}"


def _domain(prover: Prover, fact: str) -> tuple[Value, ...]:
    program = prover.program
    return domain_values(program.decisions[program.deciders[fact]].assigns[fact], program.facts[fact].kind, program)


def _run(prover: Prover, fact: str, values: list[Value], lang: str) -> str | None:
    numbers = [value for value in values if isinstance(value, Amount)]
    domain = [value for value in _domain(prover, fact) if isinstance(value, Amount)]
    if len(numbers) != len(values):
        return None
    low, high = min(numbers, key=lambda x: x.low), max(numbers, key=lambda x: x.high)
    if sum(low.low <= value.low <= high.high for value in domain) != len(numbers):
        return None
    return prover.words.quantity(Amount(low.low, None, high.high), prover.program.facts[fact].unit, lang)


def _held(cell: Cell) -> tuple[object, ...]:
    """What tells the value of a cell from others."""
    literal = cell.literal
    return () if literal is None else (literal.low, literal.high, literal.word, literal.flag)


def _shared_cell(prover: Prover, fact: str, values: list[Value], lang: str) -> str | None:
    """ "all with memory 24 GiB": a cell that all of these rows have and no other row."""
    domain = prover.program.facts[fact].domain
    table = prover.program.tables.get(domain.table) if domain is not None and domain.table else None
    if table is None:
        return None
    rejected = {value for value in values if isinstance(value, str)}
    for name, column in table.columns.items():
        cells = {id: cell for id, row in table.rows.items() if (cell := row.cells.get(name)) is not None and cell.literal is not None}
        shared = {_held(cells[id]) for id in rejected if id in cells}
        if len(shared) == 1 and {id for id, cell in cells.items() if _held(cell) in shared} == rejected:
            value = cell_words(cells[next(iter(rejected))], column, prover.program, lang)
            heading = inert(column.title.of(lang) or name)
            return f"：所有 {heading} 为 {value} 的" if lang == "zh" else f"– all with {heading} {value}"
    return None
