"""The cache of compiled programs: found by content, written atomically, never trusted further than it reads back.

The key covers the bytes of all pack files, their names in messages, what is left out, the version of `expert` and the
minor version of Python. Claims, sources and scenarios stand in a file of their own and are read when first asked for.
"""

from __future__ import annotations

import gc
import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Generic, TypeVar

import expert
from expert.errors import ExpertError
from expert.language.codec import Encoder, decode
from expert.language.folders import pack_files
from expert.language.program import Program
from expert.units import UnitTable

FORMAT = 1
_LATER = ("claims", "sources")
_KEPT = 24
_SIZE_LIMIT = 64 * 1024 * 1024
_UNREADABLE = (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError)

V = TypeVar("V")


class LazyMapping(Mapping[str, V], Generic[V]):
    """A mapping that is read when it is first used."""

    def __init__(self, read: Callable[[], Mapping[str, V]]) -> None:
        self._read = read
        self._found: Mapping[str, V] | None = None

    def _mapping(self) -> Mapping[str, V]:
        if self._found is None:
            self._found = self._read()
        return self._found

    def __getitem__(self, key: str) -> V:
        return self._mapping()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._mapping())

    def __len__(self) -> int:
        return len(self._mapping())


def load_program(
    folders: Sequence[Path], *, without: frozenset[str] = frozenset(), cache_dir: Path | None = None, limit_bytes: int | None = None
) -> Program:
    """The program of these packs, from the cache where it has been compiled before.

    Errors: ExpertError, as `compile_packs`; a cache that is missing, foreign, corrupt or not writable is none.
    """
    key = None if cache_dir is None else content_key(folders, without)
    if cache_dir is None or key is None:
        return _compile(folders, without, limit_bytes)
    found = _read_program(cache_dir, key, lambda: _compile(folders, without, limit_bytes))
    if found is not None:
        return found
    program = _compile(folders, without, limit_bytes)
    write_program(cache_dir, key, program)
    return program


def _compile(folders: Sequence[Path], without: frozenset[str], limit_bytes: int | None) -> Program:
    # Imported here: a start from the cache pays for neither parser nor YAML.
    from expert.language.compiler import compile_packs

    if limit_bytes is None:
        return compile_packs(folders, without=without)
    return compile_packs(folders, without=without, limit_bytes=limit_bytes)


def content_key(folders: Sequence[Path], without: frozenset[str]) -> str | None:
    """SHA-256 over everything that a program is made from; None where the packs cannot be read, which compiling explains."""
    digest = hashlib.sha256()

    def add(*parts: bytes | str) -> None:
        for part in parts:
            content = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
            digest.update(len(content).to_bytes(8, "big") + content)

    add(f"{FORMAT}", expert.__version__, f"{sys.version_info[0]}.{sys.version_info[1]}", _own_digest(), *sorted(without))
    room = _SIZE_LIMIT
    try:
        for folder in folders:
            for file in pack_files(folder):
                room -= file.path.stat().st_size
                if room < 0 or not file.path.is_file():
                    return None
                add(file.shown, file.path.read_bytes())
            add("")
    except (OSError, ValueError, ExpertError):
        return None
    return digest.hexdigest()


def _own_digest() -> str:
    """Sizes and times of this program's own files: in a checkout the version alone does not tell that the code has changed."""
    own = Path(__file__).resolve().parent
    stamps = []
    for folder in (own, own.parent):
        with os.scandir(folder) as entries:
            found = [(entry.name, entry.stat()) for entry in entries if entry.name.endswith(".py")]
        stamps += [f"{name} {status.st_size} {status.st_mtime_ns}" for name, status in sorted(found, key=lambda pair: pair[0])]
    return "\n".join(stamps)


def write_program(cache_dir: Path, key: str, program: Program) -> None:
    """Store a program; a folder that cannot be written is left alone, and old entries make room."""
    values = {one.name: getattr(program, one.name) for one in fields(program) if one.name != "units"}
    later = {name: values.pop(name) for name in _LATER}
    units = [sorted(program.units.counts), [list(currency) for currency in program.units.currencies]]
    try:
        cache_dir.mkdir(parents=True, exist_ok=True)
        _write(cache_dir / f"{key}.later.json", _encoded(key, later, None))
        _write(cache_dir / f"{key}.json", _encoded(key, values, units))
        _make_room(cache_dir)
    except OSError:
        return


def _encoded(key: str, values: Mapping[str, Any], units: Any) -> bytes:
    encoder = Encoder()
    table = encoder.table({name: encoder.refer(value) for name, value in values.items()})
    whole = {"expert": FORMAT, "key": key, "units": units, "table": table}
    content = json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return hashlib.sha256(content).hexdigest().encode() + b"\n" + content


def _write(path: Path, content: bytes) -> None:
    """All of the file or nothing: written beside it, then moved over it."""
    import tempfile  # only where something is written: it costs 10 ms

    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
        os.replace(name, path)
    except OSError:
        os.unlink(name)
        raise


def _make_room(cache_dir: Path) -> None:
    """Keep the newest programs; of two processes that clean up at once each file is removed by one."""
    stored = sorted(cache_dir.glob("*.json"), key=lambda path: (path.stat().st_mtime_ns, path.name), reverse=True)
    for path in stored[2 * _KEPT :]:
        path.unlink(missing_ok=True)


def _read_values(path: Path, key: str) -> tuple[dict[str, Any], Any] | None:
    """The values of one file, None where it is missing, damaged or not ours."""
    collecting = gc.isenabled()
    gc.disable()  # thousands of objects that all stay: collecting meanwhile doubles the time
    try:
        if path.stat().st_size > _SIZE_LIMIT:
            return None
        head, _, content = path.read_bytes().partition(b"\n")
        if hashlib.sha256(content).hexdigest().encode() != head:
            return None
        whole = json.loads(content)
        if whole["expert"] != FORMAT or whole["key"] != key:
            return None
        return decode(whole["table"]), whole["units"]
    except _UNREADABLE:
        return None
    finally:
        if collecting:
            gc.enable()


def _read_program(cache_dir: Path, key: str, compile_again: Callable[[], Program]) -> Program | None:
    found = _read_values(cache_dir / f"{key}.json", key)
    if found is None:
        return None
    values, units = found

    def later(name: str) -> Mapping[str, Any]:
        stored = _read_values(cache_dir / f"{key}.later.json", key)
        return stored[0][name] if stored is not None else getattr(compile_again(), name)  # type: ignore[no-any-return]

    lazy: dict[str, Any] = {name: LazyMapping(lambda name=name: later(name)) for name in _LATER}  # type: ignore[misc]
    try:
        counts, currencies = units
        table = UnitTable.standard().with_counts(counts).with_currencies({name: (num, den) for name, num, den in currencies})
        return Program(units=table, **values, **lazy)
    except _UNREADABLE:
        return None
