"""Proofs by supports: dual values as integers, and trees of cases."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dfopt.problem.certificate import SupportProof, SupportSplit, SupportWeights
from dfopt.solvers.matrix.support_program import (
    TOLERANCE,
    SupportDuals,
    SupportProgram,
    gains_of,
)
from dfopt.solvers.matrix.support_search import Part, Permitted

LARGEST_EXACT = 1 << 52
"""Sums of whole numbers up to 2^52 are exact in floating point."""

SCALES = (*range(1, 25), 30, 36, 48, 60, 120, 10**3, 10**4, 10**5, 10**6)
"""Dual values are multiplied by one of these and rounded; tried in turn, as small numbers read
well."""


class SupportProver:
    """Writes down why no schedule reaches a threshold.

    Parameters
    ----------
    program
        The integer program.
    names
        The names of the types.
    sizes, prices
        Number of tasks of each type, and what each of them costs at least.
    groups
        The group of each CPU.
    """

    def __init__(
        self,
        program: SupportProgram,
        names: Sequence[str],
        sizes: Sequence[int],
        prices: Sequence[int],
        groups: Sequence[int],
    ) -> None:
        self.program = program
        self.names = names
        self.prices = prices
        self.groups = groups
        self.base = sum(size * price for size, price in zip(sizes, prices, strict=True))

    def proof(self, part: Part, budget: int, permitted: Permitted | None) -> SupportProof | None:
        """Return why the rests do not add up to at most ``budget``; None if rounding hides it."""
        if part.below is not None and part.above is not None:
            below = self.proof(part.below, budget, permitted)
            above = self.proof(part.above, budget, permitted)
            if below is None or above is None:
                return None
            types = self._types(part.types)
            return SupportSplit(types=types, most=part.most, below=below, above=above)
        if part.weights is None:
            return None
        # In terms of the cost the dual values are fractions of small denominators.
        unit = part.weights.unit if part.weights.unit > TOLERANCE else 1.0
        for scale in SCALES:
            weights = self._rounded(part, part.weights, scale / unit, budget, permitted)
            if weights is not None:
                return weights
        return None

    def _rounded(
        self,
        part: Part,
        duals: SupportDuals,
        scale: float,
        budget: int,
        permitted: Permitted | None,
    ) -> SupportWeights | None:
        cpus = sum(self.program.cpus)
        sets = {types: round(weight * scale) for types, weight in duals.sets.items()}
        sets = {types: weight for types, weight in sets.items() if weight}
        unit = round(duals.unit * scale)
        worth = 0
        for types, weight in sets.items():
            least, most = part.limits.get(types, (0, cpus))
            least = max(least, int(self.program.least_touching[types]))
            most = min(most, int(self.program.most_touching[types]))
            worth += weight * (least if weight > 0 else most)
        largest = max(int(np.abs(rest).max()) for rest in self.program.rest)
        if sum(map(abs, sets.values())) + unit * largest > LARGEST_EXACT:
            return None
        gains = gains_of(self.program, SupportDuals(sets=dict(sets), groups=[], unit=unit))
        bins = []
        for group, values in enumerate(gains):
            possible = values if permitted is None else values[permitted[group]]
            if not len(possible):
                return None
            bins.append(round(float(possible.max())))
        held = sum(bin_ * number for bin_, number in zip(bins, self.program.cpus, strict=True))
        if worth <= held + unit * budget:
            return None
        return SupportWeights(
            unit=unit,
            task_weights=tuple(
                (name, unit * price)
                for name, price in zip(self.names, self.prices, strict=True)
                if unit * price
            ),
            set_weights=tuple(
                (self._types(types), weight) for types, weight in sorted(sets.items())
            ),
            bin_weights=tuple(bins[group] for group in self.groups),
        )

    def _types(self, types: int) -> tuple[str, ...]:
        return tuple(name for bit, name in enumerate(self.names) if types >> bit & 1)
