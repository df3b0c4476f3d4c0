"""The transportation problem with limits on its arcs, in whole numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dfopt.solvers.interruptible import load_module

Table = list[list[int]]

LARGEST_SCALED_COST = 1 << 60
"""OR-Tools multiplies costs by the number of nodes, in 64 bits."""


def go_on() -> None:
    """Let a search go on; the default of what may end it."""


def least_transport(
    supplies: Sequence[int],
    demands: Sequence[int],
    costs: Sequence[Sequence[int]],
    limits: Sequence[Sequence[int]],
    check: Callable[[], object] = go_on,
) -> tuple[int, Table] | None:
    """Return the least cost of bringing all supplies to the demands, and how much goes where.

    Parameters
    ----------
    supplies, demands
        Amounts that the rows give and the columns take, at least 0; their sums are equal.
    costs
        Of one piece from a row to a column, at least 0.
    limits
        At most this number of pieces may go from a row to a column.
    check
        Called before the work; what it raises ends the search.

    Returns
    -------
    tuple or None
        None where the limits leave no solution. The cost is exact if the largest cost times the
        number of rows and columns is below 2^60. Otherwise costs are rounded down, and the cost is
        a lower bound.
    """
    check()
    load_module("ortools.graph.python.min_cost_flow", go_on)
    from ortools.graph.python.min_cost_flow import SimpleMinCostFlow

    rows, columns = len(supplies), len(demands)
    prices = np.array(costs, dtype=np.int64)
    unit = 1 + int(prices.max()) * (rows + columns) // LARGEST_SCALED_COST
    network = SimpleMinCostFlow()
    tails, heads = np.divmod(np.arange(rows * columns), columns)
    arcs = network.add_arcs_with_capacity_and_unit_cost(
        tails, rows + heads, np.array(limits).ravel(), prices.ravel() // unit
    )
    network.set_nodes_supplies(
        np.arange(rows + columns), np.array([*supplies, *(-demand for demand in demands)])
    )
    if network.solve() != network.OPTIMAL:
        return None
    return network.optimal_cost() * unit, network.flows(arcs).reshape(rows, columns).tolist()
