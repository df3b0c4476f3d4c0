"""Proofs as trees: forks leave no schedule out, and weights exclude the threshold in each leaf.

A fork counts something in a schedule. In its first case the count is at most a limit, in its
second case it is larger. One of the two holds in every schedule, so that a tree is complete by its
form alone. At a leaf each count lies in a known range: that of every schedule, narrowed by the
forks above.

What a leaf weighs depends on what the proof is over. Of contents, supports and sizes the argument
is the same (:class:`CpuArgument`): all tasks weigh something, and whatever is counted has a price;
together that is worth more than all CPUs can hold within the threshold.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from dfopt.errors import MethodError
from dfopt.problem.certificate import Count, EntryCount, Fork, Leaf, MeetingCount, Proof, VisitCount
from dfopt.problem.instance import Instance

Range = tuple[int, int]
"""The least and the largest number of times."""

Ranges = Mapping[int, Range]
"""The ranges of some counts by their numbers."""


class UnprovenError(MethodError):
    """Says why a certificate proves nothing, however small the instance is.

    Any other :class:`~dfopt.errors.MethodError` of the checker says that a claim is too large.
    """


class Argument(ABC):
    """What a proof is over: how often something is counted, and what makes a leaf true.

    Parameters
    ----------
    instance
        The instance.
    proof
        The proof.
    check
        Called often; what it raises ends the work.
    """

    def __init__(self, instance: Instance, proof: Proof, check: Callable[[], None]) -> None:
        self.instance = instance
        self.proof = proof
        self.check = check
        self.members = self._members()
        self.ranges = [self._range(number) for number in range(len(proof.counts))]

    def _members(self) -> list[frozenset[int]]:
        """Return the entries of ``instance.tasks`` that belong to each class."""
        by_key: dict[str | None, list[int]] = defaultdict(list)
        for number, task in enumerate(self.instance.tasks):
            for key in {None, task.df, task.type}:
                by_key[key].append(number)
        tasks, members = self.instance.tasks, []
        for place, row in enumerate(self.proof.classes):
            some = by_key.get(row.df if row.type is None else row.type, [])
            members.append(frozenset(number for number in some if row.holds(tasks[number])))
            if not members[-1]:
                raise UnprovenError(f"certificate.classes[{place}]: holds for no task")
        return members

    def _range(self, number: int) -> Range:
        """Return the range of a count in every schedule."""
        count = self.proof.counts[number]
        try:
            return self.range_of(count)
        except UnprovenError as error:
            raise UnprovenError(f"certificate.counts[{number}]: {error}") from None
        except IndexError:
            raise UnprovenError(
                f"certificate.counts[{number}]: names a class that is not there"
            ) from None

    @abstractmethod
    def range_of(self, count: Count) -> Range:
        """Return the range of a count in every schedule.

        Raises
        ------
        UnprovenError
            Where such proofs do not count that.
        """

    @abstractmethod
    def flaw(self, leaf: Leaf, ranges: Ranges) -> str | None:
        """Return why a leaf excludes nothing where counts have such ranges; None if it does."""


def flaws(argument: Argument) -> list[str]:
    """Return the first flaw in any leaf, with its place; none if there is none.

    Every leaf is looked at, so that a false one is never hidden by one that is too large.

    Raises
    ------
    MethodError
        When no leaf has a flaw, but one is too large.
    """
    too_large = None
    for position, ranges, leaf in _leaves(argument):
        argument.check()
        try:
            flaw = _unnamed(argument, leaf) or argument.flaw(leaf, ranges)
        except UnprovenError as error:
            flaw = f": {error}"
        except MethodError as error:
            too_large = too_large or error
            continue
        if flaw:
            return [f"certificate.nodes[{position}]{flaw}"]
    if too_large:
        raise too_large
    return []


def _unnamed(argument: Argument, leaf: Leaf) -> str | None:
    """Return a number of a leaf that names nothing."""
    for key, most in (
        ("weights", argument.proof.classes),
        ("leaving", argument.proof.classes),
        ("prices", argument.proof.counts),
    ):
        for number, _ in getattr(leaf, key):
            if not 0 <= number < len(most):
                return f".{key}: {number} is not there"
    return None


def _leaves(argument: Argument) -> Iterator[tuple[int, Ranges, Leaf]]:
    """Yield the leaves to which schedules belong: position, ranges of all counts, and leaf."""
    place, nodes = "certificate.nodes", argument.proof.nodes
    ranges = dict(enumerate(argument.ranges))
    narrowed: list[tuple[int, Range]] = []  # what forks above have narrowed, and from what
    # For each case that is still to come: the number of forks above it, and its own.
    open_cases: list[tuple[int, tuple[int, Range] | None]] = [(0, None)]
    for position, node in enumerate(nodes):
        if not open_cases:
            raise UnprovenError(f"{place}[{position}]: the tree is complete without this node")
        depth, case = open_cases.pop()
        while len(narrowed) > depth:
            counted, before = narrowed.pop()
            ranges[counted] = before
        if case:
            counted, narrow = case
            narrowed.append((counted, ranges[counted]))
            ranges[counted] = narrow
        if isinstance(node, Fork):
            if not 0 <= node.count < len(ranges):
                raise UnprovenError(f"{place}[{position}]: names a count that is not there")
            least, most = ranges[node.count]
            few, many = (least, min(most, node.at_most)), (max(least, node.at_most + 1), most)
            open_cases += [(len(narrowed), (node.count, case)) for case in (many, few)]
        elif all(ranges[counted][0] <= ranges[counted][1] for counted, _ in narrowed):
            yield position, ranges, node
    if open_cases:
        raise UnprovenError(f"{place}: ends before all cases have weights")


class CpuArgument(Argument):
    """All tasks and counts are worth more than the CPUs can hold within the threshold.

    The value of what a CPU holds is the sum of the weights of its tasks and of the prices of what
    is counted there; less ``scale`` for each unit of its cost, where such proofs weigh costs. In
    all schedules the CPUs hold all tasks, and each count is worth its price times its least number,
    or times its largest one if the price is negative.
    """

    budget = 0
    """What costs may add up to within the threshold, where such proofs weigh them."""

    def flaw(self, leaf: Leaf, ranges: Ranges) -> str | None:
        """See :meth:`Argument.flaw`."""
        cpus, claims = self.instance.cpus, leaf.bin_weights
        if claims and len(claims) not in (1, cpus):
            return f".bin_weights: has {len(claims)} entries for {cpus} CPUs"
        if len(claims) == 1:
            claims *= cpus
        worth = -leaf.scale * self.budget
        worth += sum(weight * self._numbers[number] for number, weight in leaf.weights)
        for number, price in leaf.prices:
            least, most = ranges[number]
            worth += price * (max(least, self.least_of(leaf, number)) if price > 0 else most)
        if claims and worth <= sum(claims):
            return f": everything is worth {worth}, no more than the bin weights, {sum(claims)}"
        values = self.largest(leaf, worth, claims)
        for cpu, (claim, value) in enumerate(zip(claims, values, strict=False)):
            if value > claim:
                return f".bin_weights[{cpu}]: is {claim}, but the CPU can hold {value}"
        if worth <= sum(values):
            return f": everything is worth {worth}, no more than the CPUs can hold, {sum(values)}"
        return None

    def least_of(self, leaf: Leaf, number: int) -> int:
        """Return the least number of a count that follows from a leaf in addition."""
        del leaf, number
        return 0

    @abstractmethod
    def largest(self, leaf: Leaf, worth: int, claims: Sequence[int]) -> Sequence[int]:
        """Return for each CPU a value that nothing exceeds which it can hold.

        They are the values of something that the CPUs can hold, unless they are within the
        ``claims``; or, without any, unless they add up to less than ``worth``.
        """

    def range_of_visits(self, count: VisitCount) -> Range:
        """Return how many CPUs hold at least some number of tasks of some classes."""
        if count.tasks < 1:
            raise UnprovenError("must be of at least 1 task")
        members = self.tasks_of(count)
        tasks = self.number_of(members)
        most = min(self.instance.cpus, tasks // count.tasks)
        if count.tasks > 1:
            return 0, most
        size = sum(self.instance.tasks[own].multiplicity * self._sizes[own] for own in members)
        return least_visits(self.instance, tasks, size), most

    @cached_property
    def _sizes(self) -> Sequence[int]:
        return self.instance.sizes

    @cached_property
    def _numbers(self) -> Sequence[int]:
        return [self.number_of(own) for own in self.members]

    def number_of(self, members: Iterable[int]) -> int:
        """Return the number of tasks that some entries of ``instance.tasks`` stand for."""
        return sum(self.instance.tasks[own].multiplicity for own in members)

    def tasks_of(self, count: VisitCount | EntryCount | MeetingCount) -> frozenset[int]:
        """Return the entries of ``instance.tasks`` that a count is about."""
        return frozenset[int]().union(*(self.members[number] for number in count.classes))


def least_visits(instance: Instance, tasks: int, size: int) -> int:
    """Return how many CPUs hold some of a number of tasks at least, by number and by size.

    ``size`` is that of all these tasks together, in units of ``instance.size_unit``.
    """
    if not tasks:
        return 0
    return max(-(-tasks // instance.tasks_per_cpu), -(-size // max(1, instance.room)))
