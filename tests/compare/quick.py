"""Comparisons that take no longer than they must."""

from dfopt.compare import (
    Comparison,
    CostModel,
    Window,
    compare_trace,
)
from dfopt.trace import Trace

QUICK = 1.0


def compared(trace: Trace, model: CostModel, *lengths: Window) -> Comparison:
    return compare_trace(trace, model, windows=lengths, time_limit=QUICK, workers=1)
