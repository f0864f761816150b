"""`changes:` of a layer: one field of what lies below is replaced, each time with its reason.

A path names a thing and a field: `constants.NAME`, `rules.ID.when`, `tables.T.ROW.COLUMN`, `facts.NAME.covers`,
`decisions.ID.needs`. Nodes are immutable; a change rebuilds the mappings on its way.
"""

from __future__ import annotations

from dataclasses import dataclass

from expert.errors import Span, Text, nearest
from expert.language.layers import Entry, Layered, TableEntry
from expert.language.packs import RawPack
from expert.language.program import Change
from expert.language.reading import Reading
from expert.language.shapes import FIELDS
from expert.yamldoc import Mapping, Node, Scalar, Sequence, Source, Tree, to_plain
from expert.yamlnodes import mapping_of

_KEYS = ("at", "was", "set", "losing", "because", "disable")
_HEADINGS = ("constants", "rules", "tables", "facts", "decisions", "topics", "units")
_WHAT = Text("a change", "修改条目")


@dataclass(frozen=True, slots=True)
class _Target:
    """What a path leads to: the entry, the keys inside its node, and, in a table, the row and column."""

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


def apply_changes(layered: Layered, pack: RawPack, reading: Reading) -> None:
    """Apply every change of one pack to the entries below it.

    Errors: recorded in `reading`: change-path, change-stale, change-orphan, protected, missing-key.
    """
    for document in pack.documents:
        node = document.get("changes")
        if node is not None and not isinstance(node, Sequence):
            reading.wrong_shape(node, Text("'changes' is a list", "'changes' 应为列表"))
            continue
        for member in node.items if node is not None else ():
            found = reading.mapping(member, _WHAT)
            if found is not None:
                _apply(layered, pack.pack.name, found, reading)


def _apply(layered: Layered, layer: str, node: Mapping, reading: Reading) -> None:
    reading.keys(node, _KEYS, _WHAT)
    because = reading.text(reading.required(node, "because", _WHAT), Text("the reason", "理由"))
    if node.get("disable") is not None:
        _disable(layered, layer, node, because, reading)
        return
    at, new = reading.required(node, "at", _WHAT), reading.required(node, "set", _WHAT)
    path = reading.word(at, Text("a path", "路径"))
    if path is None or at is None or new is None:
        return
    target = _find(layered, path)
    if target is None:
        _wrong_path(layered, path, at.span, reading)
    elif not _refused(layered, target, path, at.span, reading) and _fresh(target, node, at.span, reading):
        losing = tuple(word for word, _ in reading.words(node.get("losing"), Text("a claim", "论断")))
        change = Change(layer, path, worth(target.value), worth(new), losing, because, new.span)
        _replace(target, new, change)


def _disable(layered: Layered, layer: str, node: Mapping, because: Text, reading: Reading) -> None:
    place = node.get("disable")
    path = reading.word(place, Text("a path", "路径"))
    if path is None or place is None:
        return
    rule = path.removeprefix("rules.")
    present = layered.entries["rules"]
    if rule == path or rule not in present:
        _wrong_path(layered, path, place.span, reading, tuple(f"rules.{name}" for name in present))
        return
    target = _Target(present[rule], ())
    if not _refused(layered, target, path, place.span, reading):
        losing = tuple(word for word, _ in reading.words(node.get("losing"), Text("a claim", "论断")))
        layered.disabled[rule] = Change(layer, path, rule, "", losing, because, place.span)


def _find(layered: Layered, path: str) -> _Target | None:
    heading, _, rest = path.partition(".")
    if heading == "tables":
        return _find_cell(layered, rest)
    if heading not in _HEADINGS:
        return None
    entries = layered.entries[heading]
    # Names of facts have dots: the longest name that fits is meant.
    fitting = [name for name in entries if rest == name or rest.startswith(name + ".")]
    if not fitting:
        return None
    entry = entries[max(fitting, key=len)]
    inside = rest[len(entry.id) + 1 :]
    if heading == "constants" and inside in ("", "value"):
        return _Target(entry, ("value",) if isinstance(entry.node, Mapping) else ())
    keys = _keys_of(entry.node, inside)
    if not keys or (keys[0] not in FIELDS[heading]):
        return None
    return _Target(entry, keys)


def _keys_of(node: Node | None, inside: str) -> tuple[str, ...]:
    """The keys that a dotted rest leads through; a key that holds dots itself is taken whole; () leads nowhere."""
    if not inside:
        return ()
    if not isinstance(node, Mapping):
        return ()
    for key in sorted(node.keys(), key=len, reverse=True):
        if inside == key:
            return (key,)
        if inside.startswith(key + "."):
            further = _keys_of(node.get(key), inside[len(key) + 1 :])
            return (key, *further) if further else ()
    return (inside,) if "." not in inside else ()


def _find_cell(layered: Layered, rest: str) -> _Target | None:
    fitting = [name for name in layered.tables if rest.startswith(name + ".")]
    if not fitting:
        return None
    table = layered.tables[max(fitting, key=len)]
    inside = rest[len(table.entry.id) + 1 :]
    rows = [name for name in table.rows if inside.removeprefix("rows.").startswith(name + ".")]
    if not rows:
        return None
    row = table.rows[max(rows, key=len)]
    column = inside.removeprefix("rows.")[len(row.id) + 1 :]
    known = column in table.columns or column in ("title", "source")
    return _Target(row, (column,), table) if known and isinstance(row.node, Mapping) else None


