"""The equations of batches of threads, each written once.

They take plain numbers or SymPy symbols: the other modules give them numbers, and the
documentation prints what they return for symbols.
"""

from __future__ import annotations

from typing import Any


def footprint(own_lines: Any, granularity: Any, integers_of_a_line: Any) -> Any:
    """Return how many lines a thread touches in a pass: its own, and those of its integers."""
    return own_lines + granularity / integers_of_a_line


def switching(switch: Any, batch_switch: Any, dispatches: Any) -> Any:
    """Return the time to switch to the next thread, with its share of switching batches."""
    return switch + batch_switch / dispatches


def computing(switch: Any, granularity: Any, increment: Any, creation: Any, length: Any) -> Any:
    """Return what a dispatch takes without misses: b.

    Its switch, its increments, and its share of making the thread.
    """
    return switch + granularity * increment + creation / length


def reading(
    own_lines: Any, miss: Any, granularity: Any, integers_of_a_line: Any, next_line: Any
) -> Any:
    """Return what a thread takes to read all of its footprint: m.

    Its own lines lie anywhere; those of its integers follow each other.
    """
    return own_lines * miss + granularity / integers_of_a_line * next_line


def gain(computing: Any, reading: Any, passes: Any) -> Any:
    """Return how many times as fast threads run if they read once in ``passes`` passes."""
    return (computing + reading) / (computing + reading / passes)


def flat(own_lines: Any, miss: Any, integers_of_a_line: Any, increment: Any, switch: Any) -> Any:
    """Return the time to read a successive line at which granularity changes nothing.

    m/b is then the same at any granularity. The time to make a process is left out, as if
    processes never ended.
    """
    return integers_of_a_line * own_lines * miss * increment / switch


def rotation(threads: Any, batch: Any, turn: Any) -> Any:
    """Return the time in which each batch has one turn."""
    return threads / batch * turn
