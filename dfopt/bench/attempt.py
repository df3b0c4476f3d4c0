"""One attempt at one instance: from its document to its row, whatever happens."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from dfopt._version import __version__
from dfopt.bench.process import ChildError, ask
from dfopt.bench.row import Row, RowStatus
from dfopt.bench.sets import Entry
from dfopt.bench.settings import Settings
from dfopt.files import result_from_document
from dfopt.files.strict_json import Document
from dfopt.problem.certificate import CompleteSearch, DualWeights, Exhaustive
from dfopt.problem.result import Progress, Result

CERTIFICATES = {DualWeights: "dual-weights", Exhaustive: "exhaustive", CompleteSearch: "search"}

LONGEST_START_S = 60
"""Seconds that a process may take beside its search, on a machine with much else to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """All that is needed to work on an instance, wherever that happens."""

    entry: Entry
    document: Document
    settings: Settings
    verify: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The row of a job, and the document of its result if there is one."""

    row: Row
    result: Document | None = None


def perform(job: Job) -> Outcome:
    """Solve an instance in a process of its own; what goes wrong there stands in the row."""
    began = time.monotonic()
    request = {"instance": job.document, "settings": job.settings.fields()}
    try:
        answer = ask("solve", request, seconds=hard_limit_s(job.settings))
    except ChildError as error:
        return failed(job, RowStatus.ERROR, str(error), time.monotonic() - began)
    if "not_applicable" in answer:
        reason = answer["not_applicable"]
        return failed(job, RowStatus.NOT_APPLICABLE, reason, time.monotonic() - began)
    result = result_from_document(answer["result"])
    row = row_of(job, peak_memory_mib=answer["peak_memory_mib"], **figures_of(result))
    if job.verify:
        row = checked(job, row, answer["result"])
    return Outcome(row=row, result=answer["result"])


def hard_limit_s(settings: Settings) -> float:
    """Return after how many seconds a search that does not end is killed."""
    return 2 * settings.time_limit_s + LONGEST_START_S


def failed(job: Job, status: RowStatus, reason: str, seconds: float) -> Outcome:
    """Return the row of a job that has no result."""
    return Outcome(row=row_of(job, status=status, error=reason, wall_time_s=round(seconds, 6)))


def checked(job: Job, row: Row, result: Document) -> Row:
    """Return the row with what the checker says, which sees the documents and nothing else."""
    try:
        problems = ask("verify", {"instance": job.document, "result": result})["problems"]
    except ChildError as error:
        problems = [f"the checker: {error}"]
    if not problems:
        return replace(row, verified="yes")
    return replace(row, verified="no", error=problems[0])


def row_of(job: Job, **figures: Any) -> Row:
    """Return the row of a job with these figures."""
    return Row(
        **asdict(job.entry),
        **job.settings.fields(),
        dfopt_version=__version__,
        **figures,
    )


def figures_of(result: Result) -> dict[str, Any]:
    """Return what a row says of a result."""
    objective, bound = result.objective, result.lower_bound
    return {
        "status": RowStatus(result.status),
        "stop_reason": str(result.stop_reason),
        "objective": objective,
        "lower_bound": bound,
        "gap": result.gap,
        "certificate": CERTIFICATES[type(result.certificate)] if result.certificate else "",
        "first_schedule_s": first(step for step in result.history if step.objective is not None),
        "best_schedule_s": first(
            step
            for step in result.history
            if step.objective is not None and step.objective == objective
        ),
        "best_bound_s": first(
            step for step in result.history if bound and step.lower_bound == bound
        ),
        "wall_time_s": result.wall_time_s,
    }


def first(steps: Iterable[Progress]) -> float | None:
    """Return the time of the first of these steps."""
    return next((round(step.time_s, 6) for step in steps), None)
