"""The parser: what binds tighter, where everything stands, and one clear message for whatever it cannot read."""

from __future__ import annotations

import ast
import contextlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import expert
from expert.errors import ExpertError
from expert.language.nodes import (
    Arithmetic,
    Boolean,
    Call,
    Comparison,
    IfElse,
    ListOf,
    Logic,
    Membership,
    Name,
    Negation,
    Not,
    Number,
    Syntax,
    Word,
)
from expert.language.parser import parse_template
from tests.language.expressions import COLUMN, errors, locate, parse


def sketch(node: Syntax) -> str:
    """The tree in prefix form, which shows what binds to what."""
    match node:
        case Number():
            return f"{node.low:g}:{node.high:g}{node.unit or ''}" if node.low != node.high else f"{node.low:g}{node.unit or ''}"
        case Name():
            return node.dotted
        case Word():
            return f"'{node.text}'"
        case Boolean():
            return str(node.value).lower()
        case ListOf():
            return f"[{' '.join(map(sketch, node.members))}]"
        case Negation():
            return f"(neg {sketch(node.operand)})"
        case Not():
            return f"(not {sketch(node.operand)})"
        case Arithmetic():
            return f"({node.operator} {sketch(node.left)} {sketch(node.right)})"
        case Comparison():
            return f"({' '.join(node.operators)} {' '.join(map(sketch, node.operands))})"
        case Membership():
            return f"(in {sketch(node.member)} {sketch(node.group)})"
        case Logic():
            return f"({node.operator} {' '.join(map(sketch, node.operands))})"
        case IfElse():
            return f"(if {sketch(node.condition)} {sketch(node.then)} {sketch(node.other)})"
        case Call():
            return f"({node.name} {' '.join(map(sketch, node.arguments))})"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + b * c", "(+ a (* b c))"),
        ("a - b - c", "(- (- a b) c)"),
        ("a / b // c", "(// (/ a b) c)"),
        ("2 ** 3 ** 2", "(** 2 (** 3 2))"),
        ("-x ** 2", "(neg (** x 2))"),
        ("2 ** -1", "(** 2 (neg 1))"),
        ("(a + b) * c", "(* (+ a b) c)"),
        ("a < b <= c", "(< <= a b c)"),
        ("a + 1 > b and c", "(and (> (+ a 1) b) c)"),
        ("not a == b", "(not (== a b))"),
        ("not a and b", "(and (not a) b)"),
        ("(a and b) or c", "(or (and a b) c)"),
        ("a or b or c", "(or a b c)"),
        ("x not in [a, 'b c', 3]", "(not (in x [a 'b c' 3]))"),
        ("x in plan.site.stacks", "(in x plan.site.stacks)"),
        ("not (x in [a])", "(not (in x [a]))"),
        ("a if c and d else b if e else f", "(if (and c d) a (if e b f))"),
        ("min(a, b + 1)", "(min a (+ b 1))"),
        ("design.gpu == rtx-4090-24g", "(== design.gpu rtx-4090-24g)"),
        ("a > 300 GB/s/gpu", "(> a 300GB/s/gpu)"),
        ("a > 32gpu", "(> a 32gpu)"),
        ("5..15 %", "5:15%"),
        ("80 .. 95 .. 120 GB", "80:120GB"),
        ("-5..15", "-5:15"),
        ("x == -5", "(== x (neg 5))"),
        ("10 GB/min(a, b)", "(/ 10GB (min a b))"),
        ("10 GB/a.b", "(/ 10GB a.b)"),
        ("5 in [5]", "(in 5 [5])"),
        ("5 if true else 6 d", "(if true 5 6d)"),
        ("1.5e3 * x", "(* 1500 x)"),
        ("a\n  and b", "(and a b)"),
        ("5 天", "5天"),
    ],
)
def test_parser_binds_as_the_language_says(text: str, expected: str) -> None:
    assert sketch(parse(text)) == expected


