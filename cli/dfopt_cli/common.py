"""What the commands share: options that mean the same everywhere, and how they print."""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dfopt.errors import DfoptError, DfoptWarning, FileError

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

OutputOption = Annotated[
    str,
    typer.Option("--output", "-o", metavar="FILE", help="Where to write it.", show_default=False),
]

JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON document and nothing else.")
]

QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]


def refuse_overwriting(output: str, *inputs: str) -> None:
    """Refuse to write over what the command reads.

    Raises
    ------
    FileError
        When ``output`` is one of ``inputs``, under whatever name.
    """
    for given in inputs:
        # What is missing is for its reader to say.
        if given == "-" or not (os.path.exists(output) and os.path.exists(given)):
            continue
        if os.path.samefile(output, given):
            raise FileError("is what is read from; name another file to write to", file=output)


def printable(name: object) -> str:
    """Return a name from a file as it is safe to show on a terminal, on one line."""
    text = str(name)
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return shown or "''"


python_showwarning = warnings.showwarning

USUAL_WIDTH, LEAST_WIDTH = 80, 40
"""Of a terminal, in characters: where it says 0, and below which no words are broken."""


@contextmanager
def naming(file: str) -> Iterator[None]:
    """Let every :class:`DfoptError` and :class:`DfoptWarning` raised within name ``file``.

    Errors that name a file already keep it.
    """
    from dfopt.files.streams import shown_name

    shown = shown_name(file)
    with warnings_of(shown):
        try:
            yield
        except DfoptError as error:
            raise error if error.file else error.in_file(shown) from None


@contextmanager
def warnings_of(source: str) -> Iterator[None]:
    """Show every :class:`DfoptWarning` raised within in one line that begins with ``source``."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", DfoptWarning)
        warnings.showwarning = partial(show_warning, source)
        yield


def show_warning(
    source: str, message: Warning | str, category: type[Warning], *where: Any, **more: Any
) -> None:
    """Show our own warnings in one line, and those of other packages as Python does."""
    if issubclass(category, DfoptWarning):
        said = " ".join(str(message).splitlines())
        say(f"dfopt: {source}: warning: {said}")
    else:
        python_showwarning(message, category, *where, **more)


def say(text: str) -> None:
    """Write a line to standard error, above a live line if there is one.

    Names of files are part of it, and may hold anything. Not Typer's ``echo``: it would find the
    file behind the live line and write into its midst.
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
        # What is still buffered must not fail a second time when Python shuts down.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise FileError(error.strerror or str(error), file="standard output") from error


def print_json(document: dict[str, Any]) -> None:
    """Print one JSON document to standard output, laid out as in files."""
    from dfopt.files import document_text

    print_text(document_text(document))


def print_rich(*renderables: object) -> None:
    """Print tables and the like to standard output, in colour on a terminal only."""
    from rich.console import Console

    terminal = Console()
    drawn = io.StringIO()
    Console(
        file=drawn,
        width=max(terminal.width or USUAL_WIDTH, LEAST_WIDTH),
        force_terminal=terminal.is_terminal,
        # Names in files are names, whatever brackets and colons they hold.
        highlight=False,
        markup=False,
        emoji=False,
    ).print(*renderables, sep="\n", crop=False)
    print_text("\n".join(line.rstrip() for line in drawn.getvalue().split("\n")))


def stderr_console() -> Console:
    """Return the console for diagnostics and progress."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def shows_progress(quiet: bool) -> bool:
    """Whether to show progress: on a terminal, unless ``quiet``."""
    return not quiet and sys.stderr.isatty()
