"""What PyYAML says about broken YAML, turned into one clear sentence and the line as it should be."""

from __future__ import annotations

import re
from collections.abc import Callable

from expert.errors import NO_TEXT, Diagnostic, Text
from expert.records import dataclass
from expert.yamlnodes import Source
from expert.yamltraps import quoted, quoted_condition_trap

# YAML looks for the colon of a key no further than this (YAML 1.2.2, section 7.4.2).
_KEY_REACH = 1024


@dataclass(frozen=True, slots=True)
class Fault:
    """A YAML error as PyYAML reports it: indices of characters in the text, -1 for a context without a place."""

    source: Source
    problem: str
    context: str
    index: int
    context_index: int

    @property
    def line(self) -> str:
        """The source line of the problem, "" when it is too long to be worth repeating."""
        line = self.source.line(self.source.position(self.index)[0])
        return line if len(line) <= 400 else ""

    @property
    def column(self) -> int:
        """0-based column of the problem."""
        return self.source.position(self.index)[1] - 1

    @property
    def char(self) -> str:
        """The character at the problem, "" at the end of the file."""
        return self.source.text[self.index : self.index + 1]


def explain_fault(fault: Fault) -> Diagnostic:
    """The first explanation that fits, else PyYAML's own words."""
    for explain in _EXPLANATIONS:
        found = explain(fault)
        if found is not None:
            return found
    message = Text(f"YAML cannot be read here: {fault.problem}", f"此处不是有效的 YAML：{fault.problem}")
    return _at(fault, fault.index, "yaml-syntax", message)


def _at(fault: Fault, index: int, code: str, message: Text, instead: str = "") -> Diagnostic:
    source = fault.source
    if index >= len(source.text):
        index = max(0, len(source.text.rstrip()) - 1)
    return source.diagnostic(code, message, source.span(index, index + 1), _write(instead))


def _write(instead: str) -> Text:
    return Text(f"write\n{instead}", f"请写\n{instead}") if instead else NO_TEXT


def _too_deep(fault: Fault) -> Diagnostic | None:
    if "nesting depth" not in fault.problem:
        return None
    return _at(fault, fault.index, "too-deep", Text("lists and mappings are nested too deep", "列表和映射嵌套过深"))


def _tab(fault: Fault) -> Diagnostic | None:
    leading = re.match(r"[ ]*\t", fault.line)
    if fault.char == "\t":
        index = fault.index
    elif leading:
        index = fault.index - fault.column + leading.end() - 1
    else:
        return None
    return tab_diagnostic(fault.source, index)


def tab_diagnostic(source: Source, index: int) -> Diagnostic:
    """A tab where YAML wants blanks."""
    line = source.line(source.position(index)[0])
    indent = len(line) - len(line.lstrip())
    shown = line[:indent].replace("\t", "  ") + re.sub(r"\t+", " ", line[indent:])
    message = Text("a tab stands where YAML needs blanks", "此处是制表符，YAML 要求用空格")
    help = Text(f"write, with blanks\n{shown}", f"请改用空格：\n{shown}") if line.strip() and len(line) <= 200 else NO_TEXT
    return source.diagnostic("tab", message, source.span(index, index + 1), help)


def _colon_in_text(fault: Fault) -> Diagnostic | None:
    if "mapping values are not allowed" not in fault.problem:
        return None
    before = fault.source.line(fault.source.position(fault.index)[0])[: _element_start(fault)]
    if fault.column - len(before) > _KEY_REACH and not before.strip(" -"):
        return _too_long(fault, len(before))
    found = re.match(r"(\s*(?:-\s+)*[^\s'\"\[{][^:]*?:\s+|\s*(?:-\s+)+)(.*)$", fault.line)
    if not fault.line or (found and found.end(1) <= fault.column):
        value = re.sub(r"\s+#.*$", "", found[2]).rstrip() if found else ""
        message = Text("a colon followed by a blank ends a key, also inside unquoted text",
                       "冒号加空格会结束一个键，未加引号的文本中也一样")  # fmt: skip
        return _at(fault, fault.index, "colon-in-text", message, found[1].lstrip() + _requoted(value) if found and value else "")
    return _missing_colon_above(fault) or _key_in_text(fault)


def _missing_colon_above(fault: Fault) -> Diagnostic | None:
    """The line above is as deep and is no key: that is where the colon is missing."""
    number = fault.source.position(fault.index)[0] - 1
    while number > 0 and not fault.source.line(number).strip():
        number -= 1
    above = fault.source.line(number)
    indent = len(above) - len(above.lstrip())
    if number == 0 or indent < len(fault.line) - len(fault.line.lstrip()) or re.search(r":(\s|$)", above):
        return None
    return _without_colon(fault, fault.source.starts[number - 1] + indent)


