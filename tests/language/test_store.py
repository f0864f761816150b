"""The cache: what comes out is what went in, and nothing in the folder can do harm."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from expert.language import store
from expert.language.codec import CodecError, Encoder, decode
from expert.language.compiler import compile_packs
from expert.language.program import Program
from expert.language.store import content_key, load_program
from tests.language.smallpacks import VOCABULARY, rule, write_pack

CONTENT = """
tables:
  cards:
    columns: {memory: GiB, tags: list, ready: yes-no, note: text}
    rows:
      alpha: {memory: 40..80, tags: [a, b], ready: true, note: {en: Old, zh: 旧}}
      beta: {memory: {unknown: No data sheet}, ready: false}
constants: {pace: {value: 30 min, basis: judgement}}
"""
EXAMPLE = "examples: [{given: {design.gpus: 2}, expect: {estimate.load: 4}}]"
RULES = "rules:\n" + rule("slow-is-warned", "warn: {severity: info, message: 'It takes {workload.steps}'}", "workload.steps > 10")
RULES += rule("load-follows-gpus", "conclude: {estimate.load: 2 * design.gpus}", more=EXAMPLE)
DECISIONS = "decisions:\n  - id: sizing\n    assigns: {design.gpus: 1..4}\n    cost: estimate.load\n    within: 25 %\n"


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    return write_pack(tmp_path, "base", vocabulary=VOCABULARY, content=CONTENT, rules=RULES, decisions=DECISIONS)


def same(one: Program, other: Program) -> bool:
    """Equality field by field; claims and sources may be mappings of another class."""
    lazy = ("claims", "sources")
    return all(getattr(one, f.name) == getattr(other, f.name) for f in fields(one) if f.name not in lazy) and all(
        dict(getattr(one, name)) == dict(getattr(other, name)) for name in lazy
    )


def test_a_cached_program_is_the_same(pack: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    fresh = load_program([pack], cache_dir=cache)
    cached = load_program([pack], cache_dir=cache)
    assert cached is not fresh
    assert same(cached, fresh)
    assert same(cached, compile_packs([pack]))
    assert cached.units.parse("GB/s") == fresh.units.parse("GB/s")


def test_the_second_start_does_not_compile(pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load_program([pack], cache_dir=tmp_path / "cache")
    monkeypatch.setattr(store, "_compile", lambda *ignored: pytest.fail("compiled again"))
    assert "T-001" in load_program([pack], cache_dir=tmp_path / "cache").claims


def test_a_cached_start_imports_neither_yaml_nor_the_parser(pack: Path, tmp_path: Path) -> None:
    load_program([pack], cache_dir=tmp_path / "cache")
    code = (
        "import sys; from pathlib import Path; from expert.language.store import load_program\n"
        f"p = load_program([Path({str(pack)!r})], cache_dir=Path({str(tmp_path / 'cache')!r}))\n"
        "print(sorted(p.rules), [m for m in ('yaml', 'pydantic', 'expert.yamldoc', 'expert.language.parser') if m in sys.modules])"
    )
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout == "['load-follows-gpus', 'slow-is-warned'] []\n"


def test_the_key_follows_content_names_and_what_is_left_out(pack: Path) -> None:
    first = content_key([pack], frozenset())
    assert first == content_key([pack], frozenset())
    assert first != content_key([pack], frozenset({"errata"}))
    (pack / "more.yaml").write_text("constants: {}\n")
    second = content_key([pack], frozenset())
    (pack / "more.yaml").rename(pack / "other.yaml")
    assert len({first, second, content_key([pack], frozenset())}) == 3


def test_a_changed_pack_is_compiled_again(pack: Path, tmp_path: Path) -> None:
    load_program([pack], cache_dir=tmp_path / "cache")
    (pack / "content.yaml").write_text(CONTENT.replace("30 min", "40 min"))
    assert load_program([pack], cache_dir=tmp_path / "cache").constants["pace"].value.low == 2400.0


def _forged(cache: Path, change: dict[str, object]) -> None:
    """Rewrite every file of the cache with a right digest and wrong content."""
    for path in cache.glob("*.json"):
        whole = json.loads(path.read_bytes().partition(b"\n")[2]) | change
        content = json.dumps(whole).encode()
        path.write_bytes(hashlib.sha256(content).hexdigest().encode() + b"\n" + content)


@pytest.mark.parametrize(
    "change",
    [
        {"expert": 999},
        {"key": "another"},
        {"table": {}},
        {"table": []},
        {"table": {"scalars": [], "objects": [], "containers": [], "values": {}}},
        {"units": None},
        {"table": {"scalars": [], "objects": [[10**15]] * 41, "containers": [], "values": {}}},
    ],
)
def test_a_foreign_cache_is_ignored(pack: Path, tmp_path: Path, change: dict[str, object]) -> None:
    fresh = load_program([pack], cache_dir=tmp_path / "cache")
    _forged(tmp_path / "cache", change)
    assert same(load_program([pack], cache_dir=tmp_path / "cache"), fresh)


@pytest.mark.parametrize("keep", [0, 10, 64, 66, 500])
def test_a_cut_off_cache_is_ignored(pack: Path, tmp_path: Path, keep: int) -> None:
    fresh = load_program([pack], cache_dir=tmp_path / "cache")
    for path in (tmp_path / "cache").glob("*.json"):
        path.write_bytes(path.read_bytes()[:keep])
    assert same(load_program([pack], cache_dir=tmp_path / "cache"), fresh)


def test_lost_claims_are_compiled_again(pack: Path, tmp_path: Path) -> None:
    load_program([pack], cache_dir=tmp_path / "cache")
    program = load_program([pack], cache_dir=tmp_path / "cache")
    for path in (tmp_path / "cache").glob("*.later.json"):
        path.unlink()
    assert list(program.claims) == ["T-001"]


def test_a_folder_that_cannot_be_written_is_no_error(pack: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert load_program([pack], cache_dir=tmp_path / "file" / "cache").rules


def test_old_entries_make_room(pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_KEPT", 2)
    for number in range(5):
        (pack / "content.yaml").write_text(CONTENT.replace("30 min", f"{number + 1} min"))
        load_program([pack], cache_dir=tmp_path / "cache")
    assert len(list((tmp_path / "cache").iterdir())) == 4


def test_equal_parts_are_stored_once() -> None:
    encoder = Encoder()
    table = encoder.table({"a": encoder.refer(("x", ("x", 1))), "b": encoder.refer(("x", 1))})
    assert table["scalars"] == ["x", 1]
    assert len(table["containers"]) == 2
    assert decode(json.loads(json.dumps(table))) == {"a": ("x", ("x", 1)), "b": ("x", 1)}


def test_true_one_and_one_point_nought_stay_apart() -> None:
    encoder = Encoder()
    value = (True, 1, 1.0, None, "1", frozenset({"b", "a"}), {"k": [False, 0]})
    back = decode(json.loads(json.dumps(encoder.table({"v": encoder.refer(value)}))))["v"]
    assert [type(part) for part in back] == [type(part) for part in value]
    assert back == value
    assert type(back[6]["k"][0]) is bool


def test_what_has_no_place_in_a_program_is_refused() -> None:
    with pytest.raises(CodecError, match="cannot be stored"):
        Encoder().refer((Path("x"),))
