"""The costs under which a trace is compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from dfopt.checks import LARGEST_TOTAL, described
from dfopt.errors import InstanceError, MethodError
from dfopt.problem.cache import Leaves
from dfopt.problem.instance import Instance, Objective
from dfopt.problem.penalties import Penalty, PenaltyF, PenaltyG, PenaltyMatrix
from dfopt.structs import Checked, Natural, Positive
from dfopt.trace import Trace
from dfopt.trace.events import Integers, Numbers
from dfopt.trace.trace import LEAVES, NOT_GIVEN, UNMANAGED

COUNTING = PenaltyG(fill=1, write_back=0)
"""Every change of fragment costs 1: the penalty where nothing is known about the machine."""


class CostModel(Checked, omit_defaults=False):
    """The costs of switches, and the objective.

    Parameters
    ----------
    penalty
        The switch penalty; by default every change of fragment costs 1. The fragments of a
        trace are the types of a matrix.
    lines
        Under f: lines that a dispatch reads, where the trace does not say it.
    lines_by_run_time
        A dispatch reads no more lines than it had time for, run time / t_r.
    leaves
        Under f: the state in which a dispatch leaves its fragment, where the trace does not say it.
    objective
        ``total-penalty`` or ``max-penalty``.
    cold_start, final_write_back
        As in an :class:`~dfopt.Instance`. They concern the ends of the trace, not those of its
        windows.
    capacity
        A CPU runs at most this number of dispatches in a window. ``"observed"`` is the largest
        number that the trace put on one CPU, so the trace itself is always admissible.
    unmanaged
        ``"transparent"``: dispatches without a fragment do not disturb the caches; ``"evict"``:
        each uses a fragment of its own, on the CPU where it ran; not under a matrix.
    broken_chains
        ``"bridge"``: where a switch is missing, the dispatch there is transparent too; ``"cut"``:
        nothing is claimed across the place, as across lost events.

    Raises
    ------
    InstanceError
        When a value is impossible.
    MethodError
        When traces cannot be compared under the penalty or the objective.
    """

    penalty: Penalty = COUNTING
    lines: Natural | None = None
    lines_by_run_time: bool = False
    leaves: Leaves = Leaves.DIRTY
    objective: Objective = Objective.TOTAL_PENALTY
    cold_start: bool = False
    final_write_back: bool = False
    capacity: Positive | Literal["observed", "balanced", "unlimited"] = "observed"
    unmanaged: Literal["transparent", "evict"] = "transparent"
    broken_chains: Literal["bridge", "cut"] = "bridge"

    def __post_init__(self) -> None:
        """Check what cannot be compared."""
        super().__post_init__()
        if self.objective is Objective.MAKESPAN:
            raise MethodError(
                "traces are compared by their penalties; give the objective total-penalty or "
                "max-penalty (`objective`)"
            )
        if isinstance(self.penalty, PenaltyMatrix) and self.unmanaged == "evict":
            raise MethodError(
                "a matrix has no type for tasks without a fragment, so that they cannot evict; "
                "treat them as transparent (`unmanaged=transparent`)"
            )

    @property
    def counts_switches(self) -> bool:
        """Whether every change of fragment costs 1, so that costs are numbers of switches."""
        penalty = self.penalty
        return isinstance(penalty, PenaltyG) and penalty.fill + penalty.write_back == 1


def model_of_instance(instance: Instance) -> CostModel:
    """Return the model of an instance: its penalty, objective, flags and capacity.

    A capacity in sizes is left out: what is compared are numbers of dispatches.
    """
    return CostModel(
        penalty=instance.penalty,
        objective=instance.objective,
        cold_start=instance.cold_start,
        final_write_back=instance.final_write_back,
        capacity="observed" if instance.has_sizes else instance.capacity,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DispatchCosts:
    """The costs of each dispatch of a trace, on any CPU.

    Parameters
    ----------
    read
        Paid when the dispatch finds another fragment in the cache: l·t_r under f, T_r under g.
    leaves
        The state in which it leaves its fragment, as an index into ``LEAVES``; 0 (clean) where
        that costs nothing.
    write_back
        T_w under f: paid after a dispatch that left its fragment invalidated, and after one that
        left it dirty if another fragment follows.
    entry_write
        T_w under g: paid with every reading, whatever the cache held before.
    types
        Under a matrix, the costs by the types of two dispatches; they replace all the others.
    """

    read: Integers
    leaves: Numbers
    write_back: int = 0
    entry_write: int = 0
    types: TypeCosts | None = None


def dispatch_costs(trace: Trace, model: CostModel) -> DispatchCosts:
    """Return the costs of every dispatch of a trace under a model.

    Raises
    ------
    InstanceError
        When neither trace nor model says how many lines are read, a fragment is no type of the
        matrix, or the costs are too large.
    """
    count = len(trace)
    clean = np.zeros(count, np.int32)
    match model.penalty:
        case PenaltyMatrix() as penalty:
            types = type_costs(trace, penalty)
            _check_sum(trace, types.largest)
            return DispatchCosts(read=np.zeros(count, np.int64), leaves=clean, types=types)
        case PenaltyG(fill=fill, write_back=write_back):
            _check_sum(trace, fill + write_back)
            return DispatchCosts(
                read=np.full(count, fill, np.int64), leaves=clean, entry_write=write_back
            )
        case PenaltyF(read_line=read_line, write_back=write_back):
            lines = lines_read(trace, model)
            _check_sum(trace, int(lines.max(initial=0)) * read_line + write_back)
            return DispatchCosts(
                read=lines * read_line,
                leaves=states_left(trace, model).astype(np.int32) if write_back else clean,
                write_back=write_back,
            )


def _check_sum(trace: Trace, largest: int) -> None:
    """Refuse a trace if its dispatches, at this cost each, could cost more than 64 bits hold."""
    # Every CPU may pay once more at its end.
    if (len(trace) + trace.cpus) * largest > LARGEST_TOTAL:
        raise InstanceError(
            f"{len(trace)} dispatches at up to {largest} each can cost more than 2^62; "
            "use a coarser time unit"
        )


def lines_read(trace: Trace, model: CostModel) -> Integers:
    """Return the lines that each dispatch reads when it finds another fragment in the cache."""
    given = np.full(len(trace), NOT_GIVEN) if trace.lines is None else trace.lines
    if model.lines is None:
        counts = (trace.fragment != UNMANAGED) | (model.unmanaged == "evict")
        if (given[counts] == NOT_GIVEN).any():
            raise InstanceError(
                "the trace does not say how many lines a dispatch reads; say how many (`lines`)"
            )
        return np.where(given == NOT_GIVEN, 0, given)
    lines = np.full(len(trace), model.lines, np.int64)
    penalty = model.penalty
    if model.lines_by_run_time and isinstance(penalty, PenaltyF) and penalty.read_line:
        lines = np.minimum(lines, (trace.end - trace.start) // penalty.read_line)
    return np.where(given == NOT_GIVEN, lines, given)


def states_left(trace: Trace, model: CostModel) -> Integers:
    """Return the state in which each dispatch leaves its fragment, as indices into ``LEAVES``."""
    default = np.full(len(trace), LEAVES.index(model.leaves))
    if trace.leaves is None:
        return default
    return np.where(trace.leaves == NOT_GIVEN, default, trace.leaves)


Row = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeCosts:
    """The costs of a matrix; its rows and columns are the fragments of a trace, by number.

    Parameters
    ----------
    switch
        The cost of a dispatch after another one; row = from, column = to.
    start
        The cost of the first dispatch of a CPU with a cold start.
    finish
        The cost after the last dispatch of a CPU with a final write-back.
    """

    switch: tuple[Row, ...]
    start: Row
    finish: Row

    @property
    def largest(self) -> int:
        """The largest of all costs."""
        return max(map(max, (*self.switch, self.start, self.finish)), default=0)


def type_costs(trace: Trace, penalty: PenaltyMatrix) -> TypeCosts:
    """Return a matrix with a row and a column for each fragment of a trace, by number.

    Raises
    ------
    InstanceError
        When a dispatch has a fragment that is no type of the matrix.
    """
    strange = _strangers(trace, penalty)
    if strange:
        raise InstanceError(
            f"the fragment {described(strange[0])} is no type of the matrix; label dispatches "
            "with its types (`labels`), or take the penalty f or g (`penalty`)"
        )
    numbers = {name: number for number, name in enumerate(penalty.types)}
    # The costs of fragments that no dispatch uses are never looked up.
    types = [numbers.get(name) for name in trace.fragments]

    def listed(row: Row | None) -> Row:
        return tuple(0 if row is None or number is None else row[number] for number in types)

    return TypeCosts(
        switch=tuple(
            listed(None if number is None else penalty.switch[number]) for number in types
        ),
        start=listed(penalty.start),
        finish=listed(penalty.finish),
    )


def has_types(trace: Trace, penalty: PenaltyMatrix) -> bool:
    """Whether all fragments of a trace's dispatches are types of a matrix."""
    return not _strangers(trace, penalty)


def _strangers(trace: Trace, penalty: PenaltyMatrix) -> list[str]:
    used = np.unique(trace.fragment[trace.fragment != UNMANAGED]).tolist()
    return [name for number in used if (name := trace.fragments[number]) not in penalty.types]
