"""Says why the first command after an installation takes so long: it compiles its loops."""

from __future__ import annotations

import functools
import time

from dfopt.parallel.notices import notify

LONG_S = 3.0
"""Seconds after which a user who waits is told that something is compiled."""

COMPILING = "compiling loops to machine code, once after an installation: up to a minute"


@functools.cache
def watch_compiler() -> None:
    """Let a notice be given when this process has compiled for some seconds."""
    from numba.core import event

    class Watch(event.Listener):
        """Adds up the time; numba compiles one function at a time, and what it calls within."""

        def __init__(self) -> None:
            self.depth, self.since, self.spent_s = 0, 0.0, 0.0
            self.is_told = False

        def on_start(self, event: object) -> None:
            if not self.depth:
                self.since = time.monotonic()
            self.depth += 1
            self.tell()

        def on_end(self, event: object) -> None:
            if not self.depth:  # another listener did not let it begin
                return
            self.tell()
            self.depth -= 1
            if not self.depth:
                self.spent_s += time.monotonic() - self.since

        def tell(self) -> None:
            if not self.is_told and self.spent_s + time.monotonic() - self.since >= LONG_S:
                self.is_told = True
                notify(COMPILING)

    event.register("numba:compile", Watch())  # type: ignore[no-untyped-call]
