"""plan.yaml -> facts, each with its line. A plan is checked against the vocabulary; every mistake is found in one run."""

from __future__ import annotations

import errno
import hashlib
import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

from expert.errors import NO_TEXT, Diagnostic, ExpertError, Span, Text, fail, nearest
from expert.facts import GIVEN, IMPLIED, SET, Amount, Fact, Value
from expert.language.program import FactDecl, Program
from expert.planvalues import Misread, read_money, read_value, short
from expert.records import dataclass
from expert.yamldoc import PLAN_LIMIT_BYTES, Document, Node, Scalar, load, read
from expert.yamldoc import Mapping as Branch

VERSION = 1
_HEADINGS = ("plan", "name")
_OVERRIDE = re.compile(r"\s*([^=\s]+)\s*=(.*)", re.DOTALL)
_DERIVED = ("need", "estimate")
_STDIN = "-"


@dataclass(frozen=True, slots=True)
class Plan:
    """What a plan states: facts in the order of the vocabulary. `digest` is the SHA-256 of the canonical facts after --set."""

    name: str
    facts: Mapping[str, Fact]
    digest: str
    file: str


@dataclass(slots=True)
class _Reading:
    """The facts and the mistakes found so far; `origin` and `at` say where the present document came from; `keys`, where it names facts."""

    program: Program
    document: Document
    origin: str
    facts: dict[str, Fact]
    mistakes: list[Diagnostic]
    flag: str = ""
    shift: int = 0
    keys: dict[str, Span] = field(default_factory=dict)

    def report(self, code: str, message: Text, span: Span, help: Text = NO_TEXT) -> None:
        """Record a mistake with its line, or with the flag it stands in."""
        found = self.document.diagnostic(code, message, span, help)
        self.mistakes.append(_in_flag(found, self.flag, self.shift) if self.flag else found)

    def place(self, span: Span) -> Span:
        """The place of a value: in its file, or in the flag."""
        return _moved(span, self.shift) if self.flag else span

    def at(self, span: Span) -> str:
        """Where a fact was stated, for people."""
        return f"--set {self.flag}" if self.flag else f"{span.file}:{span.line}"


def read_plan(source: Path | str, program: Program, overrides: Sequence[str] = (), file: str = "plan.yaml") -> Plan:
    """The plan in a file (a Path), on standard input ("-") or in a text (any other str, named `file` in messages).

    overrides: "fact=value", later ones win; they replace what the plan states.
    Errors:    ExpertError with every mistake of the plan and of the overrides.
    """
    mistakes: list[Diagnostic] = []
    facts: dict[str, Fact] = {}
    name, shown = "", _shown(source, file)
    try:
        document = _document(source, shown)
        name = _read_document(_Reading(program, document, GIVEN, facts, mistakes))
    except ExpertError as error:
        mistakes += error.diagnostics
    for override in overrides:
        _read_override(override, program, facts, mistakes)
    if mistakes:
        raise ExpertError(tuple(sorted(set(mistakes), key=Diagnostic.sort_key)))
    ordered = {fact: facts[fact] for fact in program.facts if fact in facts}
    return Plan(name or _stem(shown), ordered, facts_digest(ordered), shown)


