"""Certificates of lower bounds: the reason why no schedule is better.

A certificate claims that no schedule has an objective of at most ``threshold``, which is one
less than the lower bound. :mod:`dfopt.verify` checks it without trusting the solver that wrote it.
The format of proofs is explained on a page of its own in the documentation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, ClassVar, get_args

from msgspec import Meta

from dfopt.problem.cache import Leaves
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyF
from dfopt.structs import DocumentPart, Natural, Signed, either

Pair = tuple[Natural, Signed]
"""The number of a class or of a count, from 0 on, and its weight or its price."""


def kind_of(certificate: Certificate) -> str:
    """Return the kind of a certificate, as documents name it."""
    return str(certificate.__struct_config__.tag)


class CertificateKind(DocumentPart, tag_field="kind"):
    """A reason why no schedule is better; it may repeat what it claims.

    Parameters
    ----------
    threshold
        A value that no schedule reaches; one less than the lower bound.

    Attributes
    ----------
    WORDS
        What the kind is called; empty if nobody can check it.
    CHECK
        What 'dfopt verify' does with it.
    """

    WORDS: ClassVar[str] = ""
    CHECK: ClassVar[str] = "checks it"

    threshold: Signed | None = None

    @property
    def words(self) -> str:
        """What the certificate is called."""
        return self.WORDS


class Over(StrEnum):
    """What the leaves of a proof weigh.

    Attributes
    ----------
    words
        What such a proof is called.
    """

    words: str

    def __new__(cls, name: str, words: str) -> Over:
        """Return a member that is its name and knows the words."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.words = words
        return member

    CONTENTS = "contents", "dual weights"
    SUPPORTS = "supports", "weights of supports"
    ORDERS = "orders", "weights of arcs"
    SIZES = "sizes", "weights of sizes"
    GROUPS = "groups", "prices of groups"


class TaskClass(DocumentPart):
    """The tasks that agree with whichever keys it has.

    Parameters
    ----------
    df, type, leaves, lines, exec, size
        As in an instance.
    node
        In proofs over orders: the type of tasks; or the name of a single task, of a copy also, if
        some wait for others.
    fragment_size
        The size of all tasks of a fragment together; in proofs over groups.
    least_cost
        In proofs over supports: what each task is taken to cost, wherever tasks take turns. No ring
        of switches, from a type back to itself, costs less than its tasks.
    """

    df: str | None = None
    type: str | None = None
    leaves: Leaves | None = None
    lines: Natural | None = None
    exec: Natural | None = None
    size: Natural | None = None
    node: str | None = None
    fragment_size: Natural | None = None
    least_cost: Signed = 0

    def holds(self, task: Task) -> bool:
        """Return whether ``task`` belongs to this class."""
        return (
            self.node is None
            and self.fragment_size is None
            and self.df in (None, task.df)
            and self.type in (None, task.type)
            and self.leaves in (None, task.leaves)
            and self.lines in (None, task.lines)
            and self.exec in (None, task.exec)
            and self.size in (None, task.size)
        )


def class_of(instance: Instance, task: Task, *, with_lines: bool = False) -> TaskClass:
    """Return the class of the tasks that cost what a task costs under f or g.

    Lines count only where a task enters.
    """
    is_f = isinstance(instance.penalty, PenaltyF)
    return TaskClass(
        df=str(task.df),
        leaves=task.leaves if is_f else None,
        lines=task.lines if is_f and with_lines else None,
        exec=task.exec if instance.objective is Objective.MAKESPAN else None,
        size=task.size if instance.has_sizes else None,
    )


class VisitCount(DocumentPart, tag_field="kind", tag="visits"):
    """The number of CPUs that run at least ``tasks`` tasks of ``classes``, which are numbers."""

    classes: tuple[Natural, ...]
    tasks: Natural = 1


class MeetingCount(DocumentPart, tag_field="kind", tag="meetings"):
    """The number of CPUs that run tasks of both classes, which are all tasks of two fragments."""

    classes: tuple[Natural, Natural]


class EntryCount(DocumentPart, tag_field="kind", tag="entries"):
    """How often a task of ``classes`` pays for an entry."""

    classes: tuple[Natural, ...]


class ArcCount(DocumentPart, tag_field="kind", tag="arcs"):
    """How often a task of class ``after`` directly follows one of class ``before``."""

    before: Natural
    after: Natural


class CrossingCount(DocumentPart, tag_field="kind", tag="crossings"):
    """How often an order leaves some classes between the last of some and the first of others.

    Parameters
    ----------
    within
        The classes that are left.
    last_of
        Some of these; without any, the start of the order.
    first_of
        Classes outside that come after all of ``last_of``; without any, the end of the order.
    """

    within: tuple[Natural, ...]
    last_of: tuple[Natural, ...] = ()
    first_of: tuple[Natural, ...] = ()


class GroupResource(StrEnum):
    """What groups of fragments use of the machine."""

    ROOM = "room"
    LONGER = "longer"
    PLAIN = "plain"


class UseCount(DocumentPart, tag_field="kind", tag="uses"):
    """The room that groups leave free on their CPUs, their longer CPUs, or their others."""

    of: GroupResource


Count = VisitCount | MeetingCount | EntryCount | ArcCount | CrossingCount | UseCount
"""Something to count in a schedule."""


