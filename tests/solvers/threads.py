"""Threads that solvers start beside the main one."""

import threading
import time

from dfopt.solvers.compilation.compiled import COMPILER
from tests.patience import PATIENCE_S


def beside() -> set[threading.Thread]:
    """Return the threads at work beside the main one, but for compilers, which may stay."""
    return {
        thread
        for thread in threading.enumerate()
        if thread is not threading.main_thread() and not thread.name.startswith(COMPILER)
    }


def all_end(before: set[threading.Thread]) -> bool:
    """Return whether all threads end that were not there before."""
    patience = time.monotonic() + PATIENCE_S
    while beside() - before and time.monotonic() < patience:
        time.sleep(0.01)
    return not beside() - before
