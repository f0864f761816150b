"""`expert COMMAND …`: finds the command, runs it, and turns whatever happens into an exit code. No traceback reaches a user."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import cast

from expert.cli.language import pick_language
from expert.cli.streams import complain, prepare, say, silence
from expert.errors import EXIT_FAULT, EXIT_OK, ExpertError, Text, fail, inert, nearest, render

INTERRUPTED = 130
COMMANDS: dict[str, tuple[str, Text]] = {
    "recommend": ("expert.cli.recommend", Text("recommend a design for a plan", "为方案推荐设计")),
    "explain": ("expert.cli.explaining", Text("explain a recommendation, a fact or a rule", "解释推荐结果、某个事实或规则")),
    "init": ("expert.cli.init", Text("write a commented sample plan", "生成带注释的示例方案")),
    "catalog": ("expert.cli.catalog", Text("show the tables of the packs", "查看规则包中的表格")),
    "rules": ("expert.cli.rules", Text("check and test rule packs", "检查和测试规则包")),
}
"""Commands by name: the module, and what it does.

A module has `parsers(lang)`, its command lines ("" is its own, other keys are subcommands), `run(options, lang) -> int`, and
where it has subcommands `read(arguments, lang)`.
"""

_VALUED = ("--lang", "--completion")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    lang = "en"
    try:
        prepare()
        lang = pick_language(given, os.environ)
        lang, command = _prepared(given, lang)
        return command()
    except SystemExit as ended:  # argparse ends the program after it has shown help
        return ended.code if isinstance(ended.code, int) else EXIT_OK
    except ExpertError as error:
        complain(render(error.diagnostics, lang))
        return error.exit_code
    except BrokenPipeError:
        # Whoever read our output has had enough; what is still buffered must not raise again at exit.
        silence(sys.stdout)
        return EXIT_OK
    except KeyboardInterrupt:
        complain(Text("interrupted", "已中断").of(lang))
        return INTERRUPTED
    except Exception as fault:  # noqa: BLE001 - the one place where a fault of the program becomes exit 4
        return _fault(fault, lang)


def _fault(fault: Exception, lang: str) -> int:
    if os.environ.get("EXPERT_DEBUG"):
        import traceback

        traceback.print_exception(fault)
    reason = inert(f"{type(fault).__name__}: {fault}")[:400]
    tail = Text("please report it; EXPERT_DEBUG=1 shows where", "请反馈此问题；设置 EXPERT_DEBUG=1 可查看出错位置").of(lang)
    complain(f"{Text('internal fault', '内部错误').of(lang)}: {reason} ({tail})")
    return EXIT_FAULT


def _prepared(given: list[str], lang: str) -> tuple[str, Callable[[], int]]:
    """The language to speak, which a settings file may choose, and what to run."""
    before, command, rest = _split(given)
    if command is None:
        return lang, lambda: _without_command(before, lang)
    if command not in COMMANDS:
        close = nearest(command, COMMANDS)
        listed = ", ".join(COMMANDS)
        help = Text(f"did you mean '{close}'?", f"是否指 '{close}'？") if close else Text(f"commands are {listed}", f"可用的命令：{listed}")
        shown = inert(command)[:60]
        raise fail("unknown-command", Text(f"there is no command '{shown}'", f"没有命令 '{shown}'"), help=help)
    from expert.cli.settling import settled

    module = import_module(COMMANDS[command][0])
    arguments = [*rest, *before]
    options = settled(module.read(arguments, lang) if hasattr(module, "read") else module.parsers(lang)[""].read(arguments))
    spoken = options.lang or lang
    return spoken, lambda: cast(int, module.run(options, spoken))


def _split(given: list[str]) -> tuple[list[str], str | None, list[str]]:
    """Options before the command, the command, and what follows it."""
    before: list[str] = []
    place = 0
    while place < len(given) and given[place].startswith("-") and given[place] != "-":
        taken = 2 if given[place] in _VALUED else 1
        before += given[place : place + taken]
        place += taken
    return before, (given[place] if place < len(given) else None), given[place + 1 :]


def _without_command(before: list[str], lang: str) -> int:
    flags = _flags(before)
    if "--version" in flags or "-V" in flags:
        from expert import __version__

        say(f"expert {__version__}\n")
        return EXIT_OK
    if "--completion" in flags:
        return _completion(flags["--completion"], lang)
    say(overview(lang) + "\n")
    return EXIT_OK


def _flags(before: list[str]) -> dict[str, str]:
    """The options before a command with their values. Errors: ExpertError for one that is not known there."""
    known = ("--help", "--version", "--lang", "--completion")
    found: dict[str, str] = {}
    rest = list(before)
    while rest:
        name, _, value = rest.pop(0).partition("=")
        if name not in (*known, "-h", "-V"):
            raise _unknown_flag(name, known)
        if name in _VALUED and not value:
            value = rest.pop(0) if rest else ""
        found[name] = value
    return found


def _unknown_flag(name: str, known: Sequence[str]) -> ExpertError:
    close = nearest(name, known)
    help = (
        Text(f"did you mean '{close}'?", f"是否指 '{close}'？")
        if close
        else Text("'expert --help' lists the commands", "'expert --help' 列出所有命令")
    )
    shown = inert(name)[:60]
    return fail("unknown-option", Text(f"there is no option '{shown}' before a command", f"命令之前没有选项 '{shown}'"), help=help)


def _completion(shell: str, lang: str) -> int:
    from expert.cli.completion import SHELLS, script

    if not shell:
        raise fail("missing-argument", Text("--completion needs a value", "--completion 需要一个值"), help=_shells(""))
    if shell not in SHELLS:
        shown = inert(shell)[:60]
        raise fail("unknown-value", Text(f"--completion takes no '{shown}'", f"--completion 不能是 '{shown}'"), help=_shells(shell))
    say(script(shell, COMMANDS, lang))
    return EXIT_OK


def _shells(wanted: str) -> Text:
    from expert.cli.completion import SHELLS

    close, listed = nearest(wanted, SHELLS), ", ".join(SHELLS)
    return Text(f"did you mean '{close}'?", f"是否指 '{close}'？") if close else Text(f"it is one of {listed}", f"可用的值：{listed}")


def overview(lang: str) -> str:
    """The help page of `expert` itself."""
    width = max(len(name) for name in COMMANDS)
    commands = "\n".join(f"  {name:<{width}}  {summary.of(lang)}" for name, (_, summary) in COMMANDS.items())
    english = f"""usage: expert COMMAND …

Designs and audits what the rule packs know about, and defends every word of its advice.

commands:
{commands}

options:
  -h, --help     show this help; 'expert COMMAND --help' shows a command's own
  --version      show the version
  --lang en|zh   language of all output (default: the locale)
  --completion bash|zsh|fish
                 print a script that completes commands and options

Begin with 'expert init > plan.yaml', then 'expert recommend plan.yaml'."""
    chinese = f"""用法：expert 命令 …

依据规则包设计并审查方案，并能为每一句建议给出依据。

命令：
{commands}

选项：
  -h, --help     显示帮助；'expert 命令 --help' 显示该命令的帮助
  --version      显示版本
  --lang en|zh   输出语言（默认取自区域设置）
  --completion bash|zsh|fish
                 输出命令与选项的补全脚本

可先运行 'expert init > plan.yaml'，再运行 'expert recommend plan.yaml'。"""
    return Text(english, chinese).of(lang)