class Fork(DocumentPart):
    """Two cases: the count with this number is at most ``at_most``, or it is more."""

    count: Natural
    at_most: Signed


class Leaf(DocumentPart):
    """Weights that exclude the threshold where the forks above hold.

    Parameters
    ----------
    weights
        Numbers of classes, and the weight of every task in each. A task weighs what its classes
        weigh together; in proofs over orders that is for each time that it begins.
    leaving
        In proofs over orders: the same for each time that it ends.
    prices
        Numbers of counts, and the price of each unit.
    scale
        What a unit of cost is worth, so that fractions can be integers.
    bin_weights
        For each CPU, or for all alike, the most that it can hold. The checker finds it anew.
    beginnings
        In proofs over orders: whether the weights exclude the threshold only with a search. They
        leave few beginnings of orders, and the checker tries these.
    """

    weights: tuple[Pair, ...] = ()
    leaving: tuple[Pair, ...] = ()
    prices: tuple[Pair, ...] = ()
    scale: Natural = 1
    bin_weights: tuple[Signed, ...] = ()
    beginnings: bool = False


if TYPE_CHECKING:
    Node = Fork | Leaf
else:
    Node = either(Leaf, Fork)


class Proof(CertificateKind, tag="proof"):
    """A tree of cases, each of which is refuted by weights; often there is but one.

    Parameters
    ----------
    over
        What the leaves weigh.
    classes
        Classes of tasks. Weights and counts name them by their numbers, from 0 on.
    counts
        What prices and forks are about. They name a count by its number, from 0 on.
    nodes
        The tree: each fork is followed by all nodes of its first case, then by those of its second.
    """

    WORDS = "dual weights"

    over: Over
    classes: tuple[TaskClass, ...] = ()
    counts: tuple[Count, ...] = ()
    nodes: tuple[Node, ...]

    @property
    def words(self) -> str:
        """What the proof is called."""
        return self.over.words + (" in a tree of cases" if len(self.nodes) > 1 else "")


class ProofRows:
    """The classes and counts of a proof, collected while its nodes are written.

    Parameters
    ----------
    over
        What the proof is over.
    """

    def __init__(self, over: Over) -> None:
        self._over = over
        self._classes: dict[TaskClass, int] = {}
        self._counts: dict[Count, int] = {}

    def of(self, row: TaskClass) -> int:
        """Return the number of a class."""
        return self._classes.setdefault(row, len(self._classes))

    def all_of(self, rows: Iterable[TaskClass]) -> tuple[int, ...]:
        """Return the numbers of classes."""
        return tuple(map(self.of, rows))

    def weights(
        self,
        instance: Instance,
        fragments: Iterable[Sequence[tuple[Task, int]]],
        *,
        with_lines: bool = False,
    ) -> tuple[Pair, ...]:
        """Return the weights of the tasks of some fragments, which cost something under f or g.

        A fragment whose tasks weigh the same needs only one class.
        """
        weights: dict[TaskClass, int] = {}
        for tasks in fragments:
            if len({weight for _, weight in tasks}) == 1:
                task, weight = tasks[0]
                weights[TaskClass(df=str(task.df))] = weight
                continue
            for task, weight in tasks:
                weights[class_of(instance, task, with_lines=with_lines)] = weight
        return tuple((self.of(row), weight) for row, weight in weights.items() if weight)

    def count(self, count: Count) -> int:
        """Return the number of a count."""
        return self._counts.setdefault(count, len(self._counts))

    def proof(self, nodes: Iterable[Node], threshold: int | None) -> Proof:
        """Return the proof with these nodes, which are written only now."""
        nodes = tuple(nodes)
        return Proof(
            threshold=threshold,
            over=self._over,
            classes=tuple(self._classes),
            counts=tuple(self._counts),
            nodes=nodes,
        )


class Counting(CertificateKind, tag="counting"):
    """A named argument gives the bound; the checker counts anew."""

    WORDS = "counting"
    CHECK = "counts it again"

    argument: str


class Exhaustive(CertificateKind, tag="exhaustive"):
    """The instance is so small that the checker can enumerate its schedules itself."""

    WORDS = "enumeration"
    CHECK = "repeats it"


class CompleteSearch(CertificateKind, tag="search"):
    """A search by ``solver`` excluded everything better; there is no cheap check of that.

    It may still have been at work on larger values when it was stopped.
    """

    solver: str | None = None


class EvenShares(CertificateKind, tag="even-shares"):
    """Some CPU has at least an even share of all execution times and the least total penalty.

    Parameters
    ----------
    total_penalty
        No schedule of the same instance has a total penalty below this.
    proof
        The certificate of that.
    """

    WORDS = "an even share of the least total penalty"

    total_penalty: Natural
    proof: Annotated[
        Proof | Counting | Exhaustive,
        Meta(extra={"kinds": "other kinds do not prove a total penalty, or cannot be checked"}),
    ]


Certificate = Proof | Counting | Exhaustive | EvenShares | CompleteSearch

WORDS_OF_PROOFS = (
    *(over.words for over in Over),
    *(kind.WORDS for kind in get_args(Certificate)[1:] if kind.WORDS),
)
"""What certificates are called that can be checked, but for trees."""
