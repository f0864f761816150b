"""A checked term printed back in the language, with as few parentheses as it needs."""

from __future__ import annotations

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

_CHOICE, _LOGIC, _NOT, _COMPARE, _MINUS, _POWER, _ATOM = 10, 20, 30, 40, 70, 80, 90
_BINDING = {"+": 50, "-": 50, "*": 60, "/": 60, "//": 60, "**": _POWER, "neg": _MINUS}


def describe(term: Term) -> str:
    """The term as an author would write it; parsing and checking the text gives the same term again."""
    match term:
        case Literal(text=text):
            return text
        case FactTerm(fact=fact):
            return fact
        case StatedTerm(fact=fact):
            return f"plan.{fact}"
        case ConstantTerm(constant=name) | RowTerm(variable=name):
            return name
        case CellTerm(row=row, column=column):
            return f"{describe(row)}.{column}"
        case FunctionTerm(function=function, arguments=arguments):
            return f"{function}({', '.join(describe(argument) for argument in arguments)})"
        case ArithmeticTerm():
            return _arithmetic(term)
        case _:
            return _condition(term)


def _arithmetic(term: ArithmeticTerm) -> str:
    binding = _BINDING[term.operator]
    if term.operator == "neg":
        (operand,) = term.arguments
        return f"-({describe(operand)})" if _begins_with_range(operand) else f"-{_inside(operand, binding)}"
    left, right = term.arguments
    if term.operator == "**":
        return f"{_inside(left, binding + 1)} ** {_inside(right, _MINUS)}"
    return f"{_inside(left, binding)} {term.operator} {_inside(right, binding + 1)}"


def _begins_with_range(term: Term) -> bool:
    """Whether a minus before the term would be read into a range: -5..15 is a range from -5."""
    while isinstance(term, ArithmeticTerm) and term.operator == "**":
        term = term.arguments[0]
    return isinstance(term, Literal) and ".." in term.text


def _condition(term: Term) -> str:
    match term:
        case ChoiceTerm(then=then, condition=condition, other=other):
            return f"{_inside(then, _LOGIC)} if {_inside(condition, _LOGIC)} else {describe(other)}"
        case LogicTerm(operator=operator, operands=operands):
            return f" {operator} ".join(_inside(operand, _NOT) for operand in operands)
        case NotTerm(operand=InTerm() as operand):
            return _membership(operand, "not in")
        case NotTerm(operand=operand):
            return f"not {_inside(operand, _NOT)}"
        case InTerm():
            return _membership(term, "in")
        case CompareTerm(operator=operator, left=left, right=right):
            return f"{_inside(left, _COMPARE + 1)} {operator} {_inside(right, _COMPARE + 1)}"
        case _:
            raise TypeError(f"no term: {term!r}")


def _membership(term: InTerm, word: str) -> str:
    group = f"[{', '.join(describe(literal) for literal in term.literals)}]" if term.group is None else describe(term.group)
    return f"{_inside(term.member, _COMPARE + 1)} {word} {group}"


def _inside(term: Term, floor: int) -> str:
    return describe(term) if _binding(term) >= floor else f"({describe(term)})"


def _binding(term: Term) -> int:
    match term:
        case ChoiceTerm():
            return _CHOICE
        case LogicTerm():
            return _LOGIC
        case NotTerm(operand=InTerm()) | InTerm() | CompareTerm():
            return _COMPARE
        case NotTerm():
            return _NOT
        case ArithmeticTerm(operator=operator):
            return _BINDING[operator]
        case _:
            return _ATOM


def number_text(ends: tuple[float, ...], unit: str | None = None) -> str:
    """A number or range in the shortest digits that read back the same: `5..15 %`."""
    digits = "..".join(_digits(value) for value in ends)
    return f"{digits} {unit}" if unit else digits


def _digits(value: float) -> str:
    text = repr(float(value))
    return text.removesuffix(".0")


def word_text(word: str) -> str:
    """A quoted choice."""
    return f'"{word}"' if "'" in word else f"'{word}'"
