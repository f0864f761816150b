"""Synthetic packs for the benchmarks: R rules of one to four conditions over F facts, 60 % reading conclusions of earlier rules.

The shape follows the programs of production-rule benchmarks: thresholds on numbers, words, and chains of conclusions.
"""

from __future__ import annotations

import random
from pathlib import Path

HEAD = """\
topics: {t: {en: Topic, zh: 主题}}
"""
RULES_PER_FILE = 500


def write_pack(folder: Path, rules: int, facts: int, seed: int = 1) -> dict[str, float]:
    """Write a pack and give the plan's values for its facts."""
    rng = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pack.yaml").write_text(f"pack: synthetic\nversion: '1.0'\nrequires: []\ntitle: {{en: {rules} rules}}\n")
    names = [f"workload.x{i}" for i in range(facts)]
    derived = [f"need.y{i}" for i in range(rules)]
    lines = [HEAD, "facts:"]
    lines += [f"  {name}: {{type: number, title: {{en: given}}}}" for name in names]
    lines += [f"  {name}: {{type: number, combine: max, title: {{en: derived}}}}" for name in derived]
    (folder / "vocabulary.yaml").write_text("\n".join(lines) + "\n")
    for start in range(0, rules, RULES_PER_FILE):
        blocks = [_rule(i, names, derived, rng) for i in range(start, min(start + RULES_PER_FILE, rules))]
        (folder / f"rules-{start:05d}.yaml").write_text("rules:\n" + "\n".join(blocks) + "\n")
    return {name: float(rng.randint(0, 99)) for name in names}


def _rule(index: int, names: list[str], derived: list[str], rng: random.Random) -> str:
    conditions = [f"{rng.choice(names)} {rng.choice(['>=', '<='])} {rng.randint(0, 99)}" for _ in range(rng.randint(1, 4))]
    if index and rng.random() < 0.6:
        conditions.append(f"{derived[rng.randrange(max(0, index - 200), index)]} >= {rng.randint(0, 50)}")
    when = "\n".join(f"      - {condition}" for condition in conditions)
    return (
        f"  - id: rule-{index}\n    topic: t\n    title: {{en: Rule {index}}}\n    because: {{en: Synthetic.}}\n"
        f"    when:\n{when}\n    conclude:\n      {derived[index]}: {rng.randint(0, 99)}"
    )
