"""Response-time models as TOML documents of the format ``dfopt-response-model/1``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from dfopt.errors import DfoptError, FileError
from dfopt.files import read_text, write_text
from dfopt.files.fields import at, fields_of, is_free
from dfopt.files.formats import Format, check_format
from dfopt.files.streams import STANDARD_INPUT, shown_name
from dfopt.files.strict_json import shown_place
from dfopt.files.strict_toml import described_toml, parse_toml
from dfopt_models.response_time.model import (
    JOB_NUMBERS,
    POLICY_NUMBERS,
    JobParameters,
    PolicyParameters,
    Range,
    ResponseModel,
)

FORMAT = Format.RESPONSE_MODEL
WHAT = "a response-time model"

SHIPPED = ".toml"
"""The ending of the parameter files in the package."""

RANGES, SOURCES, BASELINE = "x-range", "x-source", "x-baseline"
"""Keys that other readers of the format may ignore."""

ENDS_OF_RANGE = 2


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
    name = str(path)
    if name in shipped_models() and not Path(name).exists():
        text = (_folder() / f"{name}{SHIPPED}").read_text(encoding="utf-8")
    else:
        try:
            text = read_text(path)
        except FileError as error:
            raise _with_names_of_models(error, path) from None
    try:
        return parse_model(text, name=_name_of(name))
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
    extras = _extras(document, ("reallocation_time",))
    fields = _fields(
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
        reallocation_time=at("reallocation_time", _number, fields["reallocation_time"]),
        jobs=tuple(at(f"job[{number}]", _job, job) for number, job in enumerate(jobs)),
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
    files = (file.name for file in _folder().iterdir())
    return tuple(sorted(file.removesuffix(SHIPPED) for file in files if file.endswith(SHIPPED)))


def _folder() -> Any:
    return resources.files("dfopt_models") / "parameters"


def _name_of(path: str) -> str:
    name = Path(path).name.removesuffix(".gz").removesuffix(SHIPPED)
    return "model" if path == STANDARD_INPUT or not name else name


def _with_names_of_models(error: FileError, path: str | Path) -> FileError:
    if Path(path).exists() or str(path) == STANDARD_INPUT:
        return error
    known = ", ".join(shipped_models())
    return FileError(
        f"{error.problem}, or name a model that comes with dfopt: {known}", file=error.file
    )


def _given(
    holder: ResponseModel | JobParameters | PolicyParameters, names: Iterable[str]
) -> dict[str, Any]:
    given: dict[str, Any] = {name: getattr(holder, name) for name in names}
    if holder.ranges:
        given[RANGES] = {name: list(limits) for name, limits in holder.ranges.items()}
    if holder.sources:
        given[SOURCES] = dict(holder.sources)
    return given


def _fields(value: object, known: Iterable[str], *, required: Iterable[str]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise FileError(f"must be a table, not {described_toml(value)}")
    return fields_of(value, tuple(known), required=tuple(required))


def _job(value: object) -> JobParameters:
    keys = ("name", *JOB_NUMBERS, "policy")
    fields = _fields(value, keys, required=keys)
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
        **_numbers(fields, JOB_NUMBERS),
        **_extras(value, JOB_NUMBERS),
    )


def _policy(value: object) -> PolicyParameters:
    fields = _fields(value, POLICY_NUMBERS, required=POLICY_NUMBERS)
    assert isinstance(value, dict)
    return PolicyParameters(
        **_numbers(fields, POLICY_NUMBERS),
        **_extras(value, POLICY_NUMBERS),
        baseline=at(BASELINE, _instead, value.get(BASELINE, {})),
    )


def _instead(value: object) -> dict[str, float]:
    fields = _fields(value, POLICY_NUMBERS, required=())
    return _numbers(fields, POLICY_NUMBERS)


def _numbers(fields: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: at(name, _number, fields[name]) for name in names if name in fields}


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FileError(f"must be a number, not {described_toml(value)}")
    return value


def _extras(value: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {
        "ranges": at(RANGES, lambda table: _ranges(table, names), value.get(RANGES, {})),
        "sources": at(SOURCES, _sources, value.get(SOURCES, {})),
    }


def _ranges(value: object, names: tuple[str, ...]) -> dict[str, Range]:
    fields = _fields(value, names, required=())
    return {name: at(name, _range, limits) for name, limits in fields.items()}


def _range(value: object) -> Range:
    if not isinstance(value, list):
        raise FileError(f"must be [least, greatest], not {described_toml(value)}")
    if len(value) != ENDS_OF_RANGE:
        raise FileError(f"must be two numbers, [least, greatest]; here are {len(value)}")
    least, greatest = (at(f"[{end}]", _number, limit) for end, limit in enumerate(value))
    return least, greatest


def _sources(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        raise FileError(f"must be a table of texts, not {described_toml(value)}")
    for name, text in value.items():
        if not isinstance(text, str):
            raise FileError(
                f"must be a text, not {described_toml(text)}", place=shown_place((name,))
            )
    return dict(value)
