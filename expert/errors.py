"""Diagnostics: what is wrong, where, and what to write instead.

A user's mistake is a value (`Diagnostic`), collected with others and raised once as
`ExpertError`; a face prints it. Nothing here knows YAML, rules or GPUs.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import field

from expert.records import dataclass

LANGUAGES = ("en", "zh")

EXIT_OK = 0
EXIT_FINDINGS = 1
EXIT_INPUT = 2
EXIT_NO_DESIGN = 3
EXIT_FAULT = 4


@dataclass(frozen=True, slots=True)
class Text:
    """One user-facing text in both languages; a language that is missing falls back to the other."""

    en: str
    zh: str = ""

    def of(self, lang: str) -> str:
        """The text in `lang` ("en" or "zh"), else in the other language."""
        chosen = self.zh if lang == "zh" else self.en
        return chosen or self.en or self.zh

    def __bool__(self) -> bool:
        return bool(self.en or self.zh)


NO_TEXT = Text("")


@dataclass(frozen=True, slots=True)
class Span:
    """A place in a file: 1-based line and column in characters, end column exclusive, on one line.

    `path` is the dotted path of the value inside the document ("rules.3.when.0"), "" where there is none.
    """

    file: str
    line: int
    column: int
    end_column: int
    path: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One mistake. `code` is kebab-case and has a section in docs/errors.md; `line_text` is the source line."""

    code: str
    message: Text
    span: Span | None = None
    help: Text = NO_TEXT
    line_text: str = ""
    severity: str = "error"

    def sort_key(self) -> tuple[str, int, int, str, str]:
        """Order of printing: by place, then code, then text; diagnostics without a place come first."""
        if self.span is None:
            return ("", 0, 0, self.code, self.message.en)
        return (self.span.file, self.span.line, self.span.column, self.code, self.message.en)


@dataclass(eq=False)
class ExpertError(Exception):
    """Bad input or a bad call: every mistake found in one run, and the exit code it deserves (2 or 3)."""

    diagnostics: tuple[Diagnostic, ...]
    exit_code: int = EXIT_INPUT
    lang: str = field(default="en", repr=False)

    def __str__(self) -> str:
        return render(self.diagnostics, self.lang)


def fail(
    code: str, message: Text, *, span: Span | None = None, help: Text = NO_TEXT, line_text: str = "", exit_code: int = EXIT_INPUT
) -> ExpertError:
    """An `ExpertError` with a single diagnostic, ready to be raised."""
    return ExpertError((Diagnostic(code, message, span, help, line_text),), exit_code)


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known name closest to a misspelt one, or None when nothing is close (difflib ratio under 0.6)."""
    names = sorted(set(known))
    if len(word) > 200:
        return None
    import difflib  # only a mistake needs it

    found = difflib.get_close_matches(word, names, n=1, cutoff=0.6)
    if found:
        return found[0]
    tails = [name for name in names if name.rsplit(".", 1)[-1] == word.rsplit(".", 1)[-1]]
    return tails[0] if tails else None


def inert(text: str) -> str:
    """Text from a file made harmless for a terminal: control, bidi and other format characters are escaped.

    Source: CWE-150; Unicode categories Cc, Cf, Zl, Zp, Cs, Co.
    """
    return "".join(_escape(char) if unicodedata.category(char) in _UNSAFE else char for char in text)


_UNSAFE = {"Cc", "Cf", "Zl", "Zp", "Cs", "Co"}


def _escape(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def cell_width(text: str) -> int:
    """Terminal cells that a text takes: two for wide and full-width characters, none for combining ones."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def render(diagnostics: Iterable[Diagnostic], lang: str = "en") -> str:
    """All diagnostics as text, sorted by place, each with its source line, a caret and help.

    Shape: blocks separated by one blank line; no trailing newline.
    """
    return "\n\n".join(_block(d, lang) for d in sorted(set(diagnostics), key=Diagnostic.sort_key))


def _block(diagnostic: Diagnostic, lang: str) -> str:
    word = {"en": diagnostic.severity, "zh": {"error": "错误", "warning": "警告"}.get(diagnostic.severity, diagnostic.severity)}[lang]
    head = f"{word}[{diagnostic.code}]: {inert(diagnostic.message.of(lang))}"
    span = diagnostic.span
    lines = [head if span is None else f"{inert(span.file)}:{span.line}:{span.column}: {head}"]
    gutter = " " * (len(str(span.line)) if span else 0)
    if span is not None and diagnostic.line_text:
        lines += _excerpt(diagnostic.line_text, span, gutter)
    if diagnostic.help:
        label = "help" if lang == "en" else "帮助"
        first, *rest = [inert(line) for line in diagnostic.help.of(lang).split("\n")]
        lines.append(f"{gutter} = {label}: {first}" if span else f"  = {label}: {first}")
        lines += [f"{gutter}         {line}" for line in rest]
    return "\n".join(lines)


_EXCERPT_LIMIT = 160


def _excerpt(text: str, span: Span, gutter: str) -> list[str]:
    start, end = span.column - 1, max(span.column, span.end_column - 1)
    shift = max(0, start - 60) if len(text) > _EXCERPT_LIMIT else 0
    shown = text[shift : shift + _EXCERPT_LIMIT]
    before, under = inert(shown[: start - shift]), inert(shown[start - shift : end - shift])
    carets = "^" * max(1, cell_width(under))
    return [f"{gutter} |", f"{span.line} | {inert(shown)}", f"{gutter} | {' ' * cell_width(before)}{carets}"]
