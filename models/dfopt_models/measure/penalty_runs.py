"""Cache penalties P^A and P^NA, estimated from slices of work.

The procedure is that of Vaswani and Zahorjan (section 4): a job runs in slices of Q. Between two
slices either nothing happens (stationary), or the job moves or its cache is flushed (P^NA), or
another job runs for Q on the same CPU (P^A). The penalty is what a slice then takes longer.

Kernels do equal work in equal units, and the time of each unit is known. So the penalty is seen
where it arises, at the beginning of a slice: the median over slices of the time of each unit, less
the same of stationary slices, summed over the first half of the slice. What the second half shows
is no warm-up and is subtracted: clock frequencies and other things that differ throughout. Where
the warm-up goes on in the second half, the penalty is the difference of whole slices, as in the
paper. Of a program only the processor time of the whole run is known, which gives the paper's
estimate again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from random import Random
from statistics import mean, median
from typing import Any

import numpy as np
import numpy.typing as npt

from dfopt.structs import Record
from dfopt.table import Table, columns
from dfopt_models.errors import check_known
from dfopt_models.measure.machine import (
    AFTER,
    MOST_REJECTED,
    MOVED,
    STATIONARY,
    MeasurementError,
    Processor,
    TimedPass,
    TimedSlice,
    accepted,
    level_named,
    send_away,
    too_many,
    verify_flush,
)
from dfopt_models.measure.penalties import JobPenalties, MeasuredPenalties, penalties_document
from dfopt_models.measure.programs import ProgramRun, run_program
from dfopt_models.measure.this_machine import KERNELS, ThisMachine
from dfopt_models.response_time import PenaltiesOfQuantum

NANOSECONDS = 1e9
"""Of a second."""

LEAST_UNITS = 8
"""At least this many units in a slice, or its warm-up cannot be seen."""

CALIBRATION = 5
"""A unit is timed in this many slices that are not counted."""

FLUSHED_LINES = 4096
"""At most this many lines are read to verify a flush."""

MOST_LEFT = 0.1
"""A warm-up is over where at most this share of it comes in the third quarter of a slice."""

LEAST_SLICES = 10
"""At least this many slices in a run of a program."""

SWITCHES = 2000
"""How often a CPU changes hands to measure what this takes."""


SHARE_DIGITS, SECOND_DIGITS = 4, 10
"""Digits behind the point of shares, and of seconds."""

MOST_SPREAD = 0.5
"""Runs may differ by at most this share of the penalty ..."""

LEAST_SHARE = 0.002
"""... or by this share of the interval, which moves no response time by more."""

QUANTA_OF_KERNELS, QUANTA_OF_PROGRAMS = (0.002, 0.005, 0.02), (0.025,)
"""Seconds; a program's slices begin and end by signals, which take longer."""

JOBS, OTHER = ("chase", "product", "stream"), "stream"
"""The kernels that are measured by default, and the one that runs in between."""


class PenaltyPlan(Record):
    """What is to be measured.

    Parameters
    ----------
    commands
        Command lines of programs by their names. Where there are none, kernels are measured.
    kernels
        Kernels, by default three.
    others
        Jobs that run in between; by default all programs, or the kernel ``stream``.
    quanta
        Seconds of slices.
    without_affinity
        ``"moved"`` or a level; by default a move, where there is another CPU, or else memory.
    slices
        Slices of kernels that must count, and passes of what is measured besides.

    Raises
    ------
    MeasurementError
        When something is not there, or the wishes do not go together.
    """

    commands: Mapping[str, str] = {}
    kernels: Sequence[str] = ()
    others: Sequence[str] = ()
    quanta: Sequence[float] = ()
    without_affinity: str | None = None
    slices: int = 25

    def __post_init__(self) -> None:
        if self.commands and self.kernels:
            raise MeasurementError("measure programs and kernels one after the other")
        known = tuple(self.commands or KERNELS)
        for name in (*self.kernels, *self.others):
            check_known(name, known, "job", error=MeasurementError)
        for quantum in self.quanta:
            if not 0 < quantum < float("inf"):
                raise MeasurementError(f"a quantum must be more than 0 seconds, not {quantum:g}")


class PenaltyOfRun(Record):
    """What one run measured.

    Parameters
    ----------
    job
        Whose penalty.
    quantum
        Seconds that it ran before.
    preparation
        What happened then.
    penalty
        Seconds that it cost; below 0 where it is lost in the noise.
    slices, rejected
        Slices that counted, and slices that did not.
    is_whole
        Whether whole slices were compared, and not their beginnings.
    """

    job: str
    quantum: float
    preparation: str
    penalty: float
    slices: int
    rejected: int
    is_whole: bool


