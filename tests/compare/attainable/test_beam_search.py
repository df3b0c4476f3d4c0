"""Beam searches of sections: possible schedules, and changes that are counted as they are."""

import zlib

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dfopt import replace
from dfopt.compare.attainable.beam_search import BeamSettings, Sweep
from dfopt.compare.attainable.check import WaitingLimit, check_schedule, checked_cost
from dfopt.compare.attainable.schedule_within import schedule_within
from dfopt.compare.dispatches import NONE, Dispatches
from dfopt.native.trace import SectionLimits
from tests.compare.attainable.drawn import random_case, seeds
from tests.compare.attainable.tables import re_recorded

LONG = 3
"""A wait above this is long."""


def searched(
    arrivals: Dispatches, wait: int, dispatches: int, preferred: BeamSettings
) -> tuple[Dispatches, int, int, int]:
    """Return what one sweep makes of the recorded schedule, and the sums of all changes."""
    sweep = Sweep(arrivals, wait)
    cost = waits = long_waits = 0
    for begin in range(0, len(arrivals), max(1, dispatches // 2)):
        end = min(len(arrivals), begin + dispatches)
        found = sweep.search(begin, end, SectionLimits(long_wait=LONG), None, preferred)
        assert found is not None
        sweep.sections.put_back()
        cost, waits = cost + found.cost, waits + found.wait
        long_waits += found.long_waits
    return sweep.schedule, cost, waits, long_waits


@settings(max_examples=25, deadline=None)
@given(seeds, st.integers(1, 6), st.integers(0, 2))
def test_what_sections_change_adds_up(seed: int, dispatches: int, ahead: int) -> None:
    """Some searches see nearly nothing of what comes, so that they need their guide."""
    arrivals, _ = random_case(seed, most=12)
    wait = seed % 4
    narrow = BeamSettings(width=3, safe=1, ahead=ahead)
    schedule, cost, waits, long_waits = searched(arrivals, wait, dispatches, narrow)
    assert check_schedule(schedule, WaitingLimit(each=wait)) == []
    recorded = arrivals
    # Those of no length that start at the same time as others may change their order.
    if arrivals.length.all():
        assert checked_cost(schedule) == checked_cost(recorded) + cost
    before, after = recorded.waits, schedule.waits
    assert after.sum() == before.sum() + waits
    assert (after > LONG).sum() == (before > LONG).sum() + long_waits


def checksum(schedule: Dispatches) -> int:
    placements = np.stack([schedule.cpu, schedule.start]).astype("<i8")
    return zlib.crc32(placements.tobytes())


def moved(arrivals: Dispatches, later: int) -> Dispatches:
    """Return the same dispatches at a later time."""
    least = np.iinfo(np.int64).min
    latest = arrivals.latest
    previous_end = arrivals.previous_end
    return replace(
        re_recorded(arrivals, arrivals.start + later),
        ready_from=arrivals.ready_from + later,
        ready_by=arrivals.ready_by + later,
        previous_end=np.where(previous_end == least, least, previous_end + later),
        latest=np.where(latest == np.iinfo(np.int64).max, latest, latest + later),
        around=re_recorded(arrivals.fixed, arrivals.fixed.start + later),
        cuts=replace(arrivals.cuts, time=arrivals.cuts.time + later),
    )


@settings(max_examples=25, deadline=None)
@given(seeds, st.integers(1, 10**12))
def test_what_happens_later_costs_the_same(seed: int, later: int) -> None:
    arrivals, limit = random_case(seed, most=9)
    here = schedule_within(arrivals, limit, effort=0.02)
    there = schedule_within(moved(arrivals, later), limit, effort=0.02)
    assert (here.cpu == there.cpu).all()
    assert (here.start + later == there.start).all()


@settings(max_examples=25, deadline=None)
@given(seeds, st.randoms(use_true_random=False))
def test_names_of_tasks_do_not_matter(seed: int, random) -> None:
    arrivals, limit = random_case(seed, most=9)
    names = np.arange(int(arrivals.task.max()) + 1)
    random.shuffle(names)
    renamed = replace(arrivals, task=names[arrivals.task])
    first, second = (schedule_within(case, limit, effort=0.02) for case in (arrivals, renamed))
    assert (first.cpu == second.cpu).all()
    assert (first.start == second.start).all()


def test_a_dispatch_waits_for_what_lies_outside_its_section() -> None:
    """Sections of one dispatch: nothing can change, since all else keeps its time."""
    for seed in range(30):
        arrivals, _ = random_case(seed, most=12)
        schedule, *_ = searched(arrivals, 0, 1, BeamSettings(width=2, safe=1))
        follows = arrivals.previous != NONE
        before = arrivals.previous[follows]
        ends = schedule.start[before] + arrivals.length[before]
        assert (schedule.start[follows] >= ends).all()


@settings(max_examples=50, deadline=None)
@given(seeds, st.integers(0, 6))
def test_dispatches_that_give_way_keep_limit_and_cost(seed: int, wait: int) -> None:
    arrivals, _ = random_case(seed, most=20)
    late = Sweep(arrivals, wait, gives_way=True).schedule
    assert (late.start >= arrivals.start).all()
    assert check_schedule(late, WaitingLimit(each=wait)) == []
    assert checked_cost(late) == checked_cost(arrivals)


@given(seeds, st.integers(1, 12), st.integers(0, 11))
def test_cuts_divide_the_schedule(seed: int, distance: int, first: int) -> None:
    arrivals, _ = random_case(seed, most=40)
    cuts = Sweep(arrivals, 0).sections.cuts(min(first, distance - 1), distance)
    assert (cuts[0], cuts[-1]) == (0, len(arrivals))
    lengths = np.diff(cuts)
    assert (lengths > 0).all()
    assert (lengths <= 2 * distance).all()


ANSWERS = (
    (-2, -18, -2, 2429128979),
    (-8, -45, -4, 1509752191),
    (0, -20, 0, 4073731374),
    (-13, -286, -5, 599605710),
    (-11, -42, -4, 3676897769),
    (-30, -952, -18, 2060314539),
    (-11, -1093, -12, 2628137171),
    (-15, -174, -12, 1973273885),
    (-36, -185, -10, 1282693753),
    (-18, -69, -9, 1278951739),
    (0, -24, -5, 1586446494),
    (-32, -258, -16, 1474572338),
    (-177, -544, -18, 1350886186),
    (-96, -1106, -13, 1150777700),
    (-16, -237, -5, 1527008788),
    (-10, -150, -9, 902630355),
)
"""What one sweep finds in drawn recordings, with any compiler: by how much the cost, the sum of
waits and the number of long ones change, and a checksum of CPUs and starts."""


def test_every_compiler_gives_the_same_answers() -> None:
    for seed, answer in enumerate(ANSWERS):
        arrivals, _ = random_case(seed, most=60, most_cpus=4)
        schedule, *changes = searched(arrivals, 4, 40, BeamSettings(price=0.05))
        assert (*changes, checksum(schedule)) == answer, seed
