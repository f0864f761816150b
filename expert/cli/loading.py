"""From the options of a command to packs, an engine, a plan and its advice."""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path
from typing import cast

from expert.advice import Advice
from expert.cli.streams import complain
from expert.consult import consult
from expert.engine.firing import Engine, ReferenceEngine
from expert.errors import EXIT_NO_DESIGN, EXIT_OK, ExpertError, Text, fail
from expert.language.program import Program
from expert.language.store import load_program
from expert.places import cache_dir
from expert.plan import Plan, read_plan

_DURABLE = "expert.engine.durable"


def program_of(options: argparse.Namespace) -> Program:
    """The compiled packs that settled options name."""
    try:
        return load_program(options.layers, without=frozenset(options.without), cache_dir=cache_dir())
    except ExpertError as error:
        raise options.settings.placed(error) from None


def engine_of(wanted: str | None, lang: str) -> Engine:
    """The engine of record: durable where it can be imported, else reference and one line on standard error.

    Errors: ExpertError "engine-missing" where durable is asked for by name and cannot be had.
    """
    if wanted == "reference":
        return ReferenceEngine()
    engine = _durable()
    if engine is not None:
        return engine
    if wanted == "durable":
        help = Text("leave --engine out, or use --engine reference", "请去掉 --engine，或使用 --engine reference")
        raise fail("engine-missing", Text("durable_rules cannot be imported here", "此处无法导入 durable_rules"), help=help)
    said = Text("durable_rules cannot be imported: the reference engine answers", "无法导入 durable_rules，由参考引擎作答")
    complain(said.of(lang))
    return ReferenceEngine()


def _durable() -> Engine | None:
    """The durable engine, None where the adapter or the library's compiled part cannot be imported."""
    try:
        # Through its name: only the adapter knows durable_rules. It loads the library when it fires, which is too late to say so.
        adapter = import_module(_DURABLE)
    except ImportError:
        return None
    return cast(Engine, adapter.DurableEngine()) if adapter.durable_available() else None


def plan_of(options: argparse.Namespace, program: Program) -> Plan:
    """The plan file, or standard input for "-", with --set applied."""
    source: Path | str = "-" if options.plan == "-" else Path(options.plan)
    return read_plan(source, program, options.overrides)


def advice_of(options: argparse.Namespace, lang: str) -> Advice:
    """Load, read and consult, as the options say."""
    engine = engine_of(options.engine, lang)
    program = program_of(options)
    return consult(plan_of(options, program), program, engine)


def exit_code(advice: Advice, recommending: bool) -> int:
    """3 outside what the packs know, and for a recommendation where nothing satisfies what the plan fixed; else 0."""
    if advice.outside or (recommending and advice.verdict == "infeasible"):
        return EXIT_NO_DESIGN
    return EXIT_OK
