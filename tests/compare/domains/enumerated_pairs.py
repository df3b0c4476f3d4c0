"""The least number of pairs by trying all of them, for a few fragments and domains."""

from collections.abc import Sequence
from itertools import chain, combinations, product

from dfopt.compare.domains import Shares


def least_by_trying(run_times: Sequence[int], capacities: Sequence[int]) -> int:
    """Return the least number of pairs with which every domain has time for its fragments."""
    domains = range(len(capacities))
    subsets = list(chain.from_iterable(combinations(domains, size) for size in domains))
    choices = [*subsets[1:], tuple(domains)]
    return min(
        sum(map(len, chosen))
        for chosen in product(choices, repeat=len(run_times))
        if has_room(run_times, capacities, chosen)
    )


def has_room(
    run_times: Sequence[int], capacities: Sequence[int], chosen: Sequence[Sequence[int]]
) -> bool:
    """Return whether fragments fit into the domains that are chosen for each (Hall's theorem)."""
    fragments = range(len(run_times))
    return all(
        sum(run_times[fragment] for fragment in some)
        <= sum(capacities[domain] for domain in {one for own in some for one in chosen[own]})
        for size in range(len(run_times) + 1)
        for some in combinations(fragments, size)
    )


def keeps_to(shares: Shares, run_times: Sequence[int], capacities: Sequence[int]) -> bool:
    """Return whether all run times are given away, and no domain gets more than it has room for."""
    given = [sum(own.values()) for own in shares]
    taken = [sum(own.get(domain, 0) for own in shares) for domain in range(len(capacities))]
    return (
        given == list(run_times)
        and all(shares)
        and all(used <= room for used, room in zip(taken, capacities, strict=True))
        and all(part > 0 or not sum(own.values()) for own in shares for part in own.values())
    )
