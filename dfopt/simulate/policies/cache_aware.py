"""EEVDF with the cache-aware load balancing that Linux got in 2026."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dfopt.simulate.contract import Thread, Why
from dfopt.simulate.policies.eevdf import Eevdf
from dfopt.simulate.policies.fair_queues import FairEntity
from dfopt.simulate.workload import Workload
from dfopt.structs import Natural, Positive

FORGOTTEN = 5
"""After this number of epochs in which it did not run, a process prefers no domain."""


class Occupancy:
    """The time that threads ran in each domain.

    Attributes
    ----------
    ran
        By domain: that time, halved at the end of each epoch.
    usual
        The same at the end of the last epoch, which is the mean of an epoch if little changes.
    epoch
        The epoch in which they last ran.
    preferred
        The domain that they prefer, or None.
    """

    __slots__ = ("epoch", "preferred", "ran", "usual")

    def __init__(self, domains: int) -> None:
        self.ran = [0] * domains
        self.usual = [0] * domains
        self.epoch = 0
        self.preferred: int | None = None

    def go_on_to(self, epoch: int) -> None:
        """End the epochs before this one."""
        passed = epoch - self.epoch
        if passed:
            self.epoch = epoch
            self.usual = self.ran = [time >> passed for time in self.ran]
            self.ran = self.ran.copy()
            most = max(self.ran)
            if passed >= FORGOTTEN:
                self.preferred = None
            elif most > 2 * (0 if self.preferred is None else self.ran[self.preferred]):
                self.preferred = self.ran.index(most)


@dataclass(eq=False, kw_only=True)
class CacheAware(Eevdf):
    """EEVDF, where the threads of a process gather in the cache domain where it ran most.

    The rules are those of *Cache aware scheduling* (P. Zijlstra, T. Chen and Chen Yu, patches for
    Linux since 2025, versions 2 to 4), which came into the branch ``sched/core`` in 2026:

    - A process prefers the domain where its threads ran longest; that time is halved every
      ``epoch``. It changes its mind when another domain has more than twice the time of the
      preferred one, and prefers none after five epochs in which it did not run.
    - If its threads use at least 4/5 of a domain's CPUs at the same time, it prefers none.
    - A CPU with nothing to run pulls a thread that prefers its domain from other domains. When it
      balances, it also takes one that runs there (active balance).
    - A thread moves to its preferred domain if at most ``overload`` percent of this domain are
      used, or at most a fifth more than of the other one. It is pulled out of its domain only if
      more than ``overload`` percent of it are used, and more than 1.2 times as much as where it
      goes. If both domains are overloaded, or balancing has failed repeatedly, this does not count.

    Otherwise it is EEVDF; wake-ups are, too, since cache-aware ones moved threads too often.
    Processes are the applications of the workload, as for Linux, where they are what shares memory.
    Threads that share data may be gathered instead: with ``group="fragment"`` those count as a
    process that use the same fragment. Left out: the sizes of working sets, NUMA, and that
    processes of one thread prefer none.

    Parameters
    ----------
    group
        What counts as a process: ``application`` or ``fragment``.
    epoch
        The time after which run times are halved.
    overload
        The percentage of a domain's CPUs from which on it is overloaded.
    time_slice, migration_cost, balance_interval
        As for ``eevdf``.
    """

    name = "cache-aware"

    group: Literal["application", "fragment"] = "application"
    epoch: Positive = 10_000_000
    overload: Natural = 50

    def unfit(self, workload: Workload, cpus: int) -> str | None:
        """Return that there are no domains or no processes, if so."""
        domains = self.scenario.machine.domains
        if domains is None or len(domains.members) == 1:
            return (
                "the machine has one cache domain, so there is nothing to prefer, and it does what "
                "eevdf does"
            )
        if self.group == "application" and not any(t.application for t in workload.threads):
            return (
                "it is not known which process a thread belongs to, so all count as one; set "
                "policy.cache-aware.group=fragment to gather the threads that share data"
            )
        return super().unfit(workload, cpus)

    def begin(self) -> None:
        """Make the queues, and know no process."""
        super().begin()
        self._all = Occupancy(len(self.domains.members))
        self._processes: dict[int, Occupancy] = {}
        self._moving: dict[int, int] = {}  # by thread: the CPU that takes it while it runs
        self._has_preferred = self._has_acted = False

    def unused(self) -> str | None:
        """Return that it did what EEVDF does, if so."""
        if self._has_acted:
            return None
        why = (
            f"where threads could move, both domains were used by more than {self.overload} %"
            if self._has_preferred
            else "no process preferred a domain, as where it uses 4/5 of the CPUs of one"
        )
        return f"it neither moved nor kept a thread for its cache, and did what eevdf does: {why}"

    def process(self, thread: Thread) -> Occupancy:
        """Return the occupancy of a thread's process, up to date."""
        key = thread.application if self.group == "application" else thread.fragment
        found = self._processes.get(key)
        if found is None:
            found = self._processes[key] = Occupancy(len(self.domains.members))
        found.go_on_to(self.engine.now // self.epoch)
        return found

    def charge(self, thread: Thread) -> FairEntity:
        """Count the time for the process, too."""
        before = thread.own.charged
        entity = super().charge(thread)
        if entity.charged > before:
            self._all.go_on_to(self.engine.now // self.epoch)
            domain = self.domains.domain_of[entity.home]
            for occupancy in (self._all, self.process(thread)):
                occupancy.ran[domain] += entity.charged - before
        return entity

    def preferred(self, thread: Thread) -> int | None:
        """Return the domain that a thread prefers, unless its process is too large for it."""
        process = self.process(thread)
        domain = process.preferred
        if domain is None:
            return None
        capacity = self.epoch * len(self.domains.members[domain])
        return domain if 5 * sum(process.usual) < 4 * capacity else None

    def used(self, domain: int) -> float:
        """Return the percentage of a domain's CPUs that was used of late."""
        cpus = len(self.domains.members[domain])
        return 100 * self._all.usual[domain] / (self.epoch * cpus)

    def should_move(self, thread: Thread, cpu: int) -> bool | None:
        """Return whether a thread should come to a CPU, or None if its process does not matter."""
        domain_of = self.domains.domain_of
        source, target = domain_of[thread.own.home], domain_of[cpu]
        preferred = self.preferred(thread)
        if source == target or preferred not in (source, target):
            return None
        self._has_preferred = True
        before, after = self.used(source), self.used(target)
        if min(before, after) > self.overload:
            return None
        if target == preferred:
            return after <= max(self.overload, 1.2 * before)
        return before > max(self.overload, 1.2 * after)

    # Where threads run.

    def may_move(self, thread: Thread, cpu: int) -> bool:
        """Return whether a CPU may pull a thread whose data is cold."""
        may = self.should_move(thread, cpu) is not False
        self._has_acted |= not may
        return may

    def pull(self, cpu: int, *, least: int, even_hot: bool = False) -> bool:
        """Pull a thread that prefers this domain, else any."""
        return self.pull_home(cpu) or super().pull(cpu, least=least, even_hot=even_hot)

    def balance(self, cpu: int) -> bool:
        """Let a CPU with nothing to run take what prefers its domain."""
        is_taken = self.is_free(cpu) and (self.pull_home(cpu) or self.take_home(cpu))
        return is_taken or super().balance(cpu)

    def comes_home(self, thread: Thread, cpu: int) -> bool:
        """Return whether a thread prefers the domain of a CPU, and should move there."""
        home = self.domains.domain_of[cpu]
        is_allowed = thread.may_run_on(cpu) and self.preferred(thread) == home
        return is_allowed and bool(self.should_move(thread, cpu))

    def pull_home(self, cpu: int) -> bool:
        """Pull a thread that waits in another domain and prefers this one."""
        if not self.is_free(cpu):
            return False
        for other in self.others(cpu):
            queue = self._queues[other]
            for position, (_, _, thread) in enumerate(queue.waiting):
                if self.comes_home(thread, cpu):
                    self._has_acted = True
                    self.move(queue.take(position), cpu)
                    return True
        return False

    def take_home(self, cpu: int) -> bool:
        """Stop a thread that runs in another domain and prefers this one, to run it here."""
        for other in self.others(cpu):
            thread = self.engine.running[other]
            if thread is not None and self.comes_home(thread, cpu):
                self._has_acted = True
                self._moving[thread.number] = cpu
                self.engine.preempt(other)
                return True
        return False

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> int:
        """Queue up, or move to the CPU that has taken it."""
        target = self._moving.pop(thread.number, None)
        if target is None or why is not Why.PREEMPTED:
            return super().ready(thread, why, cpu)
        self.goes_on(self.charge(thread), target, why)
        self.move(thread, target)
        return target
