"""Packs that installed distributions bring: entry points of the group `expert.packs`, found without running anything of theirs.

An entry point is `NAME = PACKAGE` or `NAME = PACKAGE:FOLDER`: the folder of the package, or a folder inside it (dots part
levels). The package is located, never imported: a pack is data.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from expert.errors import Diagnostic, ExpertError, Text, inert
from expert.records import dataclass

GROUP = "expert.packs"
_METADATA = (".dist-info", ".egg-info")
_VALUE = re.compile(r"(?P<package>\w+(?:\.\w+)*)\s*(?::\s*(?P<inside>\w+(?:\.\w+)*))?")


@dataclass(frozen=True, slots=True)
class InstalledPack:
    """A pack that an installed distribution brings: name and value of its entry point, and its folder, None where it leads nowhere."""

    name: str
    value: str
    folder: Path | None


def installed_packs(path: Sequence[str] | None = None) -> tuple[InstalledPack, ...]:
    """The installed packs by name.

    path: folders to search, sys.path where none is given.
    """
    where = sys.path if path is None else path
    if not _is_any(where):
        return ()
    return tuple(InstalledPack(name, value, _folder(value)) for name, value in sorted(set(_entries(where))))


def nowhere(packs: Iterable[InstalledPack]) -> ExpertError | None:
    """The error "installed-pack", one diagnostic for each of these packs that has no folder; None where all have one."""
    mistakes = tuple(_nowhere(pack.name, pack.value) for pack in packs if pack.folder is None)
    return ExpertError(mistakes) if mistakes else None


def _is_any(path: Sequence[str]) -> bool:
    """Whether some distribution mentions the group at all: importing importlib.metadata alone would cost several times this."""
    group = GROUP.encode()
    return any(group in content for folder in dict.fromkeys(path) for content in _declarations(folder or "."))


def _declarations(folder: str) -> Iterator[bytes]:
    try:
        with os.scandir(folder) as entries:
            named = [entry.path for entry in entries if entry.name.endswith(_METADATA)]
    except OSError:  # a zip archive, or a folder that is not there: neither holds a pack folder
        return
    for place in named:
        try:
            descriptor = os.open(os.path.join(place, "entry_points.txt"), os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        except OSError:
            continue
        with open(descriptor, "rb") as stream:
            yield stream.read()


def _entries(path: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Name and value of each entry point of the group; of a distribution that is installed twice the first counts, as for Python."""
    from importlib.metadata import distributions  # only where the group is mentioned

    seen: set[str] = set()
    for distribution in distributions(path=list(path)):
        name = re.sub(r"[-_.]+", "-", distribution.name).lower()
        if name not in seen:
            seen.add(name)
            yield from ((entry.name, entry.value) for entry in distribution.entry_points if entry.group == GROUP)


def _folder(value: str) -> Path | None:
    """The folder that an entry point names; None where there is none."""
    parts = _VALUE.fullmatch(value.strip())
    if parts is None:
        return None
    from importlib.util import find_spec

    top, *below = parts["package"].split(".")
    try:
        spec = find_spec(top)  # a top-level name is looked up without being imported; a dotted one would import its parents
    except (ImportError, ValueError):
        return None
    inside = Path(*below, *(parts["inside"] or "").split("."))
    places = [Path(place) / inside for place in (spec.submodule_search_locations if spec is not None else None) or ()]
    return next((place for place in places if place.is_dir()), None)


def _nowhere(name: str, value: str) -> Diagnostic:
    shown, target = inert(name)[:60], inert(value)[:120]
    message = Text(f"the installed pack '{shown}' has no folder: '{target}'", f"已安装的规则包 '{shown}' 没有文件夹：'{target}'")
    help = Text(
        f"an entry point of '{GROUP}' names PACKAGE or PACKAGE:FOLDER; --without {shown} leaves it out",
        f"'{GROUP}' 入口点应写作 PACKAGE 或 PACKAGE:FOLDER；--without {shown} 可将其排除",
    )
    return Diagnostic("installed-pack", message, None, help)
