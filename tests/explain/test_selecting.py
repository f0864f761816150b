"""Selecting a part of an explanation: by topic, severity and source; every selection is a part of the whole."""

from __future__ import annotations

import pytest

from expert.errors import ExpertError
from expert.explain.nodes import Explanation, Node
from expert.explain.proof import explain
from expert.explain.selecting import LEVELS, Selection, selection_of
from tests.bicycle.consulting import ROOT, advice, program, sample

BAD = "site: {distance: 70 km, load: 30 kg}\ndesign: {bike: volt-9}"


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def within(nodes: tuple[Node, ...]) -> list[Node]:
    return [found for node in nodes for found in (node, *within(node.children))]


def ids(found: Explanation) -> list[str]:
    return [node.id for node in found.nodes]


def chosen(*, topics: tuple[str, ...] = (), severities: tuple[str, ...] = (), sources: tuple[str, ...] = ()) -> Selection:
    return selection_of(program("base"), topics, severities, sources)


def test_severities_select_the_proofs_of_their_findings() -> None:
    # 70 km need 105 km, and the Volt 9 goes 60 to 80: an error. 30 kg do not fit into a basket: a warning.
    found = {severity: ids(explain(advice(BAD), selection=chosen(severities=(severity,)))) for severity in ("error", "warning", "info")}
    assert "rule:range-lasts-the-day" in found["error"]
    assert found["warning"] == ["rule:heavy-load-is-noted"]
    both = ids(explain(advice(BAD), selection=chosen(severities=("error,warning",))))
    assert sorted(both) == sorted({*found["error"], *found["warning"]})
    assert found["info"] == []


def test_names_of_one_list_are_alternatives_and_lists_must_all_hold() -> None:
    topics = sorted(program("base").topics)
    every = ids(explain(advice(BAD), selection=chosen(topics=tuple(topics))))
    parts = [ids(explain(advice(BAD), selection=chosen(topics=(topic,)))) for topic in topics]
    assert sorted(every) == sorted(id for part in parts for id in part)
    assert chosen(topics=(",".join(topics),)) == chosen(topics=tuple(topics))
    for topic, part in zip(topics, parts, strict=True):
        errors = ids(explain(advice(BAD), selection=chosen(topics=(topic,), severities=("error",))))
        assert set(errors) <= set(part)


def test_a_source_keeps_only_the_branches_that_lead_to_it() -> None:
    # T-002 stands behind the reserve, which need.range reads; the price's claims stand in other branches.
    whole, found = explain(sample()), explain(sample(), selection=chosen(sources=("T-002",)))
    kept = within(found.nodes)
    assert {node.id for node in kept} < {node.id for node in within(whole.nodes)}
    assert "fact:need.range" in {node.id for node in kept}
    assert "fact:estimate.price" not in {node.id for node in kept}
    numbers = {node.number for node in kept}
    for node in kept:
        # Each kept node quotes it, or rests on one that is kept.
        assert (
            "T-002" in {name for line in node.lines for name in line.cites} or node.children or {line.see for line in node.lines} & numbers
        )


def test_a_document_stands_for_all_of_its_claims() -> None:
    document = program("base").claims["T-002"].source
    by_document = {node.id for node in within(explain(sample(), selection=chosen(sources=(document,))).nodes)}
    by_claim = {node.id for node in within(explain(sample(), selection=chosen(sources=("T-002",))).nodes)}
    assert by_claim <= by_document


def test_a_source_that_nothing_quotes_leaves_nothing() -> None:
    unused = sorted(
        set(program("base").claims) - {name for node in within(explain(sample()).nodes) for line in node.lines for name in line.cites}
    )
    for name in unused:
        assert ids(explain(sample(), selection=chosen(sources=(name,)))) == []


@pytest.mark.parametrize("selection", [{"sources": ("T-002",)}, {"severities": ("error",)}, {"topics": ("ride",)}], ids=str)
def test_every_level_of_a_selection_is_a_part_of_the_next(selection: dict[str, tuple[str, ...]]) -> None:
    wanted = Selection(*(frozenset(selection.get(name, ())) for name in ("topics", "severities", "sources")))
    full, paragraph, line = ({node.id for node in within(explain(advice(BAD), level=level, selection=wanted).nodes)} for level in LEVELS)
    assert line <= paragraph <= full


def test_unknown_names_come_all_at_once_with_the_nearest() -> None:
    with pytest.raises(ExpertError) as caught:
        chosen(topics=("no,such",), severities=("eror",), sources=("T-022",))
    found = [(diagnostic.code, diagnostic.message.en, diagnostic.help.en) for diagnostic in caught.value.diagnostics]
    topics = ", ".join(program("base").topics)
    assert found == [
        ("unknown-target", "there is no topic 'no'", f"there are {topics}"),
        ("unknown-target", "there is no topic 'such'", f"there are {topics}"),
        ("unknown-value", "there is no severity 'eror'", "did you mean 'error'?"),
        ("unknown-target", "there is no source or claim 'T-022'", "did you mean 'T-002'?"),
    ]
