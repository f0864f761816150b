"""One scenario of test_durable_hazards.py in a process of its own: `python durable_scenarios.py NAME`.

The last line of the output is the result as JSON; no line and a signal are a result too.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import durable_engine_faults
import durable_faults
import durable_guards


def main(name: str) -> None:
    """Run the function of that name and print its result; no core is dumped."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    known = {**vars(durable_faults), **vars(durable_engine_faults), **vars(durable_guards)}
    print(json.dumps(known[name]()), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
