"""A small vocabulary for the tests of expressions, and one line of a pack to stand in."""

from __future__ import annotations

from dataclasses import dataclass

from expert.errors import Diagnostic, ExpertError, Span, render
from expert.language.checker import check_condition, check_shown, check_value
from expert.language.nodes import Syntax
from expert.language.parser import parse_expression
from expert.language.scope import Scope, Signature
from expert.language.terms import BOOL, LIST, NUMBER, TEXT, WORD, Term
from expert.units import UnitTable

UNITS = UnitTable.standard().with_counts(["gpu", "token", "node"]).with_currencies({"CNY": (1, 1), "USD": (7, 1)})


def number(unit: str = "", line: int = 1) -> Signature:
    """A number fact or column, declared at a line of vocab.yaml."""
    return Signature(NUMBER, UNITS.parse(unit), declared=Span("vocab.yaml", line, 3, 4))


def word(*words: str, table: str | None = None) -> Signature:
    """A choice, of words or of a table's rows."""
    return Signature(WORD, table=table, words=frozenset(words) or None, declared=Span("vocab.yaml", 7, 3, 4))


FACTS = {
    "design.tensor_parallel": number(line=8),
    "design.gpus": number("gpu", line=9),
    "design.nodes": number("node"),
    "design.gpu": word(table="gpus"),
    "design.fabric": word("ib", "hpn", "roce-400g"),
    "design.recompute": word("none", "full"),
    "plan_b.fabric": word("tcp", "udp"),
    "need.memory": number("GiB"),
    "need.bytes": number("B"),
    "need.busbw": number("GB/s/gpu"),
    "need.read": number("GB/s"),
    "need.time": number("h"),
    "need.loss": number("percent"),
    "need.spare": number("percent"),
    "need.tokens": number("token"),
    "site.budget": number("CNY/month"),
    "site.rdma": Signature(BOOL),
    "site.open": Signature(BOOL),
    "site.stacks": Signature(LIST, words=frozenset({"nccl", "hccl"})),
    "site.notes": Signature(TEXT),
    "site.anything": word(),
}
COLUMNS = {
    "gpus": {"memory": number("GiB"), "link": word(table="links"), "node": number("gpu"), "vendor": Signature(TEXT), "kind": word()},
    "links": {"family": word("nvlink", "pcie"), "speed": number("GB/s")},
    "prices": {"gpu": word(table="gpus"), "amount": number("CNY/month/gpu")},
}
ROWS = {
    "gpus": frozenset({"a800-80g", "h100-80g", "llama-3.1"}),
    "links": frozenset({"nvlink-3", "pcie-4"}),
    "prices": frozenset({"p1", "p2"}),
}
CONSTANTS = {"rdma_from": number("gpu", line=20), "factor": number()}
SCOPE = Scope(FACTS, COLUMNS, CONSTANTS, {"price": "prices"}, UNITS, ROWS)

COLUMN = 9


def locate(offset: int, length: int) -> Span:
    """Where a stretch of an expression stands in its line."""
    return Span("rules.yaml", 21, COLUMN + offset, COLUMN + offset + length)


def parse(text: str) -> Syntax:
    """The syntax of a condition that stands in a list."""
    return parse_expression(text, locate, lambda number: f"      - {text}")


@dataclass(frozen=True)
class Outcome:
    """What checking gave: a term, or what was reported."""

    term: Term | None
    reports: tuple[Diagnostic, ...]

    @property
    def codes(self) -> list[str]:
        """The codes by place."""
        return [found.code for found in sorted(self.reports, key=Diagnostic.sort_key)]


def check(text: str, target: Signature | None = None, shown: bool = False) -> Outcome:
    """A condition checked or, with a target, a value."""
    reports: list[Diagnostic] = []
    syntax = parse(text)

    def line_of(number: int) -> str:
        return f"      - {text}"

    if shown:
        return Outcome(check_shown(syntax, SCOPE, reports.append, line_of), tuple(reports))
    if target is None:
        return Outcome(check_condition(syntax, SCOPE, reports.append, line_of), tuple(reports))
    return Outcome(check_value(syntax, SCOPE, target, reports.append, line_of, "the.target"), tuple(reports))


def errors(text: str, target: Signature | None = None, lang: str = "en") -> str:
    """Everything that is wrong with an expression, as the user reads it."""
    try:
        return render(check(text, target).reports, lang)
    except ExpertError as refused:
        return render(refused.diagnostics, lang)
