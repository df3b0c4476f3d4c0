"""Bounds under f and g from the least cost of each visit of a fragment.

A CPU's cost is the sum over the fragments it visits of an entry and an exit, less what its two
ends are spared. With k tasks a CPU at most, a fragment of s tasks is visited by at least ⌈s/k⌉
CPUs; where tasks have sizes, that holds for their number and for their size. So where a visit is
worth no more than it costs, the visits that there must be are worth no more than the CPUs pay; that
is a bound by prices of visits which a reader can check.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import add, mul

from dfopt.costs.closed_form import ClosedForm, CpuStart, cheapest_pair
from dfopt.costs.role import Role
from dfopt.costs.task_types import TaskType
from dfopt.problem.certificate import (
    Certificate,
    CompleteSearch,
    Leaf,
    Over,
    ProofRows,
    TaskClass,
    VisitCount,
)
from dfopt.problem.instance import Instance, Objective
from dfopt.structs import Record

MOST_CAPS = 32


class Bound(Record):
    """No schedule has an objective below ``value``, and ``certificate`` says why."""

    value: int
    certificate: Certificate | None


NOTHING = Bound(value=0, certificate=None)


Visit = Mapping[Role, int]
"""The least cost of a visit of one fragment, by its role; a split counts as first and last."""


@dataclass(frozen=True, kw_only=True)
class Visits:
    """The least visits of every fragment of an instance.

    Parameters
    ----------
    instance, types, form
        The instance, its types, and what their tasks pay for their duties.
    check
        Called often; may end the work by an exception.
    """

    instance: Instance
    types: Sequence[TaskType]
    form: ClosedForm
    check: Callable[[], None] = lambda: None

    @cached_property
    def members(self) -> list[list[int]]:
        """The types of each fragment."""
        members: list[list[int]] = [[] for _ in self.form.fragments]
        for task_type, costs in enumerate(self.form.costs):
            members[costs.fragment].append(task_type)
        return members

    @cached_property
    def parts(self) -> list[int]:
        """How many CPUs visit each fragment at least, ⌈s/k⌉."""
        most, room = self.instance.tasks_per_cpu, max(1, self.instance.room)
        parts = []
        for task_types in self.members:
            own = [self.types[task_type] for task_type in task_types]
            tasks = sum(task_type.count for task_type in own)
            size = sum(task_type.count * task_type.size for task_type in own)
            parts.append(max(-(-tasks // most), -(-size // room)))
        return parts

    @cached_property
    def base_total(self) -> int:
        """What all tasks pay wherever they run."""
        return sum(
            costs.base * task_type.count
            for costs, task_type in zip(self.form.costs, self.types, strict=True)
        )

    @cached_property
    def bare(self) -> list[Visit]:
        """The least visit of each fragment, its tasks' base costs left out."""
        return [self._cheapest(task_types, with_base=False) for task_types in self.members]

    @cached_property
    def full(self) -> list[Visit]:
        """The least visit of each fragment, with the base costs of the tasks at its ends."""
        return [self._cheapest(task_types, with_base=True) for task_types in self.members]

    def _cheapest(self, task_types: Sequence[int], *, with_base: bool) -> Visit:
        # Two copies of a task are enough for the two ends of a block.
        costs = [
            self.form.costs[task_type]
            for task_type in task_types
            for _ in range(min(2, self.types[task_type].count))
        ]
        bases = [task.base if with_base else 0 for task in costs]
        opening = [task.entry + base for task, base in zip(costs, bases, strict=True)]
        closing = [task.exit + base for task, base in zip(costs, bases, strict=True)]
        ending = [task.end + base for task, base in zip(costs, bases, strict=True)]
        entries = [task.entry for task in costs]

        def pair(firsts: Sequence[int], lasts: Sequence[int]) -> int:
            return cheapest_pair(range(len(costs)), firsts, lasts).cost

        return {
            Role.MIDDLE: min(*map(add, entries, closing), pair(opening, closing)),
            Role.FIRST: min(closing),
            Role.LAST: min(*map(add, entries, ending), pair(opening, ending)),
            Role.ALONE: min(ending),
        }

    def worth(self, worths: Sequence[int]) -> int:
        """Return the least worth of all visits together."""
        return sum(map(mul, worths, self.parts))

    def proof(
        self,
        value: int,
        bin_weights: Iterable[int],
        *,
        weights: Mapping[int, int] | None = None,
        worths: Sequence[int] = (),
    ) -> Certificate:
        """Return the proof of a bound.

        Parameters
        ----------
        value
            The bound.
        bin_weights
            The most that each CPU can hold.
        weights
            Of a task of some types.
        worths
            Of a visit of each fragment.
        """
        rows = ProofRows(Over.CONTENTS)
        weighed = [
            [(self.types[number].example, (weights or {}).get(number, 0)) for number in task_types]
            for task_types in self.members
        ]
        names = (str(self.types[task_types[0]].example.df) for task_types in self.members)
        visits = (
            (rows.count(VisitCount(classes=(rows.of(TaskClass(df=df)),))), worth)
            for df, worth in zip(names, worths, strict=False)
            if worth
        )
        leaf = Leaf(
            weights=rows.weights(self.instance, weighed, with_lines=True),
            prices=tuple(visits),
            bin_weights=tuple(bin_weights),
        )
        return rows.proof([leaf], value - 1)


