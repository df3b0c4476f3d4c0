"""The cheapest CPUs for given starts, found by trying them all."""

from collections.abc import Iterator

import numpy as np

from dfopt.compare.dispatches import Dispatches
from dfopt.compare.paid import cost_of


def cheapest_placement(arrivals: Dispatches) -> int:
    """Return the least cost of all placements that keep the recorded starts."""
    return min(
        cost_of(arrivals.moved(np.array(cpu, np.int32), arrivals.start))
        for cpu in _placements(arrivals, arrivals.start.tolist(), [])
    )


def _placements(arrivals: Dispatches, start: list[int], cpus: list[int]) -> Iterator[list[int]]:
    dispatch = len(cpus)
    if dispatch == len(start):
        yield cpus
        return
    begins = start[dispatch]
    ends = begins + int(arrivals.length[dispatch])
    blocks = arrivals.fixed
    for cpu in range(arrivals.cpus):
        taken = [
            (start[other], start[other] + int(arrivals.length[other]))
            for other in range(dispatch)
            if cpus[other] == cpu
        ]
        own = blocks.cpu == cpu
        taken += zip(blocks.start[own].tolist(), blocks.end[own].tolist(), strict=True)
        if not any(before < ends and begins < after for before, after in taken):
            yield from _placements(arrivals, start, [*cpus, cpu])
