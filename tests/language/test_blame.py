"""A change that leaves a lower layer wrong is reported where it stands, whatever the mistake below is."""

from __future__ import annotations

from pathlib import Path

import pytest

from expert.errors import Diagnostic, ExpertError
from expert.language.compiler import compile_packs
from tests.language.smallpacks import VOCABULARY, rule, write_pack

RULES = (
    "rules:\n"
    + rule("slow-is-said", "warn: {severity: info, message: 'After {workload.steps}'}", "workload.steps > 10")
    + rule("load-follows", "conclude: {estimate.load: estimate.cost + 1}")
    + rule("cost-follows", "conclude: {estimate.cost: workload.steps * 2}")
    + rule("vendor-is-said", "warn: {severity: info, message: So}", "vendor == acme")
)
CONSTANTS = "constants:\n  vendor: {value: acme, basis: judgement}\n  many: {value: 8, basis: judgement}\n"
SOUND = "{at: constants.many, was: 8, set: 9, because: So.}"
NO_ASKING = "{at: rules.slow-is-said.when, was: [workload.steps > 10], set: [workload.urgent == true], because: So.}"
CIRCLE = "{at: rules.cost-follows.conclude, was: {estimate.cost: workload.steps * 2}, set: {estimate.cost: estimate.load}, because: So.}"
VENDOR = "{at: constants.vendor, was: acme, set: other, because: So.}"
OWN_SLIP = "{at: rules.slow-is-said.when, was: [workload.steps > 10], set: [workload.stps > 10], because: So.}"


def found_in(parent: Path, *changes: str, rules: str = RULES, **more: str) -> tuple[Diagnostic, ...]:
    """The mistakes of a layer that makes such changes, one per line from line 2 on."""
    base = write_pack(parent, "base", vocabulary=VOCABULARY, constants=CONSTANTS, rules=rules)
    lines = "changes:\n" + "".join(f"  - {change}\n" for change in changes)
    with pytest.raises(ExpertError) as caught:
        compile_packs([base, write_pack(parent, "mine", changes=lines, **more)])
    return caught.value.diagnostics


def places(found: tuple[Diagnostic, ...]) -> list[tuple[str, str, int]]:
    """Code, file name and line of each mistake."""
    return [(one.code, "/".join(one.span.file.split("/")[-2:]), one.span.line) for one in found if one.span is not None]


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        ((NO_ASKING,), [2]),
        ((SOUND, NO_ASKING), [3]),
        ((NO_ASKING, SOUND), [2]),
        ((CIRCLE, SOUND), [2]),
        ((SOUND, VENDOR), [3]),
        ((SOUND, CIRCLE, NO_ASKING), [3, 4]),
    ],
)
def test_the_change_is_named_and_not_the_rule_below(tmp_path: Path, changes: tuple[str, ...], lines: list[int]) -> None:
    found = found_in(tmp_path, *changes)
    assert places(found) == [("change-breaks", "mine/changes.yaml", line) for line in lines]
    assert all(one.line_text.startswith("  - {at: ") for one in found)


def test_a_slip_in_the_change_itself_stays_what_it_is(tmp_path: Path) -> None:
    assert places(found_in(tmp_path, SOUND, OWN_SLIP)) == [("unknown-fact", "mine/changes.yaml", 3)]


def test_a_mistake_of_the_layer_below_stays_there(tmp_path: Path) -> None:
    rules = RULES + rule("two", "warn: {severity: info, message: So}", "workload.stps > 10")
    found = found_in(tmp_path, NO_ASKING, rules=rules)
    assert {(code, file) for code, file, _ in places(found)} == {
        ("unknown-fact", "base/rules.yaml"),
        ("change-breaks", "mine/changes.yaml"),
    }


def test_mistakes_of_the_layers_own_rules_are_kept(tmp_path: Path) -> None:
    own = "rules:\n" + rule("own", "warn: {severity: info, message: So}", "workload.stps > 10")
    found = found_in(tmp_path, NO_ASKING, rules_of_mine=own)
    assert {(code, file) for code, file, _ in places(found)} == {
        ("unknown-fact", "mine/rules_of_mine.yaml"),
        ("change-breaks", "mine/changes.yaml"),
    }
