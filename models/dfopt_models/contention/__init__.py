"""CPUs that contend for locks, and what several scans, own parts and bands change.

The measurements of Sohn and Kim, section V and VI, by queueing theory.
"""

from dfopt_models.contention.affinity_group import (
    Borrowing,
    borrowing,
    buffer_hold_for,
    with_buffers,
)
from dfopt_models.contention.document import (
    parse_contention,
    read_contention,
    shipped_contention,
)
from dfopt_models.contention.locks import (
    Contention,
    Holds,
    SpinLocks,
    constant_holds,
    contention,
    mean_slope,
    own_lock_first,
    think_for,
)
from dfopt_models.contention.model import ContentionModel, Measurement, Published
from dfopt_models.contention.parts import Buffers, Lock, Scans, ThirdBand
from dfopt_models.contention.scans import expected_looks, look_time, loss, third_band
from dfopt_models.contention.table import (
    BufferRow,
    ContentionRow,
    PublishedRow,
    buffer_table,
    contention_document,
    contention_table,
    contention_tables,
    locality_table,
    published_table,
)

__all__ = [
    "Borrowing",
    "BufferRow",
    "Buffers",
    "Contention",
    "ContentionModel",
    "ContentionRow",
    "Holds",
    "Lock",
    "Measurement",
    "Published",
    "PublishedRow",
    "Scans",
    "SpinLocks",
    "ThirdBand",
    "borrowing",
    "buffer_hold_for",
    "buffer_table",
    "constant_holds",
    "contention",
    "contention_document",
    "contention_table",
    "contention_tables",
    "expected_looks",
    "locality_table",
    "look_time",
    "loss",
    "mean_slope",
    "own_lock_first",
    "parse_contention",
    "published_table",
    "read_contention",
    "shipped_contention",
    "think_for",
    "third_band",
    "with_buffers",
]
