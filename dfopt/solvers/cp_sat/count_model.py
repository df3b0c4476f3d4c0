"""The count model: how many tasks of each class a CPU holds, for penalties f and g.

A fragment plays one :class:`~dfopt.costs.role.Role` on each CPU that visits it, and tasks there
fill the duties of that role. Only openers, closers and last tasks that differ in cost are told
apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from ortools.sat.python import cp_model

from dfopt.costs.closed_form import possible_roles
from dfopt.costs.role import Duty, Role
from dfopt.solvers.aggregation import Aggregation, contents_of
from dfopt.solvers.cp_sat.runner import Expression, Model
from dfopt.solvers.search import Search
from dfopt.verify.tree import least_visits

Variables = dict[tuple[int, int], cp_model.IntVar]
"""By a class or fragment, and a CPU."""


class CountModel(Model):
    """The count model of one instance.

    Parameters
    ----------
    search
        The instance, and the schedule that serves as a hint.
    bounds
        The least and the largest objective that are of interest.
    """

    def __init__(self, search: Search, bounds: tuple[int, int]) -> None:
        super().__init__(search)
        self.aggregation = Aggregation.of(search)
        self.instance = search.instance
        self.classes = self.aggregation.classes
        self.cpus = range(self.instance.cpus)
        self.fragments = range(len(search.form.fragments))
        self.members = [
            [number for number, one in enumerate(self.classes) if one.fragment == fragment]
            for fragment in self.fragments
        ]
        # How many tasks of a class a CPU holds, and whether it holds some of a fragment.
        self.count: Variables = {}
        self.visits: Variables = {}
        # [fragment, CPU, role]: whether the fragment plays this role there.
        self.plays: dict[tuple[int, int, Role], cp_model.IntVar] = {}
        # [class, token, CPU]: whether the token opens a block there and pays its entry.
        self.opens: dict[tuple[int, int, int], cp_model.IntVar] = {}
        # Whether a task of a class closes a block, or is the last one of its CPU; and whether one
        # task both opens a block and is the last one in it.
        self.closes: Variables = {}
        self.ends: Variables = {}
        self.both: Variables = {}
        for cpu in self.cpus:
            for fragment in self.fragments:
                self._add_visit(fragment, cpu)
            self._add_ends_of(cpu)
        self._every_task_runs()
        self._identical_cpus_are_ordered()
        self.minimise([self._cost(cpu) for cpu in self.cpus], bounds)
        self._add_hint()

    def orders(self, value: Callable[[cp_model.IntVar], int]) -> list[list[int]]:
        """Return the schedule that an assignment stands for, as orders of type numbers."""
        counts: list[dict[int, int]] = [{} for _ in self.cpus]
        openers: list[dict[int, list[int]]] = [{} for _ in self.cpus]
        for (number, cpu), variable in self.count.items():
            if held := value(variable):
                counts[cpu][number] = held
        for (number, token, cpu), variable in self.opens.items():
            if value(variable):
                entry = self.classes[number].tokens[token].entry
                openers[cpu].setdefault(number, []).append(entry)
        contents = contents_of(self.aggregation, counts, openers)
        return [self.search.form.order(cpu, content) for cpu, content in enumerate(contents)]

    def _add_visit(self, fragment: int, cpu: int) -> None:
        """Add what a CPU may hold of a fragment, the role of that, and who fills its duties."""
        own = [self.classes[number] for number in self.members[fragment]]
        self.visits[fragment, cpu] = visits = self.boolean("visits", fragment, cpu)
        for number, one in zip(self.members[fragment], own, strict=True):
            most = min(one.count, self.instance.room // one.size)
            self.count[number, cpu] = self.model.new_int_var(0, most, f"count[{number},{cpu}]")
            # Without a visit, nothing is held.
            self.model.add(self.count[number, cpu] <= most * visits)
            for token in range(len(one.tokens)):
                self.opens[number, token, cpu] = self.boolean("opens", number, token, cpu)
        held = self._sum(self.count, fragment, cpu)
        most = min(sum(one.count for one in own), self.instance.tasks_per_cpu)
        # A CPU visits a fragment iff it holds some of its tasks.
        self.model.add(held <= most * visits)
        self.model.add(held >= visits)
        roles = possible_roles(
            self.search.form.starts[cpu],
            fragment,
            sum(one.count for one in own),
            ends_cheaply=any(one.end < one.exit for one in own),
        )
        for role in roles:
            self.plays[fragment, cpu, role] = self.boolean(role.name, fragment, cpu)
        # Each visit has one role.
        self.model.add(self._playing(fragment, cpu, roles) == visits)
        self._fill(Duty.CLOSE, self.closes, [one.exit for one in own], fragment, cpu)
        self._fill(Duty.END, self.ends, [one.end for one in own], fragment, cpu)
        paying = self._with_duty(Duty.OPEN, fragment, cpu)
        # Each block whose entry is not spared has an opener that pays.
        self.model.add(sum(self._opened(c, cpu) for c in self.members[fragment]) == paying)
        split = self._playing(fragment, cpu, [Role.SPLIT])
        for number in self.members[fragment]:
            duties = [self._opened(number, cpu)]
            duties += [
                table[number, cpu] for table in (self.closes, self.ends) if (number, cpu) in table
            ]
            for duty in duties:
                # Only tasks that the CPU holds fill a duty.
                self.model.add(duty <= self.count[number, cpu])
            if len(duties) > 1:
                self.both[number, cpu] = both = self.boolean("both", number, cpu)
                self.model.add(both <= duties[0])
                # Duties are filled by different tasks, unless one both opens and ends a block.
                self.model.add(sum(duties) <= self.count[number, cpu] + both)
                # In the second of two blocks that is the last task of the CPU.
                self.model.add(both <= self.ends.get((number, cpu), 0) + 1 - split)
        # It does so if it is alone in its block: in the only one, or in the second.
        alone = self._sum(self.both, fragment, cpu)
        self.model.add(held <= most - (most - 1) * (alone - split))
        # Two blocks hold a closer of the first, and an opener and a last task of the second.
        has_ends = (self.members[fragment][0], cpu) in self.ends
        self.model.add(held >= (3 * split - alone if has_ends else 2 * split))

    def _fill(
        self, duty: Duty, table: Variables, prices: list[int], fragment: int, cpu: int
    ) -> None:
        """Add who fills a duty, where that makes a difference."""
        if len(set(prices)) > 1:
            for number in self.members[fragment]:
                table[number, cpu] = self.boolean(str(duty.name), number, cpu)
            # As many tasks as there are blocks fill the duty.
            filled = self._sum(table, fragment, cpu)
            self.model.add(filled == self._with_duty(duty, fragment, cpu))

    def _add_ends_of(self, cpu: int) -> None:
        """Let a CPU begin and end once, and with one fragment only if that is alone or split."""
        for end in (Role.FIRST, Role.LAST):
            # At most one fragment comes first, and at most one last.
            self.model.add_at_most_one(
                playing
                for (_, on, role), playing in self.plays.items()
                if on == cpu and role & (end | Role.ALONE)
            )
        visited = sum(self.visits[fragment, cpu] for fragment in self.fragments)
        for (_, on, role), playing in self.plays.items():
            if on == cpu and role is Role.ALONE:
                # A fragment that is alone is the only one that is visited.
                self.model.add(visited == 1).only_enforce_if(playing)

    def _every_task_runs(self) -> None:
        for number, one in enumerate(self.classes):
            # All tasks of a class are held by some CPU.
            self.model.add(sum(self.count[number, cpu] for cpu in self.cpus) == one.count)
            for place, token in enumerate(one.tokens):
                # A token opens at most as many blocks as it stands for tasks.
                if token.count < self.instance.cpus:
                    opened = sum(self.opens[number, place, cpu] for cpu in self.cpus)
                    self.model.add(opened <= token.count)
        for cpu in self.cpus:
            # What a CPU holds fits into its room.
            held = sum(one.size * self.count[c, cpu] for c, one in enumerate(self.classes))
            self.model.add(held <= self.instance.room)
        for fragment, members in enumerate(self.members):
            own = [self.classes[number] for number in members]
            tasks, size = sum(one.count for one in own), sum(one.count * one.size for one in own)
            # Enough CPUs visit a fragment to hold all its tasks.
            visiting = sum(self.visits[fragment, cpu] for cpu in self.cpus)
            self.model.add(visiting >= least_visits(self.instance, tasks, size))

    def _identical_cpus_are_ordered(self) -> None:
        """Let, of CPUs that are alike, the earlier one be visited first, by larger fragments.

        A fragment visits CPU i only if it, or a larger one, visits CPU i − 1 too.
        """
        sizes = [sum(self.classes[number].count for number in own) for own in self.members]
        by_size = sorted(self.fragments, key=lambda fragment: -sizes[fragment])
        groups = self.search.cpu_groups
        for cpu in self.cpus[1:]:
            if groups[cpu] == groups[cpu - 1]:
                for rank, fragment in enumerate(by_size):
                    before = sum(self.visits[other, cpu - 1] for other in by_size[: rank + 1])
                    self.model.add(self.visits[fragment, cpu] <= before)

    def _cost(self, cpu: int) -> Expression:
        """Return arrival and departure, and what the tasks of a CPU pay for their duties."""
        start = self.search.form.starts[cpu]
        terms: list[Expression] = [start.idle]
        if start.arrival or start.departure or start.idle:
            used = self.boolean("used", cpu)
            visits = [self.visits[fragment, cpu] for fragment in self.fragments]
            for visit in visits:
                self.model.add_implication(visit, used)
            if start.idle:
                self.model.add(used <= sum(visits))
            terms.append((start.arrival + start.departure - start.idle) * used)
        for (_, on, role), playing in self.plays.items():
            if on == cpu and role & (Role.FIRST | Role.ALONE):
                terms.append(-start.departure * playing)
        for number, one in enumerate(self.classes):
            terms.append(one.base * self.count[number, cpu])
            terms += [
                token.entry * self.opens[number, t, cpu] for t, token in enumerate(one.tokens)
            ]
        for fragment, members in enumerate(self.members):
            exits = [self.classes[number].exit for number in members]
            endings = [self.classes[number].end for number in members]
            for duty, table, prices in (
                (Duty.CLOSE, self.closes, exits),
                (Duty.END, self.ends, endings),
            ):
                # What all tasks pay alike, and what some pay beyond that.
                terms.append(min(prices) * self._with_duty(duty, fragment, cpu))
                terms += [
                    (price - min(prices)) * table[number, cpu]
                    for number, price in zip(members, prices, strict=True)
                    if price > min(prices)
                ]
        return sum(terms)

    def _add_hint(self) -> None:
        """Hint at the best schedule so far, its CPUs in the order that the model asks for."""
        class_of = {
            kind: number for number, one in enumerate(self.classes) for kind in one.task_types
        }
        for cpu, order in enumerate(self.known_orders()):
            content = Counter(class_of[task_type] for task_type in order)
            visited = {self.classes[number].fragment for number in content}
            for number in range(len(self.classes)):
                self.model.add_hint(self.count[number, cpu], content[number])
            for fragment in self.fragments:
                self.model.add_hint(self.visits[fragment, cpu], fragment in visited)

    def _playing(self, fragment: int, cpu: int, roles: Iterable[Role]) -> Expression:
        """Return whether a fragment plays one of these roles on a CPU."""
        playing = [self.plays.get((fragment, cpu, role)) for role in roles]
        return sum(variable for variable in playing if variable is not None)

    def _with_duty(self, duty: Duty, fragment: int, cpu: int) -> Expression:
        """Return whether a fragment plays a role with this duty on a CPU."""
        return self._playing(fragment, cpu, [role for role in Role if role.duties & duty])

    def _opened(self, number: int, cpu: int) -> Expression:
        """Return how many tasks of a class open blocks on a CPU."""
        return sum(self.opens[number, t, cpu] for t in range(len(self.classes[number].tokens)))

    def _sum(self, table: Variables, fragment: int, cpu: int) -> Expression:
        """Return the sum of variables over the classes of a fragment; 0 where there are none."""
        return sum(table[n, cpu] for n in self.members[fragment] if (n, cpu) in table)
