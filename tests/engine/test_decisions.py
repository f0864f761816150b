"""Decisions by hand: small packs whose outcome is worked out in the comments, and one pack per fault that was found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from expert.engine.firing import ReferenceEngine
from expert.engine.inference import infer
from expert.engine.trace import DECIDED, INFEASIBLE, UNDETERMINED, Outcome, Trace
from expert.facts import Amount, Value, point
from tests.engine.generated import Content, choice_fact, compiled, facts_of, number_fact, pack, rule

CARDS: Content = {
    "columns": {"memory": "number", "price": "CNY/month", "speed": "number", "link": "word"},
    "rows": {
        "small": {"memory": 24, "price": 1000, "speed": 1, "link": "pcie"},
        "big": {"memory": 80, "price": "5000..7000", "speed": 4, "link": "nvlink"},
        "odd": {"memory": 80, "speed": 9, "link": "nvlink"},
    },
}
FABRICS: Content = {
    "columns": {"reach": "number"},
    "rows": {"none": {"reach": 1}, "ethernet": {"reach": 8}, "ib": {"reach": 32}, "new": {"reach": {"unknown": "not published"}}},
}
FACTS: Content = {
    "workload.size": number_fact(),
    "workload.deadline": number_fact("d", default=[{"value": "30 d", "aim": True}]),
    "site.budget": number_fact("CNY/month"),
    "site.strict": {"type": "yes-no"},
    "design.card": {"type": "choice", "from": "tables.cards"},
    "design.count": number_fact(),
    "design.fabric": {"type": "choice", "from": "tables.fabrics"},
    "estimate.cost": number_fact("CNY/month"),
    "estimate.time": number_fact("d"),
}
COST = rule("cost", conclude={"estimate.cost": "design.card.price * design.count"})
TIME = rule("time", conclude={"estimate.time": "workload.size * 100 d / (design.card.speed * design.count)"})
FITS = rule("fits", law=True, require={"design.card": "workload.size * 16 <= design.card.memory * design.count"})
BUDGET = rule("budget", require={"design.count": "estimate.cost <= site.budget"})
IN_TIME = rule("in-time", require={"design.count": "estimate.time <= workload.deadline"})
SIZING: Content = {"id": "sizing", "assigns": {"design.card": "tables.cards", "design.count": [1, 2, 4, 8]}, "cost": "estimate.cost"}
FABRIC: Content = {"id": "fabric", "assigns": {"design.fabric": "tables.fabrics"}, "needs": ["design.count"]}
REACHES = rule("reaches", require={"design.fabric": "design.fabric.reach >= design.count"})


def run(
    tmp_path: Path, rules: list[Content], decisions: list[Content], plan: dict[str, Any], facts: Content | None = None, **tables: Content
) -> Trace:
    """The trace of a pack for a plan; plain numbers stand for points."""
    content = pack({**FACTS, **(facts or {})}, rules, {"cards": CARDS, "fabrics": FABRICS, **tables}, decisions)
    program = compiled(content, tmp_path)
    values: dict[str, Value] = {k: point(float(v)) if type(v) in (int, float) else v for k, v in plan.items()}
    return infer(program, facts_of(program, values), ReferenceEngine())


def chosen(outcome: Outcome) -> dict[str, object]:
    """The chosen values, numbers as plain floats."""
    assert outcome.chosen is not None, outcome
    return {name: value.low if isinstance(value, Amount) else value for name, value in outcome.chosen.values.items()}


# What the acceptance asks for


def test_best_card_gives_way_when_it_leaves_the_fabric_empty(tmp_path: Path) -> None:
    # size 10 needs 160 of memory. small: 8 x 24 = 192 fits at 8 (8,000); big fits at 2 (160; 10,000..14,000, middle 12,000).
    # With `within 0 %` small x 8 is cheapest. A fabric must reach four times the count: 32 for 8 (ib), which rule `no-ib` rejects,
    # so 8 of anything leaves the fabric empty; big x 2 needs 8: ethernet.
    reaches = rule("reaches", require={"design.fabric": "design.fabric.reach >= 4 * design.count"})
    no_ib = rule("no-ib", require={"design.fabric": "design.fabric != ib"})
    trace = run(tmp_path, [COST, FITS, reaches, no_ib], [SIZING, FABRIC], {"workload.size": 10})
    assert chosen(trace.outcomes["sizing"]) == {"design.card": "big", "design.count": 2}
    assert chosen(trace.outcomes["fabric"]) == {"design.fabric": "ethernet"}
    assert trace.outcomes["sizing"].passed_over


def test_card_without_a_price_never_wins_a_budget(tmp_path: Path) -> None:
    # size 5 needs 80: small x 4 costs 4,000, big x 1 5,000..7,000 (may exceed 6,000), odd x 1 has no price. Preferring nvlink
    # by 10 changes nothing: big is only possible, odd unproven. Below 4,000 nothing priced is left, and odd is not recommended.
    likes = rule("likes-nvlink", prefer={"design.card": "design.card.link == nvlink"}, weight=10)
    rules = [COST, FITS, BUDGET, likes]
    trace = run(tmp_path, rules, [{**SIZING, "within": "1000 %"}], {"workload.size": 5, "site.budget": 6000})
    outcome = trace.outcomes["sizing"]
    assert chosen(outcome) == {"design.card": "small", "design.count": 4}
    assert outcome.chosen is not None
    assert outcome.chosen.certainty == "certain"
    assert {"design.card": "odd", "design.count": point(1)} in [dict(option.values) for option in outcome.unproven]
    trace = run(tmp_path, rules, [SIZING], {"workload.size": 5, "site.budget": 3999})
    outcome = trace.outcomes["sizing"]
    assert outcome.status == UNDETERMINED
    assert outcome.missing == ("cards.odd.price",)
    assert trace.facts["design.card"].value is None


@pytest.mark.parametrize("wash", ["coalesce(design.card.price, 0 CNY/month) * design.count", "sum"])
def test_price_that_is_papered_over_wins_no_budget_either(tmp_path: Path, wash: str) -> None:
    # Both ways odd would cost nothing or its setup only; big at 5,000..7,000 is the only one with a price that fits in one card.
    facts: Content = {}
    rules = [FITS, BUDGET, rule("cost", conclude={"estimate.cost": wash})]
    if wash == "sum":
        facts = {"estimate.cost": number_fact("CNY/month", combine="sum", **{"else": 0})}
        rules = [FITS, BUDGET, COST, rule("setup", conclude={"estimate.cost": 1})]
    sizing = {**SIZING, "assigns": {"design.card": "tables.cards", "design.count": [1]}}
    outcome = run(tmp_path, rules, [sizing], {"workload.size": 5, "site.budget": 9000}, facts).outcomes["sizing"]
    assert chosen(outcome) == {"design.card": "big", "design.count": 1}
    assert [option.values["design.card"] for option in outcome.unproven] == ["odd"]


def test_asking_for_the_price_makes_a_free_card_meant(tmp_path: Path) -> None:
    # `known(cell)` in the contributing rule says that no price means no cost, so odd is admissible at 0 and cheapest.
    facts: Content = {"estimate.cost": number_fact("CNY/month", **{"else": 0})}
    cost = rule("cost", ["known(design.card.price)"], conclude={"estimate.cost": "design.card.price * design.count"})
    outcome = run(tmp_path, [FITS, BUDGET, cost], [SIZING], {"workload.size": 5, "site.budget": 9000}, facts).outcomes["sizing"]
    assert chosen(outcome) == {"design.card": "odd", "design.count": 1}


def test_deadline_that_nobody_gave_makes_no_plan_infeasible(tmp_path: Path) -> None:
    # size 30 needs 480: big or odd x 8 (640). time = 3000 / (4 x 8) = 93.75 d, odd 3000 / 72 = 41.7 d, both over 30 d.
    # The aim rejects nothing; odd misses by (41.67 - 30) / 30 = 38.9 % and comes nearest. Stated, the deadline rejects both.
    rules = [COST, TIME, FITS, IN_TIME]
    outcome = run(tmp_path, rules, [SIZING], {"workload.size": 30}).outcomes["sizing"]
    assert chosen(outcome) == {"design.card": "odd", "design.count": 8}
    ((missed, distance),) = outcome.missed
    assert (missed, round(distance, 9)) == ("in-time", 0.388888889)
    outcome = run(tmp_path, rules, [SIZING], {"workload.size": 30, "workload.deadline": 30}).outcomes["sizing"]
    assert outcome.status == INFEASIBLE
    # small x 8 violates both, so only the law and the deadline together are more than losing the deadline.
    assert outcome.relaxations == (("in-time",),)


def test_aim_comes_before_cost_and_preference(tmp_path: Path) -> None:
    # size 5: small x 4 takes 125 d, small x 8 62.5 d; big x 4 31.25 d, x 8 15.6 d; odd x 2 27.8 d. Those that meet 30 d: big x 8
    # (40,000..56,000) and odd x 2, 4, 8 (no price). Known cost goes before unknown, whatever is preferred.
    likes = rule("likes-few", prefer={"design.count": "design.count <= 4"}, weight=10)
    outcome = run(tmp_path, [COST, TIME, FITS, IN_TIME, likes], [SIZING], {"workload.size": 5}).outcomes["sizing"]
    assert chosen(outcome) == {"design.card": "big", "design.count": 8}
    assert outcome.missed == ()


# Preferences and cost


@pytest.mark.parametrize(("within", "expected"), [("499 %", "small"), ("500 %", "big")])
def test_preference_reaches_as_far_as_within(tmp_path: Path, within: str, expected: str) -> None:
    # One card each: small 1,000, big 6,000 in the middle, six times as much: 500 % more is the edge itself.
    likes = rule("likes-nvlink", prefer={"design.card": "design.card.link == nvlink"}, weight=1)
    sizing = {**SIZING, "within": within, "assigns": {"design.card": "tables.cards", "design.count": [1]}}
    assert chosen(run(tmp_path, [COST, likes], [sizing], {}).outcomes["sizing"])["design.card"] == expected


def test_order_decides_before_cost_inside_the_band(tmp_path: Path) -> None:
    assigns = {"design.card": "tables.cards", "design.count": [8, 4, 2]}
    sizing = {**SIZING, "within": "1000 %", "order": ["design.count"], "assigns": assigns}
    cheap_eight = rule("cost", conclude={"estimate.cost": "1000 CNY/month * 8 / design.count"})
    assert chosen(run(tmp_path, [cheap_eight], [sizing], {}).outcomes["sizing"])["design.count"] == 2


def test_table_order_breaks_what_is_left(tmp_path: Path) -> None:
    sizing = {"id": "sizing", "assigns": {"design.card": "tables.cards", "design.count": [4, 2]}}
    outcome = run(tmp_path, [], [sizing], {}).outcomes["sizing"]
    assert chosen(outcome) == {"design.card": "small", "design.count": 4}
    assert outcome.tie


# Pins


def test_pins_without_an_option_name_the_rules_and_the_nearest_option(tmp_path: Path) -> None:
    # size 10 needs 160; small x 2 has 48. Freeing the count: 8 is the first that fits; freeing the card: big x 2.
    plan = {"workload.size": 10, "design.card": "small", "design.count": 2}
    outcome = run(tmp_path, [COST, FITS], [SIZING], plan).outcomes["sizing"]
    assert (outcome.status, outcome.excluding, outcome.relaxations) == (INFEASIBLE, ("fits",), ())
    freed = {f.pins: (f.option.values["design.card"], f.option.values["design.count"]) for f in outcome.freed}
    assert freed == {("design.card",): ("big", point(2)), ("design.count",): ("small", point(8))}


def test_pin_outside_the_domain_is_taken_as_it_is(tmp_path: Path) -> None:
    outcome = run(tmp_path, [COST, FITS, REACHES], [SIZING, FABRIC], {"workload.size": 10, "design.count": 7}).outcomes
    assert chosen(outcome["sizing"]) == {"design.card": "small", "design.count": 7}  # 7 x 24 = 168
    assert chosen(outcome["fabric"]) == {"design.fabric": "ethernet"}


# Faults that were found by comparing with the oracle


def test_yes_no_can_be_decided(tmp_path: Path) -> None:
    """The options of a yes-no fact were the words 'true' and 'false'."""
    facts: Content = {"design.spare": {"type": "yes-no"}}
    rules = [rule("no-spare", ["design.count > 2"], require={"design.spare": "not design.spare"})]
    decision = {"id": "sizing", "assigns": {"design.count": [4], "design.spare": [True, False]}}
    trace = run(tmp_path, rules, [decision], {}, facts)
    assert trace.facts["design.spare"].value is False
    assert [(r.fact, r.value, r.rules) for r in trace.outcomes["sizing"].rejected] == [("design.spare", True, ("no-spare",))]


def test_option_with_an_empty_cell_is_not_nearest_to_an_aim(tmp_path: Path) -> None:
    """An unknown distance counted as none: the fabric of unknown reach came nearest to every aim."""
    facts: Content = {"need.reach": number_fact(default=[{"value": 64, "aim": True}])}
    aim = rule("aim", require={"design.fabric": "design.fabric.reach >= need.reach"})
    trace = run(tmp_path, [aim], [{**FABRIC, "needs": []}], {}, facts)
    assert chosen(trace.outcomes["fabric"]) == {"design.fabric": "ib"}
    assert trace.outcomes["fabric"].missed == (("aim", 0.5),)  # (64 - 32) / 64


def test_test_is_in_force_when_no_option_needs_what_nobody_said(tmp_path: Path) -> None:
    """Counts of 1 and 8 looked as if 4 were among them, so the rule was left out."""
    asks = rule("asks", require={"design.card": "(design.count == 4 and site.strict) or design.card == big"})
    sizing = {**SIZING, "assigns": {"design.card": "tables.cards", "design.count": [1, 8]}}
    outcome = run(tmp_path, [COST, asks], [sizing], {}).outcomes["sizing"]
    assert outcome.in_force == ("asks",)
    assert chosen(outcome) == {"design.card": "big", "design.count": 1}
    outcome = run(tmp_path, [COST, asks], [SIZING], {}).outcomes["sizing"]
    assert outcome.not_in_force == (("asks", ("site.strict",)),)
    assert chosen(outcome) == {"design.card": "small", "design.count": 1}


def test_unproven_options_leave_a_decision_undetermined_also_beside_an_aim(tmp_path: Path) -> None:
    """Options that missed an aim were not looked at, so a decision with only unproven options was called infeasible."""
    # size 30 needs 480: big x 8 costs over 30,000, odd x 8 is unproven and takes 41.7 d.
    outcome = run(tmp_path, [COST, TIME, FITS, IN_TIME, BUDGET], [SIZING], {"workload.size": 30, "site.budget": 30000}).outcomes["sizing"]
    assert outcome.status == UNDETERMINED
    assert outcome.missing == ("cards.odd.price",)


NODES = rule("nodes", conclude={"design.nodes": "design.count / 2"})


def test_stated_conclusion_that_no_option_has_stands(tmp_path: Path) -> None:
    """Where that did not leave an admissible option, it went on excluding everything."""
    facts: Content = {"design.nodes": number_fact()}
    plan = {"workload.size": 10, "design.nodes": 3}  # nodes are 0.5, 1, 2 or 4
    outcome = run(tmp_path, [COST, FITS, NODES], [SIZING], plan, facts).outcomes["sizing"]
    assert chosen(outcome) == {"design.card": "small", "design.count": 8}
    # Within 500 only odd is left, whose price is unknown.
    outcome = run(tmp_path, [COST, BUDGET, NODES], [SIZING], {"site.budget": 500, "design.nodes": 3}, facts).outcomes["sizing"]
    assert (outcome.status, outcome.missing) == (UNDETERMINED, ("cards.odd.price",))


def test_stated_conclusion_is_not_given_up_while_an_unproven_option_has_it(tmp_path: Path) -> None:
    # design.nodes 4 means a count of 8. Within 2,000: small x 8 costs 8,000, big more, odd is unproven, so undetermined.
    facts: Content = {"design.nodes": number_fact()}
    plan = {"site.budget": 2000, "design.nodes": 4}
    outcome = run(tmp_path, [COST, BUDGET, NODES], [SIZING], plan, facts).outcomes["sizing"]
    assert outcome.status == UNDETERMINED


def test_look_ahead_saves_what_can_be_saved_beside_a_decision_that_is_empty_anyway(tmp_path: Path) -> None:
    """One decision without any option switched the look-ahead off for all others."""
    facts: Content = {"design.store": choice_fact(["disk", "tape"])}
    never = rule("never", require={"design.store": "design.store == disk and design.store == tape"})
    no_ib = rule("no-ib", require={"design.fabric": "design.fabric != ib"})
    store = {"id": "store", "assigns": {"design.store": ["disk", "tape"]}}
    reaches = rule("reaches", require={"design.fabric": "design.fabric.reach >= 4 * design.count"})
    trace = run(tmp_path, [COST, FITS, reaches, no_ib, never], [SIZING, FABRIC, store], {"workload.size": 10}, facts)
    assert trace.outcomes["store"].status == INFEASIBLE
    assert chosen(trace.outcomes["sizing"]) == {"design.card": "big", "design.count": 2}
    assert trace.outcomes["fabric"].status == DECIDED


def test_choice_on_overlapping_ranges_is_possible_not_rejected(tmp_path: Path) -> None:
    """Over several options the choice was taken for a known range, so that its option was rejected."""
    # big costs 5,000..7,000: whether it is above 6,000 is open, and so is the choice; small is rejected (1 is not 2).
    asks = rule("asks", require={"design.card": "(3 if design.card.price > 6000 CNY/month else 4) <= 2 or design.card == odd"})
    sizing = {**SIZING, "assigns": {"design.card": ["small", "big"], "design.count": [1, 2, 4]}}
    outcome = run(tmp_path, [COST, asks], [sizing], {}).outcomes["sizing"]
    assert chosen(outcome) == {"design.card": "big", "design.count": 1}
    assert outcome.chosen is not None
    assert outcome.chosen.certainty == "possible"


def test_requirement_on_a_partial_sum_is_no_disagreement(tmp_path: Path) -> None:
    """The search called it possible and the engine violated, which ended in exit 4."""
    facts: Content = {"estimate.cost": number_fact("CNY/month", combine="sum")}
    surcharge = rule("surcharge", ["design.card.price > 6000 CNY/month"], conclude={"estimate.cost": 1000})
    sizing = {**SIZING, "assigns": {"design.card": ["big"], "design.count": [1]}}
    trace = run(tmp_path, [COST, surcharge, BUDGET], [sizing], {"site.budget": 4000}, facts)
    assert trace.outcomes["sizing"].status == DECIDED


def test_aim_met_within_the_tolerance_is_met(tmp_path: Path) -> None:
    """Met by less than one part in 10^9, an option was passed over for one that met the aim outright."""
    # odd x 2 takes 500 d / 18 = 27.8 d; the deadline of 250 d / 9 is that, less a hair. big x 4 (31.25 d) misses it.
    facts: Content = {"workload.deadline": number_fact("d", default=[{"value": "27.777777760 d", "aim": True}])}
    rules = [TIME, IN_TIME]
    sizing = {"id": "sizing", "assigns": {"design.card": ["odd"], "design.count": [2, 4]}}
    outcome = run(tmp_path, rules, [sizing], {"workload.size": 5}, facts).outcomes["sizing"]
    assert chosen(outcome)["design.count"] == 2
    assert outcome.missed == ()


def test_missing_does_not_wash_out_an_empty_cell(tmp_path: Path) -> None:
    """`missing(cost)` was plainly true for a card without a price, so its option cost nothing for certain."""
    facts: Content = {"estimate.total": number_fact("CNY/month")}
    rules = [
        COST,
        rule("total", ["known(estimate.cost)"], conclude={"estimate.total": "estimate.cost"}),
        rule("free", ["missing(estimate.cost)"], conclude={"estimate.total": 0}),
        rule("budget", require={"design.card": "estimate.total <= site.budget"}),
    ]
    sizing = {"id": "sizing", "assigns": {"design.card": ["odd", "small"], "design.count": [1]}, "cost": "estimate.total"}
    outcome = run(tmp_path, rules, [sizing], {"site.budget": 4000}, facts).outcomes["sizing"]
    assert chosen(outcome)["design.card"] == "small"
    assert [option.values["design.card"] for option in outcome.unproven] == ["odd"]


def test_relaxation_names_no_rule_that_would_admit_the_option(tmp_path: Path) -> None:
    """A rule that ranges leave open was offered together with the one that rejects, or hid the relaxation where it is a law."""
    # big costs 5,000..7,000: 6,000 is open. The deadline alone rejects: 500 / 4 = 125 d.
    law = rule("budget", law=True, require={"design.count": "estimate.cost <= site.budget"})
    sizing = {**SIZING, "assigns": {"design.card": ["big"], "design.count": [1]}}
    plan = {"workload.size": 5, "workload.deadline": 100, "site.budget": 6000}
    for budget in (law, BUDGET):
        outcome = run(tmp_path / str(budget.get("law")), [COST, TIME, IN_TIME, budget], [sizing], plan).outcomes["sizing"]
        assert (outcome.status, outcome.relaxations) == (INFEASIBLE, (("in-time",),))


def test_freed_pin_is_judged_by_what_is_in_force_once_it_is_freed(tmp_path: Path) -> None:
    """With the card pinned, a rule was in force that needs, for other cards, what nobody said."""
    asks = rule("asks", require={"design.card": "design.card == small or site.strict"})
    fast = rule("fast", require={"design.card": "design.card.speed > 1"})
    outcome = run(tmp_path, [asks, fast], [SIZING], {"design.card": "small"}).outcomes["sizing"]
    assert outcome.status == INFEASIBLE
    assert [(f.pins, f.option.values["design.card"]) for f in outcome.freed] == [(("design.card",), "big")]


def test_cost_that_does_not_depend_on_the_decision_decides_nothing(tmp_path: Path) -> None:
    """A cost that no rule behind the decision concludes was a KeyError."""
    sizing = {**SIZING, "cost": "estimate.time", "order": ["design.count"]}
    for plan in ({}, {"estimate.time": 3}):
        assert chosen(run(tmp_path, [], [sizing], plan).outcomes["sizing"]) == {"design.card": "small", "design.count": 1}


def test_independent_decision_does_not_bring_back_what_was_passed_over(tmp_path: Path) -> None:
    """A decision that reads nothing was evaluated once and shared, with the first option of the earlier one still in it."""
    facts: Content = {"design.store": choice_fact(["disk", "tape"])}
    no_ib = rule("no-ib", require={"design.fabric": "design.fabric != ib"})
    reaches = rule("reaches", require={"design.fabric": "design.fabric.reach >= 4 * design.count"})
    store = {"id": "store", "assigns": {"design.store": ["disk", "tape"]}, "after": ["fabric"]}
    trace = run(tmp_path, [COST, FITS, reaches, no_ib], [SIZING, FABRIC, store], {"workload.size": 10}, facts)
    assert {name: trace.facts[name].value for name in ("design.card", "design.count", "design.fabric", "design.store")} == {
        "design.card": "big", "design.count": point(2), "design.fabric": "ethernet", "design.store": "disk",
    }  # fmt: skip


def test_what_decided_is_the_aim_where_only_the_chosen_option_meets_it(tmp_path: Path) -> None:
    """`aim` was never reported: options that miss it were not compared with."""
    # size 5, one card: small 500 d, big 125 d, odd 55.6 d; a deadline of 60 d is met by odd alone, which is the dearest to know.
    facts: Content = {"workload.deadline": number_fact("d", default=[{"value": "60 d", "aim": True}])}
    sizing = {**SIZING, "assigns": {"design.card": "tables.cards", "design.count": [1]}}
    outcome = run(tmp_path, [COST, TIME, IN_TIME], [sizing], {"workload.size": 5}, facts).outcomes["sizing"]
    assert (chosen(outcome)["design.card"], outcome.decided_by) == ("odd", "aim")


@pytest.mark.parametrize(("count", "order", "expected"), [([1, 2], [], "cost"), ([2], [], "cost"), ([1], ["design.card"], "cost")])
def test_what_decided_is_cost_where_all_others_are_out_of_reach(tmp_path: Path, count: list[int], order: list[str], expected: str) -> None:
    """An option of the same card out of reach was overlooked, and one out of reach could stand before one within it."""
    sizing = {**SIZING, "order": order, "assigns": {"design.card": ["small", "big"], "design.count": count}}
    assert run(tmp_path, [COST], [sizing], {}).outcomes["sizing"].decided_by == expected


def test_freed_pin_is_no_longer_what_the_plan_states(tmp_path: Path) -> None:
    """`plan.design.card` went on being the old card while another one was looked for."""
    kept = rule("kept", require={"design.card": "design.card == plan.design.card"})
    fast = rule("fast", require={"design.card": "design.card.speed > 1"})
    outcome = run(tmp_path, [kept, fast], [SIZING], {"design.card": "small"}).outcomes["sizing"]
    assert (outcome.status, outcome.excluding) == (INFEASIBLE, ("fast",))
    assert [(f.pins, f.option.values["design.card"]) for f in outcome.freed] == [(("design.card",), "big")]


def test_coalesce_of_nothing_known_needs_what_nobody_stated(tmp_path: Path) -> None:
    """An empty cell at the end of `coalesce` hid that the plan could have said it, so a preference was in force for some."""
    likes = rule("likes", prefer={"design.fabric": "coalesce(workload.size, design.fabric.reach) > 4"}, weight=5)
    outcome = run(tmp_path, [likes], [{**FABRIC, "needs": []}], {}).outcomes["fabric"]
    assert outcome.not_in_force == (("likes", ("workload.size",)),)
    assert chosen(outcome)["design.fabric"] == "none"


def test_high_end_of_the_cost_decides_between_equal_typical_costs(tmp_path: Path) -> None:
    """It was called a tie."""
    cards: Content = {"columns": CARDS["columns"], "rows": {"wide": {"price": "2..4..9"}, "narrow": {"price": "2..4..8"}}}
    sizing = {**SIZING, "assigns": {"design.card": "tables.cards", "design.count": [1]}}
    outcome = run(tmp_path, [COST], [sizing], {}, cards=cards).outcomes["sizing"]
    assert (chosen(outcome)["design.card"], outcome.decided_by, outcome.tie) == ("narrow", "cost", False)


def test_one_rule_that_rejects_a_value_is_named_before_a_cover(tmp_path: Path) -> None:
    """A rule that came second everywhere was not thought of."""
    # For big, `a` rejects the count of 1, `b` all other counts, and `c` every count.
    rules = [
        rule("a", require={"design.count": "design.count > 1 or design.card == small"}),
        rule("b", require={"design.count": "design.count < 2 or design.card == small"}),
        rule("c", require={"design.card": "design.count == 3 or design.card == small"}),
    ]
    sizing = {**SIZING, "assigns": {"design.card": ["small", "big"], "design.count": [1, 2, 4]}}
    outcome = run(tmp_path, [COST, *rules], [sizing], {}).outcomes["sizing"]
    assert [(r.value, r.rules, r.together) for r in outcome.rejected] == [("big", ("c",), False)]
