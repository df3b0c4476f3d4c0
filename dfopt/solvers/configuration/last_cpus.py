"""The last CPUs of a dive, filled by local search.

A dive leaves some CPUs empty where the LP of what is left has no solution in integers. These CPUs
and the tasks left for them are an instance of their own. It is small, so that local search is far
better at it than at the whole instance, and the dive has chosen it such that the LP allows it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import chain

from dfopt.problem.instance import Instance
from dfopt.solvers.configuration.contents import Column, orders_of
from dfopt.solvers.configuration.pricing_data import PricingData
from dfopt.solvers.heuristics.local_search import LocalSearch
from dfopt.solvers.search import Search, SearchOver
from dfopt.structs import replace

MOVES_PER_CPU = 100_000
"""A walk has 100,000 moves for each CPU, which take about 0.03 seconds."""

WALKS = 2
"""At most 2 walks fill the same CPUs."""


def fill_last_cpus(
    search: Search,
    data: PricingData,
    fixed: Sequence[Column],
    limit: int,
    check: Callable[[], None],
) -> None:
    """Look for a schedule in which some CPUs hold given contents; report it if there is one.

    Parameters
    ----------
    search
        Where the schedule is reported if it is better than the best one.
    data
        The instance as arrays.
    fixed
        The contents of some CPUs.
    limit
        The most that any other CPU may cost; under total-penalty, all others together.
    check
        Called every few milliseconds; may end the search by an exception.
    """
    if search.instance.has_sizes:
        return
    orders = orders_of(data, fixed)
    cpus = [cpu for cpu, order in enumerate(orders) if not order]
    used = Counter(chain.from_iterable(orders))
    left = [task_type.count - used[number] for number, task_type in enumerate(search.types)]
    if not any(left):
        search.found(orders)
        return
    part = Search(_instance_of(search, cpus, left), seed=search.seed, is_part=True)

    def is_over() -> bool:
        check()
        return False

    with suppress(SearchOver):  # raised where the part costs nothing
        walk = LocalSearch(part, seed=len(search.history))
        for _ in range(WALKS):
            if walk.run(limit, MOVES_PER_CPU * len(cpus), is_over):
                break
    check()
    assert part.schedule is not None
    for cpu, there in zip(cpus, part.schedule.cpus, strict=True):
        orders[cpu] = [int(name.partition("#")[0]) for name in there.tasks]
    search.found(orders)
    check()


def _instance_of(search: Search, cpus: Sequence[int], left: Sequence[int]) -> Instance:
    """Return the instance of some CPUs and some tasks; its tasks are named by their types.

    Parameters
    ----------
    search
        Of the whole instance.
    cpus
        The CPUs.
    left
        The number of tasks of each type.
    """
    whole = search.instance
    tasks = tuple(
        replace(task_type.example, id=str(number), count=count, size=1)
        for number, (task_type, count) in enumerate(zip(search.types, left, strict=True))
        if count
    )
    initial = tuple(whole.initial[cpu] for cpu in cpus) if whole.initial else ()
    return replace(whole, cpus=len(cpus), tasks=tasks, capacity=whole.room, initial=initial)
