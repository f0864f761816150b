"""`changes:` of a layer: one field of what lies below is replaced, each time with its reason.

A path is found by `targets`, a refusal has its reason in `refusals`. Nodes are immutable; a change rebuilds the mappings on its way.
"""

from __future__ import annotations

from expert.errors import Span, Text
from expert.language.layers import Layered
from expert.language.limits import CHANGES_OF_A_PACK
from expert.language.near import nearest
from expert.language.packs import RawPack
from expert.language.program import Change
from expert.language.reading import Reading
from expert.language.refusals import Made, fresh, guarded, keeps_names, may_change, out_of_force
from expert.language.targets import Target, find_target, nearest_path, worth
from expert.yamldoc import Mapping, Node, Scalar, Sequence, Source
from expert.yamlnodes import mapping_of

_KEYS = ("at", "was", "set", "losing", "because", "disable")
_WHAT = Text("a change", "修改条目")


def apply_changes(layered: Layered, pack: RawPack, reading: Reading) -> None:
    """Apply every change of one pack to the entries below it.

    Errors: recorded in `reading`: change-path, change-stale, change-orphan, changed-twice, not-changeable, protected, missing-key.
    """
    made = Made()
    listed = [node.items for document in pack.documents if isinstance(node := document.get("changes"), Sequence)]
    if sum(map(len, listed)) > CHANGES_OF_A_PACK:
        _report_too_many(sum(map(len, listed)), next(members[0].span for members in listed if members), reading)
        return
    for document in pack.documents:
        node = document.get("changes")
        if node is not None and not isinstance(node, Sequence):
            reading.wrong_shape(node, Text("'changes' is a list", "'changes' 应为列表"))
            continue
        for member in node.items if node is not None else ():
            found = reading.mapping(member, _WHAT)
            if found is not None:
                _apply(layered, pack.pack.name, found, made, reading)


def _apply(layered: Layered, layer: str, node: Mapping, made: Made, reading: Reading) -> None:
    reading.keys(node, _KEYS, _WHAT)
    because = reading.text(reading.required(node, "because", _WHAT), Text("the reason", "理由"))
    if node.get("disable") is not None:
        _disable(layered, layer, node, because, reading)
        return
    at, new = reading.required(node, "at", _WHAT), reading.required(node, "set", _WHAT)
    path = reading.word(at, Text("a path", "路径"))
    if path is None or at is None or new is None:
        return
    target = find_target(layered, path)
    if target is None:
        _wrong_path(path, nearest_path(layered, path), at.span, reading)
        return
    if not may_change(layered, target, path, at.span, made, reading):
        return
    # A second change of the place is told of the first, not that `was` is stale, even where the first was refused.
    made.note(target, at.span)
    if fresh(target, node, at.span, reading) and keeps_names(target, new, reading):
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
        close = nearest(rule, present)
        _wrong_path(path, None if close is None else f"rules.{close}", place.span, reading)
        return
    target = Target("rules", present[rule], ())
    if not out_of_force(layered, target, place.span, reading) and not guarded(target, path, place.span, reading):
        losing = tuple(word for word, _ in reading.words(node.get("losing"), Text("a claim", "论断")))
        layered.disabled[rule] = Change(layer, path, rule, "", losing, because, place.span)


def _report_too_many(count: int, span: Span, reading: Reading) -> None:
    message = Text(f"the pack makes {count:,} changes; at most {CHANGES_OF_A_PACK:,} are taken",
                   f"该规则包有 {count:,} 处修改，最多 {CHANGES_OF_A_PACK:,} 处")  # fmt: skip
    help = Text("leave the pack below out with --without, and write your own", "请用 --without 排除下层规则包，并另写一个")
    reading.report("too-many-changes", span, message, help)


def _wrong_path(path: str, close: str | None, span: Span, reading: Reading) -> None:
    help = Text(f"did you mean '{close}'?", f"是否指 '{close}'？") if close else Text(
        "a path is 'constants.NAME', 'rules.ID.FIELD', 'tables.TABLE.ROW.COLUMN', 'facts.NAME.FIELD' or 'decisions.ID.FIELD'",
        "路径形如 'constants.名称'、'rules.ID.字段'、'tables.表.行.列'、'facts.名称.字段' 或 'decisions.ID.字段'")  # fmt: skip
    reading.report("change-path", span, Text(f"no layer below has '{path}'", f"下层没有 '{path}'"), help)


def _replace(target: Target, new: Node, change: Change) -> None:
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
