"""Costs of traces and windows, from the definition of a switch alone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from dfopt.compare import CostModel
from dfopt.compare.window_length import Window as Length
from dfopt.compare.window_length import WindowKind
from dfopt.compare.windows.window import EMPTY, UNKNOWN, Cache, DispatchClass, WindowProblem
from dfopt.problem.cache_state import CacheState, Leaves
from dfopt.problem.instance import Task
from dfopt.problem.penalties import Penalty, PenaltyF, PenaltyG, PenaltyMatrix
from dfopt.problem.switch_costs import reading_cost, switch_cost
from dfopt.trace import Trace
from dfopt.trace.trace import BROKEN_CHAIN, LEAVES, NOT_GIVEN, UNMANAGED

State = CacheState | Task | Cache
"""The content of a cache: a fragment in its state, ``UNKNOWN`` or ``EMPTY``."""


def first_cost(penalty: Penalty, state: State, task: Task) -> int:
    """Return what a task pays that finds a cache in some state."""
    if isinstance(state, Cache):
        if isinstance(penalty, PenaltyMatrix):
            start = penalty.start or (0,) * len(penalty.types)
            return start[penalty.types.index(task.type)] if state == EMPTY else 0
        return reading_cost(penalty, task) if state == EMPTY else 0
    return switch_cost(penalty, state, task)


def left_cost(penalty: Penalty, state: State) -> int:
    """Return what a cache pays when everything is written back."""
    if isinstance(state, Cache) or isinstance(penalty, PenaltyG):
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
    state: dict[int, State] = {}
    last: dict[int, Dispatch] = {}
    costs: dict[int, int] = {}
    dispatches = counted(trace, model)
    for one in dispatches:
        held = state.get(one.cpu, EMPTY if model.cold_start else UNKNOWN)
        costs[one.row] = first_cost(model.penalty, UNKNOWN if one.freed else held, one.task)
        state[one.cpu], last[one.cpu] = one.task, one
    if model.final_write_back:
        for cpu, one in last.items():
            ends = gap_ends(trace, model, cpu)
            if not any(one.start < end <= dispatches[-1].start for end in ends):
                costs[one.row] += left_cost(model.penalty, state[cpu])
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


def window_of(window: WindowProblem) -> Window:
    """Return a window's dispatches one by one; their names begin with their class."""

    def tasks(name: str, df: str, one: DispatchClass) -> list[Task]:
        return [
            Task(id=f"{name}.{copy}", df=df, lines=one.entry, leaves=LEAVES[one.leaves])
            for copy in range(one.copies)
        ]

    def alone(cpu: int, number: int, one: DispatchClass) -> list[Task]:
        """Return dispatches each of which has a fragment of its own."""
        return [replace(task, df=task.id) for task in tasks(f"evicts {cpu} {number}", "", one)]

    def state(cache: Cache) -> State:
        if cache in (UNKNOWN, EMPTY):
            return cache
        return CacheState(df=str(cache.fragment), leaves=LEAVES[cache.leaves])

    return Window(
        penalty=PenaltyF(read_line=1, write_back=window.write_back),
        tasks=tuple(
            task
            for number, (fragment, one) in enumerate(window.classes())
            for task in tasks(str(number), str(fragment), one)
        ),
        states=tuple(map(state, window.states)),
        fixed=tuple(
            tuple(
                task
                for number, one in enumerate(window.evicting_on(cpu))
                for task in alone(cpu, number, one)
            )
            for cpu in range(window.cpus)
        ),
        capacity=window.capacity,
        final=window.final,
        by_worst=window.by_worst,
    )


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
