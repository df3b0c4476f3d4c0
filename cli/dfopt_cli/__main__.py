"""Where the ``dfopt`` command begins: Ctrl-C ends it without a word while it is still loading."""

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
