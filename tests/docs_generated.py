"""The parts of docs that are made from the packs: between `<!-- generated: NAME -->` and `<!-- end -->`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from expert.language.program import FactDecl, Program
from expert.language.store import load_program
from expert.physical import ALIASES, FACTORS
from expert.places import builtin_rules, cache_dir

_PART = re.compile(r"(<!-- generated: (.*?) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


@cache
def built_in() -> Program:
    """The built-in packs, compiled."""
    return load_program([builtin_rules() / "base", builtin_rules() / "errata"], cache_dir=cache_dir())


def stated_facts(program: Program, section: str) -> tuple[FactDecl, ...]:
    """The facts of one section that a plan may state."""
    money = {name for name, decl in program.facts.items() if decl.type == "money"}
    return tuple(
        decl
        for name, decl in program.facts.items()
        if name.startswith(section + ".") and name.removesuffix("_rate").removesuffix("_total") not in money - {name}
    )


def regenerated(text: str) -> str:
    """A page with its generated parts made anew."""
    return _PART.sub(lambda part: f"{part[1]}{_made(part[2])}{part[4]}", text)


def refresh(page: Path) -> bool:
    """Rewrite a page whose generated parts are stale; whether it was."""
    text = page.read_text("utf-8")
    fresh = regenerated(text)
    if fresh != text:
        page.write_text(fresh, encoding="utf-8")
    return fresh != text


def _made(name: str) -> str:
    if name.startswith("keys of "):
        return "\n".join(_keys(name.removeprefix("keys of "))) + "\n"
    if name == "units":
        return "\n".join(_units()) + "\n"
    raise ValueError(f"nothing generates '{name}'")


def _keys(section: str) -> Iterator[str]:
    program = built_in()
    yield "| key | what | value | when left out |"
    yield "| --- | --- | --- | --- |"
    for decl in stated_facts(program, section):
        key = decl.name.removeprefix(section + ".")
        yield f"| `{key}` | {decl.title.en} | {_value(decl)} | {_left_out(decl, program)} |"


def _value(decl: FactDecl) -> str:
    if decl.type == "number":
        unit = f"in `{decl.unit.text.replace('percent', '%')}`" if decl.unit is not None and decl.unit.text else "number"
        if decl.covers is None:
            return unit
        low, high = (decl.unit.from_base(end) if decl.unit is not None else end for end in decl.covers)
        return f"{unit}, {low:,g} to {high:,.12g}"
    if decl.type == "yes-no":
        return "`true` or `false`"
    if decl.domain is not None and decl.domain.table:
        return f"a row of `expert catalog {decl.domain.table}`"
    if decl.domain is not None:
        return ", ".join(f"`{word}`" for word in decl.domain.words)
    return {"money": "amount, currency, per", "list": "list"}.get(decl.type, decl.type)


def _left_out(decl: FactDecl, program: Program) -> str:
    if decl.default:
        cases = [_case(case.when, _shown(case.value.text, program)) + (" (an aim)" if case.aim else "") for case in decl.default]
        return "assumed: " + "; ".join(cases)
    if decl.name in program.deciders:
        return "decided"
    if program.contributors.get(decl.name):
        return "concluded by rules"
    return "unknown"


def _case(when: tuple[object, ...], value: str) -> str:
    conditions = " and ".join(str(getattr(condition, "text", condition)) for condition in when)
    return f"{value} if `{conditions}`" if conditions else value


def _shown(value: str, program: Program) -> str:
    """A default as it is written; the name of a constant with the constant's value."""
    constant = program.constants.get(value)
    return f"`{value}`" if constant is None else f"{constant.value.text} (`{value}`)"


def _units() -> Iterator[str]:
    groups: dict[object, list[str]] = {}
    for name, (dims, _, _) in FACTORS.items():
        groups.setdefault(dims, []).append(name)
    yield "| units | other spellings |"
    yield "| --- | --- |"
    for names in groups.values():
        others = [alias for alias, name in ALIASES.items() if name in names and not alias.endswith(("b", "Kbit", "Kbps", "KB"))]
        yield f"| {' '.join(f'`{name}`' for name in names)} | {' '.join(f'`{alias}`' for alias in others)} |"
