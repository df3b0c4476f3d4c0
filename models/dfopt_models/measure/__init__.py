"""Parameters of the models, measured: from traces, and on the machine at hand."""

from dfopt_models.measure.from_traces import (
    JobRun,
    model_from_runs,
    runs_from_dispatches,
    runs_from_stays,
)
from dfopt_models.measure.machine import (
    Estimate,
    MachineRun,
    MeasurementError,
    measure_run,
    verify_flush,
)
from dfopt_models.measure.machine_document import (
    MachineCosts,
    machine_document,
    parse_machine,
    read_machine,
)
from dfopt_models.measure.memory import AccessOrder, FlushLevel, Memory, TimedPass
from dfopt_models.measure.penalties import (
    NO_PENALTIES,
    JobPenalties,
    MeasuredPenalties,
    parse_penalties,
    penalties_document,
    penalties_of_machine,
    read_penalties,
    with_penalties,
)

__all__ = [
    "NO_PENALTIES",
    "AccessOrder",
    "Estimate",
    "FlushLevel",
    "JobPenalties",
    "JobRun",
    "MachineCosts",
    "MachineRun",
    "MeasuredPenalties",
    "MeasurementError",
    "Memory",
    "TimedPass",
    "machine_document",
    "measure_run",
    "model_from_runs",
    "parse_machine",
    "parse_penalties",
    "penalties_document",
    "penalties_of_machine",
    "read_machine",
    "read_penalties",
    "runs_from_dispatches",
    "runs_from_stays",
    "verify_flush",
    "with_penalties",
]
