"""Scenarios as TOML documents of the format ``dfopt-scenario/1``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, field

from dfopt.checks import did_you_mean
from dfopt.errors import DfoptError, FileError
from dfopt.files.based import BasedFormat, Layer, merged
from dfopt.files.formats import Format
from dfopt.files.strict import Document
from dfopt.problem.penalties import PenaltyF, PenaltyG
from dfopt.simulate.parameters import made
from dfopt.simulate.policies import POLICIES, policy_with
from dfopt.simulate.scenario import USUAL_UNIT, Scenario, ScenarioValues
from dfopt.simulate.workloads import WORKLOADS
from dfopt.simulate.workloads.own_workload import (
    in_folder as in_folder_of_workload,
)
from dfopt.simulate.workloads.own_workload import (
    is_own_workload,
    own_workload,
)
from dfopt.simulate.workloads.replay import Replay
from dfopt.structs import document_of, replace
from dfopt.time_units import NANOSECONDS
from dfopt.trace.trace import Trace
from dfopt.type_reader import described_value

FIXED = ("format", "base")
"""Keys that no setting may change."""

TIME_WITH_UNIT = re.compile(rf"(?P<number>\d+(\.\d+)?)\s*(?P<unit>{'|'.join(NANOSECONDS)})")

TIME_WORDS = frozenset(
    ("average", "cost", "epoch", "granularity", "interval", "latency", "limit", "patience",
     "slice", "time", "until")
)  # fmt: skip
"""Parameters of policies, machines and workloads with one of these words in their names are times.

