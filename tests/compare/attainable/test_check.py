"""The checker of schedules: recorded and cheapest schedules pass, and each broken rule is named."""

from random import Random

import numpy as np
import pytest
from hypothesis import given

from dfopt import replace
from dfopt.compare.attainable.arrivals import NONE, Arrivals
from dfopt.compare.attainable.check import MOST_NAMED, check_schedule, checked_cost
from dfopt.compare.attainable.timed_schedule import (
    TimedSchedule,
    cost_of,
    recorded_schedule,
    waits_of,
)
from dfopt.compare.attainable.waiting_limit import WaitingLimit
from tests.compare.attainable.drawn import drawn_cases, random_arrivals, random_limit
from tests.compare.attainable.enumeration import cheapest_schedule

FREE = WaitingLimit()


def moved(schedule: TimedSchedule, j: int, start: int, cpu: int | None = None) -> TimedSchedule:
    starts, cpus = schedule.start.copy(), schedule.cpu.copy()
    starts[j] = start
    if cpu is not None:
        cpus[j] = cpu
    return TimedSchedule(cpu=cpus, start=starts)


def found(seed: int, wanted: str, **options: object) -> tuple[Arrivals, TimedSchedule]:
    """Return drawn arrivals that have a dispatch with some ``wanted`` property."""
    for number in range(seed, seed + 1000):
        arrivals = random_arrivals(Random(number), zero_lengths=False, **options)
        if (getattr(arrivals, wanted) != NONE).any():
            return arrivals, recorded_schedule(arrivals)
    raise AssertionError(wanted)


@given(drawn_cases(budgets=True))
def test_the_recorded_schedule_keeps_all_rules(case: tuple[Arrivals, WaitingLimit]) -> None:
    arrivals, limit = case
    schedule = recorded_schedule(arrivals)
    assert check_schedule(arrivals, schedule, limit) == []
    assert checked_cost(arrivals, schedule) == cost_of(arrivals, schedule)


@pytest.mark.slow
def test_cheapest_schedules_keep_all_rules() -> None:
    """Both definitions of the cost agree with what the enumeration added up."""
    cheaper = 0
    for seed in range(500):
        random = Random(seed)
        arrivals = random_arrivals(random, most=6)
        limit = random_limit(random, arrivals, budgets=bool(seed % 2))
        found = cheapest_schedule(arrivals, limit)
        assert found is not None
        least, schedule = found
        assert check_schedule(arrivals, schedule, limit) == []
        cost = cost_of(arrivals, schedule)
        assert checked_cost(arrivals, schedule) == cost
        assert cost == least or (cost > least and arrivals.length.min() == 0)
        cheaper += least < cost_of(arrivals, recorded_schedule(arrivals))
    assert cheaper > 100


def test_a_dispatch_that_starts_before_it_is_ready() -> None:
    arrivals, schedule = found(0, "previous", blocks=False)
    wrong = moved(schedule, 0, int(arrivals.ready_by[0]) - 1)
    [problem] = check_schedule(arrivals, wrong, FREE)
    assert "row 1 " in problem
    assert f"ready only at {arrivals.ready_by[0]}" in problem


@pytest.mark.parametrize(("column", "words"), [("previous", "same task"), ("waker", "wakes it")])
def test_a_dispatch_that_starts_before_what_it_follows(column: str, words: str) -> None:
    arrivals, schedule = found(3, column, blocks=False)
    j = int(np.flatnonzero(getattr(arrivals, column) != NONE)[0])
    before = int(getattr(arrivals, column)[j])
    wrong = moved(schedule, before, int(schedule.start[j] + 1))
    problems = check_schedule(arrivals, wrong, FREE)
    assert any(words in text and f"row {arrivals.row[j]} " in text for text in problems)


def test_a_dispatch_that_starts_too_late() -> None:
    arrivals, schedule = found(5, "previous", blocks=False)
    j = len(arrivals) - 1
    later = int(schedule.start[j]) + 1
    wrong = moved(schedule, j, later)
    fixed = replace(arrivals, latest=np.minimum(arrivals.latest, arrivals.start))
    assert check_schedule(arrivals, wrong, FREE) == []
    [problem] = check_schedule(fixed, wrong, FREE)
    assert f"at {later - 1} at the latest" in problem
    last = int(arrivals.latest_starts(2)[j])
    assert check_schedule(arrivals, moved(schedule, j, last), WaitingLimit(each=2)) == []
    [problem] = check_schedule(arrivals, moved(schedule, j, last + 1), WaitingLimit(each=2))
    assert f"has to start by {last}" in problem


