"""One YAML loader for plans and packs: text in, an immutable tree with exact places out.

The tree is built from parser events, so that depth, size and aliases are counted before anything is built, and
no tag, constructor or implicit type of PyYAML is ever used. All limits give an error, never a hang.
"""

from __future__ import annotations

import os
import re
import stat
from bisect import bisect_right
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from expert.errors import NO_TEXT, Diagnostic, ExpertError, Span, Text, fail, nearest
from expert.yamlnodes import Document, Mapping, Node, Scalar, Sequence, Source, Tree, to_plain
from expert.yamlsyntax import Fault, explain_fault, tab_diagnostic
from expert.yamltraps import flow_comma_fix, flow_comma_trap, quoted, quoted_condition_trap
from expert.yamltree import CONTROL, DEPTH_LIMIT, MISTAKE_LIMIT, NODE_LIMIT, Stopped, TreeBuilder

__all__ = [
    "DEPTH_LIMIT", "NODE_LIMIT", "PACK_LIMIT_BYTES", "PLAN_LIMIT_BYTES", "SCALAR_LIMIT",
    "Document", "Mapping", "Node", "Scalar", "Sequence", "Source", "Tree",
    "flow_comma_fix", "flow_comma_trap", "load", "quoted", "quoted_condition_trap", "read", "to_plain",
]  # fmt: skip

PLAN_LIMIT_BYTES = 256 * 1024
PACK_LIMIT_BYTES = 512 * 1024
SCALAR_LIMIT = 4_096


def load(text_or_bytes: str | bytes, file: str, limit_bytes: int, *, scalar_limit: int = SCALAR_LIMIT, loader: Any = None) -> Document:
    """The document in a text.

    `loader` is a PyYAML loader class, the C one unless a test asks for the pure one.
    Errors: ExpertError with every mistake at the level of YAML: limits, encoding, syntax, duplicate keys, traps.
    """
    source = Source.of(file, _text(text_or_bytes, file, limit_bytes))
    _refuse_control_characters(source)
    builder = TreeBuilder(source, scalar_limit)
    fault = _feed(builder, loader)
    room = MISTAKE_LIMIT - len(builder.mistakes)
    mistakes = [*builder.mistakes, *islice(_tabs(source, builder.scalars, fault.index if fault else len(source.text)), max(0, room))]
    if fault:
        explained = explain_fault(fault)
        # What was read just before the parser gave up is a guess: one message for that line is enough.
        mistakes = [found for found in mistakes if found.span and explained.span and found.span.line != explained.span.line]
        mistakes.append(explained)
    if mistakes:
        raise ExpertError(tuple(sorted(set(mistakes), key=Diagnostic.sort_key)))
    root = builder.root
    if root is None or (isinstance(root, Scalar) and root.value is None and not root.raw):
        raise fail("empty-file", Text("the file is empty", "文件为空"), span=Span(file, 1, 1, 1))
    return Document(source, root)


def read(path: Path, limit_bytes: int, shown_as: str | None = None, *, scalar_limit: int = SCALAR_LIMIT) -> Document:
    """The document in a file; `shown_as` is its name in messages.

    Errors: as `load`, and a file that is missing, no regular file, unreadable or too large; none of these blocks.
    """
    shown = shown_as or str(path)
    return load(_content(path, limit_bytes, shown), shown, limit_bytes, scalar_limit=scalar_limit)


def _text(given: str | bytes, file: str, limit_bytes: int) -> str:
    size = len(given) if isinstance(given, bytes) else _size(given, limit_bytes)
    if size > limit_bytes:
        raise _too_large(size, limit_bytes, file)
    return (_decoded(given, file) if isinstance(given, bytes) else given).removeprefix("\ufeff")


def _size(text: str, limit_bytes: int) -> int:
    return len(text) if len(text) > limit_bytes or len(text) * 4 <= limit_bytes else len(text.encode("utf-8", "surrogatepass"))


