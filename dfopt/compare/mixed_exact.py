"""The best schedule of a window whose dispatches leave their fragments in different states.

A dynamic program over the fragments. Of what was dealt so far only this matters: how many
dispatches each CPU runs, and what stands at the ends of its order. So states are few, and most of
them are dropped because they cannot lead below a cost that is known already.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from math import comb, prod
from typing import NamedTuple

from dfopt.compare.mixed_window import Held, MixedWindow, Needs, lower_bound
from dfopt.costs.closed_form import ClosedForm, Roles

STEPS_PER_DEALING = 5
"""To look at a way to deal a fragment takes as long as so many steps."""

MOST_DEALINGS = 500
"""A fragment that can be dealt in more ways is only taken as a whole."""

FIRST, LAST, ONLY = 1, 2, 4
"""What stands at the ends of a CPU's order already; ``ONLY``: nothing else may come."""

Key = tuple[tuple[int, int], ...]
"""For each CPU how many dispatches it runs, and what stands at its ends."""

Dealing = tuple[dict[int, int], ...]
"""For each CPU how many dispatches it gets of which kinds of a fragment."""

Place = tuple[int, int, list[tuple[int, int]]]
"""CPU, number of dispatches, and what they take of its ends at what cost."""


class TooManySteps(Exception):  # noqa: N818 - the program gives up, which is no error
    """There are more steps than are worth their time."""


class _Step(NamedTuple):
    cost: int
    before: Key
    dealing: Dealing


def best_held(
    window: MixedWindow, form: ClosedForm, known: int, most_steps: int
) -> tuple[Held | None, int]:
    """Return a schedule that costs less than a known one, all CPUs together, and a bound.

    Parameters
    ----------
    window
        What is scheduled.
    form
        The best orders.
    known
        What the best schedule so far costs.
    most_steps
        After so many it gives up, twice.

    Returns
    -------
    held : Held or None
        None where none was found.
    bound : int
        No schedule costs less; 0 where too much would have to be looked at.
    """
    held: Held | None = None
    bound = 0
    # Mostly it is enough to keep fragments whole: whatever is cut costs one more visit.
    for most_dealings in (0, MOST_DEALINGS):
        program = MixedProgram(window, form, known, most_dealings, most_steps)
        try:
            known, better = program.run()
        except TooManySteps:
            continue
        held = better or held
        bound = known
        if program.kept:
            bound = min(known, lower_bound(window, cut=program.kept))
        if bound == known:
            break
    return held, bound


