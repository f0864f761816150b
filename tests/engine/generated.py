"""Random small packs as YAML text, and plans for them, made to stand on edges: from a seed, the same everywhere.

`conclusions` has no decisions: chained columns, every way to combine, defaults, `else`, rows, percentages, unknowns.
`decisions` has one to three decisions over tables with empty cells and ranges, budgets, goals, preferences and pins.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from expert.facts import GIVEN, Amount, Fact, Value, point
from expert.language.compiler import compile_packs
from expert.language.program import Program

Plan = dict[str, Value]
"""Fact values in the units that the vocabulary declares (percentages as 5 for 5 %)."""
Content = dict[str, Any]
WORDS = ("red", "green", "blue")
EDGES = (1.0, 1.0, 1.0, 1 - 1e-12, 1 + 1e-12, 1 - 0.9e-9, 1 + 0.9e-9, 1 - 1.2e-9, 1 + 1.2e-9)
"""Factors beside a threshold: within one part in 10^9 a number is equal to it."""


def compiled(content: Content, folder: Path) -> Program:
    """The program that a pack of this content makes."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pack.yaml").write_text("pack: generated\nversion: '1.0'\nrequires: []\n", encoding="utf-8")
    (folder / "all.yaml").write_text(yaml_text(content), encoding="utf-8")
    return compile_packs([folder])


def yaml_text(content: Content) -> str:
    """The content of a pack file as text."""
    return yaml.dump(content, Dumper=yaml.SafeDumper, sort_keys=False, allow_unicode=True, width=1000)


def facts_of(program: Program, plan: Mapping[str, Value]) -> dict[str, Fact]:
    """A plan's values as facts in base units."""
    return {name: Fact(name, based(program, name, value), GIVEN) for name, value in plan.items()}


def based(program: Program, name: str, value: Value) -> Value:
    """A value in the fact's own unit as a value in base units."""
    unit = program.facts[name].unit
    if not isinstance(value, Amount) or unit is None:
        return value
    typical = None if value.typical is None else unit.to_base(value.typical)
    return Amount(unit.to_base(value.low), typical, unit.to_base(value.high))


def both(text: str) -> dict[str, str]:
    """A text in both languages."""
    return {"en": text, "zh": text}


def number_fact(unit: str = "", /, **more: Any) -> Content:
    """A number of the vocabulary."""
    return {"type": "number", **({"unit": unit} if unit else {}), **more}


def choice_fact(words: Sequence[str], **more: Any) -> Content:
    """A choice of the vocabulary."""
    return {"type": "choice", "choices": {word: both(word) for word in words}, **more}


def rule(name: str, when: Sequence[str] = (), **effect: Any) -> Content:
    """A rule with its effect and anything else that stands beside it."""
    head = {"id": name, "topic": "t", "title": both(name), "because": both("because")}
    return {**head, **({"when": list(when)} if when else {}), **effect}


def pack(facts: Content, rules: Sequence[Content], tables: Content, decisions: Sequence[Content] = ()) -> Content:
    """A whole pack file around its parts."""
    currencies = {"columns": {"rate": "number"}, "rows": {"CNY": {"rate": 1}, "USD": {"rate": 7}}}
    return {
        "topics": {"t": both("T")},
        "units": {"gpu": {"en": "GPU", "zh": "卡", "counts": True}},
        "facts": facts,
        "tables": {"currencies": currencies, **tables},
        "constants": {"limit": {"value": 4, "basis": "judgement"}, "share": {"value": "50 %", "basis": "judgement"}},
        "rules": list(rules),
        **({"decisions": list(decisions)} if decisions else {}),
    }


def cell(rng: random.Random, numbers: Sequence[float], empty: float = 0.15, wide: float = 0.2) -> Any:
    """A number, a range, a range with its typical value, or nothing known."""
    if rng.random() < empty:
        return {"unknown": "not published"}
    low = rng.choice(numbers)
    if rng.random() >= wide:
        return low
    high = low + rng.choice([1, 2, 4])
    return f"{low}..{high}" if rng.random() < 0.5 else f"{low}..{low + 1}..{high}"


