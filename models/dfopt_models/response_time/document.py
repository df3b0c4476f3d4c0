"""Response-time models as TOML documents of the format ``dfopt-response-model/1``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dfopt.errors import DfoptError, FileError
from dfopt.files import write_text
from dfopt.files.fields import at, is_free
from dfopt.files.formats import Format, check_format
from dfopt.files.streams import shown_name
from dfopt.files.strict_json import shown_place
from dfopt.files.strict_toml import described_toml, parse_toml
from dfopt_models.parameter_fields import (
    RANGES,
    SOURCES,
    number,
    numbers_of,
    ranges_and_sources,
    table_fields,
)
from dfopt_models.parameter_files import parameter_name, parameter_text, shipped_parameters
from dfopt_models.response_time.model import (
    JOB_NUMBERS,
    POLICY_NUMBERS,
    JobParameters,
    PolicyParameters,
    ResponseModel,
)

FORMAT = Format.RESPONSE_MODEL
WHAT = "a response-time model"

BASELINE = "x-baseline"
"""A key that other readers of the format may ignore."""


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
    text = parameter_text(path, FORMAT)
    try:
        return parse_model(text, name=parameter_name(path))
    except DfoptError as error:
        raise error.in_file(shown_name(path)) from None


def parse_model(text: str, *, name: str = "model") -> ResponseModel:
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
    document = parse_toml(text, what=WHAT)
    check_format(document, FORMAT)
    extras = ranges_and_sources(document, ("reallocation_time",))
    fields = table_fields(
        document,
        ("format", "name", "baseline", "reallocation_time", "job"),
        required=("baseline", "reallocation_time", "job"),
    )
    jobs = fields["job"]
    if not isinstance(jobs, list):
        raise FileError(
            f"must be an array of tables [[job]], not {described_toml(jobs)}", place="job"
        )
    return ResponseModel(
        name=fields.get("name", name),
        baseline=fields["baseline"],
        reallocation_time=at("reallocation_time", number, fields["reallocation_time"]),
        jobs=tuple(at(f"job[{position}]", _job, job) for position, job in enumerate(jobs)),
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

    jobs = [
        {
            "name": job.name,
            **_given(job, JOB_NUMBERS),
            "policy": {
                name: _given(policy, POLICY_NUMBERS)
                | ({BASELINE: dict(policy.baseline)} if policy.baseline else {})
                for name, policy in job.policies.items()
            },
        }
        for job in model.jobs
    ]
    document = {
        "format": FORMAT,
        "name": model.name,
        "baseline": model.baseline,
        **_given(model, ("reallocation_time",)),
        "job": jobs,
    }
    return tomli_w.dumps(document)


def shipped_models() -> tuple[str, ...]:
    """Return the names of the models that come with the package."""
    return shipped_parameters(FORMAT)


def _given(
    holder: ResponseModel | JobParameters | PolicyParameters, names: Iterable[str]
) -> dict[str, Any]:
    given: dict[str, Any] = {name: getattr(holder, name) for name in names}
    if holder.ranges:
        given[RANGES] = {name: list(limits) for name, limits in holder.ranges.items()}
    if holder.sources:
        given[SOURCES] = dict(holder.sources)
    return given


def _job(value: object) -> JobParameters:
    keys = ("name", *JOB_NUMBERS, "policy")
    fields = table_fields(value, keys, required=keys)
    assert isinstance(value, dict)
    policies = fields["policy"]
    if not isinstance(policies, dict):
        raise FileError(
            f"must be tables such as [job.policy.dynamic], not {described_toml(policies)}",
            place="policy",
        )
    return JobParameters(
        name=fields["name"],
        policies={
            name: at(shown_place(("policy", name)), _policy, policy)
            for name, policy in policies.items()
            if isinstance(policy, dict) or not is_free(name)
        },
        **numbers_of(fields, JOB_NUMBERS),
        **ranges_and_sources(value, JOB_NUMBERS),
    )


def _policy(value: object) -> PolicyParameters:
    fields = table_fields(value, POLICY_NUMBERS, required=POLICY_NUMBERS)
    assert isinstance(value, dict)
    return PolicyParameters(
        **numbers_of(fields, POLICY_NUMBERS),
        **ranges_and_sources(value, POLICY_NUMBERS),
        baseline=at(BASELINE, _instead, value.get(BASELINE, {})),
    )


def _instead(value: object) -> dict[str, float]:
    fields = table_fields(value, POLICY_NUMBERS, required=())
    return numbers_of(fields, POLICY_NUMBERS)
