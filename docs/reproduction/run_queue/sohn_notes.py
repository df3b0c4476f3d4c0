"""What the simulations of Sohn and Kim's section mean."""

from collections.abc import Iterator

from sohn_calibrated import MOST
from sohn_figures import ALL_CPUS, FEXEC_SEEDS, MISS_RATIOS, SPINNING, TABLE_2, Runs, by_cpus
from sohn_runs import (
    LOCAL_FIRST,
    LOCK_DOUBLING,
    LONG_SLICE,
    ONE,
    ORIGINAL,
    SCANS_ALWAYS_LOCK,
    SHORT_LOCK,
    TABLE_CPUS,
    THREE,
    THREE_LEAVE_KERNEL,
    TWO,
    TWO_LEAVE_KERNEL,
)
from words import listed, table

from dfopt.simulate.run_queue.workloads.aim import FileChoice
from dfopt_models.contention import Contention, Holds, SpinLocks, contention, think_for


def by_law(cpus: int, think: float, locks: int = 1, holds: Holds = Holds.EXPONENTIAL) -> Contention:
    """Return what CPUs do that compute for ``think`` times an operation, then take a lock."""
    return contention(cpus, think, [SpinLocks(1.0, locks)], holds)


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
        "The paper says in two ways when queues are scanned. Its text says at every switch, "
        "which is simulated above. If only CPUs with an empty queue scan the others, two scans "
        f"with {MOST} CPUs gain {runs.relative(LOCAL_FIRST, MOST).mean - 1:.0%} and miss "
        f"{local.miss_ratio:.0%} of the locks; but with 2, 4 and 6 CPUs they then have "
        + listed(f"{runs.relative(LOCAL_FIRST, cpus).mean:.2f}" for cpus in (2, 4, 6))
        + " times the original's throughput, as one scan has "
        + listed(f"{runs.relative(ONE, cpus).mean:.2f}" for cpus in (2, 4, 6))
        + ": they prevent no inversion while a CPU has a thread in its own queue."
    )
    counted = runs.elapsed("cswitch", SCANS_ALWAYS_LOCK)
    yield (
        "The paper does not say which threads are counted before a queue is locked. Above, the "
        "threads in the range of the scan are counted, and each look takes time. If it took "
        "none, a third scan could not slow Cswitch at all. If all threads of a queue are "
        f"counted, a third scan locks queues in vain, and Cswitch takes {counted.mean:.2f} times "
        "as long as with two."
    )
    mixed = runs.elapsed("read", THREE, choice=FileChoice.RANDOM)
    long = runs.elapsed("read", THREE, time_slice=LONG_SLICE)
    yield (
        "Read gains from a third scan under three conditions. First, the copies that wait for "
        "the disks end last, so other copies must read from the buffer cache. If each copy reads "
        "from both, and chooses a file at random whenever it opens one, some gain what the "
        f"others lose. Then only idle CPU time can be won, and three scans take {mixed} times as "
        "long as two. Second, the CPUs must be busy with copying in kernel mode for a good part "
        "of the run. Third, a thread that copies must leave its CPU soon, since no thread is "
        f"preempted: with slices of {LONG_SLICE / 1e6:.0f} ms three scans take {long} times as "
        "long as two. The original serves disk wake-ups first, like three scans. In Read it "
        "could lose by its lock alone, but with blocks of a millisecond and more the lock is "
        "seldom taken."
    )
    leaves = [runs.elapsed("read", one).mean for one in (THREE_LEAVE_KERNEL, TWO_LEAVE_KERNEL)]
    yield (
        "The paper does not say how a thread waits whose time slice ends in kernel mode. Above, "
        "it waits on in kernel mode. In UNIX System V, from which the scheduler is derived, "
        "slices end on the way back to user mode. If such threads wait in user mode, three scans "
        f"take {leaves[0] / leaves[1]:.2f} times as long as two in Read."
    )
    original, two = (runs.mixed(policy, MOST) for policy in (ORIGINAL, TWO))
    think = think_for(MISS_RATIOS[ORIGINAL], MOST)
    one_lock, own_locks = by_law(MOST, think), by_law(MOST, think, MOST)
    long_think = think_for(MISS_RATIOS[ORIGINAL], MOST, holds=Holds.CONSTANT)
    constant = by_law(MOST, long_think, holds=Holds.CONSTANT)
    own_constant = by_law(MOST, long_think, MOST, Holds.CONSTANT)
    yield (
        "Two laws of queueing theory say what locks alone do, if all CPUs compute for an "
        "exponentially distributed time between two operations, and each of several locks is as "
        "likely as the others. The time of an operation is exponential in one law and constant in "
        "the other, as in the simulation. A CPU must compute that many times as long as an "
        f"operation takes for {MISS_RATIOS[ORIGINAL]:.0%} of misses with {MOST} CPUs."
    )
    yield table(
        ["", "computing", "one lock: misses", "CPUs that spin", f"{MOST} locks: misses", "gain"],
        [
            [
                name,
                f"{time:.2f}",
                f"{one.miss:.0%}",
                f"{one.spinning:.0%}",
                f"{own.miss:.1%}",
                f"{own.uses / one.uses - 1:.0%}",
            ]
            for name, time, one, own in (
                ("exponential operations", think, one_lock, own_locks),
                ("constant operations", long_think, constant, own_constant),
            )
        ]
        + [
            [
                "simulated",
                f"{original.think:.2f}; {two.think:.2f}",
                f"{original.miss_ratio:.0%}",
                f"{original.spinning:.0%}",
                f"{two.miss_ratio:.1%}",
                f"{runs.relative(TWO, MOST).mean - 1:.0%}",
            ],
            ["published", "", "92 %", "20 %", "12 %", "about 50 %"],
        ],
    )
    yield (
        "With constant operations the published misses of both schedulers agree with the published "
        f"share of CPUs that spins, {SPINNING:.0%}, but not with the gain. With exponential "
        "operations misses and gain agree, but not the share that spins. No law gives all four. In "
        "the simulated mix long computing alternates with fast switching, and such a mixture "
        "misses one lock less often than equal times. So its lock must be held for longer to give "
        "the same misses; then more CPUs spin, and the gain is larger."
    )
    steps = [by_law(cpus, think).miss for cpus in ALL_CPUS]
    slower = [runs.with_slower_lock(ORIGINAL, cpus) for cpus in ALL_CPUS]
    slower_two = runs.with_slower_lock(TWO, MOST)
    across = [by_law(cpus, think, cpus).miss for cpus in ALL_CPUS]
    yield (
        "With exponential operations the share of misses of one lock is "
        + by_cpus(f"{miss:.0%}" for miss in steps)
        + ": every CPU adds less than the one before, as in the simulation. For the largest step "
        "to be from 4 to 6, something must grow with the CPUs. CPUs that spin may load the bus and "
        "slow the one that holds the lock. With a lock of "
        f"{SHORT_LOCK / 1000:.0f} µs that {LOCK_DOUBLING} spinning CPUs double "
        "(`--set machine.lock_time` and `machine.lock_doubling`), the original misses "
        + by_cpus(f"{one.miss_ratio:.1%}" for one in slower)
        + f", {slower[-1].spinning:.0%} of the CPUs spin with {MOST}, two scans miss "
        f"{slower_two.miss_ratio:.1%} and gain "
        f"{slower_two.throughput / slower[-1].throughput - 1:.0%}. The mix was not fitted anew to "
        "this lock, so no row above rests on it. By the law, with a lock for "
        f"each CPU misses go from {across[0]:.0%} to {across[-1]:.0%}: with few CPUs each "
        "queue is as likely as the CPU's own. In the simulation a CPU mostly uses its own "
        "queue, and two scans miss less with few CPUs."
    )
    yield (
        "Fexec and Read use the queues too seldom to lose by a lock as much as the original "
        "lost. If the cause were threads that move from CPU to CPU and fill caches again, each "
        f"choice of a thread would have to take {1000 * runs.missing('read'):.1f} ms longer in "
        f"Read and {1000 * runs.missing('fexec'):.1f} ms longer in Fexec, but not longer in "
        "Cswitch, to which the times of lock and pipe are fitted. No single time fits all three, "
        f"so none is simulated. The elapsed times of Fexec are means over {FEXEC_SEEDS} seeds: the "
        "published 0.99 is nearer to 1 than the interval of four seeds can show."
    )
    (five, _), (ten, _) = TABLE_2[5], TABLE_2[10]
    yield (
        f"Ten users took {ten / five:.2f} times as long as five. So five keep the {TABLE_CPUS} "
        f"CPUs {ten / five / 2:.0%} as busy as ten, and hardly any user waits for a disk. The "
        "slopes of 0.95 and more say the same. But if no CPU is ever idle, the order of threads "
        "costs nothing, and one scan cannot be worse than the original. The mix was chosen so "
        "that it is worse. So its users wait for disks and inodes, CPUs are idle, and neither "
        "the growth with users nor the slope is as published. In the CPU-bound mix "
        "one scan does not lose. No mix here can have both."
    )
    share = original.spinning
    yield (
        "Spinning alone does not explain both numbers, a fifth of the CPUs that spins and a gain "
        f"of a half: without spinning the gain is 1/(1 − {SPINNING}) − 1 = "
        f"{1 / (1 - SPINNING) - 1:.0%}. Here {share:.0%} of the CPUs spin, which gives "
        f"{1 / (1 - share) - 1:.0%}. One queue also hands out threads in the order of their "
        "bands over all CPUs, without any inversion. This is its advantage with few CPUs. Waits "
        "in interrupts delay the thread of the CPU that serves them."
    )
