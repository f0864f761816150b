"""Numbers with units: read from a plan or a pack, written back, and printed for people."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from expert.errors import Text
from expert.records import dataclass
from expert.units import PHYSICAL, ReadError, Unit, UnitError, UnitTable, convert

_TEXT_LIMIT = 200
_DIGIT_LIMIT = 40

_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_RANGE = re.compile(r"\s*\.\.\s*")
_BLANKS = re.compile(r"\s*")
_WORD = re.compile(r"[^\s/]+")
_GROUPING = re.compile(r"(?<=[0-9])[,_](?=[0-9]{3}(?![0-9]))")
_DASH = re.compile(r"(?<=[0-9])\s*[-–—~～]\s*(?=[0-9])")
_UNIT_INSIDE = re.compile(r"(?<=[0-9])\s*([^\s0-9.][^\s.]*)\s*\.\.\s*([0-9.]+)\s*\1\s*$")


class QuantityError(ReadError):
    """Text that is no number, range or number with a unit."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number or a range, as written. A plain number has `low == high`; `unit` is None where none was written."""

    low: float
    typical: float | None
    high: float
    unit: Unit | None


def parse_quantity(text: str, table: UnitTable) -> Quantity:
    """The quantity that a text states: `400 Gbps`, `5..15 %`, `80000..95000..120000 CNY/month`, `32`.

    Units:  the numbers are in the unit as written, which holds for all of them; `Unit.to_base` converts.
    Errors: QuantityError.
    """
    try:
        return _read(text, table)
    except ReadError as error:
        suggestion = _corrected(text, error, table)
        raise QuantityError(error.message, text, error.bad, error.offset, suggestion) from None


def write_quantity(quantity: Quantity) -> str:
    """The text that `parse_quantity` reads back as the same quantity, every bit of it."""
    ends = [quantity.low, quantity.high] if quantity.typical is None else [quantity.low, quantity.typical, quantity.high]
    if quantity.typical is None and quantity.low == quantity.high:
        ends = ends[:1]
    numbers = "..".join(str(int(x)) if x.is_integer() and abs(x) < 1e15 else repr(x) for x in ends)
    unit = "" if quantity.unit is None else quantity.unit.text.replace("percent", "%")
    return f"{numbers} {unit}" if unit else numbers


def _read(text: str, table: UnitTable) -> Quantity:
    if len(text) > _TEXT_LIMIT:
        raise QuantityError(Text("a quantity is never that long", "数量过长"), text, text[_TEXT_LIMIT:], _TEXT_LIMIT)
    numbers, end = _read_numbers(text)
    unit = _read_unit(text, end, table)
    low, high = numbers[0], numbers[-1]
    for x in numbers:
        if unit is not None and not math.isfinite(unit.to_base(x)):
            raise QuantityError(Text("the number is too large", "数值过大"), text, text.strip(), _blanks(text, 0))
    return Quantity(low, numbers[1] if len(numbers) == 3 else None, high, unit)


def _read_numbers(text: str) -> tuple[list[float], int]:
    """One to three numbers in rising order, and the offset after them."""
    numbers: list[float] = []
    start = _blanks(text, 0)
    while True:
        x, end = _read_number(text, start)
        if numbers and x < numbers[-1]:
            message = Text("a range goes from the lower to the higher number", "范围应从小到大书写")
            raise QuantityError(message, text, text[start:end], start)
        numbers.append(x)
        dots = _RANGE.match(text, end)
        if dots is None:
            return numbers, end
        start = dots.end()
        if len(numbers) == 3:
            message = Text("a range has two numbers, or three: low, typical, high", "范围只能有两个数，或三个：低、典型、高")
            raise QuantityError(message, text, text[start:], start)


def _read_number(text: str, start: int) -> tuple[float, int]:
    match = _NUMBER.match(text, start)
    if match is None:
        raise _no_number(text, start)
    digits = match[0]
    if len(digits) > _DIGIT_LIMIT:
        raise QuantityError(Text("a number has at most 40 characters", "数字最多 40 个字符"), text, digits, start)
    x = float(digits)
    if math.isinf(x):
        raise QuantityError(Text("the number is too large", "数值过大"), text, digits, start)
    if x == 0 and any(digit in "123456789" for digit in re.split("[eE]", digits)[0]):
        raise QuantityError(Text("the number is too close to zero", "数值过小"), text, digits, start)
    after = text[match.end() : match.end() + 2]
    if after[:1] in (",", "_") or (after[:1] == "." and after != ".."):
        raise _no_number(text, start)
    return x, match.end()


def _no_number(text: str, start: int) -> QuantityError:
    word = _WORD.match(text, start)
    if word is None:
        return QuantityError(Text("a number is missing here", "此处缺少数字"), text, "", start)
    return QuantityError(Text(f"'{word[0]}' is not a number", f"“{word[0]}”不是数字"), text, word[0], start)


def _read_unit(text: str, end: int, table: UnitTable) -> Unit | None:
    start = _blanks(text, end)
    if start == len(text):
        return None
    rest = text[start:].rstrip()
    if ".." in rest:
        message = Text("the unit stands once, after the range", "单位只写一次，放在范围之后")
        raise QuantityError(message, text, rest, start)
    try:
        return table.parse(rest)
    except UnitError as error:
        whole = None if error.suggestion is None else f"{text[:end].strip()} {error.suggestion}"
        raise QuantityError(error.message, text, error.bad, start + error.offset, whole) from None


def _blanks(text: str, start: int) -> int:
    match = _BLANKS.match(text, start)
    return start if match is None else match.end()


def _corrected(text: str, error: ReadError, table: UnitTable) -> str | None:
    """The text with grouping taken out, a dash made a range, and a unit inside a range dropped, if that reads."""
    if len(text) > _TEXT_LIMIT:
        return None
    candidate = _UNIT_INSIDE.sub(r"..\2 \1", _DASH.sub("..", _GROUPING.sub("", text.strip())))
    if candidate == text.strip():
        return error.suggestion
    try:
        return write_quantity(_read(candidate, table))
    except ReadError as further:
        return further.suggestion


# ---------------------------------------------------------------------------------------------- printing

# A value under 0.01 or over 9999 moves to the greatest member of its family in which it is 1 or more.
_FAMILIES: tuple[tuple[str, ...], ...] = (
    ("B", "KB", "MB", "GB", "TB", "PB", "EB"),
    ("B", "KiB", "MiB", "GiB", "TiB", "PiB"),
    ("bit", "Kbit", "Mbit", "Gbit", "Tbit", "Pbit", "Ebit"),
    ("bps", "Kbps", "Mbps", "Gbps", "Tbps", "Pbps", "Ebps"),
    ("FLOP", "KFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP", "ZFLOP", "YFLOP"),
    ("FLOPS", "KFLOPS", "MFLOPS", "GFLOPS", "TFLOPS", "PFLOPS", "EFLOPS", "ZFLOPS", "YFLOPS"),
    ("ns", "us", "ms", "s", "min", "h", "d", "year"),
    ("Hz", "kHz", "MHz", "GHz"),
    ("W", "kW", "MW"),
    ("Wh", "kWh", "MWh"),
    ("mm", "m", "km"),
)
_FAMILY: dict[str, tuple[str, ...]] = {name: family for family in reversed(_FAMILIES) for name in family}
_FAMILY |= {"week": _FAMILY["d"], "month": _FAMILY["d"], "cm": _FAMILY["m"]}
_LEAST, _MOST = 0.01, 9999.0
_LEAST_TIME, _TIMES = 0.5, frozenset({"min", "h", "d", "week", "month", "year"})
"""A twentieth of a day is better called an hour; a hundredth of a GB/s is still read with ease."""

# Symbols that are printed as words: English (one|many), Chinese after a number, Chinese after a slash.
_WORDS: dict[str, tuple[str, str, str]] = {
    "percent": ("%", "%", "%"),
    "us": ("µs", "µs", "µs"),
    "min": ("min", "分钟", "分钟"),
    "h": ("h", "小时", "小时"),
    "d": ("day|days", "天", "天"),
    "week": ("week|weeks", "周", "周"),
    "month": ("month|months", "个月", "月"),
    "year": ("year|years", "年", "年"),
}


def format_number(x: float, digits: int = 3, lang: str = "en") -> str:
    """`x` for people.

    Whole numbers below 1e15 are exact, others have `digits` significant digits without trailing zeros;
    thousands are set apart from 10,000 on; exponents only from 1e15 on and below 1e-4. Both languages
    write digits alike; `lang` words what is not finite.
    """
    if not math.isfinite(x):
        return _not_finite(x).of(lang)
    if x == 0:
        return "0"
    if x == int(x) and abs(x) < 1e15:
        return _grouped(int(x))
    mantissa, exponent = f"{x:.{digits - 1}e}".split("e")
    power = int(exponent)
    rounded = float(f"{mantissa}e{power}")
    if power < -4 or power >= 15:
        return f"{_trimmed(mantissa)}e{power}"
    if power >= digits - 1:
        return _grouped(int(rounded))
    return _trimmed(f"{rounded:.{digits - 1 - power}f}")


def _not_finite(x: float) -> Text:
    if math.isnan(x):
        return Text("unknown", "未知")
    return Text("unbounded", "无上限") if x > 0 else Text("unbounded below", "无下限")


def _grouped(whole: int) -> str:
    return f"{whole:,}" if abs(whole) >= 10_000 else str(whole)


def _trimmed(number: str) -> str:
    return number.rstrip("0").rstrip(".") if "." in number else number


def format_quantity(
    low: float,
    typical: float | None,
    high: float,
    unit: Unit | None,
    lang: str = "en",
    names: Mapping[str, Text] | None = None,
    digits: int = 3,
) -> str:
    """A number or range with its unit, for people: "1.92–2.4 GB/s", "5 %", "500 µs", "20 TB".

    The numerator moves within its family (bytes, time, ...) only where the value in its own unit would be
    under 0.01 (0.5 for minutes and longer) or over 9999; of a range the end farther from zero decides. Counts, money and percent stay.
    `names` gives the words for counting units ("GPU", or "box|boxes" where the plural is not an s).
    """
    values = [low, high] if typical is None else [low, typical, high]
    head, *below = unit.text.split("/") if unit is not None else [""]
    values, head = _rescaled(values, head)
    shown = [format_number(x, digits, lang) for x in values]
    first, last = shown[0], shown[-1]
    dash = " – " if values[0] < 0 else "–"
    span = first if first == last else f"{first}{dash}{last}"
    label = _label(head, below, "1" if span == "1" else span, lang, names or {})
    text = f"{span} {label}" if label else span
    if typical is None or shown[1] == span:
        return text
    return text + Text(f", typically {shown[1]}", f"，典型值 {shown[1]}").of(lang)


def _rescaled(values: Sequence[float], head: str) -> tuple[list[float], str]:
    family = _FAMILY.get(head)
    peak = max(abs(x) for x in values)
    if family is None or not math.isfinite(peak) or peak == 0 or (_LEAST_TIME if head in _TIMES else _LEAST) <= peak <= _MOST:
        return list(values), head
    source = PHYSICAL[head]
    fits = [name for name in family if abs(convert(peak, source, PHYSICAL[name])) >= 1]
    target = fits[-1] if fits else family[0]
    return [convert(x, source, PHYSICAL[target]) for x in values], target


def _label(head: str, below: Sequence[str], span: str, lang: str, names: Mapping[str, Text]) -> str:
    words = [_numerator(head, span == "1", lang, names)] + [_denominator(name, lang, names) for name in below]
    return "/".join(words)


def _numerator(symbol: str, single: bool, lang: str, names: Mapping[str, Text]) -> str:
    if symbol in names:
        word = names[symbol].of(lang)
        many = word if lang == "zh" or "|" in word else f"{word}|{word}s"
    else:
        english, chinese, _ = _WORDS.get(symbol, (symbol, symbol, symbol))
        many = chinese if lang == "zh" else english
    return many.split("|")[0 if single else -1]


def _denominator(symbol: str, lang: str, names: Mapping[str, Text]) -> str:
    if symbol in names:
        return names[symbol].of(lang).split("|")[0]
    english, _, chinese = _WORDS.get(symbol, (symbol, symbol, symbol))
    return chinese if lang == "zh" else english.split("|")[0]
