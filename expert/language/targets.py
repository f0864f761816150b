"""What the path of a change leads to, and every path that there is.

A path names a thing and a field: `constants.NAME`, `rules.ID.when`, `tables.T.ROW.COLUMN`, `facts.NAME.covers`,
`decisions.ID.needs`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from expert.language.layers import Entry, Layered, TableEntry
from expert.language.near import nearest
from expert.language.shapes import CHANGEABLE, FIELDS
from expert.yamldoc import Mapping, Node, Scalar, Sequence


@dataclass(frozen=True, slots=True)
class Target:
    """What a path leads to: the entry, the keys inside its node, and, for a cell, its table."""

    heading: str
    entry: Entry
    keys: tuple[str, ...]
    table: TableEntry | None = None

    @property
    def value(self) -> Node | None:
        """What stands there now."""
        node: Node | None = self.entry.node
        for key in self.keys:
            node = node.get(key) if isinstance(node, Mapping) else None
        return node


def find_target(layered: Layered, path: str) -> Target | None:
    """What a path leads to, whether or not it may be changed; None where nothing has that name."""
    heading, _, rest = path.partition(".")
    if heading == "tables":
        return _find_in_table(layered, rest)
    if heading not in FIELDS:
        return None
    entries = layered.entries[heading]
    # Names of facts have dots: the longest name that fits is meant.
    name = _longest(rest, entries.__contains__)
    if name is None:
        return None
    entry, inside = entries[name], rest[len(name) + 1 :]
    if heading == "constants" and inside in ("", "value"):
        return Target(heading, entry, ("value",) if isinstance(entry.node, Mapping) else ())
    keys = _keys_of(entry.node, inside)
    return Target(heading, entry, keys) if keys and keys[0] in FIELDS[heading] else None


def _longest(dotted: str, known: Callable[[str], bool]) -> str | None:
    """The longest beginning of a dotted name, whole parts only, that is known."""
    end = len(dotted)
    while end > 0:
        if known(dotted[:end]):
            return dotted[:end]
        end = dotted.rfind(".", 0, end)
    return None


def _keys_of(node: Node | None, inside: str) -> tuple[str, ...]:
    """The keys that a dotted rest leads through; a key that holds dots itself is taken whole; () leads nowhere."""
    if not inside or not isinstance(node, Mapping):
        return ()
    key = _longest(inside, node.keys().__contains__)
    if key is None:
        return (inside,) if "." not in inside else ()
    if key == inside:
        return (key,)
    further = _keys_of(node.get(key), inside[len(key) + 1 :])
    return (key, *further) if further else ()


def _find_in_table(layered: Layered, rest: str) -> Target | None:
    name = _longest(rest, layered.tables.__contains__)
    if name is None:
        return None
    table, inside = layered.tables[name], rest[len(name) + 1 :]
    row_and_column = inside.removeprefix("rows.")
    found = _longest(row_and_column.rpartition(".")[0], table.rows.__contains__)
    if found is None:
        field = inside.partition(".")[0]
        return Target("tables", table.entry, (field,)) if field in ("columns", "title", "source") else None
    row, column = table.rows[found], row_and_column[len(found) + 1 :]
    known = column in table.columns or column in ("title", "source")
    return Target("tables", row, (column,), table) if known and isinstance(row.node, Mapping) else None


def nearest_path(layered: Layered, path: str) -> str | None:
    """The path that a misspelt one comes closest to, found part by part: all paths together may be millions."""
    first, _, rest = path.partition(".")
    heading = nearest(first, CHANGEABLE)
    if heading == "tables":
        return _nearest_cell(layered, rest)
    if heading is None:
        return None
    entries = layered.entries[heading]
    # The field is not known yet: the name is all of the rest, or all but its last part, or its first.
    beginnings = (rest, rest.rpartition(".")[0], rest.partition(".")[0])
    name = _longest(rest, entries.__contains__) or next(filter(None, (nearest(part, entries) for part in beginnings if part)), None)
    if name is None:
        return None
    node = entries[name].node
    if heading == "constants" and (rest.count(".") == 0 or not isinstance(node, Mapping)):
        return f"constants.{name}"
    present = [key.raw for key, _ in node.entries if key.raw in CHANGEABLE[heading]] if isinstance(node, Mapping) else []
    field = nearest(rest.rpartition(".")[2], present) or (present[0] if len(present) == 1 else None)
    return None if field is None else f"{heading}.{name}.{field}"


def _nearest_cell(layered: Layered, rest: str) -> str | None:
    name = _longest(rest, layered.tables.__contains__) or nearest(rest.partition(".")[0], layered.tables)
    if name is None:
        return None
    table = layered.tables[name]
    inside = (rest[len(name) :] if rest.startswith(name + ".") else rest[rest.find(".") :]).removeprefix(".").removeprefix("rows.")
    written, _, last = inside.rpartition(".")
    row = _longest(written, table.rows.__contains__) or nearest(written, table.rows)
    column = nearest(last, table.columns)
    return f"tables.{name}.{row}.{column}" if row is not None and column is not None else None


def worth(node: Node | None) -> str:
    """What a field says, for reports: of a cell with basis and source its bare value."""
    if isinstance(node, Mapping):
        value, reason = node.get("value"), node.get("unknown")
        return shown(value) if value is not None else "unknown" if reason is not None else shown(node)
    return shown(node)


def shown(node: Node | None) -> str:
    """A value as one line of text, for reports."""
    if node is None:
        return ""
    if isinstance(node, Scalar):
        return node.raw.strip()
    if isinstance(node, Sequence):
        return "[" + ", ".join(shown(member) for member in node.items) + "]"
    return "{" + ", ".join(f"{key.raw}: {shown(value)}" for key, value in node.entries) + "}"
