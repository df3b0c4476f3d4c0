"""A benchmark: what the table lacks is solved, instance by instance and method by method."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dfopt.bench.attempt import Attempt
from dfopt.bench.row import Row
from dfopt.bench.sets import Entry, stem_of
from dfopt.bench.settings import Settings
from dfopt.bench.table import Table
from dfopt.errors import FileError
from dfopt.files import check_writable, document_text, write_text
from dfopt.parallel.pool import performed


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProgress:
    """The progress of a run.

    Parameters
    ----------
    done, total
        The number of rows that are there, and the number of all.
    resumed
        The number of rows that were there before.
    at_work
        The names of the instances that are being solved, or wait for it on a cluster.
    """

    done: int
    total: int
    resumed: int
    at_work: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
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
    with Table(csv, resume=resume) as table:
        if folder is not None:
            folder.mkdir(exist_ok=True)
        wanted = {
            (entry.sha256, *way.fields().values()): (entry, way)
            for entry in instances
            for way in ways
        }
        rows = {row.key: row for row in table.rows if row.key in wanted}
        todo = {key: each for key, each in wanted.items() if key not in rows}
        resumed = len(rows)
        at_work: dict[tuple[Any, ...], str] = {}

        def tell() -> None:
            if on_progress is not None:
                names = tuple(at_work.values())
                on_progress(
                    RunProgress(done=len(rows), total=len(wanted), resumed=resumed, at_work=names)
                )

        def attempts() -> Iterator[Attempt]:
            for key, (entry, way) in todo.items():
                at_work[key] = entry.instance
                tell()
                document = entry.document()
                yield Attempt(entry=entry, document=document, settings=way, verify=verify)

        # What is finished is in the table; of an interrupt the report says that it is not all.
        answers = performed(attempts(), executor=executor)
        with suppress(KeyboardInterrupt), closing(answers):
            for _, outcome in answers:
                row = outcome.row
                if folder is not None and outcome.result is not None:
                    # First the document: a row promises that it is there.
                    path = folder / f"{stem_of(row.file)}.{wanted[row.key][1].label}.json"
                    write_text(path, document_text(outcome.result))
                table.append(row)
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
