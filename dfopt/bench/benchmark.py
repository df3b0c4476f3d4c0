"""A benchmark: what the table lacks is solved, instance by instance and method by method."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import closing, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dfopt._version import __version__
from dfopt.bench.rows import Entry, Row, RowStatus, Settings, rows_file, stem_of
from dfopt.errors import FileError, MethodError
from dfopt.files import check_writable, write_result
from dfopt.parallel.alone import ChildError, performed_alone
from dfopt.parallel.pool import performed
from dfopt.problem.certificate import Certificate, Proof, kind_of
from dfopt.problem.instance import Instance
from dfopt.problem.result import Result, SearchStep
from dfopt.solvers import solve
from dfopt.structs import Record
from dfopt.verify import verify

LONGEST_START_S = 60
"""Seconds that a process may take beside its search, on a machine with much else to do."""

KIB_PER_MIB = 1024


class Attempt(Record):
    """An instance to solve under some settings, on this machine or on another one.

    Parameters
    ----------
    entry, instance
        What a row says of the instance, and itself.
    settings
        How to solve it.
    verify
        Whether to check the result, in another process.
    """

    entry: Entry
    instance: Instance
    settings: Settings
    verify: bool = False

    def perform(self) -> tuple[Row, Result | None]:
        """Return the row and the result if there is one; what goes wrong stands in the row."""
        began = time.monotonic()
        result = None
        try:
            result, figures = performed_alone(
                2 * self.settings.time_limit_s + LONGEST_START_S,
                solved,
                self.instance,
                self.settings,
            )
        except ChildError as error:
            figures = {"status": RowStatus.ERROR, "error": str(error)}
        figures = {"wall_time_s": round(time.monotonic() - began, 6), **figures}
        if self.verify and result is not None:
            try:
                problems = performed_alone(None, verify, self.instance, result).problems
            except ChildError as error:
                problems = (f"the checker: {error}",)
            figures |= {"verified": "no" if problems else "yes", "error": "".join(problems[:1])}
        row = Row(
            **asdict(self.entry), **asdict(self.settings), dfopt_version=__version__, **figures
        )
        return row, result


def solved(instance: Instance, settings: Settings) -> tuple[Result | None, dict[str, Any]]:
    """Return the result if the method fits, and the columns of a row that this process fills."""
    try:
        result = solve(
            instance,
            method=settings.method,
            stop=settings.criterion(),
            seed=settings.seed,
            workers=settings.workers,
        )
    except MethodError as error:
        return None, {"status": RowStatus.NOT_APPLICABLE, "error": error.problem}
    # Not getrusage, to which Linux adds what the parent used before it started this program.
    peak = re.search(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text())
    memory = None if peak is None else round(int(peak[1]) / KIB_PER_MIB, 1)
    return result, {"peak_memory_mib": memory, **figures_of(result)}


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
        "certificate": _proven_by(result.certificate),
        "first_schedule_s": first(with_schedule),
        "best_schedule_s": first(step for step in with_schedule if step.objective == objective),
        "best_bound_s": first(
            step for step in result.history if bound and step.lower_bound == bound
        ),
        "wall_time_s": result.wall_time_s,
    }


def _proven_by(certificate: Certificate | None) -> str:
    """Return the kind of a certificate, or what it is over if it is a proof."""
    if isinstance(certificate, Proof):
        return str(certificate.over)
    return kind_of(certificate) if certificate else ""


def first(steps: Iterable[SearchStep]) -> float | None:
    """Return the time of the first of these steps."""
    return next((round(step.time_s, 6) for step in steps), None)


class RunProgress(Record):
    """The progress of a run.

    Parameters
    ----------
    done, total
        The number of rows that are there, and the number of all.
    at_work
        The names of the instances that are being solved, or wait for it on a cluster.
    left_s
        Seconds until all are done, at the pace of this run so far; None before its first row.
    """

    done: int
    total: int
    at_work: tuple[str, ...]
    left_s: float | None = None


class Report(Record):
    """The result of a run.

    Parameters
    ----------
    rows
        The rows of these instances and settings, instance by instance in the order of the set.
    total
        The number of rows that there are when all is done.
    resumed
        The number of rows that were there before.
    """

    rows: tuple[Row, ...]
    total: int
    resumed: int

    @property
    def is_complete(self) -> bool:
        """Whether every row is there; an interrupt leaves some out."""
        return len(self.rows) == self.total


def run(  # noqa: PLR0913 - options, all by keyword
    instances: Sequence[Entry],
    csv: str | Path,
    settings: Settings | Sequence[Settings] | None = None,
    *,
    resume: bool = False,
    results: str | Path | None = None,
    verify: bool = False,
    executor: Executor | None = None,
    on_progress: Callable[[RunProgress], None] | None = None,
) -> Report:
    """Solve every instance of a set, each in a process of its own, and keep a row for each.

    A row is on the disk as soon as its instance is done. So an interrupted run loses only the
    instances that were being solved.

    Parameters
    ----------
    instances
        The set, as :func:`read_set` returns it.
    csv
        The file that the rows go to.
    settings
        How to solve them, in one or several ways; by default as :class:`Settings` says.
    resume
        Whether to go on with the rows that the file holds: rows of the same instances and
        settings are not run again, and all others are kept. Otherwise a file that holds
        anything is refused.
    results
        A folder for the results as documents, each named after its instance's file and the
        settings; it is made if there is none.
    verify
        Whether to check each result with :func:`dfopt.verify.verify`, in yet another process.
    executor
        Its workers solve the instances, such as ``Client.get_executor(pure=False)`` of Dask.
    on_progress
        Called whenever an instance begins or ends.

    Returns
    -------
    Report
        The rows. An interrupt from the keyboard too ends the run with a report.

    Raises
    ------
    FileError
        When a file cannot be read or written, or the table is another one's.
    DfoptError
        When the executor fails. The rows so far are in the table.
    """
    settings = settings or Settings()
    ways = (settings,) if isinstance(settings, Settings) else settings
    folder = None if results is None else checked_folder(results, instances)
    with rows_file(csv, resume=resume) as (before, append):
        if folder is not None:
            folder.mkdir(exist_ok=True)
        wanted = {
            (entry.sha256, *asdict(way).values()): (entry, way)
            for entry in instances
            for way in ways
        }
        rows = {row.key: row for row in before if row.key in wanted}
        todo = {key: each for key, each in wanted.items() if key not in rows}
        resumed = len(rows)
        at_work: dict[tuple[Any, ...], str] = {}
        began = time.monotonic()

        def tell() -> None:
            if on_progress is not None:
                done, total = len(rows), len(wanted)
                names = tuple(at_work.values())
                left = None
                if done > resumed:
                    left = (time.monotonic() - began) / (done - resumed) * (total - done)
                on_progress(RunProgress(done=done, total=total, at_work=names, left_s=left))

        def attempts() -> Iterator[Attempt]:
            for key, (entry, way) in todo.items():
                at_work[key] = entry.instance
                tell()
                yield Attempt(entry=entry, instance=entry.read(), settings=way, verify=verify)

        # What is finished is in the table; of an interrupt the report says that it is not all.
        answers = performed(attempts(), executor=executor)
        with suppress(KeyboardInterrupt), closing(answers):
            for _, (row, result) in answers:
                if folder is not None and result is not None:
                    # First the document: a row promises that it is there.
                    path = folder / f"{stem_of(row.file)}.{wanted[row.key][1].label}.json"
                    write_result(result, path)
                append(row)
                rows[row.key] = row
                del at_work[row.key]
                tell()
    return Report(
        rows=tuple(rows[key] for key in wanted if key in rows), total=len(wanted), resumed=resumed
    )


def checked_folder(path: str | Path, instances: Sequence[Entry]) -> Path:
    """Return the folder for the results, which need not be there yet.

    Raises
    ------
    FileError
        When it could not be written to, or two results would have one name.
    """
    folder = Path(path)
    files: dict[str, str] = {}
    for entry in instances:
        other = files.setdefault(stem_of(entry.file), entry.file)
        if other != entry.file:
            raise FileError(
                f"the results of {other} and {entry.file} would have the same name; "
                "rename one of the two",
                file=str(path),
            )
    if folder.exists() and not folder.is_dir():
        raise FileError("is no folder; name another one", file=str(path))
    check_writable(folder / "result.json" if folder.exists() else folder)
    return folder
