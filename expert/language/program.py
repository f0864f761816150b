"""The compiled knowledge: what the packs say after layering, checking and ordering. Data only.

`compile_packs` in `compiler` makes it; engines, explanations and reports read it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TypeVar

from expert.errors import NO_TEXT, Span, Text
from expert.language.terms import Literal, Term
from expert.records import dataclass
from expert.units import Unit, UnitTable

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Change:
    """One entry of a later layer's `changes:`. `at` is the path, `was` and `now` the texts before and after."""

    layer: str
    at: str
    was: str
    now: str
    losing: tuple[str, ...]
    because: Text
    span: Span


@dataclass(frozen=True, slots=True)
class Template:
    """A message: literal pieces and terms to be formatted, in turn, per language. `parts["en"]` alternates freely.

    Each part is a str or a Term (with the source name kept in the term's span path).
    """

    text: Text
    en: tuple[str | Term, ...]
    zh: tuple[str | Term, ...]
    span: Span

    def parts(self, lang: str) -> tuple[str | Term, ...]:
        """The parts in `lang`, or in the other language where it is empty."""
        return (self.zh or self.en) if lang == "zh" else (self.en or self.zh)


@dataclass(frozen=True, slots=True)
class Condition:
    """One line of `when`, a test or a value: the checked term and its source text."""

    term: Term
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class DefaultCase:
    """One case of a fact's `default`: used when nobody answered and `when` holds."""

    when: tuple[Condition, ...]
    value: Condition
    aim: bool
    cite: tuple[str, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Domain:
    """Where the values of a choice, or the options of an assigned fact, come from: one of the three.

    table: row ids (a number fact takes the table's `value` column); words; numbers (in base units).
    """

    table: str | None = None
    words: tuple[str, ...] = ()
    numbers: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class FactDecl:
    """One entry of the vocabulary. `type` is yes-no, choice, list, number, money or text; `kind` is the term kind."""

    name: str
    type: str
    kind: str
    unit: Unit | None
    domain: Domain | None
    choice_texts: Mapping[str, Text]
    combine: str
    otherwise: Condition | None
    default: tuple[DefaultCase, ...]
    covers: tuple[float, float] | None
    whole: bool
    topic: str
    title: Text
    ask: Text
    help: Text
    say: Template | None
    example: str
    cite: tuple[str, ...]
    span: Span
    layer: str


@dataclass(frozen=True, slots=True)
class Column:
    """A table's column: `kind` as of terms; `table` where cells are row ids of another table."""

    name: str
    kind: str
    unit: Unit | None
    table: str | None
    title: Text


@dataclass(frozen=True, slots=True)
class Cell:
    """A table cell: a literal (numbers in base units), a list, or unknown (`literal` and `members` None) with a reason."""

    literal: Literal | None
    members: tuple[str, ...] | None
    text: Text
    unknown: Text
    basis: str
    source: tuple[str, ...]
    span: Span
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """A row: its id, its title and its cells by column (a column without a cell is unknown)."""

    id: str
    title: Text
    cells: Mapping[str, Cell]
    source: tuple[str, ...]
    span: Span
    layer: str


@dataclass(frozen=True, slots=True)
class Table:
    """Rows in the order of the file; rows added by later layers follow by id."""

    name: str
    title: Text
    columns: Mapping[str, Column]
    rows: Mapping[str, Row]
    source: tuple[str, ...]
    span: Span
    layer: str


@dataclass(frozen=True, slots=True)
class Constant:
    """A named number (or word) with basis: published, measured, vendor or judgement."""

    name: str
    value: Literal
    unit: Unit | None
    basis: str
    cite: tuple[str, ...]
    title: Text
    span: Span
    layer: str
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class Conclude:
    """Contributes values to facts. `values` pairs each fact with the expression."""

    values: tuple[tuple[str, Condition], ...]


@dataclass(frozen=True, slots=True)
class Require:
    """Rejects every option for which `test` is false; `fact` is blamed."""

    fact: str
    test: Condition
    fix: Template | None


@dataclass(frozen=True, slots=True)
class Prefer:
    """Adds `weight` (1-10) to every option for which `test` is true."""

    fact: str
    test: Condition
    weight: int
    fix: Template | None


@dataclass(frozen=True, slots=True)
class Warn:
    """A finding: `severity` is error, warning or info."""

    severity: str
    message: Template
    costs: Template | None
    fix: Template | None
    fact: str


@dataclass(frozen=True, slots=True)
class Threshold:
    """An acceptance test. `bound` is "at_least", "at_most" or "" (no threshold)."""

    stage: str
    metric: str
    bound: str
    limit: Condition | None
    tool: str
    command: str
    rerun: Template | None
    message: Template | None
    confirm: tuple[Template, ...]


@dataclass(frozen=True, slots=True)
class Risk:
    """An entry of the risk register; `impact_fact` names a fact or is "" (then `impact` has words)."""

    likelihood: str
    impact_fact: str
    impact: Template | None
    trigger: Template
    mitigation: Template
    basis: str


Effect = Conclude | Require | Prefer | Warn | Threshold | Risk


@dataclass(frozen=True, slots=True)
class Example:
    """`given` and `expect` of a rule's example; values as YAML scalars or lists, interpreted by the test runner."""

    given: tuple[tuple[str, object], ...]
    expect: object
    span: Span
    layer: str


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule after layering. `rows` are the `for` variables with their tables; all of `when` must hold."""

    id: str
    topic: str
    title: Text
    rows: tuple[tuple[str, str], ...]
    when: tuple[Condition, ...]
    effect: Effect
    because: Text
    cite: tuple[str, ...]
    dissent: tuple[str, ...]
    law: bool
    basis: str
    examples: tuple[Example, ...]
    span: Span
    layer: str
    changes: tuple[Change, ...] = ()
    protected: bool = False

    @property
    def effect_name(self) -> str:
        """conclude, require, prefer, warn, test or risk."""
        return "test" if isinstance(self.effect, Threshold) else type(self.effect).__name__.lower()


@dataclass(frozen=True, slots=True)
class Decision:
    """Chooses design facts together. `assigns` keeps the file's order; `within` is a fraction (0.25)."""

    id: str
    title: Text
    assigns: Mapping[str, Domain]
    needs: tuple[str, ...]
    cost: str | None
    within: float
    order: tuple[str, ...]
    shortlist: int
    after: tuple[str, ...]
    topic: str
    span: Span
    layer: str


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim of a source document, paraphrased; an erratum has `refutes`."""

    id: str
    source: str
    where: str
    says: Text
    refutes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """A document: title, address, date read, licence, review-by date (ISO texts; "" where not given)."""

    id: str
    title: Text
    address: str
    read: str
    licence: str
    review_by: str


@dataclass(frozen=True, slots=True)
class Pack:
    """A layer. `digest` is the SHA-256 of the pack's canonical content."""

    name: str
    version: str
    title: Text
    digest: str
    folder: str


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the schedule: a stratum of facts to finish, or a decision.

    facts: concluded facts finished in this step, in order, none reading another one of the same step.
    decision: the decision id, whose body (`Program.bodies`) is evaluated with it.
    """

    stratum: int
    facts: tuple[str, ...] = ()
    decision: str | None = None


def attached(program: Program, key: str, make: Callable[[], Made]) -> Made:
    """What `make` gives, made once per program and kept with it for as long as it lives: closures, compiled rule sets."""
    kept = vars(program)
    if key not in kept:
        kept[key] = make()
    found: Made = kept[key]
    return found


@dataclass(frozen=True, eq=False)
class Program:
    """Everything that the packs say, checked and ordered. Mappings keep the order of layers and files.

    contributors: for each fact, the ids of the rules that conclude it.
    tests_of: for each decision, the ids of its require and prefer rules ("" holds those of no decision).
    bodies: for each decision, the facts of its body in evaluation order.
    dependencies: for each fact and, as "rule:ID", each rule, all facts it depends on, transitively,
        through contributing rules (decided facts are leaves).
    disabled, retired: the changes that took rules out of force, and those rules, by id.
    """

    packs: tuple[Pack, ...]
    topics: Mapping[str, Text]
    units: UnitTable
    unit_texts: Mapping[str, Text]
    facts: Mapping[str, FactDecl]
    tables: Mapping[str, Table]
    constants: Mapping[str, Constant]
    rules: Mapping[str, Rule]
    decisions: Mapping[str, Decision]
    sources: Mapping[str, Source]
    claims: Mapping[str, Claim]
    schedule: tuple[Step, ...]
    contributors: Mapping[str, tuple[str, ...]]
    tests_of: Mapping[str, tuple[str, ...]]
    bodies: Mapping[str, tuple[str, ...]]
    dependencies: Mapping[str, frozenset[str]]
    deciders: Mapping[str, str]
    disabled: tuple[Change, ...] = ()
    scenarios: tuple[object, ...] = field(default=(), compare=False)
    retired: Mapping[str, Rule] = field(default_factory=dict)
    title: Text = NO_TEXT
