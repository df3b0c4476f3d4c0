"""The engine: a heap of events, and the processors they happen on.

Events are the ends of threads, of the start-up of workers and of yield delays, arrivals, and what
policies asked to be called for. Each end of a thread is an event of its own: nothing is batched.
The end of a thread after which its processor goes on with the next thread of the same job concerns
nobody else, so it is dealt with on the spot, in :meth:`Engine.run`.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from heapq import heappop, heappush, heapreplace
from itertools import count

from dfopt.errors import DfoptError
from dfopt_models.space_sharing.job import Job, Worker
from dfopt_models.space_sharing.parameters import Mix
from dfopt_models.space_sharing.policy import Policy
from dfopt_models.space_sharing.stays import Stays
from dfopt_models.space_sharing.threads import Thread

CANCELLED = -1
"""Number of the event that a processor waits for while it waits for none."""

MOST_CUT_SHORT = 10_000
"""Start-ups by processor that are cut short, with none that ends: nothing is ever done then."""

Happening = tuple[float, int, "int | Callable[[], None]"]
"""When, a number that makes it unique, and the processor it happens on, or what to call."""


class Engine:
    """Runs the jobs of a mix under a policy.

    Parameters
    ----------
    mix
        Machine and parameters; who arrives when is said with :meth:`call_after`.
    policy
        Fresh: it may remember what it saw.
    seed
        Of the policy's random choices.
    on_end
        Called with every job that has ended, before the policy hears of it; returns the job that
        takes its place, if there is one.
    stays
        Where to note who held which processor when; None: nowhere.

    Attributes
    ----------
    now
        Seconds since the beginning.
    jobs
        Those that have arrived and have not ended, in the order of their arrival.
    free
        Unallocated processors, in the order in which they became so.
    last
        By processor: the worker that left it last (its history, T = 1).
    random
        For the policy's choices.
    events
        How many have happened.
    """

    def __init__(
        self,
        mix: Mix,
        policy: Policy,
        *,
        seed: int,
        on_end: Callable[[Job], Job | None],
        stays: Stays | None = None,
    ) -> None:
        self.machine = mix.machine
        self.policy = policy
        self.random = random.Random(seed)
        self.now = 0.0
        self.events = 0
        self.jobs: dict[Job, None] = {}
        processors = mix.machine.processors
        self._processors = range(processors)
        self.free = dict.fromkeys(self._processors)
        self.last: list[Worker | None] = [None] * processors
        self._on_end = on_end
        self._stays = stays
        self._stopped = False
        self._cut_short = 0
        self._heap: list[Happening] = []
        self._numbers = count()
        # By processor; what belongs to an unallocated or idle one does not matter.
        self._owner: list[Job | None] = [None] * processors
        self._worker: list[Worker | None] = [None] * processors
        self._thread: list[Thread | None] = [None] * processors
        self._due = [CANCELLED] * processors
        self._ends = [0.0] * processors
        self._given = [0.0] * processors
        self._overhead = [0.0] * processors

    # What policies may ask and do.

    def owner(self, processor: int) -> Job | None:
        """Return the job that holds a processor, or None."""
        return self._owner[processor]

    def give(self, processor: int, job: Job, worker: Worker | None = None) -> None:
        """Give a processor to a job: a reallocation.

        Whoever holds it loses it; a thread that runs there waits for another processor of its job.

        Parameters
        ----------
        processor
            Free, or another job's.
        job
            One that has an inactive worker.
        worker
            One of these; without it, the policy chooses.

        Raises
        ------
        DfoptError
            When there is no such processor; the job has ended, holds the processor already, or
            has no inactive worker; or the worker is none of these.
        """
        self._check_processor(processor)
        if job not in self.jobs or self._owner[processor] is job or not job.inactive:
            raise DfoptError(
                f"the policy {self.policy.name!r} gives processor {processor} to {job.name}, which "
                "has ended, holds it already, or has no inactive worker"
            )
        if self._owner[processor] is not None:
            self.take(processor)
        del self.free[processor]
        if worker is None:
            worker = self.policy.worker(self, job, processor)
        if worker not in job.inactive:
            raise DfoptError(
                f"the policy {self.policy.name!r} activates no inactive worker of {job.name} on "
                f"processor {processor}; choose one of job.inactive"
            )
        penalty = self._penalty(job, worker, processor)
        job.settle(self.now)
        job.held[processor] = None
        job.starting += 1
        del job.inactive[worker]
        job.reallocations += 1
        worker.processor = processor
        overhead = self.machine.path_length + penalty
        job.waste += self.machine.latency
        job.overhead += overhead
        self._owner[processor] = job
        self._worker[processor] = worker
        self._thread[processor] = None
        self._given[processor] = self.now
        self._overhead[processor] = overhead
        self._await(processor, self.now + self.machine.latency + overhead)

    def take(self, processor: int) -> None:
        """Take a processor from its job; it is unallocated then.

        Raises
        ------
        DfoptError
            When there is no such processor, or no job holds it.
        """
        self._check_processor(processor)
        job, worker = self._owner[processor], self._worker[processor]
        if job is None or worker is None:
            raise DfoptError(
                f"the policy {self.policy.name!r} takes processor {processor}, which nobody holds; "
                "ask for its owner first"
            )
        thread, now = self._thread[processor], self.now
        job.settle(now)
        del job.held[processor]
        busy_until = now
        has_run = thread is not None or processor in job.idle
        if processor in job.idle:
            busy_until = job.idle.pop(processor)
            job.waste += now - busy_until
        elif thread is None:
            job.starting -= 1
            self._forgo_start(job, processor)
        else:
            left = self._ends[processor] - now
            job.work += thread[0] - left
            job.ready.append((left, thread[1]))
        if self._stays is not None:
            began = self._given[processor] + self.machine.latency + self._overhead[processor]
            self._stays.add(worker, processor, began, busy_until)
        if has_run:  # otherwise it has left nothing in the cache
            worker.last_processor = processor
            self.last[processor] = worker
        worker.processor = None
        job.inactive[worker] = None
        self._owner[processor] = None
        self._due[processor] = CANCELLED
        self.free[processor] = None
        if job.idle and job.ready:
            self._resume(job)

    def call_after(self, seconds: float, happening: Callable[[], None]) -> None:
        """Call somebody so many seconds from now.

        Raises
        ------
        DfoptError
            When they are negative.
        """
        if not seconds >= 0:
            raise DfoptError(
                f"the policy {self.policy.name!r} asks to be called in {seconds!r} s; make it 0 or "
                "more"
            )
        heappush(self._heap, (self.now + seconds, next(self._numbers), happening))

    # What happens.

    def arrive(self, *jobs: Job) -> None:
        """Let jobs arrive, all at once."""
        for job in jobs:
            self._admit(job)
        for job in jobs:
            self.policy.arrived(self, job)

    def stop(self) -> None:
        """End the simulation after what happens now."""
        self._stopped = True

    def run(self) -> None:
        """Run until :meth:`stop`.

        Raises
        ------
        DfoptError
            When nothing can happen any more, or only start-ups that are cut short.
        """
        heap, owner, threads, due, ends = (
            self._heap, self._owner, self._thread, self._due, self._ends
        )  # fmt: skip
        numbers = self._numbers
        events = 0
        while heap and not self._stopped:
            now, number, processor = heap[0]
            if not isinstance(processor, int):
                heappop(heap)
                events += 1
                self.now = now
                processor()
                continue
            if due[processor] != number:
                heappop(heap)
                continue
            events += 1
            job = owner[processor]
            assert job is not None
            thread = threads[processor]
            released = None
            if thread is not None:
                job.work += thread[0]
                released = job.program.finish(thread[1])
            else:
                job.starting -= 1
                self._cut_short = 0
            ready = job.ready
            if ready and released is None:
                threads[processor] = thread = ready.pop()
                ends[processor] = end = now + thread[0]
                due[processor] = number = next(numbers)
                heapreplace(heap, (end, number, processor))
                continue
            heappop(heap)
            self.now = now
            due[processor] = CANCELLED
            if released is None:
                self._is_idle(job, processor)
            elif released:
                ready.extend(released)
                self._start(processor, ready.pop())
                self._resume(job)
                if job.wants:
                    self.policy.wants(self, job)
            else:
                job.idle[processor] = now
                self._end(job)
        self.events += events
        if not self._stopped:
            raise DfoptError(
                f"the policy {self.policy.name!r} leaves "
                f"{', '.join(job.name for job in self.jobs)} without a processor for ever"
            )

    def _admit(self, job: Job) -> None:
        job.arrival = job.changed = self.now
        self.jobs[job] = None

    def _is_idle(self, job: Job, processor: int) -> None:
        job.idle[processor] = since = self.now
        delay = self.policy.yield_delay
        if not delay:
            self.policy.yields(self, job, processor)
            return

        def after_delay() -> None:
            if self._owner[processor] is job and job.idle.get(processor) == since:
                self.policy.yields(self, job, processor)

        self.call_after(delay, after_delay)

    def _end(self, job: Job) -> None:
        for processor in tuple(job.held):
            self.take(processor)
        del self.jobs[job]
        job.end = self.now
        successor = self._on_end(job)
        if self._stopped:
            return
        if successor is not None:
            self._admit(successor)
        self.policy.ended(self, job)
        if successor is not None:
            self.policy.arrived(self, successor)

    def _resume(self, job: Job) -> None:
        """Let idle processors of a job go on with its ready threads: no reallocation."""
        while job.idle and len(job.ready) > job.starting:
            processor, since = job.idle.popitem()
            job.waste += self.now - since
            self._start(processor, job.ready.pop())

    def _start(self, processor: int, thread: Thread) -> None:
        self._thread[processor] = thread
        self._ends[processor] = self.now + thread[0]
        self._await(processor, self.now + thread[0])

    def _await(self, processor: int, time: float) -> None:
        self._due[processor] = number = next(self._numbers)
        heappush(self._heap, (time, number, processor))

    def _check_processor(self, processor: int) -> None:
        if processor not in self._processors:
            raise DfoptError(
                f"the policy {self.policy.name!r} names processor {processor!r}, but there are 0 "
                f"to {len(self._processors) - 1}"
            )

    def _penalty(self, job: Job, worker: Worker, processor: int) -> float:
        """Return what the cache lacks, and count what has affinity."""
        penalties = job.application.penalties
        if worker.last_processor != processor:
            return penalties.no_affinity
        job.affine += 1
        between = self.last[processor]
        if between is None or between is worker:
            return 0.0  # nobody was there
        penalty = penalties.returning_after(between.job.application.name)
        assert penalty is not None  # the mix was checked
        job.returning += penalty
        return penalty

    def _forgo_start(self, job: Job, processor: int) -> None:
        """Give back what was booked for a start-up that is cut short."""
        self._cut_short += 1
        if self._cut_short == MOST_CUT_SHORT * len(self._processors):
            raise DfoptError(
                f"the policy {self.policy.name!r} has cut short {self._cut_short:,} start-ups in a "
                "row; let it preempt less often than a reallocation takes (policy.review_interval)"
            )
        elapsed = self.now - self._given[processor]
        latency = self.machine.latency
        job.waste -= latency - min(elapsed, latency)
        spent = max(0.0, elapsed - latency)
        job.overhead -= self._overhead[processor] - min(spent, self._overhead[processor])
