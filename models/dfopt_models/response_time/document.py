"""Response-time models as TOML documents of the format ``dfopt-response-model/1``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from dfopt.errors import FileError
from dfopt.files import write_text
from dfopt.files.fields import at, each
from dfopt.files.formats import Format, parse_toml_of
from dfopt.files.strict_toml import described_toml
from dfopt.structs import is_free, shown_place
from dfopt_models.parameter_fields import (
    RANGES,
    SOURCES,
    array,
    number,
    numbers_of,
    ranges_and_sources,
    table_fields,
    tables_of,
)
from dfopt_models.parameter_files import read_parameters, shipped_parameters
from dfopt_models.response_time.case import JOB_NUMBERS, POLICY_NUMBERS, check_parameter
from dfopt_models.response_time.measured import MEASURED_NUMBERS, Measured
from dfopt_models.response_time.model import ResponseModel
from dfopt_models.response_time.parameters import REPLICATED, JobParameters, PolicyParameters
from dfopt_models.response_time.penalties import (
    PenaltiesOfQuantum,
    PenaltyTable,
    check_penalty_table,
    penalties_at,
)

FORMAT = Format.RESPONSE_MODEL

BASELINE, REPLICATIONS = "x-baseline", "x-replications"
"""Keys that other readers of the format may ignore."""

OWN = "own"
"""Stands for the work of the policy that the baseline is compared with."""

PENALTY_NUMBERS = ("quantum", "affinity", "no_affinity")


def read_model(path: str | Path) -> ResponseModel:
    """Return the response-time model in a file, or one that comes with the package.

    Parameters
    ----------
    path
        A file of the format ``dfopt-response-model/1``; ``-`` is standard input, and a name that
        ends in ``.gz`` is gunzipped. Where there is no such file, the name of a model of
        :func:`shipped_models`.

    Raises
    ------
    FileError, ModelError
        With file, place and remedy, when the file is not a valid model.
    """
    return read_parameters(path, FORMAT, parse_model)


def parse_model(text: str, name: str = "model") -> ResponseModel:
    """Return the response-time model that a text describes.

    Parameters
    ----------
    text
        A TOML document of the format ``dfopt-response-model/1``.
    name
        The model's name if the document does not give one.

    Raises
    ------
    FileError, ModelError
        With place and remedy, when the text is not a valid model.
    """
    document = parse_toml_of(text, FORMAT)
    extras = ranges_and_sources(document, ("reallocation_time",))
    fields = table_fields(
        document,
        ("format", "name", "baseline", "reallocation_time", "processors", "job"),
        required=("baseline", "reallocation_time", "job"),
    )
    jobs = array("job", fields["job"])
    reallocation_time = at("reallocation_time", number, fields["reallocation_time"])
    return ResponseModel(
        name=fields.get("name", name),
        baseline=fields["baseline"],
        reallocation_time=reallocation_time,
        jobs=tables_of("job", partial(_job, reallocation_time), jobs),
        **numbers_of(fields, ("processors",)),
        **extras,
    )


def write_model(model: ResponseModel, path: str | Path) -> None:
    """Write a response-time model to a TOML file, as a whole or not at all.

    Raises
    ------
    FileError
        When the file cannot be written.
    """
    write_text(path, model_text(model))


def model_text(model: ResponseModel) -> str:
    """Return the TOML document that describes a response-time model."""
    import tomli_w

    document = {
        "format": FORMAT,
        "name": model.name,
        "baseline": model.baseline,
        **_given(model, ("reallocation_time",)),
        **({} if model.processors is None else {"processors": model.processors}),
        "job": [_job_table(job) for job in model.jobs],
    }
    return tomli_w.dumps(document)


def shipped_models() -> tuple[str, ...]:
    """Return the names of the models that come with the package."""
    return shipped_parameters(FORMAT)


def _job_table(job: JobParameters) -> dict[str, Any]:
    table: dict[str, Any] = {"name": job.name}
    if job.copies > 1:
        table["copies"] = job.copies
    table |= _given(job, JOB_NUMBERS if job.penalties is None else ())
    if job.penalties is not None:
        table["penalties"] = [
            {name: getattr(entry, name) for name in PENALTY_NUMBERS} for entry in job.penalties
        ]
    return table | {
        "policy": {name: _policy_table(policy) for name, policy in job.policies.items()}
    }


def _policy_table(policy: PolicyParameters) -> dict[str, Any]:
    table = _given(policy, POLICY_NUMBERS if policy.measured is None else ())
    if policy.measured is not None:
        numbers = {name: getattr(policy.measured, name) for name in MEASURED_NUMBERS}
        table = {"measured": numbers} | table
    baseline: dict[str, Any] = {"work": OWN} if policy.own_work else {}
    baseline |= policy.baseline
    if baseline:
        table[BASELINE] = baseline
    if policy.replications:
        table[REPLICATIONS] = {name: list(values) for name, values in policy.replications.items()}
    return table


def _given(
    holder: ResponseModel | JobParameters | PolicyParameters, names: Iterable[str]
) -> dict[str, Any]:
    given: dict[str, Any] = {name: getattr(holder, name) for name in names}
    if holder.ranges:
        given[RANGES] = {name: list(limits) for name, limits in holder.ranges.items()}
    if holder.sources:
        given[SOURCES] = dict(holder.sources)
    return given


def _job(reallocation_time: float, value: object) -> JobParameters:
    by_quantum = isinstance(value, dict) and "penalties" in value
    penalty_keys = ("penalties",) if by_quantum else JOB_NUMBERS
    keys = ("name", "copies", *JOB_NUMBERS, "penalties", "policy")
    fields = table_fields(value, keys, required=("name", *penalty_keys, "policy"))
    assert isinstance(value, dict)
    for name in JOB_NUMBERS if by_quantum else ():
        if name in fields:
            raise FileError("is given by quantum in [[job.penalties]] too; keep one", place=name)
    policies = fields["policy"]
    if not isinstance(policies, dict):
        raise FileError(
            f"must be tables such as [job.policy.dynamic], not {described_toml(policies)}",
            place="policy",
        )
    numbers = numbers_of(fields, JOB_NUMBERS)
    penalties = None
    if by_quantum:
        penalties = each("penalties", _penalties, fields["penalties"])
        at("penalties", lambda table: check_penalty_table(table, ""), penalties)
        last = penalties[-1]
        numbers = dict(zip(JOB_NUMBERS, (last.affinity, last.no_affinity), strict=True))
    shared = SharedCosts(reallocation_time=reallocation_time, penalties=penalties, **numbers)
    extras = ranges_and_sources(value, ("penalties",) if by_quantum else JOB_NUMBERS)
    if by_quantum and extras["ranges"]:
        raise FileError("is for single penalties, not for those by quantum", place=RANGES)
    return JobParameters(
        name=fields["name"],
        policies={
            name: at(shown_place(("policy", name)), partial(_policy, shared), policy)
            for name, policy in policies.items()
            if isinstance(policy, dict) or not is_free(name)
        },
        penalties=penalties,
        copies=fields.get("copies", 1),
        **numbers,
        **extras,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedCosts:
    """What a reallocation of a job costs under every policy, as a file gives it."""

    reallocation_time: float
    penalty_affinity: float
    penalty_no_affinity: float
    penalties: PenaltyTable | None

    def after(self, interval: float) -> dict[str, float]:
        """Return the costs after an interval, by their names in :class:`.Case`."""
        both = self.penalty_affinity, self.penalty_no_affinity
        if self.penalties is not None:
            both = penalties_at(self.penalties, interval)
        return {
            "reallocation_time": self.reallocation_time,
            **dict(zip(JOB_NUMBERS, both, strict=True)),
        }


def _penalties(value: object) -> PenaltiesOfQuantum:
    fields = table_fields(value, PENALTY_NUMBERS, required=PENALTY_NUMBERS)
    numbers = numbers_of(fields, PENALTY_NUMBERS)
    for name, found in numbers.items():
        check_parameter(name, found, name)
    return PenaltiesOfQuantum(**numbers)


def _policy(shared: SharedCosts, value: object) -> PolicyParameters:
    if isinstance(value, dict) and "measured" in value:
        return _measured_policy(shared, value)
    fields = table_fields(value, (*POLICY_NUMBERS, "measured"), required=POLICY_NUMBERS)
    assert isinstance(value, dict)
    return PolicyParameters(
        **numbers_of(fields, POLICY_NUMBERS),
        **ranges_and_sources(value, POLICY_NUMBERS),
        **_beside(value),
    )


def _measured_policy(shared: SharedCosts, value: Mapping[str, Any]) -> PolicyParameters:
    for name in POLICY_NUMBERS:
        if name in value:
            raise FileError("follows from what is measured; leave it out", place=name)
    fields = table_fields(value, ("measured",), required=())
    numbers = at(
        "measured",
        lambda table: numbers_of(
            table_fields(table, MEASURED_NUMBERS, required=MEASURED_NUMBERS), MEASURED_NUMBERS
        ),
        fields["measured"],
    )
    measured = at("measured", lambda found: Measured(**found), numbers)
    costs = shared.after(measured.interval)
    at("measured", lambda found: found.case(**costs), measured)
    return PolicyParameters.from_measured(
        measured,
        **costs,
        **ranges_and_sources(value, MEASURED_NUMBERS),
        **_beside(value),
    )


def _beside(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a policy's table says of the baseline, and of replications."""
    baseline = at(BASELINE, _instead, value.get(BASELINE, {}))
    return {
        "own_work": baseline.pop("own_work", False),
        "baseline": baseline,
        "replications": at(REPLICATIONS, _arrays, value.get(REPLICATIONS, {})),
    }


def _instead(value: object) -> dict[str, Any]:
    fields = table_fields(value, POLICY_NUMBERS, required=())
    if fields.get("work") == OWN:
        del fields["work"]
        return numbers_of(fields, POLICY_NUMBERS) | {"own_work": True}
    return numbers_of(fields, POLICY_NUMBERS)


def _arrays(value: object) -> dict[str, tuple[float, ...]]:
    fields = table_fields(value, REPLICATED, required=())
    return {name: each(name, number, values) for name, values in fields.items()}
