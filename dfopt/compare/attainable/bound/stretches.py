"""What visits cost at least, in a trace and a stretch of it, and the cheapest ways of CPUs.

The cost of a schedule is split into parts that do not overlap:

- a constant: ``always``, which all dispatches pay but the last ones of CPUs (and of the parts into
  which cuts of the recording divide them), and what evicting blocks pay for themselves. Under a
  matrix a dispatch of fragment b pays at least ``min over a of matrix[a, b]``;
- ``entry`` for each visit that follows another one, by its first dispatch;
- ``exit`` for each visit that is followed by another one, by its last dispatch;
- ``first`` and ``last`` for the first and the last visit of each CPU.

Evicting blocks are left out of the visits. That never raises what the visits cost: a dispatch
before a block pays its exit, one after it its entry, and without the block at most these.

Ways of CPUs are found at given prices. A CPU holds one fragment at each time, and pays for each
entry and each exit. For each priced condition x(u) + e(u, v] ≥ k it is rewarded if it holds the
fragment at u, and for each entry in (u, v]. For each priced service it is rewarded when it runs the
dispatch. Services do not overlap, neither each other nor blocks of the CPU, and none follows itself
directly.

Let U(t) be the rewards of a fragment's conditions with u < t, and V(t) those with v < t. A visit
that starts at s and ends at t is rewarded by U(t) - V(s). So a state is the *price* of the CPU
without U of the fragment that it holds now: it does not change while the CPU waits. Leaving the
fragment at time t adds the exit and subtracts U(t); entering another one adds its entry and V(t).
W(t) is the sum of these two.

It is enough to enter where W is about to rise, or where a service begins. And a service needs to
begin only when its dispatch becomes ready, when a block or the service before it ends, or where U
has risen or W has fallen: otherwise it could begin earlier, at the same price. Both need that no
entry is rewarded by more than it costs, U - V ≤ entry: then a visit that ends as soon as it begins
may be left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

import numpy as np

from dfopt.compare.attainable.bound.start_windows import Blocks, blocks_by_cpu, start_windows
from dfopt.compare.dispatches import Cuts, Dispatches, Rows
from dfopt.native.cpu_path import BLOCK, FRAGMENT, SERVICE, STEP, CheapestPath
from dfopt.native.library import Rows as Records
from dfopt.native.library import rows_of
from dfopt.structs import replace
from dfopt.trace.events import Columns, Integers
from dfopt.trace.trace import UNMANAGED

FORBIDDEN = 2**60
"""The cost of an entry where no visit can begin: more than all sums of other costs."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TraceStretch(Columns):
    """A stretch of time, and the dispatches that may start in it, as columns ordered by dispatch.

    Parameters
    ----------
    begin, end
        It is from ``begin`` to just before ``end``.
    blocks
        For each CPU its blocks in the stretch.
    constant
        What every schedule of the whole trace pays besides visits.
    unit
        What a schedule pays for any number of visits is a multiple of it.
    dispatch
        Rows of the :class:`~dfopt.compare.dispatches.Dispatches`.
    fragment
        Their fragments.
    first, last
        Each starts from ``first`` to ``last``, in every schedule within the limit.
    length
        The recorded length; not used by a bound that holds for all lengths.
    entry, exit
        What a visit costs at least that begins with the dispatch, or ends with it.
    opening, closing
        What the first visit of a CPU costs if it begins with it, and the last one if it ends with
        it; 0 where that is before or after the stretch.
    """

    begin: int
    end: int
    blocks: Blocks
    constant: int
    unit: int
    dispatch: Rows
    fragment: Integers
    first: Integers
    last: Integers
    length: Integers
    entry: Integers
    exit: Integers
    opening: Integers
    closing: Integers

    @property
    def seen_from(self) -> Integers:
        """Times at which a CPU holds the fragment, unless a visit to it starts after them.

        A dispatch without any length may end a visit at the very moment at which it is ready: it is
        looked at one unit of time before.
        """
        times: Integers = self.first - (self.length == 0)
        return times

    def part(self, begin: int, end: int) -> TraceStretch:
        """Return a part of the stretch."""
        first, last = self.first, self.last
        part = self.chosen((first < end) & (last >= begin))
        return replace(
            part,
            begin=begin,
            end=end,
            blocks=_blocks_within(self.blocks, begin, end),
            opening=part.opening * (begin <= first.min(initial=begin)),
            closing=part.closing * (end > last.max(initial=end - 1)),
        )

    def running(self, fragment: Integers, time: Integers) -> Integers:
        """Return how many dispatches of a fragment certainly run at a time: d ≤ t < r + p.

        Only those count that start in the stretch.
        """
        ends = self.first + self.length
        certain = (self.last < ends) & (self.first >= self.begin)
        count = np.zeros(len(time), np.int64)
        for number in np.unique(fragment):
            named, own = fragment == number, certain & (self.fragment == number)
            begun = np.searchsorted(np.sort(self.last[own]), time[named], "right")
            count[named] = begun - np.searchsorted(np.sort(ends[own]), time[named], "right")
        return count

    def least_entries(
        self, fragments: Integers, number: Rows, at: Integers, scale: int
    ) -> tuple[Integers, Rows, Integers]:
        """Return what entries cost at least.

        Parameters
        ----------
        fragments
            The fragments, in increasing order.
        number, at
            Points of fragments: the position of the fragment, and the time.
        scale
            The factor of all costs.

        Returns
        -------
        tuple
            The times of all points, in increasing order, with ``begin``, the time just before
            ``end``, and ``end``. Then the points in increasing order: the position of the fragment
            times the number of times, plus that of the time; each fragment has these three. And
            what an entry costs at least after each point until the next one, which is
            :data:`FORBIDDEN` where none may start.
        """
        edges = (self.begin, self.end - 1, self.end)
        times = np.unique([*edges, *at])
        ends = np.arange(len(fragments))[:, None] * len(times) + np.searchsorted(times, edges)
        inner = number * len(times) + np.searchsorted(times, at)
        points = np.unique(np.concatenate([ends.ravel(), inner]))
        rows = np.flatnonzero(np.isin(self.fragment, fragments))
        own = np.searchsorted(fragments, self.fragment[rows]) * len(times)
        first = np.searchsorted(times, np.maximum(self.first[rows], self.begin + 1))
        last = np.searchsorted(times, np.minimum(self.last[rows], self.end - 1))
        begin, end = np.searchsorted(points, own + first) - 1, np.searchsorted(points, own + last)
        least = np.full(len(points), FORBIDDEN)
        cost = self.entry[rows]
        cheapest_last = np.argsort(-cost, kind="stable")
        ranges = (column[cheapest_last].tolist() for column in (begin, end, cost * scale))
        for low, high, paid in zip(*ranges, strict=True):
            least[low:high] = paid
        return times, points, least


