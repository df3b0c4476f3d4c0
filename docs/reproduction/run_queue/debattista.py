"""Batches of fine-grained threads: Debattista, Vella and Cordina, section 7 and figure 5."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from batching import (
    ARRAY_SIZE,
    CACHE_LINES,
    CALL,
    CPUS,
    CREATION,
    INCREMENT,
    LOCK,
    LONG,
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
from debattista_notes import WRITE_BACK, notes
from section import Calibrated, Row, Section, evidence
from shares import grows
from words import listed

LENGTHS = (1, 2, 4, 16, 128)
QUICK_LENGTHS = (1, 2, 4, 16)
FINE, COARSE = (1, 8), (64, 128)
DRAWN = (4, 16, 128)
"""PROCESS_LENGTHs of figure 5 at which four processors are faster than one."""

# Criteria.
VISIBLE = 1.02
"""A ratio of execution times that is an improvement."""

AROUND_DOUBLE = (1.75, 2.25)
MUCH_CONTENTION = 10
SMALL_BATCH = 8

CALIBRATED = (
    Calibrated(
        parameter="creation of a thread",
        value=f"{CREATION} ns",
        fitted_to="assumed, fitted to nothing; the notes say what other values change",
    ),
    Calibrated(
        parameter="switch to another thread",
        value=f"{SWITCH} ns",
        fitted_to="assumed: 84 cycles at 700 MHz for a switch at user level",
    ),
    Calibrated(
        parameter="one increment",
        value=f"{INCREMENT} ns",
        fitted_to="assumed: 3 cycles at 700 MHz for a turn of the loop",
    ),
    Calibrated(
        parameter="reading a line from memory",
        value=f"{MISS} ns; {NEXT_LINE} ns if it follows the line read before it",
        fitted_to='assumed; the paper says "tens to hundreds of nanoseconds". The second is what a '
        "bus of 800 MB/s needs for 32 bytes",
    ),
    Calibrated(
        parameter="waking a sleeping processor",
        value=f"{CALL} ns of the one that wakes, {WAKE} ns until the other starts",
        fitted_to="assumed: idle processors sleep on a semaphore of the kernel; the notes say "
        "what other values change",
    ),
    Calibrated(
        parameter="writing a line back",
        value="0",
        fitted_to=f"assumed: buffered; the notes say what {WRITE_BACK} ns change",
    ),
    Calibrated(
        parameter="lines of its stack that a thread touches in a pass",
        value=str(STACK_LINES),
        fitted_to="assumed",
    ),
    Calibrated(
        parameter="holding a lock for one operation",
        value=f"{LOCK} ns",
        fitted_to="assumed: 70 cycles, less than a miss; the notes say what other values change",
    ),
    Calibrated(
        parameter="atomic operations of wf-smash",
        value="0",
        fitted_to="assumed; there is one in several dozen dispatches",
    ),
)


def section(*, quick: bool = False) -> Section:
    """Simulate figure 5 and what the text says beside it."""
    grid = Grid(QUICK_LENGTHS if quick else LENGTHS)
    return Section(
        title="Batches (Debattista, Vella and Cordina)",
        intro=(
            f"An array of {ARRAY_SIZE:,} integers has one thread for every GRANULARITY of them. "
            "PROCESS_LENGTH times the thread adds 1 to each of its integers and yields. The "
            f"schedulers for one processor are compared with those for {CPUS}, each with a cache "
            f"of {CACHE_LINES:,} lines of 32 bytes, which replaces the least recently used line "
            "and is kept coherent by invalidation. A *speed-up* is the execution time under "
            "uni-smash divided by the scheduler's. Nothing was fitted. Machine, array and "
            "costs are those of the scenario `fine-grained`, which comes with dfopt; in the "
            "simulations array and cache are smaller by the same factor: "
            + listed(f"{scale} at granularity {g}" for g, scale in SCALES.items())
            + "; the notes compare one point with the full size."
        ),
        rows=(*uniprocessor_rows(grid), *multiprocessor_rows(grid)),
        calibrated=CALIBRATED,
        notes="\n\n".join(notes(grid, quick=quick)),
    )


def uniprocessor_rows(grid: Grid) -> Iterator[Row]:
    """Compare unibatch-smash with uni-smash."""
    lengths = grid.lengths
    at_1 = grid.speedups(UNIBATCH, [1], lengths)
    shown = by_length(lengths, at_1)
    yield evidence(
        shape="unibatch-smash is faster from PROCESS_LENGTH 2 on",
        published="seen at 2, and at once from 1 to 4",
        simulated=f"speed-up at granularity 1: {shown}",
        passes=lambda ratios: ratios[0] < VISIBLE <= ratios[1],
        found=at_1,
        without=same(UNI, at_1),
        criterion=f"at granularity 1 below {VISIBLE} at 1, and at least that at 2",
    )
    by_g = [grid.speedups(UNIBATCH, [g], lengths) for g in SCALES]
    yield evidence(
        shape="its gain grows with PROCESS_LENGTH",
        published='"very quickly reach larger and more sustained levels"',
        simulated=shown,
        passes=lambda rows: all(map(grows, rows)),
        found=by_g,
        without=same(UNI, by_g),
        criterion="speed-up rises with every step, at every granularity",
    )
    best = max(grid.speedups(UNIBATCH, FINE, lengths))
    low, high = AROUND_DOUBLE
    yield evidence(
        shape="up to twice as fast at very fine granularity",
        published="up to 100 %",
        simulated=f"up to {best - 1:.0%} at granularities 1 and 8",
        passes=lambda ratio: low <= ratio <= high,
        found=best,
        without=same(UNI, best),
        criterion=f"between {low - 1:.0%} and {high - 1:.0%}",
    )
    at_64 = grid.speedups(UNIBATCH, [64], grid.long_lengths())
    yield evidence(
        shape="still faster at granularity 64, if PROCESS_LENGTH is 16 or more",
        published="improvements observed",
        simulated=by_length(grid.long_lengths(), at_64),
        passes=lambda ratios: min(ratios) >= VISIBLE,
        found=at_64,
        without=same(UNI, at_64),
        criterion=f"speed-up of at least {VISIBLE}",
    )
    last = lengths[-1]
    saved = {
        length: [grid.time(UNI, g, length) - grid.time(UNIBATCH, g, length) for g in SCALES]
        for length in lengths[1:]
    }
    yield evidence(
        shape="the difference in time falls with granularity",
        published='"tails off"',
        simulated=f"at PROCESS_LENGTH {last}: "
        + by_granularity(f"{time / 1e6:.0f} ms" for time in saved[last]),
        passes=lambda rows: all(map(falls, rows)),
        found=[*saved.values()],
        without={
            "uni-smash": [[[0.0] * len(SCALES)] * len(saved)],
            "the same share": [[[grid.time(UNI, g, n) / 2 for g in SCALES] for n in saved]],
        },
        criterion="falls with every step, at every PROCESS_LENGTH from 2 on",
    )
    relative = grid.speedups(UNIBATCH, SCALES, [last])
    yield evidence(
        shape="the relative gain is largest at fine granularity",
        published='"up to 100 %" is said of "very fine granularities"',
        simulated=f"at PROCESS_LENGTH {last}: "
        + by_granularity(f"{ratio - 1:.0%}" for ratio in relative),
        passes=lambda ratios: max(ratios[: len(FINE)]) > max(ratios[len(FINE) :]),
        found=relative,
        without=same(UNI, relative),
        criterion="the largest at granularity 1 or 8",
    )


def multiprocessor_rows(grid: Grid) -> Iterator[Row]:
    """Compare the schedulers for several processors."""
    lengths = grid.lengths
    lengths_drawn = [length for length in DRAWN if length in lengths]
    cells = [
        [grid.time(scheduler, g, length) for scheduler in SCHEDULERS]
        for length in lengths_drawn
        for g in SCALES
    ]
    yield evidence(
        shape=f"order of the curves from PROCESS_LENGTH {DRAWN[0]} on: {listed(SCHEDULERS)}",
        published="from the upper curve to the lower one",
        simulated=f"so in {sum(map(falls, cells))} of {len(cells)} cells",
        passes=lambda times: all(map(falls, times)),
        found=cells,
        without=same("equally fast", cells),
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
            + listed(map(str, granularities)),
            published="clearly noted",
            simulated=f"takes {min(behind):.2f} to {max(behind):.2f} times as long as the slower "
            "of smpbatch-smash and wf-smash",
            passes=lambda ratios: min(ratios) > 1,
            found=behind,
            without=same("equally fast", behind),
            criterion="more than 1 everywhere",
        )
    spun = [(grid.outcomes[SHARED, g, 1].spun, grid.outcomes[SMPBATCH, g, 1].spun) for g in SCALES]
    yield evidence(
        shape="at PROCESS_LENGTH 1 batches relieve the contention for the run queue",
        published='"due mainly to the … reduced contention"',
        simulated="time on locks, shared-smash and smpbatch-smash: "
        + by_granularity(f"{shared / 1e6:.2f} and {batch / 1e6:.2f} ms" for shared, batch in spun),
        passes=lambda pairs: all(one > MUCH_CONTENTION * other for one, other in pairs),
        found=spun,
        without={SHARED: [[(shared, shared) for shared, _ in spun]]},
        criterion=f"more than {MUCH_CONTENTION} times less everywhere",
    )
    at_1 = {scheduler: grid.speedups(scheduler, SCALES, [1]) for scheduler in ON_SMP}
    yield evidence(
        shape="at PROCESS_LENGTH 1 four processors are no faster than one, up to granularity 128",
        published="no speed-up of any SMP scheduler",
        simulated="; ".join(
            f"{name}: " + by_granularity(f"{ratio:.2f}" for ratio in ratios)
            for name, ratios in at_1.items()
        ),
        passes=lambda ratios: max(ratios) < VISIBLE,
        found=[ratio for ratios in at_1.values() for ratio in ratios],
        without={f"{CPUS} times as fast": [[CPUS]]},
        criterion=f"speed-ups below {VISIBLE}",
    )
    small = {
        name: [
            grid.time(name, g, 1) / outcome(name, g, 1, scale=scale, batch_size=SMALL_BATCH).time
            for g, scale in SCALES.items()
        ]
        for name in WITH_BATCHES
    }
    yield evidence(
        shape="at PROCESS_LENGTH 1 smaller batches help at finer granularities, particularly "
        "wf-smash",
        published="when MAXBSIZE is reduced",
        simulated=f"times as fast with MAXBSIZE {SMALL_BATCH}: "
        + "; ".join(
            f"{name}: " + by_granularity(f"{ratio:.2f}" for ratio in ratios)
            for name, ratios in small.items()
        ),
        passes=lambda ratios: max(ratios[WF]) > max(VISIBLE, *ratios[SMPBATCH]),
        found=small,
        without={"batches of 32": [dict.fromkeys(small, [1.0] * len(SCALES))]},
        criterion=f"wf-smash at least {VISIBLE} times as fast somewhere, and more so than "
        "smpbatch-smash anywhere",
    )
    for granularities in (FINE, COARSE):
        ratios = {
            name: grid.speedups(name, granularities, grid.long_lengths()) for name in WITH_BATCHES
        }
        yield evidence(
            shape=f"more than {CPUS} times as fast on {CPUS} processors from PROCESS_LENGTH 16 on, "
            "at granularities " + listed(map(str, granularities)),
            published='"super scalar speedup" of both batch schedulers',
            simulated=listed(
                f"{name} {min(found):.1f} to {max(found):.1f}" for name, found in ratios.items()
            ),
            passes=lambda ratios: min(ratios) > CPUS,
            found=[ratio for found in ratios.values() for ratio in found],
            without={f"{CPUS} times as fast": [[CPUS]]},
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
        + by_length(lengths, lag.values()),
        passes=lambda ratios: min(ratios[shorter:]) > max(ratios[:shorter]),
        found=[*lag.values()],
        without=same("equally fast", [*lag.values()]),
        criterion=f"from {LONG} on more than at every shorter one",
    )


def same(name: str, found: Any) -> dict[str, list[Any]]:
    """Return, by a name, that all ratios are 1."""

    def ones(ratios: Any) -> Any:
        return [ones(ratio) for ratio in ratios] if isinstance(ratios, list) else 1.0

    return {name: [ones(found)]}


def falls(values: Sequence[float]) -> bool:
    """Return whether every value is less than the one before."""
    return grows(values[::-1])


def by_length(lengths: Iterable[int], ratios: Iterable[float]) -> str:
    """Show ratios at several process lengths."""
    shown = zip(lengths, ratios, strict=True)
    return listed(f"{ratio:.2f} at {length}" for length, ratio in shown)


def by_granularity(values: Iterable[str]) -> str:
    """Show values at all granularities."""
    return listed(f"{value} at {g}" for g, value in zip(SCALES, values, strict=True))
