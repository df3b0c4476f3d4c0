"""The machine of a run-queue simulation."""

from __future__ import annotations

from dataclasses import dataclass

from dfopt.checks import check_integer


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
    """

    cpus: int
    switch_time: int = 0
    lock_time: int = 0

    def __post_init__(self) -> None:
        check_integer(self.cpus, "cpus", least=1)
        check_integer(self.switch_time, "switch_time")
        check_integer(self.lock_time, "lock_time")
