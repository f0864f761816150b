"""What durable_rules 2.0.28 does without our guards, and that it does not with them.

Each scenario runs in a process of its own, so that a crash or an endless loop is a result. A fault that is no longer seen
fails the test: then the library has changed, and the guard may go. Faults of uninitialised memory show in most processes
but not in all: they get several tries.
"""

from __future__ import annotations

import ast
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("durable_rules_engine", exc_type=ImportError)

from expert.engine import durable_driver, durable_layout
from expert.engine.durable_driver import Ruleset
from expert.engine.durable_layout import lay_out
from expert.engine.durable_raw import (
    Constant,
    Definition,
    Exists,
    Join,
    Op,
    Property,
    RawCondition,
    RawRule,
    ValueType,
    name_hash,
)

SCENARIOS = Path(__file__).with_name("durable_scenarios.py")
HANG_SECONDS = 3.0  # a scenario that ends takes 0.1 s
CRASH, HANG = "crash", "hang"


def outcome(scenario: str, timeout: float = 30.0, **environment: str) -> Any:
    """What the scenario printed, or that it crashed or did not end."""
    command = [sys.executable, str(SCENARIOS), scenario]
    try:
        child = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env={**os.environ, **environment})
    except subprocess.TimeoutExpired:
        return HANG
    if child.returncode < 0:
        assert -child.returncode in (signal.SIGSEGV, signal.SIGFPE, signal.SIGABRT, signal.SIGBUS), child.stderr
        return CRASH
    assert child.returncode == 0, child.stderr
    return json.loads(child.stdout.splitlines()[-1])


def seen(scenario: str, fault: Any, tries: int = 1) -> bool:
    """Whether the fault shows in one of so many processes.

    Fresh memory is often zero, which hides the use of uninitialised pointers: every other process gets it filled by glibc.
    """
    timeout = HANG_SECONDS if fault == HANG else 30.0
    return any(outcome(scenario, timeout, **({"MALLOC_PERTURB_": "165"} if number % 2 else {})) == fault for number in range(tries))


# number in the list of hazards that the driver was built against, scenario, what is seen, tries
FAULTS: list[tuple[int, str, Any, int]] = [
    (1, "join_scans_past_its_node", CRASH, 5),
    (2, "delete_state_before_any_action", CRASH, 5),
    (3, "512_tests_after_one_prefix", HANG, 1),
    (3, "layout_without_buckets_and_groups", HANG, 1),
    (4, "division_by_zero", CRASH, 1),
    (5, "not_deletes_the_match_of_another_rule", [], 1),  # rule b must fire, whatever rule a does
    (6, "retraction_kills_another_match", [1], 1),  # the second fact is lost
    (7, "256_ends_run_into_the_next_list", True, 1),
    (8, "65_true_tests_lose_the_fact", ["303"], 1),
    (8, "65_joins_lose_the_fact", ["303"], 1),
    (8, "layout_without_groups", ["leFaultError: the library refused a fact: Could not assert fact, error code: 303"], 1),
    (9, "or_switches_the_join_off", ["r"], 1),
    (9, "nested_and_switches_the_join_off", ["r"], 1),
    (10, "join_on_a_missing_property", ["311"], 1),  # and rule "first", which has the property, is lost
    (10, "join_on_a_list", ["312"], 1),
    (11, "same_message_test_on_a_missing_property", True, 5),
    (12, "1025_sessions", CRASH, 3),
    (13, "drain_after_delete", CRASH, 3),
    (13, "wrong_offset", CRASH, 3),
    (14, "batch_of_one_empty_fact", CRASH, 3),
    (14, "batch_drops_the_rest", 1, 1),  # of three facts, without an error
    (15, "session_name_of_10_mb", CRASH, 1),
    (15, "id_of_10_mb", CRASH, 1),
    (16, "property_names_with_one_hash", ["r"], 1),
    (16, "ids_with_one_hash", [0, 2], 1),  # 2: taken for the same fact
    (16, "session_names_with_one_hash", ["r"], 1),
    (17, "id_is_the_identity_of_the_fact", [0, 2], 1),
    (17, "id_2_and_text_2", [0, 2], 1),
    (18, "nex_alone_matches_the_state", 1000, 1),  # stopped after a thousand
    (19, "any_fires_once_per_subset", 7, 1),  # of three alternatives
    (20, "long_pattern", CRASH, 1),
    (0, "text_equals_a_number", [True, True], 3),
    (0, "long_text_equals_a_short_one", True, 1),
    (0, "order_of_texts", True, 1),
    (0, "nan_is_null", ["r"], 1),
    (0, "exponent_without_a_point", ["204"], 1),
    (0, "large_integers_are_one", [True, True], 1),
    (0, "64_does_not_join_64_0", [], 1),
    (-1, "engine_swallows_exceptions", [[None], [None], [None]], 1),  # ended without an error, thrice
    (-1, "engine_stops_after_ten_seconds", [["slow"], []], 1),  # no next action, and no end either
    (-1, "engine_takes_a_default_for_a_callback", [["act"], []], 1),
    (-1, "engine_refuses_callable_objects", "AttributeError", 1),
    (-1, "engine_raises_on_an_unread_fact", [], 1),  # the rest of the action did not run
    (-1, "engine_starts_threads", 2, 1),
    (-1, "engine_empties_the_definition", ["all"], 1),  # "run" is gone
    (-1, "leaving_an_action_locks_the_session", 0, 1),  # of two matches
]


