"""Random packs of one to three decisions as YAML text, and plans for them: cells with ranges and gaps, budgets, goals, pins."""

from __future__ import annotations

import random
from collections.abc import Sequence

from expert.facts import Amount, Value, point
from tests.engine.generated import EDGES, WORDS, Content, Expressions, Plan, cell, choice_fact, number_fact, pack, rule

COUNTS = (1, 2, 4, 8)
WEIGHTS = (1, 2, 3, 5, 9)


class Builder:
    """One pack under construction; `levels` holds the names that tests of each decision may read."""

    def __init__(self, rng: random.Random, depth: int) -> None:
        self.rng = rng
        self.facts: Content = {
            "workload.size": number_fact(),
            "workload.tokens": number_fact(default=[{"when": "workload.size > 4", "value": 8}] if rng.random() < 0.3 else 2),
            "workload.task": choice_fact(WORDS),
            "workload.deadline": number_fact(default=[{"value": rng.choice([1, 2, 4]), "aim": True}]),
            "site.budget": number_fact("CNY/month"),
            "site.strict": {"type": "yes-no"},
            "site.floor": number_fact(),
        }
        self.tables: Content = {}
        self.rules: list[Content] = []
        self.decisions: list[Content] = []
        self.seen = Expressions(rng, ["workload.size", "workload.tokens"], [], [("workload.task", WORDS)], [])
        self.own: Expressions = Expressions(rng)
        self._upstream()
        self._sizing()
        if depth > 1:
            self._network()
        if depth > 2:
            self._store()

    def content(self) -> Content:
        """The pack file."""
        return pack(self.facts, self.rules, self.tables, self.decisions)

    def conclude(self, fact: str, *values: str, when: Sequence[Sequence[str]] = (), **beside: object) -> None:
        """A rule per value that concludes the fact."""
        for i, value in enumerate(values):
            conditions = when[i] if i < len(when) else ()
            self.rules.append(rule(f"{fact.replace('.', '-')}-is-{i}", conditions, **beside, conclude={fact: value}))

    def _upstream(self) -> None:
        rng = self.rng
        self.facts["need.memory"] = number_fact(combine=rng.choice(["one", "max", "sum"]), **({"else": 2} if rng.random() < 0.3 else {}))
        self.conclude("need.memory", rng.choice(["workload.size * 2", "workload.size + 1", "workload.size + 0..2"]))
        if rng.random() < 0.5:
            self.rules.append(rule("need-memory-more", [self.seen.condition(1)], conclude={"need.memory": "workload.tokens"}))
        self.seen.numbers.append("need.memory")

    # Decisions

    def _sizing(self) -> None:
        rng = self.rng
        links = {f"l{i}": {"rate": cell(rng, [1, 2, 4]), "family": rng.choice(WORDS)} for i in range(2)}
        self.tables["links"] = {"columns": {"rate": "number", "family": "word"}, "rows": links}
        cards = {
            f"c{i}": {
                "memory": cell(rng, [1, 2, 4, 8]),
                "price": cell(rng, [1, 2, 3, 5, 8]),
                "speed": cell(rng, [1, 2, 4], empty=0.05),
                "link": rng.choice([*links, *links, {"unknown": "?"}]),
            }
            for i in range(rng.randint(2, 4))
        }
        columns = {"memory": "number", "price": "CNY/month", "speed": "number", "link": "tables.links"}
        self.tables["cards"] = {"columns": columns, "rows": cards}
        prices = {f"p{i}": {"card": rng.choice([*cards]), "amount": cell(rng, [1, 2, 4])} for i in range(2)}
        self.tables["prices"] = {"columns": {"card": "tables.cards", "amount": "CNY/month"}, "rows": prices}
        self.facts["design.card"] = {"type": "choice", "from": "tables.cards"}
        self.facts["design.count"] = number_fact()
        counts: object = rng.sample(COUNTS, rng.randint(2, 4))
        if rng.random() < 0.3:
            self.tables["counts"] = {"columns": {"value": "number"}, "rows": {f"k{n}": {"value": n} for n in rng.sample(COUNTS, 3)}}
            counts = "tables.counts"
        assigns: Content = {"design.card": "tables.cards", "design.count": counts}
        if rng.random() < 0.4:
            self.seen.numbers.append("plan.design.count")
            self.seen.words.append(("plan.design.card", tuple(cards)))
        self.own = Expressions(rng, ["design.card.memory", "design.card.link.rate", "design.card.speed", "design.count"])
        self.own.words = [("design.card.link.family", WORDS), ("design.card", tuple(cards))]
        self._mode(assigns)
        self._sizing_body()
        cost = rng.choice(["estimate.cost", "estimate.cost", "estimate.cost", None])
        self._decision("sizing", assigns, cost, rng.choice([[], ["workload.size"], ["need.memory"]]))
        self._tests("sizing", rng.randint(0, 3))
        self._named_sizing_tests()

    def _mode(self, assigns: Content) -> None:
        shape = self.rng.random()
        if shape < 0.3:
            self.facts["design.mode"] = choice_fact(WORDS)
            assigns["design.mode"] = self.rng.sample(WORDS, 2)
            self.own.words.append(("design.mode", WORDS))
        elif shape < 0.5:
            self.facts["design.spare"] = {"type": "yes-no"}
            assigns["design.spare"] = [True, False] if self.rng.random() < 0.5 else [False, True]
            self.own.truths.append("design.spare")

    def _sizing_body(self) -> None:
        rng = self.rng
        self.facts["estimate.memory"] = number_fact(**({"else": 3} if rng.random() < 0.15 else {}))
        memory = rng.choice(["need.memory / design.count", "need.memory * 8 / design.count", "max(need.memory, design.count)"])
        self.conclude("estimate.memory", memory)
        self.facts["estimate.time"] = number_fact()
        self.conclude("estimate.time", "workload.tokens * 8 / (design.card.speed * design.count)")
        combine = rng.choice(["one", "sum", "max"])
        self.facts["estimate.cost"] = number_fact("CNY/month", combine=combine, **({"else": 4} if rng.random() < 0.3 else {}))
        if rng.random() < 0.5:
            known = [["known(design.card.price)"]] if rng.random() < 0.3 else []
            self.conclude("estimate.cost", "design.card.price * design.count", when=known)
        else:
            when = [["price.card == design.card"]]
            self.conclude("estimate.cost", "price.amount * design.count", when=when, **{"for": {"price": "tables.prices"}})
        if combine != "one" and rng.random() < 0.6:
            self.rules.append(rule("cost-extra", [self.own.condition(1)], conclude={"estimate.cost": rng.choice(["2", "1..3"])}))
        self.own.numbers += ["estimate.memory", "estimate.time"]
        if rng.random() < 0.4:
            self.facts["design.nodes"] = number_fact()
            self.conclude("design.nodes", "ceil(design.count / 2)")
            self.own.numbers.append("design.nodes")

    def _named_sizing_tests(self) -> None:
        rng = self.rng
        chosen = {*rng.sample(range(6), rng.randint(1, 3)), *([2] if rng.random() < 0.5 else [])}
        tests = [
            rule("memory-fits", law=True, require={"design.card": "estimate.memory <= design.card.memory"}),
            rule("within-budget", require={"design.count": "estimate.cost <= site.budget"}),
            rule("in-time", require={"design.count": "estimate.time <= workload.deadline"}),
            rule("over-floor", ["site.strict"], require={"design.count": "design.count >= site.floor"}),
            rule("prefers-family", [self.seen.condition(1)], prefer={"design.card": "design.card.link.family == red"}, weight=3),
            rule("cheap-rows", ["price.card == design.card"], **{"for": {"price": "tables.prices"}},
                 require={"design.card": "price.amount * design.count <= 8 CNY/month"}),
        ]  # fmt: skip
        self.rules += [tests[i] for i in sorted(chosen)]

    def _network(self) -> None:
        rng = self.rng
        earlier = self._close()
        nets = {
            f"n{i}": {"rate": cell(rng, [1, 2, 4, 8]), "price": cell(rng, [1, 2, 4]), "family": rng.choice(WORDS)}
            for i in range(rng.randint(2, 4))
        }
        self.tables["nets"] = {"columns": {"rate": "number", "price": "CNY/month", "family": "word"}, "rows": nets}
        self.facts["design.net"] = {"type": "choice", "from": "tables.nets"}
        assigns: Content = {"design.net": "tables.nets"}
        self.own = Expressions(rng, ["design.net.rate"], [], [("design.net.family", WORDS), ("design.net", tuple(nets))])
        if rng.random() < 0.5:
            self.facts["design.ports"] = number_fact()
            assigns["design.ports"] = f"1..{rng.randint(2, 3)}"
            self.own.numbers.append("design.ports")
        self.facts["estimate.total"] = number_fact("CNY/month", **({"else": 5} if rng.random() < 0.2 else {}))
        self.conclude("estimate.total", rng.choice(["estimate.cost + design.net.price", "design.net.price"]))
        self._decision("network", assigns, rng.choice(["estimate.total", None]), rng.choice([[], ["design.count"]]))
        self._tests("network", rng.randint(0, 2), earlier)
        if rng.random() < 0.7:
            many = f"design.count > {rng.choice([1, 2, 4])}"
            self.rules.append(rule("rate-fits", [many], require={"design.net": "design.net.rate >= design.count"}))
        if rng.random() < 0.4:
            self.rules.append(rule("total-in-budget", require={"design.net": "estimate.total <= site.budget"}))
        if rng.random() < 0.25:
            self.rules.append(rule("net-in-time", require={"design.net": "8 / design.net.rate <= workload.deadline"}))

    def _store(self) -> None:
        rng = self.rng
        earlier = self._close()
        self.facts["design.store"] = choice_fact(WORDS)
        assigns: Content = {"design.store": rng.sample(WORDS, rng.randint(2, 3))}
        self.own = Expressions(rng, ["design.copies"], [], [("design.store", WORDS)])
        self.facts["design.copies"] = number_fact()
        assigns["design.copies"] = [1, 2, 3]
        self._decision("store", assigns, None, [])
        self._tests("store", rng.randint(0, 2), earlier)
        if rng.random() < 0.4:
            self.rules.append(rule("copies-fit", require={"design.store": "design.copies * design.count > 3 or design.store == red"}))

    def _close(self) -> Expressions:
        """What the next decision's tests may read of this one and of everything before."""
        own = self.own
        self.seen.numbers += [n for n in own.numbers if n.startswith(("design.c", "design.n", "estimate."))]
        self.seen.words += own.words
        self.seen.truths += own.truths
        return self.seen

    def _decision(self, name: str, assigns: Content, cost: str | None, needs: list[str]) -> None:
        rng = self.rng
        made: Content = {"id": name, "assigns": assigns, "shortlist": 3, "within": rng.choice(["0 %", "25 %", "50 %", "100 %"])}
        if rng.random() < 0.7:
            made["order"] = rng.sample([*assigns], rng.randint(1, len(assigns)))
        if needs:
            made["needs"] = needs
        if cost:
            made["cost"] = cost
        if self.decisions:
            made["after"] = [self.decisions[-1]["id"]]
        self.decisions.append(made)

    def _tests(self, decision: str, count: int, earlier: Expressions | None = None) -> None:
        rng, fact = self.rng, next(iter(self.facts_of(decision)))
        for i in range(count):
            own = self._own_condition()
            shapes = [own, f"({own}) or {(earlier or self.seen).condition(1)}", f"({self._own_condition()}) and ({own})"]
            test = rng.choice([*shapes, shapes[1]])
            when = [(earlier or self.seen).condition(1)] if rng.random() < 0.5 else [self.own.condition(1)] if rng.random() < 0.3 else []
            if rng.random() < 0.6:
                law: Content = {"law": True} if rng.random() < 0.2 else {}
                self.rules.append(rule(f"{decision}-needs-{i}", when, **law, require={fact: test}))
            else:
                self.rules.append(rule(f"{decision}-prefers-{i}", when, prefer={fact: test}, weight=rng.choice(WEIGHTS)))

    def facts_of(self, decision: str) -> list[str]:
        """What a decision assigns."""
        return [*next(d for d in self.decisions if d["id"] == decision)["assigns"]]

    def _own_condition(self) -> str:
        """A condition that reads what the decision assigns."""
        for _ in range(20):
            found = self.own.condition(1)
            if any(name in found for name in (*self.own.numbers, *(w for w, _ in self.own.words), *self.own.truths)):
                return found
        return f"{self.own.numbers[0]} > 1"


