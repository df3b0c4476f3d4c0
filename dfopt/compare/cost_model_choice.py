"""The choice of a cost model: what the user gives, completed from an instance or the trace."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from dfopt.compare.cost_model import COUNTING, CostModel, has_types, lines_read, states_left
from dfopt.errors import DfoptError, MethodError
from dfopt.problem.cache_state import Leaves
from dfopt.problem.instance import Instance, Objective
from dfopt.problem.penalties import Penalty, PenaltyF, PenaltyG, PenaltyMatrix
from dfopt.trace import Trace, TraceHeader
from dfopt.trace.trace import UNMANAGED

BY_RUN_TIME = "runtime:"
"""Prefix of a number of lines: a short dispatch reads only the lines that it has time for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """The parts of a :class:`CostModel` that the user chose; None for the others.

    Parameters
    ----------
    penalty
        The name of the penalty; where it is None, it follows from the parameters that are given.
    fill, read_line, write_back
        Parameters of the penalty.
    lines, lines_by_run_time, leaves, objective, cold_start, final_write_back, capacity
        See :class:`CostModel`.
    unmanaged, broken_chains
        See :class:`CostModel`.
    time_unit
        The unit of the costs, where it must be the trace's.

    Raises
    ------
    DfoptError
        When two parameters contradict each other.
    """

    penalty: Literal["f", "g", "matrix"] | None = None
    fill: int | None = None
    read_line: int | None = None
    write_back: int | None = None
    lines: int | None = None
    lines_by_run_time: bool = False
    leaves: Leaves | None = None
    objective: Objective | None = None
    cold_start: bool | None = None
    final_write_back: bool | None = None
    capacity: int | Literal["observed", "balanced", "unlimited"] | None = None
    unmanaged: Literal["transparent", "evict"] = "transparent"
    broken_chains: Literal["bridge", "cut"] = "bridge"
    time_unit: str | None = None

    def __post_init__(self) -> None:
        of_f = [name for name in ("read_line", "lines", "leaves") if self.has(name)]
        of_g = [name for name in ("fill",) if self.has(name)]
        if of_f and (of_g or self.penalty == "g"):
            against = of_g[0] if of_g else "penalty=g"
            raise DfoptError(f"`{of_f[0]}` belongs to penalty f, and `{against}` means g")
        if of_g and self.penalty == "f":
            raise DfoptError("`fill` belongs to penalty g, and `penalty=f` was given")
        costs = [
            name
            for name in ("fill", "read_line", "write_back", "lines", "leaves")
            if self.has(name)
        ]
        if costs and self.penalty == "matrix":
            raise DfoptError(
                f"`{costs[0]}` belongs to the penalties f and g, and `penalty=matrix` was given"
            )

    def has(self, name: str) -> bool:
        """Whether a parameter is given."""
        return getattr(self, name) is not None

    def penalty_beside(self, base: Penalty | None) -> Literal["f", "g", "matrix"] | None:
        """Return the name of the penalty that is meant; None if ``base`` stays as it is."""
        if self.penalty is not None:
            return self.penalty
        if self.has("fill"):
            return "g"
        if self.has("read_line") or self.has("lines"):
            return "f"
        if self.has("write_back"):
            return "g" if isinstance(base, PenaltyG) else "f"
        return None


def parse_lines(text: str) -> tuple[int, bool]:
    """Return the number in ``N`` or ``runtime:N``, and whether the run time limits it.

    Raises
    ------
    DfoptError
        When the text is neither.
    """
    digits = text.removeprefix(BY_RUN_TIME)
    if not (digits.isascii() and digits.isdecimal()) or len(digits) > len(str(2**62)):
        raise DfoptError(f"{text!r} is no number of lines; give N or {BY_RUN_TIME}N, such as 512")
    return int(digits), text.startswith(BY_RUN_TIME)


def parse_capacity(text: str) -> int | Literal["observed", "balanced", "unlimited"]:
    """Return the capacity that a text gives, as a word or as a number.

    Raises
    ------
    DfoptError
        When the text is neither.
    """
    match text:
        case "observed" | "balanced" | "unlimited":
            return text
    if not (text.isascii() and text.isdecimal()) or not 0 < len(text) < len(str(2**62)):
        raise DfoptError(f"{text!r} is no capacity; give observed, balanced, unlimited or a number")
    if not int(text):
        raise DfoptError("must be at least 1 dispatch, not 0")
    return int(text)


