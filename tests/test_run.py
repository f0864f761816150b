"""`./run` on machines that lack something: one clear line, nothing half made, nothing of the user's removed.

Setting up in earnest needs the network: what the script does then, CI shows by running it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
OLD = '#!/bin/sh\ncase "$*" in *print*) echo 3.9.18 ;; *) exit 1 ;; esac\n'
WITHOUT_VENV = '#!/bin/sh\ncase "$*" in *print*) echo 3.12.1 ;; *venv*) exit 1 ;; esac\n'
VENV_FAILS = '#!/bin/sh\ncase "$*" in *print*) echo 3.12.1 ;; *"-m venv"*) echo no ensurepip; exit 1 ;; esac\n'


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder, with a space in its name, of just what the script reads."""
    folder = tmp_path / "a checkout"
    folder.mkdir()
    for name in ("run", "pyproject.toml"):
        shutil.copy(ROOT / name, folder / name)
    return folder


def tools(folder: Path, python3: str) -> str:
    """A PATH with the plain tools of a system and this python3 alone."""
    tools = folder / "tools"
    tools.mkdir()
    for name in ("cat", "cksum", "dirname", "ls", "mkdir", "readlink", "rm", "tail"):
        (tools / name).symlink_to(str(shutil.which(name)))
    if python3:
        (tools / "python3").write_text(python3)
        (tools / "python3").chmod(0o755)
    return str(tools)


def start(checkout: Path, path: str, **variables: str) -> tuple[int, list[str]]:
    """The exit code and the lines on standard error of `./run --version`, called from another folder."""
    done = subprocess.run(
        ["/bin/sh", str(checkout / "run"), "--version"],
        cwd="/",
        env={"PATH": path, "LANG": "C", **variables},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.stdout == ""
    return done.returncode, done.stderr.splitlines()


@pytest.mark.parametrize(
    ("python3", "line"),
    [
        ("", "run: python3 was not found: install Python 3.11 or newer, or name one in EXPERT_PYTHON"),
        (OLD, "run: Python 3.11 or newer is needed and only 3.9.18 was found: install one, or name it in EXPERT_PYTHON"),
        (WITHOUT_VENV, "run: python3 has no venv module: install it (Debian, Ubuntu: apt install python3-venv) and run this again"),
    ],
    ids=["none", "old", "no venv"],
)
def test_a_python_that_will_not_do_is_one_line(checkout: Path, tmp_path: Path, python3: str, line: str) -> None:
    assert start(checkout, tools(tmp_path, python3)) == (2, [line])
    assert not (checkout / ".venv").exists()


def test_the_line_is_chinese_in_a_chinese_locale(checkout: Path, tmp_path: Path) -> None:
    code, lines = start(checkout, tools(tmp_path, OLD), LC_ALL="zh_CN.UTF-8")
    assert (code, len(lines)) == (2, 1)
    assert "需要 Python 3.11" in lines[0]


def test_a_venv_that_fails_ends_with_its_own_words_and_the_cure(checkout: Path, tmp_path: Path) -> None:
    code, lines = start(checkout, tools(tmp_path, VENV_FAILS))
    assert code == 2
    assert lines[1] == "no ensurepip"
    assert "apt install python3-venv" in lines[2]


def test_a_folder_of_somebody_else_is_refused_and_kept(checkout: Path, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "letter.txt").write_text("dear reader")
    code, lines = start(checkout, os.environ["PATH"], EXPERT_VENV=str(theirs))
    assert code == 2
    assert lines == [f"run: {theirs} was not made by this script: remove it, or name another folder in EXPERT_VENV"]
    assert (theirs / "letter.txt").read_text() == "dear reader"


def test_a_place_that_cannot_be_written_is_one_line(checkout: Path) -> None:
    code, lines = start(checkout, os.environ["PATH"], EXPERT_VENV="/proc/nowhere/venv")
    assert (code, lines) == (2, ["run: cannot write beside /proc/nowhere/venv: name a folder of your own in EXPERT_VENV"])
