"""Decisions: which facts they assign from which options, what they need, how the best is chosen."""

from __future__ import annotations

import re
from collections.abc import Mapping

from expert.errors import NO_TEXT, Span, Text
from expert.language.build_rules import RuleContext, unknown_fact
from expert.language.build_tables import number_literal, table_named
from expert.language.layers import Entry
from expert.language.program import Decision, Domain, FactDecl, Table
from expert.language.reading import KEBAB, Reading
from expert.language.shapes import DECISION_KEYS
from expert.language.terms import LIST, NUMBER, WORD
from expert.quantities import QuantityError, parse_quantity
from expert.units import PLAIN, UnitTable
from expert.yamldoc import Mapping as Keyed
from expert.yamldoc import Node, Scalar
from expert.yamldoc import Sequence as Listing

OPTION_LIMIT = 100_000
_WHOLE_RANGE = re.compile(r"([0-9]{1,9})\s*\.\.\s*([0-9]{1,9})")


def build_decisions(context: RuleContext, tables: Mapping[str, Table], units: UnitTable) -> dict[str, Decision]:
    """All decisions; one with a mistake is left out."""
    entries = context.layered.entries["decisions"]
    found = (_decision(entry, context, tables, units) for entry in entries.values())
    return {decision.id: decision for decision in found if decision is not None}


def _decision(entry: Entry, context: RuleContext, tables: Mapping[str, Table], units: UnitTable) -> Decision | None:
    node, reading = entry.node, context.reading
    assert isinstance(node, Keyed)
    what = Text(f"the decision '{entry.id}'", f"决策 '{entry.id}'")
    reading.keys(node, DECISION_KEYS, what)
    if not KEBAB.fullmatch(entry.id):
        reading.report("bad-name", entry.span, Text(f"'{entry.id}' is no id for a decision", f"'{entry.id}' 不能作决策 id"),
                       Text("use small letters, digits and hyphens", "请用小写字母、数字和连字符"))  # fmt: skip
    assigned = reading.mapping(reading.required(node, "assigns", what, entry.span), Text("'assigns'", "'assigns'"))
    before = len(reading.mistakes)
    domains = {key.raw: _assigned(key, value, context, tables, units) for key, value in assigned.entries} if assigned is not None else {}
    needs = _facts(node.get("needs"), context)
    cost = _facts(node.get("cost"), context)
    if cost and context.facts[cost[0]].kind != NUMBER:
        reading.wrong_shape(
            node.get("cost") or node, Text(f"'{cost[0]}' is no number, so it is no cost", f"'{cost[0]}' 不是数，不能作成本")
        )
    order = _order(node.get("order"), domains, reading)
    after = _after(node.get("after"), entry, context)
    within = _within(node.get("within"), units, reading)
    kept = {fact: domain for fact, domain in domains.items() if domain is not None}
    if not kept or len(kept) < len(domains) or len(reading.mistakes) > before:
        return None
    return Decision(
        id=entry.id,
        title=reading.text(node.get("title"), Text("a title", "标题")),
        assigns=kept,
        needs=needs,
        cost=cost[0] if cost else None,
        within=within,
        order=order,
        shortlist=reading.whole(node.get("shortlist"), 1, 20, 3),
        after=after,
        topic=reading.one_of(node.get("topic"), context.topics, Text("a topic", "主题"), "unknown-topic") or "",
        span=entry.span,
        layer=entry.layer,
    )


def _facts(node: Node | None, context: RuleContext) -> tuple[str, ...]:
    found: list[str] = []
    for word, span in context.reading.words(node, Text("a fact", "事实")):
        if word in context.facts:
            found.append(word)
        elif ("facts", word) not in context.layered.broken:
            unknown_fact(word, span, context.facts, context.reading)
    return tuple(found)


def _assigned(key: Scalar, node: Node, context: RuleContext, tables: Mapping[str, Table], units: UnitTable) -> Domain | None:
    declared = context.facts.get(key.raw)
    if declared is None:
        if ("facts", key.raw) not in context.layered.broken:
            unknown_fact(key.raw, key.span, context.facts, context.reading)
        return None
    if not key.raw.startswith("design."):
        message = Text(f"a decision assigns design facts, and '{key.raw}' is none", f"决策只为 design 事实赋值，'{key.raw}' 不是")
        context.reading.report("bad-domain", key.span, message)
        return None
    if isinstance(node, Scalar) and node.raw.startswith("tables."):
        return _table_domain(declared, node, context, tables)
    if isinstance(node, Listing):
        return _listed_domain(declared, node, context, units)
    return _range_domain(declared, node, context.reading)


def _refuse(span: Span, declared: FactDecl, wanted: Text, reading: Reading) -> None:
    message = Text(f"these are no options for '{declared.name}'", f"这些不能作为 '{declared.name}' 的选项")
    reading.report("bad-domain", span, message, wanted)


