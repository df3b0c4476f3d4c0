"""Means of replications, with confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dfopt.structs import DocumentPart, NonNegative

CONFIDENCE = 0.95


class Interval(DocumentPart):
    """A mean with its confidence interval.

    Parameters
    ----------
    mean
        Of independent replications.
    half_width
        Half the width of the interval; None for a single replication.
    """

    mean: float
    half_width: NonNegative | None


def confidence_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """Return the mean of independent values, with Student's confidence interval.

    Parameters
    ----------
    values
        At least one.
    confidence
        Probability that intervals made like this hold the true mean, if the values are normally
        distributed.
    """
    number = len(values)
    mean = math.fsum(values) / number
    if number == 1:
        return Interval(mean=mean, half_width=None)
    from scipy.special import stdtrit  # scipy.stats takes ten times as long to import

    variance = math.fsum((value - mean) ** 2 for value in values) / (number - 1)
    quantile = float(stdtrit(number - 1, (1 + confidence) / 2))
    return Interval(mean=mean, half_width=quantile * math.sqrt(variance / number))
