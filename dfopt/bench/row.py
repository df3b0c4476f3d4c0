"""One row of a benchmark: an instance, the settings of the solver, and the result."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, get_type_hints

from dfopt.bench.settings import Settings
from dfopt.errors import FileError
from dfopt.frames import FrameLibrary, frame_of

SETTINGS = tuple(field.name for field in fields(Settings))


class RowStatus(StrEnum):
    """The status of a result, or the reason why there is none."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    UNKNOWN = "unknown"
    NOT_APPLICABLE = "not-applicable"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The result of a run for one instance; the fields are the columns, in this order.

    Parameters
    ----------
    instance, file, sha256
        Name (or the file's, where it has none), file and digest of the instance.
    tasks, cpus, fragments, penalty, objective_kind
        Its size; its penalty, f, g or matrix (there ``fragments`` are task types); and what is
        minimised.
    method, seed, time_limit_s, gap_limit, workers
        The settings.
    status, stop_reason
        As in a result; the status is ``not-applicable`` where the method does not fit the
        instance, and ``error`` where no result came back.
    objective, lower_bound, gap
        As in the result.
    certificate
        Kind of the certificate; empty without one.
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

    instance: str
    file: str
    sha256: str
    tasks: int
    cpus: int
    fragments: int
    penalty: str
    objective_kind: str
    method: str
    seed: int
    time_limit_s: float
    gap_limit: float | None
    workers: int
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


COLUMNS = tuple(field.name for field in fields(Row))


def rows_frame(rows: Iterable[Row], *, library: FrameLibrary | None = None) -> Any:
    """Return rows as a data frame of pandas or polars, with the columns of the CSV file.

    Parameters
    ----------
    rows
        As :func:`~dfopt.bench.run` reports them, or :func:`~dfopt.bench.read_rows` reads them.
    library
        ``"pandas"`` or ``"polars"``; None takes pandas if it is installed, else polars.

    Raises
    ------
    MethodError
        When the library is not installed.
    """
    values = ([getattr(row, column) for column in COLUMNS] for row in rows)
    return frame_of(
        COLUMNS,
        [[str(value) if isinstance(value, StrEnum) else value for value in row] for row in values],
        library,
    )


def texts_of(row: Row) -> list[str]:
    """Return the fields of a row as texts without line breaks, so that a row is a line."""
    return [_text(getattr(row, column)) for column in COLUMNS]


def row_from_texts(texts: list[str]) -> Row:
    """Return the row that the fields of a line describe.

    Raises
    ------
    FileError
        When they are too few or too many, or one of them cannot be read.
    """
    if len(texts) != len(COLUMNS):
        raise FileError(f"has {len(texts)} fields, not {len(COLUMNS)}; mend or remove the line")
    values = {}
    for column, text in zip(COLUMNS, texts, strict=True):
        try:
            values[column] = READERS[column](text)
        except ValueError:
            raise FileError(
                f"{text!r} cannot stand here; mend or remove the line", place=column
            ) from None
    return Row(**values)


def _text(value: object) -> str:
    if value is None:
        return ""
    text = str(value)
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _optional(read: Callable[[str], Any]) -> Callable[[str], Any]:
    return lambda text: read(text) if text else None


_READERS_OF_TYPES: dict[Any, Callable[[str], Any]] = {
    str: str,
    int: int,
    float: float,
    int | None: _optional(int),
    float | None: _optional(float),
    RowStatus: RowStatus,
}
READERS = {column: _READERS_OF_TYPES[kind] for column, kind in get_type_hints(Row).items()}
