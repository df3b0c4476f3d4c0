"""The scenarios of Sohn and Kim's figures and tables, and what is measured in them."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from functools import cache
from statistics import fmean, stdev

from scipy.stats import t as student

from dfopt.simulate.run_queue.policies import POLICIES
from dfopt.simulate.run_queue.scenario_document import read_scenario
from dfopt.simulate.run_queue.simulation import simulate_once
from dfopt.simulate.run_queue.workloads.aim import Aim, BufferLists, FileChoice

ORIGINAL, ONE, TWO, THREE = "global-queue", "tlms-1", "tlms-2", "tlms-3"
LOCAL_FIRST = "tlms-2 (own queue first)"
"""The paper's other account of when queues are scanned."""

SCANS_ALWAYS_LOCK = "tlms-3 (counts all)"
"""The other account of the count that is tested before a queue is locked."""

TWO_LEAVE_KERNEL = "tlms-2 (slices end in user mode)"
THREE_LEAVE_KERNEL = "tlms-3 (slices end in user mode)"
"""Threads whose slice ends in kernel mode wait in user mode, as in UNIX System V."""

VARIANTS: dict[str, tuple[str, dict[str, int]]] = {
    LOCAL_FIRST: (TWO, {"at_every_switch": False}),
    SCANS_ALWAYS_LOCK: (THREE, {"count_of_queue": True}),
    TWO_LEAVE_KERNEL: (TWO, {"stays_in_kernel": False}),
    THREE_LEAVE_KERNEL: (THREE, {"stays_in_kernel": False}),
}

SHIPPED = read_scenario("aim")
"""The mix; everything below changes what it names."""

AIM: Aim = SHIPPED.workload
LOCK_TIME = SHIPPED.machine.lock_time
PIPE_TIME = AIM.pipe_time
TIME_SLICE = SHIPPED.policies[TWO]["time_slice"]
LOOK_TIME = SHIPPED.policies[TWO]["look_time"]
LONG_SLICE = 100_000_000
SHORT_LOCK, LOCK_DOUBLING = 50_000, 20
"""A lock that those who spin slow down, which is missed about as often with ten CPUs."""

USERS_PER_CPU = AIM.users // SHIPPED.machine.cpus
SHARES = AIM.shares

TABLE_CPUS = 4
COPIES = 32
HIT_PERCENT = 88
"""Of the copies' files: all but one for each disk."""

DEFAULTS = Aim()
CPU_BOUND = {
    **{
        name: getattr(DEFAULTS, name)
        for name in (
            "share_cswitch", "share_fexec", "share_read", "share_compute", "round_trips", "forks",
            "opens", "compute_time", "block_time",
        )
    },
    "text_blocks": 0,
    "hit_percent": 90,
}  # fmt: skip
"""A second mix, in which few users wait for a disk: the workload's defaults, and more buffers."""

FILES_PER_CPU = DEFAULTS.files // DEFAULTS.disks

SECOND = 1_000_000_000


@dataclass(frozen=True)
class Measured:
    """What a simulation gave, or the means of several."""

    throughput: float  # CPU seconds executed in a second
    miss_ratio: float
    spinning: float  # of all CPU time
    wait: float  # for the lock, in seconds
    elapsed: float  # seconds
    think: float  # executed between two operations on queues, in times that one takes
    picks: float  # how often a CPU chose a thread


@dataclass(frozen=True)
class Ratio:
    """A mean of ratios, one for each seed, with half its 95 % interval by Student's t."""

    mean: float
    error: float

    def __str__(self) -> str:
        return f"{self.mean:.3f} ± {self.error:.3f}"

    def is_clearly(self, *, below: bool) -> bool:
        """Return whether it is on that side of 1, and not by chance."""
        return self.mean + self.error < 1 if below else self.mean - self.error > 1


def ratio(above: Sequence[float], below: Sequence[float]) -> Ratio:
    """Return the ratio of what was measured with the same seeds."""
    values = [one / other for one, other in zip(above, below, strict=True)]
    quantile = float(student.ppf(0.975, len(values) - 1))
    return Ratio(fmean(values), quantile * stdev(values) / len(values) ** 0.5)


def mean_of(found: Sequence[Measured]) -> Measured:
    """Return the means."""
    return Measured(*(fmean(values) for values in zip(*map(astuple, found), strict=True)))


def mix(cpus: int, *, lists: BufferLists | None = None, is_cpu_bound: bool = False) -> Aim:
    """Return the mix of AIM III, whose load, files and disks grow with the machine."""
    aim = replace(AIM, users=USERS_PER_CPU * cpus, disks=cpus, files=cpus)
    if is_cpu_bound:
        aim = replace(aim, **CPU_BOUND, files=FILES_PER_CPU * cpus)
    if lists is None:
        return aim
    return replace(aim, buffers=USERS_PER_CPU * cpus, buffer_lists=lists)


def table_mix(users: int, jobs: int, *, is_cpu_bound: bool = False) -> Aim:
    """Return the mix of Table 2."""
    return replace(mix(TABLE_CPUS, is_cpu_bound=is_cpu_bound), users=users, jobs=jobs)


def micro_benchmark(sort: str, jobs: int, choice: FileChoice = FileChoice.OWN) -> Aim:
    """Return copies of Cswitch, Fexec or Read."""
    shares = {f"share_{one}": int(one == sort) for one in ("cswitch", "fexec", "read", "compute")}
    aim = replace(mix(TABLE_CPUS), users=COPIES, jobs=jobs, **shares)
    if sort != "read":
        return aim
    return replace(aim, hit_percent=HIT_PERCENT, files=COPIES, file_choice=choice)


@cache
def measured(  # noqa: PLR0913 -- each is varied somewhere
    aim: Aim,
    policy: str,
    cpus: int,
    *,
    seeds: Sequence[int],
    cpu_seconds: int | None = None,
    lock_time: int = LOCK_TIME,
    lock_doubling: int = 0,
    time_slice: int = TIME_SLICE,
) -> tuple[Measured, ...]:
    """Simulate for some seconds of CPU time in total, or until all threads have ended."""
    name, varied = VARIANTS.get(policy, (policy, {}))
    machine = replace(SHIPPED.machine, cpus=cpus, lock_time=lock_time, lock_doubling=lock_doubling)
    scenario = replace(
        SHIPPED,
        workload=aim,
        machine=machine,
        policies={name: {**SHIPPED.policies[name], "time_slice": time_slice, **varied}},
        until=None if cpu_seconds is None else cpu_seconds * SECOND // cpus,
    )
    found = []
    for seed in seeds:
        done = simulate_once(scenario, POLICIES[name], seed=seed)
        counters, locks = done.counters, done.engine.policy.locks
        attempts = sum(lock.attempts for lock in locks)
        spun = sum(lock.spun for lock in locks)
        found.append(
            Measured(
                throughput=counters.executed / counters.end,
                miss_ratio=sum(lock.misses for lock in locks) / attempts,
                spinning=spun / (cpus * counters.end),
                wait=spun / attempts / SECOND,
                elapsed=counters.end / SECOND,
                think=counters.executed / (attempts * lock_time),
                picks=counters.waits,
            )
        )
    return tuple(found)
