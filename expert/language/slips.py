"""What people write by mistake in expressions, and what to write instead. The parser meets them, this module words them."""

from __future__ import annotations

from expert.errors import NO_TEXT, ExpertError, Text
from expert.language.lexer import END, KEYWORD, NAME, NUMBER, OPERATOR, WORD, Token, Written
from expert.language.near import nearest
from expert.language.nodes import FUNCTIONS, Membership

_FOREIGN_VALUES = {
    "None": ("known(x) or missing(x)", "known(x) 或 missing(x)"),
    "null": ("known(x) or missing(x)", "known(x) 或 missing(x)"),
    "nil": ("known(x) or missing(x)", "known(x) 或 missing(x)"),
    "True": ("true", "true"),
    "TRUE": ("true", "true"),
    "False": ("false", "false"),
    "FALSE": ("false", "false"),
    "AND": ("and", "and"),
    "OR": ("or", "or"),
    "NOT": ("not", "not"),
    "IN": ("in", "in"),
}

_FOREIGN_OPERATORS = {
    "is": "== (or, for 'is not', !=)",
    "equals": "==",
    "eq": "==",
    "contains": "word in list",
    "AND": "and",
    "OR": "or",
    "NOT": "not",
    "IN": "in",
    "mod": "no remainder: a - b * floor(a / b)",
    "then": "x if condition else y",
    "between": "low <= x <= high",
}

_FOREIGN_FUNCTIONS = {
    "sum": "a + b",
    "log": "log2(x)",
    "ln": "log2(x)",
    "pow": "x ** 2",
    "exists": "known(x)",
    "isnull": "missing(x)",
    "defined": "known(x)",
    "unknown": "missing(x), or not known(x)",
    "len": "a fact that holds the number",
    "int": "floor(x)",
    "trunc": "floor(x)",
    "float": "x",
    "str": "x",
    "abs": "max(x, -x)",
    "default": "coalesce(x, y)",
    "any": "a or b",
    "all": "a and b",
    "if": "x if condition else y",
}


def _write(what: str) -> Text:
    return Text(f"write {what}", f"请写 {what}")


def closing_brace(written: Written, opening: int) -> int:
    """Where the brace that opens at `opening` closes; braces inside quotes do not count.

    Errors: ExpertError "brace-not-closed".
    """
    quote = ""
    for at in range(opening + 1, len(written.text)):
        char = written.text[at]
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char == "}":
            return at
        elif char == "{":
            break
    raise written.mistake(
        "brace-not-closed",
        opening,
        opening + 1,
        Text("this brace opens a name and does not close", "此花括号没有闭合"),
        Text("close it with }; a brace as such is written {{", "请用 } 闭合；花括号本身写作 {{"),
    )


def stray_brace(written: Written, at: int) -> ExpertError:
    """A `}` that closes nothing."""
    return written.mistake(
        "stray-brace",
        at,
        at + 1,
        Text("this brace closes nothing", "此花括号没有对应的 {"),
        Text("a brace as such is written }}", "花括号本身写作 }}"),
    )


def too_deep(written: Written, start: int, end: int, limit: int) -> ExpertError:
    """Nested beyond the limit."""
    return written.mistake(
        "expression-too-deep",
        start,
        max(end, start + 1),
        Text(f"an expression may be nested {limit} deep", f"表达式嵌套不得超过 {limit} 层"),
        Text("conclude a part of it into a fact of its own", "请将其中一部分先得出为单独的事实"),
    )


def missing_operand(written: Written, before: Token | None, token: Token) -> ExpertError:
    """An operator, comma or opening bracket without a value where one must stand."""
    if before is None and token.kind == END:
        return written.mistake("empty-expression", 0, len(written.text), Text("an expression is missing here", "此处缺少表达式"))
    if before is None or (token.kind != END and before.text in ("(", "[")):
        message = Text(f"something is missing before '{token.text}'", f"“{token.text}”之前缺少内容")
        return written.mistake("missing-operand", token.start, token.end, message)
    message = Text(f"something is missing after '{before.text}'", f"“{before.text}”之后缺少内容")
    return written.mistake("missing-operand", before.start, before.end, message)


def range_order(written: Written, start: int, end: int) -> ExpertError:
    """A range that runs downward."""
    return written.mistake(
        "range-order",
        start,
        end,
        Text("a range goes from its low end to its high end", "区间应从小到大书写"),
        Text("write 5..15, or with a typical value 5..8..15", "请写 5..15，或带典型值 5..8..15"),
    )


