"""Costs of a machine's caches, estimated from timed passes.

Every estimate is a *cold pass* less a *warm pass* of the same lines: read them until they are in
the cache, read them once more (warm), send them away, and read them again (cold). A pass counts
only if the thread kept its CPU throughout, in the preparation too. A flush is verified: the lines
must come back as slowly as lines do that are surely at that level. Where more than half of the
passes do not count, or a flush is not verified, there is no estimate but an error.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from statistics import median, quantiles

from dfopt.errors import DfoptError
from dfopt_models.measure.memory import AccessOrder, FlushLevel, Memory, TimedPass

MOVED, WRITTEN = "moved", "written by the other CPU"
"""The levels that are no flush: the thread moved, or the other CPU has changed the lines."""

STATIONARY = "nothing"
"""Between two slices nothing else runs, and the cache is left alone."""

AFTER = "after "
"""Begins the name of a preparation in which another job runs."""

LEAST_VERIFIED = 0.95
"""At least this share of the lines must come back from the level that a flush is for."""

MOST_REJECTED = 0.5
"""At most this share of the passes may be rejected."""

WARMING = 2
"""Passes that bring the lines into the cache before the warm pass."""

LEAST_RISE = 1.2
"""The next level must take longer than a warm pass by this factor, or they cannot be told apart."""


class MeasurementError(DfoptError):
    """A measurement that cannot be trusted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What one run measured.

    Parameters
    ----------
    level, order
        Where the lines were, and in which order they were read.
    lines
        Lines of the victim.
    median
        Nanoseconds a line above a warm pass.
    quartiles
        The first and the third quartile of the same.
    passes, rejected
        Passes that counted, and passes that did not.
    """

    level: str
    order: AccessOrder
    lines: int
    median: float
    quartiles: tuple[float, float]
    passes: int
    rejected: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineRun:
    """All estimates of one run.

    Parameters
    ----------
    reads
        t_r by level and order.
    fills
        By the number of lines: the same after a move, in random order.
    write_back
        Nanoseconds to write a dirty line back: what a sweep takes longer than over clean lines.
    write_back_rejected, write_back_passes
        Passes of that measurement.
    """

    reads: tuple[Estimate, ...]
    fills: tuple[Estimate, ...]
    write_back: float
    write_back_passes: int
    write_back_rejected: int

    @property
    def rejected(self) -> float:
        """The share of all passes that were rejected."""
        estimates = (*self.reads, *self.fills)
        lost = self.write_back_rejected + sum(estimate.rejected for estimate in estimates)
        kept = self.write_back_passes + sum(estimate.passes for estimate in estimates)
        return lost / (lost + kept)


def measure_run(  # noqa: PLR0913 - all but the first are options
    memory: Memory,
    *,
    lines: int,
    passes: int,
    sizes: Sequence[int],
    leave_out: Collection[str] = (),
    progress: Callable[[str], None] | None = None,
) -> MachineRun:
    """Return what one run measures.

    Parameters
    ----------
    memory
        The machine, or a model of one.
    lines
        Lines of the victim; they must fit into the cache.
    passes
        Passes that must count for each estimate.
    sizes
        Numbers of lines of which a move is measured.
    leave_out
        Levels that are not measured.
    progress
        Called with the name of each level before it is measured.

    Raises
    ------
    MeasurementError
        When a flush is not verified, too many passes are rejected, there is no such level to
        leave out, or none is left.
    """
    measured = levels_left(memory, leave_out)
    say = progress or (lambda _: None)
    reads = []
    for level in memory.levels:
        if level.name not in measured:
            continue
        say(level.name)
        verify_flush(memory, level, lines=lines, passes=passes)
        reads += [
            cold_pass(memory, level.name, lines, order, passes, partial(flush, memory, level))
            for order in AccessOrder
        ]
    check_levels_differ(reads)
    preparations: dict[str, Callable[[], Sequence[TimedPass]]] = {
        MOVED: lambda: (memory.move(),),
        WRITTEN: lambda: (memory.move(), memory.write(lines), memory.move()),
    }
    for name, prepare in preparations.items():
        if name in measured:
            say(name)
            reads += [
                cold_pass(memory, name, lines, order, passes, prepare) for order in AccessOrder
            ]
    fills = []
    if MOVED in measured:
        say(f"{MOVED}, by the number of lines")
        fills = [
            cold_pass(memory, MOVED, size, AccessOrder.RANDOM, passes, preparations[MOVED])
            for size in sizes
        ]
    say("write-back")
    write_back, kept, rejected = _write_back(memory, passes)
    return MachineRun(
        reads=tuple(reads),
        fills=tuple(fills),
        write_back=write_back,
        write_back_passes=kept,
        write_back_rejected=rejected,
    )


def levels_left(memory: Memory, leave_out: Collection[str]) -> tuple[str, ...]:
    """Return the levels that a machine has, without those that are left out.

    Raises
    ------
    MeasurementError
        When there is no such level, or none is left.
    """
    levels = [level.name for level in memory.levels]
    if memory.has_other_cpu:
        levels += [MOVED, WRITTEN]
    for name in leave_out:
        if name not in levels:
            raise MeasurementError(f"there is no level {name!r}; known are {', '.join(levels)}")
    left = tuple(name for name in levels if name not in leave_out)
    if not left:
        raise MeasurementError("no level is left to measure; leave fewer of them out")
    return left


def check_levels_differ(reads: Sequence[Estimate]) -> None:
    """Refuse a level whose lines take as long as those of the level behind it.

    Where others fill a shared cache, a flush to it sends lines to memory, and so does what the
    flush is verified by.

    Raises
    ------
    MeasurementError
        When two levels cannot be told apart.
    """
    random = [estimate for estimate in reads if estimate.order is AccessOrder.RANDOM]
    for near, far in pairwise(random):
        if far.median < near.median * LEAST_RISE:
            raise MeasurementError(
                f"{near.level} cannot be told from {far.level}: {near.median:.1f} ns a line "
                f"against {far.median:.1f}; others fill {near.level}: measure when the machine is "
                "quieter, or leave this level out"
            )


def cold_pass(  # noqa: PLR0913, PLR0917 - one for each part of a measurement
    memory: Memory,
    level: str,
    lines: int,
    order: AccessOrder,
    passes: int,
    prepare: Callable[[], Sequence[TimedPass]],
) -> Estimate:
    """Return what a line takes above a warm pass after a preparation.

    Raises
    ------
    MeasurementError
        When more than half of the passes are rejected.
    """

    def once() -> float | None:
        # Changed lines are in no other cache, so that a move finds none of them there.
        before = [memory.write(lines)]
        before += [memory.read(lines, order) for _ in range(WARMING)]
        warm = memory.read(lines, order)
        between = prepare()
        cold = memory.read(lines, order)
        if any(one.is_interrupted for one in (*before, warm, *between, cold)):
            return None
        return (cold.nanoseconds - warm.nanoseconds) / lines

    found, rejected = accepted(once, passes, f"{level}, {order}, {lines:,} lines")
    first, _, third = quantiles(found, n=4)
    return Estimate(
        level=level,
        order=order,
        lines=lines,
        median=median(found),
        quartiles=(first, third),
        passes=len(found),
        rejected=rejected,
    )


def verify_flush(memory: Memory, level: FlushLevel, *, lines: int, passes: int) -> float:
    """Return the share of lines that come back from the level that a flush is for.

    A dependent probe after the flush is compared with a set of lines that fits into this level and
    into none before it.

    Raises
    ------
    MeasurementError
        When the share is too low, the levels cannot be told apart, or passes are rejected.
    """
    what = f"{level.name}, {AccessOrder.RANDOM}"

    def warm() -> float | None:
        timed = [memory.read(lines, AccessOrder.RANDOM) for _ in range(WARMING + 1)]
        return _per_line(timed, lines)

    def probe() -> float | None:
        memory.read(lines, AccessOrder.RANDOM)
        return _per_line([*flush(memory, level), memory.read(lines, AccessOrder.RANDOM)], lines)

    def reference() -> float | None:
        # The set goes round, so that each read finds its line where the whole set is. Other work
        # may have sent it further away meanwhile, but nothing is further away than memory.
        whole = (
            () if level is memory.levels[-1] else (memory.chase(level.set_size, level.set_size),)
        )
        return _per_line([*whole, memory.chase(level.set_size, lines)], lines)

    memory.chase(level.set_size, level.set_size)
    near, probed = (median(accepted(one, passes, what)[0]) for one in (warm, probe))
    # Passes at one level differ by more than the lines that a flush may leave behind. So the
    # lines must be as slow as in the faster passes over those that are surely there.
    far = quantiles(accepted(reference, passes, what)[0], n=4)[0]
    if far < near * LEAST_RISE:
        raise MeasurementError(
            f"{level.name} cannot be told from the cache: {far:.2f} ns a line against {near:.2f}; "
            "measure on a machine whose caches are known"
        )
    share = (probed - near) / (far - near)
    if share < LEAST_VERIFIED:
        raise MeasurementError(
            f"the flush to {level.name} is not verified: only {max(0.0, share):.1%} of the lines "
            f"come back from there ({probed:.1f} ns a line; {near:.1f} in the cache, {far:.1f} "
            f"there), and {LEAST_VERIFIED:.0%} must; try again when the machine is quieter, or "
            "leave this level out"
        )
    return share


def flush(memory: Memory, level: FlushLevel) -> tuple[TimedPass]:
    """Send the victim's lines to a level."""
    if level.has_random_flush:
        return (memory.chase(level.set_size, level.set_size),)
    return (memory.sweep(level.sweep),)


