"""The costs under which a trace is compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from dfopt.checks import LARGEST_TOTAL, check_choice, check_integer, described
from dfopt.compare.type_costs import TypeCosts, type_costs
from dfopt.errors import InstanceError, MethodError
from dfopt.problem.cache_state import Leaves
from dfopt.problem.instance import Instance, Objective
from dfopt.problem.penalties import Penalty, PenaltyF, PenaltyG, PenaltyMatrix
from dfopt.trace import Trace
from dfopt.trace.events import Integers
from dfopt.trace.trace import LEAVES, NOT_GIVEN, UNMANAGED

COUNTING = PenaltyG(fill=1, write_back=0)
"""Where nothing is known about the machine: every change of fragment costs 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CostModel:
    """What switches cost, and what is minimised.

    Parameters
    ----------
    penalty
        The switch penalty; by default every change of fragment costs 1. The fragments of a
        trace are the types of a matrix.
    lines
        Under f: lines that a dispatch reads, where the trace does not say itself.
    lines_by_run_time
        A dispatch reads no more lines than it had time for, run time / t_r.
    leaves
        Under f: how a dispatch leaves its fragment, where the trace does not say itself.
    objective
        ``total-penalty`` or ``max-penalty``.
    cold_start, final_write_back
        As in an :class:`~dfopt.Instance`. They concern the ends of the trace, not those of its
        windows.
    capacity
        Most dispatches that a CPU may run in a window; ``"observed"`` is the largest number that
        the trace put on one CPU, so that the trace itself is always admissible.
    unmanaged
        ``"transparent"``: dispatches without a fragment do not disturb the caches; ``"evict"``:
        each uses a fragment of its own, on the CPU where it ran; not under a matrix.
    broken_chains
        ``"bridge"``: where a switch is missing, what ran there is transparent too; ``"cut"``:
        nothing is claimed across the place, as across lost events.

    Raises
    ------
    InstanceError
        When a value is impossible.
    MethodError
        When penalty or objective is none that traces are compared under.
    """

    penalty: Penalty = COUNTING
    lines: int | None = None
    lines_by_run_time: bool = False
    leaves: Leaves = Leaves.DIRTY
    objective: Objective = Objective.TOTAL_PENALTY
    cold_start: bool = False
    final_write_back: bool = False
    capacity: int | Literal["observed", "balanced", "unlimited"] = "observed"
    unmanaged: Literal["transparent", "evict"] = "transparent"
    broken_chains: Literal["bridge", "cut"] = "bridge"

    def __post_init__(self) -> None:
        check_choice(self.objective, Objective, "objective")
        check_choice(self.leaves, Leaves, "leaves")
        if self.objective is Objective.MAKESPAN:
            raise MethodError(
                "traces are compared by their penalties; give the objective total-penalty or "
                "max-penalty (--objective)"
            )
        if self.lines is not None:
            check_integer(self.lines, "lines")
        if self.capacity not in ("observed", "balanced", "unlimited"):
            check_integer(self.capacity, "capacity", least=1)
        _check_word(self.unmanaged, ("transparent", "evict"), "unmanaged")
        _check_word(self.broken_chains, ("bridge", "cut"), "broken_chains")
        if isinstance(self.penalty, PenaltyMatrix) and self.unmanaged == "evict":
            raise MethodError(
                "a matrix has no type for tasks without a fragment, so that they cannot evict; "
                "treat them as transparent (--unmanaged transparent)"
            )

    @property
    def counts_switches(self) -> bool:
        """Whether every change of fragment costs 1, so that costs are numbers of switches."""
        penalty = self.penalty
        return isinstance(penalty, PenaltyG) and penalty.fill + penalty.write_back == 1


def _check_word(value: str, words: tuple[str, ...], place: str) -> None:
    if value not in words:
        raise InstanceError(f"must be {' or '.join(words)}, not {described(value)}", place=place)


