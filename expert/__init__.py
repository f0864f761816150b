"""A rule-based expert system that can defend every word of its advice.

    from expert import consult
    advice = consult(plan, packs)

`consult`, `Advice` and `ExpertError` are loaded on first use, so that a bare `import expert` costs nothing.
Start reading at `expert/consult.py`.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from expert.advice import Advice
    from expert.consult import consult
    from expert.errors import ExpertError

__all__ = ["Advice", "ExpertError", "__version__", "consult"]
__version__ = "0.1.0"

_HOMES = {"Advice": "expert.advice", "ExpertError": "expert.errors", "consult": "expert.consult"}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """`consult` is a module and the function in it: on the package the name means the function, whichever was imported first."""

    def __setattr__(self, name: str, value: object) -> None:
        # The import system binds a submodule to its package after loading it; that must not hide the function.
        super().__setattr__(name, value.consult if name == "consult" and isinstance(value, ModuleType) else value)


sys.modules[__name__].__class__ = _Package
