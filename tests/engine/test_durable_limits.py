"""The durable engine at its limits: each is named, and nothing is left behind."""

from __future__ import annotations

import gc
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("durable_rules_engine", exc_type=ImportError)

from expert.engine import durable, durable_driver, durable_probe
from expert.engine.durable import DurableEngine, durable_available, raw_share
from expert.engine.durable_raw import Definition
from expert.engine.firing import ReferenceEngine
from expert.errors import ExpertError
from expert.facts import Value, point
from expert.language.compiler import compile_packs
from expert.places import builtin_rules
from tests.benchmarks.synthetic import write_pack
from tests.engine.durable_packs import POINTS, fire, program_of, rows_of, warning


def test_a_word_too_long_names_its_limit(tmp_path: Path) -> None:
    program = program_of(tmp_path, warning("workload.task == red"))
    with pytest.raises(ExpertError) as caught:
        DurableEngine().fire(program, {"workload.task": "x" * 5000}, {})
    (found,) = caught.value.diagnostics
    assert (found.code, caught.value.exit_code) == ("engine-limit", 2)
    assert "text-bytes 5000 > 4096" in found.message.en
    assert "--engine reference" in found.help.en
    assert "--engine reference" in found.help.zh
    # Nothing is left behind: the next consultation works.
    assert rows_of(fire(program, {"workload.task": "red"})) == [()]


def test_a_text_of_any_length_may_be_known(tmp_path: Path) -> None:
    assert rows_of(fire(program_of(tmp_path, warning("known(workload.note)")), {**POINTS, "workload.note": "x" * 5000})) == [()]


def test_too_many_row_variables_name_their_limit(tmp_path: Path) -> None:
    loops = {f"v{i}": "tables.links" if i < 7 else "tables.single" for i in range(9)}
    program = program_of(tmp_path, warning(" or ".join(f"{name}.rate > 9" for name in loops), **{"for": loops}))
    with pytest.raises(ExpertError, match="row-variables 9 > 8"):
        DurableEngine().fire(program, {}, {})


def test_without_the_library_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "durable_rules_engine", None)
    assert not durable_available()
    with pytest.raises(ExpertError, match="not installed") as caught:
        DurableEngine().fire(program_of(tmp_path, warning("workload.a > 1")), {}, {})
    assert (caught.value.diagnostics[0].code, caught.value.exit_code) == ("engine-missing", 2)
    monkeypatch.undo()
    assert durable_available()


def test_a_program_is_compiled_once_and_the_last_ones_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (program_of(tmp_path / name, warning("workload.a > 1")) for name in ("first", "second"))
    fire(first, POINTS)
    ruleset = durable._RULESETS[first][1]
    fire(first, POINTS)
    assert durable._RULESETS[first][1] is ruleset
    handles = set(ruleset.handles)
    del ruleset
    monkeypatch.setattr(durable, "KEPT", 1)
    fire(second, POINTS)
    gc.collect()
    assert list(durable._RULESETS) == [second]
    assert not durable_driver._live & handles
    assert rows_of(fire(first, POINTS)) == [()]


def test_huge_rule_sets_are_probed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    probed: list[int] = []

    def probe(definition: Definition, deadline_seconds: float) -> None:
        probed.append(len(definition.rules))

    monkeypatch.setattr(durable_probe, "probe_in_child", probe)
    fire(program_of(tmp_path / "small", warning("workload.a > 1")), POINTS)
    monkeypatch.setattr(durable, "PROBE_RULES", 1)
    fire(program_of(tmp_path / "large", warning("workload.a > 1"), warning("workload.a > 2", name="v")), POINTS)
    assert probed == [2]


def test_two_thousand_rules(tmp_path: Path) -> None:
    stated: dict[str, Value] = {name: point(value) for name, value in write_pack(tmp_path / "p", 2000, 100).items()}
    program = compile_packs([tmp_path / "p"])
    started = time.process_time()
    found = DurableEngine().fire(program, stated, {})
    assert time.process_time() - started < 5
    expected = ReferenceEngine().fire(program, stated, {})
    assert len(found.matches) > 100
    assert (found.matches, dict(found.values)) == (expected.matches, dict(expected.values))


def test_shipped_packs_match_on_raw_facts() -> None:
    program = compile_packs([builtin_rules() / "base", builtin_rules() / "errata"])
    raw, total = raw_share(program)
    assert total > 100
    assert raw >= 0.9 * total
