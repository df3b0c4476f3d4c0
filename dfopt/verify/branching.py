"""The check of a ``branching`` certificate: a tree of cases, each refuted by weights.

A fork asks how often something occurs in a schedule: at most ``at_most`` times, or more. At a leaf
each count lies in a known range: that of every schedule, narrowed by the forks above. The proof is
the inequality of ``dual-weights``, in which a count with a price p adds p times its least value if
p > 0, and p times its largest value if p < 0.

The cases are about schedules in which each CPU's order has the blocks that
:mod:`~dfopt.verify.weights` describes. Every schedule can be changed into such a one at no higher
cost, so that none is left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from dfopt.problem.certificate import (
    Branching,
    CpuCount,
    EntryCount,
    Fork,
    HoldingCount,
    MeetingCount,
    Refutation,
    TaskClass,
    VisitCount,
)
from dfopt.problem.instance import Instance, Objective
from dfopt.verify.cases import Range, UnprovenError, first_flaw, leaves
from dfopt.verify.prices import OrderPrices, largest_total_below
from dfopt.verify.sizes import least_visits
from dfopt.verify.visits import most_held

Counted = tuple[frozenset[int], Range]
"""The entries of ``instance.tasks`` that a count is about, and its range in all schedules."""


def false_cases(
    instance: Instance, certificate: Branching, bound: int, check: Callable[[], None]
) -> list[str]:
    """Return the errors in a tree that should show that no schedule is below ``bound``."""
    return first_flaw(_Tree(instance, certificate, check).leaves(bound))


class _Tree:
    """A certificate, with the tasks that it is about."""

    def __init__(
        self, instance: Instance, certificate: Branching, check: Callable[[], None]
    ) -> None:
        self._instance = instance
        self._certificate = certificate
        self._check = check
        fragments = _Fragments(instance)
        self._members = [fragments.members(row) for row in certificate.classes]
        self._counted: list[Counted] = [
            fragments.counted(count, self._members) for count in certificate.counts
        ]

    def leaves(self, bound: int) -> Iterator[tuple[str, Callable[[], str | None]]]:
        """Yield the leaves: the place of each, and what returns its flaw."""
        place = "certificate.nodes"
        for position, ranges, leaf in leaves(
            self._certificate.nodes, self._fork, lambda count: self._counted[count][1], place
        ):
            assert isinstance(leaf, Refutation)
            yield f"{place}[{position}]", partial(self.flaw, leaf, ranges, bound)

    def _fork(self, node: Fork | Refutation) -> tuple[int, int] | None:
        if isinstance(node, Refutation):
            return None
        if not 0 <= node.count < len(self._counted):
            raise UnprovenError("certificate.nodes: a fork names a count that is not there")
        return node.count, node.at_most

    def flaw(self, leaf: Refutation, ranges: Mapping[int, Range], bound: int) -> str | None:
        """Return why a leaf does not exclude what is below the bound; None if it does."""
        self._check()
        if leaf.scale < 1:
            return f": the scale is {leaf.scale}, but must be at least 1"
        if any(not 0 <= number < len(self._members) for number, _ in leaf.weights):
            return ": a weight is for a class that is not there"
        if any(not 0 <= number < len(self._counted) for number, _ in leaf.prices):
            return ": a price is for a count that is not there"
        prices = self._prices(leaf)
        worth = sum(
            weight * task.multiplicity
            for weight, task in zip(prices.weights, self._instance.tasks, strict=True)
        )
        for number, price in leaf.prices:
            least, most = ranges.get(number, self._counted[number][1])
            worth += price * (least if price > 0 else most)
        total = self._instance.objective is Objective.TOTAL_PENALTY
        if total:
            worth -= leaf.scale * largest_total_below(self._instance, bound)
        threshold = None if total else bound - 1
        held = 0  # at least
        if worth > 0:
            held = most_held(self._instance, prices, threshold, worth, self._check)
        if worth > held:
            return None
        return f": everything is worth {worth}, no more than the CPUs can hold, {held}"

    def _prices(self, leaf: Refutation) -> OrderPrices:
        weights, charges = ([0] * len(self._instance.tasks) for _ in range(2))
        visits: dict[str, int] = defaultdict(int)
        meetings: dict[tuple[str, str], int] = defaultdict(int)
        holdings = []
        for number, weight in leaf.weights:
            for task in self._members[number]:
                weights[task] += weight
        for number, price in leaf.prices:
            members, _ = self._counted[number]
            match self._certificate.counts[number]:
                case VisitCount(df=df):
                    visits[df] += price
                case MeetingCount(df=df, other=other):
                    meetings[df, other] += price
                case EntryCount():
                    for task in members:
                        charges[task] -= price
                case HoldingCount(tasks=tasks):
                    holdings.append((members, tasks, price))
        return OrderPrices(
            weights=weights,
            charges=charges,
            visits=visits,
            meetings=meetings,
            holdings=holdings,
            scale=leaf.scale,
        )


class _Fragments:
    """The tasks of an instance by fragment."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._sizes = instance.sizes
        self._tasks: dict[str | None, list[int]] = defaultdict(list)
        for number, task in enumerate(instance.tasks):
            self._tasks[task.df].append(number)

    def members(self, row: TaskClass) -> frozenset[int]:
        """Return the numbers of the entries of ``instance.tasks`` in a class."""
        tasks = self._instance.tasks
        own = {number for number in self._tasks.get(row.df, ()) if row.holds(tasks[number])}
        if not own:
            raise UnprovenError(f"certificate: a class of {row.df!r} holds for no task")
        return frozenset(own)

    def counted(self, count: CpuCount, members_of: Sequence[frozenset[int]]) -> Counted:
        """Return the tasks that a count is about, and the range of the count in all schedules.

        ``members_of`` has the tasks of each class.
        """
        cpus = self._instance.cpus
        match count:
            case VisitCount(df=df):
                members = self.members(TaskClass(df=df))
                tasks = self._number(members)
                size = sum(
                    self._instance.tasks[entry].multiplicity * self._sizes[entry]
                    for entry in members
                )
                return members, (least_visits(self._instance, tasks, size), min(cpus, tasks))
            case MeetingCount(df=df, other=other):
                if df == other:
                    raise UnprovenError(f"certificate.counts: {df!r} does not meet itself")
                both = [self.members(TaskClass(df=fragment)) for fragment in (df, other)]
                return both[0] | both[1], (0, min(cpus, *map(self._number, both)))
            case EntryCount(classes=classes):
                members = frozenset[int]().union(*(members_of[number] for number in classes))
                return members, (0, self._number(members))
            case HoldingCount(classes=classes, tasks=tasks):
                if tasks < 1:
                    raise UnprovenError("certificate.counts: must be of at least 1 task")
                members = frozenset[int]().union(*(members_of[number] for number in classes))
                return members, (0, min(cpus, self._number(members) // tasks))

    def _number(self, members: Iterable[int]) -> int:
        return sum(self._instance.tasks[number].multiplicity for number in members)
