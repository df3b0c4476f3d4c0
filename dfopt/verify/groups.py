"""Proofs over groups: too few groups of fragments fill CPUs of their own, under g.

Join a fragment and a CPU where one holds a part of the other. Connected components with f
fragments on e CPUs have at least f + e − 1 parts.

**Max-penalty.** At a threshold a CPU may hold L parts, or one more where its first visit is free
(a *longer* CPU). So a component with l longer CPUs has f ≤ (L − 1)·e + l + 1 fragments. It is
*full* if both sides are equal. All other components have at least one fragment less, so that
d fragments on m CPUs need at least x = d − (L − 1)·m − (longer CPUs) full groups.

**Total-penalty.** With c components on all m CPUs there are at least d + m − c parts. (Where a CPU
is idle, a fragment that shares its component can take one more CPU without more parts.) So
c ≥ x = d + m − (free first visits) − (visits that are paid for). Here each component is full.

The size of a fragment is that of all its tasks, and k is the room on a CPU. Where sizes differ,
that is about tasks that can be cut, which can only need fewer parts.

Every fragment and all of the machine have prices that are not negative: the room that a group
leaves free on its CPUs, each longer CPU and each other one. If no full group costs less than b,
and everything together costs P < x·b, there are no x full groups. If P ≥ x·b, full groups that
there are exceed b by at most P − x·b together, so all but one by at most half of that. Those
groups are listed, and all ways to choose x − 1 of them are tried.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter, mul, sub
from typing import Any

from dfopt.errors import MethodError
from dfopt.problem.cache import CacheState
from dfopt.problem.certificate import Count, GroupResource, Leaf, Proof, TaskClass, UseCount
from dfopt.problem.instance import Instance, Objective
from dfopt.problem.penalties import PenaltyG
from dfopt.structs import Record
from dfopt.verify.tree import Argument, Range, Ranges, UnprovenError

LARGEST_TABLE = 20_000_000
MOST_ENDS = 2_000_000
MOST_GROUPS = 20_000
MOST_CHOICES = 200_000
LARGEST_PRICE = 2**50
"""At most these numbers of table entries, of ways to use the machine, of groups to choose from, of
steps of choosing, and the largest price of everything."""

NEVER = 2**60
"""More than any price."""

TOO_LARGE = "the groups of fragments are too many to be checked"
EXPENSIVE = f"all prices of groups together are more than {LARGEST_PRICE}, too many bits to check"


Uses = tuple[int, int, int]
"""The free room, the longer CPUs and the other CPUs of a group."""

End = tuple[int, int]
"""The fragments and the tasks of a group."""


class Need(Record):
    """The full groups that a schedule within the threshold needs.

    Parameters
    ----------
    wanted
        Their number.
    limit
        The most parts on a CPU that is not longer; None under total-penalty.
    cpus, longer
        The number of CPUs, and of those that are longer.
    """

    wanted: int
    limit: int | None
    cpus: int
    longer: int

    def available(self, room: int, size: int) -> Uses:
        """Return the room, the longer CPUs and the other CPUs that groups can use together."""
        return self.cpus * room - size, self.longer, self.cpus - self.longer


class GroupArgument(Argument):
    """A proof over groups.

    Parameters
    ----------
    instance, proof, check
        See :class:`~dfopt.verify.tree.Argument`.
    bound
        The lower bound.
    """

    def __init__(
        self, instance: Instance, proof: Proof, bound: int, check: Callable[[], None]
    ) -> None:
        penalty = instance.penalty
        if not isinstance(penalty, PenaltyG) or instance.objective is Objective.MAKESPAN:
            raise UnprovenError(
                "certificate.over: groups are for the penalty g without execution times"
            )
        visit = penalty.fill + penalty.write_back
        if not visit:
            raise UnprovenError("certificate.over: groups are for visits that cost something")
        fragments = Counter[str | None]()
        for task, size in zip(instance.tasks, instance.sizes, strict=True):
            fragments[task.df] += task.multiplicity * size
        self._counts = Counter(fragments.values())
        self._need = _need(instance, fragments, (bound - 1) // visit)
        self._available = dict.fromkeys(GroupResource, 0)
        if self._need is not None:
            uses = self._need.available(instance.room, sum(fragments.values()))
            self._available = dict(zip(GroupResource, uses, strict=True))
        super().__init__(instance, proof, check)

    def _members(self) -> list[frozenset[int]]:
        self._sizes = [row.fragment_size or 0 for row in self.proof.classes]
        for place, size in enumerate(self._sizes):
            if size not in self._counts or self.proof.classes[place] != TaskClass(
                fragment_size=size
            ):
                raise UnprovenError(f"certificate.classes[{place}]: is no size of a fragment")
        return []  # fragments are known by their sizes

    def range_of(self, count: Count) -> Range:
        """See :meth:`~dfopt.verify.tree.Argument.range_of`."""
        if not isinstance(count, UseCount):
            raise UnprovenError("is nothing to count in groups")
        return 0, self._available[count.of]

    def flaw(self, leaf: Leaf, ranges: Ranges) -> str | None:
        """See :meth:`~dfopt.verify.tree.Argument.flaw`."""
        if self._need is None or not self._may_be_met(self._need, leaf, ranges):
            return None
        return f": {max(0, self._need.wanted)} full groups are needed, and prices allow them"

    def _may_be_met(self, need: Need, leaf: Leaf, ranges: Ranges) -> bool:
        """Return whether prices allow as many full groups as are needed."""
        prices, machine = Counter[int](), Counter[GroupResource]()
        for number, price in leaf.weights:
            prices[self._sizes[number]] += price
        total = sum(price * self._counts[size] for size, price in prices.items())
        for number, price in leaf.prices:
            count = self.proof.counts[number]
            assert isinstance(count, UseCount)
            machine[count.of] += price
            total += price * ranges[number][1]
        all_prices = (*machine.values(), *prices.values())
        if need.wanted < 1 or set(prices) != set(self._counts) or min(all_prices, default=0) < 0:
            return True  # nothing is needed, or a price is missing or negative
        if max(total, *all_prices) > LARGEST_PRICE:
            raise UnprovenError(EXPENSIVE)
        rows = [(size, self._counts[size], price) for size, price in prices.items()]
        room, longer, plain = (machine[of] for of in GroupResource)
        groups = _GroupPrices(rows, (room, longer, plain), self.instance.room, need, self.check)
        least = groups.least()
        if least is None:
            return False
        excess = total - need.wanted * least
        return excess >= 0 and (need.wanted == 1 or groups.has_choice(least, excess))


def _need(instance: Instance, fragments: Counter[str | None], visits: int) -> Need | None:
    """Return the groups needed where CPUs pay for ``visits``; None if parts are too many."""
    own = Counter(state.df for state in instance.initial_states if isinstance(state, CacheState))
    free = sum(min(number, fragments[df]) for df, number in own.items())
    free += sum(
        state == "unknown" or (state is None and not instance.cold_start)
        for state in instance.initial_states
    )
    room = instance.room
    parts = sum(-(-size // room) for size in fragments.values())
    number, cpus = len(fragments), instance.cpus
    if instance.objective is Objective.TOTAL_PENALTY:
        wanted = min(number, number + cpus - free - visits)
        need = Need(wanted=wanted, limit=None, cpus=cpus, longer=0)
        return need if parts - free <= visits else None
    limit, longer = visits, free
    if visits == 0:
        cpus = free  # the others stay empty
    if free == cpus:
        limit, longer = visits + 1, 0
    if parts > limit * cpus + longer:
        return None
    wanted = number - (limit - 1) * cpus - longer
    return Need(wanted=wanted, limit=limit, cpus=cpus, longer=longer)


class _GroupPrices:
    """All full groups, by dynamic programming over the sizes of fragments.

    Parameters
    ----------
    rows
        Each size of a fragment, how many have it, and their price.
    machine
        The prices of what groups use.
    room, need, check
        As of the proof.
    """

    def __init__(
        self,
        rows: Sequence[tuple[int, int, int]],
        machine: Uses,
        room: int,
        need: Need,
        check: Callable[[], None],
    ) -> None:
        self._rows = sorted(rows, reverse=True)
        self._machine, self._room, self._need, self._check = machine, room, need, check
        self._tasks = sum(size * count for size, count, _ in rows)
        self._available = need.available(room, self._tasks)
        # A group has a number of fragments and of tasks; without a limit on parts, only the
        # tasks on its last CPU count.
        self._ends = list(self._all_ends())
        fragments = 1 + max((end[0] for end, _ in self._ends), default=0)
        tasks = 1 + max((end[1] for end, _ in self._ends), default=0)
        self._shape = (fragments, room if need.limit is None else tasks)
        if (len(rows) + 1) * self._shape[0] * self._shape[1] > LARGEST_TABLE:
            raise MethodError(TOO_LARGE)
        self._tables_of = self._tables()

    def _all_ends(self) -> Iterator[tuple[End, Uses]]:
        """Yield the numbers of fragments and tasks of full groups, with what they may use."""
        need, k = self._need, self._room
        spare, most_longer, most_plain = self._available
        if need.limit is None:
            for room in range(min(spare, k - 1) + 1):
                yield (0, -room % k), (room, 0, 0)
            return
        # All other groups have a fragment, a task and a CPU at least.
        others, ways = max(0, need.wanted - 1), 0
        for cpus in range(1, need.cpus - others + 1):
            for longer in range(max(0, cpus - most_plain), min(cpus, most_longer) + 1):
                fragments = (need.limit - 1) * cpus + longer + 1
                if fragments > sum(count for _, count, _ in self._rows) - others:
                    continue
                least = max(fragments, cpus * k - spare)
                for tasks in range(least, min(cpus * k, self._tasks - others) + 1):
                    ways += 1
                    if ways > MOST_ENDS:
                        raise MethodError(TOO_LARGE)
                    yield (fragments, tasks), (cpus * k - tasks, longer, cpus - longer)

    def _tables(self) -> list[Any]:
        """Return for the sizes from each one on the least price of fragments and tasks.

        The last table is for at least one fragment of any size.
        """
        import numpy as np

        nothing = np.full(self._shape, NEVER, np.int64)
        nothing[0, 0] = 0
        tables = [nothing]
        nonempty = np.full(self._shape, NEVER, np.int64)
        for size, count, price in reversed(self._rows):
            least = added = tables[0]
            for _ in range(count):
                self._check()
                added = self._added(added, size) + price
                least = np.minimum(least, added)
                nonempty = np.minimum(nonempty, added)
            tables.insert(0, least)
        return [*tables, nonempty]

    def _added(self, table: Any, size: int) -> Any:
        """Return the table in which each group has one fragment of a size more."""
        import numpy as np

        if self._need.limit is None:
            return np.roll(table, size, axis=1)
        added = np.full_like(table, NEVER)
        if size < table.shape[1]:
            added[1:, size:] = table[:-1, : table.shape[1] - size]
        return added

    def _used(self, uses: Uses) -> int:
        """Return the price of what a group uses of the machine."""
        return sum(map(mul, self._machine, uses))

    def least(self) -> int | None:
        """Return the least price of a full group; None if there is none."""
        prices = (int(self._tables_of[-1][end]) + self._used(uses) for end, uses in self._ends)
        least = min(prices, default=NEVER)
        return least if least < NEVER else None

    def has_choice(self, least: int, excess: int) -> bool:
        """Return whether all wanted groups but one may be there at the same time."""
        groups: list[tuple[int, tuple[int, ...]]] = []  # prices, and all that a group takes
        for end, uses in self._ends:
            used = self._used(uses)
            for members in self._within(0, end, least + excess // 2 - used):
                if any(members):
                    price = used + sum(map(mul, members, (price for *_, price in self._rows)))
                    groups.append((price, (*members, *uses)))
                if len(groups) > MOST_GROUPS:
                    raise MethodError(TOO_LARGE)
        groups.sort(key=itemgetter(0))
        # Of sizes and of the machine, what is left.
        left = (*(count for _, count, _ in self._rows), *self._available)
        steps = 0
        stack = [(0, self._need.wanted - 1, excess, left)]
        while stack:
            first, wanted, excess, left = stack.pop()
            if not wanted:
                return True
            for number in range(first, len(groups)):
                price, taken = groups[number]
                beyond = price - least
                if beyond * wanted > excess:
                    break  # all that follow cost as much or more
                steps += 1
                if steps > MOST_CHOICES:
                    raise MethodError(TOO_LARGE)
                after = tuple(map(sub, left, taken))
                if min(after) >= 0:
                    stack.append((number, wanted - 1, excess - beyond, after))
        return False

    def _within(self, first: int, end: End, budget: int) -> Iterator[tuple[int, ...]]:
        """Yield the numbers of fragments of each size, from the first one on, within a budget."""
        self._check()
        if int(self._tables_of[first][end]) > budget:
            return
        if first == len(self._rows):
            yield ()
            return
        size, count, price = self._rows[first]
        fragments, tasks = end
        for number in range(count + 1):
            before = (fragments - number, tasks - number * size)
            if self._need.limit is None:
                before = (0, before[1] % self._room)
            if min(before) < 0:
                break
            for members in self._within(first + 1, before, budget - number * price):
                yield (number, *members)
