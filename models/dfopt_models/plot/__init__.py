"""Pictures of the models: functions that take data and an Axes and return the Axes."""

from dfopt_models.plot.crossover import plot_crossover_planes, plot_crossovers
from dfopt_models.plot.models import (
    plot_batching,
    plot_contention,
    plot_counters,
    plot_parallelism,
    plot_queueing,
    plot_warm_up,
)

__all__ = [
    "plot_batching",
    "plot_contention",
    "plot_counters",
    "plot_crossover_planes",
    "plot_crossovers",
    "plot_parallelism",
    "plot_queueing",
    "plot_warm_up",
]
