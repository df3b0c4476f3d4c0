"""A schedule laid out along a line: the tasks and penalties of each CPU, with start and end.

Nothing here draws; positions are in the instance's time unit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from math import floor, log10

from dfopt.errors import DfoptError
from dfopt.problem.cache import CacheState, InitialState
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import Penalty, PenaltyF, PenaltyG, PenaltyMatrix
from dfopt.problem.schedule import CpuSchedule, Schedule
from dfopt.structs import Record

PENALTY_SHARE = 0.4
"""The share of the longest row that penalties take where all tasks are drawn equally wide."""


class ChargeKind(StrEnum):
    """What a penalty is paid for."""

    WRITE_BACK = "write-back"
    READING = "reading"
    SWITCH = "switch"


class Charge(Record):
    """A penalty.

    Parameters
    ----------
    kind
        The reason of the penalty; penalties from a table are not told apart.
    group
        The fragment that is written back or read; the type that is switched to.
    start, amount
        Where it begins and how long it is.
    """

    kind: ChargeKind
    group: str
    start: float
    amount: int


class TaskRun(Record):
    """Tasks of one group that follow each other without penalty or wait.

    Parameters
    ----------
    group
        Their fragment, or type.
    names
        Their names.
    edges
        Where each begins, and where the last one ends: one more than there are names.
    """

    group: str
    names: tuple[str, ...]
    edges: tuple[float, ...]


class CpuTimeline(Record):
    """What one CPU does, in order of time.

    Parameters
    ----------
    runs, charges
        Its tasks, and its penalties.
    switches
        What the switch to each task costs; that after the last one is added to the last.
    end, cost
        When it has finished, and what it costs.
    """

    runs: tuple[TaskRun, ...]
    charges: tuple[Charge, ...]
    switches: tuple[int, ...]
    end: float
    cost: int


def group_of(penalty: Penalty, holder: Task | CacheState) -> str:
    """Return the fragment of a task or cache, or its type where the penalty is a table."""
    return str(holder.type if isinstance(penalty, PenaltyMatrix) else holder.df)


def is_to_scale(instance: Instance) -> bool:
    """Return whether execution times have a length: only ``makespan`` counts them."""
    return instance.objective is Objective.MAKESPAN and (
        instance.is_timed or any(task.exec for task in instance.tasks)
    )


def nominal_width(schedule: Schedule) -> float:
    """Return a round width for every task, so that rows show their order and penalties both."""
    largest = max((cpu.cost for cpu in schedule.cpus), default=0)
    longest = max((len(cpu.tasks) for cpu in schedule.cpus), default=0)
    if not largest or not longest:
        return 1
    width = largest * (1 - PENALTY_SHARE) / PENALTY_SHARE / longest
    magnitude: float = 10.0 ** floor(log10(width))
    round_widths = (factor * magnitude for factor in (1, 2, 5))
    return max((candidate for candidate in round_widths if candidate <= width), default=magnitude)


def timeline(
    instance: Instance, schedule: Schedule, *, task_width: float | None = None
) -> tuple[CpuTimeline, ...]:
    """Return the tasks and penalties of each CPU, with start and end.

    Parameters
    ----------
    instance, schedule
        A schedule and the instance it belongs to.
    task_width
        The length of every task; None gives each its execution time.

    Raises
    ------
    DfoptError
        When the schedule does not belong to the instance, or its costs are wrong.
    """
    if len(schedule.cpus) != instance.cpus:
        raise DfoptError(
            f"has {len(schedule.cpus)} CPUs, but the instance has {instance.cpus}",
            place="schedule.cpus",
        )
    tasks = instance.tasks_by_name()
    rows = []
    for cpu, planned in enumerate(schedule.cpus):
        place = f"schedule.cpus[{cpu}]"
        for name in planned.tasks:
            if name not in tasks:
                raise DfoptError(f"the instance has no task {name!r}", place=f"{place}.tasks")
        if instance.is_timed and planned.tasks and planned.starts is None:
            raise DfoptError(
                "must say when each task starts, since some have to wait", place=f"{place}.starts"
            )
        row = _row(instance, cpu, planned, [tasks[name] for name in planned.tasks], task_width)
        if row.cost != planned.cost:
            raise DfoptError(
                f"is {planned.cost}, but these tasks cost {row.cost}", place=f"{place}.cost"
            )
        rows.append(row)
    return tuple(rows)


def _row(
    instance: Instance,
    cpu: int,
    planned: CpuSchedule,
    order: Sequence[Task],
    task_width: float | None,
) -> CpuTimeline:
    counts_time = task_width is None and instance.objective is Objective.MAKESPAN
    begun = planned.starts if instance.is_timed and task_width is None else None
    charges: list[Charge] = []
    switches: list[int] = []
    starts: list[float] = []
    ends: list[float] = []
    clock: float = 0
    cache = instance.cache(cpu)
    held: Task | InitialState = instance.initial_states[cpu]
    for position, task in enumerate(order):
        if begun is not None:
            if begun[position] < clock:
                raise DfoptError(
                    "is before the end of the task ahead",
                    place=f"schedule.cpus[{cpu}].starts[{position}]",
                )
            clock = begun[position]
        switches.append(cache.enter(instance.use(task)))
        for kind, group, amount in _switch_parts(instance.penalty, held, task, switches[-1]):
            if amount:
                charges.append(Charge(kind=kind, group=group, start=clock, amount=amount))
            clock += amount
        starts.append(clock)
        clock += task.exec if task_width is None else task_width
        ends.append(clock)
        held = task
    # A CPU that runs nothing writes back what its cache held at the start.
    if isinstance(held, Task | CacheState) and (amount := cache.finish()):
        by_table = isinstance(instance.penalty, PenaltyMatrix)
        kind = ChargeKind.SWITCH if by_table else ChargeKind.WRITE_BACK
        group = group_of(instance.penalty, held)
        charges.append(Charge(kind=kind, group=group, start=clock, amount=amount))
        clock += amount
        if order:
            switches[-1] += amount
    groups = [group_of(instance.penalty, task) for task in order]
    return CpuTimeline(
        runs=_runs(groups, planned.tasks, starts, ends),
        charges=tuple(charges),
        switches=tuple(switches),
        end=clock,
        cost=int(clock) if counts_time else sum(charge.amount for charge in charges),
    )


def _switch_parts(
    penalty: Penalty, held: Task | InitialState, task: Task, cost: int
) -> Iterator[tuple[ChargeKind, str, int]]:
    """Yield the parts of a switch to ``task``: first the write-back, then the reading."""
    new = group_of(penalty, task)
    match penalty:
        case PenaltyMatrix():
            yield ChargeKind.SWITCH, new, cost
            return
        case PenaltyG(fill=fill):
            reading = min(fill, cost)
        case PenaltyF():
            reading = min(penalty.reading(task.lines or 0), cost)
    old = group_of(penalty, held) if isinstance(held, Task | CacheState) else new
    if isinstance(held, Task | CacheState) and old == new:
        reading = 0
    yield ChargeKind.WRITE_BACK, old, cost - reading
    yield ChargeKind.READING, new, reading


def _runs(
    groups: Sequence[str], names: Sequence[str], starts: Sequence[float], ends: Sequence[float]
) -> tuple[TaskRun, ...]:
    runs = []
    first = 0
    for after in range(1, len(names) + 1):
        if (
            after < len(names)
            and starts[after] == ends[after - 1]
            and groups[after] == groups[first]
        ):
            continue
        runs.append(
            TaskRun(
                group=groups[first],
                names=tuple(names[first:after]),
                edges=(*starts[first:after], ends[after - 1]),
            )
        )
        first = after
    return tuple(runs)
