"""Exact scheduling of tasks that share data: the least switch penalty, with a proof."""

from dfopt.errors import DfoptError, DfoptWarning, FileError, InstanceError, MethodError
from dfopt.files import read_instance, read_result, write_instance, write_result
from dfopt.instance import Instance, Objective, Task
from dfopt.machine import CacheState, Leaves, PenaltyF, PenaltyG, PenaltyMatrix
from dfopt.ordering import best_order
from dfopt.result import Progress, Result, Status, StopReason
from dfopt.schedule import CpuSchedule, Schedule, evaluate
from dfopt.solvers import solve
from dfopt.stop import FirstOf, GapLimit, TimeLimit

__version__ = "0.1.0"

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
    "Leaves",
    "MethodError",
    "Objective",
    "PenaltyF",
    "PenaltyG",
    "PenaltyMatrix",
    "Progress",
    "Result",
    "Schedule",
    "Status",
    "StopReason",
    "Task",
    "TimeLimit",
    "best_order",
    "evaluate",
    "read_instance",
    "read_result",
    "solve",
    "write_instance",
    "write_result",
]
