"""The scenarios of Sohn and Kim's figures, and what is measured in them."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from functools import cache
from statistics import fmean, stdev

from scipy.stats import t as student

from dfopt import replace
from dfopt.simulate.policies import POLICIES
from dfopt.simulate.scenario_document import read_scenario
from dfopt.simulate.simulation import simulate_once
from dfopt.simulate.workloads.aim import Aim, BufferLists

ORIGINAL, ONE, TWO = "global-queue", "tlms-1", "tlms-2"
LOCAL_FIRST = "tlms-2 (own queue first)"
"""The paper's other account of when queues are scanned."""

VARIANTS: dict[str, tuple[str, dict[str, int]]] = {LOCAL_FIRST: (TWO, {"at_every_switch": False})}

SHIPPED = read_scenario("aim")
"""The mix; everything below changes what it names."""

AIM: Aim = SHIPPED.workload
LOCK_TIME = SHIPPED.machine.lock_time
PIPE_TIME = AIM.pipe_time
TIME_SLICE = SHIPPED.policies[TWO]["time_slice"]
LOOK_TIME = SHIPPED.policies[TWO]["look_time"]

USERS_PER_CPU = AIM.users // SHIPPED.machine.cpus
SHARES = AIM.shares
SORTS = ("cswitch", "fexec", "read", "compute")

TABLE_CPUS = 4
COPIES = 32

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
    elapsed: float  # seconds


@dataclass(frozen=True)
class Ratio:
    """A mean of ratios, one for each seed, with half its 95 % interval by Student's t."""

    mean: float
    error: float

    def __str__(self) -> str:
        return f"{self.mean:.3f} ± {self.error:.3f}"

    def is_clearly_more(self) -> bool:
        """Return whether it is above 1, and not by chance."""
        return self.mean - self.error > 1


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


def cswitch(jobs: int) -> Aim:
    """Return copies of Cswitch, to which the time of the pipes was fitted."""
    shares = {f"share_{one}": int(one == "cswitch") for one in SORTS}
    return replace(mix(TABLE_CPUS), users=COPIES, jobs=jobs, **shares)


@cache
def measured(  # noqa: PLR0913 -- each is varied somewhere
    aim: Aim,
    policy: str,
    cpus: int,
    *,
    seeds: Sequence[int],
    cpu_seconds: int | None = None,
    lock_time: int = LOCK_TIME,
) -> tuple[Measured, ...]:
    """Simulate for some seconds of CPU time in total, or until all threads have ended."""
    name, varied = VARIANTS.get(policy, (policy, {}))
    machine = replace(SHIPPED.machine, cpus=cpus, lock_time=lock_time)
    scenario = replace(
        SHIPPED,
        workload=aim,
        machine=machine,
        policies={name: {**SHIPPED.policies[name], **varied}},
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
                elapsed=counters.end / SECOND,
            )
        )
    return tuple(found)
