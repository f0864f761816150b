"""One consultation in durable_rules: facts in, cells of the rows they name, matches out with all that stands behind them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

from expert.engine.durable_draft import Assert, Report
from expert.engine.durable_driver import Session
from expert.engine.durable_pattern import BUNDLE, ROW, START, copy_name
from expert.engine.durable_places import CELL, FACT, PLAN
from expert.engine.durable_raw import FactId, Value
from expert.engine.durable_rules import Compiled
from expert.engine.evaluate import Env
from expert.engine.values import Slot, Words, down, holds, is_known

Values = Mapping[str, Value]


class Note:
    """What a message stands for: its value, the fact it is about, the values it carries, and the messages behind it."""

    __slots__ = ("behind", "env", "fact", "slot")

    def __init__(self, slot: Slot | None = None, fact: str = "", env: Env | None = None) -> None:
        self.slot = slot
        self.fact = fact
        self.env: Env = {} if env is None else env
        self.behind: set[FactId] = set()


class Found:
    """An instance of a rule that matched, with every message behind it."""

    __slots__ = ("behind", "report", "rows", "value")

    def __init__(self, report: Report, rows: tuple[str, ...], value: Slot | None) -> None:
        self.report = report
        self.rows = rows
        self.value = value
        self.behind: set[FactId] = set()


def properties(slot: Slot, prop: str = "oid") -> dict[str, Value]:
    """A known value as the properties of a message; `prop` is that of a word. A list has none, its elements are messages."""
    if isinstance(slot, int):
        return {"flag": holds(slot)}
    if len(slot) == 4:
        low, high = cast("tuple[float, float]", slot[:2])
        return {"lo": low, "hi": high, "dlo": down(low), "dhi": down(high)}
    if not isinstance(slot[0], frozenset):
        return {}
    (word,) = slot[0]
    return {prop: word}


class Memory:
    """The working memory of one session."""

    def __init__(self, session: Session, compiled: Compiled) -> None:
        self.found: dict[tuple[int, tuple[str, ...]], Found] = {}
        self.concluded: dict[str, list[Found]] = {}
        self._session = session
        self._compiled = compiled
        self._notes: dict[FactId, Note] = {}
        self._cells: set[tuple[str, str, str]] = set()

    def start(self) -> None:
        """Assert what holds in every consultation: the rows of the tables that rules run over, and their cells."""
        self._put(START, {}, Note())
        for table, word, column in self._compiled.fixed:
            self._cell(table, word, column)
        for table, rows in self._compiled.rows.items():
            for row in rows:
                self._put(f"{ROW}:{table}", {"oid": row}, Note((frozenset((row,)), 0)))

    def state(self, name: str, slot: Slot) -> None:
        """Assert what the plan itself says, or that it is silent."""
        self._settle(PLAN, "plan-", name, slot, "")

    def settle(self, name: str, slot: Slot) -> None:
        """Assert a fact that is finished: its value, or its absence."""
        self._settle(FACT, "", name, slot, name)

    def drain(self) -> None:
        """Let the engine match until nothing more follows."""
        self._session.drain(self._on_match)

    def facts_behind(self, behind: Iterable[FactId]) -> tuple[str, ...]:
        """The facts among the messages and those behind them, sorted."""
        seen: set[FactId] = set()
        waiting = list(behind)
        while waiting:
            message = waiting.pop()
            if message not in seen:
                seen.add(message)
                waiting += self._notes[message].behind
        return tuple(sorted({self._notes[message].fact for message in seen} - {""}))

    def _settle(self, source: str, prefix: str, name: str, slot: Slot, fact: str) -> None:
        self._mark(f"{prefix}settled:{name}", slot, fact)
        if not is_known(slot):
            self._mark(f"{prefix}absent:{name}", None, fact)
            return
        elements = _elements(slot)
        lacks = self._compiled.lacks.get(name, ()) if source == FACT else ()
        for word in elements if f"{source}-element:{name}" in self._compiled.copies else ():
            self._put(f"{source}-element:{name}", {"oid": word}, Note(None, fact))
        for word in lacks:
            if word not in elements:
                self._put(f"lacks:{name}", {"oid": word}, Note(None, fact))
        kind = f"{source}:{name}"
        if kind in self._compiled.copies or kind in self._compiled.sources:
            self._put(kind, properties(slot), Note(slot, fact))

    def _mark(self, kind: str, slot: Slot | None, fact: str) -> None:
        """Assert a message without properties, which most programs read of few facts."""
        if kind in self._compiled.copies:
            self._put(kind, {}, Note(slot, fact))

    def _put(self, kind: str, values: Values, note: Note) -> Note | None:
        """Assert every copy that rules read, with the properties that they compare, and the cells of the row that it names."""
        found = None
        for copy in range(self._compiled.copies.get(kind, 0)):
            name = copy_name(kind, copy)
            message = self._session.add(name, {prop: values[prop] for prop in self._compiled.definition.schema[name] if prop in values})
            found = self._notes.setdefault(message, note)
        columns = self._compiled.sources.get(kind, ())
        word = values.get("val" if kind.startswith(f"{CELL}:") else "oid")
        for table, column in columns:
            self._cell(table, str(word), column)
        return found

    def _cell(self, table: str, row: str, column: str) -> None:
        if (table, row, column) in self._cells:
            return
        self._cells.add((table, row, column))
        slot = self._compiled.cells[table, column].get(row)
        name = f"{table}.{column}"
        if slot is None or not is_known(slot):
            self._put(f"no-{CELL}:{name}", {"oid": row}, Note())
            return
        for word in _elements(slot) if f"{CELL}-element:{name}" in self._compiled.copies else ():
            self._put(f"{CELL}-element:{name}", {"oid": row, "val": word}, Note())
        self._put(f"{CELL}:{name}", {"oid": row, **properties(slot, "val")}, Note())

    def _on_match(self, rule: int, messages: tuple[FactId, ...]) -> None:
        action = self._compiled.actions[rule]
        env = self._environment(self._compiled.roles[rule], messages)
        value = None if action.closure is None else action.closure(env)
        if value is not None and not is_known(value):
            return
        rows = tuple(_row(env, variable) for variable in action.variables)
        if isinstance(action, Report):
            found = self.found.get((rule, rows))
            if found is None:
                found = self.found[rule, rows] = Found(action, rows, value)
                self.concluded.setdefault(action.fact, []).append(found)
            found.behind.update(messages)
        else:
            self._conclude(action, rows, value, env, messages)

    def _conclude(self, action: Assert, rows: tuple[str, ...], value: Slot | None, env: Env, messages: tuple[FactId, ...]) -> None:
        values: dict[str, Value] = {f"v{i}": row for i, row in enumerate(rows)}
        if value is not None:
            values.update(properties(value))
        note = self._put(action.kind, values, Note(value, "", env if action.carries else None))
        if note is not None:
            note.behind.update(messages)

    def _environment(self, roles: tuple[str, ...], messages: tuple[FactId, ...]) -> Env:
        env: Env = {}
        for role, message in zip(roles, messages, strict=True):
            note = self._notes[message]
            if role == BUNDLE:
                env.update(note.env)
            elif role:
                env[role] = cast(Slot, note.slot)
        return env


def _elements(slot: Slot) -> tuple[str, ...]:
    if isinstance(slot, int) or len(slot) == 4:
        return ()
    first = cast("tuple[str, ...] | frozenset[str]", slot[0])
    return tuple(sorted(first))


def _row(env: Env, variable: str) -> str:
    (row,) = cast(Words, env["$" + variable])[0]
    return row
