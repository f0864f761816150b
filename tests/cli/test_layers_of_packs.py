"""Which packs speak: built-in ones, installed ones, those of a settings file, those of --pack; and what the command line overrules."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from expert.cli.main import main
from expert.installed import installed_packs
from tests.bicycle.consulting import ROOT

BICYCLE = ROOT / "tests/bicycle"
PLAN = (BICYCLE / "plan.yaml").read_text("utf-8")
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """The command line, called in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EXPERT_CACHE_DIR", "off")
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)

    def call(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        return code, *capsys.readouterr()

    return call


def pack(parent: Path, name: str, reserve: str, requires: str = "bicycle") -> Path:
    """A pack that changes the reserve of the bicycle pack: which of several stands last can be seen in the result."""
    folder = parent / name
    folder.mkdir(parents=True)
    (folder / "pack.yaml").write_text(f"pack: {name}\nversion: '1'\nrequires: [{requires}]\n", "utf-8")
    change = f"""\
        changes:
          - at: constants.reserve.value
            was: {{any: [1.5, 1.1, 2, 3, 4]}}
            set: {reserve}
            because: {{en: a test, zh: 测试}}
        """
    (folder / "changes.yaml").write_text(dedent(change), "utf-8")
    return folder


def settings(folder: Path, text: str) -> Path:
    path = folder / "expert.yaml"
    path.write_text(dedent(text), "utf-8")
    return path


def plan(folder: Path) -> str:
    folder.mkdir(exist_ok=True)
    (folder / "plan.yaml").write_text(PLAN, "utf-8")
    return str(folder / "plan.yaml")


def packs_and_need(out: str) -> tuple[list[str], float]:
    advice = json.loads(out)
    return [pack["name"] for pack in advice["packs"]], advice["needs"]["need.range"]["value"]


def install(site: Path, distribution: str, *entries: str) -> None:
    """What an installer leaves behind: metadata with entry points."""
    folder = site / f"{distribution}-1.0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n", "utf-8")
    (folder / "entry_points.txt").write_text("\n".join(["[console_scripts]", "x = y:z", "", "[expert.packs]", *entries]) + "\n", "utf-8")


# ------------------------------------------------------------------------------------------- the settings file


def test_settings_name_packs_relative_to_their_file(run: Run, tmp_path: Path) -> None:
    where = tmp_path / "plans"
    given = plan(where)
    settings(where, f"packs: [{BICYCLE}/base, ../mine]\nwithout: [base, errata]\nengine: reference\n")
    pack(tmp_path, "mine", "2")
    code, out, err = run("recommend", given, "--format", "json")
    assert (code, err) == (0, "")
    # 40 km a day with a reserve of 2.
    assert packs_and_need(out) == (["bicycle", "mine"], 80)
    assert json.loads(out)["engine"] == "reference"


def test_the_pack_line_shows_every_pack(run: Run, tmp_path: Path) -> None:
    given = plan(tmp_path)
    settings(tmp_path, f"packs: [{BICYCLE}/base, mine]\nwithout: [base, errata]\nengine: reference\n")
    pack(tmp_path, "mine", "2")
    other = pack(tmp_path, "yours", "3")
    assert "packs bicycle 1.0, mine 1, yours 1; engine reference" in run("recommend", given, "--pack", str(other))[1]


def test_the_folder_of_the_plan_comes_before_the_working_folder(run: Run, tmp_path: Path) -> None:
    given = plan(tmp_path / "plans")
    settings(tmp_path, f"packs: [{BICYCLE}/base]\nwithout: [base, errata]\nengine: reference\n")
    assert packs_and_need(run("recommend", given, "--format", "json")[1])[0] == ["bicycle"]
    settings(tmp_path / "plans", f"packs: [{BICYCLE}/base, ../mine]\nwithout: [base, errata]\nengine: reference\n")
    pack(tmp_path, "mine", "2")
    assert packs_and_need(run("recommend", given, "--format", "json")[1])[0] == ["bicycle", "mine"]
    assert "Bicycles" in run("catalog")[1]


