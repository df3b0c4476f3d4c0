"""In how many cache domains fragments ran, and in how few they would have fitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dfopt.compare.comparison_parts import WindowLabel
from dfopt.compare.dispatches import Dispatches, Rows
from dfopt.compare.domains.least_pairs import STEPS, least_pairs
from dfopt.problem.cache_domains import CacheDomains
from dfopt.structs import DocumentPart, Natural, NonNegative, written
from dfopt.trace.events import Integers
from dfopt.trace.latest_of_same import latest_of_same
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
    sizes = [len(own) for own in domains.members]
    return DomainComparison(
        domains=domains.members,
        arrivals=int(arrives.sum()),
        windows=tuple(
            _domain_window(label, _Pairs.of(dispatches, domain, starts), sizes, trace.fragments)
            for label, starts in windows.items()
        ),
        far_migrations=far_migrations(trace, domain_of),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Pairs:
    """The pairs of a trace as parallel columns, ordered by window and fragment.

    Parameters
    ----------
    window, fragment, domain
        Numbers.
    run_time
        Of the fragment in this domain and window.
    lengths
        How long each window lasts: to the end of its last dispatch, so that no CPU runs longer.
    """

    window: Integers
    fragment: Integers
    domain: Integers
    run_time: Integers
    lengths: Integers

    @classmethod
    def of(cls, dispatches: Dispatches, domain: Integers, starts: Rows) -> _Pairs:
        """Return the pairs if windows begin at ``starts``."""
        ends = np.maximum.reduceat(dispatches.end, starts)
        window = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(dispatches)))
        managed = dispatches.managed
        fragment = dispatches.fragment[managed].astype(np.int64)
        domain, window = domain[managed], window[managed]
        order = np.lexsort((domain, fragment, window))
        domain, fragment, window = domain[order], fragment[order], window[order]
        is_first = np.ones(len(order), bool)
        is_first[1:] = (np.diff(window) != 0) | (np.diff(fragment) != 0) | (np.diff(domain) != 0)
        run_time = dispatches.length[managed][order]
        return cls(
            window=window[is_first],
            fragment=fragment[is_first],
            domain=domain[is_first],
            run_time=np.add.reduceat(run_time, np.flatnonzero(is_first)),
            lengths=ends - dispatches.start[starts],
        )

    def in_window(self, number: int) -> dict[int, dict[int, int]]:
        """Return by fragment its run time in each domain."""
        first, last = np.searchsorted(self.window, (number, number + 1))
        found: dict[int, dict[int, int]] = {}
        for fragment, domain, run_time in zip(
            *(
                column[first:last].tolist()
                for column in (self.fragment, self.domain, self.run_time)
            ),
            strict=True,
        ):
            found.setdefault(fragment, {})[domain] = run_time
        return found


def _domain_window(
    label: str, pairs: _Pairs, cpus: Sequence[int], names: Sequence[str]
) -> DomainWindow:
    """Return what the pairs of one length of window are compared with; ``cpus`` by domain."""
    count = len(pairs.lengths)
    is_first = np.ones(len(pairs.window), bool)
    is_first[1:] = (np.diff(pairs.window) != 0) | (np.diff(pairs.fragment) != 0)
    fragments = np.bincount(pairs.window[is_first], minlength=count)
    run_time = np.zeros(count, np.int64)
    np.add.at(run_time, pairs.window, pairs.run_time)
    # Where one domain has time for everything, each fragment makes one pair.
    fits = -(-run_time // np.maximum(pairs.lengths, 1)) <= max(cpus)
    hard = np.arange(count) if count == 1 else np.flatnonzero(~fits)
    steps = max(FEWEST_STEPS, min(STEPS, ALL_STEPS // max(1, len(hard))))
    bound = least = int(fragments[fits].sum()) if count > 1 else 0
    proven = count - len(hard)
    allotment = None
    for number in hard.tolist():
        ran = pairs.in_window(number)
        length = int(pairs.lengths[number])
        found = least_pairs(
            [sum(own.values()) for own in ran.values()],
            [length * own for own in cpus],
            known=tuple(ran.values()),
            steps=steps,
        )
        bound += found.bound
        least += found.pairs
        proven += found.is_optimal
        if count == 1:
            allotment = tuple(
                FragmentShare(df=names[fragment], domain=domain, run_time=part)
                for fragment, own in zip(ran, found.shares, strict=True)
                for domain, part in sorted(own.items())
            )
    used = len(np.unique(pairs.fragment))
    return DomainWindow(
        window=label,
        count=count,
        fragments=int(fragments.sum()),
        pairs=len(pairs.window),
        bound=bound,
        least=least,
        proven=proven,
        # A fragment comes to its first domain, and in each window to all others but one.
        arrivals_bound=used + bound - int(fragments.sum()),
        allotment=allotment,
    )
