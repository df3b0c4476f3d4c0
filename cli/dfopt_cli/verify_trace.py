"""Proofs and schedules that are checked against the trace of which they speak."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dfopt.render import counted
from dfopt.time_units import readable_time
from dfopt.verify import ScheduleFigures, Verification
from dfopt_cli.compare_traces import refuse_second_reading
from dfopt_cli.cost_options import ModelOptions, model_choice
from dfopt_cli.failures import naming
from dfopt_cli.trace_files import (
    labelled_trace,
    named,
    names_of,
    read_trace_file,
)
from dfopt_cli.trace_options import LabelOptions

if TYPE_CHECKING:
    from dfopt.compare.attainable.bound.proof_document import SavedProof
    from dfopt.compare.attainable.verify_schedule import CheckedSchedule
    from dfopt.compare.cost_model import CostModel
    from dfopt.trace import Trace


def proof_checked(recorded: str, claim: str, labels: LabelOptions) -> tuple[Verification, str]:
    """Return what is found about a proof, and what is then known."""
    from dfopt.compare.attainable.bound.proof_document import read_proof
    from dfopt.compare.attainable.bound.verify_proof import verify_proof

    with naming(claim):
        saved = read_proof(claim)
    trace = _trace(recorded, labels)
    with naming(recorded):
        found = verify_proof(trace, saved)
    return found, _proven(trace, saved)


def schedule_checked(
    recorded: str, claim: str, labels: LabelOptions, model: ModelOptions
) -> tuple[Verification, str]:
    """Return what is found about a schedule, and what is then known."""
    from dfopt.compare.attainable.arrivals import arrivals_or_timeline
    from dfopt.compare.attainable.verify_schedule import verify_schedule
    from dfopt.compare.cost_model_choice import chosen_model

    refuse_second_reading((recorded, claim))
    choice = model_choice(model)
    trace = _trace(recorded, labels)
    scheduled = read_trace_file(claim)
    with naming(recorded):
        chosen = chosen_model(choice, trace.header)
        arrivals, unknown = arrivals_or_timeline(trace, chosen)
    with naming(claim):
        found = verify_schedule(trace, arrivals, scheduled, timeline_only=unknown is not None)
    verification = Verification(
        ok=not found.problems,
        objective=found.cost,
        lower_bound=None,
        bound_checked=False,
        problems=found.problems,
        schedule=ScheduleFigures(
            recorded_cost=found.recorded_cost,
            permitted_wait=found.permitted_wait,
            total_wait=found.total_wait,
            p99_wait=found.p99_wait,
        ),
    )
    return verification, _attained(trace, chosen, found)


def _attained(trace: Trace, model: CostModel, found: CheckedSchedule) -> str:
    """Say what a schedule attains."""
    unit = trace.header.time_unit
    cost = f"costs {found.cost:,}"
    if model.counts_switches:
        cost = f"has {counted(found.cost, 'switch')}"
    cost = f"{cost} (recorded: {found.recorded_cost:,})"
    if found.total_wait is None or found.p99_wait is None:
        return f"a schedule in which everything starts as recorded {cost}"
    mean = readable_time(found.total_wait / found.dispatches, unit)
    return (
        f"a schedule with these arrivals {cost}; "
        f"{_nobody_waits(found.permitted_wait, unit)}, the mean wait is {mean}, and 99 % wait at "
        f"most {readable_time(found.p99_wait, unit)}"
    )


def _nobody_waits(permitted: int, unit: str | None) -> str:
    """Say how long single dispatches may wait."""
    from dfopt.time_units import full_time

    longer = f"{full_time(permitted, unit)}, or than " if permitted else ""
    return f"nobody waits longer than {longer}recorded"


def _trace(file: str, labels: LabelOptions) -> Trace:
    return named(labelled_trace(file, labels), names_of([file])[0])


def _proven(trace: Trace, saved: SavedProof) -> str:
    """Say what a proof proves."""
    limit = _nobody_waits(saved.wait, trace.header.time_unit)
    lengths = "whatever the lengths of its dispatches"
    if saved.uses_lengths:
        lengths = "if its dispatches are as long as recorded"
    bound = saved.lower_bound
    least = f"costs less than {bound:,}"
    if saved.model.counts_switches:
        least = f"has fewer than {counted(bound, 'switch')}"
    schedules = f"no schedule with these arrivals in which {limit}"
    return f"{schedules} {least}, {lengths}; checked in integers"
