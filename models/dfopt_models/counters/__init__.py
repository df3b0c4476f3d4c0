"""Performance counters at switches: figures, warm-up, and penalties between task types."""

from dfopt_models.counters.equations import cumulative, instantaneous
from dfopt_models.counters.figures import CounterFigures, PerformanceRow, counter_figures
from dfopt_models.counters.model import (
    COUNTERS,
    AfterType,
    CountedType,
    CountersModel,
    CountersResult,
    counters_instance,
    counters_result,
)
from dfopt_models.counters.pairs import Mean, counters_model, long_threshold
from dfopt_models.counters.samples import CounterSamples, counted_dispatches, read_samples
from dfopt_models.counters.warm_up import CURVES, Reading, WarmUp, WarmUpPoint, fit_warm_up

__all__ = [
    "COUNTERS",
    "CURVES",
    "AfterType",
    "CountedType",
    "CounterFigures",
    "CounterSamples",
    "CountersModel",
    "CountersResult",
    "Mean",
    "PerformanceRow",
    "Reading",
    "WarmUp",
    "WarmUpPoint",
    "counted_dispatches",
    "counter_figures",
    "counters_instance",
    "counters_model",
    "counters_result",
    "cumulative",
    "fit_warm_up",
    "instantaneous",
    "long_threshold",
    "read_samples",
]
