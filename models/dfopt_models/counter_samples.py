"""What performance counters counted between two switches, and the figures of a paper.

Samples are read from CSV tables, and from what ``perf script`` prints of a group of events.

The figures are those of Ziemba, Upadhyaya and Pai: performance by CPU, type, predecessor and
length. Two means of instructions per cycle are given, since they differ. That of all instructions
over all cycles says what the work took. The mean over dispatches counts a short one like a long
one; only this one agrees with the numbers that the paper prints.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dfopt.checks import LARGEST_TOTAL
from dfopt.errors import DfoptError, FileError
from dfopt.files import read_text
from dfopt.files.csv_table import csv_table
from dfopt.files.storage import shown_name
from dfopt.structs import NULLABLE, DocumentPart
from dfopt.table import Table, columns, table_of
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

REQUIRED = ("time", "cpu", "thread", "type", "instructions", "cycles")

TEXTS = ("thread", "type")
"""Those whose values are no numbers."""

COLUMNS = (*REQUIRED, *MISSES, "run_queue")
"""The columns of a table of samples; those that are not required may be missing."""

Row = dict[str, str]

SWITCH = "sched:sched_switch"

LINE = re.compile(
    r"^\s*(?P<comm>.+?)\s+(?P<tid>\d+)\s+\[(?P<cpu>\d+)\]\s+(?P<seconds>\d+)\.(?P<digits>\d+):"
    r"\s+(?P<period>\d+)\s+(?P<event>[\w:./=-]+?):?(?:\s|$)"
)
"""A line of ``perf script -F comm,tid,cpu,time,period,event``, perhaps with more behind it."""

EVENTS = {
    "instructions": "instructions",
    "cycles": "cycles",
    "cpu-cycles": "cycles",
    "l2_instruction_misses": MISSES[0],
    "l2_data_misses": MISSES[1],
    "l2_data_accesses": MISSES[2],
}
"""For each name of an event the column that it fills; perf lets users name events themselves."""

NANOSECOND_DIGITS = 9

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

METRICS = {"instruction_misses": INSTRUCTION_MISSES, "data_misses": DATA_MISSES}
"""For each figure of misses the counter that it is about."""

PERFORMANCE = {
    "dispatches": "dispatches",
    "dispatch_share": "share :.1%",
    "time_share": "time :.1%",
    "mean_length": "mean length [ns] :time",
    "ipc": "IPC :.3f",
    "ipc_of_dispatches": "IPC of dispatches :.3f",
    "instruction_misses": "I-misses / 100 :.3g",
    "data_misses": "D-misses / 100 :.3g",
}

QUEUES = {
    "cpu": "CPU",
    "mean": "mean :.2f",
    "median": "median :g",
    "percentile_95": "95 % :g",
    "largest": "largest",
}


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
        Where they come from; it has the names of threads and types.
    cpu, thread, type, instructions, cycles, misses
        As in the samples.
    length
        How long each ran, nanoseconds.
    previous_type
        The type of the dispatch before it on the CPU, idle time left out; :data:`NOBODY` if there
        is none.
    previous_length
        How long that ran, nanoseconds; 0 if that is not known.
    predecessors
        The number of dispatches of its own type directly before it on the CPU.
    """

    samples: CounterSamples
    cpu: Integers
    thread: Integers
    type: Integers
    instructions: Floats
    cycles: Floats
    misses: Mapping[str, Floats]
    length: Integers
    previous_type: Integers
    previous_length: Integers
    predecessors: Integers

    @property
    def ipc(self) -> Floats:
        """Instructions per cycle of each."""
        return self.instructions / self.cycles

    @property
    def clock_ghz(self) -> float:
        """Cycles per nanosecond, over all of them."""
        return float(self.cycles.sum() / self.length.sum())


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
    begins = np.diff(samples.cpu, prepend=-1) != 0
    spent = np.where(begins, 0, samples.time - np.roll(samples.time, 1))

    # Without idle time the dispatch before is the row before, if that is the same CPU's.
    busy = np.flatnonzero(~samples.is_idle)
    cpu, kind, length = samples.cpu[busy], samples.type[busy], spent[busy]
    follows = np.diff(cpu, prepend=-1) == 0
    previous_type = np.where(follows, np.roll(kind, 1), NOBODY)

    # Count back to where the series of one type began.
    rows = np.arange(len(busy))
    new_series = previous_type != kind
    predecessors = rows - np.maximum.accumulate(np.where(new_series, rows, 0))

    kept = length > 0
    if cpus is not None:
        kept &= np.isin(cpu, list(cpus))
    if not kept.any():
        raise ModelError(
            "no CPU has a dispatch between two switches; give samples of every switch of a CPU"
        )
    entry = busy[kept]
    return CountedDispatches(
        samples=samples,
        cpu=cpu[kept],
        thread=samples.thread[entry],
        type=kind[kept],
        instructions=samples.instructions[entry],
        cycles=samples.cycles[entry],
        misses={name: values[entry] for name, values in samples.misses.items()},
        length=length[kept],
        previous_type=previous_type[kept],
        previous_length=np.where(follows, np.roll(length, 1), 0)[kept],
        predecessors=predecessors[kept],
    )


