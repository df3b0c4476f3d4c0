"""The most value that one CPU can hold under g, from the number of its visits alone.

A CPU pays T_r + T_w for each visit. So a threshold limits the number of fragments that it visits
(without one, each has to be worth that), and of each it holds at most what fits. That neglects
that all its tasks together must fit, but where it is enough for a proof, instances of any size can
be checked.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

from dfopt.problem.cache_state import CacheState, InitialState
from dfopt.problem.instance import Instance
from dfopt.problem.penalties import PenaltyG
from dfopt.verify.prices import OrderPrices


def most_by_visits(
    instance: Instance, prices: OrderPrices, threshold: int | None
) -> list[int] | None:
    """Return for each CPU a value that no order within ``threshold`` exceeds.

    Parameters
    ----------
    instance
        Any instance.
    prices
        What adds to the value; charges that are not negative only take away.
    threshold
        The most that an order may cost. None stands for value − scale · cost at any cost.

    Returns
    -------
    list of int or None
        None where visits do not limit what a CPU can hold.
    """
    penalty = instance.penalty
    if not isinstance(penalty, PenaltyG) or prices.meetings or prices.holdings:
        return None
    visit = penalty.fill + penalty.write_back
    if not visit or min(prices.charges, default=0) < 0:
        return None
    alike: dict[str, dict[tuple[int, int], int]] = defaultdict(lambda: defaultdict(int))
    for task, size, weight in zip(instance.tasks, instance.sizes, prices.weights, strict=True):
        alike[task.df or ""][weight, size] += task.multiplicity
    room = instance.room
    values = sorted(
        (max(0, _largest(counts, room) + prices.visits.get(df, 0)) for df, counts in alike.items()),
        reverse=True,
    )
    if threshold is None:
        paid = prices.scale * visit
        rest = sum(max(0, value - paid) for value in values)
        by_spared = [rest, rest + min(paid, max(values, default=0))]
    else:
        by_spared = [sum(values[: threshold // visit + spared]) for spared in (0, 1)]

    def most(state: InitialState) -> int:
        if isinstance(state, CacheState):
            return by_spared[state.df in alike]
        return by_spared[state == "unknown" or not instance.cold_start]

    by_state = {state: most(state) for state in set(instance.initial_states)}
    return [by_state[state] for state in instance.initial_states]


def _largest(counts: dict[tuple[int, int], int], room: int) -> int:
    """Return what tasks of some weights and sizes are worth at most; the last may be cut."""
    value = 0
    for weight, size in sorted(counts, key=lambda row: Fraction(*row), reverse=True):
        if weight <= 0 or not room:
            break
        taken = min(room, size * counts[weight, size])
        value += weight * taken // size
        room -= taken
    return value
