"""Pictures of the models: functions that take data and an Axes and return the Axes."""

from dfopt_models.plot.batching import plot_batching
from dfopt_models.plot.contention import plot_contention
from dfopt_models.plot.counters import plot_counters, plot_warm_up
from dfopt_models.plot.crossover import plot_crossover_planes, plot_crossovers
from dfopt_models.plot.parallelism import plot_parallelism
from dfopt_models.plot.queueing import plot_queueing

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
