"""Loads the machine code of local search and pricing from disk, or has it compiled.

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
from collections.abc import Callable
from contextlib import suppress

from dfopt.solvers.compilation.compiled import load, load_kept

logger = logging.getLogger(__name__)

FIRST_CALLS = (
    "dfopt.solvers.heuristics.local_search.local_search:first_calls",
    "dfopt.solvers.configuration.solve:first_calls",
)
"""The callers of the compiled functions of each method; imported when they are called."""

_lock = threading.Lock()
_is_loaded = False
_compiler: subprocess.Popen[bytes] | None = None


def is_ready(check: Callable[[], None]) -> bool:
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
    global _compiler, _is_loaded  # noqa: PLW0603 - both belong to the process
    with _lock:
        if _is_loaded:
            return True
        if _compiler is None:
            if not load_kept(first_calls, check):
                logger.debug("no machine code on disk: another process compiles it")
                _compiler = _start_compiler()
                return False
        elif _compiler.poll() is None:
            return False
        else:
            logger.debug("the compiler has ended")
            load(first_calls, check)  # compiles here what the other process could not
        _is_loaded = True
        return True


def first_calls() -> None:
    """Call every compiled function of the solvers, so that it is loaded or compiled."""
    for function in FIRST_CALLS:
        pkgutil.resolve_name(function)()


def _start_compiler() -> subprocess.Popen[bytes]:
    # A session of its own, since an interrupt from the keyboard must not end the compiler.
    return subprocess.Popen(
        [sys.executable, "-m", "dfopt.solvers.compilation.machine_code"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _compile() -> None:
    """Compile while the process that asked for it is alive."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with open(__file__, "rb") as lock:
        # One compiler at a time: a second one waits, and then finds everything on disk. Where
        # files cannot be locked, both compile.
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
        first_calls()


def _end_with_parent() -> None:
    """End this process when its standard input ends, which the parent holds open."""
    sys.stdin.buffer.read()
    os._exit(1)


if __name__ == "__main__":
    _compile()
