"""The YAML loader: places, limits, traps, and what it says about broken files."""

from __future__ import annotations

import os
import re
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
    flow_comma_fix,
    flow_comma_trap,
    load,
    quoted_condition_trap,
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


def advised(found: Diagnostic) -> list[str]:
    """The lines of the help text that can be copied into the file."""
    return [line for line in found.help.en.split("\n") if not re.fullmatch("write.*|or, if.*|as text.*", line)]


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


# --- values


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ("3", 3), ("-3", -3), ("+3", 3), ("0", 0), ("2.5", 2.5), ("5.", 5.0), (".5", 0.5), ("1.0e+3", 1000.0), ("-1.5e-3", -0.0015),
        ("9007199254740992", 2**53), ("true", True), ("False", False), ("null", None), ("~", None), ("a b", "a b"),
        ("400 Gbps", "400 Gbps"),
        ("nvlink-3", "nvlink-3"), ("5..15 %", "5..15 %"), ("1.2.3", "1.2.3"), ("0.8 * need.x", "0.8 * need.x"), ("=", "="),
        ("tRue", "tRue"),
    ],
)  # fmt: skip
def test_plain_scalar_means_what_the_core_schema_says(raw: str, value: object) -> None:
    found = to_plain(loaded(f"a: {raw}").root)
    assert found == {"a": value}
    assert isinstance(found, dict)
    assert type(found["a"]) is type(value)


def test_quoted_and_block_scalars_are_always_text() -> None:
    assert to_plain(loaded("a: 'no'\nb: \"010\"\nc: |-\n  1e3\nd: ''").root) == {"a": "no", "b": "010", "c": "1e3", "d": ""}


def test_keys_stay_text_whatever_they_look_like() -> None:
    assert to_plain(loaded("8: a\nno: b\n010: c\n1.10: d\ntrue: e").root) == {"8": "a", "no": "b", "010": "c", "1.10": "d", "true": "e"}


@pytest.mark.parametrize(
    ("raw", "code", "lines"),
    [
        ("no", "boolean-word", ["a: false", "a: 'no'"]), ("Yes", "boolean-word", ["a: true", "a: 'Yes'"]),
        ("ON", "boolean-word", ["a: true", "a: 'ON'"]), ("off", "boolean-word", ["a: false", "a: 'off'"]),
        ("y", "boolean-word", ["a: true", "a: 'y'"]), ("N", "boolean-word", ["a: false", "a: 'N'"]),
        ("1:30", "clock-number", ["a: '1:30'"]), ("3:1", "clock-number", ["a: 3", "a: '3:1'"]), ("1:99", "clock-number", ["a: '1:99'"]),
        ("010", "leading-zero", ["a: 10", "a: '010'"]), ("-007.5", "leading-zero", ["a: -7.5", "a: '-007.5'"]),
        ("0x1F", "based-number", ["a: 31", "a: '0x1F'"]), ("0o17", "based-number", ["a: 15", "a: '0o17'"]),
        ("0b101", "based-number", ["a: 5", "a: '0b101'"]),
        ("2026-01-01", "bare-date", ["a: '2026-01-01'"]), ("2026-1-1 10:00:00", "bare-date", ["a: '2026-1-1 10:00:00'"]),
        ("1e3", "bare-exponent", ["a: 1000", "a: '1e3'"]), ("1.0e3", "bare-exponent", ["a: 1000", "a: '1.0e3'"]),
        ("-1e-3", "bare-exponent", ["a: -1.0e-3", "a: '-1e-3'"]), ("2E20", "bare-exponent", ["a: 2.0e+20", "a: '2E20'"]),
        ("1e400", "number-not-finite", ["a: '1e400'"]), ("1.0e+400", "number-not-finite", ["a: '1.0e+400'"]),
        ("1.0e-400", "number-not-finite", ["a: '1.0e-400'"]), (".nan", "number-not-finite", ["a: '.nan'"]),
        ("-.INF", "number-not-finite", ["a: '-.INF'"]),
        ("1_000", "underscored-number", ["a: 1000", "a: '1_000'"]), ("1_0.5", "underscored-number", ["a: 10.5", "a: '1_0.5'"]),
        ("9007199254740993", "number-too-big", ["a: '9007199254740993'"]), ("1" * 5000, "scalar-too-long", []),
    ],
)  # fmt: skip
def test_trap_shows_the_line_as_it_should_be(raw: str, code: str, lines: list[str]) -> None:
    found = only(f"a: {raw}")
    assert (found.code, place(found), advised(found)) == (code, (1, 4), lines or [""])
    for line in lines:
        assert loaded(line).root is not None
    assert found.message.zh


