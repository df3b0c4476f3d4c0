"""F* in closed form: the cheapest order of one CPU's tasks under f and g.

Each task has a *base* cost that it always pays, an *entry* cost when it opens a block of its
fragment, an *exit* cost when it closes a block and another fragment follows, and an *end* cost,
which replaces the exit cost after the CPU's last task. An order costs the sum over its blocks
of the opener's entry and the closer's exit; the CPU's two ends may be spared theirs. Visiting
a fragment twice never pays, except that the first and the last block may share a fragment: the
theorem and its proof stand in the documentation under "The best order on one CPU".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

from dfopt.costs.role import Role
from dfopt.costs.task_types import TaskType
from dfopt.problem.cache import CacheState, Leaves
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyF, PenaltyG
from dfopt.structs import Record

IMPOSSIBLE = 2**63
"""The cost of a role that a fragment cannot play; more than any real cost."""

LARGEST_CACHE = 200_000
"""At most this number of parts are remembered."""

Part = Mapping[int, int]
"""Tasks of one fragment on one CPU: the number of tasks of each type."""


class BlockCosts(Record):
    """What a task pays by its position in a block (see the module's text)."""

    fragment: int
    base: int
    entry: int
    exit: int
    end: int


class CpuStart(Record):
    """The costs of a CPU's initial state.

    Parameters
    ----------
    free_for_all
        Whether the first block pays no entry, whichever its fragment.
    free_fragment
        The fragment whose tasks pay no entry when they come first; None if there is none.
    arrival
        Paid with the first task, whatever it is.
    departure
        Paid with the first task unless it uses the free fragment.
    idle
        Paid if the CPU runs nothing: 0, or with ``final_write_back`` arrival and departure.
    """

    free_for_all: bool = False
    free_fragment: int | None = None
    arrival: int = 0
    departure: int = 0
    idle: int = 0

    @property
    def tolls(self) -> tuple[int, int]:
        """The costs paid with the first task if it uses the free fragment, and if it does not."""
        return self.arrival, self.arrival + self.departure

    def spares_entry(self, fragment: int) -> bool:
        """Return whether a first block of ``fragment`` pays no entry."""
        return self.free_for_all or self.free_fragment == fragment


def possible_roles(start: CpuStart, fragment: int, tasks: int, *, ends_cheaply: bool) -> list[Role]:
    """Return the roles of a fragment that can save a CPU something.

    Parameters
    ----------
    start
        The start of the CPU.
    fragment, tasks
        The fragment, and the number of its tasks.
    ends_cheaply
        Whether some task of it pays less at the end than at an exit.
    """
    roles = [Role.MIDDLE]
    if start.spares_entry(fragment):
        roles.append(Role.FIRST)
        if ends_cheaply:
            roles += [Role.ALONE, Role.SPLIT] if tasks > 1 else [Role.ALONE]
    if ends_cheaply:
        roles.append(Role.LAST)
    return roles


class Ends(NamedTuple):
    """The tasks at the ends of a fragment's blocks, and the cost that they pay there.

    ``early`` closes the first block where the fragment has both the first and the last one.
    """

    cost: int
    opener: int | None = None
    closer: int | None = None
    early: int | None = None


class Roles(NamedTuple):
    """The cheapest ends of a fragment in every role; ``roles[Role.LAST]`` is ``roles.last``."""

    middle: Ends
    first: Ends
    last: Ends
    split: Ends
    alone: Ends


class ClosedForm:
    """F* and the order that attains it, for sets of tasks given as counts of types.

    Parameters
    ----------
    instance
        An instance with penalty f or g.
    types
        Its task types; contents are mappings from their numbers to counts.
    """

    def __init__(self, instance: Instance, types: Sequence[TaskType]) -> None:
        names = dict.fromkeys(task_type.example.df for task_type in types)
        fragments = {name: fragment for fragment, name in enumerate(names)}
        self.fragments: tuple[str, ...] = tuple(str(name) for name in fragments)
        self.costs = tuple(
            _block_costs(instance, task_type.example, fragments[task_type.example.df])
            for task_type in types
        )
        self.starts = tuple(_cpu_start(instance, cpu, fragments) for cpu in range(instance.cpus))
        self._known: dict[frozenset[tuple[int, int]], tuple[int, Roles]] = {}

    def cost(self, cpu: int, content: Mapping[int, int]) -> int:
        """Return F* of ``content`` on ``cpu``."""
        return self.cost_of_parts(cpu, self.parts(content))

    def cost_of_parts(self, cpu: int, parts: Mapping[int, Part]) -> int:
        """Return F* of parts by fragment; one that was seen before is not worked out again."""
        if not parts:
            return self.starts[cpu].idle
        total = 0
        blocks = {}
        for fragment, part in parts.items():
            key = frozenset(part.items())
            if key not in self._known:
                if len(self._known) >= LARGEST_CACHE:
                    self._known.clear()
                base = sum(self.costs[task_type].base * count for task_type, count in key)
                self._known[key] = base, self.roles(list(part.items()))
            base, blocks[fragment] = self._known[key]
            total += base
        return total + best_ends(self.starts[cpu], blocks).cost

    def order(self, cpu: int, content: Mapping[int, int]) -> list[int]:
        """Return a cheapest order of ``content`` on ``cpu``, as type numbers."""
        if not content:
            return []
        left = self.parts(content)
        blocks = {fragment: self.roles(list(part.items())) for fragment, part in left.items()}
        arrangement = best_ends(self.starts[cpu], blocks)
        order: list[int] = []
        sequence = _visiting_sequence(self.starts[cpu], arrangement.roles)
        for position, fragment in enumerate(sequence):
            role = arrangement.roles[fragment]
            comes_back = role is Role.SPLIT and position == 0
            order += _block(left[fragment], blocks[fragment][role], comes_back=comes_back)
        return order

    def parts(self, content: Mapping[int, int]) -> dict[int, dict[int, int]]:
        """Return a content by fragment."""
        parts: dict[int, dict[int, int]] = {}
        for task_type, count in content.items():
            if count:
                parts.setdefault(self.costs[task_type].fragment, {})[task_type] = count
        return parts

    def roles(self, members: Sequence[tuple[int, int]]) -> Roles:
        """Return the cheapest ends of one fragment's tasks, given as (type, count) pairs."""
        # Three copies of a task are enough for all roles that one fragment can fill.
        tasks = [task_type for task_type, count in members for _ in range(min(count, 3))]
        costs = self.costs
        entry = {task_type: costs[task_type].entry for task_type, _ in members}
        leaving = {task_type: costs[task_type].exit for task_type, _ in members}
        ending = {task_type: costs[task_type].end for task_type, _ in members}
        closer = min(tasks, key=leaving.__getitem__)
        final = min(tasks, key=ending.__getitem__)
        return Roles(
            middle=cheapest_pair(tasks, entry, leaving),
            first=Ends(leaving[closer], closer=closer),
            last=cheapest_pair(tasks, entry, ending),
            split=_cheapest_split(tasks, entry, leaving, ending),
            alone=Ends(ending[final], closer=final),
        )


class Arrangement(NamedTuple):
    """The role of every fragment on a CPU, and what all blocks cost, arrival included."""

    cost: int
    roles: dict[int, Role]


def best_ends(start: CpuStart, blocks: Mapping[int, Roles]) -> Arrangement:
    """Return the cheapest arrangement of a CPU's fragments.

    Parameters
    ----------
    start
        The start of the CPU, which may spare its first task some costs.
    blocks
        The roles of every fragment on this CPU; at least one.
    """
    if len(blocks) == 1:
        ((fragment, roles),) = blocks.items()
        if start.spares_entry(fragment):
            return Arrangement(start.arrival + roles.alone.cost, {fragment: Role.ALONE})

    middle = start.arrival
    firsts, lasts, splits = [], [], []
    for fragment, roles in blocks.items():
        cost = roles.middle.cost
        middle += cost
        lasts.append((roles.last.cost - cost, fragment))
        if start.spares_entry(fragment):
            firsts.append((roles.first.cost - cost, fragment))
            splits.append((roles.split.cost - cost, fragment))
    by_saving = itemgetter(0)
    firsts.sort(key=by_saving)
    lasts.sort(key=by_saving)
    options: list[tuple[int, int | None, int, bool]] = [
        (first_saving + last_saving, first, last, False)
        for first_saving, first in firsts[:2]
        for last_saving, last in lasts[:2]
        if first != last
    ]
    options += [(saving, both, both, True) for saving, both in splits]
    if not start.free_for_all:
        saving, last = lasts[0]
        options.append((start.departure + saving, None, last, False))
    saving, first, last, split = min(options, key=by_saving)

    chosen = dict.fromkeys(blocks, Role.MIDDLE)
    if first is not None:
        chosen[first] = Role.FIRST
    chosen[last] = Role.SPLIT if split else Role.LAST
    return Arrangement(middle + saving, chosen)


def _visiting_sequence(start: CpuStart, roles: Mapping[int, Role]) -> list[int]:
    """Return the fragments in order of their blocks; a split fragment comes first and last."""
    first = [fragment for fragment, role in roles.items() if role in (Role.FIRST, Role.SPLIT)]
    inner = [fragment for fragment, role in roles.items() if role is Role.MIDDLE]
    last = [fragment for fragment, role in roles.items() if role >= Role.LAST]
    # If no entry is spared, the free fragment must not come first.
    inner.sort(key=start.spares_entry)
    return [*first, *inner, *last]


def _block(left: dict[int, int], ends: Ends, *, comes_back: bool) -> list[int]:
    """Take one block's tasks out of ``left`` and return them: opener first, closer last."""
    if comes_back:
        reserved = {ends.opener, ends.closer}
        taken = _drained(left, reserved=reserved, last=ends.early)
    else:
        taken = _drained(left, reserved=set(), last=None)
        if ends.closer is not None and taken:
            taken.remove(ends.closer)
            if ends.opener in taken:
                taken.remove(ends.opener)
                taken.insert(0, ends.opener)
            taken.append(ends.closer)
    return taken


def _drained(left: dict[int, int], *, reserved: set[int | None], last: int | None) -> list[int]:
    """Take out and return all tasks but one of each reserved type; ``last`` comes last."""
    taken: list[int] = []
    for task_type in list(left):
        keep = 1 if task_type in reserved else 0
        taken += [task_type] * (left[task_type] - keep)
        left[task_type] = keep
    if last is not None:
        taken.remove(last)
        taken.append(last)
    return taken


def cheapest_pair(
    tasks: Sequence[int],
    opening: Mapping[int, int] | Sequence[int],
    closing: Mapping[int, int] | Sequence[int],
) -> Ends:
    """Return the cheapest opener and closer: two distinct tasks, or one if it is alone."""
    if len(tasks) == 1:
        (task,) = tasks
        return Ends(opening[task] + closing[task], task, task)
    positions = range(len(tasks))
    openers = sorted(positions, key=lambda position: opening[tasks[position]])[:2]
    closers = sorted(positions, key=lambda position: closing[tasks[position]])[:2]
    return min(
        Ends(opening[tasks[opener]] + closing[tasks[closer]], tasks[opener], tasks[closer])
        for opener in openers
        for closer in closers
        if opener != closer
    )


def _cheapest_split(
    tasks: Sequence[int],
    opening: Mapping[int, int],
    closing: Mapping[int, int],
    ending: Mapping[int, int],
) -> Ends:
    """Return the cheapest ends of a fragment with both the first and the last block.

    The first block's closer must differ from the last block's tasks, which may be one or two.
    It is either the cheapest of those that the last block has no use for, or one that the last
    block then has to do without.
    """
    if len(tasks) == 1:
        return Ends(IMPOSSIBLE)
    positions = range(len(tasks))
    openers = sorted(positions, key=lambda position: opening[tasks[position]])[:2]
    finals = sorted(positions, key=lambda position: ending[tasks[position]])[:2]
    useless = [position for position in positions if position not in (openers[0], finals[0])]
    candidates = {openers[0], finals[0]}
    if useless:
        candidates.add(min(useless, key=lambda position: closing[tasks[position]]))
    best = Ends(IMPOSSIBLE)
    for early in candidates:
        opener = next(position for position in openers if position != early)
        final = next(position for position in finals if position != early)
        cost = closing[tasks[early]] + opening[tasks[opener]] + ending[tasks[final]]
        if cost < best.cost:
            best = Ends(cost, tasks[opener], tasks[final], tasks[early])
    return best


def _block_costs(instance: Instance, task: Task, fragment: int) -> BlockCosts:
    penalty = instance.penalty
    assert isinstance(penalty, PenaltyF | PenaltyG)
    base = task.exec if instance.objective is Objective.MAKESPAN else 0
    leaving = ending = 0
    if isinstance(penalty, PenaltyF):
        if task.leaves is Leaves.INVALIDATED:
            base += penalty.write_back
            ending = 0 if instance.final_write_back else -penalty.write_back
        elif task.leaves is Leaves.DIRTY:
            leaving = penalty.write_back
            ending = penalty.write_back if instance.final_write_back else 0
    return BlockCosts(
        fragment=fragment,
        base=base,
        entry=penalty.reading(task.lines or 0),
        exit=leaving,
        end=ending,
    )


def _cpu_start(instance: Instance, cpu: int, fragments: Mapping[str | None, int]) -> CpuStart:
    state = instance.initial[cpu] if instance.initial else None
    if not isinstance(state, CacheState):
        return CpuStart(free_for_all=state == "unknown" or not instance.cold_start)
    fragment = fragments.get(state.df)
    if isinstance(instance.penalty, PenaltyF):
        write_back = instance.penalty.write_back
        idle = instance.cache(cpu).finish()
        if state.leaves is Leaves.INVALIDATED:
            return CpuStart(free_fragment=fragment, arrival=write_back, idle=idle)
        if state.leaves is Leaves.DIRTY:
            return CpuStart(free_fragment=fragment, departure=write_back, idle=idle)
    return CpuStart(free_fragment=fragment)
