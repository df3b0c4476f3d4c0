"""The fewest pairs of a fragment and a domain with which every domain has time for its fragments.

The run time of a fragment may be divided between domains at any point; it makes a pair with each
domain that gets a part. The pairs are the edges of a graph of fragments and domains. Where edges
form a circle, run time moves around it until a share becomes 0, and that pair is gone. So some
optimum is a forest, and a tree of a fragments and b domains has a + b − 1 pairs.

Hence the question is which domains are joined: the fewest joins such that each fragment fits as a
whole into one of the joined domains, which is bin packing. With n fragments and j joins there are
n + j pairs, since joined domains can be filled one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, combinations

from dfopt.errors import InstanceError

STEPS = 20_000
"""At most 20,000 fragments are put somewhere in the search: about 0.2 seconds."""

MOST_JOINED = 2_000
"""At most 2,000 ways to join domains are tried for each number of joins."""

Shares = Sequence[Mapping[int, int]]
"""For each fragment its run time in each domain where it runs."""

Joined = tuple[tuple[int, ...], ...]
"""The capacities of the domains in each group, in ascending order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Allotment:
    """The domains that fragments are given to.

    Parameters
    ----------
    shares
        For each fragment its run time in each domain that it is given to.
    bound
        No allotment has fewer pairs.
    """

    shares: Shares
    bound: int

    @property
    def pairs(self) -> int:
        """The number of pairs of a fragment and a domain."""
        return sum(map(len, self.shares))

    @property
    def is_optimal(self) -> bool:
        """Return whether no allotment has fewer pairs."""
        return self.pairs == self.bound


def least_pairs(
    run_times: Sequence[int],
    capacities: Sequence[int],
    *,
    known: Shares | None = None,
    steps: int = STEPS,
) -> Allotment:
    """Return an allotment of few pairs, and a bound that it nearly always attains.

    Parameters
    ----------
    run_times
        Of the fragments.
    capacities
        The run time for which each domain has room.
    known
        An allotment that keeps to the capacities; the result has no more pairs.
    steps
        At most this number of fragments are put somewhere for each number of joins. If they are
        spent, the bound may be less than the number of pairs.

    Raises
    ------
    InstanceError
        When the domains together have not enough room.
    """
    if sum(run_times) > sum(capacities):
        raise InstanceError(
            f"a run time of {sum(run_times):,} does not fit into {sum(capacities):,}"
        )
    shares = _tightest_first(run_times, capacities)
    if known is not None and sum(map(len, known)) < sum(map(len, shares)):
        shares = known
    # A fragment needs as many of the largest domains as it takes to hold it alone.
    rooms = list(accumulate(sorted(capacities, reverse=True)))
    joins = sum(next(count for count, room in enumerate(rooms) if room >= own) for own in run_times)
    best = sum(map(len, shares)) - len(run_times)
    if joins == best:
        return Allotment(shares=shares, bound=len(run_times) + joins)
    search = _Search(run_times, capacities, steps)
    is_proven = True
    for number, ways in enumerate(_ways_to_join(capacities)):
        if number == best or ways is None:
            break
        if number < joins:
            continue
        found = search.shares(ways)
        if found is not None:
            shares = found
            break
        # What is found after a search that was cut short still has fewer pairs.
        is_proven = is_proven and search.is_complete
        joins += is_proven
    return Allotment(shares=shares, bound=len(run_times) + joins)


def _tightest_first(run_times: Sequence[int], capacities: Sequence[int]) -> Shares:
    """Return a first allotment: long fragments first, each where least room is left.

    What fits nowhere as a whole is divided in the end.
    """
    left = list(capacities)
    shares: list[dict[int, int]] = [{} for _ in run_times]
    divided = []
    for fragment in sorted(range(len(run_times)), key=lambda number: -run_times[number]):
        domain = _tightest(left, run_times[fragment])
        if domain is None:
            divided.append(fragment)
            continue
        shares[fragment][domain] = run_times[fragment]
        left[domain] -= run_times[fragment]
    for fragment in divided:
        rest = run_times[fragment]
        while rest:
            domain = _tightest(left, rest)
            if domain is None:
                domain = max(range(len(left)), key=left.__getitem__)
            part = min(rest, left[domain])
            shares[fragment][domain] = part
            left[domain] -= part
            rest -= part
    return shares


def _tightest(left: Sequence[int], run_time: int) -> int | None:
    """Return the domain with least room among those with enough; for nothing the largest one."""
    if not run_time:
        return max(range(len(left)), key=left.__getitem__)
    fits = [domain for domain, room in enumerate(left) if room >= run_time]
    return min(fits, key=left.__getitem__, default=None)


