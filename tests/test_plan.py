"""Plan files: what they may state, and the one clear error that each mistake gets."""

from __future__ import annotations

import io
import time
from pathlib import Path

import pytest

from expert.errors import EXIT_INPUT, Diagnostic, ExpertError
from expert.facts import Amount, Value, point
from expert.plan import Plan, read_plan
from tests.tiny import tiny_program

PROGRAM = tiny_program()


def plan(body: str, *overrides: str) -> Plan:
    return read_plan("plan: 1\n" + body, PROGRAM, overrides)


def value(body: str, name: str) -> Value:
    return plan(body).facts[name].value


def mistakes(text: str, *overrides: str) -> tuple[Diagnostic, ...]:
    with pytest.raises(ExpertError) as caught:
        read_plan(text, PROGRAM, overrides)
    assert caught.value.exit_code == EXIT_INPUT
    return caught.value.diagnostics


def only(body: str, *overrides: str) -> Diagnostic:
    (found,) = mistakes("plan: 1\n" + body, *overrides)
    assert found.message.en
    assert found.message.zh
    return found


# Expected values by hand: km is 1000 m, an hour's rate counts 730.5 times a month of 2,629,800 s, 1 CHF is 1.05 EUR.
@pytest.mark.parametrize(
    ("body", "name", "expected"),
    [
        ("rider: {distance: 12}", "rider.distance", point(12_000.0)),
        ("rider: {distance: 800 m}", "rider.distance", point(800.0)),
        ("rider:\n  distance: 10..15 km", "rider.distance", Amount(10_000.0, None, 15_000.0)),
        ("rider:\n  distance: 10..12..15 km", "rider.distance", Amount(10_000.0, 12_000.0, 15_000.0)),
        ("rider.distance: 2.5", "rider.distance", point(2_500.0)),
        ("design: {gears: 7}", "design.gears", point(7.0)),
        ("design: {gears: 7 gear}", "design.gears", point(7.0)),
        ("design: {speed: 2 GB/s}", "design.speed", point(2e9)),
        ("design: {speed: 16 Gbps/gear}", "design.speed", point(2e9)),
        ("design: {share: 5}", "design.share", point(0.05)),
        ("design: {share: 5 %}", "design.share", point(0.05)),
        ("design: {ratio: -1.5}", "design.ratio", point(-1.5)),
        ("rider: {terrain: hilly}", "rider.terrain", "hilly"),
        ("rider: {rain: true}", "rider.rain", True),
        ("rider: {wants: [rack, bell, rack]}", "rider.wants", ("rack", "bell")),
        ("rider: {wants: bell}", "rider.wants", ("bell",)),
        ("rider: {note: '\\e[31m [bold]'}", "rider.note", "\\e[31m [bold]"),
        ("design: {bike: tour-21}", "design.bike", "tour-21"),
        ("rider: {budget: {amount: 100, currency: EUR, per: total}}", "rider.budget_total", point(100.0)),
        ("rider: {budget: {amount: 100, currency: CHF, per: total}}", "rider.budget_total", point(105.0)),
        ("rider: {budget: {amount: 2629.8, currency: EUR, per: month}}", "rider.budget_rate", point(0.001)),
        ("rider: {budget: {amount: 3600, currency: EUR, per: hour}}", "rider.budget_rate", point(1.0)),
        ("rider: {budget: 2629.8 EUR/month}", "rider.budget_rate", point(0.001)),
        ("rider: {budget: {amount: 100, currency: EUR, per: total}}", "rider.budget", "100 EUR"),
    ],
)
def test_a_value_is_read_by_its_type(body: str, name: str, expected: Value) -> None:
    assert value(body, name) == expected


def test_an_hourly_rate_counts_730_and_a_half_hours_a_month() -> None:
    hourly = value("rider: {budget: {amount: 1, currency: EUR, per: hour}}", "rider.budget_rate")
    monthly = value("rider: {budget: {amount: 730.5, currency: EUR, per: month}}", "rider.budget_rate")
    assert hourly == monthly


