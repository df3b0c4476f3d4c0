"""The dynamic program: tasks one by one, fragment by fragment, over loads, costs and ends.

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
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dfopt.costs.role import Role
from dfopt.errors import MethodError
from dfopt.problem.certificate import CompleteSearch
from dfopt.problem.instance import Objective
from dfopt.problem.penalties import PenaltyMatrix
from dfopt.solvers.dp.blocks import ABSENT, Block, Transition
from dfopt.solvers.heuristics import first_schedule
from dfopt.solvers.search import Search

_log = logging.getLogger(__name__)

MOST_STATES = 4_000_000
CHUNK = 50_000

SPARED = Role.FIRST | Role.ALONE
"""The roles, as bits, in which the first block of a CPU is spared its entry."""

Column = npt.NDArray[np.int64]


@dataclass(slots=True)
class States:
    """Partial schedules, one a row; all arrays but ``parent`` and ``chosen`` are rows × CPUs.

    Parameters
    ----------
    loads, used, status, costs
        The size of the tasks that each CPU holds, the roles of its fragments (the union of their
        bits), its status in the current fragment, and its cost so far.
    parent, chosen
        The row this one came from, and the CPU that took the last task.
    """

    loads: Column
    used: Column
    status: Column
    costs: Column
    parent: Column
    chosen: Column

    def __len__(self) -> int:
        return len(self.parent)

    def rows(self, selection: npt.NDArray[np.intp] | npt.NDArray[np.bool_]) -> States:
        """Return some of the rows."""
        return States(
            self.loads[selection],
            self.used[selection],
            self.status[selection],
            self.costs[selection],
            self.parent[selection],
            self.chosen[selection],
        )


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
        self.cpus = range(search.instance.cpus)
        self.total = search.instance.objective is Objective.TOTAL_PENALTY
        self.limit = search.objective - 1
        self.room = search.instance.room
        type_of = [index for index, task_type in enumerate(search.types) for _ in task_type.names]
        self.type_of = sorted(
            type_of, key=lambda task_type: (self.form.costs[task_type].fragment, task_type)
        )
        bases = [self.form.costs[task_type].base for task_type in self.type_of]
        # The last task of each CPU may yet be spared its own write-back.
        spared = len(self.cpus) * max(0, *(-costs.end for costs in self.form.costs))
        self.base_to_come = [sum(bases[position + 1 :]) - spared for position in range(len(bases))]

    def run(self) -> None:
        """Add all tasks; report the best schedule, or that there is no better one."""
        layers: list[States] = []
        states = self._nothing_yet()
        for position, task_type in enumerate(self.type_of):
            fragment = self.form.costs[task_type].fragment
            following = self.type_of[position + 1] if position + 1 < len(self.type_of) else None
            ends = following is None or self.form.costs[following].fragment != fragment
            states = self._added(states, position, ends_fragment=ends)
            layers.append(states)
            if ends:
                _log.debug(
                    "%d of %d tasks: %d states", position + 1, len(self.type_of), len(states)
                )
            if not len(states):
                break
        self._report(layers)

    def _nothing_yet(self) -> States:
        zeros = np.zeros((1, len(self.cpus)), dtype=np.int64)
        nothing = np.zeros(1, dtype=np.int64)
        return States(zeros, zeros, zeros, zeros, nothing, nothing)

    def _added(self, states: States, position: int, *, ends_fragment: bool) -> States:
        """Return the states after one more task."""
        task = self.form.costs[self.type_of[position]]
        members = [
            self.form.costs[other]
            for other in self.type_of
            if self.form.costs[other].fragment == task.fragment
        ]
        blocks = [Block(members, start) for start in self.form.starts]
        found: list[States] = []
        total = 0
        for begin in range(0, len(states), CHUNK):
            self.search.check()
            chunk = np.arange(begin, min(begin + CHUNK, len(states)))
            part = states.rows(chunk)
            extended: list[States] = []
            for cpu in self.cpus:
                self.search.check()
                taken = (
                    self._taken(part, chunk, cpu, step, position)
                    for step in blocks[cpu].steps(task)
                )
                extended += [states for states in taken if states is not None]
            if not extended:
                continue
            merged = _merged(extended)
            if ends_fragment:
                merged = self._fragment_ended(merged, blocks)
            found.append(self._cheapest(merged))
            total += len(found[-1])
            if total > MOST_STATES:
                raise MethodError(
                    f"'dp' needs more than {MOST_STATES} states for this instance; "
                    "use the method 'auto'"
                )
        if not found:
            return states.rows(np.zeros(0, dtype=np.intp))
        return found[0] if len(found) == 1 else self._cheapest(_merged(found))

    def _taken(
        self, states: States, rows: Column, cpu: int, step: Transition, position: int
    ) -> States | None:
        """Return the states in which ``cpu`` has taken the task at a position by ``step``."""
        size = self.search.types[self.type_of[position]].size
        possible = (states.status[:, cpu] == step.before) & (
            states.loads[:, cpu] <= self.room - size
        )
        arrival = self.form.starts[cpu].arrival
        if step.role is not None:
            possible &= (states.used[:, cpu] & step.role.excluded_by) == 0
            if step.role is Role.ALONE:
                possible &= states.loads[:, cpu] == 0
            if cpu and self.search.cpu_groups[cpu] == self.search.cpu_groups[cpu - 1]:
                # Of CPUs that are alike, the earlier one begins first.
                possible &= (states.loads[:, cpu] > 0) | (states.loads[:, cpu - 1] > 0)
        costs = states.costs[:, cpu] + step.cost
        if arrival:
            costs = costs + arrival * (states.loads[:, cpu] == 0)
        if self.total:
            possible &= states.costs.sum(axis=1) - states.costs[:, cpu] + costs <= self.limit
        else:
            possible &= costs <= self.limit
            spent = states.costs.sum(axis=1) - states.costs[:, cpu] + costs
            possible &= spent + self.base_to_come[position] <= self.limit * len(self.cpus)
        (chosen,) = np.nonzero(possible)
        if not len(chosen):
            return None
        taken = states.rows(chosen)
        taken.loads[:, cpu] += size
        taken.costs[:, cpu] = costs[chosen]
        taken.status[:, cpu] = step.after
        if step.role is not None:
            taken.used[:, cpu] |= step.role.value
        taken.parent = rows[chosen]
        taken.chosen = np.full(len(chosen), cpu, dtype=np.int64)
        return taken

    def _fragment_ended(self, states: States, blocks: Sequence[Block]) -> States:
        """Return the states in which no CPU has a duty left, ready for the next fragment."""
        ready = np.ones(len(states), dtype=bool)
        for cpu, block in enumerate(blocks):
            ready &= np.isin(states.status[:, cpu], [ABSENT, *block.complete])
        states = states.rows(ready)
        states.status[:] = ABSENT
        return states

    def _cheapest(self, states: States) -> States:
        """Return the states without those that another one dominates in the minimised cost."""
        columns = [*states.loads.T, *states.used.T, *states.status.T]
        if self.total:
            last = states.costs.sum(axis=1)
        else:
            columns += list(states.costs.T[:-1])
            last = states.costs[:, -1]
        key = _combined(columns)
        order = np.lexsort((last, key))
        first = np.ones(len(order), dtype=bool)
        first[1:] = key[order][1:] != key[order][:-1]
        return states.rows(order[first])

    def _report(self, layers: Sequence[States]) -> None:
        final = layers[-1]
        if len(final):
            costs = final.costs.copy()
            for cpu, start in enumerate(self.form.starts):
                if start.departure:
                    began_elsewhere = (final.used[:, cpu] & SPARED) == 0
                    costs[:, cpu] += start.departure * (began_elsewhere & (final.loads[:, cpu] > 0))
                if start.idle:
                    costs[:, cpu] += start.idle * (final.loads[:, cpu] == 0)
            values = costs.sum(axis=1) if self.total else costs.max(axis=1)
            best = int(values.argmin())
            if values[best] <= self.limit:
                self.search.found(self._orders(layers, best))
        optimum = self.search.objective
        assert optimum is not None
        self.search.proved(optimum, CompleteSearch(threshold=optimum - 1, solver="dp"))

    def _orders(self, layers: Sequence[States], row: int) -> list[list[int]]:
        contents: list[dict[int, int]] = [{} for _ in self.cpus]
        for task_type, layer in zip(reversed(self.type_of), reversed(layers), strict=True):
            content = contents[int(layer.chosen[row])]
            content[task_type] = content.get(task_type, 0) + 1
            row = int(layer.parent[row])
        return [self.form.order(cpu, content) for cpu, content in enumerate(contents)]


def _merged(parts: Sequence[States]) -> States:
    return States(
        np.concatenate([part.loads for part in parts]),
        np.concatenate([part.used for part in parts]),
        np.concatenate([part.status for part in parts]),
        np.concatenate([part.costs for part in parts]),
        np.concatenate([part.parent for part in parts]),
        np.concatenate([part.chosen for part in parts]),
    )


def _combined(columns: Sequence[Column]) -> Column:
    """Return one number per row that is equal exactly where all columns are."""
    key = np.zeros(len(columns[0]), dtype=np.int64)
    size = 1
    for column in columns:
        values, numbers = np.unique(column, return_inverse=True)
        if size * len(values) >= 2**62:
            distinct, key = np.unique(key, return_inverse=True)
            size = len(distinct)
        key = key * len(values) + numbers.reshape(-1)
        size *= len(values)
    return key
