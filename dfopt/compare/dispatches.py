"""The dispatches that count in a comparison, with what they cost and what came before them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dfopt.checks import described
from dfopt.compare.cost_model import CostModel, TypeCosts, dispatch_costs
from dfopt.errors import DfoptError
from dfopt.problem.cache import Leaves
from dfopt.trace import Trace
from dfopt.trace.events import Flags, Integers, Numbers
from dfopt.trace.latest_of_same import latest_of_same
from dfopt.trace.trace import BROKEN_CHAIN, LEAVES, UNMANAGED

Rows = NDArray[np.intp]

NOTHING = -1
"""Stands before the first dispatch of a CPU: its cache is as at the beginning of the trace."""

UNKNOWN = -2
"""Stands before the first dispatch after a gap: nothing is known about the cache."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Dispatches:
    """The dispatches that count, ordered by start.

    Parameters
    ----------
    cpus
        Number of CPUs.
    row
        The row of each dispatch in the trace.
    cpu, start, task, run_time
        As in the trace.
    fragment
        Number of the fragment, or ``UNMANAGED`` for one that evicts.
    read, leaves, write_back, entry_write, types
        See :class:`~dfopt.compare.cost_model.DispatchCosts`.
    previous
        The dispatch that ran before on the same CPU; :data:`NOTHING` or :data:`UNKNOWN` for the
        first.
    gap_cpu, gap_end
        The gaps across which nothing is claimed, ordered by end. All windows end with them.
    """

    cpus: int
    row: Rows
    cpu: Numbers
    start: Integers
    task: Numbers
    run_time: Integers
    fragment: Numbers
    read: Integers
    leaves: Numbers
    write_back: int
    entry_write: int
    types: TypeCosts | None
    previous: Rows
    gap_cpu: Numbers
    gap_end: Integers

    def __len__(self) -> int:
        """Return the number of dispatches that count."""
        return len(self.row)

    @property
    def managed(self) -> Flags:
        """Whether each dispatch has a fragment that others share."""
        return np.not_equal(self.fragment, UNMANAGED)

    @property
    def entry(self) -> Integers:
        """The cost of each dispatch when it finds another fragment in the cache."""
        return self.read + self.entry_write

    @property
    def exit(self) -> Integers:
        """The cost after each dispatch if another one follows: T_w if it left its own dirty."""
        return self._written_back(Leaves.DIRTY)

    @property
    def always(self) -> Integers:
        """The cost after each dispatch in any case: T_w if it left its fragment invalidated."""
        return self._written_back(Leaves.INVALIDATED)

    def _written_back(self, state: Leaves) -> Integers:
        return np.where(self.leaves == LEAVES.index(state), self.write_back, 0)

    @property
    def changes(self) -> Flags:
        """Whether each dispatch follows one of another fragment on its CPU."""
        before = self.fragment[np.maximum(self.previous, 0)]
        changes: Flags = (self.previous >= 0) & ~((self.fragment == before) & self.managed)
        return changes


def _check_trace(trace: object) -> None:
    """Refuse what callers without a type checker may take for a trace."""
    if not isinstance(trace, Trace):
        problem = f"must be a Trace, not {described(trace)}; dfopt.read_trace(path) reads a file"
        raise DfoptError(problem, place="trace")


def dispatches_of(trace: Trace, model: CostModel) -> Dispatches:
    """Return the dispatches of a labelled trace that count under a model.

    Raises
    ------
    DfoptError
        When no dispatch has a fragment, or this is no trace.
    InstanceError
        When the model does not say what a dispatch costs.
    """
    _check_trace(trace)
    managed = trace.fragment != UNMANAGED
    if not managed.any():
        raise DfoptError(
            "no dispatch has a fragment; dfopt.label(trace, source) says which ones threads use"
        )
    costs = dispatch_costs(trace, model)
    row = np.flatnonzero(managed) if model.unmanaged == "transparent" else np.arange(len(trace))
    cpu, start = trace.cpu[row], trace.start[row]
    gap_cpu, gap_end = _cutting_gaps(trace, model)
    return Dispatches(
        cpus=trace.cpus,
        row=row,
        cpu=cpu,
        start=start,
        task=trace.task[row],
        run_time=(trace.end - trace.start)[row],
        fragment=trace.fragment[row],
        read=costs.read[row],
        leaves=costs.leaves[row],
        write_back=costs.write_back,
        entry_write=costs.entry_write,
        types=costs.types,
        previous=_previous(cpu, start, gap_cpu, gap_end),
        gap_cpu=gap_cpu,
        gap_end=gap_end,
    )


def _cutting_gaps(trace: Trace, model: CostModel) -> tuple[Numbers, Integers]:
    """Return CPU and end of the gaps across which nothing is claimed."""
    gaps = trace.gaps
    cutting = np.ones(len(gaps), bool)
    if model.broken_chains == "bridge" and BROKEN_CHAIN in gaps.reasons:
        cutting = gaps.reason != gaps.reasons.index(BROKEN_CHAIN)
    order = np.argsort(gaps.end[cutting], kind="stable")
    return gaps.cpu[cutting][order], gaps.end[cutting][order]


def _previous(cpu: Numbers, start: Integers, gap_cpu: Numbers, gap_end: Integers) -> Rows:
    previous = latest_of_same(cpu)
    for number in np.unique(gap_cpu):
        own = np.flatnonzero(cpu == number)
        after = np.searchsorted(start[own], gap_end[gap_cpu == number])
        previous[own[after[after < len(own)]]] = UNKNOWN
    return previous
