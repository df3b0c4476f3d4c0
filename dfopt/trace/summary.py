"""A trace in figures."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from dfopt.files import penalty_to_document
from dfopt.trace.fragment_titles import comms_of_inferred
from dfopt.trace.parallel_fragments import same_fragment_share
from dfopt.trace.process_names import process_names
from dfopt.trace.service import SHOWN_DIGITS, service_of
from dfopt.trace.trace import UNMANAGED, Trace


def trace_summary(trace: Trace) -> dict[str, Any]:
    """Return the figures of a trace as JSON values.

    The fragment with the most dispatches comes first. Times are in the trace's unit.
    """
    header = trace.header
    return {
        "name": header.name,
        "source": header.source,
        "policy": header.policy,
        "assumed": None if header.assumed is None else str(header.assumed),
        "time_unit": header.time_unit,
        "penalty": None if header.penalty is None else penalty_to_document(header.penalty),
        "objective": None if header.objective is None else str(header.objective),
        "cpus": trace.cpus,
        "start": int(trace.start.min()) if len(trace) else None,
        "end": int(trace.end.max()) if len(trace) else None,
        "dispatches": len(trace),
        "tasks": len(np.unique(trace.task)),
        "run_time": trace.run_time,
        "busy": _busy(trace),
        "waits": _waits(trace),
        "same_fragment_share": same_fragment_share(trace),
        "managed": int((trace.fragment != UNMANAGED).sum()),
        "fragments": _fragments(trace),
        "gaps": _gaps(trace),
        "wakeups": len(trace.wakeups.time),
        "forks": len(trace.forks.time),
        "marks": len(trace.marks.time),
        "quality": {
            **dataclasses.asdict(trace.quality),
            "silent_cpus": list(trace.quality.silent_cpus),
            "unlabelled_share": round(trace.unlabelled_share, SHOWN_DIGITS),
            "warnings": list(trace.quality.warnings),
        },
    }


def _length(trace: Trace) -> int:
    """Return the time from the first start to the last end."""
    return int(trace.end.max() - trace.start.min()) if len(trace) else 0


def _busy(trace: Trace) -> dict[str, Any] | None:
    """Return the shares of the time in which CPUs were busy: of all together, and of each."""
    length = _length(trace)
    if not length:
        return None
    ran = np.zeros(trace.cpus, np.int64)
    np.add.at(ran, trace.cpu, trace.end - trace.start)
    return {
        "share": round(trace.run_time / (length * trace.cpus), SHOWN_DIGITS),
        "shares": [round(time / length, SHOWN_DIGITS) for time in ran.tolist()],
    }


def _waits(trace: Trace) -> dict[str, Any]:
    """Return how long dispatches waited; those with a fragment if there are any, otherwise all."""
    service = service_of(trace)
    wait = service.wait
    return {
        "known": 0 if wait is None else wait.count,
        "unknown": service.unknown,
        "mean": None if wait is None else wait.mean,
        "median": None if wait is None else wait.p50,
        "p99": None if wait is None else wait.p99,
        "longest": None if wait is None else wait.longest,
        "problem": service.problem,
        "warnings": list(service.warnings),
    }


def _fragments(trace: Trace) -> list[dict[str, Any]]:
    labelled = trace.fragment != UNMANAGED
    fragment = trace.fragment[labelled]
    count = np.bincount(fragment, minlength=len(trace.fragments))
    run_time = np.zeros(len(trace.fragments), np.int64)
    np.add.at(run_time, fragment, (trace.end - trace.start)[labelled])
    total, ran = len(trace), trace.run_time
    rows = [
        {
            "df": df,
            **({} if name is None else {"name": name}),
            **({"comms": [dataclasses.asdict(found) for found in comms]} if comms else {}),
            "dispatches": dispatches,
            "share": round(dispatches / total, SHOWN_DIGITS),
            "run_time": time,
            "run_time_share": round(time / ran, SHOWN_DIGITS) if ran else 0.0,
        }
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
    return sorted(rows, key=lambda row: (-row["dispatches"], row["df"]))


def _gaps(trace: Trace) -> dict[str, int]:
    """Return the number of gaps for each reason."""
    count = np.bincount(trace.gaps.reason, minlength=len(trace.gaps.reasons)).tolist()
    return {
        reason: number for reason, number in zip(trace.gaps.reasons, count, strict=True) if number
    }
