"""Certificates of lower bounds: the reason why no schedule is better.

A certificate claims that no schedule has an objective of at most ``threshold``, which is one
less than the lower bound. What each kind claims exactly stands in the documentation of the
result format; :mod:`dfopt.verify` checks it without trusting the solver that wrote it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, get_args

from msgspec import Meta
from msgspec.structs import asdict

from dfopt.errors import InstanceError
from dfopt.problem.cache import Leaves
from dfopt.problem.instance import Task
from dfopt.structs import DocumentPart, Natural, Signed, either, written

Pair = tuple[Natural, Signed]
"""The number of a class, a count or a cut, from 0 on, and its weight; or a size and its price."""


def kind_of(certificate: Certificate) -> str:
    """Return the kind of a certificate, as documents name it."""
    return str(certificate.__struct_config__.tag)


class TaskClass(DocumentPart):
    """The tasks that agree with ``df`` and with whichever other keys it has."""

    df: str
    leaves: Leaves | None = None
    lines: Natural | None = None
    exec: Natural | None = None
    size: Natural | None = None

    def holds(self, task: Task) -> bool:
        """Return whether ``task`` belongs to this class."""
        return (
            task.df == self.df
            and self.leaves in (None, task.leaves)
            and self.lines in (None, task.lines)
            and self.exec in (None, task.exec)
            and self.size in (None, task.size)
        )

    def weighing(self, weight: int) -> WeightedClass:
        """Return the class with the weight of every task in it."""
        return WeightedClass(**asdict(self), weight=weight)

    def charged(self, charge: int) -> ChargedClass:
        """Return the class with the charge on every task in it."""
        return ChargedClass(**asdict(self), charge=charge)


class WeightedClass(TaskClass):
    """A class, and the weight of every task in it."""

    weight: Signed


class ChargedClass(TaskClass):
    """A class, and the charge on every task in it."""

    charge: Natural


class VisitPrice(DocumentPart):
    """A fragment, and the price of each visit of a CPU to it."""

    df: str
    price: Signed


class CertificateKind(DocumentPart, tag_field="kind"):
    """A reason why no schedule is better.

    Attributes
    ----------
    WORDS
        What the kind is called; empty if nobody can check it.
    CHECK
        What 'dfopt verify' does with it.
    """

    WORDS: ClassVar[str] = ""
    CHECK: ClassVar[str] = "checks them without a solver"


class ThresholdClaim(CertificateKind):
    """A certificate that may repeat what it claims.

    Parameters
    ----------
    threshold
        A value that no schedule reaches; one less than the lower bound.
    """

    threshold: Signed | None = None


class DualWeights(ThresholdClaim, tag="dual-weights"):
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
    lower_bound
        The bound itself, under total-penalty, where bin weights bound value − scale · cost. It
        stands there instead of ``threshold``.
    scale
        The value of a unit of cost under total-penalty, so that fractions can be integers.
    """

    WORDS = "dual weights"

    lower_bound: Signed | None = None
    bin_weights: tuple[Natural, ...]
    weights: tuple[WeightedClass, ...]
    entry_charges: tuple[ChargedClass, ...] = ()
    visit_prices: tuple[VisitPrice, ...] = ()
    scale: Natural = 1

    def __post_init__(self) -> None:
        """Check that there is one claim."""
        if (self.threshold is None) == (self.lower_bound is None):
            raise InstanceError(
                "give either this or, under total-penalty, lower_bound", place="threshold"
            )


class VisitCount(DocumentPart, tag_field="kind", tag="visits"):
    """The number of CPUs that visit the fragment ``df``."""

    df: str


class MeetingCount(DocumentPart, tag_field="kind", tag="meetings"):
    """The number of CPUs that visit both fragments."""

    df: str
    other: str


class EntryCount(DocumentPart, tag_field="kind", tag="entries"):
    """How often a task of ``classes``, which are numbers, pays for an entry."""

    classes: tuple[Natural, ...]


class HoldingCount(DocumentPart, tag_field="kind", tag="holdings"):
    """The number of CPUs that hold at least ``tasks`` tasks of ``classes``, which are numbers."""

    classes: tuple[Natural, ...]
    tasks: Natural


CpuCount = VisitCount | MeetingCount | EntryCount | HoldingCount
"""Something to count in a schedule."""


