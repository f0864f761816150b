"""durable_rules without our guards, straight to the C module: each `fault_*` returns what came of it, if it gets that far."""

from __future__ import annotations

import json
import locale
import resource
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import durable_rules_engine as library

from expert.engine.durable_raw import DurableError

BOOT = {"all": [{"m0": {"$and": [{"boot_": 1}]}}]}


def compiled(rules: Mapping[str, Any]) -> int:
    handle: int = library.create_ruleset("scenario", json.dumps({**rules, "boot": BOOT}))
    return handle


def opened(handle: int, sid: str = "s") -> int:
    _, offset = library.assert_fact(handle, json.dumps({"boot_": 1, "id": "b", "sid": sid}))
    drained(handle, offset)
    return int(offset)


def drained(handle: int, offset: int) -> list[tuple[str, Any]]:
    fired = []
    started = library.start_action_for_state(handle, offset)
    text = started and started[1]
    while text:
        fired += json.loads(text).items()
        text = library.complete_and_start_action(handle, offset)
    return [(name, match) for name, match in fired if name != "boot"]


def put(handle: int, sid: str = "s", **fact: Any) -> Any:
    try:
        return library.assert_fact(handle, json.dumps({**fact, "sid": sid}))[0]
    except library.error as problem:
        return str(problem)[-3:]


def fired(rules: Mapping[str, Any], *facts: Mapping[str, Any]) -> list[str]:
    """Names of the rules that fire on the facts, in order, and the answers to the facts that were not plainly accepted."""
    handle = compiled(rules)
    offset = opened(handle)
    answers = [put(handle, **fact) for fact in facts]
    return [name for name, _ in drained(handle, offset)] + [answer for answer in answers if isinstance(answer, str)]


def every(*conditions: Any) -> dict[str, Any]:
    return {"all": [{f"m{i}": condition} for i, condition in enumerate(conditions)]}


def both(*tests: Any) -> dict[str, Any]:
    return {"$and": list(tests)}


def fault_join_scans_past_its_node() -> str:
    for pad in (0, 5, 40, 100, 150, 200):
        rules = {"boot": {"all": [{"m0": {"boot_": 1}}]}, **{f"p{i}": every({f"a{i}": 1}) for i in range(pad)}}
        rules["join"] = every({"k": 1}, both({"kind": "x"}, {"$gte": {"v": {"m0": "v"}}}))
        handle = library.create_ruleset("scenario", json.dumps(rules))
        for number in range(20):
            sid = f"s{number}"
            opened(handle, sid)
            put(handle, sid, k=1, v=10)
            put(handle, sid, kind="x", v=1)
            library.delete_state(handle, sid)
    return "survived"


def fault_delete_state_before_any_action() -> str:
    handle = library.create_ruleset("scenario", json.dumps({"r": every({"k": "a"}, {"k": "b"})}))
    del [bytearray(b"\xff" * size) for size in range(64, 60_000, 64)][:]
    for number in range(50):
        put(handle, f"s{number}", k="a")
    for number in range(50):
        library.delete_state(handle, f"s{number}")
    return "survived"


def fault_512_tests_after_one_prefix() -> list[str]:
    return fired({f"r{i}": every(both({"attr": f"a{i}"}, {"$gte": {"v": 1}})) for i in range(512)}, {"attr": "a1", "v": 1})


def fault_division_by_zero() -> list[str]:
    division = {"$div": {"$l": {"m0": "v"}, "$r": {"m0": "w"}}}
    rule = every({"k": "a"}, both({"attr": "x"}, {"$gte": {"v": division}}))
    return fired({"r": rule}, {"k": "a", "v": 1, "w": 0}, {"attr": "x", "v": 1})


def fault_not_deletes_the_match_of_another_rule() -> list[str]:
    rules = {"a": {"all": [{"c0": {"k": "x"}}, {"n0$not": {"k": "y"}}]}, "b": {"all": [{"c0": {"k": "x"}}]}}
    names = {slot: next(f"c{i}" for i in range(999) if fnv(f"c{i}") % 16 == slot) for slot in range(16)}
    results = [fired(json.loads(json.dumps(rules).replace("c0", names[slot])), {"k": "x"}, {"k": "y"}) for slot in names]
    return min(results, key=len)


def fnv(text: str) -> int:
    value = 0x811C9DC5
    for byte in text.encode():
        value = ((value ^ byte) * 16777619) % 2**32
    return value


