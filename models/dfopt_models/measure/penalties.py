"""Penalties of reallocations for the jobs of a trace, and their file: ``dfopt-penalties/1``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dfopt.errors import DfoptError, FileError
from dfopt.files import read_text
from dfopt.files.documents import DocumentType
from dfopt.files.formats import Format, parse_toml_of
from dfopt.files.streams import shown_name
from dfopt.structs import Checked, document_of
from dfopt_models.errors import ModelError
from dfopt_models.model import Sourced
from dfopt_models.response_time.parameters import (
    Amount,
    PenaltiesOfQuantum,
    PenaltyTable,
    check_label,
    check_penalty_table,
    penalties_at,
)

FORMAT = Format.PENALTIES

ANY_JOB = "*"
"""The name that stands for every job that the file does not name."""


class JobPenalties(Checked):
    """The penalties of a job.

    Parameters
    ----------
    name
        The job; ``"*"`` is any other one.
    penalties
        By quantum.
    """

    name: str
    penalties: tuple[PenaltiesOfQuantum, ...]

    def __post_init__(self) -> None:
        """Check the name, and the order of the table."""
        super().__post_init__()
        check_label(self.name, "name")
        check_penalty_table(self.penalties, "penalties")


class PenaltiesFile(Sourced):
    """What a file says of penalties.

    Parameters
    ----------
    reallocation_time
        Path length of a reallocation, seconds.
    job
        The jobs.
    """

    reallocation_time: Amount
    job: tuple[JobPenalties, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredPenalties:
    """What a reallocation costs each job.

    Parameters
    ----------
    reallocation_time
        Path length of a reallocation, seconds.
    jobs
        By the names of jobs: penalties by quantum; ``"*"`` is any other job.
    sources
        Where ``reallocation_time`` and ``penalties`` come from.
    """

    reallocation_time: float
    jobs: Mapping[str, PenaltyTable]
    sources: Mapping[str, str] = field(default_factory=dict)

    def of(self, job: str) -> PenaltyTable:
        """Return the penalties of a job.

        Raises
        ------
        ModelError
            When the file has none for it.
        """
        table = self.jobs.get(job, self.jobs.get(ANY_JOB))
        if table is None:
            raise ModelError(
                f"has no job {job!r}; add a table [[job]] with this name, or with "
                f"{ANY_JOB!r} for all others",
                place="job",
            )
        return table

    def cost(self, job: str, interval: float, *, affinity: bool) -> float:
        """Return the path length and the penalty after an interval, in seconds."""
        with_affinity, without = penalties_at(self.of(job), interval)
        return self.reallocation_time + (with_affinity if affinity else without)


NO_PENALTIES = MeasuredPenalties(
    reallocation_time=0.0,
    jobs={ANY_JOB: (PenaltiesOfQuantum(quantum=1.0, affinity=0.0, no_affinity=0.0),)},
    sources=dict.fromkeys(
        ("reallocation_time", "penalties"), "assumed: no penalties were given, so that all are 0"
    ),
)
"""Reallocations cost nothing; an assumption."""


def read_penalties(path: str | Path) -> MeasuredPenalties:
    """Return the penalties in a file of the format ``dfopt-penalties/1``.

    Raises
    ------
    FileError, ModelError
        With file, place and remedy, when the file is not valid.
    """
    try:
        return parse_penalties(read_text(path))
    except DfoptError as error:
        raise error.in_file(shown_name(path)) from None


def parse_penalties(text: str) -> MeasuredPenalties:
    """Return the penalties that a TOML document describes.

    Raises
    ------
    FileError, ModelError
        With place and remedy, when it is not valid.
    """
    document = parse_toml_of(text, FORMAT)
    found = DocumentType(FORMAT, PenaltiesFile).read_parsed(document)
    jobs: dict[str, PenaltyTable] = {}
    for position, job in enumerate(found.job):
        if job.name in jobs:
            raise FileError(
                f"{job.name!r} is there twice; rename one of them", place=f"job[{position}].name"
            )
        jobs[job.name] = job.penalties
    if not jobs:
        raise FileError("is empty; give at least one table [[job]]", place="job")
    return MeasuredPenalties(
        reallocation_time=found.reallocation_time, jobs=jobs, sources=found.sources
    )


def penalties_text(penalties: MeasuredPenalties, *, beside: Mapping[str, Any] = {}) -> str:
    """Return the TOML document of penalties.

    Parameters
    ----------
    penalties
        The penalties.
    beside
        Further keys, which begin with ``x-``.
    """
    import tomli_w

    return tomli_w.dumps(penalties_document(penalties, beside=beside))


def penalties_document(
    penalties: MeasuredPenalties, *, beside: Mapping[str, Any] = {}
) -> dict[str, Any]:
    """Return the same as a document."""
    jobs = [
        {"name": name, "penalties": [document_of(entry) for entry in table]}
        for name, table in penalties.jobs.items()
    ]
    document: dict[str, Any] = {
        "format": str(FORMAT),
        "reallocation_time": penalties.reallocation_time,
        **beside,
        "job": jobs,
    }
    if penalties.sources:
        document["x-source"] = dict(penalties.sources)
    return document
