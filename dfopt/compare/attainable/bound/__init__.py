"""Lower bounds on the cost of all schedules of a trace within a waiting limit, and their proofs."""

from dfopt.compare.attainable.bound.bound import (
    StretchBound,
    WaitingBound,
    lower_bound,
    proven_bound,
    stretch_bounds,
)
from dfopt.compare.attainable.bound.proof import (
    CheckedBound,
    DispatchPrices,
    StretchPrices,
    TimePrices,
    WaitingProof,
    check_proof,
)
from dfopt.compare.attainable.bound.start_windows import start_windows

__all__ = [
    "CheckedBound",
    "DispatchPrices",
    "StretchBound",
    "StretchPrices",
    "TimePrices",
    "WaitingBound",
    "WaitingProof",
    "check_proof",
    "lower_bound",
    "proven_bound",
    "start_windows",
    "stretch_bounds",
]
