"""An instance under g as sizes of fragments, and schedules out of contents of CPUs.

Execution times do not count, so a fragment is its size. Contents of CPUs become a schedule when
each goes to a CPU that spares it its first visit, as far as that is possible: a matching.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import inf

from dfopt.problem.instance import Objective
from dfopt.problem.penalties import PenaltyG
from dfopt.solvers.search import Search

Parts = Mapping[int, int]
"""The content of one CPU: the number of tasks of each fragment."""


class Packing:
    """Fragments of some sizes, to be cut into parts for CPUs that hold ``capacity`` tasks.

    Every part is one visit. Some CPUs visit the first fragment free of charge, whichever it is;
    some only *their own*, the one that is in their cache at the start; the others pay for all.

    Parameters
    ----------
    search
        A search on an instance with the penalty g, of which execution times do not count.
    """

    def __init__(self, search: Search) -> None:
        penalty = search.instance.penalty
        assert isinstance(penalty, PenaltyG)
        self._search = search
        self._form = search.form
        self.total = search.instance.objective is Objective.TOTAL_PENALTY
        self.visit = penalty.fill + penalty.write_back
        self.capacity = search.instance.tasks_per_cpu
        # Execution times do not count, so that a fragment's tasks are all of one type.
        self.sizes = [task_type.count for task_type in search.types]
        self.spare = search.instance.cpus * self.capacity - sum(self.sizes)
        type_of = {costs.fragment: task_type for task_type, costs in enumerate(self._form.costs)}
        starts = list(enumerate(self._form.starts))
        self.own = {
            cpu: type_of[start.free_fragment]
            for cpu, start in starts
            if start.free_fragment is not None
        }
        takers = Counter(self.own.values())
        # A fragment has no more parts than tasks: at most that number of CPUs can visit their own.
        self.most_welcome = sum(
            min(number, self.sizes[fragment]) for fragment, number in takers.items()
        )
        self.free = [cpu for cpu, start in starts if start.free_for_all]
        self.paying = [
            cpu for cpu, start in starts if not start.free_for_all and cpu not in self.own
        ]

    @property
    def cpus(self) -> int:
        """The number of CPUs (m)."""
        return self._search.instance.cpus

    @property
    def least_visits(self) -> int:
        """The lower bound, as a number of visits that are paid for."""
        return -(-self._search.lower_bound // self.visit)

    @property
    def known_visits(self) -> float:
        """The best schedule's objective, as a number of visits that are paid for."""
        objective = self._search.objective
        return inf if objective is None else objective // self.visit

    @property
    def least_parts(self) -> int:
        """How many parts the fragments have at least, ⌈s/k⌉ each."""
        return sum(-(-size // self.capacity) for size in self.sizes)

    def report(self, contents: Sequence[Parts]) -> None:
        """Report the schedule in which each CPU holds one of ``contents``, if it is better."""
        held = self._placed(contents)
        visits = [self._paid(cpu, parts) for cpu, parts in enumerate(held)]
        if (sum(visits) if self.total else max(visits)) < self.known_visits:
            self._search.found(self._orders_of(held))

    def orders(self, contents: Sequence[Parts]) -> list[list[int]]:
        """Return a schedule in which each CPU holds one of ``contents``; no more than m."""
        return self._orders_of(self._placed(contents))

    def _orders_of(self, held: Sequence[Parts]) -> list[list[int]]:
        return [self._form.order(cpu, parts) for cpu, parts in enumerate(held)]

    def _placed(self, contents: Sequence[Parts]) -> list[Parts]:
        """Return the content of each CPU if contents go where they save the first visit.

        Those with many parts come first.
        """
        order = sorted(contents, key=lambda parts: -len(parts))
        takers: dict[int, list[int]] = {}
        for cpu, fragment in self.own.items():
            takers.setdefault(fragment, []).append(cpu)
        cpu_of = matched(
            [[cpu for fragment in parts for cpu in takers.get(fragment, ())] for parts in order]
        )
        taken = set(cpu_of.values())
        # CPUs that welcome any fragment come next.
        idle = iter([cpu for cpu in [*self.free, *self.own, *self.paying] if cpu not in taken])
        held: list[Parts] = [{}] * self.cpus
        for number, parts in enumerate(order):
            held[cpu_of[number] if number in cpu_of else next(idle)] = parts
        return held

    def _paid(self, cpu: int, parts: Parts) -> int:
        start = self._form.starts[cpu]
        spared = start.free_for_all or self.own.get(cpu) in parts
        return len(parts) - 1 if parts and spared else len(parts)


def matched(wishes: Sequence[Sequence[int]]) -> dict[int, int]:
    """Return a largest matching of applicants and things, by augmenting paths.

    Earlier applicants come first: each is served if that is possible together with all those
    that were served before it.

    Parameters
    ----------
    wishes
        For each applicant the things that would do.
    """
    owner: dict[int, int] = {}
    for applicant in range(len(wishes)):
        _serve(applicant, wishes, owner)
    return {applicant: thing for thing, applicant in owner.items()}


def _serve(applicant: int, wishes: Sequence[Sequence[int]], owner: dict[int, int]) -> None:
    """Find a thing for ``applicant``; others may have to change theirs for another one."""
    asked_by: dict[int, int] = {}
    queue = [applicant]
    for asking in queue:
        for thing in wishes[asking]:
            if thing in asked_by:
                continue
            asked_by[thing] = asking
            if thing in owner:
                queue.append(owner[thing])
                continue
            has = {one: gift for gift, one in owner.items()}
            taker, gift = asking, thing
            while True:
                given_up = has.get(taker)
                owner[gift] = taker
                if given_up is None:
                    return
                gift, taker = given_up, asked_by[given_up]
