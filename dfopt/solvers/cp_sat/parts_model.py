"""The parts model for g: which fragments a CPU holds whole, and which few are cut.

Under g a CPU pays for each fragment it visits, so only sizes matter, and fragments of one size
are alike. A fixed threshold limits the number of visits. Once every fragment has its fewest
parts, few visits are left, and only these can cut a fragment that would fit on a CPU. So all but a
few fragments stay whole, and are counted by size instead of placed one by one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from ortools.sat.python import cp_model

from dfopt.problem.instance import Objective
from dfopt.solvers.cp_sat.runner import Expression
from dfopt.solvers.search import Search


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Fragments that are alike: of equal size, and in no CPU's cache at the start.

    A fragment that is in some cache at the start is alone.
    """

    tasks: int
    fragments: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CutFragment:
    """A fragment in parts: how many of its tasks each CPU holds, and whether any."""

    tasks: Mapping[int, cp_model.IntVar]
    visits: Mapping[int, cp_model.IntVar]
    picks: Mapping[int, cp_model.IntVar]
    """[size]: whether it is one of that size; empty for a fragment that must be cut."""


class PartsModel:
    """The instance under g at a fixed threshold; any solution is a schedule within it.

    Parameters
    ----------
    search
        The instance.
    threshold
        The largest objective allowed.
    """

    def __init__(self, search: Search, threshold: int) -> None:
        self.search = search
        self.model = cp_model.CpModel()
        self.form = search.form
        self.cpus = range(search.instance.cpus)
        self.capacity = search.instance.tasks_per_cpu
        self.visits_paid = threshold // max(1, self.form.costs[0].entry)
        self.sizes = self._sizes()
        self.whole = {
            (number, cpu): self.model.new_int_var(
                0, min(len(size.fragments), self.capacity // size.tasks), f"whole[{number},{cpu}]"
            )
            for number, size in enumerate(self.sizes)
            if size.tasks <= self.capacity
            for cpu in self.cpus
        }
        self.forced = [
            (size, fragment, self._cut_fragment(f"forced[{fragment}]"))
            for size in self.sizes
            if size.tasks > self.capacity
            for fragment in size.fragments
        ]
        self.optional = [
            self._optional_cut(f"cut[{number}]") for number in range(self._spare_parts())
        ]
        self._every_task_runs()
        self._capacity()
        self._visits_within_threshold()
        self._cuts_are_ordered()

    def orders(self, value: Callable[[cp_model.IntVar], int]) -> list[list[int]]:
        """Return the schedule that an assignment stands for, as orders of type numbers."""
        types_of: dict[int, list[int]] = defaultdict(list)
        for task_type, costs in enumerate(self.form.costs):
            types_of[costs.fragment] += [task_type] * self.search.types[task_type].count
        contents: list[dict[int, int]] = [defaultdict(int) for _ in self.cpus]

        def deal(fragment: int, cpu: int, number: int) -> None:
            for _ in range(number):
                contents[cpu][types_of[fragment].pop()] += 1

        left = [list(size.fragments) for size in self.sizes]
        for _, fragment, cut in self.forced:
            for cpu in self.cpus:
                deal(fragment, cpu, value(cut.tasks[cpu]))
        for cut in self.optional:
            for number, pick in cut.picks.items():
                if value(pick):
                    fragment = left[number].pop()
                    for cpu in self.cpus:
                        deal(fragment, cpu, value(cut.tasks[cpu]))
        for (number, cpu), whole in self.whole.items():
            for _ in range(value(whole)):
                deal(left[number].pop(), cpu, self.sizes[number].tasks)
        return [self.form.order(cpu, content) for cpu, content in enumerate(contents)]

    def _sizes(self) -> list[Size]:
        tasks = [0] * len(self.form.fragments)
        for task_type, costs in enumerate(self.form.costs):
            tasks[costs.fragment] += self.search.types[task_type].count
        cached = {start.free_fragment for start in self.form.starts} - {None}
        alike: dict[tuple[int, int | None], list[int]] = defaultdict(list)
        for fragment, size in enumerate(tasks):
            alike[size, fragment if fragment in cached else None].append(fragment)
        return [
            Size(tasks=size, fragments=tuple(fragments))
            for (size, _), fragments in sorted(alike.items(), key=lambda item: -item[0][0])
        ]

    def _spare_parts(self) -> int:
        """Return the most parts that any solution needs beyond the necessary ones.

        Two limits apply: the visits that can be paid for, and that fragments and CPUs, joined by
        visits, need not form a cycle.
        """
        starts = self.form.starts
        begun = sum(start.free_for_all or start.free_fragment is not None for start in starts)
        paid = self.visits_paid
        if self.search.instance.objective is not Objective.TOTAL_PENALTY:
            paid *= len(starts)
        parts = [-(-size.tasks // self.capacity) for size in self.sizes for _ in size.fragments]
        affordable = paid + begun - sum(parts)
        without_cycles = len(starts) - 1 - sum(number - 1 for number in parts)
        fitting = sum(len(size.fragments) for size in self.sizes if size.tasks <= self.capacity)
        return max(0, min(affordable, without_cycles, fitting))

    def _cut_fragment(self, name: str) -> CutFragment:
        tasks = {
            cpu: self.model.new_int_var(0, self.capacity, f"{name}.tasks[{cpu}]")
            for cpu in self.cpus
        }
        visits = {cpu: self.model.new_bool_var(f"{name}.visits[{cpu}]") for cpu in self.cpus}
        for cpu in self.cpus:
            # A CPU visits the fragment iff it holds some of its tasks.
            self.model.add(tasks[cpu] <= self.capacity * visits[cpu])
            self.model.add(tasks[cpu] >= visits[cpu])
        return CutFragment(tasks=tasks, visits=visits, picks={})

    def _optional_cut(self, name: str) -> CutFragment:
        """Return a cut fragment of any size that fits and has two tasks, or none at all."""
        cut = self._cut_fragment(name)
        picks = {
            number: self.model.new_bool_var(f"{name}.picks[{number}]")
            for number, size in enumerate(self.sizes)
            if 1 < size.tasks <= self.capacity
        }
        # The cut is of at most one fragment.
        self.model.add_at_most_one(picks.values())
        return CutFragment(tasks=cut.tasks, visits=cut.visits, picks=picks)

    def _every_task_runs(self) -> None:
        # The parts of a fragment that fits on no CPU hold all its tasks, on enough CPUs.
        for size, _, cut in self.forced:
            self.model.add(sum(cut.tasks.values()) == size.tasks)
            self.model.add(sum(cut.visits.values()) >= -(-size.tasks // self.capacity))
        # An optional cut holds all tasks of the fragment that it picks, on at least two CPUs.
        for cut in self.optional:
            self.model.add(sum(cut.tasks.values()) == self._picked_size(cut))
            self.model.add(sum(cut.visits.values()) >= 2 * sum(cut.picks.values()))
        # Every fragment that fits on a CPU is either whole or picked by a cut.
        for number, size in enumerate(self.sizes):
            if size.tasks <= self.capacity:
                whole = sum(self.whole[number, cpu] for cpu in self.cpus)
                cuts = sum(cut.picks.get(number, 0) for cut in self.optional)
                self.model.add(whole + cuts == len(size.fragments))

    def _picked_size(self, cut: CutFragment) -> Expression:
        return sum(self.sizes[number].tasks * pick for number, pick in cut.picks.items())

    def _capacity(self) -> None:
        for cpu in self.cpus:
            whole = sum(
                size.tasks * self.whole.get((number, cpu), 0)
                for number, size in enumerate(self.sizes)
            )
            parts = sum(cut.tasks[cpu] for cut in self._cuts())
            # A CPU holds at most k tasks.
            self.model.add(whole + parts <= self.capacity)

    def _cuts(self) -> list[CutFragment]:
        return [*(cut for _, _, cut in self.forced), *self.optional]

    def _visits_within_threshold(self) -> None:
        paid = [self._visits(cpu) - self._spared(cpu) for cpu in self.cpus]
        if self.search.instance.objective is Objective.TOTAL_PENALTY:
            # All CPUs together pay for no more visits than the threshold allows.
            self.model.add(sum(paid) <= self.visits_paid)
        else:
            # No CPU pays for more visits than the threshold allows.
            for visits in paid:
                self.model.add(visits <= self.visits_paid)

    def _visits(self, cpu: int) -> Expression:
        whole = sum(self.whole.get((number, cpu), 0) for number in range(len(self.sizes)))
        return whole + sum(cut.visits[cpu] for cut in self._cuts())

    def _spared(self, cpu: int) -> Expression:
        """Return 1 where the CPU's first visit is free."""
        start = self.form.starts[cpu]
        if not start.free_for_all and start.free_fragment is None:
            return 0
        spared = self.model.new_bool_var(f"spared[{cpu}]")
        if start.free_for_all:
            # Any first visit is spared, if there is one.
            self.model.add(spared <= self._visits(cpu))
            return spared
        (number,) = (
            number
            for number, size in enumerate(self.sizes)
            if start.free_fragment in size.fragments
        )
        visits: Expression = self.whole.get((number, cpu), 0)
        visits += sum(
            cut.visits[cpu] for _, fragment, cut in self.forced if fragment == start.free_fragment
        )
        for cut in self.optional:
            if number in cut.picks:
                # The CPU visits a cut, and the cut is of the fragment in its cache.
                both = self.model.new_bool_var("")
                self.model.add_implication(both, cut.picks[number])
                self.model.add_implication(both, cut.visits[cpu])
                visits += both
        # The visit is spared only if the CPU visits the fragment in its cache.
        self.model.add(spared <= visits)
        return spared

    def _cuts_are_ordered(self) -> None:
        """Of the optional cuts, which are alike, the earlier one is of the larger fragment."""
        for larger, smaller in pairwise(self.optional):
            self.model.add(self._picked_size(larger) >= self._picked_size(smaller))
