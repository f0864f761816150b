"""A pack in which every construct of the expression grammar stands once, with its explanation worked out by hand.

The plan: 12 km of way, 4, 5 % of slope, on gravel, urgent, with a bell, a bike of steel that costs 450 EUR; its weight nobody states.
"""

from __future__ import annotations

VOCABULARY = """
topics: {t: {en: T, zh: 题}}
facts:
  site.way: {type: number, unit: km, covers: 0..100}
  site.wheels: {type: number}
  site.slope: {type: number, unit: percent}
  site.ground: {type: choice, choices: {gravel: {en: gravel, zh: 碎石}, tar: {en: tar, zh: 柏油}}}
  site.urgent: {type: yes-no}
  site.wants: {type: list, choices: {bell: {en: a bell, zh: 铃}, rack: {en: a rack, zh: 架}}}
  site.weight: {type: number, unit: kg}
  site.bike: {type: choice, from: tables.bikes}
  site.guess:
    type: number
    unit: km
    default:
      - when: site.ground == gravel
        value: 7 km
      - value: 9 km
  site.reach: {type: number, unit: km, default: [{when: site.way > far, value: site.way * 2}]}
  site.goal: {type: number, unit: h, default: {value: 2 h, aim: true}}
  design.speed: {type: number, unit: km/h, from: tables.speeds}
  need.fit: {type: number, combine: max}
  need.any: {type: number, combine: max}
  need.least: {type: number, combine: min}
  need.total: {type: number, combine: sum}
  need.every: {type: list, combine: all, choices: {bell: {en: a bell, zh: 铃}, rack: {en: a rack, zh: 架}}}
  need.nothing: {type: number, else: 3}
  estimate.time: {type: number, unit: h}
tables:
  metals:
    columns: {density: number}
    rows: {steel: {density: 8}, alloy: {density: 3}}
  bikes:
    columns: {price: number, metal: tables.metals, range: km, colour: {type: text}}
    rows:
      steely: {price: 450, metal: steel, range: 60..80}
      light: {price: 900, metal: alloy, range: 100}
  speeds:
    columns: {value: km/h}
    rows: {slow: {value: 4}, quick: {value: 5}}
constants:
  far: {value: 10 km, basis: judgement}
  spread: {value: '2..4', basis: judgement}
decisions:
  - {id: pace, topic: t, assigns: {design.speed: tables.speeds}, order: [design.speed]}
rules:
  - id: time-is-way-by-speed
    topic: t
    title: Time
    conclude: {estimate.time: site.way / design.speed}
    because: it is so
  - {id: when-missing, topic: t, title: W, because: so, when: [missing(site.weight)], warn: {severity: info, message: it holds}}
  - id: time-meets-the-goal
    topic: t
    title: In time
    require: {design.speed: estimate.time <= site.goal}
    because: late
"""

PLAN = """
plan: 1
site:
  way: 12 km
  wheels: 4
  slope: 5 %
  ground: gravel
  urgent: true
  wants: [bell]
  bike: steely
"""

CONDITIONS: dict[str, str | None] = {
    "site.way == 12 km": "12 km == 12 km",
    "site.way != far": "12 km != 10 km",
    "site.way > far": "12 km > 10 km",
    "site.way >= 12 km": "12 km >= 12 km",
    "far < site.way": "10 km < 12 km",
    "far <= site.way": "10 km <= 12 km",
    "far < site.way <= 20 km": "10 km < 12 km and 12 km <= 20 km",
    "site.ground == gravel": None,
    "site.ground == 'gravel'": None,
    "site.ground != tar": None,
    "site.ground in [gravel, tar]": None,
    "site.ground not in [tar]": None,
    "bell in site.wants": None,
    "rack not in site.wants": None,
    "site.urgent": None,
    "not (site.ground == tar)": None,
    "site.urgent == true": None,
    "site.way > far and site.urgent": "12 km > 10 km and yes",
    "site.ground == tar or site.way > far": "gravel == tar or 12 km > 10 km",
    "(site.way > far and site.urgent) or site.ground == tar": "(12 km > 10 km and yes) or gravel == tar",
    "known(site.way)": None,
    "missing(site.weight)": None,
    "plan.site.way > far": "12 km > 10 km",
    "site.slope > 3 %": "5 % > 3 %",
    "site.bike.price < 500": "450 < 500",
    "site.bike.metal.density > 5": "8 > 5",
    "low(site.bike.range) > 50 km": "low(60–80 km) > 50 km",
    "site.way + 1 km > far": "12 km + 1 km > 10 km",
}
"""Each condition with its numbers; None where it has none to show."""

