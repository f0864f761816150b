"""The JSON contract: the keys that others read, values in declared units, the same bytes each time."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from expert.explain.proof import explain
from expert.report.json import advice_digest, to_json
from tests.bicycle.consulting import ROOT, advice, sample


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def record(*overrides: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(to_json(sample(*overrides)))
    return found


# The list of docs: "JSON of recommend and explain, stable keys". Adding keys is allowed, leaving one out is not.
TOP = ["advice", "digest", "plan", "packs", "engine", "facts", "decisions", "findings", "needs", "estimates", "tests", "risks"]
TOP += ["assumptions", "not_checked", "dissent", "trace"]
DECISION = ["value", "status", "recommended", "option", "certainty", "decided_by", "reasons", "rejected", "alternatives"]
FINDING = ["rule", "topic", "severity", "fact", "message", "fix", "file", "line", "column", "path", "fingerprint", "cite"]
TEST = ["rule", "stage", "metric", "at_least", "unit", "tool", "command", "rerun", "observed", "verdict"]


def test_every_key_of_the_contract_is_there() -> None:
    found = record()
    assert set(TOP) <= set(found)
    assert set(found["plan"]) == {"name", "digest"}
    assert all(set(pack) == {"name", "version", "digest"} for pack in found["packs"])
    assert all(
        {"unit", "origin", "at"} <= set(fact) and ("value" in fact or {"low", "high"} <= set(fact)) for fact in found["facts"].values()
    )
    assert all(set(DECISION) <= set(choice) for choice in found["decisions"].values())
    assert all(set(FINDING) <= set(finding) for finding in found["findings"])
    assert all(set(TEST) <= set(test) for test in found["tests"])
    assert all({"unit", "cause", "rules"} <= set(need) for need in (*found["needs"].values(), *found["estimates"].values()))
    assert all({"fact", "value", "used_by"} <= set(assumed) for assumed in record("site.distance=5")["assumptions"])
    assert all({"rule", "unknown"} <= set(unchecked) for unchecked in found["not_checked"])
    assert all({"fact", "used", "claim", "says", "because", "cite"} <= set(losing) for losing in found["dissent"])
    assert all({"id", "rule", "stratum", "because", "effect"} <= set(step) for step in found["trace"])
    assert all(found[part] for part in ("findings", "tests", "risks", "dissent", "needs"))


def test_values_stand_in_declared_units() -> None:
    found = record()
    assert found["facts"]["site.distance"] == {"value": 40, "unit": "km", "origin": "given", "at": "tests/bicycle/plan.yaml:4"}
    assert found["needs"]["need.range"]["value"] == 44
    price = found["estimates"]["estimate.price"]
    assert (price["low"], price["typical"], price["high"], price["unit"]) == (1900, None, 2100, "EUR")
    assert price["cause"] == "tables.bikes.volt-9.price"
    assert price["rules"] == ["row-gives-the-price"]
    (test,) = found["tests"]
    assert (test["at_least"], test["unit"], test["verdict"]) == (44, "km", "untested")


def test_a_decision_tells_what_it_is_and_what_else_there_was() -> None:
    bike = record()["decisions"]["design.bike"]
    assert (bike["value"], bike["status"], bike["decided_by"]) == ("volt-9", "recommended", "preference")
    option = {
        "price": {"low": 1900, "typical": None, "high": 2100},
        "range": {"low": 60, "typical": None, "high": 80},
        "gears": 9,
        "motor": True,
    }
    assert bike["option"] == option
    assert [(other["value"], other["cost"]) for other in bike["alternatives"]] == [("city-7", 450), ("tour-21", 900)]
    assert "hills-prefer-a-motor" in bike["reasons"]
    gears = record()["decisions"]["design.gears"]
    assert (gears["value"], gears["status"], gears["option"]) == (9, "derived", None)
    pinned = record("design.bike=tour-21")["decisions"]["design.bike"]
    assert (pinned["status"], pinned["recommended"]) == ("given", "volt-9")


def test_a_finding_points_into_the_plan() -> None:
    (finding,) = record()["findings"]
    assert (finding["rule"], finding["severity"], finding["fact"]) == ("heavy-load-is-noted", "warning", "site.load")
    assert (finding["message"], finding["fix"]) == ("20 kg do not fit into a basket", "add a rack")
    assert (finding["file"], finding["line"], finding["column"], finding["path"]) == ("tests/bicycle/plan.yaml", 6, 9, "site.load")


def test_premises_come_before_what_uses_them() -> None:
    found = record()
    concluded = {
        fact: step["id"] for step in found["trace"] if isinstance(step["effect"], dict) and step["rule"] for fact in step["effect"]
    }
    place = {step["id"]: number for number, step in enumerate(found["trace"])}
    for step in found["trace"]:
        for premise in step["because"]:
            source = concluded.get(premise.removeprefix("fact:"))
            assert source is None or place[source] <= place[step["id"]]


def test_the_bytes_are_the_same_each_time() -> None:
    assert to_json(sample()) == to_json(sample())
    assert to_json(sample(), "zh") != to_json(sample(), "en")


def test_the_digest_leaves_positions_and_the_engine_out_and_nothing_else() -> None:
    first = sample()
    assert advice_digest(first) == advice_digest(replace(first, engine="another"))
    assert advice_digest(first) == record()["digest"]
    assert advice_digest(first) != advice_digest(sample("site.load=21 kg"))
    moved = advice("# a line more\nsite: {distance: 5 km}")
    assert advice_digest(moved) == advice_digest(advice("site: {distance: 5 km}"))


def test_an_explanation_stands_beside_the_advice() -> None:
    found = json.loads(to_json(sample(), "en", explain(sample(), "need.range")))
    (node,) = found["explanation"]
    assert (node["id"], node["title"]) == ("fact:need.range", "a charge must last 44 km")
    assert {"kind": "formula", "text": "site.distance * reserve", "at": None, "see": None} in node["lines"]
