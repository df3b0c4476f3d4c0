"""Segregation: each class of threads has CPUs of its own."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from dfopt.checks import check_integer
from dfopt.errors import InstanceError
from dfopt.simulate.contract import Policy, SpinLock, Thread, TimeSliced, Why
from dfopt.simulate.policies.linux_o1 import LinuxO1, RunQueue
from dfopt.simulate.workload import Workload

HTTP_ALONE: Mapping[str, Sequence[int]] = MappingProxyType({"HTTP": (0,)})


class RoundRobinInSets(TimeSliced):
    """One round-robin queue for each class, without priorities and without affinity.

    Parameters
    ----------
    owner
        The class of each CPU that has one.
    time_slice
        Time after which a thread goes to the end of its queue; 0: never.
    """

    def __init__(self, owner: Mapping[int, str], time_slice: int) -> None:
        super().__init__(time_slice)
        self._owner = owner
        # By class; None stands for all others.
        self._queues: dict[str | None, deque[Thread]] = {
            kind: deque() for kind in (None, *owner.values())
        }

    def begin(self) -> None:
        """Find out which classes each CPU serves."""
        owners = [self._owner.get(cpu) for cpu in range(self.engine.cpus)]
        self._served = [(kind,) if None in owners else (kind, None) for kind in owners]

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> None:
        """Queue up with the class; idle CPUs of other classes are asked as well and pick none."""
        self._queues.get(thread.kind, self._queues[None]).append(thread)

    def pick(self, cpu: int) -> Thread | None:
        """Take the first of the class that the CPU serves."""
        for kind in self._served[cpu]:
            if self._queues[kind]:
                return self._queues[kind].popleft()
        return None


class LinuxO1InSets(LinuxO1):
    """Linux's O(1) scheduler: threads start in their set, and CPUs pull from their own set alone.

    Parameters
    ----------
    owner
        The class of each CPU that has one.
    time_slice
        Of nice 0.
    """

    def __init__(self, owner: Mapping[int, str], time_slice: int) -> None:
        super().__init__(time_slice=time_slice)
        self._owner = owner

    def begin(self) -> None:
        """Make the queues, and find out which CPUs belong together."""
        super().begin()
        self._sets: dict[str | None, list[int]] = {}
        for cpu in range(self.engine.cpus):
            self._sets.setdefault(self._owner.get(cpu), []).append(cpu)

    def start(self, thread: Thread, cpu: int | None) -> int:
        """Queue a new thread up where it was made, or on the least loaded CPU of its set."""
        others = self._sets.get(None, range(self.engine.cpus))
        cpus = self._sets.get(thread.kind, others)
        return super().start(thread, cpu if cpu in cpus else min(cpus, key=self.load))

    def sources(self, cpu: int) -> Sequence[RunQueue]:
        """Return the queues of the CPU's set."""
        return [self._queues[other] for other in self._sets[self._owner.get(cpu)]]


class Segregation(Policy):
    """Threads run only on the CPUs of their class, even if other CPUs are idle.

    "HTTP threads were dispatched to only a single CPU and PHP to the remaining 3" (Ziemba,
    Upadhyaya and Pai, *Analyzing the effectiveness of multicore scheduling using performance
    counters*, section 4, Discussion). Their scheduler was Linux's O(1), so ``linux-o1`` runs the
    threads of a set by default.

    Parameters
    ----------
    sets
        The CPUs of each class, by :attr:`~dfopt.simulate.workload.NewThread.kind`. All
        other classes share the CPUs that are in no set; where there are none, they run on any
        CPU: under ``round-robin`` only while its class has nothing to run.
    within
        What runs the threads of a set: Linux's O(1) scheduler, which balances inside the set; or
        one round-robin queue, without priorities and without affinity.
    time_slice
        Under ``linux-o1`` the time slice of nice 0; under ``round-robin`` the time after which a
        thread goes to the end of its queue, 0: never.

    Raises
    ------
    InstanceError
        When a set is empty, or two sets share a CPU; and, from :meth:`begin`, when the machine
        has no such CPU.
    """

    name = "segregation"

    def __init__(
        self,
        sets: Mapping[str, Sequence[int]] = HTTP_ALONE,
        time_slice: int = 100_000_000,
        within: Literal["linux-o1", "round-robin"] = "linux-o1",
    ) -> None:
        if not sets:
            raise InstanceError("must name the CPUs of at least one class", place="sets")
        self._owner: dict[int, str] = {}
        for kind, cpus in sets.items():
            if not cpus:
                raise InstanceError("must name at least one CPU", place=f"sets.{kind}")
            for cpu in cpus:
                check_integer(cpu, f"sets.{kind}")
                if self._owner.setdefault(cpu, kind) != kind:
                    raise InstanceError(
                        f"shares CPU {cpu} with {self._owner[cpu]!r}; give it to one of them",
                        place=f"sets.{kind}",
                    )
        inside = LinuxO1InSets if within == "linux-o1" else RoundRobinInSets
        self.inside: LinuxO1InSets | RoundRobinInSets = inside(self._owner, time_slice)
        self.tick_interval = self.inside.tick_interval

    @property
    def locks(self) -> Sequence[SpinLock]:
        """Those of the scheduler inside the sets."""
        return self.inside.locks

    def unfit(self, workload: Workload, cpus: int) -> str | None:
        """Say that there is no class to set apart, or no CPU for it."""
        bound = super().unfit(workload, cpus)
        if bound is not None:
            return bound
        kinds = {thread.kind for thread in workload.threads}
        missing = [kind for kind in self._owner.values() if kind not in kinds]
        if missing:
            return f"no thread is of the class {missing[0]!r}, which it sets apart"
        if len(kinds) == 1:
            return "all threads are of one class"
        if max(self._owner) >= cpus:
            return f"there is no CPU {max(self._owner)}, which it gives to a class"
        if len(self._owner) == cpus and kinds != set(self._owner.values()):
            return "no CPU is left for the other classes"
        return None

    def begin(self) -> None:
        """Prepare the scheduler inside the sets."""
        if max(self._owner) >= self.engine.cpus:
            raise InstanceError(f"there is no CPU {max(self._owner)}; remove it", place="sets")
        self.inside.engine = self.engine
        self.inside.begin()

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> int | None:
        """Queue up inside the set."""
        return self.inside.ready(thread, why, cpu)

    def pick(self, cpu: int) -> Thread | None:
        """Take the next thread of the set that the CPU serves."""
        return self.inside.pick(cpu)

    def slice(self, thread: Thread, cpu: int) -> int:
        """Return the time slice inside the set."""
        return self.inside.slice(thread, cpu)

    def ended(self, thread: Thread, cpu: int) -> None:
        """Tell the scheduler inside the set."""
        self.inside.ended(thread, cpu)

    def tick(self) -> None:
        """Balance inside the sets."""
        self.inside.tick()
