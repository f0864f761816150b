"""Layering: what several packs say, as one set of entries, each with the layer that said it.

Later packs add under the same headings; they change what is below only through `changes` (see `changes`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from expert.errors import Span, Text
from expert.language.packs import RawPack
from expert.language.program import Change
from expert.language.reading import Reading
from expert.yamldoc import Mapping, Node
from expert.yamldoc import Sequence as Listing

KEYED = ("topics", "units", "facts", "constants", "sources", "claims")
LISTED = ("rules", "decisions")


@dataclass(slots=True)
class Entry:
    """One named thing: its node as it stands after the changes so far, its place, and what was changed."""

    id: str
    node: Node
    span: Span
    layer: str
    changes: list[Change] = field(default_factory=list)


@dataclass(slots=True)
class TableEntry:
    """A table: its own node, its columns, and its rows, which later layers may add to."""

    entry: Entry
    columns: dict[str, Entry]
    rows: dict[str, Entry]
    cell_changes: dict[tuple[str, str], list[Change]] = field(default_factory=dict)


@dataclass(slots=True)
class Layered:
    """Everything that the packs define, by heading and id. `broken` has ids that were refused: they cause no further message."""

    packs: tuple[RawPack, ...]
    entries: dict[str, dict[str, Entry]] = field(default_factory=lambda: {heading: {} for heading in (*KEYED, *LISTED)})
    tables: dict[str, TableEntry] = field(default_factory=dict)
    disabled: dict[str, Change] = field(default_factory=dict)
    broken: set[tuple[str, str]] = field(default_factory=set)


def add_pack(layered: Layered, pack: RawPack, reading: Reading) -> None:
    """Add what one pack defines."""
    layer = pack.pack.name
    for document in pack.documents:
        for heading in KEYED:
            _add_keyed(layered, heading, document.get(heading), layer, reading)
        for heading in LISTED:
            _add_listed(layered, heading, document.get(heading), layer, reading)
        _add_tables(layered, document.get("tables"), layer, reading)
    _sort_added_rows(layered, layer)


def _add_keyed(layered: Layered, heading: str, node: Node | None, layer: str, reading: Reading) -> None:
    found = reading.mapping(node, Text(f"'{heading}'", f"'{heading}'"))
    for key, value in found.entries if found is not None else ():
        _add(layered, heading, Entry(key.raw, value, key.span, layer), reading)


def _add_listed(layered: Layered, heading: str, node: Node | None, layer: str, reading: Reading) -> None:
    if node is not None and not isinstance(node, Listing):
        reading.wrong_shape(
            node, Text(f"'{heading}' is a list, each entry begins with '- id:'", f"'{heading}' 应为列表，每项以 '- id:' 开头")
        )
        return
    for member in node.items if node is not None else ():
        found = reading.mapping(member, Text("an entry", "条目"))
        if found is None:
            continue
        what = Text(f"an entry of '{heading}'", f"'{heading}' 的条目")
        id_node = reading.required(found, "id", what)
        name = reading.word(id_node, Text("an id", "id"))
        if name is not None and id_node is not None:
            _add(layered, heading, Entry(name, found, id_node.span, layer), reading)


def _add(layered: Layered, heading: str, entry: Entry, reading: Reading) -> None:
    present = layered.entries[heading]
    if entry.id in present:
        twice(reading, heading, entry, present[entry.id])
    else:
        present[entry.id] = entry


_CHANGE_PATHS = {
    "constants": "constants.{id}",
    "rules": "rules.{id}.FIELD",
    "facts": "facts.{id}.FIELD",
    "decisions": "decisions.{id}.FIELD",
}
"""What a change can name, by heading; for anything else a name of its own is the only way."""


def twice(reading: Reading, heading: str, entry: Entry, first: Entry) -> None:
    """Report an id that is defined a second time, naming both places."""
    kind = heading.removesuffix("s")
    message = Text(f"the {kind} '{entry.id}' is defined already, at {first.span}", f"'{entry.id}'（{heading}）已在 {first.span} 定义")
    path = heading.removesuffix("rows") + "{id}.COLUMN" if heading.endswith(".rows") else _CHANGE_PATHS.get(heading, "")
    if entry.layer == first.layer or not path:
        help = Text("give one of them another name, or delete it", "请改名或删去其中一个")
    else:
        at = path.format(id=entry.id)
        help = Text(f"to change what '{first.layer}' says, write 'changes:' with 'at: {at}'",
                    f"要修改 '{first.layer}' 的内容，请用 'changes:' 并写 'at: {at}'")  # fmt: skip
    reading.report("defined-twice", entry.span, message, help)


_TABLE_KEYS = ("title", "columns", "source", "rows")


def _add_tables(layered: Layered, node: Node | None, layer: str, reading: Reading) -> None:
    found = reading.mapping(node, Text("'tables'", "'tables'"))
    for key, value in found.entries if found is not None else ():
        what = Text(f"the table '{key.raw}'", f"表 '{key.raw}'")
        table = reading.mapping(value, what)
        if table is None:
            layered.broken.add(("tables", key.raw))
            continue
        reading.keys(table, _TABLE_KEYS, what)
        entry = Entry(key.raw, table, key.span, layer)
        if key.raw not in layered.tables:
            layered.tables[key.raw] = TableEntry(entry, {}, {})
        elif layered.tables[key.raw].entry.layer == layer:
            twice(reading, "tables", entry, layered.tables[key.raw].entry)
            continue
        _extend(layered.tables[key.raw], table, layer, reading)


def _extend(present: TableEntry, table: Mapping, layer: str, reading: Reading) -> None:
    for heading, target in (("columns", present.columns), ("rows", present.rows)):
        found = reading.mapping(table.get(heading), Text(f"'{heading}'", f"'{heading}'"))
        for key, value in found.entries if found is not None else ():
            entry = Entry(key.raw, value, key.span, layer)
            if key.raw in target:
                twice(reading, f"tables.{present.entry.id}.{heading}", entry, target[key.raw])
            else:
                target[key.raw] = entry


def _sort_added_rows(layered: Layered, layer: str) -> None:
    """Rows of the layer that began a table keep their order; rows added later follow by id, in whatever file they stand."""
    for table in layered.tables.values():
        own = [name for name, row in table.rows.items() if row.layer == table.entry.layer]
        added = sorted(name for name, row in table.rows.items() if row.layer != table.entry.layer)
        table.rows = {name: table.rows[name] for name in (*own, *added)}
