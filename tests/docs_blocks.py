"""The code blocks of README and docs: found, run, compared with what is pasted, and refreshed.

`python -m tests.docs_blocks` names every pasted output and excerpt that is stale; with `--write` it rewrites them. A line `…`
stands for any lines. When a block is rewritten, its cuts stay where they are: each stretch between two cuts begins and ends at
the lines of the new output that are most like those it began and ended with.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

from tests.docs_generated import refresh, regenerated

ROOT = Path(__file__).resolve().parent.parent
CUT = "…"
_FENCE = re.compile(r"^( *)(`{3,}|~{3,})\s*([\w-]*)\s*$")
_MARK = re.compile(r"^\s*<!--\s*(.*?)\s*-->\s*$")
_ANCHOR_LINES = 3
_LIKENESS = 0.55


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: `first` is the index of its first line of content, `mark` the HTML comment right above it."""

    file: Path
    first: int
    kind: str
    mark: str
    lines: tuple[str, ...]

    @property
    def place(self) -> str:
        """FILE:LINE of the first line of content."""
        return f"{self.file.relative_to(ROOT)}:{self.first + 1}"


@dataclass(frozen=True, slots=True)
class Step:
    """One command of a console block with the output that is pasted under it."""

    command: str
    output: tuple[str, ...]


def pages() -> tuple[Path, ...]:
    """README in both languages and every page of docs/."""
    return (*sorted(ROOT.glob("README*.md")), *sorted(ROOT.glob("docs/**/*.md")))


def blocks_of(file: Path) -> Iterator[Block]:
    """The fenced blocks of a page in order."""
    lines = file.read_text("utf-8").split("\n")
    at = 0
    while at < len(lines):
        fence = _FENCE.match(lines[at])
        if fence is None:
            at += 1
            continue
        end = next(i for i in range(at + 1, len(lines)) if lines[i].strip() == fence[2])
        mark = _MARK.match(lines[at - 1]) if at else None
        content = tuple(line.removeprefix(fence[1]) for line in lines[at + 1 : end])
        yield Block(file, at + 1, fence[3], mark[1] if mark else "", content)
        at = end + 1


def all_blocks(kind: str = "") -> tuple[Block, ...]:
    """The blocks of all pages, of one kind where that is given."""
    return tuple(block for page in pages() for block in blocks_of(page) if not kind or block.kind == kind)


# ------------------------------------------------------------------------------------------- console blocks


def steps_of(block: Block) -> tuple[Step, ...]:
    """The commands of a console block. A command line begins with `$ `; one that ends in a backslash goes on."""
    found: list[Step] = []
    goes_on = False
    for line in block.lines:
        if goes_on:
            command = found[-1].command.removesuffix("\\") + line.strip()
            found[-1] = Step(command, ())
        elif line.startswith("$ "):
            found.append(Step(line[2:], ()))
        elif found:
            found[-1] = replace(found[-1], output=(*found[-1].output, line))
        goes_on = bool(found) and not found[-1].output and found[-1].command.endswith("\\")
    return tuple(found)


def language_of(file: Path) -> str:
    """The language that the commands of a page answer in."""
    return "zh" if file.name.endswith(".zh.md") else "en"