def whole_stretch(
    dispatches: Dispatches, wait: int, *, uses_lengths: bool, as_in_schedules: bool = True
) -> TraceStretch:
    """Return the whole time of a trace with at least one dispatch, under a waiting limit.

    Parameters
    ----------
    dispatches
        At least one.
    wait, uses_lengths, as_in_schedules
        As in :class:`~dfopt.compare.attainable.bound.proof.WaitingProof`.
    """
    costs, constant, unit = least_costs(dispatches)
    first, last = start_windows(
        dispatches, wait, uses_lengths=uses_lengths, as_in_schedules=as_in_schedules
    )
    cuts, length = dispatches.cuts.time, dispatches.length
    begin, end = int((first - (length == 0)).min()), int(last.max()) + 1
    return TraceStretch(
        begin=begin,
        end=end,
        blocks=_blocks_within(blocks_by_cpu(dispatches), begin, end),
        constant=constant,
        unit=unit,
        dispatch=np.arange(len(dispatches)),
        fragment=dispatches.fragment.astype(np.int64),
        first=first,
        last=last,
        length=length,
        entry=costs.entry,
        exit=costs.exit,
        # A cut may come before the first dispatch of a CPU, or after the last one.
        opening=costs.first * (cuts > first.min()).all(),
        closing=costs.last * (cuts <= last.max()).all(),
    )


