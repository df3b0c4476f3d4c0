"""Certificates of lower bounds: the reason why no schedule is better.

A certificate claims that no schedule has an objective of at most ``threshold``, which is one
less than the lower bound. What each kind claims exactly stands in the documentation of the
result format; :mod:`dfopt.verify` checks it without trusting the solver that wrote it.
"""

from __future__ import annotations

from dataclasses import dataclass

from dfopt.problem.cache_state import Leaves
from dfopt.problem.instance import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskClass:
    """The tasks that agree with ``df`` and with whichever other key is not None."""

    df: str
    leaves: Leaves | None = None
    lines: int | None = None
    exec: int | None = None

    def holds(self, task: Task) -> bool:
        """Return whether ``task`` belongs to this class."""
        return (
            task.df == self.df
            and self.leaves in (None, task.leaves)
            and self.lines in (None, task.lines)
            and self.exec in (None, task.exec)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DualWeights:
    """Weights of tasks, charges on entries, and the most that each CPU can hold of them.

    Parameters
    ----------
    bin_weights
        For each CPU, the largest value (weights less charges of paid entries) of any order of
        tasks that it can hold at a cost of at most ``threshold``.
    weights
        Weight of every task of a class; tasks of no class weigh 0.
    entry_charges
        Charge on a task where its entry cost is paid; charges are never negative.
    threshold
        A value that no schedule reaches (objectives max-penalty and makespan).
    lower_bound
        The bound itself, under total-penalty, where bin weights bound value − cost.
    """

    bin_weights: tuple[int, ...]
    weights: tuple[tuple[TaskClass, int], ...]
    entry_charges: tuple[tuple[TaskClass, int], ...] = ()
    threshold: int | None = None
    lower_bound: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhaustive:
    """The instance is so small that the checker can enumerate all schedules itself."""

    threshold: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompleteSearch:
    """A complete search by ``solver`` found nothing better; there is no cheap check of that."""

    threshold: int | None = None
    solver: str | None = None


Certificate = DualWeights | Exhaustive | CompleteSearch
