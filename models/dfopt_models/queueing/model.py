"""A file of queues and caches, ``dfopt-queueing-model/1``, and what the models say of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dfopt.checks import check_integer
from dfopt.errors import FileError
from dfopt.files.fields import at, integer, string
from dfopt.files.formats import Format, parse_toml_of
from dfopt.structs import replace
from dfopt.table import Table, TableColumn, Uncertain, columns, facts
from dfopt_models.errors import ModelError
from dfopt_models.parameter_fields import (
    RANGES,
    array,
    is_assumed,
    number,
    sources_in,
    table_fields,
    tables_of,
)
from dfopt_models.parameter_files import read_parameters
from dfopt_models.queueing.brackets import (
    check,
    crossings,
    global_queue,
    ideal,
    largest_reload,
    partition,
)
from dfopt_models.queueing.footprint import SetCache

FORMAT = Format.QUEUEING_MODEL

LOADS = (0.2, 0.5, 0.8, 0.9, 0.95)
"""Loads of which response times are shown, unless others are wanted."""

MICROSECONDS = 1e6
"""In a second."""

MOST_CPUS = 1_000
MOST_SETS = 1 << 40
MOST_WAYS = 1_024
MOST_PROGRAMS = 100

Sources = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedProgram:
    """A program, with its footprint or with what it takes to load it.

    Parameters
    ----------
    name
        Its name.
    lines
        The lines that it uses; None if ``penalty_no_affinity`` is given.
    penalty_no_affinity
        Seconds to load all that the cache can hold of it; None if ``lines`` is given.
    sources
        Where these come from.
    """

    name: str
    lines: int | None = None
    penalty_no_affinity: float | None = None
    sources: Sources = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueingModel:
    """Jobs that share CPUs, and programs that share a cache.

    Parameters
    ----------
    name
        The model's name.
    service, reload
        Mean service time of a job, and the time to read its data again on another CPU, in seconds.
    cpus
        Numbers of CPUs to look at.
    cache, programs
        A cache, and programs that share it; None and empty where that is not asked for.
    sources, cache_sources
        Where the numbers come from.

    Raises
    ------
    ModelError
        When a number is impossible.
    """

    name: str
    service: float
    reload: float
    cpus: tuple[int, ...]
    cache: SetCache | None = None
    programs: tuple[CachedProgram, ...] = ()
    sources: Sources = field(default_factory=dict)
    cache_sources: Sources = field(default_factory=dict)

    def __post_init__(self) -> None:
        check(service=self.service)
        if not (math.isfinite(self.service) and math.isfinite(self.reload) and self.reload >= 0):
            raise ModelError("must be finite and at least 0", place="reload")
        if not self.cpus:
            raise ModelError("must name at least one number of CPUs", place="cpus")
        for position, count in enumerate(self.cpus):
            if not 1 <= count <= MOST_CPUS:
                raise ModelError(f"must be from 1 to {MOST_CPUS}", place=f"cpus[{position}]")
        if self.programs and self.cache is None:
            raise ModelError("is missing, which the programs share", place="cache")
        names = [program.name for program in self.programs]
        for position, name in enumerate(names):
            if name in names[:position]:
                raise ModelError(
                    f"{name!r} is also the name of another program",
                    place=f"program[{position}].name",
                )
        for position in range(len(self.programs)):
            self.footprint(position)

    def footprint(self, position: int) -> int:
        """Return the lines that a program uses, given or derived from its penalty."""
        program = self.programs[position]
        if program.lines is not None:
            return program.lines
        assert self.cache is not None
        assert program.penalty_no_affinity is not None
        lines = self.cache.footprint(program.penalty_no_affinity)
        if lines is None:
            full = self.cache.sets * self.cache.ways * self.cache.line_time
            raise ModelError(
                f"must be less than a full cache takes, {full:g} s",
                place=f"program[{position}].penalty_no_affinity",
            )
        return lines


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueingRow:
    """Mean response times at one load, in seconds.

    Parameters
    ----------
    cpus, load
        The machine, and the share of its time that the jobs take without reloads.
    ideal
        No policy that does not know service times has less.
    partition, shared
        Where each CPU has its own jobs; where all share a queue, with reloads (infinite where
        there is no time for them).
    """

    cpus: int
    load: float
    ideal: float
    partition: float
    shared: float

    @property
    def times(self) -> tuple[float, ...]:
        """All of them, and the best one known."""
        return self.ideal, self.partition, self.shared, self.best_known

    @property
    def best_known(self) -> float:
        """The best policy has at most this."""
        return min(self.partition, self.shared)


def queue_rows(model: QueueingModel, loads: Sequence[float] = LOADS) -> tuple[QueueingRow, ...]:
    """Return the response times of all machines at some loads.

    Raises
    ------
    ModelError
        When a load is not between 0 and 1.
    """
    for load in loads:
        if not 0 <= load < 1:
            raise ModelError(f"must be at least 0 and less than 1, not {load:g}", place="load")
    return tuple(
        QueueingRow(
            cpus=cpus,
            load=load,
            ideal=ideal(model.service, cpus, load),
            partition=partition(model.service, load),
            shared=global_queue(model.service, model.reload, cpus, load),
        )
        for cpus in model.cpus
        for load in loads
    )


def queueing_document(model: QueueingModel, rows: Sequence[QueueingRow]) -> dict[str, Any]:
    """Return the document that ``dfopt model queueing --json`` prints."""
    return {
        "format": Format.QUEUEING,
        "model": model.name,
        "service_s": model.service,
        "reload_s": model.reload,
        "response_times": [
            {
                "cpus": row.cpus,
                "load": row.load,
                "ideal_s": row.ideal,
                "partition_s": row.partition,
                "global_s": row.shared if math.isfinite(row.shared) else None,
            }
            for row in rows
        ],
        "crossings": [
            {
                "cpus": cpus,
                "loads": None if found is None else list(found),
                "largest_reload_s": largest_reload(cpus) * model.service,
            }
            for cpus in model.cpus
            for found in [crossings(model.service, model.reload, cpus)]
        ],
        "programs": [
            {
                "name": program.name,
                "lines": model.footprint(position),
                "held_lines": model.cache.held(model.footprint(position)),
                "penalty_no_affinity_s": model.cache.penalty_no_affinity(model.footprint(position)),
                "penalty_affinity_s": {
                    other.name: model.cache.penalty_affinity(
                        model.footprint(position), model.footprint(place)
                    )
                    for place, other in enumerate(model.programs)
                },
            }
            for position, program in enumerate(model.programs)
            if model.cache is not None
        ],
    }


def read_queueing_model(path: str | Path) -> QueueingModel:
    """Return the queueing model in a file, or one that comes with the package.

    Raises
    ------
    FileError, ModelError
        With file, place and remedy, when the file is not a valid model.
    """
    return read_parameters(path, FORMAT, parse_queueing_model)


def parse_queueing_model(text: str, name: str = "model") -> QueueingModel:
    """Return the queueing model that a TOML document describes; ``name`` if it does not say it.

    Raises
    ------
    FileError, ModelError
        With place and remedy, when the text is not a valid model.
    """
    document = parse_toml_of(text, FORMAT)
    fields = table_fields(
        document,
        ("format", "name", "service", "reload", "cpus", "cache", "program"),
        required=("service", "reload", "cpus"),
    )
    _refuse_ranges(document)
    programs = array("program", fields.get("program", []))
    if len(programs) > MOST_PROGRAMS:
        raise FileError(f"has more than {MOST_PROGRAMS} programs", place="program")
    cache: SetCache | None = None
    cache_sources: dict[str, str] = {}
    if "cache" in fields:
        cache, cache_sources = at("cache", _cache, fields["cache"])
    counts = array("cpus", fields["cpus"], "an array of numbers of CPUs, such as [2, 4]")
    return QueueingModel(
        name=at("name", string, fields.get("name", name)),
        service=at("service", number, fields["service"]),
        reload=at("reload", number, fields["reload"]),
        cpus=tuple(at(f"cpus[{place}]", integer, count) for place, count in enumerate(counts)),
        cache=cache,
        programs=tables_of("program", _program, programs),
        sources=sources_in(document),
        cache_sources=cache_sources,
    )


def _refuse_ranges(table: Mapping[str, Any]) -> None:
    if RANGES in table:
        raise FileError("has no meaning in a queueing model; leave it out", place=RANGES)


def _cache(value: object) -> tuple[SetCache, dict[str, str]]:
    keys = ("sets", "ways", "line_time")
    fields = table_fields(value, keys, required=keys)
    assert isinstance(value, dict)
    _refuse_ranges(value)
    check_integer(at("sets", integer, fields["sets"]), "sets", least=1)
    check_integer(at("ways", integer, fields["ways"]), "ways", least=1)
    for name, most in (("sets", MOST_SETS), ("ways", MOST_WAYS)):
        if fields[name] > most:
            raise ModelError(f"must be at most {most}", place=name)
    line_time = at("line_time", number, fields["line_time"])
    if not math.isfinite(line_time):
        raise ModelError("must be finite", place="line_time")
    cache = SetCache(sets=fields["sets"], ways=fields["ways"], line_time=line_time)
    return cache, sources_in(value)


def _program(value: object) -> CachedProgram:
    fields = table_fields(value, ("name", "lines", "penalty_no_affinity"), required=("name",))
    assert isinstance(value, dict)
    _refuse_ranges(value)
    if ("lines" in fields) == ("penalty_no_affinity" in fields):
        raise FileError("needs either `lines` or `penalty_no_affinity`, and not both")
    lines = penalty = None
    if "lines" in fields:
        lines = at("lines", integer, fields["lines"])
        if not 1 <= lines <= MOST_SETS:
            raise ModelError(f"must be from 1 to {MOST_SETS}", place="lines")
    else:
        penalty = at("penalty_no_affinity", number, fields["penalty_no_affinity"])
        check(penalty_no_affinity=penalty)
    return CachedProgram(
        name=at("name", string, fields["name"]),
        lines=lines,
        penalty_no_affinity=penalty,
        sources=sources_in(value),
    )


def queueing_tables(
    model: QueueingModel, rows: Sequence[QueueingRow], document: Mapping[str, Any]
) -> list[Table]:
    """Return response times, and the rest of the document, as tables."""
    sources = {"": model.sources, "cache.": model.cache_sources}
    sources |= {f"program {program.name}: ": program.sources for program in model.programs}
    assumed = [
        f"{place}{name}"
        for place, named in sources.items()
        for name, source in named.items()
        if is_assumed(source)
    ]
    parameters = {
        f"{name} [s]": Uncertain(value, assumed=name in assumed)
        for name, value in (("service", model.service), ("reload", model.reload))
    }
    programs = document.get("programs", ())
    names = [program["name"] for program in programs]
    after = (TableColumn(f"P^A after {name}", "µs", ",.0f") for name in names)
    tables = [
        replace(
            facts(parameters | {"reload ÷ service": model.reload / model.service}, model.name),
            notes=[f"~ assumed: {', '.join(assumed)}"] if assumed else [],
        ),
        Table(
            "Response time ÷ service time",
            columns("CPUs", "load", "ideal :.3f", "partitions :.3f", "~global :.3f", "best :.3f"),
            [
                (row.cpus, row.load, *(time if math.isfinite(time) else None for time in times))
                for row in rows
                for times in [[time / model.service for time in row.times]]
            ],
            [
                "load: share of the CPUs' time that the jobs take without reloads",
                "ideal: one queue, and moving costs nothing: no policy that does not know service "
                "times has less",
                "partitions: each CPU has its own jobs, chosen at random, and never reloads",
                "global: ~ one queue, and a job runs on any CPU; the service time with its reload "
                "is taken for exponential",
                "best: the best policy lies between the ideal and this, the lesser of the others, "
                "as far as the model of the global queue holds",
            ],
        ),
        Table(
            "Where a global queue beats partitions",
            columns("CPUs", "from load :.3f", "to load :.3f", "if reload ÷ service is below :.3f"),
            [
                (
                    found["cpus"],
                    *(found["loads"] or (None, None)),
                    found["largest_reload_s"] / model.service,
                )
                for found in document["crossings"]
            ],
        ),
        Table(
            "Programs that share a cache",
            (*columns("program", "lines", "held :,.0f", "P^NA [µs] :,.0f"), *after),
            [
                (
                    *(program["name"], program["lines"], program["held_lines"]),
                    program["penalty_no_affinity_s"] * MICROSECONDS,
                    *(program["penalty_affinity_s"][name] * MICROSECONDS for name in names),
                )
                for program in programs
            ],
            ["P^A after: to read again what this program replaced (footprints)"],
        ),
    ]
    return [table for table in tables if table.rows]
