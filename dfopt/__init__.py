"""Exact scheduling of tasks that share data: the least switch penalty, with a proof."""

from dfopt._version import __version__
from dfopt.costs.best_order import best_order
from dfopt.errors import DfoptError, DfoptWarning, FileError, InstanceError, MethodError
from dfopt.files import read_instance, read_result, write_instance, write_result
from dfopt.problem.cache_state import CacheState, Leaves
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyF, PenaltyG, PenaltyMatrix
from dfopt.problem.result import Progress, Result, Status, StopReason
from dfopt.problem.schedule import CpuSchedule, Schedule, evaluate
from dfopt.problem.stop import FirstOf, GapLimit, TimeLimit
from dfopt.solvers import solve

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
    "__version__",
    "best_order",
    "evaluate",
    "read_instance",
    "read_result",
    "solve",
    "write_instance",
    "write_result",
]
