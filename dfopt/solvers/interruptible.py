"""Waits for a long call in another thread, so that a deadline or Ctrl-C can end the waiting."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import TypeVar

SECONDS_PER_CHECK = 0.02

PATIENCE_S = 0.5
"""Seconds that a call may take to end once it is told to; then it is left to itself."""

Value = TypeVar("Value")


def wait_for(
    call: Callable[[], Value],
    check: Callable[[], object],
    halt: Callable[[], None] | None = None,
) -> Value:
    """Return the result of ``call``, which runs in a thread of its own.

    Parameters
    ----------
    call
        The long call. It releases the interpreter's lock while it works, as the core,
        OR-Tools and imports do.
    check
        Called every few milliseconds; what it raises ends the waiting.
    halt
        Tells the call to end early. A call that cannot be told to end is left alone; it goes on in
        its thread.
    """
    values: list[Value] = []
    errors: list[BaseException] = []
    finished = threading.Event()

    def work() -> None:
        try:
            values.append(call())
        except BaseException as error:  # raised again where it is waited for
            errors.append(error)
        finally:
            finished.set()

    threading.Thread(target=work, daemon=True).start()
    try:
        # No join: an interrupt would leave a thread that runs on marked as dead.
        while not finished.wait(SECONDS_PER_CHECK):
            check()
    except BaseException:
        patience = time.monotonic() + PATIENCE_S
        # Again and again: a call that is just beginning does not hear it.
        while halt is not None and not finished.is_set() and time.monotonic() < patience:
            halt()
            finished.wait(SECONDS_PER_CHECK)
        raise
    if errors:
        raise errors[0]
    return values[0]


_loaded: set[str] = set()
"""Modules that are loaded to their end; another thread may be in the middle of others."""


def load_module(name: str, check: Callable[[], None]) -> None:
    """Import a module that takes long, such as OR-Tools, so that others find it loaded.

    An interrupt does not hit the import itself: half a module would stay behind.
    """
    if name not in _loaded:
        wait_for(partial(import_module, name), check)
        _loaded.add(name)
