"""Scenarios of a pack: whole plans with what must come out, as data for the test runner."""

from __future__ import annotations

from expert.errors import Span
from expert.records import dataclass

EXPECT_KEYS = ("findings", "no_findings", "fired", "silent", "not_checked", "exit")


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scenario: `given` and `expect` pair names with YAML values; `expect` may hold the keys of EXPECT_KEYS."""

    name: str
    given: tuple[tuple[str, object], ...]
    expect: tuple[tuple[str, object], ...]
    without: tuple[str, ...]
    why: str
    span: Span
    layer: str
