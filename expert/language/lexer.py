"""Tokens of the expression language, with the mistakes that show already in the characters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from expert.errors import NO_TEXT, ExpertError, Span, Text, fail

Locate = Callable[[int, int], Span]

NUMBER, NAME, WORD, KEYWORD, OPERATOR, END = "number", "name", "word", "keyword", "operator", "end"

KEYWORDS = frozenset({"and", "or", "not", "in", "if", "else", "true", "false"})

LENGTH_LIMIT = 2000


def no_line(number: int) -> str:
    """The source line where the text comes from no file: empty."""
    return ""


@dataclass(frozen=True, slots=True)
class Written:
    """The text of one expression or template, and how to find its characters in the file."""

    text: str
    locate: Locate
    line_of: Callable[[int], str] = no_line

    def span(self, start: int, end: int) -> Span:
        """The place of `text[start:end]`."""
        return self.locate(start, end - start)

    def mistake(self, code: str, start: int, end: int, message: Text, help: Text = NO_TEXT) -> ExpertError:
        """An error under `text[start:end]`, ready to be raised."""
        span = self.span(start, end)
        return fail(code, message, span=span, help=help, line_text=self.line_of(span.line))


@dataclass(frozen=True, slots=True)
class Token:
    """One token. For a number `ends` are its one to three numbers and `unit` the unit's text ("" where bare)."""

    kind: str
    text: str
    start: int
    end: int
    ends: tuple[float, ...] = ()
    unit: str = ""


_BLANK = re.compile(r"\s*")
_DIGITS = r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
_NUMBER = re.compile(rf"{_DIGITS}(?:\s*\.\.\s*-?{_DIGITS}){{0,2}}", re.ASCII)
_ID = r"\w+(?:-\w+)*"
_NAME = re.compile(rf"[^\W\d]\w*(?:-\w+)*(?:\.{_ID})*")
_QUOTED = re.compile(r"'([^'\n]*)'|\"([^\"\n]*)\"")
_UNIT_WORD = re.compile(r"[^\W\d_]\w*(?:-\w+)*")
_NAME_GOES_ON = re.compile(r"\.\w|\s*\(")
_OPERATOR = re.compile(r"===|!==|\*\*|//|==|!=|<=|>=|=>|=<|<>|&&|\|\||\.\.|[-+*/<>()\[\],=!&|^{}.%:;?@$#`~\\]")

_MEANINGLESS = frozenset({"..", *"{}.%:;?@$#`~\\"})

_INSTEAD = {
    "=": "==",
    "===": "==",
    "!==": "!=",
    "&&": "and",
    "&": "and",
    "||": "or",
    "|": "or",
    "!": "not",
    "=>": ">=",
    "=<": "<=",
    "<>": "!=",
    "^": "**",
    "≥": ">=",
    "≤": "<=",
    "≠": "!=",
    "×": "*",
    "·": "*",
    "÷": "/",
    "−": "-",
    "–": "-",
    "—": "-",
    "“": "'",
    "”": "'",
    "‘": "'",
    "’": "'",
    "、": ",",
    "。": ".",
}


def tokens_of(source: Written) -> tuple[Token, ...]:
    """The tokens of an expression, closed by one END token.

    Errors: ExpertError with one diagnostic for the first mistake in the characters.
    """
    text = source.text
    if len(text) > LENGTH_LIMIT:
        raise source.mistake(
            "expression-too-long",
            0,
            1,
            Text(
                f"an expression may have {LENGTH_LIMIT} characters, this one has {len(text)}",
                f"表达式最多 {LENGTH_LIMIT} 个字符，此处有 {len(text)} 个",
            ),
            Text("conclude a part of it into a fact of its own", "请将其中一部分先得出为单独的事实"),
        )
    found: list[Token] = []
    at = _skip(text, 0)
    while at < len(text):
        token = _token(source, at)
        found.append(token)
        at = _skip(text, token.end)
    found.append(Token(END, "", len(text), len(text)))
    return tuple(found)


def _skip(text: str, at: int) -> int:
    blank = _BLANK.match(text, at)
    return blank.end() if blank else at


def _token(source: Written, at: int) -> Token:
    text = source.text
    if (number := _NUMBER.match(text, at)) is not None:
        return _number(source, at, number.end())
    if (name := _NAME.match(text, at)) is not None:
        word = name[0]
        return Token(KEYWORD if word in KEYWORDS else NAME, word, at, name.end())
    if (quoted := _QUOTED.match(text, at)) is not None:
        return Token(WORD, quoted[1] if quoted[1] is not None else quoted[2], at, quoted.end())
    operator = _OPERATOR.match(text, at)
    written = operator[0] if operator else text[at]
    if operator is None or written in _INSTEAD or written in _MEANINGLESS:
        raise _wrong_sign(source, at, written)
    return Token(OPERATOR, written, at, operator.end())


