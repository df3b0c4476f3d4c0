"""Batches of fine-grained threads: Debattista, Vella and Cordina, section 7 and figure 5."""

from collections.abc import Iterator, Sequence

from batching import (
    ARRAY_SIZE,
    CACHE_LINES,
    CALL,
    CPUS,
    CREATION,
    INCREMENT,
    INTEGERS_OF_A_LINE,
    LOCK,
    MISS,
    NEXT_LINE,
    ON_SMP,
    SCALES,
    SCHEDULERS,
    SHARED,
    SMPBATCH,
    STACK_LINES,
    SWITCH,
    UNI,
    UNIBATCH,
    WAKE,
    WF,
    WITH_BATCHES,
    Grid,
    outcome,
)
from rows import Row, Section, evidence
from words import grows, listed, table

LENGTHS = (1, 2, 4, 16, 128)
QUICK_LENGTHS = (1, 2, 4, 16)
FINE, COARSE = (1, 8), (64, 128)
DRAWN = (4, 16, 128)
"""PROCESS_LENGTHs of figure 5 at which four processors are faster than one."""

LONG = 16
"""From this PROCESS_LENGTH on threads use their data again and again."""

SLOW_CREATION = 64 * CREATION
FLAT_NEXT_LINE = INTEGERS_OF_A_LINE * STACK_LINES * MISS * INCREMENT / SWITCH
"""Time of a following line with which batches gain as much at any granularity."""

# Criteria.
VISIBLE = 1.02
"""A ratio of execution times that is an improvement."""

SMALL_BATCH = 8

PARAMETERS = (
    ("creation of a thread", f"{CREATION} ns", "assumed; what other values change stands above"),
    (
        "switch to another thread",
        f"{SWITCH} ns",
        "assumed: 84 cycles at 700 MHz for a switch at user level",
    ),
    (
        "one increment",
        f"{INCREMENT} ns",
        "assumed: 3 cycles at 700 MHz for a turn of the loop",
    ),
    (
        "reading a line from memory",
        f"{MISS} ns; {NEXT_LINE} ns if it follows the line read before it",
        'assumed; the paper says "tens to hundreds of nanoseconds". The second is what a bus of '
        "800 MB/s needs for 32 bytes",
    ),
    (
        "waking a sleeping processor",
        f"{CALL} ns of the one that wakes, {WAKE} ns until the other starts",
        "assumed: idle processors sleep on a semaphore of the kernel",
    ),
    ("writing a line back; atomic operations of wf-smash", "0", "assumed"),
    ("lines of its stack that a thread touches in a pass", str(STACK_LINES), "assumed"),
    (
        "holding a lock for one operation",
        f"{LOCK} ns",
        "assumed: 70 cycles, less than a miss",
    ),
)


def section(*, quick: bool = False) -> Section:
    """Simulate figure 5 and what the text says beside it."""
    grid = Grid(QUICK_LENGTHS if quick else LENGTHS)
    return Section(
        title="Batches (Debattista, Vella and Cordina)",
        paper="Debattista",
        intro=(
            f"An array of {ARRAY_SIZE:,} integers has one thread for every GRANULARITY of them. "
            "PROCESS_LENGTH times the thread adds 1 to each of its integers and yields. The "
            f"schedulers for one processor are compared with those for {CPUS}, each with a cache "
            f"of {CACHE_LINES:,} lines of 32 bytes, which replaces the least recently used line "
            "and is kept coherent by invalidation. A *speed-up* is the execution time under "
            "uni-smash divided by the scheduler's. Machine, array and costs are those of the "
            "scenario `fine-grained`; in the simulations array and cache are smaller by the same "
            "factor: "
            + listed(f"{scale} at granularity {g}" for g, scale in SCALES.items())
            + ". What batches gain on one processor is arithmetic of these costs "
            "([the formula](batching.md)), and so is no evidence."
        ),
        wrong=tuple(faults(grid)),
        rows=tuple(rows_of(grid)),
        parameters=PARAMETERS,
        notes="Speed-ups over uni-smash:\n\n"
        + table(
            ["PROCESS_LENGTH", "GRANULARITY", "uni-smash, ms", *SCHEDULERS[1:]],
            (
                [str(length), str(g), f"{grid.time(UNI, g, length) / 1e6:.0f}"]
                + [f"{grid.speedup(scheduler, g, length):.2f}" for scheduler in SCHEDULERS[1:]]
                for length in grid.lengths
                for g in SCALES
            ),
        ),
    )


def faults(grid: Grid) -> Iterator[str]:
    """Say what is wrong."""

    def lag(**costs: int) -> float:
        """Return how much longer shared-smash takes than smpbatch-smash, in ms."""
        shared, batch = (outcome(one, 1, 1, scale=SCALES[1], **costs) for one in (SHARED, SMPBATCH))
        return (shared - batch) / 1e6

    yield (
        "*That batches relieve the contention for the run queue at PROCESS_LENGTH 1 is not what "
        f"the simulation shows*: at granularity 1 shared-smash takes {lag():.0f} ms longer than "
        f"smpbatch-smash, {lag(lock=0):.0f} ms longer if locks cost nothing, and "
        f"{lag(call=0, wake=0):.0f} ms longer if waking a processor costs nothing. It wakes a "
        "sleeping processor for nearly every thread."
    )
    uni, *others = (
        outcome(one, 1, 1, scale=SCALES[1], creation=SLOW_CREATION) for one in (UNI, *ON_SMP)
    )
    yield (
        "*Assumed costs decide rows of batches.* On one processor the relative gain falls with "
        f"granularity only if a following line takes less than {FLAT_NEXT_LINE:.0f} ns; "
        f"{NEXT_LINE} ns were taken. At PROCESS_LENGTH 1 four processors wait for the main "
        f"thread: if it took {SLOW_CREATION / 1000:.0f} µs to make a thread and not "
        f"{CREATION / 1000:g} µs, speed-ups would be "
        + listed(f"{uni / one:.2f}" for one in others)
        + ", as published. The times to wake a processor, "
        f"{CALL / 1000:.0f} and {WAKE / 1000:.0f} µs, are what shared-smash pays there."
    )


