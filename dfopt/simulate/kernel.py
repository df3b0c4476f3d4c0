"""The kernel: it lets threads run on CPUs as the policy decides, event by event.

Events are the ends of bursts and time slices, timers and devices, arrivals, calls that the policy
asked for, and the steps of CPUs' work in the scheduler. The steps of a thread between two bursts
take no time by themselves. The time that a policy and its locks take, in its callbacks, is work of
a CPU, and what follows from a callback happens when its work is done.

Interrupts are served by a CPU: it takes the time of a burst, and waits until the CPU has finished
what it does in the scheduler. A timer is served where it was set, and a device's interrupt where
the request was made: by the CPU where the thread ran last. Threads that arrive by themselves are
announced by interrupts on all CPUs in turn. What happens at time 0 takes no CPU's time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from heapq import heappop, heappush
from typing import Any

from dfopt.checks import LARGEST_TOTAL
from dfopt.errors import DfoptError
from dfopt.problem.cache import Cache
from dfopt.simulate.contract import NOBODY, Policy, State, Task, Thread
from dfopt.simulate.cpu import Cpu
from dfopt.simulate.requests import STALLED, Requests
from dfopt.simulate.scenario import Machine
from dfopt.simulate.workload import NewThread, Workload


class Kernel(Requests):
    """Runs the threads of a workload under a policy.

    The policy sees it as its :class:`KernelInterface`; actions of threads wake and make threads.

    Parameters
    ----------
    machine
        CPUs and overheads.
    workload
        A fresh one: the simulation uses up its programs.
    caches
        Those of all CPUs; they are empty.
    policy
        A fresh one: it may remember what it saw.
    seed
        Seed of the policy's random choices.

    Attributes
    ----------
    events
        The number of events so far.
    """

    def __init__(
        self,
        machine: Machine,
        workload: Workload,
        caches: Sequence[Cache],
        policy: Policy,
        *,
        seed: int = 0,
    ) -> None:
        super().__init__(machine, workload, caches, policy, seed=seed)
        self.events = 0
        self._arrivals = 0
        self._cpus = [Cpu(number, self) for number in self._cpu_numbers]
        policy.engine = self

    def executed(self, thread: Thread) -> int:
        """Return the time for which a thread has executed until now."""
        cpu = thread.cpu
        if cpu is None or self.running[cpu] is not thread:
            return thread.run_time
        return thread.run_time + self._cpus[cpu].progress()

    def run(self, until: int | None = None) -> None:  # noqa: PLR0912 - in one piece, for its speed
        """Run until all threads have ended.

        Parameters
        ----------
        until
            Stop at this time, if they have not.

        Raises
        ------
        DfoptError
            When threads wait for ever, the policy breaks its contract, or times are more than
            2^62.
        """
        heap, asked = self.agenda, self.asked
        last = LARGEST_TOTAL if until is None else min(until, LARGEST_TOTAL)
        self._start()
        calls, since, events = 0, 0, 0
        is_cut = False
        while heap:
            now, number, what = heappop(heap)
            if now > last:
                if last != until:
                    raise DfoptError(
                        "the simulation lasts longer than 2^62; give its times a larger unit"
                    )
                is_cut = True
                break
            if what.__class__ is Cpu:
                if what.due != number:
                    continue
                self.now = now
                if what.is_at_work:
                    what.go_on()
                else:
                    what.burst_ends()
                    calls = 0
            else:
                self.now = now
                calls = self._act(what, calls)
                if calls == STALLED:
                    if not self._is_awaited(since):
                        break
                    calls, since = 0, now
            events += 1
            if asked:
                self._settle()
            if not self.alive and not any(cpu.is_at_work for cpu in self._cpus):
                break
        self.events = events
        if is_cut:
            self.now = last
        self._end(is_cut=is_cut)

    def _start(self) -> None:
        for new in self.workload.threads:
            heappush(self.agenda, (new.arrival, next(self.numbers), new))
        self.policy.begin()
        self.cost_nothing()
        if self.policy.tick_interval:
            self.call_at(self.policy.tick_interval, self._tick)

    def _tick(self) -> None:
        if self.alive:
            self.policy.tick()
            self.call_at(self.now + self.policy.tick_interval, self._tick)

    def _act(self, what: Any, calls: int) -> int:
        """Let something happen; return the number of calls by the clock since a thread acted."""
        if what.__class__ is Thread:
            assert what.cpu is not None  # it waits, and so has run
            self._cpus[what.cpu].interrupt(partial(self.wake, what, None))
            return 0
        if what.__class__ is NewThread:
            self._arrive(what)
        else:
            self._call(what)
            return calls + 1
        return calls

    def _arrive(self, new: NewThread) -> None:
        """Let a thread appear that no other makes."""
        if self.now:
            cpu = self._cpus[self._arrivals % self.cpus]
            self._arrivals += 1
            cpu.interrupt(partial(self.spawn, new, None))
        else:
            self.spawn(new, None)
            self.cost_nothing()

    def _call(self, happening: Callable[[], None]) -> None:
        """Call a function at its time; CPU 0 is at work, unless it says which one."""
        self.charged = 0
        happening()
        if self.tasks:
            self.shares.append((self.charged, *self.taken()))
        self.charged = NOBODY
        if self.shares:
            # CPUs that were asked without any work are asked at once.
            shares, self.shares = self.shares, []
            for number, tasks, asked in shares:
                self._cpus[number].interrupt(partial(self._take_over, tasks, asked))

    def _take_over(self, tasks: list[Task], asked: list[int]) -> None:
        self.settled = len(self.asked)
        self.tasks.extend(tasks)
        self.asked.extend(asked)

    def _is_awaited(self, since: int) -> bool:
        """Return whether a thread will still act after :data:`STALLED` calls from ``since`` on."""
        if self.now == since:
            raise self.stalled()
        return any(
            what.due == number and not what.is_at_work
            if isinstance(what, Cpu)
            else isinstance(what, Thread | NewThread)
            for _, number, what in self.agenda
        ) or (any(self.waiting) and any(cpu.is_at_work for cpu in self._cpus))

    def _settle(self) -> None:
        """Let the CPUs choose that were asked to."""
        asked, running, preempted = self.asked, self.running, self.preempted
        for position, number in enumerate(asked):  # the list grows meanwhile
            cpu = self._cpus[number]
            self.settled = len(asked)
            if cpu.is_at_work:
                cpu.is_called = True
            elif running[number] is None:
                preempted.discard(number)
                cpu.wake_up()
            elif number in preempted:
                preempted.remove(number)
                cpu.take_off()
            if position > STALLED:
                raise self.stalled()
        asked.clear()
        self.settled = 0

    def _end(self, *, is_cut: bool) -> None:
        """Close the open dispatches, and refuse an end at which threads still wait."""
        for cpu in self._cpus:
            cpu.stop()
        self.recorder.count(self.counters, self.machine.domains)
        self.counters.executed = sum(thread.run_time for thread in self.threads)
        self.counters.end = self.now
        if self.alive and not is_cut:
            raise self._stuck()

    def _stuck(self) -> DfoptError:
        """Return the error of a simulation in which threads wait, but nothing happens any more."""
        lost = [thread.name for thread in self.threads if thread.state is State.READY]
        if lost:
            return self.fault(
                f"has lost {len(lost)} ready threads, {lost[0]} among them: all CPUs are idle; let "
                "pick() return them"
            )
        blocked = [thread for thread in self.threads if thread.state is State.BLOCKED]
        return DfoptError(
            f"the workload is in a deadlock: {len(blocked)} threads wait for each other, "
            f"{blocked[0].name} for {blocked[0].waits_for}"
        )
