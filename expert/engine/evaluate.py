"""Terms compiled to closures: `compile_term(term, program, exact)` gives a function from an environment to a slot.

An environment maps fact names to slots, "plan.NAME" to what the plan states, and "$variable" to a row. In exact mode every
slot is one value; in box mode slots cover all options of a box, and results cover the exact results of all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from expert.engine import arithmetic
from expert.engine.values import (
    BOTH,
    FALSE,
    OPTION,
    RANGE,
    STATED,
    TRUE,
    UNKNOWN_BITS,
    Members,
    Num,
    Slot,
    Words,
    both_hold,
    fails,
    has_value,
    holds,
    hull,
    is_known,
    negate,
    one_holds,
    slot_bits,
    unknown_slot,
    with_bits,
)
from expert.engine.widths import may_overlap
from expert.language.program import Cell, Program
from expert.language.terms import (
    BOOL,
    LIST,
    NUMBER,
    ArithmeticTerm,
    CellTerm,
    ChoiceTerm,
    CompareTerm,
    ConstantTerm,
    FactTerm,
    FunctionTerm,
    InTerm,
    Literal,
    LogicTerm,
    NotTerm,
    RowTerm,
    StatedTerm,
    Term,
    members_of,
)

Env = dict[str, Slot]

PLAN_KEY = "plan."
"""Prefix of the environment entry that holds what the plan itself states of a fact."""

Closure = Callable[[Env], Slot]
TruthClosure = Callable[[Env], int]
NumberClosure = Callable[[Env], Num]


def compile_truth(term: Term, program: Program, exact: bool) -> TruthClosure:
    """A BOOL term as a closure that returns truth bits."""
    return cast(TruthClosure, compile_term(term, program, exact))


def compile_term(term: Term, program: Program, exact: bool) -> Closure:
    """A closure for any term. Shape: NUMBER -> Num, WORD -> Words, LIST -> Members, BOOL -> bits."""
    match term:
        case Literal():
            return _constantly(literal_slot(term))
        case ConstantTerm(constant=name):
            return _constantly(literal_slot(program.constants[name].value))
        case FactTerm(fact=name, kind=kind):
            return _lookup(name, kind)
        case StatedTerm(fact=name, kind=kind):
            return _lookup(PLAN_KEY + name, kind)
        case RowTerm(variable=variable, kind=kind):
            return _lookup("$" + variable, kind)
        case CellTerm():
            return _cell(term, program, exact)
        case ArithmeticTerm():
            return _arithmetic(term, program, exact)
        case FunctionTerm():
            return _function(term, program, exact)
        case ChoiceTerm():
            return _choice(term, program, exact)
        case CompareTerm():
            return _compare(term, program, exact)
        case InTerm():
            return _membership(term, program, exact)
        case NotTerm(operand=operand):
            inner = compile_truth(operand, program, exact)
            return lambda env: negate(inner(env))
        case LogicTerm():
            return _logic(term, program, exact)


def literal_slot(literal: Literal) -> Slot:
    """The slot of a literal."""
    if literal.kind == NUMBER:
        typical = literal.low if literal.low == literal.high else literal.typical
        return (literal.low, literal.high, typical, 0)
    if literal.kind == BOOL:
        return TRUE if literal.flag else FALSE
    if literal.kind == LIST:
        return (members_of(literal), 0)
    return (frozenset((literal.word,)), 0)


def cell_slot(cell: Cell | None, kind: str) -> Slot:
    """The slot of a table cell; an empty cell is unknown because of the option that names its row."""
    if cell is None or (cell.literal is None and cell.members is None):
        return unknown_slot(kind, OPTION)
    if cell.members is not None:
        return (cell.members, 0)
    return literal_slot(cast(Literal, cell.literal))


def _constantly(slot: Slot) -> Closure:
    return lambda env: slot


def _lookup(key: str, kind: str) -> Closure:
    absent = unknown_slot(kind, STATED)
    return lambda env: env.get(key, absent)


def _cell(term: CellTerm, program: Program, exact: bool) -> Closure:
    rows = program.tables[term.table].rows
    slots = {name: cell_slot(row.cells.get(term.column), term.kind) for name, row in rows.items()}
    row_of = compile_term(term.row, program, exact)
    kind = term.kind
    hulls: dict[frozenset[str], Slot] = {}

    def read(env: Env) -> Slot:
        words, bits = cast(Words, row_of(env))
        if not words:
            return unknown_slot(kind, bits)
        found = hulls.get(words)
        if found is None:
            missing = unknown_slot(kind, OPTION)
            parts = [slots.get(word, missing) for word in words]
            found = parts[0]
            for part in parts[1:]:
                found = hull(found, part)
            hulls[words] = found
        return with_bits(found, bits) if bits else found

    return read


def _arithmetic(term: ArithmeticTerm, program: Program, exact: bool) -> Closure:
    arguments = [cast(NumberClosure, compile_term(a, program, exact)) for a in term.arguments]
    if term.operator == "neg":
        (only,) = arguments
        return lambda env: arithmetic.negative(only(env))
    left, right = arguments
    operation = arithmetic.BINARY[term.operator]
    return lambda env: operation(left(env), right(env))


def _function(term: FunctionTerm, program: Program, exact: bool) -> Closure:
    name = term.function
    arguments = [compile_term(a, program, exact) for a in term.arguments]
    if name in ("known", "missing"):
        known = _known(arguments[0], exact, asked=isinstance(term.arguments[0], CellTerm))
        return known if name == "known" else lambda env: negate(known(env))
    if name == "coalesce":
        return _coalesce(arguments, exact)
    numbers = cast("list[NumberClosure]", arguments)
    if name in ("min", "max"):
        pick = arithmetic.least if name == "min" else arithmetic.greatest
        return lambda env: pick([n(env) for n in numbers])
    (only,) = numbers
    if name in ("low", "high"):
        return _end(only, 0 if name == "low" else 1, exact)
    function = arithmetic.MAPPED[name]
    return lambda env: arithmetic.mapped(only(env), function)


def _end(number: NumberClosure, index: int, exact: bool) -> Closure:
    def end(env: Env) -> Slot:
        value = number(env)
        if value[0] is None or not exact:
            return value if value[0] is None else (value[0], value[1], None, value[3])
        x = cast(float, value[index])
        return (x, x, x, value[3])

    return end


def _known(argument: Closure, exact: bool, asked: bool) -> TruthClosure:
    """Whether something is known. `asked`: it is a cell, which a rule may ask for; any other unknown leaves its doubt."""
    present = is_known if exact else has_value
    doubts = 0 if asked else OPTION | RANGE

    def known(env: Env) -> int:
        slot = argument(env)
        if not present(slot):
            return FALSE | (slot_bits(slot) & doubts)
        if exact:
            return TRUE
        # Over a box, {true, false} may also be an overlap of ranges for one of its options.
        overlap = RANGE if isinstance(slot, int) and slot & BOTH == BOTH else 0
        bits = slot_bits(slot) | overlap
        return BOTH | (bits & doubts) if bits else TRUE

    return known


def _coalesce(arguments: list[Closure], exact: bool) -> Closure:
    present = is_known if exact else has_value

    def first_known(env: Env) -> Slot:
        result = arguments[0](env)
        unsaid = 0
        for argument in arguments[1:]:
            bits = slot_bits(result)
            if not exact and isinstance(result, int) and result & BOTH == BOTH:
                bits |= RANGE
            if present(result) and (exact or not bits):
                return result
            unsaid |= bits & STATED
            following = argument(env)
            if present(result):
                result = hull(with_bits(following, bits & (OPTION | RANGE)), result)
            else:
                result = with_bits(following, bits & (OPTION | RANGE))
        # What nobody stated is replaced by what comes after it, if anything does.
        settled = present(result) if exact else not slot_bits(result)
        return result if settled else with_bits(result, unsaid)

    return first_known


def _choice(term: ChoiceTerm, program: Program, exact: bool) -> Closure:
    condition = compile_truth(term.condition, program, exact)
    then, other = compile_term(term.then, program, exact), compile_term(term.other, program, exact)
    kind = term.kind
    # Over a box, {true, false} may be an overlap for one of the options, for which the choice is unknown.
    doubt = RANGE if not exact and may_overlap(term.condition, program) else 0

    def choose(env: Env) -> Slot:
        truth = condition(env)
        bits = truth & UNKNOWN_BITS
        if holds(truth):
            return with_bits(then(env), bits)
        if fails(truth):
            return with_bits(other(env), bits)
        if exact:
            return unknown_slot(kind, bits or RANGE)
        if truth & BOTH == 0:
            return unknown_slot(kind, bits)
        return with_bits(hull(then(env), other(env)), bits | doubt)

    return choose


def _compare(term: CompareTerm, program: Program, exact: bool) -> TruthClosure:
    left, right = compile_term(term.left, program, exact), compile_term(term.right, program, exact)
    if term.left.kind == NUMBER:
        truth = _compare_numbers(term.operator, cast(NumberClosure, left), cast(NumberClosure, right))
        return _overlap_as_cause(truth) if exact else truth
    equal = _equal_truths if term.left.kind == BOOL else _equal_words
    if term.operator == "==":
        return lambda env: equal(left(env), right(env))
    return lambda env: negate(equal(left(env), right(env)))


def _overlap_as_cause(truth: TruthClosure) -> TruthClosure:
    """Exact truth where overlapping ranges are an unknown with the cause RANGE.

    TRUE|FALSE would count as a truth of its own beside another unknown: `overlap or unknown` would come out true.
    """

    def exact(env: Env) -> int:
        bits = truth(env)
        return (bits & ~BOTH) | RANGE if bits & BOTH == BOTH else bits

    return exact


def _compare_numbers(operator: str, left: NumberClosure, right: NumberClosure) -> TruthClosure:
    greater, equal = arithmetic.greater, arithmetic.equal
    match operator:
        case ">":
            return lambda env: greater(left(env), right(env))
        case "<":
            return lambda env: greater(right(env), left(env))
        case ">=":
            return lambda env: negate(greater(right(env), left(env)))
        case "<=":
            return lambda env: negate(greater(left(env), right(env)))
        case "==":
            return lambda env: equal(left(env), right(env))
        case _:
            return lambda env: negate(equal(left(env), right(env)))


def _equal_words(a: Slot, b: Slot) -> int:
    left, right = cast(Words, a), cast(Words, b)
    bits = left[1] | right[1]
    if not left[0] or not right[0]:
        return bits or OPTION
    if left[0].isdisjoint(right[0]):
        return bits | FALSE
    return bits | (TRUE if len(left[0]) == 1 and len(right[0]) == 1 else BOTH)


def _equal_truths(a: Slot, b: Slot) -> int:
    left, right = cast(int, a), cast(int, b)
    return one_holds(both_hold(left, right), both_hold(negate(left), negate(right)))


def _membership(term: InTerm, program: Program, exact: bool) -> TruthClosure:
    member = compile_term(term.member, program, exact)
    if term.group is not None:
        group = compile_term(term.group, program, exact)
        return lambda env: _within_list(cast(Words, member(env)), cast(Members, group(env)))
    if term.member.kind == NUMBER:
        return _among_numbers(cast(NumberClosure, member), term.literals, exact)
    wanted = frozenset(literal.word for literal in term.literals)
    return lambda env: _within_words(cast(Words, member(env)), wanted)


def _within_words(words: Words, wanted: frozenset[str]) -> int:
    if not words[0]:
        return words[1] or OPTION
    common = words[0] & wanted
    if not common:
        return words[1] | FALSE
    return words[1] | (TRUE if common == words[0] else BOTH)


def _within_list(words: Words, group: Members) -> int:
    bits = words[1] | group[1]
    if not words[0] or group[0] is None:
        return bits or OPTION
    return _within_words((words[0], bits), frozenset(group[0]))


def _among_numbers(member: NumberClosure, literals: tuple[Literal, ...], exact: bool) -> TruthClosure:
    targets = [literal_slot(x) for x in literals]
    equals = [_compare_numbers("==", member, cast(NumberClosure, _constantly(target))) for target in targets]
    tests = [_overlap_as_cause(equal) if exact else equal for equal in equals]

    def among(env: Env) -> int:
        result = FALSE
        for test in tests:
            result = one_holds(result, test(env))
        return result

    return among


def _logic(term: LogicTerm, program: Program, exact: bool) -> TruthClosure:
    operands = [compile_truth(operand, program, exact) for operand in term.operands]
    conjunction = term.operator == "and"

    def all_of(env: Env) -> int:
        result = TRUE
        for operand in operands:
            result = both_hold(result, operand(env))
            if result == FALSE:
                return FALSE
        return result

    def any_of(env: Env) -> int:
        result = FALSE
        for operand in operands:
            result = one_holds(result, operand(env))
            if result == TRUE:
                return TRUE
        return result

    return all_of if conjunction else any_of
