"""Batches of fine-grained threads: Debattista, Vella and Cordina, sections 4 and 7.

Many threads go round on one processor. Without batches each finds its data gone, since all others
ran in between. A batch of few threads goes round several times, and then goes to the end; its
threads find their data from the second pass on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from math import ceil, inf
from typing import Annotated, Any

from msgspec import Meta, field

from dfopt.files.documents import DocumentType
from dfopt.files.formats import Format
from dfopt.native.lines import Caches
from dfopt.problem.cache import CLEAN
from dfopt.structs import DocumentPart, replace
from dfopt.table import Table, Uncertain, columns, facts, table_of
from dfopt_models.errors import ModelError, OptionError
from dfopt_models.formulas import Equations
from dfopt_models.model import AnalyticModel, Sourced

Count = Annotated[int, Meta(ge=1, le=2**40)]
Time = Annotated[float, Meta(ge=0, le=2**40)]
PositiveTime = Annotated[float, Meta(gt=0, le=2**40)]

MOST_LENGTH = 16
"""Longer processes are not counted line by line: they repeat what shorter ones do."""

MOST_PASSES = 64
"""Batches of the Pareto curve have at most this many passes in a turn."""

equation = Equations(
    {
        "footprint": "f: lines that a thread touches in a pass",
        "computing": "b [ns]: time of a dispatch without misses",
        "reading": "m [ns]: time to read the footprint",
        "gain": r"gain $\mathrm{gain}$: how many times as fast batches are",
        "flat": r"t_flat [ns] $t_{\mathrm{flat}}$: t_seq at which granularity changes no limit",
        "rotation": "T [ns]: time in which every batch has one turn",
        "own_lines": "s: lines of its own that a thread touches in a pass",
        "granularity": "G: GRANULARITY, integers of a thread",
        "integers_of_a_line": "i: integers that a line holds",
        "passes": "r: passes for which a footprint is read once, 1/k",
        "share_read": "k: share of the dispatches that read their footprint",
        "length": "PL: PROCESS_LENGTH, passes of a thread",
        "batch": "B: MAXBSIZE, threads of a batch",
        "dispatches": "K: MAXBCOUNT, dispatches of a batch in a turn",
        "threads": "n: threads",
        "turn": r"turn [ns] $t_{\mathrm{turn}}$: time of a turn, K dispatches",
        "switching": "t_s [ns]: time of a switch, share of the batch's included",
        "switch": "t_cs [ns] $t_{cs}$: time to switch to the next thread",
        "increment": "t_i [ns]: time to add 1 to an integer in the cache",
        "creation": r"t_create [ns] $t_{\mathrm{create}}$: time to make a thread",
        "batch_switch": r"t_batch [ns] $t_{\mathrm{batch}}$: time to switch to the next batch",
        "miss": "t_m [ns]: time to read a line",
        "next_line": r"t_seq [ns] $t_{\mathrm{seq}}$: time to read the line that follows",
    },
    "derived: Debattista, Vella and Cordina, section 7, Figure 4",
)


class BatchingModel(Sourced):
    """A machine, an array with threads that work on it, and a scheduler with batches.

    All times have one unit, such as ns.

    Parameters
    ----------
    name
        What it is called; the file's name if it is left out.
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
        Time to switch to the next thread.
    increment
        Time to add 1 to an integer that is in the cache.
    miss
        Time to read a line from memory.
    next_line
        Time to read the line that follows the last one.
    creation
        Time to make a thread.
    batch_switch
        Time to switch to the next batch.
    granularities
        What is shown: values of GRANULARITY, at most array_size.
    lengths
        What is shown: values of PROCESS_LENGTH.
    """

    name: str = "model"
    cache_lines: Count
    integers_of_a_line: Count
    array_size: Count
    max_batch_size: Count
    max_batch_count: Count
    own_lines: PositiveTime
    switch: PositiveTime
    increment: Time
    miss: Time
    next_line: Time
    creation: Time
    batch_switch: Time = 0.0
    granularities: Annotated[tuple[Count, ...], Meta(min_length=1)] = (1,)
    lengths: Annotated[tuple[Count, ...], Meta(min_length=1)] = (1, 2, 4, 16, 128)

    def __post_init__(self) -> None:
        """Check that each thread has its integers in the array."""
        super().__post_init__()
        if max(self.granularities) > self.array_size:
            raise ModelError(
                f"must be at most array_size, which is {self.array_size}", place="granularities"
            )

    def threads(self, granularity: int) -> int:
        """Return how many threads there are."""
        return self.array_size // granularity

    @equation("lines of a thread")
    def footprint(self, granularity: int) -> float:
        """Return how many lines a thread touches in a pass: its own, and those of its integers."""
        return self.own_lines + granularity / self.integers_of_a_line

    def largest_batch(self, granularity: int) -> int:
        """Return the largest batch whose threads all stay in the cache: B*."""
        return int(self.cache_lines / self.footprint(granularity))

    @equation("a switch, with its share of switching batches")
    def switching(self, dispatches: float) -> float:
        """Return the time to switch to the next thread, with its share of switching batches."""
        return self.switch + self.batch_switch / dispatches

    @equation("a dispatch without misses", name="computing", left="computing")
    def computing_after(self, switching: float, granularity: int, length: float) -> float:
        """Return what a dispatch takes without misses, given the time of its switch: b.

        That is its switch, its increments, and its share of making the thread.
        """
        return switching + granularity * self.increment + self.creation / length

    def computing(self, granularity: int, length: float, *, batches: bool = False) -> float:
        """Return what a dispatch takes without misses: b.

        With ``batches`` it has its share of switching to the next batch.
        """
        switching = self.switching(self.max_batch_count) if batches else self.switch
        return self.computing_after(switching, granularity, length)

    @equation("a footprint from memory")
    def reading(self, granularity: int) -> float:
        """Return what a thread takes to read all of its footprint: m.

        Its own lines lie anywhere; those of its integers follow each other.
        """
        return self.own_lines * self.miss + granularity / self.integers_of_a_line * self.next_line

    def read_without_batches(self, granularity: int, length: float) -> float:
        """Return which share of the dispatches reads its footprint anew, in one circular queue."""
        everything = self.threads(granularity) * self.footprint(granularity)
        return 1.0 if everything > self.cache_lines else 1 / length

    def read_with_batches(self, granularity: int, length: float) -> float:
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

    def gain(self, granularity: int, length: float) -> float:
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
        return self.gain(granularity, inf)


@equation("batches over one circular queue, where not all footprints fit into the cache")
def gain(computing: Any, reading: Any, passes: Any) -> Any:
    """Return how many times as fast threads run if they read once in ``passes`` passes."""
    return (computing + reading) / (computing + reading / passes)


@equation("how often a batch that fits reads a footprint: its whole turns, then the last one")
def share_read(batch: int, dispatches: int, length: float, least: Any = min) -> float:
    """Return which share of a batch's dispatches is the first of its thread in a turn.

    Parameters
    ----------
    batch
        Threads in the batch.
    dispatches
        Of the batch in a turn.
    length
        Passes of each thread; perhaps infinite.
    least
        Returns the lesser of two values.

    Returns
    -------
    float
        1/min(length, dispatches/batch), wherever that divides evenly; else a little more, since
        the last turn is shorter.
    """
    if length == inf:
        return min(1.0, batch / dispatches)
    turns, rest = divmod(batch * length, dispatches)
    share: float = (turns * least(batch, dispatches) + least(batch, rest)) / (batch * length)
    return share


@equation("where the limit does not depend on granularity", name="flat", left="flat")
def flat_next_line(model: BatchingModel) -> float:
    """Return the time to read a successive line at which granularity changes nothing.

    m/b is then the same at any granularity. The time to make a process is left out, as if
    processes never ended.
    """
    lines = model.integers_of_a_line * model.own_lines
    return lines * model.miss * model.increment / model.switch


@equation("from one turn of a batch to the next")
def rotation(threads: int, batch: int, turn: float) -> float:
    """Return the time in which each batch has one turn."""
    return threads / batch * turn


class BatchChoice(DocumentPart):
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

    batch: int = field(name="max_batch_size")
    dispatches: int = field(name="max_batch_count")
    misses: float
    waiting: float
    cost: float = field(name="dispatch")


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
    own = replace(model, max_batch_size=batch, max_batch_count=dispatches)
    read = own.read_with_batches(granularity, inf)
    cost = own.computing(granularity, inf, batches=True) + read * own.reading(granularity)
    turn = dispatches * cost
    whole = rotation(threads, batch, turn)
    return BatchChoice(
        batch=batch,
        dispatches=dispatches,
        misses=own.footprint(granularity) * read,
        waiting=whole - turn,
        cost=cost,
    )


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


def simulated_misses(
    model: BatchingModel, granularity: int, length: int, *, batches: bool
) -> float:
    """Return lines missed in a dispatch on average, in a cache that drops the least recent line.

    All threads are there from the beginning. With ``batches`` they run as under unibatch-smash,
    else in one circular queue. Times play no part.

    Parameters
    ----------
    model
        Its cache, its array and its batches; own lines are rounded up.
    granularity, length
        Integers of a thread, and its passes.
    """
    threads = model.threads(granularity)
    own, size = ceil(model.own_lines), model.integers_of_a_line
    memory = threads * own + ceil(threads * granularity / size)
    # A miss takes a unit of time: behind the cache there is memory alone.
    cache = Caches(memory, [min(model.cache_lines, memory), 0], [1, 1], (1, 0, 0, 1, -1))
    missed = 0
    batch = model.max_batch_size if batches else threads
    for thread in order_of_dispatches(threads, length, batch, model.max_batch_count):
        first, last = (thread * granularity // size, ((thread + 1) * granularity - 1) // size)
        missed += cache.touch(0, thread * own, own, CLEAN)
        missed += cache.touch(0, threads * own + first, last - first + 1, CLEAN)
    return missed / (threads * length)


def order_of_dispatches(threads: int, length: int, size: int, dispatches: int) -> Iterator[int]:
    """Yield threads in the order of their dispatches, in batches; one batch goes in a circle.

    Parameters
    ----------
    threads, length
        Their number, and the passes of each.
    size, dispatches
        Threads of a batch, and its dispatches in a turn.
    """
    queue = deque(
        deque((thread, length) for thread in range(first, min(first + size, threads)))
        for first in range(0, threads, size)
    )
    while queue:
        batch = queue.popleft()
        for _ in range(dispatches):
            thread, left = batch.popleft()
            yield thread
            if left > 1:
                batch.append((thread, left - 1))
            if not batch:
                break
        else:
            queue.append(batch)


def model_that_is_quick(model: BatchingModel, granularity: int) -> BatchingModel:
    """Return the model with array and cache halved as often as a batch fits and caches overflow."""
    batch = model.max_batch_size
    smaller = model
    while (
        smaller.cache_lines % 2 == smaller.array_size % (2 * granularity * batch) == 0
        and smaller.cache_lines // 2 >= batch * model.footprint(granularity)
        and smaller.threads(granularity) * model.footprint(granularity) > smaller.cache_lines
    ):
        smaller = replace(
            smaller,
            cache_lines=smaller.cache_lines // 2,
            array_size=smaller.array_size // 2,
        )
    return smaller


class GainRow(DocumentPart):
    """A granularity.

    Parameters
    ----------
    granularity
        Integers of a thread.
    footprint
        Lines that a thread touches in a pass.
    largest_batch
        The largest batch that fits into the cache.
    batch_lines
        Lines that a batch of MAXBSIZE touches.
    gains
        By process length: how many times as fast batches are.
    limit
        The same for processes without end.
    """

    granularity: int
    footprint: float = field(name="footprint_lines")
    largest_batch: int
    batch_lines: float
    gains: tuple[float, ...]
    limit: float


class CountedMisses(DocumentPart):
    """Lines missed in a dispatch, by the model and counted one by one.

    Parameters
    ----------
    granularity, length
        Integers and passes of a thread.
    model, counted
        In batches.
    model_without, counted_without
        In one circular queue.
    """

    granularity: int
    length: int
    model: float = field(name="misses")
    counted: float
    model_without: float = field(name="misses_without_batches")
    counted_without: float = field(name="counted_without_batches")


class BatchChoices(DocumentPart):
    """Choices of batches at a granularity.

    Parameters
    ----------
    granularity
        Integers of a thread.
    choices
        Those that no other one beats, the one that waits least first.
    own
        What the model's own MAXBSIZE and MAXBCOUNT mean.
    """

    granularity: int
    choices: tuple[BatchChoice, ...]
    own: BatchChoice


class BatchingResult(DocumentPart):
    """What ``dfopt model batching --json`` prints. Times have the unit of the parameters.

    Parameters
    ----------
    model
        Its name.
    assumed
        Parameters that are assumptions.
    lengths
        Values of PROCESS_LENGTH.
    gains
        By granularity.
    flat_next_line
        The time of the next line at which granularity changes no limit.
    pareto
        Misses against waiting, at one granularity.
    counted
        Misses that were counted, if that was asked for.
    """

    model: str
    assumed: tuple[str, ...]
    lengths: tuple[int, ...]
    gains: tuple[GainRow, ...]
    flat_next_line: float
    pareto: BatchChoices
    counted: tuple[CountedMisses, ...] = ()

    def tables(self, model: BatchingModel) -> list[Table]:
        """Return all of it as tables."""
        parameters = {
            shown: Uncertain(getattr(model, name), assumed=name in model.assumed)
            for name, shown in SHOWN.items()
        }
        chosen = self.pareto
        title = f"Batches that no other ones beat, GRANULARITY {chosen.granularity:,}"
        tables = [
            facts(parameters, model.name, ["~: assumed"] * bool(self.assumed)),
            Table(
                "Gain by PROCESS_LENGTH",
                columns(
                    "GRANULARITY", *(f"{length:,} :.3f" for length in self.lengths), "limit :.3f"
                ),
                [(row.granularity, *row.gains, row.limit) for row in self.gains],
                [
                    "gain: how many times as fast batches are as one circular queue",
                    "limit: the gain of processes without end; it would be the same at every "
                    f"GRANULARITY if the next line took {self.flat_next_line:.1f} ns",
                ],
            ),
            table_of(
                "Batches and the cache",
                self.gains,
                {
                    "granularity": "GRANULARITY",
                    "footprint": "lines of a thread",
                    "largest_batch": "largest batch that fits",
                    "batch_lines": "lines of MAXBSIZE :,.0f",
                },
            ),
            table_of(
                f"{title}; the last as it is",
                (*chosen.choices, chosen.own),
                {
                    "batch": "MAXBSIZE",
                    "dispatches": "MAXBCOUNT",
                    "misses": "missed lines a dispatch",
                    "waiting": "waits [ns] :time",
                    "cost": "a dispatch [ns] :time",
                },
                ["waits: for which a batch waits for its next turn, processes without end"],
            ),
            table_of(
                "Missed lines a dispatch, and counted line by line",
                self.counted,
                {
                    "granularity": "GRANULARITY",
                    "length": "PROCESS_LENGTH",
                    "model": "in batches :.4f",
                    "counted": "counted :.4f",
                    "model_without": "without :.4f",
                    "counted_without": "counted :.4f",
                },
            ),
        ]
        return [table for table in tables if table.rows]


SHOWN = {
    "cache_lines": "cache [lines]",
    "integers_of_a_line": "a line [integers]",
    "array_size": "array [integers]",
    "max_batch_size": "MAXBSIZE [threads]",
    "max_batch_count": "MAXBCOUNT [dispatches]",
    "own_lines": "own lines",
    "switch": "switch [ns]",
    "increment": "increment [ns]",
    "miss": "miss [ns]",
    "next_line": "next line [ns]",
    "creation": "creation [ns]",
    "batch_switch": "batch switch [ns]",
}
"""What the parameters are called in tables."""


def batching_result(
    model: BatchingModel, *, granularity: int | None = None, check: bool = False
) -> BatchingResult:
    """Return what batches gain.

    Parameters
    ----------
    model
        The parameters.
    granularity
        Of which misses stand against waiting; the model's first if None.
    check
        Whether misses are counted, too.

    Raises
    ------
    OptionError
        When the array has fewer integers than a thread.
    """
    granularity = granularity or model.granularities[0]
    if granularity > model.array_size:
        raise OptionError(f"the array has {model.array_size} integers", place="granularity")
    return BatchingResult(
        model=model.name,
        assumed=model.assumed,
        lengths=model.lengths,
        gains=tuple(
            GainRow(
                granularity=each,
                footprint=model.footprint(each),
                largest_batch=model.largest_batch(each),
                batch_lines=model.max_batch_size * model.footprint(each),
                gains=tuple(model.gain(each, length) for length in model.lengths),
                limit=model.limit(each),
            )
            for each in model.granularities
        ),
        flat_next_line=flat_next_line(model),
        pareto=BatchChoices(
            granularity=granularity,
            choices=pareto_table(model, granularity),
            own=own_choice(model, granularity),
        ),
        counted=counted_misses(model) if check else (),
    )


def pareto_table(model: BatchingModel, granularity: int) -> tuple[BatchChoice, ...]:
    """Return the choices of batches that no other one beats: powers of two.

    Only the number of passes in a turn, MAXBCOUNT/MAXBSIZE, decides how much is missed. So more
    passes are the only way to miss less, and a batch is as large as fits into the cache.
    """
    largest = min(model.largest_batch(granularity), model.threads(granularity))
    batches = _powers(max(1, largest))
    return pareto(choices(model, granularity, batches, _powers(MOST_PASSES)))


def counted_misses(model: BatchingModel) -> tuple[CountedMisses, ...]:
    """Return what the model says of misses, beside what is counted line by line.

    Array and cache are smaller by the same factor as long as a batch fits, so that counting is
    quick. Processes of more than :data:`MOST_LENGTH` passes are left out.
    """
    rows = []
    for granularity in model.granularities:
        quick = model_that_is_quick(model, granularity)
        lines = quick.footprint(granularity)
        for length in model.lengths:
            if length <= MOST_LENGTH:
                rows.append(
                    CountedMisses(
                        granularity=granularity,
                        length=length,
                        model=lines * quick.read_with_batches(granularity, length),
                        counted=simulated_misses(quick, granularity, length, batches=True),
                        model_without=lines * quick.read_without_batches(granularity, length),
                        counted_without=simulated_misses(quick, granularity, length, batches=False),
                    )
                )
    return tuple(rows)


def own_choice(model: BatchingModel, granularity: int) -> BatchChoice:
    """Return what the model's own MAXBSIZE and MAXBCOUNT mean."""
    return choice(model, granularity, model.max_batch_size, model.max_batch_count)


def _powers(most: int) -> list[int]:
    return [2**power for power in range(most.bit_length()) if 2**power <= most]


BATCHING = AnalyticModel(
    name="batching",
    parameters=DocumentType(Format.BATCHING_MODEL, BatchingModel),
    results=DocumentType(Format.BATCHING, BatchingResult),
    says=batching_result,
    formulas=equation.formulas,
)
