"""Tries all ways to dispatch tasks that wait for each other, for a better schedule.

Tasks are dispatched in the order in which the switches to them begin. Of two partial schedules
with the same tasks, and the same last task on every CPU, one that is nowhere later makes the
other one superfluous.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from graphlib import TopologicalSorter
from operator import le
from typing import NamedTuple

from dfopt.errors import MethodError
from dfopt.problem.instance import Instance
from dfopt.problem.switch_costs import finish_cost, idle_cost, start_cost, switch_cost

MOST_STATES = 100_000
"""At most this number of partial schedules."""

TOO_LARGE = "the instance has too many schedules to enumerate them"


class DispatchedTasks(NamedTuple):
    """A partial schedule.

    Parameters
    ----------
    done
        The tasks that are dispatched, a bit for each.
    cpus
        For each CPU its last task (or its start) and the size of its tasks, sorted.
    times
        For each of these CPUs when the next switch can begin, and when it ends if nothing
        follows; then for each task when it has finished, 0 if no task waits for that any more.
        No switch begins before the last one did, so that no time is earlier than that.
    """

    done: int
    cpus: tuple[tuple[int, int], ...]
    times: tuple[int, ...]


class Dispatching:
    """An instance with precedence, and a bound that schedules shall be below."""

    def __init__(self, instance: Instance, bound: int, check: Callable[[], None]) -> None:
        self.check = check
        self.instance, self.bound = instance, bound
        self.tasks = [task for task in instance.tasks for _ in range(task.multiplicity)]
        self.room = instance.room
        self.sizes = [instance.size_of(task) for task in self.tasks]
        self.starts = {state: cpu for cpu, state in enumerate(instance.initial_states)}
        penalty = instance.penalty
        # The costs of switching to each task: from each task, then from each different start.
        self.switches = [
            [switch_cost(penalty, before, task) for task in self.tasks] for before in self.tasks
        ]
        self.switches += [
            [start_cost(instance, cpu, task) for task in self.tasks] for cpu in self.starts.values()
        ]
        self.awaits = [
            [other for other, before in enumerate(self.tasks) if before.id in task.after]
            for task in self.tasks
        ]
        cheapest = [
            min(row[number] for before, row in enumerate(self.switches) if before != number)
            for number in range(len(self.tasks))
        ]
        self.work = [
            task.exec + arrival for task, arrival in zip(self.tasks, cheapest, strict=True)
        ]
        self.tails = self._tails()

    def _tails(self) -> list[int]:
        """Return for each task how long the tasks take that wait for it, one after the other."""
        tails = [0] * len(self.tasks)
        order = TopologicalSorter(dict(enumerate(self.awaits))).static_order()
        for number in reversed(list(order)):
            for before in self.awaits[number]:
                tails[before] = max(tails[before], self.work[number] + tails[number])
        return tails

    def has_schedule(self) -> bool:
        """Return whether there is a schedule below the bound."""
        states = [self._nothing()]
        for _ in self.tasks:
            alike: dict[tuple[int, tuple[tuple[int, int], ...]], list[tuple[int, ...]]]
            alike = defaultdict(list)
            number = 0
            for state in states:
                for done, cpus, times in self._following(state):
                    others = alike[done, cpus]
                    if any(all(map(le, other, times)) for other in others):
                        continue
                    others[:] = [other for other in others if not all(map(le, times, other))]
                    others.append(times)
                    number += 1
                self.check()
                if number > MOST_STATES:
                    raise MethodError(TOO_LARGE)
            states = [
                DispatchedTasks(*key, times) for key, group in alike.items() for times in group
            ]
        # Of each CPU, the time at which it ends.
        return any(
            all(end < self.bound for end in state.times[1 : 2 * len(state.cpus) : 2])
            for state in states
        )

    def _nothing(self) -> DispatchedTasks:
        numbers = {state: len(self.tasks) + number for number, state in enumerate(self.starts)}
        cpus = sorted(
            (numbers[state], 0, 0, idle_cost(self.instance, cpu))
            for cpu, state in enumerate(self.instance.initial_states)
        )
        times = [time for *_, free, end in cpus for time in (free, end)]
        return DispatchedTasks(
            0, tuple((last, size) for last, size, *_ in cpus), (*times, *[0] * len(self.tasks))
        )

    def _following(self, state: DispatchedTasks) -> Iterator[DispatchedTasks]:
        """Yield what can come of one more task."""
        free = state.times[0 : 2 * len(state.cpus) : 2]
        ends = state.times[1 : 2 * len(state.cpus) : 2]
        finished = state.times[2 * len(state.cpus) :]
        for number, task in enumerate(self.tasks):
            if state.done >> number & 1:
                continue
            if any(not state.done >> before & 1 for before in self.awaits[number]):
                continue
            ready = max([task.release, *(finished[before] for before in self.awaits[number])])
            for cpu, (last, size) in enumerate(state.cpus):
                begin = max(free[cpu], ready)
                finish = begin + self.switches[last][number] + task.exec
                if (
                    size + self.sizes[number] > self.room
                    or finish + self.tails[number] >= self.bound
                ):
                    continue
                if cpu and (state.cpus[cpu], free[cpu]) == (state.cpus[cpu - 1], free[cpu - 1]):
                    continue  # the CPU before is like this one
                done = state.done | 1 << number
                held = size + self.sizes[number]
                now = (number, held, finish, finish + finish_cost(self.instance, task))
                others = [
                    (*state.cpus[other], max(free[other], begin), ends[other])
                    for other in range(len(state.cpus))
                    if other != cpu
                ]
                cpus = sorted([*others, now])
                left = [
                    self.work[other] for other in range(len(self.tasks)) if not done >> other & 1
                ]
                if sum(self.bound - 1 - time for *_, time, _ in cpus) < sum(left):
                    continue
                times = [time for *_, free_at, end in cpus for time in (free_at, end)]
                awaited = {
                    before
                    for other in range(len(self.tasks))
                    if not done >> other & 1
                    for before in self.awaits[other]
                }
                after = [
                    max(finish if other == number else finished[other], begin)
                    if other in awaited and done >> other & 1
                    else 0
                    for other in range(len(self.tasks))
                ]
                yield DispatchedTasks(
                    done, tuple((last, size) for last, size, *_ in cpus), (*times, *after)
                )
