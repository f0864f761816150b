"""Advice as JSON: stable keys, values in declared units, the same bytes for the same plan and packs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from expert.advice import AcceptanceTest, Advice, Choice, Finding
from expert.engine.trace import DECIDED, ConditionState, FactState, Firing, OptionState
from expert.explain.evidence import place, rule_terms
from expert.explain.nodes import Explanation, Node
from expert.facts import ASSUMED, Amount, Value
from expert.language.program import Cell, Column, Program
from expert.language.terms import TEXT, CellTerm, ConstantTerm, FactTerm, Literal, walk
from expert.units import Unit

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"

FORMAT = 1
POSITIONS = frozenset({"at", "file", "line", "column", "path", "engine", "digest"})
"""Keys that the digest of the advice leaves out: where things stand in files, who fired, and digests."""


def to_json(advice: Advice, lang: str = "en", explanation: Explanation | None = None) -> str:
    """The advice as a JSON document, with the proofs where an explanation is given."""
    found = {"advice": FORMAT, "digest": advice_digest(advice)} | _parts(advice, lang)
    if explanation is not None:
        found["explanation"] = [_node(node, lang) for node in explanation.nodes]
    return json.dumps(found, ensure_ascii=False, indent=2) + "\n"


def advice_digest(advice: Advice) -> str:
    """SHA-256 of the advice without positions, engine name and digests."""
    bare = _without_positions(_parts(advice, "en"))
    text = json.dumps(bare, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _without_positions(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _without_positions(below) for key, below in value.items() if key not in POSITIONS}
    return [_without_positions(below) for below in value] if isinstance(value, list) else value


def _parts(advice: Advice, lang: str) -> dict[str, Json]:
    program, trace = advice.program, advice.trace
    return {
        "plan": {"name": advice.plan_name, "digest": advice.plan_digest},
        "packs": [{"name": pack.name, "version": pack.version, "digest": pack.digest} for pack in advice.packs],
        "engine": advice.engine,
        "verdict": advice.verdict,
        "outside": advice.outside.of(lang) or None,
        "facts": {name: _fact(state, program) for name, state in trace.facts.items() if state.value is not None},
        "decisions": {fact: _decision(advice, choice, lang) for fact, choice in advice.choices.items()},
        "findings": [_finding(finding, lang) for finding in advice.findings],
        "needs": _quantities(advice, "need."),
        "estimates": _quantities(advice, "estimate."),
        "tests": [_test(test, program, lang) for test in advice.tests],
        "risks": [
            {
                "rule": risk.rule, "likelihood": risk.likelihood, "impact": risk.impact.of(lang) or None,
                "impact_fact": risk.impact_fact or None, "trigger": risk.trigger.of(lang), "mitigation": risk.mitigation.of(lang),
                "basis": risk.basis, "cite": list(risk.cite),
            }
            for risk in advice.risks
        ],
        "assumptions": [
            {"fact": found.fact, "value": plain(found.value, _unit(program, found.fact)), "aim": found.aim, "used_by": list(found.used_by)}
            for found in advice.assumptions
        ],
        "not_checked": [{"rule": found.rule, "unknown": list(found.unknown)} for found in advice.not_checked],
        "dissent": [
            {
                "fact": found.fact, "used": found.used.of(lang), "claim": found.claim, "says": found.says.of(lang),
                "because": found.because.of(lang), "cite": list(found.cite),
            }
            for found in advice.dissent
        ],
        "trace": [*(_firing(firing, program) for firing in trace.firings), *_outcomes(advice)],
    }  # fmt: skip


# ------------------------------------------------------------------------------------------------- values


def _unit(program: Program, fact: str) -> Unit | None:
    decl = program.facts.get(fact)
    return decl.unit if decl is not None else None


def number(x: float, unit: Unit | None) -> int | float:
    """A number in base units as a number of `unit`; whole numbers without a point."""
    shown = x if unit is None else unit.from_base(x)
    return int(shown) if shown == int(shown) and abs(shown) < 2**53 else shown


def plain(value: Value | None, unit: Unit | None) -> Json:
    """A value in the declared unit; a range as {low, typical, high}."""
    if isinstance(value, Amount):
        if value.is_point:
            return number(value.low, unit)
        return {"low": number(value.low, unit), "typical": _typical(value, unit), "high": number(value.high, unit)}
    return list(value) if isinstance(value, tuple) else value


def _typical(value: Amount, unit: Unit | None) -> Json:
    return None if value.typical is None else number(value.typical, unit)


def quantity(value: Value | None, unit: Unit | None) -> dict[str, Json]:
    """`value`, or `low`, `typical` and `high`, with `unit`."""
    shown = plain(value, unit)
    spread: dict[str, Json] = shown if isinstance(shown, dict) else {"value": shown}
    return spread | {"unit": unit.text if unit is not None and unit.text else None}


def _fact(state: FactState, program: Program) -> dict[str, Json]:
    at = state.at
    if not at and state.origin == ASSUMED and state.default is not None:
        at = place(program.facts[state.name].default[state.default].span)
    return quantity(state.value, _unit(program, state.name)) | {"origin": state.origin, "at": at or None}


# ---------------------------------------------------------------------------------------------- decisions


def _decision(advice: Advice, choice: Choice, lang: str) -> dict[str, Json]:
    program, fact = advice.program, choice.fact
    unit = _unit(program, fact)
    outcome = advice.trace.outcomes.get(choice.decision)
    rejected = [r for r in outcome.rejected if r.fact == fact] if outcome is not None else []
    recommended = choice.recommended if choice.recommended != choice.value else None
    return {
        "value": plain(choice.value, unit),
        "status": choice.status,
        "recommended": plain(recommended, unit),
        "option": _option(program, fact, choice.value, lang),
        "certainty": choice.certainty or None,
        "decided_by": choice.decided_by or None,
        "reasons": list(choice.reasons),
        "rejected": [{"value": plain(r.value, unit), "rules": list(r.rules), "together": r.together} for r in rejected],
        "alternatives": _alternatives(advice, choice, outcome.alternatives if outcome is not None else ()),
    }


def _alternatives(advice: Advice, choice: Choice, options: Iterable[OptionState]) -> list[Json]:
    """The best option of each other value of the fact."""
    program = advice.program
    cost = program.decisions[choice.decision].cost if choice.decision else None
    seen: list[Value | None] = [choice.value]
    found: list[Json] = []
    for option in options:
        value = option.values.get(choice.fact)
        if value in seen:
            continue
        seen.append(value)
        price = None if option.cost is None or cost is None else plain(option.cost, _unit(program, cost))
        shown = plain(value, _unit(program, choice.fact))
        found.append({"value": shown, "score": option.score, "cost": price, "rules": list(option.preferences)})
    return found


def _option(program: Program, fact: str, value: Value | None, lang: str) -> Json:
    """The attributes of the row that a choice names; None for other facts."""
    decl = program.facts[fact]
    table = program.tables.get(decl.domain.table) if decl.domain is not None and decl.domain.table else None
    row = table.rows.get(value) if table is not None and isinstance(value, str) else None
    if table is None or row is None:
        return None
    return {name: plain_cell(row.cells.get(name), column, lang) for name, column in table.columns.items()}


def plain_cell(cell: Cell | None, column: Column, lang: str) -> Json:
    """A table's cell in the unit of its column; None where it is unknown."""
    if cell is None or (cell.literal is None and cell.members is None):
        return cell.text.of(lang) if cell is not None and cell.text else None
    if cell.members is not None:
        return list(cell.members)
    literal = cell.literal
    assert literal is not None
    if literal.kind == "number":
        return plain(Amount(literal.low, literal.typical, literal.high), column.unit)
    if literal.kind == "bool":
        return literal.flag
    return cell.text.of(lang) if column.kind == TEXT and cell.text else literal.word


