"""Mixes as TOML documents of the format ``dfopt-mix/1``."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, field
from msgspec.structs import asdict

from dfopt.errors import DfoptError, FileError
from dfopt.files.based import BasedFormat, merged
from dfopt.files.formats import Format
from dfopt.files.strict_json import Document
from dfopt.structs import DocumentPart, described_value, shown_place
from dfopt_models.space_sharing.mix import (
    MOST_THREADS,
    AllocationParameters,
    Application,
    Count,
    JobEntry,
    Mix,
    Multiprocessor,
    Penalties,
    PositiveSeconds,
    Seconds,
)
from dfopt_models.space_sharing.programs import Structure
from dfopt_models.space_sharing.structures import Blocks, TimeSteps, WaveFront
from dfopt_models.space_sharing.thread_graph import read_thread_graph

STRUCTURES: dict[str, Any] = {"blocks": Blocks, "time-steps": TimeSteps, "wave-front": WaveFront}
"""By name: the structures whose parameters are keys of their table; the other is a graph's file."""

LATEST_ARRIVAL = 1e9
"""Seconds; up to here the clock, a float, has steps of about a tenth of a microsecond."""

Arrival = Annotated[float, Meta(ge=0, le=LATEST_ARRIVAL)]


class PenaltyRow(DocumentPart):
    """Penalties of an application, measured with one quantum.

    Parameters
    ----------
    quantum
        Seconds for which a task ran before it lost its processor.
    no_affinity
        Seconds that it costs to come to a processor on which the task did not run last.
    affinity
        Seconds that it costs to return, by the application that ran in between; ``*`` stands for
        all that are not named.
    """

    quantum: PositiveSeconds
    no_affinity: Seconds
    affinity: dict[str, Seconds]


class ApplicationTable(DocumentPart):
    """A program that jobs run; its structure says which other keys it has.

    Parameters
    ----------
    structure
        How its threads depend on each other.
    penalties
        Its penalties, a row for each quantum.
    work
        Mean work of all threads together, in processor-seconds.
    threads
        Number of threads; with ``time-steps``, those of each parallel phase.
    variation
        Coefficient of variation of their work.
    steps, phases
        Of ``time-steps``: number of steps, and of parallel phases in each.
    serial, barrier
        Of ``time-steps``: seconds of the serial phase of each step, and of each barrier.
    rows, columns
        Of ``wave-front``: size of the table.
    file
        Of ``graph``: a file with a thread graph.
    """

    structure: Literal["blocks", "time-steps", "wave-front", "graph"]
    penalties: tuple[PenaltyRow, ...] = ()
    work: PositiveSeconds | None = None
    threads: Count | None = None
    variation: Seconds | None = None
    steps: Count | None = None
    serial: PositiveSeconds | None = None
    phases: Count | None = None
    barrier: PositiveSeconds | None = None
    rows: Count | None = None
    columns: Count | None = None
    file: str | None = None


class JobTable(DocumentPart):
    """Jobs of one application.

    Parameters
    ----------
    application
        Its name.
    copies
        Number of jobs, all alike.
    arrival
        Seconds until the first one arrives.
    interarrival
        Mean seconds between the arrivals of the copies; at 0 they arrive together.
    """

    application: str
    copies: Count = 1
    arrival: Arrival = 0.0
    interarrival: Arrival = 0.0


class MixDocument(DocumentPart):
    """Jobs, the machine they share, and the parameters of policies.

    Parameters
    ----------
    name
        Its name; by default that of its file.
    base
        Another mix, whose values count where this one has none.
    restart
        Whether a new job like it replaces every job that ends.
    runs
        With ``restart``: at least this many runs of each job are measured.
    machine
        Processors and what a reallocation costs.
    policy
        Numbers and tie-breaks of the policies.
    application
        The programs, by name.
    job
        The jobs.
    """

    name: str | None = None
    base: str | None = None
    restart: bool = True
    runs: Count = 1
    machine: Multiprocessor = field(default_factory=Multiprocessor)
    policy: AllocationParameters = field(default_factory=AllocationParameters)
    application: dict[str, ApplicationTable] = field(default_factory=dict)
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
    return Mix(
        name=document.name or name,
        machine=document.machine,
        policy=document.policy,
        jobs=tuple(
            JobEntry(**{**asdict(job), "application": applications[job.application]})
            for job in document.job
        ),
        restart=document.restart,
        runs=document.runs,
    )


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
        if isinstance(given, dict) and given.get("structure") in STRUCTURES:
            belongs = {*given, "penalties", "structure", *_keys_of(given["structure"])}
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


def _application(name: str, table: ApplicationTable, quantum: float) -> Application:
    try:
        return Application(
            name=name, structure=_structure(table), penalties=_penalties(table, quantum)
        )
    except DfoptError as error:  # a graph's file has its own places
        raise error if error.file else error.within(shown_place(("application", name))) from None


def _keys_of(structure: str) -> tuple[str, ...]:
    """Return the keys that a structure needs."""
    kind = STRUCTURES.get(structure)
    return ("file",) if kind is None else tuple(each.name for each in fields(kind))


def _structure(table: ApplicationTable) -> Structure:
    name, values = table.structure, asdict(table)
    given = [key for key, value in values.items() if value is not None]
    needed = _keys_of(name)
    for key in given:
        if key not in ("structure", "penalties", *needed):
            raise FileError(f"does not belong to the structure {name!r}; remove it", place=key)
    for key in needed:
        if key not in given:
            raise FileError(f"is missing; the structure {name!r} needs it", place=key)
    if table.file is not None:
        return read_thread_graph(table.file)
    threads = (table.rows or 1) * (table.columns or 1)
    if threads > MOST_THREADS:
        raise FileError(
            f"has {threads:,} threads, and {MOST_THREADS:,} is the most; take fewer rows or columns"
        )
    structure: Structure = STRUCTURES[name](**{key: values[key] for key in needed})
    return structure


def _penalties(table: ApplicationTable, quantum: float) -> Penalties:
    quanta = [row.quantum for row in table.penalties]
    for position, measured in enumerate(quanta):
        if measured in quanta[:position]:
            raise FileError(
                f"{measured:g} is there more than once; keep one row of each",
                place=f"penalties[{position}].quantum",
            )
    for row in table.penalties:
        if row.quantum == quantum:
            return Penalties(no_affinity=row.no_affinity, affinity=row.affinity)
    known = ", ".join(f"{each:g} s" for each in quanta) or "none"
    raise FileError(
        f"must have a row for the machine's quantum of {quantum:g} s; there are {known}",
        place="penalties",
    )
