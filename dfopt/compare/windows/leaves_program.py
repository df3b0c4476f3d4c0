"""The best schedule of a window whose dispatches leave their fragments in different states.

A dynamic program over the fragments. A state holds only the number of dispatches on each CPU, and
what stands at the two ends of its order. So there are few states. Most of them are dropped, because
they cannot lead to a lower cost than a known one (bounding, as in branch and bound).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from math import comb, prod
from typing import NamedTuple

from dfopt.compare.windows.leaves_window import LeavesWindow, Needs, lower_bound
from dfopt.costs.closed_form import Roles
from dfopt.costs.role import Role

STEPS_PER_DEALING = 5
"""Looking at one way to deal a fragment counts as 5 steps."""

MOST_DEALINGS = 500
"""A fragment that can be dealt in more than 500 ways is only taken as a whole."""

USED = 8
"""The bit, besides those of roles, that says that the CPU runs something."""

FIRST_TAKEN = Role.FIRST | Role.ALONE
LAST_TAKEN = Role.LAST | Role.ALONE

Contents = tuple[dict[int, int], ...]
"""For each CPU the dispatches that it runs: class and number."""

Key = tuple[tuple[int, int], ...]
"""For each CPU the number of dispatches that it runs, and the bits of the roles taken there."""

Share = tuple[int, int, list[tuple[Role, int]]]
"""CPU, number of dispatches, and the roles that they can take, each with its cost."""


class TooManySteps(Exception):  # noqa: N818 - the program gives up, which is no error
    """The program needs more steps than it may take."""


class _Transition(NamedTuple):
    cost: int
    before: Key
    dealing: Contents


def best_contents(window: LeavesWindow, known: int, most_steps: int) -> tuple[Contents | None, int]:
    """Return a schedule that costs less than a known one, all CPUs together, and a bound.

    Parameters
    ----------
    window
        The window to schedule.
    known
        The cost of the best schedule so far.
    most_steps
        Each of two attempts gives up after this number of steps.

    Returns
    -------
    contents : Contents or None
        None where none was found.
    bound : int
        No schedule costs less; 0 where the program gave up.
    """
    contents: Contents | None = None
    bound = 0
    # First keep fragments whole: a fragment that is cut costs one more visit, so this is mostly
    # enough.
    for most_dealings in (0, MOST_DEALINGS):
        program = LeavesProgram(window, known, most_dealings, most_steps)
        try:
            known, better = program.run()
        except TooManySteps:
            continue
        contents = better or contents
        bound = known
        if program.kept:
            bound = min(known, lower_bound(window, cut=program.kept))
        if bound == known:
            break
    return contents, bound


class LeavesProgram:
    """Looks for the cheapest schedule of a window, all CPUs together.

    Parameters
    ----------
    window
        The window to schedule.
    known
        The cost of a schedule; only cheaper ones are looked for.
    most_dealings
        A fragment that can be dealt in more ways is only taken as a whole, if a CPU has room.
    most_steps
        It gives up after this number of steps.

    Attributes
    ----------
    kept
        The fragments that were only taken as a whole.
    """

    def __init__(
        self,
        window: LeavesWindow,
        known: int,
        most_dealings: int,
        most_steps: int,
    ) -> None:
        self._window = window
        self._form = window.form
        self._known = known
        self._most_dealings = most_dealings
        self._steps_left = most_steps
        sizes, problem = window.sizes, window.window
        self._capacity = problem.capacity
        self._order = sorted(range(len(sizes)), key=lambda fragment: -sizes[fragment])
        self._position = {fragment: position for position, fragment in enumerate(self._order)}
        self._needs = Needs(window, self._order)
        self._cpus = problem.cpus
        self._idle = window.idle
        states = problem.states
        self._twins = [
            cpu
            for cpu in range(1, problem.cpus)
            if states[cpu] == states[cpu - 1] and not window.evicting_cpus & {cpu - 1, cpu}
        ]
        self.kept: list[int] = []

    def run(self) -> tuple[int, Contents | None]:
        """Return the least cost and its schedule; the known cost and None if none is cheaper.

        Raises
        ------
        TooManySteps
            When it would take too long.
        """
        layers: list[dict[Key, _Transition]] = []
        always = self._needs.always + sum(self._window.evicted)
        paid: dict[Key, int] = {((0, 0),) * self._cpus: always}
        for position, fragment in enumerate(self._order):
            found: dict[Key, _Transition] = {}
            tolls = self._tolls(position + 1)
            for dealing, shares in self._dealings(fragment):
                for key, before in paid.items():
                    self._count(1)
                    for new, cost in self._after(key, shares):
                        self._count(1)
                        total = before + cost
                        if (new not in found or total < found[new].cost) and (
                            total + self._rest(position + 1, tolls, new) < self._known
                        ):
                            found[new] = _Transition(total, key, dealing)
            layers.append(found)
            paid = {key: step.cost for key, step in found.items()}
        ends = {key: cost + self._ended(key) for key, cost in paid.items() if _has_ends(key)}
        best = min(ends, key=ends.__getitem__, default=None)
        if best is None or ends[best] >= self._known:
            return self._known, None
        return ends[best], self._contents(layers, best)

    def _count(self, steps: int) -> None:
        self._steps_left -= steps
        if self._steps_left < 0:
            raise TooManySteps

    def _contents(self, layers: Sequence[dict[Key, _Transition]], key: Key) -> Contents:
        contents: list[dict[int, int]] = [{} for _ in range(self._cpus)]
        for layer in reversed(layers):
            _, key, dealing = layer[key]
            for own, share in zip(contents, dealing, strict=True):
                own.update(share)
        return tuple(contents)

    def _after(self, key: Key, shares: Sequence[Share]) -> Iterator[tuple[Key, int]]:
        """Yield the states after a fragment is dealt in these shares, each with its cost."""
        options = []
        for cpu, amount, roles in shares:
            load, taken = key[cpu]
            if load + amount > self._capacity or taken & Role.ALONE:
                return
            options.append(
                [
                    (cpu, (load + amount, taken | role | USED), cost)
                    for role, cost in roles
                    if not (taken & role or (role == Role.ALONE and taken))
                ]
            )
        for chosen in product(*options):
            new = list(key)
            paid = 0
            for cpu, state, cost in chosen:
                new[cpu] = state
                paid += cost
            if self._is_tidy(new):
                yield tuple(new), paid

    def _is_tidy(self, key: Sequence[tuple[int, int]]) -> bool:
        """Whether, among CPUs that begin alike, the first ones are used."""
        return all(key[cpu - 1][1] or not key[cpu][1] for cpu in self._twins)

    def _dealings(self, fragment: int) -> Iterator[tuple[Contents, list[Share]]]:
        """Yield the ways to deal a fragment, but only one of those that cost the same."""
        home = self._window.homes[fragment]
        seen = set()
        for dealing in self._all_dealings(fragment, home):
            self._count(STEPS_PER_DEALING)
            roles = [self._form.roles(list(share.items())) if share else None for share in dealing]
            amounts = [sum(share.values()) for share in dealing]
            key = tuple(
                (amount, own and tuple(ends.cost for ends in own))
                for amount, own in zip(amounts, roles, strict=True)
            )
            if max(amounts) > self._capacity or key in seen:
                continue
            seen.add(key)
            # A dispatch that evicts needs no room.
            needed = amounts if home is None else [0] * self._cpus
            yield (
                dealing,
                [
                    (cpu, amount, self._roles(cpu, fragment, own))
                    for cpu, (amount, own) in enumerate(zip(needed, roles, strict=True))
                    if own
                ],
            )

    def _all_dealings(self, fragment: int, home: int | None) -> Iterable[Contents]:
        cpus = self._cpus
        numbers = self._window.numbers(fragment)
        if home is not None:
            yield tuple([dict(numbers) if cpu == home else {} for cpu in range(cpus)])
            return
        ways = prod(comb(count + cpus - 1, cpus - 1) for _, count in numbers)
        is_cut = self._window.sizes[fragment] > self._capacity
        if ways > (MOST_DEALINGS if is_cut else self._most_dealings):
            if is_cut:
                raise TooManySteps
            self.kept.append(fragment)
            for whole in range(cpus):
                yield tuple([dict(numbers) if cpu == whole else {} for cpu in range(cpus)])
            return
        for split in product(*(list(_compositions(count, cpus)) for _, count in numbers)):
            yield tuple(
                [
                    {
                        number: amounts[cpu]
                        for (number, _), amounts in zip(numbers, split, strict=True)
                        if amounts[cpu]
                    }
                    for cpu in range(cpus)
                ]
            )

    def _roles(self, cpu: int, fragment: int, roles: Roles) -> list[tuple[Role, int]]:
        """Return the roles that a fragment can take on a CPU, each with its cost."""
        options = [Role.MIDDLE, Role.LAST]
        if self._form.starts[cpu].spares_entry(fragment):
            options += [Role.FIRST, Role.ALONE, Role.SPLIT]
        return [(role, roles[role].cost) for role in options]

    def _tolls(self, position: int) -> list[tuple[int, int, int]]:
        """Return the least cost of what each CPU holds, with the fragments before a position dealt.

        A CPU has three costs: if it runs nothing yet, if its first entry is not spared yet, and if
        it is spared.
        """
        tolls = []
        for start, idle in zip(self._form.starts, self._idle, strict=True):
            arrival, departure = start.tolls
            own = start.free_fragment
            begun = arrival if own is not None and self._position[own] >= position else departure
            tolls.append((min(begun, idle), begun, arrival))
        return tolls

    def _rest(self, position: int, tolls: Sequence[tuple[int, int, int]], key: Key) -> int:
        """Return the least cost of the fragments from a position on, and of beginnings."""
        free = lasts = paid = 0
        for (_, taken), toll, start in zip(key, tolls, self._form.starts, strict=True):
            if taken & FIRST_TAKEN:
                paid += toll[2]
            else:
                paid += toll[1] if taken else toll[0]
                free += start.free_for_all
            if not taken & LAST_TAKEN:
                lasts += 1
        return paid + self._needs.least(position, free, lasts)

    def _ended(self, key: Key) -> int:
        """Return the cost of what the CPUs hold in the beginning."""
        return sum(
            start.tolls[not taken & FIRST_TAKEN] if taken else idle
            for (_, taken), start, idle in zip(key, self._form.starts, self._idle, strict=True)
        )


def _has_ends(key: Key) -> bool:
    """Whether it is known what comes last on every CPU that runs something."""
    return all(taken & LAST_TAKEN for _, taken in key if taken)


def _compositions(count: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Yield all ways to write a count as a sum of ``parts`` terms."""
    if parts == 1:
        yield (count,)
        return
    for own in range(count + 1):
        for others in _compositions(count - own, parts - 1):
            yield own, *others
