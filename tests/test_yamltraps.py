"""What YAML values mean, the traps that are refused, and what is said about broken files."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from expert.errors import Diagnostic, ExpertError, render
from expert.yamldoc import (
    PLAN_LIMIT_BYTES,
    Document,
    Mapping,
    Node,
    Sequence,
    flow_comma_fix,
    flow_comma_trap,
    load,
    quoted_condition_trap,
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
        ("a:\tb", "tab", (1, 3)), ("", "empty-file", (1, 1)), ("# only\n", "empty-file", (1, 1)),
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


@pytest.mark.parametrize("key", ["a" * 10_000, "a " * 700 + "b", "'" + "a" * 1_100 + "'"], ids=["plain", "words", "quoted"])
@pytest.mark.parametrize(
    ("before", "after"), [("w: {", ": 1}"), ("w: {b: [c], ", ": 1, d: 2}"), ("", ": 1")], ids=["braces", "later", "block"]
)
def test_a_key_beyond_the_reach_of_yaml_is_called_too_long(key: str, before: str, after: str) -> None:
    # YAML 1.2.2, section 7.4.2: the colon of an implicit key stands within 1024 characters.
    found = only(before + key + after)
    assert (found.code, place(found)) == ("bad-key", (1, len(before) + 1))
    assert "too long for a key" in found.message.en


def test_a_colon_in_a_long_text_is_about_the_colon() -> None:
    assert only("because: it is " + "long " * 300 + "and: so").code == "colon-in-text"
