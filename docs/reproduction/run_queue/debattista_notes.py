"""What the simulations of batches mean, and what they depend on."""

from collections.abc import Iterator

from batching import (
    ARRAY_SIZE,
    BATCH,
    CACHE_LINES,
    CALL,
    CREATION,
    INCREMENT,
    INTEGERS_OF_A_LINE,
    LOCK,
    MISS,
    NEXT_LINE,
    ON_SMP,
    ROUNDS,
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
    Grid,
    outcome,
)
from words import listed, table

from dfopt_models.batching import BatchingModel

COARSEST = max(SCALES)
CREATIONS = (CREATION, 4 * CREATION, 16 * CREATION, 64 * CREATION)
WAKE_UPS = ((0, 0), (1_000, 1_000), (CALL, WAKE), (2 * CALL, 2 * WAKE))
LOCKS = (0, LOCK, 4 * LOCK)
WRITE_BACK = 100

MODEL = BatchingModel(
    name="as simulated",
    cache_lines=CACHE_LINES,
    integers_of_a_line=INTEGERS_OF_A_LINE,
    array_size=ARRAY_SIZE,
    max_batch_size=BATCH,
    max_batch_count=ROUNDS * BATCH,
    own_lines=STACK_LINES,
    switch=SWITCH,
    increment=INCREMENT,
    miss=MISS,
    next_line=NEXT_LINE,
    creation=CREATION,
)


def notes(grid: Grid, *, quick: bool) -> Iterator[str]:
    """Show all speed-ups, and what they depend on."""
    yield "Speed-ups over uni-smash:"
    yield table(
        ["PROCESS_LENGTH", "GRANULARITY", "uni-smash, ms", *SCHEDULERS[1:]],
        (
            [str(length), str(g), f"{grid.time(UNI, g, length) / 1e6:.0f}"]
            + [f"{grid.speedup(scheduler, g, length):.2f}" for scheduler in SCHEDULERS[1:]]
            for length in grid.lengths
            for g in SCALES
        ),
    )
    yield closed_model(grid)
    yield smaller_array(grid, 64 if quick else 8)
    yield creation_times()
    yield wake_times()
    coarse = {name: grid.speedup(name, COARSEST, 4) for name in ON_SMP}
    excess = outcome(WF, COARSEST, 4, scale=SCALES[COARSEST], offer_excess=True)
    offered = grid.time(UNI, COARSEST, 4) / excess.time
    yield (
        f"At granularity {COARSEST} there are too few threads to share whole batches of 32. "
        f"Batches of threads that make at most {ROUNDS} passes end before their dispatches are "
        "used up. wf-smash hands batches on only then, so no other processor can take them: at "
        f"PROCESS_LENGTH 4 it is {coarse[WF]:.2f} times as fast as one processor, where "
        f"smpbatch-smash is {coarse[SMPBATCH]:.2f} times and shared-smash {coarse[SHARED]:.2f} "
        "times as fast. The paper can also be read otherwise: a full overflow batch that no idle "
        "processor takes becomes the migration batch (`offer_excess`). Then wf-smash is "
        f"{offered:.2f} times as fast."
    )
    yield lock_times()


def closed_model(grid: Grid) -> str:
    """Compare misses and gains with what they are by arithmetic."""
    misses, gains = [], []
    for (scheduler, g, length), found in grid.outcomes.items():
        if scheduler == UNI:
            read = MODEL.read_without_batches(g, length)
        elif scheduler == UNIBATCH:
            read = MODEL.read_with_batches(g, length)
            gains.append(abs(grid.speedup(UNIBATCH, g, length) / MODEL.gain(g, length) - 1))
        else:
            continue
        misses.append(abs(found.misses_a_dispatch / (MODEL.footprint(g) * read) - 1))
    return (
        "The gain on one processor can be computed. A thread's footprint is f = s + G/8 lines. "
        "In every dispatch uni-smash misses f lines, since all footprints together exceed the "
        f"cache, and unibatch-smash misses f / min(PROCESS_LENGTH, {ROUNDS}), since 32 "
        f"footprints fit and a batch goes round {ROUNDS} times. The gain is then (b + m)/(b + "
        f"m/min(PROCESS_LENGTH, {ROUNDS})) with b = switch + G · increment + "
        f"creation/PROCESS_LENGTH and m = s · miss + G/8 · {NEXT_LINE} ns. The simulated misses "
        f"differ from that by at most {max(misses):.1%}, the gains by at most {max(gains):.1%}, "
        "because the second line of a stack follows its first. "
        "For long processes m/b, and with it the relative gain, falls with granularity only if "
        f"successive lines are read in less than {MODEL.flat_next_line:.0f} ns (8 "
        "· s · miss · increment / switch)."
    )


