"""The six effects of a rule, from its YAML to checked terms and templates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from expert.errors import Span, Text
from expert.language.build_facts import signature_of
from expert.language.expressions import Expressions, Rows
from expert.language.near import nearest
from expert.language.program import (
    Conclude,
    Condition,
    Effect,
    FactDecl,
    Prefer,
    Require,
    Risk,
    Template,
    Threshold,
    Warn,
)
from expert.language.reading import Reading
from expert.language.shapes import BASES, LIKELIHOODS, RISK_KEYS, SEVERITIES, STAGES, TEST_KEYS, WARN_KEYS
from expert.language.terms import NUMBER, facts_read
from expert.yamldoc import Mapping as Keyed
from expert.yamldoc import Node, Scalar


@dataclass(frozen=True)
class Effects:
    """Reads the effect of one rule; `rows` are its `for` variables."""

    expressions: Expressions
    facts: Mapping[str, FactDecl]
    reading: Reading
    rows: Rows

    def read(self, name: str, rule: Keyed, when: tuple[Condition, ...], place: Span) -> Effect | None:
        """The effect called `name` of a rule's node; None after a mistake."""
        what = Text(f"'{name}'", f"'{name}'")
        self._misplaced(name, rule)
        node = self.reading.mapping(rule.get(name), what)
        if node is None:
            return None
        if name == "conclude":
            return self._conclude(node)
        if name in ("require", "prefer"):
            return self._test(name, node, rule, place)
        if name == "warn":
            return self._warn(node, when)
        return self._threshold(node) if name == "test" else self._risk(node)

    def _misplaced(self, name: str, rule: Keyed) -> None:
        """`weight` and `fix` beside an effect that does not take them."""
        for key, takers in (("weight", ("prefer",)), ("fix", ("require", "prefer"))):
            scalar = rule.key_scalar(key)
            if scalar is not None and name not in takers:
                inside = (
                    Text("write it inside 'warn:'", "请写在 'warn:' 之内")
                    if (key, name) == ("fix", "warn")
                    else Text("delete it", "请删去")
                )
                message = Text(f"'{key}' does not belong beside '{name}'", f"'{key}' 不能与 '{name}' 并列")
                self.reading.report("unknown-key", scalar.span, message, inside)

    def _fact(self, node: Node | None, what: Text) -> FactDecl | None:
        word = self.reading.word(node, what)
        if word is None or node is None:
            return None
        return self._declared(word, node.span)

    def _declared(self, word: str, span: Span) -> FactDecl | None:
        found = self.facts.get(word)
        if found is not None and found.type != "money":
            return found
        if word in self.expressions.broken:
            return None
        close = f"{word}_rate" if found is not None else nearest(word, self.facts)
        help = Text("")
        if close is not None:
            at = self.facts[close].span if close in self.facts else span
            help = Text(f"did you mean '{close}', declared at {at.file}:{at.line}?", f"是否应为“{close}”（声明于 {at.file}:{at.line}）？")
        self.reading.report("unknown-fact", span, Text(f"no fact is called '{word}'", f"没有名为“{word}”的事实"), help)
        return None

    def _template(self, node: Node | None) -> Template | None:
        return self.expressions.template(node, Text("a message", "文本"), self.rows)

    def _optional(self, node: Keyed, key: str) -> Template | None:
        return self._template(node.get(key))

    def _conclude(self, node: Keyed) -> Conclude | None:
        values: list[tuple[str, Condition]] = []
        for key, value in node.entries:
            declared = self._declared(key.raw, key.span)
            condition = None if declared is None else self.expressions.value(value, signature_of(declared), key.raw, self.rows)
            if condition is not None:
                values.append((key.raw, condition))
        return Conclude(tuple(values)) if len(values) == len(node.entries) and values else None

    def _test(self, name: str, node: Keyed, rule: Keyed, place: Span) -> Require | Prefer | None:
        if len(node.entries) != 1:
            message = Text(f"'{name}' takes one 'fact: test'; the fact is the one that is blamed", f"'{name}' 只接受一个 '事实: 检验'")
            self.reading.wrong_shape(
                node, message, Text("join the tests with 'and', or make two rules", "请用 'and' 连接检验，或拆成两条规则")
            )
            return None
        (key, value), *_ = node.entries
        declared = self._declared(key.raw, key.span)
        test = self.expressions.condition(value, self.rows)
        fix = self._optional(rule, "fix")
        weight = 0
        if name == "prefer":
            given = self.reading.required(rule, "weight", Text("'prefer'", "'prefer'"), place)
            weight = self.reading.whole(given, 1, 10, 0)
        if declared is None or test is None:
            return None
        return Require(key.raw, test, fix) if name == "require" else Prefer(key.raw, test, weight, fix)

    def _warn(self, node: Keyed, when: tuple[Condition, ...]) -> Warn | None:
        what = Text("'warn'", "'warn'")
        self.reading.keys(node, WARN_KEYS, what)
        severity = self.reading.one_of(self.reading.required(node, "severity", what), SEVERITIES, Text("a severity", "严重程度"))
        message = self._template(self.reading.required(node, "message", what))
        costs, fix = self._optional(node, "costs"), self._optional(node, "fix")
        given = node.get("fact")
        declared = self._fact(given, Text("a fact", "事实"))
        if severity is None or message is None or (given is not None and declared is None):
            return None
        read = [fact for condition in when for fact in sorted(facts_read(condition.term))]
        return Warn(severity, message, costs, fix, declared.name if declared is not None else read[0] if read else "")

    def _threshold(self, node: Keyed) -> Threshold | None:
        what = Text("'test'", "'test'")
        self.reading.keys(node, TEST_KEYS, what)
        metric = self._fact(self.reading.required(node, "metric", what), Text("a fact", "事实"))
        stage = self.reading.one_of(self.reading.required(node, "stage", what), STAGES, Text("a stage", "阶段"))
        bounds = [key for key in ("at_least", "at_most") if node.get(key) is not None]
        if len(bounds) == 2:
            self.reading.wrong_shape(node, Text("a test has 'at_least' or 'at_most', not both", "检验只能有 'at_least' 或 'at_most' 之一"))
        limit = None
        if metric is not None and len(bounds) == 1:
            limit = self._limit(node.get(bounds[0]), metric)
        tool, command = (self.reading.prose(node.get(key), what) for key in ("tool", "command"))
        rerun, message = self._optional(node, "rerun"), self._optional(node, "message")
        confirm = [self._template(step) for step in self.reading.sequence(node.get("confirm"), Text("'confirm'", "'confirm'"))]
        kept = tuple(step for step in confirm if step is not None)
        if metric is None or stage is None or len(bounds) == 2 or len(kept) < len(confirm) or (bounds and limit is None):
            return None
        return Threshold(stage, metric.name, bounds[0] if bounds else "", limit, tool, command, rerun, message, kept)

    def _limit(self, node: Node | None, metric: FactDecl) -> Condition | None:
        if metric.kind != NUMBER and node is not None:
            self.reading.wrong_shape(
                node, Text(f"'{metric.name}' is no number, so it has no threshold", f"'{metric.name}' 不是数，没有阈值")
            )
            return None
        return self.expressions.value(node, signature_of(metric), metric.name, self.rows)

    def _risk(self, node: Keyed) -> Risk | None:
        what = Text("'risk'", "'risk'")
        self.reading.keys(node, RISK_KEYS, what)
        likelihood = self.reading.one_of(self.reading.required(node, "likelihood", what), LIKELIHOODS, Text("a likelihood", "可能性"))
        impact_node = self.reading.required(node, "impact", what)
        is_fact = isinstance(impact_node, Scalar) and impact_node.raw in self.facts
        impact = None if is_fact else self._template(impact_node)
        trigger, mitigation = (self._template(self.reading.required(node, key, what)) for key in ("trigger", "mitigation"))
        basis = self.reading.one_of(self.reading.required(node, "basis", what), BASES, Text("a basis", "依据类型"))
        if likelihood is None or trigger is None or mitigation is None or basis is None or (impact is None and not is_fact):
            return None
        fact = impact_node.raw if is_fact and isinstance(impact_node, Scalar) else ""
        return Risk(likelihood, fact, impact, trigger, mitigation, basis)
