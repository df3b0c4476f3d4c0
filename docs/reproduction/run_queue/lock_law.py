"""What queueing theory says of CPUs that contend for locks, by mean value analysis."""

STEPS = 60


def throughput_and_busy(cpus: int, think: float, locks: int) -> tuple[float, float]:
    """Return operations in the time that one takes on average, and how busy each lock is.

    Every CPU computes for ``think`` times an operation, and then takes one of the locks, each as
    likely as the others; all times are exponential.
    """
    queued = throughput = 0.0
    for number in range(1, cpus + 1):
        # A CPU that comes finds the mean queue of the others (the arrival theorem).
        residence = 1 + queued
        throughput = number / (think + residence)
        queued = throughput / locks * residence
    return throughput, throughput / locks


def miss_ratio(cpus: int, think: float, locks: int = 1) -> float:
    """Return how often a lock is found taken: as busy as the other CPUs alone keep it."""
    return throughput_and_busy(cpus - 1, think, locks)[1]


def spinning(cpus: int, think: float, locks: int = 1) -> float:
    """Return which share of the CPUs waits for a lock."""
    return 1 - throughput_and_busy(cpus, think, locks)[0] * (think + 1) / cpus


def gain(cpus: int, think: float, locks: int) -> float:
    """Return how many times as much is done with several locks as with one."""
    several, one = (throughput_and_busy(cpus, think, number)[0] for number in (locks, 1))
    return several / one


def think_for(miss: float, cpus: int) -> float:
    """Return the computing between operations that gives one lock a miss ratio."""
    low, high = 0.0, 1000.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        if miss_ratio(cpus, middle) > miss:
            low = middle
        else:
            high = middle
    return low
