"""Conditions, formulas, thresholds and defaults as lines: as written, then with the numbers of the run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from expert.errors import Text
from expert.explain.evidence import Rows, evidence_of
from expert.explain.nodes import Line
from expert.explain.wording import in_both
from expert.explain.words import Words
from expert.facts import Value
from expert.language.printing import describe
from expert.language.program import Condition, FactDecl, Threshold
from expert.language.terms import NUMBER, CellTerm, ConstantTerm, FactTerm, FunctionTerm, Literal, StatedTerm, walk

_NAMED = FactTerm | StatedTerm | ConstantTerm | CellTerm


def condition_line(condition: Condition, rows: Rows, words: Words) -> Line:
    """A condition as written; where it reads numbers, then with the numbers."""
    written = Text(condition.text, condition.text)
    if not any(part.kind == NUMBER and isinstance(part, _NAMED) for part in walk(condition.term)):
        return Line("when", written)
    shown = in_both(lambda lang: words.in_numbers(condition.term, rows, lang))
    if shown.en == condition.text:
        return Line("when", written)
    return Line("when", Text(f"{condition.text}   ({shown.en})", f"{condition.text}   （{shown.zh}）"))


def formula_lines(value: Condition, fact: str, result: Value | None, rows: Rows, words: Words) -> Iterator[Line]:
    """The formula with names, then with numbers and units, then the result; a single value or fact needs none."""
    if isinstance(value.term, Literal | FactTerm):
        return
    written = " ".join(value.text.split()) or describe(value.term)
    yield Line("formula", Text(written, written))

    def numbers(lang: str) -> str:
        inside, outside = words.in_numbers(value.term, rows, lang), words.value(fact, result, lang)
        return f"= {outside}" if inside in (outside, f"({outside})") or isinstance(result, str) else f"= {inside} = {outside}"

    yield Line("numbers", in_both(numbers))


def result_line(fact: str, result: Value | None, words: Words) -> Line:
    """What one of several contributions came to."""
    return Line("numbers", in_both(lambda lang: f"= {words.value(fact, result, lang)}"))


_BOUNDS = {"at_least": ">=", "at_most": "<="}


def threshold_lines(effect: Threshold, rows: Rows, words: Words) -> Iterator[Line]:
    """The threshold of an acceptance test: as written, then with numbers."""
    if effect.limit is None or effect.bound not in _BOUNDS:
        return
    head = f"{effect.metric} {_BOUNDS[effect.bound]} "
    yield Line("formula", Text(head + effect.limit.text, head + effect.limit.text))
    if isinstance(effect.limit.term, Literal):
        return
    limit = effect.limit.term

    def numbers(lang: str) -> str:
        inside, outside = words.in_numbers(limit, rows, lang), words.term(limit, rows, lang)
        return (
            f"{_BOUNDS[effect.bound]} {outside}" if inside in (outside, f"({outside})") else f"{_BOUNDS[effect.bound]} {inside} = {outside}"
        )

    yield Line("numbers", in_both(numbers))


ASSUMED_TEXT = Text("nobody stated it, so this default is used", "未提供，采用此默认值")
_AIM = Text("nobody stated it, so this default is aimed at; it excludes nothing", "未提供，以此默认值为目标，但不据此排除选项")


def default_lines(decl: FactDecl, number: int, value: Value | None, words: Words) -> tuple[list[Line], list[Line]]:
    """Why a default holds, the conditions and formula of its case; and what these rest on."""
    case = decl.default[number]
    lines = [Line("assumed", _AIM if case.aim else ASSUMED_TEXT)]
    lines += [condition_line(condition, (), words) for condition in case.when]
    lines += formula_lines(case.value, decl.name, value, (), words)
    terms = [condition.term for condition in (*case.when, case.value)]
    return lines, list(evidence_of(terms, (), words, case.cite or decl.cite))


def absent(conditions: Iterable[Condition], words: Words) -> Iterator[str]:
    """Facts that conditions ask `missing(…)` of and that have no value: an absence is a ground like any other."""
    for condition in conditions:
        for part in walk(condition.term):
            if isinstance(part, FunctionTerm) and part.function == "missing":
                for leaf in walk(part.arguments[0]):
                    if isinstance(leaf, FactTerm) and (leaf.fact not in words.states or words.states[leaf.fact].value is None):
                        yield leaf.fact
