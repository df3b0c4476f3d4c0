"""The custom benchmark under O(1): Pinter and Zalmanovici, section 5.2.

Only what vanilla misses, by the number of threads, is evidence. The simulation looks at the caches
once in many iterations and then touches each line of a fragment once. So nothing in it depends on
the size of fragments, and gains and misses by size cannot come out as they were published.
"""

from concurrent.futures import ProcessPoolExecutor
from statistics import mean

from pinter_runs import SHIPPED, SPAWN_TIMES, VANILLA, simulated
from rows import Row, evidence
from words import grows, listed, with_interval

from dfopt import replace
from dfopt.simulate.caches import CacheSizes
from dfopt.simulate.workloads.custom import Custom, FragmentOrder

# Table 3: L2 misses of vanilla, by threads and size of the fragments.
THREADS, SIZES = (8, 32, 128), (1000, 8000, 20000)
MISSES = {8: (11236, 6844, 8509), 32: (72467, 50232, 48096), 128: (334290, 247784, 219611)}
SAMPLE = 3_000
"""Number of misses that one count stands for, by the paper's tables."""

CUSTOM: Custom = SHIPPED["custom"].workload

# Assumed, or fitted.
ITERATIONS = {8: 1_250_000, 32: 1_250_000, 128: 1_000_000}
DEALS = {8: 24, 32: 6, 128: 2}
"""Number of orders in which fragments are dealt out, by threads."""

BURST = 600
"""Iterations between two looks at the caches."""

LINES_OF_ITERATION = 2.1
MISS = 200
L2_LINES = 256 * 1024 // 64
INTEGERS_OF_A_LINE = 16

CUSTOM_PARAMETERS = (
    (
        "custom: which thread works on which fragment",
        "the same number on each, in a random order, where the scenario deals them out in turn; "
        "means over " + listed(f"{count} ({threads} threads)" for threads, count in DEALS.items()),
        "the paper does not say",
    ),
    (
        "custom: execution time of an iteration",
        f"{CUSTOM.iteration_time} ns",
        "fitted to the run times of *new*: 27.4 s for 8 threads of 10 million on two CPUs",
    ),
    (
        "custom: lines touched in an iteration",
        f"{LINES_OF_ITERATION}",
        "fitted to 0.5 misses of an iteration, *vanilla*, 32 threads",
    ),
    (
        "custom: iterations; those between two looks at the caches",
        listed(f"{count / 1e6:g} million ({one} threads)" for one, count in ITERATIONS.items())
        + f"; {BURST}, where the scenario has {CUSTOM.burst_iterations:,}",
        "fewer than the paper's 10 million, to shorten the simulation",
    ),
    (
        "custom: time of a miss",
        f"{MISS} ns, with caches of {L2_LINES:,} lines, where the scenario has no caches",
        "assumed: a read from memory. The caches are the second level's 256 KB",
    ),
    ("custom: unit of the size of fragments", "integers of 4 bytes", "assumed"),
)  # fmt: skip


def misses_of(run: tuple[int, int, int]) -> float:
    """Return the misses of an iteration, by threads, size of the fragments, and seed.

    One simulated miss stands for those of all touches that its line would have.
    """
    threads, size, seed = run
    lines = -(-size // INTEGERS_OF_A_LINE)
    weight = BURST * LINES_OF_ITERATION / lines
    miss = round(MISS * weight)
    kind = replace(
        CUSTOM,
        threads=threads,
        fragment_lines=lines,
        fragment_order=FragmentOrder.SHUFFLED,
        iterations=ITERATIONS[threads],
        burst_iterations=BURST,
        spawn_time=SPAWN_TIMES[0],
    )
    done = simulated(kind, VANILLA, miss, CacheSizes(lines=L2_LINES, miss=miss), seed)
    assert done.caches is not None
    return sum(done.caches.misses) * weight / threads / ITERATIONS[threads]


def custom_row(*, quick: bool) -> Row:
    """Simulate the benchmark, and compare how misses grow with the threads."""
    sizes = SIZES[:1] if quick else SIZES
    deals = dict.fromkeys(THREADS, 2) if quick else DEALS
    cells = [(threads, size) for threads in reversed(THREADS) for size in sizes]
    runs = [(*cell, seed) for cell in cells for seed in range(deals[cell[0]])]
    with ProcessPoolExecutor() as pool:
        found = dict(zip(runs, pool.map(misses_of, runs), strict=True))
    missed = [
        [[found[threads, size, seed] for seed in range(deals[threads])] for size in sizes]
        for threads in THREADS
    ]
    published = [
        [count * SAMPLE / threads / CUSTOM.iterations for count in MISSES[threads][: len(sizes)]]
        for threads in THREADS
    ]
    return evidence(
        shape=f"custom, fragments of {listed(sizes)}: misses of an iteration under vanilla grow "
        f"with the threads, {' → '.join(map(str, THREADS))}",
        published="; ".join(listed(f"{miss:.2f}" for miss in row) for row in published),
        simulated="; ".join(listed(with_interval(one, 2) for one in row) for row in missed),
        criterion="more with every step, for every size",
        passes=lambda rows: all(map(grows, zip(*rows, strict=True))),
        found=[[mean(one) for one in row] for row in missed],
        without=[[[0.5] * len(sizes)] * len(THREADS)],
    )