def run_here(
    plan: PenaltyPlan, *, seed: int = 0, progress: Callable[[str], None] | None = None
) -> tuple[list[PenaltyOfRun], float]:
    """Return the penalties of one run on this machine, and the seconds that a switch takes.

    Parameters
    ----------
    plan
        What is measured.
    seed
        Of random orders.
    progress
        Called with what is measured next.

    Raises
    ------
    MeasurementError
        When something cannot be measured, or not be trusted.
    """
    processor = ThisMachine(seed=seed)
    try:
        measure = partial(kernel_penalties, processor, slices=plan.slices, seed=seed)
        if plan.commands:
            measure = partial(program_penalties, partial(run_program, processor, plan.commands))
        return penalties_of_run(processor, plan, measure, progress)
    finally:
        processor.close()


def penalties_of_run(
    processor: Processor,
    plan: PenaltyPlan,
    measure: Callable[..., list[PenaltyOfRun]],
    progress: Callable[[str], None] | None = None,
) -> tuple[list[PenaltyOfRun], float]:
    """Return the penalties of one run for each job and quantum, and the seconds of a switch.

    Parameters
    ----------
    processor
        The machine, or a model of one.
    plan, progress
        As in :func:`run_here`.
    measure
        Returns the penalties of a job, given the ``quantum`` and what happens ``between`` slices.

    Raises
    ------
    MeasurementError
        When the flush is not verified, or a job cannot be measured.
    """
    without = plan.without_affinity or (
        MOVED if processor.has_other_cpu else processor.levels[-1].name
    )
    others = dict.fromkeys(plan.others or plan.commands or (OTHER,))
    time = switch_time(processor, passes=plan.slices)
    verify_flush_of(processor, without, passes=plan.slices)
    found = []
    quanta = plan.quanta or (QUANTA_OF_PROGRAMS if plan.commands else QUANTA_OF_KERNELS)
    for job in dict.fromkeys(plan.commands or plan.kernels or JOBS):
        for quantum in sorted(set(quanta)):
            if progress:
                progress(f"{job}, {quantum * 1e3:g} ms")
            between = (without, *(AFTER + other for other in others))
            found += measure(job, quantum=quantum, between=between)
    return found, time


def kernel_penalties(  # noqa: PLR0913 - all but two are options
    processor: Processor,
    job: str,
    *,
    quantum: float,
    between: Sequence[str],
    slices: int,
    seed: int = 0,
) -> list[PenaltyOfRun]:
    """Return the penalties of a kernel on one run.

    Parameters
    ----------
    processor
        The machine, or a model of one.
    job
        The kernel.
    quantum
        Seconds of a slice.
    between
        What happens between two slices: that which stands for a reallocation without affinity
        (``"moved"``, or the level of a flush), and ``"after JOB"`` for each other job.
    slices
        Slices that must count for each figure.
    seed
        Of the order in which interventions follow each other, anew in each round.

    Raises
    ------
    MeasurementError
        When a unit takes too long for the quantum, or too many slices are rejected.
    """
    others = [name.removeprefix(AFTER) for name in between if name.startswith(AFTER)]
    counts = {kernel: _units(processor, kernel, quantum) for kernel in (*others, job)}
    _check_units(job, counts[job], quantum)
    names = [STATIONARY, *between]
    found: dict[str, list[Sequence[float]]] = {name: [] for name in names}
    rejected = dict.fromkeys(names, 0)
    draws = Random(seed)
    while any(len(kept) < slices for kept in found.values()):
        # All kinds of slices take turns, so that what changes slowly changes all of them.
        draws.shuffle(names)
        for name in names:
            before = processor.work(job, counts[job])
            passes = _prepare(processor, name, counts)
            timed = processor.work(job, counts[job])
            if any(one.is_interrupted for one in (before, *passes, timed)):
                rejected[name] += 1
            elif len(found[name]) < slices:
                found[name].append(timed.units)
            if too_many(rejected[name], slices):
                raise _rejected(f"{job}, {name}", rejected[name], rejected[name] + len(found[name]))
    stationary = _profile(found[STATIONARY])
    estimates = []
    for name in between:
        penalty, is_whole = warm_up_time(_profile(found[name]) - stationary)
        estimates.append(
            PenaltyOfRun(
                job=job,
                quantum=quantum,
                preparation=name,
                penalty=penalty / NANOSECONDS,
                slices=len(found[name]),
                rejected=rejected[name] + rejected[STATIONARY],
                is_whole=is_whole,
            )
        )
    return estimates