def _number(source: Written, at: int, end: int) -> Token:
    text = source.text
    _refuse_odd_number(source, at, end)
    parts = [part.strip() for part in text[at:end].split("..")]
    ends = tuple(float(part) for part in parts)
    if any(abs(value) == float("inf") for value in ends):
        raise source.mistake("number-too-large", at, end, Text("this number is too large", "数值过大"))
    unit_start = _skip(text, end)
    unit_end = _unit_end(text, unit_start)
    if unit_end is None:
        return Token(NUMBER, text[at:end], at, end, ends)
    unit = text[unit_start:unit_end]
    _refuse_after_unit(source, at, unit_end, unit)
    return Token(NUMBER, text[at:unit_end], at, unit_end, ends, unit)


def _unit_end(text: str, start: int) -> int | None:
    """Where the unit that begins at `start` ends, or None: `10 GB/min(a, b)` and `10 GB/token.size` stop at the slash."""
    if text[start : start + 1] == "%":
        end = start + 1
    else:
        first = _UNIT_WORD.match(text, start)
        if first is None or first[0] in KEYWORDS or _NAME_GOES_ON.match(text, first.end()):
            return None
        end = first.end()
    while text[end : end + 1] == "/":
        further = _UNIT_WORD.match(text, end + 1)
        if further is None or _NAME_GOES_ON.match(text, further.end()):
            break
        end = further.end()
    return end


def _refuse_odd_number(source: Written, at: int, end: int) -> None:
    text = source.text
    after = text[end : end + 1]
    group = re.compile(r"(?:[,_]\d{3})+(?![\d.]\d)", re.ASCII).match(text, end)
    if group is not None or (after == "_" and text[end + 1 : end + 2].isdigit()):
        stop = group.end() if group else end + 2
        plain = text[at:stop].replace(",", "").replace("_", "")
        raise source.mistake(
            "digits-in-groups",
            at,
            stop,
            Text("digits are written without separators", "数字中不用分隔符"),
            Text(
                f"write {plain}; between two numbers of a list, put a blank after the comma",
                f"请写 {plain}；若为列表中的两个数，请在逗号后加空格",
            ),
        )
    if after == "." and text[end + 1 : end + 2] != "." and "." not in text[at:end]:
        raise source.mistake("number-ends-in-dot", at, end + 1, Text("digits are missing after the point", "小数点后缺少数字"))
    if after == ".":
        raise source.mistake(
            "unreadable-number",
            at,
            end + 1,
            Text("this is not a number", "这不是数字"),
            Text("a number is written 1.5, a range 5..15 or 80..95..120", "数字写作 1.5，区间写作 5..15 或 80..95..120"),
        )


def _refuse_after_unit(source: Written, at: int, end: int, unit: str) -> None:
    text = source.text
    following = _skip(text, end)
    if unit == "%" and text[following : following + 1] == "%":
        raise source.mistake(
            "double-percent", end - 1, following + 1, Text("one percent sign is enough", "一个百分号即可"), Text("write %", "请写 %")
        )
    if text.startswith("..", following):
        raise source.mistake(
            "unit-inside-range",
            at,
            following + 2,
            Text("the unit of a range stands once, at its end", "区间的单位只写一次，写在末尾"),
            Text(f"write 5..15 {unit}", f"请写成 5..15 {unit} 的形式"),
        )


def _wrong_sign(source: Written, at: int, written: str) -> ExpertError:
    end = at + len(written)
    if written in "'\"":
        return source.mistake(
            "quote-not-closed",
            at,
            len(source.text),
            Text("this quotation does not end", "引号没有闭合"),
            Text(f"close it with {written}", f"请用 {written} 闭合"),
        )
    if written == "%":
        return source.mistake(
            "percent-without-number",
            at,
            end,
            Text("'%' stands after a number; there is no remainder operator", "“%”只能写在数字之后；没有取余运算"),
            Text("a percentage is written 5 %", "百分比写作 5 %"),
        )
    if written == "..":
        return source.mistake(
            "range-without-numbers",
            at,
            end,
            Text("a range joins two or three numbers", "区间由两个或三个数字组成"),
            Text("write 5..15; for facts, low(x) and high(x) give the ends", "请写 5..15；事实的两端用 low(x)、high(x)"),
        )
    return _unknown_sign(source, at, end, written)


def _unknown_sign(source: Written, at: int, end: int, written: str) -> ExpertError:
    instead = _INSTEAD.get(written) or unicodedata.normalize("NFKC", written)
    if instead != written and instead.isprintable() and instead.strip():
        code = "wrong-operator" if written.isascii() else "typographic-sign"
        return source.mistake(
            code,
            at,
            end,
            Text(f"'{written}' is not a sign of this language", f"“{written}”不是本语言的符号"),
            Text(f"write {instead}", f"请写 {instead}"),
        )
    return source.mistake(
        "unknown-character", at, end, Text(f"'{written}' has no meaning in an expression", f"表达式中不能出现“{written}”")
    )
