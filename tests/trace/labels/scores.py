"""The agreement of labels with the truth."""

from collections import Counter
from collections.abc import Hashable, Sequence


def adjusted_rand_index(found: Sequence[Hashable], truth: Sequence[Hashable]) -> float:
    """Return the agreement of two partitions: 1 if they are the same, about 0 by chance."""

    def pairs(counts: Counter[Hashable]) -> float:
        return sum(count * (count - 1) / 2 for count in counts.values())

    together = pairs(Counter(zip(found, truth, strict=True)))
    in_found, in_truth = pairs(Counter(found)), pairs(Counter(truth))
    by_chance = in_found * in_truth / (len(truth) * (len(truth) - 1) / 2)
    most = (in_found + in_truth) / 2
    return 1.0 if most == by_chance else (together - by_chance) / (most - by_chance)


def each_apart(found: Sequence[str | None]) -> list[Hashable]:
    """Return labels in which every task without one is a part of its own."""
    return [number if label is None else label for number, label in enumerate(found)]