def _blocks_within(blocks: Blocks, begin: int, end: int) -> Blocks:
    return tuple(
        (begins[inside], ends[inside])
        for begins, ends in blocks
        for inside in [(ends > begin) & (begins < end)]
    )


def least_costs(dispatches: Dispatches) -> tuple[Dispatches, int, int]:
    """Return what visits cost at least.

    Returns
    -------
    tuple
        The dispatches; ``entry`` is that of a visit which begins with the dispatch and follows
        another one, ``exit`` that of one which ends with it and is followed by another one, and
        ``first`` and ``last`` those of a CPU's first and last visits. Then what every schedule
        pays besides, and of what its visits together pay a multiple.
    """
    evicting = dispatches.fixed.chosen(dispatches.fixed.fragment == UNMANAGED)
    cuts = len(set(zip(dispatches.cuts.cpu.tolist(), dispatches.cuts.time.tolist(), strict=True)))
    none = np.zeros(len(dispatches), np.int64)
    # What evicts may come first or last on a CPU, where it pays nothing.
    first, last = (none, none) if len(evicting) else (dispatches.first, dispatches.last)
    free = dispatches.cpus + cuts
    if dispatches.matrix.size:
        always, entry, differences = _costs_of_matrix(dispatches)
        leaving = none
    else:
        always, entry, leaving = dispatches.always, dispatches.entry, dispatches.exit
        differences = none
        if (last >= always).all():
            # The last dispatch of a CPU pays `last`, which contains `always`.
            last = last - always
            free = cuts
    spared = np.sort(always)[max(0, len(always) - free) :]
    paid = (entry, leaving, first, last, differences)
    return (
        replace(dispatches, entry=entry, exit=leaving, first=first, last=last),
        int(always.sum()) - int(spared.sum()) + _own_costs(evicting, dispatches.cuts),
        gcd(*(int(np.gcd.reduce(costs)) for costs in paid)) or 1,
    )


def _costs_of_matrix(dispatches: Dispatches) -> tuple[Integers, Integers, Integers]:
    """Return what each dispatch pays at least, what an entry adds at least, and all differences."""
    used = np.unique(dispatches.fragment)
    matrix = dispatches.matrix[np.ix_(used, used)]
    always = matrix.min(axis=0)
    extra = matrix - always
    entry = np.zeros(len(used), np.int64)
    if len(used) > 1:
        others = ~np.eye(len(used), dtype=bool)
        entry = np.min(extra, axis=0, where=others, initial=np.iinfo(np.int64).max)
    column = np.searchsorted(used, dispatches.fragment)
    return always[column], entry[column], extra.ravel()


def _own_costs(evicting: Dispatches, cuts: Cuts) -> int:
    """Return what dispatches that are fixed and evict pay themselves between two of them."""
    total = 0
    for cpu in np.unique(evicting.cpu):
        own = evicting.chosen(evicting.cpu == cpu)
        part = np.searchsorted(cuts.time[cuts.cpu == cpu], own.start, "right")
        same = part[1:] == part[:-1]
        total += int(own.exit[:-1][same].sum() + own.entry[1:][same].sum())
    return total


