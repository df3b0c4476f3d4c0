"""Tasks that arrive one by one and stay where they are put: how many fragments a CPU visits.

There are n = m·k tasks for m CPUs, and n is known. The order on a CPU is chosen at the end, so a
CPU visits each of its fragments once; the largest number of *visits* of a CPU counts. No policy
without slack is good (:func:`adversary_without_slack`, Theorem 3), and with slack one is
(:func:`with_slack`, Theorem 4).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, exp, floor
from typing import Literal

from dfopt.structs import Record
from dfopt_models.errors import ModelError

Place = Callable[[int], int]
"""Puts the next task, of this fragment, on a CPU, and returns which one."""


def most_visits(fragments: Sequence[int], cpu: Sequence[int]) -> int:
    """Return the largest number of different fragments on a CPU."""
    visits = Counter(where for where, _ in set(zip(cpu, fragments, strict=True)))
    return max(visits.values(), default=0)


@dataclass(slots=True, kw_only=True)
class Placement:
    """A policy that keeps a fragment on a CPU for a while, and then chooses a CPU for it anew.

    A fragment goes on where it is until it has put ``quota`` tasks there, or the CPU is full. Then
    it goes to the first CPU of those with at most ``threshold`` tasks.

    Parameters
    ----------
    cpus
        How many there are.
    capacity
        The room of a CPU, in tasks.
    threshold
        A CPU with more tasks than this takes up no fragment.
    quota
        The tasks that a fragment puts on a CPU before it looks for another one.
    rank
        What makes a CPU the first: the fewest ``visits`` of fragments, or the least ``load``; what
        comes later counts among equals.
    """

    cpus: int
    capacity: int
    threshold: int
    quota: int
    rank: tuple[Literal["visits", "load"], ...]
    load: list[int] = field(init=False)
    visits: list[int] = field(init=False)
    _open: dict[int, tuple[int, int]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.load = [0] * self.cpus
        self.visits = [0] * self.cpus

    def __call__(self, fragment: int) -> int:
        """Put the next task on a CPU, and return which one."""
        cpu, left = self._open.get(fragment, (0, 0))
        if not left or self.load[cpu] == self.capacity:
            able = [other for other in range(self.cpus) if self.load[other] <= self.threshold]
            if not able:
                raise ModelError("more tasks came than the CPUs have room for", place="share")
            ranks = [getattr(self, name) for name in self.rank]
            cpu = min(able, key=lambda other: (*(each[other] for each in ranks), other))
            left = self.quota
            self.visits[cpu] += 1
        self._open[fragment] = (cpu, left - 1)
        self.load[cpu] += 1
        return cpu


def with_slack(cpus: int, share: int, slack: Fraction) -> Placement:
    """Return the policy of Theorem 4: CPUs have room for (1 + slack)·k tasks each.

    A fragment puts slack·k/2 tasks on a CPU. Then it goes to the CPU with the fewest visits of
    those with at most (1 + slack/2)·k tasks.

    Parameters
    ----------
    cpus
        The number m.
    share
        The even share k.
    slack
        ε > 0.

    Raises
    ------
    ModelError
        When a parameter is not positive.
    """
    for name, value in (("cpus", cpus), ("share", share), ("slack", slack)):
        if value <= 0:
            raise ModelError("must be positive", place=name)
    capacity = floor((1 + slack) * share)
    return Placement(
        cpus=cpus,
        capacity=capacity,
        # With a slack of less than two tasks there is no room between threshold and capacity.
        threshold=min(floor((1 + slack / 2) * share), capacity - 1),
        quota=max(1, ceil(slack * share / 2)),
        rank=("visits",),
    )


def slack_ratio(slack: float) -> float:
    """Return the ratio that Theorem 4 proves, C(ε)."""
    return (1 + (2 + slack) ** 2 / slack**2) * exp(2 / slack)


def without_slack(cpus: int, share: int, quota: int, *rank: Literal["visits", "load"]) -> Placement:
    """Return a policy that puts at most an even share on a CPU; see :class:`Placement`."""
    return Placement(cpus=cpus, capacity=share, threshold=share - 1, quota=quota, rank=rank)


POLICIES: dict[str, Callable[[int, int], Place]] = {
    # Stay while there is room, else go where fewest visits are.
    "fewest-visits": lambda cpus, share: without_slack(cpus, share, share, "visits", "load"),
    # Put each task where the fewest tasks are.
    "least-loaded": lambda cpus, share: without_slack(cpus, share, 1, "load"),
    # Stay for the square root of the share.
    "spread": lambda cpus, share: without_slack(
        cpus, share, max(1, round(share**0.5)), "load", "visits"
    ),
}
"""Policies without slack, by name; each takes the numbers of CPUs and of tasks for a CPU."""


class BalancedAdversary(Record):
    """A sequence that is hard for a policy without slack, and where the policy put its tasks.

    Parameters
    ----------
    fragments
        The fragment of each task, in the order of arrival.
    cpu
        Where the policy put each of them.
    singles
        How many tasks at the end have fragments of their own.
    optimum
        Some placement of all tasks has no more visits on a CPU.
    proven
        What Theorem 3 proves of the largest number of visits of a CPU, whatever the policy was.
    """

    fragments: tuple[int, ...]
    cpu: tuple[int, ...]
    singles: int
    optimum: int
    proven: Fraction

    @property
    def visits(self) -> int:
        """The largest number of visits of a CPU under the policy."""
        return most_visits(self.fragments, self.cpu)


def adversary_without_slack(
    place: Place, cpus: int, share: int, balance: Fraction
) -> BalancedAdversary:
    """Return the sequence that the proof of Theorem 3 sends to a policy.

    Whole fragments of ``share`` tasks come, one after the other. As soon as some CPU has more than
    ``balance`` times the mean room, all other tasks have fragments of their own.

    Parameters
    ----------
    place
        The policy; it must put exactly ``share`` tasks on each CPU.
    cpus, share
        The number m, and the tasks of each CPU, a multiple of m and at least 2·m.
    balance
        The number c ≥ 1 of the proof.

    Raises
    ------
    ModelError
        When the numbers do not fit, or the policy puts too many tasks on a CPU.
    """
    if cpus < 1:
        raise ModelError("must be at least 1", place="cpus")
    if share % cpus or share < 2 * cpus:
        raise ModelError(f"must be a multiple of {cpus}, and at least {2 * cpus}", place="share")
    if balance < 1:
        raise ModelError("must be at least 1", place="balance")
    room = [share] * cpus
    fragments: list[int] = []
    cpu: list[int] = []

    def send(fragment: int) -> None:
        where = place(fragment)
        if not room[where]:
            raise ModelError("puts too many tasks on a CPU", place="place")
        room[where] -= 1
        fragments.append(fragment)
        cpu.append(where)

    whole = 0
    while whole < cpus and max(room) <= balance * _mean(room):
        for _ in range(share):
            send(whole)
        whole += 1
    mean_room = sum(room) // cpus  # exact, since the share is a multiple of the number of CPUs
    singles = sum(room)
    for number in range(singles):
        send(whole + number)
    return BalancedAdversary(
        fragments=tuple(fragments),
        cpu=tuple(cpu),
        singles=singles,
        optimum=mean_room + 2 if singles else 1,
        proven=balance * mean_room if singles else epochs(cpus, balance) / (2 * balance),
    )


def _mean(room: Sequence[int]) -> Fraction:
    return Fraction(sum(room), len(room))


def epochs(cpus: int, balance: Fraction) -> int:
    """Return how many times the fragments that are left fall to 1/(4·balance) before all came."""
    left, times = cpus, 0
    while left:
        left = floor(left / (4 * balance))
        times += 1
    return times
