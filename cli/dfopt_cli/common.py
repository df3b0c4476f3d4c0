"""What the commands share: options that mean the same everywhere, and how they print."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dfopt.errors import DfoptError, FileError

if TYPE_CHECKING:
    from rich.console import Console

InstanceArgument = Annotated[
    str,
    typer.Argument(
        metavar="INSTANCE",
        help="The instance, a JSON file; it may be gzipped, and - is standard input.",
        show_default=False,
    ),
]

ResultArgument = Annotated[
    str,
    typer.Argument(
        metavar="RESULT",
        help="The result, a JSON file as 'dfopt solve -o' writes it.",
        show_default=False,
    ),
]

JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON document and nothing else.")
]

QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]


@contextmanager
def naming(file: str) -> Iterator[None]:
    """Give every :class:`DfoptError` raised within that names no file yet the name ``file``."""
    try:
        yield
    except DfoptError as error:
        raise error if error.file else error.in_file(file) from None


def print_text(text: str) -> None:
    """Write ``text`` to standard output at once.

    Raises
    ------
    FileError
        When standard output cannot take it, because the disk is full for example. A reader that
        has gone away (``| head``) raises BrokenPipeError instead and ends the command quietly.
    """
    try:
        typer.echo(text, nl=False)
    except BrokenPipeError:
        raise
    except OSError as error:
        # What is still buffered must not fail a second time when Python shuts down.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise FileError(error.strerror or str(error), file="standard output") from error


def print_json(document: Any) -> None:
    """Print one JSON document to standard output, readable for people as well."""
    print_text(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def print_rich(*renderables: object) -> None:
    """Print tables and the like to standard output, in colour on a terminal only."""
    from rich.console import Console

    console = Console(highlight=False)
    with console.capture() as captured:
        console.print(*renderables, sep="\n")
    print_text(captured.get())


def stderr_console() -> Console:
    """Return the console for diagnostics and progress."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def shows_progress(quiet: bool) -> bool:
    """Whether to show progress: on a terminal, unless ``quiet``."""
    return not quiet and sys.stderr.isatty()