FORMULAS: dict[str, str] = {
    "site.wheels + 2": "4 + 2 = 6",
    "( site.wheels )  +  (2)": "4 + 2 = 6",
    "site.wheels - 1": "4 - 1 = 3",
    "site.wheels * 2": "4 * 2 = 8",
    "site.wheels / 8": "4 / 8 = 0.5",
    "site.wheels // 3": "4 // 3 = 1",
    "site.wheels ** 2": "4 ** 2 = 16",
    "-site.wheels": "-4",
    "(site.wheels + 2) * 3": "(4 + 2) * 3 = 18",
    "1 if site.urgent else 2": "1 if yes else 2 = 1",
    "1 if site.way > far else 2": "1 if 12 km > 10 km else 2 = 1",
    "min(site.wheels, 3)": "min(4, 3) = 3",
    "max(site.wheels, 3)": "max(4, 3) = 4",
    "ceil(site.wheels / 3)": "ceil(4 / 3) = 2",
    "floor(site.wheels / 3)": "floor(4 / 3) = 1",
    "round(site.wheels / 3)": "round(4 / 3) = 1",
    "sqrt(site.wheels)": "sqrt(4) = 2",
    "log2(site.wheels)": "log2(4) = 2",
    "low(spread)": "low(2–4) = 2",
    "high(spread)": "high(2–4) = 4",
    "coalesce(need.nothing, 5)": "coalesce(3, 5) = 3",
    "site.wheels * spread": "4 * (2–4) = 8–16",
    "5..15 * site.wheels": "5..15 * 4 = 20–60",
    "site.wheels * site.slope": "4 * 5 % = 0.2",
    "site.bike.price * 2": "450 * 2 = 900",
    "site.bike.metal.density + 1": "8 + 1 = 9",
    "plan.site.wheels + 1": "4 + 1 = 5",
    "need.nothing + 1": "3 + 1 = 4",
}
"""Each formula with its numbers and its result."""

RULES = """
rules:
  - {id: m1, topic: t, title: First, because: so, conclude: {need.any: 2}}
  - {id: m2, topic: t, title: Second, because: so, conclude: {need.any: site.wheels}}
  - {id: l1, topic: t, title: First, because: so, conclude: {need.least: 2}}
  - {id: l2, topic: t, title: Second, because: so, conclude: {need.least: site.wheels + 1}}
  - id: rows
    topic: t
    title: Rows
    because: so
    for: {bike: tables.bikes}
    when: [bike.price > 100]
    conclude: {need.total: bike.price}
  - {id: e1, topic: t, title: First, because: so, conclude: {need.every: bell}}
  - {id: e2, topic: t, title: Second, because: so, conclude: {need.every: rack}}
  - id: tested
    topic: t
    title: Tested
    because: so
    test: {metric: need.least, at_least: 2 * need.fit, stage: acceptance, tool: scale, command: weigh}
  - {id: fit, topic: t, title: Fit, because: so, conclude: {need.fit: 6}}
"""

LINES: dict[str, list[tuple[str, str]]] = {
    # combine: max, of a literal and a fact: 2 and 4.
    "need.any": [("combined", "the largest contribution counts"), ("numbers", "= 2"), ("numbers", "= 4")],
    # combine: min, of a literal and a formula: 2 and 4 + 1.
    "need.least": [
        ("combined", "the smallest contribution counts"),
        ("numbers", "= 2"),
        ("formula", "site.wheels + 1"),
        ("numbers", "= 4 + 1 = 5"),
    ],
    # for rows, combine: sum: 450 and 900.
    "need.total": [
        ("combined", "the contributions are added up"),
        ("when", "bike.price > 100   (450 > 100)"),
        ("formula", "bike.price"),
        ("numbers", "= 450"),
        ("cell", "steely: price 450"),
        ("numbers", "= 900"),
        ("cell", "light: price 900"),
    ],
    # combine: all.
    "need.every": [("combined", "the contributions are put together"), ("numbers", "= a bell"), ("numbers", "= a rack")],
    # else.
    "need.nothing": [("otherwise", "no rule concluded it; the vocabulary gives this value then")],
    # default: the case that holds, with its condition; a formula in a default.
    "site.guess": [
        ("assumed", "nobody stated it, so this default is used"),
        ("when", "site.ground == gravel"),
        ("because", "site.ground: gravel"),
    ],
    "site.reach": [
        ("assumed", "nobody stated it, so this default is used"),
        ("when", "site.way > far   (12 km > 10 km)"),
        ("formula", "site.way * 2"),
        ("numbers", "= 12 km * 2 = 24 km"),
        ("constant", "far = 10 km (; rule of thumb)"),
    ],
    # an aim, and how far it is missed: 12 km at 5 km/h are 2.4 h, a fifth more than 2 h.
    "site.goal": [("assumed", "nobody stated it, so this default is aimed at; it excludes nothing")],
    "pace": [("missed", "In time: missed by 20 %")],
    # missing: why it is.
    "when-missing": [("unknown", "site.weight is unknown: nobody stated it"), ("when", "missing(site.weight)")],
    # a threshold: twice 6.
    "tested": [("formula", "need.least >= 2 * need.fit"), ("numbers", ">= 2 * 6 = 12")],
}
"""Lines of the explanation of a fact, a decision or a rule, in their order."""
