"""The engine: a heap of events, the processors they happen on, and policies that move these.

Events are arrivals, the ends of threads, of start-ups and of yield delays, and the calls that
policies asked for. Each end of a thread is an event of its own: nothing is batched. Often a
processor then goes on with the next thread of the same job. This concerns no other job and no
policy, so :meth:`Engine.run` deals with it on the spot.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush, heapreplace
from itertools import count
from typing import ClassVar

from dfopt.errors import DfoptError
from dfopt_models.space_sharing.job import ParallelJob, Worker
from dfopt_models.space_sharing.mix import AllocationParameters, Mix, TieBreak
from dfopt_models.space_sharing.programs import Thread

CANCELLED = -1
"""The event number of a processor that waits for no event."""

MOST_CUT_SHORT = 10_000
"""At most this many start-ups per processor may be cut short while none ends.

If there are more, the policy lets no job do anything.
"""

Event = tuple[float, int, "ProcessorState | Callable[[], None]"]
"""The time of an event, a unique number, and the event's processor or the function to call."""

StayListener = Callable[[Worker, int, float, float], None]
"""Called with a worker, a processor, and the start and end of its stay there, in seconds."""


@dataclass(slots=True, eq=False)
class ProcessorState:
    """A processor and what it does; most of it means nothing while no job holds it, or it is idle.

    Attributes
    ----------
    number
        Its number.
    owner, worker
        The job that holds it, and the worker that is active there; None where nobody holds it.
    thread
        What it runs; None where it runs no thread yet.
    due
        The number of the event that it waits for.
    ends
        When the thread ends, in seconds.
    given, overhead
        When its job was given it, and what the reallocation takes, in seconds.
    """

    number: int
    owner: ParallelJob | None = None
    worker: Worker | None = None
    thread: Thread | None = None
    due: int = CANCELLED
    ends: float = 0.0
    given: float = 0.0
    overhead: float = 0.0


class AllocationPolicy:
    """Decides which job gets which processor; this base class gives no job any.

    Every callback may look at the engine, give processors with :meth:`~Engine.give`, take
    them with :meth:`~Engine.take`, and ask to be called later with
    :meth:`~Engine.call_after`. A job keeps an idle processor until the policy takes it
    away.

    Parameters
    ----------
    parameters
        The mix's numbers and tie-breaks.
    """

    name: ClassVar[str]
    """The policy's name on the command line and in files."""

    def __init__(self, parameters: AllocationParameters) -> None:
        self.parameters = parameters

    @property
    def yield_delay(self) -> float:
        """Seconds that a processor is idle before :meth:`yields` is called."""
        return 0.0

    def arrived(self, engine: Engine, job: ParallelJob) -> None:
        """Act on the arrival of a job; others that arrive at the same time are there already."""

    def ended(self, engine: Engine, job: ParallelJob) -> None:
        """Act on the end of a job, whose processors are now unallocated.

        A job that takes its place is there already, and arrives next.
        """

    def wants(self, engine: Engine, job: ParallelJob) -> None:
        """Act on the request of a job that could use more processors."""

    def yields(self, engine: Engine, job: ParallelJob, processor: int) -> None:
        """Act on an idle processor, which its job is willing to yield."""

    def worker(self, engine: Engine, job: ParallelJob, processor: int) -> Worker:
        """Return the inactive worker that a job activates on a processor it is given."""
        return chosen_worker(engine, list(job.inactive), self.parameters.worker)