def test_yaml_1_1_numbers_and_words_are_all_refused_or_read_alike() -> None:
    """Whatever PyYAML's YAML 1.1 resolver takes for something else than text is the same value here, or a trap."""
    words = [
        "yes",
        "No",
        "ON",
        "oFF",
        "1_0",
        "0b1",
        "0x_1",
        "01",
        "1:2:3",
        "1.5:3",
        "190:20:30.15",
        "1e3",
        "+.inf",
        "2001-12-14 21:59:43.10 -5",
        "685_230.15",
    ]
    for word in words:
        read = outcome(word)
        assert len(read) == 1 if isinstance(read, tuple) else to_plain(read.root) == yaml.safe_load(word), word


def test_all_mistakes_come_in_one_run_sorted() -> None:
    found = mistakes("b: no\na: 010\na: 1\nc: !x 3\nd: *nowhere\ne: a\tb\nf:\tg\nh: 1: 2\n")
    assert [(d.code, place(d)) for d in found] == [
        ("boolean-word", (1, 4)), ("leading-zero", (2, 4)), ("duplicate-key", (3, 1)), ("tag-refused", (4, 4)),
        ("unknown-alias", (5, 4)), ("tab", (7, 3)), ("colon-in-text", (8, 5)),
    ]  # fmt: skip


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


# --- syntax


@pytest.mark.parametrize(
    ("text", "code", "where", "line"),
    [
        ("en: Warning: this is bad  # c", "colon-in-text", (1, 12), "en: 'Warning: this is bad'"),
        ("- en: It's so: bad", "colon-in-text", (1, 14), '- en: "It\'s so: bad"'),
        ("en: the rule:\nb: 1", "colon-in-text", (1, 13), "en: 'the rule:'"),
        ("a:\n\t- b", "tab", (2, 1), "  - b"),
        ("a: 'x", "unclosed-quote", (1, 4), "a: 'x'"),
        ('b: 1\na: "x\nc: d', "unclosed-quote", (2, 4), 'a: "x"'),
        ("a: [1, 2\nb: c", "unclosed-bracket", (1, 4), "a: [1, 2]"),
        ("a: {b: 1", "unclosed-bracket", (1, 4), "a: {b: 1}"),
        ("a: [b]]", "unclosed-bracket", (1, 7), "a: [b]"),
        ("a: @x y # c", "reserved-character", (1, 4), "a: '@x y' # c"),
        ("a: [%x, b]", "reserved-character", (1, 5), "a: ['%x', b]"),
        ("a: `x`", "reserved-character", (1, 4), "a: '`x`'"),
        ("a: > 5", "reserved-character", (1, 4), "a: '> 5'"),
        ("a: *.yaml", "reserved-character", (1, 4), "a: '*.yaml'"),
        ("when: [x in [a, b]]", "bracket-in-text", (1, 13), "when: ['x in [a, b]']"),
        ("when: [y > 1, x in [a, b]]", "bracket-in-text", (1, 20), "when: [y > 1, 'x in [a, b]']"),
        ("- 'ib' == design.fabric # c", "text-after-quote", (1, 8), '- "\'ib\' == design.fabric"'),
        ("a: 'it's'", "text-after-quote", (1, 8), "a: 'it''s'"),
        ("key:value\nb: c", "missing-colon", (1, 1), "key: value"),
        ("b: c\nkey:value\nd: e", "missing-colon", (2, 1), "key: value"),
    ],
)  # fmt: skip
def test_syntax_error_shows_the_line_as_it_should_be(text: str, code: str, where: tuple[int, int], line: str) -> None:
    found = only(text)
    assert (found.code, place(found), advised(found)) == (code, where, [line])
    assert found.line_text == text.split("\n")[where[0] - 1]
    assert found.help.zh
    loaded(line)


