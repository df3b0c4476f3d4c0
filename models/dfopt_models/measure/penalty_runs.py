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

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from statistics import median

import numpy as np
import numpy.typing as npt

from dfopt_models.measure.machine import (
    MOST_REJECTED,
    MOVED,
    MeasurementError,
    flush,
    verify_flush,
)
from dfopt_models.measure.memory import FlushLevel, TimedPass
from dfopt_models.measure.slices import (
    AFTER,
    STATIONARY,
    Interventions,
    Processor,
    ProgramHost,
    TimedSlice,
)

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


@dataclass(frozen=True, slots=True, kw_only=True)
class PenaltyOfRun:
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


def kernel_run(  # noqa: PLR0913 - all but the first are options
    processor: Processor,
    *,
    jobs: Sequence[str],
    quanta: Sequence[float],
    interventions: Interventions,
    slices: int,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
) -> list[PenaltyOfRun]:
    """Return the penalties of kernels on one run, for each quantum.

    Parameters
    ----------
    processor, interventions, slices, seed
        As in :func:`kernel_penalties`.
    jobs
        The kernels.
    quanta
        Seconds of slices.
    progress
        Called with what is measured next.

    Raises
    ------
    MeasurementError
        When the flush is not verified, or a kernel cannot be measured.
    """
    verify_flushes(processor, interventions, passes=slices)

    def measure(job: str, quantum: float) -> list[PenaltyOfRun]:
        return kernel_penalties(
            processor,
            job,
            quantum=quantum,
            interventions=interventions,
            slices=slices,
            seed=seed,
        )

    return _of_each(jobs, quanta, measure, progress)


def kernel_penalties(  # noqa: PLR0913 - all but two are options
    processor: Processor,
    job: str,
    *,
    quantum: float,
    interventions: Interventions,
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
    interventions
        What is measured.
    slices
        Slices that must count for each figure.
    seed
        Of the order in which interventions follow each other, anew in each round.

    Raises
    ------
    MeasurementError
        When a unit takes too long for the quantum, or too many slices are rejected.
    """
    counts = {kernel: _units(processor, kernel, quantum) for kernel in interventions.others}
    counts[job] = _units(processor, job, quantum)
    _check_units(job, counts[job], quantum)
    names = [STATIONARY, *interventions.names]
    found: dict[str, list[Sequence[float]]] = {name: [] for name in names}
    rejected = dict.fromkeys(names, 0)
    draws = Random(seed)
    while any(len(kept) < slices for kept in found.values()):
        # All kinds of slices take turns, so that what changes slowly changes all of them.
        draws.shuffle(names)
        for name in names:
            before = processor.work(job, counts[job])
            between = _prepare(processor, name, counts)
            timed = processor.work(job, counts[job])
            if any(one.is_interrupted for one in (before, *between, timed)):
                rejected[name] += 1
            elif len(found[name]) < slices:
                found[name].append(timed.units)
            _check_rejected(f"{job}, {name}", rejected[name], len(found[name]), slices)
    stationary = _profile(found[STATIONARY])
    estimates = []
    for name in interventions.names:
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


def program_run(  # noqa: PLR0913 - all but two are options
    host: ProgramHost,
    processor: Processor,
    *,
    jobs: Sequence[str],
    quanta: Sequence[float],
    interventions: Interventions,
    passes: int,
    progress: Callable[[str], None] | None = None,
) -> list[PenaltyOfRun]:
    """Return the penalties of programs on one run, for each quantum.

    Parameters
    ----------
    host
        Runs the programs.
    processor
        Whose flush is verified before, by this number of ``passes``.
    jobs, quanta, interventions, progress
        As in :func:`kernel_run`.

    Raises
    ------
    MeasurementError
        When the flush is not verified, or a program cannot be measured.
    """
    verify_flushes(processor, interventions, passes=passes)

    def measure(job: str, quantum: float) -> list[PenaltyOfRun]:
        return program_penalties(host, job, quantum=quantum, interventions=interventions)

    return _of_each(jobs, quanta, measure, progress)


def program_penalties(
    host: ProgramHost, job: str, *, quantum: float, interventions: Interventions
) -> list[PenaltyOfRun]:
    """Return the penalties of a program: differences of whole runs, for each slice.

    Raises
    ------
    MeasurementError
        When the program is too short, or lost its CPU in more than half of its slices.
    """
    runs = {name: host.run(job, quantum, name) for name in (STATIONARY, *interventions.names)}
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


def _of_each(
    jobs: Sequence[str],
    quanta: Sequence[float],
    measure: Callable[[str, float], list[PenaltyOfRun]],
    progress: Callable[[str], None] | None,
) -> list[PenaltyOfRun]:
    """Return what is measured of each job with each quantum."""
    found = []
    for job in jobs:
        for quantum in quanta:
            if progress:
                progress(f"{job}, {quantum * 1e3:g} ms")
            found += measure(job, quantum)
    return found


def verify_flushes(processor: Processor, interventions: Interventions, *, passes: int) -> None:
    """Check that the flushes flush which a measurement will use.

    Raises
    ------
    MeasurementError
        When one does not, when there is no such level, or no CPU to move to.
    """
    if interventions.without_affinity == MOVED and not processor.has_other_cpu:
        raise MeasurementError(
            f"there is no second CPU, so that nothing can be {MOVED}; measure the flush to "
            f"{processor.levels[-1].name} in its place"
        )
    level = _level(processor, interventions.without_affinity)
    lines = min(FLUSHED_LINES, processor.cache_lines // 2)
    verify_flush(processor, level, lines=lines, passes=passes)


def switch_time(processor: Processor, *, passes: int) -> float:
    """Return the seconds until a CPU runs another process, caches apart.

    Raises
    ------
    MeasurementError
        When more than half of the passes are rejected.
    """
    found: list[float] = []
    rejected = 0
    while len(found) < passes:
        timed = processor.switch(SWITCHES)
        if timed.is_interrupted:
            rejected += 1
        else:
            found.append(timed.nanoseconds / SWITCHES)
        _check_rejected("switches", rejected, len(found), passes)
    return median(found) / NANOSECONDS


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
    if name == MOVED:
        # Nothing that an earlier slice left on the other CPU may be there still.
        return (processor.move(), *flush(processor, processor.levels[0]))
    return flush(processor, _level(processor, name))


def _level(processor: Processor, name: str) -> FlushLevel:
    """Return the level of a flush; where the job moves, that of the flush over there."""
    levels = {level.name: level for level in processor.levels}
    if name == MOVED:
        return processor.levels[0]
    if name not in levels:
        raise MeasurementError(
            f"there is no level {name!r}; known are {MOVED}, {', '.join(levels)}"
        )
    return levels[name]


def _profile(slices: Sequence[Sequence[float]]) -> npt.NDArray[np.float64]:
    return np.median(np.asarray(slices, np.float64), axis=0)


def _check_rejected(what: str, rejected: int, kept: int, wanted: int) -> None:
    if rejected > wanted * MOST_REJECTED / (1 - MOST_REJECTED):
        raise _rejected(what, rejected, rejected + kept)


def _rejected(what: str, rejected: int, slices: int) -> MeasurementError:
    return MeasurementError(
        f"{what}: {rejected} of {slices} slices were interrupted by other work, more than half; "
        "measure when the machine is quieter, or take a shorter quantum"
    )
