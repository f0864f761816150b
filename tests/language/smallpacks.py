"""Small packs written into a folder, for tests of layering, compiling and ordering."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from expert.errors import Diagnostic, ExpertError
from expert.language.compiler import compile_packs
from expert.language.program import Program

VOCABULARY = """
sources: {notes: {title: Notes}}
claims: {T-001: {source: notes, says: It is so.}}
facts:
  workload.steps: {type: number, title: steps}
  workload.urgent: {type: yes-no}
  design.gpus: {type: number}
  design.fabric: {type: choice, choices: {roce: RoCE, ib: InfiniBand}}
  need.rate: {type: number}
  estimate.load: {type: number}
  estimate.cost: {type: number}
"""


def write_pack(parent: Path, name: str, *, requires: str = "[]", **files: str) -> Path:
    """A pack folder with one YAML file per keyword."""
    folder = parent / name
    folder.mkdir()
    (folder / "pack.yaml").write_text(f"pack: {name}\nversion: '1.0'\nrequires: {requires}\n", encoding="utf-8")
    for stem, text in files.items():
        (folder / f"{stem}.yaml").write_text(dedent(text), encoding="utf-8")
    return folder


def rule(id: str, effect: str, *when: str, more: str = "") -> str:
    """One rule as an entry of `rules:`; the effect is a line in flow form."""
    conditions = "".join(f"\n      - {line}" for line in when)
    lines = [f"  - id: {id}", "    title: A rule", "    because: It is a test.", "    cite: [T-001]"]
    lines += [f"    when:{conditions}"] if when else []
    return "\n".join([*lines, f"    {effect}", *([f"    {more}"] if more else [])]) + "\n"


def compile_text(parent: Path, *sections: str) -> Program:
    """The program of the small vocabulary and further sections, each a file of its own."""
    files = {f"part_{number}": text for number, text in enumerate(sections)}
    return compile_packs([write_pack(parent, "base", vocabulary=VOCABULARY, **files)])


def mistakes(parent: Path, *sections: str) -> tuple[Diagnostic, ...]:
    """The mistakes in the small vocabulary and further sections."""
    with pytest.raises(ExpertError) as caught:
        compile_text(parent, *sections)
    return caught.value.diagnostics
