"""The durable definition while it grows: rules with what to do at a match, kinds of messages, cells in use, markers."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence

from expert.engine.durable_pattern import (
    BUNDLE,
    ROW,
    START,
    Key,
    Pattern,
    Want,
    copy_name,
    merged,
    pieces,
    raw_rule,
    row_anchors,
    row_pattern,
    wanting,
)
from expert.engine.durable_raw import CONDITIONS_PER_RULE, Definition, DurableLimitError, Join, Property, RawRule, ValueType
from expert.engine.evaluate import Closure
from expert.language.terms import BOOL, NUMBER, WORD
from expert.records import dataclass

_NUMBER, _TEXT, _FLAG = Property(ValueType.NUMBER), Property(ValueType.TEXT), Property(ValueType.YES_NO)
Schema = Mapping[str, Property]
OID: Schema = {"oid": _TEXT}
VARIABLES_PER_RULE = 8


@dataclass(frozen=True, slots=True)
class Assert:
    """Conclude a message of `kind` about the rows of `variables`; with `closure`, it holds the value computed if that is known.

    carries: the message brings along the values of the messages behind it.
    """

    kind: str
    variables: tuple[str, ...]
    closure: Closure | None = None
    carries: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """A rule of the packs matched: `state` as in `Match`; of a conclusion, `fact` and the place among its contributors."""

    rule: str
    state: str
    variables: tuple[str, ...]
    fact: str = ""
    place: int = 0
    closure: Closure | None = None


Action = Assert | Report
CellColumn = tuple[str, str]


def value_schema(kind: str, prop: str = "oid") -> Schema:
    """The properties that hold a value of a term kind. Numbers come with both ends and both ends lowered by the tolerance.

    A list has none, its elements are messages; a text neither, it is printed and never compared.
    """
    if kind == NUMBER:
        return {"lo": _NUMBER, "hi": _NUMBER, "dlo": _NUMBER, "dhi": _NUMBER}
    if kind == BOOL:
        return {"flag": _FLAG}
    return {prop: _TEXT} if kind == WORD else {}


class Draft:
    """Collects rules. Hidden rules are shared: the same expression over the same variables has one marker."""

    def __init__(self, tables: Iterable[str]) -> None:
        self.rules: list[RawRule] = []
        self.roles: list[tuple[str, ...]] = []
        self.actions: list[Action] = []
        self.copies: dict[str, int] = {}
        self.sources: dict[str, dict[CellColumn, None]] = {}
        self.fixed: dict[tuple[str, str, str], None] = {}
        self.lacks: dict[str, dict[str, None]] = {}
        self._schemas: dict[str, Schema] = {START: {}, **{f"{ROW}:{table}": OID for table in tables}}
        self._hidden: dict[Hashable, Pattern] = {}

    def declare(self, kind: str, schema: Schema) -> str:
        """The kind, with its properties known."""
        self._schemas.setdefault(kind, schema)
        return kind

    def read_cell(self, row_kind: str, table: str, column: str) -> None:
        """Messages of `row_kind` name rows of which the column is in use."""
        self.sources.setdefault(row_kind, {})[table, column] = None

    def known_hidden(self, identity: Hashable) -> tuple[bool, Pattern | None]:
        """Whether the hidden rules of this identity exist, and the pattern that reads them."""
        return identity in self._hidden, self._hidden.get(identity)

    def hide(
        self,
        identity: Hashable,
        alternatives: Sequence[Pattern],
        variables: Mapping[str, str],
        *,
        closure: Closure | None = None,
        value: Schema | None = None,
        carries: bool = False,
    ) -> Pattern:
        """Hidden rules, one for each alternative, that conclude one marker; the result is the pattern that reads it."""
        if len(variables) > VARIABLES_PER_RULE:
            raise DurableLimitError("row-variables", len(variables), VARIABLES_PER_RULE)
        number = len(self._hidden)
        name = "value" if closure is not None else "bundle" if carries else "marker"
        schema = {**(value or {}), **{f"v{i}": _TEXT for i in range(len(variables))}}
        kind = self.declare(f"{name}:{number}", schema)
        key: Key = (name, number)
        rows = row_pattern(variables)
        found = wanting(Want(key, kind, BUNDLE if carries else "", row_anchors(variables)), rows)
        computed = closure is not None or any(alternative.computed for alternative in alternatives)
        found = merged([found, Pattern(computed=computed)])
        self._hidden[identity] = found
        for alternative in alternatives:
            self.add(merged([rows, alternative]), Assert(kind, tuple(variables), closure, carries), variables)
        return found

    def add(self, pattern: Pattern, action: Action, variables: Mapping[str, str]) -> None:
        """A rule; more than 16 conditions are first bundled by hidden rules."""
        if len(pattern.wants) > CONDITIONS_PER_RULE:
            bundles = [self._bundle(piece, variables) for piece in pieces(pattern)]
            self.add(merged([row_pattern(variables), *bundles]), action, variables)
            return
        if not pattern.wants:
            pattern = wanting(Want((START,), START))
        rule, roles = raw_rule(pattern, self.copies)
        self.rules.append(rule)
        self.roles.append(roles)
        self.actions.append(action)

    def _bundle(self, piece: Pattern, variables: Mapping[str, str]) -> Pattern:
        identity = ("bundle", tuple(piece.wants.values()), piece.tests, piece.ties)
        known, found = self.known_hidden(identity)
        if known and found is not None:
            return found
        own = {name: table for name, table in variables.items() if (ROW, name) in piece.wants}
        return self.hide(identity, [piece], own, carries=True)

    def definition(self) -> Definition:
        """All rules with the kinds that they read; of the four numbers that tell a range, those that some rule compares."""
        declared = {copy_name(kind, copy): self._schemas[kind] for kind, copies in self.copies.items() for copy in range(copies)}
        compared = _compared(self.rules)
        schema = {
            kind: {name: prop for name, prop in properties.items() if prop is not _NUMBER or (kind, name) in compared}
            for kind, properties in declared.items()
        }
        return Definition(tuple(self.rules), schema)


def _compared(rules: Iterable[RawRule]) -> set[tuple[str, str]]:
    """Kinds and properties that tests read."""
    found: set[tuple[str, str]] = set()
    for rule in rules:
        for condition in rule.conditions:
            for test in condition.tests:
                found.add((condition.kind, test.prop))
                if isinstance(test, Join):
                    found.add((rule.conditions[test.condition].kind, test.other))
    return found
