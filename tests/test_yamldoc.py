"""The YAML loader: places, anchors, limits, files, and agreement with PyYAML."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from expert.errors import Diagnostic, ExpertError, render
from expert.yamldoc import (
    DEPTH_LIMIT,
    PACK_LIMIT_BYTES,
    PLAN_LIMIT_BYTES,
    Document,
    Mapping,
    Node,
    Scalar,
    Sequence,
    load,
    read,
    to_plain,
)


def loaded(text: str | bytes) -> Document:
    return load(text, "plan.yaml", PLAN_LIMIT_BYTES)


def mistakes(text: str | bytes, limit_bytes: int = PLAN_LIMIT_BYTES) -> tuple[Diagnostic, ...]:
    with pytest.raises(ExpertError) as caught:
        load(text, "plan.yaml", limit_bytes)
    return caught.value.diagnostics


def outcome(text: str | bytes, loader: Any = None) -> Document | tuple[Diagnostic, ...]:
    """The document, or the diagnostics; any other exception is a failure of the test."""
    try:
        return load(text, "plan.yaml", PLAN_LIMIT_BYTES, loader=loader)
    except ExpertError as error:
        return error.diagnostics


def only(text: str | bytes) -> Diagnostic:
    (found,) = mistakes(text)
    return found


def place(found: Diagnostic) -> tuple[int, int]:
    assert found.span is not None
    return found.span.line, found.span.column


def scalars(node: Node | None) -> Iterator[Scalar]:
    if isinstance(node, Scalar):
        yield node
    elif isinstance(node, Sequence):
        for child in node.items:
            yield from scalars(child)
    elif isinstance(node, Mapping):
        for key, value in node.entries:
            yield key
            yield from scalars(value)


def at(document: Document, path: str) -> Node:
    """The node whose span carries the path."""
    todo = [document.root]
    while todo:
        node = todo.pop()
        assert node is not None
        if node.span.path == path:
            return node
        todo += node.items if isinstance(node, Sequence) else [v for _, v in node.entries] if isinstance(node, Mapping) else []
    raise AssertionError(path)


def scalar_at(document: Document, path: str) -> Scalar:
    node = at(document, path)
    assert isinstance(node, Scalar)
    return node


# --- places


def test_spans_count_characters_whatever_the_script() -> None:
    document = loaded("\ufeff显存: 八十\r\n'😀k': '😀' # note\r\nlist:\r\n- x: 1\r\n  y: [ab,  cd]\r\n")
    spans = {node.span.path: (node.span.line, node.span.column, node.span.end_column) for node in scalars(document.root)}
    assert spans == {
        "显存": (1, 5, 7), "😀k": (2, 7, 10), "list": (3, 1, 5), "list.0.x": (4, 6, 7), "list.0.y": (5, 3, 4),
        "list.0.y.0": (5, 7, 9), "list.0.y.1": (5, 12, 14),
    }  # fmt: skip
    assert document.line(2) == "'😀k': '😀' # note"
    whole = at(document, "list.0.y").span
    assert document.line(5)[whole.column - 1 : whole.end_column - 1] == "[ab,  cd]"


def test_block_collection_spans_end_with_their_first_entry() -> None:
    document = loaded("a:  # note\n  b: 1  # one\n  c: 2\nd:\n  - e\n  - f\n")
    first, second = at(document, "a").span, at(document, "d").span
    assert (first.line, first.column, first.end_column) == (2, 3, 7)
    assert (second.line, second.column, second.end_column) == (5, 3, 6)


def test_anchor_is_no_part_of_the_span() -> None:
    document = loaded("a: &x  foo\nb: &y\n  # note\n  c: 1\nd: *x\ne: *y\n")
    assert (scalar_at(document, "a").span.line, scalar_at(document, "a").span.column) == (1, 8)
    assert (at(document, "b").span.line, at(document, "b").span.column) == (4, 3)
    assert (scalar_at(document, "d").span.line, scalar_at(document, "d").raw) == (1, "foo")
    assert (scalar_at(document, "e.c").span.line, scalar_at(document, "e.c").value) == (4, 1)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("a: x  > WORD", "WORD"), ("a: 'x > WORD'", "WORD"), ("a: 'it''s WORD'", "WORD"), ('a: "x \\n\\u0041 WORD"', "WORD"),
        ("a: x\n  y   WORD z", "WORD"), ('a: "x\n\n   y WORD"', "WORD"), ("a: |\n  one\n    two\n\n  x WORD", "WORD"),
        ("a: >-\n  one\n  two\n\n    more\n  x WORD\n", "WORD"), ("- a:\n    - |2\n        deep WORD\n", "WORD"),
        ("a: |\r\n  one\r\n  两 WORD\r\n", "WORD"),
        ('a: "x \\\n   y WORD"', "WORD"), ("a: &q >\n\n  x\n\n\n  WORD", "WORD"), ("a: |+ # note\n  x\n  WORD\n\n", "WORD"),
    ],
)  # fmt: skip
def test_locate_finds_a_word_inside_every_style(text: str, word: str) -> None:
    document = loaded(text)
    (value,) = [node for node in scalars(document.root) if word in node.raw]
    span = value.locate(value.raw.index(word), len(word))
    assert document.line(span.line)[span.column - 1 : span.end_column - 1] == word


def test_locate_covers_a_whole_escape_and_the_end() -> None:
    value = scalar_at(loaded('a: "x\\u0041z"'), "a")
    assert value.raw == "xAz"
    assert [(value.locate(n).column, value.locate(n).end_column) for n in range(3)] == [(5, 6), (6, 12), (12, 13)]
    assert (value.locate(3).column, value.locate(3, 0).end_column) == (13, 13)
    assert (value.content.column, value.content.end_column) == (5, 13)
    assert (scalar_at(loaded("a: |\n   two\n   lines"), "a").content.line, scalar_at(loaded("a:"), "a").locate(0).column) == (2, 3)


def test_locate_counts_blanks_that_belong_to_a_block() -> None:
    value = scalar_at(loaded("a: |2\n     one\n   two\n"), "a")
    assert value.raw == "   one\n two\n"
    assert [(value.locate(n).line, value.locate(n).column) for n in (0, 2, 3, 6, 7, 8)] == [(2, 3), (2, 5), (2, 6), (2, 9), (3, 3), (3, 4)]


def test_span_of_a_long_text_ends_with_its_first_line() -> None:
    document = loaded("a: 'one\n  two'\nb: three\n  four\nc: |\n  x\n")
    assert [scalar_at(document, path).span.end_column for path in "abc"] == [8, 9, 5]


# --- anchors and merges


def test_merge_takes_what_is_not_said_first_source_first() -> None:
    text = "x: &x {a: 1, b: 2}\ny: &y {b: 3, c: 4}\nz:\n  c: 5\n  <<: [*x, *y]\n  d: 6\nw: {<<: {k: {m: 1}}, <<x: 1}\n'<<': text\n"
    document = loaded(text)
    assert to_plain(at(document, "z")) == {"a": 1, "b": 2, "c": 5, "d": 6} == yaml.safe_load(text)["z"]
    assert to_plain(at(document, "w")) == {"k": {"m": 1}, "<<x": 1}
    assert scalar_at(document, "z.b").span.line == 1
    assert scalar_at(document, "w.k.m").value == 1
    assert to_plain(at(document, "<<")) == "text"


def test_merge_of_a_number_is_refused() -> None:
    assert [d.code for d in mistakes("a: {<<: 5}\nb: {<<: [{c: 1}, x]}")] == ["bad-merge", "bad-merge"]


@pytest.mark.parametrize("text", ["&a [*a]", "a: &x {b: *x}", "a: &x\n  <<: *x"])
def test_alias_inside_its_own_value_is_refused(text: str) -> None:
    assert "unknown-alias" in {found.code for found in mistakes(text)}


def test_keys_that_are_no_text_are_refused_and_the_rest_is_still_read() -> None:
    found = mistakes("? [a]\n: b\n? |\n  c\n: d\ne: &k f\n*k : g\nok: no\n")
    assert [(d.code, place(d)[0]) for d in found] == [("bad-key", 1), ("bad-key", 3), ("bad-key", 7), ("boolean-word", 8)]


def test_duplicate_key_names_both_places() -> None:
    found = only("a:\n  b: 1\n  c: 2\n  'b': 3\n")
    assert (found.code, place(found)) == ("duplicate-key", (4, 3))
    assert "line 2, column 3" in found.message.en
    assert "第 2 行第 3 列" in found.message.zh


# --- limits


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "[" * 60_000 + "]" * 60_000, "- " * 100_000 + "a", "{a: " * 100_000, "? " * 100_000, "[{a: " * 50_000]
)
def test_deep_nesting_is_an_error_at_once(text: str) -> None:
    began = time.process_time()
    (found,) = mistakes(text, PACK_LIMIT_BYTES)
    assert found.code == "too-deep"
    assert time.process_time() - began < 1


def test_depth_limit_is_exact_also_through_aliases() -> None:
    assert load("[" * DEPTH_LIMIT + "]" * DEPTH_LIMIT, "f", 1000).root is not None
    assert only("[" * (DEPTH_LIMIT + 1) + "]" * (DEPTH_LIMIT + 1)).code == "too-deep"
    half = DEPTH_LIMIT // 2
    deep = "a: &a " + "[" * half + "]" * half + "\nb: "
    assert loaded(deep + "[" * (half - 1) + "*a" + "]" * (half - 1)).root is not None
    assert only(deep + "[" * half + "*a" + "]" * half).code == "too-deep"


def test_alias_bomb_is_refused_at_once() -> None:
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 20)]
    merges = ["m0: &m0 {x: 1}"] + [f"m{n}: &m{n} {{<<: [{', '.join([f'*m{n - 1}'] * 9)}], y{n}: 1}}" for n in range(1, 20)]
    for text in ("\n".join(rows), "\n".join(merges)):
        began = time.process_time()
        assert only(text).code == "too-many-nodes"
        assert time.process_time() - began < 1


def test_mistakes_without_end_are_cut() -> None:
    found = mistakes("[" + "no, " * 50_000 + "]")
    assert len(found) == 101
    assert "too-many-mistakes" in {d.code for d in found}


def test_scalar_limit_is_a_parameter() -> None:
    assert only("a: '" + "x" * 4097 + "'").code == "scalar-too-long"
    assert loaded("a: '" + "x" * 4096 + "'").root is not None
    assert load("a: '" + "x" * 4097 + "'", "f", PACK_LIMIT_BYTES, scalar_limit=5000).root is not None


def test_size_counts_bytes_and_is_refused_at_once() -> None:
    assert load("a: 显", "f", 6).root is not None
    assert mistakes("a: 显", 5)[0].code == "file-too-large"
    began = time.process_time()
    assert mistakes(b"a" * 50_000_000)[0].code == "file-too-large"
    assert time.process_time() - began < 0.5


def test_a_large_valid_file_loads_in_time() -> None:
    rule = (
        '  - id: rule-{0}\n    when:\n      - design.gpus > {0}\n    because:\n      en: >-\n        One\n        two\n      zh: "\\n层"\n'
    )
    text = "rules:\n" + "".join(rule.format(n) for n in range(4200))
    assert 480_000 < len(text.encode()) <= PACK_LIMIT_BYTES
    began = time.process_time()
    assert load(text, "rules.yaml", PACK_LIMIT_BYTES).root is not None
    assert time.process_time() - began < 3


# --- files


def test_file_is_read_under_the_name_it_is_shown_as(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_bytes("\ufeffa: 1\r\n".encode())
    document = read(tmp_path / "plan.yaml", 100, shown_as="plan")
    assert (document.file, to_plain(document.root)) == ("plan", {"a": 1})


def test_what_is_no_readable_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large.yaml").write_bytes(b"")
    os.truncate(tmp_path / "large.yaml", 50_000_000)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    cases = {
        tmp_path / "pipe": "not-a-file", tmp_path: "not-a-file", Path("/dev/zero"): "not-a-file", tmp_path / "large.yaml": "file-too-large",
        tmp_path / "larg.yaml": "file-not-found", tmp_path / "loop": "file-unreadable", Path("a\0b"): "file-unreadable",
        tmp_path / ("x" * 5000): "file-unreadable",
    }  # fmt: skip
    for path, code in cases.items():
        with pytest.raises(ExpertError) as caught:
            read(path, 1000)
        assert caught.value.diagnostics[0].code == code, path
        if path.name == "larg.yaml":
            assert str(tmp_path / "large.yaml") in caught.value.diagnostics[0].help.en


# --- against PyYAML


class QuotingDumper(yaml.SafeDumper):
    """Dumps every text in single quotes, so that YAML 1.1 and the traps have no say."""


QuotingDumper.add_representer(str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style="'"))

TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp", "Cn"], exclude_characters="\ufeff"), max_size=30),
    st.sampled_from(
        ["no", "Yes", "1:30", "010", "1e3", ".nan", "2026-01-01", "a: b", "it's", '"x" y', "", " x ", "x\ny", "x\n\n y\n", "null", "~"]
    ),
)
KEYS = TEXTS.filter(lambda text: "\n" not in text)
NUMBERS = st.one_of(st.integers(-(2**53), 2**53), st.floats(allow_nan=False, allow_infinity=False), st.booleans(), st.none())
TREES = st.recursive(
    st.one_of(TEXTS, NUMBERS), lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=20
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TREES, st.booleans(), st.sampled_from([40, 400]))
def test_dumped_tree_loads_back_equal(tree: Any, flow: bool, width: int) -> None:
    text = yaml.dump(tree, Dumper=QuotingDumper, allow_unicode=True, default_flow_style=flow, width=width)
    document = load(text, "f", PACK_LIMIT_BYTES)
    assert to_plain(document.root) == tree
    for node in scalars(document.root):
        if node.span.end_column <= len(document.line(node.span.line)) and "\n" not in node.raw and node.start < node.end:
            written = document.line(node.span.line)[node.span.column - 1 : node.span.end_column - 1]
            assert yaml.safe_load(written) == node.value or written == node.raw or node.value == 0


PLAIN_WORDS = st.from_regex(r"[a-z显存][a-z0-9显存 .>=*/-]{2,30}[a-z]", fullmatch=True).filter(
    lambda word: word not in ("true", "false", "null")
)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.dictionaries(PLAIN_WORDS, st.lists(PLAIN_WORDS, max_size=3) | PLAIN_WORDS, max_size=3), min_size=1, max_size=3))
def test_span_cuts_the_plain_text_out_of_its_line(tree: Any) -> None:
    document = load(yaml.safe_dump(tree, allow_unicode=True, width=1000), "f", PACK_LIMIT_BYTES)
    assert to_plain(document.root) == tree
    for node in scalars(document.root):
        whole = node.locate(0, len(node.raw))
        assert document.line(node.span.line)[whole.column - 1 : whole.end_column - 1] == node.raw
        for offset in range(len(node.raw)):
            one = node.locate(offset, 1)
            assert document.line(one.line)[one.column - 1 : one.end_column - 1] == node.raw[offset]


PIECES = st.sampled_from(
    ["a", "b: ", "- ", "\n", "  ", "    ", "[", "]", "{", "}", ", ", ": ", "'", '"', "|\n", ">-\n", "&x ", "*x", "<<: ",
     "!t ", "#", " # c", "\t",
     "? ", "---\n", "%", "@", "\\", "\r\n", "显", "😀", "no", "010", "3:1", "\x00", "\ufeff", "\u2028", "...", "\\x41", "key: value\n"]
)  # fmt: skip


@settings(max_examples=600, deadline=None)
@given(st.lists(PIECES, max_size=25).map("".join))
def test_twisted_text_gives_a_document_or_an_expert_error_and_both_loaders_agree(text: str) -> None:
    fast, slow = outcome(text), outcome(text, yaml.SafeLoader)
    for read_so in (fast, slow):
        if isinstance(read_so, Document):
            assert all(node.locate(n).line >= node.span.line for node in scalars(read_so.root) for n in range(len(node.raw) + 1))
        else:
            assert render(read_so, "en")
            assert render(read_so, "zh")
    if isinstance(fast, Document) and isinstance(slow, Document):
        assert fast.root == slow.root


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60))
def test_random_bytes_give_a_document_or_an_expert_error(content: bytes) -> None:
    assert outcome(content)


EXAMPLE = """\
plan: 1
name: '70B'
workload: &w {params_b: 70, dataset: 10 TB}
more:
  <<: *w
  prose: >-
    Each layer
    exchanges
  list:
  - a > "b"
  - [x, 'y', "z\\n"]
"""


def test_every_truncation_and_every_deleted_character_is_survived() -> None:
    for cut in range(len(EXAMPLE)):
        for text in (EXAMPLE[:cut], EXAMPLE[:cut] + EXAMPLE[cut + 1 :]):
            read_so = outcome(text)
            if isinstance(read_so, tuple):
                assert all(found.span is not None and found.message.zh for found in read_so)


@pytest.mark.parametrize("path", sorted(Path(__file__).parent.parent.glob("rules/**/*.yaml")), ids=lambda path: path.name)
def test_both_loaders_agree_on_every_shipped_file(path: Path) -> None:
    content = path.read_bytes()
    fast, slow = (load(content, path.name, PACK_LIMIT_BYTES, scalar_limit=10**6, loader=loader) for loader in (None, yaml.SafeLoader))
    assert fast.root == slow.root
