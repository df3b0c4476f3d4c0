"""The check of a ``branching`` certificate: a tree of cases, each refuted by weights.

A fork asks how often something occurs in a schedule: at most ``at_most`` times, or more. One of
the two holds in every schedule, so the tree is complete by its form alone. At a leaf each count
lies in a known range: that of every schedule, narrowed by the forks above. The proof is the
inequality of ``dual-weights``, in which a count with a price p adds p times its least value if
p > 0, and p times its largest value if p < 0.

The cases are about schedules in which each CPU's order has the blocks that
:mod:`~dfopt.verify.weights` describes. Every schedule can be changed into such a one at no higher
cost, so that none is left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from dfopt.errors import MethodError
from dfopt.problem.certificate import (
    Branching,
    CpuCount,
    EntryCount,
    HoldingCount,
    MeetingCount,
    Refutation,
    TaskClass,
    VisitCount,
)
from dfopt.problem.instance import Instance, Objective
from dfopt.verify.prices import OrderPrices, largest_total_below
from dfopt.verify.sizes import least_visits
from dfopt.verify.visits import most_by_visits

Range = tuple[int, int]
"""The least and the largest value of a count."""

Counted = tuple[frozenset[int], Range]
"""The entries of ``instance.tasks`` that a count is about, and its range in all schedules."""


class MalformedTreeError(MethodError):
    """Says what is wrong with the form of a tree."""


def false_cases(instance: Instance, certificate: Branching, bound: int) -> list[str]:
    """Return the errors in a tree that should show that no schedule is below ``bound``."""
    try:
        tree = _Tree(instance, certificate)
        for position, ranges, leaf in tree.leaves():
            if all(least <= most for least, most in ranges):  # else no schedule is in this case
                problem = tree.flaw(leaf, ranges, bound)
                if problem:
                    return [f"certificate.nodes[{position}]: {problem}"]
    except MalformedTreeError as error:
        return [str(error)]
    return []


class _Tree:
    """A certificate, with the tasks that it is about."""

    def __init__(self, instance: Instance, certificate: Branching) -> None:
        self._instance = instance
        self._certificate = certificate
        fragments = _Fragments(instance)
        self._members = [fragments.members(row) for row in certificate.classes]
        self._counted: list[Counted] = [fragments.counted(count) for count in certificate.counts]

    def leaves(self) -> Iterator[tuple[int, list[Range], Refutation]]:
        """Yield the leaves, each with its position and the range of every count."""
        waiting = [[limits for _, limits in self._counted]]
        for position, node in enumerate(self._certificate.nodes):
            place = f"certificate.nodes[{position}]"
            if not waiting:
                raise MalformedTreeError(f"{place}: the tree is complete without this node")
            ranges = waiting.pop()
            if isinstance(node, Refutation):
                yield position, ranges, node
                continue
            if not 0 <= node.count < len(ranges):
                raise MalformedTreeError(f"{place}.count: there is no such count")
            least, most = ranges[node.count]
            for case in ((max(least, node.at_most + 1), most), (least, min(most, node.at_most))):
                waiting.append([*ranges[: node.count], case, *ranges[node.count + 1 :]])
        if waiting:
            raise MalformedTreeError(f"certificate.nodes: {len(waiting)} cases are missing")

    def flaw(self, leaf: Refutation, ranges: Sequence[Range], bound: int) -> str:
        """Return why a leaf does not exclude what is below the bound; empty if it does."""
        if leaf.scale < 1:
            return f"the scale is {leaf.scale}, but must be at least 1"
        if any(not 0 <= number < len(self._members) for number, _ in leaf.weights):
            return "a weight is for a class that is not there"
        if any(not 0 <= number < len(self._counted) for number, _ in leaf.prices):
            return "a price is for a count that is not there"
        prices = self._prices(leaf)
        worth = sum(
            weight * task.multiplicity
            for weight, task in zip(prices.weights, self._instance.tasks, strict=True)
        )
        for number, price in leaf.prices:
            least, most = ranges[number]
            worth += price * (least if price > 0 else most)
        if self._instance.objective is Objective.TOTAL_PENALTY:
            worth -= leaf.scale * largest_total_below(self._instance, bound)
            held = _held(self._instance, prices, None, worth)
        else:
            held = _held(self._instance, prices, bound - 1, worth)
        if worth > held:
            return ""
        return f"everything is worth {worth}, no more than the CPUs can hold, {held}"

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


def _held(instance: Instance, prices: OrderPrices, threshold: int | None, worth: int) -> int:
    """Return no less than what all CPUs hold together; exactly that if it is not below worth."""
    most = most_by_visits(instance, prices, threshold)
    if most is not None and sum(most) < worth:
        return sum(most)
    from dfopt.verify.weights import largest_values  # needs numpy, which small results need not

    return sum(largest_values(instance, prices, threshold))


class _Fragments:
    """The tasks of an instance by fragment."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._sizes = instance.sizes
        self._tasks: dict[str | None, list[int]] = defaultdict(list)
        for number, task in enumerate(instance.tasks):
            self._tasks[task.df].append(number)

    def members(self, *rows: TaskClass) -> frozenset[int]:
        """Return the numbers of the entries of ``instance.tasks`` in some classes."""
        tasks = self._instance.tasks
        members: set[int] = set()
        for row in rows:
            own = {number for number in self._tasks.get(row.df, ()) if row.holds(tasks[number])}
            if not own:
                raise MalformedTreeError(f"certificate: a class of {row.df!r} holds for no task")
            members |= own
        return frozenset(members)

    def counted(self, count: CpuCount) -> Counted:
        """Return the tasks that a count is about, and the range of the count in all schedules."""
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
                    raise MalformedTreeError(f"certificate.counts: {df!r} does not meet itself")
                both = [self.members(TaskClass(df=fragment)) for fragment in (df, other)]
                return both[0] | both[1], (0, min(cpus, *map(self._number, both)))
            case EntryCount(classes=classes):
                members = self.members(*classes)
                return members, (0, self._number(members))
            case HoldingCount(classes=classes, tasks=tasks):
                if tasks < 1:
                    raise MalformedTreeError("certificate.counts: must be of at least 1 task")
                members = self.members(*classes)
                return members, (0, min(cpus, self._number(members) // tasks))

    def _number(self, members: Iterable[int]) -> int:
        return sum(self._instance.tasks[number].multiplicity for number in members)
