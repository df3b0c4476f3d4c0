"""Tasks with execution times that arrive one by one: batches, and how long they take (Theorem 5).

A CPU pays a setup for each of its fragments, the first one included. The order on a CPU is chosen
at the end. The makespan counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dfopt_models.errors import ModelError

RESERVED = 3
"""An open batch counts as three setups: its own, and work of less than two."""

RATIO = 6
"""The makespan is at most six times the best one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPlacement:
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
        if alone or fragment not in batches:
            where = min(range(cpus), key=lambda other: (counted[other], other))
            counted[where] += setup + time if alone else RESERVED * setup
            if not alone:
                batches[fragment] = (where, 0)
        else:
            where = batches[fragment][0]
        cpu.append(where)
        if not alone:
            work = batches[fragment][1] + time
            batches[fragment] = (where, work)
            if work >= setup:
                counted[where] += setup + work - RESERVED * setup
                del batches[fragment]
    return BatchPlacement(
        cpu=tuple(cpu), counted=tuple(counted), real=tuple(real_loads(tasks, cpu, cpus, setup))
    )


def real_loads(
    tasks: Sequence[tuple[int, int]], cpu: Sequence[int], cpus: int, setup: int
) -> list[int]:
    """Return the setups and execution times of each CPU."""
    held: list[set[int]] = [set() for _ in range(cpus)]
    loads = [0] * cpus
    for (fragment, time), where in zip(tasks, cpu, strict=True):
        held[where].add(fragment)
        loads[where] += time
    return [load + setup * len(fragments) for load, fragments in zip(loads, held, strict=True)]


def makespan_at_least(tasks: Sequence[tuple[int, int]], cpus: int, setup: int) -> int:
    """Return a makespan that no placement falls below: the even share, or the longest task."""
    if not tasks:
        return 0
    fragments = {fragment for fragment, _ in tasks}
    total = sum(time for _, time in tasks) + setup * len(fragments)
    return max(-(-total // cpus), setup + max(time for _, time in tasks))
