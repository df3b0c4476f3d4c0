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


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportWeights:
    """Weights of tasks and of sets of types, and the most that each CPU can be worth.

    Parameters
    ----------
    bin_weights
        For each CPU, a value that no order of tasks exceeds which it can hold at a cost of at most
        the threshold. The value of an order is the sum of the weights of its tasks and of those
        sets that have a type in it, less ``unit`` for each unit of its cost.
    set_weights
        For sets of types, the weight of a CPU that runs any of them.
    task_weights
        The weight of each task of a type; 0 for types that are not named.
    unit
        The weight of a unit of cost.
    """

    bin_weights: tuple[int, ...]
    set_weights: tuple[tuple[tuple[str, ...], int], ...]
    task_weights: tuple[tuple[str, int], ...] = ()
    unit: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportSplit:
    """Two cases: at most ``most`` CPUs run any of ``types``, or more."""

    types: tuple[str, ...]
    most: int
    below: SupportProof
    above: SupportProof


SupportProof = SupportWeights | SupportSplit


@dataclass(frozen=True, slots=True, kw_only=True)
class Supports:
    """Under a matrix: on how many CPUs the types must run, and what that costs at least.

    Parameters
    ----------
    proof
        A tree of cases; weights refute the threshold in each of its leaves.
    threshold
        A value that no schedule reaches.
    """

    proof: SupportProof
    threshold: int | None = None


Certificate = DualWeights | Supports | Exhaustive | CompleteSearch
