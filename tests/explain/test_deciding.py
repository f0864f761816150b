"""The proof of a decision: what preferences rest on, what was equal where the order decided, what disagrees, each said once."""

from __future__ import annotations

from pathlib import Path

import pytest

from expert.advice import Advice
from expert.consult import consult
from expert.explain.nodes import Line, Node
from expert.explain.proof import explain
from expert.language.compiler import compile_packs
from expert.plan import read_plan

PACK = """
topics: {t: {en: T, zh: 题}}
facts:
  site.size: {type: number, title: {en: size, zh: 规模}}
  site.users: {type: number, title: {en: users, zh: 用户数}}
  design.link: {type: choice, from: tables.links, title: {en: link, zh: 链路}}
  design.count: {type: number, title: {en: count, zh: 数量}}
  design.colour: {type: choice, choices: {red: {en: red, zh: 红}, blue: {en: blue, zh: 蓝}}, title: {en: colour, zh: 颜色}}
  estimate.price: {type: number, title: {en: price, zh: 价格}}
tables:
  links:
    columns: {fast: yes-no, secure: {type: yes-no, title: {en: secure, zh: 安全}}, lanes: {type: number, title: {en: lanes, zh: 通道}}}
    rows:
      open-1: {secure: false, fast: true, lanes: 1}
      open-2: {secure: false, fast: false, lanes: 2}
      open-3: {secure: false, fast: true, lanes: 3}
      shut-1: {secure: true, fast: false, lanes: 0}
      shut-2: {secure: true, fast: true, lanes: 0}
      shut-3: {secure: true, fast: true, lanes: 0}
constants:
  big: {value: 100, basis: published, cite: [C-1], title: {en: big from, zh: 大规模起点}}
sources: {book: {title: {en: The book, zh: 书}, address: https://example.org/b, read: '2026-01-02'}}
claims:
  C-1: {source: book, where: p. 1, says: {en: Big begins at 100., zh: 一百起为大。}}
  C-2: {source: book, where: p. 2, says: {en: Links are shut., zh: 链路应加密。}}
  C-3: {source: book, where: p. 3, says: {en: Fast is better., zh: 快更好。}}
  C-4: {source: book, where: p. 4, says: {en: Slow is better., zh: 慢更好。}}
  C-5: {source: book, where: p. 5, says: {en: It hardly matters., zh: 差别不大。}}
rules:
  - {id: links-are-shut, topic: t, title: Links are shut, require: {design.link: design.link.secure}, because: it leaks, cite: [C-2]}
  - id: big-prefers-fast
    topic: t
    title: Big sites prefer fast links
    when: [site.size > big]
    prefer: {design.link: design.link.fast}
    weight: 5
    because: {en: A big site waits., zh: 大站点会等待。}
    cite: [C-3]
    dissent: [C-4]
  - {id: price, topic: t, title: Price, conclude: {estimate.price: design.count * 10}, because: so}
  - {id: few-users, topic: t, title: Few users, when: [site.size / site.users > 2], warn: {severity: info, message: few}, because: so}
decisions:
  - {id: link, topic: t, title: {en: The link, zh: 链路}, assigns: {design.link: tables.links}, needs: [site.size], order: [design.link]}
  - id: parts
    topic: t
    assigns: {design.count: [3, 2, 4], design.colour: [blue, red]}
    needs: [site.size]
    cost: estimate.price
    within: 200 %
    order: [design.colour, design.count]
"""

OVER = """
changes:
  - at: rules.big-prefers-fast.dissent
    was: [C-4]
    set: [C-4, C-5]
    losing: [C-4, C-3]
    because: {en: Nobody measured it., zh: 无人测量。}
"""


def consulted(folder: Path, plan: str, over: str = "") -> Advice:
    folders = [folder / "own", folder / "over"] if over else [folder / "own"]
    for place, text in zip(folders, (PACK, over), strict=False):
        place.mkdir(exist_ok=True)
        (place / "pack.yaml").write_text(f"pack: {place.name}\nversion: '1'\n", "utf-8")
        (place / "all.yaml").write_text(text, "utf-8")
    program = compile_packs(folders)
    return consult(read_plan("plan: 1\n" + plan, program), program)


def proof(advice: Advice, target: str) -> Node:
    return explain(advice, target).nodes[0]


