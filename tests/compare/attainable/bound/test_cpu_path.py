"""The cheapest path of a CPU, compared with one that looks at each unit of time."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import numpy as np
import pytest

from dfopt.compare.attainable.bound.cpu_path import LATER, cheapest_path

END = 9
ENTRY = 3
SEEDS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Conditions (fragment, begin, end, price), services (fragment, first, last, length, price).

    The services are ordered by their first start.
    """

    conditions: list[tuple[int, int, int, int]]
    services: list[tuple[int, int, int, int, int]]
    blocks: list[tuple[int, int]]


def random_prices(random: Random) -> Prices:
    """Draw prices that reward no entry by more than it costs."""
    conditions = []
    left = np.full((2, END + 1), ENTRY)
    for _ in range(random.randint(0, 5)):
        fragment, begin, end = random.randint(0, 1), *sorted(random.choices(range(END), k=2))
        most = int(left[fragment, begin + 1 : end + 1].min(initial=2 * ENTRY))
        price = random.randint(0, most)
        left[fragment, begin + 1 : end + 1] -= price
        conditions.append((fragment, begin, end, price))
    services = []
    for _ in range(random.randint(0, 4)):
        first, last = sorted(random.choices(range(END), k=2))
        services.append(
            (random.randint(0, 1), first, last, random.randint(1, 4), random.randint(1, 5))
        )
    begin, end = sorted(random.choices(range(END), k=2))
    return Prices(
        conditions=conditions,
        services=sorted(services, key=lambda service: service[1]),
        blocks=[(begin, end)] if begin < end and random.random() < 0.5 else [],
    )


def price_by_units(prices: Prices) -> int:
    """Return the least price, going through each unit of time.

    No service follows itself, not even in another visit.
    """
    longest = max((service[3] for service in prices.services), default=0)
    # For each time: the least price of (fragment held, last service).
    states: list[dict[tuple[int, int], int]] = [{} for _ in range(END + longest + 2)]
    states[0] = {(0, -1): 0, (1, -1): 0}

    def put(time: int, state: tuple[int, int], price: int) -> None:
        states[time][state] = min(price, states[time].get(state, LATER))

    def seen(fragment: int, first: int, end: int) -> int:
        return sum(
            price
            for own, begin, _, price in prices.conditions
            if own == fragment and first <= begin < end
        )

    for time in range(END + 1):
        for fragment in (0, 1, 0):
            # A visit may also end as soon as it begins.
            for (held, last), price in list(states[time].items()):
                entered = sum(
                    reward
                    for own, begin, end, reward in prices.conditions
                    if own == fragment and begin < time <= end
                )
                if held != fragment:
                    put(time, (fragment, last), price + ENTRY - entered)
        for (fragment, last), price in list(states[time].items()):
            put(time + 1, (fragment, last), price - seen(fragment, time, time + 1))
            for number, (own, first, latest, length, reward) in enumerate(prices.services):
                ends = time + length
                free = all(ends <= begin or time >= end for begin, end in prices.blocks)
                if own == fragment and number != last and first <= time <= latest and free:
                    put(ends, (fragment, number), price - reward - seen(fragment, time, ends))
    return min(
        price - seen(fragment, time, END + longest + 2)
        for time, found in enumerate(states)
        for (fragment, _), price in found.items()
    )


def found_price(prices: Prices) -> int:
    steps = sorted(
        [(begin + 1, fragment, price, 0) for fragment, begin, _, price in prices.conditions]
        + [(end + 1, fragment, 0, price) for fragment, _, end, price in prices.conditions]
    )
    services = np.array(prices.services, np.int64).reshape(-1, 5).T.copy()
    blocks = np.array(prices.blocks, np.int64).reshape(-1, 2).T.copy()
    none = np.zeros(2, np.int64)
    price, rows, fragments, begins = cheapest_path(
        *services, *np.array(steps, np.int64).reshape(-1, 4).T.copy(),
        none + ENTRY, none, none, none, *blocks,
    )  # fmt: skip
    assert len(fragments) == len(begins) > 0
    assert set(rows.tolist()) <= set(range(len(prices.services)))
    return int(price)


@pytest.mark.parametrize("part", range(4))
def test_no_path_is_cheaper(part: int) -> None:
    equal = 0
    for seed in range(SEEDS * part, SEEDS * (part + 1)):
        prices = random_prices(Random(seed))
        most = price_by_units(prices)
        found = found_price(prices)
        # It may be cheaper where a service follows itself in another visit.
        assert found <= most, seed
        equal += found == most
    assert equal > 0.9 * SEEDS
