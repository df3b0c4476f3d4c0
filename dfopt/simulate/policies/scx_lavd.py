"""scx_lavd's core idea: the more latency-critical a thread is, the earlier is its deadline."""

from __future__ import annotations

from dataclasses import dataclass, field

from dfopt.checks import check_integer
from dfopt.simulate.contract import DISK, NOBODY, Policy, Thread, Why
from dfopt.simulate.policies.fair_queues import FairEntity
from dfopt.simulate.policies.scx_simple import DispatchQueue
from dfopt.structs import Positive
from dfopt.trace.nice import NICE_0

SECOND = 1_000_000_000
"""Frequencies are per second, and longer run times count as this long."""

LARGEST_FREQUENCY = 100_000

WAKES_APART = 500_000
"""Wake-ups that follow one another sooner do not count for the frequency."""

LONGEST_RUN = 5_000_000
"""What a thread executed since it slept delays its deadline up to here."""

LARGEST_LAG = 500_000_000
"""The time that a thread can be ahead of others, or behind them."""

WINDOW = 300_000_000 >> 16
"""Deadlines begin this long before the clock, so that critical threads overtake others."""

WOKEN, BOUND, BOUND_TO_ONE, WOKEN_BY_TIMER, WOKEN_BY_DISK = 128, 128, 256, 512, 1024
"""What is added to the factor of a thread's weight."""


def averaged(old: int, new: int) -> int:
    """Return an average in which the new value counts for an eighth."""
    return old - (old >> 3) + (new >> 3)


@dataclass(slots=True, eq=False)
class LavdEntity(FairEntity):
    """The data about a thread's behaviour.

    Attributes
    ----------
    wait_frequency, wake_frequency
        How frequently it waits for something, and wakes others, per second.
    run_average
        The average time that it executes between two waits.
    criticality
        How latency-critical it is.
    inherited
        The criticality of its waker, and the largest of those that it woke since it was last ready.
    waited_at, woke_at, run_before
        When it last began to wait, when it last woke another one, and the time it had executed when
        it last became ready after a wait.
    stops_at
        When it will probably stop running.
    """

    run_average: int = 0
    wait_frequency: int = 0
    wake_frequency: int = 0
    criticality: int = 0
    inherited: list[int] = field(default_factory=lambda: [0, 0])
    waited_at: int = 0
    woke_at: int = 0
    stops_at: int = 0
    run_before: int = 0


