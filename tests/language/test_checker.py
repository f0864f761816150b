"""The checker: what names mean, which units go together, and what a wrong expression is told."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from expert.errors import Span
from expert.language.printing import describe
from expert.language.scope import Signature
from expert.language.terms import (
    BOOL,
    LIST,
    NUMBER,
    TEXT,
    WORD,
    ArithmeticTerm,
    CellTerm,
    CompareTerm,
    ConstantTerm,
    FactTerm,
    InTerm,
    Literal,
    LogicTerm,
    NotTerm,
    RowTerm,
    StatedTerm,
    Term,
    members_of,
    walk,
)
from tests.language.expressions import COLUMN, check, errors, number, word

PERCENT = number("percent")
GIB = number("GiB")


def bare(term: Term | None) -> object:
    """The term without spans, so that terms of different texts compare."""
    if term is None or isinstance(term, str | int | float):
        return term
    kept: list[object] = [type(term).__name__]
    for field in dataclasses.fields(term):
        value = getattr(term, field.name)
        if isinstance(value, Span):
            continue
        if isinstance(value, tuple) and value and dataclasses.is_dataclass(value[0]):
            kept.append(tuple(bare(part) for part in value))
        else:
            kept.append(bare(value) if hasattr(value, "span") else value)
    return tuple(kept)


def compared(text: str) -> CompareTerm:
    """A correct comparison."""
    outcome = check(text)
    assert outcome.reports == ()
    assert isinstance(outcome.term, CompareTerm)
    return outcome.term


def literal(text: str) -> Literal:
    """The literal on the right of a correct comparison."""
    right = compared(text).right
    assert isinstance(right, Literal)
    return right


# Names


def test_longest_fact_wins_and_the_rest_are_columns() -> None:
    left = compared("design.gpu.link.family == nvlink").left
    assert isinstance(left, CellTerm)
    assert (left.table, left.column, left.kind) == ("links", "family", WORD)
    row = left.row
    assert isinstance(row, CellTerm)
    assert (row.table, row.column) == ("gpus", "link")
    assert isinstance(row.row, FactTerm)
    assert row.row.fact == "design.gpu"


def test_plan_prefix_reads_what_the_plan_states() -> None:
    left = compared("plan.design.gpu.memory > 80").left
    assert isinstance(left, CellTerm)
    assert isinstance(left.row, StatedTerm)
    assert left.row.fact == "design.gpu"


def test_row_variable_is_a_row_and_has_columns() -> None:
    term = compared("price.gpu == design.gpu")
    assert isinstance(term.left, CellTerm)
    assert isinstance(term.left.row, RowTerm)
    assert (term.left.row.variable, term.left.row.table) == ("price", "prices")
    assert isinstance(compared("price == p1").left, RowTerm)


def test_single_part_is_a_constant() -> None:
    right = compared("design.gpus >= rdma_from").right
    assert isinstance(right, ConstantTerm)
    assert right.unit is not None
    assert right.unit.count == "gpu"


@pytest.mark.parametrize(("text", "expected"), [("a800-80g", "a800-80g"), ("'a800-80g'", "a800-80g"), ("llama-3.1", "llama-3.1")])
def test_word_is_told_by_its_neighbour(text: str, expected: str) -> None:
    assert literal(f"design.gpu == {text}").word == expected


def test_chain_is_a_conjunction() -> None:
    term = check("1 < design.tensor_parallel <= 8").term
    assert isinstance(term, LogicTerm)
    assert [part.operator for part in term.operands if isinstance(part, CompareTerm)] == ["<", "<="]


def test_membership_in_brackets_and_in_a_list_fact() -> None:
    inside = check("design.gpus in [8, 16 gpu, -1]").term
    assert isinstance(inside, InTerm)
    assert [part.low for part in inside.literals] == [8, 16, -1]
    negated = check("nccl not in site.stacks").term
    assert isinstance(negated, NotTerm)
    assert isinstance(negated.operand, InTerm)
    assert negated.operand.group is not None
    assert negated.operand.group.kind == LIST


# Units: expected values are worked out by hand


@pytest.mark.parametrize(
    ("text", "low"),
    [
        ("need.memory > 80", 80 * 2**30),  # a bare number has the fact's unit
        ("need.memory > 80 GB", 80e9),
        ("need.bytes > 1 KiB", 1024),
        ("need.read > 100 Gbps", 12.5e9),
        ("need.time > 2", 7200),
        ("need.time > 2 d", 172800),
        ("need.loss > 5", 0.05),
        ("need.loss > 5 %", 0.05),
        ("need.loss > 1", 0.01),
        ("need.loss * 2 > 10 %", 0.1),
        ("design.gpus > 32", 32),
        ("low(need.memory) > 1", 2**30),
        ("max(need.memory, 5) > 1", 2**30),
        ("need.memory - need.bytes > 0", 0),
        ("need.loss + need.spare > 0", 0),
        ("design.gpus / design.nodes > 8", 8),
        ("need.bytes / need.memory > 0.5", 0.5),
    ],
)
def test_number_is_in_base_units(text: str, low: float) -> None:
    found = literal(text)
    assert (found.low, found.high) == (low, low)


def test_range_takes_its_unit_at_every_end() -> None:
    found = literal("need.loss == 5..8..15 %")
    assert (found.low, found.typical, found.high) == (0.05, 0.08, 0.15)
    assert literal("need.loss == 5..15").typical is None


@pytest.mark.parametrize(
    "text",
    [
        "need.read * need.time > 5 TB",  # B/s * s = B
        "need.memory / need.read > 5 min",
        "need.busbw * design.gpus > 1 TB/s",  # counting units are plain in products
        "design.gpus * need.memory == need.memory",
        "need.busbw > 0.8 * need.busbw",
        "need.busbw > need.read * design.nodes",
        "need.memory ** 2 > need.bytes * need.memory",
        "sqrt(need.memory * need.bytes) > 5 GB",
        "need.memory ** -1 * need.bytes > 5",
        "ceil(design.gpus / 8) > 5",
        "ceil(design.gpus / 8) == design.nodes",
        "ceil(design.gpus) == design.gpus",
        "need.memory // 80 GiB > 3",
        "design.gpus // 8 + 1 == design.nodes",
        "log2(design.gpus) > 3",
        "1 - need.loss > 80 %",
        "need.tokens * (1 - need.loss) > 5 token",
        "site.budget > 400000",
        "site.budget > 60000 USD/month",
        "coalesce(need.memory, 5) > 8",
        "min(need.memory, 80 GB) > 5 GB",
        "design.fabric == (ib if site.rdma else hpn)",
        "design.tensor_parallel ** 0.5 > 2",
        "design.gpu.memory * design.gpus >= need.memory",
        "known(site.notes) and known(site.stacks) and known(design.gpu.memory)",
        "missing(design.gpus) or missing(site.stacks)",
        "site.rdma == site.open",
        "site.rdma and not site.open",
        "(known(need.loss)) == true",
        "true",
    ],
)
def test_expression_is_right(text: str) -> None:
    assert errors(text) == ""


def test_bare_calculation_is_given_the_unit() -> None:
    term = compared("need.memory > 2 * 40")
    assert describe(term) == "need.memory > 2 * 40 * 1 GiB"


def test_one_minus_a_percentage_is_what_is_left() -> None:
    left = compared("1 - need.loss > 80 %").left
    assert isinstance(left, ArithmeticTerm)
    one = left.arguments[0]
    assert isinstance(one, Literal)
    assert one.low == 1.0


# Mistakes: expression, what the carets stand under (the last such stretch), code, message, help

WRONG = [
    ("design.tensor_paralel > 1", "design.tensor_paralel", "unknown-fact", "no fact is called 'design.tensor_paralel'",
     "did you mean 'design.tensor_parallel', declared at vocab.yaml:8?"),
    ("design.gpu.memry > 80", "memry", "unknown-column", "table 'gpus' has no column 'memry'",
     "did you mean 'design.gpu.memory', declared at vocab.yaml:1?"),
    ("design.gpu.zzz > 80", "zzz", "unknown-column", "table 'gpus' has no column 'zzz'",
     "its columns are memory, link, node, vendor, kind"),
    ("price.amont > 5", "amont", "unknown-column", "table 'prices' has no column 'amont'",
     "did you mean 'price.amount', declared at vocab.yaml:1?"),
    ("design.gpus.memory > 80", "memory", "no-columns", "'design.gpus' names no row of a table, so it has no 'memory'", ""),
    ("plan.design.fabrik == ib", "design.fabrik", "unknown-fact", "no fact is called 'design.fabrik'",
     "did you mean 'plan.design.fabric', declared at vocab.yaml:7?"),
    ("design.gpus >= rdma_frm", "rdma_frm", "unknown-name", "nothing is called 'rdma_frm'",
     "did you mean 'rdma_from', declared at vocab.yaml:20?"),
    ("design.gpus-design.nodes > 5", "design.gpus-design.nodes", "unknown-fact",
     "no fact is called 'design.gpus-design.nodes'", "minus needs blanks around it: design.gpus - design.nodes"),
    ("missing(zork)", "zork", "unknown-name", "nothing is called 'zork'", ""),
    ("design.gpu.link.family == nvlnk", "nvlnk", "unknown-choice", "'nvlnk' is no choice of 'design.gpu.link.family'",
     "did you mean 'nvlink'?"),
    ("design.gpu == b200x", "b200x", "unknown-choice", "'b200x' is no choice of 'design.gpu'",
     "the choices are a800-80g, h100-80g, llama-3.1"),
    ("design.fabric in [ib, hnp]", "hnp", "unknown-choice", "'hnp' is no choice of 'design.fabric'", "did you mean 'hpn'?"),
    ("design.fabric == 'IB'", "'IB'", "unknown-choice", "'IB' is no choice of 'design.fabric'",
     "the choices are hpn, ib, roce-400g"),
    ("nccl2 in site.stacks", "nccl2", "unknown-choice", "'nccl2' is no choice of 'site.stacks'", "did you mean 'nccl'?"),
    ("design.fabric == ib or hpn", "hpn", "word-as-condition", "'hpn' is not a condition by itself",
     "write design.fabric in [ib, hpn]"),
    ("design.fabric == ib or hpn or roce-400g", "hpn", "word-as-condition", "'hpn' is not a condition by itself",
     "write design.fabric in [ib, hpn, roce-400g]"),
    ("design.fabric != ib and hpn", "hpn", "word-as-condition", "'hpn' is not a condition by itself",
     "write design.fabric not in [ib, hpn]"),
    ("design.gpus == 8 or 16 gpu", "16 gpu", "word-as-condition", "'16 gpu' is not a condition by itself",
     "write design.gpus in [8, 16 gpu]"),
    ("need.loss < 0.5", "0.5", "fraction-of-percent", "'need.loss' is a percentage, so 0.5 can be read in two ways",
     "write 50 % or 0.5 %"),
    ("1 - need.loss > 0.8", "0.8", "bare-number",
     "'1 - need.loss' is a computed percentage, so this number needs its unit", "write 80 % or 0.8 %"),
    ("need.loss * 2 > 10", "10", "bare-number", "'need.loss * 2' is a computed percentage, so this number needs its unit",
     "write 10 %"),
    ("need.loss + 5 > 8 %", "5", "bare-number", "'need.loss' is a percentage, so this number needs its unit", "write 5 %"),
    ("design.gpus * need.memory > 80", "80", "bare-number",
     "'design.gpus * need.memory' is in GiB, so this number needs its unit", "write 80 GiB"),
    ("min(need.memory, 80 GB) > 5", "5", "bare-number", "'min(need.memory, 80 GB)' is in GiB, so this number needs its unit",
     "write 5 GiB"),
    ("need.memory > need.time", ">", "unit-mismatch", "'need.memory' is in GiB and 'need.time' is in h: they cannot be compared", ""),
    ("need.memory + 5 h > 8", "+", "unit-mismatch", "'need.memory' is in GiB and '5 h' is in h: they cannot be added or subtracted", ""),
    ("need.read > need.busbw", ">", "per-part-mismatch",
     "'need.read' is in GB/s and 'need.busbw' is in GB/s/gpu: they cannot be compared", ""),
    ("design.gpus > design.nodes", ">", "counting-unit-mismatch",
     "'design.gpus' is in gpu and 'design.nodes' is in node: they cannot be compared", ""),
    ("design.gpus > design.tensor_parallel", ">", "counting-unit-mismatch",
     "'design.gpus' is in gpu and 'design.tensor_parallel' is a plain number: they cannot be compared", ""),
    ("min(need.memory, need.time) > 3", "need.time", "unit-mismatch",
     "'need.time' is in h and 'need.memory' is in GiB: one cannot stand for the other", ""),
    ("design.gpus > 5 gpuu", "gpuu", "unknown-unit", "'gpuu' is not a unit", "did you mean 'gpu'?"),
    ("design.gpus > 5 gpu/rdma_from", "rdma_from", "unknown-unit", "'rdma_from' is not a unit",
     "a division needs blanks around it: 5 gpu / rdma_from"),
    ("design.gpu == 7b", "b", "unknown-unit", "'b' is not a unit", "a word that begins with a digit is quoted, as in '7b'"),
    ("need.memory ** 0.5 > 5", "0.5", "bad-exponent", "'need.memory' is in GiB, so the exponent must be a whole number", ""),
    ("2 ** 5 GB > 5", "5 GB", "bad-exponent", "an exponent is a plain number", ""),
    ("sqrt(need.memory) > 5", "sqrt", "odd-root", "'need.memory' is in GiB, which has no square root", ""),
    ("ceil(need.memory) > 5", "ceil", "needs-count", "'ceil' needs a plain number or a count, and 'need.memory' is in GiB",
     "divide by 1 GiB first"),
    ("log2(need.loss) > 5", "log2", "needs-count", "'log2' needs a plain number or a count, and 'need.loss' is in %",
     "divide by 1 % first"),
    ("need.memory // 8 > 5 GiB", "//", "needs-count", "'//' needs a plain number or a count, and 'need.memory // 8' is in GiB",
     "divide by 1 GiB first"),
    ("design.gpus / 0 > 5", "0", "division-by-zero", "this divides by zero", ""),
    ("site.rdma == yes", "yes", "yes-no-with-word", "'site.rdma' is yes or no and cannot be compared with 'yes'", "write site.rdma"),
    ("site.rdma == no", "no", "yes-no-with-word", "'site.rdma' is yes or no and cannot be compared with 'no'", "write not site.rdma"),
    ("site.rdma == fast", "fast", "yes-no-with-word", "'site.rdma' is yes or no and cannot be compared with 'fast'",
     "write site.rdma or not site.rdma"),
    ("site.rdma < true", "<", "no-order", "yes-no values have no order, so '<' means nothing here", "use == or !=, or in [a, b]"),
    ("design.fabric < ib", "<", "no-order", "words have no order, so '<' means nothing here", "use == or !=, or in [a, b]"),
    ("design.fabric == 5", "==", "different-kinds", "'design.fabric' is a word and '5' is a number", ""),
    ("design.gpus == ib", "ib", "word-for-number", "'ib' is a word, and 'design.gpus' is a number", ""),
    ("design.fabric == plan_b.fabric", "==", "never-equal", "'design.fabric' and 'plan_b.fabric' have no choice in common", ""),
    ("site.notes == 'x'", "site.notes", "text-in-condition", "'site.notes' is a text: it is printed, never compared",
     "known(site.notes) is allowed"),
    ("design.gpu.vendor == x", "design.gpu.vendor", "text-in-condition",
     "'design.gpu.vendor' is a text: it is printed, never compared", "known(design.gpu.vendor) is allowed"),
    ("site.stacks == nccl", "site.stacks", "list-without-in", "'site.stacks' is a list and stands only after 'in'",
     "write word in site.stacks"),
    ("[a, b]", "[a, b]", "list-outside-in", "a list in brackets stands only after 'in'", "write x in [a, b]"),
    ("design.gpus in []", "[]", "empty-list", "nothing is in an empty list", ""),
    ("design.gpu in [a800-80g, design.gpu]", "design.gpu", "not-a-list-member",
     "'design.gpu' cannot stand in a list, which holds words and numbers", "write x == a or x == b"),
    ("design.gpus in [1..4]", "1..4", "not-a-list-member", "'1..4' cannot stand in a list, which holds words and numbers",
     "write x == a or x == b"),
    ("ib in design.fabric", "design.fabric", "not-a-list", "'design.fabric' is not a list", "write == design.fabric, or in [a, b]"),
    ("missing(design.gpu.memory)", "design.gpu.memory", "missing-of-no-fact",
     "'missing' asks about a fact, and 'design.gpu.memory' is none", "write not known(design.gpu.memory)"),
    ("missing(plan.design.gpu)", "plan.design.gpu", "missing-of-no-fact",
     "'missing' asks about a fact, and 'plan.design.gpu' is none", "write not known(plan.design.gpu)"),
    ("design.gpus", "design.gpus", "not-a-condition", "'design.gpus' is a number, and a condition belongs here",
     "compare it with something, e.g. design.gpus > 0"),
    ("site.rdma and design.fabric", "design.fabric", "not-a-condition", "'design.fabric' is a word, and a condition belongs here",
     "compare it with something, e.g. design.fabric == hpn"),
    ("design.fabric + 1 > 2", "design.fabric", "needs-number", "'design.fabric' is a word, and '+' needs numbers", ""),
    ("max(design.gpus, site.rdma) > 2", "site.rdma", "needs-number", "'site.rdma' is a yes-no value, and 'max' needs numbers", ""),
    ("coalesce(design.gpus, site.rdma) > 2", "site.rdma", "different-kinds",
     "'design.gpus' is a number and 'site.rdma' is a yes-no value", ""),
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
    return "\n".join([*lines, f"   = help: {help}"] if help else lines)


@pytest.mark.parametrize("case", WRONG, ids=[case[0] for case in WRONG])
def test_mistake_is_explained_where_it_stands(case: tuple[str, str, str, str, str]) -> None:
    assert errors(case[0]) == rendered(*case)


@pytest.mark.parametrize("case", WRONG, ids=[case[0] for case in WRONG])
def test_mistake_is_explained_in_chinese_too(case: tuple[str, str, str, str, str]) -> None:
    (found,) = check(case[0]).reports
    assert any("\u4e00" <= char <= "\u9fff" for char in found.message.zh)
    assert bool(found.help.en) == bool(found.help.zh)


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("design.gpu == b200x and design.gpuz > 5 and zork", ["unknown-choice", "unknown-fact", "unknown-name"]),
        ("design.gpus + need.memory > need.timee", ["unit-mismatch", "unknown-fact"]),
        ("min(design.gpuz, need.tim) > 5 parsec", ["unknown-fact", "unknown-fact", "unknown-unit"]),
        ("design.fabric in [a1, b1]", ["unknown-choice", "unknown-choice"]),
        ("(1 if zork else 2) > need.tim", ["unknown-name", "unknown-fact"]),
        ("1 < need.tim < 5 GBB", ["unknown-fact", "unknown-unit"]),
    ],
)
def test_every_mistake_of_an_expression_is_reported_once(text: str, codes: list[str]) -> None:
    assert check(text).codes == codes


PIECES = st.sampled_from(
    ["design.gpus", "design.gpu", "need.loss", "need.memory", "site.rdma", "site.stacks", "site.notes", "price", "price.gpu", "factor",
     "ib", "zork", "design.gpu.memry", "5", "0.5", "1..2", "5 %", "3 GB", "2 zz", "(", ")", "[", "]", ",", "and", "or", "not", "in",
     "if", "else", "==", "<", "+", "-", "*", "/", "//", "**", "min(", "known(", "missing(", "coalesce(", "ceil(", "'x'", "true"]
)  # fmt: skip


@settings(max_examples=600, deadline=None)
@given(st.lists(PIECES, max_size=12))
def test_random_pieces_give_a_term_or_mistakes(pieces: list[str]) -> None:
    text = " ".join(pieces)
    for target in (None, PERCENT, word("ib"), Signature(LIST), Signature(TEXT)):
        if not errors(text, target):
            assert check(text, target).term is not None


def test_number_that_overflows_in_base_units_is_refused() -> None:
    assert check("need.memory > 1e308 TB").codes == ["number-too-large"]
    assert check("need.memory > 1e308").codes == ["number-too-large"]


# Values


@pytest.mark.parametrize(
    ("text", "target", "low"),
    [
        ("5", PERCENT, 0.05),
        ("50 %", PERCENT, 0.5),
        ("0", PERCENT, 0.0),
        ("80", GIB, 80 * 2**30),
        ("80 GB", GIB, 80e9),
        ("24", number("gpu"), 24),
        ("7", number(), 7),
    ],
)
def test_value_has_the_unit_of_its_fact(text: str, target: Signature, low: float) -> None:
    found = check(text, target)
    assert found.reports == ()
    assert isinstance(found.term, Literal)
    assert (found.term.kind, found.term.low) == (NUMBER, low)


def test_every_branch_of_a_bare_value_has_the_unit() -> None:
    found = check("5 if site.rdma else 10", PERCENT)
    assert found.reports == ()
    assert found.term is not None
    assert sorted(part.low for part in walk(found.term) if isinstance(part, Literal)) == [0.05, 0.1]


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("need.bytes * design.gpus", GIB),
        ("need.read * design.nodes", number("GB/s/gpu")),
        ("need.bytes / need.memory", PERCENT),
        ("1 - need.loss", number()),
        ("price.amount * design.gpus", number("CNY/month")),
        ("ib if site.rdma else hpn", word("ib", "hpn")),
        ("design.gpu", word(table="gpus")),
        ("a800-80g", word(table="gpus")),
        ("design.gpus > 8", Signature(BOOL)),
        ("nccl", Signature(LIST, words=frozenset({"nccl"}))),
        ("site.stacks", Signature(LIST, words=frozenset({"nccl"}))),
        ("'some words'", Signature(TEXT)),
        ("site.notes", Signature(TEXT)),
    ],
)
def test_value_fits_its_fact(text: str, target: Signature) -> None:
    assert errors(text, target) == ""


def test_list_value_holds_its_words() -> None:
    found = check("[nccl, 'hccl']", Signature(LIST, words=frozenset({"nccl", "hccl"})))
    assert isinstance(found.term, Literal)
    assert (found.term.kind, members_of(found.term), describe(found.term)) == (LIST, ("nccl", "hccl"), "[nccl, 'hccl']")


@pytest.mark.parametrize(
    ("text", "target", "code"),
    [
        ("0.5", PERCENT, "fraction-of-percent"),
        ("2 * 3", PERCENT, "bare-number"),
        ("need.memory", number("GB/s"), "unit-mismatch"),
        ("need.read", number("GB/s/gpu"), "per-part-mismatch"),
        ("design.nodes", number("gpu"), "counting-unit-mismatch"),
        ("need.memory * need.read", GIB, "unit-mismatch"),
        ("hpm", word("ib", "hpn"), "unknown-choice"),
        ("design.fabric", word("tcp"), "never-equal"),
        ("5", word("ib"), "wrong-kind"),
        ("design.gpus", Signature(BOOL), "wrong-kind"),
        ("site.rdma", GIB, "wrong-kind"),
        ("5", Signature(LIST), "wrong-kind"),
        ("[5]", Signature(LIST), "not-a-list-member"),
        ("words", Signature(TEXT), "wrong-kind"),
        ("yes", Signature(BOOL), "yes-no-with-word"),
    ],
)
def test_value_that_does_not_fit_is_refused(text: str, target: Signature, code: str) -> None:
    assert check(text, target).codes == [code]


def test_a_message_may_show_anything() -> None:
    for text, kind in [("site.notes", TEXT), ("site.stacks", LIST), ("design.gpu", WORD), ("low(need.loss)", NUMBER)]:
        found = check(text, shown=True)
        assert found.reports == ()
        assert found.term is not None
        assert found.term.kind == kind
    assert check("zork", shown=True).codes == ["unknown-name"]


# Printing

PLAIN = st.sampled_from(["design.tensor_parallel", "factor", "2", "0.5", "1..3", "-1..3", "plan.design.tensor_parallel"])
BYTES = st.sampled_from(["need.memory", "need.bytes", "80 GB", "5..15 GiB", "design.gpu.memory"])
WORDS = st.sampled_from(["design.fabric == ib", "design.gpu in [a800-80g, 'h100-80g']", "nccl not in site.stacks", "site.rdma"])


def _grown(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(children, st.sampled_from(["+", "-", "*", "/", "//"]), children).map(lambda t: f"({t[0]}) {t[1]} ({t[2]})"),
        st.tuples(children, children).map(lambda t: f"({t[0]}) ** ({t[1]})"),
        children.map(lambda x: f"-({x})"),
        st.tuples(st.sampled_from(["min", "max", "coalesce"]), children, children).map(lambda t: f"{t[0]}({t[1]}, {t[2]})"),
        st.tuples(children, WORDS, children).map(lambda t: f"({t[0]}) if ({t[1]}) else ({t[2]})"),
        st.tuples(st.sampled_from(["ceil", "floor", "round", "log2", "sqrt", "low", "high"]), children).map(lambda t: f"{t[0]}({t[1]})"),
    )


NUMBERS = st.recursive(PLAIN, _grown, max_leaves=6)
SUMS = st.lists(BYTES, min_size=1, max_size=3).map(" + ".join)
TESTS = st.one_of(
    WORDS,
    st.tuples(NUMBERS, st.sampled_from(["<", ">=", "==", "!="]), NUMBERS).map(lambda t: f"({t[0]}) {t[1]} ({t[2]})"),
    st.tuples(SUMS, st.sampled_from(["<", ">="]), BYTES).map(lambda t: f"{t[0]} {t[1]} {t[2]}"),
    st.tuples(BYTES, st.sampled_from(["<", ">="]), st.sampled_from(["80", "2 * 40", "-5", "(1 if site.rdma else 2)"])).map(" ".join),
    NUMBERS.map(lambda x: f"({x}) in [1, -2, 3]"),
    st.just("known(site.notes)"),
    st.just("1 < design.tensor_parallel <= 8"),
)
CONDITIONS = st.recursive(
    TESTS,
    lambda inner: st.one_of(
        inner.map(lambda x: f"not ({x})"),
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda t: f"({t[0]}) {t[1]} ({t[2]})"),
        st.tuples(inner, inner, inner).map(lambda t: f"({t[0]}) if ({t[1]}) else ({t[2]})"),
        st.tuples(inner, inner).map(lambda t: f"({t[0]}) == ({t[1]})"),
    ),
    max_leaves=5,
)


@settings(max_examples=400, deadline=None)
@given(CONDITIONS)
def test_described_term_checks_to_itself(text: str) -> None:
    if len(text) > 1500:
        return
    first = check(text)
    if first.term is None:
        assert first.reports, text
        return
    assert first.reports == ()
    again = check(describe(first.term))
    assert bare(again.term) == bare(first.term)


@pytest.mark.parametrize(
    "text",
    [
        "design.tensor_parallel * (factor + 1) > 2",
        "design.tensor_parallel - (factor - 1) > 2",
        "(-2) ** 2 > factor",
        "-2 ** 2 > factor",
        "-(5..15) < factor",
        "not (site.rdma and site.open) or site.open",
        "(1 if site.rdma else 2) + 1 > factor",
        "(site.rdma or site.open) and not site.open",
        "design.gpu not in [a800-80g, 'h100-80g']",
        "(site.rdma == site.open) == true",
    ],
)
def test_description_keeps_only_needed_parentheses(text: str) -> None:
    term = check(text).term
    assert term is not None
    assert describe(term) == text
