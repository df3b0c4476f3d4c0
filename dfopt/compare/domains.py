"""In how many cache domains fragments ran, and in how few they would have fitted.

The least is the fewest pairs of a fragment and a domain with which every domain has time for its
fragments. The run time of a fragment may be divided between domains at any point; it makes a pair
with each domain that gets a part. The pairs are the edges of a graph of fragments and domains.
Where edges form a circle, run time moves around it until a share becomes 0, and that pair is gone.
So some optimum is a forest, and a tree of a fragments and b domains has a + b − 1 pairs.

Hence the question is which domains are joined: the fewest joins such that each fragment fits as a
whole into one of the joined domains, which is bin packing. With n fragments and j joins there are
n + j pairs, since joined domains can be filled one after the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, chain
from math import ceil
from operator import mul

import numpy as np

from dfopt.compare.comparison_parts import WindowLabel
from dfopt.compare.dispatches import Dispatches, Rows
from dfopt.errors import InstanceError
from dfopt.problem.cache_domains import CacheDomains
from dfopt.structs import DocumentPart, Natural, NonNegative, Record, written
from dfopt.trace.events import latest_of_same
from dfopt.trace.service import far_migrations
from dfopt.trace.trace import Trace

EFFORT = 1.0
"""Deterministic seconds of CP-SAT for one allotment at most."""

Shares = Sequence[Mapping[int, int]]
"""For each fragment its run time in each domain where it runs."""

ALL_EFFORT = 10.0
"""The windows of one length share ten deterministic seconds of the search."""


class FragmentShare(DocumentPart):
    """What a domain runs of a fragment.

    Parameters
    ----------
    df
        The fragment.
    domain
        The number of the domain, from 0.
    run_time
        In the trace's unit.
    """

    df: str
    domain: Natural
    run_time: Natural


class DomainWindow(DocumentPart):
    """The pairs of a fragment and a domain where it runs, for one length of window.

    Parameters
    ----------
    window
        The length: a number of dispatches, a time such as ``10ms``, or ``whole``.
    count
        How many windows there are.
    fragments
        The fragments that run in a window, summed over all windows.
    pairs
        The pairs of the trace, summed over all windows.
    bound
        No schedule that runs the same dispatches in the same windows has fewer pairs.
    least
        The pairs of the allotments that were found. They keep the run time of each domain within
        its capacity.
    proven
        The number of windows whose allotment is proven to have the fewest pairs.
    arrivals_bound
        In no such schedule do fragments arrive less often at a domain; see
        :class:`DomainComparison`.
    allotment
        The allotment, where there is only one window.
    """

    DERIVED = ("ratio",)

    window: WindowLabel
    count: Natural
    fragments: Natural
    pairs: Natural
    bound: Natural
    least: Natural
    proven: Natural
    arrivals_bound: Natural
    allotment: tuple[FragmentShare, ...] | None = written(None)

    @property
    def ratio(self) -> NonNegative:
        """Return pairs / bound; a window with a fragment has a pair."""
        return self.pairs / self.bound


class DomainComparison(DocumentPart):
    """The use of cache domains by a trace.

    Parameters
    ----------
    domains
        The CPUs of the trace in each domain.
    arrivals
        How many times a fragment ran in another domain than before, or for the first time.
    windows
        What was possible, one for each length of window.
    far_migrations
        Dispatches with a fragment whose task ran in another domain before; None if the document is
        older than this count.
    """

    domains: tuple[tuple[Natural, ...], ...]
    arrivals: Natural
    windows: tuple[DomainWindow, ...]
    far_migrations: Natural | None = written(None)


def domain_comparison(
    dispatches: Dispatches,
    domains: CacheDomains,
    windows: Mapping[str, Rows],
    trace: Trace,
) -> DomainComparison:
    """Return in how many domains fragments ran, and in how few they would have fitted.

    Parameters
    ----------
    dispatches
        Of the trace. Those without a fragment do not count.
    domains
        Those of the trace's CPUs; CPUs that the trace does not have are left out.
    windows
        The first dispatches of the windows, by the label of their length.
    trace
        Names fragments, and has the dispatches before and between those that count.

    Raises
    ------
    InstanceError
        When a CPU has no domain.
    """
    domains = domains.of_first(dispatches.cpus)
    domain_of = np.array(domains.domain_of)
    domain = domain_of[dispatches.cpu]
    managed = dispatches.managed
    before = latest_of_same(dispatches.fragment[managed])
    arrives = (before < 0) | (domain[managed][before] != domain[managed])
    return DomainComparison(
        domains=domains.members,
        arrivals=int(arrives.sum()),
        windows=tuple(
            _domain_window(label, starts, dispatches, domains, trace.fragments)
            for label, starts in windows.items()
        ),
        far_migrations=far_migrations(trace, domain_of),
    )


def _domain_window(
    label: str, starts: Rows, dispatches: Dispatches, domains: CacheDomains, names: Sequence[str]
) -> DomainWindow:
    """Return what the pairs of one length of window are compared with.

    Windows begin at ``starts``; ``names`` are those of the fragments.
    """
    domain, cpus = np.array(domains.domain_of)[dispatches.cpu], [*map(len, domains.members)]
    count = len(starts)
    # A window lasts to the end of its last dispatch, so that no CPU runs longer.
    lengths = (np.maximum.reduceat(dispatches.end, starts) - dispatches.start[starts]).tolist()
    window = np.repeat(np.arange(count), np.diff(starts, append=len(dispatches)))
    columns = (window, dispatches.fragment, domain, dispatches.length)
    # For each window by fragment its run time in each domain.
    found: list[dict[int, dict[int, int]]] = [{} for _ in range(count)]
    rows = zip(*(column[dispatches.managed].tolist() for column in columns), strict=True)
    for number, fragment, where, length in sorted(rows):
        of_fragment = found[number].setdefault(fragment, {})
        of_fragment[where] = of_fragment.get(where, 0) + length
    best = [
        least_pairs(
            [sum(own.values()) for own in ran.values()],
            [length * own for own in cpus],
            known=tuple(ran.values()),
            effort=min(EFFORT, ALL_EFFORT / count),
        )
        for ran, length in zip(found, lengths, strict=True)
    ]
    fragments, bound = sum(map(len, found)), sum(one.bound for one in best)
    allotment = None
    if count == 1:
        allotment = tuple(
            FragmentShare(df=names[fragment], domain=where, run_time=part)
            for fragment, own in zip(found[0], best[0].shares, strict=True)
            for where, part in sorted(own.items())
        )
    return DomainWindow(
        window=label,
        count=count,
        fragments=fragments,
        pairs=sum(len(own) for ran in found for own in ran.values()),
        bound=bound,
        least=sum(one.pairs for one in best),
        proven=sum(one.is_optimal for one in best),
        # A fragment comes to its first domain, and in each window to all others but one.
        arrivals_bound=len({*chain.from_iterable(found)}) + bound - fragments,
        allotment=allotment,
    )


class Allotment(Record):
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
    effort: float = EFFORT,
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
    effort
        Deterministic seconds of the search. If they are spent, the bound may be less than the
        number of pairs.

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
    most = sum(map(len, shares)) - len(run_times)
    if joins < most and effort:
        found, joins = _joined(run_times, capacities, (joins, most), effort)
        shares = shares if found is None else found
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


def _joined(
    run_times: Sequence[int], capacities: Sequence[int], joins: tuple[int, int], effort: float
) -> tuple[Shares | None, int]:
    """Return shares with the fewest joins of domains, and a number that no joins fall below.

    ``joins`` are such a number, and one that is known to be enough; no shares are found if the time
    is too short. Joined domains are a group, which goes by its first domain.
    """
    from ortools.sat.python import cp_model

    model, domains = cp_model.CpModel(), range(len(capacities))
    member = {(one, group): model.new_bool_var("") for group in domains for one in domains[group:]}
    put = [[model.new_bool_var("") for _ in domains] for _ in run_times]
    for one in domains:
        model.add_exactly_one(member[one, group] for group in domains[: one + 1])
    for within in put:
        model.add_exactly_one(within)
    for group in domains:
        for one in domains[group + 1 :]:
            model.add_implication(member[one, group], member[group, group])
        room = sum(capacities[one] * member[one, group] for one in domains[group:])
        model.add(sum(map(mul, run_times, (within[group] for within in put))) <= room)
    number = len(domains) - sum(member[group, group] for group in domains)
    model.add_linear_constraint(number, *joins)
    model.minimize(number)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    # Otherwise Ctrl-C would end the whole process from now on, without an exception.
    solver.parameters.catch_sigint_signal = False
    solver.parameters.max_deterministic_time = effort
    status = solver.solve(model)
    fewest = ceil(max(joins[0], solver.best_objective_bound))
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None, fewest
    shares: list[dict[int, int]] = [{} for _ in run_times]
    left = list(capacities)
    for group in domains:
        # The domains of a group are filled one after the other.
        own = [one for one in domains[group:] if solver.value(member[one, group])]
        for fragment, run_time in enumerate(run_times):
            if not solver.value(put[fragment][group]):
                continue
            rest = run_time
            while rest > left[own[0]]:
                full = own.pop(0)
                if left[full]:
                    shares[fragment][full] = left[full]
                    rest -= left[full]
            shares[fragment][own[0]] = rest
            left[own[0]] -= rest
    return shares, fewest
