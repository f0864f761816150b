"""What a plain YAML scalar means, and the spellings that YAML readers disagree about.

Plain scalars resolve as in the YAML 1.2 core schema, except that every spelling which YAML 1.1 and 1.2 (or
YAML and a person) read differently is refused, with the line as it should be.
Source: YAML 1.2.2, section 10.3.2; YAML 1.1 type repository (bool, int, float, timestamp).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from expert.errors import Text
from expert.records import dataclass
from expert.yamlnodes import Document, Mapping, Plain, Scalar

LARGEST_INTEGER = 2**53


@dataclass(frozen=True, slots=True)
class Trap:
    """A refused spelling: `instead` is what was probably meant ("" if only text can be meant)."""

    code: str
    message: Text
    instead: str = ""


_WORDS: dict[str, Plain] = {"": None, "~": None, "null": None, "Null": None, "NULL": None}
_WORDS |= {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_BOOLEAN_WORDS = {"yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false"}

_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(?:(?:0|[1-9][0-9]*)\.[0-9]*|\.[0-9]+)(?:[eE][-+][0-9]+)?")
_NUMBERLIKE = re.compile(r"[-+.0-9]")


def resolve(raw: str) -> Plain | Trap:
    """The meaning of a plain scalar, or the trap it steps into."""
    if raw in _WORDS:
        return _WORDS[raw]
    meant = _BOOLEAN_WORDS.get(raw.lower()) if len(raw) <= 3 else None
    if meant:
        return Trap("boolean-word", Text(f"'{raw}' is a yes-no word to some YAML readers and text to others",
                                         f"'{raw}' 在一些 YAML 读取器中是布尔值，在另一些中是文本"), meant)  # fmt: skip
    if not _NUMBERLIKE.match(raw):
        return raw
    if _INTEGER.fullmatch(raw):
        return _integer(raw)
    if _FLOAT.fullmatch(raw):
        return _float(raw)
    for pattern, trap in _TRAPS:
        found = pattern.fullmatch(raw)
        if found:
            return trap(found)
    return raw


def _integer(raw: str) -> int | Trap:
    # The length is looked at first: Python refuses to convert more than 4,300 digits.
    if len(raw) <= 18 and abs(int(raw)) <= LARGEST_INTEGER:
        return int(raw)
    return Trap("number-too-big", Text("this whole number is larger than 2^53 and would lose digits",
                                       "该整数大于 2^53，会丢失精度"))  # fmt: skip


def _float(raw: str) -> float | Trap:
    number = float(raw)
    mantissa = re.split("[eE]", raw)[0]
    if math.isfinite(number) and (number != 0 or not re.search("[1-9]", mantissa)):
        return number
    return _not_finite(raw)


def _not_finite(raw: str) -> Trap:
    return Trap("number-not-finite", Text(f"'{_short(raw)}' is not a number that can be computed with",
                                          f"'{_short(raw)}' 不是可以计算的数"))  # fmt: skip


def _short(raw: str) -> str:
    return raw if len(raw) <= 40 else raw[:39] + "…"


def _exponent(found: re.Match[str]) -> Trap:
    raw = found.group()
    number = float(raw)
    if isinstance(_float(raw), Trap):
        return _not_finite(raw)
    whole = number == int(number) and abs(number) < 1e15
    sign, digits = (found["sign"] or "+"), found["digits"]
    mantissa = found["mantissa"] if "." in found["mantissa"] else found["mantissa"] + ".0"
    minus = "-" if raw[0] == "-" else ""
    instead = str(int(number)) if whole else f"{minus}{mantissa}e{sign}{digits}"
    return Trap("bare-exponent", Text(f"'{_short(raw)}' is text to some YAML readers and a number to others",
                                      f"'{_short(raw)}' 在一些 YAML 读取器中是文本，在另一些中是数"), instead)  # fmt: skip


def _clock(found: re.Match[str]) -> Trap:
    raw = found.group()
    ratio = re.fullmatch(r"([0-9]+):1", raw)
    return Trap("clock-number", Text(f"'{_short(raw)}' is a number in base 60 to some YAML readers",
                                     f"'{_short(raw)}' 在一些 YAML 读取器中是六十进制数"), ratio[1] if ratio else "")  # fmt: skip


def _if_number(raw: str) -> str:
    return raw if isinstance(resolve(raw), (int, float)) else ""


def _leading_zero(found: re.Match[str]) -> Trap:
    raw = found.group()
    sign, digits = found["sign"], found["digits"].lstrip("0")
    instead = _if_number(sign + (digits if digits[:1].isdigit() else "0" + digits))
    return Trap("leading-zero", Text(f"'{_short(raw)}' begins with a zero, which some YAML readers take for base 8",
                                     f"'{_short(raw)}' 以零开头，一些 YAML 读取器会当作八进制"), instead)  # fmt: skip


def _based(found: re.Match[str]) -> Trap:
    raw = found.group()
    base = {"x": 16, "o": 8, "b": 2}[found["base"].lower()]
    number = int(found["digits"].replace("_", ""), base) if len(raw) <= 16 else None
    instead = "" if number is None else f"{found['sign'].replace('+', '')}{number}"
    return Trap("based-number", Text(f"'{_short(raw)}' is not a decimal number", f"'{_short(raw)}' 不是十进制数"), instead)


def _underscored(found: re.Match[str]) -> Trap:
    raw = found.group()
    instead = _if_number(raw.replace("_", ""))
    return Trap("underscored-number", Text(f"'{_short(raw)}' is a number to some YAML readers and text to others",
                                           f"'{_short(raw)}' 在一些 YAML 读取器中是数，在另一些中是文本"), instead)  # fmt: skip


def _date(found: re.Match[str]) -> Trap:
    raw = found.group()
    return Trap("bare-date", Text(f"the date '{_short(raw)}' needs quotes", f"日期 '{_short(raw)}' 需要加引号"))


_TRAPS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Trap]], ...] = (
    (re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"), lambda found: _not_finite(found.group())),
    (re.compile(r"[-+]?(?P<mantissa>(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)[eE](?P<sign>[-+]?)(?P<digits>[0-9]+)"), _exponent),
    (re.compile(r"(?P<sign>[-+]?)(?P<digits>0[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?)"), _leading_zero),
    (re.compile(r"(?P<sign>[-+]?)0(?P<base>[xX])(?P<digits>[0-9a-fA-F_]*[0-9a-fA-F])"), _based),
    (re.compile(r"(?P<sign>[-+]?)0(?P<base>[oO])(?P<digits>[0-7_]*[0-7])"), _based),
    (re.compile(r"(?P<sign>[-+]?)0(?P<base>[bB])(?P<digits>[01_]*[01])"), _based),
    (re.compile(r"[-+]?[0-9]+(?::[0-9]+)+(?:\.[0-9]*)?"), _clock),
    (re.compile(r"[-+]?[0-9](?=[0-9.]*_)[0-9_]*(?:\.[0-9_]*)?"), _underscored),
    (re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt ].*)?", re.DOTALL), _date),
)


def quoted(text: str) -> str:
    """A one-line text as a YAML quoted scalar, in single quotes unless double ones need no escape."""
    if "'" in text and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return "'" + text.replace("'", "''") + "'"


def trap_help(document: Document, scalar: Scalar, trap: Trap) -> Text:
    """The line as it should be: with what was probably meant, and with the text in quotes."""
    as_text = document.with_replaced(scalar.span, quoted(_short(scalar.raw)))
    if not trap.instead:
        return Text(f"as text, write\n{as_text}", f"若是文本，请写\n{as_text}")
    meant = document.with_replaced(scalar.span, trap.instead)
    return Text(f"write\n{meant}\nor, if the text is meant,\n{as_text}", f"请写\n{meant}\n若是文本，则写\n{as_text}")


def flow_comma_trap(mapping: Mapping) -> Scalar | None:
    """The key that is the tail of prose cut by a comma, as "so B" in `{en: A, so B}`; None when there is none.

    Such a key has no colon: its empty value stands right where the key ends.
    """
    for place, (key, value) in enumerate(mapping.entries):
        if place and _is_tail(key, value):
            return key
    return None


def _is_tail(key: Scalar, value: object) -> bool:
    if not isinstance(value, Scalar) or value.style != "plain" or value.raw or key.style != "plain":
        return False
    return key.source is value.source and key.end == value.start and not key.source.text.startswith(":", key.end)


def flow_comma_fix(document: Document, mapping: Mapping) -> str:
    """The line as it should be for `flow_comma_trap`: the whole text in quotes; "" when it is not on one line."""
    for place, (key, value) in enumerate(mapping.entries):
        if place == 0 or not _is_tail(key, value):
            continue
        first, last = mapping.entries[place - 1][1], key
        for later, empty in mapping.entries[place:]:
            if not _is_tail(later, empty):
                break
            last = later
        if not isinstance(first, Scalar) or first.style != "plain" or first.span.line != last.span.line:
            return ""
        span = document.source.span(first.start, last.end)
        return document.with_replaced(span, quoted(document.text[first.start : last.end]))
    return ""


_QUOTED = r"""(?:'(?:[^']|'')*'|"(?:[^"\\]|\\.)*")"""
_QUOTED_START = re.compile(rf"""(?P<before>[ ]*(?:-[ ]+)*(?:[^\s'"\[{{#][^'"\[{{#]*?:[ ]+)?)(?P<whole>{_QUOTED}[ ]*[^\s#].*)""")
_COMMENT = re.compile(r"\s+#.*$")


def quoted_condition_trap(line: str) -> str | None:
    """The line as it should be when its value begins with a quote that closes too early, else None.

    `- 'pretrain' == workload.task` becomes `- "'pretrain' == workload.task"`; an apostrophe, as in `'it's'`, is doubled.
    """
    found = _QUOTED_START.fullmatch(line)
    if not found:
        return None
    whole = _COMMENT.sub("", found["whole"]).rstrip()
    if whole.endswith(":") or re.match(_QUOTED + "[ ]*(:|$)", whole):
        return None
    if whole[0] == whole[-1] == "'" and whole[1:-1].count("'") % 2 == 1:
        return found["before"].lstrip() + "'" + whole[1:-1].replace("'", "''") + "'"
    return found["before"].lstrip() + quoted(whole)
