"""Sets of instances, and the rows of a benchmark over them in the CSV file that they last in."""

from __future__ import annotations

import csv
import fcntl
import io
import math
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import Any, get_args, get_type_hints

from dfopt._version import __version__
from dfopt.errors import DfoptError, DfoptWarning, FileError, MethodError
from dfopt.files import (
    check_writable,
    fingerprint,
    penalty_to_document,
    read_document,
    read_instance,
)
from dfopt.files.csv_table import csv_table
from dfopt.files.formats import Format, document_format
from dfopt.files.storage import STANDARD_INPUT, decoded, naming, placed
from dfopt.parallel import available_processors
from dfopt.problem.instance import Instance
from dfopt.problem.penalties import PenaltyMatrix
from dfopt.problem.result import FirstOf, GapLimit, StoppingCriterion, TimeLimit
from dfopt.solvers.facade import METHODS
from dfopt.type_reader import at, reader


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One instance of a set: where it is, and what a row says of it.

    Parameters
    ----------
    instance
        Its name; the file's without its ending where it has none.
    file
        Its file, as named or as found in a folder or an index.
    sha256
        The digest of its document.
    tasks, cpus, fragments, penalty, objective_kind
        Its size; its penalty, f, g or matrix (there ``fragments`` are task types); and what is
        minimised.
    """

    instance: str
    file: str
    sha256: str
    tasks: int
    cpus: int
    fragments: int
    penalty: str
    objective_kind: str

    def read(self) -> Instance:
        """Return the instance, read anew.

        Raises
        ------
        FileError
            When the file has gone or changed meanwhile.
        """
        instance = read_instance(self.file)
        if fingerprint(instance) != self.sha256:
            raise FileError("has changed since the run began; start again", file=self.file)
        return instance


def read_set(*paths: str | Path) -> tuple[Entry, ...]:
    """Return the instances in folders, indices and single files.

    Parameters
    ----------
    *paths
        Each a folder, an index (``dfopt-instance-index/1``) or an instance. Of a folder with an
        ``index.json`` those that it lists are taken, else all files that end in ``.json`` or
        ``.json.gz``, in the order of their names.

    Returns
    -------
    tuple of Entry
        The instances in the order of ``paths``. One that comes twice, by its digest, is taken
        once, with a warning.

    Raises
    ------
    FileError, InstanceError
        With file, place and remedy, when a file is missing or is no instance, or when there are
        none.
    """
    entries: dict[str, Entry] = {}
    for path in paths:
        for file, listed_sha256 in _files_of(path):
            entry = _entry(file)
            if listed_sha256 not in (None, entry.sha256):
                raise FileError(
                    "is not the version that its index lists (sha256); update one of the two",
                    file=str(file),
                )
            first = entries.setdefault(entry.sha256, entry)
            if first is not entry:
                message = f"{entry.file} is the same instance as {first.file} and runs once"
                warnings.warn(message, DfoptWarning, stacklevel=2)
    if not entries:
        raise FileError("is empty; name a folder, an index or an instance", place="set")
    return tuple(entries.values())


def _files_of(path: str | Path) -> Iterable[tuple[Path, str | None]]:
    """Return the files of a set, and the digests that an index tells."""
    if str(path) == STANDARD_INPUT:
        raise FileError("is read once only; name a file or a folder", file="standard input")
    file = Path(path)
    if file.is_dir():
        index = file / "index.json"
        if not index.exists() or document_format(index) != Format.INSTANCE_INDEX:
            names = (inner.name for inner in file.iterdir())
            found = sorted(name for name in names if re.fullmatch(r"[^.].*\.json(\.gz)?", name))
            if not found:
                raise FileError(
                    "holds no file that ends in .json or .json.gz; name another folder",
                    file=str(file),
                )
            return [(file / name, None) for name in found]
        file = index
    if document_format(file) != Format.INSTANCE_INDEX:
        return [(file, None)]
    with naming(file):
        rows = at(
            "instances", reader(tuple[dict[str, Any], ...]), read_document(file).get("instances")
        )
        listed = [at(f"instances[{place}]", _listed, row) for place, row in enumerate(rows)]
    if not listed:
        raise FileError("is empty; list some", place="instances", file=str(file))
    return [(file.parent / name, sha256) for name, sha256 in listed]


def _listed(row: dict[str, Any]) -> tuple[str, str | None]:
    if "file" not in row:
        raise FileError("must be an object {…} with the key 'file'")
    return at("file", reader(str), row["file"]), at("sha256", reader(str | None), row.get("sha256"))


def _entry(file: Path) -> Entry:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DfoptWarning)
        instance = read_instance(file)
    for warning in caught:
        warnings.warn(f"{file}: {warning.message}", warning.category, stacklevel=3)
    groups = "type" if isinstance(instance.penalty, PenaltyMatrix) else "df"
    return Entry(
        instance=instance.name or stem_of(str(file)),
        file=str(file),
        sha256=fingerprint(instance),
        tasks=instance.task_count,
        cpus=instance.cpus,
        fragments=len({getattr(task, groups) for task in instance.tasks}),
        penalty=penalty_to_document(instance.penalty)["kind"],
        objective_kind=str(instance.objective),
    )


def stem_of(file: str) -> str:
    """Return the name of a file without its folder and its ending."""
    return Path(file).name.removesuffix(".gz").removesuffix(".json")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How every instance of a run is solved; rows of other settings are other rows.

    Parameters
    ----------
    method, seed, workers
        As :func:`dfopt.solve` takes them; ``workers`` is by default one thread per processor.
    time_limit_s
        Seconds after which a search ends without its proof.
    gap_limit
        The gap at which a search ends; None: only with the proof.

    Raises
    ------
    DfoptError
        When a value is impossible.
    """

    method: str = "auto"
    seed: int = 0
    time_limit_s: float = 60.0
    gap_limit: float | None = None
    workers: int = field(default_factory=available_processors)

    def __post_init__(self) -> None:
        check_method(self.method)
        if self.workers < 1:
            raise MethodError(f"needs at least 1 worker, not {self.workers}")
        if self.seed < 0:
            raise DfoptError(f"must be at least 0, not {self.seed}", place="seed")
        if not math.isfinite(self.time_limit_s):
            raise DfoptError(
                f"must be a finite number of seconds, not {self.time_limit_s}", place="time limit"
            )
        self.criterion()

    def criterion(self) -> StoppingCriterion:
        """Return what ends a search before its proof."""
        limits: list[StoppingCriterion] = [TimeLimit(self.time_limit_s)]
        if self.gap_limit is not None:
            limits.append(GapLimit(self.gap_limit))
        return FirstOf(*limits)

    @property
    def label(self) -> str:
        """The settings as part of a file name, such as ``auto-s0-t60-w2``."""
        label = f"{self.method}-s{self.seed}-t{plain(self.time_limit_s)}"
        if self.gap_limit is not None:
            label += f"-g{plain(self.gap_limit)}"
        return f"{label}-w{self.workers}"


