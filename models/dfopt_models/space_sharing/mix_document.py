"""Mixes as TOML documents of the format ``dfopt-mix/1``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from msgspec import field
from msgspec.structs import asdict

from dfopt.errors import FileError
from dfopt.files.based import BasedFormat, merged
from dfopt.files.formats import Format
from dfopt.files.strict import Document
from dfopt.structs import replace
from dfopt.type_reader import at, described_value, shown_place
from dfopt_models.space_sharing.mix import (
    Application,
    ApplicationTable,
    JobEntry,
    JobValues,
    Mix,
    MixValues,
    Penalties,
    PenaltyRow,
)
from dfopt_models.space_sharing.structures import Blocks, TimeSteps, WaveFront
from dfopt_models.space_sharing.thread_graph import read_thread_graph


class GraphFile(ApplicationTable, tag="graph"):
    """A program whose threads are a graph.

    Parameters
    ----------
    file
        A file with a thread graph.
    """

    file: str


Structured = Blocks | TimeSteps | WaveFront | GraphFile

KEYS = {str(kind.__struct_config__.tag): kind.__struct_fields__ for kind in get_args(Structured)}
"""By structure: the keys that an application may have."""


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