def model_of_instance(instance: Instance) -> CostModel:
    """Return the model of an instance: its penalty, objective, flags and capacity."""
    return CostModel(
        penalty=instance.penalty,
        objective=instance.objective,
        cold_start=instance.cold_start,
        final_write_back=instance.final_write_back,
        capacity=instance.capacity,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DispatchCosts:
    """What each dispatch costs where; a charge is exit + entry between fragments, else 0.

    Parameters
    ----------
    read
        Paid when it finds another fragment in the cache: l·t_r under f, T_r under g.
    entry_write
        Paid then as well: T_w under g, where every change of fragment writes the cache back.
    exit
        Paid when another fragment follows: T_w under f, if it leaves its fragment dirty.
    always
        Paid whatever follows: T_w under f, if it leaves its fragment invalidated.
    types
        What is paid instead under a matrix, by the types of two dispatches.
    """

    read: Integers
    entry_write: int
    exit: Integers
    always: Integers
    types: TypeCosts | None = None


def dispatch_costs(trace: Trace, model: CostModel) -> DispatchCosts:
    """Return what every dispatch of a trace costs under a model.

    Raises
    ------
    InstanceError
        When neither trace nor model says how many lines are read, a fragment is no type of the
        matrix, or the costs are too large.
    """
    count = len(trace)
    penalty = model.penalty
    nothing = np.zeros(count, np.int64)
    if isinstance(penalty, PenaltyMatrix):
        types = type_costs(trace, penalty)
        _check_sum(trace, types.largest)
        return DispatchCosts(read=nothing, entry_write=0, exit=nothing, always=nothing, types=types)
    if isinstance(penalty, PenaltyG):
        _check_sum(trace, penalty.fill + penalty.write_back)
        return DispatchCosts(
            read=np.full(count, penalty.fill, np.int64),
            entry_write=penalty.write_back,
            exit=nothing,
            always=nothing,
        )
    lines = lines_read(trace, model)
    _check_sum(trace, int(lines.max(initial=0)) * penalty.read_line + penalty.write_back)
    leaves = states_left(trace, model)
    return DispatchCosts(
        read=lines * penalty.read_line,
        entry_write=0,
        exit=np.where(leaves == LEAVES.index(Leaves.DIRTY), penalty.write_back, 0),
        always=np.where(leaves == LEAVES.index(Leaves.INVALIDATED), penalty.write_back, 0),
    )


def _check_sum(trace: Trace, largest: int) -> None:
    """Refuse a trace whose dispatches, at such a cost each, could cost more than 64 bits hold."""
    # Every CPU may pay once more at its end.
    if (len(trace) + trace.cpus) * largest > LARGEST_TOTAL:
        raise InstanceError(
            f"{len(trace)} dispatches at up to {largest} each can cost more than 2^62; "
            "use a coarser time unit"
        )


def lines_read(trace: Trace, model: CostModel) -> Integers:
    """Return how many lines each dispatch reads when it finds another fragment in the cache."""
    given = np.full(len(trace), NOT_GIVEN) if trace.lines is None else trace.lines
    if model.lines is None:
        counts = (trace.fragment != UNMANAGED) | (model.unmanaged == "evict")
        if (given[counts] == NOT_GIVEN).any():
            raise InstanceError(
                "the trace does not say how many lines a dispatch reads; give their number "
                "(--lines N or --lines runtime:N)"
            )
        return np.where(given == NOT_GIVEN, 0, given)
    lines = np.full(len(trace), model.lines, np.int64)
    penalty = model.penalty
    if model.lines_by_run_time and isinstance(penalty, PenaltyF) and penalty.read_line:
        lines = np.minimum(lines, (trace.end - trace.start) // penalty.read_line)
    return np.where(given == NOT_GIVEN, lines, given)


def states_left(trace: Trace, model: CostModel) -> Integers:
    """Return how each dispatch leaves its fragment, as indices into ``LEAVES``."""
    default = np.full(len(trace), LEAVES.index(model.leaves))
    if trace.leaves is None:
        return default
    return np.where(trace.leaves == NOT_GIVEN, default, trace.leaves)
