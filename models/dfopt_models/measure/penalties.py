"""Penalties of reallocations for the jobs of a trace, and their file: ``dfopt-penalties/1``."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

from msgspec import Meta

from dfopt.errors import FileError
from dfopt.files.documents import DocumentType
from dfopt.files.formats import Format
from dfopt.structs import Checked, NonNegative, replace
from dfopt_models.errors import ModelError, check_distinct
from dfopt_models.measure.machine import MachineCosts
from dfopt_models.model import Sourced
from dfopt_models.response_time import (
    JobParameters,
    PenaltiesOfQuantum,
    PenaltyTable,
    ResponseModel,
    check_label,
    check_penalty_table,
    penalties_at,
)

Value = TypeVar("Value")
Part = TypeVar("Part", ResponseModel, JobParameters)

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

    reallocation_time: NonNegative
    job: Annotated[tuple[JobPenalties, ...], Meta(extra_json_schema={"minItems": 1})]

    def __post_init__(self) -> None:
        """Check that there are jobs, and that no two of them have one name."""
        super().__post_init__()
        check_distinct([job.name for job in self.job], "job[{}].name")
        if not self.job:
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


def penalties_of_all(
    no_affinity: float, *, reallocation_time: float, sources: dict[str, str]
) -> MeasuredPenalties:
    """Return the same penalties for every job; with affinity a reallocation costs nothing."""
    always = PenaltiesOfQuantum(quantum=1.0, affinity=0.0, no_affinity=no_affinity)
    return MeasuredPenalties(
        reallocation_time=reallocation_time,
        job=(JobPenalties(name=ANY_JOB, penalties=(always,)),),
        sources=sources,
    )


NO_PENALTIES = penalties_of_all(
    0.0,
    reallocation_time=0.0,
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
    return PENALTIES.read_toml(path)


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
    time, source = penalties.reallocation_time, penalties.sources.get(name)
    if time != model.reallocation_time or source is not None:
        model = _with_costs(model, {name: time}, source)
    return replace(model, jobs=tuple(_job(job, penalties) for job in model.jobs))


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
    return penalties_of_all(
        seconds,
        reallocation_time=reallocation_time,
        sources={
            "penalties": "assumed: without affinity a job reads the whole cache anew, whose lines "
            "were measured; with affinity it loses nothing"
        },
    )


def _job(job: JobParameters, penalties: MeasuredPenalties) -> JobParameters:
    table = penalties.of(job.name)
    near, far = table[0].affinity, table[0].no_affinity
    single = len(table) == 1
    costs = {
        "penalty_affinity": near if single else None,
        "penalty_no_affinity": far if single else None,
        "penalties": None if single else table,
    }
    policies = {
        name: replace(policy, replications=_without(policy.replications, costs))
        for name, policy in job.policies.items()
    }
    return replace(_with_costs(job, costs, penalties.sources.get("penalties")), policies=policies)


def _with_costs(part: Part, costs: Mapping[str, object], source: str | None) -> Part:
    """Return a part with other costs, of which nothing more is known than where they come from."""
    sources = {} if source is None else {name: source for name in costs if costs[name] is not None}
    return replace(
        part,
        **costs,
        ranges=_without(part.ranges, costs),
        sources=_without(part.sources, costs) | sources,
    )


def _without(values: Mapping[str, Value], names: Collection[str]) -> dict[str, Value]:
    return {name: value for name, value in values.items() if name not in names}
