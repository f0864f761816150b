"""What rules and facts read: the direct edges of the dependency graph."""

from __future__ import annotations

from collections.abc import Mapping

from expert.language.program import (
    Conclude,
    Condition,
    FactDecl,
    Prefer,
    Program,
    Require,
    Risk,
    Rule,
    Template,
    Threshold,
    Warn,
)
from expert.language.terms import FactTerm, StatedTerm, Term, facts_read, walk


def condition_terms(rule: Rule) -> tuple[Term, ...]:
    """The terms of `when`, in order."""
    return tuple(condition.term for condition in rule.when)


def effect_conditions(rule: Rule) -> tuple[Condition, ...]:
    """The checked expressions of the effect: concluded values, the test, the threshold."""
    match rule.effect:
        case Conclude(values=values):
            return tuple(condition for _, condition in values)
        case Require(test=test) | Prefer(test=test):
            return (test,)
        case Threshold(limit=limit) if limit is not None:
            return (limit,)
        case _:
            return ()


def effect_templates(rule: Rule) -> tuple[Template, ...]:
    """The message templates of the effect."""
    match rule.effect:
        case Require(fix=fix) | Prefer(fix=fix):
            found = [fix]
        case Warn(message=message, costs=costs, fix=fix):
            found = [message, costs, fix]
        case Threshold(rerun=rerun, message=message, confirm=confirm):
            found = [rerun, message, *confirm]
        case Risk(impact=impact, trigger=trigger, mitigation=mitigation):
            found = [impact, trigger, mitigation]
        case _:
            found = []
    return tuple(template for template in found if template is not None)


def template_terms(template: Template) -> tuple[Term, ...]:
    """The terms of a template in both languages."""
    return tuple(part for part in (*template.en, *template.zh) if not isinstance(part, str))


def rule_reads(rule: Rule) -> frozenset[str]:
    """Facts that a rule needs to do its work: conditions, effect, metric and impact; not what its messages print."""
    terms = [*condition_terms(rule), *(condition.term for condition in effect_conditions(rule))]
    named = {rule.effect.metric} if isinstance(rule.effect, Threshold) else set()
    if isinstance(rule.effect, Risk) and rule.effect.impact_fact:
        named = {rule.effect.impact_fact}
    return frozenset(named).union(*(facts_read(term) for term in terms))


def concluded_by(rule: Rule) -> tuple[str, ...]:
    """The facts that a rule concludes."""
    return tuple(fact for fact, _ in rule.effect.values) if isinstance(rule.effect, Conclude) else ()


def is_test(rule: Rule) -> bool:
    """Whether the rule takes part in choosing options: require or prefer."""
    return isinstance(rule.effect, Require | Prefer)


def fact_reads(declared: FactDecl, rules: tuple[Rule, ...]) -> dict[str, str]:
    """The facts that a fact reads directly, each with the id of the first rule that reads it ("" for default and else)."""
    found: dict[str, str] = {}
    for rule in rules:
        assert isinstance(rule.effect, Conclude)
        terms = [*condition_terms(rule), *(condition.term for fact, condition in rule.effect.values if fact == declared.name)]
        for name in sorted(frozenset().union(*(facts_read(term) for term in terms))):
            found.setdefault(name, rule.id)
    for name in sorted(default_reads(declared)):
        found.setdefault(name, "")
    return found


def default_reads(declared: FactDecl) -> frozenset[str]:
    """The facts that a fact's default cases and `else` read."""
    conditions = [condition for case in declared.default for condition in (*case.when, case.value)]
    conditions += [declared.otherwise] if declared.otherwise is not None else []
    return frozenset().union(*(facts_read(condition.term) for condition in conditions))


def contributors_of(rules: Mapping[str, Rule], facts: Mapping[str, FactDecl]) -> dict[str, tuple[str, ...]]:
    """For each fact the ids of the rules that conclude it, sorted; facts that no rule concludes have ()."""
    found: dict[str, list[str]] = {name: [] for name in facts}
    for rule in rules.values():
        for fact in concluded_by(rule):
            if fact in found and rule.id not in found[fact]:
                found[fact].append(rule.id)
    return {name: tuple(sorted(ids)) for name, ids in found.items()}


def names_read(program: Program) -> frozenset[str]:
    """Every fact that a rule, message, default or decision of the packs reads or names; a money fact when one of its forms is."""
    read: set[str] = set()
    for rule in program.rules.values():
        terms = [*condition_terms(rule), *(c.term for c in effect_conditions(rule))]
        terms += [term for template in effect_templates(rule) for term in template_terms(template)]
        read |= {name for term in terms for name in _facts_in(term)} | _named(rule)
    for fact in program.facts.values():
        cases = [condition for case in fact.default for condition in (*case.when, case.value)]
        cases += [fact.otherwise] if fact.otherwise is not None else []
        read |= {name for condition in cases for name in _facts_in(condition.term)}
    for decision in program.decisions.values():
        read |= {*decision.assigns, *decision.needs, *([decision.cost] if decision.cost else ())}
    return frozenset(read | {name.rsplit("_", 1)[0] for name in read if name.endswith(("_rate", "_total"))})


def _facts_in(term: Term) -> set[str]:
    return {part.fact for part in walk(term) if isinstance(part, FactTerm | StatedTerm)}


def _named(rule: Rule) -> set[str]:
    """Facts that an effect names outside its expressions."""
    match rule.effect:
        case Require(fact=fact) | Prefer(fact=fact) | Threshold(metric=fact) | Risk(impact_fact=fact):
            return {fact} if fact else set()
        case _:
            return set()
