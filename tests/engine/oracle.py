"""The language read literally: an evaluator that is slow, obvious, and shares no code with the engine.

Every value comes with its `causes`: why it is not sure. A value can be known and yet not sure (`coalesce(price, 0)`
for a card without a price): firing uses the value, the choice of options trusts only what is sure.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from expert.facts import Amount, Value, point
from expert.language.program import Conclude, Condition, FactDecl, Program, Rule
from expert.language.terms import (
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
)

STATED, OPTION, OVERLAP = "stated", "option", "overlap"
"""Why something is unknown: nobody said it; a cell, conclusion or agreement is missing; ranges overlap."""


@dataclass(frozen=True)
class Result:
    """A value (None: unknown) and why it is not sure (empty: it is)."""

    value: Value | None
    causes: frozenset[str] = frozenset()

    @property
    def sure(self) -> bool:
        """Known, and nothing unknown was papered over on the way."""
        return not self.causes


TRUE, FALSE = Result(True), Result(False)
Rows = Mapping[str, str]


def unknown(*causes: str) -> Result:
    """The unknown, for these causes."""
    return Result(None, frozenset(causes))


def papered(causes: frozenset[str]) -> frozenset[str]:
    """What stays of the causes when `else`, `coalesce`, `missing` or a combination puts a value in the place of an unknown.

    What nobody said is properly replaced by a default; an empty cell stays a doubt.
    """
    return causes - {STATED}


# Truth


def negated(a: Result) -> Result:
    """Kleene's not."""
    return Result(None if a.value is None else not a.value, a.causes)


def conjoined(results: Sequence[Result]) -> Result:
    """Kleene's and: a sure false decides, whatever else is unknown."""
    if any(r.sure and r.value is False for r in results):
        return FALSE
    values = [r.value for r in results]
    value = False if False in values else None if None in values else True
    return Result(value, frozenset().union(*(r.causes for r in results)))


def disjoined(results: Sequence[Result]) -> Result:
    """Kleene's or."""
    return negated(conjoined([negated(r) for r in results]))


def nearly(a: float, b: float) -> bool:
    """Equal within one part in 10^9."""
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b))


def compared(operator: str, a: Amount, b: Amount) -> bool | None:
    """True if the comparison holds for the whole ranges, false if for none of it, else None."""
    if operator in (">", ">="):
        return compared({">": "<", ">=": "<="}[operator], b, a)
    if operator == "!=":
        same = compared("==", a, b)
        return None if same is None else not same
    if operator == "<=":
        if a.high <= b.low or nearly(a.high, b.low):
            return True
        return False if a.low > b.high and not nearly(a.low, b.high) else None
    if operator == "<":
        reverse = compared("<=", b, a)
        return None if reverse is None else not reverse
    if nearly(a.low, b.high) and nearly(a.high, b.low):
        return True
    apart = (a.high < b.low and not nearly(a.high, b.low)) or (b.high < a.low and not nearly(b.high, a.low))
    return False if apart else None


# Numbers


def rounded(x: float) -> float:
    """Twelve significant digits."""
    return float(f"{x:.12g}")


def spread(function: Callable[..., float], arguments: Sequence[Amount]) -> Amount | None:
    """A function over ranges: the extremes over the corners, the typical value where every argument has one."""
    try:
        corners = [function(*corner) for corner in itertools.product(*((a.low, a.high) for a in arguments))]
        typicals = [a.typical for a in arguments]
        typical = None if None in typicals else function(*typicals)
    except (ZeroDivisionError, ValueError, OverflowError):
        return None
    if not all(math.isfinite(c) for c in corners):
        return None
    return Amount(min(corners), typical, max(corners))


def _divide(a: float, b: float) -> float:
    return a / b


