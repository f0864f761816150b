"""What is legal in a pack and still unwise: warnings for authors. Errors come from the compiler."""

from __future__ import annotations

import re
from collections.abc import Iterator

from expert.errors import NO_TEXT, Diagnostic, Span, Text
from expert.language.program import Condition, Program, Rule, Template
from expert.language.reads import effect_conditions, effect_templates, names_read, template_terms
from expert.language.terms import CellTerm, CompareTerm, InTerm, Literal, RowTerm, Term, constants_read, walk
from expert.workbench.lint_ranges import spreading_ranges


def lint(program: Program) -> tuple[Diagnostic, ...]:
    """Every warning about the packs of a program, sorted by place.

    Shape: diagnostics of severity "warning" without source lines; a face that has the files may add them.
    """
    found = [warning for rule in program.rules.values() for warning in _about_rule(rule, program)]
    found += [*_unread_facts(program), *_unread_constants(program), *_vocabulary_languages(program), *spreading_ranges(program)]
    found += _kept_bases(program)
    return tuple(sorted(found, key=Diagnostic.sort_key))


def _kept_bases(program: Program) -> Iterator[Diagnostic]:
    """Constants that a layer gave a number of its own, which keep the basis that the old number had."""
    for constant in program.constants.values():
        values = [c for c in constant.changes if c.at in (f"constants.{constant.name}", f"constants.{constant.name}.value")]
        if not values or constant.basis in ("", "judgement") or any(c.at.endswith((".basis", ".cite")) for c in constant.changes):
            continue
        last = values[-1]
        if not last.losing and not last.now.startswith("{"):
            message = Text(f"'{constant.name}' has a new value, and is still called '{constant.basis}'",
                           f"'{constant.name}' 改了值，依据仍写作 '{constant.basis}'")  # fmt: skip
            help = Text(f"change 'constants.{constant.name}.basis' too, as to judgement",
                        f"请同时修改 'constants.{constant.name}.basis'，例如改为 judgement")  # fmt: skip
            yield _warning("basis-kept", last.span, message, help)


def _warning(code: str, span: Span, message: Text, help: Text = NO_TEXT) -> Diagnostic:
    return Diagnostic(code, message, span, help, severity="warning")


def _about_rule(rule: Rule, program: Program) -> Iterator[Diagnostic]:
    if not rule.cite:
        yield _warning("no-cite", rule.span, Text(f"the rule '{rule.id}' cites no claim", f"规则 '{rule.id}' 没有引用论断"),
                       Text("add 'cite: [..]'; what no source says can cite a source of one's own",
                            "请加 'cite: [..]'；没有出处的内容可引用自建的来源"))  # fmt: skip
    if not rule.examples:
        yield _warning("no-examples", rule.span, Text(f"the rule '{rule.id}' has no examples", f"规则 '{rule.id}' 没有示例"),
                       Text("add one that fires, one that stays silent, and one on the edge",
                       "请各加触发、不触发、恰在边界的示例"))  # fmt: skip
    yield from _title_numbers(rule, program)
    yield from _dead_rows(rule, program)
    if _is_ours(rule.layer, program):
        yield from _rule_languages(rule)


def _is_ours(layer: str, program: Program) -> bool:
    """The built-in packs speak both languages; others need only one."""
    return any(pack.name == layer and pack.folder.startswith("rules/") for pack in program.packs)


def _missing_language(text: Text) -> str:
    return "" if not text or (text.en and text.zh) else "zh" if text.en else "en"


def _rule_languages(rule: Rule) -> Iterator[Diagnostic]:
    texts = [("title", rule.title, rule.span), ("because", rule.because, rule.span)]
    texts += [("message", template.text, template.span) for template in effect_templates(rule)]
    for name, text, span in texts:
        yield from _language_warning(text, span, Text(f"the {name} of '{rule.id}'", f"'{rule.id}' 的 {name}"))


def _language_warning(text: Text, span: Span, what: Text) -> Iterator[Diagnostic]:
    missing = _missing_language(text)
    if missing:
        yield _warning("missing-language", span, Text(f"{what.en} has no '{missing}:'", f"{what.zh}缺少 '{missing}:'"))


def _vocabulary_languages(program: Program) -> Iterator[Diagnostic]:
    for fact in program.facts.values():
        if not _is_ours(fact.layer, program):
            continue
        texts = {"title": fact.title, "ask": fact.ask, "help": fact.help, "say": fact.say.text if fact.say else NO_TEXT}
        texts |= {f"choice '{name}'": text for name, text in fact.choice_texts.items()}
        for name, text in texts.items():
            yield from _language_warning(text, fact.span, Text(f"the {name} of '{fact.name}'", f"'{fact.name}' 的 {name}"))