class CpuPaths:
    """What visits cost in a stretch; costs are multiplied by a scale.

    The last position stands for all fragments without condition: a CPU may hold one of them first.

    Parameters
    ----------
    stretch
        The stretch.
    fragments
        The fragments that have conditions or services, in increasing order.
    conditions
        Rows ``CONDITION``; their fragments are positions among ``fragments``.
    scale
        The factor of all costs.

    Attributes
    ----------
    costs
        Rows ``FRAGMENT``: what an entry costs first, an exit, and the first and the last visit.
    changes
        Rows ``STEP``: when the least cost of an entry changes, of which fragment, by how much.
    """

    def __init__(
        self, stretch: TraceStretch, fragments: Integers, conditions: Records, scale: int
    ) -> None:
        self.stretch, self.fragments, self.conditions = stretch, fragments, conditions
        self.scale = scale
        rows = np.flatnonzero(np.isin(stretch.fragment, fragments))
        number = np.searchsorted(fragments, stretch.fragment[rows])
        changing = np.concatenate([stretch.first[rows] - 1, stretch.last[rows]])
        at = np.clip(changing, stretch.begin, stretch.end - 1)
        times, points, cost = stretch.least_entries(fragments, np.tile(number, 2), at, scale)
        # From a fragment's last points on there is no entry, so that nothing changes there.
        owner, position = np.divmod(points, len(times))
        is_first, step = position == 0, np.diff(cost, prepend=0)
        changes = np.flatnonzero(~is_first & (position < len(times) - 2) & (step != 0))

        def least(costs: Integers) -> Integers:
            found = np.full(len(fragments) + 1, FORBIDDEN)
            np.minimum.at(found, number, costs[rows] * scale)
            found[-1] = 0
            return found

        leaving = least(stretch.exit)
        self.costs = rows_of(
            FRAGMENT,
            entry=np.append(cost[is_first], FORBIDDEN),
            leaving=leaving,
            first=least(stretch.opening),
            # A CPU may also end with a fragment that has no condition.
            last=np.minimum(least(stretch.closing), leaving),
        )
        self.changes = rows_of(
            STEP, time=times[position[changes]] + 1, fragment=owner[changes], entry=step[changes]
        )
        of_conditions = (
            rows_of(STEP, time=conditions[edge] + 1, fragment=conditions["fragment"])
            for edge in ("begin", "end")
        )
        steps = np.concatenate([self.changes, *of_conditions])
        order = np.argsort(steps["time"], kind="stable")
        self._steps = steps[order]
        # Where the steps of each condition have come to stand, at its begin and at its end.
        places = np.empty_like(order)
        places[order] = np.arange(len(order))
        self._begins, self._ends = places[len(self.changes) :].reshape(2, -1)

    def proven(self, prices: Integers, services: Rows, rewards: Integers) -> tuple[int, Integers]:
        """Return what prices prove, times the scale, and what the cheapest paths meet.

        Parameters
        ----------
        prices
            The price of each condition.
        services, rewards
            Rows of the stretch that CPUs run, in the order of ``first``, and the price for each.

        Returns
        -------
        tuple
            A lower bound, and how often each condition is met, and then each service.
        """
        stretch, counts = self.stretch, self.conditions["count"]
        steps = self._steps.copy()
        steps["seen"][self._begins] = steps["entry"][self._ends] = prices
        steps = steps[(steps["seen"] != 0) | (steps["entry"] != 0)]
        of_services = rows_of(
            SERVICE,
            fragment=np.searchsorted(self.fragments, stretch.fragment[services]),
            earliest=stretch.first[services],
            latest=stretch.last[services],
            length=stretch.length[services],
            reward=rewards,
        )
        # CPUs with the same blocks have the same path; without services, blocks do not matter.
        alike: dict[bytes, list[Records]] = {}
        for begin, end in stretch.blocks:
            blocks = rows_of(BLOCK, begin=begin, end=end)
            key = blocks.tobytes() if len(services) else b""
            alike.setdefault(key, []).append(blocks)
        # 64 bits hold the sum of prices, but not how often each is required.
        value = int(rewards.sum())
        for count in np.unique(counts):
            value += int(count) * int(prices[counts == count].sum())
        met = np.zeros(len(prices) + len(rewards), np.int64)
        for same in alike.values():
            path = CheapestPath(of_services, steps, self.costs, same[0], self.conditions)
            value += len(same) * path.price()
            met += len(same) * path.met()
        return value, met
