"""Sequences that are hard for online policies, as a trace and as an instance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dfopt.checks import check_integer
from dfopt.errors import InstanceError
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyG
from dfopt.trace.trace import Numbering, Trace, TraceHeader
from dfopt_models.online.balanced import BalancedAdversary
from dfopt_models.online.look_ahead import round_robin

RUN_NS = 1_000
"""A dispatch runs for 1,000 ns times the number of CPUs, so that one starts every 1,000 ns."""

MOST_DISPATCHES = 10_000_000


def round_robin_trace(*, dispatches: int, fragments: int, cpus: int) -> Trace:
    """Return a trace in which threads run in turn, each with a fragment of its own.

    Parameters
    ----------
    dispatches, fragments, cpus
        How many there are; no fewer fragments than CPUs. With one fragment more than CPUs it is
        the sequence of Theorem 1 that is hardest without look-ahead; with many, that of Theorem 2.

    Raises
    ------
    InstanceError
        When a number is impossible; its place is the parameter's name.
    """
    for name, count in (("dispatches", dispatches), ("fragments", fragments), ("cpus", cpus)):
        check_integer(count, name, least=1)
    if dispatches > MOST_DISPATCHES:
        raise InstanceError(
            f"{dispatches} are too many; at most {MOST_DISPATCHES}", place="dispatches"
        )
    if fragments < cpus:
        raise InstanceError(
            f"{fragments} threads cannot keep {cpus} CPUs busy; give at least {cpus}",
            place="fragments",
        )
    names, threads = Numbering(), Numbering()
    for number in range(fragments):
        names[f"DF{number + 1}"], threads[f"t{number + 1}"]  # numbers both
    rank = np.arange(dispatches)
    used = np.array(round_robin(dispatches, fragments), np.int32)
    return Trace(
        cpus=cpus,
        cpu=(rank % cpus).astype(np.int32),
        start=rank * RUN_NS,
        end=(rank + cpus) * RUN_NS,
        task=used,
        fragment=used,
        tasks=threads.tasks,
        fragments=names.names,
        header=TraceHeader(name="round-robin", time_unit="ns"),
    )


def balanced_instance(adversary: BalancedAdversary, cpus: int) -> Instance:
    """Return the instance of an adversary; its tasks stand in the order of arrival.

    A fragment costs 1 on each CPU that visits it, the first one of a CPU included, and no CPU runs
    more than an even share.
    """
    return Instance(
        cpus=cpus,
        capacity=len(adversary.fragments) // cpus,
        objective=Objective.MAX_PENALTY,
        cold_start=True,
        penalty=PenaltyG(fill=1, write_back=0),
        name="adversary-balance",
        tasks=tuple(
            Task(id=f"t{task + 1}", df=f"DF{fragment + 1}")
            for task, fragment in enumerate(adversary.fragments)
        ),
    )


def orders_of(fragments: Sequence[int], cpu: Sequence[int], cpus: int) -> list[list[str]]:
    """Return for each CPU the names of its tasks, fragment by fragment."""
    tasks = sorted(range(len(fragments)), key=lambda task: (cpu[task], fragments[task], task))
    return [[f"t{task + 1}" for task in tasks if cpu[task] == number] for number in range(cpus)]
