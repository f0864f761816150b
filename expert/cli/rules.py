"""`expert rules lint|test [DIR…]`: what pack authors run."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NoReturn

from expert.cli.loading import engine_of
from expert.cli.options import Parser, add_general
from expert.cli.output import page_to
from expert.cli.settling import BUILT_IN
from expert.cli.streams import say
from expert.errors import EXIT_FINDINGS, EXIT_OK, Diagnostic, Text, fail, inert, nearest, render
from expert.language.program import Program
from expert.language.store import load_program
from expert.places import builtin_rules, cache_dir

SUBCOMMANDS = {
    "lint": Text("check packs: errors, and what is legal but unwise", "检查规则包：错误，以及合法但不妥之处"),
    "test": Text("run the examples and scenarios of packs", "运行规则包的示例与场景"),
}

_VALUED = ("--lang", "--engine")


def parsers(lang: str) -> dict[str, Parser]:
    """The command lines of the subcommands, by name."""
    return {name: _parser(name, lang) for name in SUBCOMMANDS}


def read(arguments: Sequence[str], lang: str) -> argparse.Namespace:
    """The options of the subcommand, which `subcommand` names. Errors: ExpertError with the nearest name."""
    # Options may stand before the subcommand, as in `rules --lang zh lint`: the value of one is no subcommand.
    words = [word for before, word in zip(("", *arguments), arguments, strict=False) if not word.startswith("-") and before not in _VALUED]
    if not words or words[0] not in SUBCOMMANDS:
        _without_subcommand(arguments, words, lang)
    rest = list(arguments)
    rest.remove(words[0])
    return argparse.Namespace(**vars(_parser(words[0], lang).read(rest)), subcommand=words[0])


def run(options: argparse.Namespace, lang: str) -> int:
    """Run the subcommand."""
    return _lint(options, lang) if options.subcommand == "lint" else _test(options, lang)


def _without_subcommand(arguments: Sequence[str], words: list[str], lang: str) -> NoReturn:
    listed = "\n".join(f"  {name}  {says.of(lang)}" for name, says in SUBCOMMANDS.items())
    page = Text(
        f"usage: expert rules {'|'.join(SUBCOMMANDS)} [DIR …]\n\n{listed}",
        f"用法：expert rules {'|'.join(SUBCOMMANDS)} [DIR …]\n\n{listed}",
    )
    if "-h" in arguments or "--help" in arguments:
        say(page.of(lang) + "\n")
        raise SystemExit(EXIT_OK)
    if not words:
        raise fail("missing-argument", Text("'expert rules' needs lint or test", "'expert rules' 需要 lint 或 test"), help=page)
    close = nearest(words[0], SUBCOMMANDS)
    shown = inert(words[0])[:60]
    help = Text(f"did you mean '{close}'?", f"是否指 '{close}'？") if close else page
    raise fail("unknown-command", Text(f"there is no command 'rules {shown}'", f"没有命令 'rules {shown}'"), help=help)


def _parser(name: str, lang: str) -> Parser:
    parser = Parser(f"rules {name}", SUBCOMMANDS[name], lang)
    says = Text("pack folders, layered in this order (default: the built-in packs)", "规则包文件夹，按此顺序叠加（默认：内置规则包）")
    parser.option("folders", nargs="*", metavar="DIR", says=says)
    if name == "test":
        says = Text("the engine to run them on (default: reference)", "运行所用的引擎（默认 reference）")
        parser.option("--engine", choices=["durable", "reference"], default="reference", metavar="durable|reference", says=says)
    says = Text("also report what is only unwise as a failure", "把不妥之处也视为失败")
    if name == "lint":
        parser.option("--strict", action="store_true", says=says)
    add_general(parser)
    return parser


# --------------------------------------------------------------------------------------------- the packs


def _folders(given: list[str]) -> tuple[list[Path], list[Path]]:
    """All folders to load, and those asked about: the built-in packs come first where a pack builds on them."""
    built_in = [builtin_rules() / name for name in BUILT_IN]
    own = [Path(folder) for folder in given]
    if not own:
        return built_in, built_in
    places = {folder.resolve() for folder in own}
    below = [folder for folder in built_in if folder.resolve() not in places] if _needs_built_in(own) else []
    return [*below, *own], own


def _needs_built_in(folders: list[Path]) -> bool:
    """Whether a pack requires a built-in one that is not among the folders."""
    from expert.language.packs import read_pack
    from expert.language.reading import Reading
    from expert.yamldoc import PACK_LIMIT_BYTES

    found = [read_pack(folder, Reading(), PACK_LIMIT_BYTES) for folder in folders]
    packs = [pack for pack in found if pack is not None]
    names = {pack.pack.name for pack in packs}
    return any(required in BUILT_IN and required not in names for pack in packs for required, _ in pack.requires)


def _names(folders: list[Path], own: list[Path], program: Program) -> frozenset[str]:
    """The names of the packs in the folders asked about; packs stand in the order of the folders."""
    return frozenset(pack.name for folder, pack in zip(folders, program.packs, strict=True) if folder in own)


# -------------------------------------------------------------------------------------------------- lint


def _lint(options: argparse.Namespace, lang: str) -> int:
    from expert.workbench.lint import lint

    folders, own = _folders(options.folders)
    program = load_program(folders, cache_dir=cache_dir())
    shown = tuple(pack.folder + "/" for pack, folder in zip(program.packs, folders, strict=True) if folder in own)
    warnings = [found for found in lint(program) if found.span is None or found.span.file.startswith(shown)]
    if warnings:
        say(render([_with_line(found, program, folders) for found in warnings], lang) + "\n\n")
    rules = len([rule for rule in program.rules.values() if rule.layer in _names(folders, own, program)])
    say(Text(f"{rules} rules, {len(warnings)} warnings\n", f"{rules} 条规则，{len(warnings)} 个警告\n").of(lang))
    return EXIT_FINDINGS if warnings and options.strict else EXIT_OK


def _with_line(found: Diagnostic, program: Program, folders: list[Path]) -> Diagnostic:
    """The warning with its source line."""
    from dataclasses import replace

    if found.span is None or found.line_text:
        return found
    for pack, folder in zip(program.packs, folders, strict=True):
        if found.span.file.startswith(pack.folder + "/"):
            lines = _lines(folder / found.span.file.removeprefix(pack.folder + "/"))
            if 0 < found.span.line <= len(lines):
                return replace(found, line_text=lines[found.span.line - 1])
    return found


@cache
def _lines(path: Path) -> tuple[str, ...]:
    try:
        return tuple(path.read_text("utf-8").split("\n"))
    except (OSError, UnicodeDecodeError):
        return ()


# -------------------------------------------------------------------------------------------------- test


def _test(options: argparse.Namespace, lang: str) -> int:
    from expert.workbench.testing import run_tests

    folders, own = _folders(options.folders)
    program = load_program(folders, cache_dir=cache_dir())
    order = [pack.name for pack in program.packs]

    @cache
    def world(layer: str, without: tuple[str, ...]) -> Program:
        upto = folders[: order.index(layer) + 1]
        return load_program(upto, without=frozenset(without), cache_dir=cache_dir()) if len(upto) < len(folders) or without else program

    page = page_to(None, lang)
    count = failed = 0
    for result in run_tests(program, world, _names(folders, own, program), engine_of(options.engine, lang)):
        count += 1
        if result.passed:
            continue
        failed += 1
        head = f"{result.span.file}:{result.span.line}: "
        page.put(head + result.name, style="red")
        for wrong in result.wrong:
            page.put(wrong.of(lang), 4, 2)
    if page.lines:
        say(page.text())
    say(Text(f"{count} tests, {failed} failed\n", f"{count} 项测试，{failed} 项失败\n").of(lang))
    return EXIT_FINDINGS if failed else EXIT_OK
