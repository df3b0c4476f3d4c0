"""The most value that one CPU can hold under g, from the number of its visits alone.

A CPU pays T_r + T_w for each visit. So a threshold limits the number of fragments that it visits,
and of each it holds at most k tasks. That neglects that all its tasks together are no more than k,
but where it is enough for a proof, instances of any size can be checked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from heapq import nlargest

from dfopt.problem.cache_state import CacheState, InitialState
from dfopt.problem.instance import Instance
from dfopt.problem.penalties import PenaltyG


def most_by_visits(
    instance: Instance, weights: Sequence[int], threshold: int | None
) -> list[int] | None:
    """Return for each CPU a value that no order within ``threshold`` exceeds.

    Parameters
    ----------
    instance
        Any instance.
    weights
        Of each entry of ``instance.tasks``; charges, which are not negative, only take away.
    threshold
        The most that an order may cost.

    Returns
    -------
    list of int or None
        None where visits do not limit what a CPU can hold.
    """
    penalty = instance.penalty
    if threshold is None or not isinstance(penalty, PenaltyG):
        return None
    visit = penalty.fill + penalty.write_back
    if not visit:
        return None
    alike: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for task, weight in zip(instance.tasks, weights, strict=True):
        alike[task.df or ""][weight] += task.multiplicity
    capacity = instance.tasks_per_cpu
    values = sorted((_largest(counts, capacity) for counts in alike.values()), reverse=True)

    def most(state: InitialState) -> int:
        if isinstance(state, CacheState):
            spared = state.df in alike
        else:
            spared = state == "unknown" or not instance.cold_start
        return sum(values[: threshold // visit + spared])

    by_state = {state: most(state) for state in set(instance.initial_states)}
    return [by_state[state] for state in instance.initial_states]


def _largest(counts: dict[int, int], wanted: int) -> int:
    """Return the largest value of ``wanted`` tasks, given how many there are of each weight."""
    value = 0
    for weight in nlargest(len(counts), counts):
        if weight <= 0:
            break
        taken = min(wanted, counts[weight])
        value += weight * taken
        wanted -= taken
    return value
