"""The figures of Ziemba, Upadhyaya and Pai: performance by CPU, type, predecessor and length.

Two means of instructions per cycle are given, since they differ. That of all instructions over all
cycles says what the work took. The mean over dispatches counts a short one like a long one; only
this one agrees with the numbers that the paper prints.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, NamedTuple

import numpy as np

from dfopt.structs import NULLABLE, DocumentPart
from dfopt_models.counters.samples import (
    DATA_MISSES,
    INSTRUCTION_MISSES,
    NOBODY,
    CountedDispatches,
    Floats,
    Integers,
)

PER = 100
"""Misses are given per this number of instructions."""

LONGEST_SERIES = 5
"""Dispatches with at least this number of predecessors of their own type are one group."""

LENGTHS_MS = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
"""Where the ranges of slice lengths begin, milliseconds."""

NS_PER_MS = 1_000_000

DEVIATIONS = (-np.inf, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, np.inf)
"""Where the ranges of Figure 7 begin and end, in standard deviations from the mean."""

MOST_THREADS = 2
"""At most this number of the threads that are dispatched most often have a table (Figure 6)."""


class Key(NamedTuple):
    """What groups are formed by: a name, all values, and for each dispatch the place of its own."""

    name: str
    values: Sequence[str]
    codes: Integers


class PerformanceRow(DocumentPart):
    """The performance of a group of dispatches.

    Parameters
    ----------
    group
        What they have in common, as key and value.
    dispatches
        Their number.
    dispatch_share, time_share
        Their share of the dispatches and of the time of all that the table is about.
    mean_length
        How long they ran on average, nanoseconds.
    ipc
        Instructions per cycle: all instructions over all cycles.
    ipc_of_dispatches
        The mean of the dispatches' instructions per cycle.
    instruction_misses, data_misses
        Misses of the second cache per 100 instructions; None if they were not counted.
    """

    group: dict[str, str]
    dispatches: int
    dispatch_share: float
    time_share: float
    mean_length: float
    ipc: float
    ipc_of_dispatches: float
    instruction_misses: float | None
    data_misses: float | None


class DeviationRow(DocumentPart):
    """The share of threads whose mean is in a range around the mean of all (Figure 7).

    Parameters
    ----------
    metric
        ``"ipc"``, ``"instruction_misses"`` or ``"data_misses"``.
    low, high
        The range, in standard deviations from the mean; where it has no end, documents have null.
    share
        The share of threads.
    """

    metric: str
    low: Annotated[float, NULLABLE]
    high: Annotated[float, NULLABLE]
    share: float


class QueueRow(DocumentPart):
    """How many threads waited for a CPU at its switches (Figure 11)."""

    cpu: int
    mean: float
    median: float
    percentile_95: float
    largest: int


class CounterFigures(DocumentPart):
    """The tables, each about one or two figures of the paper.

    Parameters
    ----------
    by_cpu
        Figure 3, by CPU.
    by_type
        Figures 4 and 5, by CPU and type; the shares are those of the CPU.
    by_thread
        Figure 6: threads that are dispatched most often, by CPU.
    deviations
        Figure 7: all threads that are not idle.
    by_predecessor
        Figures 8 and 9: by type and by what ran before; the shares are those of the type.
    by_length
        Figure 10: by type and slice length; the shares are those of the type.
    queues
        Figure 11; empty if the samples have no column ``run_queue``.
    """

    by_cpu: tuple[PerformanceRow, ...]
    by_type: tuple[PerformanceRow, ...]
    by_thread: tuple[PerformanceRow, ...]
    deviations: tuple[DeviationRow, ...]
    by_predecessor: tuple[PerformanceRow, ...]
    by_length: tuple[PerformanceRow, ...]
    queues: tuple[QueueRow, ...]


def counter_figures(dispatches: CountedDispatches, *, long_ns: int) -> CounterFigures:
    """Return the tables of all figures.

    Parameters
    ----------
    dispatches
        The dispatches.
    long_ns
        A dispatch of another type that ran at least this time before is a long one, nanoseconds.
    """
    samples = dispatches.samples
    by_type = Key("type", samples.types, dispatches.type)
    cpus, cpu = np.unique(samples.cpu[dispatches.entry], return_inverse=True)
    by_cpu = Key("CPU", tuple(map(str, cpus)), cpu)
    threads = samples.thread[dispatches.entry]
    busiest = np.argsort(-np.bincount(threads), kind="stable")[:MOST_THREADS]
    often = np.isin(threads, busiest)
    return CounterFigures(
        by_cpu=performance(dispatches, [by_cpu]),
        by_type=performance(dispatches, [by_cpu, by_type], shares_within=1),
        by_thread=performance(
            dispatches.chosen(often),
            [Key("thread", samples.threads, threads[often]), by_cpu._replace(codes=cpu[often])],
            shares_within=1,
        ),
        deviations=deviations(dispatches),
        by_predecessor=performance(
            dispatches, [by_type, predecessors(dispatches, long_ns)], shares_within=1
        ),
        by_length=performance(dispatches, [by_type, slice_lengths(dispatches)], shares_within=1),
        queues=_queues(dispatches),
    )


def predecessors(dispatches: CountedDispatches, long_ns: int) -> Key:
    """Return for each dispatch what ran before it: how many of its type, or which other one."""
    types = dispatches.samples.types
    own = [f"{count} of its type" for count in range(1, LONGEST_SERIES)]
    values = (
        "nothing",
        *own,
        f"{LONGEST_SERIES} or more of its type",
        *types,
        *(f"long {name}" for name in types),
    )
    other = 1 + LONGEST_SERIES + dispatches.previous_type
    other += np.where(dispatches.previous_length >= long_ns, len(types), 0)
    codes = np.where(
        dispatches.predecessors > 0, np.minimum(dispatches.predecessors, LONGEST_SERIES), other
    )
    return Key("after", values, np.where(dispatches.previous_type == NOBODY, 0, codes))


def slice_lengths(dispatches: CountedDispatches) -> Key:
    """Return for each dispatch the range of its length."""
    ranges = [f"{low:g}–{high:g} ms" for low, high in pairwise(LENGTHS_MS)]
    codes = np.searchsorted(LENGTHS_MS, dispatches.length / NS_PER_MS, side="right") - 1
    return Key("length", (*ranges, f"{LENGTHS_MS[-1]:g} ms or more"), codes)


def performance(
    dispatches: CountedDispatches,
    keys: Sequence[Key],
    *,
    shares_within: int = 0,
) -> tuple[PerformanceRow, ...]:
    """Return the performance of each group of dispatches that agree in all keys.

    Parameters
    ----------
    dispatches
        The dispatches.
    keys
        The keys; groups are in the order of their values.
    shares_within
        Shares are those of the dispatches that agree in this number of keys.
    """
    rows = np.stack([key.codes for key in keys])
    groups, member = np.unique(rows, axis=1, return_inverse=True)
    member = member.ravel()
    _, wholes = np.unique(groups[:shares_within], axis=1, return_inverse=True)
    whole_of = wholes.ravel() if shares_within else np.zeros(groups.shape[1], dtype=np.int64)

    def total(values: Floats | Integers) -> Floats:
        sums: Floats = np.bincount(member, weights=values, minlength=groups.shape[1]).astype(
            np.float64
        )
        return sums

    count, time = total(np.ones(len(dispatches))), total(dispatches.length)
    instructions, cycles = total(dispatches.instructions), total(dispatches.cycles)
    ipc_sum = total(dispatches.ipc)
    whole_count, whole_time = (
        np.bincount(whole_of, weights=values)[whole_of] for values in (count, time)
    )
    misses = {
        name: PER * total(values[dispatches.entry]) / np.maximum(instructions, 1)
        for name, values in dispatches.samples.misses.items()
    }

    def missed(name: str, group: int) -> float | None:
        return float(misses[name][group]) if name in misses else None

    return tuple(
        PerformanceRow(
            group={
                key.name: key.values[code] for key, code in zip(keys, groups[:, group], strict=True)
            },
            dispatches=int(count[group]),
            dispatch_share=float(count[group] / whole_count[group]),
            time_share=float(time[group] / whole_time[group]),
            mean_length=float(time[group] / count[group]),
            ipc=float(instructions[group] / cycles[group]),
            ipc_of_dispatches=float(ipc_sum[group] / count[group]),
            instruction_misses=missed(INSTRUCTION_MISSES, group),
            data_misses=missed(DATA_MISSES, group),
        )
        for group in range(groups.shape[1])
    )


def deviations(dispatches: CountedDispatches) -> tuple[DeviationRow, ...]:
    """Return how the means of threads lie around the mean of all threads, metric by metric."""
    samples = dispatches.samples
    _, thread = np.unique(samples.thread[dispatches.entry], return_inverse=True)

    def total(values: Floats) -> Floats:
        sums: Floats = np.bincount(thread, weights=values).astype(np.float64)
        return sums

    instructions = np.maximum(total(dispatches.instructions), 1)
    metrics = {"ipc": total(dispatches.instructions) / total(dispatches.cycles)}
    for metric, name in (("instruction_misses", INSTRUCTION_MISSES), ("data_misses", DATA_MISSES)):
        if name in samples.misses:
            metrics[metric] = PER * total(samples.misses[name][dispatches.entry]) / instructions
    rows = []
    for metric, means in metrics.items():
        spread = means.std()
        distance = (means - means.mean()) / spread if spread else np.zeros_like(means)
        shares = np.histogram(distance, bins=DEVIATIONS)[0] / len(means)
        rows += [
            DeviationRow(metric=metric, low=low, high=high, share=float(share))
            for (low, high), share in zip(pairwise(DEVIATIONS), shares, strict=True)
        ]
    return tuple(rows)


def _queues(dispatches: CountedDispatches) -> tuple[QueueRow, ...]:
    samples = dispatches.samples
    if samples.run_queue is None:
        return ()
    rows = []
    for cpu in np.unique(samples.cpu[dispatches.entry]):
        lengths = samples.run_queue[samples.cpu == cpu]
        rows.append(
            QueueRow(
                cpu=int(cpu),
                mean=float(lengths.mean()),
                median=float(np.median(lengths)),
                percentile_95=float(np.percentile(lengths, 95)),
                largest=int(lengths.max()),
            )
        )
    return tuple(rows)
