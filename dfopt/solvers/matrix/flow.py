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
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations

import numpy as np

from dfopt.solvers.interruptible import load_module
from dfopt.solvers.matrix.problem import MatrixProblem

Table = list[list[int]]

MOST_BRANCHES = 60
"""At most about this number of transportation problems are solved for one window."""

MOST_TYPES = 6
"""All subsets of the types are tried if there are at most 6 types."""

MOST_TYPES_IN_PAIRS = 200
"""All pairs of types are tried if there are at most 200 types."""

LARGEST_SCALED_COST = 1 << 60
"""OR-Tools multiplies costs by the number of nodes, in 64 bits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeFlow:
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
        for row, column in network.arcs_into(subset):
            flows = best.flow[row][column]
            if flows < limits[row][column]:
                tried += 1
                child = network.solved(_with(best.least, row, column, flows + 1), limits)
                if child is not None:
                    heapq.heappush(queue, child)
                limits = _with(limits, row, column, flows)


def _with(table: Table, row: int, column: int, value: int) -> Table:
    changed = list(table)
    changed[row] = [*table[row][:column], value, *table[row][column + 1 :]]
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
        sizes = problem.sizes
        cpus = Counter(problem.starts)
        self._check = check
        self._starts = tuple(cpus)
        # At least this number of CPUs runs something; the others may end as they began.
        busy = -(-problem.count // problem.capacity)
        self._supplies = [*sizes, *cpus.values()]
        self._demands = [*sizes, busy, problem.cpus - busy]
        size = self._size = len(sizes)
        self._capacity = problem.capacity
        self._subsets = _subsets(size)
        unlimited = problem.count + problem.cpus
        self._costs = []
        self.limits: Table = []
        for before, switch in enumerate(problem.switch):
            self._costs.append([*switch, *[problem.finish[before]] * 2])
            row = [unlimited] * (size + 2)
            # The cut of a single type: each CPU that runs it enters it once at least.
            row[before] = sizes[before] - -(-sizes[before] // problem.capacity)
            self.limits.append(row)
        for start in self._starts:
            self._costs.append([*problem.start[start], 0, problem.idle[start]])
            self.limits.append([unlimited] * size + [0, unlimited])
        self.nothing: Table = [[0] * (size + 2) for _ in self._supplies]
        self._solved = 0

    def solved(self, least: Table, limits: Table) -> _Branch | None:
        """Return the cheapest flow between the lower and the upper limits of each arc."""
        supplies, demands, fixed = list(self._supplies), list(self._demands), 0
        room = limits
        forced = [
            (row, column, amount)
            for row, line in enumerate(least)
            for column, amount in enumerate(line)
            if amount
        ]
        for row, column, amount in forced:
            supplies[row] -= amount
            demands[column] -= amount
            fixed += self._costs[row][column] * amount
            room = _with(room, row, column, room[row][column] - amount)
        if min(*supplies, *demands) < 0:
            return None
        found = least_transport(supplies, demands, self._costs, room, self._check)
        if found is None:
            return None
        cost, flow = found
        for row, column, amount in forced:
            flow[row][column] += amount
        self._solved += 1
        return _Branch(cost + fixed, self._solved, flow, least, limits)

    def entered_too_seldom(self, flow: Table) -> list[int]:
        """Return types that more CPUs have to run than enter them; none if all is well.

        With many types only some subsets are tried, but always those that no CPU enters.
        """
        capacity = self._capacity
        for subset in self._subsets:
            count = inside = 0
            for before in subset:
                count += self._supplies[before]
                row = flow[before]
                for after in subset:
                    inside += row[after]
            if inside > count - -(-count // capacity):
                return subset
        return self._adrift(flow) if self._size > MOST_TYPES else []

    def _adrift(self, flow: Table) -> list[int]:
        """Return all types that the flow does not lead to from the beginning of any CPU."""
        reached = {
            column for row in flow[self._size :] for column in range(self._size) if row[column]
        }
        fresh = list(reached)
        while fresh:
            row = flow[fresh.pop()]
            new = [column for column in range(self._size) if row[column] and column not in reached]
            reached.update(new)
            fresh += new
        return [column for column in range(self._size) if column not in reached]

    def arcs_into(self, subset: list[int]) -> list[tuple[int, int]]:
        """Return the arcs into some types from everything else."""
        outside = [row for row in range(len(self._supplies)) if row not in subset]
        return [(row, column) for row in outside for column in subset]

    def type_flow(self, branch: _Branch, *, is_complete: bool) -> TypeFlow:
        """Return a flow by types and starts."""
        size, flow = self._size, branch.flow
        return TypeFlow(
            cost=branch.cost,
            between={
                (row, column): flow[row][column]
                for row in range(size)
                for column in range(size)
                if flow[row][column]
            },
            beginnings={
                (start, column): flow[size + row][column]
                for row, start in enumerate(self._starts)
                for column in range(size)
                if flow[size + row][column]
            },
            endings={row: ends for row in range(size) if (ends := sum(flow[row][size:]))},
            is_complete=is_complete,
        )


def least_transport(
    supplies: Sequence[int],
    demands: Sequence[int],
    costs: Sequence[Sequence[int]],
    limits: Sequence[Sequence[int]],
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
