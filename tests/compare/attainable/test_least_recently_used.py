"""A placement without foresight."""

import numpy as np
from hypothesis import given

from dfopt import replace
from dfopt.compare.attainable.check import WaitingLimit, check_schedule
from dfopt.compare.attainable.placement import best_placement, least_recently_used
from dfopt.compare.dispatches import Dispatches
from dfopt.compare.paid import cost_of
from tests.compare.attainable.drawn import drawn_arrivals
from tests.compare.attainable.tables import fixed, table


@given(drawn_arrivals(most=12))
def test_schedules_are_valid_and_cost_at_least_the_bound(arrivals: Dispatches) -> None:
    schedule = least_recently_used(arrivals)
    assert check_schedule(schedule, WaitingLimit()) == []
    best = best_placement(arrivals)
    assert best.bound is not None
    assert cost_of(schedule) >= best.bound


@given(drawn_arrivals(most=12, blocks=False))
def test_without_blocks_each_dispatch_follows_the_rule(arrivals: Dispatches) -> None:
    last: dict[int, int] = {}
    end = arrivals.start + arrivals.length
    cpus = least_recently_used(arrivals).cpu.tolist()
    for dispatch in np.lexsort((arrivals.row, end, arrivals.start)).tolist():
        cpu = cpus[dispatch]
        idle = [
            other
            for other in range(arrivals.cpus)
            if other not in last or end[last[other]] <= arrivals.start[dispatch]
        ]
        holding = {
            other: end[last[other]]
            for other in idle
            if other in last and arrivals.fragment[last[other]] == arrivals.fragment[dispatch]
        }
        if holding:
            assert holding[cpu] == max(holding.values())
        elif unused := [other for other in idle if other not in last]:
            assert cpu in unused
        else:
            assert end[last[cpu]] == min(end[last[other]] for other in idle)
        last[cpu] = dispatch


def test_a_dispatch_that_would_find_no_cpu_keeps_its_own() -> None:
    # The third dispatch would take CPU 0, which ended first; but the last one has room there only,
    # because of a block on the other CPU.
    arrivals = table(
        cpus=2,
        fragment=[0, 1, 2, 3],
        cpu=[0, 1, 1, 0],
        start=[0, 0, 10, 11],
        length=[4, 5, 3, 9],
        entry=1,
        around=fixed([(1, 15, 16, False)]),
    )
    assert least_recently_used(arrivals).cpu.tolist() == [0, 1, 1, 0]
    short = replace(arrivals, length=np.array([4, 5, 3, 2]))
    assert least_recently_used(short).cpu.tolist() == [0, 1, 0, 1]
