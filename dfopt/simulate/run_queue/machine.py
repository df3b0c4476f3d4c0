"""The machine of a run-queue simulation."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from dfopt.checks import check_choice, check_integer
from dfopt.errors import InstanceError
from dfopt.problem.instance import LARGEST_CPU_COUNT


class LockDistribution(StrEnum):
    """How the times that locks of run queues are held vary."""

    CONSTANT = "constant"
    EXPONENTIAL = "exponential"


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """CPUs, and what the scheduler itself takes.

    Parameters
    ----------
    cpus
        Number of CPUs.
    switch_time
        Path length of a switch to another thread, in the simulation's unit; it comes before the
        dispatch.
    lock_time
        How long an operation on a run queue holds its lock; 0: locks are free and always won.
    lock_distribution
        How that time varies; ``lock_time`` is its mean.
    """

    cpus: int
    switch_time: int = 0
    lock_time: int = 0
    lock_distribution: LockDistribution = LockDistribution.CONSTANT

    def __post_init__(self) -> None:
        check_integer(self.cpus, "cpus", least=1)
        if self.cpus > LARGEST_CPU_COUNT:
            raise InstanceError(
                f"is {self.cpus}; at most {LARGEST_CPU_COUNT} are supported", place="cpus"
            )
        check_integer(self.switch_time, "switch_time")
        check_integer(self.lock_time, "lock_time")
        check_choice(self.lock_distribution, LockDistribution, "lock_distribution")
