"""``python -m sestra`` is ``sestra``."""

from __future__ import annotations

import sys


def run() -> int:
    """The command, with an end that is quiet however early it is interrupted."""
    try:
        from sestra.cli import main

        return main()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(run())
