"""The schedules of a frontier as traces in a folder, with the proofs of their bounds."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import asdict

from dfopt.compare.attainable.bound.proof_document import (
    SavedProof,
    digest_of,
    write_proof,
)
from dfopt.compare.attainable.export import schedule_trace
from dfopt.compare.attainable.frontier import FrontierRow, Scheduling, WaitingFrontier
from dfopt.compare.cost_model import CostModel
from dfopt.compare.dispatches import movable_or_timeline
from dfopt.time_units import exact_time
from dfopt.trace.trace import Trace
from dfopt.trace.writing import write_trace


def save_frontier(folder: Path, frontier: WaitingFrontier, trace: Trace, model: CostModel) -> None:
    """Write the schedule of each row but the recorded one, and the proofs of its bounds.

    Each file is written as a whole or not at all.

    Parameters
    ----------
    folder
        Where to write; it exists.
    frontier, trace, model
        The rows, of which trace they are, and under which model.

    Raises
    ------
    FileError
        When a file cannot be written.
    """
    if not frontier.rows:
        return
    dispatches, _ = movable_or_timeline(trace, model)
    digest = digest_of(dispatches)
    for row in frontier.rows:
        if row.schedule is None or row.scheduling is Scheduling.RECORDED:
            continue
        name = file_name(row, trace.header.time_unit)
        policy = name.replace("-", " ")
        write_trace(schedule_trace(trace, row.schedule, policy=policy), folder / f"{name}.jsonl")
        for proof in row.proofs:
            bound = row.bound_with_lengths if proof.uses_lengths else row.bound
            assert bound is not None, "what is proven has a value"
            saved = SavedProof(
                trace=trace.header.name or "trace",
                sha256=digest,
                model=model,
                lower_bound=bound,
                **asdict(proof),
            )
            ending = ".with-lengths.proof.json" if proof.uses_lengths else ".proof.json"
            write_proof(folder / f"{name}{ending}", saved)


def file_name(row: FrontierRow, unit: str | None) -> str:
    """Return the name of a row's file, without its ending."""
    limit = row.wait if row.scheduling is Scheduling.LONGEST_WAIT else row.patience
    name = str(row.scheduling).replace(" ", "-")
    return name if limit is None else f"{name}-{exact_time(limit, unit)}"
