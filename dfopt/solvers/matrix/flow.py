"""A lower bound under a matrix: how often each type follows each other one, at the least cost.

Every task has one predecessor, another task or the beginning of its CPU, and one successor,
another task or the end of its CPU. How often each type follows each other one is therefore a
transportation problem, the assignment relaxation of the travelling salesman problem with equal
cities put together. A schedule is more: what a CPU runs must hang together, and a CPU runs no
more than it has room for. The second condition is stated as subset cuts, the counterpart of
subtour elimination (Dantzig, Fulkerson and Johnson 1954) with capacities, and enforced by
branching.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations, product

import numpy as np
import numpy.typing as npt

from dfopt.solvers.interruptible import load_module
from dfopt.solvers.matrix.problem import MatrixProblem
from dfopt.structs import Record

Table = npt.NDArray[np.int64]

MOST_BRANCHES = 60
"""At most about this number of transportation problems are solved for one window."""

MOST_TYPES = 6
"""All subsets of the types are tried if there are at most 6 types."""

MOST_TYPES_IN_PAIRS = 200
"""All pairs of types are tried if there are at most 200 types."""

LARGEST_SCALED_COST = 1 << 60
"""OR-Tools multiplies costs by the number of nodes, in 64 bits."""


class TypeFlow(Record):
    """The number of times that each type follows each other type.

    Parameters
    ----------
    cost
        No schedule costs less, all CPUs together.
    between
        Number of times that the second type follows the first.
    beginnings
        Number of the CPUs with the first start that begin with the second type.
    endings
        Number of CPUs that end with a type.
    is_complete
        Whether all sets of types that were tried are entered often enough.
    """

    cost: int
    between: dict[tuple[int, int], int]
    beginnings: dict[tuple[int, int], int]
    endings: dict[int, int]
    is_complete: bool


def least_flow(
    problem: MatrixProblem,
    check: Callable[[], object] = lambda: None,
    *,
    most_branches: int = MOST_BRANCHES,
) -> TypeFlow:
    """Return the cheapest flow that enters all types often enough, or a cheaper one.

    Parameters
    ----------
    problem
        The tasks to schedule.
    check
        Called often; what it raises ends the search.
    most_branches
        At most about this number of transportation problems are solved.

    Notes
    -----
    At least ⌈s/k⌉ CPUs run types with s tasks together, where a CPU has room for k. Each of these
    CPUs has to enter the types, by its beginning or from another type. A flow that enters them
    less often is no schedule: in every schedule more flows on one of the arcs into them. The
    search tries each of these arcs, with no more than now on the arcs before it. The cheapest of
    all open parts bounds the optimum at any time, so the search may end at any time.
    """
    network = _Network(problem, check)
    queue = [root] if (root := network.solved(network.nothing, network.limits)) else []
    tried = 1
    while True:
        assert queue, "the capacity leaves room for all tasks"
        best = queue[0]
        subset = network.entered_too_seldom(best.flow)
        if not subset or tried >= most_branches:
            return network.type_flow(best, is_complete=not subset)
        heapq.heappop(queue)
        limits = best.limits
        outside = [row for row in range(len(best.flow)) if row not in subset]
        for arc in product(outside, subset):
            flows = int(best.flow[arc])
            if flows < limits[arc]:
                tried += 1
                child = network.solved(_with(best.least, arc, flows + 1), limits)
                if child is not None:
                    heapq.heappush(queue, child)
                limits = _with(limits, arc, flows)


def _with(table: Table, arc: tuple[int, int], value: int) -> Table:
    changed = table.copy()
    changed[arc] = value
    return changed


@dataclass(frozen=True, slots=True, order=True)
class _Branch:
    """An open part of the search: flows between ``least`` and ``limits``, and the cheapest."""

    cost: int
    number: int
    flow: Table = field(compare=False)
    least: Table = field(compare=False)
    limits: Table = field(compare=False)


@cache
def _subsets(size: int) -> list[list[int]]:
    """Return sets of at least two types; the limits of the network hold for a single type."""
    most = size if size <= MOST_TYPES else 2 if size <= MOST_TYPES_IN_PAIRS else 1
    return [
        list(subset)
        for members in range(2, most + 1)
        for subset in combinations(range(size), members)
    ]


class _Network:
    """The transportation problem.

    Rows are the types, then what CPUs begin with. Columns are the types, then the end of a CPU
    that must run something, then the end of any other CPU.
    """

    def __init__(self, problem: MatrixProblem, check: Callable[[], object]) -> None:
        sizes = np.array(problem.sizes, dtype=np.int64)
        cpus = Counter(problem.starts)
        starts = list(cpus)
        self._check = check
        self._starts = starts
        # At least this number of CPUs runs something; the others may end as they began.
        busy = -(-problem.count // problem.capacity)
        self._supplies = np.append(sizes, list(cpus.values()))
        self._demands = np.append(sizes, [busy, problem.cpus - busy])
        size = self._size = len(sizes)
        self._capacity = problem.capacity
        self._subsets = _subsets(size)
        self._costs = np.zeros((size + len(starts), size + 2), dtype=np.int64)
        self._costs[:size, :size] = problem.switch
        self._costs[:size, size:] = np.array(problem.finish)[:, None]
        self._costs[size:, :size] = [problem.start[start] for start in starts]
        self._costs[size:, size + 1] = [problem.idle[start] for start in starts]
        self.nothing = np.zeros_like(self._costs)
        self.limits = np.full_like(self._costs, problem.count + problem.cpus)
        # The cut of a single type: each CPU that runs it enters it once at least.
        np.fill_diagonal(self.limits[:size, :size], sizes - -(-sizes // problem.capacity))
        self.limits[size:, size] = 0
        self._solved = 0

    def solved(self, least: Table, limits: Table) -> _Branch | None:
        """Return the cheapest flow between the lower and the upper limits of each arc."""
        supplies = self._supplies - least.sum(axis=1)
        demands = self._demands - least.sum(axis=0)
        if min(supplies.min(), demands.min()) < 0:
            return None
        found = least_transport(supplies, demands, self._costs, limits - least, self._check)
        if found is None:
            return None
        cost, flow = found
        self._solved += 1
        fixed = sum(int(self._costs[arc]) * int(least[arc]) for arc in _arcs(least))
        return _Branch(cost + fixed, self._solved, flow + least, least, limits)

    def entered_too_seldom(self, flow: Table) -> list[int]:
        """Return types that more CPUs have to run than enter them; none if all is well.

        With many types only some subsets are tried, but always those that no CPU enters.
        """
        rows, sizes = flow.tolist(), self._supplies.tolist()
        for subset in self._subsets:
            count = sum(sizes[before] for before in subset)
            inside = sum(rows[before][after] for before in subset for after in subset)
            if inside > count - -(-count // self._capacity):
                return subset
        return self._adrift(flow) if self._size > MOST_TYPES else []

    def _adrift(self, flow: Table) -> list[int]:
        """Return all types that the flow does not lead to from the beginning of any CPU."""
        size = self._size
        reached = flow[size:, :size].any(axis=0)
        while True:
            further = reached | flow[:size, :size][reached].any(axis=0)
            if (further == reached).all():
                return np.flatnonzero(~reached).tolist()
            reached = further

    def type_flow(self, branch: _Branch, *, is_complete: bool) -> TypeFlow:
        """Return a flow by types and starts."""
        size, flow = self._size, branch.flow
        between, beginnings = flow[:size, :size], flow[size:, :size]
        return TypeFlow(
            cost=branch.cost,
            between={arc: int(between[arc]) for arc in _arcs(between)},
            beginnings={
                (self._starts[row], column): int(beginnings[row, column])
                for row, column in _arcs(beginnings)
            },
            endings=dict(enumerate(flow[:size, size:].sum(axis=1).tolist())),
            is_complete=is_complete,
        )


def _arcs(flow: Table) -> list[tuple[int, int]]:
    """Return where something flows."""
    return [(row, column) for row, column in np.argwhere(flow).tolist()]


def least_transport(
    supplies: npt.ArrayLike,
    demands: npt.ArrayLike,
    costs: npt.ArrayLike,
    limits: npt.ArrayLike,
    check: Callable[[], object],
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
    load_module("ortools.graph.python.min_cost_flow", lambda: None)
    from ortools.graph.python.min_cost_flow import SimpleMinCostFlow

    prices = np.array(costs, dtype=np.int64)
    rows, columns = prices.shape
    unit = 1 + int(prices.max()) * (rows + columns) // LARGEST_SCALED_COST
    network = SimpleMinCostFlow()
    tails, heads = np.divmod(np.arange(prices.size), columns)
    arcs = network.add_arcs_with_capacity_and_unit_cost(
        tails, rows + heads, np.ravel(limits), prices.ravel() // unit
    )
    network.set_nodes_supplies(np.arange(rows + columns), np.append(supplies, np.negative(demands)))
    if network.solve() != network.OPTIMAL:
        return None
    return network.optimal_cost() * unit, network.flows(arcs).reshape(rows, columns)
