"""Penalties of several runs as one document of the format ``dfopt-penalties/1``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean, median
from typing import Any

from dfopt_models.measure.machine import AFTER, MeasurementError
from dfopt_models.measure.penalties import JobPenalties, MeasuredPenalties, penalties_document
from dfopt_models.measure.penalty_runs import PenaltyOfRun
from dfopt_models.response_time import PenaltiesOfQuantum

SHARE_DIGITS, SECOND_DIGITS = 4, 10
"""Digits behind the point of shares, and of seconds."""

MOST_SPREAD = 0.5
"""Runs may differ by at most this share of the penalty ..."""

LEAST_SHARE = 0.002
"""... or by this share of the interval, which moves no response time by more."""


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