def test_three_part_range_keeps_its_typical_value() -> None:
    node = parse("80..95..120 GB")
    assert isinstance(node, Number)
    assert (node.low, node.typical, node.high, node.unit) == (80, 95, 120, "GB")


def test_spans_stand_under_the_words() -> None:
    node = parse("(a + b) > 5 GB")
    assert isinstance(node, Comparison)
    left, right = node.operands
    assert isinstance(left, Arithmetic)
    assert isinstance(right, Number)
    assert (node.span.column, node.span.end_column) == (COLUMN, COLUMN + 14)
    assert (left.span.column, left.span.end_column) == (COLUMN + 1, COLUMN + 6)
    assert left.operator_span.column == COLUMN + 3
    assert right.unit_span is not None
    assert (right.unit_span.column, right.unit_span.end_column) == (COLUMN + 12, COLUMN + 14)


# expression, what the carets stand under (the last such stretch), code, message, help
REFUSED = [
    ("a >", ">", "missing-operand", "something is missing after '>'", ""),
    ("> a", ">", "missing-operand", "something is missing before '>'", ""),
    ("a and", "and", "missing-operand", "something is missing after 'and'", ""),
    ("x in [a,]", ",", "missing-operand", "something is missing after ','", ""),
    ("a and b or c", "or", "mixed-and-or", "'and' and 'or' are mixed without parentheses",
     "write one of\n(a and b) or c\na and (b or c)"),
    ("a or b > 1 and c or d", "and", "mixed-and-or", "'and' and 'or' are mixed without parentheses",
     "write one of\na or (b > 1 and c) or d\n(a or b > 1) and (c or d)"),
    ("a -b", "-", "minus-needs-blanks", "minus needs a blank on both sides",
     "write a - b; without blanks, a hyphen is part of a name"),
    ("a- b", "-", "minus-needs-blanks", "minus needs a blank on both sides",
     "write a - b; without blanks, a hyphen is part of a name"),
    ("x > 5-3", "-", "minus-needs-blanks", "minus needs a blank on both sides",
     "write a - b; without blanks, a hyphen is part of a name"),
    ("x = 5", "=", "wrong-operator", "'=' is not a sign of this language", "write =="),
    ("x && y", "&&", "wrong-operator", "'&&' is not a sign of this language", "write and"),
    ("x || y", "||", "wrong-operator", "'||' is not a sign of this language", "write or"),
    ("!x", "!", "wrong-operator", "'!' is not a sign of this language", "write not"),
    ("x => 5", "=>", "wrong-operator", "'=>' is not a sign of this language", "write >="),
    ("x =< 5", "=<", "wrong-operator", "'=<' is not a sign of this language", "write <="),
    ("x <> 5", "<>", "wrong-operator", "'<>' is not a sign of this language", "write !="),
    ("x ≥ 5", "≥", "typographic-sign", "'≥' is not a sign of this language", "write >="),
    ("x is y", "is", "foreign-word", "'is' is not an operator of this language", "write == (or, for 'is not', !=)"),
    ("x == None", "None", "foreign-word", "'None' is not a word of this language", "write known(x) or missing(x)"),
    ("x == True", "True", "foreign-word", "'True' is not a word of this language", "write true"),
    ("a AND b", "AND", "foreign-word", "'AND' is not an operator of this language", "write and"),
    ("not x in [a, b]", "not", "not-before-in", "'not' before 'in' can be read in two ways", "write x not in [a, b]"),
    ("a == not b", "not", "not-as-operand", "'not' cannot stand inside a comparison or a calculation",
     "put it into parentheses: (not x)"),
    ("(a", "(", "unbalanced-parenthesis", "this '(' is not closed", "close it with )"),
    ("a)", ")", "unbalanced-parenthesis", "this ')' closes nothing", ""),
    ("(a]", "]", "unbalanced-parenthesis", "']' cannot close '('", "write )"),
    ("()", "()", "empty-parentheses", "there is nothing between these parentheses", ""),
    ("minn(a, b)", "minn", "unknown-function", "there is no function 'minn'", "did you mean 'min'?"),
    ("pow(a, 2)", "pow", "unknown-function", "there is no function 'pow'", "write x ** 2"),
    ("a.b.lower()", "a.b.lower", "unknown-function", "there is no function 'a.b.lower'",
     "the functions are min, max, ceil, floor, round, sqrt, log2, low, high, known, missing, coalesce"),
    ("ceil(a, b)", "ceil(a, b)", "wrong-number-of-arguments", "'ceil' takes 1 argument, not 2", ""),
    ("coalesce(a)", "coalesce(a)", "wrong-number-of-arguments", "'coalesce' takes 2 or more arguments, not 1", ""),
    ("a b", "b", "missing-operator", "an operator is missing between 'a' and 'b'",
     "words that belong together are one id with hyphens, or quoted"),
    ("5 % 3", "3", "missing-operator", "an operator is missing between '5 %' and '3'",
     "'%' means percent; there is no remainder operator"),
    ("a % 3", "%", "percent-without-number", "'%' stands after a number; there is no remainder operator",
     "a percentage is written 5 %"),
    ("5 %%", "%%", "double-percent", "one percent sign is enough", "write %"),
    ("x > 1,000", "1,000", "digits-in-groups", "digits are written without separators",
     "write 1000; between two numbers of a list, put a blank after the comma"),
    ("5..3", "5..3", "range-order", "a range goes from its low end to its high end",
     "write 5..15, or with a typical value 5..8..15"),
    ("5 %..15 %", "5 %..", "unit-inside-range", "the unit of a range stands once, at its end", "write 5..15 %"),
    ("a..b", "..", "range-without-numbers", "a range joins two or three numbers",
     "write 5..15; for facts, low(x) and high(x) give the ends"),
    ("1 if x", "if", "missing-else", "this 'if' has no 'else'", "write x if condition else y"),
    ("1 else 2", "else", "else-without-if", "this 'else' has no 'if'", ""),
    ("a < b in [c]", "in", "chained-in", "'in' does not chain with another comparison", "join the two with 'and'"),
    ("x in 5", "5", "in-without-list", "'in' needs a list in brackets or a list fact", "write x in [a, b]"),
    ("x in (a, b)", ",", "stray-comma", "a comma stands only between members of a list or arguments", "a list is written [a, b]"),
    ("x == 'a", "'a", "quote-not-closed", "this quotation does not end", "close it with '"),
    ("x > $5", "$", "unknown-character", "'$' has no meaning in an expression", ""),
    ("x > 1e400", "1e400", "number-too-large", "this number is too large", ""),
    ("x > 5.", "5.", "number-ends-in-dot", "digits are missing after the point", ""),
]  # fmt: skip


