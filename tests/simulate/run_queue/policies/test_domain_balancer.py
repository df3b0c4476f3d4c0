"""Which threads the balancer of scx_rusty moves, by hand."""

from __future__ import annotations

from itertools import count

import pytest

from dfopt.simulate.contract import Thread
from dfopt.simulate.policies.scx_rusty import balancing_moves
from dfopt.simulate.workload import NewThread


@pytest.mark.parametrize(
    ("loads", "moved"),
    [
        # Average 60: 40 too much and too little, so a load near 20 goes, and then half is given.
        ([[45, 30, 25], [20]], [(25, 1)]),
        # Loads of 10 go one by one until half of 40 has gone.
        ([[10] * 10, [20]], [(10, 1), (10, 1)]),
        # 4 % too much is near enough.
        ([[50, 50, 2, 2], [96]], []),
        ([[50, 50, 6, 6], [88]], [(6, 1)]),
        # Moved, the only thread would make the other domain the one of most load.
        ([[100], [0]], []),
        # By an average of 50 the second gives to the third. That has more than it needs then.
        ([[50], [40, 40], [20]], [(40, 2)]),
        ([[50], [40, 20, 20], [20]], [(20, 2)]),
    ],
)
def test_moves(loads: list[list[float]], moved: list[tuple[float, int]]) -> None:
    numbers = count()
    members = [[(load, new_thread(next(numbers))) for load in of_domain] for of_domain in loads]
    load_of = {thread.number: load for threads in members for load, thread in threads}
    found = [
        (load_of[thread.number], to) for thread, to in balancing_moves(members, lambda *_: True)
    ]
    assert found == moved
    assert not [*balancing_moves(members, lambda *_: False)]


def new_thread(number: int) -> Thread:
    return Thread(number, NewThread(name=f"t{number}", steps=iter(())), None, 0)
