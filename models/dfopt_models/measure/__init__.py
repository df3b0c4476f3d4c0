"""Parameters of the models, measured: from traces, and on the machine at hand."""

from dfopt_models.measure.job_runs import JobRun, runs_from_dispatches, runs_from_stays
from dfopt_models.measure.model_from_runs import model_from_runs
from dfopt_models.measure.penalties import (
    NO_PENALTIES,
    MeasuredPenalties,
    parse_penalties,
    penalties_text,
    read_penalties,
)

__all__ = [
    "NO_PENALTIES",
    "JobRun",
    "MeasuredPenalties",
    "model_from_runs",
    "parse_penalties",
    "penalties_text",
    "read_penalties",
    "runs_from_dispatches",
    "runs_from_stays",
]
