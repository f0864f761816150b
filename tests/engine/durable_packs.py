"""A small pack for tests of the durable engine, and the two engines side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from expert.engine.durable import DurableEngine
from expert.engine.firing import Fired, ReferenceEngine
from expert.facts import Value, point
from expert.language.program import Program
from tests.engine.generated import both, choice_fact, compiled, number_fact, pack, rule

Content = dict[str, Any]
TABLES: Content = {
    "links": {
        "columns": {"rate": "number", "family": "word"},
        "rows": {"pcie": {"rate": 1, "family": "bus"}, "nv": {"rate": 4, "family": "mesh"}, "odd": {"family": {"unknown": "?"}}},
    },
    "single": {"columns": {"rate": "number"}, "rows": {"only": {"rate": 1}}},
    "cards": {
        "columns": {"memory": "number", "link": "tables.links", "fast": "yes-no", "tags": "list"},
        "rows": {
            "small": {"memory": 2, "link": "pcie", "fast": False, "tags": ["red", "blue"]},
            "large": {"memory": "8..9", "link": "nv", "fast": True, "tags": ["green"]},
            "blank": {"memory": {"unknown": "?"}, "link": "odd"},
        },
    },
}
FACTS: Content = {
    "workload.a": number_fact(),
    "workload.b": number_fact(),
    "workload.c": number_fact(default=[{"when": "workload.a > 2", "value": "workload.a + 1"}]),
    "workload.card": {"type": "choice", "from": "tables.cards"},
    "workload.other": {"type": "choice", "from": "tables.cards"},
    "workload.task": choice_fact(["red", "green", "blue"]),
    "workload.next": choice_fact(["red", "green", "blue"]),
    "workload.tags": {"type": "list", "choices": {word: both(word) for word in ("red", "green", "blue")}},
    "workload.note": {"type": "text"},
    "site.strict": {"type": "yes-no"},
    "site.open": {"type": "yes-no"},
    "need.x": number_fact(combine="sum"),
    "need.y": number_fact(combine="max", **{"else": 7}),
    "need.z": number_fact(),
    "need.tags": {"type": "list", "choices": {word: both(word) for word in ("red", "green", "blue")}, "combine": "all"},
}
POINTS: dict[str, Value] = {"workload.a": point(3.0), "workload.b": point(3.0)}


def program_of(folder: Path, *rules: Content, facts: Content | None = None, decisions: Sequence[Content] = ()) -> Program:
    """The pack with these rules."""
    return compiled(pack({**FACTS, **(facts or {})}, rules, TABLES, decisions), folder)


def warning(*when: str, name: str = "w", **more: Any) -> Content:
    """A rule that fires a warning when all conditions hold."""
    return rule(name, when, warn={"severity": "info", "message": both("m")}, **more)


def fire(program: Program, stated: Mapping[str, Value], decided: Mapping[str, Value] | None = None) -> Fired:
    """What the durable engine finds, after a look at whether the reference engine finds the same."""
    found = DurableEngine().fire(program, stated, decided or {})
    expected = ReferenceEngine().fire(program, stated, decided or {})
    assert found.matches == expected.matches
    assert dict(found.values) == dict(expected.values)
    return found


def rows_of(found: Fired, name: str = "w") -> list[tuple[str, ...]]:
    """The rows with which a rule matched."""
    return [match.rows for match in found.matches if match.rule == name]