def rendered(text: str, under: str, code: str, message: str, help: str) -> str:
    """The whole message, built from the expression and what the carets stand under."""
    column = COLUMN + text.rindex(under)
    lines = [
        f"rules.yaml:21:{column}: error[{code}]: {message}",
        "   |",
        f"21 |       - {text}",
        f"   | {' ' * (column - 1)}{'^' * len(under)}",
    ]
    if help:
        first, *rest = help.split("\n")
        lines += [f"   = help: {first}", *(f"           {line}" for line in rest)]
    return "\n".join(lines)


@pytest.mark.parametrize(("text", "under", "code", "message", "help"), REFUSED, ids=[case[0] for case in REFUSED])
def test_mistake_is_explained_where_it_stands(text: str, under: str, code: str, message: str, help: str) -> None:
    with pytest.raises(ExpertError) as caught:
        parse(text)
    assert str(caught.value) == rendered(text, under, code, message, help)


@pytest.mark.parametrize("case", REFUSED, ids=[case[0] for case in REFUSED])
def test_mistake_is_explained_in_chinese_too(case: tuple[str, str, str, str, str]) -> None:
    with pytest.raises(ExpertError) as caught:
        parse(case[0])
    (found,) = caught.value.diagnostics
    assert any("\u4e00" <= char <= "\u9fff" for char in found.message.zh)
    assert bool(found.help.en) == bool(found.help.zh)


