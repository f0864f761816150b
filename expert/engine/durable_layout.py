"""A checked definition as the text that durable_rules compiles, laid out to stay clear of its tables.

The library (2.0.28) merges tests with a common beginning into a tree. Per node of that tree it has room for 511 different
next tests (one more is an endless loop), for 255 conditions that end there (one more is a wrong result), and a stack of 64
for tests that one fact makes true (one more loses the fact). Where a node would come near, its branches are put behind
tests that are always true, `{"$ex": {"kind_": n}}`, a different n for each group, groups of groups where needed.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import NamedTuple

from expert.engine.durable_raw import (
    BOOT,
    BUCKET,
    KIND,
    Constant,
    Definition,
    DurableLimitError,
    Exists,
    Join,
    Op,
    Property,
    RawCondition,
    RawRule,
    Test,
    encode_text,
    encode_value,
)
from expert.records import dataclass

RULES_PER_SET = 4000  # the library takes 4,096, the bootstrap rule among them
BUCKETS = 256
STACK = 64
TABLE = 500
# Branches that one fact may take at a node before they are grouped, and in a group; the second line serves where the
# first, which adds fewer tests, would need too much of the stack.
WIDTHS = ((12, 6), (3, 2))
GROUP_SIZE = 250
ENDS_PER_NODE = 250

# Two jobs: it fires first in every session (else delete_state frees garbage), and as the last rule, with its $and, it is
# the terminator that the library finds when it scans on from a join whose last test failed (else SIGSEGV).
SENTINEL = f'"boot":{{"all":[{{"m0":{{"$and":[{{"{BOOT}":1}}]}}}}]}}'

Place = tuple[int, int]  # rule, condition
Schema = Mapping[str, Mapping[str, Property]]


class Branch(NamedTuple):
    """What may follow a test: a further test with its node, a join or end of conditions (`places`), or a group (`inner`)."""

    test: str = ""
    exclusive: str = ""  # the property of an equality test: of all those on one property, a fact passes at most one
    node: _Node | None = None
    joins: tuple[Place, ...] = ()
    ends: tuple[Place, ...] = ()
    inner: tuple[Branch, ...] = ()


class _Node:
    __slots__ = ("ends", "joins", "kids")

    def __init__(self) -> None:
        self.kids: dict[str, tuple[str, _Node]] = {}  # test -> property if it is an equality, node
        self.joins: list[Place] = []
        self.ends: list[Place] = []


@dataclass(frozen=True, slots=True)
class Layout:
    """One rule set for the library: its text, the kinds of facts it reads, and the deepest use of the library's stack of 64."""

    text: str
    kinds: frozenset[str]
    stack: int


def lay_out(definition: Definition) -> tuple[Layout, ...]:
    """Every 4,000 rules of a checked definition as one rule set.

    Errors: DurableLimitError "true-tests" or "tests-per-node", when no grouping keeps clear of the library's tables.
    """
    rules = definition.rules
    starts = range(0, len(rules), RULES_PER_SET)
    return tuple(_lay_out(rules[start : start + RULES_PER_SET], start, definition.schema) for start in starts)


def _lay_out(rules: Sequence[RawRule], start: int, schema: Schema) -> Layout:
    root = _tree(rules, schema)
    for direct, group in WIDTHS:
        placer = _Placer(direct, group)
        stack = 1 + placer.place(root, ())  # 1: the test of the bootstrap rule
        if stack <= STACK:
            break
    else:
        raise DurableLimitError("true-tests", stack, STACK)
    texts = [_rule_text(start + i, rule, [placer.prefixes[i, j] for j in range(len(rule.conditions))]) for i, rule in enumerate(rules)]
    kinds = frozenset(condition.kind for rule in rules for condition in rule.conditions)
    return Layout("{" + ",".join([*texts, SENTINEL]) + "}", kinds, stack)


def _tree(rules: Sequence[RawRule], schema: Schema) -> _Node:
    root = _Node()
    kinds: dict[str, _Node] = {}
    for i, rule in enumerate(rules):
        for j, condition in enumerate(rule.conditions):
            kind = condition.kind
            if kind not in kinds:
                kinds[kind] = _below(root, _kind_tests(kind))
            node = _below(kinds[kind], _own_tests(condition, schema[kind])) if condition.tests else kinds[kind]
            joined = any(isinstance(test, Join) for test in condition.tests)
            (node.joins if joined else node.ends).append((i, j))
    return root


def _below(node: _Node, tests: Iterable[tuple[str, str]]) -> _Node:
    for exclusive, text in tests:
        known = node.kids.get(text)
        if known is None:
            known = node.kids[text] = (exclusive, _Node())
        node = known[1]
    return node


