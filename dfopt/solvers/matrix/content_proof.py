"""Proofs from the program over contents: dual values as integers, and trees of cases."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dfopt.problem.certificate import (
    SetWeight,
    SupportProof,
    SupportSplit,
    SupportWeights,
    TypeCost,
    TypeWeight,
)
from dfopt.problem.instance import Instance, Objective
from dfopt.solvers.matrix.content_program import ContentProgram, Masks, SupportDuals
from dfopt.solvers.matrix.content_search import Part
from dfopt.solvers.matrix.support_costs import UNREACHED
from dfopt.structs import replace
from dfopt.verify.support_orders import Orders
from dfopt.verify.supports import worths

SCALES = (1, 2, 3, 4, 6, 12, 60, 1_000, 100_000, 10_000_000)
"""Dual values are multiplied by one of these and rounded; tried in turn, as small numbers read
well."""

MOST_UNLISTED = 50
"""At most 50 supports are added for a part that could not be excluded."""


class ContentProver:
    """Writes down why no schedule reaches a threshold.

    Parameters
    ----------
    instance
        The instance.
    program
        The program over contents.
    names
        The names of the types.
    groups
        The group of each CPU.
    permitted
        For each group whether a support is permitted; None for all.
    """

    def __init__(
        self,
        instance: Instance,
        program: ContentProgram,
        names: Sequence[str],
        groups: Sequence[int],
        permitted: Masks | None = None,
    ) -> None:
        self.instance = instance
        self.program = program
        self.names = names
        self.groups = groups
        self.permitted = permitted
        self._is_sum = instance.objective is Objective.TOTAL_PENALTY
        listing = program.listing
        self.base = sum(
            size * price for size, price in zip(listing.problem.sizes, listing.prices, strict=True)
        )
        self.unlisted: list[tuple[Part, set[int]]] = []
        """Parts that the last proof could not exclude, because of supports that are not listed."""
        self._known: dict[tuple[int, int], tuple[SupportWeights, int]] = {}
        self._unlisted: dict[int, set[int]] = {}

    def forget(self, part: Part) -> None:
        """Forget the weights of a part."""
        for scale in SCALES:
            self._known.pop((id(part), scale), None)
        self._unlisted.pop(id(part), None)

    def proof(self, part: Part, threshold: int) -> SupportProof | None:
        """Return why no schedule is within ``threshold``; None if that cannot be shown."""
        self.unlisted = []
        budget = threshold * (1 if self._is_sum else self.instance.cpus)
        return self._proof(part, budget, Orders(self.instance, threshold, self.program.check))

    def _proof(self, part: Part, budget: int, orders: Orders) -> SupportProof | None:
        if part.below is not None and part.above is not None:
            below = self._proof(part.below, budget, orders)
            above = self._proof(part.above, budget, orders)
            if below is None or above is None:
                return None
            types = self._types(part.types)
            return SupportSplit(types=types, most=part.most, below=below, above=above)
        if part.weights is None:
            return None
        for scale in SCALES:
            needed = round(part.weights.unit * scale) * (budget - self.base)
            weights, excess = self._weighed(part, part.weights, scale)
            if excess > needed:
                weights, excess = self._with_unlisted(part, scale, weights, excess, orders)
            if excess > needed:
                return weights
            if id(part) in self._unlisted:
                self.unlisted.append((part, self._unlisted[id(part)]))
                break
        return None

    def _weighed(self, part: Part, duals: SupportDuals, scale: int) -> tuple[SupportWeights, int]:
        """Return the weights of a part, and by how much they exceed what the CPUs are worth.

        Prices of tasks and the costs that they stand for are left out, and supports that are not
        listed.
        """
        known = self._known.get((id(part), scale))
        if known is not None:
            return known
        program = self.program
        cpus = sum(program.cpus)
        sets = {types: round(weight * scale) for types, weight in duals.sets.items()}
        sets = {types: weight for types, weight in sorted(sets.items()) if weight}
        tasks = [round(weight * scale) for weight in duals.tasks]
        unit = round(duals.unit * scale)
        worth = sum(weight * int(size) for weight, size in zip(tasks, program.sizes, strict=True))
        for types, weight in sets.items():
            least, most = part.limits.get(types, (0, cpus))
            least = max(least, program.least_touching(types))
            most = min(most, program.most_touching(types))
            worth += weight * (least if weight > 0 else most)
        rounded = SupportDuals(sets=sets, groups=[], unit=unit, tasks=tasks)
        values = program.worths(rounded)
        claims = []
        for group, rest in enumerate(program.listing.rest):
            possible = rest < UNREACHED // 2
            if self.permitted is not None:
                possible &= self.permitted[group]
            gains = values[group][possible] - unit * rest[possible]
            claims.append(int(np.ceil(gains.max())) if len(gains) else 0)
        prices = program.listing.prices
        weights = SupportWeights(
            unit=unit,
            tasks=tuple(
                TypeWeight(type=name, weight=unit * price)
                for name, price in zip(self.names, prices, strict=True)
                if unit * price
            ),
            counted=tuple(
                TypeWeight(type=name, weight=weight)
                for name, weight in zip(self.names, tasks, strict=True)
                if weight or self._is_sum
            ),
            sets=tuple(
                SetWeight(types=self._types(types), weight=weight) for types, weight in sets.items()
            ),
            bin_weights=tuple(claims[group] for group in self.groups),
            least_costs=tuple(
                TypeCost(type=name, cost=cost)
                for name, cost in zip(self.names, program.least_costs, strict=False)
                if cost
            ),
        )
        return weights, worth - sum(weights.bin_weights)

    def _with_unlisted(
        self, part: Part, scale: int, weights: SupportWeights, excess: int, orders: Orders
    ) -> tuple[SupportWeights, int]:
        """Return the same where supports that are not listed are worth more."""
        if (id(part), scale) in self._known:
            return weights, excess
        largest = dict(zip(orders.starts, weights.bin_weights, strict=True))
        bits = [1 << self.names.index(name) for name in orders.types]
        claimed = dict(largest)
        better: list[tuple[int, int]] = []
        for start, support, value in worths(orders, weights, total=self._is_sum):
            largest[start] = max(value, largest[start])
            if value > claimed[start]:
                types = sum(bit for place, bit in enumerate(bits) if support >> place & 1)
                better.append((value, types))
        if better:
            best = sorted(better, reverse=True)[:MOST_UNLISTED]
            self._unlisted[id(part)] = {types for _, types in best}
        bins = tuple(largest[start] for start in orders.starts)
        excess += sum(weights.bin_weights) - sum(bins)
        self._known[id(part), scale] = replace(weights, bin_weights=bins), excess
        return self._known[id(part), scale]

    def _types(self, types: int) -> tuple[str, ...]:
        return tuple(name for bit, name in enumerate(self.names) if types >> bit & 1)