OPERATORS: dict[str, Callable[..., float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _divide,
    "//": lambda a, b: float(math.floor(a / b)),
    "**": lambda a, b: float(a**b),
    "neg": lambda a: -a,
    "min": min,
    "max": max,
    "ceil": lambda a: float(math.ceil(a)),
    "floor": lambda a: float(math.floor(a)),
    "round": lambda a: float(math.floor(a + 0.5)),
    "sqrt": math.sqrt,
    "log2": math.log2,
}


def literal_value(literal: Literal) -> Value:
    """What a literal stands for."""
    match literal.kind:
        case "number":
            return Amount(literal.low, literal.typical, literal.high)
        case "bool":
            return literal.flag
        case "list":
            return tuple(word for word in literal.word.split("\n") if word)
        case _:
            return literal.word


class World:
    """One state of affairs: what the plan states and what is decided; everything else follows, on demand."""

    def __init__(
        self,
        program: Program,
        stated: Mapping[str, Value],
        bound: Mapping[str, Value],
        settled: Callable[[str], bool] = lambda name: False,
    ) -> None:
        """`settled` facts stand before the decision at hand: what is unknown of them is unknown whatever it chooses."""
        self.program, self.stated, self.bound, self.settled = program, stated, bound, settled
        self._known: dict[str, Result] = {}

    def fact(self, name: str) -> Result:
        """The value of a fact: stated, decided, concluded, or a default."""
        if name not in self._known:
            given = self.stated.get(name, self.bound.get(name))
            found = Result(given) if given is not None else self.concluded(name)
            if OPTION in found.causes and self.settled(name):
                found = Result(found.value, found.causes - {OPTION} | {STATED})
            self._known[name] = found
        return self._known[name]

    def concluded(self, name: str) -> Result:
        """What the rules, a default or `else` make of a fact, whatever the plan states."""
        decl, contributors = self.program.facts[name], self.program.contributors[name]
        values: list[Value] = []
        used, lost = frozenset[str](), frozenset[str]()
        for rule in (self.program.rules[r] for r in contributors):
            assert isinstance(rule.effect, Conclude)
            expression = dict(rule.effect.values)[name]
            for rows in self.bindings(rule):
                when = self.all_of(rule.when, rows)
                if when.sure and when.value is False:
                    continue
                value = self.evaluate(expression.term, rows)
                if when.value is True and value.value is not None:
                    values.append(value.value)
                    used |= when.causes | value.causes
                else:
                    lost |= when.causes if when.value is not True else when.causes | value.causes
        if values:
            combined = combine(decl, values)
            return unknown(OPTION, *used, *papered(lost)) if combined is None else Result(combined, used | papered(lost))
        fallback = self._fallback(decl)
        if fallback is not None:
            return Result(fallback.value, papered(lost) | fallback.causes)
        if lost:
            return Result(None, lost)
        return unknown(OPTION) if contributors else unknown(STATED)

    def aimed(self, name: str) -> bool:
        """Whether a fact stands at a default that is only an aim."""
        decl = self.program.facts[name]
        if name in self.stated or self.program.contributors[name]:
            return False
        case = next((c for c in decl.default if self.all_of(c.when, {}).value is True), None)
        return case is not None and case.aim

    def _fallback(self, decl: FactDecl) -> Result | None:
        for case in decl.default:
            if self.all_of(case.when, {}).value is True:
                return self._stored(decl, self.evaluate(case.value.term, {}))
        return None if decl.otherwise is None else self._stored(decl, self.evaluate(decl.otherwise.term, {}))

    @staticmethod
    def _stored(decl: FactDecl, found: Result) -> Result:
        return found if found.value is None else Result(combine(decl, [found.value]), found.causes)

    def bindings(self, rule: Rule) -> Iterator[Rows]:
        """Every row of the `for` tables."""
        names = [name for name, _ in rule.rows]
        for ids in itertools.product(*(self.program.tables[table].rows for _, table in rule.rows)):
            yield dict(zip(names, ids, strict=True))

    def all_of(self, conditions: Sequence[Condition], rows: Rows) -> Result:
        """All conditions of a `when`."""
        return conjoined([self.evaluate(c.term, rows) for c in conditions])

    # Terms

    def evaluate(self, term: Term, rows: Rows) -> Result:
        """The value of a checked expression."""
        match term:
            case Literal():
                return Result(literal_value(term))
            case ConstantTerm():
                return Result(literal_value(self.program.constants[term.constant].value))
            case FactTerm():
                return self.fact(term.fact)
            case StatedTerm():
                return Result(self.stated[term.fact]) if term.fact in self.stated else unknown(STATED)
            case RowTerm():
                return Result(rows[term.variable])
            case CellTerm():
                return self._cell(term, rows)
            case ArithmeticTerm():
                return self._applied(term.operator, [self.evaluate(a, rows) for a in term.arguments])
            case FunctionTerm():
                return self._function(term, rows)
            case ChoiceTerm():
                return self._choice(term, rows)
            case CompareTerm():
                return self._comparison(term.operator, self.evaluate(term.left, rows), self.evaluate(term.right, rows))
            case InTerm():
                return self._membership(term, rows)
            case NotTerm():
                return negated(self.evaluate(term.operand, rows))
            case LogicTerm():
                return (conjoined if term.operator == "and" else disjoined)([self.evaluate(o, rows) for o in term.operands])

    def _cell(self, term: CellTerm, rows: Rows) -> Result:
        row = self.evaluate(term.row, rows)
        if row.value is None:
            return row
        cells = self.program.tables[term.table].rows[str(row.value)].cells
        cell = cells.get(term.column)
        if cell is not None and cell.members is not None:
            return Result(cell.members, row.causes)
        if cell is None or cell.literal is None:
            return unknown(OPTION, *row.causes)
        return Result(literal_value(cell.literal), row.causes)

    @staticmethod
    def _applied(operator: str, arguments: Sequence[Result]) -> Result:
        causes = frozenset[str]().union(*(a.causes for a in arguments))
        values = [a.value for a in arguments if isinstance(a.value, Amount)]
        if len(values) < len(arguments):
            return Result(None, causes)
        found = spread(OPERATORS[operator], values)
        return unknown(OPTION, *causes) if found is None else Result(found, causes)

    def _function(self, term: FunctionTerm, rows: Rows) -> Result:
        arguments = [self.evaluate(a, rows) for a in term.arguments]
        first = arguments[0]
        match term.function:
            case "known" | "missing":
                asked = isinstance(term.arguments[0], CellTerm)
                doubt = papered(first.causes) if first.value is None and not asked else frozenset[str]()
                return Result((first.value is None) == (term.function == "missing"), doubt)
            case "coalesce":
                chosen = next((i for i, a in enumerate(arguments) if a.value is not None), None)
                if chosen is None:
                    return Result(None, frozenset().union(*(a.causes for a in arguments)))
                passed = frozenset[str]().union(*(papered(a.causes) for a in arguments[:chosen]))
                return Result(arguments[chosen].value, passed | arguments[chosen].causes)
            case "low" | "high" if isinstance(first.value, Amount):
                return Result(point(getattr(first.value, term.function)), first.causes)
            case "low" | "high":
                return first
            case name:
                return self._applied(name, arguments)

    def _choice(self, term: ChoiceTerm, rows: Rows) -> Result:
        condition = self.evaluate(term.condition, rows)
        if condition.value is None:
            return Result(None, condition.causes)
        branch = self.evaluate(term.then if condition.value else term.other, rows)
        return Result(branch.value, branch.causes | condition.causes)

    @staticmethod
    def _comparison(operator: str, left: Result, right: Result) -> Result:
        causes = left.causes | right.causes
        a, b = left.value, right.value
        if a is None or b is None:
            return Result(None, causes)
        if isinstance(a, Amount) and isinstance(b, Amount):
            truth = compared(operator, a, b)
            return unknown(OVERLAP, *causes) if truth is None else Result(truth, causes)
        return Result((a == b) == (operator == "=="), causes)

    def _membership(self, term: InTerm, rows: Rows) -> Result:
        member = self.evaluate(term.member, rows)
        if term.group is None:
            return disjoined([self._comparison("==", member, Result(literal_value(one))) for one in term.literals])
        group = self.evaluate(term.group, rows)
        if member.value is None or group.value is None:
            return Result(None, member.causes | group.causes)
        assert isinstance(group.value, tuple)
        return Result(member.value in group.value, member.causes | group.causes)


def combine(decl: FactDecl, values: Sequence[Value]) -> Value | None:
    """Several conclusions as one value, numbers to twelve digits; None is a conflict."""
    if decl.kind == "list":
        lists = [v if isinstance(v, tuple) else (str(v),) for v in values]
        if decl.combine == "all":
            return tuple(dict.fromkeys(word for words in lists for word in words))
        return lists[0] if all(words == lists[0] for words in lists) else None
    amounts = [_rounded(v) for v in values if isinstance(v, Amount)]
    if not amounts:
        return values[0] if all(v == values[0] for v in values) else None
    if decl.combine == "one":
        first = amounts[0]
        same = all(nearly(a.low, first.low) and nearly(a.high, first.high) for a in amounts)
        return first if same else None
    picks: dict[str, Callable[[list[float]], float]] = {"max": max, "min": min, "sum": math.fsum}
    pick = picks[decl.combine]
    typicals = [a.typical for a in amounts if a.typical is not None]
    typical = pick(typicals) if len(typicals) == len(amounts) else None
    return _rounded(Amount(pick([a.low for a in amounts]), typical, pick([a.high for a in amounts])))


def _rounded(a: Amount) -> Amount:
    return Amount(rounded(a.low), None if a.typical is None else rounded(a.typical), rounded(a.high))