def read_samples(path: str | Path) -> CounterSamples:
    """Return the counter samples in a file.

    Parameters
    ----------
    path
        A CSV table whose first line names the columns of :data:`COLUMNS`, in any order; or what
        ``perf script -F comm,tid,cpu,time,period,event`` prints of a recording in which
        ``sched:sched_switch`` leads a group of counters. ``-`` is standard input, and a name that
        ends in ``.gz`` is gunzipped. Times are nanoseconds.

    Raises
    ------
    FileError, ModelError
        With file, line and remedy, when the file holds no such samples.
    """
    text = read_text(path)
    read = perf_rows if LINE.match(text.lstrip("\ufeff\n").partition("\n")[0]) else csv_rows
    try:
        return samples_of(list(read(text)))
    except DfoptError as error:
        raise error.in_file(shown_name(path)) from None


def csv_rows(text: str) -> Iterator[tuple[int, Row]]:
    """Yield the lines of a table, with their numbers."""
    table = csv_table(text.removeprefix("\ufeff"), ",".join(REQUIRED))
    for name in table.names:
        if name not in COLUMNS and not name.startswith("x-"):
            raise FileError(
                f"unknown column {name!r}; known are {', '.join(COLUMNS)}, and your own may begin "
                "with 'x-'",
                place="line 1",
            )
    for name in (*REQUIRED, *table.names):
        table.column(name)  # refuses one that is missing, or there twice
    for line, cells in table.rows:
        yield line, dict(zip(table.names, cells, strict=True))


def perf_rows(text: str) -> Iterator[tuple[int, Row]]:
    """Return the samples that perf printed: a switch, then the counters of its group.

    The thread that leaves is the one that perf names; its type is its command.
    """
    row: Row = {}
    begin = 0
    for line_number, line in enumerate(text.splitlines(), start=1):
        match = LINE.match(line)
        if match is None:
            if line.strip() and not line.lstrip().startswith("#"):
                raise FileError(
                    "is not what perf prints of a group of counters; use perf script -F "
                    "comm,tid,cpu,time,period,event",
                    place=f"line {line_number}",
                )
            continue
        event = match["event"].partition(":")[0] if ":" not in SWITCH else match["event"]
        if event.startswith(SWITCH):
            if row:
                yield begin, row
            begin = line_number
            digits = match["digits"].ljust(NANOSECOND_DIGITS, "0")[:NANOSECOND_DIGITS]
            idle = match["tid"] == "0"
            row = {
                "time": match["seconds"] + digits,
                "cpu": match["cpu"],
                "thread": match["tid"],
                "type": "idle" if idle else match["comm"],
            }
            continue
        column = EVENTS.get(event.partition(":")[0])
        if column is not None and row:
            row[column] = match["period"]
    if row:
        yield begin, row


def samples_of(rows: Sequence[tuple[int, Row]]) -> CounterSamples:
    """Return the samples that rows of text describe.

    Raises
    ------
    FileError
        With the line, when a value is missing or no number.
    """
    if not rows:
        raise FileError("holds no samples; give one line for each switch")

    def column(name: str) -> NDArray[Any]:
        values = []
        for line, row in rows:
            if row.get(name, "") == "":
                raise FileError(f"has no {name}; every switch needs it", place=f"line {line}")
            try:
                values.append(row[name] if name in TEXTS else _count(row[name]))
            except ValueError:
                raise FileError(
                    f"{name} must be a number that is not negative, not {row[name]!r}",
                    place=f"line {line}",
                ) from None
        return np.array(values)

    given = {name for _, row in rows for name in row} | {*REQUIRED}
    columns = {name: column(name) for name in COLUMNS if name in given}
    order = np.lexsort((columns["time"], columns["cpu"]))
    columns = {name: values[order] for name, values in columns.items()}
    (threads, thread), (types, kind) = (
        np.unique(columns.pop(name), return_inverse=True) for name in TEXTS
    )
    misses = {name: columns.pop(name).astype(np.float64) for name in MISSES if name in columns}
    counted: dict[str, Any] = {
        name: columns.pop(name).astype(np.float64) for name in ("instructions", "cycles")
    }
    return CounterSamples(
        threads=tuple(map(str, threads)),
        thread=thread,
        types=tuple(map(str, types)),
        type=kind,
        misses=misses,
        **counted,
        **columns,
    )


def _count(text: str) -> int:
    value = int(text)
    if not 0 <= value <= LARGEST_TOTAL:
        raise ValueError
    return value


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

    def tables(self) -> list[Table]:
        """Return all of them as tables."""
        return [
            *(performance_table(title, getattr(self, name)) for name, title in TITLES.items()),
            deviations_table(self.deviations),
            table_of("threads that wait (Figure 11)", self.queues, QUEUES),
        ]


TITLES = {
    "by_cpu": "by CPU (Figure 3)",
    "by_type": "by CPU and type (Figures 4 and 5)",
    "by_thread": "threads that are dispatched most often (Figure 6)",
    "by_predecessor": "by what ran before (Figures 8 and 9)",
    "by_length": "by slice length (Figure 10)",
}
"""The titles of the tables of performance."""


