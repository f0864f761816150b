"""Rules: conditions, one effect, claims, examples. Effects are read in `build_effects`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from expert.errors import ExpertError, Span, Text
from expert.language.build_effects import Effects
from expert.language.build_sources import cited
from expert.language.build_tables import table_named
from expert.language.expressions import Expressions
from expert.language.known import always_known, known_if_known, known_when_false, known_when_true, maybe_unknown
from expert.language.layers import Entry, Layered
from expert.language.limits import check_combinations, within_combinations
from expert.language.near import nearest
from expert.language.nodes import Name, Syntax
from expert.language.parser import parse_template
from expert.language.program import Constant, Example, FactDecl, Prefer, Require, Rule, Template
from expert.language.reading import KEBAB, PLAIN_NAME, Reading
from expert.language.reads import effect_templates, template_terms
from expert.language.shapes import BASES, EFFECTS, NAMESPACES, OUTCOMES, RULE_KEYS
from expert.language.terms import NUMBER
from expert.quantities import format_quantity
from expert.units import PLAIN
from expert.yamldoc import Mapping as Keyed
from expert.yamldoc import Node, Scalar, to_plain
from expert.yamldoc import Sequence as Listing


@dataclass(frozen=True)
class RuleContext:
    """What rules may refer to."""

    layered: Layered
    facts: Mapping[str, FactDecl]
    constants: Mapping[str, Constant]
    topics: frozenset[str]
    cites: frozenset[str]
    expressions: Expressions
    reading: Reading
    unit_texts: Mapping[str, Text]


def build_rules(context: RuleContext) -> dict[str, Rule]:
    """All rules in force. A rule with a mistake is left out; nothing else is said about it."""
    known = always_known(context.facts)
    found: dict[str, Rule] = {}
    for entry in context.layered.entries["rules"].values():
        rule = None if entry.id in context.layered.disabled else _rule(entry, context)
        if rule is not None:
            _check_templates(rule, known, context)
            found[rule.id] = rule
    check_combinations(found, context.layered, context.reading)
    return found


def build_retired(context: RuleContext) -> dict[str, Rule]:
    """Rules that a later layer disabled, kept so that an explanation can say where they would have objected.

    `context` has a reading of its own: a retired rule that no longer fits what the layers made of the pack is left out.
    """
    found: dict[str, Rule] = {}
    for entry in context.layered.entries["rules"].values():
        if entry.id in context.layered.disabled:
            context.reading.mistakes.clear()
            try:
                rule = _rule(entry, context)
            except ExpertError:  # more mistakes than are counted
                continue
            if rule is not None and not context.reading.mistakes:
                found[rule.id] = rule
    return found


def _rule(entry: Entry, context: RuleContext) -> Rule | None:
    node, reading = entry.node, context.reading
    assert isinstance(node, Keyed)
    what = Text(f"the rule '{entry.id}'", f"规则 '{entry.id}'")
    reading.keys(node, RULE_KEYS, what)
    if not KEBAB.fullmatch(entry.id):
        reading.report("bad-name", entry.span, Text(f"'{entry.id}' is no id for a rule", f"'{entry.id}' 不能作规则 id"),
                       Text("use small letters, digits and hyphens, as in 'tensor-parallel-needs-nvlink'",
                            "请用小写字母、数字和连字符，如 'tensor-parallel-needs-nvlink'"))  # fmt: skip
    title = reading.text(reading.required(node, "title", what, entry.span), Text("a title", "标题"))
    because = _because(reading.required(node, "because", what, entry.span), context)
    topic = reading.one_of(node.get("topic"), context.topics, Text("a topic", "主题"), "unknown-topic") or ""
    rows = _rows(node.get("for"), context)
    if rows is None:
        return None
    lines = reading.sequence(node.get("when"), Text("'when'", "'when'"))
    when = [context.expressions.condition(line, rows) for line in lines]
    kept = tuple(condition for condition in when if condition is not None)
    effect_name = _effect_name(node, entry, reading)
    effects = Effects(context.expressions, context.facts, reading, rows)
    effect = None if effect_name is None else effects.read(effect_name, node, kept, entry.span)
    examples = _examples(node.get("examples"), entry, context)
    cite, dissent = (cited(node.get(key), context.cites, reading) for key in ("cite", "dissent"))
    if effect is None or len(kept) < len(when):
        return None
    return Rule(
        id=entry.id,
        topic=topic,
        title=title,
        rows=tuple(rows.items()),
        when=kept,
        effect=effect,
        because=because,
        cite=cite,
        dissent=dissent,
        law=_law(node, effect_name or "", reading),
        basis=reading.one_of(node.get("basis"), BASES, Text("a basis", "依据类型")) or "",
        examples=examples,
        span=entry.span,
        layer=entry.layer,
        changes=tuple(entry.changes),
        protected=_protected(node.get("protected"), reading),
    )


def _protected(node: Node | None, reading: Reading) -> bool:
    if isinstance(node, Listing) or (isinstance(node, Scalar) and node.value in RULE_KEYS):
        for word, span in reading.words(node, Text("a field", "字段")):
            if word not in RULE_KEYS:
                reading.report("unknown-key", span, Text(f"a rule has no '{word}'", f"规则没有 '{word}' 这个键"))
        return True
    return reading.flag(node)


def _law(node: Keyed, effect: str, reading: Reading) -> bool:
    given = node.get("law")
    if given is not None and effect != "require":
        reading.wrong_shape(given, Text("only a 'require' rule can be a law", "只有 'require' 规则可以是 law"))
    return reading.flag(given)


def _rows(node: Node | None, context: RuleContext) -> dict[str, str] | None:
    """The `for` variables with their tables; None when one of them is wrong."""
    found = context.reading.mapping(node, Text("'for'", "'for'"))
    if node is None:
        return {}
    if found is None:
        return None
    rows: dict[str, str] = {}
    for key, value in found.entries:
        if not PLAIN_NAME.fullmatch(key.raw) or _taken(key.raw, context):
            message = Text(
                f"'{key.raw}' cannot name a row: it is taken, or not made of small letters and digits", f"'{key.raw}' 不能作行变量名"
            )
            context.reading.report("bad-name", key.span, message)
        table = table_named(value, context.layered, context.reading)
        if table is not None:
            rows[key.raw] = table
    complete = len(rows) == len(found.entries) and within_combinations(rows, context.layered, found.span, context.reading)
    return rows if complete else None


def _taken(name: str, context: RuleContext) -> bool:
    return name in ("plan", "value") or name in context.constants or name in NAMESPACES


def _effect_name(node: Keyed, entry: Entry, reading: Reading) -> str | None:
    names = [key for key in EFFECTS if node.get(key) is not None]
    if len(names) == 1:
        return names[0]
    listed = ", ".join(EFFECTS)
    if not names:
        reading.report("no-effect", entry.span, Text(f"the rule '{entry.id}' does nothing", f"规则 '{entry.id}' 没有效果"),
                       Text(f"give it one of {listed}", f"请加上其中之一：{listed}"))  # fmt: skip
        return None
    second = node.key_scalar(names[1])
    assert second is not None
    reading.report("two-effects", second.span, Text(f"the rule '{entry.id}' has two effects, '{names[0]}' and '{names[1]}'",
                                                    f"规则 '{entry.id}' 有两个效果：'{names[0]}' 和 '{names[1]}'"),
                   Text("make two rules of it", "请拆成两条规则"))  # fmt: skip
    return None


def _examples(node: Node | None, entry: Entry, context: RuleContext) -> tuple[Example, ...]:
    reading, what = context.reading, Text("an example", "示例")
    found: list[Example] = []
    for member in reading.sequence(node, Text("'examples'", "'examples'")):
        case = reading.mapping(member, what)
        if case is None:
            continue
        reading.keys(case, ("given", "expect"), what)
        given = reading.mapping(case.get("given"), Text("'given'", "'given'"))
        expect = reading.required(case, "expect", what)
        values = _fact_values(given, context) if given is not None else ()
        if isinstance(expect, Keyed):
            _fact_values(expect, context)
        elif expect is not None:
            reading.one_of(expect, OUTCOMES, Text("an outcome", "结果"))
        found.append(Example(values, to_plain(expect), case.span, entry.layer))
    return tuple(found)


def _fact_values(node: Keyed, context: RuleContext) -> tuple[tuple[str, object], ...]:
    for key, _ in node.entries:
        if key.raw not in context.facts and ("facts", key.raw) not in context.layered.broken:
            unknown_fact(key.raw, key.span, context.facts, context.reading)
    return tuple((key.raw, to_plain(value)) for key, value in node.entries)


def unknown_fact(name: str, span: Span, facts: Mapping[str, FactDecl], reading: Reading) -> None:
    """Report a name that no fact has, with the nearest one and its place."""
    close = nearest(name, facts)
    help = Text("")
    if close is not None:
        place = f"{facts[close].span.file}:{facts[close].span.line}"
        help = Text(f"did you mean '{close}', declared at {place}?", f"是否应为“{close}”（声明于 {place}）？")
    reading.report("unknown-fact", span, Text(f"no fact is called '{name}'", f"没有名为“{name}”的事实"), help)


def check_losing(context: RuleContext) -> None:
    """Every claim that a change overrules is a known one."""
    layered = context.layered
    changes = [change for entries in layered.entries.values() for entry in entries.values() for change in entry.changes]
    changes += [change for table in layered.tables.values() for cell in table.cell_changes.values() for change in cell]
    for change in (*changes, *layered.disabled.values()):
        for claim in change.losing:
            if claim not in context.cites:
                message = Text(
                    f"'{claim}', which this change overrules, is not a claim or a source", f"此修改所否定的 '{claim}' 不是论断或来源"
                )
                close = nearest(claim, context.cites)
                help = Text(f"did you mean '{close}'?", f"是否指 '{close}'？") if close else Text("")
                context.reading.report("unknown-claim", change.span, message, help)


def _check_templates(rule: Rule, always: frozenset[str], context: RuleContext) -> None:
    """Everything a message prints has a value whenever the message is printed."""
    known = always.union(*(known_when_true(condition.term) for condition in rule.when))
    if isinstance(rule.effect, Require | Prefer):
        # The fix is printed where the test is false.
        known |= known_when_false(rule.effect.test.term) | known_if_known(rule.effect.test.term)
    for template in effect_templates(rule):
        _check_template(template, known, context)


def _check_template(template: Template, known: frozenset[str], context: RuleContext) -> None:
    told: set[str] = set()
    for term in template_terms(template):
        for name in maybe_unknown(term, known):
            if name in told:
                continue
            told.add(name)
            message = Text(f"'{name}' may be unknown where this is printed", f"打印此文本时 '{name}' 可能未知")
            help = Text(f"add 'known({name})' to 'when:'", f"请在 'when:' 中加上 'known({name})'")
            context.reading.report("maybe-unknown", term.span, message, help)


def _because(node: Node | None, context: RuleContext) -> Text:
    """The mechanism, with the constants that it names written out; it says how things are, whatever the plan."""
    text = context.reading.text(node, Text("the mechanism", "机理说明"))
    if isinstance(node, Scalar):
        return Text(_written_out(node, "en", context)) if text else text
    parts = {lang: node.get(lang) for lang in ("en", "zh")} if isinstance(node, Keyed) and text else {}
    return Text(*(_written_out(part, lang, context) if isinstance(part, Scalar) else "" for lang, part in parts.items())) if parts else text


def _written_out(scalar: Scalar, lang: str, context: RuleContext) -> str:
    try:
        pieces = parse_template(scalar.raw.strip(), scalar.locate)
    except ExpertError as error:
        context.reading.catch(error)
        return ""
    return "".join(piece if isinstance(piece, str) else _constant_text(piece, lang, context) for piece in pieces)


def _constant_text(piece: Syntax, lang: str, context: RuleContext) -> str:
    constant = context.constants.get(piece.dotted) if isinstance(piece, Name) else None
    if constant is not None:
        value, unit = constant.value, constant.unit or PLAIN
        if value.kind != NUMBER:
            return value.word
        typical = None if value.typical is None else unit.from_base(value.typical)
        return format_quantity(unit.from_base(value.low), typical, unit.from_base(value.high), unit, lang, context.unit_texts)
    if not (isinstance(piece, Name) and ("constants", piece.dotted) in context.layered.broken):
        message = Text("'because' names constants only, no fact and no arithmetic", "'because' 中只能引用常量，不能引用事实或算式")
        help = Text("what depends on the plan stands in 'message:' or 'fix:'", "取决于计划的内容请写在 'message:' 或 'fix:' 中")
        context.reading.report("because-reads-fact", piece.span, message, help)
    return ""
