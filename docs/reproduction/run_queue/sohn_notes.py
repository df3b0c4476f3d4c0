"""What the simulations of Sohn and Kim's section mean."""

from collections.abc import Iterator

from lock_law import gain, miss_ratio, spinning, think_for
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
    steps = [miss_ratio(cpus, think) for cpus in ALL_CPUS]
    across = [miss_ratio(cpus, think, cpus) for cpus in ALL_CPUS]
    yield (
        "By the same law one lock is missed "
        + by_cpus(f"{miss:.0%}" for miss in steps)
        + ": every CPU adds less than the one before, as in the simulation. A step that is largest "
        "from 4 to 6 needs something that grows with the CPUs, such as a queue that is searched "
        "to its end while the lock is held; of that the paper says nothing. With a lock for each "
        f"CPU the law goes from {across[0]:.0%} to {across[-1]:.0%}: with few CPUs others' queues "
        "are as likely as one's own. In the simulation a CPU mostly uses its own, and two scans "
        "miss less with few CPUs."
    )
    yield (
        "Fexec and Read use the queues too seldom to lose by a lock what the original lost. Were "
        "its threads' moves from CPU to CPU to blame, whose caches have to be filled again, each "
        "choice of a thread would have to take "
        f"{1000 * runs.missing('read'):.1f} ms longer in Read and "
        f"{1000 * runs.missing('fexec'):.1f} ms in Fexec, but no longer in Cswitch, to which the "
        "times of lock and pipe are fitted. No one time fits them, so none is simulated."
    )
    (five, _), (ten, _) = TABLE_2[5], TABLE_2[10]
    yield (
        f"Ten users took {ten / five:.2f} times as long as five: five keep the {TABLE_CPUS} CPUs "
        f"{ten / five / 2:.0%} as busy as ten, so hardly anybody waits for a disk. The slopes of "
        "0.95 and more say the same. But where no CPU is ever idle, nothing is lost by the order "
        "of threads, and one scan cannot be worse than the original. The mix was chosen for the "
        "latter, so users of it wait for disks and inodes, CPUs are idle, and neither the growth "
        "with users nor the slope is as published; no mix here can have both."
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
