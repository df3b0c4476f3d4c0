"""What performance counters counted between two switches, and what ran before each dispatch.

Samples are read from CSV tables, and from what ``perf script`` prints of a group of events.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from dfopt.checks import LARGEST_TOTAL
from dfopt.errors import DfoptError, FileError
from dfopt.files import read_text
from dfopt.files.streams import shown_name
from dfopt_models.errors import ModelError

T = TypeVar("T")

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
    """Return the lines of a table, with their numbers."""
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff")), strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        _check_header(header)
        for cells in reader:
            if not cells:
                continue
            if len(cells) != len(header):
                raise FileError(
                    f"has {len(cells)} values under {len(header)} columns; correct it",
                    place=f"line {reader.line_num}",
                )
            yield reader.line_num, dict(zip(header, map(str.strip, cells), strict=True))
    except csv.Error as error:
        raise FileError(
            f"is no CSV ({error}); correct it", place=f"line {reader.line_num}"
        ) from None


def _check_header(header: Sequence[str]) -> None:
    for name in header:
        if name not in COLUMNS and not name.startswith("x-"):
            raise FileError(
                f"unknown column {name!r}; known are {', '.join(COLUMNS)}, and your own may begin "
                "with 'x-'",
                place="line 1",
            )
        if header.count(name) > 1:
            raise FileError(f"has two columns {name}; leave one", place="line 1")
    missing = [name for name in REQUIRED if name not in header]
    if missing:
        raise FileError(
            f"has no column {missing[0]}; begin it with a line such as {','.join(REQUIRED)}",
            place="line 1",
        )


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

    def column(name: str, read: Callable[[str], T]) -> list[T]:
        values = []
        for line, row in rows:
            if row.get(name, "") == "":
                raise FileError(f"has no {name}; every switch needs it", place=f"line {line}")
            try:
                values.append(read(row[name]))
            except ValueError:
                raise FileError(
                    f"{name} must be a number that is not negative, not {row[name]!r}",
                    place=f"line {line}",
                ) from None
        return values

    time, cpu = (np.array(column(name, _count), dtype=np.int64) for name in ("time", "cpu"))
    order = np.lexsort((time, cpu))
    given = [name for name in (*MISSES, "run_queue") if any(name in row for _, row in rows)]
    counters = {
        name: np.array(column(name, _count), dtype=np.float64)[order]
        for name in ("instructions", "cycles", *given)
    }
    run_queue = counters.pop("run_queue", None)
    threads, thread = np.unique(np.array(column("thread", str)), return_inverse=True)
    types, type_codes = np.unique(np.array(column("type", str)), return_inverse=True)
    return CounterSamples(
        time=time[order],
        cpu=cpu[order],
        threads=tuple(map(str, threads)),
        thread=thread[order],
        types=tuple(map(str, types)),
        type=type_codes[order],
        instructions=counters.pop("instructions"),
        cycles=counters.pop("cycles"),
        misses=counters,
        run_queue=None if run_queue is None else run_queue.astype(np.int64),
    )


def _count(text: str) -> int:
    value = int(text)
    if not 0 <= value <= LARGEST_TOTAL:
        raise ValueError
    return value
