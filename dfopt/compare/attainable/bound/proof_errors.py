"""What makes a proof of a bound faulty."""

from __future__ import annotations

LARGEST = 2**59
"""No sum of prices, of times, or of their products may exceed this, so that 64 bits hold it."""


class FaultyProofError(Exception):
    """A proof relies on a condition that is not known to hold, or is no proof at all."""


def check_size(factor: int, other: int, name: str) -> None:
    """Refuse a product that 64 bits may not hold."""
    if factor * other > LARGEST:
        raise FaultyProofError(f"{name} can exceed 2^59; take a smaller scale")
