"""The tree that a YAML file becomes: immutable nodes, each with its exact place in the file.

`expert.yamldoc` builds these trees and re-exports the names; schema code reads them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import field
from functools import lru_cache
from typing import Literal, TypeAlias

from expert.errors import NO_TEXT, Diagnostic, Span, Text
from expert.records import dataclass

Plain: TypeAlias = "str | int | float | bool | None"
Tree: TypeAlias = "Plain | list[Tree] | dict[str, Tree]"
Style = Literal["plain", "quoted", "block"]

_BREAK = re.compile(r"\r\n|\n|\r")
# A line longer than this is not repeated in a help text: a hostile file has one line of 250 KB.
_LINE_SHOWN = 200


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """The text of one file, cut into lines the way YAML counts them (LF, CRLF, CR)."""

    file: str
    text: str
    lines: tuple[str, ...]
    starts: tuple[int, ...]

    @classmethod
    def of(cls, file: str, text: str) -> Source:
        """Cut a text, without its byte order mark, into lines."""
        breaks = list(_BREAK.finditer(text))
        starts = (0, *(found.end() for found in breaks))
        ends = (*(found.start() for found in breaks), len(text))
        return cls(file, text, tuple(text[a:b] for a, b in zip(starts, ends, strict=True)), starts)

    def line(self, number: int) -> str:
        """The 1-based line without its line break; "" outside the file."""
        return self.lines[number - 1] if 1 <= number <= len(self.lines) else ""

    def position(self, index: int) -> tuple[int, int]:
        """1-based line and column of a character index."""
        row = bisect_right(self.starts, index) - 1
        return row + 1, index - self.starts[row] + 1

    def span(self, start: int, end: int, path: str = "") -> Span:
        """The span from one index to another, cut at the end of the first line."""
        line, column = self.position(start)
        stop = end - self.starts[line - 1] + 1
        return Span(self.file, line, column, max(column, min(stop, len(self.line(line)) + 1)), path)

    def diagnostic(self, code: str, message: Text, span: Span, help: Text = NO_TEXT, severity: str = "error") -> Diagnostic:
        """A diagnostic that carries its source line."""
        return Diagnostic(code, message, span, help, self.line(span.line), severity)

    def with_replaced(self, span: Span, replacement: str) -> str:
        """The source line as it should be: the words under the span replaced, indentation dropped."""
        line = self.line(span.line)
        if len(line) > _LINE_SHOWN:
            return replacement
        return (line[: span.column - 1] + replacement + line[span.end_column - 1 :]).strip()


@dataclass(frozen=True, slots=True)
class Scalar:
    """One value. `raw` is its text after folding and unescaping, `value` what it means; a key's value is its text."""

    span: Span
    value: Plain
    raw: str
    style: Style
    source: Source = field(repr=False, compare=False)
    start: int = field(repr=False, compare=False)
    end: int = field(repr=False, compare=False)

    def locate(self, offset: int, length: int = 1) -> Span:
        """The place in the file of `length` characters of `raw` from `offset`; cut where the file's line ends."""
        offset = max(0, min(offset, len(self.raw)))
        places = self._places()
        begin = places[offset]
        last = max(offset, min(offset + length, len(self.raw)) - 1)
        end = places[last] + 1 if length > 0 and offset < len(self.raw) else begin
        # An escape sequence is several characters of the file: reach to where the next one begins.
        end = max(end, places[last + 1]) if self.style == "quoted" and end > begin else end
        return self.source.span(begin, end, self.span.path)

    @property
    def content(self) -> Span:
        """The place of the first line of the content: behind the quote, or below the block's header."""
        return self.locate(0, len(self.raw))

    def _places(self) -> range | tuple[int, ...]:
        edge = 1 if self.style == "quoted" else 0
        if self.style != "block" and self.end - self.start == len(self.raw) + 2 * edge:
            return range(self.start + edge, self.end - edge + 1)
        return _aligned(self.source, self.start, self.end, self.raw)


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list."""

    span: Span
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Mapping:
    """A mapping in the order of the file; keys are unique, merged keys stand where `<<` stood."""

    span: Span
    entries: tuple[tuple[Scalar, Node], ...]
    index: dict[str, int] = field(repr=False, compare=False)

    def get(self, key: str) -> Node | None:
        """The value of a key, or None when the key is absent."""
        place = self.index.get(key)
        return None if place is None else self.entries[place][1]

    def keys(self) -> tuple[str, ...]:
        """The keys as text."""
        return tuple(self.index)

    def key_scalar(self, key: str) -> Scalar | None:
        """The key itself, with its place, or None when absent."""
        place = self.index.get(key)
        return None if place is None else self.entries[place][0]


Node: TypeAlias = "Scalar | Sequence | Mapping"


def mapping_of(span: Span, entries: tuple[tuple[Scalar, Node], ...]) -> Mapping:
    """A mapping from entries whose keys are unique."""
    return Mapping(span, entries, {key.raw: place for place, (key, _) in enumerate(entries)})


@dataclass(frozen=True)
class Document:
    """One loaded file."""

    source: Source
    root: Node | None

    @property
    def file(self) -> str:
        """The file's name as it is shown."""
        return self.source.file

    @property
    def text(self) -> str:
        """The whole text, without byte order mark."""
        return self.source.text

    def line(self, number: int) -> str:
        """The 1-based source line."""
        return self.source.line(number)

    def diagnostic(self, code: str, message: Text, span: Span, help: Text = NO_TEXT, severity: str = "error") -> Diagnostic:
        """A diagnostic about this file, with the source line filled in."""
        return self.source.diagnostic(code, message, span, help, severity)

    def with_replaced(self, span: Span, replacement: str) -> str:
        """The source line as it should be, for a help text: the words under the span replaced."""
        return self.source.with_replaced(span, replacement)


