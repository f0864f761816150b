"""Same plan, same packs: same bytes. Across hash seeds, folders, locales, caches and engines; and through Python as on the command line."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from expert import consult
from expert.language.program import Program
from expert.language.store import load_program
from expert.places import builtin_rules
from expert.plan import read_plan
from expert.report.json import advice_digest
from tests.bicycle.consulting import ROOT

EXAMPLES = ROOT / "docs/examples"
OTHER = ["--without", "base", "--without", "errata", "--pack", str(EXAMPLES / "ups-pack")]
PLANS = sorted(path.name for path in EXAMPLES.glob("*.yaml"))


def expert(*arguments: str, cwd: Path = ROOT, script: str = "", **environ: str) -> subprocess.CompletedProcess[bytes]:
    """The command line as a process of its own; `script` runs before it."""
    base = {name: value for name, value in os.environ.items() if name not in ("LANG", "LC_ALL", "LC_MESSAGES", "PYTHONHASHSEED")}
    code = f"{script}\nimport sys\nfrom expert.cli.main import main\nsys.exit(main())"
    command = [sys.executable, "-c", code, *arguments]
    path = os.pathsep.join(part for part in (environ.pop("FIRST", ""), str(ROOT)) if part)
    return subprocess.run(command, cwd=cwd, env=base | {"PYTHONPATH": path} | environ, capture_output=True, timeout=60, check=False)


def options_of(plan: str) -> list[str]:
    return [str(EXAMPLES / plan), *(OTHER if plan == "rack.yaml" else [])]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.mark.parametrize(("plan", "form"), [*((plan, "json") for plan in PLANS), ("plan.yaml", "text"), ("one-card.yaml", "text")])
def test_bytes_depend_on_neither_seed_nor_folder_nor_locale_nor_cache(plan: str, form: str, tmp_path: Path, cache: Path) -> None:
    cold = tmp_path / "cold"
    settings = [
        (ROOT, {"PYTHONHASHSEED": "1", "LANG": "C", "EXPERT_CACHE_DIR": "off"}),
        (tmp_path, {"PYTHONHASHSEED": "2", "LC_ALL": "zh_CN.UTF-8", "TZ": "Asia/Shanghai", "EXPERT_CACHE_DIR": str(cold)}),
        (Path("/"), {"PYTHONHASHSEED": "3", "LANG": "tr_TR.UTF-8", "PYTHONIOENCODING": "latin-1", "EXPERT_CACHE_DIR": str(cold)}),
    ]
    found = set()
    for cwd, environ in settings:
        done = expert("explain", *options_of(plan), "--engine", "reference", "--lang", "zh", "--format", form, cwd=cwd, **environ)
        assert done.stderr == b""
        found.add((done.returncode, done.stdout))
    assert len(found) == 1
    assert list(cold.glob("*.json"))


@pytest.mark.parametrize("plan", PLANS)
def test_engines_differ_in_their_name_only(plan: str, cache: Path) -> None:
    pytest.importorskip("durable_rules_engine")
    outputs = []
    for engine in ("reference", "durable"):
        done = expert("explain", *options_of(plan), "--engine", engine, "--lang", "en", "--format", "json", EXPERT_CACHE_DIR=str(cache))
        found = json.loads(done.stdout)
        assert found["engine"] == engine
        outputs.append(done.stdout.replace(f'"engine": "{engine}"'.encode(), b'"engine": ""', 1))
    assert outputs[0] == outputs[1]


def shuffled(value: object, rng: random.Random) -> object:
    """The same mapping with its keys in another order, at every depth."""
    if not isinstance(value, dict):
        return value
    keys = list(value)
    rng.shuffle(keys)
    return {key: shuffled(value[key], rng) for key in keys}


def program_for(plan: str) -> Program:
    return load_program([EXAMPLES / "ups-pack"] if plan == "rack.yaml" else [builtin_rules() / "base", builtin_rules() / "errata"])


@pytest.mark.parametrize("plan", PLANS)
def test_the_order_of_keys_changes_no_digest(plan: str) -> None:
    program, text = program_for(plan), (EXAMPLES / plan).read_text("utf-8")
    first = read_plan(text, program)
    wanted = first.digest, advice_digest(consult(first, program))
    # Plain YAML types of PyYAML: `33 %` and the like stay text, numbers numbers.
    tree = yaml.safe_load(text)
    for seed in range(3):
        other = read_plan(yaml.safe_dump(shuffled(tree, random.Random(seed)), sort_keys=False, allow_unicode=True), program)
        assert (other.digest, advice_digest(consult(other, program))) == wanted


@pytest.mark.parametrize("plan", PLANS)
def test_python_and_command_line_agree(plan: str, cache: Path) -> None:
    program = program_for(plan)
    advice = consult(read_plan(EXAMPLES / plan, program), program)
    for command in ("recommend", "explain") if plan == "plan.yaml" else ("recommend",):
        found = json.loads(expert(command, *options_of(plan), "--lang", "en", "--format", "json", EXPERT_CACHE_DIR=str(cache)).stdout)
        assert (found["digest"], found["plan"]["digest"]) == (advice_digest(advice), advice.plan_digest)
        assert [pack["digest"] for pack in found["packs"]] == [pack.digest for pack in advice.packs]


def test_a_flag_and_the_plan_give_the_same_digest(cache: Path) -> None:
    program = program_for("plan.yaml")
    text = (EXAMPLES / "plan.yaml").read_text("utf-8")
    stated = read_plan(text, program, ["design.gpus=128"])
    written = read_plan(text.replace("gpus: 64", "gpus: 128"), program)
    assert stated.digest == written.digest != read_plan(text, program).digest


# --------------------------------------------------------------------------------- without durable_rules


HIDDEN = "import sys; sys.modules['durable_rules_engine'] = None"
SAID = b"durable_rules cannot be imported: the reference engine answers\n"


@pytest.fixture(params=["hidden", "broken"])
def without_durable(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    """A process in which the compiled part is hidden, or is there and fails at import as a plain build on 3.13 does."""
    if request.param == "hidden":
        return {"script": HIDDEN}
    (tmp_path / "durable_rules_engine.py").write_text("raise ImportError('undefined symbol: PyEval_CallObject')\n", "utf-8")
    return {"FIRST": str(tmp_path)}


@pytest.mark.parametrize("command", ["recommend", "explain"])
def test_the_reference_engine_serves(command: str, without_durable: dict[str, str], cache: Path) -> None:
    settings = {**without_durable, "EXPERT_CACHE_DIR": str(cache)}
    arguments = [command, str(EXAMPLES / "plan.yaml"), "--lang", "en", "--format", "json"]
    served = expert(*arguments, **settings)
    asked = expert(*arguments, "--engine", "reference", EXPERT_CACHE_DIR=str(cache))
    assert (served.returncode, served.stderr) == (0, SAID)
    assert (asked.stderr, asked.stdout) == (b"", served.stdout)


def test_asking_for_durable_by_name_is_an_error(without_durable: dict[str, str], cache: Path) -> None:
    done = expert(
        "recommend", str(EXAMPLES / "plan.yaml"), "--engine", "durable", "--lang", "en", EXPERT_CACHE_DIR=str(cache), **without_durable
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"error[engine-missing]: ")


@pytest.mark.parametrize(
    "arguments",
    [
        ["init"],
        ["catalog", "gpus"],
        ["rules", "test", str(EXAMPLES / "ups-pack")],
        ["rules", "lint", str(EXAMPLES / "ups-pack"), "--strict"],
        ["--completion", "bash"],
        ["--version"],
    ],
    ids=" ".join,
)
def test_other_commands_need_no_engine_of_record(arguments: list[str], without_durable: dict[str, str], cache: Path) -> None:
    done = expert(*arguments, EXPERT_CACHE_DIR=str(cache), **without_durable)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout
