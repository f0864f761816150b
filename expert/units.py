"""Units: what a unit's text means, as exact integers over a few base dimensions.

`UnitTable.parse("GB/s/gpu")` gives a `Unit`. Physical units are built in; counting units (`gpu`,
`token`) and currencies come from the packs. Numbers with units are read and printed in `quantities`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import Self

from expert.errors import NO_TEXT, Text, nearest
from expert.physical import ALIASES, BUILTIN_COUNTS, BYTE, COUNT_OF, FACTORS, Dims
from expert.records import dataclass

_EXACT_LIMIT = 2.0**53
_MEMO_LIMIT = 4096
_TEXT_LIMIT = 80


class ReadError(ValueError):
    """A unit or a quantity that cannot be read.

    `bad` is the offending part of `text` and `offset` its place in characters; `suggestion` is the whole
    text as it should be written, where one can be told.
    """

    def __init__(self, message: Text, text: str, bad: str, offset: int, suggestion: str | None = None) -> None:
        super().__init__(message, text, bad, offset, suggestion)
        self.message, self.text, self.bad, self.offset, self.suggestion = message, text, bad, offset, suggestion

    def __str__(self) -> str:
        return self.message.en

    @property
    def help(self) -> Text:
        """What to write instead; empty where nothing is close."""
        if self.suggestion is None:
            return NO_TEXT
        return Text(f"did you mean '{self.suggestion}'?", f"是否应为“{self.suggestion}”？")


class UnitError(ReadError):
    """Text that is no unit, or a name that cannot become one."""


def round12(x: float) -> float:
    """`x` to 12 significant digits; whole numbers below 2**53 and what is not finite stay as they are."""
    if not math.isfinite(x) or (abs(x) < _EXACT_LIMIT and x == int(x)):
        return float(x)
    return float(f"{x:.12g}")


def scale(x: float, mul: int, div: int) -> float:
    """`x * mul / div`, rounded once (true division of integers rounds correctly); too large becomes infinite."""
    if not math.isfinite(x):
        return x
    top, bottom = float(x).as_integer_ratio()
    try:
        return (top * mul) / (bottom * div)
    except OverflowError:
        return math.copysign(math.inf, x)


@dataclass(frozen=True, slots=True)
class Unit:
    """One unit. A value in base units is `value * mul / div`; `div` and `mul` are positive and share no factor.

    `text` is as written, with aliases and blanks normalised: "GB/s/gpu", "percent", "" for a plain number.
    `dims` are sorted exponents over byte, second, flop, watt, metre, kilogram and money.
    `count` is the counting unit in the numerator, `per` are those in the denominator, sorted.
    """

    text: str
    dims: Dims = ()
    mul: int = 1
    div: int = 1
    count: str | None = None
    per: tuple[str, ...] = ()
    percent: bool = False

    def to_base(self, x: float) -> float:
        """`x` of this unit in base units, correctly rounded; a percentage becomes a fraction."""
        return scale(x, self.mul, self.div)

    def from_base(self, x: float) -> float:
        """A value in base units as a number of this unit, to 12 significant digits."""
        return round12(scale(x, self.div, self.mul))

    def same_dimension(self, other: Unit) -> bool:
        """Whether one converts into the other; counting units and per-parts are not looked at."""
        return self.dims == other.dims


def convert(x: float, source: Unit, target: Unit) -> float:
    """`x` of one unit as a number of another of the same dimension, to 12 significant digits.

    Errors: ValueError where the dimensions differ.
    """
    if not source.same_dimension(target):
        raise ValueError(f"'{source.text}' does not convert into '{target.text}'")
    return round12(scale(x, source.mul * target.div, source.div * target.mul))


PLAIN = Unit("")

PHYSICAL: dict[str, Unit] = {
    name: Unit(name, dims, mul // math.gcd(mul, div), div // math.gcd(mul, div), COUNT_OF.get(name), (), name == "percent")
    for name, (dims, mul, div) in FACTORS.items()
}

# Words of the expression language: `5 in [..]` must not read as a unit.
_RESERVED = frozenset({"and", "or", "not", "in", "if", "else", "true", "false", "plan"})
_SYMBOL = re.compile(r"%|[^\W\d][\w-]*")
_SLASH = re.compile(r"\s*/\s*")
_NAME_GOES_ON = re.compile(r"\.\w|\s*\(")


@dataclass(frozen=True, slots=True, repr=False, match_args=False)
class UnitTable:
    """The units that a set of packs knows. `parse` is memoised per table."""

    counts: frozenset[str] = frozenset(BUILTIN_COUNTS)
    currencies: tuple[tuple[str, int, int], ...] = ()
    _symbols: dict[str, Unit] = field(default_factory=dict, repr=False, compare=False)
    _memo: dict[str, Unit] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def standard(cls) -> Self:
        """The table with the built-in units alone."""
        return cls()._filled()

    def with_counts(self, names: Iterable[str]) -> Self:
        """A table that knows these counting units too, under exactly these names.

        Errors: UnitError for a name that already means something else or is no name.
        """
        fresh = sorted(set(names) - self.counts)
        for name in fresh:
            self._refuse_taken(name)
        return replace(self, counts=self.counts.union(fresh))._filled()

    def with_currencies(self, rates: Mapping[str, tuple[int, int]]) -> Self:
        """A table with these currencies in place of any it had; `(num, den)` is what one of it is worth in base money.

        Errors: UnitError for a name that is taken; ValueError for a rate that is not positive.
        """
        bare = replace(self, currencies=())._filled()
        for name, (num, den) in rates.items():
            bare._refuse_taken(name)
            if num <= 0 or den <= 0:
                raise ValueError(f"the rate of {name} is not positive")
        return replace(self, currencies=tuple(sorted((name, num, den) for name, (num, den) in rates.items())))._filled()

    def _filled(self) -> Self:
        symbols = dict(PHYSICAL)
        symbols |= {alias: PHYSICAL[name] for alias, name in ALIASES.items()}
        symbols |= {name: Unit(name, count=name) for name in self.counts}
        for name, num, den in self.currencies:
            shared = math.gcd(num, den)
            symbols[name] = Unit(name, (("money", 1),), num // shared, den // shared)
        return replace(self, _symbols=symbols, _memo={"": PLAIN})

    def _refuse_taken(self, name: str) -> None:
        if name in self._symbols or name in _RESERVED:
            raise UnitError(Text(f"'{name}' already means something else", f"“{name}”已有别的含义"), name, name, 0)
        if not _SYMBOL.fullmatch(name):
            raise UnitError(Text(f"'{name}' cannot be the name of a unit", f"“{name}”不能用作单位名"), name, name, 0)

    def knows(self, symbol: str) -> bool:
        """Whether one word, without any slash, is a unit of this table."""
        return symbol in self._symbols

    def parse(self, text: str) -> Unit:
        """The unit that a text names; blank text is the plain number.

        Errors: UnitError.
        """
        found = self._memo.get(text)
        if found is None:
            found = self._read(text)
            if len(self._memo) >= _MEMO_LIMIT:
                self._memo.clear()
            self._memo[text] = found
        return found

    def scan(self, text: str, start: int) -> tuple[Unit, int] | None:
        """The longest unit that begins at `start` and the offset after it, or None; for readers of longer text.

        `10 GB / min(a, b)` and `10 GB / token.size` stop before the slash: there the word is no unit.
        """
        end = self._symbol_end(text, start)
        if end is None:
            return None
        while (slash := _SLASH.match(text, end)) and text[slash.end() : slash.end() + 1] != "%":
            further = self._symbol_end(text, slash.end())
            if further is None:
                break
            end = further
        return self.parse(text[start:end]), end

    def _symbol_end(self, text: str, start: int) -> int | None:
        word = _SYMBOL.match(text, start)
        if word is None or word[0] not in self._symbols or _NAME_GOES_ON.match(text, word.end()):
            return None
        return word.end()

    def _read(self, text: str) -> Unit:
        if len(text) > _TEXT_LIMIT:
            raise UnitError(Text("a unit is never that long", "单位过长"), text, text[_TEXT_LIMIT:], _TEXT_LIMIT)
        if not text.strip():
            return PLAIN
        parts: list[Unit] = []
        offset = 0
        for raw in text.split("/"):
            word = raw.strip()
            start = offset + len(raw) - len(raw.lstrip())
            parts.append(self._part(text, word, start, parts))
            offset += len(raw) + 1
        return _quotient(parts)

    def _part(self, text: str, word: str, start: int, before: list[Unit]) -> Unit:
        unit = self._symbols.get(word)
        if unit is None:
            message = Text(f"'{word}' is not a unit", f"“{word}”不是单位") if word else Text("a unit is missing here", "此处缺少单位")
            raise UnitError(message, text, word, start, self._corrected(text))
        if before and unit.percent:
            raise UnitError(Text("nothing is counted per percent", "百分比不能作分母"), text, word, start)
        if unit.count is not None and any(unit.count == other.count for other in before):
            raise UnitError(Text(f"'{word}' stands twice", f"“{word}”重复出现"), text, word, start)
        return unit

    def _corrected(self, text: str) -> str | None:
        """The whole text with every part replaced by the unit it nearly is, or None."""
        guesses = [self._guess(part.strip()) for part in text.split("/")]
        if None in guesses or not guesses[0]:
            return None
        candidate = "/".join(guess for guess in guesses if guess)
        try:
            return self._read(candidate).text
        except UnitError:
            return None

    def _guess(self, word: str) -> str | None:
        if not word or word in self._symbols:
            return word
        for tail in ("ps", "s"):  # before the case is looked at: GBps is GB/s, not Gbps
            stem = word.removesuffix(tail)
            if stem != word and stem in self._symbols and self._symbols[stem].dims == BYTE:
                return self._symbols[stem].text + "/s"
        folded = word.casefold()
        same = [name for name in self._symbols if name.casefold() == folded]
        if same:
            # gb is GB rather than Gb: bytes are what most plans speak of.
            return max(same, key=lambda name: (name in PHYSICAL, name.endswith("B"), name))
        singular = self._guess(word[:-1]) if len(word) > 2 and folded.endswith("s") else None
        if singular in self._symbols:
            return singular + ("/s" if self._symbols[singular].dims == BYTE else "")
        return nearest(word, self._symbols)


def _quotient(parts: list[Unit]) -> Unit:
    head, *below = parts
    dims = dict(head.dims)
    mul, div = head.mul, head.div
    for unit in below:
        mul, div = mul * unit.div, div * unit.mul
        for name, power in unit.dims:
            dims[name] = dims.get(name, 0) - power
    shared = math.gcd(mul, div)
    left = tuple(sorted((name, power) for name, power in dims.items() if power))
    per = tuple(sorted(unit.count for unit in below if unit.count is not None))
    return Unit("/".join(unit.text for unit in parts), left, mul // shared, div // shared, head.count, per, head.percent)
