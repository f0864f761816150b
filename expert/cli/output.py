"""Where results go: standard output, or a file that is written whole or not at all."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from expert.cli.streams import say
from expert.errors import Span, Text, fail
from expert.report.page import Page, page_for


def page_to(output: str | None, lang: str) -> Page:
    """A page for standard output, or for a file, which has no colour."""
    page = page_for(sys.stdout, lang)
    if output is not None:
        page.colour = False
    return page


def deliver(text: str, output: str | None) -> None:
    """Write to standard output, or replace a file.

    Errors: ExpertError "output-unwritable".
    """
    if output is None or output == "-":
        say(text)
        return
    path = Path(output)
    try:
        if path.exists() and not path.is_file():
            _write_special(path, text)
        else:
            _replace(path.resolve(), text)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        message = Text(f"the file cannot be written: {reason}", f"无法写入文件：{reason}")
        raise fail("output-unwritable", message, span=Span(output, 1, 1, 1)) from None


def _write_special(path: Path, text: str) -> None:
    # A device or a pipe cannot be replaced; a folder fails here with the reason of the system.
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text)


def _replace(path: Path, text: str) -> None:
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with open(beside, "x", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)
