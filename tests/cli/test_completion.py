"""Completion scripts: made from the command lines, accepted by the shell, and offering what is there."""

from __future__ import annotations

import re
import shutil
import subprocess
from importlib import import_module
from pathlib import Path

import pytest

from expert.cli.completion import SHELLS, script
from expert.cli.main import COMMANDS, main
from expert.cli.rules import SUBCOMMANDS
from expert.errors import LANGUAGES

BASH = shutil.which("bash")


def help_options(capsys: pytest.CaptureFixture[str], *words: str) -> set[str]:
    """The options that a command's help page lists."""
    assert main([*words, "--help", "--lang", "en"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if not line.startswith(" " * 20)]
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", " ".join(lines)))


def completed(*words: str, cwd: Path) -> list[str]:
    """What bash offers for the last of these words."""
    given = " ".join(f"'{word}'" for word in ("expert", *words))
    call = f'COMP_WORDS=({given}); COMP_CWORD={len(words)}; _expert; printf "%s\\n" "${{COMPREPLY[@]}}"'
    done = subprocess.run([str(BASH), "-c", script("bash", COMMANDS, "en") + call], cwd=cwd, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return [line for line in done.stdout.splitlines() if line]


@pytest.mark.parametrize("shell", SHELLS)
def test_every_command_and_option_is_in_the_script(capsys: pytest.CaptureFixture[str], shell: str) -> None:
    assert main(["--completion", shell]) == 0
    text = capsys.readouterr().out
    assert set(COMMANDS) | set(SUBCOMMANDS) <= set(re.findall(r"[a-z-]+", text))
    for name in COMMANDS:
        for words in [(name, sub) for sub in SUBCOMMANDS] if name == "rules" else [(name,)]:
            for option in help_options(capsys, *words):
                assert (f" -l {option[2:]} " if shell == "fish" else option) in text, (words, option)


def test_every_module_shows_its_command_lines() -> None:
    for module, _ in COMMANDS.values():
        assert all(parser.actions() for parser in import_module(module).parsers("zh").values())


@pytest.mark.skipif(BASH is None, reason="there is no bash here")
@pytest.mark.parametrize("lang", LANGUAGES)
def test_bash_accepts_its_script(lang: str) -> None:
    done = subprocess.run([str(BASH), "-n"], input=script("bash", COMMANDS, lang), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("shell", ["zsh", "fish"])
@pytest.mark.parametrize("lang", LANGUAGES)
def test_other_shells_accept_theirs(shell: str, lang: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    done = subprocess.run([shell, "-n"], input=script(shell, COMMANDS, lang), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(BASH is None, reason="there is no bash here")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("rec",), ["recommend"]),
        (("--comp",), ["--completion"]),
        (("--lang", ""), ["en", "zh"]),
        (("rules", ""), ["lint", "test", "--help"]),
        (("rules", "lint", "--s"), ["--strict"]),
        (("rules", "test", "--engine", "r"), ["reference"]),
        (("explain", "plan.yaml", "--level", ""), ["full", "paragraph", "line"]),
        (("--lang", "zh", "explain", "--sev"), ["--severity"]),
        (("explain", "--severity", "e"), ["error"]),
        (("recommend", "my"), ["my plan.yaml", "mypack"]),
        (("recommend", "--pack", "my"), ["mypack"]),
        (("recommend", "--set", "d"), []),
        (("init", "-o", "my"), ["my plan.yaml", "mypack"]),
        (("catalog", "m"), []),
    ],
    ids=" ".join,
)
def test_bash_offers_what_fits(words: tuple[str, ...], offered: list[str], tmp_path: Path) -> None:
    (tmp_path / "my plan.yaml").write_text("plan: 1\n")
    (tmp_path / "mypack").mkdir()
    assert sorted(completed(*words, cwd=tmp_path)) == sorted(offered)


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--completion", "bsh"], "unknown-value", "did you mean 'bash'?"),
        (["--completion=tcl"], "unknown-value", "it is one of bash, zsh, fish"),
        (["--completion"], "missing-argument", "--completion needs a value"),
        (["--completions=bash"], "unknown-option", "did you mean '--completion'?"),
    ],
)
def test_a_wrong_shell_is_an_error(capsys: pytest.CaptureFixture[str], arguments: list[str], code: str, says: str) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert f"error[{code}]: " in err
    assert says in err