def test_facts_keep_their_line_and_origin() -> None:
    found = plan("rider:\n  distance: 5\n  budget: {amount: 1, currency: EUR, per: total}\n", "design.gears=9")
    origins = {name: (fact.origin, fact.at) for name, fact in found.facts.items()}
    assert origins == {
        "rider.distance": ("given", "plan.yaml:3"),
        "rider.budget": ("given", "plan.yaml:4"),
        "rider.budget_total": ("implied", "plan.yaml:4"),
        "design.gears": ("set", "--set design.gears=9"),
    }


def test_set_replaces_what_the_plan_says_and_what_followed_from_it() -> None:
    found = plan("rider: {budget: {amount: 1, currency: EUR, per: total}}", "rider.budget=2 EUR/month")
    assert sorted(found.facts) == ["rider.budget", "rider.budget_rate"]
    assert plan("design: {gears: 3}", "design.gears=4", "design.gears = 5").facts["design.gears"].value == point(5.0)


def test_the_digest_knows_values_and_nothing_else() -> None:
    first = plan("rider: {distance: 12, rain: true}\nname: one")
    assert first.digest == plan("name: two\nrider:\n  rain: true\n  distance: 12000 m").digest
    assert first.digest == plan("rider: {rain: true}", "rider.distance=12 km").digest
    assert first.digest != plan("rider: {distance: 13, rain: true}").digest
    assert len(first.digest) == 64


def test_the_name_is_the_plans_own_or_the_files(tmp_path: Path) -> None:
    path = tmp_path / "my-bike.yaml"
    path.write_text("plan: 1\n", "utf-8")
    assert read_plan(path, PROGRAM).name == "my-bike"
    assert plan("name: 70 km a day").name == "70 km a day"


def test_a_dash_reads_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"plan: 1\nrider: {distance: 3}")))
    found = read_plan("-", PROGRAM)
    assert found.facts["rider.distance"].at == "<stdin>:2"


