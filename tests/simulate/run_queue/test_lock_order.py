"""CPUs get locks in the order in which they come, and interrupts take the time of a CPU: by hand.

Each operation holds the lock for 76.
"""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from dfopt.errors import DfoptError
from dfopt.simulate.contract import SpinLock, Thread, Why
from dfopt.simulate.kernel import Kernel
from dfopt.simulate.policies.simple import FirstComeFirstServed
from dfopt.simulate.scenario import Machine
from dfopt.simulate.steps import Sleep
from dfopt.simulate.workload import Burst
from tests.simulate.run_queue.by_hand import rows, run

HOLD = 76


class Locked(FirstComeFirstServed):
    """One queue behind one lock, which put and take hold; ``looks`` says how long CPUs look."""

    name: ClassVar[str] = "locked"
    hold: Any = None

    def __init__(self, looks: tuple[int, ...] = (0, 0), time_slice: int = 0) -> None:
        super().__init__(time_slice)
        self.looks = looks
        self.lock = SpinLock()

    @property
    def locks(self) -> tuple[SpinLock]:
        return (self.lock,)

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> None:
        self.engine.acquire(self.lock, self.hold)
        super().ready(thread, why, cpu)

    def pick(self, cpu: int) -> Thread | None:
        if not self._queue:
            return None
        self.engine.spend(self.looks[cpu])
        self.engine.acquire(self.lock, self.hold)
        return super().pick(cpu)


def counts(kernel: Kernel) -> tuple[int, int, int]:
    (lock,) = kernel.policy.locks
    return lock.attempts, lock.misses, lock.spun


def test_a_cpu_that_comes_first_gets_the_lock_first() -> None:
    # CPU 0 looks from 0 to 100 and holds the lock until 176; CPU 1 looks for 10 and holds it
    # until 86, when CPU 0 has not come yet.
    policy = Locked(looks=(100, 10))
    kernel = run([Burst(5)], [Burst(5)], policy=policy, machine=Machine(cpus=2, lock_time=HOLD))
    assert sorted((cpu, start) for cpu, start, *_ in rows(kernel)) == [(0, 176), (1, 86)]
    assert counts(kernel) == (2, 0, 0)


def test_who_comes_when_the_lock_is_given_back_comes_after_those_who_wait() -> None:
    # CPU 1 holds the lock until 10. CPU 2 comes at 5, and CPU 0 at 10.
    machine = Machine(cpus=3, lock_time=10)
    kernel = run([Burst(5)], [Burst(5)], [Burst(5)], policy=Locked((10, 0, 5)), machine=machine)
    assert sorted((cpu, start) for cpu, start, *_ in rows(kernel)) == [(0, 30), (1, 10), (2, 20)]
    assert counts(kernel) == (3, 2, 5 + 10)


class Sliced(Locked):
    """Threads run for 100 on CPU 0 and for 110 on CPU 1; the lock is held from their ends on."""

    hold = 0

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> None:
        self.hold = HOLD if why is Why.EXPIRED else 0
        super().ready(thread, why, cpu)

    def slice(self, thread: Thread, cpu: int) -> int:
        del thread
        return (100, 110)[cpu]


def test_put_and_take_of_one_cpu_may_be_split_by_another() -> None:
    # Their slices end at 100 and 110, and before that locks cost nothing. CPU 0 puts from 100 to
    # 176. CPU 1 comes at 110, waits for 66, and puts until 252. CPU 0 comes back at 176, behind
    # it, waits for 76, and takes until 328. CPU 1 comes back at 252, waits for 76, and takes
    # until 404. Each takes the thread that it has put, so the dispatches go on.
    kernel = run([Burst(150)], [Burst(150)], policy=Sliced(), machine=Machine(cpus=2, lock_time=1))
    assert counts(kernel) == (4, 3, 66 + 76 + 76)
    assert sorted(rows(kernel)) == [(0, 0, 378, "t0", -1), (1, 0, 444, "t1", -1)]
    assert kernel.counters.spun == (328 - 100) + (404 - 110)


@pytest.mark.parametrize("hold", [-1, 0.5])
def test_locks_cannot_be_held_for_such_times(hold: float) -> None:
    policy = Locked()
    policy.hold = hold
    with pytest.raises(DfoptError, match=r"'locked' spends a time of .* at 0; name an integer"):
        run([Burst(5)], policy=policy)


def test_those_who_spin_slow_the_holder() -> None:
    # Three CPUs come at 0. The first holds the lock for 10, since nobody spins when it gets it.
    # The second gets it at 10, and one spins: 10 and a half of that. The third: 10, from 25 on.
    machine = Machine(cpus=3, lock_time=10, lock_doubling=2)
    kernel = run([Burst(5)], [Burst(5)], [Burst(5)], policy=Locked((0, 0, 0)), machine=machine)
    assert [start for _, start, *_ in sorted(rows(kernel))] == [10, 25, 35]
    assert counts(kernel) == (3, 2, 10 + 25)


def test_an_interrupt_takes_the_time_of_the_cpu_where_the_timer_was_set() -> None:
    # t0 sleeps from 15 to 35; t1 is taken until 25. The interrupt holds the lock from 35 to 45,
    # and so t1 ends at 55 instead of 45. Then t0 is taken until 65.
    machine = Machine(cpus=1, lock_time=10)
    policy = Locked()
    kernel = run([Burst(5), Sleep(20), Burst(3)], [Burst(20)], policy=policy, machine=machine)
    assert rows(kernel) == [(0, 10, 15, "t0", -1), (0, 25, 55, "t1", -1), (0, 65, 68, "t0", -1)]
    counters = kernel.counters
    assert counters.interrupted == 10
    assert counters.busy == [counters.executed + counters.interrupted]
    assert counts(kernel) == (4, 0, 0)
