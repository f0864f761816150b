"""durable_rules 2.0.28 driven through its C module, the only importer of it.

Not through `durable.engine`: that swallows the exceptions of actions (KeyboardInterrupt too), stops without a word when an
action took ten seconds, and starts timer threads that touch deleted sessions. The loop here is about as fast as the library
allows, and every call is made in an order in which it neither crashes nor hangs:

- a session is opened by a fact that makes the bootstrap rule fire before anything else is asserted;
- facts carry ids of our own and are never retracted or changed: another input is another session;
- an exception of an action abandons the activation and ends the session, which is always deleted.
"""

from __future__ import annotations

import itertools
import json
import locale
import threading
import weakref
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, contextmanager

import durable_rules_engine as library

from expert.engine.durable_layout import Layout, bucket, lay_out
from expert.engine.durable_raw import (
    BOOT,
    BUCKET,
    KIND,
    Definition,
    DurableFaultError,
    DurableLimitError,
    DurableMisuseError,
    DurableRuleError,
    DurableValueError,
    FactId,
    Value,
    check_definition,
    encode_text,
    encode_value,
)

LIVE_SESSIONS = 64  # the library breaks at 1,025
LIVE_RULESETS = 1024  # per process; the library has 131,071 handles
SESSION_NAMES = 1000  # s0..s999: no two of them share a 32-bit hash, nor with the fact ids
_ACCEPTED, _UNREAD, _SEEN = 0, 1, 2

OnMatch = Callable[[int, tuple[FactId, ...]], None]

_serial = itertools.count()
_live: set[int] = set()


class Ruleset:
    """A definition, checked and compiled; serves many sessions, in several threads, until it is closed.

    Errors: DurableLimitError, DurableRuleError, DurableValueError: refused before the library saw anything of it.
    """

    def __init__(self, definition: Definition) -> None:
        _need_decimal_point()
        check_definition(definition)
        self.definition = definition
        self._heads = {kind: f'"{BUCKET}":{bucket(kind)},"{KIND}":{encode_text(kind)}' for kind in definition.schema}
        layouts = lay_out(definition)
        if len(_live) + len(layouts) > LIVE_RULESETS:
            raise DurableLimitError("live-rulesets", len(_live) + len(layouts), LIVE_RULESETS)
        handles: list[int] = []
        self._finish = weakref.finalize(self, _delete, handles)
        self._finish.atexit = False  # at exit the process takes the memory; the library may be gone already
        self.handles = tuple(_compile(layout, handles) for layout in layouts)
        self.readers = {kind: tuple(i for i, layout in enumerate(layouts) if kind in layout.kinds) for kind in definition.schema}
        self._slots = threading.BoundedSemaphore(LIVE_SESSIONS)
        self._names = deque(f"s{i}" for i in range(SESSION_NAMES))
        self._open: set[str] = set()

    def __enter__(self) -> Ruleset:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def session(self, wait_seconds: float = 60.0) -> Iterator[Session]:
        """A fresh working memory for this thread, deleted at the end of the block; at most 64 at a time.

        Errors: DurableLimitError "live-sessions" when none became free in time; DurableMisuseError after close.
        """
        if not self._finish.alive:
            raise DurableMisuseError("the rule set is closed")
        _need_decimal_point()
        if not self._slots.acquire(timeout=wait_seconds):
            raise DurableLimitError("live-sessions", LIVE_SESSIONS + 1, LIVE_SESSIONS)
        session = Session(self, self._names.popleft())
        self._open.add(session.name)
        try:
            yield session
        finally:
            self._open.discard(session.name)
            if session.end():
                self._names.append(session.name)
                self._slots.release()

    def close(self) -> None:
        """Free the compiled rules. May be called twice; not while a session is open, whose tables would leak."""
        if self._open:
            raise DurableMisuseError("a session is open")
        self._finish()

    def encode(self, kind: str, values: Mapping[str, Value]) -> str:
        """A fact as the inside of a JSON object, each property in its declared type and all required ones present.

        Errors: DurableValueError, DurableLimitError "text-bytes".
        """
        properties = self.definition.schema.get(kind)
        if properties is None:
            raise DurableValueError(f"no kind of fact is called {kind!r}")
        if not values.keys() <= properties.keys():
            raise DurableValueError(f"{kind!r} has no property {sorted(values.keys() - properties.keys())[0]!r}")
        parts = [self._heads[kind]]
        for name, declared in properties.items():
            if name in values:
                parts.append(f'"{name}":{encode_value(values[name], declared.type)}')
            elif not declared.optional:
                raise DurableValueError(f"a fact of kind {kind!r} without {name!r}")
        return ",".join(parts)


def _compile(layout: Layout, handles: list[int]) -> int:
    try:
        handle: int = library.create_ruleset(f"expert{next(_serial)}", layout.text)
    except library.error as problem:
        raise DurableFaultError(f"the library refused a rule set: {problem}") from problem
    handles.append(handle)
    _live.add(handle)
    return handle


