"""The choice of a cost model: what the user gives, completed from an instance or the trace."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from msgspec.structs import fields

from dfopt.compare.cost_model import COUNTING, CostModel, has_types, lines_read, states_left
from dfopt.errors import DfoptError, MethodError
from dfopt.problem.cache import Leaves
from dfopt.problem.instance import Instance, Objective
from dfopt.problem.penalties import Penalty, PenaltyF, PenaltyG, PenaltyMatrix
from dfopt.structs import replace
from dfopt.trace import Trace, TraceHeader
from dfopt.trace.trace import UNMANAGED

BELONGS = {"read_line": "f", "lines": "f", "leaves": "f", "fill": "g", "write_back": "fg"}
"""The penalties that parameters belong to."""


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
    instance
        Its penalty, objective and flags are taken where nothing else was chosen, else those of the
        trace's header. Its capacity is not taken, and neither is that of the header: the trace may
        not have kept to it. Then the cost of the trace would be compared with that of schedules
        which must keep to it.

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
    instance: Instance | None = None

    def __post_init__(self) -> None:
        given = [name for name in BELONGS if getattr(self, name) is not None]
        for name in given:
            if self.penalty is not None and self.penalty not in BELONGS[name]:
                raise DfoptError(
                    f"`{name}` belongs to penalty {' and '.join(BELONGS[name])}, and "
                    f"`penalty={self.penalty}` was given"
                )
            if BELONGS[name] == "f" and "fill" in given:
                raise DfoptError(f"`{name}` belongs to penalty f, and `fill` means g")


def parse_lines(text: str) -> tuple[int, bool]:
    """Return the number in ``N`` or ``runtime:N``, and whether the run time limits it.

    Raises
    ------
    DfoptError
        When the text is neither.
    """
    found = re.fullmatch(r"(runtime:)?([0-9]{1,19})", text)
    if found is None:
        raise DfoptError(f"{text!r} is no number of lines; give N or runtime:N, such as 512")
    return int(found[2]), found[1] is not None


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
    if re.fullmatch("[1-9][0-9]{0,17}", text) is None:
        raise DfoptError(f"{text!r} is no capacity; give observed, balanced, unlimited or a number")
    return int(text)


def chosen_model(choice: ModelChoice, header: TraceHeader) -> CostModel:
    """Return the cost model for a trace with this header.

    Where no penalty is given at all, every change of fragment costs 1. Where no objective is given,
    it is the cost of all CPUs together.

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
    base = choice.instance or header
    penalty = _penalty(choice, base.penalty)
    if choice.leaves is not None and not isinstance(penalty, PenaltyF):
        raise MethodError(
            "`leaves` belongs to penalty f; give `read_line` and `write_back` as well"
        )
    of_base = {
        name: getattr(base, name) for name in ("objective", "cold_start", "final_write_back")
    }
    chosen = {field.name: getattr(choice, field.name) for field in fields(CostModel)}
    values = {
        name: value
        for source in (of_base, chosen)
        for name, value in source.items()
        if value is not None
    }
    return CostModel(**{**values, "penalty": penalty})


def _penalty(choice: ModelChoice, base: Penalty | None) -> Penalty:
    kind = choice.penalty
    if kind is None and choice.fill is not None:
        kind = "g"
    elif kind is None and (choice.read_line is not None or choice.lines is not None):
        kind = "f"
    elif kind is None and choice.write_back is not None:
        kind = "g" if isinstance(base, PenaltyG) else "f"
    if kind is None:
        return base or COUNTING
    if kind == "matrix":
        if not isinstance(base, PenaltyMatrix):
            raise MethodError(
                "there is no matrix; a trace has it in its header (as dfopt-trace/1), or take that "
                "of an instance (`instance`)"
            )
        return base
    made, read = (PenaltyG, "fill") if kind == "g" else (PenaltyF, "read_line")
    costs = {name: getattr(choice, name) for name in (read, "write_back")}
    if isinstance(base, made):
        costs = {
            name: getattr(base, name) if cost is None else cost for name, cost in costs.items()
        }
    elif kind == "g" and choice.write_back is None:
        costs = {"fill": 1 if choice.fill is None else choice.fill, "write_back": 0}
    for name, cost in costs.items():
        if cost is None:
            raise MethodError(f"penalty {kind} needs `{name}` as well, in the trace's time unit")
    return made(**costs)


def with_costs(trace: Trace, choice: ModelChoice) -> tuple[Trace, CostModel | None]:
    """Return the trace with the chosen costs in its header, and its cost model.

    If nothing was chosen, the header stays as it is. The cost model is None if no dispatch is
    managed, or if the header has a matrix and some fragment is no type of it.

    Raises
    ------
    InstanceError, MethodError
        When a cost is missing or impossible.
    """
    chosen = choice != ModelChoice()
    table = trace.header.penalty
    if not chosen and isinstance(table, PenaltyMatrix) and not has_types(trace, table):
        return trace, None
    # The cost of a switch does not depend on the objective.
    summing = replace(choice, objective=Objective.TOTAL_PENALTY)
    model = chosen_model(summing, trace.header)
    if chosen:
        capacity = choice.capacity or trace.header.capacity
        header = replace(
            trace.header,
            penalty=model.penalty,
            objective=choice.objective or (choice.instance or trace.header).objective,
            cold_start=model.cold_start,
            final_write_back=model.final_write_back,
            # It has no word for the observed one.
            capacity=None if capacity == "observed" else capacity,
        )
        trace = replace(trace, header=header)
    return trace, model if (trace.fragment != UNMANAGED).any() else None


def with_dispatch_costs(trace: Trace, choice: ModelChoice) -> Trace:
    """Return the trace with the costs of its switches written into it.

    Its header has a penalty. Where none is given, every change of fragment costs 1. Under the
    penalty f every dispatch has its lines and the state in which it leaves its fragment.

    Raises
    ------
    InstanceError, MethodError
        When a cost is missing or impossible.
    """
    trace, model = with_costs(trace, choice)
    penalty = trace.header.penalty
    if penalty is None and model is not None:
        penalty = model.penalty
    if model is not None and isinstance(penalty, PenaltyF):
        leaves = states_left(trace, model).astype("int8")
        trace = replace(trace, lines=lines_read(trace, model), leaves=leaves)
    return replace(trace, header=replace(trace.header, penalty=penalty or COUNTING))
