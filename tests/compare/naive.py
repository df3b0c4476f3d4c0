"""What traces and windows cost, from the definition of a switch alone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations

from dfopt.compare import CostModel
from dfopt.compare.problem import EMPTY, FOREIGN, FREE, WindowProblem
from dfopt.problem.cache_state import CacheState, Leaves
from dfopt.problem.instance import Task
from dfopt.problem.penalties import Penalty, PenaltyF, PenaltyG, PenaltyMatrix
from dfopt.problem.switch_costs import reading_cost, switch_cost
from dfopt.trace import Trace
from dfopt.trace.trace import BROKEN_CHAIN, LEAVES, NOT_GIVEN, UNMANAGED

State = CacheState | Task | int
"""What a cache holds: a fragment in its state, ``FREE`` (unknown) or ``EMPTY``."""

ELSEWHERE = "fragment of no dispatch"


def first_cost(penalty: Penalty, state: State, task: Task) -> int:
    """Return what a task pays that finds a cache in some state."""
    if isinstance(state, int):
        if isinstance(penalty, PenaltyMatrix):
            start = penalty.start or (0,) * len(penalty.types)
            return start[penalty.types.index(task.type)] if state == EMPTY else 0
        return reading_cost(penalty, task) if state == EMPTY else 0
    return switch_cost(penalty, state, task)


def left_cost(penalty: Penalty, state: State) -> int:
    """Return what a cache pays when everything is written back."""
    if isinstance(state, int) or isinstance(penalty, PenaltyG):
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
    """Whether something is missing between it and the one before on its CPU."""


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
        held = state.get(one.cpu, EMPTY if model.cold_start else FREE)
        costs[one.row] = first_cost(model.penalty, FREE if one.freed else held, one.task)
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
    """What is to be scheduled: tasks wherever there is room, and those that stay where they are."""

    penalty: Penalty
    tasks: tuple[Task, ...]
    states: tuple[State, ...]
    fixed: tuple[tuple[Task, ...], ...]
    capacity: int
    final: bool
    by_worst: bool


def window_of(problem: WindowProblem) -> Window:
    """Return a problem's dispatches one by one."""
    leaves = Leaves.DIRTY if problem.exit else Leaves.CLEAN

    def task(name: str, df: str, cost: int) -> Task:
        return Task(id=name, df=df, lines=cost, leaves=leaves)

    def state(number: int) -> State:
        if number in (FREE, EMPTY):
            return number
        df = ELSEWHERE if number == FOREIGN else str(number)
        return CacheState(df=df, leaves=leaves)

    fixed = problem.fixed or ((),) * len(problem.states)
    return Window(
        penalty=PenaltyF(read_line=1, write_back=problem.exit),
        tasks=tuple(
            task(f"{fragment}.{rank}", str(fragment), problem.entry(fragment, rank))
            for fragment, size in enumerate(problem.sizes)
            for rank in range(size)
        ),
        states=tuple(map(state, problem.states)),
        fixed=tuple(
            tuple(
                task(f"evicts {cpu}.{rank}", f"evicts {cpu}.{rank}", cost)
                for rank, cost in enumerate(costs)
            )
            for cpu, costs in enumerate(fixed)
        ),
        capacity=problem.capacity,
        final=problem.final,
        by_worst=problem.by_worst,
    )


def order_cost(window: Window, state: State, order: Sequence[Task]) -> int:
    """Return what a CPU pays that runs tasks in an order."""
    cost = left_cost(window.penalty, order[-1] if order else state) if window.final else 0
    if order:
        cost += first_cost(window.penalty, state, order[0])
    return cost + sum(switch_cost(window.penalty, *pair) for pair in pairwise(order))


def least_cost(window: Window) -> int:
    """Return the cost of the best schedule of a window, by trying all of them."""
    every = (1 << len(window.tasks)) - 1
    # What the CPUs so far pay at least, for each set of tasks that they run.
    least = {0: 0}
    for state, fixed in zip(window.states, window.fixed, strict=True):
        own = {
            chosen: min(order_cost(window, state, order) for order in permutations(tasks))
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