def _key_in_text(fault: Fault) -> Diagnostic:
    message = Text("a key stands where the text of the line above goes on", "此处的键被当作上一行文本的延续")
    help = Text("indent it like the key above; or, if it is text, write '>-' after the key above and the text below it",
                "请与上面的键对齐；若是文本，请在上面的键后写 '>-'，文本另起一行")  # fmt: skip
    found_at = _at(fault, fault.index - fault.column + len(fault.line) - len(fault.line.lstrip()), "bad-indentation", message)
    return Diagnostic(found_at.code, found_at.message, found_at.span, help, found_at.line_text)


def _requoted(value: str) -> str:
    return quoted(value) if value[:1] not in ("'", '"') or value[:1] != value[-1:] else f"'{value[1:-1]}'"


def _unclosed_quote(fault: Fault) -> Diagnostic | None:
    if "quoted scalar" not in fault.context or not ("end of stream" in fault.problem or "document indicator" in fault.problem):
        return None
    source, opened = fault.source, fault.context_index
    line = source.line(source.position(opened)[0])
    mark = source.text[opened]
    instead = "" if len(line) > 200 else re.sub(r"\s+#.*$", "", line).strip() + mark
    message = Text("this quote is never closed", "此引号没有闭合")
    return _at(fault, opened, "unclosed-quote", message, instead)


def _bad_escape(fault: Fault) -> Diagnostic | None:
    if "escape" not in fault.problem and "hexdecimal" not in fault.problem and "hexadecimal" not in fault.problem:
        return None
    message = Text("this is no escape sequence that YAML knows", "YAML 没有这种转义序列")
    help = Text(r"inside double quotes write a backslash as \\, or use single quotes", r"双引号内反斜杠写作 \\，或改用单引号")
    found = _at(fault, fault.index, "yaml-syntax", message)
    return Diagnostic(found.code, found.message, found.span, help, found.line_text)


def _reserved(fault: Fault) -> Diagnostic | None:
    starts = "cannot start any token" in fault.problem
    anchors = "alias" in fault.context or "anchor" in fault.context
    block = "block scalar" in fault.context
    directive = "directive" in fault.context
    if not (starts or anchors or block or directive) or not fault.line:
        return None
    index = fault.index if starts or fault.context_index < 0 else fault.context_index
    number, column = fault.source.position(index)
    line = fault.source.line(number)
    char = fault.source.text[index : index + 1]
    inside = _inside_flow(line, column - 1)
    tail = re.match(r"[^,\]}]*" if inside else r".*?(?=\s+#|$)", line[column - 1 :])
    value = tail[0].rstrip() if tail else ""
    message = Text(f"a value cannot begin with '{char}' unless it is quoted", f"值不加引号时不能以 '{char}' 开头")
    instead = (line[: column - 1] + quoted(value) + line[column - 1 + len(value) :]).strip() if value else ""
    return _at(fault, index, "reserved-character", message, instead)


def _inside_flow(line: str, column: int) -> bool:
    before = line[:column]
    return before.count("[") + before.count("{") > before.count("]") + before.count("}")


def _bracket(fault: Fault) -> Diagnostic | None:
    if "flow sequence" not in fault.context and "flow mapping" not in fault.context:
        return None
    source, opened = fault.source, fault.context_index
    open_line, close_line = source.position(opened)[0], source.position(fault.index)[0]
    if open_line == close_line and source.text[fault.index :].strip():
        return _stray_in_flow(fault)
    line = source.line(open_line)
    closing = "]" if source.text[opened] == "[" else "}"
    # Below an unclosed bracket lies the rest of the file, so only a line of its own can be repaired.
    instead = re.sub(r"\s+#.*$", "", line).strip().rstrip(",") + closing if len(line) <= 200 else ""
    message = Text(f"this bracket is never closed with '{closing}'", f"此括号没有用 '{closing}' 闭合")
    return _at(fault, opened, "unclosed-bracket", message, instead)


def _stray_in_flow(fault: Fault) -> Diagnostic:
    """Text inside brackets that holds brackets or quotes of its own, such as `[x in [a, b]]`."""
    line, column, start = fault.line, fault.column, _element_start(fault)
    before = fault.source.line(fault.source.position(fault.index)[0])[:start]
    if fault.char == ":" and column - start > _KEY_REACH and before.rstrip()[-1:] != ":":
        return _too_long(fault, start)
    end = _element_end(line, column)
    word = line[start:end].rstrip()
    message = Text("inside brackets, text that holds brackets or quotes needs quotes around it",
                   "括号内的文本若含括号或引号，整体需要加引号")  # fmt: skip
    instead = (line[:start] + quoted(word) + line[start + len(word) :]).strip() if word and column > start else ""
    return _at(fault, fault.index, "bracket-in-text", message, instead)


