"""Mixes as TOML documents of the format ``dfopt-mix/1``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from dfopt.errors import DfoptError, FileError
from dfopt.files.based import BasedFormat
from dfopt.files.fields import (
    Reader,
    Table,
    boolean,
    choice,
    each,
    integer,
    merged,
    number,
    string,
    table,
    table_by_name,
)
from dfopt.files.formats import Format
from dfopt.files.streams import shown_name
from dfopt.files.strict_json import Document, check_document, described_json
from dfopt.structs import shown_place
from dfopt_models.space_sharing.mix import (
    AllocationParameters,
    Application,
    JobEntry,
    Mix,
    Multiprocessor,
    Penalties,
    TieBreak,
)
from dfopt_models.space_sharing.programs import Structure
from dfopt_models.space_sharing.structures import Blocks, TimeSteps, WaveFront
from dfopt_models.space_sharing.thread_graph import read_thread_graph

FORMAT = Format.MIX

MOST_THREADS = 10**7
"""At most this many threads in a structure; the limit of every other count too."""

LATEST_ARRIVAL = 1e9
"""Seconds; up to here the clock, a float, has steps of about a tenth of a microsecond."""

SHORTEST_REVIEW = 1e-6
"""Seconds; a shorter interval might be lost when it is added to the clock."""


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
    document = MIXES.read(path)
    try:
        return mix_from_document(document, name=str(path))
    except DfoptError as error:
        raise error if error.file else error.in_file(shown_name(path)) from None


def shipped_mixes() -> tuple[str, ...]:
    """Return the names of the mixes that come with the package."""
    return MIXES.shipped()


def mix_from_document(document: Document, *, name: str = "mix") -> Mix:
    """Return the mix that a checked document describes.

    Raises
    ------
    DfoptError
        When something is missing or does not fit together.
    """
    machine = Multiprocessor(**document.get("machine", {}))
    jobs = document.get("job", [])
    tables = document.get("application", {})
    applications: dict[str, Application] = {}
    for position, job in enumerate(jobs):
        wanted = job["application"]
        if wanted not in tables:
            known = ", ".join(map(described_json, tables)) or "none"
            raise FileError(
                f"there is no application {described_json(wanted)}; known are {known}",
                place=f"job[{position}].application",
            )
        if wanted not in applications:
            applications[wanted] = _application(wanted, tables[wanted], machine.quantum)
    return Mix(
        name=document.get("name", Path(name).stem),
        machine=machine,
        policy=AllocationParameters(**document.get("policy", {})),
        jobs=tuple(
            JobEntry(**{**job, "application": applications[job["application"]]}) for job in jobs
        ),
        **{key: document[key] for key in ("restart", "runs") if key in document},
    )


# Readers: each value is checked by itself.


def _positive(value: object) -> float:
    found = number(value)
    if found <= 0:
        raise FileError(f"must be more than 0, not {described_json(value)}")
    return float(found)


def _not_negative(value: object) -> float:
    found = number(value)
    if found < 0:
        raise FileError(f"must not be negative; it is {described_json(value)}")
    return float(found)


def _arrival(value: object) -> float:
    seconds = _not_negative(value)
    if seconds > LATEST_ARRIVAL:
        raise FileError(f"must be at most {LATEST_ARRIVAL:g} s, not {described_json(value)}")
    return seconds


def _review(value: object) -> float:
    seconds = _not_negative(value)
    if 0 < seconds < SHORTEST_REVIEW:
        raise FileError(f"must be 0, or at least {SHORTEST_REVIEW:g}, not {described_json(value)}")
    return seconds


def _count(value: object) -> int:
    count = integer(value)
    if not 1 <= count <= MOST_THREADS:
        raise FileError(f"must be from 1 to {MOST_THREADS:,}, not {described_json(value)}")
    return count


MACHINE: dict[str, Reader] = {
    "processors": _count,
    "path_length": _not_negative,
    "latency": _not_negative,
    "quantum": _positive,
}
POLICY: dict[str, Reader] = {
    "credit_decay": _positive,
    "credit_per_processor": _positive,
    "preemption_margin": _not_negative,
    "review_interval": _review,
    "yield_delay": _not_negative,
    "victim": choice(TieBreak),
    "worker": choice(TieBreak),
    "match": boolean,
}
PENALTIES: dict[str, Reader] = {
    "quantum": _positive,
    "no_affinity": _not_negative,
    "affinity": table_by_name(_not_negative),
}
JOB: dict[str, Reader] = {
    "application": string,
    "copies": _count,
    "arrival": _arrival,
    "interarrival": _arrival,
}
STRUCTURES: dict[str, tuple[Callable[..., Structure], dict[str, Reader]]] = {
    "blocks": (Blocks, {"work": _positive, "threads": _count, "variation": _not_negative}),
    "time-steps": (
        TimeSteps,
        {
            "work": _positive,
            "steps": _count,
            "serial": _positive,
            "phases": _count,
            "threads": _count,
            "variation": _not_negative,
            "barrier": _positive,
        },
    ),
    "wave-front": (
        WaveFront,
        {"work": _positive, "rows": _count, "columns": _count, "variation": _not_negative},
    ),
    "graph": (lambda *, file: read_thread_graph(file), {"file": string}),
}
"""By name: the function that makes the structure, and the keys that it needs."""


def _structure_name(value: object) -> str:
    if not isinstance(value, str) or value not in STRUCTURES:
        words = ", ".join(map(repr, STRUCTURES))
        raise FileError(f"must be one of {words}, not {described_json(value)}")
    return value


APPLICATION: dict[str, Reader] = {
    "structure": _structure_name,
    "penalties": lambda value: list(each("", table(PENALTIES, required=tuple(PENALTIES)), value)),
    **{key: read for _, readers in STRUCTURES.values() for key, read in readers.items()},
}


def _checked(document: Document, folder: Path | None) -> Document:
    """Return the values of a document, each checked by itself; any of them may be missing."""
    check_document(document)  # TOML allows infinite numbers and dates, a mix does not
    read = table(
        {
            "format": string,
            "name": string,
            "base": string,
            "restart": boolean,
            "runs": _count,
            "machine": table(MACHINE),
            "policy": table(POLICY),
            "application": table_by_name(table(APPLICATION)),
            "job": lambda value: list(each("", table(JOB, required=("application",)), value)),
        }
    )
    checked: Document = read(document)
    for application in checked.get("application", {}).values():
        if "file" in application and folder is not None:
            application["file"] = str(folder / application["file"])
    return checked


def _merged(base: Document, over: Document) -> Table:
    """Return a base with a document that stands on it.

    An application with another structure keeps the keys of the base that this structure needs.
    """
    together = merged(base, over)
    for name, given in over.get("application", {}).items():
        if "structure" in given:
            _, needed = STRUCTURES[given["structure"]]
            belongs = {*given, "penalties", *needed}
            found = together["application"][name].items()
            together["application"][name] = {key: value for key, value in found if key in belongs}
    return together


MIXES = BasedFormat(
    format=FORMAT,
    plural="mixes",
    package="dfopt_models.space_sharing",
    folder="mixes",
    check=_checked,
    merge=_merged,
)


# Values that must fit together.


def _application(name: str, table: Table, quantum: float) -> Application:
    try:
        return Application(
            name=name, structure=_structure(table), penalties=_penalties(table, quantum)
        )
    except DfoptError as error:  # a graph's file has its own places
        raise error if error.file else error.within(shown_place(("application", name))) from None


def _structure(table: Table) -> Structure:
    if "structure" not in table:
        raise FileError(
            "is missing; it says how the threads depend on each other", place="structure"
        )
    name = table["structure"]
    make, needed = STRUCTURES[name]
    for key in table:
        if key not in ("structure", "penalties", *needed):
            raise FileError(f"does not belong to the structure {name!r}; remove it", place=key)
    for key in needed:
        if key not in table:
            raise FileError(f"is missing; the structure {name!r} needs it", place=key)
    if name == "wave-front" and table["rows"] * table["columns"] > MOST_THREADS:
        raise FileError(
            f"has {table['rows'] * table['columns']:,} threads, and {MOST_THREADS:,} is the most; "
            "take fewer rows or columns"
        )
    return make(**{key: table[key] for key in needed})


def _penalties(table: Table, quantum: float) -> Penalties:
    rows = table.get("penalties", [])
    quanta = [row["quantum"] for row in rows]
    for position, measured in enumerate(quanta):
        if measured in quanta[:position]:
            raise FileError(
                f"{measured:g} is there more than once; keep one row of each",
                place=f"penalties[{position}].quantum",
            )
    for row in rows:
        if row["quantum"] == quantum:
            return Penalties(no_affinity=row["no_affinity"], affinity=row["affinity"])
    known = ", ".join(f"{row['quantum']:g} s" for row in rows) or "none"
    raise FileError(
        f"must have a row for the machine's quantum of {quantum:g} s; there are {known}",
        place="penalties",
    )
