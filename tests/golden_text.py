"""Golden texts: what a user reads, word by word. `UPDATE_GOLDEN=1` writes them anew; review the diff like prose."""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "golden"


def assert_golden(name: str, text: str) -> None:
    """Compare a text with tests/golden/NAME."""
    path = FOLDER / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    assert path.read_text("utf-8") == text
