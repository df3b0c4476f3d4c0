"""A placement without foresight."""

from random import Random

import numpy as np
from hypothesis import given

from dfopt import replace
from dfopt.compare.attainable.arrivals import Arrivals
from dfopt.compare.attainable.check import check_schedule
from dfopt.compare.attainable.placement import best_placement, least_recently_used
from dfopt.compare.attainable.timed_schedule import cost_of
from dfopt.compare.attainable.waiting_limit import WaitingLimit
from tests.compare.attainable.drawn import drawn_arrivals, random_arrivals


@given(drawn_arrivals(most=12))
def test_schedules_are_valid_and_cost_at_least_the_bound(arrivals: Arrivals) -> None:
    schedule = least_recently_used(arrivals)
    assert check_schedule(arrivals, schedule, WaitingLimit()) == []
    best = best_placement(arrivals)
    assert best.bound is not None
    assert cost_of(arrivals, schedule) >= best.bound


@given(drawn_arrivals(most=12, blocks=False))
def test_without_blocks_each_dispatch_follows_the_rule(arrivals: Arrivals) -> None:
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
    arrivals = random_arrivals(Random(1), most=3, most_cpus=1, costs="counting", blocks=False)
    # The third dispatch would take CPU 0, which ended first; but the last one has room there only,
    # because of a block on the other CPU.
    arrivals = replace(
        arrivals,
        cpus=2,
        fragment=np.array([0, 1, 2, 3], np.int32),
        cpu=np.array([0, 1, 1, 0], np.int32),
        start=np.array([0, 0, 10, 11]),
        length=np.array([4, 5, 3, 9]),
        **{
            name: np.zeros(4, np.int64)
            for name in ("row", "task", "ready_from", "ready_by", "previous", "waker")
        },
        costs=replace(
            arrivals.costs,
            entry=np.ones(4, np.int64),
            **{name: np.zeros(4, np.int64) for name in ("exit", "always", "first", "last")},
        ),
        blocks=replace(
            arrivals.blocks,
            row=np.array([9]),
            cpu=np.array([1], np.int32),
            start=np.array([15]),
            end=np.array([16]),
            evicts=np.array([False]),
            **{name: np.array([0]) for name in ("entry", "exit", "first", "last")},
        ),
    )
    assert least_recently_used(arrivals).cpu.tolist() == [0, 1, 1, 0]
    short = replace(arrivals, length=np.array([4, 5, 3, 2]))
    assert least_recently_used(short).cpu.tolist() == [0, 1, 0, 1]
