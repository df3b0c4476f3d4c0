"""How far the schedule of a trace is from the best possible."""

from dfopt.compare.attainable.frontier import FrontierRow, Scheduling, WaitingFrontier
from dfopt.compare.compare import compare_trace
from dfopt.compare.comparison import Comparison, comparison_tables
from dfopt.compare.comparison_parts import (
    Cause,
    CompareProgress,
    CpuResult,
    FragmentResult,
    OrderKept,
    Realised,
    WindowResult,
)
from dfopt.compare.cost_model import CostModel, model_of_instance
from dfopt.compare.domains import DomainComparison, DomainWindow
from dfopt.compare.written_times import (
    WHOLE,
    PermittedWait,
    Window,
    foresight_windows,
    parse_wait,
    parse_window,
)

__all__ = [
    "WHOLE",
    "Cause",
    "CompareProgress",
    "Comparison",
    "CostModel",
    "CpuResult",
    "DomainComparison",
    "DomainWindow",
    "FragmentResult",
    "FrontierRow",
    "OrderKept",
    "PermittedWait",
    "Realised",
    "Scheduling",
    "WaitingFrontier",
    "Window",
    "WindowResult",
    "compare_trace",
    "comparison_tables",
    "foresight_windows",
    "model_of_instance",
    "parse_wait",
    "parse_window",
]