@pytest.mark.parametrize(("scenario", "fault", "tries"), [f[1:] for f in FAULTS], ids=[f"{f[0]}-{f[1]}" for f in FAULTS])
def test_without_the_guard_the_fault_shows(scenario: str, fault: Any, tries: int) -> None:
    assert seen(f"fault_{scenario}", fault, tries)


# number, scenario, the right result
GUARDS: list[tuple[int, str, Any]] = [
    (1, "join_whose_last_test_fails", 0),
    (2, "sessions_that_never_fire", "survived"),
    (2, "interrupted_opening", [3, []]),  # three names used up, none of them free again
    (3, "thousands_of_kinds", [1, 2999]),
    (7, "256_ends", [299, False]),
    (8, "65_true_tests", 65 + 1000),
    (8, "65_joins", 300),
    (10, "join_on_a_missing_property", ["DurableRuleError", [0, 1]]),
    (12, "live_sessions", ["DurableLimitError", "survived"]),
    (13, "calls_after_the_end", ["DurableMisuseError"] * 3),
    (15, "texts_of_10_mb", ["DurableLimitError", "DurableValueError", "DurableValueError", "DurableLimitError", "DurableRuleError"]),
    (16, "property_names_with_one_hash", "DurableRuleError"),
    (-1, "session_after_an_exception", 1100),
]


@pytest.mark.parametrize(("scenario", "right"), [g[1:] for g in GUARDS], ids=[f"{g[0]}-{g[1]}" for g in GUARDS])
def test_with_the_guard_the_result_is_right(scenario: str, right: Any) -> None:
    assert outcome(f"guard_{scenario}") == right


def test_21_a_rule_set_refused_by_the_library_leaks_and_one_refused_by_us_does_not() -> None:
    assert outcome("fault_failed_compile_leaks") > 40  # MB for 100; about 1 each
    assert outcome("guard_refused_definitions_leak_nothing") < 10


def test_numbers_are_misread_under_a_decimal_comma_and_we_refuse_to_work_there(tmp_path: Path) -> None:
    """Not in the list: the library reads numbers with atof, so 0.25 >= 0.5 came out true under de_DE."""
    try:
        made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", str(tmp_path / "de_DE.UTF-8")], capture_output=True)
    except FileNotFoundError:
        pytest.skip("no localedef here")
    if made.returncode != 0:
        pytest.skip("no locale sources here")
    assert outcome("fault_locale_with_a_decimal_comma", LOCPATH=str(tmp_path)) == ["r"]
    assert outcome("guard_locale_with_a_decimal_comma", LOCPATH=str(tmp_path)) == "DurableRuleError"


