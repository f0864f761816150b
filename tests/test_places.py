"""Where packs, interface and cache are looked for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from expert.places import builtin_rules, cache_dir, tui_module

ROOT = Path(__file__).resolve().parent.parent


def test_a_checkout_has_packs_and_interface_beside_the_package() -> None:
    assert builtin_rules() == ROOT / "rules"
    assert tui_module() == "tui"


def test_an_installed_package_has_both_inside(tmp_path: Path) -> None:
    package = tmp_path / "site-packages" / "expert"
    (package / "_rules").mkdir(parents=True)
    (package / "tui").mkdir()
    assert builtin_rules(package) == package / "_rules"
    assert tui_module(package) == "expert.tui"


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"HOME": "{}"}, "{}/.cache/expert"),
        ({"HOME": "{}", "XDG_CACHE_HOME": "{}/xdg"}, "{}/xdg/expert"),
        ({"HOME": "{}", "XDG_CACHE_HOME": "xdg"}, "{}/.cache/expert"),
        ({"HOME": "{}", "XDG_CACHE_HOME": "{}/xdg", "EXPERT_CACHE_DIR": "{}/own"}, "{}/own"),
    ],
)
def test_the_cache_is_the_first_folder_named(tmp_path: Path, variables: dict[str, str], expected: str) -> None:
    found = cache_dir({name: value.format(tmp_path) for name, value in variables.items()})
    assert found == Path(expected.format(tmp_path))
    assert found.is_dir()


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"HOME": ""},
        {"HOME": "relative"},
        {"HOME": "{}", "EXPERT_CACHE_DIR": "off"},
        {"HOME": "/proc/nobody"},
        {"EXPERT_CACHE_DIR": "{}\0"},
    ],
)
def test_no_cache_is_no_error(tmp_path: Path, variables: dict[str, str]) -> None:
    assert cache_dir({name: value.format(tmp_path) for name, value in variables.items()}) is None
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_way_means_no_cache(tmp_path: Path) -> None:
    (tmp_path / ".cache").write_text("not a folder")
    assert cache_dir({"HOME": str(tmp_path)}) is None


def test_a_bare_import_loads_nothing_else() -> None:
    code = "import sys, expert, expert.__main__; print(*sorted(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    heavy = [name for name in shown.stdout.split() if name.split(".")[0] in ("expert", "pydantic", "yaml", "rich", "textual", "durable")]
    assert heavy == ["expert", "expert.__main__"]


def test_consult_on_the_package_is_the_function_after_the_module_was_loaded(tmp_path: Path) -> None:
    package = tmp_path / "expert"
    package.mkdir()
    (package / "__init__.py").write_text((ROOT / "expert/__init__.py").read_text("utf-8"), "utf-8")
    (package / "consult.py").write_text("def consult(): return 42\n")
    for first in ("import expert", "import expert.consult", "from expert.consult import consult"):
        code = f"{first}\nfrom expert import consult\nassert consult() == 42\nimport expert.consult\nassert expert.consult() == 42"
        subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
