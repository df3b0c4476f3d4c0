"""Costs of a machine's caches, estimated from timed passes, and their document.

Every estimate is a *cold pass* less a *warm pass* of the same lines: read them until they are in
the cache, read them once more (warm), send them away, and read them again (cold). A pass counts
only if the thread kept its CPU throughout, in the preparation too. A flush is verified: the lines
must come back as slowly as lines do that are surely at that level. Where more than half of the
passes do not count, or a flush is not verified, there is no estimate but an error.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from enum import StrEnum
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Literal, NamedTuple, Protocol

from dfopt.errors import DfoptError, FileError
from dfopt.files.documents import DocumentType
from dfopt.files.formats import Format
from dfopt.structs import DocumentPart, Natural, Record
from dfopt.table import Table, columns
from dfopt_models.errors import check_known

LINE = 64
"""Bytes of a line."""

WORDS = LINE // 8
"""Words of a line."""

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

PICOSECONDS = {"ps": 1, "ns": 1000}
"""The units that a document may have, in picoseconds."""

MOST_ROUNDING = 0.1
"""A cost in whole nanoseconds may differ from the measured one by at most this share."""

MOST_SPREAD = 0.5
"""Runs may differ by at most this share of their median, where it is the ``read_line``."""


class MeasurementError(DfoptError):
    """A measurement that cannot be trusted."""


class AccessOrder(StrEnum):
    """In which order lines are read.

    RANDOM: each read waits for the one before, which says where to go; nothing can be fetched
    ahead. SEQUENTIAL: in the order of their addresses, which hardware fetches ahead.
    """

    RANDOM = "random"
    SEQUENTIAL = "sequential"


class TimedPass(NamedTuple):
    """How long something took, and whether the thread was interrupted meanwhile.

    Parameters
    ----------
    nanoseconds
        By a clock that never goes back.
    is_interrupted
        Whether the thread lost its CPU against its will.
    """

    nanoseconds: float
    is_interrupted: bool


class TimedSlice(NamedTuple):
    """How long each unit of work of a slice took.

    Parameters
    ----------
    units
        Nanoseconds of each unit, in their order.
    is_interrupted
        Whether the thread lost its CPU against its will.
    """

    units: Sequence[float]
    is_interrupted: bool


class FlushLevel(Record):
    """Where lines are after a flush.

    Parameters
    ----------
    name
        Such as ``"L3"`` or ``"memory"``.
    sweep
        Lines that evict all others if they are read in the order of their addresses.
    set_size
        Lines of a set that fits there and in no level before it.
    has_random_flush
        Whether the flush reads such a set in random order, and not a sweep. Caches that resist
        streams do not resist this; but it takes long where the set is large.
    """

    name: str
    sweep: int
    set_size: int
    has_random_flush: bool = False


class Memory(Protocol):
    """A thread on a CPU with a cache, its victim's lines, and lines of others.

    Attributes
    ----------
    cache_lines
        Lines of the cache of one CPU.
    levels
        Where a flush can send lines.
    has_other_cpu
        Whether the thread can move.
    """

    cache_lines: int
    levels: tuple[FlushLevel, ...]
    has_other_cpu: bool

    def read(self, lines: int, order: AccessOrder) -> TimedPass:
        """Read the first lines of the victim once."""

    def write(self, lines: int) -> TimedPass:
        """Change the first lines of the victim."""

    def sweep(self, lines: int) -> TimedPass:
        """Read this number of other lines, in the order of their addresses."""

    def chase(self, set_size: int, lines: int) -> TimedPass:
        """Read lines of a set in random order, from where the last such pass ended.

        Parameters
        ----------
        set_size
            Lines of the set; after the last one comes the first one.
        lines
            How many to read.
        """

    def move(self) -> TimedPass:
        """Go on on the other CPU."""


class Processor(Memory, Protocol):
    """A CPU that runs kernels, each of which does the same work in every unit."""

    def work(self, kernel: str, units: int) -> TimedSlice:
        """Go on with a kernel for some units."""

    def switch(self, times: int) -> TimedPass:
        """Let two processes on this CPU wake each other, until it changed hands this often."""


class Estimate(Record):
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


class MachineRun(Record):
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
    say = progress or (lambda _: None)
    flushes = {level.name: level for level in memory.levels}
    prepared = preparations(memory, lines)
    reads: list[Estimate] = []
    for name in levels_left(memory, leave_out):
        say(name)
        if name in flushes:
            verify_flush(memory, flushes[name], lines=lines, passes=passes)
        reads += [
            cold_pass(memory, name, lines, order, passes, prepared[name]) for order in AccessOrder
        ]
    check_levels_differ([estimate for estimate in reads if estimate.level in flushes])
    fills = []
    if any(estimate.level == MOVED for estimate in reads):
        say(f"{MOVED}, by the number of lines")
        fills = [
            cold_pass(memory, MOVED, size, AccessOrder.RANDOM, passes, prepared[MOVED])
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


def preparations(memory: Memory, lines: int) -> dict[str, Callable[[], Sequence[TimedPass]]]:
    """Return what sends the victim's lines to each level that a machine has."""
    flushes = {level.name: partial(flush, memory, level) for level in memory.levels}
    if not memory.has_other_cpu:
        return {**flushes}
    return {
        **flushes,
        MOVED: lambda: (memory.move(),),
        WRITTEN: lambda: (memory.move(), memory.write(lines), memory.move()),
    }


