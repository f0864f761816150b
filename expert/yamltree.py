"""Parser events to a tree, on a stack of our own: keys, anchors, merges and limits."""

from __future__ import annotations

import re
from dataclasses import field
from typing import Any

from expert.errors import NO_TEXT, Diagnostic, Span, Text
from expert.records import dataclass
from expert.yamlnodes import Document, Mapping, Node, Scalar, Sequence, Source, Style, child_path, mapping_of, moved, moved_entry
from expert.yamltraps import Trap, quoted, resolve, trap_help

DEPTH_LIMIT = 40
NODE_LIMIT = 100_000
KEY_LIMIT = 128
MISTAKE_LIMIT = 100

# Besides C0 and C1: U+2028 and U+2029, which YAML 1.1 counts as line breaks and editors do not; lone surrogates.
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
# An anchor before a value, with the blanks, line breaks and comments that follow it.
_ANCHOR = re.compile(r"(?:[&!]\S*(?:[ \t\r\n]|(?<=\s)#[^\r\n]*)*)+")
_STYLES: dict[str | None, Style] = {"'": "quoted", '"': "quoted", "|": "block", ">": "block"}


class Stopped(Exception):  # noqa: N818
    """A limit is passed: what was found so far is reported, the rest of the file is not looked at."""


@dataclass(slots=True)
class _Frame:
    """One open list or mapping."""

    is_mapping: bool
    start: int
    path: str
    anchor: str | None
    flow: bool
    merge: bool
    children: list[Node] = field(default_factory=list)
    entries: list[tuple[Scalar, Node]] = field(default_factory=list)
    first: dict[str, Scalar] = field(default_factory=dict)
    key: Scalar | None = None
    size: int = 1
    height: int = 1

    @property
    def wants_key(self) -> bool:
        return self.is_mapping and self.key is None

    @property
    def wants_merge(self) -> bool:
        return self.merge or (self.key is not None and _is_merge(self.key))

    def path_below(self) -> str:
        """The path of the next value; what is merged takes the path of the mapping it lands in."""
        if self.wants_merge:
            return self.path
        if self.is_mapping:
            return child_path(self.path, self.key.raw) if self.key else self.path
        return child_path(self.path, str(len(self.children)))


@dataclass(frozen=True, slots=True)
class _Anchored:
    node: Node
    size: int
    height: int


def _is_merge(key: Scalar) -> bool:
    return key.raw == "<<" and key.style == "plain"


