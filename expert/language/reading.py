"""Reading nodes of a YAML tree into Python values, collecting every mistake with its place.

Each method returns None (or an empty value) after it has reported a mistake; callers go on and build nothing
from it, so that one mistake stays one message.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence

from expert.errors import NO_TEXT, Diagnostic, ExpertError, Span, Text
from expert.language.near import nearest
from expert.yamldoc import Mapping, Node, Scalar, Source, flow_comma_fix, flow_comma_trap
from expert.yamldoc import Sequence as Listing
from expert.yamlnodes import Document

KEBAB = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
ROW_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*")
FACT_NAME = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)+")
PLAIN_NAME = re.compile(r"[a-z][a-z0-9_]*")


# Mistakes that the text of an unreadable file may well undo.
_NAMES_NOTHING = frozenset({
    "unknown-fact", "unknown-name", "unknown-claim", "unknown-source", "unknown-topic", "unknown-table", "unknown-row", "unknown-unit",
    "unknown-decision", "unknown-key", "change-path", "change-stale", "missing-pack", "bad-quantity", "bad-currency",
})  # fmt: skip


MISTAKES_LIMIT = 200
"""After so many mistakes compiling stops: nobody reads more, and each costs a search for the nearest name."""


class Reading:
    """What one compilation has found wrong so far. `sources` gives the lines of every file that was read.

    `lost` says that some file could not be read at all: then nothing is said about names that nobody seems to declare.
    """

    def __init__(self) -> None:
        self.lost = False
        self.mistakes: list[Diagnostic] = []
        self.sources: dict[str, Source] = {}

    def line_of(self, span: Span) -> str:
        """The source line of a span, "" for a file that was not read."""
        source = self.sources.get(span.file)
        return source.line(span.line) if source else ""

    def report(self, code: str, span: Span, message: Text, help: Text = NO_TEXT) -> None:
        """Record a mistake with its source line."""
        if self.lost and code in _NAMES_NOTHING:
            return
        self.note(Diagnostic(code, message, span, help, self.line_of(span)))

    def note(self, found: Diagnostic) -> None:
        """Record a mistake that is a diagnostic already.

        Errors: ExpertError with everything so far, after MISTAKES_LIMIT of them.
        """
        self.mistakes.append(self.with_line(found))
        if len(self.mistakes) >= MISTAKES_LIMIT:
            message = Text(f"checking stops here after {MISTAKES_LIMIT} mistakes", f"已发现 {MISTAKES_LIMIT} 处错误，不再继续检查")
            self.mistakes.append(Diagnostic("too-many-mistakes", message))
            self.raise_if_any()

    def catch(self, error: ExpertError) -> None:
        """Record the mistakes that a lower stage raised, with source lines where they have none."""
        for found in error.diagnostics:
            self.note(found)

    def with_line(self, found: Diagnostic) -> Diagnostic:
        """A diagnostic with its source line."""
        if found.line_text or found.span is None:
            return found
        return Diagnostic(found.code, found.message, found.span, found.help, self.line_of(found.span), found.severity)

    def mapping(self, node: Node | None, what: Text) -> Mapping | None:
        """The node as a mapping; anything else is a mistake."""
        if isinstance(node, Mapping):
            if self.comma_trap(node):
                return None
            return node
        if node is not None:
            self.wrong_shape(node, Text(f"{what.en} is a mapping, one 'key: value' per line", f"{what.zh}应为映射，每行一个 '键: 值'"))
        return None

    def comma_trap(self, node: Mapping) -> bool:
        """Report a mapping in braces in which a comma cut a text in two."""
        key = flow_comma_trap(node)
        if key is None:
            return False
        fixed = flow_comma_fix(Document(key.source, None), node)
        message = Text(
            "inside braces a comma ends the text, so this is read as a key of its own", "花括号内逗号会结束文本，此处被当作另一个键"
        )
        help = Text(f"write\n{fixed}", f"请写\n{fixed}") if fixed else Text("put the whole text in quotes", "请将整段文本加引号")
        self.report("flow-comma", key.span, message, help)
        return True

    def wrong_shape(self, node: Node, message: Text, help: Text = NO_TEXT) -> None:
        """Report a value of the wrong kind."""
        self.report("wrong-shape", node.span, message, help)

    def sequence(self, node: Node | None, what: Text) -> tuple[Node, ...]:
        """The members of a list; a single scalar counts as a list of one."""
        if isinstance(node, Listing):
            return node.items
        if isinstance(node, Scalar):
            return () if node.value is None else (node,)
        if node is not None:
            self.wrong_shape(node, Text(f"{what.en} is a list", f"{what.zh}应为列表"))
        return ()

    def keys(self, node: Mapping, known: Sequence[str], what: Text) -> None:
        """Report keys that do not belong here, each with the nearest right one."""
        for key, _ in node.entries:
            if key.raw in known:
                continue
            close = nearest(key.raw, known)
            allowed = ", ".join(known)
            help = Text(f"did you mean '{close}'?", f"是否指 '{close}'？") if close else Text(f"it takes {allowed}", f"可用的键：{allowed}")
            self.report("unknown-key", key.span, Text(f"{what.en} has no '{key.raw}'", f"{what.zh}没有 '{key.raw}' 这个键"), help)

    def required(self, node: Mapping, key: str, what: Text, place: Span | None = None) -> Node | None:
        """The value of a key that must be there."""
        found = node.get(key)
        if found is None:
            self.report("missing-key", place or node.span, Text(f"{what.en} needs '{key}:'", f"{what.zh}缺少 '{key}:'"))
        return found

    def word(self, node: Node | None, what: Text) -> str | None:
        """The text of a scalar that names something."""
        if isinstance(node, Scalar) and node.raw and node.value is not None:
            return node.raw
        if node is not None:
            self.wrong_shape(node, Text(f"{what.en} is one word or name", f"{what.zh}应为一个词或名称"))
        return None

    def one_of(self, node: Node | None, known: Iterable[str], what: Text, code: str = "unknown-value") -> str | None:
        """A word out of a closed set."""
        found = self.word(node, what)
        if found is None or (isinstance(known, Container) and found in known):
            return found
        # Sets have no order of their own, and what is printed must not change from run to run.
        names = sorted(known) if isinstance(known, set | frozenset) else list(known)
        if found in names:
            return found
        assert node is not None
        close = nearest(found, names)
        listed = ", ".join(names[:12]) + (" …" if len(names) > 12 else "")
        help = Text(f"it is one of {listed}", f"可用的值：{listed}") if names else NO_TEXT
        help = Text(f"did you mean '{close}'?", f"是否指 '{close}'？") if close else help
        self.report(code, node.span, Text(f"'{found}' is not {what.en}", f"'{found}' 不是{what.zh}"), help)
        return None

    def words(self, node: Node | None, what: Text) -> tuple[tuple[str, Span], ...]:
        """A list of words, each with its place."""
        found = ((self.word(member, what), member.span) for member in self.sequence(node, what))
        return tuple((word, span) for word, span in found if word is not None)

    def flag(self, node: Node | None, default: bool = False) -> bool:
        """`true` or `false`."""
        if node is None:
            return default
        if isinstance(node, Scalar) and isinstance(node.value, bool):
            return node.value
        self.wrong_shape(node, Text("true or false belongs here", "此处应为 true 或 false"))
        return default

    def whole(self, node: Node | None, low: int, high: int, default: int) -> int:
        """A whole number within bounds."""
        if node is None:
            return default
        if isinstance(node, Scalar) and isinstance(node.value, int) and not isinstance(node.value, bool) and low <= node.value <= high:
            return node.value
        self.wrong_shape(node, Text(f"a whole number from {low} to {high} belongs here", f"此处应为 {low} 到 {high} 的整数"))
        return default

    def text(self, node: Node | None, what: Text) -> Text:
        """A text in one or both languages: `{en, zh}`, or plain words that serve for both."""
        if isinstance(node, Scalar) and node.value is not None and node.raw.strip():
            return Text(node.raw)
        if not isinstance(node, Mapping):
            if node is not None:
                self.wrong_shape(node, Text(f"{what.en} is a text: 'en:' and 'zh:'", f"{what.zh}应为文本：'en:' 与 'zh:'"))
            return NO_TEXT
        if self.comma_trap(node):
            return NO_TEXT
        self.keys(node, ("en", "zh"), what)
        parts = {key: self.prose(node.get(key), what) for key in ("en", "zh")}
        return Text(parts["en"], parts["zh"])

    def prose(self, node: Node | None, what: Text) -> str:
        """One language of a text."""
        if node is None:
            return ""
        if isinstance(node, Scalar) and node.value is not None:
            return node.raw.strip()
        self.wrong_shape(node, Text(f"{what.en} has words here", f"{what.zh}此处应为文字"))
        return ""

    def raise_if_any(self) -> None:
        """Raise everything recorded so far."""
        if self.mistakes:
            raise ExpertError(tuple(sorted(set(self.mistakes), key=Diagnostic.sort_key)))
