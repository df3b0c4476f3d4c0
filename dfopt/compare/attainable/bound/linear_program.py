"""The linear program (LP) whose dual solution prices the conditions of a stretch.

For each fragment there are points of time τ_0 < τ_1 < …, at which its conditions begin and end, and

- x_i: CPUs that hold the fragment at τ_i;
- h_i: CPUs that hold it throughout the slot from τ_i to just before τ_{i+1}; h_i ≤ x_i;
- e_i: visits to it that start in (τ_i, τ_{i+1}]; x_{i+1} ≤ h_i + e_i.

At each point of a fragment, x of those with this point and h of the others' slots around it add up
to at most the number of CPUs. The cost of the entries is minimised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dfopt.compare.attainable.bound.conditions import FragmentConditions
from dfopt.compare.attainable.bound.entry_costs import FORBIDDEN
from dfopt.compare.dispatches import Rows
from dfopt.errors import DfoptError
from dfopt.trace.events import Integers

Reals = NDArray[np.float64]

OUT_OF_ITERATIONS = 1
"""The status with which the solver gives up."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FragmentSlots:
    """A fragment's points of time, and what its visits cost at least.

    Parameters
    ----------
    points
        The points of time.
    entry
        What an entry costs in each slot between two of them; ``FORBIDDEN`` where there is none.
    leaving, first, last
        What an exit costs, and holding the fragment when the stretch begins, and when it ends.
    """

    points: Integers
    entry: Integers
    leaving: int
    first: int
    last: int


class _Rows:
    """Rows of ``A x ≤ b`` while they are collected."""

    def __init__(self) -> None:
        self.size = 0
        self._rows: list[Rows] = []
        self._columns: list[Rows] = []
        self._values: list[Reals] = []
        self._limits: list[Reals] = []

    def add(self, row: Rows, column: Rows, value: float) -> None:
        """Add numbers to the matrix; rows are counted from the last :meth:`end` on."""
        self._rows.append(row + self.size)
        self._columns.append(column)
        self._values.append(np.full(len(row), value))

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


def condition_prices(
    conditions: Sequence[FragmentConditions],
    slots: Sequence[FragmentSlots],
    cpus: int,
    *,
    most_steps: int | None = None,
) -> list[Reals] | None:
    """Return for each fragment the prices that the LP of a stretch gives its conditions.

    Parameters
    ----------
    conditions, slots
        Those of each fragment.
    cpus
        The number of CPUs.
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
    covers: list[slice] = []
    costs: list[Reals] = []
    allowed: list[Reals] = []
    held_at: list[int] = []
    column = 0
    leaving = min(own.leaving for own in slots)
    for own, times in zip(conditions, slots, strict=True):
        held_at.append(column)
        covers.append(_add_fragment(rows, own, times.points, column))
        count = len(times.points)
        column += 3 * count - 2
        cost = np.zeros(2 * count - 1)
        cost[0] = times.first
        cost[count - 1] += times.last
        startable = times.entry < FORBIDDEN
        entry = np.where(startable, times.entry + leaving, 0).astype(np.float64)
        costs += [cost, entry]
        allowed += [np.full(2 * count - 1, np.inf), np.where(startable, np.inf, 0.0)]
    every = np.unique(np.concatenate([times.points for times in slots]))
    for times, held in zip(slots, held_at, strict=True):
        _add_holders(rows, times.points, held, every)
    rows.end(np.full(len(every), cpus))
    row, place, value, limits = rows.arrays()
    most = np.concatenate(allowed)
    answer = linprog(
        np.concatenate(costs),
        A_ub=csr_array((value, (row, place)), shape=(rows.size, column)),
        b_ub=limits,
        bounds=np.column_stack([np.zeros(column), most]),
        method="highs",
        options={} if most_steps is None else {"maxiter": most_steps // rows.size},
    )
    if most_steps is not None and answer.status == OUT_OF_ITERATIONS:
        return None
    if answer.status != 0:
        raise DfoptError(f"the linear program of a bound was not solved: {answer.message}")
    prices = np.maximum(-answer.ineqlin.marginals, 0.0)
    return [prices[cover] for cover in covers]


def points_of(conditions: FragmentConditions, begin: int, end: int) -> Integers:
    """Return when the conditions of a fragment begin and end, and when the stretch does.

    What a CPU holds when the stretch begins pays no entry; that is no more fragments than there are
    CPUs.
    """
    return np.unique(np.concatenate([[begin, end - 1, end], conditions.begin, conditions.end]))


def _add_fragment(
    rows: _Rows, conditions: FragmentConditions, points: Integers, held_at: int
) -> slice:
    """Add the rows of a fragment alone, and return those of its conditions."""
    slots = np.arange(len(points) - 1)
    held = held_at + len(points)
    entries = held + len(slots)
    rows.add(slots, held + slots, 1.0)
    rows.add(slots, held_at + slots, -1.0)
    rows.end(np.zeros(len(slots)))
    rows.add(slots, held_at + 1 + slots, 1.0)
    rows.add(slots, held + slots, -1.0)
    rows.add(slots, entries + slots, -1.0)
    rows.end(np.zeros(len(slots)))
    begin, end = np.searchsorted(points, conditions.begin), np.searchsorted(points, conditions.end)
    rows.add(np.arange(len(begin)), held_at + begin, -1.0)
    counts = end - begin
    row = np.repeat(np.arange(len(begin)), counts)
    rows.add(
        row, entries + np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts - begin, counts),
        -1.0,
    )  # fmt: skip
    return rows.end(-conditions.count)


def _add_holders(rows: _Rows, points: Integers, held_at: int, times: Integers) -> None:
    """Add the fragment's holders at each point of time to the rows of these times."""
    place = np.searchsorted(points, times, "right") - 1
    own = points[place] == times
    rows.add(np.flatnonzero(own), held_at + place[own], 1.0)
    inside = ~own & (place < len(points) - 1)
    rows.add(np.flatnonzero(inside), held_at + len(points) + place[inside], 1.0)
