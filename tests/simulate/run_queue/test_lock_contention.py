"""The contention for a lock follows the law of the machine repairman."""

from collections.abc import Iterator
from random import Random

import pytest

from dfopt.problem.penalties import PenaltyG
from dfopt.simulate.caches import penalty_caches
from dfopt.simulate.contract import SpinLock
from dfopt.simulate.kernel import Kernel
from dfopt.simulate.policies.simple import FirstComeFirstServed
from dfopt.simulate.scenario import LockDistribution, Machine
from dfopt.simulate.workload import Burst, NewThread, Workload

HOLD = 10_000
OPERATIONS = 30_000


class Lock:
    """A step that takes one of some locks."""

    def __init__(self, locks: list[SpinLock], random: Random) -> None:
        self.locks = locks
        self.random = random

    def perform(self, kernel: Kernel, thread: object) -> None:
        del thread
        kernel.acquire(self.random.choice(self.locks))


def contend(cpus: int, ratio: float, distribution: LockDistribution, locks: int = 1) -> Kernel:
    """Let each CPU think for ``ratio`` holds on average, and take a lock, again and again."""
    made = [SpinLock() for _ in range(locks)]
    random = Random(1)

    def steps() -> Iterator[object]:
        step = Lock(made, random)
        for _ in range(OPERATIONS // cpus):
            yield Burst(1 + round(random.expovariate(1 / (ratio * HOLD))))
            yield step

    class Contended(FirstComeFirstServed):
        @property
        def locks(self):
            return made

    threads = tuple(NewThread(name=f"t{cpu}", steps=steps()) for cpu in range(cpus))
    machine = Machine(cpus=cpus, lock_time=HOLD, lock_distribution=distribution)
    caches = penalty_caches(PenaltyG(fill=0, write_back=0), (), cpus, cold_start=True)
    kernel = Kernel(machine, Workload(threads=threads), caches, Contended(time_slice=0))
    kernel.run()
    return kernel


def miss_ratio(kernel: Kernel) -> float:
    locks = kernel.policy.locks
    return sum(lock.misses for lock in locks) / sum(lock.attempts for lock in locks)


def utilisation(cpus: int, ratio: float) -> float:
    """Return U(N) of the machine repairman with exponential times, 1 − p(0)."""
    weight = total = 1.0
    for number in range(cpus):
        weight *= (cpus - number) / ratio
        total += weight
    return 1 - 1 / total


@pytest.mark.slow
@pytest.mark.parametrize("ratio", [3.0, 6.11, 20.0])
@pytest.mark.parametrize("cpus", [1, 2, 4, 10])
def test_who_comes_finds_it_as_busy_as_the_others_keep_it(cpus, ratio):
    # The arrival theorem: miss(N) = U(N − 1).
    found = miss_ratio(contend(cpus, ratio, LockDistribution.EXPONENTIAL))
    assert found == pytest.approx(utilisation(cpus - 1, ratio), abs=0.015)


def test_a_constant_hold_misses_as_often_and_spins_less():
    constant = contend(10, 7.46, LockDistribution.CONSTANT)
    assert miss_ratio(constant) == pytest.approx(0.922, abs=0.015)
    spun = sum(lock.spun for lock in constant.policy.locks)
    assert spun / (10 * constant.counters.end) == pytest.approx(0.20, abs=0.015)


def test_ten_locks_part_the_contention():
    found = miss_ratio(contend(10, 6.11, LockDistribution.EXPONENTIAL, locks=10))
    assert found == pytest.approx(0.124, abs=0.015)


def test_the_times_of_holding_have_their_mean():
    alone = contend(1, 3.0, LockDistribution.EXPONENTIAL)
    held = alone.counters.spun + alone.counters.overhead
    assert held / OPERATIONS == pytest.approx(HOLD, rel=0.03)
