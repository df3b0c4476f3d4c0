"""The most value that one CPU can hold within a cost: the hard half of a ``dual-weights`` proof.

The *value* of an order of tasks is the sum of their weights less the charges of those tasks whose
entry the order pays, and of prices: for visits to fragments, for pairs of fragments visited, and
for numbers of tasks. Dynamic programming over the fragments finds the largest one, in exact
integers. It need not look at every order:

**Blocks.** A *block* is a longest run of tasks of one fragment. Any order can be changed, at no
higher cost and no lower value, until every fragment has one block, except that the first and the
last block may share a fragment if the first enters free and there is no final write-back.

*Proof.* Let B come before C, two blocks of a fragment with others between them. Unless C is the
last block and spared its write-back, move C to right behind B. This saves the entry of C (cost
and charge) and what B paid to leave for another fragment; C leaves as B did or as it did before;
the tasks that now meet where C was pay what they paid before, or less. If C is the last block and
spared its write-back, but B pays for its entry, move B to right before C: again the entry of C
and the leaving of B are saved, and no other task pays more. Each move leaves fewer blocks, so the
moves come to an end. Only the exception remains. The moves change neither the fragments that are
visited nor the tasks. (With negative charges, an order that enters less often could be worth
less. Such charges are allowed where a proof is about orders after these moves.) ∎

**Roles.** In a block only three tasks have a price of their own: the one that *enters* (its lines
and its charge, where the block pays its entry), the one that *exits* (T_w if it leaves dirty) and,
in the last block without final write-back, the one that comes *last* instead (spared the T_w that
it costs elsewhere if it leaves invalidated). All others cost the same wherever they stand.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dfopt.checks import LARGEST_TOTAL
from dfopt.errors import MethodError
from dfopt.problem.instance import Instance
from dfopt.verify.block_costs import Start, costs_of_tasks, starts_of
from dfopt.verify.relaxed_contents import Holding, OrderPrices
from dfopt.verify.tree import UnprovenError

LARGEST_TABLE = 20_000_000
MOST_TASKS = 50_000
"""At most these numbers of table entries and of tasks; beyond, a check needs too much memory."""

TOO_LARGE = "the dual weights call for too large a table to be checked"

# Roles of tasks; a set of roles, for as many different tasks, is a sum of them.
ENTERS, EXITS, COMES_LAST, ENTERS_AND_COMES_LAST = 1, 2, 4, 8

# Places of a fragment's blocks: FIRST | LAST is two blocks, ALONE is one that is all.
MIDDLE, FIRST, LAST, ALONE = 0, 1, 2, 4

# A fragment in a pair with a price has a bit of its own, PAIRED times a power of 2.
PAIRED = 4
MOST_PAIRED = 10
"""At most this number of fragments are in pairs with a price; each doubles the number of tables."""

Choice = tuple[int, int, int]
"""Some tasks: their size, cost and value."""


class Kind(NamedTuple):
    """Tasks of one fragment that differ at most in what they pay when they enter."""

    number: int
    size: int  # of each, in units of the instance's sizes
    weight: int
    always: int  # what each costs, wherever it stands
    exit: int  # what the one that exits costs on top
    spared: int  # what the one that comes last costs less
    entries: tuple[tuple[int, int], ...]  # cost and charge of those no other beats in both
    bonuses: tuple[Holding, ...]


class Frontier(NamedTuple):
    """``values[i, j]``: the most that tasks of size ≤ ``j`` are worth at a cost ≤ ``costs[i]``."""

    costs: NDArray[Any]
    values: NDArray[Any]


class Program:
    """The dynamic program for one instance, prices and threshold, with values up to ±``reach``.

    Without a threshold, costs are subtracted from the value instead.
    """

    def __init__(
        self,
        instance: Instance,
        prices: OrderPrices,
        threshold: int | None,
        reach: int,
        check: Callable[[], None],
    ) -> None:
        self.check = check
        if instance.task_count > MOST_TASKS:
            raise MethodError(TOO_LARGE)
        self.prices = prices
        # No order costs more than LARGEST_TOTAL, which fits into 64 bits.
        self.threshold = threshold if threshold is None else min(threshold, LARGEST_TOTAL)
        self.final_write_back = instance.final_write_back
        # Where a CPU has room for all tasks, how much it holds does not matter.
        self.measured = instance.room < instance.total_size
        self.width = instance.room + 1 if self.measured else 1
        self.never = -4 * reach - 4  # out of the reach of values, even when values are added
        # Numbers of more bits are objects, which take more memory.
        self.dtype, self.most = (
            (np.int64, LARGEST_TABLE) if reach < 2**58 else (object, LARGEST_TABLE // 20)
        )
        if self.width > self.most:
            raise MethodError(TOO_LARGE)
        self.nothing = Frontier(np.zeros(1, self.dtype), np.zeros((1, self.width), self.dtype))
        self.impossible = self.grown([])

    def choice(self, size: int, cost: int, value: int) -> Choice:
        """Return a choice in the terms of this program."""
        size = size if self.measured else 0
        if self.threshold is not None:
            return (size, cost, value)
        return (size, 0, value - self.prices.scale * cost)

    def grown(self, parts: Iterable[tuple[Frontier, Iterable[Choice]]]) -> Frontier:
        """Return the best of all that adds one choice to its frontier, over all ``parts``."""
        steps, entries = [], 0
        for frontier, choices in parts:
            for cost, alike in groupby(sorted(choices, key=itemgetter(1)), key=itemgetter(1)):
                rows = int(np.searchsorted(frontier.costs, (self.threshold or 0) - cost, "right"))
                steps.append((frontier.costs[:rows] + cost, frontier.values[:rows], list(alike)))
                entries += rows
                if entries > self.most:
                    raise MethodError(TOO_LARGE)
        costs = np.unique(np.concatenate([np.empty(0, self.dtype), *(sums for sums, *_ in steps)]))
        if len(costs) * self.width > self.most:
            raise MethodError(TOO_LARGE)
        values = np.full((len(costs), self.width), self.never, self.dtype)
        for sums, before, group in steps:
            self.check()
            rows_of_sums = np.searchsorted(costs, sums)
            after = values[rows_of_sums]
            for size, _, value in group:
                if size < self.width:
                    better = before[:, : self.width - size] + value
                    np.maximum(after[:, size:], better, out=after[:, size:])
            values[rows_of_sums] = after
        values[values < self.never // 2] = self.never
        values = np.maximum.accumulate(np.maximum.accumulate(values, axis=0), axis=1)
        useful = np.diff(values, axis=0, prepend=self.never).any(axis=1)
        return Frontier(costs[useful], values[useful])

    def choices(self, frontier: Frontier) -> list[Choice]:
        """Return the choices of a frontier that no smaller or cheaper one equals in value."""
        values = np.pad(frontier.values, ((1, 0), (1, 0)), constant_values=self.never)
        best = (values[1:, 1:] > values[:-1, 1:]) & (values[1:, 1:] > values[1:, :-1])
        return [
            (int(size), int(frontier.costs[row]), int(frontier.values[row, size]))
            for row, size in np.argwhere(best)
        ]

    def joined(
        self, frontiers: Mapping[int, Frontier], options: Mapping[int, Iterable[Choice]]
    ) -> dict[int, Frontier]:
        """Add one of the options; both are given by the roles, or the places, that they fill."""
        return {
            goal: self.grown(
                (frontiers[goal - added], choices)
                for added, choices in options.items()
                if added & goal == added
            )
            for goal in frontiers
        }

    def members(self, kind: Kind, roles: int, *, single: bool = False) -> list[Choice]:
        """Return the ways to take tasks of a kind, with roles, or a single one with all of them."""
        cost = kind.exit if roles & EXITS else 0
        if roles & (COMES_LAST | ENTERS_AND_COMES_LAST):
            cost -= kind.spared
        enters = roles & (ENTERS | ENTERS_AND_COMES_LAST)
        least = most = 1 if single else roles.bit_count()
        if kind.weight > 0 and not single:
            most = kind.number
        elif not single:
            most = max([least, *(number for _, number, price in kind.bonuses if price > 0)])
        return [
            self.choice(
                count * kind.size,
                count * kind.always + cost + entry,
                count * kind.weight
                - charge
                + sum(price for _, number, price in kind.bonuses if count >= number),
            )
            for count in range(least, min(most, kind.number) + 1)
            for entry, charge in (kind.entries if enters else [(0, 0)])
        ]

    def blocks(self, df: str, kinds: Sequence[Kind], *, free: bool) -> dict[int, list[Choice]]:
        """Return the options of a fragment, which may enter ``free`` or not, in each place."""
        roles = {MIDDLE: [ENTERS | EXITS], FIRST: [EXITS] if free else []}
        singles = {MIDDLE: ENTERS | EXITS}
        if not self.final_write_back:
            roles[LAST] = [ENTERS | COMES_LAST]
            singles[LAST] = ENTERS | COMES_LAST
        if free and not self.final_write_back:
            # Two blocks: the first has a task that exits, the last has two with roles or is one.
            roles[FIRST | LAST] = [EXITS | ENTERS | COMES_LAST, EXITS | ENTERS_AND_COMES_LAST]
            roles[ALONE] = [COMES_LAST]
        wholes = [whole for group in roles.values() for whole in group]
        parts = {part for whole in wholes for part in range(whole + 1) if part & whole == part}
        filled = dict.fromkeys(parts, self.impossible) | {0: self.nothing}
        for kind in kinds:
            filled = self.joined(filled, {part: self.members(kind, part) for part in parts})
        found = {
            place: [choice for whole in group for choice in self.choices(filled[whole])]
            for place, group in roles.items()
        }
        for place, whole in singles.items():  # blocks of one task, which has all the roles
            for kind in kinds:
                found[place] += self.members(kind, whole, single=True)
        visit = self.prices.visits.get(df, 0)
        return {
            place: [(size, cost, value + visit) for size, cost, value in choices]
            for place, choices in found.items()
        }

    def largest(self, start: Start, blocks: Mapping[str, Mapping[int, list[Choice]]]) -> int:
        """Return the largest value of an order on a CPU that starts like this.

        Some combinations are no orders, such as two blocks of one fragment with nothing between
        them, or no first block where any could enter free. They do no harm: the same tasks in
        an order of fewer entries and exits cost no more and are worth no less.
        """
        paired = sorted({df for pair in self.prices.meetings for df in pair})
        if len(paired) > MOST_PAIRED:
            raise UnprovenError(f"more than {MOST_PAIRED} fragments are in pairs with a price")
        orders = dict.fromkeys(range(PAIRED << len(paired)), self.impossible) | {0: self.nothing}
        alone: list[Choice] = []
        # Fragments of pairs come first: a bit of each says whether it is visited.
        for df in [*paired, *(df for df in blocks if df not in paired)]:
            found = blocks[df]
            options = {place: found.get(place, []) for place in (MIDDLE, LAST)}
            if df in start.free:
                options |= {place: found.get(place, []) for place in (FIRST, FIRST | LAST)}
                alone += found.get(ALONE, [])
            if df in paired:
                bit = PAIRED << paired.index(df)
                options = {place | bit: choices for place, choices in options.items()}
            options[MIDDLE] = [*options.get(MIDDLE, []), (0, 0, 0)]  # or no block at all
            orders = self.joined(orders, options)
            if paired and df == paired[-1]:
                orders = self._met(orders, paired)
        home = [self.choice(0, start.home_cost, 0)]
        away = [self.choice(0, start.away_cost, 0)]
        ends = [(order, home if place & FIRST else away) for place, order in orders.items()]
        ends.append((self.grown([(self.nothing, alone)]), home))
        return max([0, *map(int, self.grown(ends).values[-1:, -1])])

    def _met(self, orders: Mapping[int, Frontier], paired: Sequence[str]) -> dict[int, Frontier]:
        """Add the prices of pairs to orders of ``paired`` fragments; only their ends count now."""
        bits = {df: PAIRED << number for number, df in enumerate(paired)}
        parts: dict[int, list[tuple[Frontier, list[Choice]]]] = defaultdict(list)
        for visited, frontier in orders.items():
            met = sum(
                price
                for (df, other), price in self.prices.meetings.items()
                if visited & bits[df] and visited & bits[other]
            )
            parts[visited % PAIRED].append((frontier, [(0, 0, met)]))
        return {place: self.grown(alike) for place, alike in parts.items()}


def largest_values(
    instance: Instance,
    prices: OrderPrices,
    threshold: int | None,
    check: Callable[[], None] = lambda: None,
) -> list[int]:
    """Return for each CPU the largest value of any order of tasks that it can hold.

    Parameters
    ----------
    instance
        An instance with penalty f or g; releases and precedence are ignored.
    prices
        What adds to the value.
    threshold
        The most that an order may cost. None stands for value − scale · cost at any cost.
    check
        Called often; what it raises ends the work.

    Raises
    ------
    MethodError
        When the instance is too large for that.
    """
    kinds = _kinds(instance, prices)
    starts = starts_of(instance, kinds)
    cost = 2 * max(max(start.home_cost, start.away_cost) for start in starts)
    reach = sum(map(abs, [*prices.visits.values(), *prices.meetings.values()]))
    for kind in (kind for group in kinds.values() for kind in group):
        cost += kind.number * (kind.always + kind.exit + max(cost for cost, _ in kind.entries))
        reach += kind.number * (abs(kind.weight) + max(abs(charge) for _, charge in kind.entries))
        reach += sum(abs(price) for *_, price in kind.bonuses)
    program = Program(instance, prices, threshold, reach + prices.scale * cost, check)
    free = frozenset().union(*(start.free for start in starts))
    blocks = {df: program.blocks(df, group, free=df in free) for df, group in kinds.items()}
    largest = {start: program.largest(start, blocks) for start in set(starts)}
    return [largest[start] for start in starts]


def _kinds(instance: Instance, prices: OrderPrices) -> dict[str, list[Kind]]:
    """Return the kinds of task of each fragment.

    An order pays for one entry to a fragment at most, so that of a kind only the tasks that no
    other one beats in cost and charge of entering need be considered for it.
    """
    alike: dict[tuple[str, Kind], list[tuple[int, int, int]]] = defaultdict(list)
    costs = costs_of_tasks(instance)
    for number, (task, own) in enumerate(zip(instance.tasks, costs, strict=True)):
        kind = Kind(
            number=0,
            size=instance.size_of(task),
            weight=prices.weights[number],
            always=own.always,
            exit=own.exit,
            spared=own.spared,
            entries=(),
            bonuses=tuple(holding for holding in prices.holdings if number in holding[0]),
        )
        alike[task.df or "", kind].append((own.entry, prices.charges[number], task.multiplicity))
    counted = Counter(holding for _, kind in alike for holding in kind.bonuses)
    if any(number > 1 for number in counted.values()):
        raise UnprovenError("tasks that are counted together do not cost or weigh the same")
    kinds: dict[str, list[Kind]] = defaultdict(list)
    for (df, kind), tasks in alike.items():
        entries: list[tuple[int, int]] = []
        for entry, charge, _ in sorted(tasks):
            if not entries or charge < entries[-1][1]:
                entries.append((entry, charge))
        total = sum(number for *_, number in tasks)
        kinds[df].append(kind._replace(number=total, entries=tuple(entries)))
    return kinds
