"""A CPU: it lets the policy choose threads, and runs them.

A *dispatch* is a stretch in which one thread uses one fragment on one CPU: a row of the trace. It
goes on when the same thread is picked again at once, and a new one begins when the thread changes
to another fragment. The penalty is paid at its beginning and is never interrupted, so that every
dispatch gets on, by one unit of time at least; time slices count execution alone.
"""

from __future__ import annotations

from heapq import heappush
from itertools import chain
from typing import TYPE_CHECKING, Any

from dfopt.checks import LARGEST_TOTAL
from dfopt.simulate.run_queue.faults import (
    STALLED,
    endless,
    not_ready,
    stalled,
    wrong_pick,
    wrong_slice,
)
from dfopt.simulate.run_queue.policy import Policy, Why
from dfopt.simulate.run_queue.recorder import packed
from dfopt.simulate.run_queue.steps import CLEAN, UNMANAGED, YIELDED, Burst, Outcome
from dfopt.simulate.run_queue.thread import DISK, KERNEL, USER, State, Thread

if TYPE_CHECKING:
    from dfopt.simulate.run_queue.engine import Engine

CANCELLED = -1
"""Number of the event that a CPU waits for while it waits for none."""

FOREVER = 1 << 62
"""A time slice that never ends."""

# Members of an enumeration take long to look up.
READY, RUNNING, BLOCKED, ENDED = State.READY, State.RUNNING, State.BLOCKED, State.ENDED
EXPIRED, PREEMPTED, CHANGED, YIELDS = Why.EXPIRED, Why.PREEMPTED, Why.CHANGED, Why.YIELDED


