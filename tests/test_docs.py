"""README and docs say what the program does: outputs, examples, links, and nothing undocumented.

Expected texts are what the pages paste; the pages are proofread by people and refreshed by `python -m tests.docs_blocks --write`.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from expert.cli.main import COMMANDS
from expert.language import shapes
from expert.language.compiler import compile_packs
from expert.language.nodes import FUNCTIONS
from expert.language.packs import HEADINGS
from expert.language.scenarios import EXPECT_KEYS
from expert.language.shapes import EFFECTS
from expert.places import builtin_rules
from expert.plan import read_plan
from expert.report.labels import LINES
from tests.docs_blocks import (
    CUT,
    ROOT,
    Block,
    all_blocks,
    arguments_of,
    blocks_of,
    bordered,
    checked_blocks,
    excerpt_of,
    fits,
    outputs,
    pages,
    refreshed,
    run,
)
from tests.docs_generated import built_in, regenerated, stated_facts

BUILT_IN = (builtin_rules() / "base", builtin_rules() / "errata")
DOCS = ROOT / "docs"


def page_id(value: object) -> str | None:
    """Where a block or page stands, for the names of tests."""
    return value.place if isinstance(value, Block) else str(value.relative_to(ROOT)) if isinstance(value, Path) else None


# ------------------------------------------------------------------------------------------------- outputs


@pytest.mark.parametrize("block", checked_blocks(), ids=page_id)
def test_pasted_lines_are_what_is_printed(block: Block) -> None:
    if (lines := excerpt_of(block)) is not None:
        assert fits(bordered(block, lines), lines), f"{block.place} is no excerpt of {block.mark}"
        return
    for step, printed in outputs(block):
        assert fits(step.output, printed), "\n".join([f"{block.place}: {step.command} prints", *printed])


@pytest.mark.parametrize("page", pages(), ids=page_id)
def test_generated_parts_are_fresh(page: Path) -> None:
    text = page.read_text("utf-8")
    assert text == regenerated(text)


def test_first_screen_of_the_readme_has_the_two_commands() -> None:
    for name in ("README.md", "README.zh.md"):
        first = next(blocks_of(ROOT / name))
        assert first.lines == ("./run recommend docs/examples/plan.yaml", "./run test")
        assert first.first < 20
    assert (ROOT / "docs/examples/plan.yaml").is_file()


def test_both_readmes_show_the_same_commands_and_files() -> None:
    def shown(name: str) -> list[tuple[str, str, list[str]]]:
        found = blocks_of(ROOT / name)
        return [(block.kind, block.mark, [line for line in block.lines if line.startswith("$ ")]) for block in found]

    assert shown("README.md") == shown("README.zh.md")


# ---------------------------------------------------------------------------------- cuts, and how they are kept


PRINTED = ["head", "", "one", "two", "three", "four", "tail"]


@pytest.mark.parametrize(
    ("pasted", "expected"),
    [
        (PRINTED, True),
        (PRINTED[:-1], False),
        (["head", CUT, "tail"], True),
        (["head", CUT, "two", "three", CUT], True),
        (["head", CUT, "two", "four", CUT], False),
        ([CUT, "three", CUT, "one", CUT], False),
        (["one", CUT], False),
        ([CUT, "four"], False),
        (["head", "", "one", "two", CUT, "one", "two", "three", "four", "tail"], False),
    ],
)
def test_cut_stands_for_any_lines_and_nothing_else_differs(pasted: list[str], expected: bool) -> None:
    assert fits(pasted, PRINTED) is expected


def test_refreshing_keeps_the_cuts_and_takes_the_new_lines() -> None:
    pasted = ["total 3", CUT, "GPU: A100 80G", "count: 8", CUT]
    printed = ["total 4", "", "noise", "GPU: A800 80G", "count: 16", "rest"]
    assert refreshed(pasted, printed) == ["total 4", CUT, "GPU: A800 80G", "count: 16", CUT]


# ------------------------------------------------------------------------------------------- packs and plans


@pytest.mark.parametrize("block", [block for block in all_blocks("yaml") if block.mark == "pack"], ids=page_id)
def test_pack_on_a_page_compiles_over_the_built_in_packs(block: Block, tmp_path: Path) -> None:
    (tmp_path / "pack.yaml").write_text("pack: page\nversion: '1.0'\nrequires: [base, errata]\n")
    (tmp_path / "page.yaml").write_text("\n".join(block.lines) + "\n")
    program = compile_packs([*BUILT_IN, tmp_path])
    assert [pack.name for pack in program.packs] == ["base", "errata", "page"]


@pytest.mark.parametrize("block", [block for block in all_blocks("yaml") if block.mark == "rule"], ids=page_id)
def test_rule_on_a_page_compiles_over_the_built_in_packs(block: Block, tmp_path: Path) -> None:
    lines = list(block.lines)
    if not any(line.startswith(f"{effect}:") for line in lines for effect in EFFECTS):
        lines.append("warn: {severity: info, message: it holds}")
    head = ["rules:", "  - id: page-rule", "    title: A rule of the page", "    because: it is so"]
    (tmp_path / "pack.yaml").write_text("pack: page\nversion: '1.0'\nrequires: [base, errata]\n")
    (tmp_path / "page.yaml").write_text("\n".join([*head, *(f"    {line}" for line in lines)]) + "\n")
    assert "page-rule" in compile_packs([*BUILT_IN, tmp_path]).rules


@pytest.mark.parametrize("block", [block for block in all_blocks("yaml") if block.mark == "plan"], ids=page_id)
def test_plan_on_a_page_is_read(block: Block) -> None:
    assert read_plan("\n".join(block.lines) + "\n", built_in()).facts


def test_yaml_on_our_pages_is_checked_or_an_excerpt() -> None:
    ours = [block for block in all_blocks("yaml") if block.file.name != "errors.md"]
    assert [block.place for block in ours if block.mark not in ("pack", "plan", "rule") and not block.mark.startswith("file:")] == []


GUIDE = (
    *(("Facts", word) for word in (*shapes.FACT_KEYS, *shapes.TYPES, *shapes.COMBINES, *shapes.NAMESPACES)),
    *(("Tables and constants", word) for word in (*shapes.CELL_KEYS, *shapes.CONSTANT_KEYS, *shapes.BASES, "unknown")),
    *(("Rules", word) for word in (*shapes.RULE_KEYS, *shapes.WARN_KEYS, *shapes.TEST_KEYS, *shapes.RISK_KEYS)),
    *(("Rules", word) for word in (*shapes.SEVERITIES, *shapes.STAGES, *shapes.LIKELIHOODS)),
    *(("Decisions", word) for word in shapes.DECISION_KEYS),
    *(("Sources and claims", word) for word in (*shapes.SOURCE_KEYS, *shapes.CLAIM_KEYS)),
    *(("Examples and scenarios", word) for word in (*shapes.SCENARIO_KEYS, *EXPECT_KEYS, *shapes.OUTCOMES)),
    *(("Expressions", word) for word in FUNCTIONS),
    *(("Files", word) for word in HEADINGS),
    *(("Layers", word) for word in ("at", "was", "set", "losing", "because", "disable")),
)
"""Every word of the language with the section of the guide that explains it."""


@pytest.mark.parametrize(("heading", "word"), sorted(set(GUIDE)))
def test_every_word_of_the_language_is_in_the_guide(heading: str, word: str) -> None:
    text = re.sub(r"^```.*?^```", "", section(DOCS / "rule-packs.md", heading), flags=re.DOTALL | re.MULTILINE)
    spans = " ".join(re.findall(r"`([^`]+)`", text))
    assert re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", spans)


# ------------------------------------------------------------------------------------------ python and shell


@pytest.mark.parametrize("block", {block.lines: block for block in all_blocks("python")}.values(), ids=page_id)
def test_python_on_a_page_prints_what_its_comments_say(block: Block) -> None:
    said = [line.split("  # ")[1] for line in block.lines if line.startswith("print(") and "  # " in line]
    command = [sys.executable, "-c", "\n".join(block.lines)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""
    assert done.stdout.splitlines() == said


def options_of(words: list[str]) -> set[str]:
    """The options in the help page of a command."""
    code, lines = run([*words, "--help"], "en")
    assert code == 0
    return set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", " ".join(line for line in lines if not line.startswith(" " * 20))))


def command_words() -> Iterator[list[str]]:
    """Every command with its subcommands."""
    from expert.cli.rules import SUBCOMMANDS

    for name in COMMANDS:
        yield from ([[name, sub] for sub in SUBCOMMANDS] if name == "rules" else [[name]])


@pytest.mark.parametrize("block", all_blocks("sh"), ids=page_id)
def test_shell_commands_on_a_page_exist_with_their_options(block: Block) -> None:
    for line in block.lines:
        arguments = arguments_of(line.split("#")[0].split("|")[0].split(">")[0]) if line.strip() else None
        if not arguments or arguments[0] == "test" or arguments[0].startswith("-"):
            continue
        words = arguments[:2] if arguments[0] == "rules" else arguments[:1]
        assert words in list(command_words()), line
        used = {word.split("=")[0] for word in shlex.split(line) if word.startswith("-") and word != "-"}
        assert used <= options_of(words), line


def section(page: Path, heading: str) -> str:
    """The text under a heading, up to the next one of its level."""
    found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert found is not None, f"{page.name} has no section '{heading}'"
    return found[1]


@pytest.mark.parametrize("words", list(command_words()), ids=" ".join)
def test_each_command_is_documented_with_every_option_and_no_other(words: list[str]) -> None:
    text = section(DOCS / "commands.md", "expert " + " ".join(words))
    general = section(DOCS / "commands.md", "Options of every command")
    rows = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", " ".join(re.findall(r"^\| (.*?) \|", text + general, re.MULTILINE))))
    assert rows == options_of(words)


def test_commands_page_has_no_other_command_and_every_exit_code() -> None:
    text = (DOCS / "commands.md").read_text("utf-8")
    assert re.findall(r"^## expert (.*)$", text, re.MULTILINE) == [" ".join(words) for words in command_words()]
    codes = re.findall(r"^\| (\d+) \|", section(DOCS / "commands.md", "Exit codes"), re.MULTILINE)
    assert codes == ["0", "1", "2", "3", "4", "130"]


@pytest.mark.parametrize("label", sorted({label.en for label in LINES.values()} - {""}))
def test_every_label_of_a_proof_is_explained(label: str) -> None:
    text = (DOCS / "explanations.md").read_text("utf-8")
    assert re.search(rf"`{label}`.* \||^(?:- |  ).*\*\*{label}\*\*", text, re.MULTILINE)


# ------------------------------------------------------------------------------------------ plan keys and JSON


@pytest.mark.parametrize("name", ["workload", "site", "design", "observed"])
def test_every_plan_key_is_documented(name: str) -> None:
    rows = re.findall(r"^\| `([\w.]+)` \|", section(DOCS / "plan-file.md", name), re.MULTILINE)
    assert rows == [decl.name.removeprefix(name + ".") for decl in stated_facts(built_in(), name)]


def paths_in(value: object, path: str = "") -> Iterator[str]:
    """The path of every key in a JSON value; keys that are names of facts or columns count as one."""
    if isinstance(value, dict):
        for key, below in value.items():
            step = f"{path}.{_named(path, key)}".removeprefix(".")
            yield step
            yield from paths_in(below, step)
    elif isinstance(value, list):
        for below in value:
            yield from paths_in(below, path + "[]")


def _named(path: str, key: str) -> str:
    if path in ("facts", "decisions", "needs", "estimates", "trace[].effect"):
        return "FACT"
    return "COLUMN" if path.endswith(".option") else key


def test_every_json_key_is_documented_and_no_other() -> None:
    other = ["--without", "base", "--without", "errata", "--pack", "docs/examples/ups-pack", "--set", "site.office=false"]
    found: set[str] = set()
    for plan, options in (("plan", []), ("one-card", []), ("cluster", []), ("rack", other)):
        code, lines = run(["explain", f"docs/examples/{plan}.yaml", "--format", "json", *options], "en")
        assert code == 0
        found |= set(paths_in(json.loads("\n".join(lines))))
    # Ranges stand in many places; the page says once what is in one. A proof holds proofs.
    kinds = re.compile(r"(?<!facts\.FACT)(?<!needs\.FACT)(?<!estimates\.FACT)\.(low|typical|high)$")
    found = {path for path in found if not kinds.search(path) and ".children[]." not in path}
    text = (DOCS / "json.md").read_text("utf-8")
    documented = {path for row in re.findall(r"^\| (`.*?) \|", text, re.MULTILINE) for path in re.findall(r"`([^`]+)`", row)}
    assert found - documented == set()
    assert documented - found == set()


# --------------------------------------------------------------------------------------------------- links


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    outside = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.*)$", outside, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(page: Path) -> list[str]:
    """The targets of the links of a page, those to other sites left out."""
    outside = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    return [target for target in re.findall(r"\]\(([^)\s]+)\)", outside) if "://" not in target]


@pytest.mark.parametrize("page", [*pages(), ROOT / "CHANGELOG.md"], ids=page_id)
def test_links_lead_somewhere(page: Path) -> None:
    for target in links(page):
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), target
        assert not anchor or anchor in anchors(there), target


def test_every_page_is_linked_from_the_readme() -> None:
    linked = {(ROOT / target.partition("#")[0]).resolve() for target in links(ROOT / "README.md")}
    assert {page for page in pages() if page.parent == DOCS} <= linked
