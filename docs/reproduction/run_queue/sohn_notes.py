"""What the simulations of Sohn and Kim's section mean."""

from collections.abc import Iterator

from sohn_calibrated import MOST
from sohn_figures import ALL_CPUS, MISS_RATIOS, SPINNING, TABLE_2, Runs, by_cpus
from sohn_runs import (
    LOCAL_FIRST,
    LONG_SLICE,
    ONE,
    ORIGINAL,
    SCANS_ALWAYS_LOCK,
    TABLE_CPUS,
    THREE,
    TWO,
)
from words import listed

from dfopt.simulate.run_queue.workloads.aim import FileChoice
from dfopt_models.contention import Contention, SpinLocks, contention, think_for


def by_law(cpus: int, think: float, locks: int = 1) -> Contention:
    """Return what CPUs do that compute for ``think`` times an operation, then take a lock."""
    return contention(cpus, think, [SpinLocks(1.0, locks)])


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
    original, two = (runs.mixed(policy, MOST) for policy in (ORIGINAL, TWO))
    think = think_for(MISS_RATIOS[ORIGINAL], MOST)
    one_lock, own_locks = by_law(MOST, think), by_law(MOST, think, MOST)
    yield (
        f"The published numbers agree with a law of queueing theory. If each of {MOST} CPUs "
        f"computes {think:.2f} times as long between two operations as one operation takes, and "
        f"all times are exponential, then one lock is found taken in {MISS_RATIOS[ORIGINAL]:.0%} "
        f"of all attempts (the arrival theorem). With {MOST} locks, each as likely as the "
        f"others, it is {own_locks.miss:.1%}, and "
        f"{own_locks.uses / one_lock.uses - 1:.0%} more is done. But then {one_lock.spinning:.0%} "
        f"of the CPUs spin, and not {SPINNING:.0%}. In the simulation a CPU computes "
        f"{original.think:.2f} times as long, with two scans {two.think:.2f} times. For these "
        f"the law gives misses of {by_law(MOST, original.think).miss:.1%} and "
        f"{by_law(MOST, two.think, MOST).miss:.1%}, and "
        f"{by_law(MOST, original.think).spinning:.0%} of "
        f"the CPUs that spin; {original.miss_ratio:.1%}, {two.miss_ratio:.1%} and "
        f"{original.spinning:.0%} are simulated. A mixture of long computing and fast switching "
        "misses one lock less often than equal times. So the lock must be held for longer to "
        "give the same misses; then more CPUs spin, and two scans miss more."
    )
    steps = [by_law(cpus, think).miss for cpus in ALL_CPUS]
    across = [by_law(cpus, think, cpus).miss for cpus in ALL_CPUS]
    yield (
        "By the same law the share of misses of one lock is "
        + by_cpus(f"{miss:.0%}" for miss in steps)
        + ": every CPU adds less than the one before, as in the simulation. For the largest step "
        "to be from 4 to 6, something must grow with the CPUs, such as the search of a queue "
        "to its end while the lock is held. The paper does not mention this. With a lock for "
        f"each CPU the law goes from {across[0]:.0%} to {across[-1]:.0%}: with few CPUs each "
        "queue is as likely as the CPU's own. In the simulation a CPU mostly uses its own "
        "queue, and two scans miss less with few CPUs."
    )
    yield (
        "Fexec and Read use the queues too seldom to lose by a lock as much as the original "
        "lost. If the cause were threads that move from CPU to CPU and fill caches again, each "
        f"choice of a thread would have to take {1000 * runs.missing('read'):.1f} ms longer in "
        f"Read and {1000 * runs.missing('fexec'):.1f} ms longer in Fexec, but not longer in "
        "Cswitch, to which the times of lock and pipe are fitted. No single time fits all three, "
        "so none is simulated."
    )
    (five, _), (ten, _) = TABLE_2[5], TABLE_2[10]
    yield (
        f"Ten users took {ten / five:.2f} times as long as five. So five keep the {TABLE_CPUS} "
        f"CPUs {ten / five / 2:.0%} as busy as ten, and hardly any user waits for a disk. The "
        "slopes of 0.95 and more say the same. But if no CPU is ever idle, the order of threads "
        "costs nothing, and one scan cannot be worse than the original. The mix was chosen so "
        "that it is worse. So its users wait for disks and inodes, CPUs are idle, and neither "
        "the growth with users nor the slope is as published. No mix here can have both."
    )
    share = original.spinning
    yield (
        "Spinning alone does not explain both numbers, a fifth of the CPUs that spins and a gain "
        f"of a half: without spinning the gain is 1/(1 − {SPINNING}) − 1 = "
        f"{1 / (1 - SPINNING) - 1:.0%}. Here {share:.0%} of the CPUs spin, which gives "
        f"{1 / (1 - share) - 1:.0%}. One queue also hands out threads in the order of their "
        "bands over all CPUs, without any inversion. This is its advantage with few CPUs. Waits "
        "in interrupts are charged to no CPU."
    )
