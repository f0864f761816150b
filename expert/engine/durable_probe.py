"""A rule set compiled and fed once in a child process: a hang in C holds the interpreter's lock, and a crash ends the process.

The layout is meant to exclude both; this is the second line for rule sets not seen before. The caller may remember the
answer by `digest`. Run as a module, it is the child: definition on stdin, exit code 0 when all went well.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from expert.engine.durable_raw import (
    Constant,
    Definition,
    DurableError,
    DurableFaultError,
    DurableLimitError,
    Exists,
    Join,
    Op,
    Property,
    RawCondition,
    RawRule,
    Test,
    Value,
    ValueType,
)

_ROOT = Path(__file__).resolve().parents[2]
_PROBE_STEPS = 10_000


def probe_in_child(definition: Definition, deadline_seconds: float) -> None:
    """Return if a child process compiles the rules and takes a fact of each kind in time.

    Errors: DurableLimitError "deadline", in milliseconds; DurableFaultError when the child died or refused the rules.
    """
    path = os.pathsep.join([str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "expert.engine.durable_probe"]
    try:
        child = subprocess.run(
            command,
            input=to_json(definition),
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=deadline_seconds,
            env={**os.environ, "PYTHONPATH": path},
        )
    except subprocess.TimeoutExpired:
        allowed = round(deadline_seconds * 1000)
        raise DurableLimitError("deadline", allowed + 1, allowed) from None
    if child.returncode != 0:
        raise DurableFaultError(f"the probe ended with {child.returncode}: {child.stderr.strip()[-300:]}")


def digest(definition: Definition) -> str:
    """SHA-256 of a definition's content."""
    return hashlib.sha256(to_json(definition).encode("utf-8", "surrogatepass")).hexdigest()


def to_json(definition: Definition) -> str:
    """A definition as JSON text; equal definitions give equal text."""
    schema = {kind: {name: [p.type, p.optional] for name, p in properties.items()} for kind, properties in definition.schema.items()}
    rules = [[[c.kind, [_test_out(test) for test in c.tests]] for c in rule.conditions] for rule in definition.rules]
    return json.dumps({"schema": schema, "rules": rules}, sort_keys=True)


def from_json(text: str) -> Definition:
    """The definition that `to_json` wrote."""
    tree = json.loads(text)
    schema = {kind: {name: Property(ValueType(t), o) for name, (t, o) in props.items()} for kind, props in tree["schema"].items()}
    rules = (RawRule(tuple(RawCondition(kind, tuple(map(_test_in, tests))) for kind, tests in rule)) for rule in tree["rules"])
    return Definition(tuple(rules), schema)


def _test_out(test: Test) -> list[Value]:
    if isinstance(test, Exists):
        return [test.prop]
    return [test.prop, test.op, test.value] if isinstance(test, Constant) else [test.prop, test.op, test.condition, test.other]


def _test_in(parts: list[str]) -> Test:
    if len(parts) == 1:
        return Exists(parts[0])
    if len(parts) == 3:
        return Constant(parts[0], Op(parts[1]), parts[2])
    return Join(parts[0], Op(parts[1]), int(parts[2]), parts[3])


def sample_facts(definition: Definition) -> Iterator[tuple[str, Mapping[str, Value]]]:
    """For each kind one fact, with values that the rules test for where they do."""
    wanted: dict[tuple[str, str], Value] = {}
    for rule in definition.rules:
        for condition in rule.conditions:
            wanted.update({(condition.kind, t.prop): t.value for t in condition.tests if isinstance(t, Constant)})
    blank: dict[ValueType, Value] = {ValueType.YES_NO: False, ValueType.NUMBER: 0, ValueType.TEXT: ""}
    for kind, properties in definition.schema.items():
        yield kind, {name: wanted.get((kind, name), blank[p.type]) for name, p in properties.items()}


def _main() -> int:
    from expert.engine.durable_driver import Ruleset  # only the child needs the library

    definition = from_json(sys.stdin.read())
    with Ruleset(definition) as ruleset, ruleset.session() as session:
        for kind, values in sample_facts(definition):
            session.add(kind, values)
        try:
            session.drain(lambda rule, facts: None, _PROBE_STEPS)
        except DurableLimitError:
            return 0  # many matches are no fault
    return 0


if __name__ == "__main__":
    try:
        sys.exit(_main())
    except DurableError as problem:
        sys.exit(f"{type(problem).__name__}: {problem}")
