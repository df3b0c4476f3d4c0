"""What a trace holds."""

from __future__ import annotations

import numpy as np

from dfopt.files.documents import DocumentType
from dfopt.files.formats import Format
from dfopt.info.instance import LARGEST_SHOWN
from dfopt.problem.instance import Objective
from dfopt.problem.penalties import Penalty
from dfopt.render import counted, share
from dfopt.structs import (
    DERIVED_DIGITS,
    DocumentPart,
    Natural,
    NonNegative,
    Positive,
    Share,
    Signed,
    document_of,
)
from dfopt.table import Table, Value, columns, facts
from dfopt.time_units import full_time, readable_time
from dfopt.trace.fragment_titles import CommCount, comms_of_inferred, process_names, title
from dfopt.trace.parallel_fragments import same_fragment_share
from dfopt.trace.quality import LabelledQuality
from dfopt.trace.service import service_of
from dfopt.trace.trace import UNMANAGED, Assumed, Trace

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
