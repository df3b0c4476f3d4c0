"""Proofs over sizes: the tasks do not fit on the CPUs, whatever that costs.

Whether tasks of different sizes fit on the CPUs is a question of bin packing. Weights answer it in
the negative: tasks that fit on a CPU weigh no more than its bin weight, and all tasks weigh more
than all CPUs can hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from dfopt.errors import MethodError
from dfopt.problem.certificate import Count, Leaf
from dfopt.verify.tree import CpuArgument, Range, UnprovenError

LARGEST_TABLE = 2_000_000
LARGEST_ROOM = 2**60
"""At most this number of table entries, and this room on a CPU."""


class SizeArgument(CpuArgument):
    """A proof over sizes; see :class:`~dfopt.verify.tree.Argument`."""

    def range_of(self, count: Count) -> Range:
        """See :meth:`~dfopt.verify.tree.Argument.range_of`."""
        raise UnprovenError("is nothing to count in sizes")

    def largest(self, leaf: Leaf, worth: int, claims: Sequence[int]) -> Sequence[int]:
        """See :meth:`~dfopt.verify.tree.CpuArgument.largest`."""
        weights = Counter[int]()
        for number, weight in leaf.weights:
            if weight < 0:
                raise UnprovenError("weights must not be negative")
            weights.update(dict.fromkeys(self.members[number], weight))
        items = Counter[tuple[int, int]]()
        for own, weight in weights.items():
            task = self.instance.tasks[own]
            items[self.instance.size_of(task), weight] += task.multiplicity
        cpus = self.instance.cpus
        held = max(0, min(claims) if claims else (worth - 1) // cpus)
        rows = [(size, number, weight) for (size, weight), number in items.items()]
        more = has_heavier(rows, held, self.instance.room, self.check)
        return [held + more] * cpus


def has_heavier(
    items: Sequence[tuple[int, int, int]],
    weight: int,
    room: int,
    check: Callable[[], None] = lambda: None,
) -> bool:
    """Return whether items that fit into the room weigh more than ``weight``, at least 0.

    Each row of ``items`` has a size, how many items have it, and the weight of each.

    Raises
    ------
    MethodError
        When the check would take too much time.
    """
    import numpy as np  # most checks do not need it

    if weight + 2 > LARGEST_TABLE:
        raise UnprovenError(f"the weight of a CPU is {weight}, more than {LARGEST_TABLE - 2}")
    if room > LARGEST_ROOM:
        raise MethodError("the sizes of tasks are too large")
    # The least size of items of each weight; the last entry is for all that weigh more.
    least = np.full(weight + 2, room + 1, np.int64)
    least[0] = 0
    for size, number, own_weight in items:
        left, bundle = number, 1
        while left and own_weight:
            check()
            taken = min(bundle, left)
            added, after = min(taken * own_weight, weight + 1), least.copy()
            more = np.minimum(least + min(taken * size, room + 1), room + 1)
            np.minimum(after[added:], more[: len(least) - added], out=after[added:])
            after[-1] = min(after[-1], more[len(least) - added - 1 :].min())
            least = after
            left -= taken
            bundle *= 2
    return int(least[-1]) <= room
