"""``dfopt model from-trace``: a response-time model from recorded traces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import BadParameter, Option

from dfopt.files.storage import shown_name
from dfopt_cli import completion
from dfopt_cli.failures import naming
from dfopt_cli.input_files import labelled_trace
from dfopt_cli.printing import check_output, print_tables, say
from dfopt_cli.trace_options import LabelOptions

if TYPE_CHECKING:
    from dfopt_models.measure import JobRun


def from_trace(
    traces: list[str],
    *,
    output: str | None = None,
    jobs: Annotated[list[str] | None, Option(autocompletion=completion.sources)] = None,
    baseline: str | None = None,
    penalties: str | None = None,
    stays: bool = False,
) -> None:
    """Measure jobs under several policies in traces.

    It is for 'dfopt model crossover'. For every job: response time, processors, reallocations
    (dispatches whose predecessor on their CPU was another job), the share of them with affinity
    (the thread last ran on this CPU), and the interval between them.

    Example: dfopt model from-trace fair=a.txt batch=b.txt --jobs tgid -o model.toml

    Arguments
    ---------
    traces : [POLICY=]TRACE...
        Traces of at least two policies. A policy is named before =, or in the trace's header;
        traces of one policy are runs of it.

    Options
    -------
    output : -o FILE
        Write the model there.
    jobs : SOURCE
        What a job is: tgid or process, comm:REGEX, own, or whatever --df of 'dfopt compare' takes.
        Once for all traces, or once for each in their order.
    baseline : POLICY
        The policy that others are compared with; by default that of the last trace.
    penalties : FILE
        What a reallocation costs each job, a dfopt-penalties/1; without it nothing, which the model
        marks as assumed.
    stays
        The traces are those of 'dfopt simulate space-sharing': each dispatch is a worker's stay on
        a processor.
    """
    from dfopt_models.measure import (
        NO_PENALTIES,
        model_from_runs,
        read_penalties,
        runs_from_dispatches,
        runs_from_stays,
        runs_table,
    )
    from dfopt_models.model import parameter_name
    from dfopt_models.response_time import RESPONSE_TIME

    given = [named_policy(trace) for trace in traces]
    files = [file for _, file in given]
    check_output(output, *files, penalties)
    costs = NO_PENALTIES if penalties is None else read_penalties(penalties)
    labels = LabelOptions(df=jobs).of_each(len(files))
    runs: dict[str, list[JobRun]] = {}
    processors = 1
    last = ""
    for (policy, file), options in zip(given, labels, strict=True):
        trace = labelled_trace(file, options)
        last = policy or trace.header.policy or parameter_name(file)
        processors = max(processors, trace.cpus)
        with naming(file):
            found = runs_from_stays(trace, costs) if stays else runs_from_dispatches(trace)
        runs.setdefault(last, []).extend(found)
    model = model_from_runs(
        runs,
        baseline=baseline or last,
        penalties=costs,
        name=parameter_name(output or "model"),
        processors=processors,
    )
    if output is not None:
        RESPONSE_TIME.write(model, output)
    if len(runs) == 1:
        say(f"dfopt: all traces are of the policy {last}; POLICY=TRACE names another")
    print_tables([runs_table(runs)])


def named_policy(given: str) -> tuple[str | None, str]:
    """Return the policy and the file in ``POLICY=FILE``; a policy has no slash in its name."""
    policy, equals, file = given.partition("=")
    if equals and "/" not in policy:
        if not policy or not file:
            raise BadParameter(f"{shown_name(given)} must be POLICY=TRACE or TRACE")
        return policy, file
    return None, given
