"""A scenario: all that is simulated apart from the policy, with the costs of switches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from dfopt.checks import check_choice, check_integer
from dfopt.errors import InstanceError
from dfopt.problem.cache_domains import CacheDomains
from dfopt.problem.instance import LARGEST_CPU_COUNT
from dfopt.problem.penalties import Penalty
from dfopt.simulate.run_queue.costs import CacheSizes
from dfopt.simulate.run_queue.workload import ThreadSetting, WorkloadKind


class LockDistribution(StrEnum):
    """How the times vary for which locks of run queues are held."""

    CONSTANT = "constant"
    EXPONENTIAL = "exponential"


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """CPUs, and the time that the scheduler itself takes.

    Parameters
    ----------
    cpus
        Number of CPUs.
    switch_time
        Time that a switch to another thread takes before the dispatch, in the simulation's unit.
    lock_time
        The time for which an operation on a run queue holds its lock; 0: locks are always free.
    lock_distribution
        How that time varies; ``lock_time`` is its mean.
    lock_doubling
        With this number of CPUs spinning on it a lock is held for twice as long, and in
        proportion with others; 0: those who spin slow nobody down.
    wake_time
        Time from when an idle CPU is called until it asks the policy for a thread.
    domains
        The CPUs that share a last-level cache; None: all CPUs are alike.
    """

    cpus: int
    switch_time: int = 0
    lock_time: int = 0
    lock_distribution: LockDistribution = LockDistribution.CONSTANT
    lock_doubling: int = 0
    wake_time: int = 0
    domains: CacheDomains | None = None

    def __post_init__(self) -> None:
        check_integer(self.cpus, "cpus", least=1)
        if self.cpus > LARGEST_CPU_COUNT:
            raise InstanceError(
                f"is {self.cpus}; at most {LARGEST_CPU_COUNT} are supported", place="cpus"
            )
        check_integer(self.switch_time, "switch_time")
        check_integer(self.lock_time, "lock_time")
        check_choice(self.lock_distribution, LockDistribution, "lock_distribution")
        check_integer(self.lock_doubling, "lock_doubling")
        check_integer(self.wake_time, "wake_time")
        if self.domains is not None:
            if not isinstance(self.domains, CacheDomains):
                raise InstanceError("must be cache domains", place="domains")
            self.domains.check_cpus(self.cpus)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A workload on a machine.

    Parameters
    ----------
    name
        The name of the scenario; the names of its files begin with it.
    workload
        The kind of workload with its parameters.
    machine
        CPUs and overheads.
    penalty
        The costs of switches, in the simulation and when its traces are compared. The types of a
        matrix are fragments of the workload.
    cold_start
        Whether the first fragment on a CPU is paid for.
    caches
        Caches of lines. With them a burst pays for lines that it misses instead of the penalty.
    threads
        Values of its threads that replace those of the workload, one after the other.
    policies
        Parameters of policies that differ from their defaults, by the policy's name.
    time_unit
        The unit of all times.
    until
        When to stop, if threads still run then; None: never.
    description, source
        Labels.
    file
        The file that it was read from, for errors.
    """

    name: str
    workload: WorkloadKind
    machine: Machine
    penalty: Penalty
    cold_start: bool = True
    caches: CacheSizes | None = None
    threads: tuple[ThreadSetting, ...] = ()
    policies: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    time_unit: str = "ns"
    until: int | None = None
    description: str | None = None
    source: str | None = None
    file: str = ""

    def __post_init__(self) -> None:
        if self.until is not None:
            check_integer(self.until, "until")
