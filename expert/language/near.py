"""The nearest name, where there are few enough names to look through."""

from __future__ import annotations

from collections.abc import Iterable

from expert import errors

_NAMES_LIMIT = 5_000


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known name closest to a misspelt one; None when nothing is close, or among so many names that each search takes long."""
    names = set(known)
    return errors.nearest(word, names) if len(names) <= _NAMES_LIMIT else None
