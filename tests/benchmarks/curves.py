"""Durable beside CLIPS and the reference engine, on the same packs: `python -m tests.benchmarks.curves` prints a Markdown table.

Needs clipspy, which nothing else here does. Engines run in turn, round by round; times are medians of CPU time per consultation.

- reference, durable: `Engine.fire`, from the plan's facts to every match and every value.
- durable calls: what durable_rules itself is asked during that consultation, recorded once and played back: session opened,
  facts asserted, matches fetched and decoded, session deleted. This is the engine part that is compared with CLIPS.
- CLIPS: reset, facts asserted, run with right-hand sides in CLIPS, all facts read back.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from expert.engine import durable, durable_driver
from expert.engine.firing import Fired, ReferenceEngine
from expert.facts import Amount, Value, point
from expert.language.compiler import compile_packs
from expert.language.program import Conclude, Program, Rule
from expert.language.terms import CompareTerm, FactTerm, Literal
from tests.benchmarks.synthetic import write_pack

Numbers = dict[str, float]
HEAD = (
    "| rules | matches | reference | durable | durable calls | CLIPS "
    "| durable calls / CLIPS | durable / CLIPS | compile durable | build CLIPS |"
)


class Clips:
    """The rules of a synthetic pack in CLIPS: one template of attribute and value, one rule for each rule."""

    def __init__(self, program: Program) -> None:
        clips = import_module("clips")
        self.env = clips.Environment()
        self.symbol = clips.Symbol
        self.env.build("(deftemplate av (slot attr) (slot v))")
        for rule in program.rules.values():
            self.env.build(clips_rule(rule))
        self.template = self.env.find_template("av")

    def run(self, given: Mapping[str, float]) -> Numbers:
        """One consultation: every fact known at its end."""
        self.env.reset()
        for name, value in given.items():
            self.template.assert_fact(attr=self.symbol(name), v=value)
        self.env.run()
        return {str(fact["attr"]): fact["v"] for fact in self.env.facts()}


def clips_rule(rule: Rule) -> str:
    """A rule of comparisons with numbers that concludes one number."""
    conditions = []
    for place, condition in enumerate(rule.when):
        term = cast(CompareTerm, condition.term)
        left, right = cast(FactTerm, term.left), cast(Literal, term.right)
        conditions.append(f"(av (attr {left.fact}) (v ?v{place}&:({term.operator} ?v{place} {right.low})))")
    ((fact, value),) = cast(Conclude, rule.effect).values
    return f"(defrule {rule.id} {' '.join(conditions)} => (assert (av (attr {fact}) (v {cast(Literal, value.term).low}))))"


class Recorder:
    """The compiled library with every call noted, in place of the module that the driver uses."""

    def __init__(self, library: Any) -> None:
        self.wrapped = library
        self.error = library.error
        self.calls: list[tuple[str, tuple[Any, ...]]] = []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def noted(*arguments: Any) -> Any:
            self.calls.append((name, arguments))
            return getattr(self.wrapped, name)(*arguments)

        return noted


def recorded(fire: Callable[[], Fired]) -> Callable[[], None]:
    """The library's calls of one consultation, to be played back."""
    driver = vars(durable_driver)
    library = driver["library"]
    recorder = driver["library"] = Recorder(library)
    try:
        fire()
    finally:
        driver["library"] = library
    calls = [(getattr(library, name), arguments) for name, arguments in recorder.calls]

    def play() -> None:
        for call, arguments in calls:
            answer = call(*arguments)
            match = answer[1] if isinstance(answer, tuple) else answer
            if isinstance(match, str):
                json.loads(match)

    return play


def numbers(values: Mapping[str, Value | None]) -> Numbers:
    """Known facts of a result."""
    return {name: value.low for name, value in values.items() if isinstance(value, Amount)}


def timed(call: Callable[[], object]) -> float:
    """Milliseconds of CPU time."""
    start = time.process_time()
    call()
    return (time.process_time() - start) * 1e3


def row(rules: int, facts: int, seconds: float) -> str:
    """One line of the table; every engine must derive the same facts."""
    with tempfile.TemporaryDirectory() as folder:
        given = write_pack(Path(folder) / "synthetic", rules, facts)
        program = compile_packs([Path(folder) / "synthetic"], limit_bytes=64 * 1024 * 1024)
    stated: dict[str, Value] = {name: point(value) for name, value in given.items()}
    reference, engine = ReferenceEngine(), durable.DurableEngine()
    first = reference.fire(program, stated, {})  # makes the closures, which both engines use
    compile_durable = timed(lambda: engine.fire(program, stated, {}))
    built = list[Clips]()
    build_clips = timed(lambda: built.append(Clips(program)))
    calls: Sequence[Callable[[], object]] = (
        lambda: reference.fire(program, stated, {}),
        lambda: engine.fire(program, stated, {}),
        recorded(lambda: engine.fire(program, stated, {})),
        lambda: built[0].run(given),
    )
    assert numbers(first.values) == numbers(engine.fire(program, stated, {}).values) == built[0].run(given)
    rounds = alternated(calls, seconds)
    shown = [statistics.median(column) for column in zip(*rounds, strict=True)]
    engine_part = statistics.median(one[2] / one[3] for one in rounds)
    whole = statistics.median(one[1] / one[3] for one in rounds)
    cells = [f"{rules}", f"{len(first.matches)}", *(f"{value:.2f}" for value in shown), f"{engine_part:.2f}", f"{whole:.2f}"]
    return f"| {' | '.join([*cells, f'{compile_durable:.0f}', f'{build_clips:.0f}'])} |"


def alternated(calls: Sequence[Callable[[], object]], seconds: float) -> list[list[float]]:
    """Rounds of one run of each, for about this long, at least seven."""
    rounds: list[list[float]] = []
    gc.collect()
    gc.disable()
    end = time.monotonic() + seconds
    while len(rounds) < 7 or time.monotonic() < end:
        rounds.append([timed(call) for call in calls])
        gc.collect()
    gc.enable()
    return rounds


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rules", default="50,150,300,1000,3000")
    parser.add_argument("--facts", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=5.0, help="for each size")
    options = parser.parse_args()
    print(HEAD)
    print("|" + " --- |" * HEAD.count(" | ") + " --- |")
    for rules in map(int, options.rules.split(",")):
        print(row(rules, options.facts, options.seconds), flush=True)


if __name__ == "__main__":
    main()