def rows_of(grid: Grid) -> Iterator[Row]:
    """Compare the schedulers for several processors."""
    lengths = grid.lengths
    cells = [
        [grid.time(scheduler, g, length) for scheduler in SCHEDULERS]
        for length in DRAWN
        if length in lengths
        for g in SCALES
    ]
    yield evidence(
        shape=f"order of the curves from PROCESS_LENGTH {DRAWN[0]} on: {listed(SCHEDULERS)}",
        published="from the upper curve to the lower one",
        simulated=f"so in {sum(map(falls, cells))} of {len(cells)} cells",
        passes=lambda times: all(map(falls, times)),
        found=cells,
        without=[[[1.0] * len(SCHEDULERS)] * len(cells)],
        criterion="in this order in all cells",
    )
    for granularities in (FINE, COARSE):
        behind = [
            grid.time(SHARED, g, length)
            / max(grid.time(scheduler, g, length) for scheduler in WITH_BATCHES)
            for length in lengths
            for g in granularities
        ]
        yield evidence(
            shape="shared-smash is the slowest for all PROCESS_LENGTHs, at granularities "
            + listed(granularities),
            published="clearly noted",
            simulated=f"takes {min(behind):.2f} to {max(behind):.2f} times as long as the slower "
            "of smpbatch-smash and wf-smash",
            passes=lambda ratios: min(ratios) > 1,
            found=behind,
            without=[[1.0]],
            criterion="more than 1 everywhere",
        )
    at_1 = {scheduler: grid.speedups(scheduler, SCALES, [1]) for scheduler in ON_SMP}
    yield evidence(
        shape="at PROCESS_LENGTH 1 four processors are no faster than one, up to granularity 128",
        published="no speed-up of any SMP scheduler",
        simulated=by_scheduler(at_1),
        passes=lambda ratios: max(ratios) < VISIBLE,
        found=[ratio for ratios in at_1.values() for ratio in ratios],
        without=[[float(CPUS)]],
        criterion=f"speed-ups below {VISIBLE}",
    )
    small = {
        name: [
            grid.time(name, g, 1) / outcome(name, g, 1, scale=scale, batch_size=SMALL_BATCH)
            for g, scale in SCALES.items()
        ]
        for name in WITH_BATCHES
    }
    yield evidence(
        shape="at PROCESS_LENGTH 1 smaller batches help at finer granularities, particularly "
        "wf-smash",
        published="when MAXBSIZE is reduced",
        simulated=f"times as fast with MAXBSIZE {SMALL_BATCH}: {by_scheduler(small)}",
        passes=lambda ratios: max(ratios[WF]) > max(VISIBLE, *ratios[SMPBATCH]),
        found=small,
        without=[{name: [1.0] for name in small}],
        criterion=f"wf-smash at least {VISIBLE} times as fast somewhere, and more so than "
        "smpbatch-smash anywhere",
    )
    for granularities in (FINE, COARSE):
        long = [length for length in lengths if length >= LONG]
        ratios = {name: grid.speedups(name, granularities, long) for name in WITH_BATCHES}
        alone = CPUS * max(grid.speedups(UNIBATCH, granularities, long))
        yield evidence(
            shape=f"more than {CPUS} times as fast on {CPUS} processors from PROCESS_LENGTH {LONG} "
            f"on, at granularities {listed(granularities)} (weak: {CPUS} processors that gain as "
            f"much as one from batches would be {alone:.1f} times as fast)",
            published='"super scalar speedup" of both batch schedulers',
            simulated=listed(
                f"{name} {min(found):.1f} to {max(found):.1f}" for name, found in ratios.items()
            ),
            passes=lambda ratios: min(ratios) > CPUS,
            found=[ratio for found in ratios.values() for ratio in found],
            without=[[float(CPUS)]],
            criterion=f"speed-ups above {CPUS} everywhere",
        )
    lag = {
        length: grid.time(SHARED, 1, length)
        / min(grid.time(name, 1, length) for name in WITH_BATCHES)
        for length in lengths
    }
    shorter = sum(length < LONG for length in lengths)
    yield evidence(
        shape="shared-smash falls further behind at large PROCESS_LENGTHs",
        published='"degrades even further" at 16 and 128',
        simulated="times as long as the faster batch scheduler at granularity 1: "
        + listed(f"{ratio:.2f} at {length}" for length, ratio in lag.items()),
        passes=lambda ratios: min(ratios[shorter:]) > max(ratios[:shorter]),
        found=[*lag.values()],
        without=[[1.0] * len(lengths)],
        criterion=f"from {LONG} on more than at every shorter one",
    )


def falls(values: Sequence[float]) -> bool:
    """Return whether every value is less than the one before."""
    return grows(values[::-1])


def by_scheduler(ratios: dict[str, list[float]]) -> str:
    """Show ratios of schedulers at all granularities."""
    return "; ".join(
        f"{name}: " + listed(f"{ratio:.2f} at {g}" for g, ratio in zip(SCALES, found, strict=True))
        for name, found in ratios.items()
    )