def refuse_foreign(written: Written, before: Token | None, token: Token) -> None:
    """Refuse a value of another language (None, True …) where a value must stand."""
    instead = _FOREIGN_VALUES.get(token.text)
    if instead is None:
        return
    raise written.mistake(
        "foreign-word",
        token.start,
        token.end,
        Text(f"'{token.text}' is not a word of this language", f"“{token.text}”不是本语言的词"),
        Text(f"write {instead[0]}", f"请写 {instead[1]}"),
    )


def refuse_tight_minus(written: Written, left_start: int, sign: Token) -> None:
    """Refuse `a -b`, `a- b` and `5-3`: hyphens belong to names, so minus needs blanks on both sides."""
    text = written.text
    if text[sign.start - 1].isspace() and (sign.end == len(text) or text[sign.end].isspace()):
        return
    raise written.mistake(
        "minus-needs-blanks",
        sign.start,
        sign.end,
        Text("minus needs a blank on both sides", "减号两侧都需要空格"),
        Text("write a - b; without blanks, a hyphen is part of a name", "请写 a - b；没有空格的连字符是名称的一部分"),
    )


def empty_parentheses(written: Written, start: int, end: int) -> ExpertError:
    """`()`."""
    return written.mistake("empty-parentheses", start, end, Text("there is nothing between these parentheses", "括号内没有内容"))


def not_closed(written: Written, opening: Token, closer: str) -> ExpertError:
    """A bracket without its partner."""
    return written.mistake(
        "unbalanced-parenthesis",
        opening.start,
        opening.end,
        Text(f"this '{opening.text}' is not closed", f"“{opening.text}”没有闭合"),
        Text(f"close it with {closer}", f"请用 {closer} 闭合"),
    )


def unknown_function(written: Written, name: Token) -> ExpertError:
    """A call of something that is no function."""
    close = nearest(name.text, FUNCTIONS)
    if name.text in _FOREIGN_FUNCTIONS:
        help = _write(_FOREIGN_FUNCTIONS[name.text])
    elif close is not None:
        help = Text(f"did you mean '{close}'?", f"是否应为“{close}”？")
    else:
        help = Text(f"the functions are {', '.join(FUNCTIONS)}", f"可用函数：{'、'.join(FUNCTIONS)}")
    message = Text(f"there is no function '{name.text}'", f"没有函数“{name.text}”")
    return written.mistake("unknown-function", name.start, name.end, message, help)


def wrong_count(written: Written, name: Token, end: int, given: int) -> ExpertError:
    """A function with too few or too many arguments."""
    least, most = FUNCTIONS[name.text]
    number = f"{least}" if least == most else f"{least} or more" if most is None else f"{least} to {most}"
    zh = f"{least}" if least == most else f"至少 {least}" if most is None else f"{least} 至 {most}"
    plural = "" if number == "1" else "s"
    message = Text(f"'{name.text}' takes {number} argument{plural}, not {given}", f"“{name.text}”需要 {zh} 个参数，此处有 {given} 个")
    return written.mistake("wrong-number-of-arguments", name.start, end, message)


def not_as_operand(written: Written, word: Token) -> ExpertError:
    """`a == not b`."""
    return written.mistake(
        "not-as-operand",
        word.start,
        word.end,
        Text("'not' cannot stand inside a comparison or a calculation", "“not”不能直接出现在比较或运算之中"),
        Text("put it into parentheses: (not x)", "请加括号：(not x)"),
    )


def not_before_in(written: Written, word: Token, start: int, end: int, node: Membership) -> ExpertError:
    """`not x in y`."""
    stretch = written.text[start:end]
    place = stretch.find(" in ")
    better = f"{stretch[:place]} not{stretch[place:]}" if stretch.count(" in ") == 1 else "x not in [a, b]"
    message = Text("'not' before 'in' can be read in two ways", "“in”之前的“not”有歧义")
    return written.mistake("not-before-in", word.start, word.end, message, _write(better))


def in_after_comparison(written: Written, token: Token) -> ExpertError:
    """`a < b in c`, `a in b == c`."""
    return written.mistake(
        "chained-in",
        token.start,
        token.end,
        Text("'in' does not chain with another comparison", "“in”不能与其他比较连写"),
        Text("join the two with 'and'", "请用 and 连接两个条件"),
    )


