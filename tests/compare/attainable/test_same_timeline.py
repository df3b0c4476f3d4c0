"""The best CPUs for dispatches that keep their starts."""

from dataclasses import fields, replace
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfopt.compare import CostModel
from dfopt.compare.attainable import same_timeline
from dfopt.compare.attainable.arrivals import Arrivals, FixedBlocks, SwitchCosts, arrivals_of
from dfopt.compare.attainable.check import check_schedule
from dfopt.compare.attainable.least_recently_used import least_recently_used
from dfopt.compare.attainable.same_timeline import best_placement, improve_placement
from dfopt.compare.attainable.timed_schedule import TimedSchedule, cost_of, recorded_schedule
from dfopt.compare.attainable.waiting_limit import WaitingLimit
from dfopt.errors import DfoptError
from tests.compare.attainable.drawn import drawn_arrivals, random_arrivals, random_case
from tests.compare.attainable.enumeration import cheapest_schedule
from tests.compare.attainable.every_placement import cheapest_placement
from tests.compare.attainable.hackbench import hackbench

NO_LIMIT = WaitingLimit()


def scaled(costs: SwitchCosts, factor: int) -> SwitchCosts:
    names = ("entry", "exit", "always", "first", "last", "matrix")
    return SwitchCosts(**{name: getattr(costs, name) * factor for name in names})


@given(drawn_arrivals(most=6))
def test_placements_of_tiny_recordings_are_proven_best(arrivals: Arrivals) -> None:
    placement = best_placement(arrivals)
    assert check_schedule(arrivals, placement.schedule, NO_LIMIT) == []
    assert placement.schedule.start is arrivals.start
    best = cheapest_placement(arrivals)
    assert placement.bound == best == cost_of(arrivals, placement.schedule)


@given(drawn_arrivals(most=6), st.integers(1, 2))
def test_bounds_of_narrow_searches_hold(arrivals: Arrivals, width: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(same_timeline, "NARROW", width)
        patch.setattr(same_timeline, "MOST_CODES", 0)
        placement = best_placement(arrivals)
    assert check_schedule(arrivals, placement.schedule, NO_LIMIT) == []
    cost = cost_of(arrivals, placement.schedule)
    recorded = cost_of(arrivals, recorded_schedule(arrivals))
    assert placement.bound <= cheapest_placement(arrivals) <= cost <= recorded


@given(drawn_arrivals(blocks=False), st.randoms(use_true_random=False))
def test_names_change_nothing(arrivals: Arrivals, random: Random) -> None:
    names = list(range(arrivals.cpus))
    random.shuffle(names)
    fragments = list(range(int(arrivals.fragment.max()) + 1))
    if not arrivals.costs.matrix.size:
        random.shuffle(fragments)
    renamed = replace(
        arrivals,
        cpu=np.array(names, np.int32)[arrivals.cpu],
        fragment=np.array(fragments, np.int32)[arrivals.fragment],
    )
    assert best_placement(renamed).bound == best_placement(arrivals).bound


@given(drawn_arrivals(), st.integers(2, 10**9))
def test_costs_scale(arrivals: Arrivals, factor: int) -> None:
    blocks = arrivals.blocks
    larger = replace(
        arrivals,
        costs=scaled(arrivals.costs, factor),
        blocks=replace(
            blocks,
            entry=blocks.entry * factor,
            exit=blocks.exit * factor,
            first=blocks.first * factor,
            last=blocks.last * factor,
        ),
    )
    assert best_placement(larger).bound == factor * best_placement(arrivals).bound


@given(st.integers(0, 2**32))
def test_other_schedules_are_improved(seed: int) -> None:
    arrivals, limit = random_case(seed, most=5)
    found = cheapest_schedule(arrivals, limit)
    assert found is not None
    schedule = found[1]
    # A schedule that is the cheapest one cannot be improved.
    improved = improve_placement(arrivals, schedule)
    assert check_schedule(arrivals, improved, limit) == []
    assert (improved.start == schedule.start).all()
    cost = cost_of(arrivals, improved)
    assert cost == cheapest_placement(arrivals, schedule)
    assert found[0] <= cost <= cost_of(arrivals, schedule)


def test_a_schedule_through_a_block_is_refused() -> None:
    arrivals = random_arrivals(Random(1), blocks=False)
    blocks = replace(
        arrivals.blocks,
        row=np.array([0]),
        cpu=arrivals.cpu[:1],
        start=arrivals.start[:1],
        end=arrivals.start[:1] + arrivals.length[:1],
        evicts=np.array([False]),
        **{name: np.array([0]) for name in ("entry", "exit", "first", "last")},
    )
    with pytest.raises(DfoptError, match="overlaps with a block"):
        best_placement(replace(arrivals, blocks=blocks))


def test_a_schedule_that_overlaps_is_refused() -> None:
    random = Random(3)
    arrivals = random_arrivals(random, most_cpus=2)
    while arrivals.cpus == 1 or not len(arrivals.blocks.start):
        arrivals = random_arrivals(random, most_cpus=2)
    at_once = TimedSchedule(
        cpu=np.zeros(len(arrivals), np.int32),
        start=np.full(len(arrivals), arrivals.blocks.end.max() + 1),
    )
    with pytest.raises(DfoptError, match="two dispatches"):
        improve_placement(arrivals, at_once)


def test_the_search_can_be_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    random = Random(5)
    arrivals = random_arrivals(random, most=200, most_cpus=3, costs="f")
    monkeypatch.setattr("dfopt.compare.attainable.placement.unit_flow.NODES_PER_CHECK", 100)
    with pytest.raises(KeyboardInterrupt):
        best_placement(arrivals, interrupt)


@settings(max_examples=30)
@given(drawn_arrivals(most=5, most_cpus=5))
def test_many_cpus_are_placed_in_groups(arrivals: Arrivals) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(same_timeline, "NARROW", 1)
        patch.setattr(same_timeline, "MOST_CODES", 0)
        placement = best_placement(arrivals)
    assert check_schedule(arrivals, placement.schedule, NO_LIMIT) == []
    best = cheapest_placement(arrivals)
    assert placement.bound <= best <= cost_of(arrivals, placement.schedule)


@pytest.mark.parametrize(
    ("groups", "recorded", "best", "without_blocks"), [(4, 191, 186, 174), (16, 1914, 1908, 1875)]
)
def test_recordings_of_hackbench(
    groups: int, recorded: int, best: int, without_blocks: int
) -> None:
    """The last figures were found by another program, too."""
    arrivals = arrivals_of(hackbench(groups), CostModel())
    assert cost_of(arrivals, recorded_schedule(arrivals)) == recorded
    placement = best_placement(arrivals)
    assert check_schedule(arrivals, placement.schedule, NO_LIMIT) == []
    assert placement.bound == best == cost_of(arrivals, placement.schedule)
    assert best <= cost_of(arrivals, least_recently_used(arrivals)) <= recorded
    columns = {
        field.name: getattr(arrivals.blocks, field.name)[:0] for field in fields(FixedBlocks)
    }
    free = replace(arrivals, blocks=FixedBlocks(**columns))
    assert best_placement(free).bound == without_blocks
