"""Which language to speak: --lang, else the locale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from expert.errors import LANGUAGES, Text, fail, inert


def pick_language(arguments: Sequence[str], environ: Mapping[str, str]) -> str:
    """ "en" or "zh": the last --lang, else the first of LC_ALL, LC_MESSAGES and LANG that is set.

    Errors: ExpertError for a --lang that is neither.
    """
    chosen = _flag(arguments)
    if chosen is None:
        return from_locale(environ)
    if chosen not in LANGUAGES:
        help = Text("write --lang en or --lang zh", "请写 --lang en 或 --lang zh")
        shown = inert(chosen)[:40]
        raise fail("unknown-language", Text(f"'{shown}' is no language of this program", f"本程序不支持语言 '{shown}'"), help=help)
    return chosen


def _flag(arguments: Sequence[str]) -> str | None:
    found = None
    for place, word in enumerate(arguments):
        if word == "--":
            break
        if word == "--lang" and place + 1 < len(arguments):
            found = arguments[place + 1]
        elif word.startswith("--lang="):
            found = word.removeprefix("--lang=")
    return found


def from_locale(environ: Mapping[str, str]) -> str:
    """The language of the locale; English for any but Chinese ones."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if environ.get(name):
            return "zh" if environ[name].lower().startswith("zh") else "en"
    return "en"
