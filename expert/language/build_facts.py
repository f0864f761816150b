"""The vocabulary: first what each fact holds, so that expressions can be checked; then its defaults and sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from expert.errors import NO_TEXT, Text
from expert.language.build_sources import cited
from expert.language.build_tables import fits, table_named, unit_of
from expert.language.expressions import Expressions
from expert.language.layers import Entry, Layered
from expert.language.program import Condition, DefaultCase, Domain, FactDecl
from expert.language.reading import FACT_NAME, ROW_ID, Reading
from expert.language.scope import Signature
from expert.language.shapes import COMBINES, FACT_KEYS, NAMESPACES, TYPES
from expert.language.targets import shown
from expert.language.terms import LIST, NUMBER, WORD, Literal, facts_read
from expert.quantities import QuantityError, parse_quantity
from expert.units import PLAIN, Unit, UnitTable
from expert.yamldoc import Mapping as Keyed
from expert.yamldoc import Node, Scalar
from expert.yamldoc import Sequence as Listing


@dataclass(frozen=True)
class Known:
    """What the vocabulary may refer to."""

    layered: Layered
    units: UnitTable
    base_currency: str
    topics: frozenset[str]
    cites: frozenset[str]
    reading: Reading


def declare_facts(known: Known) -> dict[str, FactDecl]:
    """Every fact with its type, unit, domain and words; defaults, `else` and `say` are still empty."""
    found: dict[str, FactDecl] = {}
    for entry in known.layered.entries["facts"].values():
        declared = _declare(entry, known)
        if declared is None:
            known.layered.broken.add(("facts", entry.id))
            continue
        found[entry.id] = declared
        if declared.type == "money":
            found.update({fact.name: fact for fact in _money_facts(declared, known)})
    return found


def _declare(entry: Entry, known: Known) -> FactDecl | None:
    reading = known.reading
    what = Text(f"the fact '{entry.id}'", f"事实 '{entry.id}'")
    _check_name(entry, reading)
    node = reading.mapping(entry.node, what)
    if node is None:
        return None
    reading.keys(node, FACT_KEYS, what)
    type_ = reading.one_of(reading.required(node, "type", what, entry.span), TYPES, Text("a type", "类型"))
    if type_ is None:
        return None
    unit = _unit(node, type_, known)
    domain = _domain(node, type_, entry, known)
    if unit is None and type_ == "number":
        return None
    if domain is None and type_ == "choice":
        return None
    texts = {key: reading.text(node.get(key), what) for key in ("title", "ask", "help")}
    topic = reading.one_of(node.get("topic"), known.topics, Text("a topic", "主题"), "unknown-topic") or ""
    choices = node.get("choices")
    choice_texts = {key.raw: reading.text(value, what) for key, value in choices.entries} if isinstance(choices, Keyed) else {}
    return FactDecl(
        name=entry.id,
        type=type_,
        kind=TYPES[type_],
        unit=unit,
        domain=domain,
        choice_texts=choice_texts,
        combine=_combine(node, type_, reading),
        otherwise=None,
        default=(),
        covers=_covers(node, unit, known),
        whole=reading.flag(node.get("whole"), default=_counts(unit)),
        topic=topic,
        title=texts["title"],
        ask=texts["ask"],
        help=texts["help"],
        say=None,
        example=shown(node.get("example")),
        cite=cited(node.get("cite"), known.cites, reading),
        span=entry.span,
        layer=entry.layer,
    )


def _check_name(entry: Entry, reading: Reading) -> None:
    if not FACT_NAME.fullmatch(entry.id):
        reading.report("bad-name", entry.span, Text(f"'{entry.id}' is no name for a fact", f"'{entry.id}' 不能作事实名"),
                       Text("write it as 'workload.sequence_length': a namespace, then small letters, digits and underscores",
                            "请写成 'workload.sequence_length' 的形式：命名空间加小写字母、数字和下划线"))  # fmt: skip
    head, listed = entry.id.split(".")[0], ", ".join(NAMESPACES)
    if FACT_NAME.fullmatch(entry.id) and head not in NAMESPACES:
        help = Text(f"a fact begins with one of {listed}", f"事实名应以下列之一开头：{listed}")
        reading.report("bad-name", entry.span, Text(f"'{head}' is no namespace", f"'{head}' 不是命名空间"), help)


def _counts(unit: Unit | None) -> bool:
    return unit is not None and unit.count is not None and not unit.dims and not unit.per


def _unit(node: Keyed, type_: str, known: Known) -> Unit | None:
    given = node.get("unit")
    if type_ == "number":
        return PLAIN if given is None else unit_of(given, known.units, known.reading)
    if given is not None:
        known.reading.wrong_shape(given, Text(f"a {type_} fact has no unit", f"{type_} 类型的事实没有单位"))
    return None


def _combine(node: Keyed, type_: str, reading: Reading) -> str:
    given = node.get("combine")
    word = reading.one_of(given, COMBINES, Text("a way to combine", "合并方式")) or "one"
    if given is not None and ((word in ("max", "min", "sum") and type_ != "number") or (word == "all" and type_ != "list")):
        help = Text("max, min and sum are for numbers, all is for lists", "max、min、sum 用于数，all 用于列表")
        reading.wrong_shape(given, Text(f"a {type_} fact cannot be combined by '{word}'", f"{type_} 类型的事实不能用 '{word}' 合并"), help)
    return word


def _domain(node: Keyed, type_: str, entry: Entry, known: Known) -> Domain | None:
    reading, source, choices = known.reading, node.get("from"), node.get("choices")
    for word, given in (("from", source), ("choices", choices)):
        if given is not None and type_ not in (("choice", "list", "number") if word == "from" else ("choice", "list")):
            reading.wrong_shape(given, Text(f"a {type_} fact has no '{word}:'", f"{type_} 类型的事实没有 '{word}:'"))
            return None
    if source is not None:
        table = table_named(source, known.layered, reading)
        return None if table is None else Domain(table=table)
    found = reading.mapping(choices, Text("'choices'", "'choices'"))
    if found is not None:
        for key, _ in found.entries:
            if not ROW_ID.fullmatch(key.raw):
                reading.report("bad-name", key.span, Text(f"'{key.raw}' is no name for a choice", f"'{key.raw}' 不能作选项名"))
        return Domain(words=found.keys())
    if type_ == "choice" and choices is None:
        message = Text(f"the fact '{entry.id}' needs 'choices:' or 'from:'", f"事实 '{entry.id}' 缺少 'choices:' 或 'from:'")
        reading.report("missing-key", entry.span, message)
    return None


def _covers(node: Keyed, unit: Unit | None, known: Known) -> tuple[float, float] | None:
    given = node.get("covers")
    if given is None:
        return None
    if unit is None or not isinstance(given, Scalar):
        known.reading.wrong_shape(given, Text("'covers' is a range of a number, as in 1..200000", "'covers' 是数的范围，如 1..200000"))
        return None
    try:
        found = parse_quantity(given.raw, known.units)
    except QuantityError as error:
        known.reading.report("bad-quantity", given.locate(error.offset, max(1, len(error.bad))), error.message, error.help)
        return None
    written = found.unit or unit
    if not fits(written, unit):
        message = Text(
            f"this is in {written.text}, and the fact is in {unit.text or 'plain numbers'}",
            f"此处单位是 {written.text}，而事实的单位是 {unit.text or '纯数'}",
        )
        known.reading.report("wrong-unit", given.span, message)
        return None
    return written.to_base(found.low), written.to_base(found.high)


def _money_facts(declared: FactDecl, known: Known) -> tuple[FactDecl, ...]:
    """NAME_rate per month and NAME_total, through which rules read a money fact."""
    if not known.base_currency:
        message = Text(
            f"'{declared.name}' is money, and no table 'currencies' is there", f"'{declared.name}' 是金额，但没有 'currencies' 表"
        )
        if "currencies" not in known.layered.tables:
            help = Text("add one: a column 'rate: number', a row per currency, and rate 1 for the one that all are counted in",
                        "请添加：列 'rate: number'，每种货币一行，基准货币的汇率为 1")  # fmt: skip
            known.reading.report("bad-currency", declared.span, message, help)
        known.layered.broken |= {("facts", f"{declared.name}_rate"), ("facts", f"{declared.name}_total")}
        return ()
    base = known.base_currency
    endings = (("rate", f"{base}/month", " per month", "（每月）"), ("total", base, " in total", "（总额）"))
    return tuple(
        replace(declared, name=f"{declared.name}_{ending}", type="number", kind=NUMBER, unit=known.units.parse(unit), whole=False,
                title=Text(declared.title.en and declared.title.en + english, declared.title.zh and declared.title.zh + chinese),
                ask=NO_TEXT, help=NO_TEXT, example="")
        for ending, unit, english, chinese in endings
    )  # fmt: skip


def signature_of(declared: FactDecl) -> Signature:
    """What an expression may do with a fact."""
    domain = declared.domain
    words = frozenset(domain.words) if domain is not None and domain.words else None
    table = domain.table if domain is not None and declared.kind in (WORD, LIST) else None
    return Signature(declared.kind, declared.unit, table, words, declared.span)


def finish_facts(facts: Mapping[str, FactDecl], expressions: Expressions, known: Known) -> dict[str, FactDecl]:
    """The facts with their `else`, `default` and `say`."""
    return {name: _finish(declared, expressions, known) for name, declared in facts.items()}


def _finish(declared: FactDecl, expressions: Expressions, known: Known) -> FactDecl:
    entry = known.layered.entries["facts"].get(declared.name)
    if entry is None or not isinstance(entry.node, Keyed):
        return declared
    node, signature = entry.node, signature_of(declared)
    say = expressions.template(node.get("say"), Text("a sentence", "句子"), value_of=declared.name)
    if declared.type == "money":
        for key in ("else", "default"):
            given = node.get(key)
            if given is not None:
                known.reading.wrong_shape(given, Text(f"a money fact has no '{key}:'", f"金额类事实没有 '{key}:'"))
        return replace(declared, say=say)
    otherwise = _plain_value(node.get("else"), declared, signature, expressions)
    return replace(declared, otherwise=otherwise, default=_default(node.get("default"), declared, signature, expressions, known), say=say)


def _plain_value(node: Node | None, declared: FactDecl, signature: Signature, expressions: Expressions) -> Condition | None:
    if node is None:
        return None
    if declared.kind == LIST and isinstance(node, Listing):
        words = [word for word, _ in expressions.reading.words(node, Text("a member of a list", "列表成员"))]
        literal = Literal(node.span, LIST, f"[{', '.join(words)}]", word="\n".join(words))
        return Condition(literal, literal.text, node.span)
    return expressions.value(node, signature, declared.name)


def _default(
    node: Node | None, declared: FactDecl, signature: Signature, expressions: Expressions, known: Known
) -> tuple[DefaultCase, ...]:
    if node is None:
        return ()
    cases = node.items if isinstance(node, Listing) and any(isinstance(case, Keyed) for case in node.items) else (node,)
    found = [_case(case, declared, signature, expressions, known) for case in cases]
    return tuple(case for case in found if case is not None)


def _case(node: Node, declared: FactDecl, signature: Signature, expressions: Expressions, known: Known) -> DefaultCase | None:
    reading, what = known.reading, Text("a default", "默认值")
    if not isinstance(node, Keyed):
        value = _plain_value(node, declared, signature, expressions)
        return None if value is None else _allowed(DefaultCase((), value, False, (), node.span), reading)
    if reading.comma_trap(node):
        return None
    reading.keys(node, ("when", "value", "aim", "cite"), what)
    lines = reading.sequence(node.get("when"), Text("'when'", "'when'"))
    when = [expressions.condition(line) for line in lines]
    value = _plain_value(reading.required(node, "value", what), declared, signature, expressions)
    kept = tuple(condition for condition in when if condition is not None)
    if value is None or len(kept) < len(when):
        return None
    cite = cited(node.get("cite"), known.cites, reading)
    return _allowed(DefaultCase(kept, value, reading.flag(node.get("aim")), cite, node.span), reading)


def _allowed(case: DefaultCase, reading: Reading) -> DefaultCase | None:
    """A default stands before everything that is worked out: it reads what was stated, nothing that was concluded."""
    for condition in (*case.when, case.value):
        later = sorted(fact for fact in facts_read(condition.term) if fact.split(".")[0] in ("design", "need", "estimate"))
        if later:
            message = Text(
                f"a default cannot read '{later[0]}', which is decided or worked out later", f"默认值不能读取 '{later[0]}'，它在之后才得出"
            )
            help = Text(f"read 'plan.{later[0]}', what the plan itself states", f"请读取 'plan.{later[0]}'（计划本身所述）")
            reading.report("default-reads-design", condition.span, message, help)
            return None
    return case
