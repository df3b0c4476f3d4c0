"""The linear program (LP) whose value bounds the cost of all schedules within a waiting limit.

For each fragment there are points of time τ_0 < τ_1 < …, at which its conditions begin and end, and

- x_i: CPUs that hold the fragment at τ_i;
- h_i: CPUs that hold it throughout the slot from τ_i to just before τ_{i+1}; h_i ≤ x_i;
- e_i: visits to it that start in (τ_i, τ_{i+1}]; x_{i+1} ≤ h_i + e_i;
- o_i: visits that are given up in [τ_i, τ_{i+1}], if exits have a cost; o_i ≥ x_i - h_i;
- u_i: whether a condition does not hold because dispatches are delayed;
- z_g: the mean number of CPUs that hold it in a period g of a grid that all fragments share.

At each point of a fragment, x of those with this point and h of the others' slots around it add up
to at most the number of CPUs; so do z in each period. The cost of the entries is minimised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dfopt.compare.attainable.bound.conditions import FragmentConditions
from dfopt.compare.attainable.bound.visit_costs import VisitCosts
from dfopt.compare.dispatches import Rows
from dfopt.errors import DfoptError
from dfopt.trace.events import Integers

Reals = NDArray[np.float64]

OUT_OF_ITERATIONS = 1
"""The status with which the solver gives up."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FragmentDuals:
    """The dual solution of the LP in the conditions of a fragment.

    Parameters
    ----------
    conditions
        The conditions; ``covers`` are the prices of hits, multiplicities and delays in this order,
        ``energies`` those of energies.
    points
        The points of time of the fragment.
    mandatory
        For each slot between points, the price of each CPU that certainly runs the fragment.
    exit
        The price of an exit.
    """

    conditions: FragmentConditions
    points: Integers
    covers: Reals
    mandatory: Reals
    energies: Reals
    exit: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StretchDuals:
    """A dual solution of the LP of a stretch.

    Parameters
    ----------
    value
        The value of the LP; floating point, so it proves nothing.
    fragments
        The prices of the fragments' conditions.
    times, time_prices
        The points of time of all fragments, and what a CPU is worth there.
    period_prices
        What a CPU is worth in each unit of time of each period.
    """

    value: float
    fragments: tuple[FragmentDuals, ...]
    times: Integers
    time_prices: Reals
    period_prices: Reals


