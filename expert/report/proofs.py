"""Proof nodes on a page: a number, a title, and labelled lines below it."""

from __future__ import annotations

from expert.explain.nodes import Explanation, Line, Node
from expert.report.labels import HEADINGS, LABEL_WIDTH, LINES
from expert.report.page import Page

_STEP = 3
_DEEPEST = 5


def put_explanation(page: Page, explanation: Explanation) -> None:
    """All proofs, then what could not be checked."""
    for node in explanation.nodes:
        page.blank()
        put_node(page, node)
    if explanation.silent:
        page.heading(HEADINGS["not_checked"].of(page.lang))
        for line in explanation.silent:
            page.put(line.text.of(page.lang), 2, 2, tail=line.at)


def put_node(page: Page, node: Node, depth: int = 0) -> None:
    """One node and what it rests on; what is deeper than five levels is indented no further."""
    indent = _STEP * min(depth, _DEEPEST)
    number = f"[{node.number}] " if node.number else ""
    style = ("red" if node.harm else "bold") if depth == 0 else ""
    page.put(number + node.title.of(page.lang), indent, len(number), style, node.at)
    previous = ""
    for line in node.lines:
        _put_line(page, line, indent + len(number), previous)
        previous = line.label
    for child in node.children:
        put_node(page, child, depth + 1)


def _put_line(page: Page, line: Line, indent: int, previous: str) -> None:
    text = LINES[line.label].of(page.lang)
    # A label that repeats the one above says nothing.
    label = "" if line.label == previous else text
    tail = f"[{line.see}]" if line.see else line.at
    page.labelled(label, line.text.of(page.lang), indent, LABEL_WIDTH, tail, "red" if line.label == "violated" else "")
