"""What a test expects: values, ranges, comparisons, and digits that were not written."""

from __future__ import annotations

import pytest

from expert.facts import Amount, Value, point
from expert.workbench.matching import matches
from tests.tiny import tiny_program

PROGRAM = tiny_program()


@pytest.mark.parametrize(
    ("wanted", "fact", "found", "same"),
    [
        (12, "rider.distance", point(12_000.0), True),
        ("12 km", "rider.distance", point(12_000.1), False),
        ("12 km", "rider.distance", point(12_000.001), True),
        # One decimal was written: anything that rounds to it is meant.
        ("12.3 km", "rider.distance", point(12_340.0), True),
        ("12.3 km", "rider.distance", point(12_360.0), False),
        ("10..15 km", "rider.distance", Amount(10_000.0, None, 15_000.0), True),
        ("10..15 km", "rider.distance", point(12_000.0), False),
        (">= 12 km", "rider.distance", point(12_000.0), True),
        ("> 12 km", "rider.distance", point(12_000.0), False),
        # A comparison is about the whole range.
        ("<= 15 km", "rider.distance", Amount(10_000.0, None, 15_000.0), True),
        ("<= 14 km", "rider.distance", Amount(10_000.0, None, 15_000.0), False),
        ("!= 12 km", "rider.distance", point(13_000.0), True),
        ("hilly", "rider.terrain", "hilly", True),
        ("flat", "rider.terrain", "hilly", False),
        (True, "rider.rain", True, True),
        (["bell", "rack"], "rider.wants", ("rack", "bell"), True),
        ("unknown", "rider.rain", None, True),
        ("unknown", "rider.rain", True, False),
        (12, "rider.distance", None, False),
    ],
)
def test_an_expectation_is_met_or_not(wanted: object, fact: str, found: Value | None, same: bool) -> None:
    assert matches(wanted, found, PROGRAM.facts[fact], PROGRAM) is same