# ------------------------------------------------------------------------------------------- what was found


def _finding(finding: Finding, lang: str) -> dict[str, Json]:
    span = finding.span
    return {
        "rule": finding.rule,
        "topic": finding.topic,
        "severity": finding.severity,
        "fact": finding.fact,
        "message": finding.message.of(lang),
        "fix": finding.fix.of(lang) or None,
        "file": span.file if span is not None else None,
        "line": span.line if span is not None else None,
        "column": span.column if span is not None else None,
        "path": span.path if span is not None else None,
        "fingerprint": finding.fingerprint,
        "cite": list(finding.cite),
    }


def _quantities(advice: Advice, prefix: str) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for name, state in advice.trace.facts.items():
        if name.startswith(prefix) and state.value is not None:
            rules = list(dict.fromkeys(id.removeprefix("rule:").split("[")[0] for id in state.contributions))
            shown = quantity(state.value, _unit(advice.program, name))
            found[name] = shown | {"cause": _cause(advice, state), "rules": [*rules]}
    return found


def _cause(advice: Advice, state: FactState) -> Json:
    """What makes a range wide: the constants, cells, facts and literals with a range that its rules read; None for a number."""
    if not isinstance(state.value, Amount) or state.value.is_point:
        return None
    firings = [firing for firing in advice.trace.firings if firing.id in state.contributions]
    names: dict[str, None] = {}
    for firing in firings:
        for name in _wide(advice, firing, state.name):
            names[name] = None
    return ", ".join(names) or None


