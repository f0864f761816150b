"""One small program many times over: a large one without the minutes of compiling it. The copies share the given facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from expert.language.program import Program

_PARTS = ("rules", "facts", "contributors", "dependencies")


def many(program: Program, copies: int) -> Program:
    """A program without decisions, `copies` times, each with rules and concluded facts of its own."""
    own = {*program.rules, *(name for name, rules in program.contributors.items() if rules)}
    parts: dict[str, Any] = {name: {} for name in _PARTS}
    schedule: list[Any] = []
    for copy in range(copies):
        renamed = _renaming(own, copy)
        for name in _PARTS:
            parts[name].update(renamed(dict(getattr(program, name))))
        schedule += renamed(program.schedule)
    tests = {"": tuple(name for name in parts["rules"] if name in program.tests_of.get("", ()))}
    return replace(program, **parts, schedule=tuple(schedule), tests_of=tests)


def _renaming(own: set[str], copy: int) -> Callable[[Any], Any]:
    names = {name: f"{name}_{copy}" for name in own} | {f"rule:{name}": f"rule:{name}_{copy}" for name in own}

    def renamed(value: Any) -> Any:
        if isinstance(value, str):
            return names.get(value, value)
        if isinstance(value, tuple):
            return tuple(map(renamed, value))
        if isinstance(value, frozenset):
            return frozenset(map(renamed, value))
        if isinstance(value, Mapping):
            return {renamed(key): renamed(part) for key, part in value.items()}
        if is_dataclass(value) and not isinstance(value, type) and type(value).__name__ not in ("Span", "Text", "Unit"):
            return replace(value, **{one.name: renamed(getattr(value, one.name)) for one in fields(value)})
        return value

    return renamed
