"""Errors, warnings and signals, as the terminal shows them."""

from __future__ import annotations

import signal
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NoReturn, Self, TypeVar

from typer import BadParameter, Exit

from dfopt.errors import DfoptError, DfoptWarning
from dfopt.files import storage
from dfopt.files.storage import NO_SUCH_FILE, shown_name
from dfopt_cli.completion import kinds_of
from dfopt_cli.exit_codes import FAILED
from dfopt_cli.printing import say, with_options

Value = TypeVar("Value")

python_showwarning = warnings.showwarning


def fail(error: DfoptError) -> NoReturn:
    """Say in one line what is wrong, and end with exit code 1."""
    said = with_options(str(error))
    if NO_SUCH_FILE in error.problem:
        from dfopt.files.formats import described

        said += "".join(f"; {error.file} is {described(kind)}" for kind in kinds_of(error.file))
    say(f"dfopt: {said}")
    raise Exit(FAILED)


def usage(read: Callable[[], Value], hint: str | None = None) -> Value:
    """Return what ``read`` gives; its errors are wrong usage of the command line."""
    try:
        return read()
    except DfoptError as error:
        raise BadParameter(with_options(error.problem), param_hint=hint) from None


@contextmanager
def naming(file: str) -> Iterator[None]:
    """Let every :class:`DfoptError` and :class:`DfoptWarning` raised within name ``file``.

    Errors that name a file already keep it.
    """
    with warnings_of(shown_name(file)), storage.naming(file):
        yield


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


class Interruptions:
    """Ctrl-C and SIGTERM, which batch systems and ``timeout`` send: both raise KeyboardInterrupt.

    Packages that are being loaded may turn that into another error, so it is noted as well.
    """

    def __init__(self) -> None:
        self.came = False
        self._held = False

    def __enter__(self) -> Self:
        """Note the signals from now on, unless they are ignored."""
        self.came, self._before = False, {}
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
                    self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the signals to who had them before."""
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, *_: object) -> None:
        waits, self._held, self.came = self._held, False, True
        if not waits:
            raise KeyboardInterrupt

    @contextmanager
    def held(self) -> Iterator[None]:
        """Let a signal wait for what takes moments, and then pass; a second one does not wait."""
        self._held = True
        try:
            yield
        finally:
            self._held = False


interruptions = Interruptions()
