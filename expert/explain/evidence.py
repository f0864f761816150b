"""What a rule rests on: constants, table cells, claims and their sources, dissent, layers. As lines of a proof."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from expert.errors import Span, Text, inert
from expert.explain.nodes import Line
from expert.explain.wording import in_both, row_words
from expert.explain.words import Words
from expert.language.program import Cell, Change, Conclude, Condition, Prefer, Require, Rule, Threshold
from expert.language.terms import CellTerm, ConstantTerm, Term, constants_read, walk

BASIS = {
    "published": Text("published", "公开资料"),
    "measured": Text("measured", "实测"),
    "vendor": Text("vendor's figure", "厂商数据"),
    "judgement": Text("rule of thumb", "经验值"),
    "assumed": Text("assumed", "假设"),
}
SOURCE, DISSENT = "source", "dissent"
_WORST = ("measured", "published", "vendor", "judgement", "assumed")
Rows = tuple[tuple[str, str], ...]


def place(span: Span | None) -> str:
    """A place for people: file and line."""
    return "" if span is None else f"{span.file}:{span.line}"


def rule_terms(rule: Rule, fact: str | None = None) -> tuple[Condition, ...]:
    """The conditions of a rule and its test, limit or the values that it concludes (of one fact, when named)."""
    effect = rule.effect
    extra: tuple[Condition, ...] = ()
    if isinstance(effect, Require | Prefer):
        extra = (effect.test,)
    elif isinstance(effect, Conclude):
        extra = tuple(value for name, value in effect.values if fact in (None, name))
    elif isinstance(effect, Threshold) and effect.limit is not None:
        extra = (effect.limit,)
    return (*rule.when, *extra)


def evidence(rule: Rule, rows: Rows, words: Words, fact: str | None = None) -> Iterator[Line]:
    """Constants and cells that a rule read, its sources, what disagrees, and which layer spoke."""
    terms = [condition.term for condition in rule_terms(rule, fact)]
    told: set[str] = set()
    yield from evidence_of(terms, rows, words, rule.cite, {*rule.dissent, *overruled(rule.changes)}, told)
    yield from _losing(rule.dissent, words, told)
    yield from changes(rule.changes, words, told)
    yield rule_line(rule, words)


def evidence_of(
    terms: Sequence[Term],
    rows: Rows,
    words: Words,
    cite: Iterable[str] = (),
    disputed: Iterable[str] = (),
    told: set[str] | None = None,
) -> Iterator[Line]:
    """Constants and cells that terms read, and the claims and sources of these and of `cite`.

    What a layer overrules here, or is `disputed`, is no source. `told` collects the claims that are named as losing.
    """
    names: list[str] = []
    lost = set() if told is None else told
    for line, cited in (*_constants(terms, words, lost), *_cells(terms, rows, words, lost)):
        yield line
        names += cited
    against = lost.union(disputed)
    yield from sources([name for name in (*names, *cite) if name not in against], words)


def rule_line(rule: Rule, words: Words) -> Line:
    """Where the rule stands: its id, its layer and version, its file and line."""
    version = next((pack.version for pack in words.program.packs if pack.name == rule.layer), "")
    name = f"{rule.id}, {rule.layer} {version}".rstrip()
    return Line("rule", Text(name, name), place(rule.span))


def overruled(found: Iterable[Change]) -> Iterator[str]:
    """The claims that changes overrule."""
    return (name for change in found for name in change.losing)


def _constants(terms: Iterable[Term], words: Words, told: set[str]) -> Iterator[tuple[Line, tuple[str, ...]]]:
    names = sorted({name for term in terms for name in constants_read(term)})
    for name in names:
        constant = words.program.constants[name]
        found = next(t for term in terms for t in walk(term) if getattr(t, "constant", None) == name)

        def shown(lang: str, name: str = name, found: Term = found, basis: str = constant.basis) -> str:
            title = inert(words.program.constants[name].title.of(lang))
            value = words.term(found, (), lang)
            grade = BASIS.get(basis, Text(basis)).of(lang)
            return f"{name} = {value}（{title}，{grade}）" if lang == "zh" else f"{name} = {value} ({title}; {grade})"

        yield Line("constant", in_both(shown), place(constant.span)), constant.cite
        yield from ((line, ()) for line in changes(constant.changes, words, told))


def _cells(terms: Iterable[Term], rows: Rows, words: Words, told: set[str]) -> Iterator[tuple[Line, tuple[str, ...]]]:
    seen: set[tuple[str, str, str]] = set()
    for term in (t for each in terms for t in walk(each) if isinstance(t, CellTerm)):
        row = words.evaluated(term.row, rows)
        if not isinstance(row, str) or (term.table, row, term.column) in seen:
            continue
        seen.add((term.table, row, term.column))
        table = words.program.tables[term.table]
        found = table.rows.get(row)
        cell = found.cells.get(term.column) if found is not None else None
        if found is None or cell is None:
            continue
        text = in_both(lambda lang, t=term, r=row, c=cell: _cell_text(t, r, c, rows, words, lang))  # type: ignore[misc]
        yield Line("cell", text, place(cell.span)), cell.source or found.source or table.source
        yield from ((line, ()) for line in changes(cell.changes, words, told))


def _cell_text(term: CellTerm, row: str, cell: Cell, rows: Rows, words: Words, lang: str) -> str:
    title = words.program.tables[term.table].columns[term.column].title.of(lang) or term.column
    name = row_words(term.table, row, words.program, lang)
    if cell.literal is None and cell.members is None:
        reason = inert(cell.unknown.of(lang))
        return f"{name}：{inert(title)} 未知（{reason}）" if lang == "zh" else f"{name}: {inert(title)} is unknown ({reason})"
    value = words.term(term, rows, lang)
    grade = BASIS[cell.basis].of(lang) if cell.basis in BASIS else ""
    colon, note = ("：", f"（{grade}）") if lang == "zh" else (": ", f" ({grade})")
    return f"{name}{colon}{inert(title)} {value}{note if grade else ''}"


def sources(cite: Iterable[str], words: Words) -> Iterator[Line]:
    """One line per claim or source: the claim, where it stands and what it says. What was told before is only named."""
    again: list[str] = []
    for name in dict.fromkeys(cite):
        if name in words.told:
            again.append(name)
            continue
        claim = words.program.claims.get(name)
        known = claim is not None and claim.source in words.told
        words.told |= {name} if claim is None else {name, claim.source}
        said = in_both(lambda lang, n=name, k=known: _cited(n, k, words, lang))  # type: ignore[misc]
        yield Line(SOURCE, said, cites=(name,))
    if again:
        listed = ", ".join(inert(name) for name in again)
        yield Line(SOURCE, Text(f"{listed} (above)", f"{listed}（见上）"), cites=tuple(again))


def _cited(name: str, known: bool, words: Words, lang: str) -> str:
    """A claim with its source (by title, unless `known`) and its place there, or a source by its title."""
    claim = words.program.claims.get(name)
    source = words.program.sources.get(claim.source if claim is not None else name)
    title = inert(source.title.of(lang)) if source is not None else ""
    colon = "：" if lang == "zh" else ": "
    if claim is None:
        return f"{inert(name)}{colon}{title}" if title else inert(name)
    document = inert(claim.source) if known or not title else f"{inert(claim.source)}{colon}{title}"
    where = ("，" if lang == "zh" else ", ").join(part for part in (document, inert(claim.where)) if part)
    head = f"{inert(name)}（{where}）" if lang == "zh" else f"{inert(name)} ({where})"
    says = inert(claim.says.of(lang))
    return f"{head}{colon}{says}" if says else head


def _losing(names: Iterable[str], words: Words, told: set[str], overruled: bool = False) -> Iterator[Line]:
    """Claims that lost, but for those that this rule has `told` already."""
    for name in names:
        if name not in told:
            told.add(name)
            yield from losing(name, words, overruled)


def changes(found: Iterable[Change], words: Words, told: set[str]) -> Iterator[Line]:
    """What a later layer changed, with what was before, why, and the claims that lost, unless they are `told` already."""
    for change in found:
        was = inert(change.was)
        english, chinese = (f" from {was}", f"（原值 {was}）") if was else ("", "")
        en = f"{change.layer} changed {inert(change.at)}{english}: {inert(change.because.of('en'))}"
        zh = f"{change.layer} 修改了 {inert(change.at)}{chinese}：{inert(change.because.of('zh'))}"
        yield Line("layer", Text(en, zh), place(change.span))
        yield from _losing(change.losing, words, told, overruled=True)


OVERRULED, DISAGREES = Text("is overruled", "在此不采用"), Text("disagrees", "与此不同")


def is_overruled(line: Line) -> bool:
    """Whether a line of dissent tells of a claim that a layer overruled."""
    return line.text.en.startswith(f"{inert(line.cites[0])} {OVERRULED.en}")


def losing(name: str, words: Words, overruled: bool = False) -> Iterator[Line]:
    """A claim that lost; what it says stands where it is told first.

    overruled: a layer put something in the place of what it says, which need not be the opposite of the rule.
    """
    claim = words.program.claims.get(name)
    again = name in words.told
    words.told.add(name)

    def shown(lang: str) -> str:
        says = inert(claim.says.of(lang)) if claim is not None and not again else ""
        colon = "：" if lang == "zh" else ": "
        verb = OVERRULED if overruled else DISAGREES
        head = f"{inert(name)} {verb.of(lang)}"
        return f"{head}{colon}{says}" if says else head

    yield Line(DISSENT, in_both(shown), cites=(name,))


def worst_basis(firings: Iterable[tuple[Rule, Rows]], words: Words) -> str:
    """The weakest basis of the rules, constants and cells that were read; "" where none says on what it rests."""
    found: set[str] = set()
    for rule, rows in firings:
        found.add(rule.basis)
        for term in (t for condition in rule_terms(rule) for t in walk(condition.term)):
            if isinstance(term, ConstantTerm):
                found.add(words.program.constants[term.constant].basis)
            elif isinstance(term, CellTerm):
                row = words.evaluated(term.row, rows)
                held = words.program.tables[term.table].rows.get(row) if isinstance(row, str) else None
                cell = held.cells.get(term.column) if held is not None else None
                found.add(cell.basis if cell is not None else "")
    known = [grade for grade in _WORST if grade in found]
    return known[-1] if known else ""
