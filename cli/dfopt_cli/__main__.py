"""The start of the ``dfopt`` command: while it still loads, Ctrl-C ends it without a message."""

from __future__ import annotations

import sys

from dfopt_cli.exit_codes import INTERRUPTED


def main() -> None:
    """Load the command and run it."""
    try:
        from dfopt_cli.app import app

        app()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
