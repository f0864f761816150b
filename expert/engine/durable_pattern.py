"""What a rule asks of the working memory: messages that must be there together, as data, until they become a `RawRule`.

Every message that a pattern wants is determined by the rows of the `for` variables: one fact has one message, a cell has one
for each row id, a marker one for each binding. So wants with the same key are one want, a want may be repeated in several
hidden rules, and a pattern of any length can be cut into pieces that share nothing but the row variables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from types import MappingProxyType
from typing import NamedTuple

from expert.engine.durable_raw import CONDITIONS_PER_RULE, Constant, DurableLimitError, Join, Op, RawCondition, RawRule

Key = tuple[object, ...]

ROW = "row"
START = "start"
BUNDLE = "*"
"""Role of a message that stands for several: it brings all their values."""

FLIPPED = {Op.EQ: Op.EQ, Op.NE: Op.NE, Op.LT: Op.GT, Op.LE: Op.GE, Op.GT: Op.LT, Op.GE: Op.LE}


class Anchor(NamedTuple):
    """`prop` of the message equals `other` of the message that fills `to`: this is what determines it."""

    prop: str
    to: Key
    other: str


class Want(NamedTuple):
    """One message. `role` is the environment key under which an action finds its value ("" for none)."""

    key: Key
    kind: str
    role: str = ""
    anchors: tuple[Anchor, ...] = ()


class Tie(NamedTuple):
    """A comparison of two messages."""

    left: Key
    prop: str
    op: Op
    right: Key
    other: str


NO_WANTS: Mapping[Key, Want] = MappingProxyType({})


class Pattern(NamedTuple):
    """Messages that hold together, with tests. `computed` tells that a hidden rule with arithmetic stands behind one of them."""

    wants: Mapping[Key, Want] = NO_WANTS
    tests: tuple[tuple[Key, Constant], ...] = ()
    ties: tuple[Tie, ...] = ()
    computed: bool = False

    def with_test(self, key: Key, test: Constant) -> Pattern:
        """The pattern with one more test."""
        return self._replace(tests=(*self.tests, (key, test)))


NOTHING = Pattern()


def wanting(want: Want, *others: Pattern) -> Pattern:
    """A pattern of one message and those that determine it."""
    if not others:
        return Pattern({want.key: want})
    return merged([*others, Pattern({want.key: want})])


def merged(patterns: Iterable[Pattern]) -> Pattern:
    """All patterns together."""
    several = [pattern for pattern in patterns if pattern is not NOTHING]
    if len(several) <= 1:
        return several[0] if several else NOTHING
    wants: dict[Key, Want] = {}
    tests: dict[tuple[Key, Constant], None] = {}
    ties: dict[Tie, None] = {}
    computed = False
    for pattern in several:
        wants.update(pattern.wants)
        tests.update(dict.fromkeys(pattern.tests))
        ties.update(dict.fromkeys(pattern.ties))
        computed = computed or pattern.computed
    return Pattern(wants, tuple(tests), tuple(ties), computed)


def row_want(variable: str, table: str) -> Want:
    """The row that a `for` variable stands for."""
    return Want((ROW, variable), f"{ROW}:{table}", "$" + variable)


def row_anchors(variables: Mapping[str, str]) -> tuple[Anchor, ...]:
    """What ties a marker to the rows that it is about."""
    return tuple(Anchor(f"v{i}", (ROW, variable), "oid") for i, variable in enumerate(variables))


def row_pattern(variables: Mapping[str, str]) -> Pattern:
    """The rows of all variables."""
    return merged(wanting(row_want(variable, table)) for variable, table in variables.items())


def pieces(pattern: Pattern) -> list[Pattern]:
    """The pattern cut into pieces of at most 16 messages, each with all that determines its own; together they say the same."""
    atoms = [frozenset((tie.left, tie.right)) for tie in pattern.ties]
    atoms += [frozenset((key,)) for key, _ in pattern.tests]
    atoms += [frozenset((key,)) for key in pattern.wants]
    groups: list[set[Key]] = []
    for atom in atoms:
        needed = _closed(atom, pattern)
        if groups and len(groups[-1] | needed) <= CONDITIONS_PER_RULE:
            groups[-1] |= needed
        elif not any(needed <= group for group in groups):
            groups.append(needed)
    for group in groups:
        if len(group) > CONDITIONS_PER_RULE:
            raise DurableLimitError("conditions-per-rule", len(group), CONDITIONS_PER_RULE)
    return [_restricted(pattern, group) for group in groups]


def _closed(keys: Iterable[Key], pattern: Pattern) -> set[Key]:
    found: set[Key] = set()
    waiting = list(keys)
    while waiting:
        key = waiting.pop()
        if key not in found:
            found.add(key)
            waiting += [anchor.to for anchor in pattern.wants[key].anchors]
    return found


def _restricted(pattern: Pattern, keys: set[Key]) -> Pattern:
    return Pattern(
        {key: want for key, want in pattern.wants.items() if key in keys},
        tuple(test for test in pattern.tests if test[0] in keys),
        tuple(tie for tie in pattern.ties if tie.left in keys and tie.right in keys),
        pattern.computed,
    )


def copy_name(kind: str, copy: int) -> str:
    """The kind of the n-th copy of a message: one message can't fill two conditions of a rule, its copy can."""
    return kind if copy == 0 else f"{kind}#{copy + 1}"


def raw_rule(pattern: Pattern, copies: MutableMapping[str, int]) -> tuple[RawRule, tuple[str, ...]]:
    """The rule of a pattern with the role of each condition; notes in `copies` how many copies of each kind are read."""
    order = list(_ordered(pattern))
    position = {want.key: i for i, want in enumerate(order)}
    tests: list[list[Constant | Join]] = [[] for _ in order]
    for key, test in pattern.tests:
        tests[position[key]].append(test)
    for i, want in enumerate(order):
        tests[i] += [Join(anchor.prop, Op.EQ, position[anchor.to], anchor.other) for anchor in want.anchors]
    for tie in pattern.ties:
        left, right = position[tie.left], position[tie.right]
        if left > right:
            tests[left].append(Join(tie.prop, tie.op, right, tie.other))
        else:
            tests[right].append(Join(tie.other, FLIPPED[tie.op], left, tie.prop))
    seen: dict[str, int] = {}
    conditions = []
    for want, own in zip(order, tests, strict=True):
        copy = seen[want.kind] = seen.get(want.kind, -1) + 1
        copies[want.kind] = max(copies.get(want.kind, 0), copy + 1)
        conditions.append(RawCondition(copy_name(want.kind, copy), tuple(own)))
    return RawRule(tuple(conditions)), tuple(want.role for want in order)


def _ordered(pattern: Pattern) -> Iterator[Want]:
    """What is determined by messages already there comes first, then single messages, then the rows of a table."""
    waiting = dict(pattern.wants)
    placed: set[Key] = set()
    while waiting:
        ready = [want for want in waiting.values() if all(anchor.to in placed for anchor in want.anchors)]
        chosen = min(ready, key=lambda want: 2 if want.key[0] == ROW else 0 if want.anchors else 1)
        placed.add(chosen.key)
        del waiting[chosen.key]
        yield chosen
