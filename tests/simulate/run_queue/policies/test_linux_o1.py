"""The O(1) scheduler, by hand: its priorities and time slices; the unit is a millisecond."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfopt.errors import DfoptError
from dfopt.problem.penalties import PenaltyF, PenaltyG
from dfopt.simulate.caches import penalty_caches
from dfopt.simulate.contract import State, Why
from dfopt.simulate.kernel import Kernel
from dfopt.simulate.policies.linux_o1 import HIGHEST, NEVER, PRIORITIES, Entity, LinuxO1, RunQueue
from dfopt.simulate.scenario import Machine, Scenario
from dfopt.simulate.simulation import Simulation, simulate_once
from dfopt.simulate.steps import Sleep, Spawn, Yield
from dfopt.simulate.workload import Burst, NewThread, Step, Workload
from tests.simulate.run_queue.hand_made import Make, order, places, simulated
from tests.simulate.run_queue.programs import Programs, check_counters, check_trace, programs
from tests.simulate.run_queue.small_times import MILLISECONDS, Queues, small_times, thread


def run(make: Make, *, cpus: int = 1, **parameters: Any) -> Simulation:
    return simulated(LinuxO1, make, cpus=cpus, **(MILLISECONDS | parameters))


def entity(done: Simulation, name: str) -> Entity:
    own = next(thread.own for thread in done.engine.threads if thread.name == name)
    assert isinstance(own, Entity)
    return own


# Time slices and arrays.


@pytest.mark.parametrize(
    ("nice", "time_slice"), [(-20, 800), (-1, 420), (0, 100), (1, 95), (10, 50), (19, 5)]
)
def test_time_slices_follow_from_nice(nice: int, time_slice: int) -> None:
    done = run(lambda: [thread("t", Burst(1), nice=nice)])
    assert entity(done, "t").time_slice == time_slice


def test_a_sleeper_that_has_used_up_its_slice_wakes_up_with_a_new_one() -> None:
    done = run(lambda: [thread("a", Burst(100), Sleep(1), Burst(250)), thread("b", Burst(300))])
    assert places(done, "a") == [(0, 0), (0, 200), (0, 400), (0, 600)]


def test_slices_of_two_nice_values_alternate() -> None:
    done = run(lambda: [thread("a", Burst(250)), thread("b", Burst(250), nice=10)])
    # 100 and 50 in turn: a ends at 350, and b has the CPU for itself until 500.
    assert [start for _, start in places(done, "a")] == [0, 150, 300]
    assert [start for _, start in places(done, "b")] == [100, 250, 350]
    assert done.counters.end == 500


def test_a_negative_nice_has_four_times_the_slice() -> None:
    make = [thread("a", Burst(600), nice=-5), thread("b", Burst(600), nice=-5)]
    # Four times 100 times 25/20; Linux 2.6.4 itself had 10 + 190 * 24/39 = 126.
    assert places(run(lambda: make), "a") == [(0, 0), (0, 1000)]


def test_who_sleeps_for_60_preempts() -> None:
    done = run(
        lambda: [thread("hog", Burst(300)), thread("sleeper", Burst(10), Sleep(60), Burst(5))]
    )
    # A sleep average of 60 times 10 is a bonus of 6, and 120 + 5 - 6 = 119 is before 125.
    assert places(done, "sleeper") == [(0, 100), (0, 170)]
    assert entity(done, "sleeper").priority == 119


def test_an_epoch_begins_without_anybody_expired() -> None:
    queue = RunQueue(0)
    queue.expired_since, queue.best_expired = 5, HIGHEST
    queue.swap()
    assert (queue.expired_since, queue.best_expired) == (NEVER, PRIORITIES)


def test_the_most_urgent_list_is_first_and_each_list_is_first_in_first_out() -> None:
    done = run(
        lambda: [
            thread("now", Burst(5)),
            thread("lazy", Burst(5), nice=5),
            thread("first", Burst(5)),
            thread("second", Burst(5)),
            thread("urgent", Burst(5), nice=-5),
        ]
    )
    assert order(done) == ["now", "urgent", "first", "second", "lazy"]


def test_time_slices_are_taken_in_turn() -> None:
    done = run(lambda: [thread("a", Burst(250)), thread("b", Burst(250))])
    assert places(done, "a") == [(0, 0), (0, 200), (0, 400)]
    assert places(done, "b") == [(0, 100), (0, 300), (0, 450)]


def test_an_expired_thread_waits_for_less_urgent_ones() -> None:
    done = run(lambda: [thread("a", Burst(150)), thread("b", Burst(7), nice=19)])
    # Five of b's seven, then both arrays are swapped.
    assert places(done, "b") == [(0, 100), (0, 155)]


def test_a_yield_goes_to_the_expired_array() -> None:
    done = run(
        lambda: [thread("a", Burst(1), Yield(), Burst(1)), thread("b", Burst(3), nice=19)],
    )
    assert order(done) == ["a", "b", "a"]


def test_a_yield_at_the_end_of_a_slice_gives_a_new_one() -> None:
    done = run(
        lambda: [thread("a", Burst(100), Yield(), Burst(150)), thread("b", Burst(10))],
    )
    assert places(done, "a") == [(0, 0), (0, 110)]
    again = run(
        lambda: [thread("a", Burst(100), Yield(), Burst(150)), thread("b", Burst(150))],
    )
    assert places(again, "a") == [(0, 0), (0, 200), (0, 350)]


# The sleep average.


@pytest.mark.parametrize(("sleep", "begins"), [(9, 90), (10, 11), (50, 51)])
def test_a_sleeper_preempts_once_it_has_earned_a_bonus(sleep: int, begins: int) -> None:
    done = run(
        lambda: [thread("sleeper", Burst(1), Sleep(sleep), Burst(1)), thread("hog", Burst(89))]
    )
    assert places(done, "sleeper") == [(0, 0), (0, begins)]


def test_a_preempted_thread_stays_in_front() -> None:
    done = run(
        lambda: [
            thread("sleeper", Burst(1), Sleep(50), Burst(1)),
            thread("hog", Burst(120)),
            thread("next", Burst(10)),
        ]
    )
    # The hog has run 50 when it is preempted, and has the rest of its slice.
    assert places(done, "hog") == [(0, 1), (0, 52), (0, 112)]
    assert places(done, "next") == [(0, 102)]


@pytest.mark.parametrize(("sleep", "average"), [(30, 300), (799, 1000), (800, 900)])
def test_long_sleeps_leave_something_to_be_earned(sleep: int, average: int) -> None:
    done = run(lambda: [thread("t", Burst(1), Sleep(sleep), Yield())])
    assert entity(done, "t").average == average


def test_a_bonus_is_lost_by_running_the_slower_the_larger_it_is() -> None:
    done = run(lambda: [thread("t", Burst(1), Sleep(50), Burst(50), Sleep(0))])
    # 50 asleep, 10-fold; 50 run, a fifth of it for a bonus of 5.
    assert entity(done, "t").average == 500 - 10


# Interactive threads.


@pytest.mark.parametrize(
    ("starvation_limit", "nice", "goes_on"),
    [(1000, 0, True), (50, 0, True), (40, 0, False), (0, 0, True), (1000, 5, False)],
)
def test_interactive_threads_stay_active_unless_the_expired_starve(
    starvation_limit: int, nice: int, goes_on: bool
) -> None:
    done = run(
        lambda: [
            thread("sleeper", Burst(1), Sleep(150), Burst(140), nice=nice),
            thread("expired", Burst(300)),
            thread("hog", Burst(300)),
        ],
        starvation_limit=starvation_limit,
    )
    # One expires at 101. The sleeper wakes up at 151 and its slice ends at 250 (75 long: 225),
    # when three wait in the queue: they starve when 149 is three times the limit, or more. A
    # sleeper that is less urgent than the expired one by its nice goes behind it in any case.
    assert (len(places(done, "sleeper")) == 2) == goes_on


def test_interactive_threads_of_one_priority_take_turns() -> None:
    def sleeper(name: str) -> NewThread:
        return thread(name, Burst(1), Sleep(100), Burst(25))

    done = run(lambda: [sleeper("a"), sleeper("b"), thread("hog", Burst(150))])
    # One of the first turn's ten has been run before.
    assert places(done, "a")[1:] == [(0, 101), (0, 119), (0, 139)]
    assert places(done, "b")[1:] == [(0, 110), (0, 129), (0, 145)]


@pytest.mark.parametrize(("nice", "interactive"), [(-20, 103), (0, 118), (19, 133)])
def test_less_urgent_threads_need_more_to_be_interactive(nice: int, interactive: int) -> None:
    done = run(lambda: [thread("t", Burst(1), nice=nice)])
    assert entity(done, "t").interactive == interactive


@pytest.mark.parametrize(
    ("bonus", "cpus", "left", "turn"),
    [
        (10, 1, 100, 10),
        (10, 2, 100, 20),
        (8, 1, 100, 20),
        (8, 1, 90, 10),
        # What would be left afterwards is shorter than a turn.
        (6, 1, 100, 100),
    ],
)
def test_turns_get_longer_with_less_bonus_and_more_cpus(
    bonus: int, cpus: int, left: int, turn: int
) -> None:
    queues = Queues(LinuxO1(**MILLISECONDS), cpus)
    one = queues.add("t", 0)
    own = one.own
    assert isinstance(own, Entity)
    own.priority, own.bonus, own.left = own.interactive, bonus, left
    assert queues.policy.slice(one, 0) == turn


# Children.


def family(child: int, *rest: Burst | Step) -> Make:
    return lambda: [thread("parent", Burst(40), Spawn(thread("child", Burst(child))), *rest)]


def test_a_child_starts_on_its_parents_cpu_with_half_of_its_slice() -> None:
    done = run(family(100, Burst(100)), cpus=2, idle_rebalance_interval=1000)
    # 60 are left when it is made.
    assert places(done, "parent") == [(0, 0), (0, 100)]
    assert places(done, "child") == [(0, 70), (0, 170)]


def test_a_child_that_is_made_at_the_end_of_a_slice_has_the_shortest_one() -> None:
    def make() -> list[NewThread]:
        child = thread("child", Burst(150))
        return [thread("parent", Burst(100), Spawn(child), Burst(10)), thread("b", Burst(100))]

    done = run(make)
    # 1, as its parent has; then both wait for the next epoch.
    assert places(done, "b") == [(0, 101)]
    assert places(done, "child") == [(0, 201), (0, 211)]


def test_a_parent_gets_back_what_its_child_has_not_used() -> None:
    def make() -> list[NewThread]:
        made = family(2, Sleep(5), Burst(100))()
        return [*made, thread("other", Burst(10), arrival=60)]

    done = run(make)
    # 30 of its own, and 28 of the child's 30.
    assert places(done, "other") == [(0, 45 + 58)]


def test_a_parent_gets_nothing_back_of_a_later_slice() -> None:
    done = run(family(40, Sleep(300), Yield()))
    assert entity(done, "parent").left == 30


def test_a_parent_gets_no_more_back_than_makes_up_a_slice() -> None:
    def make() -> list[NewThread]:
        child = Spawn(thread("child", Burst(1), Sleep(200)))
        return [thread("parent", Burst(40), child, Burst(35), Sleep(300), Yield())]

    # It has a new slice of 100, of which it has run 5; the child has 29 left when it ends.
    assert entity(run(make), "parent").left == 95


def test_bonuses_are_shared_with_children() -> None:
    def make() -> list[NewThread]:
        child = thread("child", Burst(1))
        return [thread("parent", Burst(1), Sleep(100), Spawn(child), Sleep(20), Yield())]

    done = run(make)
    # 95 percent of 10, in whole steps.
    assert entity(done, "child").average == 900
    # The child takes a quarter of the difference along; 20 are slept, once each for a full bonus.
    assert entity(done, "parent").average == 1000 - 25 + 20


# The whole.


def test_who_is_woken_up_while_it_still_waits_for_a_lock_has_not_slept() -> None:
    queues = Queues(LinuxO1())
    one = queues.add("t", 0)
    assert queues.policy.pick(0) is one
    one.cpu, one.stopped_at = 0, 3
    queues.policy.ready(one, Why.WOKEN, 1)
    assert isinstance(one.own, Entity)
    assert (one.own.average, one.own.bonus, one.own.priority) == (0, 0, 125)


def test_queues_have_locks() -> None:
    def make() -> list[NewThread]:
        return [thread(name, Burst(5), Yield(), Burst(5)) for name in "abcd"]

    workload = Workload(threads=tuple(make()))
    caches = penalty_caches(PenaltyG(fill=0, write_back=0), (), 2, cold_start=True)
    kernel = Kernel(Machine(cpus=2, lock_time=1), workload, caches, LinuxO1())
    kernel.run()
    assert [lock.attempts > 0 for lock in kernel.policy.locks] == [True, True]


@pytest.mark.parametrize(
    "wrong",
    [
        {"time_slice": 0},
        {"min_time_slice": 0},
        {"max_bonus": 0},
        {"imbalance_percent": 99},
        {"idle_rebalance_interval": 0},
        {"cache_hot_time": -1},
        {"child_penalty": 101},
        {"starvation_limit": 1.5},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_parameters_are_checked(wrong: dict[str, Any]) -> None:
    with pytest.raises(DfoptError, match=next(iter(wrong))):
        LinuxO1(**wrong)


@pytest.mark.slow
@given(
    workload=programs(most=8),
    parameters=small_times(),
    cpus=st.integers(1, 4),
    lock_time=st.sampled_from([0, 2]),
)
def test_nothing_is_lost_however_short_the_times(
    workload: Programs, parameters: dict[str, int], cpus: int, lock_time: int
) -> None:
    scenario = Scenario(
        name="programs",
        workload=workload,
        machine=Machine(cpus=cpus, switch_time=1, lock_time=lock_time),
        penalty=PenaltyF(read_line=1, write_back=3),
        policies={LinuxO1.name: parameters},
    )
    done = simulate_once(scenario, LinuxO1)
    policy = done.engine.policy
    assert isinstance(policy, LinuxO1)
    assert all(thread.state is State.ENDED for thread in done.engine.threads)
    assert {thread.name: thread.run_time for thread in done.engine.threads} == workload.executed()
    assert all(policy.load(cpu) == 0 for cpu in range(cpus))
    check_trace(done.trace)
    check_counters(done.trace, done.engine)