def facts_digest(facts: Mapping[str, Fact]) -> str:
    """SHA-256 of the canonical JSON of names and values in base units; where they were stated does not count."""
    plain = {name: _plain(fact.value) for name, fact in facts.items() if fact.origin != IMPLIED}
    text = json.dumps(plain, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def plan_of_facts(given: Sequence[tuple[str, object]], program: Program, span: Span, name: str = "") -> Plan:
    """A plan from facts as YAML gave them, for examples and scenarios; what rules derive may be stated too.

    Errors: ExpertError, at `span`, with every value that cannot be read.
    """
    facts: dict[str, Fact] = {}
    mistakes: list[Diagnostic] = []
    for fact, value in given:
        decl = program.facts.get(fact)
        if decl is None:
            message = Text(f"no fact is called '{short(fact)}'", f"没有名为 '{short(fact)}' 的事实")
            mistakes.append(Diagnostic("unknown-key", message, span))
            continue
        try:
            for part, found in _values(_node(value), decl, program):
                facts[part] = Fact(part, found, GIVEN if part == fact else IMPLIED, span, f"{span.file}:{span.line}")
        except Misread as wrong:
            mistakes.append(Diagnostic(wrong.code, wrong.message, span, wrong.help))
    if mistakes:
        raise ExpertError(tuple(mistakes))
    ordered = {fact: facts[fact] for fact in program.facts if fact in facts}
    return Plan(name or "test", ordered, facts_digest(ordered), span.file)


def value_of(value: object, decl: FactDecl, program: Program) -> Value:
    """One value as YAML gave it, in base units. Errors: ExpertError."""
    try:
        return _values(_node(value), decl, program)[0][1]
    except Misread as wrong:
        raise ExpertError((Diagnostic(wrong.code, wrong.message, None, wrong.help),)) from None


def _node(value: object) -> Node:
    """A YAML node for a plain value: JSON is YAML; numbers are quoted, so that no spelling of theirs is a trap."""
    quoted = str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
    root = load(json.dumps(quoted, ensure_ascii=False), "value", PLAN_LIMIT_BYTES).root
    assert root is not None
    return root


def _plain(value: Value) -> object:
    if isinstance(value, Amount):
        return value.low if value.is_point else [value.low, value.typical, value.high]
    return list(value) if isinstance(value, tuple) else value


def _shown(source: Path | str, file: str) -> str:
    if isinstance(source, Path):
        return source.as_posix()
    return "<stdin>" if source == _STDIN else file


def _stem(shown: str) -> str:
    return Path(shown).stem if shown != "<stdin>" else "plan"


def _document(source: Path | str, shown: str) -> Document:
    if isinstance(source, Path):
        return read(source, PLAN_LIMIT_BYTES, shown)
    if source == _STDIN:
        return load(_standard_input(), shown, PLAN_LIMIT_BYTES)
    return load(source, shown, PLAN_LIMIT_BYTES)


def _standard_input() -> bytes:
    """What stands on standard input, one byte more than a plan may have. Errors: ExpertError where it is closed or cannot be read."""
    reason = Text("it is not open", "未打开")
    try:
        if sys.stdin is not None:
            return sys.stdin.buffer.read(PLAN_LIMIT_BYTES + 1)
    except OSError as error:
        reason = Text(error.strerror or str(error)) if error.errno != errno.EBADF else reason
    message = Text(f"standard input cannot be read: {reason.of('en')}", f"无法读取标准输入：{reason.of('zh')}")
    raise fail("file-unreadable", message)


# ---------------------------------------------------------------------------------------------- the file


def _read_document(reading: _Reading) -> str:
    """Facts of the whole document into `reading`; returns the plan's name."""
    root = reading.document.root
    if not isinstance(root, Branch):
        span = root.span if root is not None else Span(reading.document.file, 1, 1, 1)
        help = Text("begin with 'plan: 1'; 'expert init' writes a sample plan", "以 'plan: 1' 开头；'expert init' 可生成示例方案")
        reading.report("not-a-plan", Text("a plan is a mapping of sections", "方案应为由各部分组成的映射"), span, help)
        return ""
    _check_version(root, reading)
    for key, node in root.entries:
        if key.raw not in _HEADINGS:
            _read_entry(key, node, key.raw, reading)
    return _plan_name(root.get("name"), reading)


def _check_version(root: Branch, reading: _Reading) -> None:
    node = root.get("plan")
    if node is None:
        help = Text(f"write 'plan: {VERSION}' as its first line", f"请在第一行写 'plan: {VERSION}'")
        place = Span(reading.document.file, root.span.line, root.span.column, root.span.end_column)
        reading.report("plan-version", Text("this file does not say that it is a plan", "文件没有声明自己是方案"), place, help)
    elif not isinstance(node, Scalar) or node.value != VERSION or isinstance(node.value, bool):
        message = Text("this version of the plan format is not known", "不支持此版本的方案格式")
        reading.report("plan-version", message, node.span, Text(f"write 'plan: {VERSION}'", f"请写 'plan: {VERSION}'"))


def _plan_name(node: Node | None, reading: _Reading) -> str:
    if node is None:
        return ""
    if isinstance(node, Scalar) and node.value is not None:
        return node.raw.strip()
    reading.report("wrong-kind", Text("'name' is a text", "'name' 应为文本"), node.span)
    return ""


def _read_entry(key: Scalar, node: Node, name: str, reading: _Reading) -> None:
    """One key: a fact, or a section whose keys are read in turn."""
    program = reading.program
    decl = program.facts.get(name)
    if decl is not None:
        _refuse_twice(key, name, reading)
        _read_fact(node, decl, key.span, reading)
    elif not any(known.startswith(name + ".") for known in program.facts):
        _report_unknown(key, name, reading)
    elif isinstance(node, Branch):
        for below, value in node.entries:
            _read_entry(below, value, f"{name}.{below.raw}", reading)
    elif isinstance(node, Scalar) and node.value is None:
        reading.report("missing-value", Text(f"'{name}' has no value", f"'{name}' 没有值"), key.span, _below_or_nothing(name, program))
    else:
        message = Text(f"'{name}' is a section: its facts stand below it, indented", f"'{name}' 是一个部分，其事实应缩进写在下方")
        reading.report("wrong-kind", message, node.span)


def _refuse_twice(key: Scalar, name: str, reading: _Reading) -> None:
    """One mapping cannot have a key twice, but a fact can stand in its section and by its dotted name."""
    earlier = reading.keys.setdefault(name, key.span)
    if earlier is key.span:
        return
    message = Text(
        f"'{name}' is stated here and at line {earlier.line}, column {earlier.column}",
        f"'{name}' 在此处和第 {earlier.line} 行第 {earlier.column} 列重复给出",
    )
    reading.report("duplicate-key", message, key.span, Text("keep one of the two", "请只保留其中一个"))


def _below_or_nothing(section: str, program: Program) -> Text:
    names = [fact.removeprefix(section + ".") for fact in program.facts if fact.startswith(section + ".")]
    first = names[0]
    return Text(f"state a fact below it, such as '{first}', or delete the key", f"请在其下给出事实，例如 '{first}'，或删去该键")


def _report_unknown(key: Scalar, name: str, reading: _Reading) -> None:
    facts = reading.program.facts
    sections = sorted({fact.split(".", 1)[0] for fact in facts})
    if "." not in name:
        close = nearest(name, (*sections, *_HEADINGS)) or nearest(f"x.{name}", facts)
        listed = ", ".join(sections)
        help = _mean(close) if close else Text(f"its sections are {listed}", f"可用的部分：{listed}")
        reading.report("unknown-key", Text(f"a plan has no section '{short(name)}'", f"方案没有 '{short(name)}' 这个部分"), key.span, help)
        return
    close = nearest(name, facts)
    help = _mean(close) if close else _declared_below(name, facts)
    reading.report("unknown-key", Text(f"no fact is called '{short(name)}'", f"没有名为 '{short(name)}' 的事实"), key.span, help)


def _mean(close: str) -> Text:
    return Text(f"did you mean '{close}'?", f"是否指 '{close}'？")


def _declared_below(name: str, facts: Mapping[str, FactDecl]) -> Text:
    section = name.rsplit(".", 1)[0]
    names = [fact.removeprefix(section + ".") for fact in facts if fact.startswith(section + ".")]
    listed = ", ".join(names[:12]) + (" …" if len(names) > 12 else "")
    return Text(f"'{section}' has {listed}", f"'{section}' 下有 {listed}") if names else NO_TEXT


def _read_fact(node: Node, decl: FactDecl, key: Span, reading: _Reading) -> None:
    refusal = _refusal(decl, reading.program)
    if refusal is not None:
        reading.report("derived-fact", refusal[0], key, refusal[1])
        return
    try:
        for name, value in _values(node, decl, reading.program):
            origin = reading.origin if name == decl.name else IMPLIED
            reading.facts[name] = Fact(name, value, origin, reading.place(node.span), reading.at(node.span))
    except Misread as wrong:
        reading.report(wrong.code, wrong.message, wrong.span, wrong.help)


def _values(node: Node, decl: FactDecl, program: Program) -> tuple[tuple[str, Value], ...]:
    if decl.type == "money":
        return read_money(node, decl, program)
    return ((decl.name, read_value(node, decl, program)),)


def _refusal(decl: FactDecl, program: Program) -> tuple[Text, Text] | None:
    """Why a plan may not state a fact: it is derived by rules, or it is one half of a statement about money."""
    stem = re.sub(r"_(rate|total)$", "", decl.name)
    money = program.facts.get(stem)
    if stem != decl.name and money is not None and money.type == "money":
        return Text(f"'{decl.name}' follows from '{stem}'", f"'{decl.name}' 由 '{stem}' 得出"), Text(f"state '{stem}'", f"请写 '{stem}'")
    if decl.name.split(".", 1)[0] in _DERIVED and program.contributors.get(decl.name):
        message = Text(f"'{decl.name}' is derived by rules; a plan cannot state it", f"'{decl.name}' 由规则推导，方案中不能直接给出")
        return message, Text("state what it depends on", "请给出它所依据的事实")
    return None


# ------------------------------------------------------------------------------------------------- --set


def _read_override(text: str, program: Program, facts: dict[str, Fact], mistakes: list[Diagnostic]) -> None:
    """One `--set fact=value` into `facts`; what the plan said about the fact is forgotten."""
    found = _OVERRIDE.fullmatch(text)
    if found is None or not found[2].strip():
        help = Text("write --set FACT=VALUE", "写法：--set 事实=值")
        place = Span("--set", 1, 1, len(text) + 1)
        mistakes.append(Diagnostic("bad-override", Text("this sets nothing", "没有设置任何值"), place, help, short(text)))
        return
    name, shift = found[1], found.start(2)
    try:
        document = load(found[2], "--set", PLAN_LIMIT_BYTES)
    except ExpertError as error:
        mistakes += [_in_flag(diagnostic, text, shift) for diagnostic in error.diagnostics]
        return
    reading = _Reading(program, document, SET, facts, mistakes, text, shift)
    decl = program.facts.get(name)
    if decl is None or document.root is None:
        close = nearest(name, program.facts)
        place = Span("--set", 1, found.start(1) - shift + 1, found.end(1) - shift + 1)
        message = Text(f"no fact is called '{short(name)}'", f"没有名为 '{short(name)}' 的事实")
        reading.report("unknown-key", message, place, _mean(close) if close else NO_TEXT)
        return
    for old in (name, f"{name}_rate", f"{name}_total") if decl.type == "money" else (name,):
        facts.pop(old, None)
    _read_fact(document.root, decl, document.root.span, reading)


def _in_flag(found: Diagnostic, flag: str, shift: int) -> Diagnostic:
    """A diagnostic about the value of a flag, moved to where it stands in the flag."""
    span = found.span
    if span is None or span.line != 1:
        return found
    return replace(found, span=_moved(span, shift), line_text=flag)


def _moved(span: Span, shift: int) -> Span:
    return Span("--set", span.line, span.column + shift, span.end_column + shift, span.path)
