"""Quick schedules of windows whose dispatches leave their fragments in different states."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence

from dfopt.compare.mixed_window import MixedWindow
from dfopt.compare.packing import placed
from dfopt.compare.problem import WindowProblem
from dfopt.costs.closed_form import IMPOSSIBLE, ClosedForm, Ends, best_ends
from dfopt.problem.cache_state import Leaves
from dfopt.solvers.contents import NOTHING, Contents, Part, PartCosts, Parts

ATTEMPTS = 12
"""So many orders of the fragments are tried besides the largest first."""

MOST_EXCHANGES = 3_000
"""So many changes to the best of them are tried."""

NEVER = Ends(IMPOSSIBLE)
"""What it costs where a fragment must not stand."""


class WindowCosts(PartCosts):
    """What CPUs pay in a window, those that run nothing included."""

    def __init__(self, window: MixedWindow, form: ClosedForm) -> None:
        super().__init__(form)
        self._window = window

    def cost(self, cpu: int, parts: Parts) -> int:
        """Return what a CPU pays for ``parts``."""
        return super().cost(cpu, parts) if parts else self._window.idle(cpu)

    def last(self, cpu: int, parts: Parts, latest: Sequence[int]) -> int:
        """Return which kind comes last in a cheapest order; of several, one used latest.

        Parameters
        ----------
        cpu, parts
            A CPU, and what it runs.
        latest
            For each fragment the later the greater.
        """
        start = self.form.starts[cpu]
        blocks = {fragment: self._priced(part)[1] for fragment, part in parts.items()}
        least = best_ends(start, blocks).cost
        for last in sorted(blocks, key=latest.__getitem__, reverse=True):
            chosen = {
                fragment: roles if fragment == last else roles._replace(last=NEVER, split=NEVER)
                for fragment, roles in blocks.items()
            }
            choice = best_ends(start, chosen)
            closer = chosen[last][choice.roles[last]].closer
            if choice.cost == least and closer is not None:
                return closer
        raise AssertionError("some fragment comes last")


class MixedPacking:
    """Packs a window by the sizes of its fragments, and then makes changes that pay.

    Parameters
    ----------
    window
        What is scheduled.
    costs
        What CPUs pay.
    bound
        No schedule costs less.
    """

    def __init__(self, window: MixedWindow, costs: WindowCosts, bound: int) -> None:
        self._window = window
        self._costs = costs
        self._bound = bound
        self._left = MOST_EXCHANGES
        self._problem = WindowProblem(
            capacity=window.capacity,
            sizes=window.sizes,
            entries=tuple((kinds[0][0],) for kinds in window.fragments),
            exit=window.write_back,
            states=tuple(state if isinstance(state, int) else state[0] for state in window.states),
        )

    def best(self) -> Contents:
        """Return a good schedule; mostly it attains the bound."""
        sizes = self._window.sizes
        largest_first = sorted(range(len(sizes)), key=lambda one: -sizes[one])
        source = random.Random(0)
        best = self._packed(largest_first)
        for _ in range(ATTEMPTS):
            if self._window.value(best.costs) <= self._bound:
                return best
            order = sorted(largest_first, key=lambda one: -sizes[one] * source.uniform(0.5, 2))
            best = min(best, self._packed(order), key=lambda one: self._rank(one.costs))
        while self._window.value(best.costs) > self._bound and self._improve(best):
            pass
        return best

    def _rank(self, costs: Sequence[int]) -> tuple[int, int]:
        return self._window.value(costs), sum(costs)

    def _packed(self, order: Sequence[int]) -> Contents:
        visits = placed(self._problem, order)
        held: list[dict[int, int]] = [{} for _ in visits]
        for fragment in order:
            cpus = [cpu for cpu, own in enumerate(visits) if fragment in own]
            amounts = [visits[cpu][fragment] for cpu in cpus]
            for cpu, share in zip(cpus, self._shares(fragment, amounts), strict=True):
                held[cpu].update(share)
        return Contents(self._costs, held)

    def _shares(self, fragment: int, amounts: Sequence[int]) -> list[Counter[int]]:
        """Deal a fragment to its visits, each with a good dispatch to begin and one to end with."""
        left = Counter(dict(self._window.numbers(fragment)))
        shares: list[Counter[int]] = [Counter() for _ in amounts]
        kinds = dict(zip(left, self._window.fragments[fragment], strict=True))
        closers = [number for number, (_, leaves, _) in kinds.items() if leaves is not Leaves.DIRTY]

        def give(share: Counter[int], number: int, count: int) -> None:
            if count:
                share[number] += count
                left[number] -= count

        # Kinds are in the order of what it costs to enter with them.
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
        """Make the first change that pays; False where none is found."""
        for cpu, parts in enumerate(contents.parts):
            for part in parts.values():
                for other in range(len(contents.parts)):
                    if other == cpu:
                        continue
                    for lost, gained in self._exchanges(contents, part, other):
                        if self._pays(contents, cpu, other, lost, gained):
                            return True
                        self._left -= 1
                        if self._left <= 0:
                            return False
        return False

    def _exchanges(self, contents: Contents, part: Part, other: int) -> Iterator[tuple[Part, Part]]:
        """Yield what a CPU may give of a part to another one, and what it gets for that."""
        yield part, NOTHING
        for number in part:
            yield {number: 1}, NOTHING
        for another in contents.parts[other].values():
            yield part, another

    def _pays(self, contents: Contents, cpu: int, other: int, lost: Part, gained: Part) -> bool:
        """Exchange tasks if that makes the schedule cheaper and there is room."""
        growth = sum(gained.values()) - sum(lost.values())
        most = self._window.capacity
        if contents.loads[cpu] + growth > most or contents.loads[other] - growth > most:
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
