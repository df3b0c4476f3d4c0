"""What an instance or a trace holds, in figures: the documents ``dfopt-info/1``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Literal

import numpy as np

from dfopt.costs.task_types import task_types
from dfopt.files import fingerprint
from dfopt.files.documents import DocumentType
from dfopt.files.formats import Format
from dfopt.problem.cache import CacheState, InitialState, Leaves
from dfopt.problem.instance import Instance, Objective
from dfopt.problem.penalties import Penalty, PenaltyF, PenaltyG, PenaltyMatrix
from dfopt.render import counted, share
from dfopt.solvers.search import Search
from dfopt.solvers.sizes import packings
from dfopt.structs import (
    DERIVED_DIGITS,
    Digest,
    DocumentPart,
    Natural,
    NonNegative,
    Positive,
    Share,
    Signed,
    document_of,
    each_of,
)
from dfopt.table import Table, Value, columns, facts
from dfopt.time_units import full_time, readable_time
from dfopt.trace.fragment_titles import CommCount, comms_of_inferred, process_names, title
from dfopt.trace.parallel_fragments import same_fragment_share
from dfopt.trace.quality import LabelledQuality
from dfopt.trace.service import service_of
from dfopt.trace.trace import UNMANAGED, Assumed, Trace

LARGEST_SHOWN = 10
"""At most this many fragments are listed; the JSON document has them all."""


class MatrixSize(DocumentPart, tag="matrix", tag_field="kind"):
    """The size of a matrix, which may be large, and its largest cost.

    Parameters
    ----------
    types
        How many types it has.
    largest_switch
        The largest cost of a switch.
    start, finish
        Whether first tasks, and last ones, have costs of their own.
    """

    types: Positive
    largest_switch: Natural
    start: bool
    finish: bool


class HeldData(DocumentPart):
    """What a cache holds.

    Parameters
    ----------
    df, leaves
        The fragment, and the state it was left in (f and g).
    type
        The type of the task that ran last (matrix).
    """

    df: str | None = None
    leaves: Leaves | None = None
    type: str | None = None

    def __str__(self) -> str:
        """Return it in words."""
        return " ".join(filter(None, (self.df, self.leaves, self.type)))


class SizeRange(DocumentPart):
    """The sizes of tasks.

    Parameters
    ----------
    smallest, largest
        The smallest and the largest of them.
    total
        Of all tasks together.
    room
        What fits on a CPU.
    """

    smallest: Natural
    largest: Natural
    total: Natural
    room: Natural


class TaskGroup(DocumentPart):
    """The tasks of a fragment or of a type.

    Parameters
    ----------
    df, type
        The fragment, or the type under a matrix.
    tasks
        The number of its tasks.
    share
        Of all tasks.
    """

    df: str | None = None
    type: str | None = None
    tasks: Natural
    share: Share


class InstanceInfo(DocumentPart, tag="instance", tag_field="kind"):
    """What an instance holds.

    Parameters
    ----------
    name
        What it is called.
    description, source
        Its labels.
    time_unit
        The unit of all times.
    sha256
        The digest of its document, by which results name it.
    objective
        What is minimised.
    penalty
        What a CPU pays to go from one task to the next; of a matrix only the size.
    cold_start
        Whether the first task on an empty cache pays for loading its data.
    final_write_back
        Whether the last task on a CPU pays for writing back what it did not leave clean.
    cpus
        Number of CPUs.
    capacity
        The largest number of tasks that a CPU may hold, as the instance says it.
    tasks_per_cpu
        The largest number of tasks on a CPU: the capacity, or where sizes count, how many of the
        smallest tasks fit.
    feasible
        Whether all tasks find room; None where tasks have sizes and a first look does not tell.
    missing_capacity
        Number of tasks that certainly find no room; where sizes count, their size.
    sizes
        The sizes of the tasks; None where all are 1.
    initial
        What each CPU's cache holds before its first task; None is an empty cache.
    tasks
        Number of tasks, copies included.
    task_types
        Number of classes of tasks that cost the same.
    leaves
        How many tasks leave their fragment in which state (f); None under other penalties.
    exec
        Execution times of all tasks together; None unless the objective is makespan.
    released, waiting
        Tasks that are released after 0, and those that wait for others.
    fragments
        The fragments with the number of their tasks, the largest first; None under a matrix.
    types
        The same for the types of a matrix; None under other penalties.
    """

    name: str | None
    description: str | None
    source: str | None
    time_unit: str | None
    sha256: Digest
    objective: Objective
    penalty: PenaltyF | PenaltyG | MatrixSize
    cold_start: bool
    final_write_back: bool
    cpus: Positive
    capacity: Positive | Literal["balanced", "unlimited"]
    tasks_per_cpu: Natural
    feasible: bool | None
    missing_capacity: Natural
    sizes: SizeRange | None
    initial: tuple[HeldData | str | None, ...]
    tasks: Natural
    task_types: Natural
    leaves: Annotated[dict[Leaves, Natural], each_of(Leaves)] | None
    exec: Natural | None
    released: Natural
    waiting: Natural
    fragments: tuple[TaskGroup, ...] | None
    types: tuple[TaskGroup, ...] | None

    def tables(self) -> list[Table]:
        """Return the figures, and the groups of tasks."""
        noun = "type" if self.fragments is None else "fragment"
        found = self.fragments or self.types or ()
        groups = [(one.df or one.type, one.tasks, one.share) for one in found]
        penalty = document_of(self.penalty)
        penalty_name = penalty.pop("kind")
        parameters = ", ".join(f"{key} {_shown(value)}" for key, value in penalty.items())
        flags = [flag for flag in ("cold_start", "final_write_back") if getattr(self, flag)]
        sizes = self.sizes
        capacity = f"at most {self.tasks_per_cpu} tasks a CPU"
        if sizes:
            capacity = f"at most a size of {sizes.room} on a CPU"
        if isinstance(self.capacity, str):
            capacity = f"{self.capacity}, {capacity}"
        rows: dict[str, Value] = {
            "name": self.name,
            "description": self.description,
            "source": self.source,
            "time unit": self.time_unit,
            "sha256": self.sha256,
            "objective": self.objective,
            "penalty": f"{penalty_name}: {parameters}",
            "flags": ", ".join(flags) or "none",
            "CPUs": self.cpus,
            "capacity": capacity,
            "feasible": self._feasibility(),
            "initial": self._caches(),
            "tasks": self.tasks,
            "sizes": None
            if sizes is None
            else f"{sizes.smallest} to {sizes.largest}, {sizes.total} in all",
            "task types": f"{self.task_types}; tasks of one type cost the same",
            "leaves": None if self.leaves is None else _distribution(self.leaves),
            "exec": f"{self.exec} in all" if self.exec else None,
            "release": f"{self.released} tasks" if self.released else None,
            "after": f"{self.waiting} tasks wait for others" if self.waiting else None,
        }
        largest = Table(counted(len(groups), noun), columns(noun, "tasks", "share :.1%"), groups)
        return [facts(rows), largest.largest(LARGEST_SHOWN, "tasks", "share")]

    def _feasibility(self) -> str:
        """Return whether all tasks find room, and if not, how many do not."""
        if self.feasible:
            return "yes"
        if self.feasible is None:
            return "not known before a search: the sizes are hard to pack"
        missing = f"{self.missing_capacity} of {self.tasks} tasks"
        if self.sizes:
            missing = f"tasks of a size of {self.missing_capacity}"
        return f"no, there is no room for {missing}; raise capacity or cpus"

    def _caches(self) -> str:
        """Return what the caches hold at the start."""
        held = [
            f"CPU {cpu}: {state}" for cpu, state in enumerate(self.initial) if state is not None
        ]
        if len(held) < len(self.initial):
            held.append("others empty" if held else "all caches empty")
        return "; ".join(held)


INSTANCE_INFO = DocumentType(Format.INFO, InstanceInfo)


def instance_info(instance: Instance) -> InstanceInfo:
    """Return what an instance holds.

    Its fragments, or its types under a matrix, come with the number of their tasks, the largest
    first.
    """
    group = "type" if isinstance(instance.penalty, PenaltyMatrix) else "df"
    sizes: Counter[str] = Counter()
    leaves: Counter[Leaves] = Counter()
    for task in instance.tasks:
        sizes[getattr(task, group)] += task.multiplicity
        leaves[task.leaves] += task.multiplicity
    count = instance.task_count
    groups = tuple(
        TaskGroup(**{group: name}, tasks=size, share=round(size / count, DERIVED_DIGITS))
        for name, size in sorted(sizes.items(), key=lambda item: (-item[1], item[0]))
    )
    left = {state: leaves[state] for state in Leaves}
    runs = instance.objective is Objective.MAKESPAN
    return InstanceInfo(
        name=instance.name,
        description=instance.description,
        source=instance.source,
        time_unit=instance.time_unit,
        sha256=fingerprint(instance),
        objective=instance.objective,
        penalty=_penalty(instance.penalty),
        cold_start=instance.cold_start,
        final_write_back=instance.final_write_back,
        cpus=instance.cpus,
        capacity=instance.capacity,
        tasks_per_cpu=instance.tasks_per_cpu,
        feasible=_is_feasible(instance),
        missing_capacity=instance.missing_capacity,
        sizes=_sizes(instance),
        initial=tuple(map(_cache, instance.initial_states)),
        tasks=count,
        task_types=len(task_types(instance)),
        leaves=left if isinstance(instance.penalty, PenaltyF) else None,
        exec=sum(task.exec * task.multiplicity for task in instance.tasks) if runs else None,
        released=sum(task.multiplicity for task in instance.tasks if task.release),
        waiting=sum(task.multiplicity for task in instance.tasks if task.after),
        fragments=groups if group == "df" else None,
        types=groups if group == "type" else None,
    )


def _is_feasible(instance: Instance) -> bool | None:
    """Return whether all tasks find room; None where a first look does not tell."""
    if instance.missing_capacity:
        return False
    if not instance.has_sizes or next(packings(Search(instance), attempts=1), None) is not None:
        return True
    return None


def _sizes(instance: Instance) -> SizeRange | None:
    sizes = [task.size for task in instance.tasks]
    if max(sizes, default=1) == 1:
        return None
    total = sum(task.size * task.multiplicity for task in instance.tasks)
    if isinstance(instance.capacity, int):
        room = instance.capacity
    elif instance.has_sizes or min(sizes) == max(sizes):
        room = instance.room * instance.size_unit
    else:
        room = total  # all tasks fit on a CPU
    return SizeRange(smallest=min(sizes), largest=max(sizes), total=total, room=room)


def _penalty(penalty: Penalty) -> PenaltyF | PenaltyG | MatrixSize:
    if not isinstance(penalty, PenaltyMatrix):
        return penalty
    return MatrixSize(
        types=len(penalty.types),
        largest_switch=max(max(row) for row in penalty.switch),
        start=penalty.start is not None,
        finish=penalty.finish is not None,
    )


def _cache(state: InitialState) -> HeldData | str | None:
    if not isinstance(state, CacheState):
        return state
    if state.type is not None:
        return HeldData(type=state.type)
    return HeldData(df=state.df, leaves=state.leaves)


def _shown(value: object) -> str:
    """Return a value in words."""
    return {True: "given", False: "none"}[value] if isinstance(value, bool) else str(value)


def _distribution(counts: Mapping[Leaves, int]) -> str:
    """Return counts with their shares."""
    total = max(1, sum(counts.values()))
    return ", ".join(f"{name} {count} ({count / total:.0%})" for name, count in counts.items())


MOST_CPUS = 8
"""At most this many CPUs are listed one by one."""

ASSUMED = {
    Assumed.CPUS: "on which CPU each dispatch ran",
    Assumed.STARTS: "when and on which CPU each dispatch ran",
}


class BusyShares(DocumentPart):
    """The shares of the time from the first start to the last end in which CPUs ran a task.

    Parameters
    ----------
    share
        Of all CPUs together.
    shares
        Of each CPU.
    """

    share: Share
    shares: tuple[Share, ...]


class KnownWaitFigures(DocumentPart):
    """How long dispatches waited: those with a fragment if there are any, otherwise all.

    Parameters
    ----------
    known, unknown
        The number of dispatches of which it is known, or not, when they were ready.
    mean, median, p99, longest
        Of the known waits; None where there are none.
    problem
        Why nothing is known, or None.
    warnings
        What makes the times doubtful.
    """

    known: Natural
    unknown: Natural
    mean: NonNegative | None
    median: Natural | None
    p99: Natural | None
    longest: Natural | None
    problem: str | None
    warnings: tuple[str, ...]


class FragmentUse(DocumentPart):
    """The use of a fragment.

    Parameters
    ----------
    df
        The fragment.
    name
        The comm of the process, where the fragment is one.
    comms
        Where the label is inferred (g0, g1, …): the comms of its tasks, the commonest first.
    dispatches, share
        The number of its dispatches, and their share of all.
    run_time, run_time_share
        How long they ran, and the share of all run time.
    """

    df: str
    name: str | None = None
    comms: tuple[CommCount, ...] = ()
    dispatches: Natural
    share: Share
    run_time: Natural
    run_time_share: Share


class TraceInfo(DocumentPart, tag="trace", tag_field="kind"):
    """What a trace holds.

    Parameters
    ----------
    content
        The kind of file that was recognised, such as ``perf script text``.
    labels
        Where the fragments come from, such as ``marks``; None if there are none.
    name
        What the trace is called.
    source
        Where it comes from.
    policy
        What scheduled the tasks.
    assumed
        What of the schedule was assumed, because it was not recorded: on which CPU each dispatch
        ran, or also when.
    time_unit
        The unit of all times.
    penalty, objective
        What a switch costs, and what is minimised, if the trace says it.
    cpus
        Number of CPUs.
    start, end
        When the first dispatch began, and when the last one ended; None without any.
    dispatches
        How often a task ran.
    tasks, run_time
        How many tasks ran, and how long together.
    busy
        In what share of the time CPUs ran a task; None without any time.
    waits
        How long dispatches waited from being ready to their start.
    same_fragment_share
        Share of the time in which several CPUs ran the same fragment at once; None without labels.
    managed
        Dispatches with a fragment.
    fragments
        The fragments, those with the most dispatches first.
    gaps
        The number of times, by reason, during which nothing is known about a CPU.
    wakeups, forks, marks
        How many of these events there are.
    quality
        How far the trace can be trusted.
    """

    content: str
    labels: str | None
    name: str | None
    source: str | None
    policy: str | None
    assumed: Assumed | None
    time_unit: str | None
    penalty: Penalty | None
    objective: Objective | None
    cpus: Positive
    start: Signed | None
    end: Signed | None
    dispatches: Natural
    tasks: Natural
    run_time: Natural
    busy: BusyShares | None
    waits: KnownWaitFigures
    same_fragment_share: Share | None
    managed: Natural
    fragments: tuple[FragmentUse, ...]
    gaps: dict[str, Natural]
    wakeups: Natural
    forks: Natural
    marks: Natural
    quality: LabelledQuality

    def tables(self) -> list[Table]:
        """Return the figures, how long dispatches waited, and the largest fragments."""
        return [facts(self._figures()), *filter(lambda table: table.rows, self._parts())]

    def _figures(self) -> dict[str, Value]:
        unit, problem, quality = self.time_unit, self.waits.problem, self.quality
        penalty = {} if self.penalty is None else document_of(self.penalty)
        penalty_name = penalty.pop("kind", None)
        time = None
        if self.start is not None and self.end is not None:
            time = (
                f"{readable_time(self.end - self.start, unit)}, from "
                f"{full_time(self.start, unit)} to {full_time(self.end, unit)}"
            )
        shared = self.same_fragment_share
        read = f"{counted(quality.lines, 'line')}, {counted(quality.events, 'event')}"
        return {
            "name": self.name,
            "content": self.content,
            "source": self.source,
            "policy": self.policy,
            "assumed": self.assumed and ASSUMED[self.assumed],
            "CPUs": self.cpus,
            "time": time,
            "dispatches": f"{self.dispatches:,} of {counted(self.tasks, 'task')}",
            "run time": readable_time(self.run_time, unit),
            "busy": self._busy(),
            "shared": None
            if shared is None
            else f"{shared:.1%} of the time several CPUs ran one fragment",
            "waits": problem and f"not known: {problem}",
            "penalty": penalty_name
            and f"{penalty_name}: " + ", ".join(f"{key} {value}" for key, value in penalty.items()),
            "objective": self.objective,
            "labels": self.labels or "none; `labels` says where to take them from",
            "managed": f"{self.managed:,}"
            + (f" ({share(self.managed, self.dispatches)})" if self.dispatches else ""),
            "gaps": ", ".join(f"{reason} ×{number:,}" for reason, number in self.gaps.items())
            or "none",
            "events": f"{counted(self.wakeups, 'wakeup')}, "
            f"{counted(self.forks, 'fork')}, {counted(self.marks, 'mark')}",
            "quality": read if quality.warnings else f"{read}, nothing missing",
        }

    def _parts(self) -> list[Table]:
        unit, waits = self.time_unit or "", self.waits
        times = ("mean", "median", "p99", "longest")
        headings = columns("known", "unknown", *(f"{name} [{unit}] :time" for name in times))
        found = [[getattr(waits, column.name) for column in headings]] if waits.known else []
        which = " with a fragment" if self.managed else ""
        written = ("dispatches", "share :.1%", f"run time [{unit}] :time", "share of time :.1%")
        rows = [
            (
                title(one.df, one.name, one.comms),
                *(one.dispatches, one.share, one.run_time, one.run_time_share),
            )
            for one in self.fragments
        ]
        used = Table(counted(len(rows), "fragment"), columns("fragment", *written), rows)
        added = [column.name for column in used.columns[1:]]
        return [
            Table(f"Waits of dispatches{which}", headings, found),
            used.largest(LARGEST_SHOWN, *added),
        ]

    def _busy(self) -> str | None:
        """Return in what share of the time all CPUs were busy, and each of them."""
        if self.busy is None:
            return None
        shares = self.busy.shares
        listed = ", ".join(f"{part:.1%}" for part in shares[:MOST_CPUS])
        if len(shares) > MOST_CPUS:
            listed = f"from {min(shares):.1%} to {max(shares):.1%}"
        return f"{self.busy.share:.1%} of the time; by CPU {listed}"


TRACE_INFO = DocumentType(Format.INFO, TraceInfo)


def trace_info(trace: Trace, *, content: str, labels: str | None) -> TraceInfo:
    """Return what a trace holds.

    Its fragments come with the number of their dispatches, the largest first. Times are in the
    trace's unit.

    Parameters
    ----------
    trace
        Any trace.
    content
        The kind of file that was recognised, such as ``perf script text``.
    labels
        Where its fragments come from, such as ``marks``; None if it has none.
    """
    header = trace.header
    return TraceInfo(
        content=content,
        labels=labels,
        name=header.name,
        source=header.source,
        policy=header.policy,
        assumed=header.assumed,
        time_unit=header.time_unit,
        penalty=header.penalty,
        objective=header.objective,
        cpus=trace.cpus,
        start=int(trace.start.min()) if len(trace) else None,
        end=int(trace.end.max()) if len(trace) else None,
        dispatches=len(trace),
        tasks=len(np.unique(trace.task)),
        run_time=trace.run_time,
        busy=_busy(trace),
        waits=_waits(trace),
        same_fragment_share=same_fragment_share(trace),
        managed=int((trace.fragment != UNMANAGED).sum()),
        fragments=_fragments(trace),
        gaps=_gaps(trace),
        wakeups=len(trace.wakeups.time),
        forks=len(trace.forks.time),
        marks=len(trace.marks.time),
        quality=trace.labelled_quality,
    )


def _busy(trace: Trace) -> BusyShares | None:
    """Return the shares of the time in which CPUs were busy: of all together, and of each."""
    length = int(trace.end.max() - trace.start.min()) if len(trace) else 0
    if not length:
        return None
    ran = np.zeros(trace.cpus, np.int64)
    np.add.at(ran, trace.cpu, trace.end - trace.start)
    return BusyShares(
        share=round(trace.run_time / (length * trace.cpus), DERIVED_DIGITS),
        shares=tuple(round(time / length, DERIVED_DIGITS) for time in ran.tolist()),
    )


def _waits(trace: Trace) -> KnownWaitFigures:
    service = service_of(trace)
    wait = service.wait
    return KnownWaitFigures(
        known=0 if wait is None else wait.count,
        unknown=service.unknown,
        mean=None if wait is None else wait.mean,
        median=None if wait is None else wait.p50,
        p99=None if wait is None else wait.p99,
        longest=None if wait is None else wait.longest,
        problem=service.problem,
        warnings=service.warnings,
    )


def _fragments(trace: Trace) -> tuple[FragmentUse, ...]:
    labelled = trace.fragment != UNMANAGED
    fragment = trace.fragment[labelled]
    count = np.bincount(fragment, minlength=len(trace.fragments))
    run_time = np.zeros(len(trace.fragments), np.int64)
    np.add.at(run_time, fragment, (trace.end - trace.start)[labelled])
    total, ran = len(trace), trace.run_time
    rows = [
        FragmentUse(
            df=df,
            name=name,
            comms=comms,
            dispatches=dispatches,
            share=round(dispatches / total, DERIVED_DIGITS),
            run_time=time,
            run_time_share=round(time / ran, DERIVED_DIGITS) if ran else 0.0,
        )
        for df, name, comms, dispatches, time in zip(
            trace.fragments,
            process_names(trace),
            comms_of_inferred(trace),
            count.tolist(),
            run_time.tolist(),
            strict=True,
        )
        if dispatches
    ]
    return tuple(sorted(rows, key=lambda row: (-row.dispatches, row.df)))


def _gaps(trace: Trace) -> dict[str, int]:
    """Return the number of gaps for each reason."""
    count = np.bincount(trace.gaps.reason, minlength=len(trace.gaps.reasons)).tolist()
    return {
        reason: number for reason, number in zip(trace.gaps.reasons, count, strict=True) if number
    }
