"""`expert.yaml`: what a folder's plans are read with. It stands beside the plan, else in the working folder.

packs: [../company-pack]     # folders, relative to this file
without: [errata]
engine: reference
lang: zh
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from expert.errors import LANGUAGES, Diagnostic, ExpertError, Text
from expert.records import dataclass

FILE = "expert.yaml"
KEYS = ("packs", "without", "engine", "lang")
ENGINES = ("durable", "reference")
LIMIT_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Settings:
    """What a settings file says; empty where there is none. `places` tells where each name of `without` stands."""

    packs: tuple[Path, ...] = ()
    without: tuple[str, ...] = ()
    engine: str | None = None
    lang: str | None = None
    places: tuple[tuple[str, Diagnostic], ...] = ()

    def placed(self, error: ExpertError) -> ExpertError:
        """An error about a pack that is not there, moved to the line of the file that leaves the pack out."""
        known = dict(self.places)
        found = tuple(_placed(one, known) for one in error.diagnostics)
        return ExpertError(found, error.exit_code)


def _placed(found: Diagnostic, places: dict[str, Diagnostic]) -> Diagnostic:
    if found.code != "unknown-pack" or found.span is not None:
        return found
    at = next((place for name, place in places.items() if f"'{name}'" in found.message.en), None)
    return found if at is None else replace(found, span=at.span, line_text=at.line_text)


def settings_near(plan: Path | None) -> Settings:
    """The settings that hold for a plan: of the file in its folder, else of the one in the working folder; None: no plan file.

    Errors: ExpertError with every mistake of the file.
    """
    path = settings_file(plan)
    return Settings() if path is None else read_settings(path)


def settings_file(plan: Path | None) -> Path | None:
    """The file that `settings_near` reads; None where there is none. A plan that has its name is no settings file."""
    folders = ([plan.parent] if plan is not None else []) + [Path()]
    for folder in folders:
        path = folder / FILE
        if os.path.lexists(path) and not (plan is not None and path.exists() and plan.exists() and path.samefile(plan)):
            return path
    return None


def read_settings(path: Path) -> Settings:
    """What a settings file says. Errors: ExpertError with every mistake."""
    # Imported here: where there is no such file, nothing needs YAML for it.
    from expert.language.reading import Reading
    from expert.yamldoc import read

    document = read(path, LIMIT_BYTES)
    reading = Reading()
    reading.sources[document.file] = document.source
    what = Text("a settings file", "设置文件")
    root = reading.mapping(document.root, what)
    if root is None:
        reading.raise_if_any()
        return Settings()
    reading.keys(root, KEYS, what)
    packs: list[Path] = []
    for word, span in reading.words(root.get("packs"), Text("a pack folder", "规则包文件夹")):
        packs.append(path.parent / word)
        if not packs[-1].is_dir():
            help = Text("paths are relative to this file", "路径相对于此文件")
            reading.report("pack-folder", span, Text(f"there is no pack folder '{word}'", f"没有规则包文件夹 '{word}'"), help)
    without = reading.words(root.get("without"), Text("a pack to leave out", "要排除的规则包"))
    engine = reading.one_of(root.get("engine"), ENGINES, Text("an engine", "引擎"))
    lang = reading.one_of(root.get("lang"), LANGUAGES, Text("a language of this program", "本程序支持的语言"), "unknown-language")
    reading.raise_if_any()
    places = tuple((word, document.diagnostic("unknown-pack", Text(""), span)) for word, span in without)
    return Settings(tuple(packs), tuple(word for word, _ in without), engine, lang, places)