@pytest.mark.parametrize(
    ("body", "code", "message", "help"),
    [
        ("rider: {distanse: 5}", "unknown-key", "no fact is called 'rider.distanse'", "did you mean 'rider.distance'?"),
        ("ridder: {distance: 5}", "unknown-key", "a plan has no section 'ridder'", "did you mean 'rider'?"),
        ("distance: 5", "unknown-key", "a plan has no section 'distance'", "did you mean 'rider.distance'?"),
        ("rider: 5", "wrong-kind", "'rider' is a section: its facts stand below it, indented", ""),
        ("rider: {distance: 5 GB}", "wrong-unit", "'GB' does not fit: rider.distance is in 'km'", "for example 12 km"),
        ("design: {ratio: 3 km}", "wrong-unit", "'km' does not fit: design.ratio is a plain number", "leave the unit out"),
        ("design: {ratio: 3 %}", "wrong-unit", "'percent' does not fit: design.ratio is a plain number", "leave the unit out"),
        ("design: {gears: 3 km}", "wrong-unit", "'km' does not fit: design.gears is in 'gear'", "for example 7"),
        ("rider: {distance: 5 Km}", "bad-quantity", "'Km' is not a unit", "did you mean '5 km'?"),
        ("rider: {distance: far}", "bad-quantity", "'far' is not a number", ""),
        ("rider: {distance: true}", "wrong-kind", "'rider.distance' is a number", "for example 12 km"),
        ("rider: {distance: [1, 2]}", "wrong-kind", "'rider.distance' is a number", "for example 12 km"),
        ("rider: {distance: }", "missing-value", "'rider.distance' has no value", "for example 12 km"),
        ("design: {gears: -3}", "negative-number", "'design.gears' cannot be negative", ""),
        ("rider: {load: -3 kg}", "negative-number", "'rider.load' cannot be negative", ""),
        ("design: {gears: 2.5}", "not-whole", "'design.gears' is a whole number", ""),
        ("design: {gears: 2..5}", "range-refused", "'design.gears' is one number, not a range", "write the number you plan with"),
        ("design: {gears: 1e400}", "number-not-finite", "'1e400' is not a number that can be computed with",
         "as text, write\ndesign: {gears: '1e400'}"),
        ("design: {gears: .nan}", "number-not-finite", "'.nan' is not a number that can be computed with",
         "as text, write\ndesign: {gears: '.nan'}"),
        ("design: {gears: nan}", "bad-quantity", "'nan' is not a number", ""),
        ("rider: {terrain: hily}", "unknown-choice", "'hily' is no terrain that the packs know", "did you mean 'hilly'?"),
        ("rider: {terrain: mars}", "unknown-choice", "'mars' is no terrain that the packs know", "it is one of flat, hilly"),
        ("design: {bike: 'Tour 21'}", "unknown-choice", "'Tour 21' is no bicycle that the packs know", "did you mean 'tour-21'?"),
        ("design: {bike: city}", "unknown-choice", "'city' is no bicycle that the packs know", "did you mean 'city-7'?"),
        ("rider: {wants: [bell, rak]}", "unknown-choice", "'rak' is no extras that the packs know", "did you mean 'rack'?"),
        ("rider: {rain: 1}", "wrong-kind", "'rider.rain' is true or false", ""),
        ("rider: {rain: 'true'}", "wrong-kind", "'rider.rain' is true or false", ""),
        ("need: {range: 5}", "derived-fact", "'need.range' is derived by rules; a plan cannot state it", "state what it depends on"),
        ("rider: {budget_rate: 5}", "derived-fact", "'rider.budget_rate' follows from 'rider.budget'", "state 'rider.budget'"),
        ("rider: {budget: 5}", "wrong-kind", "'rider.budget' is an amount of money",
         "write it as {amount: 400000, currency: CHF, per: month}"),
        ("rider: {budget: 5 km}", "wrong-unit", "'5 km' is no amount of money", "write it as {amount: 400000, currency: CHF, per: month}"),
        ("rider: {budget: {amount: 5, currency: EURO, per: month}}", "unknown-choice", "'EURO' is not a currency that the packs know",
         "did you mean 'EUR'?"),
        ("rider: {budget: {amount: 5, currency: EUR, per: week}}", "unknown-choice", "'week' is not a period",
         "it is one of hour, month, total"),
        ("rider: {budget: {amount: 5, currency: EUR}}", "missing-key", "'rider.budget' needs 'per'",
         "write it as {amount: 400000, currency: CHF, per: month}"),
        ("rider: {budget: {amount: -5, currency: EUR, per: total}}", "negative-number", "'rider.budget' cannot be negative", ""),
        ("rider: {budget: {sum: 5, currency: EUR, per: total}}", "unknown-key", "money has no 'sum'",
         "write it as {amount: 400000, currency: CHF, per: month}"),
    ],
)  # fmt: skip
def test_a_mistake_has_one_message_with_help(body: str, code: str, message: str, help: str) -> None:
    found = only(body)
    assert (found.code, found.message.en, found.help.en) == (code, message, help)


def test_the_caret_stands_under_the_wrong_word() -> None:
    found = only("rider:\n  distance: 5 Km")
    assert found.span is not None
    assert found.line_text[found.span.column - 1 : found.span.end_column - 1] == "Km"
    assert found.span.line == 3


