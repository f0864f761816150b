"""`Advice`: the immutable result of a consultation, in the words of the JSON contract.

`advise` (in `expert.consult`) makes it from a program and a trace; reports print it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from expert.engine.trace import Trace
from expert.errors import NO_TEXT, Span, Text
from expert.facts import Value
from expert.language.program import Pack, Program
from expert.records import dataclass

ERROR, WARNING, INFO = "error", "warning", "info"
GIVEN, RECOMMENDED, DERIVED, UNDETERMINED, INFEASIBLE = "given", "recommended", "derived", "undetermined", "infeasible"


@dataclass(frozen=True, slots=True)
class Choice:
    """One design fact: its value, how it came about, what was rejected and what else there is.

    `decision` is the id of the decision that assigns it, "" for a design fact that rules conclude.
    """

    fact: str
    value: Value | None
    status: str
    recommended: Value | None
    certainty: str
    decided_by: str
    reasons: tuple[str, ...]
    decision: str


@dataclass(frozen=True, slots=True)
class Finding:
    """Something the plan or the design gets wrong. `rule` is a rule id, or the id of a built-in check ("no-option" …)."""

    rule: str
    topic: str
    severity: str
    fact: str
    message: Text
    fix: Text
    span: Span | None
    fingerprint: str
    cite: tuple[str, ...]
    node: str = ""


@dataclass(frozen=True, slots=True)
class AcceptanceTest:
    """A test rule in force: `limit` in base units or None; verdict met, missed or untested."""

    rule: str
    stage: str
    metric: str
    bound: str
    limit: Value | None
    tool: str
    command: str
    rerun: Text
    confirm: tuple[Text, ...]
    observed: Value | None
    verdict: str


@dataclass(frozen=True, slots=True)
class RiskEntry:
    """A risk that is in force, with the rule that raised it."""

    rule: str
    likelihood: str
    impact: Text
    impact_fact: str
    trigger: Text
    mitigation: Text
    basis: str
    cite: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Assumption:
    """A default that was used because nobody answered, and the rules that used it."""

    fact: str
    value: Value
    aim: bool
    used_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unchecked:
    """A rule that could not be checked, and what is unknown."""

    rule: str
    unknown: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Dissent:
    """A claim that loses against what was used: where it is used, what the claim says, why it loses, and the layer."""

    fact: str
    used: Text
    claim: str
    says: Text
    because: Text
    cite: tuple[str, ...]
    rule: str


@dataclass(frozen=True, slots=True)
class Advice:
    """The result of one consultation. `verdict` is ok, findings, incomplete or infeasible; `exit_code` of `recommend` follows it.

    plan_digest: SHA-256 of the canonical given facts. The digest of the advice itself is `report.json.advice_digest`.
    """

    program: Program = field(repr=False)
    plan_name: str
    plan_digest: str
    packs: tuple[Pack, ...]
    engine: str
    trace: Trace = field(repr=False)
    choices: Mapping[str, Choice]
    findings: tuple[Finding, ...]
    tests: tuple[AcceptanceTest, ...]
    risks: tuple[RiskEntry, ...]
    assumptions: tuple[Assumption, ...]
    not_checked: tuple[Unchecked, ...]
    dissent: tuple[Dissent, ...]
    verdict: str
    outside: Text = NO_TEXT