def _delete(handles: list[int]) -> None:
    for handle in handles:
        library.delete_ruleset(handle)
        _live.discard(handle)


def _need_decimal_point() -> None:
    """The library reads numbers with C's atof, which follows the locale: under de_DE, 0.5 would be 0."""
    point = locale.localeconv()["decimal_point"]
    if point != ".":
        raise DurableRuleError(f"the locale's decimal point is {point!r}: call locale.setlocale(locale.LC_NUMERIC, 'C') first")


class Session:
    """One working memory: facts only ever added, matches delivered by `drain`. Belongs to the thread that opened it."""

    def __init__(self, ruleset: Ruleset, name: str) -> None:
        self.name = name
        self._ruleset = ruleset
        self._thread = threading.get_ident()
        self._offsets: dict[int, int] = {}  # number of a compiled part -> the library's place of this session in it
        self._dirty: set[int] = set()
        self._ids: dict[str, FactId] = {}
        self._opening = self._draining = self._broken = self._ended = False

    def add(self, kind: str, values: Mapping[str, Value]) -> FactId:
        """The id of a fact; asserted if no equal one (same kind, same properties with the same values) has been yet.

        Errors: DurableValueError, DurableLimitError, with nothing asserted; DurableMisuseError; DurableFaultError.
        """
        self._check()
        body = self._ruleset.encode(kind, values)
        known = self._ids.get(body)
        if known is not None:
            return known
        fact = self._ids[body] = FactId(f"f{len(self._ids)}")
        for part in self._ruleset.readers[kind]:
            self._assert(part, f'{{{body},"id":"{fact}","sid":"{self.name}"}}')
        return fact

    def drain(self, on_match: OnMatch, max_steps: int = 100_000) -> int:
        """Call `on_match(rule, facts)`, facts in the order of the rule's conditions, for every match not yet delivered.

        `on_match` may add facts. Whatever it raises comes out of here, and the session can't be used any more.
        The result is the number of matches delivered.
        Errors: DurableLimitError "steps" when there are more than `max_steps`; DurableMisuseError; DurableFaultError.
        """
        self._check()
        if self._draining:
            raise DurableMisuseError("drain inside an action")
        self._draining, steps = True, 0
        try:
            while self._dirty:
                part = min(self._dirty)
                self._dirty.remove(part)
                with closing(self._matches(part)) as matches:
                    for rule, facts in matches:
                        if steps == max_steps:
                            raise DurableLimitError("steps", steps + 1, max_steps)
                        steps += 1
                        on_match(rule, facts)
        except BaseException:
            self._broken = True
            raise
        finally:
            self._draining = False
        return steps

    def end(self) -> bool:
        """Delete the session; false if its name must not be used again, because opening it was interrupted."""
        if self._draining:
            raise DurableMisuseError("a session ended inside an action")
        self._ended = True
        while self._offsets:
            part, _ = self._offsets.popitem()
            library.delete_state(self._ruleset.handles[part], self.name)
        return not self._opening

    def _check(self) -> None:
        if self._ended or self._broken:
            raise DurableMisuseError("the session is over")
        if self._thread != threading.get_ident():
            raise DurableMisuseError("a session used from another thread")

    def _assert(self, part: int, text: str) -> None:
        if part not in self._offsets:
            self._boot(part)
        try:
            code, _ = library.assert_fact(self._ruleset.handles[part], text)
        except library.error as problem:  # the fact has reached some rules and not others
            self._broken = True
            raise DurableFaultError(f"the library refused a fact: {problem}") from problem
        if code not in (_ACCEPTED, _UNREAD):
            self._broken = True
            raise DurableFaultError("the library took two facts for one" if code == _SEEN else f"assert_fact answered {code}")
        self._dirty.add(part)

    def _boot(self, part: int) -> None:
        """Open the session in one rule set; until its first rule has fired, it must not be deleted: that is a crash."""
        handle = self._ruleset.handles[part]
        self._opening = True
        _, offset = library.assert_fact(handle, f'{{"{BOOT}":1,"id":"b","sid":"{self.name}"}}')
        if library.start_action_for_state(handle, offset) is None or library.complete_and_start_action(handle, offset) is not None:
            self._broken = True
            raise DurableFaultError("the bootstrap rule did not fire alone")
        self._offsets[part] = offset
        self._opening = False

    def _matches(self, part: int) -> Generator[tuple[int, tuple[FactId, ...]], None, None]:
        handle, offset = self._ruleset.handles[part], self._offsets[part]
        started = library.start_action_for_state(handle, offset)
        text = None if started is None else started[1]
        try:
            while text is not None:
                ((rule, facts),) = json.loads(text).items()
                yield int(rule[1:]), tuple(FactId(facts[f"m{i}"]["id"]) for i in range(len(facts)))
                text = library.complete_and_start_action(handle, offset)
        finally:
            if text is not None:  # left inside an action: without this, the library locks the session for a minute
                library.abandon_action(handle, offset)