def levels_left(memory: Memory, leave_out: Collection[str]) -> tuple[str, ...]:
    """Return the levels that a machine has, without those that are left out.

    Raises
    ------
    MeasurementError
        When there is no such level, or none is left.
    """
    levels = tuple(preparations(memory, 0))
    for name in leave_out:
        check_known(name, levels, "level", error=MeasurementError)
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
    check_known(name, levels, "level", error=MeasurementError)
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


def too_many(rejected: int, wanted: int) -> bool:
    """Whether more passes were rejected than may be, if this number of them must count."""
    return rejected > wanted * MOST_REJECTED / (1 - MOST_REJECTED)


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
        if too_many(rejected, passes):
            raise MeasurementError(
                f"{what}: {rejected} of {rejected + len(found)} passes were interrupted by other "
                "work, more than half; measure when the machine is quieter"
            )
    return found, rejected


class MachineCosts(DocumentPart):
    """What a machine's caches cost.

    Parameters
    ----------
    time_unit
        The unit of times.
    read_line
        Time to read a line, t_r.
    write_back
        Time to write the whole cache back, T_w.
    lines
        Lines of a CPU's cache.
    """

    time_unit: Literal["ps", "ns"]
    read_line: Natural
    write_back: Natural
    lines: Natural

    def picoseconds(self, time: int) -> int:
        """Return a time of the document in picoseconds."""
        return time * PICOSECONDS[self.time_unit]

    def in_nanoseconds(self) -> tuple[int, int, int]:
        """Return t_r, T_w and the time to fill the cache as whole nanoseconds.

        Raises
        ------
        FileError
            When t_r is too short for whole nanoseconds.
        """
        exact = self.picoseconds(self.read_line) / PICOSECONDS["ns"]
        read_line = round(exact)
        if abs(read_line - exact) > MOST_ROUNDING * exact:
            raise FileError(
                f"is {exact:g} ns, which is no whole number of nanoseconds within "
                f"{MOST_ROUNDING:.0%}; measure another level or order, or give costs in a unit of "
                "your own",
                place="read_line",
            )
        fill = round(self.lines * exact)
        write_back = round(self.picoseconds(self.write_back) / PICOSECONDS["ns"])
        return read_line, write_back, fill


MACHINES = DocumentType(Format.MACHINE, MachineCosts)


