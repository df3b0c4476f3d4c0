"""Printing, and checks of the files to write.

Results go to standard output, everything else to standard error.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from dfopt.errors import FileError
from dfopt.files import check_writable, document_text
from dfopt.render import printable, terminal_text
from dfopt.table import Table, Value

if TYPE_CHECKING:
    from matplotlib.axes import Axes


USUAL_WIDTH, LEAST_WIDTH = 80, 40
"""Characters in a line of a terminal that reports 0, and in the narrowest line."""


OPTIONS = {
    name: f"--{name.replace('_', '-')}"
    for name in (
        "arrival", "capacity", "cpu", "cpus", "duration", "duration_unit", "end", "fill",
        "leaves", "lines", "load_included", "objective", "penalty", "queued", "read_line",
        "resume", "start", "time_limit", "time_unit", "unmanaged", "where",
        "workers", "write_back",
    )
} | {"instance": "--model", "labels": "--df", "windows": "--window"}  # fmt: skip
"""The options for the parameters that the messages of the library name."""

PARAMETER = re.compile(rf"`({'|'.join(OPTIONS)})(?:=([\w.-]+))?`")


def with_options(message: str) -> str:
    """Return a message of the library with its parameters as options.

    Examples
    --------
    >>> with_options("take fewer workers (`workers=1`)")
    'take fewer workers (--workers 1)'
    """
    return PARAMETER.sub(
        lambda found: " ".join(filter(None, (OPTIONS[found[1]], found[2]))), message
    )


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
    """Print tables to standard output, with an empty line between them.

    They are in colour on a terminal only, and name options where the library names parameters.
    """
    from rich.console import Console

    terminal = Console()
    shown = [
        replace(
            table,
            rows=[[_with_options(value) for value in row] for row in table.rows],
            notes=list(map(with_options, table.notes)),
        )
        for table in tables
    ]
    width = max(terminal.width or USUAL_WIDTH, LEAST_WIDTH)
    print_text(terminal_text(shown, width=width, in_colour=terminal.is_terminal) + "\n")


def _with_options(value: Value) -> Value:
    return with_options(value) if type(value) is str else value


def refuse_overwriting(output: str, *inputs: str | None) -> None:
    """Refuse to write over what the command reads.

    Raises
    ------
    FileError
        When ``output`` is one of ``inputs``, under any name.
    """
    for given in inputs:
        # If a file is missing, its reader says so.
        if given in (None, "-") or not (os.path.exists(output) and os.path.exists(given)):
            continue
        if os.path.samefile(output, given):
            raise FileError("is what is read from; name another file to write to", file=output)


def check_output(output: str | None, *inputs: str | None) -> None:
    """Refuse a file to write to, if there is one, that the command reads or that cannot be written.

    Raises
    ------
    FileError
        When it is one of ``inputs``, or cannot be written.
    """
    if output is not None:
        refuse_overwriting(output, *inputs)
        check_writable(output)


def save_drawn(draw: Callable[[], Axes], output: str, *inputs: str) -> None:
    """Write the picture that a function draws; refuse its file before the work begins.

    Raises
    ------
    FileError
        When the name of the file tells no format of pictures, or as :func:`check_output` does.
    """
    from dfopt.plot import check_picture_name, save_picture

    check_picture_name(output)
    check_output(output, *inputs)
    save_picture(draw(), output)


def output_folder(name: str | None) -> Path | None:
    """Return the folder for what is written; it is made if it is not there.

    Raises
    ------
    FileError
        When there is no such folder and none can be made.
    """
    if name is None:
        return None
    if not name:
        raise FileError("is no folder to write to; name one", file="''")
    folder = Path(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise FileError(f"is no folder to write to ({reason}); name another", file=name) from None
    return folder