def _ways_to_join(capacities: Sequence[int]) -> Iterator[set[Joined] | None]:
    """Yield the ways to join domains with 0, 1, 2 … joins; None where there are too many."""
    ways: set[Joined] = {tuple(sorted((capacity,) for capacity in capacities if capacity))}
    while ways:
        if len(ways) > MOST_JOINED:
            yield None
            return
        yield ways
        # Domains of the same capacity are alike, so that few ways differ.
        ways = {
            tuple(sorted((*rest, tuple(sorted((*one, *other))))))
            for way in ways
            for one, other, rest in _two_of(way)
        }


def _two_of(way: Joined) -> Iterator[tuple[tuple[int, ...], tuple[int, ...], Joined]]:
    """Yield two groups and the others, for every two that differ from earlier ones."""
    seen = set()
    for first, second in combinations(range(len(way)), 2):
        if (way[first], way[second]) not in seen:
            seen.add((way[first], way[second]))
            rest = (*way[:first], *way[first + 1 : second], *way[second + 1 :])
            yield way[first], way[second], rest


class _Search:
    """The search for groups of domains that hold each fragment as a whole.

    Parameters
    ----------
    run_times, capacities, steps
        As in :func:`least_pairs`; ``steps`` are for each number of joins.

    Attributes
    ----------
    is_complete
        Whether the last search has tried everything.
    """

    def __init__(self, run_times: Sequence[int], capacities: Sequence[int], steps: int) -> None:
        self._run_times = run_times
        self._capacities = capacities
        self._order = sorted(
            (number for number, own in enumerate(run_times) if own),
            key=lambda number: -run_times[number],
        )
        self._steps = steps
        self._left = 0

    @property
    def is_complete(self) -> bool:
        return self._left >= 0

    def shares(self, ways: set[Joined]) -> Shares | None:
        """Return the shares that one of these ways to join domains allows."""
        self._left = self._steps
        for way in sorted(ways):
            rooms = [sum(group) for group in way]
            filled = self._filled(rooms)
            if filled is not None:
                return self._divided(way, filled)
            if not self.is_complete:
                return None
        return None

    def _filled(self, rooms: Sequence[int]) -> list[int] | None:
        """Return into which room each fragment goes; None if they do not fit, or steps are spent.

        Depth first, long fragments first. Rooms with as much left are alike, and what failed once
        fails again.
        """
        sizes = [self._run_times[number] for number in self._order]
        if not sizes:
            return []
        spare = sum(rooms) - sum(sizes)
        seen: set[tuple[int, ...]] = set()
        states = [tuple(rooms)]
        choices = [self._choices(states[0], sizes[0])]
        filled: list[int] = []
        while choices:
            room = next(choices[-1], None)
            if room is None:
                choices.pop()
                states.pop()
                if filled:
                    filled.pop()
                continue
            self._left -= 1
            if self._left < 0:
                return None
            state = list(states[-1])
            state[room] -= sizes[len(filled)]
            alike = tuple(sorted(state))
            # Room for less than the shortest fragment stays empty.
            wasted = sum(left for left in state if left < sizes[-1])
            if wasted > spare or alike in seen:
                continue
            seen.add(alike)
            filled.append(room)
            if len(filled) == len(sizes):
                return filled
            states.append(tuple(state))
            choices.append(self._choices(states[-1], sizes[len(filled)]))
        return None

    def _choices(self, left: Sequence[int], size: int) -> Iterator[int]:
        """Yield rooms with enough left for a fragment, the tightest first, and one of each size."""
        by_room = {room: number for number, room in enumerate(left) if room >= size}
        return iter([by_room[room] for room in sorted(by_room)])

    def _divided(self, way: Joined, filled: Sequence[int]) -> Shares:
        """Return the shares if the domains of each group are filled one after the other."""
        shares: list[dict[int, int]] = [{} for _ in self._run_times]
        domains = sorted(range(len(self._capacities)), key=lambda number: self._capacities[number])
        largest = domains[-1]
        for number, group in enumerate(way):
            own = []
            for capacity in group:
                own.append(next(one for one in domains if self._capacities[one] == capacity))
                domains.remove(own[-1])
            room = self._capacities[own[0]]
            for fragment, place in zip(self._order, filled, strict=True):
                rest = self._run_times[fragment] if place == number else 0
                while rest:
                    if not room:
                        own.pop(0)
                        room = self._capacities[own[0]]
                    part = min(rest, room)
                    shares[fragment][own[0]] = part
                    room -= part
                    rest -= part
        for fragment, run_time in enumerate(self._run_times):
            if not run_time:
                shares[fragment][largest] = 0
        return shares
