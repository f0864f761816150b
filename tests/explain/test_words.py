"""Values in words: units of the vocabulary, titles of rows, both languages, nothing alive in a terminal."""

from __future__ import annotations

import pytest

from expert.explain.words import Words
from expert.facts import Amount, Value, point
from tests.bicycle.consulting import ROOT, advice


@pytest.fixture
def words(monkeypatch: pytest.MonkeyPatch) -> Words:
    monkeypatch.chdir(ROOT)
    found = advice("site: {distance: 40 km, terrain: hilly}")
    return Words(found.program, found.trace.facts)


@pytest.mark.parametrize(
    ("fact", "value", "en", "zh"),
    [
        ("site.distance", point(1500.0), "1.5 km", "1.5 km"),
        ("site.distance", Amount(1000.0, 2000.0, 5000.0), "1–5 km, typically 2", "1–5 km，典型值 2"),
        ("design.gears", point(1.0), "1 gear", "1 挡"),
        ("design.gears", point(7.0), "7 gears", "7 挡"),
        ("design.bike", "volt-9", "Volt 9", "电动 9"),
        ("design.bike", "gone", "gone", "gone"),
        ("site.terrain", "hilly", "hills", "丘陵"),
        ("site.terrain", None, "unknown", "未知"),
        ("site.budget", "2500 EUR\x1b[31m", "2500 EUR\\x1b[31m", "2500 EUR\\x1b[31m"),
    ],
)
def test_a_value_is_said_by_the_vocabulary(words: Words, fact: str, value: Value | None, en: str, zh: str) -> None:
    assert (words.value(fact, value, "en"), words.value(fact, value, "zh")) == (en, zh)


def test_a_sentence_comes_from_say_else_from_the_title(words: Words) -> None:
    assert words.sentence("site.distance", point(40_000.0), "en") == "the daily ride is 40 km"
    assert words.sentence("site.distance", point(40_000.0), "zh") == "每天骑行 40 km"
    assert words.sentence("observed.range", point(40_000.0), "en") == "measured range: 40 km"
    assert words.sentence("observed.range", None, "zh") == "实测续航：未知"


@pytest.mark.parametrize(
    ("fact", "why"),
    [("site.load", "nobody stated it"), ("design.bike", "it is not decided"), ("need.range", "no rule concluded it")],
)
def test_the_unknown_says_whose_silence_it_is(words: Words, fact: str, why: str) -> None:
    assert words.unknown(fact).en == why


def test_an_empty_cell_is_named_by_row_and_column(words: Words) -> None:
    assert words.missing("bikes.volt-9.price", "en") == "Volt 9: price"
