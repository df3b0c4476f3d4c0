"""The simulations behind the section on batches, with what is from the paper and what assumed."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from dfopt.problem.penalties import PenaltyF
from dfopt.simulate.run_queue.policies import POLICIES
from dfopt.simulate.run_queue.scenario_document import read_scenario
from dfopt.simulate.run_queue.simulation import simulate_once
from dfopt.simulate.run_queue.workloads.fine_grained import FineGrained

SHIPPED = read_scenario("fine-grained")
"""The paper's machine and array, with all that is assumed; what a simulation changes it names."""

assert SHIPPED.caches is not None
ARRAY: FineGrained = SHIPPED.workload
MACHINE, CACHES = SHIPPED.machine, SHIPPED.caches

# The paper's.
ARRAY_SIZE, CPUS, CACHE_LINES = ARRAY.array_size, MACHINE.cpus, CACHES.lines
INTEGERS_OF_A_LINE = 8
BATCH = 32
ROUNDS = 128 // BATCH
"""Passes of a full batch before its dispatches are used up, MAXBCOUNT / MAXBSIZE."""

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

LONG = 16
"""From this PROCESS_LENGTH on threads use their data again and again."""

UNI, UNIBATCH, SHARED, SMPBATCH, WF = (
    "uni-smash", "unibatch-smash", "shared-smash", "smpbatch-smash", "wf-smash",
)  # fmt: skip
SCHEDULERS = (UNI, UNIBATCH, SHARED, SMPBATCH, WF)
ON_SMP = (SHARED, SMPBATCH, WF)
WITH_BATCHES = (SMPBATCH, WF)


@dataclass(frozen=True)
class Outcome:
    """What a simulation gave, for the whole array, in ns."""

    time: float
    misses_a_dispatch: float
    spun: float


def outcome(  # noqa: PLR0913 -- each is varied somewhere
    scheduler: str,
    granularity: int,
    length: int,
    *,
    scale: int,
    creation: int = CREATION,
    lock: int = LOCK,
    write_back: int = 0,
    batch_size: int | None = None,
    offer_excess: bool = False,
    next_line: int = NEXT_LINE,
    call: int = CALL,
    wake: int = WAKE,
) -> Outcome:
    """Simulate a scheduler on an array, with caches, that are smaller by ``scale``."""
    kind = replace(
        ARRAY,
        array_size=ARRAY_SIZE // scale,
        granularity=granularity,
        process_length=length,
        creation_time=creation,
    )
    parameters = {"max_batch_size": batch_size, "offer_excess": offer_excess or None}
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
        penalty=PenaltyF(read_line=MISS, write_back=write_back),
        caches=replace(
            CACHES,
            lines=CACHE_LINES // scale,
            sequential_miss=next_line,
            write_back=write_back,
        ),
        policies={
            scheduler: {name: value for name, value in parameters.items() if value is not None}
        },
    )
    done = simulate_once(scenario, POLICIES[scheduler])
    assert done.caches is not None
    return Outcome(
        time=done.counters.end * scale,
        misses_a_dispatch=sum(done.caches.misses) / (kind.threads * length),
        spun=sum(lock.spun for lock in done.engine.policy.locks) * scale,
    )


class Grid:
    """The simulations of figure 5: all schedulers, granularities and process lengths."""

    def __init__(self, lengths: Iterable[int]) -> None:
        self.lengths = tuple(lengths)
        self.outcomes = {
            (scheduler, granularity, length): outcome(scheduler, granularity, length, scale=scale)
            for length in self.lengths
            for granularity, scale in SCALES.items()
            for scheduler in SCHEDULERS
        }

    def time(self, scheduler: str, granularity: int, length: int) -> float:
        """Return an execution time in ns."""
        return self.outcomes[scheduler, granularity, length].time

    def speedup(self, scheduler: str, granularity: int, length: int) -> float:
        """Return how many times as long uni-smash takes."""
        return self.time(UNI, granularity, length) / self.time(scheduler, granularity, length)

    def speedups(
        self, scheduler: str, granularities: Iterable[int], lengths: Iterable[int]
    ) -> list[float]:
        """Return the speed-ups at all these points."""
        points = [(granularity, length) for granularity in granularities for length in lengths]
        return [self.speedup(scheduler, *point) for point in points]

    def long_lengths(self) -> tuple[int, ...]:
        """Return the process lengths from :data:`LONG` on."""
        return tuple(length for length in self.lengths if length >= LONG)
