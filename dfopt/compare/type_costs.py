"""Costs between types, for traces whose fragments are the types of a matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dfopt.checks import described
from dfopt.compare.problem import EMPTY, FREE
from dfopt.errors import InstanceError
from dfopt.problem.penalties import PenaltyMatrix
from dfopt.trace import Trace
from dfopt.trace.trace import UNMANAGED

Row = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeCosts:
    """A matrix in the numbers of a trace's fragments.

    Parameters
    ----------
    switch
        What a dispatch pays after another one; row = from, column = to.
    start
        What the first dispatch of a CPU pays with a cold start.
    finish
        What is paid after the last dispatch of a CPU with a final write-back.
    """

    switch: tuple[Row, ...]
    start: Row
    finish: Row

    @property
    def largest(self) -> int:
        """The largest of all costs."""
        return max(map(max, (*self.switch, self.start, self.finish)), default=0)

    def begin(self, state: int, first: int) -> int:
        """Return what the first dispatch of a window pays, from what its CPU ran last.

        Parameters
        ----------
        state
            A type, or :data:`~dfopt.compare.problem.FREE` or
            :data:`~dfopt.compare.problem.EMPTY`.
        first
            The type of the dispatch.
        """
        if state == FREE:
            return 0
        return self.start[first] if state == EMPTY else self.switch[state][first]

    def idle(self, state: int) -> int:
        """Return what is paid in the end where a CPU runs nothing in the last window."""
        return self.finish[state] if state >= 0 else 0


def type_costs(trace: Trace, penalty: PenaltyMatrix) -> TypeCosts:
    """Return a matrix in the numbers of a trace's fragments.

    Raises
    ------
    InstanceError
        When a dispatch has a fragment that is no type of the matrix.
    """
    strange = _strangers(trace, penalty)
    if strange:
        raise InstanceError(
            f"the fragment {described(strange[0])} is no type of the matrix; label dispatches "
            "with its types (--df), or take other costs (--penalty f or g)"
        )
    place = {name: number for number, name in enumerate(penalty.types)}
    # Fragments that no dispatch uses cost nothing; they are never asked for.
    places = [place.get(name) for name in trace.fragments]

    def listed(row: Row | None) -> Row:
        return tuple(0 if row is None or one is None else row[one] for one in places)

    return TypeCosts(
        switch=tuple(listed(None if one is None else penalty.switch[one]) for one in places),
        start=listed(penalty.start),
        finish=listed(penalty.finish),
    )


def has_types(trace: Trace, penalty: PenaltyMatrix) -> bool:
    """Whether all fragments of a trace's dispatches are types of a matrix."""
    return not _strangers(trace, penalty)


def _strangers(trace: Trace, penalty: PenaltyMatrix) -> list[str]:
    used = np.unique(trace.fragment[trace.fragment != UNMANAGED]).tolist()
    return [name for number in used if (name := trace.fragments[number]) not in penalty.types]