def known_paths(layered: Layered) -> list[str]:
    """Every path that a change can name."""
    found = [f"constants.{name}" for name in layered.entries["constants"]]
    for heading in ("rules", "facts", "decisions"):
        for entry in layered.entries[heading].values():
            keys = entry.node.keys() if isinstance(entry.node, Mapping) else ()
            found += [f"{heading}.{entry.id}.{key}" for key in keys if key in FIELDS[heading]]
    for name, table in layered.tables.items():
        found += [f"tables.{name}.{row}.{column}" for row in table.rows for column in table.columns]
    return found


def _wrong_path(layered: Layered, path: str, span: Span, reading: Reading, known: tuple[str, ...] | None = None) -> None:
    paths = known_paths(layered) if known is None else known
    close = nearest(path, paths)
    help = Text(f"did you mean '{close}'?", f"是否指 '{close}'？") if close else Text(
        "a path is 'constants.NAME', 'rules.ID.FIELD', 'tables.TABLE.ROW.COLUMN', 'facts.NAME.FIELD' or 'decisions.ID.FIELD'",
        "路径形如 'constants.名称'、'rules.ID.字段'、'tables.表.行.列'、'facts.名称.字段' 或 'decisions.ID.字段'")  # fmt: skip
    reading.report("change-path", span, Text(f"no layer below has '{path}'", f"下层没有 '{path}'"), help)


def _refused(layered: Layered, target: _Target, path: str, span: Span, reading: Reading) -> bool:
    """Whether the entry is protected, or a rule that is out of force already."""
    rule = target.entry.id
    if path.startswith("rules.") and rule in layered.disabled:
        earlier = layered.disabled[rule]
        message = Text(f"the rule '{rule}' is out of force: '{earlier.layer}' disabled it at {earlier.span}",
                       f"规则 '{rule}' 已失效：'{earlier.layer}' 在 {earlier.span} 将其停用")  # fmt: skip
        reading.report("change-orphan", span, message, Text("drop this change", "请删去此修改"))
        return True
    guarded = target.entry.node.get("protected") if isinstance(target.entry.node, Mapping) else None
    if guarded is None or target.table is not None:
        return False
    plain = to_plain(guarded)
    fields = plain if isinstance(plain, list) else [plain] if isinstance(plain, str) else []
    if plain is not True and not (target.keys and target.keys[0] in fields) and not (fields and not target.keys):
        return False
    message = Text(
        f"'{path}' is protected by '{target.entry.layer}', at {guarded.span}", f"'{path}' 受 '{target.entry.layer}' 保护，见 {guarded.span}"
    )
    reading.report(
        "protected",
        span,
        message,
        Text("a protected rule or field is changed in its own pack only", "受保护的规则或字段只能在其所属规则包中修改"),
    )
    return True


def _fresh(target: _Target, node: Mapping, span: Span, reading: Reading) -> bool:
    """Whether `was` says what stands there now."""
    now = target.value
    was = node.get("was")
    says = Text(f"'{target.entry.layer}' says {worth(now)} now", f"'{target.entry.layer}' 现为 {worth(now)}")
    if was is None:
        if now is None:
            return True
        reading.report("missing-key", span, Text("a change needs 'was:', so that it notices when the layer below moves on",
                                                 "修改条目缺少 'was:'，以便下层变动时能察觉"), says)  # fmt: skip
        return False
    plain = to_plain(was)
    accepted = plain["any"] if isinstance(plain, dict) and set(plain) == {"any"} else [plain]
    present = to_plain(now)
    if isinstance(accepted, list) and any(_same(one, present) for one in accepted):
        return True
    if now is None:
        says = Text(f"'{target.entry.layer}' says nothing there; leave 'was:' out", f"'{target.entry.layer}' 此处无内容；请删去 'was:'")
    message = Text("the layer below has moved on: this is not what it says", "下层已变动：此处与其内容不符")
    reading.report("change-stale", was.span, message, says)
    return False


def _same(one: Tree, present: Tree) -> bool:
    """Equality of meaning: numbers as text and blanks do not count, and a cell may be given by its bare value."""
    if isinstance(present, dict) and not isinstance(one, dict) and "value" in present:
        return _same(one, present["value"])
    if isinstance(one, list) and isinstance(present, list):
        return len(one) == len(present) and all(_same(a, b) for a, b in zip(one, present, strict=True))
    if isinstance(one, dict) and isinstance(present, dict):
        return one.keys() == present.keys() and all(_same(one[key], present[key]) for key in one)
    if isinstance(one, str) and isinstance(present, str):
        return one.split() == present.split()
    return (type(one) is type(present) and one == present) or (_number(one) is not None and _number(one) == _number(present))


def _number(plain: Tree) -> float | None:
    return float(plain) if isinstance(plain, int | float) and not isinstance(plain, bool) else None


def _replace(target: _Target, new: Node, change: Change) -> None:
    target.entry.node = _with(target.entry.node, target.keys, new)
    if target.table is not None:
        target.table.cell_changes.setdefault((target.entry.id, target.keys[0]), []).append(change)
    else:
        target.entry.changes.append(change)


def _with(node: Node, keys: tuple[str, ...], new: Node) -> Node:
    if not keys or not isinstance(node, Mapping):
        return new
    key, below = keys[0], keys[1:]
    present = node.get(key)
    value = new if present is None else _with(present, below, new)
    scalar = node.key_scalar(key)
    if scalar is not None:
        return mapping_of(node.span, tuple((name, value if name is scalar else old) for name, old in node.entries))
    return mapping_of(node.span, (*node.entries, (_key(key, new), value)))


def _key(key: str, new: Node) -> Scalar:
    """A key for a field that the layer below did not have; its place is that of the new value."""
    return Scalar(new.span, key, key, "plain", _source_of(new), 0, 0)


def _source_of(node: Node) -> Source:
    while not isinstance(node, Scalar):
        node = node.entries[0][0] if isinstance(node, Mapping) else node.items[0]
    return node.source


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