_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def _title_numbers(rule: Rule, program: Program) -> Iterator[Diagnostic]:
    """A number that stands in the title and in a constant goes wrong when the constant changes."""
    said = set(_NUMBER.findall(f"{rule.title.en} {rule.title.zh}".replace(",", "")))
    for name in sorted(frozenset().union(*(constants_read(term) for term in _terms(rule)))):
        repeated = said & set(_NUMBER.findall(program.constants[name].value.text))
        if repeated:
            number = sorted(repeated)[0]
            message = Text(f"the title repeats {number}, the value of the constant '{name}'", f"标题重复了常量 '{name}' 的值 {number}")
            help = Text(
                "say it without the number: 'a large cluster', not 'more than 1000 GPUs'",
                "请不带数字表述：写“大型集群”而不是“超过 1000 卡”",
            )
            yield _warning("title-repeats-number", rule.span, message, help)


def _terms(rule: Rule) -> list[Term]:
    """All terms of a rule, those of its messages too."""
    found = [condition.term for condition in (*rule.when, *effect_conditions(rule))]
    return found + [term for template in effect_templates(rule) for term in template_terms(template)]


# Rows of `for`


def _dead_rows(rule: Rule, program: Program) -> Iterator[Diagnostic]:
    for variable, table in rule.rows:
        tests = [test for condition in rule.when for test in _cell_tests(condition, variable)]
        fitting = [row for row in program.tables[table].rows if all(_fits(test, row, program) for test in tests)]
        if not fitting:
            message = Text(f"no row of '{table}' satisfies the conditions of '{rule.id}', so it never fires",
                           f"表 '{table}' 没有一行满足 '{rule.id}' 的条件，它永不触发")  # fmt: skip
            yield _warning("dead-rule", rule.span, message)
        for row in fitting:
            for column in sorted(_columns_needed(rule, variable)):
                if column not in program.tables[table].rows[row].cells:
                    message = Text(f"'{rule.id}' never fires for the row '{row}', which has no '{column}'",
                                   f"'{rule.id}' 对行 '{row}' 永不触发，因为它没有 '{column}'")  # fmt: skip
                    help = Text(
                        f"fill the cell, or write {column}: {{unknown: 'why'}}", f"请填写该单元格，或写 {column}: {{unknown: '原因'}}"
                    )
                    yield _warning("dead-row", program.tables[table].rows[row].span, message, help)


def _cell_tests(condition: Condition, variable: str) -> list[Term]:
    """Conditions that compare a cell of the variable's row with something written in place."""
    term = condition.term
    if isinstance(term, CompareTerm) and term.operator == "==":
        sides = (term.left, term.right)
        return [term] if any(_is_cell(side, variable) for side in sides) and any(isinstance(side, Literal) for side in sides) else []
    return [term] if isinstance(term, InTerm) and term.literals and _is_cell(term.member, variable) else []


def _is_cell(term: Term, variable: str) -> bool:
    return isinstance(term, CellTerm) and isinstance(term.row, RowTerm) and term.row.variable == variable


def _fits(test: Term, row: str, program: Program) -> bool:
    """Whether a row can satisfy such a test; an unknown cell cannot."""
    parts = (test.member, *test.literals) if isinstance(test, InTerm) else (test.left, test.right) if isinstance(test, CompareTerm) else ()
    cell = next(part for part in parts if isinstance(part, CellTerm))
    present = program.tables[cell.table].rows[row].cells.get(cell.column)
    if present is None or present.literal is None:
        return False
    return any(_same(present.literal, literal) for literal in parts if isinstance(literal, Literal))


def _same(cell: Literal, literal: Literal) -> bool:
    if cell.kind == "number":
        return cell.low <= literal.high and literal.low <= cell.high
    return (cell.word, cell.flag) == (literal.word, literal.flag)


def _columns_needed(rule: Rule, variable: str) -> frozenset[str]:
    """Columns of the variable's row without which the rule does not fire: those in plain comparisons of `when`."""
    compared = [condition.term for condition in rule.when if isinstance(condition.term, CompareTerm | InTerm)]
    return frozenset(part.column for term in compared for part in walk(term) if isinstance(part, CellTerm) and _is_cell(part, variable))


# What nobody reads


def _unread_facts(program: Program) -> Iterator[Diagnostic]:
    read = names_read(program)
    for name, declared in program.facts.items():
        implied = name.endswith(("_rate", "_total")) and name.rsplit("_", 1)[0] in program.facts
        if name not in read and not program.contributors[name] and not implied:
            message = Text(f"nothing reads '{name}' and nothing concludes it", f"没有任何内容读取或得出 '{name}'")
            yield _warning("unread-fact", declared.span, message)


def _unread_constants(program: Program) -> Iterator[Diagnostic]:
    """Constants that no expression reads; one that only `because` names is among them, since nothing depends on it."""
    terms = [term for rule in program.rules.values() for term in _terms(rule)]
    for fact in program.facts.values():
        conditions = [condition for case in fact.default for condition in (*case.when, case.value)]
        terms += [condition.term for condition in (*conditions, *([fact.otherwise] if fact.otherwise is not None else []))]
        terms += template_terms(fact.say) if isinstance(fact.say, Template) else ()
    read = frozenset().union(*(constants_read(term) for term in terms)) if terms else frozenset()
    for name, constant in program.constants.items():
        if name not in read:
            yield _warning("unread-constant", constant.span, Text(f"nothing reads the constant '{name}'", f"没有任何内容读取常量 '{name}'"))
