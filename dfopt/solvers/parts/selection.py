"""CP-SAT chooses among known full groups such that share nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from ortools.sat.python import cp_model

from dfopt.solvers.parts.packing import Packing
from dfopt.solvers.parts.rules import Group, GroupRules


class SelectionModel:
    """How often each group is chosen; any solution is a schedule within the rules.

    Parameters
    ----------
    packing
        The instance.
    rules
        What is wanted: one group less is chosen, and what is left over is the last one.
    groups
        Full groups to choose from.
    """

    def __init__(self, packing: Packing, rules: GroupRules, groups: Sequence[Group]) -> None:
        self.model = cp_model.CpModel()
        self._packing = packing
        self._rules = rules
        self._groups = groups
        counts = Counter(rules.sizes)
        members = [Counter(group.sizes) for group in groups]
        self._chosen = [
            self.model.new_int_var(0, min(counts[size] // n for size, n in sizes.items()), "")
            for sizes in members
        ]
        using: dict[int, list[cp_model.LinearExprT]] = {size: [] for size in counts}
        for sizes, chosen in zip(members, self._chosen, strict=True):
            for size, number in sizes.items():
                using[size].append(number * chosen)
        for size, uses in using.items():
            self.model.add(sum(uses) <= counts[size])
        self.model.add(sum(self._chosen) == rules.wanted - 1)
        self._at_most(len(rules.sizes) - 1, [len(group.sizes) for group in groups])
        self._at_most(rules.spare, [rules.room(group) for group in groups])
        if rules.longer:
            self._at_most(rules.longer, [group.longer for group in groups])
            plain = rules.cpus - rules.longer
            self._at_most(plain, [group.cpus - group.longer for group in groups])

    def orders(self, value: Callable[[cp_model.IntVar], int]) -> list[list[int]]:
        """Return the schedule that an assignment stands for, as orders of type numbers."""
        groups = [
            group
            for group, chosen in zip(self._groups, self._chosen, strict=True)
            for _ in range(value(chosen))
        ]
        return self._packing.orders(self._rules.fill(groups))

    def _at_most(self, limit: int, uses: Sequence[int]) -> None:
        chosen = zip(uses, self._chosen, strict=True)
        self.model.add(sum(use * number for use, number in chosen if use) <= limit)