@dataclass(slots=True)
class TreeBuilder:
    """Feeds on parser events; `root` is the tree, `mistakes` what was wrong with it."""

    source: Source
    scalar_limit: int
    root: Node | None = None
    mistakes: list[Diagnostic] = field(default_factory=list)
    scalars: list[tuple[int, int]] = field(default_factory=list)
    _stack: list[_Frame] = field(default_factory=list)
    _anchors: dict[str, _Anchored] = field(default_factory=dict)
    _nodes: int = 0
    _documents: int = 0

    def feed(self, event: Any) -> None:
        """Take one PyYAML event. Errors: Stopped, with the reason among the mistakes."""
        match type(event).__name__:
            case "ScalarEvent":
                self._scalar(event)
            case "SequenceStartEvent" | "MappingStartEvent":
                self._open(event)
            case "SequenceEndEvent" | "MappingEndEvent":
                self._close(event)
            case "AliasEvent":
                self._alias(event)
            case "DocumentStartEvent":
                self._document(event)

    def add(self, code: str, span: Span, message: Text, help: Text = NO_TEXT) -> None:
        """Note a mistake. Errors: Stopped after MISTAKE_LIMIT of them."""
        self.mistakes.append(self.source.diagnostic(code, message, span, help))
        if len(self.mistakes) == MISTAKE_LIMIT:
            message = Text(f"reading stops here after {MISTAKE_LIMIT} mistakes", f"已发现 {MISTAKE_LIMIT} 处错误，不再继续读取")
            self._stop("too-many-mistakes", span, message)

    def _stop(self, code: str, span: Span, message: Text) -> None:
        self.mistakes.append(self.source.diagnostic(code, message, span))
        raise Stopped

    def _document(self, event: Any) -> None:
        self._documents += 1
        if self._documents > 1:
            message = Text("a second document begins here: a file holds one", "此处开始了第二个文档：一个文件只能有一个文档")
            self._stop("several-documents", self._span(event, ""), message)

    def _count(self, size: int, height: int, span: Span) -> None:
        self._nodes += size
        if self._nodes > NODE_LIMIT:
            message = Text(f"more than {NODE_LIMIT:,} values, aliases expanded", f"值的数量（展开别名后）超过 {NODE_LIMIT:,}")
            self._stop("too-many-nodes", span, message)
        if len(self._stack) + height > DEPTH_LIMIT:
            message = Text(f"lists and mappings are nested deeper than {DEPTH_LIMIT} levels", f"列表和映射嵌套超过 {DEPTH_LIMIT} 层")
            self._stop("too-deep", span, message)

    def _bounds(self, event: Any) -> tuple[int, int]:
        """Where the value itself begins and ends: without the anchor before it."""
        start, end = event.start_mark.index, event.end_mark.index
        if getattr(event, "anchor", None) or getattr(event, "tag", None):
            found = _ANCHOR.match(self.source.text, start)
            start = found.end() if found else start
        # For an open bracket or an indented block the end mark says nothing about where it ends.
        return (min(start, end), end) if type(event).__name__ == "ScalarEvent" else (start, max(start + 1, end))

    def _span(self, event: Any, path: str) -> Span:
        return self.source.span(*self._bounds(event), path)

    def _path(self) -> str:
        return self._stack[-1].path_below() if self._stack else ""

    def _refuse_tag(self, event: Any) -> None:
        if event.tag is None:
            return
        start = event.start_mark.index
        word = re.compile(r"(?:&\S*\s+)?(!\S*)").match(self.source.text, start)
        span = self.source.span(word.start(1), word.end(1)) if word else self.source.span(start, start + 1)
        written = self.source.line(span.line)[span.column - 1 : span.end_column - 1]
        help = Text(f"leave it out; if it is text, put the whole value in quotes: {quoted(written)}",
                    f"请删去；若是文本，请给整个值加引号：{quoted(written)}")  # fmt: skip
        self.add("tag-refused", span, Text("tags ('!') are not read", "不支持标签（'!'）"), help if len(written) <= 80 else NO_TEXT)

    def _scalar(self, event: Any) -> None:
        self._refuse_tag(event)
        start, end = self._bounds(event)
        self.scalars.append((start, end))
        raw, style = event.value, _STYLES.get(event.style or None, "plain")
        is_key = bool(self._stack) and self._stack[-1].wants_key
        node = Scalar(self.source.span(start, end, "" if is_key else self._path()), raw, raw, style, self.source, start, end)
        self._count(1, 0, node.span)
        if is_key:
            self._key(node, event.anchor)
            return
        if len(raw) > self.scalar_limit:
            message = Text(f"a text of {len(raw):,} characters; at most {self.scalar_limit:,} are read",
                           f"文本有 {len(raw):,} 个字符，最多允许 {self.scalar_limit:,} 个")  # fmt: skip
            self.add("scalar-too-long", node.span, message)
        elif style == "plain":
            node = self._resolved(node)
        self._attach(node, event.anchor, 1, 0)

    def _resolved(self, node: Scalar) -> Scalar:
        value = resolve(node.raw)
        if isinstance(value, Trap):
            self.add(value.code, node.span, value.message, trap_help(Document(self.source, None), node, value))
            return node
        return node if value is node.raw else Scalar(node.span, value, node.raw, "plain", node.source, node.start, node.end)

    def _key(self, key: Scalar, anchor: str | None) -> None:
        frame = self._stack[-1]
        path = child_path(frame.path, key.raw)
        place = key.span
        key = Scalar(Span(place.file, place.line, place.column, place.end_column, path),
                     key.raw, key.raw, key.style, key.source, key.start, key.end)  # fmt: skip
        if anchor:
            self._anchors[anchor] = _Anchored(key, 1, 0)
        frame.key = key
        if len(key.raw) > KEY_LIMIT:
            self._bad_key(key.span, Text(f"a key is longer than {KEY_LIMIT} characters", f"键超过 {KEY_LIMIT} 个字符"))
        elif key.style == "block" or "\n" in key.raw or (not key.raw and key.style == "plain"):
            self._bad_key(key.span, Text("a key is one line of text", "键必须是单行文本"))
        elif key.raw in frame.first:
            earlier = frame.first[key.raw].span
            message = Text(f"the key '{key.raw}' stands here and at line {earlier.line}, column {earlier.column}",
                           f"键 '{key.raw}' 在此处和第 {earlier.line} 行第 {earlier.column} 列重复出现")  # fmt: skip
            self.add("duplicate-key", key.span, message, Text("keep one of the two", "请只保留其中一个"))
        else:
            frame.first[key.raw] = key

    def _bad_key(self, span: Span, message: Text) -> None:
        self.add("bad-key", span, message)

    def _alias(self, event: Any) -> None:
        span = self.source.span(event.start_mark.index, event.end_mark.index, self._path())
        known = self._anchors.get(event.anchor)
        if self._stack and self._stack[-1].wants_key:
            self._attach(Sequence(span, ()), None, 1, 0)
            return
        if known is None:
            self._unknown_alias(event.anchor, span)
            self._attach(Sequence(span, ()), None, 1, 0)
            return
        # Counted before the copy is made: this is what stops a "billion laughs" file.
        self._count(known.size, known.height, span)
        self._attach(moved(known.node, self._path()), None, known.size, known.height)

    def _unknown_alias(self, name: str, span: Span) -> None:
        message = Text(f"no value above is marked '&{name}'", f"上文没有标记为 '&{name}' 的值")
        if any(frame.anchor == name for frame in self._stack):
            message = Text(f"'*{name}' stands inside the value that it repeats", f"'*{name}' 位于它所引用的值内部")
        self.add("unknown-alias", span, message)

    def _open(self, event: Any) -> None:
        self._refuse_tag(event)
        span = self._span(event, self._path())
        self._count(1, 1, span)
        is_mapping = type(event).__name__ == "MappingStartEvent"
        merge = not is_mapping and bool(self._stack) and self._stack[-1].wants_merge
        self._stack.append(_Frame(is_mapping, self._bounds(event)[0], self._path(), event.anchor, bool(event.flow_style), merge))

    def _close(self, event: Any) -> None:
        frame = self._stack.pop()
        if frame.is_mapping:
            entries = self._merged(frame)
            node: Node = mapping_of(self._collection_span(frame, event), entries)
        else:
            node = Sequence(self._collection_span(frame, event), tuple(frame.children))
        self._attach(node, frame.anchor, frame.size, frame.height)

    def _collection_span(self, frame: _Frame, event: Any) -> Span:
        """From the first character to the end of the first line; for block style, of its first entry."""
        if frame.flow:
            return self.source.span(frame.start, event.end_mark.index, frame.path)
        start = self.source.span(frame.start, frame.start + 1, frame.path)
        first: list[Node] = [*frame.entries[0]] if frame.entries else frame.children[:1]
        ends = [child.span.end_column for child in first if child.span.line == start.line and child.span.column >= start.column]
        return Span(start.file, start.line, start.column, max([start.end_column, *ends]), frame.path)

    def _merged(self, frame: _Frame) -> tuple[tuple[Scalar, Node], ...]:
        if "<<" not in frame.first or not any(_is_merge(key) for key, _ in frame.entries):
            return tuple(frame.entries)
        taken = {key.raw for key, _ in frame.entries if not _is_merge(key)}
        merged: list[tuple[Scalar, Node]] = []
        for key, value in frame.entries:
            if not _is_merge(key):
                merged.append((key, value))
                continue
            for name, below in self._merge_sources(key, value):
                if name.raw not in taken:
                    taken.add(name.raw)
                    merged.append(moved_entry(name, below, frame.path))
        return tuple(merged)

    def _merge_sources(self, key: Scalar, value: Node) -> list[tuple[Scalar, Node]]:
        entries: list[tuple[Scalar, Node]] = []
        for part in value.items if isinstance(value, Sequence) else (value,):
            if isinstance(part, Mapping):
                entries += part.entries
            else:
                self.add("bad-merge", key.span, Text("'<<' takes a mapping or a list of mappings", "'<<' 只接受映射或映射的列表"))
        return entries

    def _attach(self, node: Node, anchor: str | None, size: int, height: int) -> None:
        if anchor:
            self._anchors[anchor] = _Anchored(node, size, height)
        if not self._stack:
            self.root = node
            return
        frame = self._stack[-1]
        frame.size += size
        frame.height = max(frame.height, height + 1)
        if not frame.is_mapping:
            frame.children.append(node)
        elif frame.key is None:
            frame.key = Scalar(node.span, "", "", "plain", self.source, 0, 0)
            self._bad_key(node.span, Text("a key is text, not a list, a mapping or an alias", "键必须是文本，不能是列表、映射或别名"))
        else:
            # Also under a refused key: the file is refused anyway, and its other mistakes are wanted.
            frame.entries.append((frame.key, node))
            frame.key = None
