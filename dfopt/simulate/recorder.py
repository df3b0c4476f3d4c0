"""Notes which thread ran where and which woke which, counts it, and makes a trace of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from struct import Struct

import numpy as np
from numpy.typing import NDArray

from dfopt.errors import DfoptError
from dfopt.problem.cache import UNMANAGED
from dfopt.problem.cache_domains import CacheDomains
from dfopt.simulate.contract import Thread
from dfopt.trace.events import Forks, Integers, Numbers, Wakeups, changes
from dfopt.trace.nice import NICE_0
from dfopt.trace.quality import Quality
from dfopt.trace.trace import NOT_GIVEN, Numbering, Trace, TraceHeader, TraceTask

COLUMNS = 8

packed = Struct(f"{COLUMNS}q").pack

WAKEUP_COLUMNS = 4

packed_wakeup = Struct(f"{WAKEUP_COLUMNS}q").pack


@dataclass(slots=True, kw_only=True)
class Counters:
    """Sums over a simulation; times are in its unit.

    Parameters
    ----------
    dispatches
        Stretches in which one thread used one fragment on one CPU: rows of the trace.
    context_switches
        Dispatches after a dispatch of another thread on the same CPU.
    fragment_switches
        Managed dispatches after a managed dispatch of another fragment on the same CPU.
    migrations
        Dispatches with a fragment, or all if none has one, whose thread ran on another CPU before.
    far_migrations
        Those of them that came from another cache domain; None where there are no domains.
    penalties
        What was paid on each CPU.
    executed
        What threads executed, without penalties and waiting.
    busy
        By CPU: how long dispatches lasted.
    overhead
        CPU time between dispatches, on switching, waking up, interrupts, calling others, and spin
        locks: waiting for them, and holding them.
    spun
        CPU time inside dispatches, on spin locks and on calling others.
    interrupted
        CPU time inside dispatches, on interrupts.
    lock_waits
        How often a thread was blocked on a lock of the program.
    inversions
        How often a thread was picked while one of a more urgent band was ready.
    waits, waited, longest_wait
        From ready to running: how often, how long in total, and the longest.
    responses, responded, longest_response
        From woken up, or made, to blocked again, or ended.
    end
        When the last thread ended, or the time was up, and no CPU was busy any more.
    """

    dispatches: int = 0
    context_switches: int = 0
    fragment_switches: int = 0
    migrations: int = 0
    far_migrations: int | None = None
    penalties: list[int] = field(default_factory=list)
    executed: int = 0
    busy: list[int] = field(default_factory=list)
    overhead: int = 0
    spun: int = 0
    interrupted: int = 0
    lock_waits: int = 0
    inversions: int = 0
    waits: int = 0
    waited: int = 0
    longest_wait: int = 0
    responses: int = 0
    responded: int = 0
    longest_response: int = 0
    end: int = 0


class Recorder:
    """Columns of dispatches, in the order in which they ended, and of wake-ups.

    ``cells`` has eight numbers of 64 bits for each dispatch, one after another, as :data:`packed`
    writes them: CPU, start, end, thread, fragment, lines, leaves, stop. ``wakeups`` has four for
    each, as :data:`packed_wakeup` writes them: time, the thread that wakes or -1, the one that is
    woken, and 1 if it is new.
    """

    def __init__(self) -> None:
        self.cells = bytearray()
        self.wakeups = bytearray()

    @property
    def rows(self) -> list[list[int]]:
        """The dispatches so far, with eight numbers each."""
        rows: list[list[int]] = np.frombuffer(self.cells, np.int64).reshape(-1, COLUMNS).tolist()
        return rows

    @cached_property
    def _columns(self) -> NDArray[np.int64]:
        """The columns, once all rows are there, ordered by start."""
        # Each of them in one piece, which is faster than every eighth number.
        columns = np.ascontiguousarray(np.frombuffer(self.cells, np.int64).reshape(-1, COLUMNS).T)
        cpu, start, *_ = columns
        return columns.take(np.lexsort((cpu, start)), axis=1)

    def count(self, counters: Counters, domains: CacheDomains | None) -> None:
        """Count at the end what can be counted then, which is faster than on the way."""
        cpu, start, end, thread, fragment, *_ = self._columns
        counters.dispatches = len(cpu)
        counters.busy = [
            int((end - start)[cpu == cpu_number].sum()) for cpu_number in range(len(counters.busy))
        ]
        counters.context_switches = changes(thread, cpu, np.ones(len(cpu), bool))
        managed = fragment != UNMANAGED
        counted = managed if managed.any() else ~managed  # as for all figures of service
        counters.migrations = changes(cpu, thread, counted)
        if domains is not None:
            domain = np.array(domains.domain_of)[cpu]
            counters.far_migrations = changes(domain, thread, counted)
        counters.fragment_switches = changes(fragment[managed], cpu[managed], managed[managed])

    def trace(
        self, *, cpus: int, threads: Sequence[Thread], fragments: Sequence[str], header: TraceHeader
    ) -> Trace:
        """Return everything noted so far as a trace.

        Raises
        ------
        DfoptError
            When a thread has used a fragment that has no name, or two threads have one name.
        """
        cpu, start, end, task, fragment, lines, leaves, stop = self._columns
        unknown = np.flatnonzero(fragment >= len(fragments))
        if len(unknown):
            row = unknown[0]
            raise DfoptError(
                f"the thread {threads[task[row]].name} uses fragment {fragment[row]}, but the "
                f"workload has {len(fragments)}; name it there"
            )
        names = [thread.name for thread in threads]
        if len(set(names)) < len(names):
            twice, _ = Counter(names).most_common(1)[0]
            raise DfoptError(f"two threads are called {twice!r}; give each a name of its own")
        has_weights = any(thread.weight != NICE_0 for thread in threads)
        kinds = Numbering()
        comms = np.array(
            [kinds[thread.kind] if thread.kind else NOT_GIVEN for thread in threads], np.int32
        )
        time, waker, woken, is_new = (
            np.frombuffer(self.wakeups, np.int64).reshape(-1, WAKEUP_COLUMNS).T
        )

        def chosen(rows: NDArray[np.bool_]) -> tuple[Integers, Numbers, Numbers]:
            return time[rows], waker[rows].astype(np.int32), woken[rows].astype(np.int32)

        usual_time, usual_waker, usual_woken = chosen(is_new == 0)
        first_time, first_waker, first_woken = chosen(is_new == 1)
        fork_time, parent, child = chosen((is_new == 1) & (waker >= 0))
        return Trace(
            cpus=cpus,
            cpu=cpu.astype(np.int32),
            start=start.copy(),
            end=end.copy(),
            task=task.astype(np.int32),
            fragment=fragment.astype(np.int32),
            tasks=tuple(
                TraceTask(name=thread.name, weight=thread.weight if has_weights else None)
                for thread in threads
            ),
            fragments=tuple(fragments),
            lines=lines.copy(),
            leaves=leaves.astype(np.int8),
            stop=stop.astype(np.int8),
            comm=comms[task] if kinds.names else None,
            comms=kinds.names,
            wakeups=Wakeups(time=usual_time, waker=usual_waker, woken=usual_woken),
            first_wakeups=Wakeups(time=first_time, waker=first_waker, woken=first_woken),
            forks=Forks(time=fork_time, parent=parent, child=child),
            header=header,
            quality=Quality(events=len(cpu)),
        )
