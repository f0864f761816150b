"""The order of facts and decisions, bodies, and the cycles that are refused."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

from expert.language.compiler import compile_packs
from expert.language.cycles import knots, shortest_cycle
from expert.language.program import Program
from expert.language.strata import close
from tests.language.smallpacks import VOCABULARY, compile_text, mistakes, rule, write_pack

COST = rule("cost-follows-load", "conclude: {estimate.cost: estimate.load * 2}")
LOAD = rule("load-follows-gpus", "conclude: {estimate.load: design.gpus + 1}")
SIZING = "  - id: sizing\n    assigns: {design.gpus: [8, 64]}\n    cost: estimate.cost\n    within: 25 %\n"
FABRIC = "  - id: fabric\n    assigns: {design.fabric: [roce, ib]}\n"


def place(program: Program, name: str) -> int:
    """The step in which a fact is finished or a decision taken."""
    return next(step.stratum for step in program.schedule if name == step.decision or name in step.facts)


def test_a_fact_comes_after_what_it_reads(tmp_path: Path) -> None:
    rules = rule("rate-follows-steps", "conclude: {need.rate: workload.steps * 2}") + rule(
        "load-follows-rate", "conclude: {estimate.load: need.rate}"
    )
    program = compile_text(tmp_path, f"rules:\n{rules}")
    assert place(program, "workload.steps") == 0
    assert place(program, "workload.steps") < place(program, "need.rate") < place(program, "estimate.load")
    assert program.dependencies["estimate.load"] == {"need.rate", "workload.steps"}
    assert program.dependencies["rule:load-follows-rate"] == {"need.rate", "workload.steps"}


def test_every_fact_stands_in_one_step(tmp_path: Path) -> None:
    program = compile_text(tmp_path, f"rules:\n{COST}{LOAD}decisions:\n{SIZING}{FABRIC}")
    listed = [fact for step in program.schedule for fact in step.facts]
    assert sorted(listed) == sorted(program.facts)


def test_a_default_waits_for_what_it_reads(tmp_path: Path) -> None:
    facts = "facts:\n  site.a: {type: number, default: workload.steps + 1}\n  site.b: {type: number, default: site.a}\n"
    program = compile_text(tmp_path, facts)
    assert place(program, "workload.steps") < place(program, "site.a") < place(program, "site.b")


def test_a_stated_value_is_no_dependency(tmp_path: Path) -> None:
    rules = rule("load-follows-cost", "conclude: {estimate.load: plan.estimate.cost}") + COST
    program = compile_text(tmp_path, f"rules:\n{rules}")
    assert program.dependencies["estimate.load"] == frozenset()


def test_cost_that_reads_its_decision_is_its_body(tmp_path: Path) -> None:
    limit = rule("load-is-bounded", "require: {design.gpus: estimate.load < 50}")
    program = compile_text(tmp_path, f"rules:\n{COST}{LOAD}{limit}decisions:\n{SIZING}")
    assert program.bodies == {"sizing": ("estimate.load", "estimate.cost")}  # in evaluation order, not by name
    assert program.tests_of == {"": (), "sizing": ("load-is-bounded",)}
    assert program.deciders == {"design.gpus": "sizing"}
    assert place(program, "sizing") < place(program, "estimate.load") < place(program, "estimate.cost")
    assert program.dependencies["design.gpus"] == frozenset()  # a decided fact is a leaf


def test_what_no_test_reads_is_not_in_the_body(tmp_path: Path) -> None:
    extra = rule("rate-follows-gpus", "conclude: {need.rate: design.gpus}")
    program = compile_text(tmp_path, f"rules:\n{COST}{LOAD}{extra}decisions:\n{SIZING}")
    assert "need.rate" not in program.bodies["sizing"]
    assert place(program, "need.rate") > place(program, "sizing")


def test_a_test_belongs_to_the_last_decision_whatever_it_blames(tmp_path: Path) -> None:
    test = rule("many-gpus-need-infiniband", "require: {design.gpus: design.fabric == ib}", "design.gpus > 32")
    plain = rule("urgent-is-refused", "require: {workload.urgent: not workload.urgent}")
    fabric = FABRIC + "    after: [sizing]\n"
    program = compile_text(tmp_path, f"rules:\n{test}{plain}{COST}{LOAD}decisions:\n{fabric}{SIZING}")
    assert program.tests_of == {"": ("urgent-is-refused",), "fabric": ("many-gpus-need-infiniband",), "sizing": ()}
    assert place(program, "sizing") < place(program, "fabric")


def test_needs_order_decisions(tmp_path: Path) -> None:
    test = rule("many-gpus-need-infiniband", "require: {design.fabric: design.fabric == ib}", "design.gpus > 32")
    fabric = FABRIC + "    needs: [estimate.load]\n"
    program = compile_text(tmp_path, f"rules:\n{test}{LOAD}{COST}decisions:\n{fabric}{SIZING}")
    assert program.tests_of["fabric"] == ("many-gpus-need-infiniband",)
    assert place(program, "sizing") < place(program, "estimate.load") < place(program, "fabric")


def test_two_decisions_that_wait_for_one_another_are_refused(tmp_path: Path) -> None:
    fabric = FABRIC + "    needs: [design.gpus]\n"
    sizing = SIZING + "    needs: [design.fabric]\n"
    (found,) = mistakes(tmp_path, f"rules:\n{COST}{LOAD}decisions:\n{fabric}{sizing}")
    assert found.code == "rule-cycle"
    assert found.message.en == "the decisions wait for one another: fabric → sizing → fabric"
    assert found.help.en.split("\n")[1:] == [
        "fabric reads design.gpus, assigned by sizing",
        "sizing reads design.fabric, assigned by fabric",
    ]


def test_a_cycle_of_three_facts_is_printed_whole(tmp_path: Path) -> None:
    rules = (
        COST
        + rule("load-follows-rate", "conclude: {estimate.load: need.rate}")
        + rule("rate-follows-cost", "conclude: {need.rate: estimate.cost}")
    )
    (found,) = mistakes(tmp_path, f"rules:\n{rules}")
    assert found.message.en == "'estimate.cost' depends on itself: estimate.cost → estimate.load → need.rate → estimate.cost"


def test_a_fact_that_reads_itself_is_a_cycle(tmp_path: Path) -> None:
    (found,) = mistakes(tmp_path, "rules:\n" + rule("load-grows", "conclude: {estimate.load: estimate.load + 1}"))
    assert found.code == "rule-cycle"
    assert found.message.en == "'estimate.load' depends on itself: estimate.load → estimate.load"


def test_order_does_not_depend_on_the_order_of_the_files(tmp_path: Path) -> None:
    test = rule("load-is-bounded", "require: {design.gpus: estimate.load < 50}")
    rules = [COST, LOAD, test, rule("rate-follows-steps", "conclude: {need.rate: workload.steps * 2}")]
    shuffler = random.Random(7)
    seen = set()
    for number in range(4):
        shuffler.shuffle(rules)
        parent = tmp_path / f"{number}"
        parent.mkdir()
        folder = write_pack(parent, "base", rules="rules:\n" + "".join(rules), vocabulary=VOCABULARY, z=f"decisions:\n{SIZING}")
        program = compile_packs([folder])
        seen.add((program.schedule, tuple(program.tests_of.items()), tuple(program.bodies.items())))
    assert len(seen) == 1


def _random_graph(shuffler: random.Random) -> dict[str, dict[str, str]]:
    names = [f"n{number}" for number in range(shuffler.randint(1, 9))]
    return {name: {other: "" for other in names if shuffler.random() < 0.18} for name in names}


def _reachable(graph: dict[str, dict[str, str]], start: str) -> set[str]:
    """Brute force: names at the end of some path of one or more edges."""
    found: set[str] = set()
    for _ in graph:
        found |= {target for source in (found | {start}) for target in graph[source]}
    return found


def test_knots_are_the_sets_of_names_that_reach_one_another() -> None:
    shuffler = random.Random(11)
    for _ in range(300):
        graph = _random_graph(shuffler)
        reach = {name: _reachable(graph, name) for name in graph}
        expected = {tuple(sorted(b for b in reach[a] if a in reach[b])) for a in graph if a in reach[a]}
        assert set(knots(graph)) == expected
        assert close(graph) == reach
        for knot in knots(graph):
            cycle = shortest_cycle(graph, knot)
            ring = cycle if len(cycle) > 1 else (*cycle, *cycle)
            assert ring[0] == ring[-1]
            assert all(target in graph[source] for source, target in pairwise(ring))