def _table_domain(declared: FactDecl, node: Scalar, context: RuleContext, tables: Mapping[str, Table]) -> Domain | None:
    table = table_named(node, context.layered, context.reading)
    if table is None or table not in tables:
        return None
    if declared.kind == NUMBER:
        column = tables[table].columns.get("value")
        if column is None or column.kind != NUMBER or column.unit is None or declared.unit is None:
            _refuse(
                node.span,
                declared,
                Text(f"the table '{table}' needs a number column 'value'", f"表 '{table}' 需要数值列 'value'"),
                context.reading,
            )
            return None
        if not column.unit.same_dimension(declared.unit):
            theirs, ours = column.unit.text, declared.unit.text
            wanted = Text(f"its column 'value' is in {theirs}, the fact in {ours}", f"其 'value' 列单位是 {theirs}，事实单位是 {ours}")
            _refuse(node.span, declared, wanted, context.reading)
            return None
        cells = [row.cells["value"].literal for row in tables[table].rows.values() if "value" in row.cells]
        return Domain(table=table, numbers=tuple(cell.low for cell in cells if cell is not None))
    if declared.kind != WORD or declared.domain is None or declared.domain.table != table:
        expected = f"tables.{declared.domain.table}" if declared.domain is not None and declared.domain.table else "[a, b]"
        _refuse(node.span, declared, Text(f"it takes {expected}", f"应为 {expected}"), context.reading)
        return None
    return Domain(table=table)


def _listed_domain(declared: FactDecl, node: Listing, context: RuleContext, units: UnitTable) -> Domain | None:
    reading = context.reading
    if not node.items:
        _refuse(node.span, declared, Text("name at least one option", "请至少列出一个选项"), reading)
        return None
    if declared.kind == NUMBER:
        literals = [
            number_literal(member, declared.unit or PLAIN, units, reading) if isinstance(member, Scalar) else None for member in node.items
        ]
        return Domain(numbers=tuple(literal.low for literal in literals if literal is not None))
    if declared.kind in (LIST, "text"):
        _refuse(node.span, declared, Text("a list or a text is not decided", "列表或文本不能由决策赋值"), reading)
        return None
    allowed: tuple[str, ...] = ("true", "false")
    if declared.domain is not None:
        allowed = declared.domain.words or tuple(context.layered.tables[declared.domain.table or ""].rows)
    words = [
        reading.one_of(member, allowed, Text(f"a choice of '{declared.name}'", f"'{declared.name}' 的选项"), "bad-domain")
        for member in node.items
    ]
    return Domain(words=tuple(word for word in words if word is not None))


def _range_domain(declared: FactDecl, node: Node, reading: Reading) -> Domain | None:
    found = _WHOLE_RANGE.fullmatch(node.raw.strip()) if isinstance(node, Scalar) else None
    if found is None or declared.kind != NUMBER or declared.unit is None:
        _refuse(node.span, declared, Text("options are 'tables.NAME', '[a, b]', or '1..64' for a number",
                                          "选项写作 'tables.名称'、'[a, b]'，数可写 '1..64'"), reading)  # fmt: skip
        return None
    low, high = int(found[1]), int(found[2])
    if low > high or high - low >= OPTION_LIMIT:
        _refuse(
            node.span,
            declared,
            Text(f"a range goes upwards and has at most {OPTION_LIMIT:,} numbers", f"范围应递增且不超过 {OPTION_LIMIT:,} 个数"),
            reading,
        )
        return None
    return Domain(numbers=tuple(declared.unit.to_base(float(number)) for number in range(low, high + 1)))


def _order(node: Node | None, domains: Mapping[str, Domain | None], reading: Reading) -> tuple[str, ...]:
    found = [reading.one_of(member, domains, Text("a fact that this decision assigns", "该决策赋值的事实")) for member in
             reading.sequence(node, Text("'order'", "'order'"))]  # fmt: skip
    return tuple(fact for fact in found if fact is not None)


def _after(node: Node | None, entry: Entry, context: RuleContext) -> tuple[str, ...]:
    others = [name for name in context.layered.entries["decisions"] if name != entry.id]
    found = [context.reading.one_of(member, others, Text("a decision beside this one", "其他决策"), "unknown-decision") for member in
             context.reading.sequence(node, Text("'after'", "'after'"))]  # fmt: skip
    return tuple(name for name in found if name is not None)


def _within(node: Node | None, units: UnitTable, reading: Reading) -> float:
    if node is None:
        return 0.0
    try:
        found = parse_quantity(node.raw, units) if isinstance(node, Scalar) else None
    except QuantityError:
        found = None
    if found is None or found.unit is None or not found.unit.percent or not 0 <= found.low == found.high <= 1000:
        reading.wrong_shape(node, Text("'within' is a percentage, as in 25 %", "'within' 是百分比，如 25 %"), NO_TEXT)
        return 0.0
    return found.unit.to_base(found.low)
