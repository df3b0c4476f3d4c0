"""Waits for a long call in another thread, so that a deadline or Ctrl-C can end it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

SECONDS_PER_CHECK = 0.02

Value = TypeVar("Value")


def wait_for(
    call: Callable[[], Value], check: Callable[[], None], halt: Callable[[], None]
) -> Value:
    """Return what ``call`` returns; it runs in a thread of its own.

    The call must release the interpreter's lock while it works, as compiled functions and
    OR-Tools do.

    Parameters
    ----------
    call
        What takes long.
    check
        Called every few milliseconds; what it raises ends the waiting.
    halt
        Tells the call to end early. It is called again and again until the call has ended.
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
        while not finished.is_set():
            halt()
            finished.wait(SECONDS_PER_CHECK)
        raise
    if errors:
        raise errors[0]
    return values[0]
