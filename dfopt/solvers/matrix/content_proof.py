"""Proofs from the program over contents: dual values as integers, and trees of cases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
from dfopt.solvers.integers import SCALES, of_smallest_scale
from dfopt.solvers.matrix.content_program import ContentProgram, Masks, SupportDuals
from dfopt.solvers.matrix.content_search import Part
from dfopt.solvers.matrix.support_list import UNREACHED
from dfopt.structs import replace
from dfopt.verify.support_orders import Orders
from dfopt.verify.supports import SupportWeights

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
        self._rows = ProofRows(Over.SUPPORTS)
        self._rows.all_of(
            TaskClass(type=name, least_cost=price)
            for name, price in zip(names, listing.prices, strict=True)
        )
        self._types: dict[int, int] = {}  # what is counted, by the number of the count
        self._known: dict[tuple[int, int], tuple[Leaf, int]] = {}
        self._unlisted: dict[int, set[int]] = {}

    def forget(self, part: Part) -> None:
        """Forget the weights of a part."""
        for scale in SCALES:
            self._known.pop((id(part), scale), None)
        self._unlisted.pop(id(part), None)

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
        if duals is None:
            return None

        def attempt(scale: int) -> Leaf | None:
            needed = round(duals.unit * scale) * (budget - self.base)
            leaf, excess = self._weighed(part, duals, scale)
            if excess > needed:
                leaf, excess = self._with_unlisted(part, scale, leaf, excess, orders)
            return leaf if excess > needed else None

        def scales() -> Iterator[int]:
            for scale in SCALES:
                yield scale
                if id(part) in self._unlisted:
                    return  # first these have to be listed

        leaf = of_smallest_scale(attempt, scales())
        if leaf is None and id(part) in self._unlisted:
            self.unlisted.append((part, self._unlisted[id(part)]))
        return leaf

    def _weighed(self, part: Part, duals: SupportDuals, scale: int) -> tuple[Leaf, int]:
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
        weights = (
            (number, weight + unit * price)
            for number, (weight, price) in enumerate(
                zip(tasks, program.listing.prices, strict=True)
            )
        )
        leaf = Leaf(
            scale=unit,
            weights=tuple((number, weight) for number, weight in weights if weight),
            prices=tuple((self._visits(types), weight) for types, weight in sets.items()),
            bin_weights=tuple(claims[group] for group in self.groups),
        )
        return leaf, worth - sum(leaf.bin_weights)

    def _with_unlisted(
        self, part: Part, scale: int, leaf: Leaf, excess: int, orders: Orders
    ) -> tuple[Leaf, int]:
        """Return the same where supports that are not listed are worth more."""
        if (id(part), scale) in self._known:
            return leaf, excess
        numbers = [self.names.index(name) for name in orders.types]
        own = dict(leaf.weights)

        def there(types: int) -> int:
            """Return types as the checker numbers them."""
            return sum(1 << place for place, own in enumerate(numbers) if types >> own & 1)

        weights = SupportWeights(
            weights=[own.get(number, 0) for number in numbers],
            least_costs=tuple(self.program.listing.prices[number] for number in numbers),
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
        if better:
            best = sorted(better, reverse=True)[:MOST_UNLISTED]
            self._unlisted[id(part)] = {types for _, types in best}
        bins = tuple(largest[start] for start in orders.starts)
        excess += sum(leaf.bin_weights) - sum(bins)
        self._known[id(part), scale] = replace(leaf, bin_weights=bins), excess
        return self._known[id(part), scale]

    def _visits(self, types: int) -> int:
        """Return the number of the count of CPUs that run any of some types."""
        classes = tuple(bit for bit in range(len(self.names)) if types >> bit & 1)
        number = self._rows.count(VisitCount(classes=classes))
        self._types[number] = types
        return number