def _too_long(fault: Fault, column: int) -> Diagnostic:
    message = Text("this is too long for a key", "此处过长，不能作为键")
    return _at(fault, fault.index - fault.column + column, "bad-key", message)


def _element_start(fault: Fault) -> int:
    """The start of a list element or key: behind the bracket, comma or colon before the problem, and behind blanks."""
    line = fault.source.line(fault.source.position(fault.index)[0])
    opening = fault.source.position(fault.context_index)[1] if fault.context_index >= 0 else 0
    start = max([opening, *(found.end() for found in re.finditer(r"[,\[{]|:[ ]", line[: fault.column]))])
    return start + len(line[start : fault.column]) - len(line[start : fault.column].lstrip())


def _element_end(line: str, column: int) -> int:
    """The end of a list element that begins before `column`: the comma or bracket outside its own brackets."""
    depth = 0
    for place in range(column, len(line)):
        char = line[place]
        if depth == 0 and char in ",]}":
            return place
        depth += (char in "[{") - (char in "]}")
    return len(line)


def _text_after_quote(fault: Fault) -> Diagnostic | None:
    before = fault.line[: fault.column].rstrip()
    if before[-1:] not in ("'", '"') or not re.search("did not find expected|expected <block end>", fault.problem):
        return None
    instead = quoted_condition_trap(fault.line)
    if instead is None:
        return None
    message = Text("text goes on after the closing quote: a value that begins with a quote must end with it",
                   "引号闭合后还有文本：以引号开头的值必须以引号结尾")  # fmt: skip
    return _at(fault, fault.index, "text-after-quote", message, instead)


def _missing_colon(fault: Fault) -> Diagnostic | None:
    if "could not find expected ':'" not in fault.problem:
        return None
    return _without_colon(fault, fault.context_index if fault.context_index >= 0 else fault.index)


def _without_colon(fault: Fault, index: int) -> Diagnostic:
    source = fault.source
    line = source.line(source.position(index)[0])
    if len(line) > _KEY_REACH:
        return _at(fault, index, "bad-key", Text("this line is too long for a key", "此行过长，不能作为键"))
    glued = re.match(r"(\s*(?:-\s+)*[^\s:#]+):(\S.*)$", line) if len(line) <= 200 else None
    message = Text("a key needs a colon and a blank behind it", "键后面需要冒号和空格")
    return _at(fault, index, "missing-colon", message, f"{glued[1].lstrip()}: {glued[2]}" if glued else "")


def _extra_bracket(fault: Fault) -> Diagnostic | None:
    if fault.char not in ("]", "}"):
        return None
    line, column = fault.line, fault.column
    message = Text(f"'{fault.char}' closes nothing", f"'{fault.char}' 没有对应的开括号")
    return _at(fault, fault.index, "unclosed-bracket", message, (line[:column] + line[column + 1 :]).strip())


def _list_on_key_line(fault: Fault) -> Diagnostic | None:
    if "block sequence entries are not allowed" not in fault.problem:
        return None
    before, after = fault.line[: fault.column].strip(), fault.line[fault.column :].strip()
    message = Text("a list begins on the line below its key", "列表从键的下一行开始")
    return _at(fault, fault.index, "bad-indentation", message, f"{before}\n  {after}" if after else "")


def _indentation(fault: Fault) -> Diagnostic | None:
    if "block" not in fault.context or fault.context_index < 0 or not fault.line:
        return None
    row, column = fault.source.position(fault.context_index)
    message = Text(f"this does not continue the list or mapping that begins at line {row}, column {column}",
                   f"此处无法延续从第 {row} 行第 {column} 列开始的列表或映射")  # fmt: skip
    blanks = column - 1
    help = Text(f"indent it by {blanks} blanks to stand beside line {row}, or like the line above to stand beside that",
                f"缩进 {blanks} 个空格则与第 {row} 行并列；与上一行缩进相同则与上一行并列")  # fmt: skip
    found = _at(fault, fault.index, "bad-indentation", message)
    aligned = fault.line[: fault.column].strip() == "" and fault.column != blanks
    return Diagnostic(found.code, found.message, found.span, help if aligned else NO_TEXT, found.line_text)


_EXPLANATIONS: tuple[Callable[[Fault], Diagnostic | None], ...] = (
    _too_deep, _unclosed_quote, _bad_escape, _tab, _colon_in_text, _reserved, _list_on_key_line,
    _text_after_quote, _bracket, _missing_colon, _extra_bracket, _indentation,
)  # fmt: skip
