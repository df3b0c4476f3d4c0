"""What supports are worth at most, against all wider supports."""

import random
from itertools import product

from dfopt.verify.support_worth import TaskWorth


def test_no_wider_support_is_worth_more() -> None:
    source = random.Random(0)
    for _ in range(300):
        types = source.randint(1, 5)
        whole = (1 << types) - 1
        entries = [source.randint(0, 9) for _ in range(types)]
        worth = TaskWorth(
            sizes=[source.randint(1, 5) for _ in range(types)],
            capacity=source.randint(1, 9),
            weights=[source.randint(-3, 6) for _ in range(types)],
            sets=[
                (source.randint(1, whole), source.randint(-9, 9))
                for _ in range(source.randint(0, 4))
            ],
        )
        for support, wider in product(range(1, whole + 1), repeat=2):
            if support & ~wider or wider.bit_count() > worth.capacity:
                continue
            new = wider ^ support
            cost = sum(entries[number] for number in range(types) if new >> number & 1)
            value = worth.of_sets(wider) + worth.of_tasks(wider) - cost
            assert value <= worth.with_more_types(support, entries)


def test_tasks_are_counted_up_to_sizes_and_capacity() -> None:
    worth = TaskWorth(sizes=[3, 4, 5], capacity=6, weights=[5, 0, 2], sets=[(0b011, 7), (0b100, 1)])
    # Three of the first type, and three of the last one.
    assert worth.of_tasks(0b101) == 15 + 6
    # One of the second type takes room.
    assert worth.of_tasks(0b111) == 15 + 4
    assert worth.of_sets(0b001) == 7
