"""Batches of fine-grained threads: gains, the batches that fit, and misses against waiting.

The schedulers of Debattista, Vella and Cordina, sections 4 and 7, by arithmetic.
"""

from dfopt_models.batching.document import parse_batching, read_batching, shipped_batching
from dfopt_models.batching.model import (
    BatchChoice,
    BatchingModel,
    choice,
    choices,
    pareto,
    share_read,
)
from dfopt_models.batching.table import (
    CountedMisses,
    GainRow,
    batching_document,
    batching_tables,
    counted_misses,
    gain_table,
    own_choice,
    pareto_table,
)
from dfopt_models.batching.touched_lines import simulated_misses

__all__ = [
    "BatchChoice",
    "BatchingModel",
    "CountedMisses",
    "GainRow",
    "batching_document",
    "batching_tables",
    "choice",
    "choices",
    "counted_misses",
    "gain_table",
    "own_choice",
    "pareto",
    "pareto_table",
    "parse_batching",
    "read_batching",
    "share_read",
    "shipped_batching",
    "simulated_misses",
]
