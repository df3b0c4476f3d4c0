"""Schedules as traces of their own: written, also a frontier in a folder, and checked when read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from msgspec.structs import asdict

from dfopt.compare.attainable.bound.proof_document import SavedProof, digest_of, write_proof
from dfopt.compare.attainable.check import WaitingLimit, check_schedule, checked_cost
from dfopt.compare.attainable.frontier import FrontierRow, Scheduling, WaitingFrontier
from dfopt.compare.cost_model import CostModel
from dfopt.compare.dispatches import NONE, Dispatches, movable_or_timeline
from dfopt.errors import FileError
from dfopt.structs import replace
from dfopt.time_units import exact_time
from dfopt.trace.events import Flags, Integers, Marks, Numbers, Wakeups
from dfopt.trace.formats import write_trace
from dfopt.trace.service import percentile
from dfopt.trace.trace import UNMANAGED, Trace
from dfopt.verify import ScheduleFigures, Verification


def schedule_trace(trace: Trace, dispatches: Dispatches, *, policy: str | None = None) -> Trace:
    """Return the trace that would have been recorded if the dispatches had run as scheduled.

    Parameters
    ----------
    trace
        The labelled trace of which the schedule is.
    dispatches
        Where and when each runs that may move. All others, and the gaps, keep their places.
    policy
        The name of what decided so; by default that of the trace.

    Notes
    -----
    Each dispatch that does not go on with another one is woken when it is ready in the schedule.
    Marks are left out, because the dispatches have their labels.
    """
    cpu, start, end = trace.cpu.copy(), trace.start.copy(), trace.end.copy()
    cpu[dispatches.row] = np.array(dispatches.cpu_number)[dispatches.cpu]
    start[dispatches.row] = dispatches.start
    end[dispatches.row] = dispatches.end
    _leave_runs_whole(cpu, start, end)
    moved = np.zeros(len(trace.tasks), bool)
    moved[dispatches.task] = True
    wakeups = trace.wakeups
    if len(wakeups.time):
        wakeups = _kept(wakeups, moved).joined(_ready(dispatches))
        wakeups = wakeups.chosen(np.argsort(wakeups.time, kind="stable"))
    return replace(
        replace(trace, cpu=cpu, start=start, end=end).chosen(np.lexsort((end, start))),
        wakeups=wakeups,
        first_wakeups=_kept(trace.first_wakeups, moved),
        marks=Marks(),
        header=replace(trace.header, policy=policy or trace.header.policy, assumed=None),
    )


def _leave_runs_whole(cpu: Numbers, start: Integers, end: Integers) -> None:
    """Move what has no length and now lies within a run to the end of this run."""
    empty = np.flatnonzero(start == end)
    for number in np.unique(cpu[empty]):
        runs = np.flatnonzero((cpu == number) & (start < end))
        runs = runs[np.argsort(start[runs], kind="stable")]
        own = empty[cpu[empty] == number]
        before = np.searchsorted(start[runs], start[own]) - 1
        own, run = own[before >= 0], runs[before[before >= 0]]
        inside = end[run] > start[own]
        start[own[inside]] = end[own[inside]] = end[run[inside]]


def _ready(dispatches: Dispatches) -> Wakeups:
    """Return a wake-up for each dispatch that does not go on, at the time when it is ready."""
    waker, task = dispatches.waker, dispatches.task
    wakeups = Wakeups(
        time=dispatches.start - dispatches.waits,
        waker=np.where(waker == NONE, NONE, task[waker]).astype(np.int32),
        woken=task,
    )
    return wakeups.chosen(~dispatches.continues)


def _kept(wakeups: Wakeups, moved: Flags) -> Wakeups:
    """Return the wake-ups of the tasks of which no dispatch moves."""
    return wakeups.chosen(~moved[wakeups.woken] | (wakeups.woken < 0))


def save_frontier(folder: Path, frontier: WaitingFrontier, trace: Trace, model: CostModel) -> None:
    """Write the schedule of each row but the recorded one, and the proofs of its bounds.

    Each file is written as a whole or not at all.

    Parameters
    ----------
    folder
        Where to write; it exists.
    frontier, trace, model
        The rows, of which trace they are, and under which model.

    Raises
    ------
    FileError
        When a file cannot be written.
    """
    if not frontier.rows:
        return
    dispatches, _ = movable_or_timeline(trace, model)
    digest = digest_of(dispatches)
    for row in frontier.rows:
        if row.schedule is None or row.scheduling is Scheduling.RECORDED:
            continue
        name = file_name(row, trace.header.time_unit)
        policy = name.replace("-", " ")
        write_trace(schedule_trace(trace, row.schedule, policy=policy), folder / f"{name}.jsonl")
        for proof in row.proofs:
            bound = row.bound_with_lengths if proof.uses_lengths else row.bound
            assert bound is not None, "what is proven has a value"
            saved = SavedProof(
                trace=trace.header.name or "trace",
                sha256=digest,
                model=model,
                lower_bound=bound,
                **asdict(proof),
            )
            ending = ".with-lengths.proof.json" if proof.uses_lengths else ".proof.json"
            write_proof(folder / f"{name}{ending}", saved)


def file_name(row: FrontierRow, unit: str | None) -> str:
    """Return the name of a row's file, without its ending."""
    limit = row.wait if row.scheduling is Scheduling.LONGEST_WAIT else row.patience
    name = str(row.scheduling).replace(" ", "-")
    return name if limit is None else f"{name}-{exact_time(limit, unit)}"


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
        :func:`schedule_trace` gives them.
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
