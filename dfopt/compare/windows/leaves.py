"""Windows whose dispatches leave their fragments in different states.

The cost of a visit then depends on its first and its last dispatch, so numbers of dispatches are
not enough. The best order on one CPU is known (:mod:`dfopt.costs.closed_form`). The question left
is which dispatches each CPU runs. A packing by sizes comes first, then exchanges that lower the
cost, then the exact program (:mod:`dfopt.compare.windows.leaves_program`), then a local search of
fixed length.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dfopt.compare.windows.as_instance import instance_of, searched_locally
from dfopt.compare.windows.leaves_program import best_contents
from dfopt.compare.windows.leaves_window import LeavesWindow, lower_bound
from dfopt.compare.windows.uniform import placed
from dfopt.compare.windows.window import (
    DIRTY,
    FOREIGN,
    Cache,
    WindowProblem,
    WindowSchedule,
    canonical_order,
)
from dfopt.costs.closed_form import IMPOSSIBLE, Ends, best_ends
from dfopt.problem.instance import Instance
from dfopt.solvers.heuristics.contents import NOTHING, Contents, Part, PartCosts, Parts

ATTEMPTS = 12
"""At most 12 random orders of the fragments are tried besides the largest first."""

MOST_EXCHANGES = 3_000
"""At most 3,000 changes to the best packing are tried."""

NEVER = Ends(IMPOSSIBLE)
"""The cost of a position that a fragment must not take."""

Content = Mapping[int, int]
"""The dispatches that one CPU runs: class and number."""


class LeavesWindows:
    """Finds schedules of windows, quickly and mostly at the least cost.

    Parameters
    ----------
    most_steps
        The exact program gives up after this number of steps.
    effort
        Length of the local search, as a share of a whole one.
    """

    def __init__(self, *, most_steps: int, effort: float) -> None:
        self._most_steps = most_steps
        self._effort = effort

    def canonical(self, window: WindowProblem) -> list[int]:
        """Return the fragments in an order that does not depend on their names."""
        return canonical_order(window, window.fragments.__getitem__)

    def solve(self, window: WindowProblem) -> LeavesSchedule:
        """Return a good schedule; mostly it attains its bound."""
        leaves_window = LeavesWindow(window)
        costs = LeavesCosts(leaves_window)
        bound = lower_bound(leaves_window)
        contents = LeavesPacking(costs, bound).best()
        found = LeavesSchedule(
            leaves_costs=costs,
            parts=tuple(contents.parts),
            costs=tuple(contents.costs),
            cost=window.value(contents.costs),
            lower_bound=bound,
        )
        if not found.is_closed and not window.by_worst:
            found = found.improved(*best_contents(leaves_window, found.cost, self._most_steps))
        if not found.is_closed and not window.evicting:
            # No instance can demand that a task stays on its CPU.
            found = found.improved(*searched_locally(leaves_window.instance, self._effort))
        return found

    def instance(self, window: WindowProblem) -> Instance:
        """Return the instance whose schedules are those of a window."""
        return instance_of(window, window.fragments)

    def of_orders(
        self, window: WindowProblem, orders: Sequence[Sequence[int]], costs: Sequence[int]
    ) -> LeavesSchedule:
        """Return the best schedule in which CPUs run the classes of dispatches of these orders."""
        del costs
        leaves_costs = LeavesCosts(LeavesWindow(window))
        contents = Contents(leaves_costs, [Counter(order) for order in orders])
        return LeavesSchedule(
            leaves_costs=leaves_costs,
            parts=tuple(contents.parts),
            costs=tuple(contents.costs),
            cost=window.value(contents.costs),
            lower_bound=0,
        )


class LeavesCosts(PartCosts):
    """The costs of the CPUs in a window, those that run nothing included.

    Parameters
    ----------
    window
        The window to schedule.
    """

    def __init__(self, window: LeavesWindow) -> None:
        super().__init__(window.form)
        self.window = window

    def cost(self, cpu: int, parts: Parts) -> int:
        """Return the cost of a CPU that runs ``parts``."""
        return super().cost(cpu, parts) + self.window.evicted[cpu]

    def closer(self, cpu: int, parts: Parts, latest: Sequence[int]) -> tuple[int, int]:
        """Return the fragment and the class of the last dispatch in a cheapest order.

        Parameters
        ----------
        cpu, parts
            A CPU, and what it runs.
        latest
            For each fragment a number. Of several fragments that may come last, the one with the
            largest number does; a dispatch that evicts comes last only if nothing else may.
        """
        start = self.form.starts[cpu]
        blocks = {fragment: self._priced(part)[1] for fragment, part in parts.items()}
        least = best_ends(start, blocks).cost
        own = [fragment for fragment in blocks if fragment < len(latest)]
        foreign = [fragment for fragment in blocks if fragment >= len(latest)]
        for last in (*sorted(own, key=latest.__getitem__, reverse=True), *foreign):
            chosen = {
                fragment: roles if fragment == last else roles._replace(last=NEVER, split=NEVER)
                for fragment, roles in blocks.items()
            }
            arrangement = best_ends(start, chosen)
            closer = chosen[last][arrangement.roles[last]].closer
            if arrangement.cost == least and closer is not None:
                return last, closer
        raise AssertionError("some fragment comes last")


@dataclass(frozen=True, slots=True, kw_only=True)
class LeavesSchedule(WindowSchedule):
    """A schedule of a window.

    Parameters
    ----------
    leaves_costs
        The costs of CPUs.
    parts
        For each CPU, by fragment, the classes of its dispatches with their numbers, evicting ones
        included.
    """

    leaves_costs: LeavesCosts
    parts: tuple[Parts, ...]

    def improved(self, contents: Sequence[Content] | None, bound: int) -> LeavesSchedule:
        """Return the better of this schedule and other contents, with the better bound."""
        known = replace(self, lower_bound=max(self.lower_bound, bound))
        if contents is None:
            return known
        other = Contents(self.leaves_costs, contents)
        cost = self.leaves_costs.window.window.value(other.costs)
        if cost >= self.cost:
            return known
        return replace(known, parts=tuple(other.parts), costs=tuple(other.costs), cost=cost)

    def state_after(self, cpu: int, latest: Sequence[int]) -> Cache | None:
        """Return what a cache holds after the window; None if it holds what it held."""
        parts = self.parts[cpu]
        if not parts:
            return None
        fragment, closer = self.leaves_costs.closer(cpu, parts, latest)
        window = self.leaves_costs.window
        index = closer - window.numbers(fragment)[0][0]
        leaves = window.fragments[fragment][index].leaves
        return Cache(fragment if fragment < len(latest) else FOREIGN, leaves)

    def orders(self) -> tuple[tuple[int, ...], ...]:
        """Return for each CPU the classes of its dispatches in order, without evicting ones."""
        form = self.leaves_costs.form
        managed = sum(map(len, self.leaves_costs.window.window.fragments))
        contents = [
            {number: count for _, part in sorted(parts.items()) for number, count in part.items()}
            for parts in self.parts
        ]
        return tuple(
            tuple([number for number in form.order(cpu, content) if number < managed])
            for cpu, content in enumerate(contents)
        )


class LeavesPacking:
    """Packs a window by the sizes of its fragments, and then makes changes that lower the cost.

    Parameters
    ----------
    costs
        The costs of CPUs in the window.
    bound
        No schedule costs less.
    """

    def __init__(self, costs: LeavesCosts, bound: int) -> None:
        self._leaves_window = costs.window
        self._window = costs.window.window
        self._costs = costs
        self._bound = bound
        self._exchanges_left = MOST_EXCHANGES
        pinned = self._pinned = costs.window.pinned()
        self._rooms = [self._window.capacity + len(own) for own in pinned]

    def best(self) -> Contents:
        """Return a good schedule; mostly it attains the bound."""
        window, sizes = self._window, self._window.sizes
        largest_first = sorted(range(len(sizes)), key=lambda fragment: -sizes[fragment])
        source = random.Random(0)
        best = self._packed(largest_first)
        for _ in range(ATTEMPTS):
            if window.value(best.costs) <= self._bound:
                return best
            order = sorted(
                largest_first, key=lambda fragment: -sizes[fragment] * source.uniform(0.5, 2)
            )
            best = min(best, self._packed(order), key=lambda contents: self._rank(contents.costs))
        while window.value(best.costs) > self._bound and self._improve(best):
            pass
        return best

    def _rank(self, costs: Sequence[int]) -> tuple[int, int]:
        return self._window.value(costs), sum(costs)

    def _packed(self, order: Sequence[int]) -> Contents:
        visits = placed(self._window, order, by_worst=False)
        contents = [dict(own) for own in self._pinned]
        for fragment in order:
            cpus = [cpu for cpu, own in enumerate(visits) if fragment in own]
            amounts = [visits[cpu][fragment] for cpu in cpus]
            for cpu, share in zip(cpus, self._shares(fragment, amounts), strict=True):
                contents[cpu].update(share)
        return Contents(self._costs, contents)

    def _shares(self, fragment: int, amounts: Sequence[int]) -> list[Counter[int]]:
        """Return the visits of a fragment, each with a good dispatch to begin and to end with."""
        numbers = self._leaves_window.numbers(fragment)
        left = Counter(dict(numbers))
        shares: list[Counter[int]] = [Counter() for _ in amounts]
        classes = dict(zip(left, self._window.fragments[fragment], strict=True))
        closers = [number for number, (_, leaves, _) in classes.items() if leaves != DIRTY]

        def give(share: Counter[int], number: int, count: int) -> None:
            if count:
                share[number] += count
                left[number] -= count

        # Classes are in the order of their entry costs.
        for share in shares:
            give(share, next(number for number in left if left[number]), 1)
        for share, amount in zip(shares, amounts, strict=True):
            closer = next((number for number in reversed(closers) if left[number]), None)
            if closer is not None and amount > 1:
                give(share, closer, 1)
        for share, amount in zip(shares, amounts, strict=True):
            for number in left:
                give(share, number, min(left[number], amount - share.total()))
        return shares

    def _improve(self, contents: Contents) -> bool:
        """Make the first change that lowers the cost; return False where none is found."""
        for cpu in range(self._window.cpus):
            for part in self._parts(contents, cpu):
                for other in range(self._window.cpus):
                    if other == cpu:
                        continue
                    for lost, gained in self._exchanges(contents, part, other):
                        if self._pays(contents, cpu, other, lost, gained):
                            return True
                        self._exchanges_left -= 1
                        if self._exchanges_left <= 0:
                            return False
        return False

    def _parts(self, contents: Contents, cpu: int) -> list[Part]:
        """Return the parts of fragments that a CPU runs and may give away."""
        free = len(self._window.fragments)
        return [part for fragment, part in contents.parts[cpu].items() if fragment < free]

    def _exchanges(self, contents: Contents, part: Part, other: int) -> Iterator[tuple[Part, Part]]:
        """Yield the dispatches that a CPU may give of a part, and those it gets in exchange."""
        yield part, NOTHING
        for number in part:
            yield {number: 1}, NOTHING
        for another in self._parts(contents, other):
            yield part, another

    def _pays(self, contents: Contents, cpu: int, other: int, lost: Part, gained: Part) -> bool:
        """Exchange dispatches if that lowers the cost and there is room; return whether it did."""
        growth = sum(gained.values()) - sum(lost.values())
        if (
            contents.loads[cpu] + growth > self._rooms[cpu]
            or contents.loads[other] - growth > self._rooms[other]
        ):
            return False
        parts, cost = contents.priced(cpu, lost, gained)
        other_parts, other_cost = contents.priced(other, gained, lost)
        costs = list(contents.costs)
        costs[cpu], costs[other] = cost, other_cost
        if self._rank(costs) >= self._rank(contents.costs):
            return False
        contents.put(cpu, parts, cost, growth)
        contents.put(other, other_parts, other_cost, -growth)
        return True