def test_the_command_line_wins(run: Run, tmp_path: Path) -> None:
    given = plan(tmp_path)
    pack(tmp_path, "mine", "2")
    other = pack(tmp_path, "yours", "3")
    settings(tmp_path, f"packs: [{BICYCLE}/base, mine]\nwithout: [base, errata]\nengine: durable\nlang: zh\n")
    code, out, _ = run("recommend", given, "--pack", str(other), "--engine", "reference", "--lang", "en", "--format", "json")
    assert code == 0
    assert packs_and_need(out) == (["bicycle", "mine", "yours"], 120)
    assert json.loads(out)["engine"] == "reference"
    code, out, _ = run(
        "recommend", given, "--pack", str(tmp_path / "mine"), "--without", "mine", "--engine", "reference", "--format", "json"
    )
    # Without either the pack's own reserve of one half holds.
    assert packs_and_need(out) == (["bicycle"], 60)


def test_a_folder_that_is_named_twice_is_loaded_where_it_is_named_last(run: Run, tmp_path: Path) -> None:
    given = plan(tmp_path)
    mine, yours = pack(tmp_path, "mine", "2"), pack(tmp_path, "yours", "3")
    settings(tmp_path, f"packs: [{BICYCLE}/base, mine, yours]\nwithout: [base, errata]\nengine: reference\n")
    _, out, _ = run("recommend", given, "--pack", str(mine), "--format", "json")
    assert packs_and_need(out) == (["bicycle", "yours", "mine"], 80)
    assert yours.is_dir()


