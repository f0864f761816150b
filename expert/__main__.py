"""The `expert` command: `expert ...` or `python -m expert ...`."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line and return its exit code; the CLI is imported here so that importing this module costs nothing."""
    from expert.cli.main import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
