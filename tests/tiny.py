"""A tiny program built by hand, for tests of what reads plans and prints advice: choosing a bicycle."""

from __future__ import annotations

from collections.abc import Mapping

from expert.errors import NO_TEXT, Span, Text
from expert.language.program import (
    Cell,
    Claim,
    Column,
    Condition,
    Constant,
    Decision,
    Domain,
    FactDecl,
    Pack,
    Program,
    Row,
    Rule,
    Source,
    Step,
    Table,
)
from expert.language.terms import NUMBER, WORD, Literal, Term
from expert.units import UnitTable

UNITS = UnitTable.standard().with_counts(["gear"]).with_currencies({"EUR": (1, 1), "CHF": (21, 20)})
FILE = "rules/bikes/bikes.yaml"


def at(line: int, column: int = 3, width: int = 10) -> Span:
    """A place in the tiny pack."""
    return Span(FILE, line, column, column + width)


def number(text: str, low: float, high: float | None = None, unit: str = "") -> Literal:
    """A literal number in base units."""
    top = low if high is None else high
    return Literal(at(1), NUMBER, text, low, low if top == low else None, top, unit=UNITS.parse(unit) if unit else None)


def word(text: str) -> Literal:
    """A literal word."""
    return Literal(at(1), WORD, text, word=text)


def condition(text: str, term: Term, line: int = 1) -> Condition:
    """One line of a rule."""
    return Condition(term, text, at(line))


def fact(
    name: str,
    type: str = "number",
    *,
    unit: str | None = None,
    domain: Domain | None = None,
    choices: Mapping[str, Text] | None = None,
    whole: bool = False,
    covers: tuple[float, float] | None = None,
    title: Text = NO_TEXT,
    example: str = "",
    combine: str = "one",
) -> FactDecl:
    """A declaration with everything else left empty."""
    kind = {"number": NUMBER, "yes-no": "bool", "list": "list", "text": "text", "money": "text"}.get(type, WORD)
    return FactDecl(
        name=name, type=type, kind=kind, unit=None if unit is None else UNITS.parse(unit), domain=domain,
        choice_texts=choices or {}, combine=combine, otherwise=None, default=(), covers=covers, whole=whole, topic="ride",
        title=title, ask=NO_TEXT, help=NO_TEXT, say=None, example=example, cite=(), span=at(1), layer="bikes",
    )  # fmt: skip


TERRAINS = {"flat": Text("flat land", "平地"), "hilly": Text("hills", "丘陵")}
FACTS = (
    fact("rider.distance", unit="km", title=Text("daily distance", "每日里程"), covers=(0.0, 500_000.0), example="12 km"),
    fact("rider.load", unit="kg", title=Text("load", "载重")),
    fact("rider.terrain", "choice", choices=TERRAINS, title=Text("terrain", "地形")),
    fact("rider.rain", "yes-no", title=Text("rides in the rain", "雨天骑行")),
    fact("rider.budget", "money", title=Text("budget", "预算")),
    fact("rider.budget_rate", unit="EUR/month", title=Text("budget per month", "月预算")),
    fact("rider.budget_total", unit="EUR", title=Text("budget in total", "总预算")),
    fact("rider.wants", "list", choices={"bell": Text("a bell", "车铃"), "rack": Text("a rack", "货架")}, title=Text("extras", "配件")),
    fact("rider.note", "text", title=Text("note", "备注")),
    fact("design.bike", "choice", domain=Domain(table="bikes"), title=Text("bicycle", "车型")),
    fact("design.gears", unit="gear", whole=True, title=Text("gears", "挡位数"), covers=(1.0, 30.0), example="7"),
    fact("design.speed", unit="GB/s/gear", title=Text("odd rate", "速率")),
    fact("design.share", unit="percent", title=Text("share", "占比"), covers=(0.0, 1.0)),
    fact("design.ratio", title=Text("ratio", "速比")),
    fact("need.range", unit="km", title=Text("range needed", "所需续航")),
    fact("estimate.weight", unit="kg", title=Text("weight", "车重")),
)  # fmt: skip


RESERVE = Constant("reserve", number("1.5", 1.5), None, "judgement", ("B-001",), Text("reserve", "余量"), at(30), "bikes")
BIKE = {"design.bike": Domain(table="bikes")}
CHOICE = Decision("choice", Text("The bicycle", "选车"), BIKE, ("rider.distance",), None, 0.0, (), 3, (), "ride", at(50), "bikes")


def tiny_program(rules: tuple[Rule, ...] = (), **changes: object) -> Program:
    """The bicycle program; `contributors` says that rules conclude need.range."""
    price = Cell(number("450 EUR", 450.0, unit="EUR"), None, NO_TEXT, NO_TEXT, "vendor", ("shop",), at(41))
    rows = {
        "city-7": Row("city-7", Text("City 7", "城市 7"), {"price": price}, ("shop",), at(40), "bikes"),
        "tour-21": Row("tour-21", Text("Tour 21", "旅行 21"), {}, ("shop",), at(42), "bikes"),
    }
    columns = {"price": Column("price", NUMBER, UNITS.parse("EUR"), None, Text("price", "价格"))}
    fields: dict[str, object] = {
        "packs": (Pack("bikes", "1.0", Text("Bicycles", "自行车"), "d" * 64, "rules/bikes"),),
        "topics": {"ride": Text("Ride", "骑行")},
        "units": UNITS,
        "unit_texts": {"gear": Text("gear", "挡")},
        "facts": {decl.name: decl for decl in FACTS},
        "tables": {"bikes": Table("bikes", Text("Bicycles", "自行车"), columns, rows, ("shop",), at(38), "bikes")},
        "constants": {"reserve": RESERVE},
        "rules": {rule.id: rule for rule in rules},
        "decisions": {"choice": CHOICE},
        "sources": {"shop": Source("shop", Text("A shop's list", "商店价目"), "https://example.org/bikes", "2025-01-02", "", "2026-01-02")},
        "claims": {"B-001": Claim("B-001", "shop", "page 2", Text("Take half as much again.", "多备一半。"))},
        "schedule": (Step(0, ("need.range",)), Step(1, (), "choice")),
        "contributors": {"need.range": ("range-from-distance",)},
        "tests_of": {"choice": (), "": ()},
        "bodies": {"choice": ()},
        "dependencies": {},
        "deciders": {"design.bike": "choice"},
    }  # fmt: skip
    return Program(**(fields | changes))  # type: ignore[arg-type]
