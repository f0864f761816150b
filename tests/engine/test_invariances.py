"""What must not change an outcome: the order of a pack, the names of rules, units, weights, and memory to spare."""

from __future__ import annotations

import copy
import itertools
import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from expert.engine.firing import ReferenceEngine
from expert.engine.inference import infer
from expert.engine.trace import DECIDED, Outcome, Trace
from expert.facts import Amount, Value, point
from expert.language.compiler import compile_packs
from expert.language.program import Program
from tests.engine.comparing import same
from tests.engine.generated import Content, Plan, compiled, facts_of, number_fact, pack, rule, yaml_text
from tests.engine.generated_decisions import decision_plan, decisions

SEEDS = range(1000, 1014)
PLANS = 3


def cases(seed: int) -> tuple[Content, list[Plan]]:
    """A generated pack with plans for it."""
    content, rng = decisions(random.Random(seed)), random.Random(seed)
    return content, [decision_plan(rng, content) for _ in range(PLANS)]


def run(program: Program, plan: Plan) -> Trace:
    """The trace of a plan."""
    return infer(program, facts_of(program, plan), ReferenceEngine())


def shuffled(content: Content, rng: random.Random) -> list[Content]:
    """The content in two files, with everything that has no order in another one."""
    parts: list[Content] = [{}, {}]
    for heading, entries in rng.sample([*content.items()], len(content)):
        if isinstance(entries, list):
            mixed = rng.sample(entries, len(entries))
            parts[0][heading], parts[1][heading] = mixed[: len(mixed) // 2], mixed[len(mixed) // 2 :]
        else:
            names = rng.sample([*entries], len(entries))
            for i, name in enumerate(names):
                parts[i % 2].setdefault(heading, {})[name] = entries[name]
    for part in parts:
        for table in part.get("tables", {}).values():
            table["columns"] = dict(rng.sample([*table["columns"].items()], len(table["columns"])))
            table["rows"] = {name: dict(rng.sample([*row.items()], len(row))) for name, row in table["rows"].items()}
    return [{heading: entries for heading, entries in part.items() if entries} for part in parts]


@pytest.mark.parametrize("seed", SEEDS)
def test_order_changes_nothing_but_places(seed: int, tmp_path: Path) -> None:
    content, plans = cases(seed)
    first = compiled(content, tmp_path / "first")
    (tmp_path / "second").mkdir()
    (tmp_path / "second" / "pack.yaml").write_text("pack: generated\nversion: '1.0'\nrequires: []\n", encoding="utf-8")
    for name, part in zip(("z", "a"), shuffled(copy.deepcopy(content), random.Random(seed)), strict=True):
        (tmp_path / "second" / f"{name}.yaml").write_text(yaml_text(part), encoding="utf-8")
    second = compile_packs([tmp_path / "second"])
    for plan in plans:
        a, b = run(first, plan), run(second, plan)
        assert {n: replace(s, span=None) for n, s in a.facts.items()} == {n: replace(s, span=None) for n, s in b.facts.items()}
        assert a.firings == b.firings
        assert a.outcomes == b.outcomes


@pytest.mark.parametrize("seed", SEEDS)
def test_names_of_rules_change_nothing_else(seed: int, tmp_path: Path) -> None:
    content, plans = cases(seed)
    ids = [r["id"] for r in content["rules"]]
    numbers = random.Random(seed).sample(range(len(ids)), len(ids))
    names = {old: f"x{number}" for old, number in zip(ids, numbers, strict=True)}
    renamed = {**content, "rules": [{**r, "id": names[r["id"]]} for r in content["rules"]]}
    first, second = compiled(content, tmp_path / "first"), compiled(renamed, tmp_path / "second")
    for plan in plans:
        a, b = run(first, plan), run(second, plan)
        assert {n: s.value for n, s in a.facts.items()} == {n: s.value for n, s in b.facts.items()}
        for name, outcome in a.outcomes.items():
            assert nameless(outcome, names) == nameless(b.outcomes[name], {}), plan


def nameless(outcome: Outcome, names: dict[str, str]) -> dict[str, Any]:
    """An outcome without the order of rules, and without which of several equal reasons is named."""

    def renamed(rules: tuple[str, ...]) -> frozenset[str]:
        return frozenset(names.get(rule, rule) for rule in rules)

    return {
        "status": outcome.status,
        "chosen": None if outcome.chosen is None else (dict(outcome.chosen.values), outcome.chosen.certainty, outcome.chosen.score),
        "decided_by": (outcome.decided_by, outcome.tie, outcome.passed_over),
        "missing": outcome.missing,
        "in_force": renamed(outcome.in_force),
        "rejected": {(r.fact, r.value, r.together) for r in outcome.rejected},
        "relaxations": {renamed(rules) for rules in outcome.relaxations},
        "freed": [(f.pins, dict(f.option.values)) for f in outcome.freed],
        "missed": {(names.get(rule, rule), distance) for rule, distance in outcome.missed},
        "alternatives": [dict(option.values) for option in outcome.alternatives],
        "recommended": outcome.recommended,
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_no_weight_outvotes_a_requirement(seed: int, tmp_path: Path) -> None:
    content, plans = cases(seed)
    decision = content["decisions"][0]
    fact, domain = next(iter(decision["assigns"].items()))
    rows = [*content["tables"][domain.removeprefix("tables.")]["rows"]]
    without = {**content, "rules": [r for r in content["rules"] if "prefer" not in r], "decisions": [decision]}
    without["rules"] = [r for r in without["rules"] if not re.match("network|store|rate-fits|total-in|net-in|copies", r["id"])]
    plain = compiled(without, tmp_path / "plain")
    for row in rows:
        likes = [rule(f"likes-{i}", prefer={fact: f"{fact} == {row}"}, weight=10) for i in range(20)]
        loud = compiled({**without, "rules": [*without["rules"], *likes]}, tmp_path / row)
        for plan in plans:
            a, b = run(plain, plan).outcomes[decision["id"]], run(loud, plan).outcomes[decision["id"]]
            assert (a.status, {(r.fact, r.value) for r in a.rejected}) == (b.status, {(r.fact, r.value) for r in b.rejected})
            if a.chosen is not None:
                assert b.chosen is not None
                assert (a.chosen.certainty, bool(a.missed)) == (b.chosen.certainty, bool(b.missed))
                assert all((name, value) not in {(r.fact, r.value) for r in b.rejected} for name, value in b.chosen.values.items())


@pytest.mark.parametrize("seed", SEEDS)
def test_unit_of_a_plan_value_changes_nothing(seed: int, tmp_path: Path) -> None:
    content, plans = cases(seed)
    dollars = copy.deepcopy(content)
    dollars["facts"]["site.budget"]["unit"] = "USD/month"  # 7 CNY each
    first, second = compiled(content, tmp_path / "first"), compiled(dollars, tmp_path / "second")
    for plan in plans:
        budget = plan.get("site.budget", point(8.0))
        assert isinstance(budget, Amount)
        seventh = Amount(budget.low / 7, None if budget.typical is None else budget.typical / 7, budget.high / 7)
        a, b = run(first, {**plan, "site.budget": budget}), run(second, {**plan, "site.budget": seventh})
        assert all(same(state.value, b.facts[name].value) for name, state in a.facts.items())
        assert {n: (o.status, o.chosen, o.rejected) for n, o in a.outcomes.items()} == {
            n: (o.status, o.chosen, o.rejected) for n, o in b.outcomes.items()
        }


def memory_pack(rng: random.Random) -> Content:
    """A pack in which memory is only ever an upper bound."""
    cards = {
        f"c{i}": {"memory": rng.choice([1, 2, "2..4", "2..3..4", 4]), "price": rng.choice([1, 2, "1..3", {"unknown": "?"}])}
        for i in range(3)
    }
    facts: Content = {
        "workload.size": number_fact(),
        "site.budget": number_fact("CNY/month"),
        "design.card": {"type": "choice", "from": "tables.cards"},
        "design.count": number_fact(),
        "estimate.memory": number_fact(combine="sum"),
        "estimate.cost": number_fact("CNY/month"),
    }
    rules = [
        rule("state", conclude={"estimate.memory": "workload.size / design.count"}),
        rule("buffer", ["design.count > 1"], conclude={"estimate.memory": rng.choice(["0.5", "0.5..1"])}),
        rule("cost", conclude={"estimate.cost": "design.card.price * design.count"}),
        rule("fits", require={"design.card": "estimate.memory <= design.card.memory"}),
        rule("room", ["design.count > 2"], require={"design.card": "design.card.memory - estimate.memory > 1 or workload.size < 2"}),
        rule("budget", require={"design.count": "estimate.cost <= site.budget"}),
    ]
    tables = {"cards": {"columns": {"memory": "number", "price": "CNY/month"}, "rows": cards}}
    decision = {"id": "sizing", "assigns": {"design.card": "tables.cards", "design.count": [1, 2, 4]}, "cost": "estimate.cost"}
    return pack(facts, rules, tables, [decision])


GRADES = {"infeasible": 0, "undetermined": 1, "possible": 2, "certain": 3}


def grade(program: Program, plan: Plan) -> int:
    """How good a wholly pinned option is."""
    outcome = run(program, plan).outcomes["sizing"]
    return GRADES[outcome.chosen.certainty if outcome.status == DECIDED and outcome.chosen is not None else outcome.status]


@pytest.mark.parametrize("seed", range(12))
def test_more_memory_makes_no_option_worse(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    content = memory_pack(rng)
    more = copy.deepcopy(content)
    for row in more["tables"]["cards"]["rows"].values():
        row["memory"] = {1: 2, 2: "3..4", "2..4": "4..5", "2..3..4": "3..4..5", 4: 8}[row["memory"]]
    first, second = compiled(content, tmp_path / "first"), compiled(more, tmp_path / "second")
    improved = 0
    for card, count, size in itertools.product(["c0", "c1", "c2"], [1, 2, 4], [1, 2, 3, 4, 8]):
        plan: dict[str, Value] = {"workload.size": point(size), "site.budget": point(4), "design.card": card, "design.count": point(count)}
        before, after = grade(first, plan), grade(second, plan)
        assert before <= after, plan
        improved += before < after
    assert improved > 0
