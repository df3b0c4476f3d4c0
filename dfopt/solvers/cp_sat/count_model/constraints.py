"""The constraints of the count model: its solutions are the schedules."""

from __future__ import annotations

from collections.abc import Sequence

from ortools.sat.python import cp_model

from dfopt.solvers.aggregation import Aggregation
from dfopt.solvers.cp_sat.count_model.variables import Variables
from dfopt.solvers.cp_sat.runner import Expression
from dfopt.verify.tree import least_visits


class Constraints:
    """Adds the constraints to a model, one method a rule.

    Parameters
    ----------
    model, variables
        Where they are added, and about what.
    aggregation
        The instance.
    """

    def __init__(
        self, model: cp_model.CpModel, variables: Variables, aggregation: Aggregation
    ) -> None:
        self.model = model
        self.v = variables
        self.instance = aggregation.instance
        self.classes = aggregation.classes
        self.cpu_groups = aggregation.cpu_groups
        self.cpus = range(aggregation.instance.cpus)
        self.fragments = range(len(aggregation.form.fragments))
        self.members = [
            [
                number
                for number, task_class in enumerate(self.classes)
                if task_class.fragment == fragment
            ]
            for fragment in self.fragments
        ]
        self.sizes = [sum(self.classes[c].count for c in members) for members in self.members]

    def add_all(self) -> None:
        """Add every rule."""
        self.every_task_runs()
        self.capacity()
        self.visits_hold_tasks()
        self.tokens_open_once()
        self.blocks_are_opened()
        self.ends_are_unique()
        self.closers_are_there()
        self.identical_cpus_are_ordered()

    def every_task_runs(self) -> None:
        """Add Σ_i count[c, i] = |c|."""
        # All tasks of a class are held by some CPU.
        for c, task_class in enumerate(self.classes):
            self.model.add(sum(self.v.count[c, i] for i in self.cpus) == task_class.count)

    def capacity(self) -> None:
        """Add Σ_c size[c]·count[c, i] ≤ k."""
        for i in self.cpus:
            held = sum(
                task_class.size * self.v.count[c, i] for c, task_class in enumerate(self.classes)
            )
            self.model.add(held <= self.instance.room)

    def visits_hold_tasks(self) -> None:
        """Visits ≤ Σ_c count ≤ min(s, k)·visits, and at least ⌈s/k⌉ CPUs visit."""
        capacity, room = self.instance.tasks_per_cpu, self.instance.room
        for a in self.fragments:
            for i in self.cpus:
                held = self._held(a, i)
                # A CPU visits a fragment iff it holds some of its tasks.
                self.model.add(held <= min(self.sizes[a], capacity) * self.v.visits[a, i])
                self.model.add(held >= self.v.visits[a, i])
                # The same for each class: redundant, and tighter in the linear relaxation.
                for c in self.members[a]:
                    most = min(self.classes[c].count, room // self.classes[c].size)
                    self.model.add(self.v.count[c, i] <= most * self.v.visits[a, i])
            # Enough CPUs visit a fragment to hold all its tasks.
            visiting = sum(self.v.visits[a, i] for i in self.cpus)
            size = sum(self.classes[c].count * self.classes[c].size for c in self.members[a])
            self.model.add(visiting >= least_visits(self.instance, self.sizes[a], size))

    def tokens_open_once(self) -> None:
        """Let a token open as many blocks as it stands for, where its class is held."""
        for c, task_class in enumerate(self.classes):
            for t, token in enumerate(task_class.tokens):
                # A token opens at most as many blocks as it stands for tasks.
                if token.count < self.instance.cpus:
                    opened = sum(self.v.opens[c, t, i] for i in self.cpus)
                    self.model.add(opened <= token.count)
            # A CPU opens blocks only with tasks that it holds.
            for i in self.cpus:
                self.model.add(self._opens_class(c, i) <= self.v.count[c, i])

    def blocks_are_opened(self) -> None:
        """Give every block an opener that pays, but a first one that is spared."""
        for a in self.fragments:
            for i in self.cpus:
                opened = sum(self._opens_class(c, i) for c in self.members[a])
                # A visit is one block, two if it is split; a first block's entry is spared.
                self.model.add(
                    opened
                    == self.v.visits[a, i]
                    - self.v.first.get((a, i), 0)
                    + self.v.split.get((a, i), 0)
                )

    def ends_are_unique(self) -> None:
        """Let a CPU begin and end once; with one fragment only if that is alone or split."""
        for i in self.cpus:
            # At most one fragment comes first, and at most one last.
            self.model.add_at_most_one(v for (_, j), v in self.v.first.items() if j == i)
            self.model.add_at_most_one(v for (_, j), v in self.v.last.items() if j == i)
        for pair, visits in self.v.visits.items():
            first, last = self.v.first.get(pair, 0), self.v.last.get(pair, 0)
            alone, split = self.v.alone.get(pair, 0), self.v.split.get(pair, 0)
            # First and last fragments are visited; one that is both is alone or split.
            if pair in self.v.first:
                self.model.add(first <= visits)
            if pair in self.v.last:
                self.model.add(last <= visits)
            if pair in self.v.alone:
                self.model.add(first + last <= visits + alone + split)
        for (a, i), alone in self.v.alone.items():
            # A fragment is alone only if it is last and the only one that is visited.
            self.model.add_implication(alone, self.v.last[a, i])
            visited = sum(self.v.visits[b, i] for b in self.fragments)
            self.model.add(visited == 1).only_enforce_if(alone)
        for pair, split in self.v.split.items():
            # A fragment is split only if it is both first and last.
            self.model.add_implication(split, self.v.first[pair])
            self.model.add_implication(split, self.v.last[pair])

    def closers_are_there(self) -> None:
        """Let openers and closers that save something be distinct tasks that the CPU holds."""
        for pair in self.v.single:
            self._closers_of(*pair)

    def _closers_of(self, a: int, i: int) -> None:
        quiet = [c for c in self.members[a] if not self.classes[c].exit]
        flushed = [c for c in self.members[a] if self.classes[c].end < 0]
        pair = (a, i)
        leaves_quietly = self.v.quiet.get(pair, 0)
        final_flush = self.v.final_flush.get(pair, 0)
        single = self.v.single[pair]
        split = self.v.split.get(pair, 0)
        same_end = self.v.same_end.get(pair, 0)
        held = self._held(a, i)
        capacity = min(self.sizes[a], self.instance.tasks_per_cpu)

        # Opener and closer can be one task only if the CPU holds no other task of the fragment.
        self.model.add(held <= capacity - (capacity - 1) * single)
        if pair in self.v.quiet:
            # A block that costs no exit is followed by another fragment; its closer is a task
            # without exit cost that the CPU holds.
            self.model.add(leaves_quietly <= self.closed(a, i))
            self.model.add(leaves_quietly <= self._count(quiet, i))
            # Closer, last task and openers are different tasks, unless one fills two roles. (A
            # last task whose write-back is spared has no exit cost either.)
            self.model.add(
                leaves_quietly + final_flush + self._opened_by(quiet, i)
                <= self._count(quiet, i) + single + same_end
            )
        if pair in self.v.final_flush:
            # A write-back is spared if the fragment is last, by a task of the CPU that is not
            # needed as an opener.
            self.model.add(final_flush <= self.v.last[pair])
            self.model.add(final_flush <= self._count(flushed, i))
            self.model.add(
                final_flush + self._opened_by(flushed, i)
                <= self._count(flushed, i) + single + same_end
            )
        if pair in self.v.same_end:
            # One task is opener and end of the second block only if there are two blocks.
            self.model.add(same_end <= split)
            self.model.add(same_end <= final_flush)
            self.model.add(same_end <= self._opened_by(flushed, i))
        if pair in self.v.split:
            # Two blocks need a closer of the first, an opener and a last task of the second; and
            # more than one task.
            self.model.add(held >= 3 * split + final_flush - same_end - 1)
            self.model.add(single + split <= 1)

    def identical_cpus_are_ordered(self) -> None:
        """Let, of CPUs that are alike, the earlier one be visited first, by larger fragments.

        A fragment visits CPU i only if it, or a larger one, visits CPU i − 1 too.
        """
        by_size = sorted(self.fragments, key=lambda a: -self.sizes[a])
        for i in self.cpus[1:]:
            if self.cpu_groups[i] != self.cpu_groups[i - 1]:
                continue
            for rank, a in enumerate(by_size):
                before = sum(self.v.visits[b, i - 1] for b in by_size[: rank + 1])
                self.model.add(self.v.visits[a, i] <= before)

    def closed(self, a: int, i: int) -> Expression:
        """Return the number of blocks of A on CPU i that another fragment follows."""
        pair = (a, i)
        last, split = self.v.last.get(pair, 0), self.v.split.get(pair, 0)
        return self.v.visits[pair] - last + split

    def _held(self, a: int, i: int) -> Expression:
        return self._count(self.members[a], i)

    def _count(self, classes: Sequence[int], i: int) -> Expression:
        return sum(self.v.count[c, i] for c in classes)

    def _opened_by(self, classes: Sequence[int], i: int) -> Expression:
        return sum(self._opens_class(c, i) for c in classes)

    def _opens_class(self, c: int, i: int) -> Expression:
        return sum(self.v.opens[c, t, i] for t in range(len(self.classes[c].tokens)))
