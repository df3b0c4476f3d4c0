"""A schedule of an instance as a trace: made by a solver, by a policy or by hand."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from dfopt.problem.instance import Instance
from dfopt.problem.penalties import PenaltyF
from dfopt.problem.schedule import Schedule
from dfopt.problem.timeline import group_of, timeline
from dfopt.trace.events import Integers
from dfopt.trace.quality import Quality
from dfopt.trace.trace import Dispatch, Lengths, Trace, TraceHeader, trace_of_dispatches


def trace_from_schedule(
    instance: Instance, schedule: Schedule, *, policy: str | None = None
) -> Trace:
    """Return a schedule as the trace that its tasks would leave.

    Before each task its switch takes as long as it costs; then the task runs for its execution
    time, or for one unit if no task has any.

    Parameters
    ----------
    instance, schedule
        A schedule and the instance it belongs to.
    policy
        Name of the policy that made the schedule, for the header.

    Raises
    ------
    DfoptError
        When the schedule does not belong to the instance, or its costs are wrong.

    See Also
    --------
    schedule_costs : The cost of the switch to each of its dispatches.
    """
    dispatches = [dispatch for dispatch, _ in _placed(instance, schedule)]
    return trace_of_dispatches(
        dispatches,
        cpus=instance.cpus,
        header=TraceHeader(
            name=instance.name,
            source=instance.source,
            policy=policy,
            time_unit=instance.time_unit,
            lengths=Lengths.WITHOUT_SWITCHES,
            penalty=instance.penalty,
            objective=instance.objective,
            cold_start=instance.cold_start,
            final_write_back=instance.final_write_back,
            # Sizes are no part of a trace, and dispatches of different sizes cannot be counted.
            capacity=None if instance.has_sizes else instance.capacity,
        ),
        quality=Quality(events=len(dispatches)),
    )


def schedule_costs(instance: Instance, schedule: Schedule) -> Integers:
    """Return the cost of the switch to each dispatch of a schedule's trace, row by row.

    The cost after the last task of a CPU counts with that task. So the sum of all rows is the sum
    of the penalties of the CPUs that have a task; an idle CPU, which may pay for writing back what
    its cache held, has no row.

    Raises
    ------
    DfoptError
        When the schedule does not belong to the instance, or its costs are wrong.
    """
    return np.array([cost for _, cost in _placed(instance, schedule)], np.int64)


def _placed(instance: Instance, schedule: Schedule) -> list[tuple[Dispatch, int]]:
    """Return the dispatches of a schedule, ordered by start, and the costs of the switches."""
    # Where tasks wait for each other, their times are given with the schedule.
    has_length = instance.is_timed or any(task.exec for task in instance.tasks)
    rows = timeline(instance, schedule, task_width=None if has_length else 1)
    by_name = instance.tasks_by_name()
    has_lines = isinstance(instance.penalty, PenaltyF)
    placed = []
    for cpu, row in enumerate(rows):
        edges = [
            (name, *edges)
            for run in row.runs
            for name, edges in zip(run.names, pairwise(run.edges), strict=True)
        ]
        for (name, start, end), cost in zip(edges, row.switches, strict=True):
            task = by_name[name]
            dispatch = Dispatch(
                cpu=cpu,
                start=int(start),
                end=int(end),
                task=name,
                fragment=group_of(instance.penalty, task),
                lines=task.lines if has_lines else None,
                leaves=task.leaves if has_lines else None,
            )
            placed.append((dispatch, cost))
    return sorted(placed, key=lambda row: row[0].start)
