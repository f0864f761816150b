"""Layers: what a later pack may add and change, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from expert.errors import Diagnostic, ExpertError
from expert.language.compiler import compile_packs
from expert.language.program import Program
from tests.language.smallpacks import VOCABULARY, rule, write_pack

BASE = """
tables:
  cards:
    columns: {memory: GiB, label: word}
    rows:
      zeta: {memory: 80, label: old}
      alpha: {memory: 40}
constants:
  bytes_per_parameter: {value: 6, basis: published, cite: [T-001]}
  warm_up: {value: 30 min, basis: judgement}
"""
RULES = "rules:\n" + rule("slow-is-warned", "warn: {severity: info, message: Slow}", "workload.steps > 10")


def layered(parent: Path, changes: str, **more: str) -> Program:
    """The program of a base pack and one layer over it."""
    base = write_pack(parent, "base", vocabulary=VOCABULARY, content=BASE, rules=RULES)
    return compile_packs([base, write_pack(parent, "errata", requires="[base]", changes=changes, **more)])


def refused(parent: Path, changes: str) -> Diagnostic:
    """The one mistake of a layer."""
    with pytest.raises(ExpertError) as caught:
        layered(parent, changes)
    (found,) = caught.value.diagnostics
    return found


def test_a_constant_is_changed_with_its_reason(tmp_path: Path) -> None:
    program = layered(tmp_path, """
        changes:
          - at: constants.bytes_per_parameter
            was: 6
            set: 14
            losing: [T-001]
            because: {en: The optimizer is saved too., zh: 优化器也要保存。}
    """)  # fmt: skip
    constant = program.constants["bytes_per_parameter"]
    (change,) = constant.changes
    assert (constant.value.low, constant.layer, constant.basis) == (14.0, "base", "published")
    assert (change.layer, change.was, change.now, change.losing, change.because.zh) == ("errata", "6", "14", ("T-001",), "优化器也要保存。")
    assert constant.span.file.endswith("errata/changes.yaml")
    assert constant.span.line == 5


def test_one_of_several_former_values_is_enough(tmp_path: Path) -> None:
    program = layered(tmp_path, "changes:\n  - {at: constants.bytes_per_parameter, was: {any: [5, 6]}, set: 14, because: It is a test.}\n")
    assert program.constants["bytes_per_parameter"].value.low == 14.0


def test_a_cell_is_changed_and_an_empty_one_filled(tmp_path: Path) -> None:
    program = layered(tmp_path, """
        changes:
          - {at: tables.cards.rows.zeta.memory, was: 80, set: 96, because: It is a test.}
          - {at: tables.cards.alpha.label, set: new, because: It is a test.}
    """)  # fmt: skip
    zeta, alpha = program.tables["cards"].rows["zeta"], program.tables["cards"].rows["alpha"]
    assert zeta.cells["memory"].literal is not None
    assert zeta.cells["memory"].literal.low == 96 * 2**30
    assert [change.was for change in zeta.cells["memory"].changes] == ["80"]
    assert alpha.cells["label"].literal is not None
    assert alpha.cells["label"].literal.word == "new"
    assert zeta.cells["label"].changes == ()


def test_conditions_of_a_rule_are_replaced_as_a_whole(tmp_path: Path) -> None:
    program = layered(tmp_path, """
        changes:
          - at: rules.slow-is-warned.when
            was: [workload.steps > 10]
            set: [workload.steps > 20, workload.urgent]
            because: It is a test.
    """)  # fmt: skip
    changed = program.rules["slow-is-warned"]
    assert [condition.text for condition in changed.when] == ["workload.steps > 20", "workload.urgent"]
    assert changed.layer == "base"
    assert changed.changes[0].now == "[workload.steps > 20, workload.urgent]"


def test_a_disabled_rule_is_gone_and_remembered(tmp_path: Path) -> None:
    program = layered(tmp_path, "changes:\n  - {disable: rules.slow-is-warned, because: It is a test.}\n")
    assert program.rules == {}
    assert [change.at for change in program.disabled] == ["rules.slow-is-warned"]


def test_rows_of_later_layers_follow_by_id(tmp_path: Path) -> None:
    program = layered(tmp_path, "changes: []\n", more="tables:\n  cards:\n    rows: {gamma: {memory: 24}, beta: {memory: 48}}\n")
    assert list(program.tables["cards"].rows) == ["zeta", "alpha", "beta", "gamma"]
    assert program.tables["cards"].rows["beta"].layer == "errata"


def test_a_changed_constant_keeps_its_dimension(tmp_path: Path) -> None:
    found = refused(tmp_path, "changes:\n  - {at: constants.warm_up, was: 30 min, set: 3 GB, because: It is a test.}\n")
    assert (found.code, found.message.en) == ("wrong-unit", "'warm_up' is in min, and this is in GB")


def test_a_stale_change_says_what_stands_there_now(tmp_path: Path) -> None:
    found = refused(tmp_path, "changes:\n  - {at: constants.warm_up, was: 20 min, set: 40 min, because: It is a test.}\n")
    assert (found.code, found.help.en) == ("change-stale", "'base' says 30 min now")


def test_a_change_without_was_is_refused(tmp_path: Path) -> None:
    found = refused(tmp_path, "changes:\n  - {at: constants.warm_up, set: 40 min, because: It is a test.}\n")
    assert (found.code, found.help.en) == ("missing-key", "'base' says 30 min now")


@pytest.mark.parametrize(
    ("path", "near"),
    [
        ("constants.warmup", "constants.warm_up"),
        ("rules.slow-is-warnd.when", "rules.slow-is-warned.when"),
        ("tables.cards.rows.zetta.memory", "tables.cards.zeta.memory"),
        ("tables.cards.zeta.memori", "tables.cards.zeta.memory"),
        ("facts.workload.stps.title", "facts.workload.steps.title"),
    ],
)
def test_a_wrong_path_names_the_nearest_right_one(tmp_path: Path, path: str, near: str) -> None:
    found = refused(tmp_path, f"changes:\n  - {{at: {path}, was: 1, set: 2, because: It is a test.}}\n")
    assert (found.code, found.help.en) == ("change-path", f"did you mean '{near}'?")


@pytest.mark.parametrize(
    ("protected", "change", "ok"),
    [
        ("true", "at: rules.slow-is-warned.title, was: A rule, set: Slow", False),
        ("[when]", "at: rules.slow-is-warned.title, was: A rule, set: Slow", True),
        ("[title]", "at: rules.slow-is-warned.title, was: A rule, set: Slow", False),
        ("[title]", "disable: rules.slow-is-warned", False),
        ("false", "disable: rules.slow-is-warned", True),
    ],
)
def test_a_protected_rule_or_field_stays(tmp_path: Path, protected: str, change: str, ok: bool) -> None:
    rules = RULES.rstrip("\n") + f"\n    protected: {protected}\n"
    base = write_pack(tmp_path, "base", vocabulary=VOCABULARY, content=BASE, rules=rules)
    layer = write_pack(tmp_path, "errata", changes=f"changes:\n  - {{{change}, because: It is a test.}}\n")
    if ok:
        assert compile_packs([base, layer]).packs
        return
    with pytest.raises(ExpertError) as caught:
        compile_packs([base, layer])
    assert [found.code for found in caught.value.diagnostics] == ["protected"]


def test_what_a_cell_was_is_told_by_its_value(tmp_path: Path) -> None:
    cell = "{value: 96, basis: vendor, source: [T-001]}"
    program = layered(tmp_path, f"changes:\n  - {{at: tables.cards.zeta.memory, was: 80, set: {cell}, because: It is a test.}}\n")
    changed = program.tables["cards"].rows["zeta"].cells["memory"]
    assert [(change.was, change.now) for change in changed.changes] == [("80", "96")]
    assert (changed.basis, changed.source) == ("vendor", ("T-001",))


def test_a_change_of_the_claims_leaves_the_place_of_the_value(tmp_path: Path) -> None:
    program = layered(
        tmp_path, "changes:\n  - {at: constants.bytes_per_parameter.cite, was: [T-001], set: [notes], because: It is a test.}\n"
    )
    constant = program.constants["bytes_per_parameter"]
    assert constant.cite == ("notes",)
    assert constant.span.file.endswith("base/content.yaml")


def test_a_layer_does_not_change_its_own_text(tmp_path: Path) -> None:
    changes = "constants: {own: {value: 1, basis: judgement}}\nchanges:\n  - {at: constants.own, was: 1, set: 2, because: It is a test.}\n"
    assert refused(tmp_path, changes).code == "change-path"


def test_an_id_defined_twice_names_both_places(tmp_path: Path) -> None:
    found = refused(tmp_path, "constants:\n  warm_up: {value: 3 min, basis: judgement}\n")
    assert found.code == "defined-twice"
    assert found.span is not None
    assert found.span.file.endswith("errata/changes.yaml")
    assert "base/content.yaml:10:3" in found.message.en


def test_a_pack_left_out_takes_its_changes_with_it(tmp_path: Path) -> None:
    base = write_pack(tmp_path, "base", vocabulary=VOCABULARY, content=BASE)
    errata = write_pack(tmp_path, "errata", changes="changes:\n  - {at: constants.warm_up, was: 30 min, set: 1 h, because: So.}\n")
    with_errata, bare = compile_packs([base, errata]), compile_packs([base, errata], without=frozenset({"errata"}))
    assert [with_errata.constants["warm_up"].value.low, bare.constants["warm_up"].value.low] == [3600.0, 1800.0]
    assert [pack.name for pack in bare.packs] == ["base"]


@pytest.mark.parametrize(
    ("order", "without", "message"),
    [
        (["mine"], [], "'mine' builds on 'base', which is not loaded"),
        (["mine", "base"], [], "'mine' builds on 'base', which comes after it"),
        (["base", "mine"], ["base"], "'mine' builds on 'base', which is left out"),
    ],
)
def test_required_packs_come_first(tmp_path: Path, order: list[str], without: list[str], message: str) -> None:
    write_pack(tmp_path, "base", vocabulary=VOCABULARY)
    write_pack(tmp_path, "mine", requires="[base]")
    with pytest.raises(ExpertError) as caught:
        compile_packs([tmp_path / name for name in order], without=frozenset(without))
    assert [(found.code, found.message.en) for found in caught.value.diagnostics] == [("missing-pack", message)]


def test_a_pack_named_twice_is_one_mistake(tmp_path: Path) -> None:
    # A stale change stands above: with the pack applied twice it would be reported first, and every id as defined twice.
    base = write_pack(tmp_path, "base", vocabulary=VOCABULARY, content=BASE, rules=RULES)
    layer = write_pack(tmp_path, "errata", changes="changes:\n  - {at: constants.warm_up, was: 30 min, set: 1 h, because: So.}\n")
    again = tmp_path / "errata" / ".." / "base"
    for folders, name in (([base, layer, again], "base"), ([base, layer, layer], "errata")):
        with pytest.raises(ExpertError) as caught:
            compile_packs(folders)
        (found,) = caught.value.diagnostics
        assert (found.code, name in found.message.en, "each time from" in found.message.en) == ("defined-twice", True, True)


def test_two_packs_of_one_name_are_one_mistake_with_both_folders(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    base = write_pack(tmp_path, "base", vocabulary=VOCABULARY, content=BASE)
    other = write_pack(tmp_path / "mine", "base", vocabulary=VOCABULARY, content=BASE, rules=RULES)
    with pytest.raises(ExpertError) as caught:
        compile_packs([base, other])
    (found,) = caught.value.diagnostics
    assert found.code == "defined-twice"
    assert found.span is not None
    assert found.span.file == f"{other.as_posix()}/pack.yaml"
    assert base.as_posix() in found.message.en
    assert other.as_posix() in found.message.en


def test_what_a_missing_pack_would_declare_is_not_reported(tmp_path: Path) -> None:
    # Both rules read facts of `base`; each pack above it is told once that `base` is not there.
    base = write_pack(tmp_path, "base", vocabulary=VOCABULARY)
    first = write_pack(tmp_path, "first", requires="[base]", rules="rules:\n" + rule("one", "warn: {severity: info, message: A}"))
    second = write_pack(tmp_path, "second", requires="[first, base]", rules="rules:\n" + rule("two", "warn: {severity: bad}", "workload.x"))
    with pytest.raises(ExpertError) as caught:
        compile_packs([base, first, second], without=frozenset({"base"}))
    assert [found.code for found in caught.value.diagnostics] == ["missing-pack", "missing-pack"]
    assert [found.message.en.partition("'base'")[2] for found in caught.value.diagnostics] == [", which is left out"] * 2


def test_a_pack_folder_that_is_not_there_is_not_missed_as_well(tmp_path: Path) -> None:
    mine = write_pack(tmp_path, "mine", requires="[base]", rules="rules:\n" + rule("two", "warn: {severity: bad}", "workload.x"))
    with pytest.raises(ExpertError) as caught:
        compile_packs([tmp_path / "base", mine])
    assert [found.code for found in caught.value.diagnostics] == ["pack-folder"]


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ("at: facts.workload.steps.type, was: number, set: text", 8),
        ("at: facts.workload.steps.whole, set: true", 8),
        ("at: facts.workload.urgent.from, set: tables.cards", 8),
        ("at: facts.design.fabric.protected, set: true", 8),
        ("at: facts.design.fabric.choices, was: {roce: RoCE, ib: InfiniBand}, set: {ib: InfiniBand}", 85),
        ("at: constants.warm_up.unit, set: h", 8),
        ("at: tables.cards.columns.memory, was: GiB, set: word", 8),
        ("at: tables.cards.title, set: Cards", 8),
        ("at: rules.slow-is-warned.for, set: {card: tables.cards}", 8),
        ("at: rules.slow-is-warned.require, set: {design.gpus: design.gpus > 1}", 8),
        ("at: rules.slow-is-warned.id, was: slow-is-warned, set: fast-is-warned", 8),
    ],
)
def test_what_other_rules_rest_on_is_refused_at_the_change(tmp_path: Path, change: str, place: int) -> None:
    found = refused(tmp_path, f"changes:\n  - {{{change}, because: It is a test.}}\n")
    assert found.span is not None
    assert (found.code, found.span.line) == ("not-changeable", 2)
    assert found.span.file.endswith("errata/changes.yaml")
    assert (found.span.column > 60) == (place > 60)


def test_choices_may_gain_a_word_and_a_text(tmp_path: Path) -> None:
    program = layered(tmp_path, """
        changes:
          - {at: facts.design.fabric.choices.eth, set: Ethernet, because: It is a test.}
          - {at: facts.design.fabric.choices.ib, was: InfiniBand, set: IB, because: It is a test.}
    """)  # fmt: skip
    declared = program.facts["design.fabric"]
    assert declared.domain is not None
    assert declared.domain.words == ("roce", "ib", "eth")
    assert declared.choice_texts["ib"].en == "IB"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("at: constants.warm_up, was: 30 min, set: 1 h", "at: constants.warm_up.value, was: 30 min, set: 2 h"),
        ("at: tables.cards.zeta.memory, was: 80, set: 96", "at: tables.cards.rows.zeta.memory, was: 96, set: 90"),
        ("at: rules.slow-is-warned.warn, was: {severity: info, message: Slow}, set: {severity: info, message: So}",
         "at: rules.slow-is-warned.warn.severity, was: info, set: error"),
        ("at: rules.slow-is-warned.warn.severity, was: info, set: error",
         "at: rules.slow-is-warned.warn, was: {severity: info, message: Slow}, set: {severity: info, message: So}"),
    ],
)  # fmt: skip
def test_a_place_is_changed_once_per_pack(tmp_path: Path, first: str, second: str) -> None:
    found = refused(tmp_path, f"changes:\n  - {{{first}, because: So.}}\n  - {{{second}, because: So.}}\n")
    assert found.span is not None
    assert (found.code, found.span.line) == ("changed-twice", 3)
    assert found.message.en.endswith("errata/changes.yaml:2:10")


def test_a_second_pack_may_change_it_again_and_is_told_who_spoke_last(tmp_path: Path) -> None:
    base = write_pack(tmp_path, "base", vocabulary=VOCABULARY, content=BASE)
    first = write_pack(tmp_path, "first", changes="changes:\n  - {at: constants.warm_up, was: 30 min, set: 1 h, because: So.}\n")
    for name, was in (("second", "1 h"), ("third", "30 min")):
        write_pack(tmp_path, name, changes=f"changes:\n  - {{at: constants.warm_up, was: {was}, set: 2 h, because: So.}}\n")
    assert compile_packs([base, first, tmp_path / "second"]).constants["warm_up"].value.low == 7200.0
    with pytest.raises(ExpertError) as caught:
        compile_packs([base, first, tmp_path / "third"])
    assert [(found.code, found.help.en) for found in caught.value.diagnostics] == [("change-stale", "'first' says 1 h now")]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ("at: constants.warm_up, was: 30 min, set: fast", "wrong-kind"),
        ("at: constants.bytes_per_parameter, was: 6, set: 6 GB", "wrong-unit"),
        ("at: constants.vendor, was: acme, set: 3", "wrong-kind"),
    ],
)
def test_a_changed_constant_keeps_its_kind(tmp_path: Path, change: str, code: str) -> None:
    content = BASE + "  vendor: {value: acme, basis: judgement}\n"
    base = write_pack(tmp_path, "base", vocabulary=VOCABULARY, content=content, rules=RULES)
    layer = write_pack(tmp_path, "errata", changes=f"changes:\n  - {{{change}, because: It is a test.}}\n")
    with pytest.raises(ExpertError) as caught:
        compile_packs([base, layer])
    (found,) = caught.value.diagnostics
    assert found.span is not None
    assert (found.code, found.span.file) == (code, f"{layer.as_posix()}/changes.yaml")