def warm_up_time(excess: npt.NDArray[np.float64]) -> tuple[float, bool]:
    """Return the time lost at the beginning of a slice, and whether it took the whole slice.

    Parameters
    ----------
    excess
        Of each unit, what it took longer than in a stationary slice; at least eight.
    """
    half, quarter = len(excess) // 2, len(excess) // 4
    level = float(np.median(excess[half:]))
    lost = float((excess[:half] - level).sum())
    left = float((excess[half : half + quarter] - np.median(excess[-quarter:])).sum())
    if left > MOST_LEFT * abs(lost):
        return float(excess.sum()), True
    return lost, False


def program_penalties(
    run_job: Callable[[str, float, str], ProgramRun],
    job: str,
    *,
    quantum: float,
    between: Sequence[str],
) -> list[PenaltyOfRun]:
    """Return the penalties of a program: differences of whole runs, for each slice.

    Parameters
    ----------
    run_job
        Runs a job to its end, given its name, the quantum and what happens between slices.
    job, quantum, between
        As in :func:`kernel_penalties`.

    Raises
    ------
    MeasurementError
        When the program is too short, or lost its CPU in more than half of its slices.
    """
    runs = {name: run_job(job, quantum, name) for name in (STATIONARY, *between)}
    for name, run in runs.items():
        if run.slices < LEAST_SLICES:
            raise MeasurementError(
                f"{job} ends after {run.slices} slices of {quantum * 1e3:g} ms, and a figure "
                f"needs {LEAST_SLICES}; give it more work, or take a shorter quantum"
            )
        if run.rejected > run.slices * MOST_REJECTED:
            raise _rejected(f"{job}, {name}", run.rejected, run.slices)
    stationary = runs.pop(STATIONARY)
    return [
        PenaltyOfRun(
            job=job,
            quantum=quantum,
            preparation=name,
            penalty=(run.processor_time - stationary.processor_time) / run.slices,
            slices=run.slices - run.rejected,
            rejected=run.rejected,
            is_whole=True,
        )
        for name, run in runs.items()
    ]