def _too_large(size: int, limit_bytes: int, file: str) -> ExpertError:
    kilobytes = -(-size // 1024)
    message = Text(f"the file has {kilobytes:,} KB; at most {limit_bytes // 1024:,} KB are read",
                   f"文件有 {kilobytes:,} KB，最多读取 {limit_bytes // 1024:,} KB")  # fmt: skip
    return fail("file-too-large", message, span=Span(file, 1, 1, 1))


def _decoded(content: bytes, file: str) -> str:
    help = Text("save the file as UTF-8", "请将文件保存为 UTF-8 编码")
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise fail("not-utf8", Text("the file is UTF-16, not UTF-8", "文件是 UTF-16 编码，不是 UTF-8"), span=Span(file, 1, 1, 1), help=help)
    if b"\0" in content:
        raise fail("not-utf8", Text("this is a binary file, not text", "这是二进制文件，不是文本"), span=Span(file, 1, 1, 1))
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8")
        row, column = Source.of(file, before).position(len(before))
        message = Text("binary file or not UTF-8: this byte is no text", "二进制文件或非 UTF-8 编码：此字节不是文本")
        raise fail("not-utf8", message, span=Span(file, row, column, column + 1), help=help) from None


def _refuse_control_characters(source: Source) -> None:
    found = []
    for match, _ in zip(CONTROL.finditer(source.text), range(MISTAKE_LIMIT), strict=False):
        name = f"U+{ord(match.group()):04X}"
        message = Text(f"the invisible character {name} cannot stand in a file", f"文件中不能有不可见字符 {name}")
        span = source.span(match.start(), match.end())
        found.append(source.diagnostic("control-character", message, span, Text("delete it", "请删除该字符")))
    if found:
        raise ExpertError(tuple(found))


def _feed(builder: TreeBuilder, loader: Any) -> Fault | None:
    """All events of the text into the builder; the parser's complaint, if it has one."""
    # Imported here: everything that only handles trees starts without PyYAML.
    import yaml

    chosen = loader or getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for event in yaml.parse(builder.source.text, Loader=chosen):
            builder.feed(event)
    except Stopped:
        return None
    except yaml.MarkedYAMLError as error:
        return _fault(builder.source, error)
    except (yaml.YAMLError, ValueError) as error:
        # The pure parser lets a ValueError of chr() and int() through.
        return Fault(builder.source, str(error).split("\n")[0], "", 0, -1)
    return None


def _fault(source: Source, error: Any) -> Fault:
    mark, context = error.problem_mark, error.context_mark
    place = mark or context
    index = min(place.index, len(source.text)) if place else 0
    return Fault(source, error.problem or "", error.context or "", index, context.index if context else -1)


_COMMENT = re.compile(r"(?:^|(?<=[ \t]))#", re.MULTILINE)


def _tabs(source: Source, scalars: list[tuple[int, int]], stop: int) -> Iterator[Diagnostic]:
    """Tabs between values, which the C parser lets pass and the pure one refuses; one per line."""
    text = source.text
    starts = [start for start, _ in scalars]
    at = text.find("\t", 0, stop)
    while at >= 0:
        place = bisect_right(starts, at) - 1
        ended = scalars[place][1] if place >= 0 else 0
        if at < ended:
            at = text.find("\t", ended, stop)
            continue
        row, column = source.position(at)
        if not _COMMENT.search(text, max(ended, at - column + 1), at):
            yield tab_diagnostic(source, at)
        following = source.starts[row] if row < len(source.starts) else stop
        after = starts[place + 1] if place + 1 < len(starts) else stop
        at = text.find("\t", min(following, max(after, at + 1)), stop)


def _content(path: Path, limit_bytes: int, shown: str) -> bytes:
    place = Span(shown, 1, 1, 1)
    try:
        # Looked at before opening: opening a FIFO waits for a writer, and a device may do anything.
        _refuse_special(os.stat(path), limit_bytes, shown)
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(descriptor, "rb") as stream:
            _refuse_special(os.fstat(descriptor), limit_bytes, shown)
            return stream.read(limit_bytes + 1)
    except FileNotFoundError:
        raise fail("file-not-found", Text("there is no such file", "文件不存在"), span=place, help=_similar(path)) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise fail("file-unreadable", Text(f"the file cannot be read: {reason}", f"无法读取文件：{reason}"), span=place) from None


def _refuse_special(status: os.stat_result, limit_bytes: int, shown: str) -> None:
    place = Span(shown, 1, 1, 1)
    if stat.S_ISDIR(status.st_mode):
        raise fail("not-a-file", Text("this is a folder, not a file", "这是文件夹，不是文件"), span=place)
    if not stat.S_ISREG(status.st_mode):
        raise fail("not-a-file", Text("this is a pipe or a device, not a file", "这是管道或设备，不是文件"), span=place)
    if status.st_size > limit_bytes:
        raise _too_large(status.st_size, limit_bytes, shown)


def _similar(path: Path) -> Text:
    try:
        with os.scandir(path.parent) as entries:
            names = [entry.name for entry, _ in zip(entries, range(1000), strict=False)]
    except (OSError, ValueError):
        return NO_TEXT
    close = nearest(path.name, names)
    return Text(f"did you mean '{path.with_name(close)}'?", f"是否指 '{path.with_name(close)}'？") if close else NO_TEXT