def chosen_model(
    choice: ModelChoice, *, header: TraceHeader, instance: Instance | None = None
) -> CostModel:
    """Return the cost model for a trace.

    Each value comes from the choice. Where the choice has none, it comes from the instance; without
    an instance, from the header of the trace. Where no penalty is given at all, every change of
    fragment costs 1. Where no objective is given, it is the cost of all CPUs together.

    Parameters
    ----------
    choice
        The values that the user chose.
    header
        The header of the trace.
    instance
        Its penalty, objective and flags are taken. Its capacity is not taken, and neither is that
        of the header: the trace may not have kept to it. Then the cost of the trace would be
        compared with that of schedules which must keep to it.

    Raises
    ------
    InstanceError, MethodError
        When a cost is missing or impossible.
    """
    if choice.time_unit is not None and header.time_unit not in (None, choice.time_unit):
        raise MethodError(
            f"the costs are in {choice.time_unit}, and the trace is in {header.time_unit!r}; give "
            "`read_line` and `write_back` in the trace's unit"
        )
    base: Instance | TraceHeader = header if instance is None else instance
    penalty = _penalty(choice, base.penalty)
    if choice.leaves is not None and not isinstance(penalty, PenaltyF):
        raise MethodError(
            "`leaves` belongs to penalty f; give `read_line` and `write_back` as well"
        )
    return CostModel(
        penalty=penalty,
        lines=choice.lines,
        lines_by_run_time=choice.lines_by_run_time,
        leaves=choice.leaves or Leaves.DIRTY,
        objective=choice.objective or base.objective or Objective.TOTAL_PENALTY,
        cold_start=bool(_first(choice.cold_start, base.cold_start)),
        final_write_back=bool(_first(choice.final_write_back, base.final_write_back)),
        capacity=choice.capacity or "observed",
        unmanaged=choice.unmanaged,
        broken_chains=choice.broken_chains,
    )


def with_costs(
    trace: Trace, choice: ModelChoice, *, instance: Instance | None = None
) -> tuple[Trace, CostModel | None]:
    """Return the trace with the chosen costs in its header, and its cost model.

    If nothing was chosen, the header stays as it is. The cost model is None if no dispatch is
    managed, or if the header has a matrix and some fragment is no type of it.

    Raises
    ------
    InstanceError, MethodError
        When a cost is missing or impossible.
    """
    chosen = choice != ModelChoice() or instance is not None
    table = trace.header.penalty
    if not chosen and isinstance(table, PenaltyMatrix) and not has_types(trace, table):
        return trace, None
    # The cost of a switch does not depend on the objective.
    summing = replace(choice, objective=Objective.TOTAL_PENALTY)
    model = chosen_model(summing, header=trace.header, instance=instance)
    if chosen:
        given = trace.header.objective if instance is None else instance.objective
        header = replace(
            trace.header,
            penalty=model.penalty,
            objective=choice.objective or given,
            cold_start=model.cold_start,
            final_write_back=model.final_write_back,
            capacity=header_capacity(choice.capacity, trace.header),
        )
        trace = replace(trace, header=header)
    return trace, model if (trace.fragment != UNMANAGED).any() else None


def with_dispatch_costs(
    trace: Trace, choice: ModelChoice, *, instance: Instance | None = None
) -> Trace:
    """Return the trace with the costs of its switches written into it.

    Its header has a penalty. Where none is given, every change of fragment costs 1. Under the
    penalty f every dispatch has its lines and the state in which it leaves its fragment.

    Raises
    ------
    InstanceError, MethodError
        When a cost is missing or impossible.
    """
    trace, model = with_costs(trace, choice, instance=instance)
    penalty = trace.header.penalty
    if penalty is None and model is not None:
        penalty = model.penalty
    if model is not None and isinstance(penalty, PenaltyF):
        leaves = states_left(trace, model).astype("int8")
        trace = replace(trace, lines=lines_read(trace, model), leaves=leaves)
    return replace(trace, header=replace(trace.header, penalty=penalty or COUNTING))


def header_capacity(
    chosen: int | Literal["observed", "balanced", "unlimited"] | None, header: TraceHeader
) -> int | str | None:
    """Return the capacity for a header: None for the observed one, for which it has no word."""
    if chosen is None:
        return header.capacity
    return None if chosen == "observed" else chosen


def _first(*values: object) -> object:
    return next((value for value in values if value is not None), None)


def _penalty(choice: ModelChoice, base: Penalty | None) -> Penalty:
    name = choice.penalty_beside(base)
    if name is None:
        return COUNTING if base is None else base
    if name == "matrix":
        if not isinstance(base, PenaltyMatrix):
            raise MethodError(
                "there is no matrix; a trace has it in its header (as dfopt-trace/1), or take that "
                "of an instance (`instance`)"
            )
        return base
    if name == "g":
        return _penalty_g(choice, base if isinstance(base, PenaltyG) else None)
    return _penalty_f(choice, base if isinstance(base, PenaltyF) else None)


def _penalty_g(choice: ModelChoice, base: PenaltyG | None) -> PenaltyG:
    fill, write_back = choice.fill, choice.write_back
    if fill is None and write_back is None:
        return base or COUNTING
    if base is not None:
        fill = base.fill if fill is None else fill
        write_back = base.write_back if write_back is None else write_back
    if fill is None:
        raise MethodError("penalty g needs `fill` as well, in the trace's time unit")
    return PenaltyG(fill=fill, write_back=write_back or 0)


def _penalty_f(choice: ModelChoice, base: PenaltyF | None) -> PenaltyF:
    costs = {}
    for name in ("read_line", "write_back"):
        cost = getattr(choice, name)
        if cost is None:
            cost = getattr(base, name, None)
        if cost is None:
            raise MethodError(f"penalty f needs `{name}` as well, in the trace's time unit")
        costs[name] = cost
    return PenaltyF(**costs)