def environment(lang: str) -> dict[str, str]:
    """The environment of documented commands: 80 columns, no colour, the page's language."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "EXPERT_"))}
    locale = {"LC_ALL": "zh_CN.UTF-8" if lang == "zh" else "C.UTF-8"}
    return kept | locale | {"COLUMNS": "80", "NO_COLOR": "1", "EXPERT_CACHE_DIR": os.environ.get("EXPERT_CACHE_DIR", "")}


def arguments_of(command: str) -> list[str] | None:
    """What follows `expert` or `./run`; None for any other command."""
    words = shlex.split(command)
    return words[1:] if words and words[0] in ("expert", "./run") else None


def run(arguments: Sequence[str], lang: str) -> tuple[int, tuple[str, ...]]:
    """Exit code and lines of one command, run in this process with the checkout as the current folder."""
    from expert.cli.main import main

    stream = io.StringIO()
    before = Path.cwd()
    os.chdir(ROOT)
    try:
        with patch.dict(os.environ, environment(lang), clear=True), contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
            code = main(list(arguments))
    finally:
        os.chdir(before)
    return code, tuple(_as_durable(stream.getvalue()).rstrip("\n").split("\n"))


def _as_durable(text: str) -> str:
    """Output of a machine without durable_rules as it is with it: the answer is the same, two lines are not."""
    from expert.engine.durable import durable_available

    if durable_available():
        return text
    lines = [line for line in text.split("\n") if "durable_rules" not in line]
    return "\n".join(lines).replace("engine reference", "engine durable").replace("引擎 reference", "引擎 durable")


def outputs(block: Block) -> Iterator[tuple[Step, tuple[str, ...]]]:
    """Each step with what it prints now. `$ echo $?` prints the exit code of the step before it."""
    code = 0
    for step in steps_of(block):
        if step.command == "echo $?":
            yield step, (str(code),)
            continue
        arguments = arguments_of(step.command)
        if arguments is None or arguments[:1] == ["test"]:
            raise ValueError(f"{block.place}: not a command that can be run here: {step.command}")
        code, lines = run(arguments, language_of(block.file))
        if code == 4:
            raise LookupError(f"'{step.command}' failed: {lines[0]}")
        yield step, lines


# ------------------------------------------------------------------------------------------------ matching


def stretches(pasted: Sequence[str]) -> list[list[str]]:
    """What stands between the cuts; the first and last are empty where a cut stands at the edge."""
    found: list[list[str]] = [[]]
    for line in pasted:
        if line.strip() == CUT:
            found.append([])
        else:
            found[-1].append(line)
    return found


def fits(pasted: Sequence[str], printed: Sequence[str]) -> bool:
    """Whether the pasted lines, with their cuts, are what was printed."""
    pasted, printed = [line.rstrip() for line in pasted], [line.rstrip() for line in printed]
    while pasted and not pasted[-1]:
        pasted.pop()
    parts = stretches(pasted)
    if len(parts) == 1:
        return pasted == printed
    first, *middle, last = parts
    end = len(printed) - len(last)
    if printed[: len(first)] != first or printed[max(end, 0) :] != last or end < len(first):
        return False
    at = len(first)
    for part in middle:
        place = _find(part, printed[:end], at)
        if place is None:
            return False
        at = place + len(part)
    return True


def _find(part: Sequence[str], lines: Sequence[str], start: int) -> int | None:
    return next((i for i in range(start, len(lines) - len(part) + 1) if list(lines[i : i + len(part)]) == list(part)), None)


def refreshed(pasted: Sequence[str], printed: Sequence[str]) -> list[str]:
    """The pasted lines brought up to date, cuts kept."""
    parts = stretches([line.rstrip() for line in pasted])
    if len(parts) == 1:
        return list(printed)
    found: list[str] = []
    at = 0
    for number, part in enumerate(parts):
        if number:
            found.append(CUT)
        if not part:
            continue
        start = 0 if number == 0 else _like(part[:_ANCHOR_LINES], printed, at)
        end = len(printed) if number == len(parts) - 1 else start + _length(part, printed, start)
        found += printed[start:end]
        at = end
    return found


def _length(part: Sequence[str], printed: Sequence[str], start: int) -> int:
    if list(printed[start : start + len(part)]) == list(part):
        return len(part)
    tail = part[-_ANCHOR_LINES:]
    return _like(tail, printed, start + max(0, len(part) - len(tail) - 12)) + len(tail) - start


def _like(anchor: Sequence[str], printed: Sequence[str], start: int) -> int:
    """Where the lines most like the anchor stand, not before `start`."""
    wanted = "\n".join(anchor)
    best, place = 0.0, -1
    for i in range(start, max(start + 1, len(printed) - len(anchor) + 1)):
        there = "\n".join(printed[i : i + len(anchor)])
        likeness = 1.0 if there == wanted else difflib.SequenceMatcher(None, wanted, there, autojunk=False).ratio()
        if likeness > best:
            best, place = likeness, i
    if best < _LIKENESS:
        raise LookupError(f"nothing printed is like {anchor[0]!r}; the output begins {printed[0]!r}")
    return place


# ------------------------------------------------------------------------------------------------ excerpts


def excerpt_of(block: Block) -> tuple[str, ...] | None:
    """The lines of the file that a block marked `<!-- file: PATH -->` shows; None for other blocks."""
    if not block.mark.startswith("file:"):
        return None
    path = ROOT / block.mark.removeprefix("file:").strip()
    return tuple(path.read_text("utf-8").rstrip("\n").split("\n"))


def bordered(block: Block, lines: Sequence[str]) -> list[str]:
    """The block's lines with a cut at each edge that the file goes beyond: an excerpt may begin and end anywhere."""
    whole = stretches(block.lines)
    begins = lines[: len(whole[0])] == tuple(whole[0])
    ends = lines[len(lines) - len(whole[-1]) :] == tuple(whole[-1])
    return [*([] if begins else [CUT]), *block.lines, *([] if ends else [CUT])]


