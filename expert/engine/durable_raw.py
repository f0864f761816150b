"""Rules and facts as durable_rules may see them: typed, flat, and refused here when the library could misread them.

Nothing here imports the library, and nothing here knows the rule language: a `Definition` is a set of rules over kinds
of facts, each kind with a fixed set of typed properties. Negation, "or", arithmetic and retraction do not exist at this
level on purpose: durable_rules 2.0.28 gets each of them wrong in some case, so the adapter expresses them by further facts.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NewType

from expert.records import dataclass

Value = bool | int | float | str
FactId = NewType("FactId", str)

TEXT_BYTES = 4096  # the library takes the length of a text modulo 65,536
EXACT = 2**53  # beyond it the library compares an integer with a double as doubles
CONDITIONS_PER_RULE = 16
JOINS_PER_CONDITION = 29
TESTS_PER_CONDITION = 64  # the library takes hundreds; the layout goes one call deeper for each
PROPERTIES_PER_FACT = 240  # the library takes 252, ours among them

BUCKET, KIND, BOOT = "bucket_", "kind_", "boot_"
OWN_NAMES = (BUCKET, KIND, BOOT, "id", "sid")
LIBRARY_NAMES = (
    *("$lt", "$lte", "$gt", "$gte", "$eq", "$neq", "$ex", "$nex", "$mt", "$imt", "$iall", "$iany", "$or", "$and", "$all", "$any"),
    *("$add", "$sub", "$mul", "$div", "$not", "$m", "$i", "$s", "$l", "$r", "$forward", "$time", "$type"),
)
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}[A-Za-z0-9]|[A-Za-z]")


class DurableError(Exception):
    """Anything that this half of the adapter refuses or reports."""


@dataclass(eq=False)
class DurableLimitError(DurableError):
    """A size that the library would answer with a hang, a crash or a wrong result, named with what was found and allowed."""

    limit: str
    found: int
    allowed: int

    def __str__(self) -> str:
        return f"limit {self.limit}: found {self.found}, allowed {self.allowed}"


class DurableRuleError(DurableError):
    """A rule or schema that is not of the allowed form."""


class DurableValueError(DurableError):
    """A value that the library would misread, or that does not fit its property."""


class DurableMisuseError(DurableError):
    """A call in the wrong state: after close, from another thread, or from inside an action."""


class DurableFaultError(DurableError):
    """The library reported an error, or died, where none was possible; nothing of the session may be used."""


class ValueType(StrEnum):
    """The one type of a property: the library compares text with numbers and booleans without an error, and wrongly."""

    YES_NO = "yes-no"
    NUMBER = "number"
    TEXT = "text"


class Op(StrEnum):
    """The comparisons that agree with Python on checked values; text and yes/no know only EQ and NE."""

    EQ = "$eq"
    NE = "$neq"
    LT = "$lt"
    LE = "$lte"
    GT = "$gt"
    GE = "$gte"


@dataclass(frozen=True, slots=True)
class Property:
    """Type of a property, and whether a fact may come without it (then a join needs an `Exists` first)."""

    type: ValueType
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Constant:
    """The property of this fact compared with a constant; false where the property is absent."""

    prop: str
    op: Op
    value: Value


@dataclass(frozen=True, slots=True)
class Exists:
    """The property is present in this fact."""

    prop: str


@dataclass(frozen=True, slots=True)
class Join:
    """The property of this fact compared with property `other` of the fact that fills condition `condition`, an earlier one."""

    prop: str
    op: Op
    condition: int
    other: str


Test = Constant | Exists | Join


@dataclass(frozen=True, slots=True)
class RawCondition:
    """One fact of a kind that passes all tests."""

    kind: str
    tests: tuple[Test, ...] = ()


@dataclass(frozen=True, slots=True)
class RawRule:
    """Conditions that hold together, each filled by another fact."""

    conditions: tuple[RawCondition, ...]


@dataclass(frozen=True, slots=True)
class Definition:
    """All rules of one rule set and, for each kind of fact, its properties."""

    rules: tuple[RawRule, ...]
    schema: Mapping[str, Mapping[str, Property]]


def plain_number(value: int | float) -> int | float:
    """The one form of a number that the library compares exactly: integral values as int, other and larger ones as float.

    Errors: DurableValueError for NaN, infinities, and integers that no double represents.
    """
    if isinstance(value, float):
        if not math.isfinite(value):
            raise DurableValueError(f"{value} is not a finite number")
        return int(value) if value.is_integer() and abs(value) <= EXACT else value
    if abs(value) <= EXACT:
        return value
    try:
        close = float(value)
    except OverflowError:
        raise DurableValueError("an integer beyond the range of a double") from None
    if int(close) != value:
        raise DurableValueError(f"{value} has no exact double")
    return close


def encode_value(value: object, expected: ValueType) -> str:
    """A value as JSON text, one spelling for each value: the library joins by the text, in rules as in facts.

    Errors: DurableValueError for a value of another type and for everything that the library misreads.
    """
    if expected is ValueType.YES_NO and isinstance(value, bool):
        return "true" if value else "false"
    if expected is ValueType.NUMBER and isinstance(value, int | float) and not isinstance(value, bool):
        return _number_text(plain_number(value))
    if expected is ValueType.TEXT and isinstance(value, str):
        return encode_text(value)
    raise DurableValueError(f"{type(value).__name__} where {expected} is declared")


def encode_text(value: str) -> str:
    """A text as JSON; refused when over 4 KB in UTF-8 or not encodable (a lone surrogate)."""
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        raise DurableValueError("a text with a lone surrogate") from None
    if size > TEXT_BYTES:
        raise DurableLimitError("text-bytes", size, TEXT_BYTES)
    return json.dumps(value, ensure_ascii=False)


def _number_text(value: int | float) -> str:
    text = repr(value)
    if "e" in text and "." not in text:  # the library's parser knows no exponent without a decimal point
        mantissa, exponent = text.split("e")
        return f"{mantissa}.0e{exponent}"
    return text


def check_definition(definition: Definition) -> None:
    """Refuse every schema and rule outside the subset on which durable_rules 2.0.28 is correct.

    Errors: DurableRuleError, DurableValueError, DurableLimitError.
    """
    _check_names(name for properties in definition.schema.values() for name in properties)
    for kind, properties in definition.schema.items():
        encode_text(kind)
        _limit("properties-per-fact", len(properties), PROPERTIES_PER_FACT)
    for rule in definition.rules:
        if not rule.conditions:
            raise DurableRuleError("a rule without conditions")
        _limit("conditions-per-rule", len(rule.conditions), CONDITIONS_PER_RULE)
        for position in range(len(rule.conditions)):
            _check_condition(rule, position, definition.schema)


def _check_names(names: Iterable[str]) -> None:
    """Property names are known to the library only by their 32-bit hash; two with the same hash are one to it."""
    seen = {name_hash(name): name for name in (*OWN_NAMES, *LIBRARY_NAMES)}
    for name in sorted(set(names)):
        if not _NAME.fullmatch(name) or name in OWN_NAMES:
            raise DurableRuleError(f"a property may not be called {name!r}")
        other = seen.setdefault(name_hash(name), name)
        if other != name:
            raise DurableRuleError(f"the library can't tell property {name!r} from {other!r}")


def name_hash(name: str) -> int:
    """FNV-1a, 32 bits, of an ASCII name, as the library hashes names."""
    value = 0x811C9DC5
    for byte in name.encode("ascii", "replace"):
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    return value


def _check_condition(rule: RawRule, position: int, schema: Mapping[str, Mapping[str, Property]]) -> None:
    condition = rule.conditions[position]
    if condition.kind not in schema:
        raise DurableRuleError(f"no kind of fact is called {condition.kind!r}")
    joins = sum(isinstance(test, Join) for test in condition.tests)
    _limit("joins-per-condition", joins, JOINS_PER_CONDITION)
    _limit("tests-per-condition", len(condition.tests) - joins, TESTS_PER_CONDITION)
    for test in condition.tests:
        declared = _declared(condition, test.prop, schema)
        if isinstance(test, Constant):
            _check_op(test.op, declared.type)
            encode_value(test.value, declared.type)
        elif isinstance(test, Join):
            if not 0 <= test.condition < position:
                raise DurableRuleError("a join looks only at earlier conditions")
            _check_join(condition, rule.conditions[test.condition], test, schema)


def _check_join(here: RawCondition, there: RawCondition, test: Join, schema: Mapping[str, Mapping[str, Property]]) -> None:
    left, right = _declared(here, test.prop, schema), _declared(there, test.other, schema)
    if left.type is not right.type:
        raise DurableRuleError(f"a join of {left.type} with {right.type}")
    _check_op(test.op, left.type)
    for condition, name, declared in ((here, test.prop, left), (there, test.other, right)):
        if declared.optional and Exists(name) not in condition.tests:
            raise DurableRuleError(f"a join on the optional {name!r} needs an exists test")


def _declared(condition: RawCondition, name: str, schema: Mapping[str, Mapping[str, Property]]) -> Property:
    declared = schema.get(condition.kind, {}).get(name)
    if declared is None:
        raise DurableRuleError(f"{condition.kind!r} has no property {name!r}")
    return declared


def _check_op(op: Op, declared: ValueType) -> None:
    if declared is not ValueType.NUMBER and op not in (Op.EQ, Op.NE):
        raise DurableRuleError(f"{op} on {declared}")


def _limit(name: str, found: int, allowed: int) -> None:
    if found > allowed:
        raise DurableLimitError(name, found, allowed)