# ---- what our shape can't contain: hazards 4, 5, 6, 9, 11, 14, 18, 19, 20 and all of durable.engine ----

NUMBER, TEXT = Property(ValueType.NUMBER), Property(ValueType.TEXT)
SCHEMA = {"x": {"v": NUMBER, "w": NUMBER}, "t": {"s": TEXT, "b": Property(ValueType.YES_NO)}, "o": {"v": Property(ValueType.NUMBER, True)}}


def everything() -> Definition:
    """Rules that use every test and comparison that there is, with enough of them to need groups."""
    rules = [RawRule((RawCondition("x", (Constant("v", op, i), Constant("w", Op.NE, 0.5))),)) for op in Op for i in range(20)]
    rules += [RawRule((RawCondition("x"), RawCondition("o", (Exists("v"), Join("v", op, 0, "w"), Join("v", Op.GE, 0, "v"))))) for op in Op]
    rules += [RawRule((RawCondition("t", (Constant("s", op, "$or"), Constant("b", op, True))),)) for op in (Op.EQ, Op.NE)]
    return Definition(tuple(rules), SCHEMA)


def test_a_generated_definition_holds_flat_conjunctions_of_allowed_tests_and_nothing_else() -> None:
    (layout,) = lay_out(everything())
    tree = json.loads(layout.text)
    for rule in tree.values():
        assert list(rule) == ["all"]
        for position, condition in enumerate(rule["all"]):
            assert list(condition) == [f"m{position}"]
            body = condition[f"m{position}"]
            assert list(body) == ["$and"]
            assert [is_join(test, position) for test in body["$and"]] == sorted(is_join(test, position) for test in body["$and"])
    assert list(tree)[-1] == "boot"
    assert tree["boot"] == {"all": [{"m0": {"$and": [{"boot_": 1}]}}]}


def is_join(test: dict[str, Any], position: int) -> bool:
    """Whether a test is a join (to an earlier condition); fails on anything that is neither join nor allowed constant test."""
    ((name, operand),) = test.items()
    if name.startswith("$"):
        assert name in {"$ex", *Op} - {"$eq"}
        assert isinstance(operand, dict)
        ((name, operand),) = operand.items()
    assert re.fullmatch(r"[A-Za-z]\w*", name)
    if not isinstance(operand, dict):
        assert isinstance(operand, bool | int | float | str)
        return False
    ((alias, other),) = operand.items()
    assert re.fullmatch(r"m\d+", alias)
    assert int(alias[1:]) < position
    assert re.fullmatch(r"[A-Za-z]\w*", other)
    return True


def test_every_condition_begins_with_its_bucket_and_its_kind() -> None:
    (layout,) = lay_out(everything())
    for name, rule in json.loads(layout.text).items():
        for condition in rule["all"] if name != "boot" else ():
            ((_, body),) = condition.items()
            first, second = body["$and"][:2]
            assert first == {"bucket_": durable_layout.bucket(second["kind_"])}


SAFE_CALLS = {
    *("create_ruleset", "delete_ruleset", "assert_fact", "delete_state", "error"),
    *("start_action_for_state", "complete_and_start_action", "abandon_action"),
}


def test_only_the_driver_uses_the_library_and_eight_names_of_it() -> None:
    package = Path(durable_driver.__file__).parents[1]
    importers = [
        path.name for path in package.rglob("*.py") if re.search(r"^\s*(import|from) durable(\.|_rules|\s)", path.read_text("utf-8"), re.M)
    ]
    # durable.py only asks whether it is there.
    assert sorted(importers) == ["durable.py", "durable_driver.py"]
    asking = package / "engine" / "durable.py"
    assert "durable_rules_engine." not in asking.read_text("utf-8")
    tree = ast.parse(Path(durable_driver.__file__).read_text("utf-8"))
    names = {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id == "library"}
    assert names == SAFE_CALLS


