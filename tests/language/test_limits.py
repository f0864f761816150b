"""How large packs may be: combinations of rows, rows, mistakes; what lies just within is taken."""

from __future__ import annotations

from pathlib import Path

import pytest

from expert.errors import ExpertError
from expert.language.compiler import compile_packs
from tests.language.smallpacks import VOCABULARY, compile_text, mistakes, rule, write_pack


def table(rows: int) -> str:
    """A table with so many rows."""
    return "tables:\n  steps:\n    columns: {of: number}\n    rows:\n" + "".join(f"      r{n}: {{of: {n}}}\n" for n in range(rows))


def counted(name: str, variables: int) -> str:
    """A rule that runs over the table in so many variables."""
    listed = ", ".join(f"v{n}: tables.steps" for n in range(variables))
    return rule(name, "conclude: {estimate.load: v0.of}", more=f"for: {{{listed}}}")


@pytest.mark.parametrize(("rows", "variables", "ok"), [(100, 2, True), (101, 2, False), (10, 4, True), (10, 5, False), (0, 9, True)])
def test_combinations_of_one_rule(tmp_path: Path, rows: int, variables: int, ok: bool) -> None:
    sections = (table(rows) if rows else table(0).rstrip() + " {}\n", "rules:\n" + counted("steps-count", variables))
    if ok:
        assert set(compile_text(tmp_path, *sections).rules) == {"steps-count"}
        return
    (found,) = mistakes(tmp_path, *sections)
    assert found.code == "too-many-combinations"
    assert f" = {rows**variables:,} combinations" in found.message.en


def test_combinations_of_all_rules_together(tmp_path: Path) -> None:
    # 20 rules of 100 x 100 rows are 200,000: the limit itself. One more rule of one variable adds 100.
    rules = "rules:\n" + "".join(counted(f"steps-count-{n}", 2) for n in range(20))
    assert len(compile_text(tmp_path, table(100), rules).rules) == 20
    (tmp_path / "over").mkdir()
    (found,) = mistakes(tmp_path / "over", table(100), rules + counted("steps-count-once", 1))
    assert (found.code, "21 rules" in found.message.en, "200,100" in found.message.en) == ("too-many-combinations", True, True)
    assert found.help.en.startswith("'steps-count-0' makes most, 10,000")


def test_rows_of_a_table_are_counted_over_all_layers(tmp_path: Path) -> None:
    base = write_pack(tmp_path, "base", vocabulary=VOCABULARY, tables=table(10_000))
    assert len(compile_packs([base]).tables["steps"].rows) == 10_000
    layer = write_pack(tmp_path, "layer", tables="tables: {steps: {rows: {one-more: {of: 1}}}}\n")
    with pytest.raises(ExpertError) as caught:
        compile_packs([base, layer])
    assert [(found.code, found.message.en) for found in caught.value.diagnostics] == [
        ("too-many-rows", "the table 'steps' has 10,001 rows; at most 10,000 are taken")
    ]


def test_checking_stops_after_two_hundred_mistakes(tmp_path: Path) -> None:
    rules = "rules:\n" + "".join(rule(f"rule-{n}", "warn: {severity: info, message: So}", f"workload.nothing_{n} > 1") for n in range(300))
    found = mistakes(tmp_path, rules)
    assert [one.code for one in found] == ["too-many-mistakes"] + ["unknown-fact"] * 200


def test_a_pack_of_many_files_may_have_so_much_in_all(tmp_path: Path) -> None:
    # 8 files of the largest size are legal; tests/language/test_broken_packs.py has 9. Two files are very short.
    pack = write_pack(tmp_path, "base", vocabulary=VOCABULARY)
    for number in range(7):
        (pack / f"part-{number}.yaml").write_text("constants: {}\n" + "#" * (512 * 1024 - 200))
    assert compile_packs([pack]).packs[0].name == "base"


def test_entries_are_counted_over_all_packs(tmp_path: Path) -> None:
    # The small vocabulary has 7 facts; 4,993 more are the limit.
    facts = "facts:\n" + "".join(f"  workload.f{n}: {{type: number}}\n" for n in range(4_993))
    base = write_pack(tmp_path, "base", vocabulary=VOCABULARY, facts=facts)
    assert len(compile_packs([base]).facts) == 5_000
    layer = write_pack(tmp_path, "layer", facts="facts:\n  workload.one_more: {type: number}\n")
    with pytest.raises(ExpertError) as caught:
        compile_packs([base, layer])
    (found,) = caught.value.diagnostics
    assert found.span is not None
    assert (found.code, found.span.file) == ("too-many-entries", f"{layer.as_posix()}/facts.yaml")
