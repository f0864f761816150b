"""Lint: each warning appears for the pack that deserves it and for no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from expert.workbench.lint import lint
from tests.language.smallpacks import compile_text, rule

TABLES = """
tables:
  prices:
    columns: {kind: word, amount: number, hours: number}
    rows:
      monthly: {kind: rent, amount: 80..120, hours: 720}
      hourly: {kind: rent, amount: 3}
      outright: {kind: buy, amount: 9000, hours: {unknown: not rented}}
constants: {large_run: {value: 1000, basis: published, cite: [T-001]}, width: {value: 0.9..1.1, basis: judgement}}
"""
GOOD = "examples: [{given: {workload.steps: 3}, expect: silent}]"


def warned(parent: Path, *rules: str) -> set[tuple[str, str]]:
    """Codes of lint's warnings about a pack, each with its message, without those about unread names."""
    program = compile_text(parent, TABLES, "rules:\n" + "".join(rules))
    return {(found.code, found.message.en) for found in lint(program) if not found.code.startswith("unread")}


def warn(id: str, *when: str, rows: str = "", title: str = "A rule") -> str:
    """A rule with an example."""
    text = rule(id, "warn: {severity: info, message: Seen}", *when, more=GOOD).replace("title: A rule", f"title: {title}")
    return text + (f"    for: {{{rows}}}\n" if rows else "")


def test_a_whole_rule_has_no_warning(tmp_path: Path) -> None:
    assert warned(tmp_path, warn("long-run-is-seen", "workload.steps > large_run")) == set()


def test_a_rule_without_claims_or_examples(tmp_path: Path) -> None:
    bare = rule("bare-is-seen", "warn: {severity: info, message: Seen}", "workload.steps > 3").replace("cite: [T-001]", "cite: []")
    assert warned(tmp_path, bare) == {
        ("no-cite", "the rule 'bare-is-seen' cites no claim"),
        ("no-examples", "the rule 'bare-is-seen' has no examples"),
    }


@pytest.mark.parametrize(("title", "count"), [("More than 1,000 steps", 1), ("A run of 1000 steps", 1), ("A long run of 100", 0)])
def test_a_title_that_repeats_a_constant(tmp_path: Path, title: str, count: int) -> None:
    found = warned(tmp_path, warn("long-run-is-seen", "workload.steps > large_run", title=title))
    assert [code for code, _ in found] == ["title-repeats-number"] * count


def test_a_rule_that_no_row_satisfies(tmp_path: Path) -> None:
    assert warned(tmp_path, warn("leased-is-seen", "price.kind == lease", rows="price: tables.prices")) == {
        ("dead-rule", "no row of 'prices' satisfies the conditions of 'leased-is-seen', so it never fires")
    }


def test_a_row_without_the_cell_that_a_rule_compares(tmp_path: Path) -> None:
    # Of the rented rows only `hourly` lacks hours; `outright` says why it has none, and is bought anyway.
    found = warned(tmp_path, warn("long-rent-is-seen", "price.kind == rent", "price.hours > 100", rows="price: tables.prices"))
    assert found == {("dead-row", "'long-rent-is-seen' never fires for the row 'hourly', which has no 'hours'")}


def test_names_that_nobody_reads(tmp_path: Path) -> None:
    program = compile_text(tmp_path, TABLES, "rules:\n" + warn("long-run-is-seen", "workload.steps > large_run"))
    unread = {found.message.en.split("'")[1] for found in lint(program) if found.code.startswith("unread")}
    assert unread == {"workload.urgent", "design.gpus", "design.fabric", "need.rate", "estimate.load", "estimate.cost", "width"}


@pytest.mark.parametrize(
    ("expression", "spreads"),
    [
        ("workload.steps * width", False),
        ("workload.steps * width + width", True),
        ("need.rate - need.rate", True),
        ("need.rate * width", True),
        ("need.rate * low(width)", False),
        ("workload.steps - workload.steps", False),
    ],
)
def test_a_range_that_reaches_a_value_twice(tmp_path: Path, expression: str, spreads: bool) -> None:
    rate = rule("rate-follows-steps", "conclude: {need.rate: workload.steps * width}", more=GOOD)
    load = rule("load-is-odd", f"conclude: {{estimate.load: {expression}}}", more=GOOD)
    assert {code for code, _ in warned(tmp_path, rate, load)} == ({"range-spreads"} if spreads else set())


def test_built_in_packs_need_both_languages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = compile_text(tmp_path, "rules:\n" + warn("steps-are-seen", "workload.steps > 3"))
    assert not [found for found in lint(program) if found.code == "missing-language"]
    (tmp_path / "again").mkdir()
    monkeypatch.setattr("expert.language.folders.builtin_rules", lambda: tmp_path / "again")
    ours = compile_text(tmp_path / "again", "rules:\n" + warn("steps-are-seen", "workload.steps > 3"))
    told = {found.message.en for found in lint(ours) if found.code == "missing-language"}
    assert "the title of 'steps-are-seen' has no 'zh:'" in told
    assert "the choice 'ib' of 'design.fabric' has no 'zh:'" in told
