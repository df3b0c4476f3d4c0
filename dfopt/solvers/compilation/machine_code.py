"""Loads the machine code of the solvers from disk, or has it compiled.

The first solve after an installation finds nothing on disk. It does not wait: a process beside it
compiles, and what that has finished is kept even if the solve ends before it. Run as a program,
this module is that process.
"""

from __future__ import annotations

import fcntl
import logging
import os
import pkgutil
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress

from dfopt.solvers.compilation.compiled import load, load_kept

logger = logging.getLogger(__name__)


class MachineCode:
    """The machine code of some functions: not there yet, being compiled beside, or loaded.

    Parameters
    ----------
    callers
        Functions that call all of them once, as "module:function"; imported when they are called.
    """

    def __init__(self, *callers: str) -> None:
        self._callers = callers
        self._lock = threading.Lock()
        self._is_loaded = False
        self._compiler: subprocess.Popen[bytes] | None = None

    def is_ready(self, check: Callable[[], None]) -> bool:
        """Load the machine code if it is there; otherwise let another process compile it.

        Parameters
        ----------
        check
            Called every few milliseconds while it is loaded, which takes some tenths of a second;
            what it raises ends that.

        Returns
        -------
        bool
            Whether it is loaded.
        """
        with self._lock:
            if self._is_loaded:
                return True
            if self._compiler is None:
                if not load_kept(self.first_calls, check):
                    logger.debug("no machine code on disk: another process compiles it")
                    self._compiler = start_compiler(self._callers)
                    return False
            elif self._compiler.poll() is None:
                return False
            else:
                logger.debug("the compiler has ended")
                load(self.first_calls, check)  # compiles here what the other process could not
            self._is_loaded = True
            return True

    def first_calls(self) -> None:
        """Call every function once, so that it is loaded or compiled."""
        for caller in self._callers:
            pkgutil.resolve_name(caller)()


def start_compiler(callers: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start a process that calls functions, and so compiles what they call."""
    # A session of its own, since an interrupt from the keyboard must not end the compiler.
    return subprocess.Popen(
        [sys.executable, "-m", "dfopt.solvers.compilation.machine_code", *callers],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _compile(callers: Sequence[str]) -> None:
    """Compile while the process that asked for it is alive."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with open(__file__, "rb") as lock:
        # One compiler at a time: a second one waits, and then finds everything on disk. Where
        # files cannot be locked, both compile.
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
        MachineCode(*callers).first_calls()


def _end_with_parent() -> None:
    """End this process when its standard input ends, which the parent holds open."""
    sys.stdin.buffer.read()
    os._exit(1)


if __name__ == "__main__":
    _compile(sys.argv[1:])
