"""How far a requirement is met: what it needs and what there is."""

from __future__ import annotations

from expert.errors import Text
from expert.explain.evidence import Rows
from expert.explain.words import Words
from expert.facts import Amount
from expert.language.terms import CompareTerm, FactTerm, Term, walk

_WORDED = {
    ">=": ("at least ", "至少需"),
    "<=": ("at most ", "不得超过"),
    ">": ("more than ", "须大于"),
    "<": ("less than ", "须小于"),
    "==": ("", "须为"),
}
_TURNED = {">=": "<=", "<=": ">=", ">": "<", "<": ">", "==": "=="}


def margin(term: Term, rows: Rows, words: Words) -> Text | None:
    """What a comparison of numbers needs and what there is ("needs at least 3 km, has 4 km"); None for other tests."""
    if not isinstance(term, CompareTerm) or term.operator not in _WORDED or term.left.kind != "number":
        return None
    has, needs, operator = term.left, term.right, term.operator
    if not any(isinstance(part, FactTerm) for part in walk(has)):
        has, needs, operator = needs, has, _TURNED[operator]
    if not isinstance(words.evaluated(has, rows), Amount) or not isinstance(words.evaluated(needs, rows), Amount):
        return None
    english, chinese = _WORDED[operator]
    unit = getattr(has, "unit", None) or getattr(needs, "unit", None)
    wanted, there = (words.evaluated(term, rows) for term in (needs, has))
    assert isinstance(wanted, Amount)
    assert isinstance(there, Amount)
    en = f"needs {english}{words.quantity(wanted, unit, 'en')}, has {words.quantity(there, unit, 'en')}"
    zh = f"{chinese} {words.quantity(wanted, unit, 'zh')}，现为 {words.quantity(there, unit, 'zh')}"
    return Text(en, zh)
