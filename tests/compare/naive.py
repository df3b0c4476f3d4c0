"""Costs of traces and windows, from the definition of a switch alone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Literal

from dfopt import replace
from dfopt.compare import CostModel
from dfopt.compare.written_times import Window as Length
from dfopt.compare.written_times import WindowKind
from dfopt.problem.cache import UNKNOWN, Cache, CacheState, DataUse, Leaves
from dfopt.problem.instance import Task
from dfopt.problem.penalties import Penalty, PenaltyG, PenaltyMatrix
from dfopt.trace import Trace
from dfopt.trace.trace import BROKEN_CHAIN, LEAVES, NOT_GIVEN, UNMANAGED
from tests.charges import switch_cost, use_of

State = CacheState | Task | Literal["unknown", "empty"]
"""The content of a cache: a fragment in its state, nothing, or it is not known."""


def first_cost(penalty: Penalty, state: State, task: Task) -> int:
    """Return what a task pays that finds a cache in some state."""
    if isinstance(state, str):
        if isinstance(penalty, PenaltyMatrix):
            start = penalty.start or (0,) * len(penalty.types)
            return start[penalty.types.index(task.type)] if state == "empty" else 0
        return penalty.reading(task.lines or 0) if state == "empty" else 0
    return switch_cost(penalty, state, task)


def left_cost(penalty: Penalty, state: State) -> int:
    """Return what a cache pays when everything is written back."""
    if isinstance(state, str) or isinstance(penalty, PenaltyG):
        return 0
    if isinstance(penalty, PenaltyMatrix):
        return penalty.finish[penalty.types.index(state.type)] if penalty.finish else 0
    return 0 if state.leaves is Leaves.CLEAN else penalty.write_back


@dataclass(frozen=True, kw_only=True)
class Dispatch:
    """A dispatch that counts: where it stands, and what it does to a cache."""

    row: int
    cpu: int
    start: int
    task: Task
    managed: bool
    freed: bool
    """Return whether something is missing between it and the one before on its CPU."""


def gap_ends(trace: Trace, model: CostModel, cpu: int) -> list[int]:
    """Return when the gaps of a CPU end across which nothing is claimed."""
    return [
        int(end)
        for number, end, reason in zip(
            trace.gaps.cpu, trace.gaps.end, trace.gaps.reason, strict=True
        )
        if number == cpu
        and (model.broken_chains == "cut" or trace.gaps.reasons[reason] != BROKEN_CHAIN)
    ]


def counted(trace: Trace, model: CostModel) -> list[Dispatch]:
    """Return the dispatches that count, one by one, in their order."""
    found: list[Dispatch] = []
    latest: dict[int, int] = {}
    for row in range(len(trace)):
        fragment = int(trace.fragment[row])
        managed = fragment != UNMANAGED
        if not managed and model.unmanaged == "transparent":
            continue
        lines = NOT_GIVEN if trace.lines is None else int(trace.lines[row])
        left = NOT_GIVEN if trace.leaves is None else int(trace.leaves[row])
        cpu, start = int(trace.cpu[row]), int(trace.start[row])
        ends = gap_ends(trace, model, cpu)
        found.append(
            Dispatch(
                row=row,
                cpu=cpu,
                start=start,
                task=Task(
                    id=str(row),
                    df=trace.fragments[fragment] if managed else f"evicts {row}",
                    type=trace.fragments[fragment] if managed else None,
                    lines=model.lines if lines == NOT_GIVEN else lines,
                    leaves=model.leaves if left == NOT_GIVEN else LEAVES[left],
                ),
                managed=managed,
                freed=any(latest.get(cpu, -1) < end <= start for end in ends),
            )
        )
        latest[cpu] = start
    return found


def costs_by_row(trace: Trace, model: CostModel) -> dict[int, int]:
    """Return what each dispatch pays; what remains at the end counts with a CPU's last."""
    flags = {"cold_start": model.cold_start, "final_write_back": model.final_write_back}
    caches = [Cache(model.penalty, **flags) for _ in range(trace.cpus)]
    last: dict[int, Dispatch] = {}
    costs: dict[int, int] = {}
    dispatches = counted(trace, model)
    for one in dispatches:
        if one.freed:
            caches[one.cpu].hold(DataUse(UNKNOWN))
        costs[one.row] = caches[one.cpu].enter(use_of(model.penalty, one.task))
        last[one.cpu] = one
    for cpu, one in last.items():
        ends = gap_ends(trace, model, cpu)
        if any(one.start < end <= dispatches[-1].start for end in ends):
            caches[cpu].hold(DataUse(UNKNOWN))
        costs[one.row] += caches[cpu].finish()
    return costs


