"""Check a schedule that stands in a file as a trace, against the recording whose schedule it is."""

from __future__ import annotations

import numpy as np

from dfopt.compare.attainable.check import WaitingLimit, check_schedule, checked_cost
from dfopt.compare.dispatches import Dispatches
from dfopt.errors import FileError
from dfopt.trace import Trace
from dfopt.trace.events import Integers
from dfopt.trace.service import percentile
from dfopt.trace.trace import UNMANAGED
from dfopt.verify import ScheduleFigures, Verification


def verify_schedule(
    recorded: Trace, dispatches: Dispatches, scheduled: Trace, *, timeline_only: bool = False
) -> Verification:
    """Return what is found about a schedule.

    Parameters
    ----------
    recorded
        The recorded trace, with its labels.
    dispatches
        What :func:`~dfopt.compare.dispatches.movable_dispatches` says of it.
    scheduled
        The same dispatches at other times and on other CPUs, as
        :func:`~dfopt.compare.attainable.export.schedule_trace` gives them.
    timeline_only
        Whether it is unknown when dispatches were ready. Then each has to start as recorded.

    Raises
    ------
    FileError
        When ``scheduled`` has other dispatches than ``recorded``.
    """
    schedule = schedule_of(recorded, dispatches, scheduled)
    waits = np.sort(schedule.waits)
    wait = 0 if timeline_only else _wait_to_permit(schedule)
    problems = check_schedule(schedule, WaitingLimit(each=wait))
    return Verification(
        ok=not problems,
        objective=checked_cost(schedule),
        lower_bound=None,
        bound_checked=False,
        problems=tuple(problems),
        schedule=ScheduleFigures(
            recorded_cost=checked_cost(dispatches),
            permitted_wait=wait,
            total_wait=None if timeline_only else int(waits.sum()),
            p99_wait=None if timeline_only else percentile(waits, 99),
        ),
    )


def _wait_to_permit(schedule: Dispatches) -> int:
    """Return the least wait with which no dispatch is late."""
    ready = np.maximum(schedule.ready_from, schedule.previous_end)
    late = schedule.start > np.maximum(schedule.recorded, ready)
    return int((schedule.start - ready)[late].max(initial=0))


def schedule_of(recorded: Trace, dispatches: Dispatches, scheduled: Trace) -> Dispatches:
    """Return where and when another trace runs the dispatches of a recording.

    The dispatches of each task stand in the same order in both.

    Raises
    ------
    FileError
        When it has other dispatches, or moves those that keep their place.
    """
    if len(scheduled) != len(recorded):
        raise FileError(
            f"has {len(scheduled):,} dispatches, and the recording has {len(recorded):,}; "
            "name a schedule of this trace"
        )
    if (scheduled.fragment == UNMANAGED).all():
        raise FileError(
            "does not say which fragments its dispatches use; name a schedule that was saved with "
            "its labels"
        )
    task = _tasks_of(recorded, scheduled)
    # What has no length may be written a little later than it was scheduled.
    ours, theirs = (
        np.lexsort((trace.end, trace.start, trace.start == trace.end, tasks))
        for trace, tasks in ((recorded, recorded.task), (scheduled, task))
    )
    # By row of the recording, the row of the schedule.
    row = np.empty(len(recorded), np.intp)
    row[ours] = theirs
    fragments = {name: number for number, name in enumerate(recorded.fragments)}
    of_schedule = [fragments.get(name, len(fragments)) for name in scheduled.fragments]
    fragment = np.array([*of_schedule, UNMANAGED])[scheduled.fragment]
    length = (scheduled.end - scheduled.start)[row]
    keeps = np.ones(len(recorded), bool)
    keeps[dispatches.row] = False
    moves = (scheduled.start[row] != recorded.start) | (scheduled.cpu[row] != recorded.cpu)
    wrong = {
        "has another task": task[row] != recorded.task,
        "has another length": length != recorded.end - recorded.start,
        "has another fragment": fragment[row] != recorded.fragment,
        "is moved, but its task is not managed": keeps & moves,
        "is on a CPU that the recording does not have": ~np.isin(
            scheduled.cpu[row], dispatches.cpu_number
        ),
    }
    for problem, is_wrong in wrong.items():
        if is_wrong.any():
            one = np.argmax(is_wrong)
            raise FileError(
                f"the dispatch of task {recorded.tasks[recorded.task[one]].name} that the "
                f"recording has at {recorded.start[one]}, and the schedule at "
                f"{scheduled.start[row[one]]}, {problem}; name a schedule of this trace"
            )
    cpu = np.searchsorted(dispatches.cpu_number, scheduled.cpu[row][dispatches.row])
    return dispatches.moved(cpu, scheduled.start[row][dispatches.row])


def _tasks_of(recorded: Trace, scheduled: Trace) -> Integers:
    """Return the number in the recording of the task of each scheduled dispatch."""
    numbers = {task.name: number for number, task in enumerate(recorded.tasks)}
    for task in scheduled.tasks:
        if task.name not in numbers:
            raise FileError(
                f"has the task {task.name!r}, and the recording does not; name a schedule of this "
                "trace"
            )
    return np.array([numbers[task.name] for task in scheduled.tasks])[scheduled.task]
