"""Examples and scenarios run in the world of their layer, and say what differs."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from expert.errors import Span
from expert.language.program import Example, Program
from expert.language.scenarios import Scenario
from expert.workbench.testing import Result, run_example, run_scenario, run_tests
from tests.bicycle.consulting import ROOT, program

PLACE = Span("rules.yaml", 1, 1, 2)


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def example(rule: str, given: dict[str, object], expect: object, layers: tuple[str, ...] = ("base",)) -> Result:
    known = program(*layers)
    return run_example(known.rules[rule], Example(tuple(given.items()), expect, PLACE, layers[-1]), known)


def scenario(given: dict[str, object], expect: dict[str, object]) -> list[str]:
    found = Scenario("a ride", tuple(given.items()), tuple(expect.items()), (), "", PLACE, "bicycle")
    return [wrong.en for wrong in run_scenario(found, program()).wrong]


@cache
def world(layer: str, without: tuple[str, ...]) -> Program:
    return program("base") if layer == "bicycle" else program("base", "shop")


def test_the_packs_own_tests_pass() -> None:
    results = list(run_tests(program("base", "shop"), world, frozenset({"bicycle", "shop"})))
    assert [result.name for result in results if not result.passed] == []
    assert len(results) == 15


def test_an_example_runs_in_the_world_of_the_layer_that_states_it() -> None:
    given: dict[str, object] = {"site.distance": "20 km"}
    assert example("distance-sets-the-range", given, {"need.range": "30 km"}).passed
    assert example("distance-sets-the-range", given, {"need.range": "22 km"}, ("base", "shop")).passed


@pytest.mark.parametrize(
    ("given", "expect", "passes"),
    [
        ({"site.load": "15.1 kg"}, "fires", True),
        ({"site.load": "15 kg"}, "fires", False),
        ({"site.load": "15 kg"}, "silent", True),
        ({}, "silent", False),
        ({}, "not-checked", True),
    ],
)
def test_the_state_of_a_rule_is_compared(given: dict[str, object], expect: str, passes: bool) -> None:
    assert example("heavy-load-is-noted", given, expect).passed is passes


def test_a_requirement_is_violated_satisfied_or_in_force() -> None:
    given: dict[str, object] = {"need.range": 81, "design.bike": "volt-9"}
    assert example("range-lasts-the-day", given, "violated").passed
    assert example("range-lasts-the-day", given, "fires").passed
    assert not example("range-lasts-the-day", given, "satisfied").passed


def test_a_difference_shows_what_each_condition_came_to() -> None:
    result = example("hills-prefer-a-motor", {"site.terrain": "hilly", "site.distance": 30, "design.bike": "volt-9"}, "satisfied")
    assert [wrong.en for wrong in result.wrong] == [
        "expected satisfied, got silent",
        "  site.terrain == hilly: true",
        "  site.distance > far: false",
        "  design.bike.motor: true",
    ]


def test_a_wrong_value_shows_both() -> None:
    result = example("distance-sets-the-range", {"site.distance": 20}, {"need.range": "31 km"})
    assert [wrong.en for wrong in result.wrong] == ["need.range: expected 31 km, got 30 km"]


def test_an_example_that_cannot_be_read_fails() -> None:
    result = example("heavy-load-is-noted", {"site.load": "15 km"}, "fires")
    assert [wrong.en for wrong in result.wrong] == ["'km' does not fit: site.load is in 'kg'"]


@pytest.mark.parametrize(
    ("expect", "wrong"),
    [
        ({"design.bike": "city-7", "estimate.price": "<= 450 EUR", "exit": 0}, []),
        ({"estimate.price": "> 450 EUR"}, ["estimate.price: expected > 450 EUR, got 450 EUR"]),
        ({"design.bike": "volt-9"}, ["design.bike: expected volt-9, got City 7"]),
        ({"findings": ["heavy-load-is-noted"]}, ["findings: 'heavy-load-is-noted' is missing"]),
        ({"no_findings": ["heavy-load-is-noted"]}, []),
        ({"fired": ["row-gives-the-price"], "silent": ["battery-ages"], "not_checked": ["heavy-load-is-noted"]}, []),
        ({"exit": 3}, ["exit: expected 3, got 0"]),
    ],
)
def test_a_scenario_is_compared_with_the_advice(expect: dict[str, object], wrong: list[str]) -> None:
    assert scenario({"site.distance": 5}, expect) == wrong


def test_results_of_other_layers_are_left_out() -> None:
    known = replace(program("base", "shop"))
    assert list(run_tests(known, world, frozenset({"shop"}))) == []


def test_places_are_kept(tmp_path: Path) -> None:
    result = example("heavy-load-is-noted", {}, "fires")
    assert (result.span, result.layer, result.passed) == (PLACE, "base", False)