def texts(node: Node, label: str, lang: str = "en") -> list[str]:
    return [line.text.of(lang) for line in node.lines if line.label == label]


def below(node: Node, title: str) -> list[Line]:
    """The lines of one rule: from its title to the next rule."""
    start = next(place for place, line in enumerate(node.lines) if line.text.en.startswith(title))
    found: list[Line] = []
    for line in node.lines[start + 1 :]:
        if line.label in ("required", "preferred", "decided_by"):
            break
        found.append(line)
    return found


def test_a_preference_that_is_met_shows_what_it_rests_on_whatever_decided_in_the_end(tmp_path: Path) -> None:
    # shut-2 and shut-3 are both fast: the preference excludes shut-1, then the order of the table decides.
    found = below(proof(consulted(tmp_path, "site: {size: 101}"), "design.link"), "Big sites prefer")
    assert [line.label for line in found] == ["why", "because", "constant", "source", "source", "dissent"]
    assert found[0].text.zh == "大站点会等待。"
    assert [line.cites for line in found[3:]] == [("C-1",), ("C-3",), ("C-4",)]


def test_what_was_equal_is_named_with_the_fact_that_differs(tmp_path: Path) -> None:
    advice = consulted(tmp_path, "site: {size: 101}")
    link = proof(advice, "design.link")
    assert texts(link, "chosen") == ["link: shut-2"]
    equal = "the next best has the same sum of preferences (5); the order of the decision: link, earlier in its table first"
    assert texts(link, "decided_by") == [equal]
    assert texts(link, "decided_by", "zh") == ["次优选项的偏好总分相同（5）；由决策声明的次序决定：链路，表中靠前者优先"]
    # Blue stands first; among blue ones 2 costs 20, 3 costs 30 and 4 costs 40, all within the band: the smaller number counts.
    parts = proof(advice, "design.count")
    assert texts(parts, "chosen") == ["count: 2; colour: blue"]
    (said,) = texts(parts, "decided_by")
    assert said.startswith("no preference tells it from the next best, its cost is within the band of 200 %; the order of the decision: ")
    assert said.endswith("count, smaller first")


def test_no_cost_is_named_where_a_decision_has_none(tmp_path: Path) -> None:
    (said,) = texts(proof(consulted(tmp_path, "site: {size: 5}"), "design.link"), "decided_by")
    assert said == "no preference tells it from the next best; the order of the decision: link, earlier in its table first"


@pytest.mark.parametrize(
    ("lang", "text"), [("en", "link – all with secure no: Links are shut"), ("zh", "链路：所有 安全 为 否 的：Links are shut")]
)
def test_a_shared_cell_that_says_no_is_printed(tmp_path: Path, lang: str, text: str) -> None:
    assert texts(proof(consulted(tmp_path, "site: {size: 5}"), "design.link"), "rejected", lang) == [text]


def test_what_a_layer_overrules_is_no_source_and_is_said_once(tmp_path: Path) -> None:
    advice = consulted(tmp_path, "site: {size: 101}", OVER)
    for node in (proof(advice, "design.link"), proof(advice, "big-prefers-fast")):
        found = below(node, "Big sites prefer") if node.kind == "decision" else list(node.lines)
        assert [line.cites for line in found if line.label == "source"] == [("C-1",)]
        assert [line.text.en for line in found if line.label == "dissent"] == [
            "C-4 disagrees: Slow is better.",
            "C-5 disagrees: It hardly matters.",
            "C-3 is overruled: Fast is better.",
        ]
    assert [(found.claim, found.cite) for found in advice.dissent] == [("C-4", ()), ("C-5", ()), ("C-3", ())]


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("en", "not checked: the expression has no value (a division by zero, or a number too large)"),
        ("zh", "未检查：表达式没有值（除以零，或数值过大）"),
    ],
)
def test_an_expression_without_a_value_is_not_a_missing_fact(tmp_path: Path, lang: str, text: str) -> None:
    advice = consulted(tmp_path, "site: {size: 5, users: 0}")
    assert texts(proof(advice, "few-users"), "state", lang) == [text]
    reason = text.split(": " if lang == "en" else "：")[1]
    (silent,) = explain(advice).silent
    assert silent.text.of(lang) == ("Few users: " if lang == "en" else "Few users：") + reason
