"""The compiler: what a pack's text becomes, and that one mistake gives one message."""

from __future__ import annotations

from pathlib import Path

import pytest

from expert.errors import ExpertError, Span
from expert.language.compiler import compile_packs
from expert.language.known import known_when_false, known_when_true
from expert.language.program import Risk, Threshold, Warn
from expert.language.terms import BOOL, NUMBER, FactTerm, FunctionTerm, NotTerm
from tests.language.smallpacks import VOCABULARY, compile_text, mistakes, rule, write_pack

NOWHERE = Span("", 1, 1, 1)
MONEY = """
units: {gpu: {en: GPU, zh: 卡, counts: true}}
tables:
  currencies:
    columns: {rate: number}
    rows: {CNY: {rate: 1}, USD: {rate: 7.2}}
  counts:
    columns: {value: gpu}
    rows: {few: {value: 8}, many: {value: 64}}
facts:
  site.budget: {type: money, title: {en: budget, zh: 预算}}
  design.count: {type: number, unit: gpu, from: tables.counts, covers: 1..200000}
  need.write: {type: number, unit: GB/s/gpu}
  workload.share: {type: number, unit: percent, covers: 1..50, default: 5}
constants:
  price: {value: 80..95..120 USD/month, basis: vendor, cite: [T-001]}
  loss: {value: 5..15 %, basis: published, cite: [T-001]}
"""


def test_numbers_are_in_base_units(tmp_path: Path) -> None:
    program = compile_text(tmp_path, MONEY)
    price, loss = program.constants["price"].value, program.constants["loss"].value
    month = 365.25 * 86_400 / 12
    assert price.low == pytest.approx(80 * 7.2 / month, rel=1e-12)
    assert price.typical == pytest.approx(95 * 7.2 / month, rel=1e-12)
    assert (loss.low, loss.typical, loss.high) == (0.05, None, 0.15)
    assert program.facts["workload.share"].covers == (0.01, 0.5)


def test_money_is_read_as_rate_and_total(tmp_path: Path) -> None:
    program = compile_text(tmp_path, MONEY)
    rate, total = program.facts["site.budget_rate"], program.facts["site.budget_total"]
    assert (rate.unit and rate.unit.text, total.unit and total.unit.text) == ("CNY/month", "CNY")
    assert rate.title.zh == "预算（每月）"


def test_counts_are_whole_and_rates_are_not(tmp_path: Path) -> None:
    program = compile_text(tmp_path, MONEY)
    assert [program.facts[name].whole for name in ("design.count", "need.write", "workload.share")] == [True, False, False]


def test_domains_of_a_decision(tmp_path: Path) -> None:
    decisions = """
        decisions:
          - id: sizing
            assigns:
              design.count: tables.counts
              design.gpus: 1..4
              design.fabric: [ib]
            within: 25 %
    """
    decision = compile_text(tmp_path, MONEY, decisions).decisions["sizing"]
    table, span, listed = decision.assigns.values()
    assert (table.table, table.numbers) == ("counts", (8.0, 64.0))
    assert span.numbers == (1.0, 2.0, 3.0, 4.0)
    assert listed.words == ("ib",)
    assert decision.within == 0.25


def test_effects_become_their_classes(tmp_path: Path) -> None:
    rules = rule("slow-is-warned", "warn: {severity: warning, message: 'It takes {workload.steps} steps'}", "workload.steps > 10")
    rules += rule("rate-is-met", "test: {metric: need.rate, at_least: 0.8 * workload.steps, stage: acceptance, tool: fio}")
    rules += rule("delay-is-likely", "risk: {likelihood: low, impact: estimate.cost, trigger: Delay, mitigation: Haste, basis: judgement}")
    program = compile_text(tmp_path, f"rules:\n{rules}")
    warn, test, risk = (program.rules[name].effect for name in ("slow-is-warned", "rate-is-met", "delay-is-likely"))
    assert isinstance(warn, Warn)
    assert warn.fact == "workload.steps"
    assert [part if isinstance(part, str) else part.span.path for part in warn.message.parts("zh")] == [
        "It takes ",
        "workload.steps",
        " steps",
    ]
    assert isinstance(test, Threshold)
    assert (test.bound, test.metric, test.limit and test.limit.text) == ("at_least", "need.rate", "0.8 * workload.steps")
    assert isinstance(risk, Risk)
    assert (risk.impact_fact, risk.impact) == ("estimate.cost", None)


def test_a_broken_fact_is_told_once(tmp_path: Path) -> None:
    facts = "facts:\n  workload.extra: {type: numbr}\n  workload.more: {type: number, default: workload.extra + 1}\n"
    rules = "rules:\n" + rule("extra-is-seen", "warn: {severity: info, message: '{workload.extra}'}", "workload.extra > 3")
    (found,) = mistakes(tmp_path, facts, rules)
    assert (found.code, found.help.en) == ("unknown-value", "did you mean 'number'?")


def test_an_unreadable_file_hides_no_name(tmp_path: Path) -> None:
    # The facts of the second file are unknown only because that file cannot be read.
    facts = "facts:\n  workload.extra: {type: number\n"
    rules = "rules:\n" + rule("extra-is-seen", "warn: {severity: info, message: Seen}", "workload.extra > 3")
    rules += rule("broken-too", "warn: {severity: info, message: Seen}", "workload.steps >")
    assert {found.code for found in mistakes(tmp_path, facts, rules)} == {"unclosed-bracket", "missing-operand"}


