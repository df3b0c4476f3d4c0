"""The time of CPUs, by hand and in sum: waking up, the end at a given time, and what adds up."""

from __future__ import annotations

from typing import ClassVar

import pytest

from dfopt.simulate import read_scenario
from dfopt.simulate.contract import Thread, Why
from dfopt.simulate.kernel import Kernel
from dfopt.simulate.policies import POLICIES
from dfopt.simulate.policies.simple import FirstComeFirstServed
from dfopt.simulate.scenario import Machine
from dfopt.simulate.simulation import simulate_once
from dfopt.simulate.steps import Channel, Receive, Send, Sleep
from dfopt.simulate.workload import DIRTY, UNMANAGED, Burst
from tests.simulate.run_queue.by_hand import rows, run
from tests.simulate.run_queue.programs import check_counters, check_trace
from tests.simulate.run_queue.watched import watched

A, B = 0, 1


def adds_up(kernel: Kernel) -> bool:
    counters = kernel.counters
    spent = counters.executed + sum(counters.penalties) + counters.spun + counters.interrupted
    return sum(counters.busy) == spent


def test_an_idle_cpu_takes_time_to_wake_up() -> None:
    channel = Channel("c")
    kernel = run(
        [Receive(channel), Burst(3)],
        [Burst(10), Send(channel), Burst(10)],
        machine=Machine(cpus=2, wake_time=4),
    )
    # CPU 0 and CPU 1 are awake at 4. CPU 0 lets t0 wait for a message, and runs t1; CPU 1 finds
    # nothing, then and when t1 had appeared. The message at 14 wakes CPU 1, which is awake at 18.
    assert sorted(rows(kernel)) == [(0, 4, 24, "t1", UNMANAGED), (1, 18, 21, "t0", UNMANAGED)]
    assert kernel.counters.overhead >= 4 + 4


class Progress(FirstComeFirstServed):
    """Each operation takes 10; the progress of t1 is noted at every tick."""

    name: ClassVar[str] = "progress"
    tick_interval = 5

    def begin(self) -> None:
        self.seen: dict[int, int] = {}

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> None:
        self.engine.spend(10)
        super().ready(thread, why, cpu)

    def tick(self) -> None:
        self.seen[self.engine.now] = self.engine.executed(self.engine.threads[1])


def test_a_thread_makes_no_progress_during_an_interrupt_or_before_it_begins() -> None:
    # t0 blocks at 5, and t1 runs until the timer comes at 17; that takes until 27, and t1 goes on.
    policy = Progress(time_slice=0)
    run([Burst(5), Sleep(12), Burst(1)], [Burst(20)], policy=policy)
    assert policy.seen == {5: 0, 10: 5, 15: 10, 20: 12, 25: 12, 30: 15, 35: 20}


def test_nothing_happens_after_the_end() -> None:
    # At 12 t0 has executed for 7 after a penalty of 5, and t1 pays a penalty of 20 from 0 on.
    kernel = run([Burst(50, A, 5)], [Burst(50, B, 20)], machine=Machine(cpus=2), until=12)
    assert rows(kernel) == [(0, 0, 12, "t0", A)]
    counters = kernel.counters
    assert (counters.end, counters.executed, counters.penalties) == (12, 7, [5, 0])
    # A dispatch that has executed nothing is left out; the time on it is overhead.
    assert (counters.busy, counters.overhead) == ([12, 0], 12)


@pytest.mark.parametrize(("until", "overhead"), [(3, 3), (4, 4), (6, 4)])
def test_a_switch_may_be_cut(until: int, overhead: int) -> None:
    kernel = run([Burst(50)], machine=Machine(cpus=1, switch_time=4), until=until)
    assert (kernel.counters.overhead, kernel.counters.end) == (overhead, until)
    assert adds_up(kernel)


def test_the_rest_of_a_dispatch_that_pays_again_may_be_cut() -> None:
    # After 3 of penalty and 2 of execution, t0 wants 10 for the second fragment, until 15.
    kernel = run([Burst(2, A, 3, DIRTY), Burst(5, B, 1)], until=9)
    assert rows(kernel) == [(0, 0, 5, "t0", A)]
    assert kernel.counters.penalties == [3]
    assert (kernel.counters.overhead, kernel.counters.end) == (4, 9)


SHIPPED: dict[str, dict[str, int | str]] = {
    "aim": {"until": 40_000_000, "round_trips": 10},
    "chat": {"until": 25_000_000},
    "custom": {"until": 200_000_000},
    "fine-grained": {"until": 200_000},
    "hackbench": {"until": 3_000_000},
    "web-server": {"until": 30_000_000, "clients": 60, "interval": 100_000, "think_time": 500_000},
}
COSTS = {
    "machine.switch_time": 700,
    "machine.lock_time": 2_000,
    "machine.lock_doubling": 3,
    "machine.wake_time": 3_000,
    "machine.call_time": 1_500,
    "machine.interrupt_time": 1_000,
}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", SHIPPED)
def test_the_time_of_shipped_scenarios_adds_up(name: str, policy: str) -> None:
    scenario = read_scenario(name, SHIPPED[name] | COSTS)
    with watched() as seen:
        done = simulate_once(scenario, POLICIES[policy])
    check_trace(done.trace)
    check_counters(done.trace, done.engine)
    seen.check(done)
