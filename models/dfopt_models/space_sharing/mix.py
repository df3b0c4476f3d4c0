"""Mixes: the machine, the applications, the policies' numbers and the jobs of a simulation.

They are TOML documents of the format ``dfopt-mix/1``.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from msgspec import Meta, field
from msgspec.structs import asdict

from dfopt.errors import FileError, InstanceError
from dfopt.files.based import BasedFormat, merged
from dfopt.files.formats import Format
from dfopt.files.strict import Document
from dfopt.structs import Checked, DocumentPart, replace
from dfopt.type_reader import at, described_value, shown_place
from dfopt_models.space_sharing.structures import (
    ANY_OTHER,
    KEYS,
    Application,
    Count,
    GraphFile,
    Penalties,
    PenaltyRow,
    PositiveSeconds,
    Seconds,
    Structured,
    read_thread_graph,
)

SHORTEST_REVIEW = 1e-6
"""Seconds; a shorter interval might be lost when it is added to the clock."""

LATEST_ARRIVAL = 1e9
"""Seconds; up to here the clock, a float, has steps of about a tenth of a microsecond."""

Arrival = Annotated[float, Meta(ge=0, le=LATEST_ARRIVAL)]


class TieBreak(StrEnum):
    """The rule by which a policy chooses among equal candidates."""

    RANDOM = "random"
    LATEST = "latest"
    EARLIEST = "earliest"
    LOWEST = "lowest"


class Multiprocessor(Checked):
    """Processors and what a reallocation costs.

    Parameters
    ----------
    processors
        Number of processors.
    path_length
        Seconds of overhead of each reallocation, whatever the caches hold.
    latency
        Seconds from the decision until the reallocation begins. The processor waits in this time,
        which counts as waste of the job that gets it.
    quantum
        Seconds. It selects the penalties that were measured with this quantum Q.
    """

    processors: Count = 16
    path_length: Seconds = 750e-6
    latency: Seconds = 0.0
    quantum: PositiveSeconds = 0.4


class AllocationParameters(Checked):
    """Numbers and tie-breaks of the policies; each policy uses those it knows.

    Parameters
    ----------
    credit_decay
        Seconds in which credit falls to 1/e. Credit grows by a processor-second a second for
        every processor that a job has less than its fair share.
    credit_per_processor
        Processor-seconds of credit that are worth one processor more than the fair share.
    preemption_margin
        Processors by which a preemption must improve equity, beyond the one that moves (D.3).
    review_interval
        Seconds after which standing requests are reviewed (D.3).
    yield_delay
        Seconds for which Dyn-Aff-Delay lets a job keep an idle processor.
    victim
        Which processor of the job with the largest allocation is preempted (D.3): the one it got
        latest or earliest, a random one, or the one with the lowest number.
    worker
        Which of its workers a job activates if affinity does not decide: the one that stopped
        latest or earliest, a random one, or the one with the lowest number. It is also the order
        in which workers are critical to the job's progress (A.2).
    match
        Whether a job that is given a processor activates the worker that ran there last, if it
        has one. It matters under the affinity policies alone.
    """

    credit_decay: PositiveSeconds = 0.2
    credit_per_processor: PositiveSeconds = 0.1
    preemption_margin: Seconds = 0.0
    review_interval: Seconds = 0.02
    yield_delay: Seconds = 0.002
    victim: TieBreak = TieBreak.EARLIEST
    worker: TieBreak = TieBreak.LOWEST
    match: bool = True

    def __post_init__(self) -> None:
        """Refuse an interval that would be lost on the clock."""
        super().__post_init__()
        if 0 < self.review_interval < SHORTEST_REVIEW:
            raise InstanceError(
                f"must be 0, or at least {SHORTEST_REVIEW:g}, not {self.review_interval}",
                place="review_interval",
            )


class JobValues(DocumentPart):
    """What jobs in a mix and in the document that describes it have in common.

    Parameters
    ----------
    copies
        Number of jobs, all alike.
    arrival
        Seconds until the first one arrives.
    interarrival
        Mean seconds between the arrivals of the copies, exponentially distributed; at 0 they
        arrive together.
    """

    copies: Count = 1
    arrival: Arrival = 0.0
    interarrival: Arrival = 0.0


class JobEntry(JobValues):
    """Jobs of one application in a mix.

    Parameters
    ----------
    application
        The application that they run.
    """

    application: Application


class MixValues(DocumentPart):
    """What a mix and the document that describes it have in common.

    Parameters
    ----------
    name
        Its name; by default that of its file.
    restart
        Whether a new job like it replaces every job that ends, so that the mix stays constant.
    runs
        With ``restart``: at least this many runs of each job are measured.
    machine
        Processors and what a reallocation costs.
    policy
        Numbers and tie-breaks of the policies.
    """

    name: str | None = None
    restart: bool = True
    runs: Count = 1
    machine: Multiprocessor = field(default_factory=Multiprocessor)
    policy: AllocationParameters = field(default_factory=AllocationParameters)


class Mix(MixValues):
    """Jobs, the machine they share, and the parameters of policies.

    Parameters
    ----------
    jobs
        The jobs.

    Raises
    ------
    InstanceError
        When there is no job, or a penalty is not known.
    """

    name: str
    jobs: tuple[JobEntry, ...]

    def __post_init__(self) -> None:
        """Check that there are jobs, and what each of them costs after every other one."""
        if not any(entry.copies for entry in self.jobs):
            raise InstanceError("the mix has no job; give it one", place="job")
        applications = {entry.application.name: entry.application for entry in self.jobs}
        for application in applications.values():
            for other in applications:
                if application.penalties.returning_after(other) is None:
                    raise InstanceError(
                        f"says nothing of {other!r}, which runs in the same mix; "
                        f"add it, or {ANY_OTHER!r} for all others",
                        place=f"application.{application.name}.penalties.affinity",
                    )


class JobTable(JobValues):
    """Jobs of one application.

    Parameters
    ----------
    application
        Its name.
    """

    application: str


class MixDocument(MixValues):
    """Jobs, the machine they share, and the parameters of policies.

    Parameters
    ----------
    base
        Another mix, whose values count where this one has none.
    application
        The programs, by name.
    job
        The jobs.
    """

    base: str | None = None
    application: dict[str, Structured] = field(default_factory=dict)
    job: tuple[JobTable, ...] = ()


def read_mix(path: str | Path) -> Mix:
    """Return the mix in a file, or one that comes with the package.

    Parameters
    ----------
    path
        A file of the format ``dfopt-mix/1``; ``-`` is standard input. Where there is no such
        file, one of :func:`shipped_mixes`.

    Raises
    ------
    DfoptError
        With file, place and remedy, when the file is not a valid mix.
    """
    return MIXES.read(path, lambda document: _mix(document, Path(path).stem))


def shipped_mixes() -> tuple[str, ...]:
    """Return the names of the mixes that come with the package."""
    return MIXES.shipped()


def mix_from_document(document: Document, *, name: str = "mix") -> Mix:
    """Return the mix that a document describes, without a base.

    Raises
    ------
    DfoptError
        When something is missing or does not fit together.
    """
    return MIXES.made([("", document)], lambda values: _mix(values, name))


def _mix(document: MixDocument, name: str) -> Mix:
    """Return the mix that a document describes, if its values fit together."""
    applications: dict[str, Application] = {}
    for position, job in enumerate(document.job):
        wanted = job.application
        if wanted not in document.application:
            known = ", ".join(map(described_value, document.application)) or "none"
            raise FileError(
                f"there is no application {described_value(wanted)}; known are {known}",
                place=f"job[{position}].application",
            )
        if wanted not in applications:
            table = document.application[wanted]
            applications[wanted] = _application(wanted, table, document.machine.quantum)
    jobs = tuple(
        JobEntry(**asdict(job) | {"application": applications[job.application]})
        for job in document.job
    )
    values = {key: getattr(document, key) for key in MixValues.__struct_fields__}
    return Mix(**values | {"name": document.name or name, "jobs": jobs})


def _in_folder(document: Document, folder: Path) -> None:
    """Let the files of graphs be relative to the folder of the mix."""
    tables = document.get("application")
    for table in tables.values() if isinstance(tables, dict) else ():
        if isinstance(table, dict) and isinstance(table.get("file"), str):
            table["file"] = str(folder / table["file"])


def _merged(base: Document, over: Document) -> Document:
    """Return a base with a document that stands on it.

    An application with another structure keeps the keys of the base that this structure needs.
    """
    together = merged(base, over)
    tables = over.get("application")
    for name, given in tables.items() if isinstance(tables, dict) else ():
        keys = KEYS.get(str(given.get("structure"))) if isinstance(given, dict) else None
        if keys is not None:
            belongs = {*given, *keys}
            found = together["application"][name].items()
            together["application"][name] = {key: value for key, value in found if key in belongs}
    return together


MIXES = BasedFormat(
    format=Format.MIX,
    plural="mixes",
    package="dfopt_models.space_sharing",
    folder="mixes",
    type=MixDocument,
    in_folder=_in_folder,
    merge=_merged,
)


# Values that must fit together.


def _application(name: str, table: Structured, quantum: float) -> Application:
    place = shown_place(("application", name))
    return Application(
        name=name,
        structure=read_thread_graph(table.file)
        if isinstance(table, GraphFile)
        else replace(table, penalties=()),
        penalties=at(place, lambda rows: _penalties(rows, quantum), table.penalties),
    )


def _penalties(rows: Sequence[PenaltyRow], quantum: float) -> Penalties:
    quanta = [row.quantum for row in rows]
    for position, measured in enumerate(quanta):
        if measured in quanta[:position]:
            raise FileError(
                f"{measured:g} is there more than once; keep one row of each",
                place=f"penalties[{position}].quantum",
            )
    for row in rows:
        if row.quantum == quantum:
            return row
    known = ", ".join(f"{each:g} s" for each in quanta) or "none"
    raise FileError(
        f"must have a row for the machine's quantum of {quantum:g} s; there are {known}",
        place="penalties",
    )
