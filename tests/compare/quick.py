"""Comparisons so small that they take moments, however long they might."""

from dfopt.compare import (
    Comparison,
    CostModel,
    Window,
    compare_trace,
)
from dfopt.trace import Trace

LIMIT_S = 1000.0
"""Beyond what any of them takes, so that no clock decides what is found."""


def compared(trace: Trace, model: CostModel, *lengths: Window) -> Comparison:
    return compare_trace(trace, model, windows=lengths, time_limit=LIMIT_S, workers=1, waits=None)
