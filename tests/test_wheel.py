"""The wheel is whole: built, installed in an empty environment away from the checkout, and used there."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PIP = (sys.executable, "-I", "-m", "pip", "--disable-pip-version-check", "--no-input")


def has_cli() -> bool:
    """Whether the command line is there: looking for a module in a package that is missing raises."""
    return importlib.util.find_spec("expert.cli") is not None and importlib.util.find_spec("expert.cli.main") is not None


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = (*PIP, "wheel", ROOT, "--no-deps", "--no-index", "--no-build-isolation", "--quiet", "--wheel-dir", folder)
    subprocess.run([str(part) for part in command], cwd=folder, check=True)
    (built,) = folder.glob("expert-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` folder of a fresh environment that holds the wheel, and reaches the libraries of this one.

    A .pth file adds those libraries' folder as a plain path, in which .pth files, such as an editable install's, stay unread.
    """
    folder = tmp_path_factory.mktemp("away") / "an environment"
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    site = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder), "installed_base": str(folder)}))
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    command = (*PIP, "--python", python, "install", "--no-deps", "--no-index", "--quiet", wheel)
    subprocess.run([str(part) for part in command], cwd=folder, check=True)
    return python.parent


def run(command: list[str], cwd: Path) -> str:
    """What a command prints, run in an environment without this checkout; it must end with 0 and without a traceback."""
    environ = {"PATH": os.defpath, "HOME": str(cwd), "LANG": "C.UTF-8"}
    done = subprocess.run(command, cwd=cwd, env=environ, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    return done.stdout


def test_the_wheel_carries_packs_and_interface_and_nothing_else(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    in_checkout = {path.relative_to(ROOT / "rules").as_posix() for path in (ROOT / "rules").rglob("*") if path.is_file()}
    assert {f"expert/_rules/{name}" for name in in_checkout} <= names
    assert {f"{pack.parent.name}" for pack in (ROOT / "rules").glob("*/pack.yaml")} >= {"base", "errata"}
    assert {"expert/tui/__init__.py", "expert/places.py", "expert/py.typed"} <= names
    assert {name.split("/")[0] for name in names} == {"expert", f"{wheel.name.removesuffix('-py3-none-any.whl')}.dist-info"}
    assert not [name for name in names if "__pycache__" in name or (name.split("/")[0] == "tests" or name.startswith("expert/tests/"))]


def test_the_package_comes_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    code = "import expert, expert.tui, expert.places as p; print(expert.__file__, p.builtin_rules(), p.tui_module(), sep='\\n')"
    package, rules, tui = run([str(installed / "python"), "-c", code], tmp_path).splitlines()
    assert Path(package).is_relative_to(installed.parent)
    assert Path(rules) == Path(package).parent / "_rules"
    assert tui == "expert.tui"


@pytest.mark.skipif(not has_cli(), reason="the command line is not there")
def test_main_commands_run_away_from_the_checkout(installed: Path, tmp_path: Path) -> None:
    expert = str(installed / "expert")
    assert run([expert, "--version"], tmp_path).strip().endswith("0.1.0")
    assert run([expert, "catalog"], tmp_path)
    run([expert, "init", "-o", "plan.yaml"], tmp_path)
    assert (tmp_path / "plan.yaml").is_file()
    for command in ("recommend", "explain"):
        assert run([expert, command, "plan.yaml"], tmp_path)