def not_without_in(written: Written, token: Token) -> ExpertError:
    """`a not b`."""
    return written.mistake(
        "not-after-value",
        token.start,
        token.end,
        Text("after a value, 'not' goes only with 'in'", "值之后的“not”只能与“in”连用"),
        Text(
            "write x not in [a, b], x != y, or 'and not' between two conditions", "请写 x not in [a, b]、x != y，或在两个条件之间写 and not"
        ),
    )


def no_group(written: Written, start: int, end: int) -> ExpertError:
    """`x in 5`, `x in (a)`."""
    return written.mistake(
        "in-without-list",
        start,
        end,
        Text("'in' needs a list in brackets or a list fact", "“in”之后需要方括号列表或列表类事实"),
        Text("write x in [a, b]", "请写 x in [a, b]"),
    )


def mixed_logic(written: Written, word: Token, operands: list[str], words: list[str]) -> ExpertError:
    """`a and b or c`: shows the two possible readings."""
    first, second = (_reading(operands, words, tight) for tight in ("and", "or"))
    return written.mistake(
        "mixed-and-or",
        word.start,
        word.end,
        Text("'and' and 'or' are mixed without parentheses", "and 与 or 混用时必须加括号"),
        Text(f"write one of\n{first}\n{second}", f"请写成其中之一\n{first}\n{second}"),
    )


def _reading(operands: list[str], words: list[str], tight: str) -> str:
    groups = [[operands[0]]]
    for word, operand in zip(words, operands[1:], strict=True):
        if word == tight:
            groups[-1].append(operand)
        else:
            groups.append([operand])
    joined = [f" {tight} ".join(group) if len(group) == 1 else f"({f' {tight} '.join(group)})" for group in groups]
    return (" or " if tight == "and" else " and ").join(joined)


def missing_else(written: Written, word: Token) -> ExpertError:
    """`x if c`."""
    return written.mistake(
        "missing-else",
        word.start,
        word.end,
        Text("this 'if' has no 'else'", "此“if”缺少“else”"),
        Text("write x if condition else y", "请写 x if 条件 else y"),
    )


def unexpected(written: Written, before: Token | None, token: Token, opening: Token | None = None) -> ExpertError:
    """Something stands where an operator, a closing bracket or the end should be."""
    if token.kind == OPERATOR and token.text in ")]":
        return _stray_bracket(written, token, opening)
    if token.kind == OPERATOR and token.text == ",":
        message = Text("a comma stands only between members of a list or arguments", "逗号只能用于列表成员或参数之间")
        return written.mistake("stray-comma", token.start, token.end, message, Text("a list is written [a, b]", "列表写作 [a, b]"))
    return _missing_operator(written, before, token)


def _stray_bracket(written: Written, token: Token, opening: Token | None) -> ExpertError:
    if opening is not None:
        closer = {"(": ")", "[": "]"}[opening.text[-1:]]
        help = _write(closer)
        message = Text(f"'{token.text}' cannot close '{opening.text}'", f"“{token.text}”不能闭合“{opening.text}”")
        return written.mistake("unbalanced-parenthesis", token.start, token.end, message, help)
    message = Text(f"this '{token.text}' closes nothing", f"“{token.text}”没有对应的开括号")
    return written.mistake("unbalanced-parenthesis", token.start, token.end, message)


def _missing_operator(written: Written, before: Token | None, token: Token) -> ExpertError:
    if token.kind == NAME and token.text in _FOREIGN_OPERATORS:
        message = Text(f"'{token.text}' is not an operator of this language", f"“{token.text}”不是本语言的运算符")
        return written.mistake("foreign-word", token.start, token.end, message, _write(_FOREIGN_OPERATORS[token.text]))
    if token.kind == KEYWORD and token.text == "else":
        return written.mistake("else-without-if", token.start, token.end, Text("this 'else' has no 'if'", "此“else”缺少“if”"))
    between = f" between '{before.text}' and '{token.text}'" if before is not None else ""
    zh = f"“{before.text}”与“{token.text}”之间" if before is not None else "此处"
    help = NO_TEXT
    if before is not None and before.kind == NUMBER and token.kind == NUMBER and before.text.endswith("%"):
        help = Text("'%' means percent; there is no remainder operator", "“%”表示百分比；没有取余运算")
    elif token.kind in (NAME, WORD) and before is not None and before.kind in (NAME, WORD):
        help = Text("words that belong together are one id with hyphens, or quoted", "同一个词中的各部分用连字符相连，或加引号")
    return written.mistake("missing-operator", token.start, token.end, Text(f"an operator is missing{between}", f"{zh}缺少运算符"), help)
