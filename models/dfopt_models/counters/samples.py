"""What performance counters counted between two switches, and what ran before each dispatch."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dfopt_models.errors import ModelError

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

IDLE = ("idle", "swapper")
"""Types of the thread that runs where no other one does."""

INSTRUCTION_MISSES, DATA_MISSES = "l2_instruction_misses", "l2_data_misses"
MISSES = (INSTRUCTION_MISSES, DATA_MISSES, "l2_data_accesses")
"""Counters of the cache, which may be missing."""

NOBODY = -1
"""Stands for the thread type before the first dispatch of a CPU."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CounterSamples:
    """One entry for each switch: what the thread that leaves has done since it was dispatched.

    All arrays have the same length. Entries are ordered by CPU, and then by time.

    Parameters
    ----------
    time
        When the thread leaves its CPU, nanoseconds.
    cpu
        The number of the CPU.
    threads, thread
        The names of all threads, and for each entry the place of its thread in them.
    types, type
        The names of all thread types, and for each entry the place of its type in them.
    instructions, cycles
        Retired instructions and clock cycles.
    misses
        The counters of :data:`MISSES` that were read.
    run_queue
        The number of threads that wait for the CPU, if it was recorded.

    Raises
    ------
    ModelError
        When a thread that is not idle has no cycles, or two switches of a CPU have the same time.
    """

    time: Integers
    cpu: Integers
    threads: tuple[str, ...]
    thread: Integers
    types: tuple[str, ...]
    type: Integers
    instructions: Floats
    cycles: Floats
    misses: Mapping[str, Floats] = field(default_factory=dict)
    run_queue: Integers | None = None

    def __post_init__(self) -> None:
        same_cpu = self.cpu[1:] == self.cpu[:-1]
        early = np.flatnonzero(same_cpu & (self.time[1:] <= self.time[:-1]))
        if len(early):
            at = int(early[0])
            raise ModelError(
                f"CPU {self.cpu[at]} has two switches at {self.time[at]} ns; give times that differ"
            )
        empty = np.flatnonzero((self.cycles <= 0) & ~self.is_idle)
        if len(empty):
            at = int(empty[0])
            raise ModelError(
                f"the switch of CPU {self.cpu[at]} at {self.time[at]} ns counts no cycles; "
                "leave it out, or count cycles"
            )

    @property
    def is_idle(self) -> NDArray[np.bool_]:
        """Whether the entry is about the time in which no thread ran."""
        idle = [place for place, name in enumerate(self.types) if name.lower() in IDLE]
        return np.isin(self.type, idle)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CountedDispatches:
    """The dispatches of threads that are not idle and whose length is known, and what came before.

    Parameters
    ----------
    samples
        Where they come from.
    entry
        For each dispatch its place in the samples.
    length
        How long it ran, nanoseconds.
    previous_type
        The type of the dispatch before it on the CPU, idle time left out; :data:`NOBODY` if there
        is none.
    previous_length
        How long that ran, nanoseconds; 0 if that is not known.
    predecessors
        The number of dispatches of its own type directly before it on the CPU.
    """

    samples: CounterSamples
    entry: Integers
    length: Integers
    previous_type: Integers
    previous_length: Integers
    predecessors: Integers

    def __len__(self) -> int:
        """Return their number."""
        return len(self.entry)

    @property
    def type(self) -> Integers:
        """The type of each, as a place in ``samples.types``."""
        return self.samples.type[self.entry]

    @property
    def instructions(self) -> Floats:
        """The instructions of each."""
        return self.samples.instructions[self.entry]

    @property
    def cycles(self) -> Floats:
        """The cycles of each."""
        return self.samples.cycles[self.entry]

    @property
    def ipc(self) -> Floats:
        """Instructions per cycle of each."""
        return self.instructions / self.cycles

    @property
    def clock_ghz(self) -> float:
        """Cycles per nanosecond, over all of them."""
        return float(self.cycles.sum() / self.length.sum())

    def chosen(self, which: NDArray[np.bool_]) -> CountedDispatches:
        """Return some of them; what came before each is kept."""
        columns = (
            "entry", "length", "previous_type", "previous_length", "predecessors",
        )  # fmt: skip
        return CountedDispatches(
            samples=self.samples, **{name: getattr(self, name)[which] for name in columns}
        )


def counted_dispatches(
    samples: CounterSamples, *, cpus: Collection[int] | None = None
) -> CountedDispatches:
    """Return the dispatches of samples, and what came before each.

    A dispatch began at the switch before it. So the first of each CPU has no known length; it only
    counts as the predecessor of the next one. Idle time leaves the caches alone, and is left out.

    Parameters
    ----------
    samples
        The samples.
    cpus
        The CPUs that count; all if None.

    Raises
    ------
    ModelError
        When no dispatch is left.
    """
    count = len(samples.time)
    is_first = np.ones(count, dtype=bool)
    is_first[1:] = samples.cpu[1:] != samples.cpu[:-1]
    length = np.zeros(count, dtype=np.int64)
    length[1:] = np.where(is_first[1:], 0, samples.time[1:] - samples.time[:-1])

    # Without idle time the dispatch before is the row before, if that is the same CPU's.
    busy = np.flatnonzero(~samples.is_idle)
    cpu, kind = samples.cpu[busy], samples.type[busy]
    follows = np.zeros(len(busy), dtype=bool)
    follows[1:] = cpu[1:] == cpu[:-1]
    previous_type = np.full(len(busy), NOBODY, dtype=np.int64)
    previous_length = np.zeros(len(busy), dtype=np.int64)
    previous_type[1:] = np.where(follows[1:], kind[:-1], NOBODY)
    previous_length[1:] = np.where(follows[1:], length[busy][:-1], 0)

    # Count back to where the series of one type began.
    rows = np.arange(len(busy))
    begins = ~follows | (previous_type != kind)
    predecessors = rows - np.maximum.accumulate(np.where(begins, rows, 0))

    kept = length[busy] > 0
    if cpus is not None:
        kept &= np.isin(cpu, list(cpus))
    if not kept.any():
        raise ModelError(
            "no CPU has a dispatch between two switches; give samples of every switch of a CPU"
        )
    return CountedDispatches(
        samples=samples,
        entry=busy[kept],
        length=length[busy][kept],
        previous_type=previous_type[kept],
        previous_length=previous_length[kept],
        predecessors=predecessors[kept],
    )