def fault_retraction_kills_another_match() -> list[int]:
    handle = compiled({"r": every({"k": "a"})})
    offset = opened(handle)
    put(handle, k="a", i=1)
    matches = drained(handle, offset)
    put(handle, k="a", i=2)
    library.retract_fact(handle, '{"k":"a","i":1,"sid":"s"}')
    return [match["m0"]["i"] for _, match in matches + drained(handle, offset)]


def attribute(name: str, test: Any) -> dict[str, Any]:
    return every(both({"attr": name}, test))


def fault_256_ends_run_into_the_next_list() -> bool:
    rules = {"r0": attribute("x", {"$gte": {"v": 1}}), "other": attribute("x", {"$gte": {"v": 2}})}
    rules |= {f"r{i}": attribute("x", {"$gte": {"v": 1}}) for i in range(1, 256)}
    return "other" in fired(rules, {"attr": "x", "v": 1})


def fault_65_true_tests_lose_the_fact() -> list[str]:
    return fired({f"r{i}": attribute("x", {"$gte": {"v": i}}) for i in range(65)}, {"attr": "x", "v": 99})


def fault_65_joins_lose_the_fact() -> list[str]:
    rules = {f"r{i}": every(both({"attr": "need"}), both({"kind": "gpu"}, {"$gte": {"mem": {"m0": "v"}}})) for i in range(65)}
    return fired(rules, {"attr": "need", "v": 10}, {"kind": "gpu", "mem": 80})


def fault_or_switches_the_join_off() -> list[str]:
    second = both({"attr": "x"}, {"$or": [{"t": 1}, {"t": 2}]}, {"v": {"m0": "v"}})
    return fired({"r": every({"k": 1}, second)}, {"k": 1, "v": 5}, {"attr": "x", "t": 1, "v": 6})


def fault_nested_and_switches_the_join_off() -> list[str]:
    second = both(both({"attr": "x"}, {"t": 1}), {"v": {"m0": "v"}})
    return fired({"r": every({"k": 1}, second)}, {"k": 1, "v": 5}, {"attr": "x", "t": 1, "v": 6})


def two_joins(right: str) -> dict[str, Any]:
    return {
        "first": every(both({"k": 2}), both({"attr": "x"}, {"$gte": {"v": {"m0": "w"}}})),
        "second": every(both({"k": 1}), both({"attr": "x"}, {"$lt": {"v": {"m0": right}}})),
    }


def fault_join_on_a_missing_property() -> list[str]:
    return fired(two_joins("v"), {"k": 1}, {"k": 2, "w": 1}, {"attr": "x", "v": 5})


def fault_join_on_a_list() -> list[str]:
    return fired(two_joins("v"), {"k": 1, "v": [1]}, {"k": 2, "w": 1}, {"attr": "x", "v": 5})


def fault_same_message_test_on_a_missing_property() -> bool:
    results = []
    for op in ("$lt", "$gt", "$neq"):
        rules = {"p": attribute("y", {"$gte": {"v": 0}}), "r": attribute("x", {op: {"v": {"$m": "n"}}})}
        results.append(fired(rules, {"attr": "y", "v": 1}, {"attr": "x", "v": 1}))
    return any("r" in result for result in results)


def fault_1025_sessions() -> str:
    handle = compiled({"r": every({"k": 1})})
    for number in range(1025):
        try:
            opened(handle, f"s{number}")
        except MemoryError:
            break
    else:
        return "no limit"
    for number in range(10):
        library.delete_state(handle, f"s{number}")
    opened(handle, "s1024")
    return "survived"


def fault_drain_after_delete() -> str:
    handle = compiled({"r": every({"k": "a"})})
    offset = opened(handle)
    library.delete_state(handle, "s")
    drained(handle, offset)
    return "survived"


def fault_wrong_offset() -> str:
    drained(compiled({"r": every({"k": "a"})}), 5_000_000)
    return "survived"


def fault_batch_of_one_empty_fact() -> str:
    library.assert_facts(compiled({"r": every({"a": 1})}), "[{}]")
    return "survived"


def fault_batch_drops_the_rest() -> int:
    handle = compiled({"r": every({"a": 1})})
    offset = opened(handle)
    library.assert_facts(handle, '[{"a":1,"i":1,"sid":"s"},{"a":1,"i":1e-07,"sid":"s"},{"a":1,"i":3,"sid":"s"}]')
    return len(drained(handle, offset))


def fault_session_name_of_10_mb() -> str:
    opened(compiled({"r": every({"a": 1})}), "s" * (10 << 20))
    return "survived"


def fault_id_of_10_mb() -> str:
    handle = compiled({"r": every({"a": 1})})
    opened(handle)
    put(handle, a=1, id="s" * (10 << 20))
    return "survived"


