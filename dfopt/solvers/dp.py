"""The method ``dp``: tasks one by one, fragment by fragment, over loads, costs and ends of CPUs.

A state says for every CPU how many tasks it holds (or their size, where some are larger than
others), what it has used up of its two ends, its status in the current fragment, and its cost; of
states that agree in all this but the cost of the last CPU the cheapest is kept. With n tasks, m
CPUs of capacity k, and costs below C there are at most O(k^(m−1)·C^(m−1)) states up to a factor
that depends on m alone, since the loads of m − 1 CPUs fix that of the last; each of the n tasks
tries O(m) steps from each, so the program takes O(n·k^(m−1)·C^(m−1)) for fixed m. With
balanced loads k is ⌈n/m⌉. Under g a CPU's cost is a number of visits, so C is at most d + 1;
under total-penalty one cost is enough and C falls away.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dfopt.costs.closed_form import BlockCosts, CpuStart, possible_roles
from dfopt.costs.role import Duty, Role
from dfopt.errors import MethodError
from dfopt.problem.certificate import CompleteSearch
from dfopt.problem.instance import Objective
from dfopt.problem.penalties import PenaltyMatrix
from dfopt.solvers.heuristics import first_schedule
from dfopt.solvers.search import Search

_log = logging.getLogger(__name__)

MOST_STATES = 4_000_000
CHUNK = 50_000

ABSENT = 0
"""The status of a CPU that holds no task of the current fragment."""

NO_MORE_TASKS = 8
"""Beside the open duties in a status: the block is complete and takes no other task."""

STATUSES = 16
"""The number of statuses of each role."""

SPARED = Role.FIRST | Role.ALONE
"""The roles, as bits, in which the first block of a CPU is spared its entry."""

States = npt.NDArray[np.int64]
"""Partial schedules, one a column. For m CPUs there are m rows each of their loads, of the roles of
their fragments (the union of their bits), of their statuses in the current fragment, and of their
costs; then the column that this one came from, and the CPU that took the last task."""

PARENT, CHOSEN = -2, -1


class Transition(NamedTuple):
    """One way for a CPU to take one task.

    Parameters
    ----------
    before, after
        The CPU's status; statuses are numbers that only the block understands.
    cost
        The cost for the CPU.
    role
        The role that is chosen, where the task is the first one of its fragment.
    """

    before: int
    after: int
    cost: int
    role: Role | None


class Block:
    """The ways for a CPU to take the tasks of one fragment, one by one: a small automaton.

    When a CPU takes its first task of a fragment, it decides which *role* the fragment plays there,
    and so which *duties* its tasks have to fill, see :mod:`dfopt.costs.role`. Duties that all tasks
    of a fragment fill at the same cost are paid when the block begins.

    Parameters
    ----------
    members
        The costs of the fragment's tasks.
    start
        The start of the CPU, which may spare its first task some costs.

    Attributes
    ----------
    complete : list of int
        The statuses in which every duty is filled.
    """

    def __init__(self, members: Sequence[BlockCosts], start: CpuStart) -> None:
        self._prices = {
            Duty.OPEN: {task.entry for task in members},
            Duty.CLOSE: {task.exit for task in members},
            Duty.END: {task.end for task in members},
        }
        ends_cheaply = any(task.end < task.exit for task in members)
        self.roles = possible_roles(
            start, members[0].fragment, len(members), ends_cheaply=ends_cheaply
        )
        self.complete = [
            self._status(role, duties) for role in self.roles for duties in (0, NO_MORE_TASKS)
        ]

    def steps(self, task: BlockCosts) -> Iterator[Transition]:
        """Yield every way to take ``task``, which fills one open duty or none.

        It fills two if it both opens the last block and is the last one in it.
        """
        prices = {Duty.OPEN: task.entry, Duty.CLOSE: task.exit, Duty.END: task.end}
        for role in self.roles:
            required = self._required(role)
            at_once = sum(
                min(costs) for duty, costs in self._prices.items() if duty & role.duties & ~required
            )
            both = Duty.OPEN | (Duty.END if role.duties & Duty.END else Duty.CLOSE)
            for left in map(Duty, range(8)):
                if left & ~required:
                    continue
                for filled in (Duty.NONE, *Duty, both):
                    if filled & ~left:
                        continue
                    cost = task.base + sum(prices[duty] for duty in Duty if duty & filled)
                    after = self._status(role, left & ~filled)
                    is_alone = filled == both and role is not Role.SPLIT
                    if not is_alone:
                        yield Transition(self._status(role, left), after, cost, None)
                    if left == required:
                        last = self._status(role, NO_MORE_TASKS) if is_alone else after
                        yield Transition(ABSENT, last, at_once + cost, role)

    def _required(self, role: Role) -> Duty:
        """Return the duties that have to be filled by particular tasks."""
        required = Duty.NONE
        for duty, costs in self._prices.items():
            if role.duties & duty and (len(costs) > 1 or role is Role.SPLIT):
                required |= duty
        return required

    def _status(self, role: Role, duties: int) -> int:
        return 1 + self.roles.index(role) * STATUSES + duties


def solve_by_dp(search: Search) -> None:
    """Find and prove the optimum for few CPUs, under f and g without waits.

    Raises
    ------
    MethodError
        When the instance is of another kind, or has too many states.
    """
    instance = search.instance
    if isinstance(instance.penalty, PenaltyMatrix) or instance.is_timed:
        raise MethodError(
            "'dp' is for the penalties f and g without releases and precedence; "
            "use the method 'auto'"
        )
    if search.schedule is None:
        first_schedule.improve(search, effort=0.2)
    DynamicProgram(search).run()


class DynamicProgram:
    """The program for one instance.

    Parameters
    ----------
    search
        The instance; only schedules better than its best one are looked for.
    """

    def __init__(self, search: Search) -> None:
        assert search.objective is not None
        self.search = search
        self.form = search.form
        self.cpus = cpus = search.instance.cpus
        self.total = search.instance.objective is Objective.TOTAL_PENALTY
        self.limit = search.objective - 1
        # The rows of states, see above.
        self.loads, self.used, self.status, self.costs = (
            slice(place * cpus, (place + 1) * cpus) for place in range(4)
        )
        type_of = [index for index, task_type in enumerate(search.types) for _ in task_type.names]
        self.type_of = sorted(
            type_of, key=lambda task_type: (self.form.costs[task_type].fragment, task_type)
        )
        bases = [self.form.costs[task_type].base for task_type in self.type_of]
        # The last task of each CPU may yet be spared its own write-back.
        spared = cpus * max(0, *(-costs.end for costs in self.form.costs))
        self.base_to_come = [sum(bases[position + 1 :]) - spared for position in range(len(bases))]

    def run(self) -> None:
        """Add all tasks; report the best schedule, or that there is no better one."""
        layers: list[States] = []
        states = np.zeros((4 * self.cpus + 2, 1), dtype=np.int64)
        for position in range(len(self.type_of)):
            states = self._added(states, position)
            layers.append(states)
            if not states.size:
                break
        self._report(layers)

    def _added(self, states: States, position: int) -> States:
        """Return the states after one more task."""
        fragments = [self.form.costs[task_type].fragment for task_type in self.type_of]
        task = self.form.costs[self.type_of[position]]
        members = [
            self.form.costs[other]
            for other, fragment in zip(self.type_of, fragments, strict=True)
            if fragment == task.fragment
        ]
        ends_fragment = fragments[position + 1 : position + 2] != [task.fragment]
        blocks = [Block(members, start) for start in self.form.starts]
        found: list[States] = []
        total = 0
        for begin in range(0, states.shape[1], CHUNK):
            part = states[:, begin : begin + CHUNK].copy()
            part[PARENT] = np.arange(begin, begin + part.shape[1])
            extended = []
            for cpu, block in enumerate(blocks):
                self.search.check()
                extended += [self._taken(part, cpu, step, position) for step in block.steps(task)]
            merged = np.concatenate(extended, axis=1)
            if ends_fragment:
                # No CPU has a duty left; all are ready for the next fragment.
                complete = [
                    np.isin(status, [ABSENT, *block.complete])
                    for status, block in zip(merged[self.status], blocks, strict=True)
                ]
                merged = merged[:, np.all(complete, axis=0)]
                merged[self.status] = ABSENT
            found.append(self._cheapest(merged))
            total += found[-1].shape[1]
            if total > MOST_STATES:
                raise MethodError(
                    f"'dp' needs more than {MOST_STATES} states for this instance; "
                    "use the method 'auto'"
                )
        states = found[0] if len(found) == 1 else self._cheapest(np.concatenate(found, axis=1))
        if ends_fragment:
            _log.debug(
                "%d of %d tasks: %d states", position + 1, len(self.type_of), states.shape[1]
            )
        return states

    def _taken(self, states: States, cpu: int, step: Transition, position: int) -> States:
        """Return the states in which ``cpu`` has taken the task at a position by ``step``."""
        loads, costs = states[self.loads], states[self.costs]
        size = self.search.types[self.type_of[position]].size
        possible = states[self.status][cpu] == step.before
        possible &= loads[cpu] <= self.search.instance.room - size
        if step.role is not None:
            possible &= (states[self.used][cpu] & step.role.excluded_by) == 0
            if step.role is Role.ALONE:
                possible &= loads[cpu] == 0
            if cpu and self.search.cpu_groups[cpu] == self.search.cpu_groups[cpu - 1]:
                # Of CPUs that are alike, the earlier one begins first.
                possible &= (loads[cpu] > 0) | (loads[cpu - 1] > 0)
        growth = step.cost + self.form.starts[cpu].arrival * (loads[cpu] == 0)
        spent = costs.sum(axis=0) + growth
        if self.total:
            possible &= spent <= self.limit
        else:
            possible &= costs[cpu] + growth <= self.limit
            possible &= spent + self.base_to_come[position] <= self.limit * self.cpus
        taken = states[:, possible]
        taken[self.loads][cpu] += size
        taken[self.costs][cpu] += growth[possible]
        taken[self.status][cpu] = step.after
        if step.role is not None:
            taken[self.used][cpu] |= step.role.value
        taken[CHOSEN] = cpu
        return taken

    def _cheapest(self, states: States) -> States:
        """Return the states without those that another one dominates in the minimised cost."""
        costs = states[self.costs]
        last = costs.sum(axis=0) if self.total else costs[-1]
        others = states[: self.costs.start if self.total else self.costs.stop - 1]
        order = np.lexsort((last, *others))
        states, others = states[:, order], others[:, order]
        is_first = np.ones(len(order), dtype=np.bool_)
        is_first[1:] = (others[:, 1:] != others[:, :-1]).any(axis=0)
        return states[:, is_first]

    def _report(self, layers: Sequence[States]) -> None:
        final = layers[-1]
        if final.size:
            costs, loads = final[self.costs].copy(), final[self.loads]
            for cpu, start in enumerate(self.form.starts):
                began_elsewhere = (final[self.used][cpu] & SPARED) == 0
                costs[cpu] += start.departure * (began_elsewhere & (loads[cpu] > 0))
                costs[cpu] += start.idle * (loads[cpu] == 0)
            values = costs.sum(axis=0) if self.total else costs.max(axis=0)
            best = int(values.argmin())
            if values[best] <= self.limit:
                self.search.found(self._orders(layers, best))
        optimum = self.search.objective
        assert optimum is not None
        self.search.proved(optimum, CompleteSearch(threshold=optimum - 1, solver="dp"))

    def _orders(self, layers: Sequence[States], column: int) -> list[list[int]]:
        contents: list[dict[int, int]] = [{} for _ in range(self.cpus)]
        for task_type, layer in zip(reversed(self.type_of), reversed(layers), strict=True):
            column, cpu = layer[[PARENT, CHOSEN], column].tolist()
            contents[cpu][task_type] = contents[cpu].get(task_type, 0) + 1
        return [self.form.order(cpu, content) for cpu, content in enumerate(contents)]
