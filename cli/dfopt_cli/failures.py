"""Errors, warnings and signals, as the terminal shows them."""

from __future__ import annotations

import re
import signal
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NoReturn, TypeVar

import typer

from dfopt.errors import DfoptError, DfoptWarning
from dfopt.files.streams import NO_SUCH_FILE, shown_name
from dfopt_cli.completion import kinds_of
from dfopt_cli.exit_codes import FAILED
from dfopt_cli.printing import say

Value = TypeVar("Value")

OPTIONS = {
    name: f"--{name.replace('_', '-')}"
    for name in (
        "arrival", "capacity", "cpu", "cpus", "duration", "duration_unit", "end", "fill",
        "leaves", "lines", "load_included", "objective", "penalty", "queued", "read_line",
        "resume", "scheduler", "start", "time_unit", "unmanaged", "where", "workers",
        "write_back",
    )
} | {"instance": "--model", "labels": "--df", "windows": "--window"}  # fmt: skip
"""The options for the parameters that the messages of the library name."""

PARAMETER = re.compile(rf"`({'|'.join(OPTIONS)})(?:=([\w.-]+))?`")

python_showwarning = warnings.showwarning


def fail(error: DfoptError) -> NoReturn:
    """Say in one line what is wrong, and end with exit code 1."""
    said = with_options(str(error))
    if NO_SUCH_FILE in error.problem:
        from dfopt.files.formats import described

        said += "".join(f"; {error.file} is {described(kind)}" for kind in kinds_of(error.file))
    say(f"dfopt: {said}")
    raise typer.Exit(FAILED)


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


def usage(read: Callable[[], Value], hint: str | None = None) -> Value:
    """Return what ``read`` gives; its errors are wrong usage of the command line."""
    try:
        return read()
    except DfoptError as error:
        raise typer.BadParameter(with_options(error.problem), param_hint=hint) from None


def parsed(parse: Callable[[str], Value], text: str | None, hint: str) -> Value | None:
    """Return the value of an option that is a text; None where it is not given."""
    return None if text is None else usage(lambda: parse(text), hint)


@contextmanager
def naming(file: str) -> Iterator[None]:
    """Let every :class:`DfoptError` and :class:`DfoptWarning` raised within name ``file``.

    Errors that name a file already keep it.
    """
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
        said = with_options(" ".join(str(message).splitlines()))
        say(f"dfopt: {source}: warning: {said}")
    else:
        python_showwarning(message, category, *where, **more)


@contextmanager
def termination_as_interrupt() -> Iterator[None]:
    """Let SIGTERM, which batch systems and ``timeout`` send, end a search as Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
