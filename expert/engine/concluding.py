"""How contributions of rules become the value of a fact: `combine`, `else` and defaults, exactly and over boxes.

Unknown contributions do not disappear: what is unknown because of an option (an empty cell, no conclusion, a conflict) or of
overlapping ranges stays on the combined value as a taint; what nobody stated does not, once another rule has spoken.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import cast

from expert.engine import arithmetic
from expert.engine.evaluate import Closure, Env, TruthClosure, compile_term, compile_truth
from expert.engine.values import (
    BOTH,
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
    exactly,
    fails,
    has_value,
    holds,
    hull,
    is_known,
    slot_bits,
    unknown_slot,
    with_bits,
)
from expert.language.program import Conclude, Condition, DefaultCase, FactDecl, Program, Rule
from expert.language.terms import NUMBER, WORD, CellTerm, CompareTerm, RowTerm, Term, facts_read, walk
from expert.records import dataclass

Contribution = tuple[int, Slot]


@dataclass(frozen=True, slots=True)
class RowLoop:
    """One `for` variable: `keys` are the environment key and the rows; `select` narrows them by an indexed equality."""

    key: str
    rows: tuple[str, ...]
    select: Callable[[Env], Sequence[str]] | None


@dataclass(frozen=True, slots=True)
class Contributor:
    """One rule's compiled conclusion into one fact."""

    rule: str
    loops: tuple[RowLoop, ...]
    when: tuple[TruthClosure, ...]
    value: Closure
    reads: tuple[str, ...]

    def contributions(self, env: Env) -> Iterator[Contribution]:
        """Truth and value of every instance that is not plainly false."""
        if not self.loops:
            truth = conjunction(self.when, env)
            if truth & ~2:
                yield truth, self.value(env)
            return
        for _ in bindings(self.loops, env):
            truth = conjunction(self.when, env)
            if truth & ~2:
                yield truth, self.value(env)


def conjunction(conditions: Iterable[TruthClosure], env: Env) -> int:
    """Three-valued `and` of closures, ended early at the first plain false."""
    truth = TRUE
    for condition in conditions:
        truth = both_hold(truth, condition(env))
        if truth == 2:
            return truth
    return truth


def bindings(loops: tuple[RowLoop, ...], env: Env) -> Iterator[tuple[str, ...]]:
    """Bind the `for` variables in `env` to each combination of rows in turn; yields the row ids."""
    if not loops:
        yield ()
        return
    loop, rest = loops[0], loops[1:]
    for row in loop.rows if loop.select is None else loop.select(env):
        env[loop.key] = (frozenset((row,)), 0)
        for inner in bindings(rest, env):
            yield (row, *inner)
    env.pop(loop.key, None)


def compile_loops(rule: Rule, program: Program, exact: bool) -> tuple[RowLoop, ...]:
    """The `for` variables of a rule, each with its index if one of the conditions equates a word cell with something else."""
    return tuple(_loop(variable, table, rule, program, exact) for variable, table in rule.rows)


def _loop(variable: str, table: str, rule: Rule, program: Program, exact: bool) -> RowLoop:
    rows = tuple(program.tables[table].rows)
    for condition in rule.when:
        found = _indexable(condition.term, variable)
        if found is not None:
            cell, other = found
            return RowLoop("$" + variable, rows, _selector(cell, other, rows, program, exact))
    return RowLoop("$" + variable, rows, None)


def _indexable(term: Term, variable: str) -> tuple[CellTerm | RowTerm, Term] | None:
    if not isinstance(term, CompareTerm) or term.operator != "==" or term.left.kind != WORD:
        return None
    for cell, other in ((term.left, term.right), (term.right, term.left)):
        own = isinstance(cell, RowTerm) or (isinstance(cell, CellTerm) and isinstance(cell.row, RowTerm))
        name = cell.variable if isinstance(cell, RowTerm) else getattr(getattr(cell, "row", None), "variable", None)
        if own and name == variable and not any(isinstance(t, RowTerm) for t in walk(other)):
            return cast("tuple[CellTerm | RowTerm, Term]", (cell, other))
    return None


def _selector(
    cell: CellTerm | RowTerm, other: Term, rows: tuple[str, ...], program: Program, exact: bool
) -> Callable[[Env], Sequence[str]]:
    """Rows whose cell can equal the other side: exact rows by word, and always those whose cell is unknown."""
    by_word: dict[str, list[int]] = {}
    open_rows: list[int] = []
    for position, row in enumerate(rows):
        words = frozenset((row,)) if isinstance(cell, RowTerm) else _cell_words(cell, row, program)
        for word in words:
            by_word.setdefault(word, []).append(position)
        if not words:
            open_rows.append(position)
    other_side = compile_term(other, program, exact)
    memo: dict[frozenset[str], tuple[str, ...]] = {}

    def select(env: Env) -> Sequence[str]:
        words, _ = cast(Words, other_side(env))
        if not words:
            return rows
        found = memo.get(words)
        if found is None:
            positions = sorted({p for word in words for p in by_word.get(word, ())} | set(open_rows))
            found = memo[words] = tuple(rows[p] for p in positions)
        return found

    return select