def decisions(rng: random.Random) -> Content:
    """A pack with one to three decisions."""
    return Builder(rng, rng.choice([1, 1, 2, 2, 3])).content()


def decision_plan(rng: random.Random, content: Content) -> Plan:
    """A plan for a pack of `decisions`: some facts unknown, some on an edge, some design facts pinned."""
    plan: Plan = {}
    if rng.random() < 0.9:
        plan["workload.size"] = _edge(rng, [1, 2, 3, 4, 6, 8])
    if rng.random() < 0.4:
        plan["workload.tokens"] = _edge(rng, [1, 2, 4])
    if rng.random() < 0.7:
        plan["workload.task"] = rng.choice(WORDS)
    if rng.random() < 0.3:
        plan["workload.deadline"] = _edge(rng, [1, 2, 4])
    if rng.random() < 0.5:
        plan["site.budget"] = _edge(rng, [3, 4, 8, 16])
    if rng.random() < 0.6:
        plan["site.strict"] = rng.choice([True, False])
    if rng.random() < 0.4:
        plan["site.floor"] = _edge(rng, [2, 4])
    if rng.random() < 0.45:
        for decision in content["decisions"]:
            for fact, domain in decision["assigns"].items():
                if rng.random() < 0.3:
                    plan[fact] = _pin(rng, content, fact, domain)
    if "design.nodes" in content["facts"] and rng.random() < 0.4:
        plan["design.nodes"] = point(rng.choice([1, 2, 3, 4]))
    return plan


def _pin(rng: random.Random, content: Content, fact: str, domain: object) -> Value:
    if content["facts"][fact]["type"] == "yes-no":
        return rng.choice([True, False])
    if content["facts"][fact]["type"] == "choice":
        rows: list[str] = [*content["tables"][domain.removeprefix("tables.")]["rows"]] if isinstance(domain, str) else [*WORDS]
        return rng.choice(rows)
    return point(rng.choice([1, 2, 3, 4, 8]))  # 3 is outside most domains


def _edge(rng: random.Random, numbers: Sequence[float]) -> Value:
    at = rng.choice(numbers) * (rng.choice(EDGES) if rng.random() < 0.3 else 1)
    return point(at) if rng.random() < 0.85 else Amount(at, None, at + rng.choice([1, 2]))