class Engine:
    """Runs the jobs of a mix under a policy, which sees its attributes and may act by its methods.

    Parameters
    ----------
    mix
        Machine and parameters; its jobs arrive by :meth:`call_after` and :meth:`arrive`.
    policy
        A new one, since a policy may remember what it saw.
    seed
        Seed of the policy's random choices.
    on_end
        Called with every job that has ended, before the policy hears of it; returns the job that
        takes its place, if there is one.
    on_stay
        Called with every stay of a worker on a processor; None: not needed.

    Attributes
    ----------
    machine
        The machine of the mix.
    now
        Seconds since the beginning.
    jobs
        The jobs that have arrived and have not ended, in the order of their arrival.
    free
        Unallocated processors, in the order in which they became so.
    last
        By processor: the worker that left it last (its history, T = 1).
    random
        For random choices: the same seed gives the same run.
    events
        How many have happened.
    """

    def __init__(
        self,
        mix: Mix,
        policy: AllocationPolicy,
        *,
        seed: int,
        on_end: Callable[[ParallelJob], ParallelJob | None],
        on_stay: StayListener | None = None,
    ) -> None:
        self.machine = mix.machine
        self.policy = policy
        self.random = random.Random(seed)
        self.now = 0.0
        self.events = 0
        self.jobs: dict[ParallelJob, None] = {}
        processors = mix.machine.processors
        self._processors = [ProcessorState(number) for number in range(processors)]
        self.free = dict.fromkeys(range(processors))
        self.last: list[Worker | None] = [None] * processors
        self._on_end = on_end
        self._on_stay = on_stay
        self._stopped = False
        self._cut_short = 0
        self._heap: list[Event] = []
        self._numbers = count()

    # Reads and requests of policies.

    def owner(self, processor: int) -> ParallelJob | None:
        """Return the job that holds a processor, or None."""
        return self._processors[processor].owner

    def give(self, processor: int, job: ParallelJob, worker: Worker | None = None) -> None:
        """Give a processor to a job: a reallocation.

        A job that holds the processor loses it. A thread that runs there waits for another
        processor of its job.

        Parameters
        ----------
        processor
            Free, or another job's.
        job
            A job with an inactive worker.
        worker
            One of its inactive workers; if None, the policy's :meth:`~AllocationPolicy.worker`
            chooses.

        Raises
        ------
        DfoptError
            When there is no such processor; the job has ended, holds the processor already, or
            has no inactive worker; or the worker is none of these.
        """
        state = self._processor(processor)
        if job not in self.jobs or state.owner is job or not job.inactive:
            raise DfoptError(
                f"the policy {self.policy.name!r} gives processor {processor} to {job.name}, which "
                "has ended, holds it already, or has no inactive worker"
            )
        if state.owner is not None:
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
        state.owner, state.worker, state.thread = job, worker, None
        state.given, state.overhead = self.now, overhead
        self._await(state, self.now + self.machine.latency + overhead)

    def take(self, processor: int) -> None:
        """Take a processor from its job, so that it is unallocated.

        Raises
        ------
        DfoptError
            When there is no such processor, or no job holds it.
        """
        state = self._processor(processor)
        job, worker = state.owner, state.worker
        if job is None or worker is None:
            raise DfoptError(
                f"the policy {self.policy.name!r} takes processor {processor}, which nobody holds; "
                "ask for its owner first"
            )
        thread, now = state.thread, self.now
        job.settle(now)
        del job.held[processor]
        busy_until = now
        has_run = thread is not None or processor in job.idle
        if processor in job.idle:
            busy_until = job.idle.pop(processor)
            job.waste += now - busy_until
        elif thread is None:
            job.starting -= 1
            self._forgo_start(job, state)
        else:
            left = state.ends - now
            job.work += thread[0] - left
            job.ready.append((left, thread[1]))
        if self._on_stay is not None:
            began = state.given + self.machine.latency + state.overhead
            self._on_stay(worker, processor, began, busy_until)
        if has_run:  # otherwise it left nothing in the cache
            worker.last_processor = processor
            self.last[processor] = worker
        worker.processor = None
        job.inactive[worker] = None
        state.owner, state.due = None, CANCELLED
        self.free[processor] = None
        if job.idle and job.ready:
            self._resume(job)

    def call_after(self, seconds: float, callback: Callable[[], None]) -> None:
        """Call a function some seconds from now.

        Raises
        ------
        DfoptError
            When the seconds are negative.
        """
        if not seconds >= 0:
            raise DfoptError(
                f"the policy {self.policy.name!r} asks to be called in {seconds!r} s; make it 0 or "
                "more"
            )
        heappush(self._heap, (self.now + seconds, next(self._numbers), callback))

    # Events.

    def arrive(self, *jobs: ParallelJob) -> None:
        """Let jobs arrive, all at the same time."""
        for job in jobs:
            self._admit(job)
        for job in jobs:
            self.policy.arrived(self, job)

    def stop(self) -> None:
        """End the simulation after the present event."""
        self._stopped = True

    def run(self) -> None:
        """Run until :meth:`stop`.

        Raises
        ------
        DfoptError
            When no event is left, or when every start-up is cut short.
        """
        heap, numbers = self._heap, self._numbers
        events = 0
        while heap and not self._stopped:
            now, number, state = heap[0]
            if not isinstance(state, ProcessorState):
                heappop(heap)
                events += 1
                self.now = now
                state()
                continue
            if state.due != number:
                heappop(heap)
                continue
            events += 1
            job, thread = state.owner, state.thread
            assert job is not None
            released = None
            if thread is not None:
                job.work += thread[0]
                released = job.program.finish(thread[1])
            else:
                job.starting -= 1
                self._cut_short = 0
            ready = job.ready
            if ready and released is None:
                state.thread = thread = ready.pop()
                state.ends = end = now + thread[0]
                state.due = number = next(numbers)
                heapreplace(heap, (end, number, state))
                continue
            heappop(heap)
            self.now = now
            state.due = CANCELLED
            if released is None:
                self._is_idle(job, state)
            elif released:
                ready.extend(released)
                self._start(state, ready.pop())
                self._resume(job)
                if job.wants:
                    self.policy.wants(self, job)
            else:
                job.idle[state.number] = now
                self._end(job)
        self.events += events
        if not self._stopped:
            raise DfoptError(
                f"the policy {self.policy.name!r} leaves "
                f"{', '.join(job.name for job in self.jobs)} without a processor for ever"
            )

    def _admit(self, job: ParallelJob) -> None:
        job.arrival = job.changed = self.now
        self.jobs[job] = None

    def _is_idle(self, job: ParallelJob, state: ProcessorState) -> None:
        processor, since = state.number, self.now
        job.idle[processor] = since
        delay = self.policy.yield_delay
        if not delay:
            self.policy.yields(self, job, processor)
            return

        def after_delay() -> None:
            if state.owner is job and job.idle.get(processor) == since:
                self.policy.yields(self, job, processor)

        self.call_after(delay, after_delay)

    def _end(self, job: ParallelJob) -> None:
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

    def _resume(self, job: ParallelJob) -> None:
        """Let idle processors of a job go on with its ready threads: no reallocation."""
        while job.idle and len(job.ready) > job.starting:
            processor, since = job.idle.popitem()
            job.waste += self.now - since
            self._start(self._processors[processor], job.ready.pop())

    def _start(self, state: ProcessorState, thread: Thread) -> None:
        state.thread, state.ends = thread, self.now + thread[0]
        self._await(state, state.ends)

    def _await(self, state: ProcessorState, time: float) -> None:
        state.due = number = next(self._numbers)
        heappush(self._heap, (time, number, state))

    def _processor(self, number: int) -> ProcessorState:
        if number not in range(len(self._processors)):
            raise DfoptError(
                f"the policy {self.policy.name!r} names processor {number!r}, but there are 0 "
                f"to {len(self._processors) - 1}"
            )
        return self._processors[number]

    def _penalty(self, job: ParallelJob, worker: Worker, processor: int) -> float:
        """Return the cache penalty of a reallocation, in seconds; count it if it has affinity."""
        penalties = job.application.penalties
        if worker.last_processor != processor:
            return penalties.no_affinity
        job.affine += 1
        between = self.last[processor]
        if between is None or between is worker:
            return 0.0  # no other worker was there
        penalty = penalties.returning_after(between.job.application.name)
        assert penalty is not None  # the mix was checked
        job.returning += penalty
        return penalty

    def _forgo_start(self, job: ParallelJob, state: ProcessorState) -> None:
        """Take back what was booked for a start-up that is cut short."""
        self._cut_short += 1
        if self._cut_short == MOST_CUT_SHORT * len(self._processors):
            raise DfoptError(
                f"the policy {self.policy.name!r} has cut short {self._cut_short:,} start-ups in a "
                "row; let it preempt less often than a reallocation takes (policy.review_interval)"
            )
        latency = self.machine.latency
        elapsed = self.now - state.given
        job.waste -= latency - min(elapsed, latency)
        job.overhead -= state.overhead - min(max(0.0, elapsed - latency), state.overhead)


def chosen_worker(engine: Engine, workers: list[Worker], tie_break: TieBreak) -> Worker:
    """Return one of several inactive workers, given in the order in which they stopped."""
    match tie_break:
        case TieBreak.LATEST:
            # Workers that never ran have not stopped; the first of them is as good as any.
            ran = (worker for worker in reversed(workers) if worker.last_processor is not None)
            return next(ran, workers[0])
        case TieBreak.EARLIEST:
            return workers[0]
        case TieBreak.LOWEST:
            return min(workers, key=lambda worker: worker.number)
        case TieBreak.RANDOM:
            return engine.random.choice(workers)
