"""The standard streams, which may be closed or full: what cannot be written is one clear error, and nothing is left for the exit."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import IO

from expert.errors import Text, fail


class _Shut(io.TextIOBase):
    """Stands for a standard output that is closed: Python has no stream there, and whatever is written must say so."""

    def write(self, text: str) -> int:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))


def prepare() -> None:
    """UTF-8 on both outputs, and a stream where the caller closed one.

    A closed descriptor is filled first: the next file that is opened would take its number, and the words of a library its content.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = sys.stdout or _Shut()
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - it stays open until the end
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def say(text: str) -> None:
    """Write to standard output, at once.

    Errors: ExpertError "output-unwritable"; BrokenPipeError where the reader has had enough.
    """
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        silence(sys.stdout)
        reason = Text(error.strerror or str(error))
        if error.errno == errno.EBADF:
            reason = Text("it is not open", "未打开")
        message = Text(f"standard output cannot be written: {reason.of('en')}", f"无法写入标准输出：{reason.of('zh')}")
        raise fail("output-unwritable", message) from None


def complain(text: str) -> None:
    """Write a line to standard error; where that is closed or full nobody can be told, and the exit code has to say it."""
    try:
        sys.stderr.write(text + "\n")
        sys.stderr.flush()
    except OSError:
        silence(sys.stderr)


def silence(stream: IO[str]) -> None:
    """Let what is still buffered go nowhere: it must not raise again when Python ends."""
    try:
        number = stream.fileno()
    except (OSError, ValueError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)
