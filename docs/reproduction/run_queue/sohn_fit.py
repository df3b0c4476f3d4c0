"""Fits the two times of Sohn and Kim's section: ``python docs/reproduction/run_queue/sohn_fit.py``.

Prints what lock_time and pipe_time of the shipped scenario aim are set to, in microseconds. Other
seeds than the section's are simulated.
"""

from collections.abc import Callable

from sohn_runs import (
    LOCK_TIME,
    ORIGINAL,
    PIPE_TIME,
    TABLE_CPUS,
    TWO,
    cswitch,
    mean_of,
    measured,
    mix,
)

from dfopt import replace

SEEDS = range(100, 106)
MISS_RATIO, CSWITCH = 0.92, 1.4
ROUNDS, STEPS = 2, 6
CPU_SECONDS = 40
MICROSECOND = 1000


def miss_ratio(lock: float, pipe: float) -> float:
    """Return the miss ratio of the original's lock with ten CPUs."""
    aim = replace(mix(10), pipe_time=round(pipe))
    found = measured(aim, ORIGINAL, 10, seeds=SEEDS, cpu_seconds=CPU_SECONDS, lock_time=round(lock))
    return mean_of(found).miss_ratio


def slowdown(lock: float, pipe: float) -> float:
    """Return how many times as long Cswitch takes with the original as with two scans."""
    aim = replace(cswitch(10), pipe_time=round(pipe))
    original, two = (
        mean_of(measured(aim, policy, TABLE_CPUS, seeds=SEEDS, lock_time=round(lock))).elapsed
        for policy in (ORIGINAL, TWO)
    )
    return original / two


def bisect(grows: Callable[[float], float], target: float, start: float) -> float:
    """Return where a function that grows meets the target, within a factor of 1.5."""
    low, high = start / 1.5, start * 1.5
    for _ in range(STEPS):
        middle = (low * high) ** 0.5
        if grows(middle) < target:
            low = middle
        else:
            high = middle
    return (low * high) ** 0.5


def fitted_lock(lock: float, pipe: float) -> float:
    """Return the time that gives the miss ratio."""
    return bisect(lambda value: miss_ratio(value, pipe), MISS_RATIO, lock)


def fitted_pipe(lock: float, pipe: float) -> float:
    """Return the time that gives the ratio of Cswitch: the longer, the less the lock matters."""
    return 1 / bisect(lambda value: slowdown(lock, 1 / value), CSWITCH, 1 / pipe)


def main() -> None:
    """Fit both in turn, until they agree."""
    lock, pipe = float(LOCK_TIME), float(PIPE_TIME)
    for _ in range(ROUNDS):
        lock = fitted_lock(lock, pipe)
        pipe = fitted_pipe(lock, pipe)
        print(
            f"LOCK_TIME {lock / MICROSECOND:.0f} µs, PIPE_TIME {pipe / MICROSECOND:.0f} µs: "
            f"{miss_ratio(lock, pipe):.3f}, {slowdown(lock, pipe):.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