@pytest.mark.parametrize(
    ("text", "code", "where"),
    [
        ("a: b\n c: d", "bad-indentation", (2, 2)), ("a:\n    b: c\n  d: e", "bad-indentation", (3, 3)),
        ("- a\nb: c", "bad-indentation", (2, 1)),
        ("a: - b", "bad-indentation", (1, 4)), ("b: 1\nkey\nc: d", "missing-colon", (2, 1)), ('a: "\\z"', "yaml-syntax", (1, 5)),
        ("a: b\n---\nc: d", "several-documents", (2, 1)), ("a: !!python/name:os.system x", "tag-refused", (1, 4)),
        ("- ! x", "tag-refused", (1, 3)),
        ("&q !x [a]", "tag-refused", (1, 4)), ("a: b\x00", "control-character", (1, 5)), ("a: b\u2028c", "control-character", (1, 5)),
        ('a: "\\0"', "control-character", (1, 4)), ("a:\tb", "tab", (1, 3)), ("", "empty-file", (1, 1)), ("# only\n", "empty-file", (1, 1)),
        ("---\n", "empty-file", (1, 1)), (b"a: \xff", "not-utf8", (1, 4)), ("显: 存\n内: x".encode("gbk"), "not-utf8", (1, 1)),
        ("a: b".encode("utf-16"), "not-utf8", (1, 1)), (b"\x7fELF\x00\x01", "not-utf8", (1, 1)),
        ("a: b\n" + "k" * 2000 + ": 1", "bad-key", (2, 1)),
        ("k" * 200 + ": 1", "bad-key", (1, 1)), ("\ud800", "control-character", (1, 1)),
    ],
)  # fmt: skip
def test_broken_file_is_refused_at_its_place(text: str | bytes, code: str, where: tuple[int, int]) -> None:
    found = only(text)
    assert (found.code, place(found)) == (code, where)


def test_diagnostic_as_a_user_reads_it() -> None:
    found = mistakes("design:\n  oversubscription: 3:1\n  gpu: a800\n  gpu: h100\n")
    assert render(found) == (
        "plan.yaml:2:21: error[clock-number]: '3:1' is a number in base 60 to some YAML readers\n"
        "  |\n"
        "2 |   oversubscription: 3:1\n"
        "  |                     ^^^\n"
        "  = help: write\n"
        "          oversubscription: 3\n"
        "          or, if the text is meant,\n"
        "          oversubscription: '3:1'\n"
        "\n"
        "plan.yaml:4:3: error[duplicate-key]: the key 'gpu' stands here and at line 3, column 3\n"
        "  |\n"
        "4 |   gpu: h100\n"
        "  |   ^^^\n"
        "  = help: keep one of the two"
    )


def test_tabs_inside_text_and_comments_are_fine() -> None:
    text = "a: |\n  x\ty\n\n  \tz\nb: 'c\td' #\te\n#\tf\ng: h\n"
    assert to_plain(loaded(text).root) == {"a": "x\ty\n\n\tz\n", "b": "c\td", "g": "h"}


# --- small traps for the schema code


def test_comma_in_flow_prose_is_found_and_repaired() -> None:
    document = loaded("say: {en: A, so B, or C, zh: 甲}")
    mapping = at(document, "say")
    assert isinstance(mapping, Mapping)
    tail = flow_comma_trap(mapping)
    assert tail is not None
    assert (tail.raw, tail.span.column) == ("so B", 14)
    assert flow_comma_fix(document, mapping) == "say: {en: 'A, so B, or C', zh: 甲}"


@pytest.mark.parametrize("text", ["{en: A, zh: }", "{en: A, zh: ~}", "{en: 'A, so B'}", "en: A\nzh:", "{en, zh: b}", "{a: b, 'c'}"])
def test_comma_trap_is_silent_for_empty_values(text: str) -> None:
    root = loaded(text).root
    assert isinstance(root, Mapping)
    assert flow_comma_trap(root) is None


def test_quoted_condition_is_left_alone_when_its_quote_closes_at_the_end() -> None:
    assert quoted_condition_trap("- 'a' == b") == "- \"'a' == b\""
    for line in ("- 'a == b'", "- 'a' # note", "'key': value", "- a == 'b'", "plain"):
        assert quoted_condition_trap(line) is None


# --- limits


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "[" * 60_000 + "]" * 60_000, "- " * 100_000 + "a", "{a: " * 100_000, "? " * 100_000, "[{a: " * 50_000]
)
def test_deep_nesting_is_an_error_at_once(text: str) -> None:
    began = time.perf_counter()
    (found,) = mistakes(text, PACK_LIMIT_BYTES)
    assert found.code == "too-deep"
    assert time.perf_counter() - began < 1


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
        began = time.perf_counter()
        assert only(text).code == "too-many-nodes"
        assert time.perf_counter() - began < 1


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
    began = time.perf_counter()
    assert mistakes(b"a" * 50_000_000)[0].code == "file-too-large"
    assert time.perf_counter() - began < 0.5


def test_a_large_valid_file_loads_in_time() -> None:
    rule = (
        '  - id: rule-{0}\n    when:\n      - design.gpus > {0}\n    because:\n      en: >-\n        One\n        two\n      zh: "\\n层"\n'
    )
    text = "rules:\n" + "".join(rule.format(n) for n in range(4200))
    assert 480_000 < len(text.encode()) <= PACK_LIMIT_BYTES
    began = time.perf_counter()
    assert load(text, "rules.yaml", PACK_LIMIT_BYTES).root is not None
    assert time.perf_counter() - began < 3


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
