"""Whether a value is what a test expects: a value, a range, or a comparison as text (">= 1 TB")."""

from __future__ import annotations

import re

from expert.facts import Amount, Value
from expert.language.program import FactDecl, Program
from expert.plan import value_of

_COMPARED = re.compile(r"(<=|>=|==|!=|<|>)\s*(.+)", re.DOTALL)
_DECIMAL = re.compile(r"[0-9]+\.([0-9]+)")
_TOLERANCE = 1e-6


def matches(wanted: object, found: Value | None, decl: FactDecl, program: Program) -> bool:
    """Compare an expectation as YAML gave it with a value in base units. "unknown" expects no value.

    Errors: ExpertError where the expectation is no value of the fact.
    """
    if wanted in ("unknown", None):
        return found is None
    compared = _COMPARED.fullmatch(wanted) if isinstance(wanted, str) and decl.type == "number" else None
    if found is None:
        return compared is not None and compared[1] == "!="
    if compared is not None:
        return _compared(compared[1], value_of(compared[2], decl, program), found)
    return _same(value_of(wanted, decl, program), found, _written_precision(str(wanted)))


def _written_precision(text: str) -> float:
    """Half of the last digit that an expectation shows, relative: 38.7 stands for 38.65 to 38.75; whole numbers are meant exactly."""
    halves = [0.5 * 10.0 ** -len(found[1]) / float(found[0]) for found in _DECIMAL.finditer(text) if float(found[0])]
    return max([_TOLERANCE, *halves])


def _same(wanted: Value, found: Value, slack: float = _TOLERANCE) -> bool:
    if isinstance(wanted, Amount) and isinstance(found, Amount):
        typical = wanted.is_point or wanted.typical is None or found.typical is None or _near(wanted.typical, found.typical, slack)
        return _near(wanted.low, found.low, slack) and _near(wanted.high, found.high, slack) and typical
    if isinstance(wanted, tuple) and isinstance(found, tuple):
        return set(wanted) == set(found)
    return wanted == found


def _near(a: float, b: float, slack: float) -> bool:
    """Equal but for the digits that were not written."""
    return abs(a - b) <= slack * max(abs(a), abs(b)) * (1 + 1e-9)


def _compared(operator: str, wanted: Value, found: Value) -> bool:
    """A comparison with the whole range of what was found."""
    if not isinstance(wanted, Amount) or not isinstance(found, Amount):
        return (wanted == found) == (operator == "==")
    slack = _TOLERANCE * abs(wanted.high)
    return {
        ">=": found.low >= wanted.high - slack,
        ">": found.low > wanted.high + slack,
        "<=": found.high <= wanted.low + slack,
        "<": found.high < wanted.low - slack,
        "==": _same(wanted, found),
        "!=": not _same(wanted, found),
    }[operator]
