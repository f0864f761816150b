"""Compiled programs as JSON, equal parts stored once, columns instead of rows. Reading it executes nothing.

A stored program is one table of values: first None, then `scalars`, then the objects of each class, then containers.
Everything refers to places in that table. Objects are made empty and filled field by field, so a file can name
no class and call no code; and filling a column at once is six times faster than calling constructors.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import fields
from itertools import repeat
from typing import Any

from expert.errors import Span, Text
from expert.language import program, terms
from expert.language.scenarios import Scenario
from expert.records import dataclass
from expert.units import Unit

TUPLE, MAPPING, FROZEN_SET, LIST = 0, 1, 2, 3

CLASSES: tuple[type, ...] = (
    Span, Text, Unit, Scenario,
    terms.Literal, terms.FactTerm, terms.StatedTerm, terms.ConstantTerm, terms.RowTerm, terms.CellTerm, terms.ArithmeticTerm,
    terms.FunctionTerm, terms.ChoiceTerm, terms.CompareTerm, terms.InTerm, terms.NotTerm, terms.LogicTerm,
    program.Change, program.Template, program.Condition, program.DefaultCase, program.Domain, program.FactDecl, program.Column,
    program.Cell, program.Row, program.Table, program.Constant, program.Conclude, program.Require, program.Prefer, program.Warn,
    program.Threshold, program.Risk, program.Example, program.Rule, program.Decision, program.Claim, program.Source, program.Pack,
    program.Step,
)  # fmt: skip
"""Every class of a program, all frozen and with slots. The order is the format: append, and raise `store.FORMAT`."""

_NUMBERS = {cls: number for number, cls in enumerate(CLASSES)}
_FIELDS = tuple(tuple(one.name for one in fields(cls)) for cls in CLASSES)


class CodecError(ValueError):
    """A value that cannot be stored, or a stored table that cannot be read."""


@dataclass(frozen=True, slots=True)
class _Ref:
    """A place to be: number `index` of a section, "s" scalars, "c" containers, or the objects of class number `cls`."""

    section: str
    index: int
    cls: int = 0


_NONE = _Ref("0", 0)


class Encoder:
    """Collects values; `table` gives the finished columns and the places of what was asked for."""

    def __init__(self) -> None:
        self._scalars: dict[tuple[type, Any], int] = {}
        self._objects: list[dict[tuple[Any, ...], int]] = [{} for _ in CLASSES]
        self._containers: dict[tuple[int, tuple[_Ref, ...]], int] = {}

    def refer(self, value: Any) -> _Ref:
        """The reference to a value, which is stored if it is new.

        Errors: CodecError for a value of a kind that has no place in a program.
        """
        if value is None:
            return _NONE
        if isinstance(value, str | int | float):
            return _Ref("s", self._scalars.setdefault((type(value), value), len(self._scalars)))
        number = _NUMBERS.get(type(value))
        if number is None:
            kind, members = _members(value)
            key = (kind, tuple(self.refer(member) for member in members))
            return _Ref("c", self._containers.setdefault(key, len(self._containers)))
        row = tuple(self._field(getattr(value, name)) for name in _FIELDS[number])
        found = self._objects[number]
        return _Ref("o", found.setdefault(row, len(found)), number)

    def _field(self, value: Any) -> Any:
        """Numbers stay as they are, with their type, until it is known whether the whole column consists of numbers."""
        return (type(value), value) if isinstance(value, int | float) else self.refer(value)

    def table(self, wanted: dict[str, _Ref]) -> dict[str, Any]:
        """All columns, as `decode` reads them, with the places of the wanted values."""
        columns = [self._columns(number) for number in range(len(CLASSES))]
        starts, at = {}, 1 + len(self._scalars)
        for number, rows in enumerate(self._objects):
            starts[number] = at
            at += len(rows)

        def place(ref: _Ref) -> int:
            first = {"0": 0, "s": 1, "c": at}.get(ref.section)
            return ref.index + (starts[ref.cls] if first is None else first)

        def column(plain: bool, members: list[Any]) -> list[Any]:
            return [0, members] if plain else [1, [place(ref) for ref in members]]

        return {
            "scalars": [value for _, value in self._scalars],
            "objects": [[len(rows), *(column(*one) for one in columns[n])] for n, rows in enumerate(self._objects)],
            "containers": [[kind, *map(place, members)] for kind, members in self._containers],
            "values": {name: place(ref) for name, ref in wanted.items()},
        }

    def _columns(self, number: int) -> list[tuple[bool, list[Any]]]:
        """The columns of a class, each as numbers in place or as references."""
        found = []
        for column in zip(*self._objects[number], strict=True):
            plain = all(isinstance(value, tuple) or value is _NONE for value in column) and any(
                isinstance(value, tuple) for value in column
            )
            if plain:
                found.append((True, [None if value is _NONE else value[1] for value in column]))
            else:
                found.append((False, [self.refer(value[1]) if isinstance(value, tuple) else value for value in column]))
        return found


def _members(value: Any) -> tuple[int, Sequence[Any]]:
    if isinstance(value, tuple):
        return TUPLE, value
    if isinstance(value, dict):
        return MAPPING, [part for pair in value.items() for part in pair]
    if isinstance(value, frozenset):
        return FROZEN_SET, sorted(value)
    if isinstance(value, list):
        return LIST, value
    raise CodecError(f"a {type(value).__name__} cannot be stored")


def decode(stored: dict[str, Any]) -> dict[str, Any]:
    """The values that `Encoder.table` stored, by name.

    Errors: CodecError, TypeError, LookupError or ValueError for a table that was not written by `Encoder`.
    """
    table: list[Any] = [None, *stored["scalars"]]
    groups = stored["objects"]
    if len(groups) != len(CLASSES):
        raise CodecError("not the classes of this version")
    starts = []
    for cls, (count, *columns) in zip(CLASSES, groups, strict=True):
        # Looked at before anything is made: a forged count must not take all memory.
        if any(len(column) != count for _, column in columns) or (count and not columns):
            raise CodecError("columns of different length")
        starts.append(len(table))
        table += map(object.__new__, repeat(cls, count))
    for kind, *places in stored["containers"]:
        table.append(_container(kind, [table[place] for place in places]))
    for cls, names, start, (count, *columns) in zip(CLASSES, _FIELDS, starts, groups, strict=True):
        if count:
            _fill(cls, names, table[start : start + count], columns, table)
    return {name: table[place] for name, place in stored["values"].items()}


def _container(kind: int, members: list[Any]) -> Any:
    if kind == TUPLE:
        return tuple(members)
    if kind == MAPPING:
        return dict(zip(members[::2], members[1::2], strict=True))
    if kind == FROZEN_SET:
        return frozenset(members)
    if kind == LIST:
        return members
    raise CodecError(f"no such kind of container: {kind}")


def _fill(cls: type, names: Sequence[str], made: list[Any], columns: list[Any], table: list[Any]) -> None:
    """Set every field of objects that are still empty, through the slots, since the classes are frozen."""
    for name, (kind, column) in zip(names, columns, strict=True):
        values = map(table.__getitem__, column) if kind else column
        deque(map(cls.__dict__[name].__set__, made, values), maxlen=0)