class Cpu:
    """A CPU of an engine.

    Its methods are called at the engine's time. What happens then is over at once, but for the
    delay that the policy and its locks cause.

    Parameters
    ----------
    number
        Which.
    engine
        Whose.

    Attributes
    ----------
    due
        Number of the event it waits for.
    begins
        When the burst that runs began, or goes on, after its penalty.
    slice
        What is left of the time slice then.
    is_taken
        Whether its thread leaves it at the end of the penalty.
    free_at
        Until when it has been busy.
    """

    __slots__ = (
        "_agenda",
        "_costs",
        "_counters",
        "_engine",
        "_has_slices",
        "_hears_blocked",
        "_hears_changes",
        "_note",
        "_numbers",
        "_policy",
        "_row_end",
        "_row_fragment",
        "_row_leaves",
        "_row_lines",
        "_row_start",
        "_row_thread",
        "_running",
        "_switch_time",
        "begins",
        "due",
        "free_at",
        "is_taken",
        "number",
        "slice",
    )

    def __init__(self, number: int, engine: Engine) -> None:
        self.number = number
        self._engine = engine
        self._running = engine.running
        self._counters = engine.counters
        self._agenda = engine.agenda
        self._numbers = engine.numbers
        self._switch_time = engine.machine.switch_time
        self._costs = engine.costs
        # Bound once, since it is called for every dispatch.
        self._note = engine.recorder.cells.extend
        self._policy = policy = engine.policy
        self._has_slices = type(policy).slice is not Policy.slice
        self._hears_blocked = type(policy).blocked is not Policy.blocked
        self._hears_changes = type(policy).changes is not Policy.changes
        self.due = CANCELLED
        self.begins = 0
        self.slice = 0
        self.is_taken = False
        self.free_at = 0
        # Whose dispatch is open; when it has left the CPU, it may still go on.
        self._row_thread: Thread | None = None
        self._row_start = 0
        self._row_end = 0
        self._row_fragment = UNMANAGED
        self._row_lines = 0
        self._row_leaves = CLEAN

    # What the engine asks for.

    def choose(self) -> None:
        """Let the policy choose what runs, until that is a burst or nothing."""
        engine, policy, counters = self._engine, self._policy, self._counters
        waiting, number = engine.waiting, self.number
        picked = 0
        while picked < STALLED:
            picked += 1
            if engine.preempted:
                # Whoever asked for it to choose anew has been heard.
                engine.preempted.discard(number)
            thread = policy.pick(number)
            if thread is None:
                self._rest()
                return
            if thread.__class__ is not Thread:
                raise wrong_pick(policy, number, thread)
            if thread.state is not READY:
                raise not_ready(policy, thread, number)
            thread.state = RUNNING
            band = thread.band
            waiting[band] -= 1
            if band and (waiting[DISK] or (band == USER and waiting[KERNEL])):
                counters.inversions += 1
            now = engine.now
            counters.waits += 1
            waited = now - thread.ready_at
            if waited:
                longest = counters.longest_wait
                counters.waited += waited
                counters.longest_wait = waited if waited > longest else longest
            self._running[number] = thread
            if number in engine.resting:
                del engine.resting[number]
            time_slice = (policy.slice(thread, number) if self._has_slices else 0) or FOREVER
            if time_slice.__class__ is not int or time_slice < 0:
                raise wrong_slice(policy, thread, time_slice)
            self.slice = time_slice
            thread.cpu = number
            left = thread.stopped_at
            if left is not None and left > now + engine.delay:
                # It was woken up while it waited for a lock on another CPU, which it leaves first.
                engine.delay = left - now
            burst = thread.burst
            if burst is not None:
                self._begin(thread, burst)
                return
            if self._goes_on(thread):
                return
        raise stalled(policy, engine.now)

    def burst_ends(self) -> None:
        """Act on the end of a burst or a time slice, or take off who was let get on."""
        thread = self._running[self.number]
        assert thread is not None
        self.execute(thread, self._engine.now)
        is_taken = self.is_taken
        self.is_taken = False
        if thread.left:
            self._puts_back(thread, PREEMPTED if is_taken else EXPIRED)
            self.choose()
            return
        if is_taken:  # should it go on with another burst
            self._engine.preempt(self.number)
        if not self._goes_on(thread):
            self.choose()

    def take_off(self) -> None:
        """Take the running thread off, as soon as it has paid and gets on."""
        thread, now = self._running[self.number], self._engine.now
        assert thread is not None
        executed = now - self.begins
        if executed <= 0:
            self.is_taken = True
            self.due = number = next(self._numbers)
            heappush(self._agenda, (self.begins + 1, number, self))
            return
        if executed == thread.left:  # its burst ends at this very moment: that is dealt with first
            self.is_taken = True
            return
        self.execute(thread, now)
        self.due = CANCELLED
        self._puts_back(thread, PREEMPTED)
        self.choose()

    # What its thread does.

    def _goes_on(self, thread: Thread) -> bool:
        """Let a thread do what it does next; return whether it is still there."""
        steps = thread.steps
        if thread.pending is not None:
            steps = chain((thread.pending,), steps)
            thread.pending = None
        # Any: looked at by its class, which is faster than all else.
        step: Any
        for step in steps:
            if step.__class__ is Burst:
                thread.burst = step
                thread.left = step.time
                thread.band = KERNEL if step.is_kernel else USER
                if step.fragment != thread.fragment and self._changes(thread, step.fragment):
                    self._puts_back(thread, CHANGED)
                    return False
                if self.slice <= 0:
                    self._puts_back(thread, EXPIRED)
                    return False
                self._begin(thread, step)
                return True
            outcome = step.perform(self._engine, thread)
            if outcome is not None:
                self._leaves(thread, outcome)
                return False
        self._ends(thread)
        return False

    def _changes(self, thread: Thread, fragment: int) -> bool:
        """Let a running thread come to another fragment; return whether it must leave."""
        before, thread.fragment = thread.fragment, fragment
        return self._hears_changes and self._policy.changes(thread, before, self.number)

    def _puts_back(self, thread: Thread, why: Why) -> None:
        """Let a thread leave that could go on."""
        self._stop(thread)
        self._engine.enter(thread, why, self.number)

    def _leaves(self, thread: Thread, outcome: Outcome) -> None:
        if outcome is YIELDED:
            thread.look_ahead()
            self._puts_back(thread, YIELDS)
            return
        self._stop(thread)
        thread.state = BLOCKED
        self._responds(thread)
        if self._hears_blocked:
            self._policy.blocked(thread, self.number)

    def _ends(self, thread: Thread) -> None:
        self._stop(thread)
        thread.state = ENDED
        thread.burst = None
        self._engine.alive -= 1
        self._responds(thread)
        self._policy.ended(thread, self.number)

    def _responds(self, thread: Thread) -> None:
        counters = self._counters
        time, longest = self._engine.now - thread.woken_at, counters.longest_response
        counters.responses += 1
        counters.responded += time
        counters.longest_response = time if time > longest else longest

    # Its dispatches.

    def _begin(self, thread: Thread, burst: Burst) -> None:
        """Begin a burst, or what is left of it, and await its end, or that of the time slice."""
        now = self._engine.now
        begins = now + self._engine.delay
        is_open = self._row_thread
        if is_open is thread and self._row_fragment == burst.fragment:
            if begins > self._row_end:
                self._counters.spun += begins - self._row_end
            so_far, leaves = self._row_leaves, burst.leaves
            self._row_leaves = leaves if leaves > so_far else so_far
            penalty = self._costs.go_on(self.number, burst)
        else:
            if is_open is None:
                came = now if now > self.free_at else self.free_at
            else:
                self.close()
                came = self._row_end
            begins = came if came > begins else begins
            if is_open is not thread:
                begins += self._switch_time
            if begins > came:
                self._counters.overhead += begins - came
            self._row_thread = thread
            self._row_start = begins
            self._row_fragment = burst.fragment
            self._row_lines = burst.lines
            self._row_leaves = burst.leaves
            penalty = self._costs.begin(self.number, burst)
        if penalty:
            self._counters.penalties[self.number] += penalty
            begins += penalty
        self.begins = begins
        left = thread.left
        ends = begins + (left if left < self.slice else self.slice)
        self.due = number = next(self._numbers)
        heappush(self._agenda, (ends, number, self))

    def execute(self, thread: Thread, now: int) -> None:
        """Note what its thread has executed up to now."""
        executed = now - self.begins
        thread.left -= executed
        thread.run_time += executed
        self.slice -= executed
        self.begins = self._row_end = now

    def _stop(self, thread: Thread) -> None:
        """Let its thread leave; the dispatch may still go on, should it be picked at once."""
        thread.stopped_at = end = self._engine.now + self._engine.delay
        if end > self._row_end and self._row_thread is thread:
            self._counters.spun += end - self._row_end
            self._row_end = end
        self._running[self.number] = None

    def _rest(self) -> None:
        """Do nothing, after having looked for something to do."""
        engine = self._engine
        if self._row_thread is not None:
            self.close()
        came = max(engine.now, self.free_at)
        end = engine.now + engine.delay
        if end > came:
            self._counters.overhead += end - came
            self.free_at = end
        engine.resting[self.number] = None

    def close(self) -> None:
        """End the dispatch."""
        thread, end = self._row_thread, self._row_end
        assert thread is not None
        if end > LARGEST_TOTAL:
            raise endless()
        fragment, lines, leaves = self._row_fragment, self._row_lines, self._row_leaves
        self._note(
            packed(self.number, self._row_start, end, thread.number, fragment, lines, leaves)
        )
        self._row_thread = None
        self.free_at = end
