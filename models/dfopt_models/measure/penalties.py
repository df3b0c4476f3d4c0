"""Penalties of reallocations for the jobs of a trace, and their file: ``dfopt-penalties/1``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta

from dfopt.errors import DfoptError, FileError
from dfopt.files import read_text
from dfopt.files.documents import DocumentType
from dfopt.files.formats import Format, parse_toml_of
from dfopt.files.streams import shown_name
from dfopt.structs import Checked, replace
from dfopt_models.errors import ModelError
from dfopt_models.measure.machine_document import MachineCosts
from dfopt_models.model import Sourced
from dfopt_models.response_time import (
    JOB_NUMBERS,
    Amount,
    JobParameters,
    PenaltiesOfQuantum,
    PenaltyTable,
    check_label,
    check_penalty_table,
    penalties_at,
)

if TYPE_CHECKING:
    from dfopt_models.response_time import ResponseModel

ANY_JOB = "*"
"""The name that stands for every job that the file does not name."""


PICOSECOND = 1e-12
"""In seconds."""


class JobPenalties(Checked):
    """The penalties of a job.

    Parameters
    ----------
    name
        The job; ``"*"`` is any other one.
    penalties
        By quantum, in rising order.
    """

    name: Annotated[str, Meta(extra_json_schema={"minLength": 1})]
    penalties: Annotated[tuple[PenaltiesOfQuantum, ...], Meta(extra_json_schema={"minItems": 1})]

    def __post_init__(self) -> None:
        """Check the name, and the order of the table."""
        super().__post_init__()
        check_label(self.name, "name")
        check_penalty_table(self.penalties, "penalties")


class MeasuredPenalties(Sourced):
    """What a reallocation of a processor costs each job; all times are in seconds.

    Parameters
    ----------
    reallocation_time
        Path length of a reallocation.
    job
        The penalties of each job; ``"*"`` is any other one.
    sources
        Where ``reallocation_time`` and ``penalties`` come from.
    """

    reallocation_time: Amount
    job: Annotated[tuple[JobPenalties, ...], Meta(extra_json_schema={"minItems": 1})]

    def __post_init__(self) -> None:
        """Check that there are jobs, and that no two of them have one name."""
        super().__post_init__()
        names = [job.name for job in self.job]
        for position, name in enumerate(names):
            if name in names[:position]:
                raise FileError(
                    f"{name!r} is there twice; rename one of them", place=f"job[{position}].name"
                )
        if not names:
            raise FileError("is empty; give at least one table [[job]]", place="job")

    def of(self, job: str) -> PenaltyTable:
        """Return the penalties of a job.

        Raises
        ------
        ModelError
            When the file has none for it.
        """
        tables = {each.name: each.penalties for each in self.job}
        table = tables.get(job, tables.get(ANY_JOB))
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

    def time_to_fill(self, job: str | None) -> int:
        """Return the nanoseconds that a task pays which finds none of its data.

        They are the path length and P^NA after the longest quantum.

        Parameters
        ----------
        job
            Whose; it may be left out where the file has one job alone.

        Raises
        ------
        FileError, ModelError
            When there is no such job, or none is named and there are several.
        """
        if job is None:
            job, *others = (each.name for each in self.job)
            if others:
                raise FileError(
                    f"has the jobs {', '.join((job, *others))}; say which: JOB=FILE", place="job"
                )
        last = self.of(job)[-1]
        return round((self.reallocation_time + last.no_affinity) * 1e9)


PENALTIES = DocumentType(Format.PENALTIES, MeasuredPenalties)

NO_PENALTIES = MeasuredPenalties(
    reallocation_time=0.0,
    job=(
        JobPenalties(
            name=ANY_JOB,
            penalties=(PenaltiesOfQuantum(quantum=1.0, affinity=0.0, no_affinity=0.0),),
        ),
    ),
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
    return PENALTIES.read_parsed(parse_toml_of(text, PENALTIES.format))


def penalties_document(
    penalties: MeasuredPenalties, *, beside: Mapping[str, Any] = {}
) -> dict[str, Any]:
    """Return the document of penalties.

    Parameters
    ----------
    penalties
        The penalties.
    beside
        Further keys, which begin with ``x-``.
    """
    found = PENALTIES.to_document(penalties) | dict(beside)
    keys = ("format", "reallocation_time", *beside, "job", "x-source")
    return {key: found[key] for key in keys if key in found}


def with_penalties(model: ResponseModel, penalties: MeasuredPenalties) -> ResponseModel:
    """Return a model whose reallocations cost what was measured.

    What policies did to jobs stays. Where this follows from measured response times, work is
    derived anew, so that the response times stay.

    Parameters
    ----------
    model
        The model.
    penalties
        They have a table for each job, or one for all.

    Raises
    ------
    ModelError
        When a job has no table, or reallocations would take all of its time.
    """
    name = "reallocation_time"
    sources, ranges = dict(model.sources), dict(model.ranges)
    if penalties.reallocation_time != model.reallocation_time or name in penalties.sources:
        sources.pop(name, None)
        ranges.pop(name, None)
    return replace(
        model,
        reallocation_time=penalties.reallocation_time,
        jobs=tuple(_job(job, penalties) for job in model.jobs),
        ranges=ranges,
        sources=sources | ({name: penalties.sources[name]} if name in penalties.sources else {}),
    )


def penalties_of_machine(costs: MachineCosts, *, reallocation_time: float) -> MeasuredPenalties:
    """Return the penalties that follow from a machine's costs, for all jobs.

    Without affinity the whole cache is read anew and written back. That affinity costs nothing is
    an assumption, and so is the size of the jobs' data.

    Parameters
    ----------
    costs
        What the machine costs.
    reallocation_time
        Seconds.
    """
    seconds = costs.picoseconds(costs.read_line * costs.lines + costs.write_back) * PICOSECOND
    return MeasuredPenalties(
        reallocation_time=reallocation_time,
        job=(
            JobPenalties(
                name=ANY_JOB,
                penalties=(PenaltiesOfQuantum(quantum=1.0, affinity=0.0, no_affinity=seconds),),
            ),
        ),
        sources={
            "penalties": "assumed: without affinity a job reads the whole cache anew, whose lines "
            "were measured; with affinity it loses nothing"
        },
    )


def _job(job: JobParameters, penalties: MeasuredPenalties) -> JobParameters:
    table = penalties.of(job.name)
    if len(table) > 1:
        costs = dict.fromkeys(JOB_NUMBERS) | {"penalties": table}
    else:
        numbers = (table[0].affinity, table[0].no_affinity)
        costs = dict(zip(JOB_NUMBERS, numbers, strict=True)) | {"penalties": None}
    replaced = {"penalties", *JOB_NUMBERS}
    sources = {key: source for key, source in job.sources.items() if key not in replaced}
    if "penalties" in penalties.sources:
        keys = [name for name, value in costs.items() if value is not None]
        sources |= dict.fromkeys(keys, penalties.sources["penalties"])
    return replace(
        job,
        **costs,
        ranges={key: limits for key, limits in job.ranges.items() if key not in replaced},
        sources=sources,
        policies={
            name: replace(
                policy,
                replications={
                    key: values
                    for key, values in policy.replications.items()
                    if key not in JOB_NUMBERS
                },
            )
            for name, policy in job.policies.items()
        },
    )
