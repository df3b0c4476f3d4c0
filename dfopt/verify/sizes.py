"""The sizes of tasks: how many CPUs they need at least, and when they do not fit at all.

Whether tasks of different sizes fit on the CPUs is a question of bin packing. A ``size-weights``
certificate answers it in the negative: no tasks that fit on a CPU weigh more than its bin weight,
and all tasks weigh more than all CPUs can hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from dfopt.errors import MethodError
from dfopt.problem.certificate import SizeWeights
from dfopt.problem.instance import Instance
from dfopt.verify.cases import UnprovenError

LARGEST_TABLE = 2_000_000
LARGEST_ROOM = 2**60
"""At most this number of table entries, and this room on a CPU."""


def least_visits(instance: Instance, tasks: int, size: int) -> int:
    """Return how many CPUs hold some of a number of tasks at least, by number and by size.

    ``size`` is that of all these tasks together, in units of ``instance.size_unit``.
    """
    if not tasks:
        return 0
    return max(-(-tasks // instance.tasks_per_cpu), -(-size // max(1, instance.room)))


def false_sizes(
    instance: Instance, certificate: SizeWeights, check: Callable[[], None] = lambda: None
) -> list[str]:
    """Return why weights do not show that the tasks do not fit; none if they do.

    Raises
    ------
    MethodError
        When the check would take too much time.
    """
    numbers = Counter[int]()
    for task in instance.tasks:
        numbers[task.size] += task.multiplicity
    weights = dict(certificate.weights)
    if len(weights) < len(certificate.weights):
        return ["certificate.weights: has a size twice"]
    unknown = [size for size in weights if size not in numbers]
    if unknown:
        return [f"certificate.weights: no task has the size {unknown[0]}"]
    if certificate.cpu_weight < 0 or min(weights.values(), default=0) < 0:
        return ["certificate: weights must not be negative"]
    worth = sum(weight * numbers[size] for size, weight in weights.items())
    held = instance.cpus * certificate.cpu_weight
    if worth <= held:
        return [f"certificate: the tasks weigh {worth}, no more than the CPUs can hold, {held}"]
    items = [(size // instance.size_unit, numbers[size], weights[size]) for size in weights]
    if has_heavier(items, certificate.cpu_weight, instance.room, check):
        return ["certificate.cpu_weight: tasks that weigh more fit on a CPU"]
    return []


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
        raise UnprovenError(f"certificate.cpu_weight: is {weight}, more than {LARGEST_TABLE - 2}")
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
