"""One attempt at one instance, in a process of its own: from its document to its row."""

from __future__ import annotations

import resource
import sys
import time
import warnings
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from dfopt._version import __version__
from dfopt.bench.row import Row, RowStatus
from dfopt.bench.sets import Entry
from dfopt.bench.settings import Settings
from dfopt.errors import DfoptWarning, MethodError
from dfopt.files import instance_from_document, result_from_document, result_to_document
from dfopt.files.strict_json import Document
from dfopt.parallel.alone import ChildError, performed_alone
from dfopt.problem.result import Progress, Result
from dfopt.solvers import solve
from dfopt.verify import KINDS, verify

LONGEST_START_S = 60
"""Seconds that a process may take beside its search, on a machine with much else to do."""

KIB_PER_MIB = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptResult:
    """The row of an attempt, and the document of its result if there is one."""

    row: Row
    result: Document | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """An instance to solve under some settings, on this machine or on another one.

    Parameters
    ----------
    entry, document
        The instance: what its row says of it, and its document.
    settings
        How to solve it.
    verify
        Whether to check the result, in another process.
    """

    entry: Entry
    document: Document
    settings: Settings
    verify: bool = False

    def perform(self) -> AttemptResult:
        """Solve the instance in a process of its own; what goes wrong there stands in the row."""
        began = time.monotonic()
        try:
            answer = performed_alone(
                SolveWork(instance=self.document, settings=self.settings),
                seconds=hard_limit_s(self.settings),
            )
        except ChildError as error:
            return self.failed(RowStatus.ERROR, str(error), time.monotonic() - began)
        if isinstance(answer, str):
            return self.failed(RowStatus.NOT_APPLICABLE, answer, time.monotonic() - began)
        document, peak = answer
        row = self._row(peak_memory_mib=peak, **figures_of(result_from_document(document)))
        if self.verify:
            row = self._checked(row, document)
        return AttemptResult(row=row, result=document)

    def failed(self, status: RowStatus, reason: str, seconds: float) -> AttemptResult:
        """Return the row of an attempt that has no result."""
        row = self._row(status=status, error=reason, wall_time_s=round(seconds, 6))
        return AttemptResult(row=row)

    def _checked(self, row: Row, result: Document) -> Row:
        """Return the row with what the checker says, which sees nothing but the documents."""
        try:
            problems = performed_alone(VerifyWork(instance=self.document, result=result))
        except ChildError as error:
            problems = (f"the checker: {error}",)
        if not problems:
            return replace(row, verified="yes")
        return replace(row, verified="no", error=problems[0])

    def _row(self, **figures: Any) -> Row:
        return Row(
            **asdict(self.entry), **self.settings.fields(), dfopt_version=__version__, **figures
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SolveWork:
    """An instance to solve in this process; the memory of the process is measured, too."""

    instance: Document
    settings: Settings

    def perform(self) -> tuple[Document, float] | str:
        """Return the result and the most memory used (MiB), or why the method does not fit."""
        warnings.simplefilter("ignore", DfoptWarning)  # shown when the set was read
        try:
            result = solve(
                instance_from_document(self.instance),
                method=self.settings.method,
                stop=self.settings.criterion(),
                seed=self.settings.seed,
                workers=self.settings.workers,
            )
        except MethodError as error:
            return error.problem
        return result_to_document(result), peak_memory_mib()


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyWork:
    """A result to check in this process."""

    instance: Document
    result: Document

    def perform(self) -> tuple[str, ...]:
        """Return the mistakes in the result."""
        warnings.simplefilter("ignore", DfoptWarning)
        found = verify(instance_from_document(self.instance), result_from_document(self.result))
        return tuple(found.problems)


def hard_limit_s(settings: Settings) -> float:
    """Return the number of seconds after which a search that does not end is killed."""
    return 2 * settings.time_limit_s + LONGEST_START_S


def peak_memory_mib() -> float:
    """Return the most memory that this process had in use so far."""
    # Linux adds to getrusage's figure what the parent used before it started this program.
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return round(int(line.split()[1]) / KIB_PER_MIB, 1)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    bytes_a_unit = 1 if sys.platform == "darwin" else KIB_PER_MIB
    return round(peak * bytes_a_unit / KIB_PER_MIB**2, 1)


def figures_of(result: Result) -> dict[str, Any]:
    """Return the columns of a row that a result fills."""
    objective, bound = result.objective, result.lower_bound
    with_schedule = [step for step in result.history if step.objective is not None]
    return {
        "status": RowStatus(result.status),
        "stop_reason": str(result.stop_reason),
        "objective": objective,
        "lower_bound": bound,
        "gap": result.gap,
        "certificate": KINDS[type(result.certificate)] if result.certificate else "",
        "first_schedule_s": first(with_schedule),
        "best_schedule_s": first(step for step in with_schedule if step.objective == objective),
        "best_bound_s": first(
            step for step in result.history if bound and step.lower_bound == bound
        ),
        "wall_time_s": result.wall_time_s,
    }


def first(steps: Iterable[Progress]) -> float | None:
    """Return the time of the first of these steps."""
    return next((round(step.time_s, 6) for step in steps), None)