def read_machine(path: str | Path) -> MachineCosts:
    """Return the costs in a file of the format ``dfopt-machine/1``.

    Raises
    ------
    FileError
        With file, place and remedy, when the file is not valid.
    """
    return MACHINES.read_toml(path)


def machine_document(
    runs: Sequence[MachineRun],
    *,
    lines: int,
    level: str | None = None,
    order: AccessOrder = AccessOrder.RANDOM,
    conditions: Mapping[str, str | float] = {},
) -> dict[str, Any]:
    """Return the document of what several runs measured.

    Parameters
    ----------
    runs
        The runs; figures are the medians of theirs.
    lines
        Lines of a CPU's cache.
    level, order
        Whose t_r is the machine's; by default that of a move, or of the last level.
    conditions
        What else was the case.

    Raises
    ------
    MeasurementError
        When the level was not measured, or its time differs too much between runs.
    """
    reads = list(zip(*(run.reads for run in runs), strict=True))
    levels = list(dict.fromkeys(estimates[0].level for estimates in reads))
    wanted = level or (MOVED if MOVED in levels else levels[-1])
    check_known(wanted, levels, "measured level", error=MeasurementError)
    (chosen,) = (
        estimates
        for estimates in reads
        if (estimates[0].level, estimates[0].order) == (wanted, order)
    )
    _check_spread(chosen)
    return {
        "format": str(MACHINES.format),
        "time_unit": "ps",
        "read_line": _picoseconds(median(one.median for one in chosen)),
        "write_back": _picoseconds(lines * median(run.write_back for run in runs)),
        "lines": lines,
        "x-read-line-is": {"level": wanted, "order": str(order)},
        "x-conditions": dict(conditions)
        | {"rejected": round(max(run.rejected for run in runs), 4), "runs": len(runs)},
        "x-read": [_table(estimates) for estimates in reads],
        "x-fill": [
            _table(estimates) for estimates in zip(*(run.fills for run in runs), strict=True)
        ],
        "x-write-back-of-a-line": [_picoseconds(run.write_back) for run in runs],
    }


def _check_spread(estimates: Sequence[Estimate]) -> None:
    medians = [one.median for one in estimates]
    if max(medians) - min(medians) > MOST_SPREAD * abs(median(medians)):
        shown = ", ".join(f"{value:.2f}" for value in medians)
        raise MeasurementError(
            f"{estimates[0].level}, {estimates[0].order}: the runs give {shown} ns a line, which "
            f"differ by more than {MOST_SPREAD:.0%}; measure when the machine is quieter, or "
            "choose another level"
        )


def _table(estimates: Sequence[Estimate]) -> dict[str, Any]:
    first = estimates[0]
    medians = [one.median for one in estimates]
    middle = median(medians)
    return {
        "level": first.level,
        "order": str(first.order),
        "lines": first.lines,
        "median": _picoseconds(middle),
        "quartiles": [
            _picoseconds(median(one.quartiles[end] for one in estimates)) for end in (0, 1)
        ],
        "medians_of_runs": [_picoseconds(value) for value in medians],
        "spread_of_runs": round((max(medians) - min(medians)) / middle, 4) if middle > 0 else 0.0,
        "passes": sum(one.passes for one in estimates),
        "rejected": sum(one.rejected for one in estimates),
    }


def _picoseconds(nanoseconds: float) -> int:
    return max(0, round(nanoseconds * PICOSECONDS["ns"]))


def machine_table(document: dict[str, Any]) -> Table:
    """Return what runs measured, a row for each level and order."""
    rows, nanosecond = [], PICOSECONDS["ns"]
    for row in document["x-read"]:
        low, high = (f"{quartile / nanosecond:.2f}" for quartile in row["quartiles"])
        shown = ", ".join(f"{run / nanosecond:.2f}" for run in row["medians_of_runs"])
        middle = row["median"] / nanosecond
        rows.append((row["level"], row["order"], middle, f"{low} to {high}", shown))
    headings = columns("level", "order", "ns a line :.2f", "quartiles", "runs")
    return Table("", headings, rows)