class Fork(DocumentPart):
    """Two cases: the count with this number is at most ``at_most``, or it is more."""

    count: Natural
    at_most: Signed


class Refutation(DocumentPart):
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

    weights: tuple[Pair, ...] = ()
    prices: tuple[Pair, ...] = ()
    scale: Natural = 1


if TYPE_CHECKING:
    CaseNode = Fork | Refutation
else:
    CaseNode = either(Refutation, Fork)


class Branching(ThresholdClaim, tag="branching"):
    """A tree of cases, each of which is refuted by weights.

    Parameters
    ----------
    classes
        Classes of tasks. Weights and counts name them by their numbers, from 0 on.
    counts
        What the cases are about. Prices and forks name a count by its number, from 0 on.
    nodes
        The tree: each fork is followed by all nodes of its first case, then by those of its second.
    """

    WORDS = "dual weights in a tree of cases"
    CHECK = "checks them"

    classes: tuple[TaskClass, ...]
    counts: tuple[CpuCount, ...] = written(())
    nodes: tuple[CaseNode, ...]

    def __post_init__(self) -> None:
        """Check that counts are of classes that are there."""
        for place, count in enumerate(self.counts):
            if isinstance(count, EntryCount | HoldingCount):
                for position, number in enumerate(count.classes):
                    if not 0 <= number < len(self.classes):
                        raise InstanceError(
                            f"is {number}, but there are {len(self.classes)} classes, from 0 on",
                            place=f"counts[{place}].classes[{position}]",
                        )


class FullGroups(ThresholdClaim, tag="full-groups"):
    """Prices which show that too few groups of fragments fill CPUs of their own, under g.

    Parameters
    ----------
    sizes
        Sizes of fragments (their tasks together), and the price of a fragment of each.
    room, longer, plain
        Prices of free room on the CPUs of a group, of a CPU that visits its first fragment for
        free, and of another CPU.
    """

    WORDS = "prices of groups"

    sizes: tuple[Pair, ...] = ()
    room: Natural = 0
    longer: Natural = 0
    plain: Natural = 0


class SizeWeights(CertificateKind, tag="size-weights"):
    """Weights which show that the tasks do not fit on the CPUs, whatever that costs.

    Parameters
    ----------
    weights
        Sizes of tasks, and the weight of a task of each; tasks of other sizes weigh nothing.
    cpu_weight
        Tasks that fit on one CPU weigh no more than this.
    """

    WORDS = "weights of sizes"

    weights: tuple[Pair, ...]
    cpu_weight: Natural


class Counting(ThresholdClaim, tag="counting"):
    """A named argument gives the bound; the checker counts anew."""

    WORDS = "counting"
    CHECK = "counts it again"

    argument: str


class Exhaustive(ThresholdClaim, tag="exhaustive"):
    """The instance is so small that the checker can enumerate its schedules itself."""

    WORDS = "enumeration"
    CHECK = "repeats it"


class CompleteSearch(ThresholdClaim, tag="search"):
    """A search by ``solver`` excluded everything better; there is no cheap check of that.

    It may still have been at work on larger values when it was stopped.
    """

    solver: str | None = None


class TypeWeight(DocumentPart):
    """A type, and the weight of each of its tasks."""

    type: str
    weight: Signed


class TypeCost(DocumentPart):
    """A type, and what each of its tasks costs at least."""

    type: str
    cost: Natural


class SetWeight(DocumentPart):
    """Some types, and the weight of a CPU that runs any of them."""

    types: tuple[str, ...]
    weight: Signed


class SupportWeights(DocumentPart):
    """Weights of tasks and of sets of types, and the most that each CPU can be worth.

    Parameters
    ----------
    unit
        The weight of a unit of cost.
    tasks
        The weight of each task of a type; 0 for types that are not named.
    counted
        What tasks of a type weigh in addition. Where there are any, the checker uses that an order
        has no more tasks than there are of a type, and than a CPU has room for.
    least_costs
        What tasks of a type cost at least, wherever tasks take turns. Where there are any, the
        checker uses that they leave a CPU within the threshold only few tasks; then no tasks
        weigh anything but where they are counted, and a unit of cost weighs nothing.
    sets
        For sets of types, the weight of a CPU that runs any of them.
    bin_weights
        For each CPU, a value that no order of tasks exceeds which it can hold at a cost of at most
        the threshold. The value of an order is the sum of the weights of its tasks and of those
        sets that have a type in it, less ``unit`` for each unit of its cost.
    """

    unit: Natural = written(0)
    tasks: tuple[TypeWeight, ...] = written(())
    counted: tuple[TypeWeight, ...] = ()
    least_costs: tuple[TypeCost, ...] = ()
    sets: tuple[SetWeight, ...]
    bin_weights: tuple[Signed, ...]


