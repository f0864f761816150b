"""The command line in process: commands, options, languages, exit codes, where output goes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from expert.cli import loading
from expert.cli.language import from_locale, pick_language
from expert.cli.main import COMMANDS, main
from expert.errors import ExpertError
from tests.bicycle.consulting import ROOT
from tests.golden_text import assert_golden

PACKS = ["--without", "base", "--without", "errata", "--pack", "tests/bicycle/base", "--pack", "tests/bicycle/shop"]
BICYCLE = [*PACKS, "--engine", "reference"]
PLAN = "tests/bicycle/plan.yaml"


@pytest.fixture(scope="module")
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch, cache_folder: Path) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("EXPERT_CACHE_DIR", str(cache_folder))
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("LC_ALL", "LC_MESSAGES", "LANG", "EXPERT_DEBUG"):
        monkeypatch.delenv(name, raising=False)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    out, err = capsys.readouterr()
    return code, out, err


def test_recommend_prints_the_report(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "recommend", PLAN, *BICYCLE)
    assert (code, err) == (0, "")
    assert_golden("bicycle-recommend-complete.en.txt", out)


def test_recommend_exits_3_when_nothing_satisfies_what_is_fixed(capsys: pytest.CaptureFixture[str]) -> None:
    pins = ["--set", "design.bike=volt-9", "--set", "site.distance=100"]
    assert run(capsys, "recommend", PLAN, *BICYCLE, *pins)[0] == 3
    assert run(capsys, "explain", PLAN, *BICYCLE, *pins)[0] == 0


@pytest.mark.parametrize("command", ["recommend", "explain"])
def test_a_plan_outside_the_packs_knowledge_exits_3(capsys: pytest.CaptureFixture[str], command: str) -> None:
    code, out, _ = run(capsys, command, PLAN, *BICYCLE, "--set", "site.distance=301")
    assert code == 3
    assert "outside what I know (0 km – 300 km)" in out


def test_json_goes_to_standard_output_whole(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "recommend", PLAN, *BICYCLE, "--format", "json")
    assert (code, err) == (0, "")
    assert json.loads(out)["decisions"]["design.bike"]["value"] == "volt-9"


def test_explain_takes_a_fact_or_a_rule(capsys: pytest.CaptureFixture[str]) -> None:
    _, fact, _ = run(capsys, "explain", PLAN, "need.range", *BICYCLE)
    assert "= 40 km * 1.1 = 44 km" in fact
    assert run(capsys, "explain", PLAN, *BICYCLE, "need.range")[1] == fact
    _, rule, _ = run(capsys, "explain", PLAN, "hills-prefer-a-motor", *BICYCLE)
    assert "Far rides in hills prefer a motor" in rule
    code, _, err = run(capsys, "explain", PLAN, "need.rangee", *BICYCLE)
    assert code == 2
    assert "did you mean 'need.range'?" in err


def test_a_file_is_written_whole_and_standard_output_stays_empty(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    target = tmp_path / "report.txt"
    target.write_text("old", "utf-8")
    code, out, _ = run(capsys, "recommend", PLAN, *BICYCLE, "-o", str(target))
    assert (code, out) == (0, "")
    assert_golden("bicycle-recommend-complete.en.txt", target.read_text("utf-8"))
    assert [path.name for path in tmp_path.iterdir()] == ["report.txt"]
    code, _, err = run(capsys, "recommend", PLAN, *BICYCLE, "-o", str(tmp_path / "none" / "x"))
    assert code == 2
    assert "output-unwritable" in err


def test_the_locale_or_the_flag_picks_the_language(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(capsys, "recommend", PLAN, *BICYCLE, "--lang", "zh")[1].startswith("the long way to work：方案完整")
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert run(capsys, "--help")[1].startswith("用法：")
    assert run(capsys, "--help", "--lang", "en")[1].startswith("usage:")
    assert "没有命令" in run(capsys, "recomend")[2]


@pytest.mark.parametrize(
    ("environ", "lang"),
    [
        ({}, "en"),
        ({"LANG": "zh_TW.UTF-8"}, "zh"),
        ({"LC_ALL": "C", "LANG": "zh_CN"}, "en"),
        ({"LC_ALL": "", "LC_MESSAGES": "zh_CN", "LANG": "de_DE"}, "zh"),
    ],
)
def test_the_first_locale_variable_that_is_set_counts(environ: dict[str, str], lang: str) -> None:
    assert from_locale(environ) == lang
    assert pick_language(["--lang=zh"], environ) == "zh"


def test_another_language_is_refused() -> None:
    with pytest.raises(ExpertError) as caught:
        pick_language(["--lang", "fr"], {})
    assert caught.value.diagnostics[0].code == "unknown-language"


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("command", ["", *COMMANDS, "rules lint", "rules test"])
def test_help_reads_as_it_was_reviewed(capsys: pytest.CaptureFixture[str], command: str, lang: str) -> None:
    assert main([*command.split(), "--help", "--lang", lang]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    if sys.version_info[:2] == (3, 11):  # later versions lay the usage out differently
        assert_golden(f"help-{command.replace(' ', '-') or 'expert'}.{lang}.txt", out)
    assert ("用法" in out) == (lang == "zh")


@pytest.mark.parametrize(
    ("arguments", "code", "help"),
    [
        (["recomend", "x"], "unknown-command", "did you mean 'recommend'?"),
        (["recommend", "--sett", "a=1", "x"], "unknown-option", "did you mean '--set'?"),
        (["--versoin"], "unknown-option", "did you mean '--version'?"),
        (["recommend"], "missing-argument", ""),
        (["recommend", "x", "--pack"], "missing-argument", ""),
        (["recommend", "x", "y"], "too-many-arguments", ""),
        (["recommend", "x", "--engine", "durabel"], "unknown-value", "did you mean 'durable'?"),
        (["recommend", "x", "--format", "yaml"], "unknown-value", "it is one of text, json"),
        (["rules", "tset"], "unknown-command", "did you mean 'test'?"),
        (["rules"], "missing-argument", "usage: expert rules lint|test"),
        (["explain", PLAN, "--topic", "rid", *BICYCLE], "unknown-target", "did you mean 'ride'?"),
        (["catalog", "biks", *PACKS], "unknown-table", "did you mean 'bikes'?"),
        (["recommend", PLAN, "--without", "erata"], "unknown-pack", "did you mean 'errata'?"),
        (["recommend", PLAN, "--pack", "nowhere"], "pack-folder", "a pack is a folder with a file 'pack.yaml'"),
    ],
)
def test_a_bad_call_is_one_error_with_the_nearest_right_word(
    capsys: pytest.CaptureFixture[str], arguments: list[str], code: str, help: str
) -> None:
    exit_code, out, err = run(capsys, *arguments)
    assert (exit_code, out) == (2, "")
    assert err.startswith(f"error[{code}]: ")
    assert f"= help: {help}" in err if help else "= help" not in err
    assert err.count("error[") == 1


def test_a_fault_of_the_program_is_one_line_and_exit_4(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("no\x1b[31mthing")

    monkeypatch.setattr(loading, "program_of", broken)
    monkeypatch.setattr("expert.cli.catalog.program_of", broken)
    code, out, err = run(capsys, "catalog")
    assert (code, out) == (4, "")
    assert err == "internal fault: RuntimeError: no\\x1b[31mthing (please report it; EXPERT_DEBUG=1 shows where)\n"
    monkeypatch.setenv("EXPERT_DEBUG", "1")
    assert "Traceback" in run(capsys, "catalog")[2]


def test_an_interrupt_ends_with_130(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("expert.cli.catalog.program_of", interrupted)
    assert run(capsys, "catalog") == (130, "", "interrupted\n")


def test_without_durable_the_reference_engine_answers_and_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "_DURABLE", "expert.engine.there_is_none")
    code, out, err = run(capsys, "recommend", PLAN, *PACKS)
    assert (code, err) == (0, "durable_rules cannot be imported: the reference engine answers\n")
    assert "engine reference" in out
    code, out, err = run(capsys, "recommend", PLAN, *PACKS, "--engine", "durable")
    assert (code, out) == (2, "")
    assert err.startswith("error[engine-missing]: ")


def test_init_writes_a_plan_that_runs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for lang in ("en", "zh"):
        path = tmp_path / f"{lang}.yaml"
        assert run(capsys, "init", "--lang", lang, "-o", str(path))[0] == 0
        assert path.read_text("utf-8").startswith("#")
        assert run(capsys, "recommend", str(path), "--engine", "reference")[0] == 0
    _, out, _ = run(capsys, "init")
    assert out == (ROOT / "docs/examples/plan.yaml").read_text("utf-8")


def test_catalog_lists_tables_and_rows(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "catalog", *PACKS)[1] == "currencies            2\nbikes       Bicycles  3\n"
    _, out, _ = run(capsys, "catalog", "bikes", *PACKS)
    assert_golden("bicycle-catalog-bikes.en.txt", out)
    _, out, _ = run(capsys, "catalog", "bikes", *PACKS, "--format", "json")
    rows = json.loads(out)["bikes"]["rows"]
    assert rows["volt-9"]["price"] == {"low": 1900, "typical": None, "high": 2100}


def test_rules_test_exits_1_when_something_fails(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(capsys, "rules", "test", "tests/bicycle/base") == (0, "15 tests, 0 failed\n", "")
    folder = tmp_path / "mine"
    (folder / "tests").mkdir(parents=True)
    (folder / "pack.yaml").write_text("pack: mine\nversion: '1'\nrequires: [bicycle]\n", "utf-8")
    scenario = "scenarios:\n  - name: a wrong one\n    given: {site.distance: 5}\n    expect: {design.bike: volt-9}\n    why: none\n"
    (folder / "tests/wrong.yaml").write_text(scenario, "utf-8")
    code, out, _ = run(capsys, "rules", "test", "tests/bicycle/base", str(folder))
    assert code == 1
    assert "a wrong one" in " ".join(out.split())
    assert "design.bike: expected volt-9, got City 7" in " ".join(out.split())
    assert out.endswith("16 tests, 1 failed\n")


def test_rules_lint_shows_warnings_with_their_lines(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(capsys, "rules", "lint", "tests/bicycle/base") == (0, "9 rules, 0 warnings\n", "")
    (tmp_path / "pack.yaml").write_text("pack: lax\nversion: '1'\n", "utf-8")
    (tmp_path / "facts.yaml").write_text("topics: {t: {en: T, zh: T}}\nfacts:\n  design.x: {type: yes-no, topic: t}\n", "utf-8")
    code, out, _ = run(capsys, "rules", "lint", str(tmp_path))
    assert code == 0
    assert "warning[" in out
    assert "3 |   design.x: {type: yes-no, topic: t}" in out
    assert run(capsys, "rules", "lint", str(tmp_path), "--strict")[0] == 1


# ------------------------------------------------------------------------------------- as a process of its own


def process(*arguments: str, **settings: object) -> subprocess.CompletedProcess[bytes]:
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "expert", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, timeout=30, check=False, **settings)  # type: ignore[call-overload,no-any-return]


def test_help_needs_no_more_than_a_moment() -> None:
    times = []
    for _ in range(3):
        start = time.monotonic()
        assert process("--help").returncode == 0
        times.append(time.monotonic() - start)
    assert min(times) < 0.5  # a tenth of a second on an idle machine; a loaded one must not fail the test


def test_help_imports_neither_yaml_nor_rich_nor_pydantic() -> None:
    heavy = {"yaml", "rich", "pydantic", "argparse", "expert.language.program"}
    script = f"import sys; from expert.cli.main import main; main(['--help']); print(sorted({heavy} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert found.stdout.endswith("\n[]\n")


def test_a_reader_that_has_had_enough_is_no_error() -> None:
    command = f"{sys.executable} -m expert explain {PLAN} {' '.join(BICYCLE)} --format json | head -c 10"
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    found = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"], cwd=ROOT, env=environ, capture_output=True, timeout=30, check=False
    )
    assert (found.returncode, found.stderr) == (0, b"")
    assert found.stdout == b'{\n  "advic'


def test_a_plan_may_come_through_a_pipe() -> None:
    found = process("recommend", "-", *BICYCLE, input=(ROOT / PLAN).read_bytes())
    assert found.returncode == 0
    assert b"<stdin>:6" in found.stdout


def test_the_bytes_do_not_depend_on_the_hash_seed_or_the_encoding() -> None:
    outputs = set()
    for seed, encoding in (("1", "ascii"), ("2", "utf-8")):
        environ = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed, "PYTHONIOENCODING": encoding, "EXPERT_CACHE_DIR": "off"}
        command = [sys.executable, "-m", "expert", "explain", PLAN, *BICYCLE, "--format", "json", "--lang", "zh"]
        outputs.add(subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, timeout=30, check=True).stdout)
    assert len(outputs) == 1


@pytest.mark.parametrize("redirection", [">&-", ">/dev/full", "1</dev/null"])
@pytest.mark.parametrize(
    "command",
    [
        f"recommend {PLAN} {' '.join(BICYCLE)}",
        f"recommend {PLAN} {' '.join(BICYCLE)} --format json",
        "recommend --help", "--version", "rules --help", "init",
    ],
)  # fmt: skip
def test_a_standard_output_that_is_closed_or_full_is_one_line(command: str, redirection: str) -> None:
    found = shell(f"{command} {redirection}")
    assert found.returncode == 2
    assert re.fullmatch(r"error\[output-unwritable\]: standard output cannot be written: [^\n]+\n", found.stderr)
    assert re.fullmatch(r"错误\[output-unwritable\]: 无法写入标准输出：[^\n]+\n", shell(f"--lang zh {command} {redirection}").stderr)


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
def test_a_standard_error_that_is_closed_or_full_changes_no_exit_code(redirection: str) -> None:
    good, bad = shell(f"recommend {PLAN} {' '.join(BICYCLE)} {redirection}"), shell(f"nonsense {redirection}")
    assert (good.returncode, good.stderr) == (0, "")
    assert good.stdout == shell(f"recommend {PLAN} {' '.join(BICYCLE)}").stdout
    assert (bad.returncode, bad.stdout, bad.stderr) == (2, "", "")


def test_a_standard_input_that_is_closed_is_one_line() -> None:
    for redirection in ("<&-", "0>/dev/null"):
        found = shell(f"recommend - {redirection}")
        assert (found.returncode, found.stdout) == (2, "")
        assert found.stderr == "error[file-unreadable]: standard input cannot be read: it is not open\n"


def test_a_file_is_written_although_no_stream_is_open(tmp_path: Path) -> None:
    path = tmp_path / "report.txt"
    assert shell(f"recommend {PLAN} {' '.join(BICYCLE)} -o {path} <&- >&- 2>&-").returncode == 0
    assert path.read_text("utf-8") == shell(f"recommend {PLAN} {' '.join(BICYCLE)}").stdout


@pytest.mark.parametrize(
    "arguments", [("init", "-o", ""), ("recommend", PLAN, "-o", ""), ("recommend", ""), ("recommend", PLAN, "--pack", "")]
)
def test_an_empty_path_is_refused(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]) -> None:
    assert main(arguments) == 2
    shown = capsys.readouterr().err
    assert shown.startswith("error[missing-argument]: ")
    assert " is empty\n" in shown


def shell(command: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    line = f"{sys.executable} -m expert {command}"
    return subprocess.run(["bash", "-c", line], cwd=ROOT, env=environ, capture_output=True, text=True, timeout=30, check=False)
