"""The `expert` command: `expert ...` or `python -m expert ...`."""

from __future__ import annotations

import gc
import sys

YOUNG_OBJECTS = 50_000


def main() -> int:
    """Run the command line and return its exit code; the CLI is imported here so that importing this module costs nothing."""
    # A command makes objects that stay until it ends; looking for garbage after every 700 of them took a tenth of its time.
    gc.set_threshold(YOUNG_OBJECTS)
    from expert.cli.main import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
