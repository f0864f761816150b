"""The durable engine: durable_rules does the matching and chaining, this follows the strata.

The working memory is monotone: a fact is asserted when it is finished, its absence likewise, so no rule ever sees a value
that changes. Between two steps of the schedule the engine is drained; what its matches concluded is combined by the same
code as in the reference engine, and asserted.

A rule set is compiled once per program; the last 16 are kept. Every size at which the library would crash, hang or
answer wrongly is refused before (`durable_raw`, `durable_layout`). A probe in a child process costs about as much as a whole
cold start of `expert explain`, so it is kept for programs of more than 3,000 durable rules: up to there the layout has been
tried against the library by random rule sets, and a full stack, the one thing left, is an error and neither hang nor crash.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast
from weakref import WeakKeyDictionary

from expert.engine.concluding import Contribution, combine_exact
from expert.engine.durable_raw import DurableLimitError, DurableRuleError, DurableValueError
from expert.engine.durable_rules import Compiled, compile_rules, raw_share
from expert.engine.evaluate import PLAN_KEY, Env
from expert.engine.firing import Fired, Match, in_canonical_order, start_env
from expert.engine.model import knowledge_of
from expert.engine.values import STATED, TRUE, Slot, from_slot, to_slot, unknown_slot
from expert.errors import ExpertError, Text, fail
from expert.facts import Value
from expert.language.program import Program, Step

if TYPE_CHECKING:  # the driver imports the compiled library, which may not be there
    from expert.engine.durable_driver import Ruleset
    from expert.engine.durable_memory import Found, Memory

__all__ = ["DurableEngine", "durable_available", "raw_share"]

KEPT = 16
PROBE_RULES = 3000
PROBE_SECONDS = 30.0

_RULESETS: WeakKeyDictionary[Program, tuple[Compiled, Ruleset]] = WeakKeyDictionary()


def durable_available() -> bool:
    """Whether the compiled part of durable_rules can be imported here."""
    try:
        import durable_rules_engine  # noqa: F401
    except (ImportError, OSError, SystemError):
        return False
    return True


class DurableEngine:
    """The engine of record: the rules of the packs as rules of durable_rules."""

    name = "durable"

    def fire(self, program: Program, stated: Mapping[str, Value], decided: Mapping[str, Value]) -> Fired:
        """Run all strata in order and return every match and every fact.

        Errors: ExpertError engine-missing without the library, engine-limit when the packs or values are too much for it.
        """
        if not durable_available():
            raise _missing()
        from expert.engine.durable_memory import Memory

        with _limits():
            compiled, ruleset = _ruleset_of(program)
            with ruleset.session() as session:
                return _Run(program, stated, decided, Memory(session, compiled)).fire()


@contextmanager
def _limits() -> Iterator[None]:
    try:
        yield
    except DurableLimitError as problem:
        raise _too_much(f"{problem.limit} {problem.found} > {problem.allowed}") from problem
    except (DurableValueError, DurableRuleError) as problem:
        raise _too_much(str(problem)) from problem


def _too_much(what: str) -> ExpertError:
    message = Text(f"durable_rules can't take this: {what}", f"durable_rules 无法承受：{what}")
    return fail("engine-limit", message, help=Text("run with '--engine reference'", "请改用 '--engine reference'"))


def _missing() -> ExpertError:
    message = Text("durable_rules is not installed, or its compiled part does not load", "未安装 durable_rules，或其编译部分无法加载")
    return fail("engine-missing", message, help=Text("run with '--engine reference'", "请改用 '--engine reference'"))


def _ruleset_of(program: Program) -> tuple[Compiled, Ruleset]:
    found = _RULESETS.get(program)
    if found is None:
        from expert.engine.durable_driver import Ruleset

        compiled = compile_rules(program)
        if len(compiled.definition.rules) > PROBE_RULES:
            from expert.engine.durable_probe import probe_in_child

            probe_in_child(compiled.definition, PROBE_SECONDS)
        found = (compiled, Ruleset(compiled.definition))
        for oldest in list(_RULESETS)[: max(0, len(_RULESETS) + 1 - KEPT)]:
            _RULESETS.pop(oldest, None)  # a consultation that uses it holds it until it ends
        _RULESETS[program] = found
    return found


class _Run:
    """One consultation."""

    def __init__(self, program: Program, stated: Mapping[str, Value], decided: Mapping[str, Value], memory: Memory) -> None:
        self.program = program
        self.stated = stated
        self.decided = decided
        self.memory = memory
        self.env: Env = start_env(program, stated)
        self.position = {name: {row: i for i, row in enumerate(table.rows)} for name, table in program.tables.items()}

    def fire(self) -> Fired:
        """Assert, drain, combine, step by step."""
        self._start()
        for step in self.program.schedule:
            self.memory.drain()
            for fact in self._finished(step):
                self._finish(fact)
        self.memory.drain()
        matches = in_canonical_order(self.program, [self._match(found) for found in self.memory.found.values()])
        values = {name: from_slot(self.env[name], decl.kind) for name, decl in self.program.facts.items()}
        return Fired(DurableEngine.name, matches, values)

    def _start(self) -> None:
        self.memory.start()
        for name, decl in self.program.facts.items():
            self.memory.state(name, self.env.get(PLAN_KEY + name, unknown_slot(decl.kind, STATED)))
        scheduled = {fact for step in self.program.schedule for fact in self._finished(step)}
        for name in self.program.facts:
            if name not in scheduled:
                self.memory.settle(name, self.env[name])

    def _finished(self, step: Step) -> tuple[str, ...]:
        assigned = () if step.decision is None else tuple(self.program.decisions[step.decision].assigns)
        return (*(fact for fact in step.facts if fact not in self.program.deciders), *assigned)

    def _finish(self, fact: str) -> None:
        if fact in self.program.deciders:
            if fact in self.decided:
                self.env[fact] = to_slot(self.decided[fact], self.program.facts[fact].kind)
        elif fact not in self.stated:
            closure = knowledge_of(self.program).facts[fact]
            found = sorted(self.memory.concluded.get(fact, ()), key=self._order)
            contributions: list[Contribution] = [(TRUE, cast(Slot, one.value)) for one in found]
            self.env[fact] = combine_exact(closure.decl, contributions, closure.fallback(self.env), STATED)
        self.memory.settle(fact, self.env[fact])

    def _order(self, found: Found) -> tuple[int, tuple[int, ...]]:
        tables = [table for _, table in self.program.rules[found.report.rule].rows]
        return found.report.place, tuple(self.position[table][row] for table, row in zip(tables, found.rows, strict=True))

    def _match(self, found: Found) -> Match:
        report = found.report
        effects: tuple[tuple[str, Value], ...] = ()
        if report.fact:
            value = from_slot(cast(Slot, found.value), self.program.facts[report.fact].kind)
            effects = ((report.fact, cast(Value, value)),)
        return Match(report.rule, found.rows, report.state, self.memory.facts_behind(found.behind), effects)
