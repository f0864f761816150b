"""Scenarios of the layered packs, with the names in them checked."""

from __future__ import annotations

from collections.abc import Mapping

from expert.errors import Text
from expert.language.packs import RawPack
from expert.language.reading import Reading
from expert.language.scenarios import EXPECT_KEYS, Scenario
from expert.language.shapes import SCENARIO_KEYS
from expert.yamldoc import Mapping as Keyed
from expert.yamldoc import Node, Sequence, to_plain


def build_scenarios(
    packs: tuple[RawPack, ...], facts: Mapping[str, object], rules: frozenset[str], reading: Reading
) -> tuple[Scenario, ...]:
    """The scenarios of all packs, in order. Names of facts and rules are checked."""
    found: list[Scenario] = []
    for pack in packs:
        for document in pack.scenarios:
            node = document.get("scenarios")
            if node is not None and not isinstance(node, Sequence):
                reading.wrong_shape(node, Text("'scenarios' is a list", "'scenarios' 应为列表"))
                continue
            for member in node.items if node is not None else ():
                scenario = _scenario(member, pack.pack.name, facts, rules, reading)
                if scenario is not None:
                    found.append(scenario)
    return tuple(found)


def _scenario(member: Node, layer: str, facts: Mapping[str, object], rules: frozenset[str], reading: Reading) -> Scenario | None:
    what = Text("a scenario", "场景")
    node = reading.mapping(member, what)
    if node is None:
        return None
    reading.keys(node, SCENARIO_KEYS, what)
    name = reading.word(reading.required(node, "name", what), Text("a name", "名称"))
    why = reading.prose(reading.required(node, "why", what), Text("the reason", "理由"))
    given = reading.mapping(reading.required(node, "given", what), Text("'given'", "'given'"))
    expect = reading.mapping(reading.required(node, "expect", what), Text("'expect'", "'expect'"))
    without = tuple(word for word, _ in reading.words(node.get("without"), Text("a pack", "规则包")))
    if name is None or given is None or expect is None:
        return None
    _check_facts(given, (), facts, reading)
    _check_facts(expect, EXPECT_KEYS, facts, reading)
    for key in EXPECT_KEYS[:-1]:
        for word in reading.sequence(expect.get(key), Text("a list of rules", "规则列表")):
            reading.one_of(word, rules, Text("a rule", "规则"), "unknown-rule")
    return Scenario(name, _pairs(given), _pairs(expect), without, why, node.span, layer)


def _check_facts(node: Keyed, extra: tuple[str, ...], facts: Mapping[str, object], reading: Reading) -> None:
    for key, _ in node.entries:
        if key.raw not in facts and key.raw not in extra:
            reading.one_of(key, (*facts, *extra), Text("a fact", "事实"), "unknown-fact")


def _pairs(node: Keyed) -> tuple[tuple[str, object], ...]:
    return tuple((key.raw, to_plain(value)) for key, value in node.entries)