def to_plain(node: Node | None) -> Tree:
    """The tree as dicts, lists and scalars; depth is bounded by the loader, so recursion is safe."""
    if isinstance(node, Mapping):
        return {key.raw: to_plain(value) for key, value in node.entries}
    if isinstance(node, Sequence):
        return [to_plain(child) for child in node.items]
    return None if node is None else node.value


def moved(node: Node, path: str) -> Node:
    """A copy of an aliased node whose spans keep their place and carry the path of the alias."""
    span = Span(node.span.file, node.span.line, node.span.column, node.span.end_column, path)
    if isinstance(node, Scalar):
        return Scalar(span, node.value, node.raw, node.style, node.source, node.start, node.end)
    if isinstance(node, Sequence):
        return Sequence(span, tuple(moved(child, child_path(path, str(place))) for place, child in enumerate(node.items)))
    return mapping_of(span, tuple(moved_entry(key, value, path) for key, value in node.entries))


def moved_entry(key: Scalar, value: Node, path: str) -> tuple[Scalar, Node]:
    """One entry of a mapping, moved below another path."""
    below = child_path(path, key.raw)
    twin = moved(key, below)
    assert isinstance(twin, Scalar)
    return twin, moved(value, below)


# Paths are for people: 100,000 nodes below forty long keys must not take a gigabyte.
_PATH_LIMIT, _KEY_LIMIT = 400, 128


def child_path(path: str, step: str) -> str:
    """The dotted path of a child; a path that is absurdly long stops growing."""
    if len(path) > _PATH_LIMIT:
        return path
    return f"{path}.{step[:_KEY_LIMIT]}" if path else step[:_KEY_LIMIT]


_ESCAPE_LENGTH = {"x": 4, "u": 6, "U": 10}


@lru_cache(maxsize=16)
def _aligned(source: Source, start: int, end: int, raw: str) -> tuple[int, ...]:
    """The file index of every character of `raw`, and one more for its end.

    Source characters and characters of `raw` are walked side by side; what folding dropped is skipped.
    """
    atoms = _atoms(source.text, start, end, raw)
    places: list[int] = []
    at = 0
    for char in raw:
        while at < len(atoms) and atoms[at][0].isspace() and atoms[at][0] != char and not (char == " " and atoms[at][0] == "\n"):
            at += 1
        places.append(atoms[at][1] if at < len(atoms) else end)
        at += 1
    if source.text[start] in "'\"":
        return (*places, end - 1)
    return (*places, atoms[at - 1][1] + 1 if 0 < at <= len(atoms) else end)


def _atoms(text: str, start: int, end: int, raw: str) -> list[tuple[str, int]]:
    """The content characters of a scalar's source with their indices; escapes count as one character."""
    first = text[start : start + 1]
    if first in ("'", '"'):
        return _quoted_atoms(text, start + 1, end - 1, first)
    if first in ("|", ">"):
        return _block_atoms(text, start, end, raw)
    return _lines_atoms(text, start, end, None)


def _quoted_atoms(text: str, at: int, end: int, quote: str) -> list[tuple[str, int]]:
    atoms: list[tuple[str, int]] = []
    while at < end:
        char, width = text[at], 1
        if quote == "'" and char == "'":
            width = 2
        elif quote == '"' and char == "\\":
            following = text[at + 1]
            width = _ESCAPE_LENGTH.get(following, 2)
            if following not in "\r\n":
                # Any character that is not blank matches whatever the escape stands for.
                atoms.append(("\\", at))
            at += width
            continue
        atoms.append((char, at))
        at += width
    return atoms


def _block_atoms(text: str, start: int, end: int, raw: str) -> list[tuple[str, int]]:
    header = _BREAK.search(text, start, end)
    if header is None:
        return []
    written = next((line for line in _BREAK.split(text[header.end() : end]) if line.strip(" ")), "")
    kept = next((line for line in raw.split("\n") if line.strip(" ")), "")
    indent = (len(written) - len(written.lstrip(" "))) - (len(kept) - len(kept.lstrip(" ")))
    return _lines_atoms(text, header.end(), end, indent)


def _lines_atoms(text: str, start: int, end: int, indent: int | None) -> list[tuple[str, int]]:
    """Characters line by line without indentation: `indent` blanks, or all of them when None."""
    atoms: list[tuple[str, int]] = []
    at = start
    while at < end:
        found = _BREAK.search(text, at, end)
        stop, after = (found.start(), found.end()) if found else (end, end)
        width = stop - at - len(text[at:stop].lstrip(" \t")) if indent is None else min(indent, stop - at)
        atoms += [(text[place], place) for place in range(at + width, stop)]
        if found:
            atoms.append(("\n", stop))
        at = after
    return atoms
