"""Which results of a model rest on assumptions: on numbers whose source says that they are some."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dfopt_models.parameter_fields import is_assumed
from dfopt_models.response_time.model import ResponseModel


def assumptions_of_case(model: ResponseModel, job: str, policy: str) -> tuple[str, ...]:
    """Return the assumptions that the response time of a job under a policy rests on.

    Each is a text such as ``"waste of MATRIX under equipartition"``.
    """
    chosen = model.job(job)
    return (
        *assumed_names(model.sources, {"reallocation_time"}),
        *(f"{name} of {job}" for name in assumed_names(chosen.sources)),
        *(
            f"{name} of {job} under {policy}"
            for name in assumed_names(chosen.policies[policy].sources)
        ),
    )


def assumptions_of_comparison(model: ResponseModel, job: str, policy: str) -> tuple[str, ...]:
    """Return the assumptions that a policy's response time beside the baseline's rests on."""
    parameters = model.job(job).policies[policy]
    replaced = {*parameters.baseline, *(("work",) if parameters.own_work else ())}
    theirs = (
        text
        for text in assumptions_of_case(model, job, model.baseline)
        if text.split(" of ", maxsplit=1)[0] not in replaced
    )
    return tuple(dict.fromkeys((*assumptions_of_case(model, job, policy), *theirs)))


def assumptions_of_use(model: ResponseModel, policy: str) -> tuple[str, ...]:
    """Return the assumptions that the useful share of a machine rests on, besides the mix."""
    cases = (text for job in model.jobs for text in assumptions_of_case(model, job.name, policy))
    return tuple(dict.fromkeys((*assumed_names(model.sources, {"processors"}), *cases)))


def assumed_names(
    sources: Mapping[str, str], among: Iterable[str] | None = None
) -> tuple[str, ...]:
    """Return the names whose source says that the number is an assumption."""
    names = set(sources if among is None else among)
    return tuple(name for name, text in sources.items() if name in names and is_assumed(text))
