"""Scenarios as TOML documents of the format ``dfopt-scenario/1``."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, get_args

from dfopt.errors import DfoptError, FileError
from dfopt.files.based import BasedFormat
from dfopt.files.fields import (
    Reader,
    Table,
    at,
    boolean,
    each,
    integer,
    merged,
    string,
    table,
    table_by_name,
)
from dfopt.files.formats import Format
from dfopt.files.instance_document import penalty_from_document, penalty_to_document
from dfopt.files.streams import shown_name
from dfopt.files.strict_json import Document, check_document, described_json
from dfopt.problem.cache_domains import CacheDomains, cache_domains, cpu_ranges, cpus_of
from dfopt.problem.penalties import Penalty, PenaltyF, PenaltyG
from dfopt.simulate.parameters import anything, made, parameters_of, readers_of
from dfopt.simulate.run_queue.costs import CacheSizes
from dfopt.simulate.run_queue.policies import POLICIES, policy_with
from dfopt.simulate.run_queue.scenario import Machine, Scenario
from dfopt.simulate.run_queue.times_with_units import is_time_with_unit, time_in
from dfopt.simulate.run_queue.workload import ThreadSetting
from dfopt.simulate.run_queue.workloads import WORKLOADS
from dfopt.simulate.run_queue.workloads.own_workload import (
    in_folder as in_folder_of_workload,
)
from dfopt.simulate.run_queue.workloads.own_workload import (
    is_own_workload,
    own_workload,
)
from dfopt.simulate.run_queue.workloads.replay import Replay
from dfopt.structs import replace
from dfopt.trace.trace import Trace

FORMAT = Format.SCENARIO

THREAD = "thread"

USUAL_UNIT = "ns"
"""The unit of times where a scenario does not say it."""

LABELS = ("time_unit", "description", "source")


def read_scenario(path: str | Path, settings: Mapping[str, object] | None = None) -> Scenario:
    """Return the scenario in a file, or one that comes with the package.

    Parameters
    ----------
    path
        A file of the format ``dfopt-scenario/1``; ``-`` is standard input. Where there is no
        such file, one of :func:`shipped_scenarios`.
    settings
        Values that replace those of the file; see :func:`with_settings`.

    Raises
    ------
    DfoptError
        With file, place and remedy, when the file is not a valid scenario.
    """
    document = SCENARIOS.read(path)
    try:
        changed = with_settings(document, settings or {})
        scenario = scenario_from_document(changed, name=Path(path).stem)
    except DfoptError as error:
        raise error if error.file else error.in_file(shown_name(path)) from None
    return replace(scenario, file=shown_name(path))


def shipped_scenarios() -> tuple[str, ...]:
    """Return the names of the scenarios that come with the package."""
    return SCENARIOS.shipped()


def scenario_from_document(document: Document, *, name: str = "scenario") -> Scenario:
    """Return the scenario that a checked document describes.

    Raises
    ------
    DfoptError
        When something is missing or does not fit together.
    """
    for key in ("workload", "machine", "penalty"):
        if key not in document:
            raise FileError("is missing; it is required", place=key)
    source = document["workload"]
    penalty = at("penalty", penalty_from_document, document["penalty"])
    parameters = document.get("parameters", {})
    if source == Replay.name and isinstance(penalty, PenaltyF):
        _check_lines(parameters)
    policies = document.get("policy", {})
    for policy, values in policies.items():
        if policy in POLICIES:
            policy_with(POLICIES[policy], values)
    caches = document.get("caches")
    return Scenario(
        name=document.get("name", name),
        workload=at("parameters", lambda values: _workload_made(source, values), parameters),
        machine=at("machine", lambda values: made(Machine, values), document["machine"]),
        penalty=penalty,
        caches=caches and at("caches", lambda values: made(CacheSizes, values), caches),
        threads=tuple(
            at(f"{THREAD}[{number}]", lambda values: made(ThreadSetting, values), setting)
            for number, setting in enumerate(document.get(THREAD, ()))
        ),
        policies=policies,
        **{key: document[key] for key in ("cold_start", "until", *LABELS) if key in document},
    )


def scenario_of_trace(
    trace: Trace, settings: Mapping[str, object] | None = None, *, name: str = "recording"
) -> Scenario:
    """Return the threads of a recorded trace as a scenario, on a machine with as many CPUs.

    Parameters
    ----------
    trace
        Its header says what switches cost. Where it says neither lines nor states of dispatches,
        these are 0 and dirty.
    settings
        Values that replace those of the trace; see :func:`with_settings`.
    name
        The name of the scenario if the trace has none.

    Raises
    ------
    DfoptError
        When the trace does not give the costs of switches, or a setting does not fit.
    """
    header = trace.header
    if header.penalty is None:
        raise FileError("is missing; say what switches cost", place="penalty")
    document: Document = {
        "name": header.name or name,
        "workload": Replay.name,
        "machine": {"cpus": trace.cpus},
        "penalty": penalty_to_document(header.penalty),
        "cold_start": bool(header.cold_start),
        "time_unit": header.time_unit or "unit",
        "parameters": {"trace": trace},
    }
    if header.source is not None:
        document["source"] = header.source
    return scenario_from_document(with_settings(document, settings or {}))


def scenario_of_workload(source: str, settings: Mapping[str, object] | None = None) -> Scenario:
    """Return a workload of a user's own as a scenario; every change of fragment costs 1.

    Parameters
    ----------
    source
        ``file.py``, ``file.py:Class`` or ``module:Class``.
    settings
        The number of CPUs (``machine.cpus``), and what else is not the default, such as the
        penalty; see :func:`with_settings`.

    Raises
    ------
    DfoptError
        When there is no such workload, or a setting is missing or does not fit.
    """
    penalty = PenaltyG(fill=1, write_back=0)
    document: Document = {
        "workload": source,
        "machine": {},
        "penalty": penalty_to_document(penalty),
    }
    changed = with_settings(document, settings or {})
    if "cpus" not in changed["machine"]:
        raise FileError("is missing; say how many CPUs there are with `cpus`", place="machine.cpus")
    name = own_workload(source, changed.get("parameters", {})).name
    return scenario_from_document(changed, name=name)


def with_settings(document: Document, settings: Mapping[str, object]) -> Document:
    """Return a document with other values.

    Parameters
    ----------
    document
        Of a scenario, as it was read.
    settings
        By key: ``machine.cpus``, ``penalty.write_back``, ``policy.NAME.time_slice``, ``until``.
        Any other name is a parameter of the workload. A time may be a text with its unit: 30s.

    Raises
    ------
    FileError
        With the key, when there is no such key or its value is of the wrong type.
    """
    changed = dict(document)
    unit = settings.get("time_unit", document.get("time_unit", USUAL_UNIT))
    for key, value in settings.items():
        over: Any = value
        if is_time_with_unit(key, value):
            over = at(key, partial(time_in, str(unit)), str(value))
        for part in reversed(_path(key)):
            over = {part: over}
        changed = _merged(changed, TABLE(over))
    return changed


def _path(key: str) -> tuple[str, ...]:
    """Return the path of a setting in a document."""
    if key in FIXED:
        raise FileError("cannot be set here; write a scenario with it to a file", place=key)
    first, _, rest = key.partition(".")
    if first == "policy" and "." in rest:
        policy, _, parameter = rest.rpartition(".")
        return (first, policy, parameter)
    if first in ("machine", "penalty", "caches", "parameters") and rest:
        return (first, rest)
    return (key,) if key in KEYS else ("parameters", key)


def _merged(base: Document, over: Document) -> Table:
    """Return a document with the values of its base.

    If the kind of workload or of penalty differs, those of the base do not count.
    """
    kept = dict(base)
    if over.get("workload", base.get("workload")) != base.get("workload"):
        kept.pop("parameters", None)
    kind = base.get("penalty", {}).get("kind")
    if over.get("penalty", {}).get("kind", kind) != kind:
        kept.pop("penalty", None)
    return merged(kept, over)


def _workload_made(source: str, parameters: Table) -> Any:
    """Return a workload of dfopt, or of a user."""
    kind = WORKLOADS.get(source)
    return own_workload(source, parameters) if kind is None else made(kind, parameters)


def _check_lines(parameters: Table) -> None:
    if isinstance(parameters.get("trace"), str) and "lines" not in parameters:
        raise FileError(
            "is missing; under penalty f say how many lines a dispatch reads where the trace "
            "does not",
            place="parameters.lines",
        )


# Readers of single values; nothing of a document needs to be complete for them.


def _workload(value: object) -> str:
    known = WORKLOADS
    if isinstance(value, str) and is_own_workload(value):
        return value
    if not isinstance(value, str) or value not in known:
        nearest = difflib.get_close_matches(str(value), known, n=1)
        hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
        words = ", ".join(map(repr, known))
        raise FileError(
            f"must be one of {words}, not {described_json(value)}{hint}; one "
            "of your own is file.py or module:Class"
        )
    return value


def _cpus(value: object) -> tuple[int, ...]:
    return cpus_of(value) if isinstance(value, str) else each("", integer, value)


DOMAIN: Reader = table({"cpus": _cpus, "name": string}, ("cpus",))


def _domains(value: object) -> CacheDomains:
    if isinstance(value, CacheDomains):
        return value
    if isinstance(value, str):
        return cache_domains(value)
    domains = each("", DOMAIN, value)
    return CacheDomains(
        tuple(domain["cpus"] for domain in domains),
        tuple(domain.get("name", cpu_ranges(sorted(domain["cpus"]))) for domain in domains),
    )


READERS: dict[str, Reader] = {
    "format": string,
    "name": string,
    "base": string,
    "workload": _workload,
    "time_unit": string,
    "until": integer,
    "cold_start": boolean,
    "description": string,
    "source": string,
    "machine": table({**readers_of(Machine), "domains": _domains}),
    # What belongs together is checked once a document has been merged with its base.
    "penalty": table(
        {
            "kind": string,
            **{key: anything for kind in get_args(Penalty) for key in kind.__struct_fields__},
        }
    ),
    "caches": table(readers_of(CacheSizes)),
    "parameters": table_by_name(anything),
    THREAD: partial(each, "", table(dict.fromkeys(parameters_of(ThreadSetting), anything))),
    "policy": table_by_name(table_by_name(anything)),
}
KEYS = tuple(READERS)
FIXED = ("format", "base")
"""Keys that no setting may change."""

TABLE: Callable[[Any], Table] = table(READERS)


def _checked(document: Document, folder: Path | None) -> Document:
    """Return the values of a document, each of them checked by itself."""
    check_document(document)  # TOML knows infinite numbers and dates, which mean nothing here
    checked = TABLE(document)
    parameters = checked.get("parameters", {})
    if folder is not None and "workload" in checked:
        checked["workload"] = in_folder_of_workload(checked["workload"], folder)
    if folder is not None and isinstance(parameters.get("trace"), str):
        parameters["trace"] = str(folder / parameters["trace"])
    if folder is not None and isinstance(parameters.get("labels"), str):
        # Loading all sources of labels takes long, and only replays need them.
        from dfopt.trace.labels.source import in_folder

        parameters["labels"] = in_folder(parameters["labels"], folder)
    return checked


SCENARIOS = BasedFormat(
    format=FORMAT,
    plural="scenarios",
    package="dfopt.simulate.run_queue",
    folder="scenarios",
    check=_checked,
    merge=_merged,
)