All others are counts, shares and the like.
"""


def _workload(value: object) -> str:
    """Refuse what is neither a workload of dfopt nor looks like one of a user."""
    if isinstance(value, str) and (is_own_workload(value) or value in WORKLOADS):
        return value
    raise FileError(
        f"{described_value(value)} is no workload; {did_you_mean(str(value), WORKLOADS)} "
        "(one of your own is file.py or module:Class)"
    )


class ScenarioDocument(ScenarioValues):
    """A workload on a machine, and what switches cost.

    Parameters
    ----------
    base
        Another scenario, whose values count where this one has none.
    workload
        The kind of workload; one of your own is file.py or module:Class.
    parameters
        Those of the workload.
    """

    base: str | None = None
    workload: Annotated[str, Meta(extra={"reader": _workload})]
    parameters: dict[str, Any] = field(default_factory=dict)


KEYS = ScenarioDocument.__struct_encode_fields__


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
    layers = SCENARIOS.layers(path)
    file = layers[0][0]
    return replace(_scenario(layers, settings, Path(path).stem, file), file=file)


def shipped_scenarios() -> tuple[str, ...]:
    """Return the names of the scenarios that come with the package."""
    return SCENARIOS.shipped()


def _scenario(
    layers: list[Layer], settings: Mapping[str, object] | None, name: str, file: str = ""
) -> Scenario:
    """Return the scenario of documents that stand on each other, with other values on top."""
    over: Document = {}
    try:
        unit = next((each["time_unit"] for _, each in layers if "time_unit" in each), USUAL_UNIT)
        over = settings_document(settings or {}, str(unit))
    except DfoptError as error:
        raise (error.in_file(file) if file else error) from None
    return SCENARIOS.made([(file, over), *layers], lambda document: _made(document, name))


def _made(document: ScenarioDocument, name: str) -> Scenario:
    """Return the scenario that a document describes, if its values fit together."""
    source, parameters = document.workload, document.parameters
    if source == Replay.name and isinstance(document.penalty, PenaltyF):
        _check_lines(parameters)
    for policy, given in document.policies.items():
        if policy in POLICIES:
            policy_with(POLICIES[policy], given)
    try:
        workload = _workload_made(source, parameters)
    except DfoptError as error:
        raise error.within("parameters") from None
    values = {key: getattr(document, key) for key in ScenarioValues.__struct_fields__}
    return Scenario(**values | {"name": document.name or name, "workload": workload})


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
        "penalty": document_of(header.penalty),
        "cold_start": bool(header.cold_start),
        "time_unit": header.time_unit or "unit",
        "parameters": {"trace": trace},
    }
    if header.source is not None:
        document["source"] = header.source
    return _scenario([("", document)], settings, name)


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
    document: Document = {
        "workload": source,
        "machine": {},
        "penalty": document_of(PenaltyG(fill=1, write_back=0)),
    }
    given = settings or {}
    if "machine.cpus" not in given:
        raise FileError("is missing; say how many CPUs there are with `cpus`", place="machine.cpus")
    parameters = settings_document(given, USUAL_UNIT).get("parameters", {})
    return _scenario([("", document)], given, own_workload(source, parameters).name)


def settings_document(settings: Mapping[str, object], unit: str) -> Document:
    """Return the document that has other values, and nothing else.

    Parameters
    ----------
    settings
        By key: ``machine.cpus``, ``penalty.write_back``, ``policy.NAME.time_slice``, ``until``.
        Any other name is a parameter of the workload. A time may be a text with its unit: 30s.
    unit
        The unit of the scenario's times, unless the settings say another one.

    Raises
    ------
    FileError
        With the key, when it cannot be set, or a time not be expressed.
    """
    document: Document = {}
    for key, value in settings.items():
        over: Any = value
        if is_time_with_unit(key, value):
            try:
                over = time_in(str(settings.get("time_unit", unit)), str(value))
            except DfoptError as error:
                raise error.within(key) from None
        for part in reversed(_path(key)):
            over = {part: over}
        document = merged(document, over)
    return document


def is_time_with_unit(key: str, value: object) -> bool:
    """Return whether a value is a time with a unit, and the key one of a time."""
    *_, name = key.split(".")
    return (
        isinstance(value, str)
        and TIME_WITH_UNIT.fullmatch(value) is not None
        and not TIME_WORDS.isdisjoint(name.split("_"))
    )


def time_in(unit: str, text: str) -> int:
    """Return a time with a unit, such as ``30s``, in the unit of a scenario.

    Raises
    ------
    FileError
        When this unit cannot express it.
    """
    found = TIME_WITH_UNIT.fullmatch(text)
    assert found is not None
    if unit not in NANOSECONDS:
        raise FileError(
            f"{text} means nothing in a scenario whose times are in {unit!r}; give a number in "
            "this unit"
        )
    time = Decimal(found["number"]) * NANOSECONDS[found["unit"]] / NANOSECONDS[unit]
    if time != time.to_integral_value():
        raise FileError(
            f"{text} cannot be said in a scenario whose times are whole {unit}; give a multiple of "
            f"1{unit}"
        )
    return int(time)


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


def _merged(base: Document, over: Document) -> Document:
    """Return a document with the values of its base.

    If the kind of workload or of penalty differs, those of the base do not count.
    """
    kept = dict(base)
    if over.get("workload", base.get("workload")) != base.get("workload"):
        kept.pop("parameters", None)
    kinds = [each["penalty"] for each in (base, over) if isinstance(each.get("penalty"), dict)]
    if len(kinds) > 1 and kinds[1].get("kind", kinds[0].get("kind")) != kinds[0].get("kind"):
        kept.pop("penalty", None)
    return merged(kept, over)


def _workload_made(source: str, parameters: Document) -> Any:
    """Return a workload of dfopt, or of a user."""
    kind = WORKLOADS.get(source)
    return own_workload(source, parameters) if kind is None else made(kind, parameters)


def _check_lines(parameters: Document) -> None:
    if isinstance(parameters.get("trace"), str) and "lines" not in parameters:
        raise FileError(
            "is missing; under penalty f say how many lines a dispatch reads where the trace "
            "does not",
            place="parameters.lines",
        )


def _in_folder(document: Document, folder: Path) -> None:
    """Let files of workloads, traces and labels be relative to the folder of the scenario."""
    if isinstance(document.get("workload"), str):
        document["workload"] = in_folder_of_workload(document["workload"], folder)
    parameters = document.get("parameters")
    if not isinstance(parameters, dict):
        return
    if isinstance(parameters.get("trace"), str):
        parameters["trace"] = str(folder / parameters["trace"])
    if isinstance(parameters.get("labels"), str):
        # Loading all sources of labels takes long, and only replays need them.
        from dfopt.trace.labels.source import in_folder

        parameters["labels"] = in_folder(parameters["labels"], folder)


SCENARIOS = BasedFormat(
    format=Format.SCENARIO,
    plural="scenarios",
    package="dfopt.simulate",
    folder="scenarios",
    type=ScenarioDocument,
    in_folder=_in_folder,
    merge=_merged,
)
