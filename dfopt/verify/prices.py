"""The prices by which a certificate values what a CPU holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import gcd

from dfopt.problem.cache import CacheState, Leaves
from dfopt.problem.instance import Instance
from dfopt.problem.penalties import PenaltyF, PenaltyMatrix

Holding = tuple[frozenset[int], int, int]
"""Entries of ``instance.tasks``, a number of tasks, and the price of at least that number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderPrices:
    """What adds to the value of an order.

    Parameters
    ----------
    weights, charges
        Of each entry of ``instance.tasks``: its weight, and the charge where its entry is paid.
    visits
        Price of a visit to a fragment.
    meetings
        Price of visits to both of two fragments.
    holdings
        OrderPrices of holding at least some number of tasks.
    scale
        The value of a unit of cost, where costs have no threshold.
    """

    weights: Sequence[int]
    charges: Sequence[int]
    visits: Mapping[str, int] = field(default_factory=dict)
    meetings: Mapping[tuple[str, str], int] = field(default_factory=dict)
    holdings: Sequence[Holding] = ()
    scale: int = 1


def largest_total_below(instance: Instance, bound: int) -> int:
    """Return the largest total penalty below a bound: every cost is a multiple of a unit."""
    penalty = instance.penalty
    assert not isinstance(penalty, PenaltyMatrix)
    costs = {penalty.reading(task.lines or 0) for task in instance.tasks}
    left = {task.leaves for task in instance.tasks}
    left |= {state.leaves for state in instance.initial if isinstance(state, CacheState)}
    if isinstance(penalty, PenaltyF) and left != {Leaves.CLEAN}:
        costs.add(penalty.write_back)
    unit = gcd(*costs) or 1
    return (bound - 1) // unit * unit