def test_mistakes_of_all_files_come_in_order_of_place(tmp_path: Path) -> None:
    first = "rules:\n" + rule("a-is-odd", "warn: {severity: info, message: Seen}", "workload.step > 3")
    second = "constants: {c: {value: 3}}\n"
    found = mistakes(tmp_path, first, second)
    assert [(mistake.code, Path(mistake.span.file).name) for mistake in found if mistake.span] == [
        ("unknown-fact", "part_0.yaml"),
        ("missing-key", "part_1.yaml"),
    ]
    assert all(mistake.line_text for mistake in found)


def test_examples_name_known_facts(tmp_path: Path) -> None:
    more = "examples: [{given: {workload.step: 3}, expect: fires}]"
    (found,) = mistakes(tmp_path, "rules:\n" + rule("a-is-odd", "warn: {severity: info, message: Seen}", "workload.steps > 3", more=more))
    assert (found.code, "workload.steps" in found.help.en) == ("unknown-fact", True)


@pytest.mark.parametrize(
    ("when", "allowed"),
    [
        ("workload.steps > 3", True),
        ("not workload.steps > 3", True),
        ("known(workload.steps)", True),
        ("not missing(workload.steps)", True),
        ("workload.urgent and workload.steps > 3", True),
        ("workload.urgent or workload.steps > 3", False),
        ("not (workload.urgent and workload.steps > 3)", False),
        ("not (workload.urgent or workload.steps > 3)", True),
        ("coalesce(workload.steps, 3) > 1", False),
        ("workload.urgent", False),
        ("missing(workload.steps)", False),
        ("plan.workload.steps > 3", False),
    ],
)
def test_a_message_prints_only_what_is_known(tmp_path: Path, when: str, allowed: bool) -> None:
    text = "rules:\n" + rule("steps-are-told", "warn: {severity: info, message: 'There are {workload.steps}'}", when)
    if allowed:
        assert compile_text(tmp_path, text).rules
    else:
        assert [found.code for found in mistakes(tmp_path, text)] == ["maybe-unknown"]


def test_known_and_missing_are_mirrors() -> None:
    fact = FactTerm(NOWHERE, NUMBER, "workload.steps")
    known, missing = (FunctionTerm(NOWHERE, BOOL, name, (fact,)) for name in ("known", "missing"))
    assert known_when_true(known) == known_when_false(missing) == {"workload.steps"}
    assert known_when_false(known) == known_when_true(NotTerm(NOWHERE, BOOL, known)) == frozenset()


def test_a_fact_with_a_default_may_be_printed(tmp_path: Path) -> None:
    facts = "facts:\n  site.floor: {type: number, default: [{when: workload.urgent, value: 1}, {value: 2}]}\n"
    rules = "rules:\n" + rule("floor-is-told", "warn: {severity: info, message: 'Floor {site.floor}'}", "workload.urgent")
    assert compile_text(tmp_path, facts, rules).rules


def test_one_language_is_enough_and_braces_are_kept(tmp_path: Path) -> None:
    rules = "rules:\n" + rule("steps-are-told", "warn: {severity: info, message: {zh: '{{步}} {workload.steps}'}}", "workload.steps > 1")
    effect = compile_text(tmp_path, rules).rules["steps-are-told"].effect
    assert isinstance(effect, Warn)
    assert effect.message.parts("en") == effect.message.parts("zh")
    assert effect.message.zh[0] == "{步} "


def test_scenarios_stand_under_tests(tmp_path: Path) -> None:
    folder = write_pack(tmp_path, "base", vocabulary=VOCABULARY)
    (folder / "tests").mkdir()
    text = "scenarios:\n  - name: Slow\n    given: {workload.steps: 3}\n    expect: {exit: 0}\n    why: Three is few.\n"
    (folder / "tests" / "slow.yaml").write_text(text)
    (scenario,) = compile_packs([folder]).scenarios
    assert getattr(scenario, "given") == (("workload.steps", 3),)  # noqa: B009 scenarios are objects to the program
    (folder / "slow.yaml").write_text(text)
    with pytest.raises(ExpertError, match="unknown-key"):
        compile_packs([folder])


def test_comments_do_not_change_the_digest(tmp_path: Path) -> None:
    folder = write_pack(tmp_path, "base", vocabulary=VOCABULARY)
    before = compile_packs([folder]).packs[0].digest
    path = folder / "vocabulary.yaml"
    path.write_text("# a comment\n" + path.read_text())
    assert compile_packs([folder]).packs[0].digest == before
    path.write_text(path.read_text().replace("RoCE", "RoCEv2"))
    assert compile_packs([folder]).packs[0].digest != before


def test_because_writes_constants_out(tmp_path: Path) -> None:
    text = "rules:\n" + rule("loss-is-seen", "warn: {severity: info, message: Seen}", "workload.share > loss")
    text = text.replace("because: It is a test.", "because: {en: 'It costs {loss}, {{so}}.', zh: '代价为 {loss}。'}")
    because = compile_text(tmp_path, MONEY, text).rules["loss-is-seen"].because
    assert (because.en, because.zh) == ("It costs 5–15 %, {so}.", "代价为 5–15 %。")
