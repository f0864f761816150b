"""Pack folders read into trees: which files there are, what each may hold, what a pack says about itself."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from expert.errors import NO_TEXT, Diagnostic, ExpertError, Span, Text
from expert.language.folders import PACK_FILE, PackFile, pack_files, shown_folder
from expert.language.near import nearest
from expert.language.program import Pack
from expert.language.reading import KEBAB, Reading
from expert.yamldoc import PACK_LIMIT_BYTES, Document, Mapping, Scalar, read, to_plain

HEADINGS = ("topics", "units", "facts", "tables", "constants", "rules", "decisions", "changes", "sources", "claims")
_PACK_KEYS = ("pack", "version", "requires", "title")
FILES_WORTH = 8
"""A pack has at most this many times the size that one file may have: 4 MiB where a file may have 512 KiB."""


@dataclass(frozen=True, slots=True)
class RawPack:
    """A pack as read: what `pack.yaml` says, and the documents of the others in the order of their paths."""

    pack: Pack
    folder: Path
    requires: tuple[tuple[str, Span], ...]
    span: Span
    documents: tuple[Mapping, ...]
    scenarios: tuple[Mapping, ...]


def read_packs(
    folders: Sequence[Path], without: frozenset[str], reading: Reading, limit_bytes: int = PACK_LIMIT_BYTES
) -> tuple[RawPack, ...]:
    """The packs in the order given, those named in `without` left out; requirements are checked.

    Errors: recorded in `reading`; a file that is not readable YAML takes nothing else down with it. ExpertError at once where
        a pack is there twice or one that another needs is not: everything said after that would be about this mistake.
    """
    found = [pack for folder in folders if (pack := read_pack(folder, reading, limit_bytes, without)) is not None]
    for name in sorted(without - {pack.pack.name for pack in found}):
        close = nearest(name, [pack.pack.name for pack in found])
        help = Text(f"did you mean '{close}'?", f"是否指 '{close}'？") if close else NO_TEXT
        reading.mistakes.append(Diagnostic("unknown-pack", Text(f"no pack is called '{name}'", f"没有名为 '{name}' 的规则包"), None, help))
    kept = tuple(pack for pack in found if pack.pack.name not in without)
    repeated = _report_repeated(kept, reading)
    # Who is missing cannot be told where a pack is not readable; that has been reported.
    missing = _report_missing(kept, without, reading if len(found) == len(folders) else Reading())
    if repeated or missing:
        reading.raise_if_any()
    return kept


def read_pack(folder: Path, reading: Reading, limit_bytes: int, without: frozenset[str] = frozenset()) -> RawPack | None:
    """One pack folder; None when it has no usable `pack.yaml`. Of a pack that is left out only `pack.yaml` is read."""
    try:
        files = pack_files(folder)
    except ExpertError as error:
        reading.catch(error)
        return None
    shown = shown_folder(folder)
    if not files or files[0].inside != PACK_FILE:
        message = Text(f"the folder '{shown}' has no '{PACK_FILE}'", f"文件夹 '{shown}' 没有 '{PACK_FILE}'")
        help = Text("write one with 'pack: NAME' and \"version: '1.0'\"", "请写一个，内容为 'pack: 名称' 和 \"version: '1.0'\"")
        reading.report("pack-folder", Span(f"{shown}/{PACK_FILE}", 1, 1, 1), message, help)
        return None
    if not _within_size(files, shown, limit_bytes, reading):
        return None
    head = _document(files[0], reading, limit_bytes)
    if head is None:
        return None
    name = head.get("pack")
    left_out = isinstance(name, Scalar) and name.raw in without
    bodies = () if left_out else files[1:]
    documents = [(file, node) for file in bodies if (node := _document(file, reading, limit_bytes)) is not None]
    digest = _digest([head, *(node for _, node in documents)])
    return _raw_pack(head, documents, digest, folder, reading)


def _within_size(files: Sequence[PackFile], shown: str, limit_bytes: int, reading: Reading) -> bool:
    """Whether the files of a pack are small enough together.

    Errors: recorded in `reading`: pack-too-large.
    """
    total, limit = sum(file.path.stat().st_size for file in files if file.path.is_file()), FILES_WORTH * limit_bytes
    if total <= limit:
        return True
    message = Text(f"the files of '{shown}' have {total // 1024:,} KB; a pack has at most {limit // 1024:,} KB",
                   f"'{shown}' 的文件共 {total // 1024:,} KB，规则包最多 {limit // 1024:,} KB")  # fmt: skip
    help = Text("make two packs of it, or check the path", "请拆成两个规则包，或检查路径")
    reading.report("pack-too-large", Span(f"{shown}/pack.yaml", 1, 1, 1), message, help)
    return False


def _document(file: PackFile, reading: Reading, limit_bytes: int) -> Mapping | None:
    try:
        document: Document = read(file.path, limit_bytes, file.shown)
    except ExpertError as error:
        reading.catch(error)
        reading.lost = True
        return None
    reading.sources[document.file] = document.source
    return reading.mapping(document.root, Text("a pack file", "规则包文件"))


def _raw_pack(head: Mapping, documents: list[tuple[PackFile, Mapping]], digest: str, folder: Path, reading: Reading) -> RawPack | None:
    what = Text(f"'{PACK_FILE}'", f"'{PACK_FILE}'")
    reading.keys(head, _PACK_KEYS, what)
    name_node = reading.required(head, "pack", what)
    name = reading.word(name_node, Text("the name of a pack", "规则包名"))
    version = reading.word(reading.required(head, "version", what), Text("a version", "版本"))
    if name is None:
        return None
    assert name_node is not None
    if not KEBAB.fullmatch(name):
        reading.report("bad-name", name_node.span, Text(f"'{name}' is no name for a pack", f"'{name}' 不能作规则包名"),
                       Text("use small letters, digits and hyphens", "请用小写字母、数字和连字符"))  # fmt: skip
    for file, node in documents:
        _check_headings(file, node, reading)
    pack = Pack(name, version or "", reading.text(head.get("title"), Text("a title", "标题")), digest, shown_folder(folder))
    requires = reading.words(head.get("requires"), Text("a required pack", "所需规则包"))
    rules = tuple(node for file, node in documents if not file.is_scenario)
    return RawPack(pack, folder.resolve(), requires, name_node.span, rules, tuple(node for file, node in documents if file.is_scenario))


def _check_headings(file: PackFile, node: Mapping, reading: Reading) -> None:
    if file.is_scenario:
        reading.keys(node, ("scenarios",), Text("a file under tests/", "tests/ 下的文件"))
    else:
        reading.keys(node, HEADINGS, Text("a pack file", "规则包文件"))


def _digest(nodes: list[Mapping]) -> str:
    """SHA-256 of what the files mean, in order; comments and layout do not count."""
    plain = json.dumps([to_plain(node) for node in nodes], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()


def _report_repeated(packs: Sequence[RawPack], reading: Reading) -> bool:
    """Whether a name stands for more than one pack: one mistake for each such name, at its second pack, with all folders."""
    named: dict[str, list[RawPack]] = {}
    for pack in packs:
        named.setdefault(pack.pack.name, []).append(pack)
    repeated = [several for several in named.values() if len(several) > 1]
    for several in repeated:
        first, second = several[:2]
        name, shown = first.pack.name, list(dict.fromkeys(pack.pack.folder for pack in several))
        if len({pack.folder for pack in several}) == 1:
            message = Text(f"the pack '{name}' is loaded twice, each time from {shown[0]}",
                           f"规则包 '{name}' 被加载两次，均来自 {shown[0]}")  # fmt: skip
            help = Text("name it once; built-in packs need not be named", "请只列出一次；内置规则包无需列出")
        else:
            listed_en, listed_zh = " and ".join(shown), " 和 ".join(shown)
            message = Text(f"two packs are called '{name}': those in {listed_en}", f"有两个规则包名为 '{name}'：位于 {listed_zh}")
            help = Text("give one of them another name, or load only one", "请为其中一个改名，或只加载一个")
        reading.report("defined-twice", second.span, message, help)
    return bool(repeated)


def _report_missing(packs: Sequence[RawPack], without: frozenset[str], reading: Reading) -> bool:
    """Whether a pack builds on one that does not lie below it: one mistake for each such pack, naming the first."""
    present, found = {pack.pack.name for pack in packs}, False
    below: set[str] = set()
    for pack in packs:
        name = pack.pack.name
        absent = [(required, span) for required, span in pack.requires if required not in below]
        for required, span in absent[:1]:
            reading.report("missing-pack", span, *_missing(name, required, required in without, required in present))
        found = found or bool(absent)
        below.add(name)
    return found


def _missing(name: str, required: str, left_out: bool, later: bool) -> tuple[Text, Text]:
    if later:
        return (Text(f"'{name}' builds on '{required}', which comes after it", f"'{name}' 基于 '{required}'，而后者排在其后"),
                Text(f"name '{required}' first", f"请先列出 '{required}'"))  # fmt: skip
    if left_out:
        return (Text(f"'{name}' builds on '{required}', which is left out", f"'{name}' 基于 '{required}'，而后者已被排除"),
                Text(f"leave '{name}' out too, or keep '{required}'", f"请同时排除 '{name}'，或保留 '{required}'"))  # fmt: skip
    return (Text(f"'{name}' builds on '{required}', which is not loaded", f"'{name}' 基于 '{required}'，而后者未加载"),
            Text(f"name the folder of '{required}' before this one", f"请在此之前列出 '{required}' 的文件夹"))  # fmt: skip