def test_settings_choose_the_language_of_results_and_mistakes(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = plan(tmp_path)
    settings(tmp_path, f"packs: [{BICYCLE}/base]\nwithout: [base, errata]\nengine: reference\nlang: zh\n")
    assert "方案完整" in run("recommend", given)[1]
    assert "没有名为 'site.nothing' 的事实" in run("recommend", given, "--set", "site.nothing=1")[2]
    monkeypatch.setenv("LANG", "en_GB.UTF-8")
    assert "方案完整" in run("recommend", given)[1]
    assert "a complete design" in run("recommend", given, "--lang", "en")[1]


def test_a_plan_called_like_the_settings_is_a_plan(run: Run, tmp_path: Path) -> None:
    (tmp_path / "expert.yaml").write_text(PLAN, "utf-8")
    base = ["--pack", str(BICYCLE / "base"), "--without", "base", "--without", "errata", "--engine", "reference"]
    assert run("recommend", "expert.yaml", *base)[0] == 0


@pytest.mark.parametrize(
    ("text", "code", "place", "says"),
    [
        ("pakcs: [x]\n", "unknown-key", "1:1", "did you mean 'packs'?"),
        ("lang: en\nengine: durabel\n", "unknown-value", "2:9", "did you mean 'durable'?"),
        ("lang: fr\n", "unknown-language", "1:7", "en, zh"),
        ("packs:\n  - nowhere\n", "pack-folder", "2:5", "there is no pack folder 'nowhere'"),
        ("without: [erata]\n", "unknown-pack", "1:11", "did you mean 'errata'?"),
        ("- packs\n", "wrong-shape", "1:1", "a settings file is a mapping"),
        ("packs: {a: b}\n", "wrong-shape", "1:8", "a pack folder is a list"),
        ("lang: no\n", "boolean-word", "1:7", "'no'"),
    ],
)
def test_a_mistake_in_the_settings_has_its_place(run: Run, tmp_path: Path, text: str, code: str, place: str, says: str) -> None:
    settings(tmp_path, text)
    found, out, err = run("recommend", plan(tmp_path), "--engine", "reference")
    assert (found, out) == (2, "")
    assert f"expert.yaml:{place}: error[{code}]: " in err
    assert says in err
    assert err.count("error[") == 1


def test_all_mistakes_of_the_settings_come_at_once(run: Run, tmp_path: Path) -> None:
    settings(tmp_path, "pakcs: [x]\nengine: durabel\nlang: fr\n")
    assert run("catalog")[2].count("error[") == 3


# ------------------------------------------------------------------------------------------- installed packs


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of installed distributions, one of which would leave a trace if any of its code ran."""
    folder = tmp_path / "site"
    package = folder / "company_rules"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise SystemExit('the package was imported')\n", "utf-8")
    pack(package, "zeal", "3")
    pack(package, "calm", "2")
    install(folder, "company-rules", "b = company_rules:calm", "a = company_rules:zeal")
    monkeypatch.syspath_prepend(str(folder))
    return folder


BASE = ["--without", "base", "--without", "errata", "--engine", "reference", "--format", "json"]


def test_installed_packs_come_by_name_before_settings_and_flags_and_run_nothing(run: Run, tmp_path: Path, site: Path) -> None:
    given = plan(tmp_path)
    # The bicycle pack must come first: an entry point whose name sorts before the others brings it.
    (site / "company_rules" / "bicycle").symlink_to(BICYCLE / "base")
    install(site, "bikes", "_first = company_rules:bicycle")
    pack(tmp_path, "mine", "4")
    settings(tmp_path, "packs: [mine]\n")
    code, out, err = run("recommend", given, *BASE)
    assert (code, err) == (0, "")
    # a (zeal), then b (calm), then the settings file: the order of names, not of the file.
    assert packs_and_need(out) == (["bicycle", "zeal", "calm", "mine"], 160)
    _, out, _ = run("recommend", given, *BASE, "--without", "mine")
    assert packs_and_need(out) == (["bicycle", "zeal", "calm"], 80)
    _, out, _ = run("recommend", given, *BASE, "--without", "mine", "--without", "calm")
    assert packs_and_need(out) == (["bicycle", "zeal"], 120)


def test_an_entry_point_that_leads_nowhere_is_named_and_can_be_left_out(run: Run, tmp_path: Path, site: Path) -> None:
    install(site, "broken", "lost = company_rules:nothing", "odd = 'a b'")
    code, _, err = run("catalog")
    assert code == 2
    assert err.count("error[installed-pack]") == 2
    assert "the installed pack 'lost' has no folder: 'company_rules:nothing'" in err
    base = ["--without", "base", "--without", "errata", "--pack", str(BICYCLE / "base")]
    code, _, err = run("catalog", "--without", "lost", "--without", "odd", "--without", "zeal", "--without", "calm", *base)
    assert (code, err) == (0, "")


def test_other_groups_bring_no_pack(tmp_path: Path) -> None:
    folder = tmp_path / "other-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Name: other\nVersion: 1.0\n", "utf-8")
    (folder / "entry_points.txt").write_text("[pytest11]\nexpert.packs = other\n", "utf-8")
    assert installed_packs([str(tmp_path), str(tmp_path / "missing"), str(tmp_path / "x.zip")]) == ()


def test_without_installed_packs_looking_costs_little() -> None:
    script = "import sys; from expert.installed import installed_packs as f; f(); print('importlib.metadata' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert found.stdout == "False\n"
    times = []
    for _ in range(5):
        start = time.perf_counter()
        installed_packs()
        times.append(time.perf_counter() - start)
    assert min(times) < 0.02  # under 0.005 on an idle machine


# ---------------------------------------------------------------------------------------- hostile settings


def a_folder(path: Path) -> None:
    path.mkdir()


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def a_broken_link(path: Path) -> None:
    path.symlink_to("nowhere.yaml")


def a_large_file(path: Path) -> None:
    path.write_text("lang: en\n" + "# filler\n" * 20_000)


def an_alias_bomb(path: Path) -> None:
    pairs = zip("abcdefgh", "bcdefghi", strict=True)
    path.write_text("a: &a [x, x, x, x, x, x, x, x, x]\n" + "\n".join(f"{b}: &{b} [{', '.join(['*' + a] * 9)}]" for a, b in pairs) + "\n")


def a_tag(path: Path) -> None:
    path.write_text("packs: !!python/object/apply:os.system [echo]\n")


def an_escape(path: Path) -> None:
    path.write_text('packs: ["\\e[2J\\0x"]\n')


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (a_folder, "not-a-file"),
        (a_pipe, "not-a-file"),
        (a_broken_link, "file-not-found"),
        (a_large_file, "file-too-large"),
        (an_alias_bomb, "too-many-nodes"),
        (a_tag, "tag-refused"),
        (an_escape, "pack-folder"),
    ],
)
def test_hostile_settings_are_one_error_at_once(run: Run, tmp_path: Path, make: Callable[[Path], None], code: str) -> None:
    make(tmp_path / "expert.yaml")
    start = time.process_time()
    found, out, err = run("catalog")
    assert time.process_time() - start < 2  # a third of that on an idle machine
    assert (found, out) == (2, "")
    assert err.startswith("expert.yaml:")
    assert err.count("error[") == 1
    assert f"error[{code}]: " in err
    assert not {"\x1b", "\0"} & set(err)
