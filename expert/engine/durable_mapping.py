"""Conditions as patterns of messages: when a term is true, and when it is false.

`not` is pushed inward, `or` becomes markers of hidden rules, numbers are compared by their ends exactly as in
`arithmetic.greater` and `equal`, and what needs arithmetic is computed by a hidden rule and then compared. Unknown values
have no message, so nothing matches on them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import cast

from expert.engine.durable_compare import all_of, compare_numbers, compare_words, some, word_of
from expert.engine.durable_draft import OID, Draft, value_schema
from expert.engine.durable_pattern import NOTHING, Key, Pattern, Tie, Want, merged, wanting
from expert.engine.durable_places import CELL, FACT, PLAN, Place, Places, constant_slot, shape, variables_of
from expert.engine.durable_raw import Constant, Op
from expert.engine.evaluate import compile_term
from expert.engine.values import Slot, fails, holds, is_known
from expert.language.program import Program
from expert.language.terms import (
    BOOL,
    NUMBER,
    TEXT,
    WORD,
    CellTerm,
    ChoiceTerm,
    CompareTerm,
    FactTerm,
    FunctionTerm,
    InTerm,
    LogicTerm,
    NotTerm,
    RowTerm,
    StatedTerm,
    Term,
)

Patterns = list[Pattern]
_NEGATED = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


class Translator:
    """Translates the conditions of one program into patterns; hidden rules go to the draft."""

    def __init__(self, program: Program, draft: Draft) -> None:
        self.program = program
        self.draft = draft
        self.places = Places(program, draft)
        self._found: dict[tuple[int, bool], Pattern | None] = {}
        self._kept: list[Term] = []  # so that an id is not given twice

    def pattern(self, term: Term, wanted: bool) -> Pattern | None:
        """The pattern that matches when the term is known to be `wanted`; None when it never is."""
        key = (id(term), wanted)
        if key not in self._found:
            self._kept.append(term)
            self._found[key] = self._one(term, wanted)
        return self._found[key]

    def _one(self, term: Term, wanted: bool) -> Pattern | None:
        alternatives = self.alternatives(term, wanted)
        if len(alternatives) <= 1:
            return alternatives[0] if alternatives else None
        identity = ("when", shape(term), wanted)
        known, found = self.draft.known_hidden(identity)
        return found if known else self.draft.hide(identity, alternatives, variables_of(term))

    def together(self, terms: Iterable[Term]) -> Pattern | None:
        """The pattern that matches when all terms are true; None when they never are."""
        return all_of([self.pattern(term, True) for term in terms])

    def alternatives(self, term: Term, wanted: bool) -> Patterns:
        """Patterns of which one at least matches exactly when the term is known to be `wanted`."""
        fixed = constant_slot(term, self.program)
        if fixed is not None:
            truth = cast(int, fixed)
            return [NOTHING] if (holds(truth) if wanted else fails(truth)) else []
        match term:
            case NotTerm(operand=operand):
                return self.alternatives(operand, not wanted)
            case LogicTerm(operator=operator, operands=operands):
                if (operator == "and") == wanted:
                    return some([all_of([self.pattern(operand, wanted) for operand in operands])])
                return [found for operand in operands for found in self.alternatives(operand, wanted)]
            case CompareTerm():
                return self._compare(term, wanted)
            case InTerm():
                return self._membership(term, wanted)
            case ChoiceTerm():
                return self._spread(term, lambda chosen: chosen, wanted)
            case FunctionTerm(function="known" | "missing" as function, arguments=(argument,)):
                return self._known(term, argument, wanted == (function == "known"), wanted)
            case FunctionTerm(function="coalesce"):
                return self._spread(term, lambda chosen: chosen, wanted)
            case _:
                return [self._flag(term, wanted)]

    def _flag(self, term: Term, wanted: bool) -> Pattern:
        place = self.places.find(term) or self.computed(term)
        return place.pattern.with_test(place.key, Constant("flag", Op.EQ, wanted))

    def computed(self, term: Term) -> Place:
        """The value of a term as a message of a hidden rule, whose action computes it."""
        variables = variables_of(term)
        identity = ("value", shape(term))
        known, found = self.draft.known_hidden(identity)
        if not known or found is None:
            closure = compile_term(term, self.program, exact=True)
            found = self.draft.hide(identity, [self.places.inputs(term)], variables, closure=closure, value=value_schema(term.kind))
        want = next(want for key, want in found.wants.items() if key[0] == "value")
        return Place(want.key, found, want.kind, prop="flag" if term.kind == BOOL else "oid")

    def _operand(self, term: Term) -> Place | Slot:
        fixed = constant_slot(term, self.program)
        if fixed is not None:
            return fixed
        return self.places.find(term) or self.computed(term)

    # -- comparisons

    def _compare(self, term: CompareTerm, wanted: bool) -> Patterns:
        if _spreads(term.left):
            return self._spread(term.left, lambda left: replace(term, left=left), wanted)
        if _spreads(term.right):
            return self._spread(term.right, lambda right: replace(term, right=right), wanted)
        operator = term.operator if wanted else _NEGATED[term.operator]
        if term.left.kind == BOOL:
            return self._same_truth(term.left, term.right, operator == "==")
        left, right = self._operand(term.left), self._operand(term.right)
        same = isinstance(left, Place) and isinstance(right, Place) and left.key == right.key
        if same or term.left.kind == TEXT:
            return [self._flag_computed(term, wanted)]
        if term.left.kind == NUMBER:
            return compare_numbers(operator, left, right)
        return some([compare_words(operator, left, right)])

    def _flag_computed(self, term: Term, wanted: bool) -> Pattern:
        place = self.computed(term)
        return place.pattern.with_test(place.key, Constant("flag", Op.EQ, wanted))

    def _same_truth(self, left: Term, right: Term, same: bool) -> Patterns:
        both = [all_of([self.pattern(left, truth), self.pattern(right, truth == same)]) for truth in (True, False)]
        return some(both)

    def _spread(self, term: Term, rebuild: Callable[[Term], Term], wanted: bool) -> Patterns:
        """A term around `a if c else b` or `coalesce(a, b)`, as its cases."""
        if isinstance(term, ChoiceTerm):
            cases = [(self.pattern(term.condition, True), term.then), (self.pattern(term.condition, False), term.other)]
        else:
            first, *rest = cast(FunctionTerm, term).arguments
            if not rest:
                return self.alternatives(rebuild(first), wanted)
            known = FunctionTerm(first.span, BOOL, "known", (first,))
            other = rest[0] if len(rest) == 1 else replace(cast(FunctionTerm, term), arguments=tuple(rest))
            cases = [(self.pattern(known, True), first), (self.pattern(known, False), other)]
        return some([None if when is None else all_of([when, self.pattern(rebuild(value), wanted)]) for when, value in cases])

    # -- membership

    def _membership(self, term: InTerm, wanted: bool) -> Patterns:
        if _spreads(term.member):
            return self._spread(term.member, lambda member: replace(term, member=member), wanted)
        if term.group is not None:
            return [self._in_list(term, term.group, wanted)]
        cases = [CompareTerm(term.span, BOOL, "==", term.member, literal) for literal in term.literals]
        if wanted:
            return [found for case in cases for found in self.alternatives(case, True)]
        return some([all_of([self.pattern(case, False) for case in cases])])

    def _in_list(self, term: InTerm, group: Term, wanted: bool) -> Pattern:
        member = self._operand(term.member)
        if not wanted:
            word = None if isinstance(member, Place) else word_of(member)
            return self._lacks(term, group, word)
        element = self._element(group)
        if element is None:
            return self._flag_computed(term, True)
        key, pattern, want, prop = element
        if isinstance(member, Place):
            # Another key for each member: two members may be two elements.
            key = (*key, member.key)
            tie = Tie(key, prop, Op.EQ, member.key, member.prop)
            return merged([pattern, member.pattern, wanting(want._replace(key=key)), Pattern(ties=(tie,))])
        word = word_of(member)
        key = (*key, word)
        return merged([pattern, wanting(want._replace(key=key))]).with_test(key, Constant(prop, Op.EQ, word))

    def _element(self, group: Term) -> tuple[Key, Pattern, Want, str] | None:
        """Key, surroundings and message of an element of a list, and the property that has its word."""
        if isinstance(group, FactTerm | StatedTerm):
            source = FACT if isinstance(group, FactTerm) else PLAN
            kind = self.draft.declare(f"{source}-element:{group.fact}", OID)
            key: Key = (f"{source}-element", group.fact)
            return key, NOTHING, Want(key, kind), "oid"
        if isinstance(group, CellTerm) and constant_slot(group.row, self.program) is None:
            kind = self.draft.declare(f"cell-element:{group.table}.{group.column}", {**OID, **value_schema(WORD, "val")})
            row = self.places.at_row(group, kind, "cell-element")
            if row is not None:
                key, pattern = row
                want = pattern.wants[key]
                return key, _without(pattern, key), want, "val"
        return None

    def _lacks(self, term: InTerm, group: Term, word: str | None) -> Pattern:
        """A list without the member: a marker for a word that is written, else computed."""
        if word is None or not isinstance(group, FactTerm):
            return self._flag_computed(term, False)
        kind = self.draft.declare(f"lacks:{group.fact}", OID)
        self.draft.lacks.setdefault(group.fact, {})[word] = None
        want = Want(("lacks", group.fact, word), kind)
        return wanting(want).with_test(want.key, Constant("oid", Op.EQ, word))

    # -- known and missing

    def _known(self, term: Term, argument: Term, known: bool, wanted: bool) -> Patterns:
        place = self.places.find(argument)
        if place is None or not isinstance(argument, FactTerm | StatedTerm | RowTerm | CellTerm):
            if known and argument.kind != BOOL:
                found = self._operand(argument)
                return [found.pattern] if isinstance(found, Place) else [NOTHING] if is_known(found) else []
            return [self._flag_computed(term, wanted)]
        return [place.pattern] if known else self._missing(argument)

    def _missing(self, term: Term) -> Patterns:
        if isinstance(term, FactTerm | StatedTerm):
            return [self.places.absent(term)]
        if not isinstance(term, CellTerm):
            return []  # a row is never missing
        kind = self.draft.declare(f"no-{CELL}:{term.table}.{term.column}", OID)
        row = self.places.at_row(term, kind, "no-" + CELL)
        missing_row = [] if constant_slot(term.row, self.program) is not None else self._missing(term.row)
        return [*missing_row, *([] if row is None else [row[1]])]


def _spreads(term: Term) -> bool:
    return isinstance(term, ChoiceTerm) or (isinstance(term, FunctionTerm) and term.function == "coalesce")


def _without(pattern: Pattern, key: Key) -> Pattern:
    return Pattern(
        {other: want for other, want in pattern.wants.items() if other != key},
        pattern.tests,
        pattern.ties,
        pattern.computed,
    )
