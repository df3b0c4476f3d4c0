"""The simulations behind the section on batches, with what is from the paper and what assumed."""

from collections.abc import Iterable

from dfopt import replace
from dfopt.problem.penalties import PenaltyF
from dfopt.simulate.policies import POLICIES
from dfopt.simulate.scenario_document import read_scenario
from dfopt.simulate.simulation import simulate_once
from dfopt.simulate.workloads.fine_grained import FineGrained

SHIPPED = read_scenario("fine-grained")
"""The paper's machine and array, with all that is assumed; what a simulation changes it names."""

assert SHIPPED.caches is not None
ARRAY: FineGrained = SHIPPED.workload
MACHINE, CACHES = SHIPPED.machine, SHIPPED.caches

# The paper's.
ARRAY_SIZE, CPUS, CACHE_LINES = ARRAY.array_size, MACHINE.cpus, CACHES.lines
INTEGERS_OF_A_LINE = 8

# Assumed, in ns.
SWITCH, LOCK = MACHINE.switch_time, MACHINE.lock_time
INCREMENT, CREATION = ARRAY.increment_time, ARRAY.creation_time
MISS, NEXT_LINE = CACHES.miss, CACHES.sequential_miss
"""Reading the line that follows the last one: what a bus of 800 MB/s needs for 32 bytes."""

CALL, WAKE = MACHINE.call_time, MACHINE.wake_time
"""What a system call takes that wakes a sleeping processor, and how long that takes to start."""

STACK_LINES = ARRAY.stack_lines

SCALES = {1: 128, 8: 32, 64: 4, 128: 2}
"""By granularity: array and cache are smaller by this factor, and so are the simulations."""

UNI, UNIBATCH, SHARED, SMPBATCH, WF = (
    "uni-smash", "unibatch-smash", "shared-smash", "smpbatch-smash", "wf-smash",
)  # fmt: skip
SCHEDULERS = (UNI, UNIBATCH, SHARED, SMPBATCH, WF)
ON_SMP = (SHARED, SMPBATCH, WF)
WITH_BATCHES = (SMPBATCH, WF)


def outcome(  # noqa: PLR0913 -- each is varied somewhere
    scheduler: str,
    granularity: int,
    length: int,
    *,
    scale: int,
    creation: int = CREATION,
    lock: int = LOCK,
    batch_size: int | None = None,
    call: int = CALL,
    wake: int = WAKE,
) -> float:
    """Return the time of a scheduler on an array, with caches, that are smaller by ``scale``.

    It is that of the whole array, in ns.
    """
    kind = replace(
        ARRAY,
        array_size=ARRAY_SIZE // scale,
        granularity=granularity,
        process_length=length,
        creation_time=creation,
    )
    scenario = replace(
        SHIPPED,
        workload=kind,
        machine=replace(
            MACHINE,
            cpus=CPUS if scheduler in ON_SMP else 1,
            lock_time=lock,
            call_time=call,
            wake_time=wake,
        ),
        penalty=PenaltyF(read_line=MISS, write_back=0),
        caches=replace(CACHES, lines=CACHE_LINES // scale, write_back=0),
        policies={scheduler: {} if batch_size is None else {"max_batch_size": batch_size}},
    )
    return simulate_once(scenario, POLICIES[scheduler]).counters.end * scale


class Grid:
    """The simulations of figure 5: all schedulers, granularities and process lengths."""

    def __init__(self, lengths: Iterable[int]) -> None:
        self.lengths = tuple(lengths)
        self._times = {
            (scheduler, granularity, length): outcome(scheduler, granularity, length, scale=scale)
            for length in self.lengths
            for granularity, scale in SCALES.items()
            for scheduler in SCHEDULERS
        }

    def time(self, scheduler: str, granularity: int, length: int) -> float:
        """Return an execution time in ns."""
        return self._times[scheduler, granularity, length]

    def speedup(self, scheduler: str, granularity: int, length: int) -> float:
        """Return how many times as long uni-smash takes."""
        return self.time(UNI, granularity, length) / self.time(scheduler, granularity, length)

    def speedups(
        self, scheduler: str, granularities: Iterable[int], lengths: Iterable[int]
    ) -> list[float]:
        """Return the speed-ups at all these points."""
        points = [(granularity, length) for granularity in granularities for length in lengths]
        return [self.speedup(scheduler, *point) for point in points]
