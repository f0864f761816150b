"""Expressions and templates of the packs: parsed, checked against the scope, with one message per mistake."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from expert.errors import NO_TEXT, Diagnostic, ExpertError, Text
from expert.language.checker import check_condition, check_shown, check_value
from expert.language.nodes import Name, Syntax
from expert.language.parser import parse_expression, parse_template, parts_of
from expert.language.program import Condition, Template
from expert.language.reading import Reading
from expert.language.scope import Scope, Signature
from expert.language.terms import FactTerm, Term
from expert.yamldoc import Mapping as Keyed
from expert.yamldoc import Node, Scalar

Rows = Mapping[str, str]
NO_ROWS: Rows = {}

Checked = Callable[[Syntax, Scope], Term | None]


@dataclass(frozen=True)
class Expressions:
    """Checks expressions. `broken` has names that were refused already: what mentions one is passed over in silence."""

    scope: Scope
    reading: Reading
    broken: frozenset[str]

    def condition(self, node: Node | None, rows: Rows = NO_ROWS) -> Condition | None:
        """One line of `when`, or a test; None after a mistake."""
        return self._checked(node, rows, lambda syntax, scope: check_condition(syntax, scope, self._report))

    def value(self, node: Node | None, target: Signature, name: str, rows: Rows = NO_ROWS) -> Condition | None:
        """A value that goes into, or is compared with, the fact `name`; None after a mistake."""
        return self._checked(node, rows, lambda syntax, scope: check_value(syntax, scope, target, self._report, name=name))

    def _checked(self, node: Node | None, rows: Rows, check: Checked) -> Condition | None:
        scalar = self._scalar(node)
        if scalar is None:
            return None
        text = scalar.raw.rstrip()
        try:
            syntax = parse_expression(text, scalar.locate)
        except ExpertError as error:
            self.reading.catch(error)
            return None
        if self.reading.lost or self._mentions_broken(syntax):
            return None
        term = check(syntax, self._with_rows(rows))
        return None if term is None else Condition(term, " ".join(text.split()), scalar.span)

    def _with_rows(self, rows: Rows) -> Scope:
        return replace(self.scope, rows=rows) if rows else self.scope

    def _scalar(self, node: Node | None) -> Scalar | None:
        if isinstance(node, Scalar) and node.raw.strip() and node.value is not None:
            return node
        if isinstance(node, Keyed) and self.reading.comma_trap(node):
            return None
        if node is not None:
            message = Text("an expression stands here, and YAML reads it as something else", "此处应为表达式，但被 YAML 读作其他内容")
            help = Text("put the whole expression in quotes", "请将整个表达式加引号")
            if isinstance(node, Scalar):
                message, help = Text("an expression is missing here", "此处缺少表达式"), NO_TEXT
            self.reading.report("no-expression", node.span, message, help)
        return None

    def _report(self, found: Diagnostic) -> None:
        self.reading.note(found)

    def _mentions_broken(self, syntax: Syntax) -> bool:
        if isinstance(syntax, Name):
            parts = syntax.parts[1:] if syntax.parts[0] == "plan" else syntax.parts
            heads = {".".join(parts[:length]) for length in range(1, len(parts) + 1)}
            return bool(heads & self.broken) or any(f".{part}" in self.broken for part in parts[1:])
        return any(self._mentions_broken(part) for part in parts_of(syntax))

    def template(self, node: Node | None, what: Text, rows: Rows = NO_ROWS, value_of: str = "") -> Template | None:
        """A message in one or both languages; `value_of` is the fact that `{value}` stands for. None after a mistake."""
        if node is None:
            return None
        before = len(self.reading.mistakes)
        text = self.reading.text(node, what)
        if not text:
            return None
        languages = (
            {"en": node} if isinstance(node, Scalar) else {key.raw: value for key, value in node.entries} if isinstance(node, Keyed) else {}
        )
        parts = {lang: self._parts(words, rows, value_of) for lang, words in languages.items() if isinstance(words, Scalar)}
        if len(self.reading.mistakes) > before or any(found is None for found in parts.values()):
            return None
        return Template(text, parts.get("en") or (), parts.get("zh") or (), node.span)

    def _parts(self, scalar: Scalar, rows: Rows, value_of: str) -> tuple[str | Term, ...] | None:
        try:
            pieces = parse_template(scalar.raw.rstrip(), scalar.locate)
        except ExpertError as error:
            self.reading.catch(error)
            return None
        if self.reading.lost:
            return None
        found: list[str | Term] = []
        for piece in pieces:
            term = piece if isinstance(piece, str) else self._shown(piece, rows, value_of)
            if term is None:
                return None
            found.append(term)
        return tuple(found)

    def _shown(self, syntax: Syntax, rows: Rows, value_of: str) -> Term | None:
        if self._mentions_broken(syntax):
            return None
        written = syntax.dotted if isinstance(syntax, Name) else ""
        if value_of and written == "value":
            signature = self.scope.facts.get(value_of)
            kind, unit = (signature.kind, signature.unit) if signature else ("text", None)
            return FactTerm(replace(syntax.span, path="value"), kind, value_of, unit)
        if value_of and isinstance(syntax, Name) and syntax.parts[0] == "value":
            syntax = replace(syntax, parts=(*value_of.split("."), *syntax.parts[1:]))
        term = check_shown(syntax, self._with_rows(rows), self._report)
        return replace(term, span=replace(term.span, path=written)) if term is not None and written else term
