"""Performance counters at switches: figures, warm-up, and penalties between task types."""

from dfopt_models.counters.document import (
    counters_model_text,
    read_counters_model,
    write_counters_model,
)
from dfopt_models.counters.figures import CounterFigures, counter_figures
from dfopt_models.counters.instance import counters_instance
from dfopt_models.counters.model import AfterType, CountedType, CountersModel
from dfopt_models.counters.pairs import Mean, counters_model, long_threshold
from dfopt_models.counters.sample_files import read_samples
from dfopt_models.counters.samples import CounterSamples, counted_dispatches
from dfopt_models.counters.warm_up import Reading, WarmUp, WarmUpPoint, fit_warm_up

__all__ = [
    "AfterType",
    "CountedType",
    "CounterFigures",
    "CounterSamples",
    "CountersModel",
    "Mean",
    "Reading",
    "WarmUp",
    "WarmUpPoint",
    "counted_dispatches",
    "counter_figures",
    "counters_instance",
    "counters_model",
    "counters_model_text",
    "fit_warm_up",
    "long_threshold",
    "read_counters_model",
    "read_samples",
    "write_counters_model",
]