def bucket(kind: str) -> int:
    """Which of 256 buckets a kind is in: the first test of every condition, so that the root has at most 257 branches."""
    return zlib.crc32(kind.encode()) % BUCKETS


def _kind_tests(kind: str) -> Iterator[tuple[str, str]]:
    """The first tests of every condition, each with the property of which a fact passes one test at most."""
    yield BUCKET, f'{{"{BUCKET}":{bucket(kind)}}}'
    yield KIND, f'{{"{KIND}":{encode_text(kind)}}}'


def _own_tests(condition: RawCondition, properties: Mapping[str, Property]) -> list[tuple[str, str]]:
    """The other tests of a condition that look at one fact, as text, equalities first."""
    found = {_alpha(test, properties) for test in condition.tests if not isinstance(test, Join)}
    return sorted(found, key=lambda pair: (not pair[0], pair))


def _alpha(test: Constant | Exists, properties: Mapping[str, Property]) -> tuple[str, str]:
    if isinstance(test, Exists):
        return "", f'{{"$ex":{{"{test.prop}":1}}}}'
    body = f'{{"{test.prop}":{encode_value(test.value, properties[test.prop].type)}}}'
    return (test.prop, body) if test.op is Op.EQ else ("", f'{{"{test.op}":{body}}}')


@dataclass(slots=True)
class _Placer:
    """Gives every condition the tests that lead to its place in the library's tree."""

    direct: int
    group: int
    prefixes: dict[Place, tuple[str, ...]] = field(default_factory=dict)
    counter: Iterator[int] = field(default_factory=itertools.count)

    def place(self, node: _Node, prefix: tuple[str, ...]) -> int:
        """Place the conditions at and below a node; the result is the stack that the node needs."""
        direct, *chunks = [tuple(node.ends[i : i + ENDS_PER_NODE]) for i in range(0, max(1, len(node.ends)), ENDS_PER_NODE)]
        branches = [Branch(ends=direct)] if direct else []
        branches += [Branch(text, exclusive, kid) for text, (exclusive, kid) in node.kids.items()]
        branches += [Branch(joins=(place,)) for place in node.joins]
        branches += [Branch(self._always(), ends=chunk) for chunk in chunks]
        if _true(branches) > self.direct or len(branches) > max(GROUP_SIZE, BUCKETS):
            branches = self._grouped(branches)
        return self._emit(branches, prefix)

    def _always(self) -> str:
        return f'{{"$ex":{{"{KIND}":{next(self.counter)}}}}}'

    def _grouped(self, branches: list[Branch]) -> list[Branch]:
        while len(branches) > GROUP_SIZE or _true(branches) > self.group:
            groups, current = list[tuple[Branch, ...]](), list[Branch]()
            for branch in branches:
                if len(current) == GROUP_SIZE or _true([*current, branch]) > self.group:
                    groups.append(tuple(current))
                    current = []
                current.append(branch)
            groups.append(tuple(current))
            branches = [Branch(self._always(), inner=group) for group in groups]
        return branches

    def _emit(self, branches: Sequence[Branch], prefix: tuple[str, ...]) -> int:
        if len(branches) > TABLE:
            raise DurableLimitError("tests-per-node", len(branches), TABLE)
        true, deepest = _true(branches), 0
        for branch in branches:
            longer = (*prefix, branch.test) if branch.test else prefix
            self.prefixes.update(dict.fromkeys((*branch.joins, *branch.ends), longer))
            if branch.inner:
                deepest = max(deepest, self._emit(branch.inner, longer))
            elif branch.node is not None:
                deepest = max(deepest, self.place(branch.node, longer))
        return max(true, true - 1 + deepest)


def _true(branches: Sequence[Branch]) -> int:
    """Most branches that one fact can take together: of equalities on one property one, of all others every one."""
    exclusive = {branch.exclusive for branch in branches if branch.exclusive}
    return len(exclusive) + sum(bool(branch.test or branch.joins) and not branch.exclusive for branch in branches)


def _rule_text(number: int, rule: RawRule, prefixes: Sequence[tuple[str, ...]]) -> str:
    tests = ([*prefix, *_joins(condition.tests)] for prefix, condition in zip(prefixes, rule.conditions, strict=True))
    conditions = ",".join(f'{{"m{j}":{{"$and":[{",".join(parts)}]}}}}' for j, parts in enumerate(tests))
    return f'"r{number}":{{"all":[{conditions}]}}'


def _joins(tests: Sequence[Test]) -> Iterator[str]:
    for test in tests:
        if isinstance(test, Join):
            body = f'{{"{test.prop}":{{"m{test.condition}":"{test.other}"}}}}'
            yield body if test.op is Op.EQ else f'{{"{test.op}":{body}}}'
