"""Options of a decision in words: the chosen one, the runners-up, those that cannot be compared."""

from __future__ import annotations

from collections.abc import Mapping

from expert.engine.trace import OptionState, Outcome
from expert.errors import Text
from expert.explain.prover import NO_VALUE, Prover
from expert.facts import Value

NO_OTHER = Text("no other option meets the requirements", "没有其他选项满足要求")


def pair(prover: Prover, fact: str, value: Value | None, lang: str) -> str:
    """A fact with its value: "gears: 7"."""
    return f"{prover.words.title(fact, lang)}{'：' if lang == 'zh' else ': '}{prover.words.value(fact, value, lang)}"


def unproven_text(prover: Prover, option: OptionState, beside: Mapping[str, Value], lang: str) -> str:
    """An option that cannot be compared, with the cells that are missing."""
    missing = dict.fromkeys(prover.missing(name, lang) for _, names in option.unproven for name in names)
    listed = ("、" if lang == "zh" else ", ").join(missing) or NO_VALUE.of(lang)
    return f"{option_text(prover, option, beside, lang)}{'：' if lang == 'zh' else ': '}{listed}"


def runners_up(outcome: Outcome) -> list[OptionState]:
    """The shortlist without the chosen option, best first."""
    return [option for option in outcome.alternatives if outcome.chosen is None or option.values != outcome.chosen.values]


def option_text(prover: Prover, option: OptionState, beside: Mapping[str, Value], lang: str) -> str:
    """What differs from the chosen option, with score and cost."""
    parts = [pair(prover, fact, value, lang) for fact, value in option.values.items() if value != beside.get(fact)]
    cost = prover.words.program.facts.get(prover.program.decisions[prover.program.deciders[next(iter(option.values))]].cost or "")
    if option.cost is not None and cost is not None:
        parts.append(pair(prover, cost.name, option.cost, lang))
    if option.score:
        parts.append(f"偏好 {option.score}" if lang == "zh" else f"preferences {option.score}")
    return ("，" if lang == "zh" else ", ").join(parts)
