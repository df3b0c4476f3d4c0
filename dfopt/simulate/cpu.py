"""A CPU: it lets the policy pick threads, lets them do what they do, and notes its dispatches.

A *dispatch* is a stretch in which one thread uses one fragment on one CPU: a row of the trace. It
goes on when the same thread is picked again at once, and a new one begins when the thread changes
to another fragment. The penalty is paid at its beginning and is never preempted; after it each
dispatch executes for at least one unit of time, if it is that long. Time slices count execution
alone.

What callbacks have asked for is done first, and what follows from them happens when that is done:
the CPU goes on, and the CPUs are asked that they have named. Interrupts wait for that too, and a
burst that runs waits for an interrupt.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from heapq import heappush
from inspect import isgenerator
from itertools import chain
from typing import Any

from dfopt.errors import DfoptError
from dfopt.problem.cache import CLEAN, UNMANAGED
from dfopt.simulate.contract import (
    DISK,
    KERNEL,
    NOBODY,
    USER,
    Policy,
    SpinLock,
    State,
    Task,
    Thread,
    Why,
)
from dfopt.simulate.recorder import packed
from dfopt.simulate.requests import STALLED, Requests
from dfopt.simulate.workload import Burst, Pause
from dfopt.trace.events import Stop

CANCELLED = -1
"""The event number of a CPU that waits for no event."""

FOREVER = 1 << 62
"""A time slice that never ends."""

# Members of an enumeration take long to look up.
READY, RUNNING, BLOCKED, ENDED = State.READY, State.RUNNING, State.BLOCKED, State.ENDED
YIELDS, EXPIRED, PREEMPTED, CHANGED = Why.YIELDED, Why.EXPIRED, Why.PREEMPTED, Why.CHANGED
YIELDED = Pause.YIELDED
GOES_ON, SLEEPS, ENDS = int(Stop.PREEMPTED), int(Stop.SLEEPS), int(Stop.ENDS)


class Cpu:
    """A CPU of the kernel, whose methods are called at the kernel's time.

    A dispatch stays open when its thread leaves, since that may be picked again at once. The time
    from there to the next dispatch is a gap: if the same dispatch goes on it joins that, and
    otherwise it is overhead.

    Parameters
    ----------
    number
        Its number.
    kernel
        The kernel that it belongs to.

    Attributes
    ----------
    due
        Number of the event that it waits for, or :data:`CANCELLED`.
    is_at_work
        Whether it does something in the scheduler.
    is_called
        Whether it has been asked to choose since it has been at work.
    """

    __slots__ = (
        "_agenda", "_asks", "_began", "_begins", "_cache", "_counters", "_has_slices",
        "_hears_blocked", "_hears_changes", "_held", "_is_suspended", "_is_taken", "_joins",
        "_kernel", "_left_before", "_note", "_numbers", "_pays_from", "_penalty", "_pending",
        "_policy", "_row_end", "_row_fragment", "_row_leaves", "_row_lines", "_row_start",
        "_row_stop", "_row_thread", "_running", "_served", "_serves", "_slice", "_switch_time",
        "_tasks", "_then", "due", "is_at_work", "is_called", "number",
    )  # fmt: skip

    def __init__(self, number: int, kernel: Requests) -> None:
        self.number = number
        self._kernel = kernel
        self._policy = kernel.policy
        policy = type(kernel.policy)
        self._has_slices = policy.slice is not Policy.slice
        self._hears_blocked = policy.blocked is not Policy.blocked
        self._hears_changes = policy.changes is not Policy.changes
        self._running = kernel.running
        self._counters = kernel.counters
        self._agenda = kernel.agenda
        self._numbers = kernel.numbers
        self._switch_time = kernel.machine.switch_time
        self._cache = kernel.caches[number]
        # Looked up once, since it is called for every dispatch.
        self._note = kernel.recorder.cells.extend
        self.due = CANCELLED
        # The time when the running burst began, or goes on, after its penalty.
        self._begins = 0
        # The penalty that it pays before that, and from when on.
        self._penalty = 0
        self._pays_from = 0
        # The rest of the time slice at that time.
        self._slice = 0
        # The thread whose dispatch is open; it may have left the CPU and still be picked again.
        self._row_thread: Thread | None = None
        self._row_start = 0
        self._row_end = 0
        self._row_fragment = UNMANAGED
        self._row_lines = 0
        self._row_leaves = CLEAN
        self._left_before = CLEAN
        self._row_stop = GOES_ON
        # The time that interrupts took since the open dispatch was left.
        self._served = 0
        self.is_at_work = False
        self.is_called = False
        # Interrupts that it has yet to serve.
        self._pending: deque[Callable[[], None]] = deque()
        # Its work: since when, what is left of it, the lock that it holds, what comes then, and who
        # is asked then.
        self._began = 0
        self._tasks: deque[Task] = deque()
        self._held: SpinLock | None = None
        self._then: Callable[[], None] = self._idle
        self._asks: list[int] = []
        # Whether it serves an interrupt, whether a burst waits for that, and whether the time
        # belongs to the dispatch of the thread that goes on then.
        self._serves = False
        self._is_suspended = False
        self._joins = False
        # Whether its thread leaves it at the end of the penalty.
        self._is_taken = False

    # What the kernel asks for.

    def wake_up(self) -> None:
        """Let an idle CPU choose, as soon as it is awake."""
        kernel = self._kernel
        if kernel.machine.wake_time:
            kernel.tasks.append(kernel.machine.wake_time)
        self._choose_then()

    def choose(self) -> None:  # noqa: PLR0912 - in one piece, since nothing is done as often
        """Let the policy pick threads until one of them has a burst to run, or it picks none."""
        kernel, policy, counters = self._kernel, self._policy, self._counters
        waiting, resting, number = kernel.waiting, kernel.resting, self.number
        self.is_called = False
        picked = 0
        while picked < STALLED:
            picked += 1
            if kernel.preempted:
                # It chooses anew at this moment.
                kernel.preempted.discard(number)
            thread = policy.pick(number)
            if thread is None:
                self._rest()
                return
            if thread.__class__ is not Thread or thread.state is not READY:
                raise kernel.fault(_wrong_pick(thread, number))
            thread.state = RUNNING
            band = thread.band
            waiting[band] -= 1
            if band and (waiting[DISK] or (band == USER and waiting[KERNEL])):
                counters.inversions += 1
            now = kernel.now
            counters.waits += 1
            waited = now - thread.ready_at
            if waited:
                longest = counters.longest_wait
                counters.waited += waited
                counters.longest_wait = waited if waited > longest else longest
            self._running[number] = thread
            self._begins = now  # it has executed nothing since
            if number in resting:
                del resting[number]
            time_slice = (policy.slice(thread, number) if self._has_slices else 0) or FOREVER
            if time_slice.__class__ is not int or time_slice < 0:
                raise kernel.fault(
                    f"gives {thread.name} a time slice of {time_slice}; give it a positive "
                    "integer, or 0 for one without an end"
                )
            self._slice = time_slice
            if thread.cpu != number:
                # Where it has run before it may run.
                if thread.cpus_allowed is not None and number not in thread.cpus_allowed:
                    allowed = ", ".join(map(str, sorted(thread.cpus_allowed)))
                    raise kernel.fault(
                        f"lets {thread.name} run on CPU {number}, but it may run on {allowed} "
                        "only; look at cpus_allowed in pick()"
                    )
                thread.cpu = number
                if self._row_thread is thread:
                    # It has run elsewhere since.
                    self._end_gap()
            if kernel.tasks:
                self._work(self._start)
                return
            burst = thread.burst
            if burst is not None:
                self._begin(thread, burst)
                return
            if self._goes_on(thread):
                return
            if kernel.tasks:
                self._work(self.choose)
                return
        raise kernel.stalled()

    def burst_ends(self) -> None:
        """Act on the end of a burst or a time slice, or on a thread that had to pay first."""
        kernel = self._kernel
        thread = self._running[self.number]
        assert thread is not None
        self._execute(thread, kernel.now)
        is_taken, self._is_taken = self._is_taken, False
        if thread.left:
            self._puts_back(thread, PREEMPTED if is_taken else EXPIRED)
        else:
            if is_taken:  # in case it goes on with another burst
                kernel.preempt(self.number)
            if self._goes_on(thread):
                return
        self._choose_then()

    def take_off(self) -> None:
        """Take the running thread off, as soon as it has paid and executed something."""
        thread, now = self._running[self.number], self._kernel.now
        assert thread is not None
        executed = now - self._begins
        if executed <= 0:
            self._is_taken = True
            self._await(self._begins + min(1, thread.left))
            return
        if executed == thread.left:  # its burst ends at this moment, which comes first
            self._is_taken = True
            return
        self._execute(thread, now)
        self.due = CANCELLED
        self._puts_back(thread, PREEMPTED)
        self._choose_then()

    def stop(self) -> None:
        """Close the open dispatch at the end of the simulation."""
        now, thread = self._kernel.now, self._running[self.number]
        if self.is_at_work:
            self._account(now)
        if thread is None or (self.is_at_work and not self._is_suspended):
            if self._row_thread is not None:
                self._end_gap()
            return
        self._cut(thread, now)

    def interrupt(self, happening: Callable[[], None]) -> None:
        """Serve an interrupt, as soon as the work in the scheduler is done.

        What happens in it happens at once; a burst that runs waits for as long as that takes.
        """
        if self.is_at_work:
            self._pending.append(happening)
            return
        self._happens(happening)
        if self._kernel.tasks:
            self._is_suspended = self._running[self.number] is not None
            self.due = CANCELLED
            self._work(self._resume if self._is_suspended else self._idle, serves=True)

    def progress(self) -> int:
        """Return the time for which its thread has executed since that was last noted."""
        if not self.is_at_work:
            # While a penalty is paid, the burst begins in the future.
            return max(0, self._kernel.now - self._begins)
        return max(0, self._began - self._begins) if self._is_suspended else 0

    # What its thread does.

    def _rest(self) -> None:
        """Be idle, after the policy has looked for a thread."""
        kernel = self._kernel
        if self._row_thread is not None:
            self._end_gap()
        kernel.resting[self.number] = None
        if kernel.tasks:
            self._work(self._idle)

    def _choose_then(self) -> None:
        """Choose, as soon as the work is done that the callbacks have asked for."""
        if self._kernel.tasks:
            self._work(self.choose)
        else:
            self.choose()

    def _start(self) -> None:
        """Let the thread that has been picked begin."""
        thread = self._running[self.number]
        assert thread is not None
        if thread.burst is not None:
            self._begin(thread, thread.burst)
        else:
            self._proceed()

    def _proceed(self) -> None:
        """Let the running thread do what it does next."""
        thread = self._running[self.number]
        assert thread is not None
        if not self._goes_on(thread):
            self._choose_then()

    def _goes_on(self, thread: Thread) -> bool:  # noqa: PLR0912 - calls would cost time here
        """Let a thread do what it does next; return whether it still has the CPU."""
        kernel, steps = self._kernel, thread.steps
        if thread.pending is not None:
            steps = chain((thread.pending,), steps)
            thread.pending = None
        # Any: to compare its class is the fastest way to tell bursts from steps.
        step: Any
        for step in steps:
            if step.__class__ is Burst:
                thread.burst = step
                thread.left = step.time
                thread.band = KERNEL if step.is_kernel else USER
                if step.fragment != thread.fragment and self._changes(thread, step.fragment):
                    self._puts_back(thread, CHANGED)
                    return False
                if self._slice <= 0:
                    self._puts_back(thread, EXPIRED)
                    return False
                if kernel.tasks:
                    self._work(self._start)
                else:
                    self._begin(thread, step)
                return True
            try:
                pause = step.perform(kernel, thread)
            except AttributeError:
                if hasattr(step, "perform"):
                    raise
                raise _wrong_step(step, thread) from None
            if pause is not None:
                if pause is YIELDED:
                    thread.look_ahead()
                    self._puts_back(thread, YIELDS)
                else:
                    self._leaves(thread, BLOCKED, SLEEPS)
                    if self._hears_blocked:
                        self._policy.blocked(thread, self.number)
                return False
            if kernel.tasks:
                self._work(self._proceed, joins=True)
                return True
        thread.burst = None
        kernel.alive -= 1
        self._leaves(thread, ENDED, ENDS)
        self._policy.ended(thread, self.number)
        return False

    def _changes(self, thread: Thread, fragment: int) -> bool:
        """Note that a running thread comes to another fragment; return whether it must leave."""
        before, thread.fragment = thread.fragment, fragment
        return self._hears_changes and self._policy.changes(thread, before, self.number)

    def _puts_back(self, thread: Thread, why: Why) -> None:
        """Let a thread leave the CPU although it could go on."""
        kernel, number = self._kernel, self.number
        thread.stopped_at = kernel.now
        self._running[number] = None
        kernel.enter(thread, why, number)

    def _leaves(self, thread: Thread, state: State, stop: int) -> None:
        """Let its thread leave; the dispatch goes on if the thread is picked again at once."""
        counters, now = self._counters, self._kernel.now
        thread.state = state
        thread.stopped_at = now
        self._running[self.number] = None
        if self._row_thread is thread:
            self._row_stop = stop
        time, longest = now - thread.woken_at, counters.longest_response
        counters.responses += 1
        counters.responded += time
        counters.longest_response = time if time > longest else longest

    # Its dispatches.

    def _begin(self, thread: Thread, burst: Burst) -> None:
        """Begin a burst, or its rest, and await its end, or that of the time slice."""
        begins = self._kernel.now
        is_open = self._row_thread
        if is_open is thread and self._row_fragment == burst.fragment:
            if begins > self._row_end:
                self._join_gap()
            self._left_before = so_far = self._row_leaves
            leaves = burst.leaves
            self._row_leaves = leaves if leaves > so_far else so_far
            penalty = self._cache.go_on(burst)
        else:
            if is_open is not None:
                if begins > self._row_end:
                    self._end_gap()
                else:
                    self._close()
            if is_open is not thread and self._switch_time:
                begins += self._switch_time
                self._counters.overhead += self._switch_time
            self._row_thread = thread
            self._row_start = self._row_end = begins
            self._row_fragment = burst.fragment
            self._row_lines = burst.lines
            self._row_leaves = burst.leaves
            penalty = self._cache.enter(burst)
        self._row_stop = GOES_ON
        self._pays_from = begins
        self._penalty = penalty
        if penalty:
            self._counters.penalties[self.number] += penalty
            begins += penalty
        self._begins = begins
        left = thread.left
        self._await(begins + (left if left < self._slice else self._slice))

    def _await(self, time: int) -> None:
        """Wait for the end of the burst, of the time slice, or of a task in the scheduler."""
        self.due = number = next(self._numbers)
        heappush(self._agenda, (time, number, self))

    def _execute(self, thread: Thread, now: int) -> None:
        """Note what its thread has executed up to now."""
        executed = now - self._begins
        thread.left -= executed
        thread.run_time += executed
        self._slice -= executed
        self._begins = self._row_end = now

    def _cut(self, thread: Thread, now: int) -> None:
        """Close the dispatch of a running thread at the end of the simulation.

        A burst that has executed nothing is undone. If its dispatch has no other one it is left
        out, and the CPU's time on it is overhead.
        """
        counters = self._counters
        if now > self._begins:
            self._execute(thread, now)
            self._close()
            return
        counters.penalties[self.number] -= self._penalty
        counters.overhead += now - self._pays_from
        counters.interrupted -= self._begins - self._penalty - self._pays_from
        if self._row_end > self._row_start:
            self._row_leaves = self._left_before
            self._close()

    def _join_gap(self) -> None:
        """Let the open dispatch last until now, with what has been done since it was left."""
        counters, now = self._counters, self._kernel.now
        counters.spun += now - self._row_end - self._served
        counters.interrupted += self._served
        self._served = 0
        self._row_end = now

    def _end_gap(self) -> None:
        """Close the open dispatch, which ended when its thread left."""
        self._counters.overhead += self._kernel.now - self._row_end
        self._served = 0
        self._close()

    def _close(self) -> None:
        """End the dispatch."""
        thread = self._row_thread
        assert thread is not None
        self._note(
            packed(
                self.number,
                self._row_start,
                self._row_end,
                thread.number,
                self._row_fragment,
                self._row_lines,
                self._row_leaves,
                self._row_stop,
            )
        )
        self._row_thread = None

    # Its work in the scheduler.

    def _happens(self, happening: Callable[[], None]) -> None:
        kernel = self._kernel
        if kernel.machine.interrupt_time:
            kernel.tasks.append(kernel.machine.interrupt_time)
        kernel.charged = self.number
        happening()
        kernel.charged = NOBODY

    def _resume(self) -> None:
        """Let the burst go on that has waited."""
        thread, now = self._running[self.number], self._kernel.now
        assert thread is not None
        self._is_suspended = False
        if self._is_taken:
            self._await(max(now, self._begins + min(1, thread.left)))
        else:
            self._await(self._begins + min(thread.left, self._slice))

    def _idle(self) -> None:
        """Go on being idle."""

    def _work(self, then: Callable[[], None], *, serves: bool = False, joins: bool = False) -> None:
        """Do the work that the callbacks have asked for, and then something.

        ``serves`` says that it serves an interrupt, ``joins`` that the thread at work goes on
        afterwards, so that the time belongs to its dispatch, if that is open.
        """
        kernel = self._kernel
        tasks, self._asks = kernel.taken()
        self.is_at_work = True
        self._then = then
        self._began = kernel.now
        self._serves = serves
        self._joins = joins
        self._tasks = deque(tasks)
        self.go_on()

    def go_on(self) -> None:
        """Finish the task that ends now, and begin the next one.

        A lock is asked for when the CPU gets to it, so those who come before then get it first.
        """
        now = self._kernel.now
        held, self._held = self._held, None
        if held is not None:
            held.release(now)
        if not self._tasks:
            self._has_worked()
            return
        task = self._tasks.popleft()
        if isinstance(task, int):
            self._await(now + task)
            return
        lock, hold = task
        lock.attempts += 1
        if lock.is_free(now):
            self._take(lock, hold, now)
        else:
            lock.misses += 1
            lock.waiting.append(partial(self._get, lock, hold, now))

    def _get(self, lock: SpinLock, hold: int, came: int, now: int) -> None:
        """Take a lock that it has waited for."""
        lock.spun += now - came
        self._take(lock, hold, now)

    def _take(self, lock: SpinLock, hold: int, now: int) -> None:
        doubling = self._kernel.machine.lock_doubling
        if doubling:
            # Those who spin load the bus that the holder needs.
            hold += hold * len(lock.waiting) // doubling
        lock.free_at = now + hold
        self._held = lock
        self._await(lock.free_at)

    def _has_worked(self) -> None:
        """Ask the CPUs that were named, serve interrupts that have come, and go on."""
        kernel, then = self._kernel, self._then
        self._account(kernel.now)
        self.is_at_work = False
        kernel.asked.extend(self._asks)
        while self._pending:
            kernel.settled = len(kernel.asked)
            self._happens(self._pending.popleft())
            if kernel.tasks:
                self._work(then, serves=True, joins=self._joins)
                return
        kernel.settled = len(kernel.asked)
        then()
        if self.is_called and not self.is_at_work:
            self.is_called = False
            kernel.asked.append(self.number)

    def _account(self, now: int) -> None:
        """Note what the time of the work was that ends now."""
        counters, time = self._counters, now - self._began
        row = self._row_thread
        if self._is_suspended:
            self._begins += time
            if self._pays_from > self._began:  # on the way to the dispatch
                self._pays_from += time
                self._row_start += time
                counters.overhead += time
            else:
                counters.interrupted += time
        elif row is None:
            counters.overhead += time
        else:
            if self._serves:
                self._served += time
            if self._joins and self._running[self.number] is row:
                self._join_gap()


def _wrong_pick(picked: object, cpu: int) -> str:
    """Return what is wrong with a pick that is no thread, or cannot run."""
    if isinstance(picked, Thread):
        return (
            f"lets {picked.name} run on CPU {cpu}, which is {picked.state.value}; pick ready "
            "threads only"
        )
    return f"picks {picked!r} for CPU {cpu}; return a thread, or None"


def _wrong_step(step: object, thread: Thread) -> DfoptError:
    """Return the error of a program that yields what is neither a burst nor a step."""
    problem = f"the program of {thread.name} yields {step!r}; yield bursts and steps"
    program: Any = thread.steps
    if not isgenerator(program):
        return DfoptError(problem)
    line = getattr(program.gi_frame, "f_lineno", "?")
    return DfoptError(problem, place=f"line {line}", file=program.gi_code.co_filename)
