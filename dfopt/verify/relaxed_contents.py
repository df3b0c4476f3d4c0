"""The most value that one CPU can hold, where a relaxation is enough for a proof.

So instances of any size can be checked. **By visits**, under g: a CPU pays T_r + T_w for each
visit. So a threshold limits the number of fragments that it visits (without one, each has to be
worth that), and of each it holds at most what fits. That neglects that all its tasks together must
fit. **By costs**: a CPU pays for each task what that costs anywhere, and for each visit the least
entry and exit. But its first entry may be free, and nothing may be written back at its end. So the
value is at most that of a continuous knapsack of tasks and visits (Dantzig 1957).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache

from dfopt.problem.instance import Instance
from dfopt.problem.penalties import PenaltyG
from dfopt.verify.block_costs import Start, costs_of_tasks, starts_of, write_back_of

Holding = tuple[frozenset[int], int, int]
"""Entries of ``instance.tasks``, a number of tasks, and the price of at least that number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderPrices:
    """What adds to the value of an order.

    Parameters
    ----------
    weights, charges
        Of each entry of ``instance.tasks``: its weight, and the charge where its entry is paid.
    visits
        Price of a visit to a fragment.
    meetings
        Price of visits to both of two fragments.
    holdings
        OrderPrices of holding at least some number of tasks.
    scale
        The value of a unit of cost, where costs have no threshold.
    """

    weights: Sequence[int]
    charges: Sequence[int]
    visits: Mapping[str, int] = field(default_factory=dict)
    meetings: Mapping[tuple[str, str], int] = field(default_factory=dict)
    holdings: Sequence[Holding] = ()
    scale: int = 1


Item = tuple[int, int, int]
"""What each is worth, its size or cost, and how many there are."""


def relaxed_values(
    instance: Instance, prices: OrderPrices, threshold: int | None
) -> Iterator[list[int]]:
    """Yield for each CPU values that no order within the threshold exceeds."""
    # Charges only take away if none is negative.
    if prices.meetings or prices.holdings or min(prices.charges, default=0) < 0:
        return
    penalty = instance.penalty
    if isinstance(penalty, PenaltyG) and penalty.fill + penalty.write_back:
        yield _by_visits(instance, prices, threshold, penalty.fill + penalty.write_back)
    yield _by_costs(instance, prices, threshold)


def _by_visits(
    instance: Instance, prices: OrderPrices, threshold: int | None, visit: int
) -> list[int]:
    """Return what follows from the number of visits alone, under g."""
    alike: dict[str, list[Item]] = defaultdict(list)
    for task, size, weight in zip(instance.tasks, instance.sizes, prices.weights, strict=True):
        alike[task.df or ""].append((weight, size, task.multiplicity))
    room = instance.room
    values = sorted(
        (max(0, _largest(tasks, room) + prices.visits.get(df, 0)) for df, tasks in alike.items()),
        reverse=True,
    )
    if threshold is None:
        paid = prices.scale * visit
        rest = sum(max(0, value - paid) for value in values)
        by_spared = [rest, rest + min(paid, max(values, default=0))]
    else:
        by_spared = [sum(values[: threshold // visit + spared]) for spared in (0, 1)]
    return [by_spared[bool(start.free)] for start in starts_of(instance, alike)]


def _by_costs(instance: Instance, prices: OrderPrices, threshold: int | None) -> list[int]:
    """Return what follows from the costs of single tasks and visits."""
    items: list[Item] = []
    entries: dict[str, int] = {}
    exits: dict[str, int] = {}
    rows = zip(instance.tasks, costs_of_tasks(instance), prices.weights, strict=True)
    for task, own, weight in rows:
        items.append((weight, own.always, task.multiplicity))
        df = task.df or ""
        entries[df] = min(own.entry, entries.get(df, own.entry))
        exits[df] = min(own.exit, exits.get(df, own.exit))
    items += [(price, entries[df] + exits[df], 1) for df, price in prices.visits.items()]
    spared = 0 if instance.final_write_back else write_back_of(instance)

    def most(cost: int) -> int:
        if threshold is not None:
            return _largest(items, threshold + cost)
        values = (number * max(0, worth - prices.scale * paid) for worth, paid, number in items)
        return sum(values) + prices.scale * cost

    @cache
    def with_start(start: Start) -> int:
        # A visit that is free is paid for by nothing, or is worth something on top.
        dear = most(spared + max((entries[df] for df in start.free), default=0))
        return min(dear, most(spared) + max((0, *(prices.visits.get(df, 0) for df in start.free))))

    return [with_start(start) for start in starts_of(instance, entries)]


def _largest(items: Iterable[Item], room: int) -> int:
    """Return what fits into some room is worth at most; the last item may be cut."""

    def by_worth(item: Item) -> tuple[bool, Fraction]:
        worth, size, _ = item
        return not size, Fraction(worth, size or 1)

    value = 0
    for worth, size, number in sorted(items, key=by_worth, reverse=True):
        if worth <= 0 and size:
            break
        if not size:
            value += max(0, worth) * number
        else:
            taken = min(room, size * number)
            value += worth * taken // size
            room -= taken
    return value