def test_16_ids_and_session_names_of_ours_never_share_a_hash() -> None:
    names = ["b", *(f"s{i}" for i in range(1000)), *(f"sid-s{i}" for i in range(1000)), *(f"f{i}" for i in range(100_000))]
    assert len({name_hash(name) for name in names}) == len(names)
    assert durable_driver.SESSION_NAMES == 1000


# ---- durable.engine's faults, looked for in our own loop ----

TWO = Definition((RawRule((RawCondition("x"),)),) * 2, SCHEMA)
ONE_FACT = {"v": 1, "w": 1}


@pytest.mark.parametrize("error", [ValueError("x"), KeyboardInterrupt(), SystemExit(3), GeneratorExit()], ids=lambda e: type(e).__name__)
def test_an_exception_of_an_action_comes_out(error: BaseException) -> None:
    def act(number: int, facts: object) -> None:
        raise error

    with Ruleset(TWO) as ruleset, ruleset.session() as session:
        session.add("x", ONE_FACT)
        with pytest.raises(type(error)) as caught:
            session.drain(act)
    assert caught.value is error


class Recorder:
    """An action that is an object, with a parameter that has a default."""

    def __init__(self) -> None:
        self.seen: list[int] = []

    def __call__(self, number: int, facts: object, times: int = 0) -> None:
        self.seen.append(number)


def test_an_action_may_be_an_object_with_default_parameters_and_starts_no_thread() -> None:
    import threading

    before, action, schema = threading.active_count(), Recorder(), dict(SCHEMA)
    definition = Definition(TWO.rules, schema)
    with Ruleset(definition) as ruleset, ruleset.session() as session:
        session.add("x", ONE_FACT)
        session.drain(action)
        assert threading.active_count() == before
    assert action.seen == [0, 1]
    assert definition == Definition(TWO.rules, SCHEMA)


def test_an_action_may_add_a_fact_that_no_rule_reads() -> None:
    after = []
    with Ruleset(TWO) as ruleset, ruleset.session() as session:

        def act(number: int, facts: object) -> None:
            session.add("t", {"s": "", "b": True})
            after.append(number)

        session.add("x", ONE_FACT)
        session.drain(act)
    assert after == [0, 1]


def test_a_clock_that_jumps_in_an_action_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our loop reads no clock; the library's own lease (30 s, renewed by no one) only locks others out of the session."""
    import time

    real, skew, seen_rules = time.time, [0.0], []
    monkeypatch.setattr(time, "time", lambda: real() + skew[0])

    def act(number: int, facts: object) -> None:
        skew[0] += 100
        seen_rules.append(number)

    with Ruleset(TWO) as ruleset, ruleset.session() as session:
        session.add("x", ONE_FACT)
        session.drain(act)
        session.add("x", {"v": 2, "w": 1})
        session.drain(act)
    assert seen_rules == [0, 1, 0, 1]


# ---- Python 3.13: a plain build of the library installs and can't be imported ----

BROKEN = "raise ImportError('durable_rules_engine.so: undefined symbol: PyEval_CallObject')\n"


@pytest.mark.parametrize(
    ("module", "works"), [("durable_raw", True), ("durable_layout", True), ("durable_probe", True), ("durable_driver", False)]
)
def test_a_library_that_cannot_be_imported_is_an_import_error_of_the_driver_alone(module: str, works: bool, tmp_path: Path) -> None:
    (tmp_path / "durable_rules_engine.py").write_text(BROKEN, "utf-8")
    path = os.pathsep.join([str(tmp_path), str(SCENARIOS.parents[2])])
    command = [sys.executable, "-c", f"import expert.engine.{module}"]
    child = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}, timeout=30)
    assert (child.returncode == 0) is works, child.stderr
    assert works or "ImportError" in child.stderr.splitlines()[-1]
