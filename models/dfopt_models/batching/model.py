"""Batches of fine-grained threads: Debattista, Vella and Cordina, sections 4 and 7.

Many threads go round on one processor. Without batches each finds its data gone, since all others
ran in between. A batch of few threads goes round several times, and then goes to the end; its
threads find their data from the second pass on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import isfinite

from dfopt.structs import replace
from dfopt_models.batching import equations
from dfopt_models.errors import ModelError
from dfopt_models.parameter_fields import is_assumed

MOST = 2**40
"""Every parameter is at most this."""

COUNTS = ("cache_lines", "integers_of_a_line", "array_size", "max_batch_size", "max_batch_count")
TIMES = ("switch", "increment", "miss", "next_line", "creation", "batch_switch")
PARAMETERS = (*COUNTS, "own_lines", *TIMES)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchingModel:
    """A machine, an array with threads that work on it, and a scheduler with batches.

    All times have one unit, such as ns.

    Parameters
    ----------
    name
        What it is called.
    cache_lines
        Lines of the cache, which replaces the least recently used one.
    integers_of_a_line
        How many integers of the array one line holds.
    array_size
        Integers of the array; one thread for each GRANULARITY of them.
    max_batch_size
        The most threads in a batch, MAXBSIZE.
    max_batch_count
        Dispatches of a batch until it goes to the end, MAXBCOUNT.
    own_lines
        Lines that a thread touches in each pass and no other thread does, such as its stack's.
    switch
        To switch to the next thread.
    increment
        To add 1 to an integer that is in the cache.
    miss
        To read a line from memory.
    next_line
        To read the line that follows the last one.
    creation
        To make a thread.
    batch_switch
        To switch to the next batch.
    granularities, lengths
        What is shown: values of GRANULARITY and PROCESS_LENGTH.
    sources
        Where each value is from; what begins with "assumed" is an assumption.
    """

    name: str
    cache_lines: int
    integers_of_a_line: int
    array_size: int
    max_batch_size: int
    max_batch_count: int
    own_lines: float
    switch: float
    increment: float
    miss: float
    next_line: float
    creation: float
    batch_switch: float = 0.0
    granularities: tuple[int, ...] = (1,)
    lengths: tuple[int, ...] = (1, 2, 4, 16, 128)
    sources: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in PARAMETERS:
            value = getattr(self, name)
            least = 1 if name in COUNTS else 0
            if not (isfinite(value) and least <= value <= MOST):
                raise ModelError(f"must be from {least} to 2^40, not {value:g}", place=name)
        for name in ("switch", "own_lines"):
            if not getattr(self, name):
                raise ModelError("must be more than 0", place=name)
        for name in ("granularities", "lengths"):
            values = getattr(self, name)
            if not values:
                raise ModelError("must have at least one value", place=name)
            for value in values:
                if not 1 <= value <= MOST:
                    raise ModelError(f"must be from 1 to 2^40, not {value}", place=name)
        if max(self.granularities) > self.array_size:
            raise ModelError(
                f"must be at most array_size, which is {self.array_size}", place="granularities"
            )

    @property
    def assumed(self) -> tuple[str, ...]:
        """The parameters that are assumptions."""
        return tuple(name for name in PARAMETERS if is_assumed(self.sources.get(name)))

    def with_values(self, **values: float) -> BatchingModel:
        """Return the model with other values."""
        known = {each.name for each in fields(self)}
        for name in values:
            if name not in known:
                raise ModelError(
                    f"is not a parameter; known are {', '.join(PARAMETERS)}", place=name
                )
        return replace(self, **values)

    def threads(self, granularity: int) -> int:
        """Return how many threads there are."""
        return self.array_size // granularity

    def footprint(self, granularity: int) -> float:
        """Return how many lines a thread touches in a pass: f."""
        return float(equations.footprint(self.own_lines, granularity, self.integers_of_a_line))

    def largest_batch(self, granularity: int) -> int:
        """Return the largest batch whose threads all stay in the cache: B*."""
        return int(self.cache_lines / self.footprint(granularity))

    def computing(self, granularity: int, length: float, *, batches: bool = False) -> float:
        """Return what a dispatch takes without misses: b.

        With ``batches`` it has its share of switching to the next batch.
        """
        switch = equations.switching(
            self.switch, self.batch_switch if batches else 0, self.max_batch_count
        )
        return float(
            equations.computing(switch, granularity, self.increment, self.creation, length)
        )

    def reading(self, granularity: int) -> float:
        """Return what a thread takes to read all of its footprint: m."""
        return float(
            equations.reading(
                self.own_lines, self.miss, granularity, self.integers_of_a_line, self.next_line
            )
        )

    def read_without_batches(self, granularity: int, length: int) -> float:
        """Return which share of the dispatches reads its footprint anew, in one circular queue."""
        everything = self.threads(granularity) * self.footprint(granularity)
        return 1.0 if everything > self.cache_lines else 1 / length

    def read_with_batches(self, granularity: int, length: int) -> float:
        """Return which share of the dispatches reads its footprint anew, in batches.

        In each of its turns a batch reads each of its threads once, if the batch fits into the
        cache and all batches together do not. This is exact where all turns are whole. Else it is
        the most: while batches have short last turns, some lines stay in the cache.
        """
        if self.read_without_batches(granularity, length) < 1:
            return 1 / length
        batch = min(self.max_batch_size, self.threads(granularity))
        if batch > self.largest_batch(granularity):
            return 1.0
        if batch == self.threads(granularity):  # a single batch has no other one to wait for
            return 1 / length
        return share_read(batch, self.max_batch_count, length)

    def gain(self, granularity: int, length: int) -> float:
        """Return how many times as fast batches are as one circular queue."""
        read = self.reading(granularity)
        without = self.computing(granularity, length) + read * self.read_without_batches(
            granularity, length
        )
        in_batches = self.computing(
            granularity, length, batches=True
        ) + read * self.read_with_batches(granularity, length)
        return without / in_batches

    def limit(self, granularity: int) -> float:
        """Return the gain that processes without end approach."""
        passes = self.max_batch_count / self.max_batch_size
        if self.read_without_batches(granularity, 2) < 1 or passes < 1:
            return 1.0
        if self.max_batch_size > self.largest_batch(granularity):
            return 1.0
        read = self.reading(granularity)
        without, in_batches = (
            equations.computing(
                equations.switching(self.switch, time, self.max_batch_count),
                granularity,
                self.increment,
                0,
                1,
            )
            for time in (0, self.batch_switch)
        )
        return float((without + read) / (in_batches + read / passes))

    @property
    def flat_next_line(self) -> float:
        """The time to read a successive line with which granularity changes no limit."""
        return float(
            equations.flat(
                self.own_lines, self.miss, self.integers_of_a_line, self.increment, self.switch
            )
        )


def share_read(batch: int, dispatches: int, length: int) -> float:
    """Return which share of a batch's dispatches is the first of its thread in a turn.

    Parameters
    ----------
    batch
        Threads in the batch.
    dispatches
        Of the batch in a turn.
    length
        Passes of each thread.

    Returns
    -------
    float
        1/min(length, dispatches/batch), wherever that divides evenly; else a little more, since
        the last turn is shorter.
    """
    turns, rest = divmod(batch * length, dispatches)
    return (turns * min(batch, dispatches) + min(batch, rest)) / (batch * length)


@dataclass(frozen=True, slots=True)
class BatchChoice:
    """A choice of MAXBSIZE and MAXBCOUNT, with misses and waiting of threads without end.

    Parameters
    ----------
    batch, dispatches
        MAXBSIZE and MAXBCOUNT.
    misses
        Lines that are missed in a dispatch, on average.
    waiting
        For which a batch that goes to the end waits for its next turn.
    cost
        What a dispatch takes on average.
    """

    batch: int
    dispatches: int
    misses: float
    waiting: float
    cost: float


def choice(model: BatchingModel, granularity: int, batch: int, dispatches: int) -> BatchChoice:
    """Return what a choice of batches means for processes without end.

    Raises
    ------
    ModelError
        When a number is less than 1.
    """
    if min(batch, dispatches) < 1:
        raise ModelError(f"a batch must be at least 1; here are {batch} and {dispatches}")
    threads = model.threads(granularity)
    batch = min(batch, threads)
    lines = model.footprint(granularity)
    if threads * lines <= model.cache_lines or batch == threads <= model.largest_batch(granularity):
        read = 0.0
    elif batch > model.largest_batch(granularity):
        read = 1.0
    else:
        read = min(1.0, batch / dispatches)
    switch = equations.switching(model.switch, model.batch_switch, dispatches)
    busy = float(equations.computing(switch, granularity, model.increment, 0, 1))
    cost = busy + read * model.reading(granularity)
    turn = dispatches * cost
    whole = float(equations.rotation(threads, batch, turn))
    return BatchChoice(batch, dispatches, lines * read, whole - turn, cost)


def pareto(choices: Iterable[BatchChoice]) -> tuple[BatchChoice, ...]:
    """Return the choices that no other one beats, the one that waits least first.

    Another one beats a choice if it neither misses nor waits more, and does less of one of them.
    """
    front: list[BatchChoice] = []
    for each in sorted(choices, key=lambda found: (found.waiting, found.misses)):
        if not front or each.misses < front[-1].misses:
            front.append(each)
    return tuple(front)


def choices(
    model: BatchingModel, granularity: int, batches: Sequence[int], passes: Sequence[int]
) -> tuple[BatchChoice, ...]:
    """Return all combinations of batch sizes and passes in a turn."""
    return tuple(
        choice(model, granularity, batch, batch * rounds) for batch in batches for rounds in passes
    )
