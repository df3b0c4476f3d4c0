"""In how many cache domains fragments ran, and in how few they would have fitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np

from dfopt.compare.comparison_parts import WindowLabel
from dfopt.compare.dispatches import Dispatches, Rows
from dfopt.compare.domains.least_pairs import STEPS, least_pairs
from dfopt.problem.cache_domains import CacheDomains
from dfopt.structs import DocumentPart, Natural, NonNegative, written
from dfopt.trace.events import latest_of_same
from dfopt.trace.service import far_migrations
from dfopt.trace.trace import Trace

ALL_STEPS = 200_000
"""The windows of one length share 200,000 steps of the search: some seconds."""

FEWEST_STEPS = 50
"""A window gets at least 50 of them."""


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
    for number, fragment, where, length in zip(
        *(column[dispatches.managed].tolist() for column in columns), strict=True
    ):
        of_fragment = found[number].setdefault(fragment, {})
        of_fragment[where] = of_fragment.get(where, 0) + length
    run_times = [sum(sum(own.values()) for own in ran.values()) for ran in found]
    # Where one domain has time for everything, each fragment makes one pair.
    hard = [
        number
        for number, (run_time, length) in enumerate(zip(run_times, lengths, strict=True))
        if count == 1 or run_time > max(cpus) * max(length, 1)
    ]
    steps = max(FEWEST_STEPS, min(STEPS, ALL_STEPS // max(1, len(hard))))
    fragments = sum(map(len, found))
    bound = least = fragments - sum(len(found[number]) for number in hard)
    proven = count - len(hard)
    allotment = None
    for number in hard:
        ran = dict(sorted(found[number].items()))
        best = least_pairs(
            [sum(own.values()) for own in ran.values()],
            [lengths[number] * own for own in cpus],
            known=tuple(ran.values()),
            steps=steps,
        )
        bound += best.bound
        least += best.pairs
        proven += best.is_optimal
        if count == 1:
            allotment = tuple(
                FragmentShare(df=names[fragment], domain=where, run_time=part)
                for fragment, own in zip(ran, best.shares, strict=True)
                for where, part in sorted(own.items())
            )
    return DomainWindow(
        window=label,
        count=count,
        fragments=fragments,
        pairs=sum(len(own) for ran in found for own in ran.values()),
        bound=bound,
        least=least,
        proven=proven,
        # A fragment comes to its first domain, and in each window to all others but one.
        arrivals_bound=len({*chain.from_iterable(found)}) + bound - fragments,
        allotment=allotment,
    )
