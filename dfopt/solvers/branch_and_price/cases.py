"""The tree of a branch and bound: cases in which few or more CPUs have something that is counted.

Its leaves have weights, made of dual values. So the tree is what a proof says, too.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from dfopt.problem.certificate import Fork, Leaf, Node

Range = tuple[int, int]
"""The least and the largest number."""

Key = TypeVar("Key", bound=Hashable)
Weights = TypeVar("Weights")


@dataclass(slots=True, eq=False)
class CountedCase(Generic[Key, Weights]):
    """A case: weights tell what is true in it, or a number tells two cases apart.

    Parameters
    ----------
    limits
        The ranges of some numbers in this case.
    weights
        What bounds or refutes it.
    fork
        The number that tells two cases apart, and its largest value in the first of them.
    parts
        These two cases.
    """

    limits: Mapping[Key, Range]
    weights: Weights
    fork: tuple[Key, int] | None = None
    parts: tuple[CountedCase[Key, Weights], ...] = ()

    def split(self, key: Key, at_most: int, within: Range) -> tuple[CountedCase[Key, Weights], ...]:
        """Tell two cases apart, and return them; they have the weights of this one so far.

        Parameters
        ----------
        key, at_most
            The number that is counted, and its largest value in the first case.
        within
            Its range where this case says nothing about it.
        """
        least, most = self.limits.get(key, within)
        self.fork = key, at_most
        self.parts = tuple(
            CountedCase({**self.limits, key: limits}, self.weights)
            for limits in ((least, at_most), (at_most + 1, most))
        )
        return self.parts

    def in_order(
        self, is_leaf: Callable[[CountedCase[Key, Weights]], bool] = lambda case: not case.parts
    ) -> Iterator[CountedCase[Key, Weights]]:
        """Yield all cases; each comes before all of its first part, and that before its second.

        What is below a leaf is left out.
        """
        waiting = [self]
        while waiting:
            case = waiting.pop()
            yield case
            if not is_leaf(case):
                waiting += reversed(case.parts)

    def nodes(
        self,
        is_leaf: Callable[[CountedCase[Key, Weights]], bool],
        leaf: Callable[[CountedCase[Key, Weights]], Leaf],
        fork: Callable[[Key, int], Fork],
    ) -> Iterator[Node]:
        """Yield the nodes of a proof, in this order.

        Parameters
        ----------
        is_leaf
            Whether what is below a case need not be said.
        leaf, fork
            Write a case as a leaf, and what tells two cases apart as a fork.
        """
        for case in self.in_order(is_leaf):
            if is_leaf(case):
                yield leaf(case)
            else:
                assert case.fork is not None, "an open case proves nothing"
                yield fork(*case.fork)
