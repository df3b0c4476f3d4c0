"""How much a look-ahead of K tasks is worth: a theorem, a policy and two null models.

A task may start only while fewer than K earlier ones wait. So a policy chooses among the first K
tasks that have not started. Every change of fragment on a CPU costs 1; the first fragment of a CPU
is free.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from dfopt_models.errors import ModelError


def round_robin(tasks: int, fragments: int) -> list[int]:
    """Return the fragments of tasks that use them in turn."""
    return [task % fragments for task in range(tasks)]


def changes_at_least(tasks: int, fragments: int, cpus: int, look_ahead: int) -> int:
    """Return a number of changes that no policy falls below on tasks in round robin (Theorem 2).

    Parameters
    ----------
    tasks, fragments, cpus
        How many there are.
    look_ahead
        A task starts only while fewer than this number of earlier ones wait.

    Raises
    ------
    ModelError
        When a number is below 1.
    """
    _check(tasks=tasks, fragments=fragments, cpus=cpus, look_ahead=look_ahead)
    each = 2 * look_ahead // fragments
    if not each:
        return 0
    untouched = (look_ahead - 1) // each
    return tasks // (3 * look_ahead) * max(0, fragments - untouched - cpus)


def look_ahead_law(tasks: int, fragments: int, cpus: int, look_ahead: int) -> float:
    """Return about how many changes :func:`serve_fullest` makes on tasks in round robin.

    This is a rule of thumb for ``look_ahead >= fragments``, no bound.
    """
    _check(tasks=tasks, fragments=fragments, cpus=cpus, look_ahead=look_ahead)
    return tasks * (fragments - cpus) / (2 * look_ahead)


def serve_fullest(sequence: Sequence[int], cpus: int, look_ahead: int) -> int:
    """Return the changes of a policy: keep to a fragment while it has tasks, then take the fullest.

    CPUs take turns. One whose fragment has a task among those that may start runs the oldest of
    them. Otherwise it takes the fragment that has most of them, and no other CPU; among equals the
    one whose oldest task is the oldest. If other CPUs have all, it does nothing.

    Parameters
    ----------
    sequence
        The fragment of each task, in the order of arrival.
    cpus, look_ahead
        The number of CPUs, and that of tasks among which the policy chooses.
    """
    _check(cpus=cpus, look_ahead=look_ahead)
    waiting: dict[int, deque[int]] = {}
    holds: list[int | None] = [None] * cpus
    arrived = min(look_ahead, len(sequence))
    for task in range(arrived):
        waiting.setdefault(sequence[task], deque()).append(task)
    changes = started = turn = 0
    while started < len(sequence):
        cpu = turn % cpus
        turn += 1
        if holds[cpu] not in waiting:
            taken = {other for other in holds if other is not None}
            free = [fragment for fragment in waiting if fragment not in taken]
            if not free:
                continue
            changes += holds[cpu] is not None
            holds[cpu] = max(free, key=lambda one: (len(waiting[one]), -waiting[one][0]))
        fragment = holds[cpu]
        assert fragment is not None
        waiting[fragment].popleft()
        if not waiting[fragment]:
            del waiting[fragment]
        started += 1
        if arrived < len(sequence):
            waiting.setdefault(sequence[arrived], deque()).append(arrived)
            arrived += 1
    return changes


def mean_distinct(sequence: Sequence[int], length: int) -> float:
    """Return the mean number of different fragments in windows of a length, one after the other."""
    _check(tasks=len(sequence), length=length)
    starts = range(0, len(sequence), length)
    return sum(len(set(sequence[start : start + length])) for start in starts) / len(starts)


def expected_distinct(counts: Iterable[int], length: int) -> float:
    """Return the same for dispatches that are drawn independently, with the same frequencies.

    Parameters
    ----------
    counts
        The number of dispatches of each fragment.
    length
        That of the windows.
    """
    counts = list(counts)
    total = sum(counts)
    _check(tasks=total, length=length)
    return sum(1 - (1 - count / total) ** length for count in counts)


def _check(**numbers: int) -> None:
    for name, number in numbers.items():
        if number < 1:
            raise ModelError("must be at least 1", place=name)