@pytest.mark.parametrize("text", ["", "   ", "\n"])
def test_empty_expression_is_refused(text: str) -> None:
    assert refusal(text) == "empty-expression"


def refusal(text: str) -> str:
    """The code of the one mistake, or "" where the text can be read."""
    try:
        parse(text)
    except ExpertError as caught:
        (found,) = caught.diagnostics
        return found.code
    return ""


def test_length_is_limited_to_2000_characters() -> None:
    assert refusal("a" * 2000) == ""
    assert refusal("a" * 2001) == "expression-too-long"


@pytest.mark.parametrize("shape", ["({})", "not ({})", "-({})", "min({}, 1)", "1 if ({}) else 2"])
def test_depth_is_limited(shape: str) -> None:
    text = "a"
    for _ in range(20):
        text = shape.format(text)
    assert refusal(text) == ""
    while len(text) < 1000:
        text = shape.format(text)
    assert refusal(text) == "expression-too-deep"


def test_long_chain_without_parentheses_is_as_deep_as_its_tree() -> None:
    assert refusal(" + ".join(["a"] * 50)) == ""
    assert refusal(" + ".join(["a"] * 60)) == "expression-too-deep"
    assert refusal(" and ".join(["a"] * 300)) == ""


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60))
def test_random_text_gives_syntax_or_one_mistake(text: str) -> None:
    refusal(text)


PIECES = st.sampled_from(
    ["a", "b.c", "5", "1..2", "%", "GB", "(", ")", "[", "]", ",", "and", "or", "not", "in", "if", "else", "==", "<", "+", "-", "*",
     "/", "//", "**", "min", "known", "'x'", " ", "-", ".", "..", "true", "{", "}"]
)  # fmt: skip


@settings(max_examples=500, deadline=None)
@given(st.lists(PIECES, max_size=14), st.booleans())
def test_random_pieces_give_syntax_or_one_mistake(pieces: list[str], spaced: bool) -> None:
    text = (" " if spaced else "").join(pieces)
    refusal(text)
    with contextlib.suppress(ExpertError):
        parse_template(text, locate)


