"""Which files belong to a pack folder. Nothing is parsed here, so that a cached start stays cheap."""

from __future__ import annotations

import os
from pathlib import Path

from expert.errors import Diagnostic, ExpertError, Span, Text, fail
from expert.places import builtin_rules
from expert.records import dataclass

FILE_LIMIT = 500
_ENTRY_LIMIT = 20_000
PACK_FILE = "pack.yaml"


@dataclass(frozen=True, slots=True)
class PackFile:
    """One YAML file of a pack: its place on disk, its path inside the folder, and its name in messages."""

    path: Path
    inside: str
    shown: str

    @property
    def is_scenario(self) -> bool:
        """Whether the file lies under `tests/`, where only scenarios stand."""
        return self.inside.startswith("tests/")


def shown_folder(folder: Path) -> str:
    """A folder's name in messages: as it was given; the built-in packs are `rules/NAME` wherever they are installed."""
    return f"rules/{folder.name}" if folder.parent == builtin_rules() else folder.as_posix()


def pack_files(folder: Path) -> tuple[PackFile, ...]:
    """The YAML files of a pack folder, `pack.yaml` first, the others by path.

    Errors: ExpertError pack-folder, pack-link, pack-file-name, pack-too-many-files.
    """
    shown = shown_folder(folder)
    if not folder.is_dir():
        help = Text(f"a pack is a folder with a file '{PACK_FILE}'", f"规则包是含有 '{PACK_FILE}' 文件的文件夹")
        raise fail("pack-folder", Text(f"there is no pack folder '{shown}'", f"没有规则包文件夹 '{shown}'"), help=help)
    root = folder.resolve()
    found: list[PackFile] = []
    mistakes: list[Diagnostic] = []
    for inside in _walk(folder, shown):
        path = folder / inside
        place = Span(f"{shown}/{inside}", 1, 1, 1)
        if path.is_symlink() and not path.resolve().is_relative_to(root):
            mistakes.append(Diagnostic("pack-link", Text("this link leads out of the pack folder", "该链接指向规则包文件夹之外"), place,
                                       Text("copy the file into the pack", "请将文件复制到规则包内")))  # fmt: skip
        elif inside.endswith(".yml"):
            mistakes.append(Diagnostic("pack-file-name", Text("the files of a pack end in .yaml", "规则包的文件以 .yaml 结尾"), place,
                                       Text(f"rename it to '{inside[:-4]}.yaml'", f"请改名为 '{inside[:-4]}.yaml'")))  # fmt: skip
        elif inside.endswith(".yaml"):
            found.append(PackFile(path, inside, f"{shown}/{inside}"))
    if len(found) > FILE_LIMIT:
        raise _too_many(shown)
    if mistakes:
        raise ExpertError(tuple(mistakes))
    return tuple(sorted(found, key=lambda file: (file.inside != PACK_FILE, file.inside)))


def _walk(folder: Path, shown: str) -> list[str]:
    """Paths of all files and links below a folder; hidden names and linked folders are not entered."""
    found: list[str] = []
    for base, folders, files in os.walk(folder, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        below = Path(base).relative_to(folder)
        linked = [name for name in folders if os.path.islink(os.path.join(base, name))]
        found += [(below / name).as_posix() for name in [*files, *linked] if not name.startswith(".")]
        if len(found) > _ENTRY_LIMIT:
            raise _too_many(shown)
    return sorted(found)


def _too_many(shown: str) -> ExpertError:
    message = Text(
        f"the folder '{shown}' has more files than the {FILE_LIMIT} that a pack may have",
        f"文件夹 '{shown}' 的文件超过规则包上限 {FILE_LIMIT} 个",
    )
    return fail("pack-too-many-files", message)
