"""States of threads in ``sched_switch``, by letters or as a number."""

from __future__ import annotations

_ENDED_LETTERS = frozenset(b"XZx")
"""Dead or a zombie (x: on kernels before 4.14): such a thread never runs again."""

_ENDED_BITS = 0x70
"""The same in a number: X and Z, which changed places once, and x.

Newer kernels say with 0x40 that a per-CPU thread of their own is parked. That is far rarer than
the end of a thread, and does no harm but to give that thread a second life.
"""


def has_ended(state: bytes) -> bool:
    """Whether a thread that is switched from in this state will never run again."""
    try:
        number = int(state, 0)
    except ValueError:
        return not _ENDED_LETTERS.isdisjoint(state)
    return number & _ENDED_BITS != 0