def test_dispatches_that_wait_too_long_together() -> None:
    arrivals, schedule = found(5, "previous", blocks=False)
    waits = waits_of(arrivals, schedule)
    j = len(arrivals) - 1
    later = moved(schedule, j, int(schedule.start[j]) + 100)
    total = int(waits.sum())
    assert check_schedule(arrivals, later, WaitingLimit(total=total + 100)) == []
    [problem] = check_schedule(arrivals, later, WaitingLimit(total=total + 99))
    assert f"wait for {total + 100} together" in problem
    long = int((waits > 3).sum())
    assert check_schedule(arrivals, later, WaitingLimit(long=3, most_long=long + 1)) == []
    [problem] = check_schedule(arrivals, later, WaitingLimit(long=99 + waits[j], most_long=0))
    assert problem.startswith("1 dispatches wait longer")


def test_two_dispatches_at_once_on_a_cpu() -> None:
    arrivals, schedule = found(5, "previous", blocks=False, most_cpus=1)
    start = schedule.start.copy()
    start[-1] = start[-2] + arrivals.length[-2] - 1
    wrong = replace(schedule, start=start)
    problems = check_schedule(replace(arrivals, ready_by=arrivals.ready_by * 0), wrong, FREE)
    assert any(
        f"row {arrivals.row[-1]} starts" in text and f"row {arrivals.row[-2]} takes" in text
        for text in problems
    )


def test_a_dispatch_within_a_block() -> None:
    for seed in range(100):
        arrivals = random_arrivals(Random(seed), zero_lengths=False)
        if len(arrivals.blocks.start):
            break
    blocks = arrivals.blocks
    wrong = moved(recorded_schedule(arrivals), 0, int(blocks.end[-1]) - 1, int(blocks.cpu[-1]))
    problems = check_schedule(arrivals, wrong, FREE)
    assert any("something that keeps its place takes until" in text for text in problems)


def test_cpus_that_do_not_exist_and_dispatches_that_are_missing() -> None:
    arrivals, schedule = found(0, "previous")
    [problem] = check_schedule(arrivals, replace(schedule, cpu=schedule.cpu * 0 + 7), FREE)[:1]
    assert f"CPU 7 of a trace with {arrivals.cpus} CPUs" in problem
    [problem] = check_schedule(arrivals, replace(schedule, start=schedule.start[1:]), FREE)
    assert f"{len(arrivals) - 1} starts for {len(arrivals)} dispatches" in problem


def many(dispatches: int) -> Arrivals:
    """Return dispatches one after the other on each of 8 CPUs."""
    numbers = np.arange(dispatches)
    arrivals = random_arrivals(Random(1), blocks=False, costs="f")
    no_one = np.full(dispatches, NONE)
    costs = {
        name: np.ones(dispatches, np.int64) for name in ("entry", "exit", "always", "first", "last")
    }
    return replace(
        arrivals,
        cpus=8,
        row=numbers,
        fragment=numbers // 16 % 3,
        task=numbers,
        cpu=numbers % 8,
        start=numbers // 8 * 10,
        length=np.full(dispatches, 10),
        ready_from=numbers // 8 * 10,
        ready_by=numbers // 8 * 10,
        previous=no_one,
        previous_end=np.zeros(dispatches, np.int64),
        waker=no_one,
        waker_offset=np.zeros(dispatches, np.int64),
        continues=np.zeros(dispatches, np.bool_),
        latest=np.full(dispatches, np.iinfo(np.int64).max),
        costs=replace(arrivals.costs, **costs),
        cut_cpu=np.array([3], np.int32),
        cut_time=np.array([100]),
    )


def test_many_dispatches() -> None:
    """1,000 dispatches of each CPU change fragment after every second one."""
    arrivals = many(8_000)
    schedule = recorded_schedule(arrivals)
    assert check_schedule(arrivals, schedule, WaitingLimit(each=0)) == []
    # First, last, always after each but the last, exit and entry at 499 changes; one is cut.
    assert checked_cost(arrivals, schedule) == 8 * (1 + 1 + 999 + 2 * 499) - 3
    problems = check_schedule(arrivals, replace(schedule, start=schedule.start - 1), FREE)
    assert len(problems) == MOST_NAMED + 1
    assert problems[-1] == f"The same holds for {8_000 - MOST_NAMED} other dispatches."


def test_blocks_may_overlap_each_other() -> None:
    drawn = (random_arrivals(Random(seed), zero_lengths=False) for seed in range(1000))
    arrivals = next(arrivals for arrivals in drawn if len(arrivals.blocks.cpu))
    blocks = arrivals.blocks
    columns = {name: np.repeat(getattr(blocks, name), 2) for name in blocks.__dataclass_fields__}
    twice = replace(arrivals, blocks=replace(blocks, **columns))
    schedule = recorded_schedule(twice)
    assert check_schedule(twice, schedule, FREE) == []
    # A dispatch that runs into one of them is still found.
    within = replace(schedule, cpu=schedule.cpu.copy(), start=schedule.start.copy())
    within.cpu[0], within.start[0] = blocks.cpu[0], blocks.start[0]
    problems = check_schedule(twice, within, FREE)
    assert any("something that keeps its place" in problem.lower() for problem in problems)