def performance_table(title: str, rows: Sequence[PerformanceRow]) -> Table:
    """Return the table of groups."""
    own = table_of(title, rows, PERFORMANCE)
    names = columns(*(name for row in rows[:1] for name in row.group))
    values = [(*row.group.values(), *figures) for row, figures in zip(rows, own.rows, strict=True)]
    return Table(title, (*names, *own.columns), values)


def deviations_table(rows: Sequence[DeviationRow]) -> Table:
    """Return the table of distances from the mean: a row for each metric."""
    ranges = dict.fromkeys(_range(row.low, row.high) for row in rows)
    return Table(
        "threads by distance from the mean of all (Figure 7)",
        columns("metric", *(f"{each} :.1%" for each in ranges)),
        [
            (
                metric.replace("_", " ").replace("ipc", "IPC"),
                *(row.share for row in rows if row.metric == metric),
            )
            for metric in dict.fromkeys(row.metric for row in rows)
        ],
    )


def _range(low: float, high: float) -> str:
    if low == float("-inf"):
        return f"below {high:+g}σ"
    return f"above {low:+g}σ" if high == float("inf") else f"{low:+g}σ to {high:+g}σ"


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
    cpus, cpu = np.unique(dispatches.cpu, return_inverse=True)
    by_cpu = Key("CPU", tuple(map(str, cpus)), cpu)
    by_thread = Key("thread", samples.threads, dispatches.thread)
    busiest = np.argsort(-np.bincount(dispatches.thread), kind="stable")[:MOST_THREADS]

    def within(first: Key, second: Key, which: Any = slice(None)) -> tuple[PerformanceRow, ...]:
        return performance(dispatches, [first, second], which=which, shares_within=1)

    return CounterFigures(
        by_cpu=performance(dispatches, [by_cpu]),
        by_type=within(by_cpu, by_type),
        by_thread=within(by_thread, by_cpu, np.isin(dispatches.thread, busiest)),
        deviations=deviations(dispatches),
        by_predecessor=within(by_type, predecessors(dispatches, long_ns)),
        by_length=within(by_type, slice_lengths(dispatches)),
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
    which: Any = slice(None),
    shares_within: int = 0,
) -> tuple[PerformanceRow, ...]:
    """Return the performance of each group of dispatches that agree in all keys.

    Parameters
    ----------
    dispatches
        The dispatches.
    keys
        The keys; groups are in the order of their values.
    which
        The dispatches that count: a mask, or all.
    shares_within
        Shares are those of the dispatches that agree in this number of keys.
    """
    rows = np.stack([key.codes[which] for key in keys])
    groups, member = np.unique(rows, axis=1, return_inverse=True)
    member = member.ravel()
    _, wholes = np.unique(rows[:shares_within], axis=1, return_inverse=True)
    whole = wholes.ravel() if shares_within else np.zeros_like(member)

    def total(values: Floats | Integers, of: Integers = member) -> Any:
        return np.bincount(of, weights=values[which])

    def share(values: Floats | Integers) -> Any:
        return total(values) / total(values, whole)[whole_of]

    whole_of = np.zeros(len(groups.T), dtype=np.int64)
    whole_of[member] = whole
    each = np.ones(len(dispatches.length))
    count = total(each)
    columns = {
        "dispatches": count.astype(np.int64),
        "dispatch_share": share(each),
        "time_share": share(dispatches.length),
        "mean_length": total(dispatches.length) / count,
        "ipc_of_dispatches": total(dispatches.ipc) / count,
        **rates(dispatches, total),
    }
    uncounted: dict[str, Any] = dict.fromkeys(METRICS)
    return tuple(
        PerformanceRow(
            group={key.name: key.values[code] for key, code in zip(keys, codes, strict=True)},
            **uncounted | {name: column[group].item() for name, column in columns.items()},
        )
        for group, codes in enumerate(groups.T)
    )


def rates(dispatches: CountedDispatches, total: Callable[[Floats], Any]) -> dict[str, Floats]:
    """Return instructions per cycle and misses of groups, given the totals of a column by group."""
    instructions = total(dispatches.instructions)
    return {"ipc": instructions / total(dispatches.cycles)} | {
        metric: PER * total(dispatches.misses[name]) / np.maximum(instructions, 1)
        for metric, name in METRICS.items()
        if name in dispatches.misses
    }


def deviations(dispatches: CountedDispatches) -> tuple[DeviationRow, ...]:
    """Return how the means of threads lie around the mean of all threads, metric by metric."""
    _, thread = np.unique(dispatches.thread, return_inverse=True)
    rows = []
    for metric, means in rates(dispatches, lambda values: np.bincount(thread, values)).items():
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
    return tuple(
        QueueRow(
            cpu=int(cpu),
            mean=float(lengths.mean()),
            median=float(np.median(lengths)),
            percentile_95=float(np.percentile(lengths, 95)),
            largest=int(lengths.max()),
        )
        for cpu in np.unique(dispatches.cpu)
        for lengths in [samples.run_queue[samples.cpu == cpu]]
    )