# ----------------------------------------------------------------------------------------------- rewriting


def fresh_lines(block: Block) -> list[str]:
    """What the block should hold now."""
    if (lines := excerpt_of(block)) is not None:
        padded = bordered(block, lines)
        if fits(padded, lines):
            return list(block.lines)
        found = refreshed([CUT, *block.lines, CUT], lines)
        return found[1:-1]
    found = []
    for step, printed in outputs(block):
        found += _command_lines(block, step)
        gap = [""] if step.output and not step.output[-1] else []
        found += list(step.output) if fits(step.output, printed) else [*refreshed(step.output, printed), *gap]
    return found


def _command_lines(block: Block, step: Step) -> list[str]:
    """The command as the page has it, which may take several lines."""
    lines = list(block.lines)
    for start, line in enumerate(lines):
        if not line.startswith("$ "):
            continue
        end = start
        while lines[end].endswith("\\") and end + 1 < len(lines):
            end += 1
        joined = "".join(part.removesuffix("\\") if place == 0 else part.strip().removesuffix("\\") for place, part in
                         enumerate(lines[start : end + 1]))  # fmt: skip
        if joined.removeprefix("$ ") == step.command:
            return lines[start : end + 1]
    raise LookupError(step.command)


def checked_blocks() -> tuple[Block, ...]:
    """The blocks whose content has a source: console blocks and excerpts."""
    return tuple(block for block in all_blocks() if block.kind == "console" or block.mark.startswith("file:"))


def rewrite(fresh: Mapping[Block, Sequence[str]]) -> None:
    """Put new lines into the pages, last block first so that places stay right."""
    for block in sorted(fresh, key=lambda block: (block.file, -block.first)):
        lines = block.file.read_text("utf-8").split("\n")
        lines[block.first : block.first + len(block.lines)] = fresh[block]
        block.file.write_text("\n".join(lines), encoding="utf-8")


def main(arguments: Sequence[str]) -> int:
    """Name stale blocks, or rewrite them with --write."""
    stale: dict[Block, list[str]] = {}
    failed = 0
    for block in checked_blocks():
        try:
            lines = fresh_lines(block)
        except LookupError as lost:
            failed += 1
            print(f"{block.place}: cannot be refreshed, edit it by hand: {lost}")
            continue
        if lines != list(block.lines):
            stale[block] = lines
            print(f"{block.place}: stale")
    if "--write" in arguments:
        rewrite(stale)
        made = [page for page in pages() if refresh(page)]
        print(f"{len(stale)} blocks and {len(made)} generated pages rewritten")
        return 1 if failed else 0
    old = [page for page in pages() if (text := page.read_text("utf-8")) != regenerated(text)]
    for page in old:
        print(f"{page.relative_to(ROOT)}: a generated part is stale")
    return 1 if stale or failed or old else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
