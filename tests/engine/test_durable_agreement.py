"""Random packs and plans, made to stand on edges: the durable engine and the reference engine say the same."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("durable_rules_engine", exc_type=ImportError)

from expert.engine.durable import DurableEngine
from expert.engine.firing import ReferenceEngine
from expert.engine.inference import infer
from expert.facts import Amount, Value, point
from tests.engine import generated
from tests.engine.durable_packs import Content, fire, program_of, warning
from tests.engine.generated import both, number_fact, rule

PACKS = 25
PLANS = 4

CONDITIONS = (
    "workload.a > 3", "workload.a <= workload.b", "workload.a == workload.c", "workload.a != workload.b", "workload.b in [1, 3]",
    "workload.a + workload.b > 6", "workload.a / (workload.b - 3) < 9", "low(workload.a) >= 3", "workload.a * workload.c <= need.y",
    "workload.task in [red, blue]", "workload.task != green", "workload.task == workload.next", "workload.task in workload.tags",
    "red in workload.tags", "red in need.tags", "workload.task in need.tags", "workload.card.link.family == mesh",
    "workload.card.memory >= workload.other.memory", "workload.card == workload.other", "workload.card.link.rate > 1",
    "workload.card.fast", "workload.card.fast == site.strict", "site.strict", "site.strict != site.open", "known(workload.card.memory)",
    "missing(need.z)", "missing(workload.task)", "known(workload.a / workload.b)", "plan.workload.c == 4", "known(plan.workload.c)",
    "coalesce(workload.card.memory, workload.b) >= 3", "(workload.a if site.strict else workload.b) > 2", "need.x >= need.z",
    "max(workload.a, workload.b) == 3", "need.x == 3 * workload.a",
)  # fmt: skip
OF_ROWS = (
    "card.memory > workload.a", "card == workload.card", "card.link == workload.card.link", "card.link.rate * 2 >= workload.b",
    "card.fast == site.strict", "not (card.link.family == mesh)", "known(card.memory)", "card.memory >= workload.other.memory",
    "workload.task in card.tags", "not (red in card.tags)", "card.link.rate in [1, 4]", "coalesce(card.memory, 3) == workload.a",
)  # fmt: skip


def joined(rng: random.Random, atoms: tuple[str, ...], depth: int = 2) -> str:
    if depth == 0 or rng.random() < 0.3:
        return f"({rng.choice(atoms)})"
    several = [joined(rng, atoms, depth - 1) for _ in range(rng.randint(2, 3))]
    text = f" {rng.choice(['and', 'or'])} ".join(several)
    return f"(not ({text}))" if rng.random() < 0.3 else f"({text})"


def random_rules(rng: random.Random) -> list[Content]:
    rules = [
        rule("x0", [joined(rng, CONDITIONS[:10], 1)], conclude={"need.x": "workload.a * 3"}),
        rule("x1", [joined(rng, CONDITIONS[:10], 1)], conclude={"need.x": "card.memory / 3"}, **{"for": {"card": "tables.cards"}}),
        rule("z0", [joined(rng, CONDITIONS[9:12], 1)], conclude={"need.z": "workload.b"}),
        rule("z1", [joined(rng, CONDITIONS[17:24], 1)], conclude={"need.z": 3}),
        rule("t0", [joined(rng, CONDITIONS[:10], 1)], conclude={"need.tags": "workload.task"}),
        rule("t1", [joined(rng, OF_ROWS[:5], 1)], conclude={"need.tags": "red"}, **{"for": {"card": "tables.cards"}}),
    ]
    rules += [warning(joined(rng, CONDITIONS), joined(rng, CONDITIONS, 1), name=f"w{i}") for i in range(3)]
    for i in range(2):
        loops = {"card": "tables.cards", **({"link": "tables.links"} if rng.random() < 0.4 else {})}
        own = (*OF_ROWS, "link.rate <= card.memory", "link == card.link") if len(loops) == 2 else OF_ROWS
        rules.append(warning(joined(rng, (*own, *own, *CONDITIONS), 2), name=f"r{i}", **{"for": loops}))
        rules.append(rule(f"q{i}", [joined(rng, CONDITIONS, 1)], require={"workload.a": joined(rng, CONDITIONS, 1)}))
        rules.append(rule(f"p{i}", [joined(rng, own, 1)], prefer={"workload.a": joined(rng, own, 1)}, weight=2, **{"for": loops}))
    return rules


def random_plan(rng: random.Random) -> dict[str, Value]:
    def number() -> Value:
        at = rng.choice([1.0, 3.0, 4.0, 6.0]) * rng.choice([1, 1, 1 + 1e-9, 1 - 1e-9, 1 + 1e-12, 1 - 2e-9])
        return point(at) if rng.random() < 0.8 else Amount(at, None, at + rng.choice([0.5, 2]))

    words, cards = ("red", "green", "blue"), ("small", "large", "blank")
    full: dict[str, Value] = {
        **{f"workload.{name}": number() for name in "abc"},
        **{f"workload.{name}": rng.choice(cards) for name in ("card", "other")},
        **{f"workload.{name}": rng.choice(words) for name in ("task", "next")},
        **{f"site.{name}": rng.random() < 0.5 for name in ("strict", "open")},
        "workload.tags": tuple(rng.sample(words, rng.randint(0, 2))),
        "need.z": number(),
    }
    return {name: value for name, value in full.items() if rng.random() < (0.1 if name == "need.z" else 0.8)}


@pytest.mark.parametrize("block", range(8))
def test_conditions_joined_at_random(tmp_path: Path, block: int) -> None:
    rng, matched = random.Random(f"joined {block}"), 0
    for number in range(PACKS):
        program = program_of(tmp_path / str(number), *random_rules(rng))
        for _ in range(PLANS):
            matched += len(fire(program, random_plan(rng)).matches)
    assert matched > PACKS * PLANS


@pytest.mark.parametrize("block", range(4))
def test_random_packs(tmp_path: Path, block: int) -> None:
    rng = random.Random(f"packs {block}")
    for number in range(PACKS):
        program = generated.compiled(generated.conclusions(rng), tmp_path / str(number))
        for _ in range(PLANS):
            facts = generated.facts_of(program, generated.conclusion_plan(rng))
            fire(program, {name: fact.value for name, fact in facts.items()})


def test_a_decision_ends_the_same_with_either_engine(tmp_path: Path) -> None:
    effects: tuple[dict[str, Any], ...] = (
        {"require": {"design.card": "design.card.memory >= workload.a"}},
        {"require": {"design.n": "design.n * design.card.memory >= workload.b"}},
        {"conclude": {"need.cost": "design.n * design.card.memory"}},
    )
    decision = {
        "id": "d",
        "title": both("d"),
        "topic": "t",
        "assigns": {"design.card": "tables.cards", "design.n": [1, 2, 4]},
        "cost": "need.cost",
    }
    facts = {"design.card": {"type": "choice", "from": "tables.cards"}, "design.n": number_fact(), "need.cost": number_fact()}
    rules = [rule(f"d{i}", **effect) for i, effect in enumerate(effects)]
    program = program_of(tmp_path, *rules, facts=facts, decisions=[decision])
    stated = generated.facts_of(program, {"workload.a": point(2.0), "workload.b": point(7.0)})
    mine, other = (infer(program, stated, engine) for engine in (DurableEngine(), ReferenceEngine()))
    # Four small ones: 8 >= 7; a large one has 8..9 >= 7 and costs 8..9.
    assert mine.facts["design.card"].value == "small"
    assert mine.facts["design.n"].value == point(4.0)
    assert (mine.facts, mine.outcomes) == (other.facts, other.outcomes)