def _cell_words(cell: CellTerm, row: str, program: Program) -> frozenset[str]:
    value = program.tables[cell.table].rows[row].cells.get(cell.column)
    return frozenset((value.literal.word,)) if value is not None and value.literal is not None else frozenset()


@dataclass(frozen=True, slots=True)
class FactClosure:
    """All that gives a fact its value: contributors, defaults and `else`."""

    decl: FactDecl
    contributors: tuple[Contributor, ...]
    cases: tuple[tuple[tuple[TruthClosure, ...], Closure], ...]
    otherwise: Closure | None
    formula: Closure | None

    def exact(self, env: Env, absent: int) -> Slot:
        """The value for one exact environment; `absent` is the cause when no rule concluded it (STATED or OPTION)."""
        if self.formula is not None:
            value = self.formula(env)
            if is_known(value) and not slot_bits(value):
                return value
        return combine_exact(self.decl, self._contributions(env), self.fallback(env), absent)

    def box(self, env: Env, absent: int) -> Slot:
        """A slot that covers the exact values of all options of the box in `env`."""
        if self.formula is not None:
            value = self.formula(env)
            if not slot_bits(value) and is_known(value):
                return value
        return _combine_box(self.decl, self._contributions(env), self.fallback(env), absent)

    def _contributions(self, env: Env) -> list[Contribution]:
        return [c for contributor in self.contributors for c in contributor.contributions(env)]

    def fallback(self, env: Env) -> Slot | None:
        for when, value in self.cases:
            if holds(conjunction(when, env)):
                return value(env)
        if self.otherwise is not None:
            return self.otherwise(env)
        return unknown_slot(self.decl.kind, STATED) if self.cases else None

    def default_used(self, env: Env) -> int | None:
        """The index of the default case that gives the value: no rule concluded one and the case holds; else None."""
        if not self.cases or any(holds(truth) and is_known(value) for truth, value in self._contributions(env)):
            return None
        for index, (when, value) in enumerate(self.cases):
            if holds(conjunction(when, env)):
                return index if is_known(value(env)) else None
        return None


def compile_fact(name: str, program: Program, exact: bool) -> FactClosure:
    """The compiled value of a fact, for exact environments or for boxes."""
    decl = program.facts[name]
    contributors = []
    for rule_id in program.contributors.get(name, ()):
        rule = program.rules[rule_id]
        loops = compile_loops(rule, program, exact)
        when = tuple(compile_truth(c.term, program, exact) for c in rule.when)
        for fact, value in cast(Conclude, rule.effect).values:
            if fact == name:
                reads = facts_read(value.term).union(*(facts_read(c.term) for c in rule.when))
                contributors.append(Contributor(rule_id, loops, when, _stored(value, program, exact), tuple(sorted(reads))))
    cases = tuple(compile_default(case, program, exact) for case in decl.default)
    otherwise = None if decl.otherwise is None else _stored(decl.otherwise, program, exact)
    return FactClosure(decl, tuple(contributors), cases, otherwise, _formula(decl, contributors))


def _formula(decl: FactDecl, contributors: Sequence[Contributor]) -> Closure | None:
    """The value's closure where a single rule without conditions concludes the fact, which is most of them."""
    if len(contributors) != 1 or decl.combine == "all":
        return None
    (only,) = contributors
    return None if only.loops or only.when else only.value


def _stored(value: Condition, program: Program, exact: bool) -> Closure:
    closure = compile_term(value.term, program, exact)
    if value.term.kind != NUMBER:
        return closure
    return lambda env: arithmetic.rounded(cast(Num, closure(env)))


def compile_default(case: DefaultCase, program: Program, exact: bool) -> tuple[tuple[TruthClosure, ...], Closure]:
    """A default's conditions and value."""
    return tuple(compile_truth(c.term, program, exact) for c in case.when), _stored(case.value, program, exact)


def combine_exact(decl: FactDecl, contributions: Iterable[Contribution], fallback: Slot | None, absent: int) -> Slot:
    """The exact value: known contributions combined; unknown ones leave their cause as a taint."""
    values: list[Slot] = []
    taint = 0
    for truth, value in contributions:
        if holds(truth) and is_known(value):
            values.append(with_bits(value, truth & UNKNOWN_BITS))
        elif not fails(truth):
            taint |= (truth & UNKNOWN_BITS) or (RANGE if truth & BOTH == BOTH else slot_bits(value) or OPTION)
    lasting = taint & (OPTION | RANGE)
    if values:
        return with_bits(_merge(decl, values), lasting)
    if fallback is not None and is_known(fallback):
        return with_bits(fallback, lasting)
    return unknown_slot(decl.kind, taint or absent)


def in_conflict(values: Sequence[Slot]) -> bool:
    """True when a fact combined by `one` was concluded with different values."""
    return any(not _same(values[0], value) for value in values[1:])


