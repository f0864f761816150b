"""Tables and constants of the layered packs: typed cells in base units, unknown cells with their reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from expert.errors import NO_TEXT, Span, Text
from expert.language.build_sources import check_names, cited
from expert.language.layers import Entry, Layered, TableEntry
from expert.language.limits import check_tables
from expert.language.program import Cell, Column, Constant, Row, Table
from expert.language.reading import PLAIN_NAME, ROW_ID, Reading
from expert.language.shapes import BASES, CELL_KEYS, CONSTANT_KEYS
from expert.language.terms import BOOL, LIST, NUMBER, TEXT, WORD, Literal
from expert.quantities import QuantityError, parse_quantity
from expert.units import PLAIN, Unit, UnitError, UnitTable
from expert.yamldoc import Mapping as Keyed
from expert.yamldoc import Node, Scalar
from expert.yamldoc import Sequence as Listing

_COLUMN_KINDS = {"number": NUMBER, "word": WORD, "text": TEXT, "yes-no": BOOL, "list": LIST}
_ROW_EXTRAS = ("title", "source")


def build_tables(layered: Layered, units: UnitTable, cites: frozenset[str], reading: Reading) -> dict[str, Table]:
    """All tables; a table that is broken as a whole is left out and noted in `layered.broken`."""
    found: dict[str, Table] = {}
    check_tables(layered, reading)
    check_names({name: table.entry for name, table in layered.tables.items()}, reading, Text("a table", "表"))
    for name, table in layered.tables.items():
        columns = _columns(table, layered, units, reading)
        rows = {entry.id: _row(entry, table, columns, layered, units, cites, reading) for entry in table.rows.values()}
        node = table.entry.node
        assert isinstance(node, Keyed)
        title = reading.text(node.get("title"), Text("a title", "标题"))
        source = _source(node.get("source"), cites, reading)
        found[name] = Table(name, title, columns, rows, source, table.entry.span, table.entry.layer)
    return found


def _source(node: Node | None, cites: frozenset[str], reading: Reading) -> tuple[str, ...]:
    """Ids of claims and sources, or words that name a source no pack lists."""
    if isinstance(node, Scalar) and node.raw not in cites and " " in node.raw:
        return (node.raw.strip(),)
    return cited(node, cites, reading)


def _columns(table: TableEntry, layered: Layered, units: UnitTable, reading: Reading) -> dict[str, Column]:
    if not table.columns:
        reading.report("missing-key", table.entry.span, Text(f"the table '{table.entry.id}' needs 'columns:'",
                                                             f"表 '{table.entry.id}' 缺少 'columns:'"))  # fmt: skip
    found: dict[str, Column] = {}
    for entry in table.columns.values():
        if not PLAIN_NAME.fullmatch(entry.id) or entry.id in _ROW_EXTRAS:
            reading.report("bad-name", entry.span, Text(f"'{entry.id}' is no name for a column", f"'{entry.id}' 不能作列名"),
                           Text("use small letters, digits and underscores; 'title' and 'source' are taken",
                                "请用小写字母、数字和下划线；'title' 与 'source' 已占用"))  # fmt: skip
        column = _column(entry, layered, units, reading)
        if column is None:
            layered.broken.add(("columns", f"{table.entry.id}.{entry.id}"))
        else:
            found[entry.id] = column
    return found


def _column(entry: Entry, layered: Layered, units: UnitTable, reading: Reading) -> Column | None:
    node, title = entry.node, NO_TEXT
    if isinstance(node, Keyed):
        reading.keys(node, ("type", "title"), Text("a column", "列"))
        title = reading.text(node.get("title"), Text("a title", "标题"))
        node = reading.required(node, "type", Text("a column", "列"))  # type: ignore[assignment]
    word = reading.word(node, Text("the type of a column", "列的类型"))
    if word is None:
        return None
    if word in _COLUMN_KINDS:
        return Column(entry.id, _COLUMN_KINDS[word], PLAIN if word == "number" else None, None, title)
    if word.startswith("tables."):
        table = table_named(node, layered, reading)
        return None if table is None else Column(entry.id, WORD, None, table, title)
    unit = unit_of(node, units, reading)
    return None if unit is None else Column(entry.id, NUMBER, unit, None, title)


def table_named(node: Node, layered: Layered, reading: Reading) -> str | None:
    """The table that `tables.NAME` names."""
    if isinstance(node, Scalar) and node.raw.startswith("tables.") and node.raw.removeprefix("tables.") in layered.tables:
        return node.raw.removeprefix("tables.")
    reading.one_of(node, [f"tables.{name}" for name in layered.tables], Text("a table", "表"), "unknown-table")
    return None


def unit_of(node: Node | None, units: UnitTable, reading: Reading) -> Unit | None:
    """The unit that a scalar names; None after a mistake."""
    word = reading.word(node, Text("a unit", "单位"))
    if word is None or not isinstance(node, Scalar):
        return None
    try:
        return units.parse(word)
    except UnitError as error:
        reading.report("unknown-unit", node.locate(error.offset, len(error.bad)), error.message, error.help)
        return None


def _row(
    entry: Entry,
    table: TableEntry,
    columns: Mapping[str, Column],
    layered: Layered,
    units: UnitTable,
    cites: frozenset[str],
    reading: Reading,
) -> Row:
    what = Text(f"a row of '{table.entry.id}'", f"表 '{table.entry.id}' 的行")
    if not ROW_ID.fullmatch(entry.id):
        reading.report("bad-name", entry.span, Text(f"'{entry.id}' is no id for a row", f"'{entry.id}' 不能作行的 id"),
                       Text("use letters, digits, hyphens and underscores", "请用字母、数字、连字符和下划线"))  # fmt: skip
    node = reading.mapping(entry.node, what)
    if node is None:
        return Row(entry.id, NO_TEXT, {}, (), entry.span, entry.layer)
    reading.keys(node, (*table.columns, *_ROW_EXTRAS), what)
    title = reading.text(node.get("title"), Text("a title", "标题"))
    source = _source(node.get("source"), cites, reading)
    cells: dict[str, Cell] = {}
    for name, column in columns.items():
        value = node.get(name)
        cell = None if value is None else _cell(value, column, layered, units, cites, reading)
        if cell is not None:
            changes = table.cell_changes.get((entry.id, name), [])
            cells[name] = replace(cell, changes=tuple(changes)) if changes else cell
    return Row(entry.id, title, cells, source, entry.span, entry.layer)


def _cell(node: Node, column: Column, layered: Layered, units: UnitTable, cites: frozenset[str], reading: Reading) -> Cell | None:
    basis = ""
    source: tuple[str, ...] = ()
    if isinstance(node, Keyed) and node.get("unknown") is not None:
        reading.keys(node, ("unknown", "source"), Text("an unknown cell", "未知单元格"))
        reason = reading.text(node.get("unknown"), Text("the reason", "原因"))
        return Cell(None, None, NO_TEXT, reason, "", _source(node.get("source"), cites, reading), node.span)
    if isinstance(node, Keyed) and (node.get("value") is not None or column.kind != TEXT):
        reading.keys(node, CELL_KEYS, Text("a cell", "单元格"))
        basis = reading.one_of(node.get("basis"), BASES, Text("a basis", "依据类型")) or ""
        source = _source(node.get("source"), cites, reading)
        value = reading.required(node, "value", Text("a cell", "单元格"))
        if value is None:
            return None
        node = value
    if column.kind == TEXT:
        text = reading.text(node, Text("a cell", "单元格"))
        return Cell(Literal(node.span, TEXT, text.en or text.zh, word=text.en or text.zh), None, text, NO_TEXT, basis, source, node.span)
    if column.kind == LIST:
        members = tuple(word for word, _ in reading.words(node, Text("a member of a list", "列表成员")))
        return Cell(None, members, NO_TEXT, NO_TEXT, basis, source, node.span)
    literal = literal_of(node, column.kind, column.unit, column.table, layered, units, reading)
    return None if literal is None else Cell(literal, None, NO_TEXT, NO_TEXT, basis, source, node.span)


def literal_of(
    node: Node, kind: str, unit: Unit | None, table: str | None, layered: Layered, units: UnitTable, reading: Reading
) -> Literal | None:
    """A number, word or yes-no written in a cell; None after a mistake."""
    if not isinstance(node, Scalar) or node.value is None:
        help = Text("leave an unknown cell out, or write {unknown: 'the reason'}", "未知的单元格请省略，或写 {unknown: '原因'}")
        kind_name = "list" if isinstance(node, Listing) else "mapping" if isinstance(node, Keyed) else "empty value"
        reading.wrong_shape(node, Text(f"a {kind_name} cannot stand here", "此处的值种类不对"), help)
        return None
    if kind == BOOL:
        if not isinstance(node.value, bool):
            reading.wrong_shape(node, Text("true or false belongs here", "此处应为 true 或 false"))
            return None
        return Literal(node.span, BOOL, node.raw, flag=node.value)
    if kind == WORD:
        known = layered.tables[table].rows if table is not None else None
        found = reading.word(node, Text("a word", "词")) if known is None else reading.one_of(
            node, known, Text(f"a row of '{table}'", f"表 '{table}' 的行"), "unknown-row")  # fmt: skip
        return None if found is None else Literal(node.span, WORD, found, word=found)
    return number_literal(node, unit or PLAIN, units, reading)


def number_literal(node: Scalar, unit: Unit, units: UnitTable, reading: Reading) -> Literal | None:
    """A number or range; a bare one is in `unit`, another unit must have the same dimension. Ends are in base units."""
    try:
        found = parse_quantity(node.raw, units)
    except QuantityError as error:
        reading.report("bad-quantity", node.locate(error.offset, max(1, len(error.bad))), error.message, error.help)
        return None
    written = found.unit or unit
    if not fits(written, unit):
        message = Text(f"'{node.raw}' is in {written.text or 'plain numbers'}, and {unit.text or 'a plain number'} belongs here",
                       f"'{node.raw}' 的单位是 {written.text or '纯数'}，此处应为 {unit.text or '纯数'}")  # fmt: skip
        reading.report("wrong-unit", node.span, message)
        return None
    shown = node.raw.strip() if found.unit is not None or not unit.text else f"{node.raw.strip()} {unit.text.replace('percent', '%')}"
    low, high = written.to_base(found.low), written.to_base(found.high)
    typical = written.to_base(found.typical) if found.typical is not None else low if low == high else None
    return Literal(node.span, NUMBER, shown, low, typical, high, unit=unit)


def fits(written: Unit, unit: Unit) -> bool:
    """Whether a number written in one unit may stand for one in another: same dimension, percentages, counts and per-parts."""
    if not written.same_dimension(unit) or (written.percent != unit.percent):
        return False
    if written.count is not None and unit.count is not None and written.count != unit.count:
        return False
    return not written.per or written.per == unit.per


def build_constants(layered: Layered, units: UnitTable, cites: frozenset[str], reading: Reading) -> dict[str, Constant]:
    """All constants; a broken one is noted in `layered.broken`."""
    found: dict[str, Constant] = {}
    entries = layered.entries["constants"]
    check_names(entries, reading, Text("a constant", "常量"))
    for entry in entries.values():
        constant = _constant(entry, units, cites, reading)
        if constant is None:
            layered.broken.add(("constants", entry.id))
        else:
            found[entry.id] = constant
    return found


def _constant(entry: Entry, units: UnitTable, cites: frozenset[str], reading: Reading) -> Constant | None:
    what = Text(f"the constant '{entry.id}'", f"常量 '{entry.id}'")
    node = reading.mapping(entry.node, what)
    if node is None:
        return None
    reading.keys(node, CONSTANT_KEYS, what)
    basis = reading.one_of(reading.required(node, "basis", what, entry.span), BASES, Text("a basis", "依据类型"))
    cite = cited(node.get("cite"), cites, reading)
    title = reading.text(node.get("title"), Text("a title", "标题"))
    value = reading.required(node, "value", what, entry.span)
    unit = unit_of(node.get("unit"), units, reading)
    literal = None if value is None else _constant_literal(value, unit, units, reading)
    if literal is None or not _same_unit_as_before(entry, literal, units, reading):
        return None
    # The place of a changed value is where the change says it.
    span = literal.span if any(change.span == literal.span for change in entry.changes) else entry.span
    return Constant(entry.id, literal, literal.unit, basis or "", cite, title, span, entry.layer, tuple(entry.changes))


def _constant_literal(node: Node, unit: Unit | None, units: UnitTable, reading: Reading) -> Literal | None:
    if not isinstance(node, Scalar) or node.value is None:
        reading.wrong_shape(node, Text("a constant is one number, range or word", "常量应为一个数、范围或词"))
        return None
    if isinstance(node.value, str) and ROW_ID.fullmatch(node.raw) and not node.raw[0].isdigit():
        return Literal(node.span, WORD, node.raw, word=node.raw)
    try:
        written = parse_quantity(node.raw, units).unit
    except QuantityError as error:
        reading.report("bad-quantity", node.locate(error.offset, max(1, len(error.bad))), error.message, error.help)
        return None
    return number_literal(node, unit or written or PLAIN, units, reading)


def _same_unit_as_before(entry: Entry, literal: Literal, units: UnitTable, reading: Reading) -> bool:
    """A changed constant keeps its kind, its dimension and its per-part: what reads it was checked against them."""
    for change in entry.changes:
        if change.at not in (f"constants.{entry.id}", f"constants.{entry.id}.value"):
            continue
        try:
            before = parse_quantity(change.was, units).unit or PLAIN
        except QuantityError:
            before = None
        if (before is None) != (literal.kind == WORD):
            kind = Text("word", "词") if before is None else Text("number", "数")
            reading.report("wrong-kind", change.span, Text(f"'{entry.id}' is a {kind.en}, and this is none",
                                                           f"'{entry.id}' 是{kind.zh}，此处却不是"))  # fmt: skip
            return False
        if before is None or literal.unit is None or _has_unit(entry):
            continue
        if not (fits(literal.unit, before) and literal.unit.per == before.per and literal.unit.count == before.count):
            _unit_changed(change.span, entry.id, before, literal, reading)
            return False
    return True


def _has_unit(entry: Entry) -> bool:
    """Whether the unit stands beside the value: then the value was read against it."""
    return isinstance(entry.node, Keyed) and entry.node.get("unit") is not None


def _unit_changed(span: Span, name: str, before: Unit, after: Literal, reading: Reading) -> None:
    written = after.unit.text if after.unit is not None else ""
    message = Text(
        f"'{name}' is in {before.text or 'plain numbers'}, and this is in {written or 'plain numbers'}",
        f"'{name}' 的单位是 {before.text or '纯数'}，此处却是 {written or '纯数'}",
    )
    unit = "%" if before.percent else before.text
    help = NO_TEXT if written or not unit else Text(f"write '{after.text} {unit}'", f"请写 '{after.text} {unit}'")
    reading.report("wrong-unit", span, message, help)