def check_method(method: str) -> None:
    """Refuse a method that there is not."""
    if method not in METHODS:
        raise MethodError(f"unknown method {method!r}; known are {', '.join(METHODS)}")


def plain(number: float) -> str:
    """Return a number without a decimal point that says nothing."""
    return repr(float(number)).removesuffix(".0")


SETTINGS = tuple(field.name for field in fields(Settings))


class RowStatus(StrEnum):
    """The status of a result, or the reason why there is none."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    UNKNOWN = "unknown"
    NOT_APPLICABLE = "not-applicable"
    ERROR = "error"


@dataclass(frozen=True, kw_only=True)
class Row(Settings, Entry):
    """The result of a run for one instance; the fields are the columns.

    First come those of :class:`Entry` and :class:`Settings`, then these.

    Parameters
    ----------
    status, stop_reason
        As in a result; the status is ``not-applicable`` where the method does not fit the
        instance, and ``error`` where no result came back.
    objective, lower_bound, gap
        As in the result.
    certificate
        Kind of the certificate, or what it is over if it is a proof; empty without one.
    first_schedule_s, best_schedule_s, best_bound_s
        Seconds until the first schedule, the best one, and the best bound.
    wall_time_s
        Seconds that the search took; where no result came back, those until that was known.
    peak_memory_mib
        Most memory (MiB, resident) that the process had in use up to the end of the search.
    verified
        ``yes`` or ``no`` where the result was checked, else empty.
    dfopt_version
        The version that solved it.
    error
        Why there is no result, or what is wrong with it.
    """

    status: RowStatus
    stop_reason: str = ""
    objective: int | None = None
    lower_bound: int | None = None
    gap: float | None = None
    certificate: str = ""
    first_schedule_s: float | None = None
    best_schedule_s: float | None = None
    best_bound_s: float | None = None
    wall_time_s: float
    peak_memory_mib: float | None = None
    verified: str = ""
    dfopt_version: str
    error: str = ""

    @property
    def key(self) -> tuple[Any, ...]:
        """The digest of the instance and the settings; no two rows of a table share them."""
        return self.sha256, *(getattr(self, setting) for setting in SETTINGS)

    @property
    def is_proven(self) -> bool:
        """Whether the search ended with a proof."""
        return self.status in (RowStatus.OPTIMAL, RowStatus.INFEASIBLE)

    @property
    def is_wrong(self) -> bool:
        """Whether no result came back, or one that the checker refuted."""
        return self.status is RowStatus.ERROR or self.verified == "no"


TYPES = get_type_hints(Row)
COLUMNS = tuple(TYPES)


def line_of(row: Row | None = None) -> str:
    """Return the line of a row, or the header; line breaks within texts are escaped."""
    line = io.StringIO()
    values = COLUMNS if row is None else [_text(getattr(row, column)) for column in COLUMNS]
    csv.writer(line, lineterminator="\n").writerow(values)
    return line.getvalue()


def _text(value: object) -> str:
    text = "" if value is None else str(value)
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def row_from_texts(texts: list[str]) -> Row:
    """Return the row that the fields of a line describe.

    Raises
    ------
    FileError
        When one of them cannot be read, or another version wrote them.
    """
    values: dict[str, Any] = {}
    for column, text in zip(COLUMNS, texts, strict=True):
        kind, *is_optional = get_args(TYPES[column]) or (TYPES[column],)
        try:
            values[column] = None if is_optional and not text else kind(text)
        except ValueError:
            problem = f"{text!r} cannot stand here; mend or remove the line"
            raise FileError(problem, place=column) from None
    if values["dfopt_version"] != __version__:
        raise FileError(
            f"is of dfopt {values['dfopt_version']}, and this is {__version__}; "
            "name another file, so that figures of two versions do not mix"
        )
    return Row(**values)


@contextmanager
def rows_file(
    path: str | Path, *, resume: bool = False
) -> Iterator[tuple[tuple[Row, ...], Callable[[Row], None]]]:
    """Open a CSV file for more rows; give the rows that it has, and what appends one.

    Every row is on the disk before the next one begins. So whatever ends the process, what can be
    torn is the last line; it lacks its end, and going on drops it.

    Parameters
    ----------
    path
        The file.
    resume
        Whether to go on with the rows that are there, whatever their settings.

    Raises
    ------
    FileError
        When the file cannot be written, is at work in another run, holds anything although
        ``resume`` is false, or holds what this version does not write.
    """
    file = str(path)
    check_writable(file)
    if file.endswith(".gz") or (os.path.exists(file) and not os.path.isfile(file)):
        raise FileError("grows row by row; name a plain file, not compressed", file=file)
    with open(file, "a+b", buffering=0) as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            problem = "another run writes to it; wait for its end, or name another file"
            raise FileError(problem, file=file) from None
        except OSError:
            pass  # a file system without locks: other runs cannot be kept out

        def write(line: str) -> None:
            data = line.encode()
            try:
                while data:
                    data = data[os.write(stream.fileno(), data) :]
                os.fsync(stream)
            except OSError as error:
                problem = f"cannot be written ({error.strerror}); make room and add `resume`"
                raise FileError(problem, file=file) from None

        rows: tuple[Row, ...] = ()
        if os.path.getsize(file):
            if not resume:
                raise FileError(
                    "is there already; add `resume` to go on with it, or name another file",
                    file=file,
                )
            whole, torn = _lines_in(file)
            if whole or not line_of().encode().startswith(torn):
                rows = _rows_of(whole, file)
            stream.truncate(len(whole))
        if not os.path.getsize(file):
            write(line_of())
        yield rows, lambda row: write(line_of(row))


def read_rows(path: str | Path) -> tuple[Row, ...]:
    """Return the rows in a CSV file that a run has written, a torn last line left out.

    Raises
    ------
    FileError
        When the file holds something else.
    """
    return _rows_of(_lines_in(path)[0], str(path))


def _lines_in(path: str | Path) -> tuple[bytes, bytes]:
    """Return the whole lines of a file, and the torn part of a last one."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        problem = f"cannot be read ({error.strerror}); name another file"
        raise FileError(problem, file=str(path)) from None
    end = data.rfind(b"\n") + 1
    return data[:end], data[end:]


def _rows_of(data: bytes, file: str) -> tuple[Row, ...]:
    if data == line_of().encode():
        return ()
    rows = []
    with naming(file):
        table = csv_table(decoded(data), "those of 'dfopt bench'")
        if tuple(table.names) != COLUMNS:
            raise FileError(
                f"does not name the columns of dfopt {__version__}; name another file",
                place="line 1",
            )
        for line, texts in table.rows:
            with placed(f"line {line}"):
                rows.append(row_from_texts(texts))
    return tuple(rows)
