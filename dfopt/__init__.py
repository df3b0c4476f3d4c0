"""Exact scheduling of tasks that share data: the least switch penalty, with a proof."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from dfopt._version import __version__
from dfopt.errors import DfoptError, DfoptWarning, FileError, InstanceError, MethodError
from dfopt.files import read_instance, read_result, write_instance, write_result
from dfopt.problem.cache import CacheState, Leaves
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyF, PenaltyG, PenaltyMatrix
from dfopt.problem.result import (
    FirstOf,
    GapLimit,
    InstanceName,
    Progress,
    Result,
    SearchStep,
    Status,
    StopReason,
    TimeLimit,
)
from dfopt.problem.schedule import CpuSchedule, Schedule, evaluate
from dfopt.solvers import solve
from dfopt.solvers.best_order import best_order
from dfopt.structs import replace

if TYPE_CHECKING:
    from dfopt.compare import compare_trace
    from dfopt.trace import read_trace
    from dfopt.trace.labels import label

LOADED_WHEN_USED = {
    "compare_trace": "dfopt.compare",
    "label": "dfopt.trace.labels",
    "read_trace": "dfopt.trace",
}
"""What is about traces needs numpy, which takes long to load."""


def __getattr__(name: str) -> Any:
    """Load what is about traces."""
    if name not in LOADED_WHEN_USED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(LOADED_WHEN_USED[name]), name)


__all__ = [
    "CacheState",
    "CpuSchedule",
    "DfoptError",
    "DfoptWarning",
    "FileError",
    "FirstOf",
    "GapLimit",
    "Instance",
    "InstanceError",
    "InstanceName",
    "Leaves",
    "MethodError",
    "Objective",
    "PenaltyF",
    "PenaltyG",
    "PenaltyMatrix",
    "Progress",
    "Result",
    "Schedule",
    "SearchStep",
    "Status",
    "StopReason",
    "Task",
    "TimeLimit",
    "__version__",
    "best_order",
    "compare_trace",
    "evaluate",
    "label",
    "read_instance",
    "read_result",
    "read_trace",
    "replace",
    "solve",
    "write_instance",
    "write_result",
]
