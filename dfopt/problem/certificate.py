"""Certificates of lower bounds: the reason why no schedule is better.

A certificate claims that no schedule has an objective of at most ``threshold``, which is one
less than the lower bound. What each kind claims exactly stands in the documentation of the
result format; :mod:`dfopt.verify` checks it without trusting the solver that wrote it.
"""

from __future__ import annotations

from dataclasses import dataclass

from dfopt.problem.cache_state import Leaves
from dfopt.problem.instance import Task
from dfopt.problem.tour_certificate import Tour
from dfopt.short_repr import short_repr


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskClass:
    """The tasks that agree with ``df`` and with whichever other key is not None."""

    df: str
    leaves: Leaves | None = None
    lines: int | None = None
    exec: int | None = None
    size: int | None = None

    def holds(self, task: Task) -> bool:
        """Return whether ``task`` belongs to this class."""
        return (
            task.df == self.df
            and self.leaves in (None, task.leaves)
            and self.lines in (None, task.lines)
            and self.exec in (None, task.exec)
            and self.size in (None, task.size)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DualWeights:
    """Weights of tasks, charges on entries, and the most that each CPU can hold of them.

    Parameters
    ----------
    bin_weights
        For each CPU, the largest value (weights and visit prices less charges of paid entries) of
        any order of tasks that it can hold at a cost of at most ``threshold``.
    weights
        Weight of every task of a class; tasks of no class weigh 0.
    entry_charges
        Charge on a task where its entry cost is paid; charges are never negative.
    visit_prices
        Price of each visit of a CPU to a fragment. At least ⌈s/k⌉ CPUs visit a fragment of size
        s (of s tasks where sizes are equal), and no more than it has tasks.
    threshold
        A value that no schedule reaches (objectives max-penalty and makespan).
    lower_bound
        The bound itself, under total-penalty, where bin weights bound value − scale · cost.
    scale
        The value of a unit of cost under total-penalty, so that fractions can be integers.
    """

    bin_weights: tuple[int, ...]
    weights: tuple[tuple[TaskClass, int], ...]
    entry_charges: tuple[tuple[TaskClass, int], ...] = ()
    visit_prices: tuple[tuple[str, int], ...] = ()
    threshold: int | None = None
    lower_bound: int | None = None
    scale: int = 1

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitCount:
    """The number of CPUs that visit the fragment ``df``."""

    df: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MeetingCount:
    """The number of CPUs that visit both fragments."""

    df: str
    other: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryCount:
    """How often a task of ``classes`` pays for an entry."""

    classes: tuple[TaskClass, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldingCount:
    """The number of CPUs that hold at least ``tasks`` tasks of ``classes``."""

    classes: tuple[TaskClass, ...]
    tasks: int


CpuCount = VisitCount | MeetingCount | EntryCount | HoldingCount
"""Something to count in a schedule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fork:
    """Two cases: the count with this number is at most ``at_most``, or it is more."""

    count: int
    at_most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Refutation:
    """Weights and prices that exclude the threshold where the forks above hold.

    Parameters
    ----------
    weights
        Numbers of classes, and the weight of every task in each. A task weighs what its classes
        weigh together.
    prices
        Numbers of counts, and the price of each unit.
    scale
        See :class:`DualWeights`.
    """

    weights: tuple[tuple[int, int], ...] = ()
    prices: tuple[tuple[int, int], ...] = ()
    scale: int = 1

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, kw_only=True)
class Branching:
    """A tree of cases, each of which is refuted by weights.

    Parameters
    ----------
    classes
        Classes of tasks.
    counts
        What the cases are about.
    nodes
        The tree: each fork is followed by all nodes of its first case, then by those of its second.
    threshold
        A value that no schedule reaches.
    """

    classes: tuple[TaskClass, ...]
    counts: tuple[CpuCount, ...]
    nodes: tuple[Fork | Refutation, ...]
    threshold: int | None = None

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, kw_only=True)
class FullGroups:
    """Prices which show that too few groups of fragments fill CPUs of their own, under g.

    Parameters
    ----------
    sizes
        Sizes of fragments (their tasks together), and the price of a fragment of each.
    room, longer, plain
        Prices of free room on the CPUs of a group, of a CPU that visits its first fragment for
        free, and of another CPU.
    """

    sizes: tuple[tuple[int, int], ...] = ()
    room: int = 0
    longer: int = 0
    plain: int = 0
    threshold: int | None = None

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeWeights:
    """Weights which show that the tasks do not fit on the CPUs, whatever that costs.

    Parameters
    ----------
    weights
        Sizes of tasks, and the weight of a task of each; tasks of other sizes weigh nothing.
    cpu_weight
        Tasks that fit on one CPU weigh no more than this.
    threshold
        Always None: there is no schedule at any cost.
    """

    weights: tuple[tuple[int, int], ...]
    cpu_weight: int
    threshold: None = None

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, kw_only=True)
class Counting:
    """A named argument gives the bound; the checker counts anew."""

    argument: str
    threshold: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhaustive:
    """The instance is so small that the checker can enumerate its schedules itself."""

    threshold: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompleteSearch:
    """A search by ``solver`` excluded everything better; there is no cheap check of that.

    It may still have been at work on larger values when it was stopped.
    """

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
    counted_weights
        What tasks of a type weigh in addition. Where there are any, the checker uses that an order
        has no more tasks than there are of a type, and than a CPU has room for.
    least_costs
        What tasks of a type cost at least, wherever tasks take turns. Where there are any, the
        checker uses that they leave a CPU within the threshold only few tasks; then no tasks
        weigh anything but where they are counted, and a unit of cost weighs nothing.
    """

    bin_weights: tuple[int, ...]
    set_weights: tuple[tuple[tuple[str, ...], int], ...]
    task_weights: tuple[tuple[str, int], ...] = ()
    unit: int = 0
    counted_weights: tuple[tuple[str, int], ...] = ()
    least_costs: tuple[tuple[str, int], ...] = ()

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportSplit:
    """Two cases: at most ``most`` CPUs run any of ``types``, or more."""

    types: tuple[str, ...]
    most: int
    below: SupportProof
    above: SupportProof

    __repr__ = short_repr


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

    __repr__ = short_repr


SharedCertificate = DualWeights | Branching | Supports | Tour | FullGroups | Counting | Exhaustive
"""A proof that no total penalty is below a bound, for :class:`EvenShares`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvenShares:
    """Some CPU has at least an even share of all execution times and the least total penalty.

    Parameters
    ----------
    total_penalty
        No schedule of the same instance has a total penalty below this.
    proof
        The certificate of that.
    threshold
        A value that no schedule reaches, under makespan.
    """

    total_penalty: int
    proof: SharedCertificate
    threshold: int | None = None

    __repr__ = short_repr


Certificate = (
    DualWeights
    | Branching
    | Supports
    | Tour
    | FullGroups
    | SizeWeights
    | Counting
    | Exhaustive
    | EvenShares
    | CompleteSearch
)
