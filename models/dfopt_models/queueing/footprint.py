"""What programs lose that share a cache: binomial lines in each set.

After D. Thiebaut and H. S. Stone, "Footprints in the cache" (1987): each line of a program lies in
any set with the same probability, so the number of its lines in a set is binomial. A set holds at
most as many as it has ways. Another program that runs in between takes the places that it needs,
free ones first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dfopt_models.queueing.brackets import check

MOST_LINES = 1 << 40
"""No footprint is larger."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetCache:
    """A cache of sets with some ways each.

    Parameters
    ----------
    sets, ways
        Their numbers.
    line_time
        What it takes to read one line, in seconds.

    Raises
    ------
    ModelError
        When a number is not positive.
    """

    sets: int
    ways: int
    line_time: float

    def __post_init__(self) -> None:
        check(sets=self.sets, ways=self.ways, line_time=self.line_time)

    def in_a_set(self, lines: int) -> list[float]:
        """Return the probabilities that 0, 1, … lines of a program are held in a set.

        The last one is that of as many lines as there are ways, or more that compete for them.
        """
        chances = [_binomial(lines, count, self.sets) for count in range(self.ways)]
        return [*chances, max(0.0, 1 - sum(chances))]

    def held(self, lines: int) -> float:
        """Return the mean number of a program's lines that the cache holds after it ran alone."""
        chances = self.in_a_set(lines)
        return self.sets * sum(count * chance for count, chance in enumerate(chances))

    def lost(self, lines: int, others: int) -> float:
        """Return the mean number of them that another program with ``others`` lines replaces."""
        own, other = self.in_a_set(lines), self.in_a_set(others)
        return self.sets * sum(
            max(0, mine + theirs - self.ways) * own[mine] * other[theirs]
            for mine in range(self.ways + 1)
            for theirs in range(self.ways + 1)
        )

    def penalty_no_affinity(self, lines: int) -> float:
        """Return the time to fill an empty cache again, P^NA."""
        return self.held(lines) * self.line_time

    def penalty_affinity(self, lines: int, others: int) -> float:
        """Return the time to read again what another program replaced, P^A."""
        return self.lost(lines, others) * self.line_time

    def footprint(self, penalty_no_affinity: float) -> int | None:
        """Return the least footprint with at least this P^NA; None if even a full cache has less.

        The equation P^NA = line time × lines held grows with the footprint, so bisection finds it.
        """
        if penalty_no_affinity >= self.sets * self.ways * self.line_time:
            return None
        low, high = 0, 1
        while self.penalty_no_affinity(high) < penalty_no_affinity and high < MOST_LINES:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            if self.penalty_no_affinity(middle) < penalty_no_affinity:
                low = middle
            else:
                high = middle
        return high


def _binomial(lines: int, count: int, sets: int) -> float:
    """Return the probability that ``count`` of the lines lie in one of the sets."""
    if count > lines:
        return 0.0
    if sets == 1:
        return float(count == lines)
    logarithm = math.lgamma(lines + 1) - math.lgamma(count + 1) - math.lgamma(lines - count + 1)
    logarithm += -count * math.log(sets) + (lines - count) * math.log1p(-1 / sets)
    return math.exp(logarithm)