@dataclass
class Expressions:
    """Random well-typed expressions over some names. Numbers are plain."""

    rng: random.Random
    numbers: list[str] = field(default_factory=list)
    percents: list[str] = field(default_factory=list)
    words: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    truths: list[str] = field(default_factory=list)

    def number(self, depth: int = 2) -> str:
        """A plain number."""
        rng = self.rng
        if depth == 0 or rng.random() < 0.4:
            return rng.choice([*self.numbers, *self.numbers, "limit", str(rng.randint(0, 9)), f"{rng.randint(1, 4)}..{rng.randint(5, 7)}"])
        a, b = self.number(depth - 1), self.number(depth - 1)
        shapes = [
            f"({a} + {b})", f"({a} * {b})", f"({a} - {b})", f"({a} / {rng.choice([2, 3, 4, 8])})", f"max({a}, {b})", f"min({a}, {b})",
            f"coalesce({a}, {b})", f"({a} if {self.condition(depth - 1)} else {b})", f"low({a})", f"high({a})",
        ]  # fmt: skip
        return rng.choice(shapes)

    def condition(self, depth: int = 2) -> str:
        """A condition."""
        rng = self.rng
        if depth > 0 and rng.random() < 0.35:
            a, b = self.condition(depth - 1), self.condition(depth - 1)
            return rng.choice([f"({a} and {b})", f"({a} or {b})", f"not ({a})"])
        made = [self._compared(depth)] * 3
        made += [self._chained()] if self.numbers else []
        made += [self._word()] if self.words else []
        made += [rng.choice(self.truths)] if self.truths else []
        made += [f"{self._percent()} {rng.choice(['<', '>=', '=='])} {rng.choice(['5 %', '10 %', 'share'])}"] if self.percents else []
        made += [f"known({rng.choice(self.numbers)})"] if self.numbers else []
        asked = [name for name in self.numbers if name.count(".") == 1]
        made += [f"missing({rng.choice(asked)})"] if asked else []
        return rng.choice(made)

    def _compared(self, depth: int) -> str:
        operator = self.rng.choice(["<", "<=", ">", ">=", "==", "!="])
        return f"{self.number(min(depth, 1))} {operator} {self.number(min(depth, 1))}"

    def _percent(self) -> str:
        name = self.rng.choice(self.percents)
        return self.rng.choice([name, name, f"{name} * {self.rng.choice(self.numbers)}"])

    def _chained(self) -> str:
        return f"{self.rng.randint(0, 3)} < {self.rng.choice(self.numbers)} <= {self.rng.randint(3, 9)}"

    def _word(self) -> str:
        name, words = self.rng.choice(self.words)
        some = ", ".join(self.rng.sample(words, min(2, len(words))))
        return self.rng.choice([f"{name} == {self.rng.choice(words)}", f"{name} != {self.rng.choice(words)}", f"{name} in [{some}]"])


# Conclusions without decisions


def conclusions(rng: random.Random) -> Content:
    """A pack of strata of conclusions."""
    links = {f"l{i}": {"rate": cell(rng, [1, 2, 4]), "family": rng.choice(WORDS)} for i in range(2)}
    cards = {
        f"c{i}": {"memory": cell(rng, [1, 2, 4, 8]), "link": rng.choice([*links, {"unknown": "?"}]), "fast": rng.choice([True, False])}
        for i in range(3)
    }
    tables = {
        "links": {"columns": {"rate": "number", "family": "word"}, "rows": links},
        "cards": {"columns": {"memory": "number", "link": "tables.links", "fast": "yes-no"}, "rows": cards},
    }
    facts: Content = {
        "workload.a": number_fact(),
        "workload.b": number_fact(default=[{"when": "workload.a > 2", "value": 3}, {"value": "1..2"}] if rng.random() < 0.5 else 5),
        "workload.loss": number_fact("percent"),
        "workload.card": {"type": "choice", "from": "tables.cards"},
        "workload.task": choice_fact(WORDS),
        "site.strict": {"type": "yes-no"},
        "site.tags": {"type": "list", "choices": {word: both(word) for word in WORDS}},
    }
    seen = Expressions(rng, ["workload.a", "workload.b", "plan.workload.b", "workload.card.memory", "workload.card.link.rate"],
                       ["workload.loss"], [("workload.task", WORDS), ("workload.card.link.family", WORDS)],
                       ["site.strict", "workload.card.fast", "red in site.tags"])  # fmt: skip
    rules: list[Content] = []
    for stratum in range(rng.randint(1, 3)):
        for kind in rng.sample(["number", "word", "truth", "list", "percent"], rng.randint(1, 4)):
            _fact_of(rng, kind, f"need.{kind}{stratum}", facts, rules, seen)
        for kind in ("number", "word", "truth", "percent"):
            name = f"need.{kind}{stratum}"
            if name in facts:
                _seen(seen, kind, name)
    for i in range(rng.randint(1, 2)):
        rules.append(rule(f"w{i}", [seen.condition() for _ in range(rng.randint(1, 2))], warn={"severity": "info", "message": both("m")}))
    rules.append(rule("q0", [seen.condition(1)] if rng.random() < 0.7 else (), require={"need.x": seen.condition()}))
    facts["need.x"] = number_fact()
    return pack(facts, rules, tables)


