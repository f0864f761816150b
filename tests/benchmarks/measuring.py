"""Measuring on a machine that others use too: CPU time, the median of several, beside a yardstick that is measured in turn with it.

CPU time alone is not enough: on a core whose sibling thread is busy the same work takes up to twice the CPU time. The
yardstick suffers as much, so a time is stated as a multiple of it, and as seconds on a quiet core of the machine of docs/benchmarks.md.
"""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable

YARDSTICK_SECONDS = 0.0059
"""What the yardstick takes on one quiet core of that machine (Xeon at 2.1 GHz, CPython 3.11)."""


def yardstick() -> float:
    """CPU seconds of a fixed piece of Python: calls, dictionaries, tuples, text."""
    start = time.process_time()
    kept: dict[tuple[int, str], int] = {}
    for i in range(12_000):
        key = (i % 977, str(i % 31))
        kept[key] = kept.get(key, 0) + _step(i)
    assert len(kept) > 900
    return time.process_time() - start


def _step(number: int) -> int:
    return number * 3 % 7 if number & 1 else len(f"{number:x}")


def seconds(call: Callable[[], object], rounds: int = 7, *, children: bool = False) -> float:
    """CPU seconds of a call as if on a quiet core: the median over some rounds, each against the yardstick before and after it.

    children: what the child processes of the call take, instead of this process.
    """
    clock = _of_children if children else time.process_time
    ratios = []
    for _ in range(rounds):
        units = [yardstick() for _ in range(3)]
        start = clock()
        call()
        taken = clock() - start
        units += [yardstick() for _ in range(3)]
        ratios.append(taken / statistics.median(units))
    return statistics.median(ratios) * YARDSTICK_SECONDS


def _of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
