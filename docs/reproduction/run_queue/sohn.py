"""Two-level multi-scan scheduling: Sohn and Kim, figures 6, 8 and 10, tables 1 and 2."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from statistics import fmean

from lock_law import gain, miss_ratio, spinning, think_for
from section import Row, Section, verdict
from sohn_calibrated import CALIBRATED, MOST
from sohn_runs import (
    LOCAL_FIRST,
    LONG_SLICE,
    ONE,
    ORIGINAL,
    SCANS_ALWAYS_LOCK,
    TABLE_CPUS,
    THREE,
    TIME_SLICE,
    TWO,
    Measured,
    Ratio,
    mean_of,
    measured,
    micro_benchmark,
    mix,
    ratio,
    table_mix,
)

from dfopt.simulate.run_queue.workloads.aim import Aim, BufferLists, FileChoice

ALL_CPUS = (2, 4, 6, 8, MOST)
STEEPEST = (4, 6)

# What was published.
MISS_RATIOS = {ORIGINAL: 0.92, TWO: 0.12}
SPINNING = 0.20
GAIN = 0.50
WAIT = 0.1e-3
TABLE_1 = {"cswitch": (1.4, 1.03), "fexec": (1.3, 0.99), "read": (1.38, 0.78)}
FITTED = {("cswitch", ORIGINAL), ("cswitch", THREE), ("read", THREE)}
"""What of it parameters were fitted to."""

TABLE_2 = {5: (208, 216), 10: (394, 409), 30: (1194, 1193)}
SLOPES = {BufferLists.GLOBAL: 0.95, BufferLists.PER_CPU: 0.98}

# Criteria.
POINTS = 0.05
"""So near must ratios of misses, of spinning, and of elapsed times be."""

GAIN_POINTS = 0.15
"""The gain is published as "about"."""

PROPORTION = 0.1
"""By so much may elapsed times grow more, or less, with users."""


class Runs:
    """The simulations of the section, each done once."""

    def __init__(self, *, quick: bool) -> None:
        self._seconds = 15 if quick else 40
        self._seeds = range(2) if quick else range(4)
        self._jobs = 20 if quick else 60

    def _mixed(self, policy: str, cpus: int, lists: BufferLists | None) -> tuple[Measured, ...]:
        aim = mix(cpus, lists=lists)
        return measured(aim, policy, cpus, seeds=self._seeds, cpu_seconds=self._seconds)

    def mixed(self, policy: str, cpus: int) -> Measured:
        """Return what the mix gives on so many CPUs."""
        return mean_of(self._mixed(policy, cpus, None))

    def relative(self, policy: str, cpus: int, other: str = ORIGINAL) -> Ratio:
        """Return the throughput of a policy over another's."""
        found = (self._mixed(one, cpus, None) for one in (policy, other))
        return ratio(*([one.throughput for one in runs] for runs in found))

    def elapsed(
        self,
        sort: str,
        policy: str,
        *,
        time_slice: int = TIME_SLICE,
        choice: FileChoice = FileChoice.OWN,
    ) -> Ratio:
        """Return the elapsed time of a micro-benchmark over that of two scans."""
        aim = micro_benchmark(sort, self._jobs // 2, choice)
        return self._over_two_scans(aim, policy, time_slice)

    def table_2(self, users: int) -> tuple[float, Ratio]:
        """Return the elapsed time of two scans for so many users, and that of three over it."""
        aim = table_mix(users, self._jobs)
        two = mean_of(measured(aim, TWO, TABLE_CPUS, seeds=self._seeds))
        return two.elapsed, self._over_two_scans(aim, THREE)

    def _over_two_scans(self, aim: Aim, policy: str, time_slice: int = TIME_SLICE) -> Ratio:
        found = (
            measured(aim, one, TABLE_CPUS, seeds=self._seeds, time_slice=time_slice)
            for one in (policy, TWO)
        )
        return ratio(*([one.elapsed for one in runs] for runs in found))

    def slopes(self, lists: BufferLists) -> list[float]:
        """Return the least-squares slopes of the throughput, in CPUs, over CPUs."""
        middle = fmean(ALL_CPUS)
        spread = sum((cpus - middle) ** 2 for cpus in ALL_CPUS)
        found = zip(*(self._mixed(TWO, cpus, lists) for cpus in ALL_CPUS), strict=True)
        return [
            sum((n - middle) * one.throughput for n, one in zip(ALL_CPUS, runs, strict=True))
            / spread
            for runs in found
        ]


def section(*, quick: bool = False) -> Section:
    """Simulate the figures and tables."""
    runs = Runs(quick=quick)
    return Section(
        title="Two-level multi-scan scheduling (Sohn and Kim)",
        intro=(
            "A mix like AIM III's: users run jobs that pass a byte through pipes (Cswitch), fork "
            "and execute programs (Fexec), read files from the buffer cache or a disk (Read), and "
            "compute. The original scheduler has one ready queue of priority lists behind one "
            "lock; TLMS has one for each CPU, and scans them once, twice or three times. "
            "*Throughput* is the execution done in a second while all users go on for ever; it "
            "stands for the number of virtual users. Micro-benchmarks and Table 2 run to their "
            f"end, on {TABLE_CPUS} CPUs. What is marked as fitted is no evidence; the mix was "
            "chosen for the loss of one scan. All else follows."
        ),
        rows=(
            *lock_rows(runs),
            *scaling_rows(runs),
            *(row for sort in TABLE_1 for row in table_1_rows(runs, sort)),
            *table_2_rows(runs),
            *buffer_rows(runs),
        ),
        calibrated=CALIBRATED,
        notes="\n\n".join(notes(runs)),
    )


def lock_rows(runs: Runs) -> Iterator[Row]:
    """Compare the contention for locks."""
    original, two = (runs.mixed(policy, MOST) for policy in (ORIGINAL, TWO))
    yield Row(
        shape=f"lock miss ratio of the original, {MOST} CPUs (fitted)",
        published="92 %",
        simulated=f"{original.miss_ratio:.1%}",
        verdict=verdict(holds=abs(original.miss_ratio - MISS_RATIOS[ORIGINAL]) <= POINTS),
        criterion=within(POINTS),
    )
    yield Row(
        shape=f"lock miss ratio with two scans, {MOST} CPUs",
        published="12 %",
        simulated=f"{two.miss_ratio:.1%}",
        verdict=verdict(holds=abs(two.miss_ratio - MISS_RATIOS[TWO]) <= POINTS),
        criterion=within(POINTS),
    )
    misses = [runs.mixed(ORIGINAL, cpus).miss_ratio for cpus in ALL_CPUS]
    steps = dict(zip(pairwise(ALL_CPUS), (b - a for a, b in pairwise(misses)), strict=True))
    yield Row(
        shape="the original's rises most from 4 to 6 CPUs, and then ever less",
        published="figure 6",
        simulated=by_cpus(f"{miss:.0%}" for miss in misses),
        verdict=verdict(
            holds=max(steps, key=steps.__getitem__) == STEEPEST
            and all(steps[a] > steps[b] for a, b in pairwise(steps) if a >= STEEPEST)
        ),
        criterion="the step from 4 to 6 is the largest, and those after it fall",
    )
    misses = [runs.mixed(TWO, cpus).miss_ratio for cpus in ALL_CPUS]
    yield Row(
        shape="that of two scans is almost horizontal",
        published="figure 6",
        simulated=by_cpus(f"{miss:.0%}" for miss in misses),
        verdict=verdict(holds=max(misses) - min(misses) <= 2 * POINTS),
        criterion=f"within {200 * POINTS:.0f} points over all numbers of CPUs",
    )
    yield Row(
        shape=f"share of the CPUs that spins in the original, {MOST} CPUs",
        published="20 %",
        simulated=f"{original.spinning:.0%}; with two scans {two.spinning:.1%}",
        verdict=verdict(holds=abs(original.spinning - SPINNING) <= POINTS),
        criterion=within(POINTS),
    )
    yield Row(
        shape=f"a wait for the original's lock, {MOST} CPUs",
        published="0.1 ms or more",
        simulated=f"{1000 * original.wait:.2f} ms on average",
        verdict=verdict(holds=original.wait >= WAIT),
        criterion="at least 0.1 ms on average",
    )


def scaling_rows(runs: Runs) -> Iterator[Row]:
    """Compare throughputs."""
    found = runs.relative(TWO, MOST)
    yield Row(
        shape=f"gain of two scans, {MOST} CPUs",
        published="about 50 %",
        simulated=f"{found.mean - 1:.0%} ± {found.error:.0%}",
        verdict=verdict(holds=abs(found.mean - 1 - GAIN) <= GAIN_POINTS),
        criterion=within(GAIN_POINTS),
    )
    for cpus in (2, 4, 6):
        one = runs.relative(ONE, cpus)
        yield Row(
            shape=f"one scan is worse than the original, {cpus} CPUs (the mix was chosen for it)",
            published="figure 8",
            simulated=f"{one} times its throughput",
            verdict=verdict(holds=one.is_clearly(below=True)),
            criterion="less than 1 by more than twice the standard error",
        )
        better = runs.relative(TWO, cpus, ONE)
        yield Row(
            shape=f"two scans are better than one, {cpus} CPUs",
            published="figure 8",
            simulated=f"{better} times its throughput",
            verdict=verdict(holds=better.is_clearly(below=False)),
            criterion="more than 1 by more than twice the standard error",
        )


def table_1_rows(runs: Runs, sort: str) -> Iterator[Row]:
    """Compare a micro-benchmark of Table 1."""
    for policy, published in zip((ORIGINAL, THREE), TABLE_1[sort], strict=True):
        found = runs.elapsed(sort, policy)
        is_fitted = (sort, policy) in FITTED
        what = "the original" if policy == ORIGINAL else "three scans"
        same_side = found.is_clearly(below=published < 1)
        yield Row(
            shape=f"{sort.title()}: elapsed time of {what} over two scans'"
            + (" (fitted)" if is_fitted else ""),
            published=f"{published}",
            simulated=f"{found}",
            verdict=verdict(holds=same_side and abs(found.mean - published) <= POINTS),
            criterion=f"on the same side of 1 by more than twice the standard error, and within "
            f"{POINTS}",
        )


def table_2_rows(runs: Runs) -> Iterator[Row]:
    """Compare the elapsed times of Table 2."""
    two = {users: runs.table_2(users)[0] for users in TABLE_2}
    ratios = {users: runs.table_2(users)[1] for users in TABLE_2}
    published = {users: three / both for users, (both, three) in TABLE_2.items()}
    yield Row(
        shape="mix: elapsed time of three scans over two scans', 5, 10 and 30 users",
        published=listed(f"{ratio:.3f}" for ratio in published.values()),
        simulated=listed(map(str, ratios.values())),
        verdict=verdict(holds=all(abs(ratios[n].mean - published[n]) <= POINTS for n in TABLE_2)),
        criterion=f"each within {POINTS}",
    )
    grown = [two[b] / two[a] for a, b in pairwise(TABLE_2)]
    expected = [TABLE_2[b][0] / TABLE_2[a][0] for a, b in pairwise(TABLE_2)]
    yield Row(
        shape="mix: elapsed time grows with users, from 5 to 10 and from 10 to 30",
        published=listed(f"{ratio:.2f} times" for ratio in expected),
        simulated=listed(f"{ratio:.2f} times" for ratio in grown),
        verdict=verdict(
            holds=all(abs(a / b - 1) <= PROPORTION for a, b in zip(grown, expected, strict=True))
        ),
        criterion=f"each within {PROPORTION:.0%}",
    )


def buffer_rows(runs: Runs) -> Iterator[Row]:
    """Compare one list of free buffers with one for each CPU."""
    slopes = [runs.slopes(lists) for lists in SLOPES]
    one, each = map(fmean, slopes)
    steeper = ratio(slopes[1], slopes[0])
    yield Row(
        shape="slope: how much throughput, in CPUs, a CPU adds; one list of free buffers",
        published="0.95",
        simulated=f"{one:.3f}",
        verdict=verdict(holds=abs(one - SLOPES[BufferLists.GLOBAL]) <= POINTS),
        criterion=within(POINTS),
    )
    yield Row(
        shape="the slope is steeper with a list for each CPU",
        published="by 0.03, to 0.98",
        simulated=f"{steeper} times, {each:.3f}",
        verdict=verdict(holds=steeper.is_clearly(below=False)),
        criterion="steeper by more than twice the standard error",
    )


def notes(runs: Runs) -> Iterator[str]:
    """Show all throughputs, and what they depend on."""
    policies = (ORIGINAL, ONE, TWO, THREE)
    lines = [["CPUs", *policies], ["---"] * (1 + len(policies))]
    for cpus in ALL_CPUS:
        found = [runs.mixed(policy, cpus) for policy in policies]
        lines.append(
            [str(cpus)]
            + [f"{one.throughput:.2f}, {one.miss_ratio:.0%}, {one.spinning:.0%}" for one in found]
        )
    yield "Throughput in CPUs, lock miss ratio, and share of the CPUs that spins:"
    yield "\n".join(f"| {' | '.join(line)} |" for line in lines)
    local = runs.mixed(LOCAL_FIRST, MOST)
    yield (
        "The paper gives two accounts of when queues are scanned. Its text, at every switch, is "
        "what is simulated above. If only CPUs whose own queue is empty scan the others, two "
        f"scans with {MOST} CPUs gain {runs.relative(LOCAL_FIRST, MOST).mean - 1:.0%} and miss "
        f"{local.miss_ratio:.0%} of the locks; but with 2, 4 and 6 CPUs they then have "
        + listed(f"{runs.relative(LOCAL_FIRST, cpus).mean:.2f}" for cpus in (2, 4, 6))
        + " times the original's throughput, as one scan has "
        + listed(f"{runs.relative(ONE, cpus).mean:.2f}" for cpus in (2, 4, 6))
        + ": they prevent no inversion as long as a CPU has a thread of its own."
    )
    counted = runs.elapsed("cswitch", SCANS_ALWAYS_LOCK)
    yield (
        "It does not say either what is counted before a queue is locked. Above it is the threads "
        "in the range of the scan, and each look takes time; did it take none, a third scan could "
        "not slow Cswitch at all. If all threads of a queue are counted, a third scan locks queues "
        f"in vain, and Cswitch takes {counted.mean:.2f} times as long as with two."
    )
    mixed = runs.elapsed("read", THREE, choice=FileChoice.RANDOM)
    long = runs.elapsed("read", THREE, time_slice=LONG_SLICE)
    yield (
        "Read gains from a third scan if three things hold. The copies that wait for the disks are "
        "the last to end, so they must be others than those that read from the buffer cache: if "
        "each copy reads from both, a file at random whenever it opens one, what some gain the "
        "others lose, only CPU time that was idle can be won, and three scans take "
        f"{mixed} times as long as two. So much must be copied in kernel mode that the CPUs are "
        "busy with it for a good part of the run. And who copies must let go of its CPU soon, as "
        f"nobody is preempted: with slices of {LONG_SLICE / 1e6:.0f} ms three scans take {long} "
        "times as long as two. The original serves disk wake-ups first as three scans do; it could "
        "lose in Read by its lock alone, which blocks of a millisecond and more seldom take."
    )
    original, two = (runs.mixed(policy, MOST) for policy in (ORIGINAL, TWO))
    think = think_for(MISS_RATIOS[ORIGINAL], MOST)
    yield (
        f"The published numbers agree with a law: if each of {MOST} CPUs computes {think:.2f} "
        "times as long between two operations as one takes, all times exponential, one lock is "
        f"missed {MISS_RATIOS[ORIGINAL]:.0%} of the times (the arrival theorem). With {MOST} "
        f"locks, each as likely as the others, it is {miss_ratio(MOST, think, MOST):.1%}, and "
        f"{gain(MOST, think, MOST) - 1:.0%} more is done; but then {spinning(MOST, think):.0%} of "
        f"the CPUs spin, and not {SPINNING:.0%}. In the simulation a CPU computes "
        f"{original.think:.2f} times as long, with two scans {two.think:.2f} times, of which the "
        f"law makes misses of {miss_ratio(MOST, original.think):.1%} and "
        f"{miss_ratio(MOST, two.think, MOST):.1%}, and {spinning(MOST, original.think):.0%} that "
        f"spins: {original.miss_ratio:.1%}, {two.miss_ratio:.1%} and {original.spinning:.0%} are "
        "simulated. Long computing beside fast switching misses one lock less often than times "
        "that are all alike; and a CPU that puts a thread back and takes the next one uses the "
        "lock twice, with nobody in between. Both ask for a longer time of the lock for the same "
        "misses, and the longer it is, the more CPUs spin and the more two scans miss."
    )
    share = original.spinning
    yield (
        f"A fifth of the CPUs spinning, and a gain of a half, are not consistent with each other "
        f"by spinning alone: who stops spinning gains 1/(1 − {SPINNING}) − 1 = "
        f"{1 / (1 - SPINNING) - 1:.0%}. Here {share:.0%} spin, which gives "
        f"{1 / (1 - share) - 1:.0%}. One queue also hands out threads in the order of their "
        "bands over all CPUs, and is without any inversion; that is where its advantage with few "
        "CPUs comes from. Waits in interrupts are charged to no CPU."
    )


def by_cpus(values: Iterable[str]) -> str:
    """Show values for all numbers of CPUs."""
    return listed(f"{value} at {cpus}" for cpus, value in zip(ALL_CPUS, values, strict=True))


def within(points: float) -> str:
    """Say how near two shares must be."""
    return f"within {100 * points:.0f} points"


def listed(parts: Iterable[str]) -> str:
    """Join parts with commas."""
    return ", ".join(parts)