class _Rows:
    """Rows of ``A x ≤ b`` while they are collected."""

    def __init__(self) -> None:
        self.size = 0
        self._rows: list[Rows] = []
        self._columns: list[Rows] = []
        self._values: list[Reals] = []
        self._limits: list[Reals] = []

    def add(self, row: Rows, column: Rows, value: Reals | float) -> None:
        """Add numbers to the matrix; rows are counted from the last :meth:`end` on."""
        self._rows.append(row + self.size)
        self._columns.append(column)
        self._values.append(np.broadcast_to(np.asarray(value, np.float64), row.shape))

    def end(self, limits: Reals | Integers) -> slice:
        """Give the rows since the last call their right sides; return where they are."""
        first = self.size
        self.size += len(limits)
        self._limits.append(np.asarray(limits, np.float64))
        return slice(first, self.size)

    def arrays(self) -> tuple[Rows, Rows, Reals, Reals]:
        """Return rows, columns and values of the matrix, and the right sides."""
        return (
            np.concatenate(self._rows),
            np.concatenate(self._columns),
            np.concatenate(self._values),
            np.concatenate(self._limits),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Columns:
    """Where the variables of a fragment are, and where the rows of its conditions.

    Work is counted in ``unit`` in the rows of ``energies``.
    """

    points: Integers
    held_at: int
    held: int
    entries: int
    mean: int
    late: int
    exits: int
    mandatory: Integers
    covers: slice
    energies: slice
    exit_rows: int
    unit: float


def dual_solution(  # noqa: PLR0913
    conditions: Sequence[FragmentConditions],
    visit_costs: Sequence[VisitCosts],
    cpus: int,
    grid: Integers | None,
    *,
    begin: int,
    end: int,
    wait_price: float = 0.0,
    most_steps: int | None = None,
) -> StretchDuals | None:
    """Return the prices that the LP gives to the conditions of a stretch.

    Parameters
    ----------
    conditions
        Those of each fragment.
    visit_costs
        What visits to each fragment cost.
    cpus
        The number of CPUs.
    grid
        The times that bound the periods; None without lengths.
    begin, end
        When the stretch begins and ends.
    wait_price
        The cost of each unit of time that something waits.
    most_steps
        The solver gives up after this number of iterations x rows, and the answer is None. None:
        never.

    Raises
    ------
    DfoptError
        When the solver fails.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    rows = _Rows()
    size, fragments = 0, []
    for own, costs in zip(conditions, visit_costs, strict=True):
        points = points_of(own, begin, end)
        fragments.append(_add_fragment(rows, own, points, size, grid))
        size = fragments[-1].exits
        if len(costs.exit):
            _add_exits(rows, fragments[-1], costs)
            size += len(points) - 1 + len(costs.exit)
    times = np.unique(np.concatenate([columns.points for columns in fragments]))
    for columns in fragments:
        _add_holders(rows, columns, times)
    time_rows = rows.end(np.full(len(times), cpus))
    period_rows = slice(0, 0)
    if grid is not None:
        periods = np.arange(len(grid) - 1)
        for columns in fragments:
            rows.add(periods, columns.mean + periods, 1.0)
        period_rows = rows.end(np.full(len(periods), cpus))
    cost, least, most = np.zeros(size), np.zeros(size), np.full(size, np.inf)
    for own, columns, costs in zip(conditions, fragments, visit_costs, strict=True):
        late = slice(columns.late, columns.late + len(own.delays.weight))
        cost[late] = own.delays.weight * wait_price
        slots = len(columns.points) - 1
        cost[columns.entries : columns.entries + slots] = np.maximum(costs.entry, 0)
        most[columns.entries : columns.entries + slots][costs.entry < 0] = 0
        cost[columns.held_at] = costs.first
        cost[columns.held_at + slots] += costs.last
        if len(costs.exit):
            unpaid = columns.exits + slots
            cost[unpaid : unpaid + len(costs.exit)] = np.diff(costs.exit, prepend=0)
        least[columns.held : columns.held + slots] = columns.mandatory
    row, column, value, limits = rows.arrays()
    options = {} if most_steps is None else {"maxiter": most_steps // rows.size}
    answer = linprog(
        cost,
        A_ub=csr_array((value, (row, column)), shape=(rows.size, size)),
        b_ub=limits,
        bounds=np.column_stack([least, most]),
        method="highs",
        options=options,
    )
    if most_steps is not None and answer.status == OUT_OF_ITERATIONS:
        return None
    if answer.status != 0:
        raise DfoptError(f"the linear program of a bound was not solved: {answer.message}")
    price = np.maximum(-answer.ineqlin.marginals, 0.0)
    at_least = np.maximum(answer.lower.marginals, 0.0)
    lengths = np.ones(0) if grid is None else np.diff(grid)
    return StretchDuals(
        value=answer.fun,
        fragments=tuple(
            _duals_of(own, columns, price, at_least, len(costs.exit))
            for own, columns, costs in zip(conditions, fragments, visit_costs, strict=True)
        ),
        times=times,
        time_prices=price[time_rows],
        period_prices=price[period_rows] / lengths,
    )


def points_of(conditions: FragmentConditions, begin: int, end: int) -> Integers:
    """Return when the conditions of a fragment begin and end, and when the stretch does.

    What a CPU holds when the stretch begins pays no entry; that is no more fragments than there are
    CPUs. So it is with exits at the end.
    """
    return np.unique(
        np.concatenate(
            [
                [begin, end - 1, end],
                conditions.hit_begin,
                conditions.hit_end,
                conditions.begin,
                conditions.end,
                conditions.mandatory_begin,
                conditions.mandatory_end,
                conditions.delays.begin,
                conditions.delays.end,
            ]
        )
    )


def covered_slots(conditions: FragmentConditions, points: Integers) -> tuple[Rows, Rows]:
    """Return the first slot of each interval of hits, multiplicities and delays, and the one after.

    A slot is from one point of time to the next.
    """
    delays = conditions.delays
    begin = np.concatenate([conditions.hit_begin, conditions.begin, delays.begin])
    end = np.concatenate([conditions.hit_end, conditions.end, delays.end])
    return np.searchsorted(points, begin), np.searchsorted(points, end)


def _add_fragment(
    rows: _Rows,
    conditions: FragmentConditions,
    points: Integers,
    first_column: int,
    grid: Integers | None,
) -> _Columns:
    """Add the rows of a fragment alone, and return where its variables are."""
    slots = np.arange(len(points) - 1)
    held_at, held = first_column, first_column + len(points)
    entries, mean = held + len(slots), held + 2 * len(slots)
    rows.add(slots, held + slots, 1.0)
    rows.add(slots, held_at + slots, -1.0)
    rows.end(np.zeros(len(slots)))
    rows.add(slots, held_at + 1 + slots, 1.0)
    rows.add(slots, held + slots, -1.0)
    rows.add(slots, entries + slots, -1.0)
    rows.end(np.zeros(len(slots)))
    begin, end = covered_slots(conditions, points)
    rows.add(np.arange(len(begin)), held_at + begin, -1.0)
    row, slot = _ranges(begin, end)
    rows.add(row, entries + slot, -1.0)
    late = mean + (0 if grid is None else len(grid) - 1)
    delays = np.arange(len(conditions.delays.begin))
    rows.add(len(begin) - len(delays) + delays, late + delays, -1.0)
    hits = np.ones(len(conditions.hits))
    covers = rows.end(-np.concatenate([hits, conditions.count, np.ones(len(delays))]))
    change = np.zeros(len(points), np.int64)
    np.add.at(change, np.searchsorted(points, conditions.mandatory_begin), 1)
    np.add.at(change, np.searchsorted(points, conditions.mandatory_end), -1)
    energies, unit = slice(0, 0), 1.0
    if grid is not None:
        length = np.diff(grid)
        _add_means(rows, points, held, mean, grid)
        row, period = _ranges(conditions.period_begin, conditions.period_end)
        # A unit of work is the mean length of a period, so that the numbers are near 1.
        unit = float(length.mean())
        rows.add(row, mean + period, -length[period] / unit)
        energies = rows.end(-conditions.work / unit)
    return _Columns(
        points=points,
        held_at=held_at,
        held=held,
        entries=entries,
        mean=mean,
        late=late,
        exits=late + len(delays),
        mandatory=np.cumsum(change)[:-1],
        covers=covers,
        energies=energies,
        exit_rows=rows.size + len(points) - 1,
        unit=unit,
    )


def _add_exits(rows: _Rows, columns: _Columns, costs: VisitCosts) -> None:
    """Add: who holds the fragment at a point gives it up or holds it throughout the next slot.

    For each cost of exits, all exits but those after cheaper dispatches pay at least this cost.
    """
    slots = np.arange(len(columns.points) - 1)
    rows.add(slots, columns.held_at + slots, 1.0)
    rows.add(slots, columns.held + slots, -1.0)
    rows.add(slots, columns.exits + slots, -1.0)
    rows.end(np.zeros(len(slots)))
    for level in range(len(costs.exit)):
        rows.add(np.zeros(len(slots), np.int64), columns.exits + slots, 1.0)
        one = np.zeros(1, np.int64)
        rows.add(one, columns.exits + len(slots) + level + one, -1.0)
        rows.end(costs.cheaper[[level]])


def _ranges(begin: Rows, end: Rows) -> tuple[Rows, Rows]:
    """Return pairs of a row and a number from ``begin`` to just before ``end`` of that row."""
    counts = end - begin
    row = np.repeat(np.arange(len(begin)), counts)
    return row, np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts - begin, counts)


def _add_means(rows: _Rows, points: Integers, held: int, mean: int, grid: Integers) -> None:
    """Add: the mean number of holders in a period is at least that of holders of whole slots."""
    times = np.union1d(grid, points)
    times = times[(times >= max(grid[0], points[0])) & (times <= min(grid[-1], points[-1]))]
    begin, parts = times[:-1], np.diff(times)
    period = np.searchsorted(grid, begin, "right") - 1
    slot = np.searchsorted(points, begin, "right") - 1
    length = np.diff(grid)
    rows.add(period, held + slot, parts / length[period])
    periods = np.arange(len(length))
    rows.add(periods, mean + periods, -1.0)
    rows.end(np.zeros(len(periods)))


def _add_holders(rows: _Rows, columns: _Columns, times: Integers) -> None:
    """Add the fragment's holders at each point of time to the rows of these times."""
    points = columns.points
    place = np.searchsorted(points, times, "right") - 1
    own = (place >= 0) & (points[place] == times)
    rows.add(np.flatnonzero(own), columns.held_at + place[own], 1.0)
    inside = (place >= 0) & (place < len(points) - 1) & ~own
    rows.add(np.flatnonzero(inside), columns.held + place[inside], 1.0)


def _duals_of(
    conditions: FragmentConditions,
    columns: _Columns,
    price: Reals,
    at_least: Reals,
    exits: int,
) -> FragmentDuals:
    covers = price[columns.covers]
    slots = len(columns.points) - 1
    return FragmentDuals(
        conditions=conditions,
        points=columns.points,
        covers=covers,
        mandatory=at_least[columns.held : columns.held + slots] * (columns.mandatory > 0),
        energies=price[columns.energies] / columns.unit,
        exit=float(price[columns.exit_rows : columns.exit_rows + exits].sum()),
    )
