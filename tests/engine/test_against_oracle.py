"""Generated packs and plans: the engine and the oracle agree on every value, every decision and every reason."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from expert.errors import ExpertError
from expert.language.program import Program
from tests.engine.comparing import Comparison
from tests.engine.generated import compiled, conclusion_plan, conclusions, facts_of, yaml_text
from tests.engine.generated_decisions import decision_plan, decisions

CONCLUSION_PACKS, CONCLUSION_PLANS = 130, 8
DECISION_PACKS, DECISION_PLANS = 120, 4
SHARES = 10
"""The packs are checked in this many tests, so that a failure names few."""


def program_of(seed: int, content: dict[str, object], folder: Path) -> Program:
    """The compiled pack of a seed; a pack that does not compile is a fault of the generator."""
    try:
        return compiled(content, folder / str(seed))
    except ExpertError as error:
        raise AssertionError(f"the pack of seed {seed} is refused: {error}") from error


@pytest.mark.parametrize("share", range(SHARES))
def test_conclusions_agree(share: int, tmp_path: Path) -> None:
    for seed in range(share, CONCLUSION_PACKS, SHARES):
        content = conclusions(random.Random(seed))
        program, rng = program_of(seed, content, tmp_path), random.Random(seed)
        for number in range(CONCLUSION_PLANS):
            plan = conclusion_plan(rng)
            found = Comparison(program, facts_of(program, plan)).differences()
            assert not found, f"seed {seed}, plan {number}: {plan}\n" + "\n".join(found) + "\n" + yaml_text(content)


SEEN: Counter[str] = Counter()


@pytest.mark.parametrize("share", range(SHARES))
def test_decisions_agree(share: int, tmp_path: Path) -> None:
    for seed in range(share, DECISION_PACKS, SHARES):
        content = decisions(random.Random(seed))
        program, rng = program_of(seed, content, tmp_path), random.Random(seed)
        for number in range(DECISION_PLANS):
            plan = decision_plan(rng, content)
            comparison = Comparison(program, facts_of(program, plan))
            found = comparison.differences()
            assert not found, f"seed {seed}, plan {number}: {plan}\n" + "\n".join(found) + "\n" + yaml_text(content)
            SEEN.update(kinds_of(comparison))


def kinds_of(comparison: Comparison) -> set[str]:
    """What a case was about."""
    found: set[str] = set()
    for outcome in comparison.trace.outcomes.values():
        found.add(outcome.status)
        found |= {outcome.decided_by} if outcome.chosen is not None else set()
        found |= {"possible"} if outcome.chosen is not None and outcome.chosen.certainty == "possible" else set()
        wanted = ("rejected", "freed", "relaxations", "missed", "unproven", "passed_over", "cheapest_possible", "not_in_force", "pins")
        found |= {name for name in wanted if getattr(outcome, name)}
        found |= {"together"} if any(r.together for r in outcome.rejected) else set()
    return found


def test_generated_decisions_are_of_every_kind() -> None:
    """After the tests above: the generator makes every kind of outcome, and enough of it."""
    if not SEEN:
        pytest.skip("runs after the decisions, in one process")
    rare = {kind: SEEN[kind] for kind in ("passed_over", "together", "aim", "preference", "order", "cost", "possible", "unproven", "freed")}
    assert min(rare.values()) >= 5, rare
