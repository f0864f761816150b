"""Where things lie: the built-in packs, the terminal interface, the cache.

In a checkout `rules/` and `tui/` stand beside `expert/`; in the wheel both are inside it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def builtin_rules(package: Path = _PACKAGE) -> Path:
    """The folder that holds the built-in packs, one folder each."""
    inside = package / "_rules"
    return inside if inside.is_dir() else package.parent / "rules"


def tui_module(package: Path = _PACKAGE) -> str:
    """The name under which the terminal interface is imported: never import it by a fixed name."""
    return "expert.tui" if (package / "tui").is_dir() else "tui"


def cache_dir(environ: Mapping[str, str] = os.environ) -> Path | None:
    """The folder for compiled packs, made if need be; None where there is none to be had, which is never an error.

    EXPERT_CACHE_DIR names it, or `off` does without; else XDG_CACHE_HOME/expert, else ~/.cache/expert.
    """
    folder = _cache_candidate(environ)
    return folder if folder is not None and _made_writable(folder) else None


def _cache_candidate(environ: Mapping[str, str]) -> Path | None:
    chosen = environ.get("EXPERT_CACHE_DIR", "")
    if chosen:
        return None if chosen == "off" else Path(chosen).absolute()
    # The XDG specification has a relative path ignored; a relative HOME would litter the current folder.
    for base, below in (("XDG_CACHE_HOME", "expert"), ("HOME", ".cache/expert")):
        if environ.get(base, "").startswith(os.sep):
            return Path(environ[base], below)
    return None


def _made_writable(folder: Path) -> bool:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, ValueError):  # ValueError: a null byte in the name
        return False
    return os.access(folder, os.W_OK | os.X_OK)