def _same(a: Slot, b: Slot) -> bool:
    if isinstance(a, int):
        return a & BOTH == cast(int, b) & BOTH
    if len(a) == 4:
        x, y = a, cast(Num, b)
        low = arithmetic.equal(exactly(cast(float, x[0])), exactly(cast(float, y[0])))
        return holds(low) and holds(arithmetic.equal(exactly(cast(float, x[1])), exactly(cast(float, y[1]))))
    return a[0] == cast(Words, b)[0]


def _merge(decl: FactDecl, values: Sequence[Slot]) -> Slot:
    if decl.combine == "all":
        bits = 0
        for value in values:
            bits |= slot_bits(value)
        return (tuple(sorted({word for value in values for word in _words_of(value)})), bits)
    if len(values) == 1:
        return values[0]
    if decl.combine == "one":
        return unknown_slot(decl.kind, OPTION) if in_conflict(values) else values[0]
    if decl.kind == NUMBER:
        return _merge_numbers(decl.combine, cast("Sequence[Num]", values))
    # `max` and `min` of yes-no facts: any and all.
    bits = 0
    for value in values:
        bits |= slot_bits(value)
    truths = [holds(cast(int, value)) for value in values]
    return (TRUE if (any(truths) if decl.combine == "max" else all(truths)) else 2) | bits


def _words_of(value: Slot) -> tuple[str, ...]:
    first = cast("Words | Members", value)[0]
    return tuple(first or ())


def _merge_numbers(combine: str, values: Sequence[Num]) -> Num:
    if combine == "max":
        return arithmetic.greatest(values)
    if combine == "min":
        return arithmetic.least(values)
    bits = 0
    for value in values:
        bits |= value[3]
    typicals = [v[2] for v in values]
    typical = None if None in typicals else math.fsum(cast("list[float]", typicals))
    low = math.fsum(cast(float, v[0]) for v in values)
    high = math.fsum(cast(float, v[1]) for v in values)
    return arithmetic.rounded((low, high, typical, bits))


def _combine_box(decl: FactDecl, contributions: Sequence[Contribution], fallback: Slot | None, absent: int) -> Slot:
    """A slot that covers what `combine_exact` gives for every option of the box."""
    certain: list[Slot] = []
    possible: list[Slot] = []
    bits = 0
    for truth, value in contributions:
        bits |= truth & UNKNOWN_BITS
        if truth & BOTH == BOTH:
            # For an option inside the box the ranges themselves may overlap.
            bits |= RANGE
        if not has_value(value):
            bits |= slot_bits(value) or OPTION
            continue
        if truth & TRUE:
            firm = truth == TRUE and not slot_bits(value) and value != BOTH
            (certain if firm else possible).append(value)
    values = certain + possible
    if certain:
        bits &= ~STATED
    else:
        values, bits = _with_fallback(decl, values, fallback, absent, bits)
    if not values:
        return unknown_slot(decl.kind, bits or absent)
    return with_bits(_cover(decl, certain, values), bits)


def _with_fallback(decl: FactDecl, values: list[Slot], fallback: Slot | None, absent: int, bits: int) -> tuple[list[Slot], int]:
    if fallback is None:
        return values, bits | absent
    if has_value(fallback):
        return [*values, fallback], bits & ~STATED
    return values, bits | slot_bits(fallback)


def _cover(decl: FactDecl, certain: Sequence[Slot], values: Sequence[Slot]) -> Slot:
    if decl.kind == NUMBER and decl.combine in ("sum", "max", "min"):
        return _cover_numbers(decl.combine, cast("Sequence[Num]", certain), cast("Sequence[Num]", values))
    if decl.combine == "all":
        return _merge(decl, values) if len(certain) == len(values) else (None, OPTION)
    covered = values[0]
    for value in values[1:]:
        covered = hull(covered, value)
    if len(values) > 1 and decl.combine == "one" and not (all(_single(v) for v in values) and not in_conflict(values)):
        covered = with_bits(covered, OPTION)
    return covered


def _single(value: Slot) -> bool:
    """True for a slot that is one value for every option of the box."""
    if isinstance(value, int):
        return value & BOTH != BOTH
    return value[0] == value[1] if len(value) == 4 else len(cast(Words, value)[0]) == 1


def _cover_numbers(combine: str, certain: Sequence[Num], values: Sequence[Num]) -> Num:
    bits = 0
    for value in values:
        bits |= value[3]
    lows = [cast(float, v[0]) for v in values]
    highs = [cast(float, v[1]) for v in values]
    if combine == "sum":
        sure = len(certain)
        low = math.fsum(lows[:sure]) + math.fsum(min(0.0, x) for x in lows[sure:])
        high = math.fsum(highs[:sure]) + math.fsum(max(0.0, x) for x in highs[sure:])
        if not sure and lows:
            low, high = min(low, *lows), max(high, *highs)
        return arithmetic.rounded((low, high, None, bits))
    firm_lows = [cast(float, v[0]) for v in certain]
    firm_highs = [cast(float, v[1]) for v in certain]
    if combine == "max":
        return (max(firm_lows) if certain else min(lows), max(highs), None, bits)
    return (min(lows), min(firm_highs) if certain else max(highs), None, bits)