def switches(trace: Trace, model: CostModel) -> int:
    """Return how often a CPU goes from one fragment to another."""
    before: dict[int, str | None] = {}
    count = 0
    for one in counted(trace, model):
        count += not one.freed and before.get(one.cpu, one.task.df) != one.task.df
        before[one.cpu] = one.task.df
    return count


@dataclass(frozen=True, kw_only=True)
class Window:
    """The tasks to schedule: those that may run on any CPU, and those that stay on theirs."""

    penalty: Penalty
    tasks: tuple[Task, ...]
    states: tuple[State, ...]
    fixed: tuple[tuple[Task, ...], ...]
    capacity: int
    final: bool
    by_worst: bool


def windows_of(trace: Trace, model: CostModel, window: Length, *, by_worst: bool) -> list[Window]:
    """Return each window as it is bounded: all caches as free as they may be."""
    rows = naive_windows(trace, model, window)
    found = []
    for number, own_rows in enumerate(rows):
        own = [dispatch for dispatch in counted(trace, model) if dispatch.row in own_rows]
        managed = [dispatch for dispatch in own if dispatch.managed]
        loads = [sum(dispatch.cpu == cpu for dispatch in managed) for cpu in range(trace.cpus)]
        most = model.capacity
        if not isinstance(most, int):
            most = {
                "observed": max(loads),
                "balanced": -(-len(managed) // trace.cpus),
                "unlimited": len(managed),
            }[most]
        begins: list[State] = ["unknown"] * trace.cpus
        if number == 0 and model.cold_start:
            freed = unknown_at(trace, model, None, own[0].start)
            begins = ["unknown" if cpu in freed else "empty" for cpu in range(trace.cpus)]
        found.append(
            Window(
                penalty=model.penalty,
                tasks=tuple(dispatch.task for dispatch in managed),
                states=tuple(begins),
                fixed=tuple(
                    tuple(
                        dispatch.task
                        for dispatch in own
                        if not dispatch.managed and dispatch.cpu == cpu
                    )
                    for cpu in range(trace.cpus)
                ),
                capacity=most,
                final=model.final_write_back and number == len(rows) - 1,
                by_worst=by_worst,
            )
        )
    return found


def unknown_at(trace: Trace, model: CostModel, before: int | None, start: int) -> set[int]:
    """Return the CPUs with a gap that ends by the start of a window, and after that before it."""
    return {
        cpu
        for cpu in range(trace.cpus)
        for end in gap_ends(trace, model, cpu)
        if end <= start and (before is None or before < end)
    }


def least_in_turn(trace: Trace, model: CostModel, window: Length) -> int:
    """Return what the best schedule costs in all that runs one window after the other."""
    starts = [int(trace.start[rows[0]]) for rows in naive_windows(trace, model, window)]
    least: dict[tuple[State, ...], int] = {}
    for number, own in enumerate(windows_of(trace, model, window, by_worst=False)):
        if not number:
            least = {own.states: 0}
        freed = unknown_at(trace, model, starts[number - 1], starts[number]) if number else set()
        found: dict[tuple[State, ...], int] = {}
        for states, paid in least.items():
            begin = tuple("unknown" if cpu in freed else one for cpu, one in enumerate(states))
            for end, cost in _ends_of_all(replace(own, states=begin)).items():
                found[end] = min(paid + cost, found.get(end, paid + cost))
        least = found
    return min(least.values())


@cache
def _ends_of_all(window: Window) -> dict[tuple[State, ...], int]:
    """Return what running a window costs at least, by what all caches hold then."""
    every = (1 << len(window.tasks)) - 1
    least: dict[tuple[int, tuple[State, ...]], int] = {(0, ()): 0}
    for state, fixed in zip(window.states, window.fixed, strict=True):
        own: dict[tuple[int, State], int] = {}
        for chosen, tasks in _loads(window, fixed):
            for last, cost in least_order(window, state, tasks).items():
                end = state if last < 0 else _left(tasks[last])
                own[chosen, end] = min(cost, own.get((chosen, end), cost))
        found: dict[tuple[int, tuple[State, ...]], int] = {}
        for (before, ends), paid in least.items():
            for (chosen, end), cost in own.items():
                if not before & chosen:
                    key = before | chosen, (*ends, end)
                    found[key] = min(paid + cost, found.get(key, paid + cost))
        least = found
    return {ends: cost for (ran, ends), cost in least.items() if ran == every}


def _left(task: Task) -> CacheState:
    return CacheState(df=task.df, type=task.type, leaves=task.leaves)


def order_cost(window: Window, state: State, order: Sequence[Task]) -> int:
    """Return what a CPU pays that runs tasks in an order."""
    cost = left_cost(window.penalty, order[-1] if order else state) if window.final else 0
    if order:
        cost += first_cost(window.penalty, state, order[0])
    return cost + sum(switch_cost(window.penalty, *pair) for pair in pairwise(order))


def least_order(window: Window, state: State, tasks: Sequence[Task]) -> dict[int, int]:
    """Return the least cost of running tasks on a CPU, by which of them comes last.

    Nothing to run is noted as -1. After Held and Karp, over all subsets.
    """
    if not tasks:
        return {-1: order_cost(window, state, ())}
    places = range(len(tasks))
    least = {
        (1 << place, place): first_cost(window.penalty, state, tasks[place]) for place in places
    }
    for _ in tasks[1:]:
        found: dict[tuple[int, int], int] = {}
        for (ran, last), cost in least.items():
            for place in places:
                if not ran >> place & 1:
                    key = ran | 1 << place, place
                    total = cost + switch_cost(window.penalty, tasks[last], tasks[place])
                    found[key] = min(total, found.get(key, total))
        least = found
    return {
        last: cost + (left_cost(window.penalty, tasks[last]) if window.final else 0)
        for (_, last), cost in least.items()
    }


def least_cost(window: Window) -> int:
    """Return the cost of the best schedule of a window, by trying all of them."""
    every = (1 << len(window.tasks)) - 1
    # What the CPUs so far pay at least, for each set of tasks that they run.
    least = {0: 0}
    for state, fixed in zip(window.states, window.fixed, strict=True):
        own = {
            chosen: min(least_order(window, state, tasks).values())
            for chosen, tasks in _loads(window, fixed)
        }
        found: dict[int, int] = {}
        for before, paid in least.items():
            for chosen, cost in own.items():
                if not before & chosen:
                    together = max(paid, cost) if window.by_worst else paid + cost
                    both = before | chosen
                    found[both] = min(together, found.get(both, together))
        least = found
    return least[every]


def _loads(window: Window, fixed: tuple[Task, ...]) -> Iterator[tuple[int, tuple[Task, ...]]]:
    for chosen in range(1 << len(window.tasks)):
        if chosen.bit_count() <= window.capacity:
            own = tuple(task for n, task in enumerate(window.tasks) if chosen >> n & 1)
            yield chosen, own + fixed


def naive_windows(trace: Trace, model: CostModel, window: Length) -> list[list[int]]:
    """Return the rows of each window, found by going from dispatch to dispatch."""
    cuts = [
        int(end)
        for end, reason in zip(trace.gaps.end, trace.gaps.reason, strict=True)
        if model.broken_chains == "cut" or trace.gaps.reasons[reason] != BROKEN_CHAIN
    ]
    found: list[list[int]] = []
    managed = began = before = 0
    first = None
    for one in counted(trace, model):
        start = int(trace.start[one.row])
        first = start if first is None else first
        is_cut = any(before < end <= start for end in cuts)
        match window.kind:
            case WindowKind.DISPATCHES:
                is_full = one.managed and managed == window.length
            case WindowKind.TIME:
                is_full = (start - first) // window.length != (began - first) // window.length
            case _:
                is_full = False
        if not found or is_cut or is_full:
            found.append([])
            managed, began = 0, start
        found[-1].append(one.row)
        managed += one.managed
        before = start
    return found
