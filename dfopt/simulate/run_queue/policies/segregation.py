"""Segregation: each class of threads has CPUs of its own."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

from dfopt.checks import check_integer
from dfopt.errors import InstanceError
from dfopt.simulate.run_queue.contract import Thread, TimeSliced, Why
from dfopt.simulate.run_queue.workload import Workload

HTTP_ALONE: Mapping[str, Sequence[int]] = MappingProxyType({"HTTP": (0,)})


class Segregation(TimeSliced):
    """Threads run only on the CPUs of their class, even if other CPUs are idle.

    "HTTP threads were dispatched to only a single CPU and PHP to the remaining 3" (Ziemba,
    Upadhyaya and Pai, *Analyzing the effectiveness of multicore scheduling using performance
    counters*, section 4, Discussion). Their scheduler within a set was that of Linux; the reading
    here is one round-robin queue for each set, without priorities and without affinity.

    Parameters
    ----------
    sets
        The CPUs of each class, by :attr:`~dfopt.simulate.run_queue.workload.NewThread.kind`. All
        other classes share the CPUs that are in no set; where there are none, they run on any
        CPU whose class has nothing to run.
    time_slice
        Time after which a thread goes to the end of its queue; 0: never.

    Raises
    ------
    InstanceError
        When a set is empty, or two sets share a CPU; and, from :meth:`begin`, when the machine
        has no such CPU.
    """

    name: ClassVar[str] = "segregation"

    def __init__(
        self, sets: Mapping[str, Sequence[int]] = HTTP_ALONE, time_slice: int = 100_000_000
    ) -> None:
        super().__init__(time_slice)
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
        self._others: deque[Thread] = deque()
        self._of_kind: dict[str, deque[Thread]] = {kind: deque() for kind in sets}
        self._of_cpu: list[tuple[deque[Thread], ...]] = []

    def unfit(self, workload: Workload, cpus: int) -> str | None:
        """Say that there is no class to set apart, or no CPU for it."""
        bound = super().unfit(workload, cpus)
        if bound is not None:
            return bound
        kinds = {thread.kind for thread in workload.threads}
        missing = [kind for kind in self._of_kind if kind not in kinds]
        if missing:
            return f"no thread is of the class {missing[0]!r}, which it sets apart"
        if len(kinds) == 1:
            return "all threads are of one class"
        if max(self._owner) >= cpus:
            return f"there is no CPU {max(self._owner)}, which it gives to a class"
        if len(self._owner) == cpus and kinds != self._of_kind.keys():
            return "no CPU is left for the other classes"
        return None

    def begin(self) -> None:
        """Find out which queues each CPU serves."""
        cpus = self.engine.cpus
        if max(self._owner) >= cpus:
            raise InstanceError(f"there is no CPU {max(self._owner)}; remove it", place="sets")
        are_all_owned = len(self._owner) == cpus
        for cpu in range(cpus):
            if cpu not in self._owner:
                self._of_cpu.append((self._others,))
            elif are_all_owned:
                self._of_cpu.append((self._of_kind[self._owner[cpu]], self._others))
            else:
                self._of_cpu.append((self._of_kind[self._owner[cpu]],))

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> None:
        """Queue up with the class; idle CPUs of other classes are asked as well and pick none."""
        del why, cpu
        self._of_kind.get(thread.kind, self._others).append(thread)

    def pick(self, cpu: int) -> Thread | None:
        """Take the first of the class that the CPU serves."""
        for queue in self._of_cpu[cpu]:
            if queue:
                return queue.popleft()
        return None
