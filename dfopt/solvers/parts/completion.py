"""Which sizes fill a given room exactly: by exchanging neighbours, or by subset sums."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate


def neighbours(pool: Sequence[int], number: int, least: int, most: int) -> list[int] | None:
    """Return so many sizes of a sum in these limits, neighbours in ``pool`` but for exchanges.

    Quick, but may miss what there is.

    Parameters
    ----------
    pool
        Sizes in ascending order.
    number
        How many are wanted.
    least, most
        The limits.
    """
    below = list(accumulate(pool, initial=0))
    windows = range(len(pool) - number + 1)
    first = bisect_right(windows, most, key=lambda one: below[one + number] - below[one]) - 1
    if first < 0:
        return None
    chosen = Counter(pool[first : first + number])
    others = Counter(pool)
    others.subtract(chosen)
    total = below[first + number] - below[first]
    while total < least:
        distinct = sorted(size for size, count in others.items() if count)
        gain, one = 0, 0
        for size in chosen:
            place = bisect_right(distinct, size + most - total)
            if place and distinct[place - 1] - size > gain:
                gain, one = distinct[place - 1] - size, size
        if not gain:
            return None
        chosen.subtract([one])
        chosen.update([one + gain])
        others.update([one])
        others.subtract([one + gain])
        chosen += Counter()  # drops what is there no more
        total += gain
    return list(chosen.elements())


def some_of(pool: Sequence[int], least: int, most: int) -> list[int] | None:
    """Return any number of sizes of a sum in these limits, by preference the last ones.

    The bits of an integer say which sums the first sizes have.
    """
    mask = (2 << most) - 1
    sums = [1]
    for size in pool:
        if sums[-1] >> least:
            break
        sums.append(sums[-1] | sums[-1] << size & mask)
    total = sums[-1].bit_length() - 1
    if total < least:
        return None
    chosen = []
    for place in range(len(sums) - 2, -1, -1):
        size = pool[place]
        if size <= total and sums[place] >> (total - size) & 1:
            chosen.append(size)
            total -= size
    return chosen


def some_number_of(pool: Sequence[int], number: int, least: int, most: int) -> list[int] | None:
    """Return ``number`` sizes of a sum in these limits, by preference the last ones."""
    mask = (2 << most) - 1
    layers = [[1, *[0] * number]]
    for size in pool:
        before = layers[-1]
        if before[number] >> least:
            break
        longer = (
            before[count] | before[count - 1] << size & mask for count in range(1, number + 1)
        )
        layers.append([1, *longer])
    total = layers[-1][number].bit_length() - 1
    if total < least:
        return None
    chosen: list[int] = []
    for place in range(len(layers) - 2, -1, -1):
        size, count = pool[place], number - len(chosen)
        if count and size <= total and layers[place][count - 1] >> (total - size) & 1:
            chosen.append(size)
            total -= size
    return chosen
