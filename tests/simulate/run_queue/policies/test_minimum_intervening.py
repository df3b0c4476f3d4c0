from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfopt.simulate.contract import Thread, Why
from dfopt.simulate.policies.affinity import LastProcessor, MinimumIntervening
from dfopt.simulate.steps import Sleep
from dfopt.simulate.workload import Burst, NewThread
from tests.simulate.run_queue.hand_made import FREE, order, places, simulated, thread
from tests.simulate.run_queue.programs import Programs, programs


def three_wait() -> list[NewThread]:
    """While a thread runs, three become ready: one that never ran, the last but one, the last."""
    return [
        thread("x", Burst(1), Sleep(4), Burst(1)),
        thread("y", Burst(1), Sleep(4), Burst(1)),
        thread("long", Burst(10)),
        thread("new", Burst(1), arrival=3),
    ]


def test_a_cpu_takes_the_thread_with_the_fewest_intervening() -> None:
    assert order(simulated(MinimumIntervening, three_wait)) == ["x", "y", "long", "y", "x", "new"]
    assert order(simulated(LastProcessor, three_wait)) == ["x", "y", "long", "x", "y", "new"]


def on_two_cpus() -> list[NewThread]:
    """A thread that ran on CPU 0, and one since, and later on CPU 1, and two since."""
    return [
        # CPU 0 has run more before that, so that counts from the beginning mislead.
        thread("first", Burst(1)),
        thread("beside", Burst(8)),
        thread("second", Burst(1), arrival=2),
        thread("third", Burst(1), arrival=4),
        thread("x", Burst(1), Sleep(4), Burst(1), Sleep(14), Burst(1), arrival=10),
        thread("y", Burst(2), arrival=12),
        thread("on 0", Burst(10), arrival=13),
        thread("first on 1", Burst(1), arrival=17),
        thread("second on 1", Burst(1), arrival=19),
    ]


def test_a_thread_goes_to_the_idle_cpu_with_the_fewest_intervening() -> None:
    done = simulated(MinimumIntervening, on_two_cpus, cpus=2)
    assert order(done, 0) == ["first", "second", "third", "x", "on 0", "x"]
    assert order(done, 1) == ["beside", "y", "x", "first on 1", "second on 1"]
    # Its last CPU, which has been idle for longer too, is the other one.
    assert places(simulated(LastProcessor, on_two_cpus, cpus=2), "x")[-1] == (1, 30)


class Recounted(MinimumIntervening):
    """Counts intervening executions one by one before every choice."""

    def begin(self) -> None:
        super().begin()
        self.ran: list[list[Thread]] = [[] for _ in range(self.engine.cpus)]
        self.waiting: dict[Thread, Why] = {}
        self.going: dict[int, Thread] = {}

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> None:
        super().ready(thread, why, cpu)
        idle = [
            where
            for where in self.engine.idle()
            if where not in self.going and thread in self.ran[where]
        ]
        if idle and why not in {Why.EXPIRED, Why.YIELDED}:
            best = min(idle, key=lambda where: self.ran[where][::-1].index(thread))
            self.going[best] = thread
        else:
            self.waiting[thread] = why

    def pick(self, cpu: int) -> Thread | None:
        ran = self.ran[cpu]
        known = [
            thread
            for thread, why in self.waiting.items()
            if thread in ran and why not in {Why.EXPIRED, Why.YIELDED}
        ]
        best = min(known, key=ran[::-1].index, default=None)
        picked = super().pick(cpu)
        assert picked is (self.going.pop(cpu, None) or best or next(iter(self.waiting), None))
        if picked is not None:
            self.waiting.pop(picked, None)
            ran.append(picked)
        return picked


@pytest.mark.slow
@given(workload=programs(), cpus=st.integers(1, 3), time_slice=st.sampled_from([0, 3]))
def test_the_choice_is_that_of_counting(workload: Programs, cpus: int, time_slice: int) -> None:
    done = simulated(
        Recounted,
        lambda: workload.build(Random(0)).threads,
        cpus=cpus,
        penalty=FREE,
        time_slice=time_slice,
    )
    assert len(done.trace)
