"""The engine: a heap of events, and the CPUs they happen on.

Events are the ends of bursts and time slices, timers and devices, arrivals, and what policies
asked to be called for. What a thread does between two bursts takes no time by itself; the waiting
for locks around run queues, in callbacks of the policy, is charged to the CPU it happens on.

A *dispatch* is a stretch in which one thread uses one fragment on one CPU: a row of the trace. It
goes on when the same thread is picked again at once, and a new one begins when the thread changes
to another fragment. The penalty is paid at its beginning and is never interrupted, so that every
dispatch gets on; time slices count execution alone.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING

from dfopt.errors import DfoptError
from dfopt.simulate.run_queue.counters import Counters
from dfopt.simulate.run_queue.policy import Policy, Why
from dfopt.simulate.run_queue.recorder import Recorder
from dfopt.simulate.run_queue.steps import UNMANAGED, Burst, NewThread, Outcome
from dfopt.simulate.run_queue.thread import DISK, KERNEL, USER, State, Thread

if TYPE_CHECKING:
    from dfopt.simulate.run_queue.costs import Costs
    from dfopt.simulate.run_queue.machine import Machine
    from dfopt.simulate.run_queue.spin_lock import SpinLock
    from dfopt.simulate.run_queue.workload import Workload

CANCELLED = -1
"""Number of the event that a CPU waits for while it waits for none."""

STALLED = 1_000_000
"""So many dispatches at one moment are taken for a loop without an end."""

NOBODY = -1

FOREVER = 1 << 62
"""A time slice that never ends."""

READY, RUNNING, BLOCKED, ENDED = State.READY, State.RUNNING, State.BLOCKED, State.ENDED

Happening = tuple[int, int, "int | Thread | Callable[[], None]"]
"""When, a number that makes it unique, and the CPU it happens on, who wakes, or what to call."""


class Engine:
    """Runs the threads of a workload under a policy.

    Parameters
    ----------
    machine
        CPUs and overheads.
    workload
        Fresh: its programs are used up.
    costs
        What switches cost, with empty caches.
    policy
        Fresh: it may remember what it saw.
    seed
        Of the policy's random choices.

    Attributes
    ----------
    now
        The time, from 0.
    running
        By CPU: the thread that runs there, or None.
    threads
        All that have appeared, in that order.
    costs
        ``held`` and ``left`` say what the caches hold.
    random
        For the policy's choices.
    counters
        What has been counted.
    events
        How many have happened.
    """

    def __init__(
        self, machine: Machine, workload: Workload, costs: Costs, policy: Policy, *, seed: int = 0
    ) -> None:
        self.machine = machine
        self.cpus = machine.cpus
        self.workload = workload
        self.costs = costs
        self.policy = policy
        self.random = random.Random(seed)
        self.now = 0
        self.events = 0
        self.threads: list[Thread] = []
        self.running: list[Thread | None] = [None] * machine.cpus
        self.counters = Counters(penalties=[0] * machine.cpus, busy=[0] * machine.cpus)
        self.recorder = Recorder()
        self._heap: list[Happening] = []
        self._numbers = count()
        self._alive = 0
        self._idle = dict.fromkeys(range(machine.cpus))
        # CPUs that have to choose anew, once what happens now is over.
        self._asked: list[int] = []
        self._preempted: set[int] = set()
        # CPUs whose thread is taken off by the event at the end of its penalty.
        self._taken: set[int] = set()
        # By band: how many threads are ready.
        self._waiting = [0, 0, 0]
        # What the CPU that is at work has spent since ``now`` on the policy's locks.
        self._delay = 0
        self._has_slices = type(policy).slice is not Policy.slice
        self._hears_blocked = type(policy).blocked is not Policy.blocked
        self._hears_changes = type(policy).changes is not Policy.changes
        # By CPU.
        self._due = [CANCELLED] * machine.cpus
        self._begins = [0] * machine.cpus
        self._slice = [0] * machine.cpus
        self._free_at = [0] * machine.cpus
        # The dispatch that is open, by CPU; when its thread has left the CPU, it may still go on.
        self._row_thread: list[Thread | None] = [None] * machine.cpus
        self._row_start = [0] * machine.cpus
        self._row_end = [0] * machine.cpus
        self._row_fragment = [UNMANAGED] * machine.cpus
        self._row_lines = [0] * machine.cpus
        self._row_leaves = [0] * machine.cpus
        self._last_number = [NOBODY] * machine.cpus
        self._last_cpu: list[int] = []
        policy.engine = self

    # What policies may ask.

    def preempt(self, cpu: int) -> None:
        """Let a CPU choose anew, once what happens now is over; an idle one is asked to pick."""
        self._preempted.add(cpu)
        self._asked.append(cpu)

    def offer(self, cpu: int) -> None:
        """Ask a CPU, should it be idle, to pick, once what happens now is over."""
        self._asked.append(cpu)

    def acquire(self, lock: SpinLock) -> None:
        """Take the lock of a run queue for one operation, and let the CPU at work wait for it."""
        hold = self.machine.lock_time
        if hold:
            came = self.now + self._delay
            self._delay += lock.acquire(came, hold) - came

    def call_at(self, time: int, happening: Callable[[], None]) -> None:
        """Call somebody at a time."""
        heappush(self._heap, (time, next(self._numbers), happening))

    def is_idle(self, cpu: int) -> bool:
        """Return whether nothing runs on a CPU."""
        return self.running[cpu] is None

    def idle(self) -> list[int]:
        """Return the CPUs on which nothing runs, the one that is so for longest first."""
        return list(self._idle)

    # What threads do.

    def spawn(self, new: NewThread, parent: Thread | None) -> None:
        """Make a thread."""
        thread = Thread(len(self.threads), new, parent, self.now)
        self.threads.append(thread)
        self._last_cpu.append(NOBODY)
        self._alive += 1
        self._becomes_ready(thread, Why.NEW, None if parent is None else parent.cpu)

    def wake(self, thread: Thread, cpu: int | None) -> None:
        """Let a blocked thread go on; ``cpu`` is where that happens, None for an interrupt."""
        self._becomes_ready(thread, Why.WOKEN, cpu)

    def wake_at(self, time: int, thread: Thread) -> None:
        """Let a blocked thread go on at a time."""
        heappush(self._heap, (time, next(self._numbers), thread))

    def _becomes_ready(self, thread: Thread, why: Why, cpu: int | None) -> None:
        thread.woken_at = self.now
        self._look_ahead(thread)
        if thread.wakes_by_disk:
            thread.wakes_by_disk = False
            thread.band = DISK
        self._enter(thread, why, cpu)

    def _look_ahead(self, thread: Thread) -> None:
        """Find out what a thread is going to do next."""
        step = thread.pending
        if step is None:
            thread.pending = step = next(thread.steps, None)
        if step.__class__ is Burst:
            assert isinstance(step, Burst)
            thread.burst = step
            thread.left = step.time
            thread.fragment = step.fragment
            thread.band = KERNEL if step.is_kernel else USER
        else:
            thread.burst = None

    def _enter(self, thread: Thread, why: Why, cpu: int | None) -> None:
        """Hand a thread to the policy."""
        thread.state = READY
        thread.ready_at = self.now
        self._waiting[thread.band] += 1
        target = self.policy.ready(thread, why, cpu)
        idle = self._idle
        if idle:
            if target is None:
                self._asked.extend(idle)
            elif target in idle:
                self._asked.append(target)

    # What happens.

    def run(self, until: int | None = None) -> None:
        """Run until all threads have ended.

        Parameters
        ----------
        until
            Stop at this time, if they have not.

        Raises
        ------
        DfoptError
            When nothing can happen any more, or the policy does what it must not.
        """
        policy, heap, due = self.policy, self._heap, self._due
        for new in self.workload.threads:
            self.call_at(new.arrival, lambda new=new: self.spawn(new, None))  # type: ignore[misc]
        policy.begin()
        if policy.tick_interval:
            self.call_at(policy.tick_interval, self._tick)
        while heap:
            if until is not None and heap[0][0] > until:
                self.now = until
                break
            now, number, what = heappop(heap)
            if what.__class__ is int:
                cpu: int = what  # type: ignore[assignment]
                if due[cpu] != number:
                    continue
                self.events += 1
                self.now = now
                self._delay = 0
                self._burst_ends(cpu)
            else:
                self.events += 1
                self.now = now
                self._delay = 0
                if isinstance(what, Thread):
                    self._becomes_ready(what, Why.WOKEN, None)
                else:
                    what()  # type: ignore[operator]
            if self._asked:
                self._settle()
            if not self._alive:
                break
        self._end()

    def _tick(self) -> None:
        if self._alive:
            self.policy.tick()
            self.call_at(self.now + self.policy.tick_interval, self._tick)

    def _settle(self) -> None:
        """Let CPUs choose anew that were asked to."""
        asked, running = self._asked, self.running
        position = 0
        while position < len(asked):
            cpu = asked[position]
            position += 1
            self._delay = 0
            if running[cpu] is None:
                self._preempted.discard(cpu)
                self._choose(cpu)
            elif cpu in self._preempted:
                self._preempted.discard(cpu)
                self._take_off(cpu)
            if position > STALLED:
                raise self._stalled()
        asked.clear()

    def _take_off(self, cpu: int) -> None:
        """Take the running thread off its CPU, as soon as its penalty is paid."""
        thread = self.running[cpu]
        assert thread is not None
        begins = self._begins[cpu]
        if begins >= self.now:
            self._taken.add(cpu)
            self._await(cpu, begins)
            return
        self._executed(cpu, thread)
        self._due[cpu] = CANCELLED
        self._stop(cpu, thread)
        self._enter(thread, Why.PREEMPTED, cpu)
        self._choose(cpu)

    def _await(self, cpu: int, time: int) -> None:
        self._due[cpu] = number = next(self._numbers)
        heappush(self._heap, (time, number, cpu))

    def _executed(self, cpu: int, thread: Thread) -> None:
        executed = self.now - self._begins[cpu]
        thread.left -= executed
        thread.run_time += executed
        self._slice[cpu] -= executed
        self._begins[cpu] = self._row_end[cpu] = self.now
        self.counters.executed += executed

    def _burst_ends(self, cpu: int) -> None:
        """Act on the end of a burst, or of a time slice."""
        thread = self.running[cpu]
        assert thread is not None
        self._executed(cpu, thread)
        if thread.left:
            self._due[cpu] = CANCELLED
            self._stop(cpu, thread)
            if cpu in self._taken:
                self._taken.remove(cpu)
                self._enter(thread, Why.PREEMPTED, cpu)
            else:
                self._enter(thread, Why.EXPIRED, cpu)
            self._choose(cpu)
            return
        thread.pending = None
        if not self._goes_on(cpu, thread):
            self._choose(cpu)

    def _choose(self, cpu: int) -> None:
        """Let the policy choose what a CPU runs, until it runs a burst or is idle."""
        policy, waiting, counters = self.policy, self._waiting, self.counters
        for _ in range(STALLED):
            thread = policy.pick(cpu)
            if thread is None:
                self._rest(cpu)
                return
            if thread.state is not READY:
                raise DfoptError(
                    f"the policy {policy.name!r} lets {thread.name} run on CPU {cpu}, which is "
                    f"{thread.state.value}; pick ready threads only"
                )
            thread.state = RUNNING
            waiting[thread.band] -= 1
            if thread.band and (waiting[0] or (thread.band == USER and waiting[1])):
                counters.inversions += 1
            waited = self.now - thread.ready_at
            counters.waits += 1
            if waited:
                counters.waited += waited
                counters.longest_wait = max(counters.longest_wait, waited)
            self.running[cpu] = thread
            self._idle.pop(cpu, None)
            self._slice[cpu] = (policy.slice(thread, cpu) if self._has_slices else 0) or FOREVER
            thread.cpu = cpu
            if self._goes_on(cpu, thread, is_picked=True):
                return
        raise self._stalled()

    def _goes_on(self, cpu: int, thread: Thread, *, is_picked: bool = False) -> bool:
        """Let a thread do what it does next; return whether it is still on its CPU."""
        steps = thread.steps
        step = thread.pending
        if step is None:
            step = next(steps, None)
        while True:
            if step.__class__ is Burst:
                assert isinstance(step, Burst)
                return self._meets(cpu, thread, step, is_picked=is_picked)
            if step is None:
                self._ends(cpu, thread)
                return False
            is_picked = False
            outcome = step.perform(self, thread)  # type: ignore[union-attr]
            thread.pending = None
            if outcome is not None:
                self._leaves(cpu, thread, outcome)
                return False
            step = next(steps, None)

    def _meets(self, cpu: int, thread: Thread, burst: Burst, *, is_picked: bool) -> bool:
        """Let a thread begin a burst, unless it leaves its CPU before."""
        if not is_picked:
            thread.pending = thread.burst = burst
            thread.left = burst.time
            thread.band = KERNEL if burst.is_kernel else USER
            before = thread.fragment
            if burst.fragment != before:
                thread.fragment = burst.fragment
                if self._hears_changes and self.policy.changes(thread, before, cpu):
                    self._stop(cpu, thread)
                    self._enter(thread, Why.CHANGED, cpu)
                    return False
            if self._slice[cpu] <= 0:
                self._stop(cpu, thread)
                self._enter(thread, Why.EXPIRED, cpu)
                return False
        self._begin(cpu, thread, burst)
        return True

    def _begin(self, cpu: int, thread: Thread, burst: Burst) -> None:
        counters = self.counters
        begins = self.now + self._delay
        is_open = self._row_thread[cpu]
        if is_open is thread and self._row_fragment[cpu] == burst.fragment:
            counters.spun += begins - self._row_end[cpu]
            self._row_leaves[cpu] = max(self._row_leaves[cpu], burst.leaves)
            penalty = self.costs.begin(cpu, burst, enters=False)
        else:
            if is_open is None:
                came = max(self.now, self._free_at[cpu])
            else:
                self._close(cpu)
                came = self._row_end[cpu]
            begins = max(begins, came)
            if is_open is not thread:
                begins += self.machine.switch_time
            counters.overhead += begins - came
            self._open(cpu, thread, burst, begins)
            penalty = self.costs.begin(cpu, burst, enters=True)
        if penalty:
            counters.penalties[cpu] += penalty
            begins += penalty
        self._begins[cpu] = begins
        # Sooner than the burst's end: the slice's.
        self._due[cpu] = number = next(self._numbers)
        heappush(self._heap, (begins + min(thread.left, self._slice[cpu]), number, cpu))

    def _open(self, cpu: int, thread: Thread, burst: Burst, start: int) -> None:
        """Begin a dispatch."""
        counters, number, fragment = self.counters, thread.number, burst.fragment
        self._row_thread[cpu] = thread
        self._row_start[cpu] = start
        self._row_fragment[cpu] = fragment
        self._row_lines[cpu] = burst.lines
        self._row_leaves[cpu] = burst.leaves
        counters.dispatches += 1
        if self._last_number[cpu] != number:
            counters.context_switches += self._last_number[cpu] != NOBODY
            self._last_number[cpu] = number
        if self._last_cpu[number] != cpu:
            counters.migrations += self._last_cpu[number] != NOBODY
            self._last_cpu[number] = cpu
        if fragment not in (UNMANAGED, self.costs.held[cpu]):
            counters.fragment_switches += self.costs.held[cpu] != UNMANAGED

    def _close(self, cpu: int) -> None:
        """End a dispatch."""
        thread, start, end = self._row_thread[cpu], self._row_start[cpu], self._row_end[cpu]
        assert thread is not None
        self.recorder.rows.append(
            (
                cpu, start, end, thread.number,
                self._row_fragment[cpu], self._row_lines[cpu], self._row_leaves[cpu],
            )
        )  # fmt: skip
        self.counters.busy[cpu] += end - start
        self._row_thread[cpu] = None
        self._free_at[cpu] = end

    def _stop(self, cpu: int, thread: Thread) -> None:
        """Take a thread off its CPU; its dispatch may still go on, should it be picked at once."""
        end = self.now + self._delay
        self.counters.spun += end - self._row_end[cpu]
        self._row_end[cpu] = end
        self.running[cpu] = None
        thread.stopped_at = end

    def _leaves(self, cpu: int, thread: Thread, outcome: Outcome) -> None:
        self._stop(cpu, thread)
        if outcome is Outcome.YIELDED:
            self._look_ahead(thread)
            self._enter(thread, Why.YIELDED, cpu)
            return
        thread.state = BLOCKED
        self._responds(thread)
        if self._hears_blocked:
            self.policy.blocked(thread, cpu)

    def _ends(self, cpu: int, thread: Thread) -> None:
        self._stop(cpu, thread)
        thread.state = ENDED
        thread.burst = None
        self._alive -= 1
        self._responds(thread)
        self.policy.ended(thread, cpu)

    def _responds(self, thread: Thread) -> None:
        counters = self.counters
        time = self.now - thread.woken_at
        counters.responses += 1
        counters.responded += time
        counters.longest_response = max(counters.longest_response, time)

    def _rest(self, cpu: int) -> None:
        """Leave a CPU idle."""
        came = max(self.now, self._free_at[cpu])
        if self._row_thread[cpu] is not None:
            self._close(cpu)
            came = self._free_at[cpu]
        self._idle[cpu] = None
        done = self.now + self._delay
        if done > came:
            self.counters.overhead += done - came
            self._free_at[cpu] = done

    def _end(self) -> None:
        """Close what is open, and refuse an end at which somebody still waits."""
        for cpu, thread in enumerate(self.running):
            if thread is not None:
                if self.now > self._begins[cpu]:
                    self._executed(cpu, thread)
                self._row_end[cpu] = max(self.now, self._begins[cpu])
                self._close(cpu)
        self.counters.end = max(self.now, *self._free_at)
        if self._alive and not self._heap:
            raise self._stuck()

    def _stuck(self) -> DfoptError:
        lost = [thread.name for thread in self.threads if thread.state is READY]
        if lost:
            return DfoptError(
                f"the policy {self.policy.name!r} has lost {len(lost)} ready threads, {lost[0]} "
                "among them: all CPUs are idle; let pick() return them"
            )
        blocked = [thread for thread in self.threads if thread.state is BLOCKED]
        return DfoptError(
            f"the workload is in a deadlock: {len(blocked)} threads wait for each other, "
            f"{blocked[0].name} for {blocked[0].waits_for}"
        )

    def _stalled(self) -> DfoptError:
        return DfoptError(
            f"under the policy {self.policy.name!r} time stands still at {self.now}: threads are "
            "picked again and again and execute nothing"
        )
