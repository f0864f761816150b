"""Why a change is refused: what it names is protected, fixed or changed already, or does not say what the change believes."""

from __future__ import annotations

from dataclasses import dataclass, field

from expert.errors import Span, Text
from expert.language.layers import Layered
from expert.language.reading import Reading
from expert.language.shapes import CHANGEABLE, EFFECTS
from expert.language.targets import Target, worth
from expert.yamldoc import Mapping, Node, Tree, to_plain

_KINDS = {
    "topics": (Text("a topic", "主题"), Text("add a topic of your own", "请另加一个主题")),
    "units": (Text("a unit", "单位"), Text("declare a unit of your own", "请另行声明一个单位")),
    "facts": (Text("a fact", "事实"), Text("declare a fact of your own", "请另行声明一个事实")),
    "constants": (Text("a constant", "常量"), Text("define a constant of your own", "请另行定义一个常量")),
    "rules": (Text("a rule", "规则"), Text("disable the rule and write one of your own", "请停用此规则并另写一条")),
    "decisions": (Text("a decision", "决策"), Text("write a decision of your own", "请另写一个决策")),
    "tables": (Text("a table", "表"), Text("change its cells, or add a table of your own", "请修改其单元格，或另加一张表")),
}
_GROWING = ("choices", "assigns")
"""Fields that a change may add to but take nothing from: rules name what is in them."""


@dataclass(slots=True)
class Made:
    """The places that one pack has changed so far, by entry."""

    places: dict[int, list[tuple[tuple[str, ...], Span]]] = field(default_factory=dict)

    def note(self, target: Target, span: Span) -> None:
        """Remember a change."""
        self.places.setdefault(id(target.entry), []).append((target.keys, span))

    def overlap(self, target: Target) -> Span | None:
        """Where the pack has changed this place, what holds it, or something inside it."""
        for keys, span in self.places.get(id(target.entry), ()):
            shared = min(len(keys), len(target.keys))
            if keys[:shared] == target.keys[:shared]:
                return span
        return None


def may_change(layered: Layered, target: Target, path: str, span: Span, made: Made, reading: Reading) -> bool:
    """Whether a place may be changed at all.

    Errors: recorded in `reading`: change-orphan, protected, not-changeable, changed-twice.
    """
    if out_of_force(layered, target, span, reading) or guarded(target, path, span, reading):
        return False
    field = target.keys[0] if target.keys else "value"
    if target.table is None and field not in CHANGEABLE[target.heading]:
        _report_fixed(target, f"'{field}'", span, reading)
        return False
    if target.heading == "rules" and field in EFFECTS and isinstance(target.entry.node, Mapping) and target.entry.node.get(field) is None:
        _report_fixed(target, Text("the effect", "效果"), span, reading)
        return False
    earlier = made.overlap(target)
    if earlier is not None:
        message = Text(f"this pack changes '{path}' already, at {earlier}", f"本规则包已在 {earlier} 修改 '{path}'")
        reading.report("changed-twice", span, message, Text("make one change of the two", "请将两处修改合并为一处"))
    return earlier is None


def _report_fixed(target: Target, what: Text | str, span: Span, reading: Reading) -> None:
    kind, way = _KINDS[target.heading]
    named = Text(what, what) if isinstance(what, str) else what
    message = Text(f"{named.en} of {kind.en} cannot be changed: what other rules say rests on it",
                   f"{kind.zh}的{named.zh}不可修改：其他规则以它为依据")  # fmt: skip
    listed = ", ".join(CHANGEABLE[target.heading])
    help = Text(f"{way.en}; a change may set {listed}", f"{way.zh}；可修改的键：{listed}") if listed else way
    reading.report("not-changeable", span, message, help)


def keeps_names(target: Target, new: Node, reading: Reading) -> bool:
    """Whether a change of `choices` or `assigns` leaves in what is there.

    Errors: recorded in `reading`: not-changeable.
    """
    now = target.value
    if target.table is not None or target.keys not in [(key,) for key in _GROWING]:
        return True
    if not isinstance(now, Mapping) or not isinstance(new, Mapping):
        return True
    kept = set(new.keys())
    lost = [key for key, _ in now.entries if key.raw not in kept]
    if lost:
        message = Text(f"'{lost[0].raw}' cannot be taken out of '{target.keys[0]}': what other rules say rests on it",
                       f"不可从 '{target.keys[0]}' 中去掉 '{lost[0].raw}'：其他规则以它为依据")  # fmt: skip
        help = Text("keep it; a rule of yours can rule it out", "请保留；可另写规则将其排除")
        reading.report("not-changeable", new.span, message, help)
    return not lost


def out_of_force(layered: Layered, target: Target, span: Span, reading: Reading) -> bool:
    """Whether the entry is a rule that has been disabled.

    Errors: recorded in `reading`: change-orphan.
    """
    rule = target.entry.id
    if target.heading == "rules" and rule in layered.disabled:
        earlier = layered.disabled[rule]
        message = Text(f"the rule '{rule}' is out of force: '{earlier.layer}' disabled it at {earlier.span}",
                       f"规则 '{rule}' 已失效：'{earlier.layer}' 在 {earlier.span} 将其停用")  # fmt: skip
        reading.report("change-orphan", span, message, Text("drop this change", "请删去此修改"))
        return True
    return False


def guarded(target: Target, path: str, span: Span, reading: Reading) -> bool:
    """Whether the pack below protects the entry or the field; disabling a rule touches all its fields.

    Errors: recorded in `reading`: protected.
    """
    guard = target.entry.node.get("protected") if isinstance(target.entry.node, Mapping) else None
    if guard is None or target.table is not None:
        return False
    plain = to_plain(guard)
    fields = plain if isinstance(plain, list) else [plain] if isinstance(plain, str) else []
    if plain is not True and not (target.keys and target.keys[0] in fields) and not (fields and not target.keys):
        return False
    message = Text(
        f"'{path}' is protected by '{target.entry.layer}', at {guard.span}", f"'{path}' 受 '{target.entry.layer}' 保护，见 {guard.span}"
    )
    reading.report(
        "protected",
        span,
        message,
        Text("a protected rule or field is changed in its own pack only", "受保护的规则或字段只能在其所属规则包中修改"),
    )
    return True


def fresh(target: Target, node: Mapping, span: Span, reading: Reading) -> bool:
    """Whether `was` says what stands there now.

    Errors: recorded in `reading`: change-stale, missing-key.
    """
    now = target.value
    was = node.get("was")
    layer = _speaker(target)
    says = Text(f"'{layer}' says {worth(now)} now", f"'{layer}' 现为 {worth(now)}")
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
        says = Text(f"'{layer}' says nothing there; leave 'was:' out", f"'{layer}' 此处无内容；请删去 'was:'")
    message = Text("the layer below has moved on: this is not what it says", "下层已变动：此处与其内容不符")
    reading.report("change-stale", was.span, message, says)
    return False


def _speaker(target: Target) -> str:
    """The layer whose word stands there now: the last that changed the place, else the one that wrote the entry."""
    if target.table is not None:
        changes = target.table.cell_changes.get((target.entry.id, target.keys[0]), [])
    else:
        field = ".".join((target.heading, target.entry.id, *target.keys))
        # The value of a constant is meant where no field is named.
        changes = [change for change in target.entry.changes if change.at in (field, field.removesuffix(".value"))]
    return changes[-1].layer if changes else target.entry.layer


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
