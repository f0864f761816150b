"""The tables of the packs, for people and as JSON."""

from __future__ import annotations

from expert.errors import cell_width
from expert.explain.wording import cell_words
from expert.language.program import Cell, Column, Program, Table
from expert.report.json import Json, plain_cell
from expert.report.page import Page


def put_tables(page: Page, program: Program) -> None:
    """All tables: name, title, number of rows."""
    page.table([(name, table.title.of(page.lang), str(len(table.rows))) for name, table in program.tables.items()], indent=0)


def put_table(page: Page, table: Table, program: Program) -> None:
    """One table; one that is too wide for the page stands row by row."""
    page.put(table.title.of(page.lang) or table.name, style="bold")
    columns = list(table.columns.values())
    rows = [(id, *(_shown(row.cells.get(column.name), column, program, page.lang) for column in columns)) for id, row in table.rows.items()]
    header = ("", *(column.title.of(page.lang) or column.name for column in columns))
    if _width(rows, header) <= page.width:
        page.table(rows, indent=0, header=header)
        return
    for id, row in zip(table.rows, rows, strict=True):
        page.blank()
        page.put(f"{id}  {table.rows[id].title.of(page.lang)}".rstrip(), style="bold")
        page.table([(name, cell) for name, cell in zip(header[1:], row[1:], strict=True)], indent=2)


def _width(rows: list[tuple[str, ...]], header: tuple[str, ...]) -> int:
    widths = [max(cell_width(row[place]) for row in (header, *rows)) for place in range(len(header))]
    return sum(widths) + 2 * (len(widths) - 1)


def _shown(cell: Cell | None, column: Column, program: Program, lang: str) -> str:
    return (cell_words(cell, column, program, lang) if cell is not None else "") or "–"


def table_record(table: Table, lang: str) -> Json:
    """The rows of a table with cells in the units of its columns; unknown cells are null."""
    rows: dict[str, Json] = {}
    for id, row in table.rows.items():
        cells: dict[str, Json] = {name: plain_cell(row.cells.get(name), column, lang) for name, column in table.columns.items()}
        rows[id] = {"title": row.title.of(lang) or None, "layer": row.layer, **cells}
    units: dict[str, Json] = {
        name: column.unit.text for name, column in table.columns.items() if column.unit is not None and column.unit.text
    }
    return {"title": table.title.of(lang) or None, "units": units, "rows": rows}
