"""`expert --completion SHELL`: a script that completes commands, options and their values, made from the command lines themselves."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module

from expert.cli.options import Parser
from expert.errors import Text
from expert.records import dataclass

FILE, FOLDER, WORD = "file", "folder", "word"
_FILES = frozenset({"PLAN", "FILE"})
_FOLDERS = frozenset({"DIR"})


@dataclass(frozen=True, slots=True)
class Flag:
    """One option: its names, what its value is ("" without one, else file, folder or word), and the words to choose from."""

    names: tuple[str, ...]
    value: str
    words: tuple[str, ...]
    says: str
    repeated: bool


@dataclass(frozen=True, slots=True)
class Call:
    """One command line: its words ("rules", "lint"), what it does, its options, and what its arguments are."""

    path: tuple[str, ...]
    says: str
    flags: tuple[Flag, ...]
    arguments: tuple[str, ...]


GENERAL = (
    ("--help", "", (), Text("show help", "显示帮助")),
    ("--version", "", (), Text("show the version", "显示版本")),
    ("--lang", WORD, ("en", "zh"), Text("language of all output", "输出语言")),
    ("--completion", WORD, ("bash", "zsh", "fish"), Text("print a completion script", "输出补全脚本")),
)


def script(shell: str, commands: Mapping[str, tuple[str, Text]], lang: str) -> str:
    """The completion script for a shell: bash, zsh or fish."""
    calls = tuple(_calls(commands, lang))
    general = tuple(Flag((name,), value, words, says.of(lang), False) for name, value, words, says in GENERAL)
    summaries = {name: says.of(lang) for name, (_, says) in commands.items()}
    lines = SHELLS[shell](calls, general, summaries)
    return "\n".join(lines) + "\n"


def _calls(commands: Mapping[str, tuple[str, Text]], lang: str) -> Iterator[Call]:
    for name, (module, says) in commands.items():
        parsers: dict[str, Parser] = import_module(module).parsers(lang)
        for sub, parser in parsers.items():
            path = (name, sub) if sub else (name,)
            yield Call(path, (parser.description or "") if sub else says.of(lang), tuple(_flags(parser)), tuple(_arguments(parser)))


def _flags(parser: Parser) -> Iterator[Flag]:
    for action in parser.actions():
        if action.option_strings:
            value = "" if action.nargs == 0 else _kind(action)
            yield Flag(tuple(action.option_strings), value, _words(action), (action.help or "").replace("%%", "%"), action.default == [])


def _arguments(parser: Parser) -> Iterator[str]:
    return (_kind(action) for action in parser.actions() if not action.option_strings)


def _kind(action: argparse.Action) -> str:
    name = str(action.metavar)
    return FILE if name in _FILES else FOLDER if name in _FOLDERS else WORD


def _words(action: argparse.Action) -> tuple[str, ...]:
    """The words to choose from: in the help a choice is written `a|b`, in small letters."""
    name = str(action.metavar or "")
    return tuple(name.split("|")) if "|" in name and name == name.lower() else ()


def _subcommands(calls: Iterable[Call]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for call in calls:
        if len(call.path) > 1:
            found[call.path[0]] = (*found.get(call.path[0], ()), call.path[1])
    return found


# ---------------------------------------------------------------------------------------------------- bash


def _bash(calls: tuple[Call, ...], general: tuple[Flag, ...], summaries: Mapping[str, str]) -> Iterator[str]:
    subcommands = _subcommands(calls)
    yield "# bash completion for expert: source <(expert --completion bash)"
    yield "_expert() {"
    yield '    local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" command="" word index'
    yield "    COMPREPLY=()"
    yield "    for ((index = 1; index < COMP_CWORD; index++)); do"
    yield '        word="${COMP_WORDS[index]}"'
    yield '        case "$command $word" in'
    yield f'            {_either(" " + name for name in summaries)}) command="$word" ;;'
    for name, subs in subcommands.items():
        yield f'            {_either(f"{name} {sub}" for sub in subs)}) command="{name} $word" ;;'
    yield "        esac"
    yield "    done"
    yield '    case "$command $prev" in'
    for path, flag in [("", flag) for flag in general] + [(" ".join(call.path), flag) for call in calls for flag in call.flags]:
        if flag.value:
            yield f"        {_either(f'{path} {name}' for name in flag.names)}) {_bash_value(flag)}; return ;;"
    yield "    esac"
    yield '    case "$command" in'
    yield f'        "") {_offer([*summaries, *(name for flag in general for name in flag.names)])} ;;'
    for name, subs in subcommands.items():
        yield f'        "{name}") {_offer([*subs, "--help"])} ;;'
    for call in calls:
        files = next((_bash_paths(kind) for kind in (FILE, FOLDER) if kind in call.arguments), ":")
        options = _offer(name for flag in call.flags for name in flag.names)
        yield f'        "{" ".join(call.path)}") if [[ "$cur" == -* ]]; then {options}; else {files}; fi ;;'
    yield "    esac"
    yield "}"
    yield "complete -o filenames -F _expert expert"


def _either(words: Iterable[str]) -> str:
    return "|".join(f'"{word}"' for word in words)


def _offer(words: Iterable[str]) -> str:
    return f'COMPREPLY=($(compgen -W "{" ".join(words)}" -- "$cur"))'


def _bash_value(flag: Flag) -> str:
    return _offer(flag.words) if flag.words else ":" if flag.value == WORD else _bash_paths(flag.value)


def _bash_paths(kind: str) -> str:
    """Names of files or folders; a blank in one does not part it."""
    return f"local IFS=$'\\n'; COMPREPLY=($(compgen {'-f' if kind == FILE else '-d'} -- \"$cur\"))"


# ----------------------------------------------------------------------------------------------------- zsh


def _zsh(calls: tuple[Call, ...], general: tuple[Flag, ...], summaries: Mapping[str, str]) -> Iterator[str]:
    yield "#compdef expert"
    yield "# zsh completion for expert: source <(expert --completion zsh), after compinit"
    yield "_expert() {"
    yield "    local -a names"
    yield "    if (( CURRENT == 2 )); then"
    yield "        if [[ $words[2] == -* ]]; then"
    yield f"            _arguments {' '.join(_zsh_flag(flag) for flag in general)}"
    yield "        else"
    yield f"            names=({' '.join(_quoted(f'{name}:{says}') for name, says in summaries.items())})"
    yield "            _describe command names"
    yield "        fi"
    yield "        return"
    yield "    fi"
    yield "    shift words; (( CURRENT-- ))"
    for name, subs in _subcommands(calls).items():
        yield f"    if [[ $words[1] == {name} ]]; then"
        yield f"        if (( CURRENT == 2 )); then compadd -- {' '.join(subs)} --help; return; fi"
        yield '        words=("$words[1] $words[2]" "${(@)words[3,-1]}"); (( CURRENT-- ))'
        yield "    fi"
    yield "    case $words[1] in"
    for call in calls:
        values = [_zsh_flag(flag) for flag in call.flags] + [_zsh_argument(kind) for kind in call.arguments]
        yield f"        {_quoted(' '.join(call.path))}) _arguments {' '.join(values)} ;;"
    yield "    esac"
    yield "}"
    yield 'if [[ "$funcstack[1]" == _expert ]]; then _expert "$@"; else compdef _expert expert; fi'


def _zsh_flag(flag: Flag) -> str:
    says = "".join("\\" + char if char in "[]:\\" else char for char in flag.says)
    value = "" if not flag.value else f":value:({' '.join(flag.words)})" if flag.words else f":value:{_ZSH_ACTION[flag.value]}"
    return " ".join(_quoted(f"{'*' if flag.repeated else ''}{name}[{says}]{value}") for name in flag.names)


_ZSH_ACTION = {FILE: "_files", FOLDER: "_files -/", WORD: " "}


def _zsh_argument(kind: str) -> str:
    return _quoted(f"*:argument:{_ZSH_ACTION[FOLDER]}") if kind == FOLDER else _quoted(f":argument:{_ZSH_ACTION[kind]}")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


# ---------------------------------------------------------------------------------------------------- fish


def _fish(calls: tuple[Call, ...], general: tuple[Flag, ...], summaries: Mapping[str, str]) -> Iterator[str]:
    yield "# fish completion for expert: expert --completion fish > ~/.config/fish/completions/expert.fish"
    for flag in general:
        yield _fish_flag("__fish_use_subcommand", flag)
    for name, says in summaries.items():
        yield f"complete -c expert -f -n __fish_use_subcommand -a {name} -d {_fish_quoted(says)}"
    for call in calls:
        seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in call.path)
        if len(call.path) > 1:
            others = " ".join(_subcommands(calls)[call.path[0]])
            fresh = f"__fish_seen_subcommand_from {call.path[0]}; and not __fish_seen_subcommand_from {others}"
            yield f"complete -c expert -f -n {_fish_quoted(fresh)} -a {call.path[1]} -d {_fish_quoted(call.says)}"
        for flag in call.flags:
            yield _fish_flag(seen, flag)


def _fish_flag(condition: str, flag: Flag) -> str:
    names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in flag.names)
    value = "" if not flag.value else f" -x -a {_fish_quoted(' '.join(flag.words))}" if flag.words else _FISH_ACTION[flag.value]
    return f"complete -c expert -n {_fish_quoted(condition)} {names}{value} -d {_fish_quoted(flag.says)}"


_FISH_ACTION = {FILE: " -r -F", FOLDER: " -x -a '(__fish_complete_directories)'", WORD: " -x"}


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


SHELLS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
