"""The checker of schedules: recorded and cheapest schedules pass, and each broken rule is named."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfopt import replace
from dfopt.compare import CostModel
from dfopt.compare.attainable.check import MOST_NAMED, WaitingLimit, check_schedule, checked_cost
from dfopt.compare.dispatches import NONE, Dispatches
from dfopt.compare.paid import charges_of, cost_of
from tests.compare.attainable.drawn import (
    drawn_arrivals,
    drawn_cases,
    random_arrivals,
    random_limit,
)
from tests.compare.attainable.enumeration import cheapest_schedule
from tests.compare.attainable.tables import COSTS, table

FREE = WaitingLimit()


def moved(schedule: Dispatches, j: int, start: int, cpu: int | None = None) -> Dispatches:
    starts, cpus = schedule.start.copy(), schedule.cpu.copy()
    starts[j] = start
    if cpu is not None:
        cpus[j] = cpu
    return schedule.moved(cpus, starts)


def found(seed: int, wanted: str, **options: object) -> tuple[Dispatches, Dispatches]:
    """Return drawn arrivals that have a dispatch with some ``wanted`` property."""
    for number in range(seed, seed + 1000):
        arrivals = random_arrivals(Random(number), zero_lengths=False, **options)
        if (getattr(arrivals, wanted) != NONE).any():
            return arrivals, arrivals
    raise AssertionError(wanted)


@given(drawn_cases(budgets=True))
def test_the_recorded_schedule_keeps_all_rules(case: tuple[Dispatches, WaitingLimit]) -> None:
    arrivals, limit = case
    schedule = arrivals
    assert check_schedule(schedule, limit) == []
    assert checked_cost(schedule) == cost_of(schedule)


@given(drawn_arrivals(most=12), st.randoms(use_true_random=False))
def test_any_schedule_is_charged_what_the_checker_adds_up(
    recorded: Dispatches, random: Random
) -> None:
    """Whether it is a possible one or not: the recorded table on other CPUs, at other times."""
    count = len(recorded)
    cpu = np.array([random.randrange(recorded.cpus) for _ in range(count)])
    schedule = recorded.moved(cpu, np.array([random.randint(0, 40) for _ in range(count)]))
    assert checked_cost(schedule) == cost_of(schedule)
    assert charges_of(schedule.paying, CostModel()).cost.sum() == cost_of(schedule)
    # What is fixed is a dispatch like any other.
    assert cost_of(schedule.with_fixed) == cost_of(schedule)


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
        assert check_schedule(schedule, limit) == []
        cost = cost_of(schedule)
        assert checked_cost(schedule) == cost
        assert cost == least or (cost > least and arrivals.length.min() == 0)
        cheaper += least < cost_of(arrivals)
    assert cheaper > 100


def test_a_dispatch_that_starts_before_it_is_ready() -> None:
    arrivals, schedule = found(0, "previous", blocks=False)
    wrong = moved(schedule, 0, int(arrivals.ready_by[0]) - 1)
    [problem] = check_schedule(wrong, FREE)
    assert "row 1 " in problem
    assert f"ready only at {arrivals.ready_by[0]}" in problem


@pytest.mark.parametrize(("column", "words"), [("previous", "same task"), ("waker", "wakes it")])
def test_a_dispatch_that_starts_before_what_it_follows(column: str, words: str) -> None:
    arrivals, schedule = found(3, column, blocks=False)
    j = int(np.flatnonzero(getattr(arrivals, column) != NONE)[0])
    before = int(getattr(arrivals, column)[j])
    wrong = moved(schedule, before, int(schedule.start[j] + 1))
    problems = check_schedule(wrong, FREE)
    assert any(words in text and f"row {arrivals.row[j]} " in text for text in problems)


def test_a_dispatch_that_starts_too_late() -> None:
    arrivals, schedule = found(5, "previous", blocks=False)
    j = len(arrivals) - 1
    later = int(schedule.start[j]) + 1
    wrong = moved(schedule, j, later)
    assert check_schedule(wrong, FREE) == []
    latest = np.minimum(arrivals.latest, arrivals.start)
    [problem] = check_schedule(replace(wrong, latest=latest), FREE)
    assert f"at {later - 1} at the latest" in problem
    last = int(arrivals.latest_starts(2)[j])
    assert check_schedule(moved(schedule, j, last), WaitingLimit(each=2)) == []
    [problem] = check_schedule(moved(schedule, j, last + 1), WaitingLimit(each=2))
    assert f"has to start by {last}" in problem


def test_dispatches_that_wait_too_long_together() -> None:
    arrivals, schedule = found(5, "previous", blocks=False)
    waits = schedule.waits
    j = len(arrivals) - 1
    later = moved(schedule, j, int(schedule.start[j]) + 100)
    total = int(waits.sum())
    assert check_schedule(later, WaitingLimit(total=total + 100)) == []
    [problem] = check_schedule(later, WaitingLimit(total=total + 99))
    assert f"wait for {total + 100} together" in problem
    long = int((waits > 3).sum())
    assert check_schedule(later, WaitingLimit(long=3, most_long=long + 1)) == []
    [problem] = check_schedule(later, WaitingLimit(long=99 + waits[j], most_long=0))
    assert problem.startswith("1 dispatches wait longer")


def test_two_dispatches_at_once_on_a_cpu() -> None:
    arrivals, schedule = found(5, "previous", blocks=False, most_cpus=1)
    start = schedule.start.copy()
    start[-1] = start[-2] + arrivals.length[-2] - 1
    wrong = replace(schedule, start=start, ready_by=arrivals.ready_by * 0)
    problems = check_schedule(wrong, FREE)
    assert any(
        f"row {arrivals.row[-1]} starts" in text and f"row {arrivals.row[-2]} takes" in text
        for text in problems
    )


def test_a_dispatch_within_a_block() -> None:
    for seed in range(100):
        arrivals = random_arrivals(Random(seed), zero_lengths=False)
        if len(arrivals.fixed.start):
            break
    blocks = arrivals.fixed
    wrong = moved(arrivals, 0, int(blocks.end[-1]) - 1, int(blocks.cpu[-1]))
    problems = check_schedule(wrong, FREE)
    assert any("something that keeps its place takes until" in text for text in problems)


def test_cpus_that_do_not_exist() -> None:
    arrivals, schedule = found(0, "previous")
    [problem] = check_schedule(replace(schedule, cpu=schedule.cpu * 0 + 7), FREE)[:1]
    assert f"CPU 7 of a trace with {arrivals.cpus} CPUs" in problem


def many(dispatches: int) -> Dispatches:
    """Return dispatches one after the other on each of 8 CPUs."""
    numbers = np.arange(dispatches)
    return table(
        cpus=8,
        fragment=numbers // 16 % 3,
        cpu=numbers % 8,
        start=numbers // 8 * 10,
        length=10,
        previous_end=0,
        **dict.fromkeys(COSTS, 1),
        cuts=[(3, 100)],
    )


def test_many_dispatches() -> None:
    """1,000 dispatches of each CPU change fragment after every second one."""
    arrivals = many(8_000)
    schedule = arrivals
    assert check_schedule(schedule, WaitingLimit(each=0)) == []
    # First, last, always after each but the last, exit and entry at 499 changes; one is cut.
    assert checked_cost(schedule) == 8 * (1 + 1 + 999 + 2 * 499) - 3
    problems = check_schedule(replace(schedule, start=schedule.start - 1), FREE)
    assert len(problems) == MOST_NAMED + 1
    assert problems[-1] == f"The same holds for {8_000 - MOST_NAMED} other dispatches."


def test_blocks_may_overlap_each_other() -> None:
    drawn = (random_arrivals(Random(seed), zero_lengths=False) for seed in range(1000))
    arrivals = next(arrivals for arrivals in drawn if len(arrivals.fixed.cpu))
    blocks = arrivals.fixed
    twice = replace(arrivals, around=blocks.chosen(np.repeat(np.arange(len(blocks)), 2)))
    schedule = twice
    assert check_schedule(schedule, FREE) == []
    # A dispatch that runs into one of them is still found.
    within = replace(schedule, cpu=schedule.cpu.copy(), start=schedule.start.copy())
    within.cpu[0], within.start[0] = blocks.cpu[0], blocks.start[0]
    problems = check_schedule(within, FREE)
    assert any("something that keeps its place" in problem.lower() for problem in problems)