COLLIDING = ("p8cfce3ac", "pb9fa0f35")  # FNV-1a-32 of both is the same


def fault_property_names_with_one_hash() -> list[str]:
    return fired({"r": every({COLLIDING[0]: 1})}, {COLLIDING[1]: 1})


def fault_ids_with_one_hash() -> list[Any]:
    handle = compiled({"r": every({"a": 1})})
    opened(handle)
    return [put(handle, a=1, id="u8ffe1a6b"), put(handle, a=1, id="ud9e3aa13")]


def fault_session_names_with_one_hash() -> list[str]:
    handle = compiled({"r": every({"k": 1}, {"k": 2})})
    offset = opened(handle, "u8ffe1a6b")
    put(handle, "u8ffe1a6b", k=1)
    put(handle, "ud9e3aa13", k=2)
    return [name for name, _ in drained(handle, offset)]


def fault_id_is_the_identity_of_the_fact() -> list[Any]:
    handle = compiled({"g": every({"kind": "gpu"}), "c": every({"kind": "cpu"})})
    opened(handle)
    return [put(handle, kind="gpu", id="h100"), put(handle, kind="cpu", id="h100")]


def fault_id_2_and_text_2() -> list[Any]:
    handle = compiled({"g": every({"kind": "gpu"})})
    opened(handle)
    return [put(handle, kind="gpu", id=2), put(handle, kind="gpu", id="2")]


def fault_nex_alone_matches_the_state() -> int:
    handle = library.create_ruleset("scenario", json.dumps({"r": every({"$nex": {"v": 1}})}))
    put(handle, a=1)
    steps = 0
    text = library.start_action_for_state(handle, 1)
    while text and steps < 1000:
        library.update_state(handle, '{"sid":"s","id":"sid-s","$s":1}')
        text = library.complete_and_start_action(handle, 1)
        steps += 1
    return steps


def fault_any_fires_once_per_subset() -> int:
    return len(fired({"r": {"any": [{f"m{i}": {"k": k}} for i, k in enumerate("abc")]}}, *({"k": k} for k in "abc")))


def fault_long_pattern() -> str:
    compiled({"r": every({"$mt": {"v": "(a|b|c|d)*" * 200}})})
    return "survived"


def fault_failed_compile_leaks() -> float:
    rules = json.dumps({f"r{i}": attribute("x", {"$gte": {"v": 1}}) for i in range(300)})
    return grown(lambda: library.create_ruleset("scenario", rules))


def grown(attempt: Callable[[], object]) -> float:
    """MB that 100 refused attempts take."""
    before = resident()
    for _ in range(100):
        try:
            attempt()
        except (library.error, DurableError):
            continue
        raise AssertionError("not refused")
    return resident() - before


def resident() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20


def fault_locale_with_a_decimal_comma() -> list[str]:
    locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
    return fired({"r": every(both({"$gte": {"v": 0.5}}))}, {"v": 0.25})


# values (section 4 of what was measured)


def equals(value: Any, constant: Any) -> bool:
    return "r" in fired({"r": attribute("x", {"v": constant})}, {"attr": "x", "v": value})


def fault_text_equals_a_number() -> list[bool]:
    return [equals("64", 64), equals("6", 64)]


def fault_long_text_equals_a_short_one() -> bool:
    return equals("a" * 65_537, "a")


def fault_order_of_texts() -> bool:
    return "r" in fired({"r": attribute("x", {"$gt": {"v": "a!"}})}, {"attr": "x", "v": "a"})


def fault_nan_is_null() -> list[str]:
    return fired({"r": attribute("x", {"v": None})}, {"attr": "x", "v": float("nan")})


def fault_exponent_without_a_point() -> list[str]:
    return fired({"r": attribute("x", {"$gt": {"v": 0}})}, {"attr": "x", "v": 1e-7})


def fault_large_integers_are_one() -> list[bool]:
    return [equals(2**53 + 1, 2.0**53), equals(2**64, 2**63 - 1)]


def fault_64_does_not_join_64_0() -> list[str]:
    rules = {"r": every(both({"k": 1}), both({"attr": "x"}, {"v": {"m0": "v"}}))}
    return fired(rules, {"k": 1, "v": 64}, {"attr": "x", "v": 64.0})


def fault_leaving_an_action_locks_the_session() -> int:
    handle = compiled({"r": every({"k": "a"})})
    offset = opened(handle)
    put(handle, k="a")
    library.start_action_for_state(handle, offset)
    put(handle, k="a", z=1)
    return len(drained(handle, offset))
