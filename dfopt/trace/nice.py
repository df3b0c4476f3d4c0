"""Nice values: how urgent a thread is, and the share of a CPU that is due to it."""

from __future__ import annotations

import math

MOST_URGENT, LEAST_URGENT = -20, 19
"""The least and the greatest nice value."""

NICE_0 = 1024
"""The weight of a thread of nice 0."""

NICE_STEP = 1.25
"""Each step of nice divides the weight by this factor."""

LARGEST_WEIGHT = 1 << 20
"""No thread has more weight."""

PRIORITY_OF_NICE_0 = 120
"""The number of nice 0 among the kernel's priorities; the others stand before and after it.

Those below 100 are for real-time threads.
"""


def weight_of_nice(nice: int) -> int:
    """Return the weight of a nice value from -20 to 19, to the next integer."""
    return round(NICE_0 / NICE_STEP**nice)


def nice_of_weight(weight: int) -> int:
    """Return the nice value whose weight is nearest, as a ratio, to a weight of at least 1."""
    nice = round(math.log(NICE_0 / weight, NICE_STEP))
    return min(max(nice, MOST_URGENT), LEAST_URGENT)
