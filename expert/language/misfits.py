"""Mistakes of meaning in expressions, worded: unknown names and words, kinds that do not go together, odd units."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile

from expert.errors import NO_TEXT, Diagnostic, Span, Text
from expert.language.near import nearest
from expert.language.nodes import Comparison, ListOf, Logic, Membership, Name, Not, Number, Syntax, Word
from expert.language.printing import describe, number_text, word_text
from expert.language.scope import Resolved, Scope, did_you_mean, is_family, nearest_name, part_span, resolve, unknown_name
from expert.language.terms import BOOL, LIST, NUMBER, TEXT, WORD, Literal, Term
from expert.language.unitcheck import Measured
from expert.units import UnitError

_KINDS = {
    NUMBER: Text("a number", "数字"),
    WORD: Text("a word", "选项词"),
    BOOL: Text("a yes-no value", "是非值"),
    LIST: Text("a list", "列表"),
    TEXT: Text("a text", "文本"),
}
_YES = frozenset({"yes", "on", "y", "是"})
_NO = frozenset({"no", "off", "n", "否"})
_SHOWN_CHOICES = 8


@dataclass(frozen=True, slots=True)
class Wanted:
    """What stands beside a word, or receives it: tells what the word can mean. `words` None takes any."""

    kind: str
    words: frozenset[str] | None
    shown: str
    declared: Span | None

    def takes(self, word: str) -> bool:
        """Whether the word can stand here."""
        return self.kind in (WORD, LIST, TEXT) and (self.words is None or word in self.words)


def unknown_word(name: Name, wanted: Wanted | None, scope: Scope) -> Diagnostic:
    """A bare name that nothing has and that cannot be a word here either."""
    if wanted is None or is_family(name, scope):
        return unknown_name(name, scope)
    if wanted.kind == NUMBER and nearest_name(name.dotted, scope) is not None:
        return unknown_name(name, scope)
    if wanted.kind == NUMBER and (len(name.parts) > 1 or "-" in name.dotted):
        return unknown_name(name, scope)
    return misplaced_word(name.span, name.dotted, wanted)


def misplaced_word(span: Span, word: str, wanted: Wanted) -> Diagnostic:
    """A word beside something that cannot be that word."""
    if wanted.kind in (WORD, LIST):
        return _no_choice(span, word, wanted)
    if wanted.kind == BOOL:
        return _yes_no_with_word(span, word, wanted)
    kind = _KINDS[wanted.kind]
    message = Text(
        f"'{word}' is a word, and {_quoted(wanted.shown).en} is {kind.en}", f"“{word}”是选项词，而{_quoted(wanted.shown).zh}是{kind.zh}"
    )
    if wanted.shown == kind.en or wanted.shown.startswith("an operand"):
        message = Text(f"nothing is called '{word}', and a number belongs here", f"没有名为“{word}”的事实或常量，此处需要数字")
    return Diagnostic("word-for-number" if wanted.kind == NUMBER else "word-for-text", message, span)


def _quoted(shown: str) -> Text:
    return Text(shown, shown) if " " in shown else Text(f"'{shown}'", f"“{shown}”")


def _no_choice(span: Span, word: str, wanted: Wanted) -> Diagnostic:
    words = sorted(wanted.words or ())
    close = nearest(word, words)
    if close is not None:
        help = did_you_mean(close, None)
    else:
        more = ", …" if len(words) > _SHOWN_CHOICES else ""
        listed = ", ".join(words[:_SHOWN_CHOICES]) + more
        help = Text(f"the choices are {listed}", f"可选：{listed}") if words else NO_TEXT
    shown = _quoted(wanted.shown)
    return Diagnostic("unknown-choice", Text(f"'{word}' is no choice of {shown.en}", f"“{word}”不是{shown.zh}的选项"), span, help)


def _yes_no_with_word(span: Span, word: str, wanted: Wanted) -> Diagnostic:
    shown = _quoted(wanted.shown)
    message = Text(f"{shown.en} is yes or no and cannot be compared with '{word}'", f"{shown.zh}是是非值，不能与“{word}”比较")
    if " " in wanted.shown:
        help = Text("compare it with true or false", "请与 true 或 false 比较")
    elif word.lower() in _NO:
        help = Text(f"write not {wanted.shown}", f"请写 not {wanted.shown}")
    elif word.lower() in _YES:
        help = Text(f"write {wanted.shown}", f"请写 {wanted.shown}")
    else:
        help = Text(f"write {wanted.shown} or not {wanted.shown}", f"请写 {wanted.shown} 或 not {wanted.shown}")
    return Diagnostic("yes-no-with-word", message, span, help)


def not_a_condition(span: Span, term: Term, kind: str, words: frozenset[str] | None) -> Diagnostic:
    """A number or word stands where something true or false must stand."""
    shown = describe(term)
    example = f"{shown} > 0" if kind == NUMBER else f"{shown} == {min(words or {'x'})}"
    help = NO_TEXT if isinstance(term, Literal) else Text(f"compare it with something, e.g. {example}", f"请将其与某值比较，例如 {example}")
    message = Text(f"'{shown}' is {_KINDS[kind].en}, and a condition belongs here", f"“{shown}”是{_KINDS[kind].zh}，此处需要条件")
    return Diagnostic("not-a-condition", message, span, help)


def wrong_kind(span: Span, term: Term, kind: str, holder: str, target: str) -> Diagnostic:
    """A value that does not fit the fact it goes into."""
    a, b, shown = _KINDS[kind], _KINDS[target], _quoted(holder)
    message = Text(f"'{describe(term)}' is {a.en}, and {shown.en} is {b.en}", f"“{describe(term)}”是{a.zh}，而{shown.zh}是{b.zh}")
    help = Text("put the text in quotes", "请给文本加引号") if target == TEXT else NO_TEXT
    return Diagnostic("wrong-kind", message, span, help)


def different_kinds(span: Span, left: Term, left_kind: str, right: Term, right_kind: str) -> Diagnostic:
    """Two values of different kinds meet."""
    a, b, one, two = _KINDS[left_kind], _KINDS[right_kind], describe(left), describe(right)
    message = Text(f"'{one}' is {a.en} and '{two}' is {b.en}", f"“{one}”是{a.zh}，“{two}”是{b.zh}，不能相比")
    return Diagnostic("different-kinds", message, span)


def no_order(span: Span, operator: str, kind: str) -> Diagnostic:
    """`<` between words or yes-no values."""
    what = Text("words have", "选项词没有") if kind == WORD else Text("yes-no values have", "是非值没有")
    message = Text(f"{what.en} no order, so '{operator}' means nothing here", f"{what.zh}大小之分，不能用“{operator}”")
    return Diagnostic("no-order", message, span, Text("use == or !=, or in [a, b]", "请用 ==、!= 或 in [a, b]"))


def never_equal(span: Span, left: Term, right: str) -> Diagnostic:
    """Two words that have no choice in common."""
    shown = _quoted(right)
    return Diagnostic(
        "never-equal",
        Text(f"'{describe(left)}' and {shown.en} have no choice in common", f"“{describe(left)}”与{shown.zh}没有共同的选项"),
        span,
    )


def text_or_list(name: Name, kind: str) -> Diagnostic:
    """A text or list where a single value must stand."""
    if kind == LIST:
        message = Text(f"'{name.dotted}' is a list and stands only after 'in'", f"“{name.dotted}”是列表，只能用在“in”之后")
        return Diagnostic("list-without-in", message, name.span, Text(f"write word in {name.dotted}", f"请写 某选项 in {name.dotted}"))
    message = Text(f"'{name.dotted}' is a text: it is printed, never compared", f"“{name.dotted}”是文本，只用于显示，不能比较")
    return Diagnostic("text-in-condition", message, name.span, Text(f"known({name.dotted}) is allowed", f"可以写 known({name.dotted})"))


def empty_list(span: Span) -> Diagnostic:
    """`[]`."""
    return Diagnostic("empty-list", Text("nothing is in an empty list", "空列表不含任何成员"), span)


def list_outside_in(span: Span) -> Diagnostic:
    """`[a, b]` on its own."""
    return Diagnostic(
        "list-outside-in",
        Text("a list in brackets stands only after 'in'", "方括号列表只能用在“in”之后"),
        span,
        Text("write x in [a, b]", "请写 x in [a, b]"),
    )


def not_a_list(span: Span, term: Term) -> Diagnostic:
    """`x in y` where y is no list."""
    shown = describe(term)
    message = Text(f"'{shown}' is not a list", f"“{shown}”不是列表")
    return Diagnostic("not-a-list", message, span, Text(f"write == {shown}, or in [a, b]", f"请写 == {shown}，或 in [a, b]"))


def no_member(span: Span, shown: str) -> Diagnostic:
    """A fact, range or calculation inside a list."""
    message = Text(f"'{shown}' cannot stand in a list, which holds words and numbers", f"“{shown}”不能放入列表；列表只含选项词和数字")
    return Diagnostic("not-a-list-member", message, span, Text("write x == a or x == b", "请写 x == a or x == b"))


def needs_number(span: Span, term: Term, kind: str, act: str) -> Diagnostic:
    """A word or yes-no value in arithmetic."""
    shown = describe(term)
    message = Text(f"'{shown}' is {_KINDS[kind].en}, and '{act}' needs numbers", f"“{shown}”是{_KINDS[kind].zh}，而“{act}”需要数字")
    return Diagnostic("needs-number", message, span)


def needs_count(span: Span, act: str, number: Measured) -> Diagnostic:
    """Rounding or a logarithm of something that depends on the unit it is written in."""
    unit = "%" if number.unit.percent else number.unit.text
    message = Text(
        f"'{act}' needs a plain number or a count, and '{number.text}' is in {unit}",
        f"“{act}”需要纯数字或计数，而“{number.text}”的单位是 {unit}",
    )
    return Diagnostic("needs-count", message, span, Text(f"divide by 1 {unit} first", f"请先除以 1 {unit}"))


def odd_root(span: Span, number: Measured) -> Diagnostic:
    """The square root of a unit that is no square."""
    unit = number.unit.text
    message = Text(f"'{number.text}' is in {unit}, which has no square root", f"“{number.text}”的单位 {unit} 不能开平方")
    return Diagnostic("odd-root", message, span)


def bad_exponent(span: Span, base: Measured) -> Diagnostic:
    """An exponent with a unit, or one that is not whole beside a unit."""
    unit = base.unit.text
    if base.unit.dims:
        message = Text(
            f"'{base.text}' is in {unit}, so the exponent must be a whole number", f"“{base.text}”的单位是 {unit}，指数必须是整数"
        )
    else:
        message = Text("an exponent is a plain number", "指数必须是纯数字")
    return Diagnostic("bad-exponent", message, span)


def missing_of(span: Span, term: Term) -> Diagnostic:
    """`missing` of anything but a fact."""
    shown = describe(term)
    message = Text(f"'missing' asks about a fact, and '{shown}' is none", f"“missing”只能用于事实，而“{shown}”不是")
    return Diagnostic("missing-of-no-fact", message, span, Text(f"write not known({shown})", f"请写 not known({shown})"))


def unknown_unit(number: Number, problem: UnitError, wanted: Wanted | None, scope: Scope) -> Diagnostic:
    """A word after a number that is no unit."""
    unit = number.unit or ""
    span = part_span(number.unit_span or number.span, unit, problem.offset, len(problem.bad))
    help = problem.help
    tail = unit.rsplit("/", 1)[-1]
    if wanted is not None and wanted.kind in (WORD, LIST):
        help = Text("a word that begins with a digit is quoted, as in '7b'", "以数字开头的选项词要加引号，如 '7b'")
    elif "/" in unit and isinstance(resolve(Name(span, (tail,)), scope), Resolved):
        ends = (number.low,) if number.low == number.high else (number.low, number.high)
        written = f"{number_text(ends, unit[: -len(tail) - 1])} / {tail}"
        help = Text(f"a division needs blanks around it: {written}", f"除号两侧需要空格：{written}")
    return Diagnostic("unknown-unit", problem.message, span, help)


@dataclass(frozen=True, slots=True)
class Stray:
    """Words or numbers that stand in a chain of conditions, as in `x == ib or hpn`."""

    words: tuple[Syntax, ...]
    diagnostic: Diagnostic


def stray_words(logic: Logic, scope: Scope) -> Stray | None:
    """The bare words after a comparison that were meant as further choices, with the list to write instead."""
    head = next((place for place, part in enumerate(logic.operands) if _choices(part) is not None), len(logic.operands))
    words = tuple(takewhile(lambda part: _is_stray(part, scope), logic.operands[head + 1 :]))
    if not words:
        return None
    subject, chosen, negated = _choices(logic.operands[head]) or ("", [], False)
    members = ", ".join([*chosen, *(_written(word) for word in words)])
    better = f"{subject} {'not in' if negated else 'in'} [{members}]"
    shown = _written(words[0])
    message = Text(f"'{shown}' is not a condition by itself", f"“{shown}”本身不是条件")
    return Stray(words, Diagnostic("word-as-condition", message, words[0].span, Text(f"write {better}", f"请写 {better}")))


def _is_stray(part: Syntax, scope: Scope) -> bool:
    if isinstance(part, Name):
        return resolve(part, scope) is None and not is_family(part, scope)
    return isinstance(part, Word | Number)


def _choices(part: Syntax) -> tuple[str, list[str], bool] | None:
    """Subject, choices and negation of `x == a`, `x != a`, `x in [a, b]`, `x not in [a, b]`."""
    match part:
        case Comparison(operators=("==" | "!=" as operator,), operands=(Name() as subject, Name() | Word() | Number() as choice)):
            return subject.dotted, [_written(choice)], operator == "!="
        case Membership(member=Name() as subject, group=ListOf(members=members)):
            return subject.dotted, [_written(member) for member in members], False
        case Not(operand=Membership() as inner):
            found = _choices(inner)
            return None if found is None else (found[0], found[1], True)
        case _:
            return None


def _written(syntax: Syntax) -> str:
    match syntax:
        case Name():
            return syntax.dotted
        case Word(text=text):
            return word_text(text)
        case Number(low=low, high=high, unit=unit):
            return number_text((low,) if low == high else (low, high), unit)
        case _:
            return "…"
