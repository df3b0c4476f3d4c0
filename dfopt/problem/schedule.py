"""Schedules: which tasks each CPU runs, in which order, and what that costs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import groupby

from dfopt.checks import described
from dfopt.errors import DfoptError, InstanceError
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyMatrix
from dfopt.render import MOST_CHARACTERS, counted, html
from dfopt.structs import DocumentPart, Natural
from dfopt.table import Table, columns


class DeadlockError(DfoptError):
    """Tasks on different CPUs that wait for each other."""


class CpuSchedule(DocumentPart):
    """The tasks of one CPU.

    Parameters
    ----------
    tasks
        Names of its tasks in order of execution.
    cost
        Its switch penalty; under ``makespan`` the time at which it has finished.
    starts
        When the switch to each task begins; without it nothing ever waits.
    """

    tasks: tuple[str, ...]
    cost: Natural
    starts: tuple[Natural, ...] | None = None

    def __post_init__(self) -> None:
        """Check that each task has a start, where there are any."""
        if self.starts is not None and len(self.starts) != len(self.tasks):
            raise InstanceError(
                f"has {len(self.starts)} entries but there are {len(self.tasks)} tasks; "
                "give one a task",
                place="starts",
            )


class Schedule(DocumentPart):
    """What every CPU does, in the order of the instance's CPUs."""

    cpus: tuple[CpuSchedule, ...]

    def value(self, objective: Objective) -> int:
        """Return the schedule's value under ``objective``."""
        return combined_cost(objective, [cpu.cost for cpu in self.cpus])

    def _repr_html_(self) -> str:
        """Return a table with a row for each CPU, as notebooks show it."""
        return html(self.table("schedule"))

    def table(self, title: str) -> Table:
        """Return a table with a row for each CPU, as notebooks show it."""
        rows = [
            # A name has at least one character, so what is left out here would not be shown.
            (number, cpu.cost, len(cpu.tasks), " ".join(cpu.tasks[:MOST_CHARACTERS]))
            for number, cpu in enumerate(self.cpus)
        ]
        return Table(title, columns("CPU", "cost", "number of tasks", "tasks in order"), rows)

    def visits(self, instance: Instance) -> Table:
        """Return a table with a row for each busy CPU: its cost, and its fragments in order.

        With a table of switch costs it is the types of tasks, in place of fragments.
        """
        by_type = isinstance(instance.penalty, PenaltyMatrix)
        tasks = instance.tasks_by_name()
        rows = []
        for number, cpu in enumerate(self.cpus):
            groups = (tasks[name].type if by_type else tasks[name].df for name in cpu.tasks)
            runs = [(str(group), sum(1 for _ in members)) for group, members in groupby(groups)]
            order = " ".join(f"{group}×{count}" if count > 1 else group for group, count in runs)
            if order:
                rows.append((number, len(cpu.tasks), cpu.cost, order))
        idle = len(self.cpus) - len(rows)
        called = f"{'types' if by_type else 'fragments'} in order ×tasks"
        notes = [f"{counted(idle, 'CPU')} idle"] if idle else []
        return Table("", columns("CPU", "tasks", "cost", called), rows, notes)


def combined_cost(objective: Objective, costs: Sequence[int]) -> int:
    """Return the objective's value from the costs of the CPUs."""
    return sum(costs) if objective is Objective.TOTAL_PENALTY else max(costs, default=0)


def order_cost(instance: Instance, cpu: int, order: Sequence[Task]) -> int:
    """Return F(w), the cost of running ``order`` on ``cpu`` without waiting.

    Execution times are part of it under the objective ``makespan``.
    """
    cache = instance.cache(cpu)
    cost = sum(cache.enter(instance.use(task)) for task in order) + cache.finish()
    if instance.objective is Objective.MAKESPAN:
        cost += sum(task.exec for task in order)
    return cost


def evaluate(instance: Instance, orders: Sequence[Sequence[str]]) -> Schedule:
    """Return the schedule that runs the named tasks in these orders as early as possible.

    Parameters
    ----------
    instance
        The instance that the names belong to.
    orders
        For each CPU, the names of its tasks in order of execution. Each task is in one order.

    Raises
    ------
    DfoptError
        When a task is missing, unknown or there twice, or a CPU has no order.
    DeadlockError
        When tasks on different CPUs would wait for each other for ever.
    """
    by_name = instance.tasks_by_name()
    _check_orders(instance.cpus, by_name, orders)
    tasks = [[by_name[name] for name in order] for order in orders]
    starts: list[tuple[int, ...] | None]
    if instance.is_timed:
        begun, costs = timed_run(instance, tasks)
        starts = [tuple(times) for times in begun]
    else:
        costs = [order_cost(instance, cpu, order) for cpu, order in enumerate(tasks)]
        starts = [None] * len(orders)
    return Schedule(
        cpus=tuple(
            CpuSchedule(tasks=tuple(order), cost=cost, starts=times)
            for order, cost, times in zip(orders, costs, starts, strict=True)
        )
    )


def _check_orders(cpus: int, known: Collection[str], orders: Sequence[Sequence[str]]) -> None:
    if len(orders) != cpus:
        raise DfoptError(
            f"{len(orders)} for {cpus} CPUs; give one for each, [] for a CPU without tasks",
            place="orders",
        )
    missing = dict.fromkeys(known)
    for cpu, order in enumerate(orders):
        for name in order:
            if name in missing:
                del missing[name]
                continue
            problem = "is there a second time" if name in known else "is no task of the instance"
            raise DfoptError(f"{described(name)} {problem}", place=f"orders[{cpu}]")
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise DfoptError(
            f"lack the task {described(next(iter(missing)))}{more}; "
            "each task must be in one of them",
            place="orders",
        )


def timed_run(
    instance: Instance, orders: Sequence[Sequence[Task]]
) -> tuple[list[list[int]], list[int]]:
    """Run the tasks in these orders as early as releases and predecessors allow.

    Returns
    -------
    starts : list of list of int
        When the switch to each task begins, for each CPU.
    costs : list of int
        When each CPU has finished, final write-back included.

    Raises
    ------
    DeadlockError
        When tasks on different CPUs would wait for each other for ever.
    """
    unfinished = {task.id: task.multiplicity for task in instance.tasks}
    finished_at = dict.fromkeys(unfinished, 0)
    starts: list[list[int]] = [[] for _ in orders]
    clocks = [0] * len(orders)
    caches = [instance.cache(cpu) for cpu in range(len(orders))]
    progress = True
    while progress:
        progress = False
        for cpu, order in enumerate(orders):
            for task in order[len(starts[cpu]) :]:
                if any(unfinished[name] for name in task.after):
                    break
                start = max([clocks[cpu], task.release, *(finished_at[n] for n in task.after)])
                clocks[cpu] = start + caches[cpu].enter(instance.use(task)) + task.exec
                starts[cpu].append(start)
                unfinished[task.id] -= 1
                finished_at[task.id] = max(finished_at[task.id], clocks[cpu])
                progress = True
    for cpu, order in enumerate(orders):
        if len(starts[cpu]) < len(order):
            stuck = order[len(starts[cpu])].id
            raise DeadlockError(
                f"{stuck!r} waits for ever, since its predecessors come later",
                place=f"schedule.cpus[{cpu}]",
            )
        clocks[cpu] += caches[cpu].finish()
    return starts, clocks
