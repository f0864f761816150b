"""The command line of one command: argparse with our own messages, in both languages."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import NoReturn

from expert.cli.streams import say
from expert.errors import NO_TEXT, ExpertError, Text, fail, inert, nearest

_USAGE = Text("usage: ", "用法：")
_PATHS = ("FILE", "DIR", "PLAN")
_HEADINGS = {"positional arguments": Text("arguments", "参数"), "options": Text("options", "选项")}


class Parser(argparse.ArgumentParser):
    """An argument parser whose mistakes are `ExpertError`s."""

    def __init__(self, command: str, summary: Text, lang: str) -> None:
        super().__init__(
            prog=f"expert {command}", description=summary.of(lang), add_help=False, allow_abbrev=False, formatter_class=_formatter(lang)
        )
        self.lang = lang
        self._positionals.title = _HEADINGS["positional arguments"].of(lang)
        self._optionals.title = _HEADINGS["options"].of(lang)

    def option(self, *names: str, says: Text, **settings: object) -> None:
        """Add an option or argument with help in both languages."""
        self.add_argument(*names, help=says.of(self.lang).replace("%", "%%"), **settings)  # type: ignore[arg-type]

    def actions(self) -> list[argparse.Action]:
        """The options and arguments, in the order of the help."""
        return list(self._actions)

    def read(self, arguments: Sequence[str]) -> argparse.Namespace:
        """The parsed command line. Errors: ExpertError with the nearest option."""
        # Parsing intermixed arguments cuts "usage: " off by its length, which is another one in Chinese: the usage is set before.
        self.usage = self.format_usage().removeprefix(_USAGE.of(self.lang)).strip()
        # Intermixed: `explain PLAN --lang zh FACT` is one call, wherever the options stand.
        found, rest = self.parse_known_intermixed_args(list(arguments))
        if rest:
            raise _unknown(rest[0], self._option_string_actions)
        self._refuse_nowhere(found)
        return found

    def _refuse_nowhere(self, found: argparse.Namespace) -> None:
        """An empty path would mean the folder that one stands in."""
        for action in self._actions:
            given = getattr(found, action.dest, None)
            if action.metavar in _PATHS and (given == "" or (isinstance(given, list) and "" in given)):
                name = "/".join(action.option_strings) or action.metavar
                raise fail("missing-argument", Text(f"{name} is empty", f"{name} 为空"), help=Text("write a path", "请写一个路径"))

    def _print_message(self, message: str, file: object = None) -> None:
        """Help goes where all output goes: argparse passes over a stream that is closed or full."""
        say(message)

    def error(self, message: str) -> NoReturn:
        """Turn a complaint of argparse into ours."""
        raise _translated(message)


def _formatter(lang: str) -> type[argparse.HelpFormatter]:
    class Formatter(argparse.HelpFormatter):
        def add_usage(self, usage, actions, groups, prefix=None):  # type: ignore[no-untyped-def]
            super().add_usage(usage, actions, groups, _USAGE.of(lang))

    return Formatter


def _unknown(word: str, known: Sequence[str] | dict[str, argparse.Action]) -> ExpertError:
    shown = inert(word)[:60]
    if not word.startswith("-"):
        return fail("too-many-arguments", Text(f"one argument too many: '{shown}'", f"多余的参数：'{shown}'"))
    close = nearest(word.split("=")[0], [name for name in known if name.startswith("--")])
    help = Text(f"did you mean '{close}'?", f"是否指 '{close}'？") if close else NO_TEXT
    return fail("unknown-option", Text(f"there is no option '{shown}'", f"没有选项 '{shown}'"), help=help)


_REQUIRED = re.compile(r"the following arguments are required: (.*)")
_CHOICE = re.compile(r"argument ([^:]*): invalid choice: (.*) \(choose from (.*)\)", re.DOTALL)
_VALUE = re.compile(r"argument ([^:]*): expected (?:one|at least one) argument")
_NO_VALUE = re.compile(r"argument ([^:]*): ignored explicit argument (.*)")


def _translated(message: str) -> ExpertError:
    if found := _REQUIRED.fullmatch(message):
        return fail("missing-argument", Text(f"{found[1]} is missing", f"缺少 {found[1]}"))
    if found := _VALUE.fullmatch(message):
        return fail("missing-argument", Text(f"{found[1]} needs a value", f"{found[1]} 需要一个值"))
    if found := _CHOICE.fullmatch(message):
        names = re.findall(r"[\w-]+", found[3])
        word = found[2].strip("'\"")
        close = nearest(word, names)
        help = (
            Text(f"did you mean '{close}'?", f"是否指 '{close}'？")
            if close
            else Text(f"it is one of {', '.join(names)}", f"可用的值：{', '.join(names)}")
        )
        shown = inert(word)[:60]
        return fail("unknown-value", Text(f"{found[1]} takes no '{shown}'", f"{found[1]} 不能是 '{shown}'"), help=help)
    if found := _NO_VALUE.fullmatch(message):
        return fail("unknown-value", Text(f"{found[1]} takes no value", f"{found[1]} 不带值"))
    return fail("bad-call", Text(inert(message)))


def add_general(parser: Parser) -> None:
    """Options that every command has."""
    parser.option("-h", "--help", action="help", says=Text("show this help", "显示帮助"))
    parser.option("--lang", metavar="en|zh", says=Text("language of all output (default: the locale)", "输出语言（默认取自区域设置）"))


def add_output(parser: Parser, formats: Sequence[str] = ("text", "json")) -> None:
    """--format and -o."""
    says = Text("what to write (default: text)", "输出格式（默认 text）")
    parser.option("--format", choices=list(formats), default="text", metavar="|".join(formats), says=says)
    says = Text("write to FILE, whole or not at all", "写入文件（要么完整写入，要么不写）")
    parser.option("-o", "--output", metavar="FILE", says=says)


def add_packs(parser: Parser) -> None:
    """--pack and --without."""
    says = Text("a folder with a rule pack, layered over the others; may be repeated", "规则包文件夹，叠加在其他规则包之上；可重复")
    parser.option("--pack", action="append", default=[], metavar="DIR", says=says)
    says = Text("leave a pack out, for example errata; may be repeated", "排除某个规则包，例如 errata；可重复")
    parser.option("--without", action="append", default=[], metavar="PACK", says=says)


def add_plan(parser: Parser) -> None:
    """PLAN, --set and --engine."""
    parser.option("plan", metavar="PLAN", says=Text("a plan file, or - for standard input", "方案文件，- 表示标准输入"))
    says = Text("state a fact, over what the plan says; may be repeated", "给出一个事实，覆盖方案中的值；可重复")
    parser.option("--set", action="append", default=[], metavar="FACT=VALUE", dest="overrides", says=says)
    says = Text("the engine that fires the rules (default: durable, where there is one)", "规则引擎（默认 durable，没有则用 reference）")
    parser.option("--engine", choices=["durable", "reference"], metavar="durable|reference", says=says)