@dataclass(eq=False)
class ScxLavd(Policy):
    """The thread with the earliest deadline runs; latency-critical threads have early ones.

    The rules are those of ``scx_lavd`` (``scheds/rust/scx_lavd`` of github.com/sched-ext/scx):

    - A thread is the more latency-critical the more frequently it waits and wakes others, for then
      it is in the midst of a chain of threads, and the shorter it runs at a time. Its criticality
      is the square of log2(waits · wakes) + log2(shortness · weight). Its weight counts for more
      after a wake-up, above all by a device, and if it is bound to CPUs.
    - It inherits some criticality from its waker and from those that it wakes, at most a quarter of
      its own.
    - Its deadline is ``(5 ms + what it executed since it slept, at most 5 ms) · greed /
      criticality`` after a clock. The greed is 1 if it had less time than the average, by weight,
      and up to 2 if it had more.
    - The clock moves towards the deadline of each thread that begins to run, by a part of the way:
      1 / number of waiting threads.
    - The slice is ``targeted_latency`` times CPUs per waiting thread, within limits. If nobody
      waits, a thread gets the time that it takes on average, and a little more.
    - A thread that wakes up goes to its last CPU if that is idle, else to any idle one. If there is
      none, and no waiting thread is more critical, it preempts the least critical one of those that
      are less critical than itself and probably run for longer.

    Left out: the frequencies of CPUs and the use of few CPUs at low load, queues for each cache,
    longer slices of critical threads under load, and boosts of threads that hold a lock.

    Parameters
    ----------
    targeted_latency
        Time in which every waiting thread should run once.
    min_slice, max_slice
        Limits of time slices.
    """

    name = "scx-lavd"
    obeys_cpus_allowed = True

    targeted_latency: Positive = 10_000_000
    min_slice: Positive = 500_000
    max_slice: Positive = 5_000_000

    def __post_init__(self) -> None:
        super().__post_init__()
        check_integer(self.max_slice, "max_slice", least=self.min_slice)

    def begin(self) -> None:
        """Make the queue."""
        self._queue = DispatchQueue()
        self._clock = WINDOW
        # Threads that have not ended, and the sum of their virtual run times.
        self._threads = 0
        self._service = 0

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> int:
        """Queue up by deadline."""
        now = self.engine.now
        if why is Why.NEW:
            vruntime = self._service // max(1, self._threads)
            thread.own = LavdEntity(
                thread.weight,
                vruntime,
                run_average=self.max_slice,
                waited_at=now,
                woke_at=now,
                stops_at=now,
            )
            self._threads += 1
            self._service += vruntime
        entity: LavdEntity = thread.own
        if why in (Why.NEW, Why.WOKEN):
            entity.run_before = thread.run_time
            if thread.waker is not None:
                self._note_waker(entity, thread.waker.own)
        else:
            self._stopped(thread)
        entity.criticality = self._criticality(thread, why)
        entity.deadline = self._deadline(thread)
        self._queue.add(thread, entity.deadline)
        if why not in (Why.NEW, Why.WOKEN):
            return NOBODY
        last = () if thread.cpu is None else (thread.cpu,)
        targets: tuple[int, ...] = (*last, *self.engine.idle())
        for target in targets:
            if self.engine.is_idle(target) and thread.may_run_on(target):
                return target
        if all(other.own.criticality <= entity.criticality for other in self._queue.threads):
            self._preempt(thread)
        return NOBODY

    def _note_waker(self, entity: LavdEntity, waker: LavdEntity) -> None:
        """Count a wake-up for the waker, and let both inherit."""
        interval = self.engine.now - waker.woke_at
        if interval >= WAKES_APART:
            waker.wake_frequency = averaged(waker.wake_frequency, SECOND // interval)
            waker.woke_at = self.engine.now
        entity.inherited[0] = waker.criticality
        waker.inherited[1] = max(waker.inherited[1], entity.criticality)

    def _stopped(self, thread: Thread) -> None:
        """Count what a thread has executed."""
        entity: LavdEntity = thread.own
        before = entity.vruntime
        entity.charge(thread.run_time)
        self._service += entity.vruntime - before
        entity.run_average = averaged(entity.run_average, thread.run_time - entity.run_before)

    def _criticality(self, thread: Thread, why: Why) -> int:
        """Return how latency-critical a thread is."""
        entity: LavdEntity = thread.own
        boost = 1
        if why is Why.WOKEN:
            boost += WOKEN
            if thread.waker is None:
                boost += WOKEN_BY_DISK if thread.band == DISK else WOKEN_BY_TIMER
        if thread.cpus_allowed is not None:
            boost += BOUND_TO_ONE if len(thread.cpus_allowed) == 1 else BOUND
        waits, wakes = (
            min(frequency, LARGEST_FREQUENCY) + 1
            for frequency in (entity.wait_frequency, entity.wake_frequency)
        )
        shortness = max(0, SECOND - entity.run_average) // self.min_slice + 1
        weight = entity.weight * 100 // NICE_0 * boost + 1
        own = ((waits * wakes).bit_length() + (shortness * weight).bit_length()) ** 2
        given = sum(entity.inherited) - 2 * own
        entity.inherited = [0, 0]
        return own + min(given >> 3, own >> 2) if given > 0 else own

    def _deadline(self, thread: Thread) -> int:
        """Return the virtual time at which a thread should run."""
        entity: LavdEntity = thread.own
        average, most = self._service // self._threads, entity.virtual(LARGEST_LAG)
        if average - entity.vruntime > most:  # it has slept for long
            self._service += average - most - entity.vruntime
            entity.vruntime = average - most
        lag = max(average - entity.vruntime, -most)
        run = LONGEST_RUN + min(thread.run_time - entity.run_before, LONGEST_RUN)
        delta = run * (3 * most - lag) // (2 * most) // entity.criticality
        window = WINDOW * self.engine.cpus // max(self.engine.cpus, len(self._queue))
        return self._clock - window + delta

    def _preempt(self, thread: Thread) -> None:
        """Take the CPU of the least critical thread of those that this one may preempt."""
        entity: LavdEntity = thread.own
        stops_at = self.engine.now + min(entity.run_average, self.max_slice)
        victims = [
            (running.own.criticality, cpu)
            for cpu, running in enumerate(self.engine.running)
            if running is not None
            and thread.may_run_on(cpu)
            and running.own.criticality < entity.criticality
            and running.own.stops_at > stops_at
        ]
        if victims:
            self.engine.preempt(min(victims)[1])

    def pick(self, cpu: int) -> Thread | None:
        """Take the thread with the earliest deadline, and move the clock."""
        thread = self._queue.take(cpu)
        if thread is not None:
            delay = max(0, thread.own.deadline - self._clock)
            self._clock += delay // max(1, len(self._queue))
        return thread

    def slice(self, thread: Thread, cpu: int) -> int:
        """Return a share of the targeted latency, or the time that the thread takes."""
        entity: LavdEntity = thread.own
        if self._queue:
            share = self.targeted_latency * self.engine.cpus // len(self._queue)
            time_slice = min(max(share, self.min_slice), self.max_slice)
        else:
            time_slice = min(max(entity.run_average + self.min_slice, self.max_slice), LARGEST_LAG)
        entity.stops_at = self.engine.now + min(entity.run_average, time_slice)
        return time_slice

    def blocked(self, thread: Thread, cpu: int) -> None:
        """Count the wait."""
        self._stopped(thread)
        entity: LavdEntity = thread.own
        interval = self.engine.now - entity.waited_at
        if interval:
            entity.wait_frequency = averaged(entity.wait_frequency, SECOND // interval)
            entity.waited_at = self.engine.now

    def ended(self, thread: Thread, cpu: int) -> None:
        """Forget it."""
        self._threads -= 1
        self._service -= thread.own.vruntime
