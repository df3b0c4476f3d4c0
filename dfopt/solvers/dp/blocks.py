"""The ways for a CPU to take the tasks of one fragment, one by one: a small automaton.

When a CPU takes its first task of a fragment, it decides which *role* the fragment plays there,
and so which *duties* its tasks have to fill, see :mod:`dfopt.costs.role`. Later tasks fill one of
the open duties or none. Duties that all tasks of a fragment fill at the same cost are paid when
the block begins.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from dfopt.costs.closed_form import BlockCosts, CpuStart
from dfopt.costs.role import Duty, Role

ABSENT = 0
"""The status of a CPU that holds no task of the current fragment."""

NO_MORE_TASKS = 8
"""Beside the open duties in a status: the block is complete and takes no other task."""

STATUSES = 16
"""The number of statuses of each role."""


@dataclass(frozen=True, slots=True)
class Transition:
    """One way for a CPU to take one task.

    Parameters
    ----------
    before, after
        The CPU's status; statuses are numbers that only the automaton understands.
    cost
        The cost for the CPU.
    role
        The role that is chosen, where the task is the first one of its fragment.
    """

    before: int
    after: int
    cost: int
    role: Role | None


class Block:
    """The automaton of one fragment.

    Parameters
    ----------
    members
        The costs of the fragment's tasks.
    start
        The start of the CPU, which may spare its first task some costs.
    """

    def __init__(self, members: Sequence[BlockCosts], start: CpuStart) -> None:
        self.entries = {costs.entry for costs in members}
        self.exits = {costs.exit for costs in members}
        self.ends = {costs.end for costs in members}
        ends_cheaper = any(costs.end < costs.exit for costs in members)
        self.roles = [Role.MIDDLE]
        if start.spares_entry(members[0].fragment):
            self.roles.append(Role.FIRST)
            if ends_cheaper:
                self.roles += [Role.ALONE, Role.SPLIT] if len(members) > 1 else [Role.ALONE]
        if ends_cheaper:
            self.roles.append(Role.LAST)

    @cached_property
    def complete(self) -> dict[int, Role]:
        """The statuses in which every duty is filled, with their roles."""
        return {
            self._status(role, duties): role
            for role in self.roles
            for duties in (Duty.NONE, NO_MORE_TASKS)
        }

    def steps(self, task: BlockCosts) -> Iterator[Transition]:
        """Yield every way to take ``task``."""
        for role in self.roles:
            required = self._required(role)
            advance = self._paid_at_once(role)
            for filled, cost in self._fillings(task, required):
                left = self._status(role, required & ~filled)
                yield Transition(ABSENT, left, advance + cost, role)
            if role in (Role.MIDDLE, Role.LAST) and required == role.duties:
                # One task alone both opens and closes its block.
                cost = task.base + task.entry + (task.exit if role is Role.MIDDLE else task.end)
                yield Transition(ABSENT, self._status(role, NO_MORE_TASKS), advance + cost, role)
            for open_duties in _subsets(required):
                before = self._status(role, open_duties)
                for filled, cost in self._fillings(task, open_duties):
                    yield Transition(before, self._status(role, open_duties & ~filled), cost, None)
                if role is Role.SPLIT and open_duties & Duty.OPEN and open_duties & Duty.END:
                    # The last block may be a single task, which opens and ends it.
                    left = open_duties & ~(Duty.OPEN | Duty.END)
                    cost = task.base + task.entry + task.end
                    yield Transition(before, self._status(role, left), cost, None)
            if role is Role.SPLIT:
                cost = task.base + task.entry + task.end
                yield Transition(ABSENT, self._status(role, Duty.CLOSE), cost, role)

    def _required(self, role: Role) -> Duty:
        """Return the duties that have to be filled by particular tasks."""
        if role is Role.SPLIT:
            return role.duties
        required = Duty.NONE
        for duty, costs in self._prices():
            if role.duties & duty and len(costs) > 1:
                required |= duty
        return required

    def _paid_at_once(self, role: Role) -> int:
        """Return the cost of the other duties, whichever tasks fill them."""
        required = self._required(role)
        return sum(min(costs) for duty, costs in self._prices() if role.duties & duty & ~required)

    def _prices(self) -> list[tuple[Duty, set[int]]]:
        return [(Duty.OPEN, self.entries), (Duty.CLOSE, self.exits), (Duty.END, self.ends)]

    def _fillings(self, task: BlockCosts, duties: Duty) -> Iterator[tuple[Duty, int]]:
        """Yield the duties that one task can fill, one at most, and what the CPU pays."""
        yield Duty.NONE, task.base
        for duty, price in (
            (Duty.OPEN, task.entry),
            (Duty.CLOSE, task.exit),
            (Duty.END, task.end),
        ):
            if duties & duty:
                yield duty, task.base + price

    def _status(self, role: Role, duties: int) -> int:
        return 1 + self.roles.index(role) * STATUSES + duties


def _subsets(duties: Duty) -> Iterator[Duty]:
    """Yield all subsets of ``duties``, the empty one included."""
    members = [duty for duty in (Duty.OPEN, Duty.CLOSE, Duty.END) if duties & duty]
    for choice in range(1 << len(members)):
        subset = Duty.NONE
        for place, duty in enumerate(members):
            if choice >> place & 1:
                subset |= duty
        yield subset
