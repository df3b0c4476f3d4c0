"""What caches hold in a simulation, and what bursts pay: a penalty, or each line that they miss.

With cache domains data may come from near under f and g: a CPU reads a fragment at less cost if
another CPU of its domain holds it. It does not matter how that CPU left it, and for that CPU
nothing changes: what it has written it writes back itself, when it goes on to another fragment.
Write-backs cost the same everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from dfopt.checks import LARGEST_TOTAL, described
from dfopt.errors import InstanceError
from dfopt.native.lines import Caches
from dfopt.problem.cache import UNMANAGED, Cache, Use
from dfopt.problem.cache_domains import CacheDomains
from dfopt.problem.penalties import Penalty, PenaltyG, PenaltyMatrix
from dfopt.simulate.workload import Burst
from dfopt.structs import Checked, DocumentPart, Natural, Positive

LARGEST_MEMORY = 2**31 - 2
"""At most this number of lines, since lines have 32-bit numbers."""


class NearCache(Cache):
    """A cache that gets what another one of its domain holds at less cost.

    Parameters
    ----------
    penalty, cold_start
        As for all caches.
    near
        The penalty for what is near.
    domain
        The caches of the domain.
    """

    __slots__ = ("_domain", "_near")

    def __init__(
        self, penalty: Penalty, near: Penalty, domain: list[NearCache], *, cold_start: bool
    ) -> None:
        super().__init__(penalty, cold_start=cold_start)
        self._near, self._domain = Cache(near), domain
        domain.append(self)

    def reading(self, use: Use) -> int:
        """Return the cost of reading what a use needs, from near if it is there."""
        is_near = any(cache.fragment == use.fragment for cache in self._domain)
        return self._near.reading(use) if is_near else super().reading(use)


def penalty_caches(
    penalty: Penalty,
    fragments: Sequence[str],
    cpus: int,
    *,
    cold_start: bool,
    near: tuple[CacheDomains, Penalty] | None = None,
) -> list[Cache]:
    """Return the empty caches of all CPUs under a penalty.

    Parameters
    ----------
    penalty
        f, g, or a matrix with the fragments as its types.
    fragments
        Names; bursts refer to them by number.
    cpus
        Number of CPUs.
    cold_start
        Whether the first fragment on a CPU is paid for.
    near
        Under f and g, domains, and what is paid for data that another CPU of the domain holds;
        None: distances do not count.

    Raises
    ------
    InstanceError
        When a fragment is no type of the matrix.
    """
    if isinstance(penalty, PenaltyMatrix):
        unknown = [name for name in fragments if name not in penalty.types]
        if unknown:
            raise InstanceError(
                f"has no type {unknown[0]!r}, which the workload uses; add it",
                place="penalty.types",
            )
        penalty = penalty.among(fragments)
    if near is None:
        return [Cache(penalty, cold_start=cold_start) for _ in range(cpus)]
    domains, cheaper = near
    members: list[list[NearCache]] = [[] for _ in domains.members]
    return [
        NearCache(penalty, cheaper, members[domain], cold_start=cold_start)
        for domain in domains.domain_of
    ]


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
    of_cpus : list of Cache
        By CPU: its cache.

    Raises
    ------
    InstanceError
        When the memory is larger than 2^31 lines, or than this computer can keep; when a burst may
        pay more than 2^62; and, from :meth:`touch`, when a burst uses lines that
        its fragment or the memory does not have.
    """

    def __init__(
        self,
        sizes: CacheSizes,
        fragments: Sequence[int],
        cpus: int,
        domains: CacheDomains | None = None,
    ) -> None:
        self.of_cpus: list[Cache] = [_LineCache(self, cpu) for cpu in range(cpus)]
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

    def touch(self, cpu: int, burst: Burst) -> int:
        """Return what a CPU pays for the lines of a burst, and change the caches accordingly."""
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
        ledger = self._caches.ledger[: len(self.of_cpus)]  # without the shared caches

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


class _LineCache(Cache):
    """The cache of a CPU that pays for lines, and for nothing else."""

    __slots__ = ("_caches", "_cpu")

    def __init__(self, caches: LineCaches, cpu: int) -> None:
        super().__init__(PenaltyG(fill=0, write_back=0))
        self._caches, self._cpu = caches, cpu

    def enter(self, use: Any) -> int:
        """Return the cost of the first burst of a dispatch."""
        return super().enter(use) + self._caches.touch(self._cpu, use)

    def go_on(self, use: Any) -> int:
        """Return the cost of a burst that continues a dispatch."""
        return super().go_on(use) + self._caches.touch(self._cpu, use)
