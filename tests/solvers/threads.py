"""Threads that solvers start beside the main one."""

import threading
import time

from tests.patience import PATIENCE_S


def beside() -> set[threading.Thread]:
    """Return the threads at work beside the main one."""
    return set(threading.enumerate()) - {threading.main_thread()}


def all_end(before: set[threading.Thread]) -> bool:
    """Return whether all threads end that were not there before."""
    patience = time.monotonic() + PATIENCE_S
    while beside() - before and time.monotonic() < patience:
        time.sleep(0.01)
    return not beside() - before
