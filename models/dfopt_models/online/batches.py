"""Tasks with execution times that arrive one by one: batches, and how long they take (Theorem 5).

A CPU pays a setup for each of its fragments, the first one included. The order on a CPU is chosen
at the end. The makespan counts.
"""

from __future__ import annotations

from collections.abc import Sequence

from dfopt.structs import Record
from dfopt_models.errors import ModelError

RESERVED = 3
"""An open batch counts as three setups: its own, and work of less than two."""

RATIO = 6
"""The makespan is at most six times the best one."""


class BatchPlacement(Record):
    """Where tasks were put.

    Parameters
    ----------
    cpu
        Of each task.
    counted
        The load of each CPU as the policy counts it.
    real
        The setups and execution times of each CPU.
    """

    cpu: tuple[int, ...]
    counted: tuple[int, ...]
    real: tuple[int, ...]


def place_in_batches(tasks: Sequence[tuple[int, int]], cpus: int, setup: int) -> BatchPlacement:
    """Return where the policy of Theorem 5 puts tasks.

    A task that takes at least as long as a setup goes alone to the CPU of least counted load.
    Another one goes to the open batch of its fragment. A batch is opened on the CPU of least
    counted load, where it counts as three setups; it closes when it has the work of one.

    Parameters
    ----------
    tasks
        Fragment and execution time of each, in the order of arrival.
    cpus, setup
        The number of CPUs, and what a setup takes.

    Raises
    ------
    ModelError
        When a number is impossible.
    """
    if cpus < 1:
        raise ModelError("must be at least 1", place="cpus")
    if setup < 0 or any(time < 0 for _, time in tasks):
        raise ModelError("must be at least 0", place="setup" if setup < 0 else "tasks")
    counted, cpu = [0] * cpus, []
    batches: dict[int, tuple[int, int]] = {}  # CPU and work of each fragment's open batch
    for fragment, time in tasks:
        alone = time >= setup
        where, work = batches.get(fragment, (-1, 0))
        if alone or where < 0:
            where = min(range(cpus), key=lambda other: (counted[other], other))
            counted[where] += setup + time if alone else RESERVED * setup
        cpu.append(where)
        if alone:
            continue
        batches[fragment] = where, work + time
        if work + time >= setup:
            counted[where] += setup + work + time - RESERVED * setup
            del batches[fragment]
    return BatchPlacement(
        cpu=tuple(cpu), counted=tuple(counted), real=tuple(real_loads(tasks, cpu, cpus, setup))
    )


def real_loads(
    tasks: Sequence[tuple[int, int]], cpu: Sequence[int], cpus: int, setup: int
) -> list[int]:
    """Return the setups and execution times of each CPU."""
    loads = [0] * cpus
    for (_, time), where in zip(tasks, cpu, strict=True):
        loads[where] += time
    for where, _ in {(where, fragment) for (fragment, _), where in zip(tasks, cpu, strict=True)}:
        loads[where] += setup
    return loads


def makespan_at_least(tasks: Sequence[tuple[int, int]], cpus: int, setup: int) -> int:
    """Return a makespan that no placement falls below: the even share, or the longest task."""
    if not tasks:
        return 0
    fragments = {fragment for fragment, _ in tasks}
    total = sum(time for _, time in tasks) + setup * len(fragments)
    return max(-(-total // cpus), setup + max(time for _, time in tasks))
