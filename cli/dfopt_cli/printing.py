"""Printing: results go to standard output, everything else to standard error."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from typing import Any

import typer

from dfopt.errors import FileError
from dfopt.files import document_text
from dfopt.render import TerminalTable, printable
from dfopt.table import Table

USUAL_WIDTH, LEAST_WIDTH = 80, 40
"""Characters in a line of a terminal that reports 0, and in the narrowest line."""


def say(text: str) -> None:
    """Write a line to standard error, above a live line if there is one.

    It may hold names of files, and so any character. Typer's ``echo`` would write to the file
    behind the live line, and so into the middle of that line.
    """
    if sys.stderr is not None:
        print(printable(text), file=sys.stderr, flush=True)


def print_text(text: str) -> None:
    """Write ``text`` to standard output at once.

    Raises
    ------
    FileError
        When standard output cannot take it, because the disk is full for example. A reader that
        has gone away (``| head``) raises BrokenPipeError instead and ends the command quietly.
    """
    if sys.stdout is None:
        raise FileError("is closed; leave it open, or send it to a file", file="standard output")
    try:
        typer.echo(text, nl=False)
    except BrokenPipeError:
        raise
    except OSError as error:
        # The rest of the buffer must not fail a second time when Python shuts down.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise FileError(error.strerror or str(error), file="standard output") from error


def print_json(document: dict[str, Any]) -> None:
    """Print one JSON document to standard output, laid out as in files."""
    print_text(document_text(document))


def print_tables(tables: Sequence[Table]) -> None:
    """Print tables to standard output, with an empty line between them."""
    shown = [part for table in tables for part in ("", TerminalTable(table))]
    print_rich(*shown[1:])


def print_rich(*renderables: object) -> None:
    """Print tables and the like to standard output, in colour on a terminal only."""
    from rich.console import Console

    terminal = Console()
    drawn = io.StringIO()
    Console(
        file=drawn,
        width=max(terminal.width or USUAL_WIDTH, LEAST_WIDTH),
        force_terminal=terminal.is_terminal,
        # Brackets and colons in a name are part of the name.
        highlight=False,
        markup=False,
        emoji=False,
    ).print(*renderables, sep="\n", crop=False)
    print_text("\n".join(line.rstrip() for line in drawn.getvalue().split("\n")))
