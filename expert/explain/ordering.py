"""What was equal between the chosen option and the next best one, where the order of the decision had to decide."""

from __future__ import annotations

from expert.engine.trace import OptionState, Outcome
from expert.errors import Text
from expert.explain.options import runners_up
from expert.explain.prover import Prover
from expert.facts import Amount
from expert.language.program import Decision
from expert.quantities import format_number


def order_text(prover: Prover, outcome: Outcome, lang: str) -> str:
    """What the chosen option and the next best one share, and the fact of the order that tells them apart."""
    decision, chosen = prover.program.decisions[outcome.decision], outcome.chosen
    assert chosen is not None
    equal = [other for other in runners_up(outcome) if (other.certainty, other.score) == (chosen.certainty, chosen.score)]
    found = [(other, fact) for other in equal if (fact := _differing(decision, chosen, other)) is not None]
    if not found:
        return Text("the order of the decision", "由决策声明的次序决定").of(lang)
    other, fact = found[0]
    comma, colon, end = ("，", "：", "；") if lang == "zh" else (", ", ": ", "; ")
    head = Text("the order of the decision", "由决策声明的次序决定").of(lang)
    shared = comma.join(text.of(lang) for text in _shared(decision, chosen, other))
    first = f"{head}{colon}{prover.words.title(fact, lang)}{comma}{_first(decision, fact, chosen).of(lang)}"
    return f"{shared}{end}{first}"


def _differing(decision: Decision, chosen: OptionState, other: OptionState) -> str | None:
    """The first fact of the order in which two options differ."""
    return next((fact for fact in decision.order if chosen.values.get(fact) != other.values.get(fact)), None)


def _shared(decision: Decision, chosen: OptionState, other: OptionState) -> list[Text]:
    """In what two options are equal, as far as the decision looks at it: preferences, and the cost if it has one."""
    found = [Text("no preference tells it from the next best", "偏好无法区分它与次优选项")]
    if chosen.score:
        found = [Text(f"the next best has the same sum of preferences ({chosen.score})", f"次优选项的偏好总分相同（{chosen.score}）")]
    if decision.cost is None or chosen.cost is None or other.cost is None:
        return found
    if chosen.cost == other.cost:
        return [*found, Text("its cost is equal", "成本相同")]
    band = format_number(decision.within * 100)
    return [*found, Text(f"its cost is within the band of {band} %", f"成本相差在 {band} % 的容许范围内")]


def _first(decision: Decision, fact: str, chosen: OptionState) -> Text:
    if isinstance(chosen.values.get(fact), Amount):
        return Text("smaller first", "较小者优先")
    if decision.assigns[fact].table is not None:
        return Text("earlier in its table first", "表中靠前者优先")
    return Text("earlier in its list first", "列表中靠前者优先")
