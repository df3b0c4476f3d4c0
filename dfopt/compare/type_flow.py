"""Which type follows which how often in a window, at the least cost: bounds under a matrix.

Every dispatch has one predecessor, another dispatch or the beginning of its CPU, and one
successor, another dispatch or the end of its CPU. How often each type follows each other one is
a transportation problem. A schedule is more: what follows what must hang together, and each CPU
runs no more than it has room for.
"""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations

from dfopt.compare.transport import Table, least_transport
from dfopt.compare.type_costs import TypeCosts

MOST_BRANCHES = 60
"""So many transportation problems are solved for a window, about."""

MOST_TYPES = 6
"""Of no more types all subsets are looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeWindow:
    """The dispatches of one window under a matrix.

    Parameters
    ----------
    capacity
        Most dispatches a CPU may run.
    types, sizes
        Which types there are, ascending, and how many dispatches each has.
    states
        What each CPU ran last, ascending: a type, ``FREE`` or ``EMPTY``.
    final
        Whether every CPU that ran something pays for what it ran last.
    by_worst
        Whether the CPU that pays most counts, instead of all together.
    """

    capacity: int
    types: tuple[int, ...]
    sizes: tuple[int, ...]
    states: tuple[int, ...]
    final: bool = False
    by_worst: bool = False

    @property
    def count(self) -> int:
        """The number of dispatches."""
        return sum(self.sizes)


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeFlow:
    """How often each type follows each other one.

    Parameters
    ----------
    cost
        No schedule of the window costs less in all.
    between
        How often the second type follows the first.
    beginnings
        How many CPUs in the first state begin with the second type.
    endings
        How many CPUs end with a type.
    is_complete
        Whether all types are entered as often as their dispatches need, where that was looked at.
    """

    cost: int
    between: dict[tuple[int, int], int]
    beginnings: dict[tuple[int, int], int]
    endings: dict[int, int]
    is_complete: bool


def least_flow(window: TypeWindow, costs: TypeCosts) -> TypeFlow:
    """Return the cheapest flow that enters all types often enough, or a cheaper one.

    Notes
    -----
    Any types with s dispatches together are run by at least ⌈s/k⌉ CPUs, and each of these has to
    enter them, by its beginning or from another type. A flow that enters them less often is no
    schedule: in every schedule more flows on one of the ways into them. Each is tried, with no
    more than now on those before it. The cheapest of all that is open bounds the optimum at any
    time, so that the search may end at any time too.
    """
    network = _Network(window, costs)
    queue = [one] if (one := network.solved(network.nothing, network.limits)) else []
    tried = 1
    while True:
        assert queue, "the capacity leaves room for all dispatches"
        best = queue[0]
        part = network.entered_too_seldom(best.flow)
        if not part or tried >= MOST_BRANCHES:
            return network.named(best, is_complete=not part)
        heapq.heappop(queue)
        limits = best.limits
        for row, column in network.ways_into(part):
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
class _Solved:
    """An open part of the search."""

    cost: int
    number: int
    flow: Table = field(compare=False)
    least: Table = field(compare=False)
    limits: Table = field(compare=False)


@cache
def _subsets(size: int) -> list[list[int]]:
    """Return the places of several types at a time; the limits hold for a single one."""
    most = size if size <= MOST_TYPES else 2
    return [
        list(part) for number in range(2, most + 1) for part in combinations(range(size), number)
    ]


class _Network:
    """The transportation problem of a window.

    Rows are the types, then the states that CPUs begin with. Columns are the types, then the end
    of a CPU that must run something, then the end of any other one.
    """

    def __init__(self, window: TypeWindow, costs: TypeCosts) -> None:
        types, sizes = window.types, window.sizes
        states = Counter(window.states)
        self._types = types
        self._states = tuple(states)
        # So many CPUs run something at least; the others may end as they began.
        busy = -(-window.count // window.capacity)
        self._supplies = [*sizes, *states.values()]
        self._demands = [*sizes, busy, len(window.states) - busy]
        size = self._size = len(types)
        self._capacity = window.capacity
        self._parts = _subsets(size)
        unlimited = window.count + len(window.states)
        self._costs = []
        self.limits: Table = []
        for place, one in enumerate(types):
            ends = [costs.finish[one] if window.final else 0] * 2
            self._costs.append([*(costs.switch[one][other] for other in types), *ends])
            row = [unlimited] * (size + 2)
            # A CPU holds so few that more of them have to begin with the type, or change to it.
            row[place] = sizes[place] - -(-sizes[place] // window.capacity)
            self.limits.append(row)
        for state in self._states:
            idle = costs.idle(state) if window.final else 0
            self._costs.append([*(costs.begin(state, one) for one in types), 0, idle])
            self.limits.append([unlimited] * size + [0, unlimited])
        self.nothing: Table = [[0] * (size + 2) for _ in self._supplies]
        self._solved = 0

    def solved(self, least: Table, limits: Table) -> _Solved | None:
        """Return the cheapest flow with at least and at most so much on each arc."""
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
        found = least_transport(supplies, demands, self._costs, room)
        if found is None:
            return None
        cost, flow = found
        for row, column, amount in forced:
            flow[row][column] += amount
        self._solved += 1
        return _Solved(cost + fixed, self._solved, flow, least, limits)

    def entered_too_seldom(self, flow: Table) -> list[int]:
        """Return places of types that more CPUs have to run than enter them; none if all is well.

        Of many types not all subsets are looked at, but always those that no CPU enters.
        """
        capacity = self._capacity
        for part in self._parts:
            count = inside = 0
            for one in part:
                count += self._supplies[one]
                row = flow[one]
                for other in part:
                    inside += row[other]
            if inside > count - -(-count // capacity):
                return part
        return self._adrift(flow) if self._size > MOST_TYPES else []

    def _adrift(self, flow: Table) -> list[int]:
        """Return the places of all types that no CPU comes by."""
        reached = {one for row in flow[self._size :] for one in range(self._size) if row[one]}
        fresh = list(reached)
        while fresh:
            row = flow[fresh.pop()]
            new = [one for one in range(self._size) if row[one] and one not in reached]
            reached.update(new)
            fresh += new
        return [one for one in range(self._size) if one not in reached]

    def ways_into(self, part: list[int]) -> list[tuple[int, int]]:
        """Return the arcs into some types from all that are not among them."""
        outside = [row for row in range(len(self._supplies)) if row not in part]
        return [(row, column) for row in outside for column in part]

    def named(self, solved: _Solved, *, is_complete: bool) -> TypeFlow:
        """Return a flow in the numbers of types and states."""
        types, size = self._types, len(self._types)
        flow = solved.flow
        return TypeFlow(
            cost=solved.cost,
            between={
                (types[row], types[column]): flow[row][column]
                for row in range(size)
                for column in range(size)
                if flow[row][column]
            },
            beginnings={
                (state, types[column]): flow[size + row][column]
                for row, state in enumerate(self._states)
                for column in range(size)
                if flow[size + row][column]
            },
            endings={
                types[row]: sum(flow[row][size:]) for row in range(size) if sum(flow[row][size:])
            },
            is_complete=is_complete,
        )
