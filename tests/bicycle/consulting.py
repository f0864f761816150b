"""Consultations over the bicycle packs, for tests of explanations and reports."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from expert.advice import Advice
from expert.consult import consult
from expert.language.compiler import compile_packs
from expert.language.program import Program
from expert.plan import read_plan

ROOT = Path(__file__).resolve().parent.parent.parent
HERE = Path("tests/bicycle")


@cache
def program(*layers: str) -> Program:
    """The packs in tests/bicycle, "base" where none is named. Run it from the root, so that places read alike everywhere."""
    return compile_packs([HERE / layer for layer in layers or ("base",)])


def advice(body: str, *overrides: str, layers: tuple[str, ...] = ("base",)) -> Advice:
    """The advice for the body of a plan."""
    known = program(*layers)
    return consult(read_plan("plan: 1\n" + body, known, overrides), known)


def sample(*overrides: str) -> Advice:
    """The advice for tests/bicycle/plan.yaml with the shop's layer on top."""
    known = program("base", "shop")
    return consult(read_plan(HERE / "plan.yaml", known, overrides), known)
