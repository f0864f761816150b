"""Why a fact has its value and why a rule spoke, as nodes of a proof.

Each fact is explained once and numbered, later mentions refer to the number; a decision inside a proof is a reference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from expert.advice import Advice
from expert.engine.trace import FIRED, NOT_CHECKED, OVERLAP, SATISFIED, SILENT, VIOLATED, FactState, Firing
from expert.errors import Text
from expert.explain.evidence import BASIS, evidence, place, worst_basis
from expert.explain.formulas import ASSUMED_TEXT, absent, condition_line, default_lines, formula_lines, result_line, threshold_lines
from expert.explain.margins import margin
from expert.explain.nodes import ASSUMPTION, FACT, MISSING, RULE, STATED, Line, Node
from expert.explain.wording import in_both
from expert.explain.words import STATED as STATED_ORIGINS
from expert.explain.words import Words
from expert.facts import ASSUMED
from expert.language.program import Conclude, Prefer, Require, Rule, Threshold
from expert.language.terms import facts_read

_STATES = {
    FIRED: Text("fired", "已触发"),
    SILENT: Text("silent: no row of its table fits", "未触发：表中没有符合的行"),
    SATISFIED: Text("satisfied", "满足"),
    VIOLATED: Text("violated", "违反"),
}
_COMBINED = {
    "max": Text("the largest contribution counts", "取各项中的最大值"),
    "min": Text("the smallest contribution counts", "取各项中的最小值"),
    "sum": Text("the contributions are added up", "各项相加"),
    "all": Text("the contributions are put together", "各项合并"),
}


OVERLAPPING = Text("the ranges overlap", "区间重叠，无法断定")
NO_VALUE = Text("the expression has no value (a division by zero, or a number too large)", "表达式没有值（除以零，或数值过大）")


class Prover:
    """Makes the nodes of one explanation; numbers run through all of it."""

    def __init__(self, advice: Advice) -> None:
        self.advice = advice
        self.program = advice.program
        self.trace = advice.trace
        self.words = Words(advice.program, advice.trace.facts)
        self.numbers: dict[str, int] = {}
        self._stated: set[str] = set()
        self._firings = {firing.id: firing for firing in advice.trace.firings}

    def number(self, id: str) -> int:
        """A fresh number for a node."""
        self.numbers[id] = len(self.numbers) + 1
        return self.numbers[id]

    def firing(self, id: str) -> Firing | None:
        """A firing by its id."""
        return self._firings.get(id)

    # Premises: one line each, and a child the first time that it has something to explain.

    def premises(self, names: Iterable[str], label: str = "because") -> tuple[list[Line], list[Node]]:
        """Facts that something rests on: stated ones with their place, others with the number of their node."""
        lines: list[Line] = []
        children: list[Node] = []
        for name in dict.fromkeys(names):
            state = self.trace.facts.get(name)
            if state is None or state.value is None:
                lines.append(Line("unknown", self._unknown(name)))
                continue
            text = in_both(lambda lang, s=state: self.words.sentence(s.name, s.value, lang))  # type: ignore[misc]
            if state.origin in STATED_ORIGINS:
                lines.append(Line(label, text, state.at))
                continue
            decision = "decision:" + self.program.deciders.get(name, "")
            if name in self.program.deciders:
                lines.append(Line(label, text, see=self.numbers.get(decision, 0), at="" if decision in self.numbers else decision))
                continue
            if state.id not in self.numbers:
                children.append(self.fact(name))
            lines.append(Line(label, text, see=self.numbers[state.id]))
        return lines, children

    def stated_once(self, names: Iterable[str]) -> Iterator[Line]:
        """Lines for the facts among these that the plan states and that no decision's proof has stated yet."""
        for name in names:
            state = self.trace.facts.get(name)
            if state is None or state.value is None or state.origin not in STATED_ORIGINS or name in self._stated:
                continue
            self._stated.add(name)
            yield Line("because", in_both(lambda lang, s=state: self.words.sentence(s.name, s.value, lang)), state.at)  # type: ignore[misc]

    def _unknown(self, name: str) -> Text:
        why = self.words.unknown(name)
        title = in_both(lambda lang: self.words.title(name, lang))
        return Text(f"{title.en} is unknown: {why.en}", f"{title.zh}未知：{why.zh}")

    # Facts.

    def fact(self, name: str) -> Node:
        """Why a fact has its value."""
        state = self.trace.facts[name]
        number = self.number(state.id)
        title = in_both(lambda lang: self.words.sentence(name, state.value, lang))
        if state.value is None:
            return self._missing_fact(state, number)
        if state.origin in STATED_ORIGINS:
            return Node(state.id, STATED, title, number, state.at, tuple(self._beside(state)))
        if state.origin == ASSUMED:
            return self._assumed(state, title, number)
        if name in self.program.deciders:
            decision = self.program.deciders[name]
            line = Line(
                "decided", self.program.decisions[decision].title or Text(decision), see=self.numbers.get("decision:" + decision, 0)
            )
            return Node(state.id, FACT, title, number, "", (line,))
        return self._concluded(state, title, number)

    def _beside(self, state: FactState) -> Iterator[Line]:
        if state.concluded is not None and state.concluded != state.value:
            said = in_both(lambda lang: self.words.value(state.name, state.concluded, lang))
            yield Line("but", Text(f"the rules would conclude {said.en}", f"按规则应为 {said.zh}"))

    def _missing_fact(self, state: FactState, number: int) -> Node:
        lines: list[Line] = []
        for id in (*state.conflict, *self._silent_contributors(state.name)):
            firing = self.firing(id)
            if firing is None:
                continue
            rule = self.program.rules[firing.rule]
            lines.append(Line("silent" if firing.state != FIRED else "conflict", self._why_silent(rule, firing), place(rule.span)))
        return Node(state.id, MISSING, self._unknown(state.name), number, "", tuple(lines))

    def _silent_contributors(self, name: str) -> Iterator[str]:
        for rule in self.program.contributors.get(name, ()):
            yield from (firing.id for firing in self.trace.firings_of(rule) if firing.state == NOT_CHECKED)

    def _why_silent(self, rule: Rule, firing: Firing) -> Text:
        names = dict.fromkeys(name for state in (*firing.conditions, firing.test) if state is not None for name in state.missing)
        effects = [value for _, value in firing.effects]

        def shown(lang: str) -> str:
            title = rule.title.of(lang) or rule.id
            if effects:
                values = ", ".join(self.words.value(fact, value, lang) for fact, value in firing.effects)
                return f"{title}：{values}" if lang == "zh" else f"{title}: {values}"
            missing = self.lacking(names, lang)
            return f"{title}（{missing}）" if lang == "zh" else f"{title} ({missing})"

        return in_both(shown)

    def lacking(self, names: Iterable[str], lang: str) -> str:
        """All that is missing, with reasons; where nothing is, the expression itself gave no value."""
        return ", ".join(self.missing(name, lang) for name in names) or NO_VALUE.of(lang)

    def missing(self, name: str, lang: str) -> str:
        """One missing thing with the reason in words."""
        if name == OVERLAP:
            return OVERLAPPING.of(lang)
        shown = self.words.missing(name, lang)
        if name in self.program.facts:
            why = self.words.unknown(name).of(lang)
        else:
            why = Text("the cell is empty", "该单元格为空").of(lang) if name.count(".") > 1 else self.words.unknown(name).of(lang)
        return f"{shown}：{why}" if lang == "zh" else f"{shown}: {why}"

    def _assumed(self, state: FactState, title: Text, number: int) -> Node:
        decl = self.program.facts[state.name]
        if state.default is None or state.default >= len(decl.default):
            return Node(state.id, ASSUMPTION, title, number, place(decl.span), (Line("assumed", ASSUMED_TEXT),))
        case = decl.default[state.default]
        lines, backing = default_lines(decl, state.default, state.value, self.words)
        names = [name for condition in case.when for name in sorted(facts_read(condition.term))]
        found, children = self.premises([*names, *sorted(facts_read(case.value.term))])
        return Node(state.id, ASSUMPTION, title, number, place(case.span), (*lines, *found, *backing), tuple(children))

    def _concluded(self, state: FactState, title: Text, number: int) -> Node:
        decl = self.program.facts[state.name]
        lines: list[Line] = []
        children: list[Node] = []
        firings = [firing for id in state.contributions if (firing := self.firing(id)) is not None]
        if len(firings) > 1 and decl.combine in _COMBINED:
            lines.append(Line("combined", _COMBINED[decl.combine]))
        if not firings and decl.otherwise is not None:
            text = Text("no rule concluded it; the vocabulary gives this value then", "没有规则得出它，采用词汇表规定的值")
            lines.append(Line("otherwise", text, place(decl.span)))
        # All lines of this node first: what they quote is quoted above its children.
        parts = [self._contribution(firing, state.name, firings[:place]) for place, firing in enumerate(firings)]
        for firing, (before, names, backing) in zip(firings, parts, strict=True):
            if len(firings) > 1 and not any(line.label == "numbers" for line in before):
                before.append(result_line(state.name, dict(firing.effects).get(state.name), self.words))
            found, below = self.premises(names)
            lines += [*before, *found, *backing]
            children += below
        if state.tainted:
            unknown = in_both(lambda lang: ", ".join(self.missing(name, lang) for name in state.tainted))
            lines.append(Line("unknown", Text(f"computed although unknown: {unknown.en}", f"计算时以下内容未知：{unknown.zh}")))
        basis = worst_basis(((self.program.rules[firing.rule], firing.rows) for firing in firings), self.words)
        if basis and firings:
            grade = BASIS[basis]
            lines.append(Line("basis", Text(f"weakest basis: {grade.en}", f"最弱的依据：{grade.zh}")))
        return Node(state.id, FACT, title, number, "", tuple(lines), tuple(children))

    def _contribution(self, firing: Firing, fact: str, before: list[Firing]) -> tuple[list[Line], list[str], list[Line]]:
        """A contribution; of a rule that contributed before, with another row, only the numbers and the cells."""
        lines, names, backing = self.firing_lines(firing, fact)
        if all(earlier.rule != firing.rule for earlier in before):
            return lines, names, backing
        return [line for line in lines if line.label == "numbers"], [], [line for line in backing if line.label == "cell"]

    def firing_lines(self, firing: Firing, fact: str) -> tuple[list[Line], list[str], list[Line]]:
        """How one rule instance concluded a fact: title, conditions and formula; the facts it read; what it rests on."""
        rule = self.program.rules[firing.rule]
        lines = [Line("concluded", rule.title or Text(rule.id, rule.id), place(rule.span))]
        lines += [condition_line(condition, firing.rows, self.words) for condition in rule.when]
        if isinstance(rule.effect, Conclude):
            for name, value in rule.effect.values:
                if name == fact:
                    lines += formula_lines(value, fact, dict(firing.effects).get(fact), firing.rows, self.words)
        return lines, self._names(firing), list(evidence(rule, firing.rows, self.words, fact))

    def _names(self, firing: Firing) -> list[str]:
        """The facts that a firing rests on, those among them whose absence it needs."""
        read = [premise.removeprefix("fact:") for premise in firing.premises if premise.startswith("fact:")]
        return read if firing.state == NOT_CHECKED else [*read, *absent(self.program.rules[firing.rule].when, self.words)]

    # Rules.

    def rule(self, firing: Firing) -> Node:
        """Why a rule spoke, or why it did not."""
        rule = self.program.rules[firing.rule]
        number = self.number(firing.id)
        harm = firing.state == VIOLATED
        lines: list[Line] = []
        if isinstance(rule.effect, Require | Prefer):
            lines.append(Line(rule.effect_name, Text(rule.effect.test.text, rule.effect.test.text)))
        backing = list(evidence(rule, firing.rows, self.words))
        lines.append(self._state(rule, firing))
        blamed = self._blamed(rule) if firing.state != SILENT else []
        grounds = [name for name in self._names(firing) if name not in blamed]
        because, children = self.premises(grounds)
        lines += [*because, *(condition_line(condition, firing.rows, self.words) for condition in rule.when if firing.state != NOT_CHECKED)]
        if blamed and firing.state != NOT_CHECKED:
            against, more = self.premises(blamed, "but" if harm else "and")
            lines += against
            children += more
            margin = self.margin(rule, firing)
            if margin is not None:
                lines.append(margin)
        if rule.because and (harm or firing.state == FIRED):
            lines.append(Line("why", rule.because))
        if isinstance(rule.effect, Conclude):
            for fact, value in rule.effect.values:
                lines += formula_lines(value, fact, dict(firing.effects).get(fact), firing.rows, self.words)
        if isinstance(rule.effect, Threshold) and firing.state == FIRED:
            lines += threshold_lines(rule.effect, firing.rows, self.words)
        lines += backing
        return Node(firing.id, RULE, rule.title or Text(rule.id, rule.id), number, place(rule.span), tuple(lines), tuple(children), harm)

    def _state(self, rule: Rule, firing: Firing) -> Line:
        """What came of the rule, and why when it said nothing."""
        false = [state.text for state in firing.conditions if state.truth == "false"]
        if firing.state == SILENT and false:
            listed = ", ".join(f"'{text}'" for text in false)
            return Line("state", Text(f"silent: {listed} does not hold", f"未触发：{listed} 不成立"))
        if firing.state == NOT_CHECKED:
            names = dict.fromkeys(name for state in (*firing.conditions, firing.test) if state is not None for name in state.missing)
            missing = in_both(lambda lang: self.lacking(names, lang))
            return Line("state", Text(f"not checked: {missing.en}", f"未检查：{missing.zh}"))
        return Line("state", _STATES[firing.state])

    def _blamed(self, rule: Rule) -> list[str]:
        if not isinstance(rule.effect, Require | Prefer):
            return []
        conditions = {name for condition in rule.when for name in facts_read(condition.term)}
        blamed = rule.effect.fact
        read = facts_read(rule.effect.test.term) - (conditions - {blamed})
        return sorted(read, key=lambda name: (name != blamed, name))

    def margin(self, rule: Rule, firing: Firing) -> Line | None:
        """A requirement with its numbers: what it needs and what there is."""
        if not isinstance(rule.effect, Require | Prefer):
            return None
        text = margin(rule.effect.test.term, firing.rows, self.words)
        return None if text is None else Line("margin", text)
