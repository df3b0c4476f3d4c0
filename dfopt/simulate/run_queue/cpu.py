"""A CPU: it lets the policy pick threads, and lets them do what they do."""

from __future__ import annotations

from itertools import chain
from typing import Any

from dfopt.simulate.run_queue.contract import DISK, KERNEL, USER, Policy, State, Thread, Why
from dfopt.simulate.run_queue.dispatching_cpu import CANCELLED
from dfopt.simulate.run_queue.interruptible_cpu import InterruptibleCpu
from dfopt.simulate.run_queue.policy_errors import (
    STALLED,
    forbidden_cpu,
    stalled,
    wrong_pick,
    wrong_slice,
)
from dfopt.simulate.run_queue.requests import Requests
from dfopt.simulate.run_queue.workload import Burst, Pause
from dfopt.trace.events import Stop

FOREVER = 1 << 62
"""A time slice that never ends."""

# Members of an enumeration take long to look up.
READY, RUNNING, BLOCKED, ENDED = State.READY, State.RUNNING, State.BLOCKED, State.ENDED
YIELDS, EXPIRED, PREEMPTED, CHANGED = Why.YIELDED, Why.EXPIRED, Why.PREEMPTED, Why.CHANGED
YIELDED = Pause.YIELDED
SLEEPS, ENDS = int(Stop.SLEEPS), int(Stop.ENDS)


class Cpu(InterruptibleCpu):
    """A CPU of the kernel, whose methods are called at the kernel's time."""

    __slots__ = ("_has_slices", "_hears_blocked", "_hears_changes", "_policy")

    def __init__(self, number: int, kernel: Requests) -> None:
        super().__init__(number, kernel)
        self._policy = policy = kernel.policy
        self._has_slices = type(policy).slice is not Policy.slice
        self._hears_blocked = type(policy).blocked is not Policy.blocked
        self._hears_changes = type(policy).changes is not Policy.changes

    # What the kernel asks for.

    def wake_up(self) -> None:
        """Let an idle CPU choose, as soon as it is awake."""
        kernel = self._kernel
        if kernel.machine.wake_time:
            kernel.tasks.append(kernel.machine.wake_time)
            self._work(self.choose)
        else:
            self.choose()

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
                raise wrong_pick(policy, number, thread)
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
                raise wrong_slice(policy, thread, time_slice)
            self._slice = time_slice
            if thread.cpu != number:
                # Where it has run before it may run.
                if thread.cpus_allowed is not None and number not in thread.cpus_allowed:
                    raise forbidden_cpu(policy, number, thread)
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
        raise stalled(policy, kernel.now)

    def burst_ends(self) -> None:
        """Act on the end of a burst or a time slice, or on a thread that had to pay first."""
        kernel = self._kernel
        thread = self._running[self.number]
        assert thread is not None
        now = kernel.now
        executed = now - self._begins
        thread.left = left = thread.left - executed
        thread.run_time += executed
        self._slice -= executed
        self._begins = self._row_end = now
        is_taken = self._is_taken
        self._is_taken = False
        if left:
            self._puts_back(thread, PREEMPTED if is_taken else EXPIRED)
        else:
            if is_taken:  # in case it goes on with another burst
                kernel.preempt(self.number)
            if self._goes_on(thread):
                return
        if kernel.tasks:
            self._work(self.choose)
        else:
            self.choose()

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

    def _rest(self) -> None:
        """Be idle, after the policy has looked for a thread."""
        kernel = self._kernel
        if self._row_thread is not None:
            self._end_gap()
        kernel.resting[self.number] = None
        if kernel.tasks:
            self._work(self._idle)

    # What its thread does.

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
        elif not self._goes_on(thread):
            self._choose_then()

    def _proceed(self) -> None:
        """Let the running thread do what it does next."""
        thread = self._running[self.number]
        assert thread is not None
        if not self._goes_on(thread):
            self._choose_then()

    def _goes_on(self, thread: Thread) -> bool:
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
            pause = step.perform(kernel, thread)
            if pause is not None:
                if pause is YIELDED:
                    thread.look_ahead()
                    self._puts_back(thread, YIELDS)
                else:
                    self._blocks(thread)
                return False
            if kernel.tasks:
                self._work(self._proceed, joins=True)
                return True
        self._ends(thread)
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

    def _blocks(self, thread: Thread) -> None:
        self._stop(thread)
        if self._row_thread is thread:
            self._row_stop = SLEEPS
        thread.state = BLOCKED
        self._responds(thread)
        if self._hears_blocked:
            self._policy.blocked(thread, self.number)

    def _ends(self, thread: Thread) -> None:
        self._stop(thread)
        if self._row_thread is thread:
            self._row_stop = ENDS
        thread.state = ENDED
        thread.burst = None
        self._kernel.alive -= 1
        self._responds(thread)
        self._policy.ended(thread, self.number)

    def _stop(self, thread: Thread) -> None:
        """Let its thread leave; the dispatch goes on if the thread is picked again at once."""
        thread.stopped_at = self._kernel.now
        self._running[self.number] = None

    def _responds(self, thread: Thread) -> None:
        counters = self._counters
        time, longest = self._kernel.now - thread.woken_at, counters.longest_response
        counters.responses += 1
        counters.responded += time
        counters.longest_response = time if time > longest else longest
