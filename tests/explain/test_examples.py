"""Every plan in docs/examples: proofs without orphans, whose leaves are answers, catalogue entries or assumptions."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from expert.advice import Advice
from expert.consult import consult
from expert.errors import LANGUAGES, cell_width
from expert.explain.nodes import Node
from expert.explain.proof import explain
from expert.language.compiler import compile_packs
from expert.language.program import Program
from expert.places import builtin_rules
from expert.plan import read_plan
from expert.report.page import Page
from expert.report.text import put_report

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
GROUND = {"because", "constant", "cell", "source", "assumed", "otherwise", "given", "missing", "silent", "numbers", "decided"}


@cache
def program() -> Program:
    return compile_packs([builtin_rules() / name for name in ("base", "errata")])


@cache
def advice(name: str) -> Advice:
    return consult(read_plan(EXAMPLES / name, program()), program())


def speaks_of_the_built_in_packs(path: Path) -> bool:
    """Whether every fact of an example is declared by the built-in packs: some show packs about another subject."""
    from expert.errors import ExpertError

    try:
        read_plan(path, program())
    except ExpertError:
        return False
    return True


NAMES = sorted(path.name for path in EXAMPLES.glob("*.yaml") if speaks_of_the_built_in_packs(path))


def all_nodes(nodes: tuple[Node, ...]) -> list[Node]:
    return [found for node in nodes for found in (node, *all_nodes(node.children))]


def test_there_are_examples() -> None:
    assert "plan.yaml" in NAMES


@pytest.mark.parametrize("name", NAMES)
def test_no_node_is_an_orphan_and_every_leaf_is_grounded(name: str) -> None:
    nodes = all_nodes(explain(advice(name)).nodes)
    numbers = [node.number for node in nodes]
    assert sorted(numbers) == list(range(1, len(nodes) + 1))
    for node in nodes:
        assert node.lines, node.title.en
        assert all(line.see in numbers for line in node.lines if line.see)
        if not node.children:
            assert {line.label for line in node.lines} & GROUND, node.title.en


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", NAMES)
def test_a_report_holds_no_empty_line_of_proof_and_nothing_in_a_row(name: str, lang: str) -> None:
    page = Page(lang, 100)
    put_report(page, advice(name), explain(advice(name)))
    lines = page.text().split("\n")
    assert "None" not in page.text()
    for first, second in pairwise(lines):
        assert not first.strip() or first != second
    assert sum(cell_width(line) > 100 for line in lines) <= len(lines) // 100


@pytest.mark.parametrize("name", NAMES)
def test_every_level_is_a_part_of_the_next(name: str) -> None:
    line, paragraph, full = (all_nodes(explain(advice(name), level=level).nodes) for level in ("line", "paragraph", "full"))
    ids = [{node.id for node in found} for found in (line, paragraph, full)]
    assert ids[0] <= ids[1] <= ids[2]
    assert ids[0]
    assert ids[0] < ids[2]
    full_nodes = {node.id: node for node in full}
    for node in paragraph:
        assert (node.title, node.number) == (full_nodes[node.id].title, full_nodes[node.id].number)
        # What was told in a part that is cut is told here instead: sources alone may read otherwise.
        kept = [[line.text for line in each.lines if line.label not in ("source", "dissent")] for each in (node, full_nodes[node.id])]
        assert kept[0] == kept[1]
    assert all(not node.lines and not node.children for node in line)


@pytest.mark.parametrize("level", ["paragraph", "line"])
@pytest.mark.parametrize("name", NAMES)
def test_what_is_cut_leaves_no_reference_behind(name: str, level: str) -> None:
    nodes = all_nodes(explain(advice(name), level=level).nodes)
    numbers = {node.number for node in nodes}
    assert {line.see for node in nodes for line in node.lines} - {0} <= numbers
    told: set[str] = set()
    # A claim is quoted where it is first named, as a source or as one that disagrees.
    for line in (line for node in nodes for line in node.lines if line.label in ("source", "dissent")):
        if line.text.en.endswith("(above)"):
            assert set(line.cites) <= told
        told |= set(line.cites)


def test_one_line_says_what_was_decided() -> None:
    first = explain(advice("plan.yaml"), "sizing", "line").nodes[0]
    assert first.title.en.startswith("GPU type, count and split: GPU: A800 SXM 80 GB; number of GPUs: 64 GPUs; ")
    assert first.title.zh.startswith("GPU 型号、数量与切分：")
