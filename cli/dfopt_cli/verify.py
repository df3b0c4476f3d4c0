"""``dfopt verify``: whether a result, a proof or a schedule is right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typer import BadParameter

from dfopt.errors import DfoptError
from dfopt.files import read_instance, read_result
from dfopt.files.formats import Format, document_format, may_be_trace
from dfopt.problem.instance import Instance
from dfopt.problem.result import Result
from dfopt.render import counted
from dfopt.structs import NonNegative
from dfopt.time_units import full_time, readable_time
from dfopt.verify import Verification
from dfopt.verify import verify as check
from dfopt_cli.failures import naming
from dfopt_cli.input_files import named_trace, read_trace_file
from dfopt_cli.options import JsonOption, given, refuse_second_reading
from dfopt_cli.printing import print_json, print_text, say, with_options
from dfopt_cli.trace_options import LabelOptions, ModelOptions, model_choice

if TYPE_CHECKING:
    from dfopt.compare.cost_model import CostModel
    from dfopt.trace import Trace


def verify(
    subject: str,
    claim: str,
    *,
    labels: LabelOptions,
    model: ModelOptions,
    require_certificate: bool = False,
    time_limit: NonNegative = 60,
    as_json: JsonOption = False,
) -> None:
    """Check a result, a proof or a schedule without any solver.

    The cost of a schedule is computed anew, and the proof of a lower bound is checked in exact
    integer arithmetic. For a trace, give the labels of the comparison; for a schedule of it also
    the costs, which a proof contains. Exit code 0: all is right; 1: something is wrong.

    Example: dfopt verify instance.json result.json --require-certificate

    Arguments
    ---------
    subject : INSTANCE|TRACE
        The instance, or the recorded trace; - is standard input.
    claim : RESULT|PROOF|SCHEDULE
        Of an instance, its result, as 'dfopt solve -o' writes it. Of a trace, a proof or a schedule
        (a trace, too), as 'dfopt compare --save' writes them.

    Options
    -------
    require_certificate
        For results: fail if the lower bound could not be checked.
    time_limit : SECONDS
        For results: give a lower bound up as too large to be checked after this time.
    """
    with naming(subject):
        of_trace = may_be_trace(document_format(subject))
    with naming(claim):
        claimed = document_format(claim)
    if of_trace and require_certificate:
        raise BadParameter("--require-certificate is for results of an instance")
    if of_trace and not may_be_trace(claimed) and claimed != Format.RESULT:
        if given(model):
            raise BadParameter("a proof contains its costs; leave out options about costs")
        found, said = proof_checked(subject, claim, labels)
    elif of_trace and may_be_trace(claimed):
        found, said = schedule_checked(subject, claim, labels, model)
    else:
        if given(labels, model):
            raise BadParameter(
                "options about labels and costs are for traces; an instance has its own"
            )
        with naming(subject):
            instance = read_instance(subject)
        with naming(claim):
            result = read_result(claim)
        found = check(
            instance, result, require_certificate=require_certificate, time_limit=time_limit
        )
        said = "" if found.problems else summary(instance, result, found)
    if as_json:
        print_json(found.to_document())
    if found.problems:
        first, *others = found.problems
        more = f" (and {len(others)} more; --json lists all)" if others and not as_json else ""
        raise DfoptError(first + more, file=claim)
    if not as_json:
        print_text(f"verified: {said}\n")
    for remark in found.unchecked:
        say(f"dfopt: {claim}: {with_options(remark)}")


def summary(instance: Instance, result: Result, found: Verification) -> str:
    """Say in a line what is now known of an instance."""
    if found.lower_bound is None:
        held = f"{instance.tasks_per_cpu}"
        if instance.has_sizes:
            held = f"a size of {instance.room * instance.size_unit}"
        checked = "" if found.bound_checked else ", which is not checked"
        return (
            f"infeasible, {instance.task_count} tasks do not fit on {instance.cpus} CPUs "
            f"that hold {held} each{checked}"
        )
    schedule = "no schedule" if found.objective is None else f"objective {found.objective}"
    if not found.bound_checked:
        return f"{schedule}, but its lower bound {found.lower_bound} is not checked"
    if found.lower_bound == 0:
        return f"{schedule}, lower bound 0 (nothing to prove)"
    assert result.certificate is not None
    proof = result.certificate.words
    return f"{schedule}, lower bound {found.lower_bound} proven by {proof} (checked)"


def proof_checked(recorded: str, claim: str, labels: LabelOptions) -> tuple[Verification, str]:
    """Return what is found about a proof, and what it proves."""
    from dfopt.compare.attainable.bound.proof_document import read_proof, verify_proof

    with naming(claim):
        saved = read_proof(claim)
    trace = named_trace(recorded, labels)
    with naming(recorded):
        found = verify_proof(trace, saved)
    least = f"costs less than {saved.lower_bound:,}"
    if saved.model.counts_switches:
        least = f"has fewer than {counted(saved.lower_bound, 'switch')}"
    lengths = (
        "if its dispatches are as long as recorded"
        if saved.uses_lengths
        else "whatever the lengths of its dispatches"
    )
    limit = nobody_waits(saved.wait, trace)
    return found, (
        f"no schedule with these arrivals in which {limit} {least}, {lengths}; checked in integers"
    )


def schedule_checked(
    recorded: str, claim: str, labels: LabelOptions, model: ModelOptions
) -> tuple[Verification, str]:
    """Return what is found about a schedule, and what it attains."""
    from dfopt.compare.attainable.schedule_traces import verify_schedule
    from dfopt.compare.cost_model_choice import chosen_model
    from dfopt.compare.dispatches import movable_or_timeline

    refuse_second_reading((recorded, claim))
    choice = model_choice(model)
    trace = named_trace(recorded, labels)
    scheduled = read_trace_file(claim)
    with naming(recorded):
        chosen = chosen_model(choice, trace.header)
        dispatches, unknown = movable_or_timeline(trace, chosen)
    with naming(claim):
        found = verify_schedule(trace, dispatches, scheduled, timeline_only=unknown is not None)
    return found, attained(found, len(dispatches), trace, chosen)


def attained(found: Verification, dispatches: int, trace: Trace, model: CostModel) -> str:
    """Say what a schedule attains."""
    figures, cost = found.schedule, found.objective
    assert figures is not None, "it is that of a trace"
    assert cost is not None, "any schedule has one"
    paid = f"has {counted(cost, 'switch')}" if model.counts_switches else f"costs {cost:,}"
    paid = f"{paid} (recorded: {figures.recorded_cost:,})"
    if figures.total_wait is None or figures.p99_wait is None:
        return f"a schedule in which everything starts as recorded {paid}"
    unit = trace.header.time_unit
    return (
        f"a schedule with these arrivals {paid}; {nobody_waits(figures.permitted_wait, trace)}, "
        f"the mean wait is {readable_time(figures.total_wait / dispatches, unit)}, and 99 % wait "
        f"at most {readable_time(figures.p99_wait, unit)}"
    )


def nobody_waits(permitted: int, trace: Trace) -> str:
    """Say how long single dispatches may wait."""
    longer = f"{full_time(permitted, trace.header.time_unit)}, or than " if permitted else ""
    return f"nobody waits longer than {longer}recorded"