class SupportSplit(DocumentPart):
    """Two cases: at most ``most`` CPUs run any of ``types``, or more."""

    types: tuple[str, ...]
    most: Natural
    below: SupportProof
    above: SupportProof


if TYPE_CHECKING:
    SupportProof = SupportWeights | SupportSplit
else:
    SupportProof = either(SupportWeights, SupportSplit)


class Supports(ThresholdClaim, tag="supports"):
    """Under a matrix: on how many CPUs the types must run, and what that costs at least.

    Parameters
    ----------
    proof
        A tree of cases; weights refute the threshold in each of its leaves.
    """

    WORDS = "weights of supports"

    proof: SupportProof


class OrderCut(DocumentPart):
    """Nodes that an order of tasks leaves between the last of some and the first of others.

    Nodes are numbered from 1 on.

    Parameters
    ----------
    within
        The nodes that are left.
    last_of
        Some of these nodes; without any, the start of the order.
    first_of
        Nodes outside that come after all of ``last_of``; without any, the end of the order.
    """

    within: tuple[Natural, ...]
    last_of: tuple[Natural, ...] = ()
    first_of: tuple[Natural, ...] = ()


class ArcFork(DocumentPart):
    """Two cases: node ``after`` follows node ``before`` at most ``at_most`` times, or more often.

    As ``before``, 0 stands for the start of the order, and as ``after`` for its end.
    """

    before: Natural
    after: Natural
    at_most: Natural


class ArcWeights(DocumentPart):
    """Weights that exclude the threshold where the forks above hold.

    Parameters
    ----------
    leaving, entering
        For each node, the weight of each visit when it ends and when it begins. The first ones
        are those of the start and of the end of the order.
    cuts
        Numbers of cuts, and their weights.
    scale
        The weight of a unit of cost.
    beginnings
        Whether the weights exclude the threshold only with a search: they leave few beginnings of
        orders, and the checker tries these.
    """

    leaving: tuple[Signed, ...]
    entering: tuple[Signed, ...]
    cuts: tuple[Pair, ...] = ()
    scale: Natural = 1
    beginnings: bool = False


if TYPE_CHECKING:
    ArcNode = ArcFork | ArcWeights
else:
    ArcNode = either(ArcWeights, ArcFork)


class Tour(ThresholdClaim, tag="tour"):
    """One CPU under a matrix: what the order of all tasks costs at least.

    Parameters
    ----------
    nodes
        The names of the tasks if some wait for others, else those of the types.
    cuts
        What every order satisfies.
    tree
        Cases: each fork is followed by all of its first case, then by all of its second.
    """

    WORDS = "weights of arcs"

    nodes: tuple[str, ...]
    cuts: tuple[OrderCut, ...] = ()
    tree: tuple[ArcNode, ...]


SharedCertificate = DualWeights | Branching | Supports | Tour | FullGroups | Counting | Exhaustive
"""A proof that no total penalty is below a bound, for :class:`EvenShares`."""

UNSHARED_KINDS = "other kinds do not prove a total penalty, or cannot be checked"


class EvenShares(ThresholdClaim, tag="even-shares"):
    """Some CPU has at least an even share of all execution times and the least total penalty.

    Parameters
    ----------
    total_penalty
        No schedule of the same instance has a total penalty below this.
    proof
        The certificate of that.
    """

    WORDS = "an even share of the least total penalty"
    CHECK = "checks it"

    total_penalty: Natural
    proof: Annotated[SharedCertificate, Meta(extra={"kinds": UNSHARED_KINDS})]


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

PROOFS = {
    str(kind.__struct_config__.tag): kind.WORDS for kind in get_args(Certificate) if kind.WORDS
}
"""What kinds of certificates are called that can be checked."""
