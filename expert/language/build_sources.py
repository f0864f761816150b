"""Sources, claims, topics and units of the layered packs."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from expert.errors import Text
from expert.language.layers import Entry, Layered
from expert.language.program import Claim, Source
from expert.language.reading import KEBAB, PLAIN_NAME, Reading
from expert.language.shapes import CLAIM_KEYS, FIELDS, SOURCE_KEYS
from expert.units import UnitError, UnitTable
from expert.yamldoc import Mapping as Keyed
from expert.yamldoc import Node, Scalar


def build_sources(layered: Layered, reading: Reading) -> tuple[dict[str, Source], dict[str, Claim]]:
    """Sources and claims by id; every claim names a known source."""
    sources = {entry.id: _source(entry, reading) for entry in layered.entries["sources"].values()}
    known = frozenset(layered.entries["sources"])
    refutable = frozenset(layered.entries["claims"])
    claims = {entry.id: _claim(entry, known, refutable, reading) for entry in layered.entries["claims"].values()}
    return sources, claims


def _source(entry: Entry, reading: Reading) -> Source:
    what = Text(f"the source '{entry.id}'", f"来源 '{entry.id}'")
    node = reading.mapping(entry.node, what)
    if node is None:
        return Source(entry.id, Text(""), "", "", "", "")
    reading.keys(node, SOURCE_KEYS, what)
    title = reading.text(reading.required(node, "title", what, entry.span), what)
    address, read, licence, review_by = (reading.prose(node.get(key), what) for key in SOURCE_KEYS[1:])
    return Source(entry.id, title, address, read, licence, review_by)


def _claim(entry: Entry, known: frozenset[str], refutable: frozenset[str], reading: Reading) -> Claim:
    what = Text(f"the claim '{entry.id}'", f"论断 '{entry.id}'")
    node = reading.mapping(entry.node, what)
    if node is None:
        return Claim(entry.id, "", "", Text(""))
    reading.keys(node, CLAIM_KEYS, what)
    source = reading.one_of(reading.required(node, "source", what, entry.span), known, Text("a source", "来源"), "unknown-source")
    says = reading.text(reading.required(node, "says", what, entry.span), what)
    refutes = cited(node.get("refutes"), refutable, reading)
    return Claim(entry.id, source or "", reading.prose(node.get("where"), what), says, refutes)


def cited(node: Node | None, known: frozenset[str], reading: Reading) -> tuple[str, ...]:
    """The ids of a `cite`, `dissent` or `source` list; each must be a known claim or source."""
    found: list[str] = []
    for member in reading.sequence(node, Text("a list of claims", "论断列表")):
        word = reading.one_of(member, known, Text("a claim or a source", "论断或来源"), "unknown-claim")
        if word is not None:
            found.append(word)
    return tuple(found)


def build_topics(layered: Layered, reading: Reading) -> dict[str, Text]:
    """Topics by id."""
    topics: dict[str, Text] = {}
    for entry in layered.entries["topics"].values():
        if not KEBAB.fullmatch(entry.id):
            reading.report("bad-name", entry.span, Text(f"'{entry.id}' is no name for a topic", f"'{entry.id}' 不能作主题名"),
                           Text("use small letters, digits and hyphens", "请用小写字母、数字和连字符"))  # fmt: skip
        topics[entry.id] = reading.text(entry.node, Text("a topic", "主题"))
    return topics


def build_units(layered: Layered, reading: Reading) -> tuple[UnitTable, dict[str, Text], str]:
    """The unit table with counting units and currencies, the names of the counting units, and the base currency ("")."""
    table = UnitTable.standard()
    texts: dict[str, Text] = {}
    for entry in layered.entries["units"].values():
        text = _unit_text(entry, reading)
        try:
            table = table.with_counts([entry.id])
        except UnitError as error:
            reading.report("bad-unit", entry.span, error.message, Text("give it another name", "请换一个名称"))
            continue
        texts[entry.id] = text
    rates, base = _rates(layered, reading)
    try:
        table = table.with_currencies({name: (rate.numerator, rate.denominator) for name, rate in rates.items()})
    except UnitError as error:
        entry = layered.tables["currencies"].rows[error.bad]
        reading.report("bad-unit", entry.span, error.message, error.help)
    return table, texts, base


def _unit_text(entry: Entry, reading: Reading) -> Text:
    what = Text(f"the unit '{entry.id}'", f"单位 '{entry.id}'")
    node = reading.mapping(entry.node, what)
    if node is None:
        return Text(entry.id, entry.id)
    reading.keys(node, FIELDS["units"], what)
    if not reading.flag(node.get("counts")):
        message = Text(f"{what.en} needs 'counts: true': only counting units are declared, physical ones are built in",
                       f"{what.zh}缺少 'counts: true'：只声明计数单位，物理单位已内置")  # fmt: skip
        reading.report("bad-unit", entry.span, message)
    single, plural, chinese = (reading.prose(node.get(key), what) for key in ("en", "plural", "zh"))
    return Text(f"{single or entry.id}|{plural}" if plural else single or entry.id, chinese)


def _rates(layered: Layered, reading: Reading) -> tuple[dict[str, Fraction], str]:
    """Exact rates of the table `currencies`; the base currency is the row with rate 1."""
    table = layered.tables.get("currencies")
    if table is None:
        return {}, ""
    found = {name: rate for name, row in table.rows.items() if (rate := _rate(row, reading)) is not None}
    base = next((name for name, rate in found.items() if rate == 1), "")
    if not base:
        message = Text(
            "no currency has the rate 1, which makes it the one that all others are counted in", "没有汇率为 1 的货币，无法确定基准货币"
        )
        reading.report("bad-currency", table.entry.span, message)
    return found, base


def _rate(row: Entry, reading: Reading) -> Fraction | None:
    node = row.node.get("rate") if isinstance(row.node, Keyed) else None
    node = node.get("value") if isinstance(node, Keyed) else node
    if isinstance(node, Scalar) and isinstance(node.value, int | float) and not isinstance(node.value, bool) and node.value > 0:
        return Fraction(node.raw)
    message = Text(f"the currency '{row.id}' needs a rate above 0", f"货币 '{row.id}' 需要大于 0 的汇率")
    reading.report("bad-currency", node.span if node is not None else row.span, message)
    return None


def check_names(names: Mapping[str, Entry], reading: Reading, kind: Text) -> None:
    """Names that stand in expressions: small letters, digits and underscores."""
    for entry in names.values():
        if not PLAIN_NAME.fullmatch(entry.id):
            reading.report("bad-name", entry.span, Text(f"'{entry.id}' is no name for {kind.en}", f"'{entry.id}' 不能作{kind.zh}名"),
                           Text("use small letters, digits and underscores", "请用小写字母、数字和下划线"))  # fmt: skip
