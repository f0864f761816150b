"""Every error code has a broken pack whose whole text is compared, and a section in docs/errors.md."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from expert.errors import ExpertError, render
from expert.language.compiler import compile_packs
from expert.language.limits import ENTRIES

ROOT = Path(__file__).resolve().parents[2]
PACKS = ROOT / "tests" / "packs"
BROKEN = sorted(path.name for path in PACKS.iterdir() if path.is_dir() and not path.name.startswith("_"))

# What a compilation runs through. Codes of plans, engines and commands are tested beside the modules that raise them.
COMPILING = ("language/*.py", "yaml*.py", "units.py", "quantities.py")
# Codes of a file that somebody names on the command line: a pack's files are listed first. Tests: tests/test_yamldoc.py.
NAMED_FILES = frozenset({"file-not-found", "file-unreadable", "not-a-file"})
# A word written into a text fact is reported as wrong-kind before the checker comes to this message.
UNREACHABLE = frozenset({"word-for-text"})


@pytest.mark.parametrize("code", BROKEN)
def test_broken_pack_prints_the_expected_text(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PACKS)
    with pytest.raises(ExpertError) as caught:
        compile_packs([Path("_sound"), Path(code)])
    found = caught.value.diagnostics
    assert [diagnostic.code for diagnostic in found] == [code]  # one mistake, one message
    expected = (PACKS / code / "expected.txt").read_text(encoding="utf-8")
    assert f"{render(found, 'en')}\n\n{render(found, 'zh')}\n" == expected


def test_sound_pack_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PACKS)
    assert set(compile_packs([Path("_sound")]).rules) == {"large-cluster-is-warned", "memory-is-law"}


# Packs too large to keep in the repository.


def _many_files(folder: Path) -> None:
    for number in range(501):
        (folder / f"part-{number:03}.yaml").write_text("constants: {}\n")


GENERATED: dict[str, Callable[[Path], object]] = {
    "file-too-large": lambda folder: (folder / "big.yaml").write_text("# " + "x" * 600_000),
    "scalar-too-long": lambda folder: (folder / "long.yaml").write_text("topics:\n  a: '" + "x" * 5000 + "'\n"),
    "too-many-nodes": lambda folder: (folder / "nodes.yaml").write_text("topics: [" + "1," * 100_001 + "1]\n"),
    "too-many-mistakes": lambda folder: (folder / "mistakes.yaml").write_text("topics:\n" + "- off\n" * 120),
    "pack-too-many-files": _many_files,
    "pack-too-large": lambda folder: [(folder / f"part-{n}.yaml").write_text("# " + "x" * 520_000) for n in range(9)],
    "too-many-rows": lambda folder: (folder / "rows.yaml").write_text(
        "tables:\n  t:\n    columns: {a: number}\n    rows:\n" + "".join(f"      r{n}: {{}}\n" for n in range(10_001))),
    "too-many-entries": lambda folder: (folder / "facts.yaml").write_text(
        "facts:\n" + "".join(f"  workload.f{n}: {{type: number}}\n" for n in range(ENTRIES["facts"] + 1))),
    "too-many-changes": lambda folder: (folder / "changes.yaml").write_text("changes:\n" + "- {disable: rules.a, because: b}\n" * 2_001),
}  # fmt: skip


@pytest.mark.parametrize("code", sorted(GENERATED))
def test_oversized_pack_is_refused(code: str, tmp_path: Path) -> None:
    (tmp_path / "pack.yaml").write_text("pack: huge\nversion: '1.0'\n")
    GENERATED[code](tmp_path)
    with pytest.raises(ExpertError) as caught:
        compile_packs([tmp_path])
    assert code in {diagnostic.code for diagnostic in caught.value.diagnostics}


def test_unknown_pack_to_leave_out_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PACKS)
    with pytest.raises(ExpertError) as caught:
        compile_packs([Path("_sound")], without=frozenset({"sond"}))
    assert str(caught.value) == "error[unknown-pack]: no pack is called 'sond'\n  = help: did you mean 'sound'?"


# Codes in the source

_REPORTERS = frozenset({
    "Diagnostic", "diagnostic", "report", "fail", "mistake", "complain", "refuse", "one_of", "Trap", "Misread", "add", "_at", "_stop",
    "_clash", "_warning",
})  # fmt: skip
_CODE = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)+")


def codes_in_source(*patterns: str) -> set[str]:
    """Kebab-case words that stand as an argument of a function that reports, or that a name `code` is bound to."""
    found: set[str] = set()
    for path in sorted(path for pattern in patterns or ("**/*.py",) for path in (ROOT / "expert").glob(pattern)):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and _name(node.func) in _REPORTERS:
                found |= _words([*node.args, *(keyword.value for keyword in node.keywords)])
            elif isinstance(node, ast.Assign) and "code" in {name for target in node.targets for name in _targets(target)}:
                found |= _words([node.value])
    return found


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""


def _targets(target: ast.expr) -> list[str]:
    return [part.id for part in ast.walk(target) if isinstance(part, ast.Name)]


def _words(values: list[ast.expr]) -> set[str]:
    """Constants that stand directly, in a tuple, or on a side of `a if c else b`."""
    found: set[str] = set()
    for value in values:
        if isinstance(value, ast.IfExp):
            found |= _words([value.body, value.orelse])
        elif isinstance(value, ast.Tuple):
            found |= _words(value.elts)
        elif isinstance(value, ast.Constant) and isinstance(value.value, str) and _CODE.fullmatch(value.value):
            found.add(value.value)
    return found


def test_codes_in_source_are_found() -> None:
    # Spot checks of the search itself: a call, a conditional expression, a tuple bound to `code`.
    assert {"rule-cycle", "wrong-operator", "typographic-sign", "unknown-name"} <= codes_in_source()


def test_every_code_has_a_broken_pack() -> None:
    covered = {*BROKEN, *GENERATED, "unknown-pack", *NAMED_FILES, *UNREACHABLE}
    assert codes_in_source(*COMPILING) - covered == set()


def test_every_code_has_a_section_and_every_section_a_code() -> None:
    sections = re.findall(r"^## (\S+)$", (ROOT / "docs" / "errors.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sections == sorted(sections)
    known = codes_in_source() | set(BROKEN)
    assert known - set(sections) == set()
    assert set(sections) - known == set()