def send_away(memory: Memory, name: str) -> tuple[TimedPass, ...]:
    """Let a job lose its cache: by a flush to the level of this name, or by a move."""
    # Nothing that an earlier slice left on the other CPU may be there still.
    moves = (memory.move(),) if name == MOVED else ()
    return *moves, *flush(memory, level_named(memory, name))


def level_named(memory: Memory, name: str) -> FlushLevel:
    """Return the level of a flush; where the job moves, that of the flush over there.

    Raises
    ------
    MeasurementError
        When there is no such level.
    """
    levels = {MOVED: memory.levels[0]} | {level.name: level for level in memory.levels}
    if name not in levels:
        raise MeasurementError(f"there is no level {name!r}; known are {', '.join(levels)}")
    return levels[name]


def _write_back(memory: Memory, passes: int) -> tuple[float, int, int]:
    """Return what a dirty line adds to a sweep that evicts it, and the numbers of passes."""
    lines = memory.cache_lines
    size = memory.levels[0].sweep

    def swept(dirty: bool) -> Callable[[], float | None]:
        def once() -> float | None:
            memory.sweep(size)
            load = memory.write(lines) if dirty else memory.read(lines, AccessOrder.SEQUENTIAL)
            evicting = memory.sweep(size)
            return _per_line([load, evicting], lines)

        return once

    clean, few = accepted(swept(False), passes, "write-back, clean lines")
    dirty, more = accepted(swept(True), passes, "write-back, dirty lines")
    return max(0.0, median(dirty) - median(clean)), len(clean) + len(dirty), few + more


def _per_line(timed: Sequence[TimedPass], lines: int) -> float | None:
    """Return the nanoseconds a line of the last pass; None if any was interrupted."""
    if any(one.is_interrupted for one in timed):
        return None
    return timed[-1].nanoseconds / lines


def accepted(once: Callable[[], float | None], passes: int, what: str) -> tuple[list[float], int]:
    """Return the values of passes that count, and how many did not."""
    found: list[float] = []
    rejected = 0
    while len(found) < passes:
        value = once()
        if value is None:
            rejected += 1
        else:
            found.append(value)
        if rejected > passes * MOST_REJECTED / (1 - MOST_REJECTED):
            raise MeasurementError(
                f"{what}: {rejected} of {rejected + len(found)} passes were interrupted by other "
                "work, more than half; measure when the machine is quieter"
            )
    return found, rejected