def smaller_array(grid: Grid, granularity: int) -> str:
    """Compare one point with the array and the cache of the paper."""
    length = 4
    full = {name: outcome(name, granularity, length, scale=1).time for name in SCHEDULERS}
    whole = {name: full[UNI] / full[name] for name in SCHEDULERS[1:]}
    small = {name: grid.speedup(name, granularity, length) for name in SCHEDULERS[1:]}
    names = sorted(whole, key=whole.__getitem__)
    order = "the same" if names == sorted(small, key=small.__getitem__) else "another"
    widest = max(abs(small[name] / whole[name] - 1) for name in names)
    return (
        f"With the paper's array and cache the speed-ups at granularity {granularity} and "
        f"PROCESS_LENGTH {length} are "
        + listed(f"{name} {ratio:.2f}" for name, ratio in whole.items())
        + f"; with those smaller by {SCALES[granularity]} "
        + listed(f"{small[name]:.2f}" for name in whole)
        + f". The order of the schedulers is {order}; the largest difference is {widest:.1%}."
    )


def creation_times() -> str:
    """Show how the lack of a speed-up depends on what the creation of a thread takes."""
    rows = []
    for creation in CREATIONS:
        ratios = []
        for g in (1, 128):
            uni, *others = (
                outcome(name, g, 1, scale=SCALES[g], creation=creation).time
                for name in (UNI, *ON_SMP)
            )
            ratios += [f"{uni / other:.2f}" for other in others]
        rows.append([f"{creation / 1000:g} µs", *ratios])
    columns = [f"{name}, G = {g}" for g in (1, 128) for name in ON_SMP]
    return (
        "At PROCESS_LENGTH 1 four processors wait for the main thread, which makes all other "
        "threads one by one. How much faster they are than one processor depends on the time to "
        "make a thread. The bus to the memory, which they share, is not modelled.\n\n"
        + table(["creation", *columns], rows)
    )


def wake_times() -> str:
    """Show how the order of the schedulers depends on what it takes to wake a processor."""
    rows = []
    for call, wake in WAKE_UPS:
        ratios = []
        for g in (1, 128):
            shared, *others = (
                outcome(name, g, 1, scale=SCALES[g], call=call, wake=wake).time for name in ON_SMP
            )
            ratios.append(f"{shared / max(others):.2f}")
        rows.append([f"{call / 1000:g} µs", f"{wake / 1000:g} µs", *ratios])
    return (
        "At PROCESS_LENGTH 1 shared-smash wakes a sleeping processor for nearly every thread, and "
        "the batch schedulers wake one for a whole batch. How many times as long shared-smash "
        "takes as the slower of the other two:\n\n"
        + table(["waking", "starting", "G = 1", "G = 128"], rows)
    )


def lock_times() -> str:
    """Show how the order of the schedulers depends on locks and on writing back."""
    length, g = 4, 1
    rows = []
    settings = [(lock, 0) for lock in LOCKS] + [(LOCK, WRITE_BACK)]
    for lock, write_back in settings:
        times = [
            outcome(name, g, length, scale=SCALES[g], lock=lock, write_back=write_back).time
            for name in SCHEDULERS
        ]
        ratios = [f"{times[0] / time:.2f}" for time in times[1:]]
        rows.append([f"{lock} ns", f"{write_back} ns", *ratios])
    return (
        f"Speed-ups at granularity {g} and PROCESS_LENGTH {length} with other locks, and where "
        "writing back dirty lines takes time:\n\n"
        + table(["lock", "write-back", *SCHEDULERS[1:]], rows)
    )
