"""The branching rules: features of a CPU's content, and how many CPUs may have them.

If the LP gives a feature to a fractional number f of CPUs, then in a schedule at most ⌊f⌋ CPUs
have it, or at least ⌊f⌋ + 1. Ryan and Foster (1981) branch in this way on pairs of rows that one
column covers: here that is :class:`VisitsPair`. The other rules are of the same form, but cost
pricing less: each feature has a price that pricing adds where a content has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from dfopt.solvers.configuration.columns import CpuContent


@dataclass(frozen=True, slots=True)
class VisitsFragment:
    """The CPU visits a fragment."""

    fragment: int

    @classmethod
    def all_of(cls, content: CpuContent) -> Iterator[VisitsFragment]:
        """Yield all features of this rule that ``content`` has."""
        return map(cls, content.fragments)

    def is_had_by(self, content: CpuContent) -> bool:
        """Return whether ``content`` has this feature."""
        return self.fragment in content.visited


@dataclass(frozen=True, slots=True)
class VisitsPair:
    """The CPU visits two fragments, the first one with the smaller number."""

    first: int
    second: int

    @property
    def fragments(self) -> tuple[int, int]:
        """Both."""
        return self.first, self.second

    @classmethod
    def all_of(cls, content: CpuContent) -> Iterator[VisitsPair]:
        """Yield all features of this rule that ``content`` has."""
        return (cls(*pair) for pair in combinations(content.fragments, 2))

    def is_had_by(self, content: CpuContent) -> bool:
        """Return whether ``content`` has this feature."""
        return self.first in content.visited and self.second in content.visited


@dataclass(frozen=True, slots=True)
class OpensWithToken:
    """The CPU opens a block with a token."""

    token: int

    @classmethod
    def all_of(cls, content: CpuContent) -> Iterator[OpensWithToken]:
        """Yield all features of this rule that ``content`` has."""
        return map(cls, content.tokens)

    def is_had_by(self, content: CpuContent) -> bool:
        """Return whether ``content`` has this feature."""
        return self.token in content.tokens


@dataclass(frozen=True, slots=True)
class HoldsAtLeast:
    """The CPU holds at least some number of tasks of a class."""

    task_class: int
    number: int

    @classmethod
    def all_of(cls, content: CpuContent) -> Iterator[HoldsAtLeast]:
        """Yield all features of this rule that ``content`` has."""
        return (
            cls(task_class, least)
            for task_class, held in content.tasks
            for least in range(1, held + 1)
        )

    def is_had_by(self, content: CpuContent) -> bool:
        """Return whether ``content`` has this feature."""
        return content.numbers.get(self.task_class, 0) >= self.number


Feature = VisitsFragment | VisitsPair | OpensWithToken | HoldsAtLeast

RULES = (VisitsFragment, OpensWithToken, VisitsPair, HoldsAtLeast)
"""The branching rules; those that cost pricing least come first."""