def verify_flush_of(processor: Processor, without_affinity: str, *, passes: int) -> None:
    """Check that the flush flushes which stands for a reallocation without affinity.

    Raises
    ------
    MeasurementError
        When it does not, when there is no such level, or no CPU to move to.
    """
    if without_affinity == MOVED and not processor.has_other_cpu:
        raise MeasurementError(
            f"there is no second CPU, so that nothing can be {MOVED}; measure the flush to "
            f"{processor.levels[-1].name} in its place"
        )
    lines = min(FLUSHED_LINES, processor.cache_lines // 2)
    verify_flush(processor, level_named(processor, without_affinity), lines=lines, passes=passes)


def switch_time(processor: Processor, *, passes: int) -> float:
    """Return the seconds until a CPU runs another process, caches apart.

    Raises
    ------
    MeasurementError
        When more than half of the passes are rejected.
    """

    def once() -> float | None:
        timed = processor.switch(SWITCHES)
        return None if timed.is_interrupted else timed.nanoseconds / SWITCHES

    return median(accepted(once, passes, "switches")[0]) / NANOSECONDS


def _units(processor: Processor, kernel: str, quantum: float) -> int:
    """Return how many units of a warm kernel fit into a slice."""
    times: list[float] = []
    for _ in range(CALIBRATION):
        times = list(processor.work(kernel, LEAST_UNITS).units)
    return max(1, round(quantum * NANOSECONDS / max(1.0, median(times))))


def _check_units(kernel: str, units: int, quantum: float) -> None:
    if units < LEAST_UNITS:
        raise MeasurementError(
            f"{kernel}: a slice of {quantum * 1e3:g} ms has {units} units, and must have "
            f"{LEAST_UNITS}; take a quantum of at least "
            f"{LEAST_UNITS / units * quantum * 1e3:.2g} ms"
        )


def _prepare(
    processor: Processor, name: str, counts: dict[str, int]
) -> Sequence[TimedPass | TimedSlice]:
    if name == STATIONARY:
        return ()
    if name.startswith(AFTER):
        other = name.removeprefix(AFTER)
        return (processor.work(other, counts[other]),)
    return send_away(processor, name)


def _profile(slices: Sequence[Sequence[float]]) -> npt.NDArray[np.float64]:
    return np.median(np.asarray(slices, np.float64), axis=0)


def _rejected(what: str, rejected: int, slices: int) -> MeasurementError:
    return MeasurementError(
        f"{what}: {rejected} of {slices} slices were interrupted by other work, more than half; "
        "measure when the machine is quieter, or take a shorter quantum"
    )


def measured_document(
    runs: Sequence[Sequence[PenaltyOfRun]],
    *,
    switch_times: Sequence[float],
    conditions: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the document of penalties that several runs measured: the medians of theirs.

    P^A is the mean over the jobs that ran in between. A penalty that is lost in the noise below 0
    is 0.

    Parameters
    ----------
    runs
        The estimates of each run, in one order.
    switch_times
        Seconds until a CPU runs another process, by run.
    conditions
        What else was the case.

    Raises
    ------
    MeasurementError
        When runs differ too much.
    """
    rows = [_row(estimates) for estimates in zip(*runs, strict=True)]
    jobs: dict[str, list[PenaltiesOfQuantum]] = {}
    for quantum in sorted({row["quantum"] for row in rows}):
        for job in dict.fromkeys(row["job"] for row in rows):
            after, without = (
                [
                    max(0.0, row["penalty"])
                    for row in rows
                    if (row["job"], row["quantum"]) == (job, quantum)
                    and row["between"].startswith(AFTER) is has_affinity
                ]
                for has_affinity in (True, False)
            )
            jobs.setdefault(job, []).append(
                PenaltiesOfQuantum(
                    quantum=quantum,
                    affinity=round(mean(after), SECOND_DIGITS),
                    no_affinity=mean(without),
                )
            )
    between = dict.fromkeys(row["between"] for row in rows)
    others = [name for name in between if name.startswith(AFTER)]
    (alone,) = (name for name in between if name not in others)
    penalties = MeasuredPenalties(
        reallocation_time=round(median(switch_times), SECOND_DIGITS),
        job=tuple(JobPenalties(name=job, penalties=tuple(table)) for job, table in jobs.items()),
        sources={
            "reallocation_time": f"measured: {len(runs)} runs, two processes that wake each other "
            "through pipes",
            "penalties": f"measured: {len(runs)} runs; affinity is {' and '.join(others)}, "
            f"no_affinity is {alone}",
        },
    )
    return penalties_document(
        penalties,
        beside={
            "x-conditions": dict(conditions)
            | {"runs": len(runs), "rejected": round(max(map(rejected_share, runs)), SHARE_DIGITS)},
            "x-reallocation-time-of-runs": [round(time, SECOND_DIGITS) for time in switch_times],
            "x-measured": rows,
        },
    )


def spread_of(penalties: Sequence[float], *, quantum: float, what: str) -> float:
    """Return by how much runs differ, in seconds.

    Raises
    ------
    MeasurementError
        When they differ by too much, or agree that a penalty is below 0.
    """
    middle, spread = median(penalties), max(penalties) - min(penalties)
    least = LEAST_SHARE * quantum
    shown = ", ".join(f"{penalty * 1e6:.1f}" for penalty in penalties)
    if spread > max(MOST_SPREAD * abs(middle), least):
        raise MeasurementError(
            f"{what}: the runs give {shown} microseconds, which differ by more than "
            f"{MOST_SPREAD:.0%} and by more than {LEAST_SHARE:.1%} of the interval; measure when "
            "the machine is quieter, or take more slices"
        )
    if middle < -least:
        raise MeasurementError(
            f"{what}: the runs give {shown} microseconds, and a penalty cannot be below 0; "
            "measure when the machine is quieter, or take more slices"
        )
    return spread


def rejected_share(run: Sequence[PenaltyOfRun]) -> float:
    """Return the share of a run's slices that were rejected."""
    lost = sum(one.rejected for one in run)
    return lost / (lost + sum(one.slices for one in run))


def _row(estimates: Sequence[PenaltyOfRun]) -> dict[str, Any]:
    first = estimates[0]
    penalties = [one.penalty for one in estimates]
    what = f"{first.job}, {first.quantum * 1e3:g} ms, {first.preparation}"
    spread = spread_of(penalties, quantum=first.quantum, what=what)
    return {
        "job": first.job,
        "quantum": first.quantum,
        "between": first.preparation,
        "penalty": round(median(penalties), SECOND_DIGITS),
        "penalties_of_runs": [round(penalty, SECOND_DIGITS) for penalty in penalties],
        "spread_of_runs": round(spread, SECOND_DIGITS),
        "slices": sum(one.slices for one in estimates),
        "rejected": sum(one.rejected for one in estimates),
        "estimate": "whole slices" if any(one.is_whole for one in estimates) else "warm-up",
    }


MICROSECONDS = 1e6
"""In a second."""


def penalties_table(document: dict[str, Any]) -> Table:
    """Return what was measured, a row for each job, quantum and thing that happened between."""
    rows = [
        (
            *(row["job"], row["between"], row["quantum"], row["penalty"] * MICROSECONDS),
            ", ".join(f"{run * MICROSECONDS:.1f}" for run in row["penalties_of_runs"]),
            row["rejected"] / (row["rejected"] + row["slices"]),
        )
        for row in document["x-measured"]
    ]
    headings = columns(
        *("job", "between", "quantum [s] :time", "penalty [µs] :.1f", "runs [µs]", "rejected :.0%")
    )
    return Table("", headings, rows)