def _seen(seen: Expressions, kind: str, name: str) -> None:
    match kind:
        case "number":
            seen.numbers.append(name)
        case "percent":
            seen.percents.append(name)
        case "word":
            seen.words.append((name, WORDS))
        case _:
            seen.truths.append(name)


def _fact_of(rng: random.Random, kind: str, name: str, facts: Content, rules: list[Content], seen: Expressions) -> None:
    """Declare a fact, with rules that conclude it."""
    combine = rng.choice(["one", "max", "min", "sum"]) if kind in ("number", "percent") else "all" if kind == "list" else "one"
    more: Content = {"combine": combine}
    if rng.random() < 0.4:
        more["else"] = {"number": 4, "percent": 5, "word": "red", "truth": False, "list": ["red"]}[kind]
    match kind:
        case "number":
            facts[name] = number_fact(**more)
        case "percent":
            facts[name] = number_fact("percent", **more)
        case "word":
            facts[name] = choice_fact(WORDS, **more)
        case "truth":
            facts[name] = {"type": "yes-no", **more}
        case _:
            facts[name] = {"type": "list", "choices": {word: both(word) for word in WORDS}, **more}
    for i in range(rng.randint(1, 3)):
        when = [seen.condition() for _ in range(rng.randint(0, 2))]
        rows: Content = {}
        if rng.random() < 0.25:
            rows, when = {"for": {"row": "tables.cards"}}, [*when, rng.choice(["row.memory > 1", "row.fast", "row == workload.card"])]
        value = {
            "number": "row.memory" if rows and rng.random() < 0.5 else rng.choice([seen.number(), seen.number(), "4 * workload.loss"]),
            "percent": rng.choice(["5", "10 %", "5..15 %", "workload.loss", "workload.loss / 2"]),
            "word": rng.choice([*WORDS, "workload.task"]),
            "truth": rng.choice(["true", "false", seen.condition(1)]),
            "list": rng.choice(WORDS),
        }[kind]
        rules.append(rule(f"{name.split('.')[1]}-{i}", when, **rows, conclude={name: value}))


def conclusion_plan(rng: random.Random) -> Plan:
    """A plan for a pack of `conclusions`."""
    full: Plan = {
        "workload.a": _edge(rng, [0, 1, 2, 3, 4, 5, 8]),
        "workload.b": _edge(rng, [0, 1, 2, 3, 4, 6]),
        "workload.loss": _edge(rng, [5, 10, 50, 0]),
        "workload.card": rng.choice(["c0", "c1", "c2"]),
        "workload.task": rng.choice(WORDS),
        "site.strict": rng.choice([True, False]),
        "site.tags": tuple(rng.sample(WORDS, rng.randint(0, 2))),
    }
    return {name: value for name, value in full.items() if rng.random() < 0.75}


def _edge(rng: random.Random, numbers: Sequence[float]) -> Value:
    at = rng.choice(numbers) * rng.choice(EDGES)
    return point(at) if rng.random() < 0.8 else Amount(at, None, at + rng.choice([1, 2]))
