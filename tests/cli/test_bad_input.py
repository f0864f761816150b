"""Whatever stands in a plan file: one clear error, exit 2, at once; legal text comes out inert. Each in a process of its own."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bicycle.consulting import ROOT

LAUGHS = "\n".join(f"{b}: &{b} [{', '.join(['*' + a] * 9)}]" for a, b in zip("abcdefgh", "bcdefghi", strict=True))
BAD: dict[str, tuple[bytes, str]] = {
    "an empty file": (b"", "empty-file"),
    "a binary file": (bytes(range(256)) * 40, "not-utf8"),
    "50 MB of YAML": (b"plan: 1\n" + b"site: {note: x}\n" * 3_300_000, "file-too-large"),
    "an alias bomb": (f"a: &a [x, x, x, x, x, x, x, x, x]\n{LAUGHS}\n".encode(), "too-many-nodes"),
    "deep nesting": (b"plan: 1\nsite: " + b"[" * 5_000, "too-deep"),
    "an unknown key": (b"plan: 1\nsite: {distanse: 5}\n", "unknown-key"),
    "a wrong unit": (b"plan: 1\nsite: {distance: 5 GB}\n", "wrong-unit"),
    "a negative count": (b"plan: 1\ndesign: {gears: -3}\n", "negative-number"),
    "a fraction of a count": (b"plan: 1\ndesign: {gears: 2.5}\n", "not-whole"),
    "a number beyond numbers": (b"plan: 1\ndesign: {gears: 1e400}\n", "number-not-finite"),
    "not a number": (b"plan: 1\ndesign: {gears: .nan}\n", "number-not-finite"),
    "the word NaN": (b"plan: 1\ndesign: {gears: NaN}\n", "bad-quantity"),
    "duplicate keys": (b"plan: 1\nsite: {load: 1}\nsite: {load: 2}\n", "duplicate-key"),
    "a text of 10,000 characters": (b"plan: 1\nname: " + b"x" * 10_000 + b"\n", "scalar-too-long"),
    "a yes-no word": (b"plan: 1\nsite: {terrain: no}\n", "boolean-word"),
    "a number in base 60": (b"plan: 1\nsite: {distance: 1:30}\n", "clock-number"),
    "a number that begins with zero": (b"plan: 1\nsite: {distance: 010}\n", "leading-zero"),
}


def recommend(path: Path) -> subprocess.CompletedProcess[str]:
    packs = ["--without", "base", "--without", "errata", "--pack", "tests/bicycle/base"]
    command = [sys.executable, "-m", "expert", "recommend", str(path), *packs, "--engine", "reference", "--lang", "en"]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=20, check=False)


def spent() -> float:
    """Seconds of processor time that finished children have used: the clock would also count what else the machine does."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_error_at_once(case: str, tmp_path: Path) -> None:
    content, code = BAD[case]
    path = tmp_path / "plan.yaml"
    path.write_bytes(content)
    before = spent()
    found = recommend(path)
    assert spent() - before < 2
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.count("error[") == 1
    assert f"error[{code}]: " in found.stderr
    assert found.stderr.startswith(f"{path}:")
    assert "Traceback" not in found.stderr
    assert len(found.stderr) < 2_000


def test_legal_text_comes_out_inert(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text("plan: 1\nname: '[red]a[/red] {x} %s \u202e \u200b'\nsite: {distance: 5}\n", "utf-8")
    found = recommend(path)
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.startswith("[red]a[/red] {x} %s \\u202e \\u200b: a complete design")