def area_bound(visits: Visits) -> Bound:
    """Return the bound from what all CPUs pay together, shared evenly.

    Notes
    -----
    A fragment counts with at most ``cap``, so that the savings at the CPUs' ends, which every
    CPU is granted in full, stay small; a few caps are tried.
    """
    caps = sorted({visit[Role.MIDDLE] for visit in visits.bare if visit[Role.MIDDLE] > 0})
    step = max(1, -(-len(caps) // MOST_CAPS))
    best = NOTHING
    # With a cap of 0 only what all tasks pay wherever they run counts, and nothing is spared.
    for cap in [*caps[::-step], 0]:
        worths = [min(cap, visit[Role.MIDDLE]) for visit in visits.bare]
        value = _area(visits, worths)
        if value > best.value:
            best = Bound(value=value, certificate=_area_certificate(visits, worths, value))
    return best


def _area(visits: Visits, worths: Sequence[int]) -> int:
    instance = visits.instance
    total = visits.base_total + visits.worth(worths) - sum(_all_savings(visits, worths))
    return total if instance.objective is Objective.TOTAL_PENALTY else -(-total // instance.cpus)


def _all_savings(visits: Visits, worths: Sequence[int]) -> list[int]:
    """Return for each CPU by how much the worth of its visits can exceed their cost."""
    savings = {start: _savings(start, worths, visits.bare) for start in set(visits.form.starts)}
    return [savings[start] for start in visits.form.starts]


def _savings(start: CpuStart, worths: Sequence[int], cheapest: Sequence[Visit]) -> int:
    """Return by how much the worth of one CPU's visits can exceed their cost."""
    pairs = list(zip(worths, cheapest, strict=True))
    spared = [pair for fragment, pair in enumerate(pairs) if start.spares_entry(fragment)]
    first = max((worth - visit[Role.FIRST] for worth, visit in spared), default=0)
    last = max((worth - visit[Role.LAST] for worth, visit in pairs), default=0)
    alone = max((worth - visit[Role.ALONE] for worth, visit in spared), default=0)
    saving = max(0, first) + max(0, last, alone - max(0, first))
    if not start.idle:
        return saving
    # A CPU that pays even when it runs nothing pays for its initial state in any case.
    return max(-start.idle, saving - (start.arrival if spared else start.arrival + start.departure))


def _area_certificate(visits: Visits, worths: Sequence[int], value: int) -> Certificate:
    savings = _all_savings(visits, worths)
    total = visits.instance.objective is Objective.TOTAL_PENALTY
    threshold = 0 if total else value - 1
    if min(savings) + threshold < 0:
        # A certificate knows no negative bin weights.
        return CompleteSearch(threshold=value - 1, solver="area")
    bases = {task_type: costs.base for task_type, costs in enumerate(visits.form.costs)}
    bins = (threshold + saving for saving in savings)
    return visits.proof(value, bins, weights=bases, worths=worths)


def parts_bound(visits: Visits) -> Bound:
    """Return the bound from how many fragments, or parts of them, the CPUs must visit.

    Some CPU visits at least its even share of all parts. It costs at least as much as the
    cheapest visits of that number.
    """
    if visits.instance.objective is Objective.TOTAL_PENALTY:
        return NOTHING
    tables = _least_costs(visits)
    value = _least_threshold(tables, sum(visits.parts))
    if value <= 0:
        return NOTHING
    return Bound(
        value=value,
        certificate=visits.proof(
            value,
            (_visits_within(table, value - 1) for table in tables),
            worths=[1] * len(visits.parts),
        ),
    )


def _least_costs(visits: Visits) -> list[list[int]]:
    """Return for each CPU the least cost of visiting 0, 1, 2, … fragments."""
    cheapest = visits.full
    share = -(-sum(visits.parts) // visits.instance.cpus)
    most = min(len(cheapest), share + 2)
    tables: dict[CpuStart, list[int]] = {}
    for start in visits.form.starts:
        if start not in tables:
            tables[start] = _least_cost_table(start, cheapest, most, visits.check)
    return [tables[start] for start in visits.form.starts]


def _least_cost_table(
    start: CpuStart, cheapest: Sequence[Visit], most: int, check: Callable[[], None]
) -> list[int]:
    """Return the least cost of visiting 0 … ``most`` fragments, by a DP over the roles."""
    fragments = range(len(cheapest))
    # Some optimal choice takes its middle visits from the cheapest, its ends likewise.
    candidates = {
        *sorted(fragments, key=lambda fragment: cheapest[fragment][Role.MIDDLE])[: most + 2],
        *sorted(fragments, key=lambda fragment: cheapest[fragment][Role.FIRST])[:3],
        *sorted(fragments, key=lambda fragment: cheapest[fragment][Role.LAST])[:3],
        *(fragment for fragment in (start.free_fragment,) if fragment is not None),
    }
    unreachable = 2**63
    entering = start.arrival + start.departure
    # One row per number of visits; columns: no end used, first used, last used, both used.
    table = [[unreachable] * 4 for _ in range(most + 1)]
    table[0][0] = entering
    for tried, fragment in enumerate(candidates, 1):
        check()
        visit = cheapest[fragment]
        middle, last = visit[Role.MIDDLE], visit[Role.LAST]
        first = visit[Role.FIRST] - start.departure if start.spares_entry(fragment) else unreachable
        for count in range(min(most, tried), 0, -1):
            before, now = table[count - 1], table[count]
            now[0] = min(now[0], before[0] + middle)
            now[1] = min(now[1], before[1] + middle, before[0] + first)
            now[2] = min(now[2], before[2] + middle, before[0] + last)
            now[3] = min(now[3], before[3] + middle, before[1] + last, before[2] + first)
    costs = [start.idle, *(min(row) for row in table[1:])]
    if most:
        spared = [
            start.arrival + cheapest[fragment][Role.ALONE]
            for fragment in fragments
            if start.spares_entry(fragment)
        ]
        costs[1] = min([costs[1], *spared])
    return costs


def _least_threshold(tables: Sequence[Sequence[int]], parts: int) -> int:
    """Return the least cost at which the CPUs together can visit ``parts`` fragments."""
    costs = sorted({max(0, cost) for table in tables for cost in table})
    alike = Counter(tuple(table) for table in tables)

    def is_enough(cost: int) -> bool:
        # Beyond a table's end nothing is known about how many visits fit.
        return (
            any(table[-1] <= cost for table in alike)
            or sum(_visits_within(table, cost) * cpus for table, cpus in alike.items()) >= parts
        )

    index = bisect_left(costs, True, key=is_enough)
    return costs[index] if index < len(costs) else 0


def _visits_within(table: Sequence[int], cost: int) -> int:
    """Return the most visits that cost at most ``cost``."""
    counts = range(len(table) - 1, -1, -1)
    return next((count for count in counts if table[count] <= cost), 0)


def longest_task_bound(visits: Visits) -> Bound:
    """Return the bound from the longest execution time under makespan."""
    instance = visits.instance
    if instance.objective is not Objective.MAKESPAN:
        return NOTHING
    longest = max(
        range(len(visits.types)), key=lambda task_type: visits.types[task_type].example.exec
    )
    value = visits.types[longest].example.exec
    if value <= 0:
        return NOTHING
    certificate = visits.proof(value, (0,), weights={longest: 1})
    return Bound(value=value, certificate=certificate)