_HOSTILE = [
    "__import__('os')", "__import__('os').system('id')", "().__class__", "().__class__.__bases__[0]", "[].append(1)", "{}",
    "{'a': 1}", "lambda: 0", "lambda x: x", "eval('1')", "exec('1')", "compile('1', '', 'eval')", "open('/etc/passwd')",
    "open('/etc/passwd').read()", "getattr(a, 'b')", "setattr(a, 'b', 1)", "globals()", "locals()", "vars()", "dir()",
    "a.__class__.__mro__()", "a[0]", "a['b']", "a[1:2]", "f'{a}'", "f\"{a}\"", "b'x'", "r'x'", "'a' 'b'", "'''a'''",
    "a := 5", "a = 5", "a += 1", "a; b", "a\\nb", "a\x00b", "\x1b[31m", "\u202ea", "\u200b", "\ud800", "#comment", "a # b",
    "import os", "from os import path", "del a", "return a", "yield a", "await a", "async def f(): pass", "class A: pass",
    "def f(): pass", "assert a", "raise a", "try: a", "with a: b", "for x in y: z", "while true: a", "[x for x in y]",
    "(x for x in y)", "{x for x in y}", "*a", "**a", "a, *b", "a @ b", "~a", "a ^ b", "a << 2", "a >> 2", "a & b", "a | b",
    "not", "not not", "and", "or", "in", "if", "else", "a if", "a if b", "a if b else", "if a else b", "a in", "in a",
    "a not", "a not in", "== a", "a ==", "a == == b", "a === b", "a !== b", "a <=> b", "a -> b", "a => b", "a ? b : c", "a ?? b",
    "$a", "@a", "`a`", "a!", "!a", "a..", "..a", "...", "5..", "..5", "5...6", "5..6..7..8", "1.2.3", "1,2", "1_000", "0x", "0x1F x",
    "1e", "1e999", "-", "--", "+", "+a", "++a", "*", "/", "//", "%", "%%", "5 %%", "5%5", "(", ")", "((", "))", "()", "(()", "[",
    "]", "[]]", "[[", "(]", "[)", "{", "}", "min", "min(", "min)", "min()", "min(,)", "min(a,)", "min(,a)", "min(a b)", "known()",
    "known(a, b)", "missing()", "round(a, 2)", "sum(a)", "abs(a)", "len(a)", "str(a)", "int('5')", "a()", "a.b()", "a.b.c(d)",
    "(a)(b)", "a(b)(c)", "5(a)", "'a'(b)", "true()", "true.a", "5.a", "5 .a", "a .b", "a. b", ".a", "a.", "a..b", "a...b", "-a-",
    "a - ", " - a - ", "a -b", "a- b", "a-", "a--b", "a ** ** b", "a * / b", "1 2", "1 a b", "a 1", "a 'b'", "'a' b", "'", "\"", "'a\"",
    "\"a'", "'a", "“a”", "‘a’", "（a）", "a，b", "a；b", "a：b", "a＝b", "a＞b", "a≠b", "a×b", "a÷b", "a–b", "☃", "a ☃ b", "💥",
    "${jndi:ldap://x}", "{{a}}", "{% a %}", "<a>", "<script>", "a' or '1'='1", "1; drop table x", "../../etc", "C:\\x", "a\rb = c",
    "\\", "a\\", "%s", "%(a)s", "{0}", "{a.__class__}", "!!python/object:os.system", "&a", "*a b", "a: b", "- a b", "|", ">", "> >",
]  # fmt: skip


@pytest.mark.parametrize("text", _HOSTILE)
def test_hostile_expression_is_refused(text: str) -> None:
    assert "error[" in errors(text)


def test_there_are_two_hundred_hostile_expressions() -> None:
    assert len(set(_HOSTILE)) >= 200


def test_template_is_cut_at_braces() -> None:
    parts = parse_template("{design.gpus} of {{all}}: {low(need.loss)}, '{a}'", locate)
    shown = [part if isinstance(part, str) else sketch(part) for part in parts]
    assert shown == ["design.gpus", " of {all}: ", "(low need.loss)", ", '", "a", "'"]


def test_template_span_counts_from_the_whole_text() -> None:
    part = parse_template("ab {c.d}", locate)[1]
    assert not isinstance(part, str)
    assert (part.span.column, part.span.end_column) == (COLUMN + 4, COLUMN + 7)


@pytest.mark.parametrize(
    ("text", "code", "offset"),
    [
        ("a {b", "brace-not-closed", 2),
        ("a {b {c}}", "brace-not-closed", 2),
        ("a } b", "stray-brace", 2),
        ("a {}", "empty-expression", 3),
        ("a {b c}", "missing-operator", 5),
        ("a {x = 1}", "wrong-operator", 5),
    ],
)
def test_template_mistake_stands_in_its_brace(text: str, code: str, offset: int) -> None:
    with pytest.raises(ExpertError) as caught:
        parse_template(text, locate)
    (found,) = caught.value.diagnostics
    assert found.span is not None
    assert (found.code, found.span.column) == (code, COLUMN + offset)


def test_nothing_in_the_package_evaluates_python() -> None:
    for path in sorted(Path(expert.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = node.func if isinstance(node, ast.Call) else None
            assert not (isinstance(called, ast.Name) and called.id in ("eval", "exec", "compile", "__import__")), path
            assert not (isinstance(node, ast.Name) and node.id in ("eval", "exec")), path
