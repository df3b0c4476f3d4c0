"""CPUs that contend for locks, and what several scans, own parts and bands change.

The measurements of Sohn and Kim, section V and VI, by queueing theory.
"""

from dfopt_models.contention.locks import (
    Contention,
    Holds,
    SpinLocks,
    buffer_hold_for,
    constant_holds,
    contention,
    mean_slope,
    own_lock_first,
    think_for,
    with_buffers,
)
from dfopt_models.contention.model import (
    CONTENTION,
    ContentionModel,
    ContentionResult,
    Measurement,
    contention_result,
)
from dfopt_models.contention.scans import (
    Borrowing,
    all_busy,
    borrowing,
    expected_looks,
    look_time,
    loss,
    third_band,
)

__all__ = [
    "CONTENTION",
    "Borrowing",
    "Contention",
    "ContentionModel",
    "ContentionResult",
    "Holds",
    "Measurement",
    "SpinLocks",
    "all_busy",
    "borrowing",
    "buffer_hold_for",
    "constant_holds",
    "contention",
    "contention_result",
    "expected_looks",
    "look_time",
    "loss",
    "mean_slope",
    "own_lock_first",
    "think_for",
    "third_band",
    "with_buffers",
]