class MixedProgram:
    """Looks for the cheapest schedule of a window, all CPUs together.

    Parameters
    ----------
    window
        What is scheduled.
    form
        The best orders.
    known
        The cost of a schedule; only cheaper ones are looked for.
    most_dealings
        A fragment that can be dealt in more ways is only taken as a whole, if a CPU has room.
    most_steps
        After so many it gives up.

    Attributes
    ----------
    kept
        The fragments that were only taken as a whole.
    """

    def __init__(
        self,
        window: MixedWindow,
        form: ClosedForm,
        known: int,
        most_dealings: int,
        most_steps: int,
    ) -> None:
        self._window = window
        self._form = form
        self._known = known
        self._most_dealings = most_dealings
        self._steps_left = most_steps
        self._order = sorted(range(len(window.sizes)), key=lambda one: -window.sizes[one])
        self._place = {fragment: place for place, fragment in enumerate(self._order)}
        self._needs = Needs(window, self._order)
        self._idle = [window.idle(cpu) for cpu in range(len(window.states))]
        states = window.states
        self._twins = [cpu for cpu in range(1, len(states)) if states[cpu] == states[cpu - 1]]
        self.kept: list[int] = []

    def run(self) -> tuple[int, Held | None]:
        """Return what the best schedule costs that is looked at, and itself if it is new.

        Raises
        ------
        TooManySteps
            When it would take too long.
        """
        window = self._window
        layers: list[dict[Key, _Step]] = []
        paid: dict[Key, int] = {((0, 0),) * len(window.states): self._needs.always}
        for place, fragment in enumerate(self._order):
            found: dict[Key, _Step] = {}
            tolls = self._tolls(place + 1)
            for dealing, places in self._dealings(fragment):
                for key, before in paid.items():
                    self._count(1)
                    for new, cost in self._after(key, places):
                        self._count(1)
                        total = before + cost
                        if (new not in found or total < found[new].cost) and (
                            total + self._rest(place + 1, tolls, new) < self._known
                        ):
                            found[new] = _Step(total, key, dealing)
            layers.append(found)
            paid = {key: step.cost for key, step in found.items()}
        ends = {key: cost + self._ended(key) for key, cost in paid.items() if _has_ends(key)}
        best = min(ends, key=ends.__getitem__, default=None)
        if best is None or ends[best] >= self._known:
            return self._known, None
        return ends[best], self._held(layers, best)

    def _count(self, steps: int) -> None:
        self._steps_left -= steps
        if self._steps_left < 0:
            raise TooManySteps

    def _held(self, layers: Sequence[dict[Key, _Step]], key: Key) -> Held:
        held: list[dict[int, int]] = [{} for _ in self._window.states]
        for layer in reversed(layers):
            _, key, dealing = layer[key]
            for own, share in zip(held, dealing, strict=True):
                own.update(share)
        return tuple(held)

    def _after(self, key: Key, places: Sequence[Place]) -> Iterator[tuple[Key, int]]:
        """Yield what each CPU runs when it has got its part of a fragment, and at what cost."""
        options = []
        for cpu, amount, roles in places:
            load, ends = key[cpu]
            if load + amount > self._window.capacity or ends & ONLY:
                return
            options.append(
                [
                    (cpu, (load + amount, ends | taken), cost)
                    for taken, cost in roles
                    if not (ends & taken or (taken & ONLY and load))
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
        """Whether of CPUs that begin alike the first ones are used."""
        return all(key[cpu - 1][0] or not key[cpu][0] for cpu in self._twins)

    def _dealings(self, fragment: int) -> Iterator[tuple[Dealing, list[Place]]]:
        """Yield the ways to deal a fragment, but only one of those that cost the same."""
        seen = set()
        for dealing in self._all_dealings(fragment):
            self._count(STEPS_PER_DEALING)
            roles = [self._form.roles(list(share.items())) if share else None for share in dealing]
            amounts = [sum(share.values()) for share in dealing]
            key = tuple(
                (amount, one and tuple(ends.cost for ends in one))
                for amount, one in zip(amounts, roles, strict=True)
            )
            if max(amounts) > self._window.capacity or key in seen:
                continue
            seen.add(key)
            yield (
                dealing,
                [
                    (cpu, amount, self._roles(cpu, fragment, one))
                    for cpu, (amount, one) in enumerate(zip(amounts, roles, strict=True))
                    if one
                ],
            )

    def _all_dealings(self, fragment: int) -> Iterable[Dealing]:
        cpus = len(self._window.states)
        numbers = self._window.numbers(fragment)
        ways = prod(comb(count + cpus - 1, cpus - 1) for _, count in numbers)
        is_cut = self._window.sizes[fragment] > self._window.capacity
        if ways > (MOST_DEALINGS if is_cut else self._most_dealings):
            if is_cut:
                raise TooManySteps
            self.kept.append(fragment)
            for cpu in range(cpus):
                yield tuple([dict(numbers) if one == cpu else {} for one in range(cpus)])
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

    def _roles(self, cpu: int, fragment: int, roles: Roles) -> list[tuple[int, int]]:
        """Return what a part can take of its CPU's ends, and what that costs."""
        options = [(0, roles.middle.cost), (LAST, roles.last.cost)]
        if self._form.starts[cpu].spares_entry(fragment):
            options += [
                (FIRST, roles.first.cost),
                (FIRST | LAST | ONLY, roles.alone.cost),
                (FIRST | LAST, roles.split.cost),
            ]
        return options

    def _tolls(self, place: int) -> list[tuple[int, int, int]]:
        """Return what each CPU pays at least for what it holds, the fragments up to a place dealt.

        That is if it runs nothing yet, if its first entry is not spared yet, and if it is.
        """
        tolls = []
        for start, idle in zip(self._form.starts, self._idle, strict=True):
            arrival, departure = start.tolls
            own = start.free_fragment
            begun = arrival if own is not None and self._place[own] >= place else departure
            tolls.append((min(begun, idle), begun, arrival))
        return tolls

    def _rest(self, place: int, tolls: Sequence[tuple[int, int, int]], key: Key) -> int:
        """Return what is paid at least for the fragments from a place on, and for beginnings."""
        free = lasts = paid = 0
        for (load, ends), toll, start in zip(key, tolls, self._form.starts, strict=True):
            if ends & FIRST:
                paid += toll[2]
            else:
                paid += toll[1] if load else toll[0]
                free += start.free_for_all
            if not ends & LAST:
                lasts += 1
        return paid + self._needs.least(place, free, lasts)

    def _ended(self, key: Key) -> int:
        """Return what CPUs pay for what they hold in the beginning."""
        return sum(
            start.tolls[not ends & FIRST] if load else idle
            for (load, ends), start, idle in zip(key, self._form.starts, self._idle, strict=True)
        )


def _has_ends(key: Key) -> bool:
    """Whether on every CPU that runs something it is known what comes last."""
    return all(ends & LAST for load, ends in key if load)


def _compositions(count: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Yield all ways to deal so many to so many."""
    if parts == 1:
        yield (count,)
        return
    for own in range(count + 1):
        for others in _compositions(count - own, parts - 1):
            yield own, *others
