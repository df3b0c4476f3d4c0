"""What a content has or has not, and what branching counts over all CPUs.

Each feature is one that pricing can put a price on without looking at more contents, or, for
:class:`Meets`, by looking at a few patterns of fragments one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Content:
    """What one CPU may hold.

    Parameters
    ----------
    tasks
        Pairs of a class and how many tasks of it.
    tokens
        The tokens that open its paid blocks.
    fragments
        The fragments of its tasks.
    """

    tasks: tuple[tuple[int, int], ...]
    tokens: tuple[int, ...]
    fragments: tuple[int, ...]

    @cached_property
    def visited(self) -> frozenset[int]:
        """The fragments, as a set."""
        return frozenset(self.fragments)

    @cached_property
    def numbers(self) -> dict[int, int]:
        """The number of tasks of each class."""
        return dict(self.tasks)


@dataclass(frozen=True, slots=True)
class Visits:
    """The CPU visits a fragment."""

    fragment: int

    def among(self, content: Content) -> bool:
        """Whether ``content`` has this feature."""
        return self.fragment in content.visited


@dataclass(frozen=True, slots=True)
class Meets:
    """The CPU visits two fragments, the first one with the smaller number."""

    first: int
    second: int

    @property
    def fragments(self) -> tuple[int, int]:
        """Both."""
        return self.first, self.second

    def among(self, content: Content) -> bool:
        """Whether ``content`` has this feature."""
        return self.first in content.visited and self.second in content.visited


@dataclass(frozen=True, slots=True)
class Opens:
    """The CPU opens a block with a token."""

    token: int

    def among(self, content: Content) -> bool:
        """Whether ``content`` has this feature."""
        return self.token in content.tokens


@dataclass(frozen=True, slots=True)
class Holds:
    """The CPU holds at least some number of tasks of a class."""

    task_class: int
    number: int

    def among(self, content: Content) -> bool:
        """Whether ``content`` has this feature."""
        return content.numbers.get(self.task_class, 0) >= self.number


Feature = Visits | Meets | Opens | Holds