@pytest.mark.parametrize(
    ("flag", "code", "under"),
    [
        ("design.gears=-3", "negative-number", "-3"),
        ("design.geers=3", "unknown-key", "design.geers"),
        ("rider.distance=5 Km", "bad-quantity", "Km"),
        ("design.gears=010", "leading-zero", "010"),
        ("design.gears", "bad-override", "design.gears"),
        ("design.gears=", "bad-override", "design.gears="),
    ],
)
def test_a_mistake_in_set_points_at_the_flag(flag: str, code: str, under: str) -> None:
    found = only("", flag)
    assert found.code == code
    assert found.span is not None
    assert found.span.file == "--set"
    assert found.line_text[found.span.column - 1 : found.span.end_column - 1] == under


def test_all_mistakes_come_in_one_run() -> None:
    found = mistakes("plan: 2\nrider: {distance: far, terrain: sea}\ndesign: {gears: -1}", "design.ratio=high")
    assert sorted(d.code for d in found) == ["bad-quantity", "bad-quantity", "negative-number", "plan-version", "unknown-choice"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "empty-file"),
        ("# only a comment\n", "empty-file"),
        ("just words", "not-a-plan"),
        ("- 1\n- 2", "not-a-plan"),
        ("rider: {distance: 5}", "plan-version"),
        ("plan: true", "plan-version"),
        ("plan: 1\nplan: 1", "duplicate-key"),
        ("plan: 1\nrider: {distance: 1, distance: 2}", "duplicate-key"),
        ("plan: 1\nname: [a]", "wrong-kind"),
        ("plan: 1\nrider: {note: " + "x" * 10_000 + "}", "scalar-too-long"),
        ("plan: 1\nrider: " + "[" * 200 + "]" * 200, "too-deep"),
        ("plan: 1\n" + "rider: {note: x}" * 20_000, "file-too-large"),
        ("a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
            f"{b}: &{b} [{','.join(['*' + a] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)), "too-many-nodes"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_plan_has_one_message_at_once(text: str, code: str) -> None:
    start = time.process_time()
    found = mistakes(text)
    assert [d.code for d in found] == [code]
    assert time.process_time() - start < 2


def test_a_missing_or_binary_file_has_one_message(tmp_path: Path) -> None:
    binary = tmp_path / "plan.bin"
    binary.write_bytes(bytes(range(256)))
    for path, code in ((tmp_path / "none.yaml", "file-not-found"), (binary, "not-utf8"), (tmp_path, "not-a-file")):
        with pytest.raises(ExpertError) as caught:
            read_plan(path, PROGRAM)
        assert [d.code for d in caught.value.diagnostics] == [code]


@pytest.mark.parametrize(
    ("body", "earlier"),
    [
        ("rider: {terrain: hilly}\nrider.terrain: flat\n", "line 2, column 9"),
        ("rider.terrain: flat\nrider:\n  rain: true\n  terrain: hilly\n", "line 2, column 1"),
        ("rider.terrain: flat\nrider: {terrain: flat}\n", "line 2, column 1"),
    ],
)
def test_a_fact_stated_in_its_section_and_by_its_dotted_name_is_refused_with_both_places(body: str, earlier: str) -> None:
    found = only(body)
    assert found.code == "duplicate-key"
    assert f"'rider.terrain' is stated here and at {earlier}" == found.message.en
    assert found.span is not None
    assert found.span.line > 2 or "{terrain: flat}" in body


def test_set_may_state_again_what_the_plan_states() -> None:
    assert plan("rider: {terrain: hilly}", "rider.terrain=flat", "rider.terrain=hilly").facts["rider.terrain"].value == "hilly"


def test_every_section_and_every_fact_needs_a_value() -> None:
    sections = sorted({name.split(".", 1)[0] for name in PROGRAM.facts} - {"need", "estimate"})
    for empty in ("", " ~", " null"):
        for section in sections:
            found = only(f"{section}:{empty}\n")
            assert (found.code, found.span is not None and found.span.line) == ("missing-value", 2)
            assert f"'{section}' has no value" in found.message.en
    assert only("rider.terrain:\n").code == "missing-value"
    assert only("rider:\n  terrain:\n").code == "missing-value"
