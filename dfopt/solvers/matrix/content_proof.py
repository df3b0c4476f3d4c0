"""Proofs from the program over contents: dual values as integers, and trees of cases."""

from __future__ import annotations

from collections.abc import Sequence
from operator import mul

import numpy as np

from dfopt.problem.certificate import (
    Fork,
    Leaf,
    Over,
    Proof,
    ProofRows,
    TaskClass,
    VisitCount,
)
from dfopt.problem.instance import Instance, Objective
from dfopt.solvers.integers import SCALES
from dfopt.solvers.matrix.content_search import Part
from dfopt.solvers.matrix.contents import SupportContents, SupportDuals
from dfopt.structs import replace
from dfopt.verify.support_orders import Orders
from dfopt.verify.supports import SupportWeights

MOST_UNLISTED = 50
"""At most 50 supports are added for a part that could not be excluded."""

Checked = tuple[SupportDuals, Leaf, int, set[int]]
"""The weights of a part, by how much they exceed what CPUs hold, and supports that hold more."""


class ContentProver:
    """Writes down why no schedule reaches a threshold.

    Parameters
    ----------
    instance
        The instance.
    program
        What CPUs can hold.
    names
        The names of the types.
    groups
        The group of each CPU.

    Attributes
    ----------
    base : int
        The prices of all tasks together.
    unlisted : list
        Parts that the last proof could not exclude, because of supports that are not listed.
    """

    def __init__(
        self,
        instance: Instance,
        program: SupportContents,
        names: Sequence[str],
        groups: Sequence[int],
    ) -> None:
        self.instance = instance
        self.program = program
        self.names = names
        self.groups = groups
        self._is_sum = instance.objective is Objective.TOTAL_PENALTY
        self._prices = program.listing.prices
        self.base = sum(map(mul, program.listing.problem.sizes, self._prices))
        self.unlisted: list[tuple[Part, set[int]]] = []
        self._rows = ProofRows(Over.SUPPORTS)
        self._rows.all_of(
            TaskClass(type=name, least_cost=price)
            for name, price in zip(names, self._prices, strict=True)
        )
        self._types: dict[int, int] = {}  # what is counted, by the number of the count
        self._known: dict[tuple[int, int], Checked] = {}

    def proof(self, part: Part, threshold: int) -> Proof | None:
        """Return why no schedule is within ``threshold``; None if that cannot be shown."""
        self.unlisted = []
        budget = threshold * (1 if self._is_sum else self.instance.cpus)
        orders = Orders(self.instance, threshold, self.program.check)
        leaves = {
            id(case): self._leaf(case, budget, orders) for case in part.in_order() if not case.parts
        }
        known = {case: leaf for case, leaf in leaves.items() if leaf is not None}
        if len(known) < len(leaves):
            return None
        nodes = part.nodes(
            lambda case: not case.parts,
            lambda case: known[id(case)],
            lambda types, most: Fork(count=self._visits(types), at_most=most),
        )
        return self._rows.proof(nodes, threshold)

    def _leaf(self, part: Part, budget: int, orders: Orders) -> Leaf | None:
        """Return why no schedule of a part is within the budget; None if that cannot be shown."""
        duals = part.weights
        assert duals is not None
        for scale in SCALES:
            needed = round(duals.cost * scale) * (budget - self.base)
            key = id(duals), scale
            if key not in self._known:
                leaf, excess = self._weighed(part, duals, scale)
                if excess <= needed:
                    continue
                self._known[key] = duals, *self._with_unlisted(leaf, excess, orders)
            _, leaf, excess, better = self._known[key]
            if excess > needed:
                return leaf
            if better:  # first these have to be listed
                self.unlisted.append((part, better))
                break
        return None

    def _weighed(self, part: Part, duals: SupportDuals, scale: int) -> tuple[Leaf, int]:
        """Return the weights of a part, and by how much they exceed what the CPUs are worth.

        Prices of tasks and the costs that they stand for are left out, and supports that are not
        listed.
        """
        program = self.program
        rounded = duals.rounded(scale)
        sets = sorted(rounded.features.items())
        worth = sum(map(mul, rounded.weights, map(int, program.sizes)))
        for types, weight in sets:
            least, most = program.touching(types, part.limits)
            worth += weight * (least if weight > 0 else most)
        largest = [gain.max() for gain in program.gains(rounded)]
        claims = [int(np.ceil(most)) if most > -np.inf else 0 for most in largest]
        pairs = zip(rounded.weights, self._prices, strict=True)
        weights = [weight + rounded.cost * price for weight, price in pairs]
        leaf = Leaf(
            scale=rounded.cost,
            weights=tuple((number, weight) for number, weight in enumerate(weights) if weight),
            prices=tuple((self._visits(types), weight) for types, weight in sets if weight),
            bin_weights=tuple(claims[group] for group in self.groups),
        )
        return leaf, worth - sum(leaf.bin_weights)

    def _with_unlisted(self, leaf: Leaf, excess: int, orders: Orders) -> tuple[Leaf, int, set[int]]:
        """Return the same with all supports, and those of them that are worth most."""
        numbers = [self.names.index(name) for name in orders.types]
        own = dict(leaf.weights)

        def there(types: int) -> int:
            """Return types as the checker numbers them."""
            return sum(1 << place for place, own in enumerate(numbers) if types >> own & 1)

        weights = SupportWeights(
            weights=[own.get(number, 0) for number in numbers],
            least_costs=tuple(self._prices[number] for number in numbers),
            sets=[(there(self._types[number]), price) for number, price in leaf.prices],
            scale=leaf.scale,
        )
        largest = dict(zip(orders.starts, leaf.bin_weights, strict=True))
        claimed = dict(largest)
        better: list[tuple[int, int]] = []
        for start, support, value in weights.worths(
            orders, leaf.bin_weights, is_total=self._is_sum
        ):
            largest[start] = max(value, largest[start])
            if value > claimed[start]:
                types = sum(1 << own for bit, own in enumerate(numbers) if support >> bit & 1)
                better.append((value, types))
        best = sorted(better, reverse=True)[:MOST_UNLISTED]
        bins = tuple(largest[start] for start in orders.starts)
        excess += sum(leaf.bin_weights) - sum(bins)
        return replace(leaf, bin_weights=bins), excess, {types for _, types in best}

    def _visits(self, types: int) -> int:
        """Return the number of the count of CPUs that run any of some types."""
        classes = tuple(bit for bit in range(len(self.names)) if types >> bit & 1)
        number = self._rows.count(VisitCount(classes=classes))
        self._types[number] = types
        return number
