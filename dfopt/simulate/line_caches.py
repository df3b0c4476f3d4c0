"""Caches of lines."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from dfopt.checks import LARGEST_TOTAL, described
from dfopt.errors import InstanceError
from dfopt.native.lines import Caches
from dfopt.problem.cache_domains import CacheDomains
from dfopt.simulate.penalties import EMPTY
from dfopt.simulate.workload import CLEAN, UNMANAGED, Burst
from dfopt.structs import Checked, DocumentPart, Natural, Positive

LARGEST_MEMORY = 2**31 - 2
"""At most this number of lines, since lines have 32-bit numbers."""


class CacheSizes(Checked):
    """Caches with least-recently-used replacement and a write-invalidate protocol.

    They are empty at the beginning, and every miss is paid for, whether there is a cold start or
    not.

    Parameters
    ----------
    lines
        Lines of each CPU's own cache.
    miss
        Time to read a line from memory.
    write_back
        Time to write a line back to memory.
    shared_lines
        Lines of a second level that all CPUs share, or those of a cache domain; 0: there is none.
    shared_hit
        Time to read a line from it.
    far_hit
        Time to read a line from the second level of another domain; None: such a line is read
        from memory.
    sequential_miss
        Time to read a line from memory right after the line before it, within a burst; None: as
        for any other.
    """

    lines: Positive
    miss: Natural
    write_back: Natural = 0
    shared_lines: Natural = 0
    shared_hit: Natural = 0
    sequential_miss: Natural | None = None
    far_hit: Natural | None = None

    def __post_init__(self) -> None:
        """Check that what is far is another second level."""
        super().__post_init__()
        if self.far_hit is not None and not self.shared_lines:
            raise InstanceError("needs caches that CPUs share; give shared_lines", place="far_hit")


class CacheCounts(DocumentPart):
    """Counts of events in caches of lines, by the CPU that caused them with its bursts.

    Parameters
    ----------
    touched
        Lines that bursts used.
    misses
        Lines that were not in the CPU's own cache.
    shared_hits
        Misses that were in the CPU's second level.
    far_hits
        Misses that were read from another domain's second level; None where this has no time of
        its own.
    write_backs
        Lines that any cache wrote back to memory because this CPU needed the room or the line, or
        flushed it.
    invalidations
        Copies in other CPUs' caches, and in the second levels of other domains, that its writes
        made invalid.
    """

    touched: tuple[Natural, ...]
    misses: tuple[Natural, ...]
    shared_hits: tuple[Natural, ...]
    write_backs: tuple[Natural, ...]
    invalidations: tuple[Natural, ...]
    far_hits: tuple[Natural, ...] | None = None


class LineCaches:
    """The costs of bursts when every CPU has a cache of lines.

    Every burst uses its lines, one after the other, whether it begins a dispatch or continues one:
    its extents, or the first ``lines`` lines of its fragment. A line that the CPU's cache does not
    hold is read from the second level or from memory, and the line that was used least recently
    makes room. A burst that leaves its fragment dirty writes all its lines: other CPUs' copies
    become invalid. A written line goes back to memory when it has to make room, and when another
    CPU wants it; the CPU that causes this pays. The second level gets every line that is read from
    memory, and is kept up to date without cost. With cache domains each of them has a second level
    of its own, a write makes the copies in the others invalid, and a line that only another one
    holds may have a time of its own. A burst that leaves its fragment invalidated
    writes its lines back at once, whatever comes next, and keeps them: that is how the penalty f
    charges it.

    Parameters
    ----------
    sizes
        The caches.
    fragments
        The number of lines of each fragment. The fragments, one after the other, are the memory.
    cpus
        Number of CPUs.
    domains
        The CPUs that share a second level; None: all do.

    Attributes
    ----------
    held, left
        By CPU: the fragment that was used last, and how it was left.

    Raises
    ------
    InstanceError
        When the memory is larger than 2^31 lines, or than this computer can keep; when a burst may
        pay more than 2^62; and, from :meth:`begin` and :meth:`go_on`, when a burst uses lines that
        its fragment or the memory does not have.
    """

    def __init__(
        self,
        sizes: CacheSizes,
        fragments: Sequence[int],
        cpus: int,
        domains: CacheDomains | None = None,
    ) -> None:
        self.held = [EMPTY] * cpus
        self.left = [CLEAN] * cpus
        self._sizes = tuple(fragments)
        *self._first, self._memory = accumulate(fragments, initial=0)
        if self._memory > LARGEST_MEMORY:
            raise InstanceError(
                f"are {self._memory} lines together, more than caches of lines can tell apart; "
                "make the lines longer",
                place="sizes",
            )
        domain_of = domains.domain_of if domains is not None else [0] * cpus
        levels = range(cpus, cpus + max(domain_of) + 1)
        capacity = [*[sizes.lines] * cpus, *[sizes.shared_lines] * len(levels)]
        shared = [*(levels[domain] for domain in domain_of), *levels]
        far_hit = -1 if sizes.far_hit is None else sizes.far_hit
        sequential = sizes.miss if sizes.sequential_miss is None else sizes.sequential_miss
        times = (sizes.miss, sizes.shared_hit, sizes.write_back, sequential, far_hit)
        try:
            self._caches = Caches(
                self._memory, [min(lines, self._memory) for lines in capacity], shared, times
            )
        except MemoryError:
            raise InstanceError(
                f"are {self._memory} lines together, more than fit into memory for caches of "
                f"{cpus} CPUs; make the lines longer",
                place="sizes",
            ) from None
        # A line may be written back three times: by the cache that has it, for room, and at once.
        longest = self._memory * (
            max(sizes.miss, sizes.shared_hit, sequential, far_hit) + 3 * sizes.write_back
        )
        if longest > LARGEST_TOTAL:
            raise InstanceError(
                f"and write_back let a burst pay up to {described(longest)}, more than 2^62; give "
                "times a larger unit",
                place="miss",
            )
        self._has_far_hits = sizes.far_hit is not None

    def begin(self, cpu: int, burst: Burst) -> int:
        """Return the cost of a dispatch's first burst, and change the caches accordingly."""
        if burst.fragment != UNMANAGED:
            self.held[cpu] = burst.fragment
            self.left[cpu] = burst.leaves
        return self._use(cpu, burst)

    def go_on(self, cpu: int, burst: Burst) -> int:
        """Do the same for a burst that continues a dispatch on the same fragment."""
        if burst.fragment != UNMANAGED:
            self.left[cpu] = max(self.left[cpu], burst.leaves)
        return self._use(cpu, burst)

    def _use(self, cpu: int, burst: Burst) -> int:
        time, leaves = 0, burst.leaves
        for first, number in burst.extents or self._extent(burst):
            if first < 0 or number < 0 or first + number > self._memory:
                raise InstanceError(
                    f"names the lines {first} to {first + number - 1} of a memory of "
                    f"{self._memory}; let the fragments' sizes cover them",
                    place="extents",
                )
            time += self._caches.touch(cpu, first, number, leaves)
        return time

    def counts(self) -> CacheCounts:
        """Return the counts so far."""
        ledger = self._caches.ledger[: len(self.held)]  # without the shared caches

        def counted(event: str) -> tuple[int, ...]:
            return tuple(ledger[event].tolist())

        return CacheCounts(
            touched=counted("touched"),
            misses=counted("misses"),
            shared_hits=counted("shared_hits"),
            write_backs=counted("write_backs"),
            invalidations=counted("invalidations"),
            far_hits=counted("far_hits") if self._has_far_hits else None,
        )

    def _extent(self, burst: Burst) -> tuple[tuple[int, int], ...]:
        fragment, lines = burst.fragment, burst.lines
        if fragment == UNMANAGED or not lines:
            return ()
        size = self._sizes[fragment] if fragment < len(self._sizes) else 0
        if lines > size:
            raise InstanceError(
                f"are {lines}, but fragment {fragment} has {size}; make it larger in the "
                "workload's sizes",
                place="lines",
            )
        return ((self._first[fragment], lines),)
