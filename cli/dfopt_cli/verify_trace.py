"""Proofs and schedules that are checked against the trace of which they speak."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dfopt.verify import Verification
from dfopt_cli.failures import naming
from dfopt_cli.tables import counted
from dfopt_cli.trace_files import labelled_trace, named, names_of
from dfopt_cli.trace_options import LabelOptions

if TYPE_CHECKING:
    from dfopt.compare.attainable.bound.proof_document import SavedProof
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


def _trace(file: str, labels: LabelOptions) -> Trace:
    return named(labelled_trace(file, labels), names_of([file])[0])


def _proven(trace: Trace, saved: SavedProof) -> str:
    """Say what a proof proves."""
    limit, unit = saved.proof.limit, trace.header.time_unit or "units of time"
    limits = []
    if limit.each is not None:
        longer = f"{limit.each:,} {unit}, or than" if limit.each else ""
        limits.append(f"nobody waits longer than {longer} recorded".replace("  ", " "))
    if limit.total is not None:
        limits.append(f"all waits together are at most {limit.total:,} {unit}")
    lengths = "whatever the lengths of its dispatches"
    if saved.proof.uses_lengths:
        lengths = "if its dispatches are as long as recorded"
    elif limit.total is not None:
        lengths = "also if its dispatches are shorter than recorded"
    bound = saved.lower_bound
    least = f"costs less than {bound:,}"
    if saved.model.counts_switches:
        least = f"has fewer than {counted(bound, 'switch')}"
    where = f" in which {' and '.join(limits)}" if limits else ""
    return f"no schedule with these arrivals{where} {least}, {lengths}; checked in integers"
