"""What findings are read from: the trace of a consultation with what the plan states, and names that do not move."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from expert.engine.evaluate import Env
from expert.engine.trace import FactState, Trace
from expert.explain.wording import value_words
from expert.facts import GIVEN, SET, Value
from expert.language.program import Program
from expert.records import dataclass


@dataclass(frozen=True, slots=True)
class Audit:
    """What the findings are read from."""

    program: Program
    trace: Trace
    stated: Mapping[str, Value]
    env: Env

    def stated_fact(self, names: Sequence[str]) -> FactState | None:
        """The first of the facts that the plan states."""
        for name in names:
            state = self.trace.facts.get(name)
            if state is not None and state.origin in (GIVEN, SET):
                return state
        return None


def plan_value(audit: Audit, fact: str, value: Value, lang: str) -> str:
    """A value as the plan file would hold it: ids as they are, numbers in words."""
    return value if isinstance(value, str) else value_words(value, audit.program.facts[fact], audit.program, lang)


def fingerprint(rule: str, fact: str, rows: str) -> str:
    """A stable name of a finding: it does not move with lines or values."""
    return hashlib.sha256("\x1f".join((rule, fact, rows)).encode()).hexdigest()[:16]