def _wide(advice: Advice, firing: Firing, fact: str) -> Iterable[str]:
    program = advice.program
    rule = program.rules[firing.rule]
    rows = dict(firing.rows)
    for condition in rule_terms(rule, fact):
        for term in walk(condition.term):
            if isinstance(term, Literal) and term.kind == "number" and term.low != term.high:
                yield f"rules.{rule.id}"
            elif isinstance(term, ConstantTerm):
                value = program.constants[term.constant].value
                if value.low != value.high:
                    yield f"constants.{term.constant}"
            elif isinstance(term, FactTerm):
                held = advice.trace.facts[term.fact].value
                if isinstance(held, Amount) and not held.is_point:
                    yield term.fact
            elif isinstance(term, CellTerm):
                yield from _wide_cell(advice, term, rows)


def _wide_cell(advice: Advice, term: CellTerm, rows: Mapping[str, str]) -> Iterable[str]:
    row = rows.get(getattr(term.row, "variable", ""))
    if row is None and isinstance(term.row, FactTerm):
        held = advice.trace.facts[term.row.fact].value
        row = held if isinstance(held, str) else None
    found = advice.program.tables[term.table].rows.get(row) if row is not None else None
    cell = found.cells.get(term.column) if found is not None else None
    if cell is not None and cell.literal is not None and cell.literal.kind == "number" and cell.literal.low != cell.literal.high:
        yield f"tables.{term.table}.{row}.{term.column}"


def _test(test: AcceptanceTest, program: Program, lang: str) -> dict[str, Json]:
    unit = _unit(program, test.metric)
    bound: dict[str, Json] = {test.bound: plain(test.limit, unit)} if test.bound else {}
    return {
        "rule": test.rule,
        "stage": test.stage,
        "metric": test.metric,
        **bound,
        "unit": unit.text if unit is not None and unit.text else None,
        "tool": test.tool,
        "command": test.command,
        "rerun": test.rerun.of(lang) or None,
        "confirm": [step.of(lang) for step in test.confirm],
        "observed": plain(test.observed, unit),
        "verdict": test.verdict,
    }


# -------------------------------------------------------------------------------------------------- trace


def _firing(firing: Firing, program: Program) -> dict[str, Json]:
    effects: dict[str, Json] = {fact: plain(value, _unit(program, fact)) for fact, value in firing.effects}
    return {
        "id": firing.id,
        "rule": firing.rule,
        "stratum": firing.stratum,
        "because": list(firing.premises),
        "effect": effects if effects else firing.state,
        "state": firing.state,
        "conditions": [_condition(state) for state in firing.conditions],
        "test": None if firing.test is None else _condition(firing.test),
    }


def _condition(state: ConditionState) -> dict[str, Json]:
    shown: dict[str, Json] = {"text": state.text, "truth": state.truth}
    return shown | {"missing": list(state.missing)} if state.missing else shown


def _outcomes(advice: Advice) -> Iterable[dict[str, Json]]:
    """Decisions stand in the trace beside the rules; their strata are those of the schedule."""
    strata = {step.decision: step.stratum for step in advice.program.schedule if step.decision is not None}
    for outcome in advice.trace.outcomes.values():
        chosen = outcome.chosen.values if outcome.chosen is not None and outcome.status == DECIDED else {}
        yield {
            "id": outcome.id,
            "rule": None,
            "stratum": strata.get(outcome.decision),
            "because": [*(f"fact:{pin}" for pin in outcome.pins), *(f"rule:{id}" for id in outcome.in_force)],
            "effect": {fact: plain(value, _unit(advice.program, fact)) for fact, value in chosen.items()} or outcome.status,
            "state": outcome.status,
            "missing": list(outcome.missing),
            "excluding": list(outcome.excluding),
            "options": outcome.options,
        }


def _node(node: Node, lang: str) -> dict[str, Json]:
    lines: list[Json] = [
        {"kind": line.label, "text": line.text.of(lang), "at": line.at or None, "see": line.see or None} for line in node.lines
    ]
    return {
        "id": node.id,
        "kind": node.kind,
        "number": node.number or None,
        "title": node.title.of(lang),
        "at": node.at or None,
        "lines": lines,
        "children": [_node(child, lang) for child in node.children],
    }
