"""Imports point down, wherever they stand, and one adapter alone knows durable_rules."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
# Lowest first: a module imports what stands before it, and its own folder. The CLI starts the TUI, never the other way round.
LAYERS = (
    "records",
    *("errors", "yamlnodes", "yamltraps", "yamlsyntax", "yamltree", "yamldoc", "physical", "units", "quantities", "places", "installed"),
    *("facts", "language", "settings", "planvalues", "plan", "engine", "advice", "explain"),
    *("audit", "audit_decisions", "auditing", "dissent", "consult"),
    *("report", "workbench", "measure", "tui", "cli", "__main__", "__init__"),
)
DURABLE = {"durable", "durable_rules", "durable_rules_engine"}
FILES = sorted(path.relative_to(ROOT) for folder in ("expert", "tui") for path in (ROOT / folder).rglob("*.py"))


def imports(path: Path, source: str) -> Iterator[tuple[int, str]]:
    """Every module that a file imports, by full dotted name with its line: statements anywhere, and import_module("...")."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = ".".join(path.parts[: len(path.parts) - node.level]) if node.level else ""
            base = ".".join(part for part in (package, node.module) if part)
            yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module") and isinstance(node.args[0], ast.Constant):
            yield node.lineno, str(node.args[0].value)


def layer(parts: list[str]) -> str:
    """The layer of a dotted name: `expert.engine.durable` is in engine, `tui.app` in tui, `expert` itself is the top."""
    return "tui" if parts[0] == "tui" else parts[1] if len(parts) > 1 and parts[1] in LAYERS else "__init__"


def faults(path: Path, source: str) -> list[str]:
    """What a file imports against the layers."""
    own = layer(list(path.with_suffix("").parts))
    adapter = path.parent == Path("expert/engine") and path.name.startswith("durable")
    found = []
    for line, name in imports(path, source):
        parts = name.split(".")
        if name in ("expert", "expert.__version__"):
            continue  # the package itself is loaded before any of its modules
        if parts[0] in DURABLE and not adapter:
            found.append(f"{path}:{line}: only expert/engine/durable*.py imports durable_rules")
        elif parts[0] in ("expert", "tui") and (other := layer(parts)) != own and LAYERS.index(other) > LAYERS.index(own):
            found.append(f"{path}:{line}: {own} imports {name}, which stands above it")
        elif (parts[0] == "tui" and own != "tui") or parts[:2] == ["expert", "tui"]:
            found.append(f"{path}:{line}: the terminal interface has two names; import it by expert.places.tui_module()")
    return found


@pytest.mark.parametrize("path", FILES, ids=str)
def test_imports_point_down(path: Path) -> None:
    assert path.parts[0] == "tui" or path.with_suffix("").parts[1] in LAYERS, f"give {path} its place in LAYERS"
    assert faults(path, (ROOT / path).read_text("utf-8")) == []


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("expert/facts.py", "from expert.engine import infer"),
        ("expert/engine/reference.py", "def run() -> None:\n    import expert.report.text"),
        ("expert/engine/reference.py", "from ..advice import Advice"),
        ("expert/engine/reference.py", "from .. import consult"),
        ("expert/plan.py", "from expert import consult"),
        ("expert/plan.py", "importlib.import_module('expert.cli.main')"),
        ("expert/consult.py", "def run() -> None:\n    from durable.lang import ruleset"),
        ("tui/app.py", "from expert.cli import main"),
        ("expert/cli/wizard.py", "from tui import app"),
    ],
)
def test_an_import_against_the_layers_is_found(file: str, source: str) -> None:
    assert len(faults(Path(file), source)) == 1


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("expert/engine/durable.py", "import durable_rules_engine"),
        ("expert/engine/reference.py", "from . import inference\nfrom ..facts import Fact\nfrom expert.language.program import Program"),
        ("tui/screens/wizard.py", "from ..widgets import form\nfrom expert.consult import consult"),
        ("expert/cli/main.py", "from expert import __version__"),
        ("expert/__init__.py", "from expert.advice import Advice"),
    ],
)
def test_an_import_along_the_layers_passes(file: str, source: str) -> None:
    assert faults(Path(file), source) == []
