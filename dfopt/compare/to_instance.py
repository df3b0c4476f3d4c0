"""The dispatches of a trace as the tasks of an instance."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator

import numpy as np

from dfopt.compare.cost_model import CostModel, lines_read, states_left, type_costs
from dfopt.compare.dispatches import Rows, dispatches_of
from dfopt.compare.written_times import Window, in_unit_of, window_starts
from dfopt.errors import DfoptError, InstanceError
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import Penalty, PenaltyF, PenaltyMatrix
from dfopt.structs import replace
from dfopt.trace import Trace
from dfopt.trace.events import Integers
from dfopt.trace.trace import LEAVES, UNMANAGED

TaskKey = tuple[int, int, int, int, int]
"""Fragment, lines, leaves, execution time and size: dispatches that agree in them are equal."""


def trace_instance(
    trace: Trace,
    model: CostModel,
    *,
    objective: Objective | None = None,
    each: bool = False,
    by_run_time: bool = False,
) -> Instance:
    """Return an instance whose tasks are the managed dispatches of a trace.

    Parameters
    ----------
    trace
        A labelled trace. Its gaps are ignored, as an instance has no times.
    model
        The costs of switches; ``"observed"`` as its capacity is the largest number of dispatches
        on one CPU.
    objective
        The objective, if not that of the model. Under ``makespan`` the execution time of a task is
        the run time of its dispatch.
    each
        Whether every dispatch is a task of its own, named after its thread: ``NAME#1``, ``NAME#2``
        and so on. Otherwise equal dispatches are one entry with a ``count``.
    by_run_time
        Whether the run time of a dispatch, at least 1, is its size. The capacity ``"observed"`` is
        then the longest time that a CPU ran managed dispatches: what ran in parallel cannot all be
        put on one CPU.

    Raises
    ------
    DfoptError
        When no dispatch is managed, or the instance would be impossible.
    """
    if model.unmanaged == "evict":
        raise InstanceError(
            "an instance cannot keep unmanaged tasks on their CPUs; treat these as transparent "
            "(`unmanaged=transparent`)"
        )
    if isinstance(model.penalty, PenaltyMatrix):
        type_costs(trace, model.penalty)
    managed = np.flatnonzero(trace.fragment != UNMANAGED)
    if not len(managed):
        raise DfoptError("has no managed dispatch; label it, such as by process (`labels=tgid`)")
    objective = objective or model.objective
    timed = objective is Objective.MAKESPAN
    keys = _task_keys(trace, model, managed, timed=timed, by_run_time=by_run_time)
    sizes = np.array([key[-1] for key in keys], np.int64)
    return Instance(
        name=trace.header.name,
        source=trace.header.source,
        # Changes of fragment are counted, not timed.
        time_unit=None if model.counts_switches and not timed else trace.header.time_unit,
        cpus=trace.cpus,
        penalty=_counting(model),
        objective=objective,
        cold_start=model.cold_start,
        final_write_back=model.final_write_back,
        capacity=(
            max(int(sizes[trace.cpu[managed] == cpu].sum()) for cpu in range(trace.cpus))
            if model.capacity == "observed"
            else model.capacity
        ),
        tasks=_single_tasks(trace, model, managed, keys) if each else _classes(trace, model, keys),
    )


def _counting(model: CostModel) -> Penalty:
    """Return the penalty without the parameters that do not count: an instance warns of those."""
    if not isinstance(model.penalty, PenaltyMatrix):
        return model.penalty
    return replace(
        model.penalty,
        start=model.penalty.start if model.cold_start else None,
        finish=model.penalty.finish if model.final_write_back else None,
    )


def trace_window(
    trace: Trace, model: CostModel, window: Window, number: int
) -> tuple[Trace, CostModel]:
    """Return the managed dispatches of one window, and the costs that hold for it.

    Parameters
    ----------
    trace, model
        As in :func:`trace_instance`.
    window
        The length.
    number
        The number of the window, from 1. Cold starts concern only the first window, final
        write-backs only the last one.

    Raises
    ------
    DfoptError
        When there is no such window.
    MethodError
        When the trace's unit of time cannot express its length.
    """
    dispatches = dispatches_of(trace, replace(model, unmanaged="transparent"))
    starts = window_starts(dispatches, in_unit_of(trace, window))
    if not 1 <= number <= len(starts):
        raise DfoptError(
            f"has no window {number} of length {window.label}; it has {len(starts)}, counted from 1"
        )
    end = starts[number] if number < len(starts) else len(dispatches)
    part = trace.chosen(dispatches.row[starts[number - 1] : end])
    costs = replace(
        model,
        cold_start=model.cold_start and number == 1,
        final_write_back=model.final_write_back and number == len(starts),
    )
    return part, costs


def _task_keys(
    trace: Trace, model: CostModel, rows: Rows, *, timed: bool, by_run_time: bool
) -> list[TaskKey]:
    """Return the key of each of these dispatches."""
    fragment = trace.fragment[rows]
    nothing = np.zeros(len(rows), np.int64)
    lines: Integers = nothing
    leaves: Integers = nothing
    if isinstance(model.penalty, PenaltyF):
        lines, leaves = lines_read(trace, model)[rows], states_left(trace, model)[rows]
    length = (trace.end - trace.start)[rows]
    run_time = length if timed else nothing
    size = np.maximum(length, 1) if by_run_time else np.ones(len(rows), np.int64)
    columns = (fragment, lines, leaves, run_time, size)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _task(trace: Trace, model: CostModel, key: TaskKey, name: str, count: int | None) -> Task:
    fragment, lines, leaves, run_time, size = key
    by_type = isinstance(model.penalty, PenaltyMatrix)
    return Task(
        id=name,
        df=None if by_type else trace.fragments[fragment],
        type=trace.fragments[fragment] if by_type else None,
        lines=lines if isinstance(model.penalty, PenaltyF) else None,
        leaves=LEAVES[leaves],
        exec=run_time,
        size=size,
        count=count,
    )


def _single_tasks(
    trace: Trace, model: CostModel, rows: Rows, keys: list[TaskKey]
) -> tuple[Task, ...]:
    """Return a task for each dispatch, named after its thread and the number of the dispatch."""
    seen: Counter[int] = Counter()
    tasks = []
    for number, key in zip(trace.task[rows].tolist(), keys, strict=True):
        seen[number] += 1
        name = f"{trace.tasks[number].name}#{seen[number]}"
        tasks.append(_task(trace, model, key, name, None))
    return tuple(tasks)


def _classes(trace: Trace, model: CostModel, keys: list[TaskKey]) -> tuple[Task, ...]:
    """Return a task with a count for each key, named after its fragment."""
    counts = Counter(keys)
    several = Counter(fragment for fragment, *_ in counts)
    taken = set(trace.fragments)
    tasks = []
    for key, count in sorted(counts.items()):
        name = trace.fragments[key[0]]
        if several[key[0]] > 1:
            name = next(one for one in _numbered(name) if one not in taken)
            taken.add(name)
        tasks.append(_task(trace, model, key, name, count))
    return tuple(tasks)


def _numbered(name: str) -> Iterator[str]:
    return (f"{name}/{number}" for number in itertools.count(1))
