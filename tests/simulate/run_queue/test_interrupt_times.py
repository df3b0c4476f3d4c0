"""The time of interrupts and of calls from CPU to CPU, by hand."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from dfopt.simulate.contract import Thread, Why
from dfopt.simulate.policies.simple import FirstComeFirstServed
from dfopt.simulate.scenario import Machine
from dfopt.simulate.steps import Channel, Receive, Send, Sleep
from dfopt.simulate.workload import UNMANAGED, Burst
from tests.simulate.run_queue.by_hand import rows, run


def times(kernel: Any) -> list[tuple[int, int, int, str]]:
    return sorted(row[:4] for row in rows(kernel))


def test_who_calls_an_idle_cpu_spends_time_on_it() -> None:
    channel = Channel("c")
    machine = Machine(cpus=2, call_time=2, wake_time=3)
    kernel = run(
        [Receive(channel), Burst(3)], [Burst(10), Send(channel), Burst(10)], machine=machine
    )
    # CPU 0 is awake at 3 and runs t1. From 13 to 15 it calls CPU 1, which is awake at 18.
    assert times(kernel) == [(0, 3, 25, "t1"), (1, 18, 21, "t0")]
    assert kernel.counters.spun == 2


@pytest.mark.parametrize(("sends", "begins"), [((2,), (12, 12)), ((1, 1), (12, 16))])
def test_cpus_that_are_called_at_once_are_called_together(
    sends: tuple[int, ...], begins: tuple[int, int]
) -> None:
    channel = Channel("c")
    waits = [Receive(channel), Burst(1)]
    steps = [step for messages in sends for step in (Send(channel, messages), Burst(2))]
    machine = Machine(cpus=3, call_time=2)
    kernel = run(waits, waits, [Burst(10), *steps], machine=machine)
    # The second of two calls is from 14 to 16.
    assert tuple(sorted(start for _, start, _, name in times(kernel) if name != "t2")) == begins
    assert kernel.counters.spun == 2 * len(sends)


def test_a_busy_cpu_is_not_called() -> None:
    channel = Channel("c")
    kernel = run(
        [Receive(channel), Burst(3)],
        [Burst(10), Send(channel), Burst(10)],
        machine=Machine(cpus=1, call_time=2),
    )
    assert times(kernel) == [(0, 0, 20, "t1"), (0, 20, 23, "t0")]


def test_an_interrupt_delays_the_thread_that_runs() -> None:
    # The timer comes at 17 and is served until 27; t1 still has 8 to execute then.
    machine = Machine(cpus=1, interrupt_time=10)
    kernel = run([Burst(5), Sleep(12), Burst(1)], [Burst(20)], machine=machine)
    assert times(kernel) == [(0, 0, 5, "t0"), (0, 5, 35, "t1"), (0, 35, 36, "t0")]
    assert (kernel.counters.interrupted, kernel.counters.overhead) == (10, 0)


def test_interrupts_are_served_one_after_the_other() -> None:
    sleeps = [Sleep(5), Burst(1)]
    kernel = run(sleeps, sleeps, [Burst(20)], machine=Machine(cpus=1, interrupt_time=3))
    # From 5 to 8, and from 8 to 11.
    assert times(kernel)[0] == (0, 0, 26, "t2")
    assert kernel.counters.interrupted == 6


@pytest.mark.parametrize(
    ("cpus", "last", "overhead"),
    [
        # The interrupt lasts from 18 to 22. CPU 0 need not call itself, and is awake at 25.
        (1, (0, 25, 28, "t0"), 3 + 4 + 3),
        # CPU 0 also calls CPU 1, until 24. It has been idle for longer, and is awake at 27.
        # Before that both woke up at 0, and afterwards both do.
        (2, (1, 27, 30, "t0"), 2 * 3 + 4 + 2 + 2 * 3),
    ],
)
def test_an_idle_cpu_serves_an_interrupt(
    cpus: int, last: tuple[int, int, int, str], overhead: int
) -> None:
    machine = Machine(cpus=cpus, call_time=2, wake_time=3, interrupt_time=4)
    kernel = run([Burst(5), Sleep(10), Burst(3)], machine=machine)
    assert times(kernel) == [(0, 3, 8, "t0"), last]
    assert kernel.counters.overhead == overhead


class Ticked(FirstComeFirstServed):
    """CPU 0 is to run all threads, until a CPU finds at a tick that CPU 1 could."""

    name: ClassVar[str] = "ticked"
    tick_interval = 12

    def __init__(self, cpu: int) -> None:
        super().__init__(time_slice=0)
        self.cpu = cpu

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> Any:
        super().ready(thread, why, cpu)
        return 0

    def tick(self) -> None:
        self.engine.charge(self.cpu)
        self.engine.offer(1)


@pytest.mark.parametrize(("cpu", "delay"), [(0, 4 + 2), (1, 0)])
def test_periodic_work_that_calls_another_cpu_takes_time(cpu: int, delay: int) -> None:
    machine = Machine(cpus=2, call_time=2, interrupt_time=4)
    kernel = run([Burst(15)], [Burst(1)], policy=Ticked(cpu), machine=machine)
    assert rows(kernel) == [
        (1, 12 + delay, 13 + delay, "t1", UNMANAGED), (0, 0, 15 + delay, "t0", UNMANAGED),
    ]  # fmt: skip
