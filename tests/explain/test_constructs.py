"""Every construct of the grammar appears in the explanation, as written and with its numbers."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from expert.advice import Advice
from expert.consult import consult
from expert.errors import LANGUAGES
from expert.explain.nodes import Line, Node
from expert.explain.proof import explain
from expert.language import terms
from expert.language.compiler import compile_packs
from expert.language.nodes import FUNCTIONS
from expert.language.program import Conclude, Program
from expert.language.shapes import COMBINES
from expert.plan import read_plan
from tests.explain.constructs import CONDITIONS, FORMULAS, LINES, PLAN, RULES, VOCABULARY


def written() -> Iterator[str]:
    """One rule for each condition and formula; the facts that the formulas conclude."""
    yield "rules:"
    for place, text in enumerate(CONDITIONS):
        effect = "warn: {severity: info, message: it holds}"
        yield f"  - {{id: when-{place}, topic: t, title: W, because: so, when: [{json.dumps(text)}], {effect}}}"
    for place, text in enumerate(FORMULAS):
        yield f"  - {{id: formula-{place}, topic: t, title: F, because: so, conclude: {{need.f{place}: {json.dumps(text)}}}}}"
    yield "facts:"
    yield from (f"  need.f{place}: {{type: number}}" for place in range(len(FORMULAS)))


@pytest.fixture(scope="module")
def advice(tmp_path_factory: pytest.TempPathFactory) -> Advice:
    folder = tmp_path_factory.mktemp("constructs")
    files = {"pack": "pack: constructs\nversion: '1'\n", "vocabulary": VOCABULARY, "more": RULES, "written": "\n".join(written()) + "\n"}
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text, "utf-8")
    program = compile_packs([folder])
    return consult(read_plan(PLAN, program), program)


def node_of(advice: Advice, target: str) -> Node:
    return explain(advice, target).nodes[0]


def lines_of(node: Node, *labels: str) -> list[Line]:
    return [line for line in node.lines if line.label in labels]


@pytest.mark.parametrize(("place", "text"), list(enumerate(CONDITIONS)), ids=CONDITIONS)
def test_a_condition_appears_as_written_and_with_its_numbers(advice: Advice, place: int, text: str) -> None:
    node, numbers = node_of(advice, f"when-{place}"), CONDITIONS[text]
    (state,) = lines_of(node, "state")
    assert state.text.en == "fired"
    (when,) = lines_of(node, "when")
    assert when.text.en == (text if numbers is None else f"{text}   ({numbers})")
    assert when.text.zh.startswith(text)
    # What it reads is said, with its place in the plan or the reason why it is not known.
    assert all(line.at or line.see or line.label == "unknown" for line in lines_of(node, "because", "unknown"))
    read = {fact for condition in advice.program.rules[f"when-{place}"].when for fact in terms.facts_read(condition.term)}
    told = len(lines_of(node, "because", "unknown"))
    # The side of an `or` that does not hold is no ground.
    assert 1 <= told < len(read) if " or " in text else told == len(read)


@pytest.mark.parametrize(("place", "text"), list(enumerate(FORMULAS)), ids=FORMULAS)
def test_a_formula_appears_as_written_then_with_numbers_and_result(advice: Advice, place: int, text: str) -> None:
    node = node_of(advice, f"need.f{place}")
    assert [line.text.en for line in lines_of(node, "formula")] == [" ".join(text.split())]
    assert [line.text.en for line in lines_of(node, "numbers")] == [f"= {FORMULAS[text]}"]
    assert node.title.en == f"need.f{place}: {FORMULAS[text].rpartition('= ')[2]}"


@pytest.mark.parametrize("target", LINES)
def test_other_constructs_have_their_lines_in_order(advice: Advice, target: str) -> None:
    found = [(line.label, line.text.en) for line in node_of(advice, target).lines]
    places = [found.index(line) for line in LINES[target]]
    assert places == sorted(places)
    assert len(set(places)) == len(places)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_no_text_of_the_fixture_is_empty(advice: Advice, lang: str) -> None:
    def check(node: Node) -> None:
        assert node.title.of(lang)
        assert all(line.text.of(lang) for line in node.lines)
        for child in node.children:
            check(child)

    for top in explain(advice).nodes:
        check(top)


# ------------------------------------------------------------------------------------ nothing is left out


def all_terms(program: Program) -> Iterator[terms.Term]:
    for place in range(len(CONDITIONS)):
        for condition in program.rules[f"when-{place}"].when:
            yield from terms.walk(condition.term)
    for place in range(len(FORMULAS)):
        effect = program.rules[f"formula-{place}"].effect
        assert isinstance(effect, Conclude)
        for _, value in effect.values:
            yield from terms.walk(value.term)


def test_the_fixture_has_every_kind_of_term(advice: Advice) -> None:
    found = {type(term) for term in all_terms(advice.program)}
    # A row by itself is no value: it stands in front of a column, in the rule with rows.
    assert {kind for kind in terms.Term.__args__ if kind is not terms.RowTerm} == found  # type: ignore[attr-defined]
    assert any(isinstance(term, terms.RowTerm) for value in rows_rule(advice.program) for term in terms.walk(value))


def rows_rule(program: Program) -> list[terms.Term]:
    return [condition.term for condition in program.rules["rows"].when]


def test_the_fixture_has_every_function_operator_and_combination(advice: Advice) -> None:
    found = list(all_terms(advice.program))
    assert {term.function for term in found if isinstance(term, terms.FunctionTerm)} == set(FUNCTIONS)
    assert {term.operator for term in found if isinstance(term, terms.ArithmeticTerm)} == {"+", "-", "*", "/", "//", "**", "neg"}
    assert {term.operator for term in found if isinstance(term, terms.CompareTerm)} == {"==", "!=", "<", "<=", ">", ">="}
    assert {term.operator for term in found if isinstance(term, terms.LogicTerm)} == {"and", "or"}
    assert {decl.combine for decl in advice.program.facts.values()} == set(COMBINES)
