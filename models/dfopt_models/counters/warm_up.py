"""Warm-up: how instructions per cycle rise while a thread runs, and what a cold start loses.

The curve is IPC(t) = a − D·exp(−t/τ). It may be read in two ways. What a thread reaches *at* the
time t is the instantaneous reading; what counters of a slice of length t give is the mean of the
curve up to t, the cumulative reading.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import numpy as np
from msgspec import Meta
from msgspec.structs import force_setattr

from dfopt.errors import FileError
from dfopt.structs import Checked
from dfopt_models.counters.equations import cumulative, instantaneous, lost
from dfopt_models.counters.samples import Floats
from dfopt_models.errors import ModelError

UNKNOWN = math.nan
"""Stands for a time that is not given."""

Milliseconds = Annotated[float, Meta(ge=0)]

LEAST_POINTS = 3
"""The curve has three parameters."""


class Reading(StrEnum):
    """What the points of a warm-up curve say."""

    INSTANTANEOUS = "instantaneous"
    CUMULATIVE = "cumulative"


class WarmUpPoint(Checked):
    """The mean of instructions per cycle between two times.

    Parameters
    ----------
    begin
        A time since the dispatch, milliseconds.
    end
        A later time; without it this is a point of the curve.
    limit
        Whether this is where the curve leads; then no time is needed, and ``end`` is infinite.
    ipc
        Instructions per cycle, in any unit that all points share.
    """

    begin: Milliseconds = UNKNOWN
    end: Milliseconds = UNKNOWN
    limit: bool = False
    ipc: float

    def __post_init__(self) -> None:
        """Settle the times."""
        super().__post_init__()
        if self.limit:
            force_setattr(self, "begin", 0.0 if self.begin is UNKNOWN else self.begin)
            force_setattr(self, "end", math.inf)
        elif self.begin is UNKNOWN:
            raise FileError("is missing; give the time in milliseconds", place="begin")
        elif self.end is UNKNOWN:
            force_setattr(self, "end", self.begin)
        if self.begin > self.end:
            raise FileError("must be from 0 to 'end'", place="begin")


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmUp:
    """A curve IPC(t) = a − D·exp(−t/τ).

    Parameters
    ----------
    limit, deficit
        a and D, in the unit of the points.
    time_constant
        τ, milliseconds.
    reading
        How the points were read.
    error
        The root of the mean squared distance of the points, in their unit.
    """

    limit: float
    deficit: float
    time_constant: float
    reading: Reading
    error: float

    @property
    def initial(self) -> float:
        """Instructions per cycle right after the dispatch, a − D."""
        return self.limit - self.deficit

    @property
    def lost(self) -> float:
        """The work that a cold slice loses, as time at full speed: D·τ/a, milliseconds."""
        return float(lost(self.limit, self.deficit, self.time_constant))


CURVES = {Reading.INSTANTANEOUS: instantaneous, Reading.CUMULATIVE: cumulative}

STEPS = 64
"""Steps of the quadrature within a range of times."""


def fit_warm_up(points: Sequence[WarmUpPoint], reading: Reading) -> WarmUp:
    """Return the curve nearest to points, by least squares; 0 ≤ D ≤ a.

    Raises
    ------
    ModelError
        When there are fewer than three points.
    """
    from scipy.optimize import least_squares

    if len(points) < LEAST_POINTS:
        raise ModelError(
            f"a warm-up curve needs three points or more, and there are {len(points)}; give more "
            "slice lengths"
        )
    ipc = np.array([point.ipc for point in points])
    scale = math.sqrt(1 / len(points))
    fractions = (np.arange(STEPS) + 0.5) / STEPS
    ends = np.array([point.end for point in points])
    is_limit = np.isinf(ends)
    begins = np.array([point.begin for point in points])
    times = begins[:, None] + np.where(is_limit, 0.0, ends - begins)[:, None] * fractions
    longest = float(ends[~is_limit].max(initial=1.0))

    def distances(parameters: Any) -> Floats:
        limit, cold, logarithm = parameters
        deficit = limit * cold  # so that 0 ≤ D ≤ a
        curve = CURVES[reading](times, limit, deficit, float(np.exp(logarithm))).mean(axis=1)
        values: Floats = scale * (np.where(is_limit, limit, curve) - ipc)
        return values

    # The least squares have several minima where the curve is nearly flat; so begin at several τ.
    tops = float(ipc.max())
    fits = [
        least_squares(
            distances,
            (tops, 0.5, np.log(longest * start)),
            bounds=(
                (1e-9 * tops, 0.0, np.log(longest) - 9.0),
                (10 * tops, 1.0, np.log(longest) + 3),
            ),
            xtol=1e-14,
            ftol=1e-14,
            gtol=1e-14,
        )
        for start in (0.05, 0.3, 1.0)
    ]
    limit, cold, logarithm = min(fits, key=lambda fit: fit.cost).x
    error = float(np.sqrt((distances((limit, cold, logarithm)) ** 2).sum()))
    return WarmUp(
        limit=float(limit),
        deficit=float(limit * cold),
        time_constant=float(np.exp(logarithm)),
        reading=reading,
        error=error,
    )
