"""A Pratt parser for conditions, values and message templates.

Binding, loosest first: `x if c else y`; `and`, `or` (never mixed without parentheses); `not`; comparisons
and `in`; `+ -`; `* / //`; unary minus; `**`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from expert.language import slips
from expert.language.lexer import END, KEYWORD, NAME, NUMBER, OPERATOR, WORD, Locate, Token, Written, no_line, tokens_of
from expert.language.nodes import (
    FUNCTIONS,
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

DEPTH_LIMIT = 50

_IF, _LOGIC, _NOT, _COMPARE, _SUM, _PRODUCT, _MINUS, _POWER = 10, 20, 30, 40, 50, 60, 70, 80

_COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
_BINDING = {
    "if": _IF,
    "and": _LOGIC,
    "or": _LOGIC,
    "in": _COMPARE,
    "not": _COMPARE,
    **dict.fromkeys(_COMPARISONS, _COMPARE),
    "+": _SUM,
    "-": _SUM,
    "*": _PRODUCT,
    "/": _PRODUCT,
    "//": _PRODUCT,
    "**": _POWER,
}


def parse_expression(text: str, locate: Locate, line_of: Callable[[int], str] = no_line) -> Syntax:
    """The syntax tree of one expression; names and units are not resolved.

    `locate(offset, length)` gives the place of a stretch of `text` in the file, `line_of(number)` the file's line.
    Errors: ExpertError with one diagnostic, under the wrong words.
    """
    return _parse(Written(text, locate, line_of))


def parse_template(text: str, locate: Locate, line_of: Callable[[int], str] = no_line) -> tuple[str | Syntax, ...]:
    """A message cut into literal pieces and the expressions in its braces; `{{` and `}}` are literal braces.

    Errors: ExpertError with one diagnostic.
    """
    written = Written(text, locate, line_of)
    parts: list[str | Syntax] = []
    literal, at = "", 0
    while at < len(text):
        if text[at : at + 2] in ("{{", "}}"):
            literal, at = literal + text[at], at + 2
        elif text[at] == "{":
            end = slips.closing_brace(written, at)
            parts += [literal] * bool(literal) + [_parse(_inside(written, at + 1, end))]
            literal, at = "", end + 1
        elif text[at] == "}":
            raise slips.stray_brace(written, at)
        else:
            literal, at = literal + text[at], at + 1
    return (*parts, literal) if literal else tuple(parts)


def _inside(written: Written, start: int, end: int) -> Written:
    return Written(written.text[start:end], lambda offset, length: written.locate(start + offset, length), written.line_of)


def _parse(written: Written) -> Syntax:
    reader = _Reader(written)
    found = reader.expression(0)
    if reader.token.kind != END:
        raise slips.unexpected(written, reader.before, reader.token)
    _refuse_deep(written, found.node)
    return found.node


def _refuse_deep(written: Written, root: Syntax) -> None:
    """Long chains nest to the left without any parenthesis; whoever walks the tree recurses."""
    level: list[Syntax] = [root]
    for _ in range(DEPTH_LIMIT):
        level = [part for node in level for part in parts_of(node)]
    if level:
        raise slips.too_deep(written, 0, 1, DEPTH_LIMIT)


def parts_of(node: Syntax) -> tuple[Syntax, ...]:
    """The direct parts of a node, left to right."""
    match node:
        case ListOf(members=parts) | Comparison(operands=parts) | Logic(operands=parts) | Call(arguments=parts):
            return parts
        case Negation(operand=operand) | Not(operand=operand):
            return (operand,)
        case Arithmetic(left=left, right=right):
            return (left, right)
        case Membership(member=member, group=group):
            return (member, group)
        case IfElse(then=then, condition=condition, other=other):
            return (then, condition, other)
        case _:
            return ()


@dataclass(frozen=True, slots=True)
class _Found:
    """A node with its characters; `wrapped` when parentheses stand around it."""

    node: Syntax
    start: int
    end: int
    wrapped: bool = False


class _Reader:
    """Tokens read from left to right. `token` is the next one, `before` the one just read."""

    def __init__(self, written: Written) -> None:
        self.written = written
        self.tokens = tokens_of(written)
        self.index = 0
        self.depth = 0

    @property
    def token(self) -> Token:
        return self.tokens[self.index]

    @property
    def before(self) -> Token | None:
        return self.tokens[self.index - 1] if self.index else None

    def take(self) -> Token:
        self.index += 1
        return self.tokens[self.index - 1]

    def at(self, *texts: str) -> bool:
        return self.token.kind in (OPERATOR, KEYWORD) and self.token.text in texts

    def expression(self, floor: int) -> _Found:
        """The longest expression from here whose operators all bind tighter than `floor`."""
        self.depth += 1
        if self.depth > DEPTH_LIMIT:
            raise slips.too_deep(self.written, self.token.start, self.token.end, DEPTH_LIMIT)
        left = self._prefix(floor)
        while (power := self._power()) > floor:
            left = self._infix(left, power)
        self.depth -= 1
        return left

    def _power(self) -> int:
        return _BINDING.get(self.token.text, 0) if self.token.kind in (OPERATOR, KEYWORD) else 0

    def _prefix(self, floor: int) -> _Found:
        token = self.token
        if token.kind == NUMBER:
            return self._number(self.take(), "")
        if token.kind == NAME:
            return self._name(self.take())
        if token.kind == WORD:
            self.take()
            return _Found(Word(self.written.span(token.start, token.end), token.text), token.start, token.end)
        if self.at("true", "false"):
            self.take()
            return _Found(Boolean(self.written.span(token.start, token.end), token.text == "true"), token.start, token.end)
        if self.at("-"):
            return self._minus(self.take())
        if self.at("("):
            return self._parenthesis(self.take())
        if self.at("["):
            return self._list(self.take())
        if self.at("not"):
            return self._not(self.take(), floor)
        raise slips.missing_operand(self.written, self.before, token)

    def _number(self, token: Token, sign: str) -> _Found:
        start = token.start - len(sign)
        ends = (-token.ends[0], *token.ends[1:]) if sign else token.ends
        if list(ends) != sorted(ends):
            raise slips.range_order(self.written, start, token.end)
        typical = None if len(ends) == 2 else ends[len(ends) // 2]
        unit_span = self.written.span(token.end - len(token.unit), token.end) if token.unit else None
        node = Number(self.written.span(start, token.end), ends[0], typical, ends[-1], token.unit or None, unit_span)
        return _Found(node, start, token.end)

    def _name(self, token: Token) -> _Found:
        if self.at("("):
            return self._call(token)
        slips.refuse_foreign(self.written, self.tokens[self.index - 2] if self.index > 1 else None, token)
        return _Found(Name(self.written.span(token.start, token.end), tuple(token.text.split("."))), token.start, token.end)

    def _minus(self, sign: Token) -> _Found:
        following = self.token
        # The sign belongs to the low end: -5..15 goes from -5 to 15.
        if following.kind == NUMBER and len(following.ends) > 1 and following.start == sign.end:
            return self._number(self.take(), "-")
        operand = self.expression(_MINUS)
        return _Found(Negation(self.written.span(sign.start, operand.end), operand.node), sign.start, operand.end)

    def _parenthesis(self, opening: Token) -> _Found:
        if self.at(")"):
            raise slips.empty_parentheses(self.written, opening.start, self.token.end)
        inner = self.expression(0)
        closing = self._close(opening, ")")
        return _Found(inner.node, opening.start, closing.end, wrapped=True)

    def _list(self, opening: Token) -> _Found:
        members = self._members(opening, "]")
        end = self.tokens[self.index - 1].end
        return _Found(ListOf(self.written.span(opening.start, end), members), opening.start, end)

    def _members(self, opening: Token, closer: str) -> tuple[Syntax, ...]:
        members: list[Syntax] = []
        if not self.at(closer):
            members.append(self.expression(0).node)
            while self.at(","):
                self.take()
                members.append(self.expression(0).node)
        self._close(opening, closer)
        return tuple(members)

    def _close(self, opening: Token, closer: str) -> Token:
        if self.at(closer):
            return self.take()
        if self.token.kind == END:
            raise slips.not_closed(self.written, opening, closer)
        raise slips.unexpected(self.written, self.before, self.token, opening)

    def _call(self, name: Token) -> _Found:
        if name.text not in FUNCTIONS:
            raise slips.unknown_function(self.written, name)
        arguments = self._members(self.take(), ")")
        end = self.tokens[self.index - 1].end
        least, most = FUNCTIONS[name.text]
        if len(arguments) < least or (most is not None and len(arguments) > most):
            raise slips.wrong_count(self.written, name, end, len(arguments))
        call = Call(self.written.span(name.start, end), name.text, arguments, self.written.span(name.start, name.end))
        return _Found(call, name.start, end)

    def _not(self, word: Token, floor: int) -> _Found:
        if floor > _NOT:
            raise slips.not_as_operand(self.written, word)
        operand = self.expression(_NOT)
        if isinstance(operand.node, Membership) and not operand.wrapped:
            raise slips.not_before_in(self.written, word, operand.start, operand.end, operand.node)
        return _Found(Not(self.written.span(word.start, operand.end), operand.node), word.start, operand.end)

    def _infix(self, left: _Found, power: int) -> _Found:
        if power == _IF:
            return self._if_else(left)
        if power == _LOGIC:
            return self._logic(left)
        if power == _COMPARE:
            return self._membership(left) if self.at("in", "not") else self._comparison(left)
        return self._arithmetic(left, power)

    def _arithmetic(self, left: _Found, power: int) -> _Found:
        sign = self.take()
        if sign.text == "-":
            slips.refuse_tight_minus(self.written, left.start, sign)
        # `**` groups to the right: 2 ** 3 ** 2 is 2 ** 9.
        right = self.expression(power - 1 if power == _POWER else power)
        span = self.written.span(left.start, right.end)
        operator_span = self.written.span(sign.start, sign.end)
        return _Found(Arithmetic(span, sign.text, left.node, right.node, operator_span), left.start, right.end)

    def _comparison(self, left: _Found) -> _Found:
        signs: list[Token] = []
        operands = [left]
        while self.at(*_COMPARISONS):
            signs.append(self.take())
            operands.append(self.expression(_COMPARE))
        if self.at("in", "not"):
            raise slips.in_after_comparison(self.written, self.token)
        end = operands[-1].end
        span = self.written.span(left.start, end)
        places = tuple(self.written.span(sign.start, sign.end) for sign in signs)
        node = Comparison(span, tuple(sign.text for sign in signs), tuple(operand.node for operand in operands), places)
        return _Found(node, left.start, end)

    def _membership(self, left: _Found) -> _Found:
        first = self.take()
        negated = first.text == "not"
        if negated and not self.at("in"):
            raise slips.not_without_in(self.written, first)
        if negated:
            self.take()
        group = self.expression(_COMPARE)
        if not isinstance(group.node, ListOf | Name):
            raise slips.no_group(self.written, group.start, group.end)
        if self.at("in", "not", *_COMPARISONS):
            raise slips.in_after_comparison(self.written, self.token)
        span = self.written.span(left.start, group.end)
        node: Syntax = Membership(span, left.node, group.node)
        return _Found(Not(span, node) if negated else node, left.start, group.end)

    def _logic(self, left: _Found) -> _Found:
        operands, words = [left], list[Token]()
        while self.at("and", "or"):
            words.append(self.take())
            operands.append(self.expression(_LOGIC))
        other = next((word for word in words if word.text != words[0].text), None)
        if other is not None:
            stretches = [self.written.text[operand.start : operand.end] for operand in operands]
            raise slips.mixed_logic(self.written, other, stretches, [word.text for word in words])
        end = operands[-1].end
        node = Logic(self.written.span(left.start, end), words[0].text, tuple(operand.node for operand in operands))
        return _Found(node, left.start, end)

    def _if_else(self, then: _Found) -> _Found:
        word = self.take()
        condition = self.expression(_IF)
        if not self.at("else"):
            raise slips.missing_else(self.written, word)
        self.take()
        other = self.expression(_IF - 1)
        node = IfElse(self.written.span(then.start, other.end), then.node, condition.node, other.node)
        return _Found(node, then.start, other.end)
