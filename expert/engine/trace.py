"""The trace: what was known, what fired and why, what was decided and how. Data only; explanations read it.

Ids: "fact:NAME", "rule:ID" or "rule:ID[row,row]" for a rule with `for`, "decision:ID". Premises come before what uses them.
"""

from __future__ import annotations

from collections.abc import Mapping

from expert.errors import Span
from expert.facts import Amount, Value
from expert.records import dataclass

FIRED, SILENT, NOT_CHECKED, SATISFIED, VIOLATED = "fired", "silent", "not-checked", "satisfied", "violated"
OVERLAP = "(ranges overlap)"
"""In the place of what is missing: nothing is, but ranges overlap, so that a comparison is neither true nor false."""

DECIDED, UNDETERMINED, INFEASIBLE = "decided", "undetermined", "infeasible"


@dataclass(frozen=True, slots=True)
class ConditionState:
    """One condition of a rule (or its test): "true", "false" or "unknown"; `unknown` names what is missing.

    `missing` entries are fact names, or "table.row.column" for an empty cell.
    """

    text: str
    truth: str
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Firing:
    """One rule instance after the run, fired or not. `state` is fired or silent or not-checked, for require and prefer
    satisfied, violated, silent or not-checked.

    premises: ids of the nodes its conditions and values read. effects: concluded values by fact.
    """

    id: str
    rule: str
    rows: tuple[tuple[str, str], ...]
    stratum: int
    state: str
    conditions: tuple[ConditionState, ...]
    test: ConditionState | None
    premises: tuple[str, ...]
    effects: tuple[tuple[str, Value], ...] = ()


@dataclass(frozen=True, slots=True)
class FactState:
    """A fact after the run. `origin` as in `facts`; `contributions` are ids of the firings that concluded it.

    concluded: what the rules say where the plan states something else. tainted: something it needed was unknown.
    conflict: rules concluded different values (the fact is unknown). default: index of the default case used.
    """

    name: str
    value: Value | None
    origin: str
    stratum: int
    contributions: tuple[str, ...] = ()
    span: Span | None = None
    at: str = ""
    concluded: Value | None = None
    conflict: tuple[str, ...] = ()
    tainted: tuple[str, ...] = ()
    default: int | None = None
    aim: bool = False

    @property
    def id(self) -> str:
        """The node id."""
        return "fact:" + self.name


@dataclass(frozen=True, slots=True)
class OptionState:
    """An option of a decision: values by fact, certainty, summed preference, cost, and the preferences it meets."""

    values: Mapping[str, Value]
    certainty: str
    score: int
    cost: Amount | None
    preferences: tuple[str, ...]
    unproven: tuple[tuple[str, tuple[str, ...]], ...] = ()
    possible: tuple[str, ...] = ()
    rejected_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rejection:
    """A value that no admissible option has: one rule rejects them all, or a small cover does together."""

    fact: str
    value: Value
    rules: tuple[str, ...]
    together: bool


@dataclass(frozen=True, slots=True)
class Freed:
    """What is to be had when pins are freed: the pins, and the nearest option with them freed."""

    pins: tuple[str, ...]
    option: OptionState


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a decision ended.

    status: decided, undetermined or infeasible. decided_by: requirement, preference, aim, cost, order or pin.
    missing: facts or decisions that leave it undetermined. in_force: ids of its tests that were in force;
    not_in_force: test id -> what is unknown. excluding: rules that together leave no option; relaxations: minimal sets of
    rules (never laws) whose loss admits an option. missed: aims that the chosen option misses, with the relative distance.
    """

    decision: str
    status: str
    chosen: OptionState | None
    decided_by: str
    pins: tuple[str, ...]
    missing: tuple[str, ...] = ()
    in_force: tuple[str, ...] = ()
    not_in_force: tuple[tuple[str, tuple[str, ...]], ...] = ()
    alternatives: tuple[OptionState, ...] = ()
    cheapest_possible: OptionState | None = None
    unproven: tuple[OptionState, ...] = ()
    rejected: tuple[Rejection, ...] = ()
    recommended: Mapping[str, Value | None] | None = None
    excluding: tuple[str, ...] = ()
    freed: tuple[Freed, ...] = ()
    relaxations: tuple[tuple[str, ...], ...] = ()
    missed: tuple[tuple[str, float], ...] = ()
    options: int = 0
    tie: bool = False
    passed_over: bool = False
    admissible: int = 0

    @property
    def id(self) -> str:
        """The node id."""
        return "decision:" + self.decision


@dataclass(frozen=True, slots=True)
class Trace:
    """Everything one consultation derived, in running order. Mappings keep that order."""

    engine: str
    facts: Mapping[str, FactState]
    firings: tuple[Firing, ...]
    outcomes: Mapping[str, Outcome]
    outside: tuple[str, ...] = ()

    def firings_of(self, rule: str) -> tuple[Firing, ...]:
        """All instances of a rule."""
        return tuple(f for f in self.firings if f.rule == rule)
