"""The costs under which a trace is compared: as values, in words, and as columns."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dfopt.checks import LARGEST_TOTAL, described
from dfopt.errors import InstanceError, MethodError
from dfopt.problem.cache import DIRTY, INVALIDATED, Leaves
from dfopt.problem.instance import Instance, Objective
from dfopt.problem.penalties import Penalty, PenaltyF, PenaltyG, PenaltyMatrix
from dfopt.render import counted
from dfopt.structs import Checked, Natural, Positive
from dfopt.trace import Trace
from dfopt.trace.events import Integers
from dfopt.trace.trace import LEAVES, NOT_GIVEN, UNMANAGED

Matrix = NDArray[np.int64]

COUNTING = PenaltyG(fill=1, write_back=0)
"""Every change of fragment costs 1: the penalty where nothing is known about the machine."""

MUCH_UNLABELLED = 0.2
"""From this share of the run time without a fragment on, what its tasks do to caches matters."""


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


def cost_words(model: CostModel) -> str:
    """Return the switch costs in words."""
    penalty = model.penalty
    if isinstance(penalty, PenaltyMatrix):
        return f"matrix: by the types of two dispatches, {counted(len(penalty.types), 'type')}"
    if model.counts_switches:
        return "g: every change of fragment costs 1"
    if isinstance(penalty, PenaltyG):
        return f"g: fill {penalty.fill:,}, write_back {penalty.write_back:,} at every change"
    said = (
        "f: every change of fragment reads lines one by one: "
        f"read_line {penalty.read_line:,}, write_back {penalty.write_back:,}"
    )
    if model.lines is not None:
        most = ", or what the run time allows," if model.lines_by_run_time else ""
        said += f"; {model.lines:,} lines{most} where the trace does not say"
    return f"{said}; leaves {model.leaves} where it does not say"


def capacity_words(model: CostModel) -> str:
    """Return how many dispatches a CPU may run in a window, in words."""
    match model.capacity:
        case "observed":
            return "no CPU runs more in a window than the trace's fullest one"
        case "balanced":
            return "no CPU runs more than an even share of a window"
        case "unlimited":
            return "a CPU may run any number of dispatches"
        case count:
            return f"no CPU runs more than {counted(count, 'dispatch')} in a window"


def unmanaged_words(model: CostModel, unlabelled: float) -> str:
    """Return what tasks without a fragment do to caches, and what else could be assumed.

    ``unlabelled`` is their share of the run time.
    """
    if model.unmanaged == "evict":
        return "tasks without a fragment evict"
    said = "tasks without a fragment leave the caches as they are"
    # A matrix has no type for them, so they cannot evict there.
    if not isinstance(model.penalty, PenaltyMatrix) and unlabelled > MUCH_UNLABELLED:
        said += ": with `unmanaged=evict` more would count"
    return said


def switch_costs(trace: Trace, model: CostModel) -> tuple[dict[str, Any], Matrix]:
    """Return what every dispatch of a trace costs under a model, on any CPU.

    Returns
    -------
    tuple
        The columns ``entry``, ``exit``, ``always``, ``first`` and ``last``, and the ``matrix``, of
        :class:`~dfopt.compare.dispatches.Dispatches`. T_w counts under f in ``exit`` after one
        that left its fragment dirty, and in ``always`` after one that left it invalidated; under g
        in ``entry``.

    Raises
    ------
    InstanceError
        When neither trace nor model says how many lines are read, a fragment is no type of the
        matrix, or the costs are too large.
    """
    none, matrix = np.zeros(len(trace), np.int64), np.zeros((0, 0), np.int64)
    entry, leaving, always = none, none, none
    match model.penalty:
        case PenaltyMatrix() as penalty:
            matrix, first, last = type_costs(trace, penalty)
            _check_sum(trace, int(max(costs.max(initial=0) for costs in (matrix, first, last))))
            first, last = first[trace.fragment], last[trace.fragment]
        case PenaltyG(fill=fill, write_back=write_back):
            _check_sum(trace, fill + write_back)
            first = entry = none + fill + write_back
            last = none
        case PenaltyF(read_line=read_line, write_back=write_back):
            lines, left = lines_read(trace, model), states_left(trace, model)
            _check_sum(trace, int(lines.max(initial=0)) * read_line + write_back)
            first = entry = lines * read_line
            leaving = np.where(left == DIRTY, write_back, 0)
            always = np.where(left == INVALIDATED, write_back, 0)
            last = leaving + always
    costs: dict[str, Any] = {
        "entry": entry,
        "exit": leaving,
        "always": always,
        "first": first * model.cold_start,
        "last": last * model.final_write_back,
    }
    return costs, matrix


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


def type_costs(trace: Trace, penalty: PenaltyMatrix) -> tuple[Matrix, Integers, Integers]:
    """Return the costs of a matrix by the fragments of a trace, which are its types.

    Returns
    -------
    tuple
        The cost of a dispatch after another one (row = from, column = to), that of the first
        dispatch of a CPU with a cold start, and that after the last one with a final write-back.

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
    count = len(penalty.types)
    numbers = {name: number for number, name in enumerate(penalty.types)}
    # The costs of fragments that no dispatch uses are never looked up.
    types = np.array([numbers.get(name, count) for name in trace.fragments], np.intp)
    switch = np.pad(np.array(penalty.switch, np.int64), (0, 1))[np.ix_(types, types)]
    start, finish = (
        np.append(np.array(costs or [0] * count, np.int64), 0)[types]
        for costs in (penalty.start, penalty.finish)
    )
    return switch, start, finish


def has_types(trace: Trace, penalty: PenaltyMatrix) -> bool:
    """Whether all fragments of a trace's dispatches are types of a matrix."""
    return not _strangers(trace, penalty)


def _strangers(trace: Trace, penalty: PenaltyMatrix) -> list[str]:
    used = np.unique(trace.fragment[trace.fragment != UNMANAGED]).tolist()
    return [name for number in used if (name := trace.fragments[number]) not in penalty.types]
