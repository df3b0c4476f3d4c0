"""Queues that share a few CPUs: brackets for what any policy can reach, and cache footprints.

Jobs arrive at random (Poisson) and have exponential service times of mean S. A job that comes to
another CPU than the last time reloads its data, which takes C. The *load* is the share of the time
for which N CPUs would be busy without any reloads.

Programs that share a cache lose lines, after D. Thiebaut and H. S. Stone, "Footprints in the cache"
(1987): each line of a program lies in any set with the same probability, so the number of its lines
in a set is binomial. A set holds at most as many as it has ways. Another program that runs in
between takes the places that it needs, free ones first.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta, field

from dfopt.errors import FileError
from dfopt.files.documents import DocumentType
from dfopt.files.formats import Format
from dfopt.structs import NULLABLE, DocumentPart, NonNegative
from dfopt.table import Table, TableColumn, Uncertain, Value, columns
from dfopt_models.errors import ModelError, OptionError
from dfopt_models.formulas import Equations, exact
from dfopt_models.locks import all_busy
from dfopt_models.model import AnalyticModel, PositiveNumber, Sourced, assumed_in, parameters_table

if TYPE_CHECKING:
    from sympy import Expr

LOADS = (0.2, 0.5, 0.8, 0.9, 0.95)
"""Loads of which response times are shown, unless others are wanted."""

STEPS = 100
"""Loads at which a curve is looked at before its ends are found by bisection."""

BISECTIONS = 60

ROUNDING = 1e-12
"""Curves that are nearer to each other than this touch, and do not cross."""

MOST_RELOAD = 2.0
"""A global queue with reloads of twice the service time never beats partitions."""

MOST_LINES = 1 << 40
"""No footprint is larger."""

MICROSECONDS = 1e6
"""In a second."""

CpuCount = Annotated[int, Meta(ge=1, le=1000)]
Lines = Annotated[int, Meta(ge=1, le=MOST_LINES)]
Seconds = PositiveNumber

ERLANG = "Erlang (1917), M/M/N"
FOOTPRINT = "after Thiebaut and Stone (1987)"

equation = Equations(
    {
        "response": "T [s]: mean response time of a queue for all CPUs",
        "partition": "T_p [s]: mean response time with a queue for each CPU",
        "service": "S [s]: mean service time",
        "reload": "C [s]: time to read data again on another CPU",
        "moving_service": "S_g [s]: mean service time with reloads",
        "load": "rho: load: share of the time that jobs take without reloads",
        "waits": "P_w: probability that a job waits (Erlang's C)",
        "cpus": "N [integer]: number of CPUs",
        "low": "rho_1: load from which on a global queue is better",
        "high": "rho_2: load up to which it is",
        "alone": "P_NA [s] $P^{NA}$: time to load a program anew",
        "after": "P_A [s] $P^{A}$: time to read again what another program replaced",
        "line_time": "t [s]: time to read a line",
        "sets": "s [integer]: sets of the cache",
        "ways": "K [integer]: ways: lines that a set holds",
        "lines": "F [integer]: lines that the program uses, its footprint",
        "others": "G [integer]: lines that the other program uses",
    },
    "derived: from partition, ideal and reloads",
)


@equation("each CPU has its own jobs", source="M/M/1")
def partition(service: Any, load: Any) -> Any:
    """Return the mean response time where each CPU has its own jobs: M/M/1."""
    return service / (1 - load)


@equation("all CPUs share a queue", name="waiting", source=ERLANG, left="waits")
def share_that_waits(cpus: Any, load: Any) -> Any:
    """Return Erlang's C of symbols, in its usual form."""
    from sympy import Sum, Symbol, factorial

    count = Symbol("i", integer=True, nonnegative=True)
    work = cpus * load
    busy = work**cpus / factorial(cpus)
    fewer = Sum(work**count / factorial(count), (count, 0, cpus - 1))
    return busy / ((1 - load) * fewer + busy)


@equation("response time of that queue without reloads", name="ideal", source=ERLANG)
def response(service: Any, cpus: Any, load: Any, waits: Any) -> Any:
    """Return the mean response time of a queue for all CPUs in which a share of the jobs waits."""
    return service * (1 + waits / (cpus * (1 - load)))


def ideal(service: Any, cpus: int, load: Any) -> Any:
    """Return the mean response time of a queue for all CPUs without reloads: M/M/N."""
    return response(service, cpus, load, all_busy(cpus, load))


@equation(
    "service time with reloads, for any CPU; the load grows alike, to rho S_g / S",
    name="reloads",
    source="derived: a job finds its data on one CPU of N",
)
def moving_service(service: Any, reload: Any, cpus: Any) -> Any:
    """Return the mean service time where each job runs on any CPU with the same probability."""
    return service + reload * (1 - 1 / cpus)


def global_queue(service: float, reload: float, cpus: int, load: float) -> float:
    """Return the mean response time of a queue for all CPUs with reloads, as a model.

    The service time with its reload is taken for exponential. It is infinite where the reloads
    leave too little of the CPUs for the work.
    """
    longer = moving_service(service, reload, cpus)
    inflated = load * longer / service
    return float(ideal(longer, cpus, inflated)) if inflated < 1 else math.inf


def two_cpu_crossings(service: Any, reload: Any, root: Callable[[Any], Any] = math.sqrt) -> Any:
    """Return the two loads between which a global queue of two CPUs beats partitions.

    At these loads σ²ρ² − σρ + σ − 1 = 0, where σ = 1 + C/2S.
    """
    ratio = moving_service(service, reload, 2) / service
    spread = root(1 - 4 * (ratio - 1))
    return (1 - spread) / (2 * ratio), (1 + spread) / (2 * ratio)


@equation("two CPUs: a global queue beats partitions from this load on", left="low")
def lower_crossing(service: Any, reload: Any) -> Any:
    """Return the first load at which two CPUs reach the same with either queue, of symbols."""
    return simplified_crossings(service, reload)[0]


@equation("two CPUs: and up to this load", left="high")
def upper_crossing(service: Any, reload: Any) -> Any:
    """Return the last load at which two CPUs reach the same with either queue, of symbols."""
    return simplified_crossings(service, reload)[1]


@cache
def simplified_crossings(service: Expr, reload: Expr) -> list[Expr]:
    """Return the loads at which two CPUs reach the same with either queue."""
    from sympy import simplify, sqrt

    return [simplify(exact(load)) for load in two_cpu_crossings(service, reload, sqrt)]


def crossings(service: float, reload: float, cpus: int) -> tuple[float, float] | None:
    """Return the loads between which the global queue beats partitions; None if it never does.

    Raises
    ------
    ModelError
        When a parameter is impossible.
    """
    for name, number in (("service", service), ("cpus", cpus)):
        if not number > 0:
            raise ModelError("must be positive", place=name)
    if reload < 0:
        raise ModelError("must be at least 0", place="reload")
    if cpus == 1 or not reload:
        return None

    def excess(load: float) -> float:
        shared = global_queue(service, reload, cpus, load)
        return float(shared / partition(service, load) - 1)

    saturated = service / moving_service(service, reload, cpus)
    loads = [saturated * step / STEPS for step in range(STEPS)]
    best = min(range(STEPS), key=lambda step: excess(loads[step]))
    low, high = loads[max(0, best - 1)], loads[min(STEPS - 1, best + 1)]
    for _ in range(BISECTIONS):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, right) if excess(left) < excess(right) else (left, high)
    if excess(low) > -ROUNDING:
        return None
    return _root(excess, low, 0.0), _root(excess, low, saturated)


def _root(
    excess: Callable[[float], float], below: float, above: float, steps: int = BISECTIONS
) -> float:
    """Return where the excess is 0, between a place where it is negative and one where it is not.

    Both may lie either way round.
    """
    for _ in range(steps):
        middle = (below + above) / 2
        below, above = (middle, above) if excess(middle) < 0 else (below, middle)
    return below


def largest_reload(cpus: int) -> float:
    """Return the C/S below which a global queue beats partitions at some load."""

    def never(reload: float) -> float:
        return 1.0 if crossings(1.0, reload, cpus) is None else -1.0

    return _root(never, 0.0, MOST_RELOAD, BISECTIONS // 2)


@equation(
    "a program comes to a cache without its lines",
    name="no-affinity",
    source=FOOTPRINT,
    left="alone",
)
def loading_anew(line_time: Any, sets: Any, ways: Any, lines: Any) -> Any:
    """Return P^NA of symbols."""
    from sympy import Min, Sum, Symbol

    count = Symbol("i", integer=True, nonnegative=True)
    held = Min(count, ways) * in_a_set(sets, lines, count)
    return line_time * sets * Sum(held, (count, 0, lines))


@equation("another program ran in between", name="affinity", source=FOOTPRINT, left="after")
def reading_again(line_time: Any, sets: Any, ways: Any, lines: Any, others: Any) -> Any:
    """Return P^A of symbols."""
    from sympy import Max, Min, Sum, symbols

    count, other = symbols("i j", integer=True, nonnegative=True)
    excess = Max(0, Min(count, ways) + Min(other, ways) - ways)
    chances = in_a_set(sets, lines, count) * in_a_set(sets, others, other)
    return line_time * sets * Sum(excess * chances, (other, 0, others), (count, 0, lines))


def in_a_set(sets: Any, lines: Any, count: Any) -> Expr:
    """Return the probability that ``count`` of the lines lie in a set."""
    from sympy import binomial

    return binomial(lines, count) * sets**-count * (1 - 1 / sets) ** (lines - count)


class WithoutRanges(Sourced):
    """A table whose numbers have no ranges.

    Parameters
    ----------
    ranges
        Has no meaning here; it is refused, since other models have it.
    """

    ranges: None = field(name="x-range", default=None)

    def __post_init__(self) -> None:
        """Refuse ranges."""
        super().__post_init__()
        if self.ranges is not None:
            raise FileError("has no meaning in a queueing model; leave it out", place="x-range")


class SetCache(WithoutRanges):
    """A cache of sets with some ways each.

    Parameters
    ----------
    sets, ways
        Their numbers.
    line_time
        What it takes to read one line, in seconds.
    """

    sets: Lines
    ways: Annotated[int, Meta(ge=1, le=1024)]
    line_time: Seconds

    def in_a_set(self, lines: int) -> list[float]:
        """Return the probabilities that 0, 1, … lines of a program are held in a set.

        The last one is that of as many lines as there are ways, or more that compete for them.
        """
        chances = [_binomial(lines, count, self.sets) for count in range(self.ways)]
        return [*chances, max(0.0, 1 - sum(chances))]

    def held(self, lines: int) -> float:
        """Return the mean number of a program's lines that the cache holds after it ran alone."""
        chances = self.in_a_set(lines)
        return self.sets * sum(count * chance for count, chance in enumerate(chances))

    def lost(self, lines: int, others: int) -> float:
        """Return the mean number of them that another program with ``others`` lines replaces."""
        own, other = self.in_a_set(lines), self.in_a_set(others)
        return self.sets * sum(
            max(0, mine + theirs - self.ways) * own[mine] * other[theirs]
            for mine in range(self.ways + 1)
            for theirs in range(self.ways + 1)
        )

    def penalty_no_affinity(self, lines: int) -> float:
        """Return the time to fill an empty cache again, P^NA."""
        return self.held(lines) * self.line_time

    def penalty_affinity(self, lines: int, others: int) -> float:
        """Return the time to read again what another program replaced, P^A."""
        return self.lost(lines, others) * self.line_time

    def footprint(self, penalty_no_affinity: float) -> int | None:
        """Return the least footprint with at least this P^NA; None if even a full cache has less.

        The equation P^NA = line time × lines held grows with the footprint, so bisection finds it.
        """
        if penalty_no_affinity >= self.sets * self.ways * self.line_time:
            return None
        return bisect_left(range(MOST_LINES), penalty_no_affinity, key=self.penalty_no_affinity)


def _binomial(lines: int, count: int, sets: int) -> float:
    """Return the probability that ``count`` of the lines lie in one of the sets."""
    if count > lines:
        return 0.0
    if sets == 1:
        return float(count == lines)
    logarithm = math.lgamma(lines + 1) - math.lgamma(count + 1) - math.lgamma(lines - count + 1)
    logarithm += -count * math.log(sets) + (lines - count) * math.log1p(-1 / sets)
    return math.exp(logarithm)


class CachedProgram(WithoutRanges):
    """A program, with its footprint or with what it takes to load it.

    Parameters
    ----------
    name
        Its name.
    lines
        The lines that it uses; None if ``penalty_no_affinity`` is given.
    penalty_no_affinity
        Seconds to load all that the cache can hold of it; None if ``lines`` is given.
    """

    name: str
    lines: Lines | None = None
    penalty_no_affinity: Seconds | None = None

    def __post_init__(self) -> None:
        """Check that one of both is given."""
        super().__post_init__()
        if (self.lines is None) == (self.penalty_no_affinity is None):
            raise FileError("needs either `lines` or `penalty_no_affinity`, and not both")


class QueueingModel(WithoutRanges):
    """Jobs that share CPUs, and programs that share a cache.

    Parameters
    ----------
    name
        The model's name; the file's name if it is left out.
    service
        Mean service time of a job, in seconds.
    reload
        Time to read a job's data again on another CPU, in seconds.
    cpus
        Numbers of CPUs to look at.
    cache
        A cache that programs share.
    programs
        These programs.

    Raises
    ------
    ModelError
        When two programs have one name, or the cache is too small for one.
    """

    name: str = "model"
    service: Seconds
    reload: NonNegative
    cpus: Annotated[tuple[CpuCount, ...], Meta(min_length=1)]
    cache: SetCache | None = None
    programs: Annotated[tuple[CachedProgram, ...], Meta(max_length=100)] = field(
        name="program", default=()
    )

    def __post_init__(self) -> None:
        """Check that programs differ, and fit."""
        super().__post_init__()
        if self.programs and self.cache is None:
            raise ModelError("is missing, which the programs share", place="cache")
        names = [program.name for program in self.programs]
        for position, name in enumerate(names):
            if name in names[:position]:
                raise ModelError(
                    f"{name!r} is also the name of another program",
                    place=f"program[{position}].name",
                )
        for position in range(len(self.programs)):
            self.footprint(position)

    def footprint(self, position: int) -> int:
        """Return the lines that a program uses, given or derived from its penalty."""
        program = self.programs[position]
        if program.lines is not None:
            return program.lines
        assert self.cache is not None
        assert program.penalty_no_affinity is not None
        lines = self.cache.footprint(program.penalty_no_affinity)
        if lines is None:
            full = self.cache.sets * self.cache.ways * self.cache.line_time
            raise ModelError(
                f"must be less than a full cache takes, {full:g} s",
                place=f"program[{position}].penalty_no_affinity",
            )
        return lines


class QueueingRow(DocumentPart):
    """Mean response times at one load, in seconds.

    Parameters
    ----------
    cpus
        The machine.
    load
        The share of its time that the jobs take without reloads.
    ideal
        No policy that does not know service times has less.
    partition
        Where each CPU has its own jobs.
    shared
        Where all share a queue, with reloads; infinite, in documents null, where there is no time
        for them.
    """

    cpus: int
    load: float
    ideal: float = field(name="ideal_s")
    partition: float = field(name="partition_s")
    shared: Annotated[float, NULLABLE] = field(name="global_s")

    @property
    def best_known(self) -> float:
        """The best policy has at most this."""
        return min(self.partition, self.shared)


class QueueCrossings(DocumentPart):
    """Where a global queue beats partitions.

    Parameters
    ----------
    cpus
        The machine.
    loads
        The least and the greatest load; null if there is none.
    largest_reload
        With a reload below this, in seconds, there is such a load.
    """

    cpus: int
    loads: tuple[float, float] | None
    largest_reload: float = field(name="largest_reload_s")


class SharedCacheRow(DocumentPart):
    """A program that shares the cache.

    Parameters
    ----------
    name
        Its name.
    lines
        Its footprint.
    held
        The lines of it that the cache holds after it ran alone.
    penalty_no_affinity
        Time to load it anew, in seconds.
    penalty_affinity
        Time to read again what each program replaced, in seconds, by the program's name.
    """

    name: str
    lines: int
    held: float = field(name="held_lines")
    penalty_no_affinity: float = field(name="penalty_no_affinity_s")
    penalty_affinity: dict[str, float] = field(name="penalty_affinity_s")


class QueueingResult(DocumentPart):
    """What ``dfopt model queueing --json`` prints.

    Parameters
    ----------
    model
        Its name.
    service, reload
        Those of the parameters, in seconds.
    response_times
        By machine and load.
    crossings
        By machine.
    programs
        Those that share the cache.
    """

    model: str
    service: float = field(name="service_s")
    reload: float = field(name="reload_s")
    response_times: tuple[QueueingRow, ...]
    crossings: tuple[QueueCrossings, ...]
    programs: tuple[SharedCacheRow, ...]

    def tables(self, model: QueueingModel) -> list[Table]:
        """Return all of it as tables."""
        programs = {f"program {program.name}: ": program for program in model.programs}
        assumed = assumed_in({"": model, "cache.": model.cache, **programs})
        parameters: dict[str, Value] = {
            f"{name} [s]": Uncertain(getattr(self, name), assumed=name in assumed)
            for name in ("service", "reload")
        }
        parameters["reload ÷ service"] = self.reload / self.service
        names = [program.name for program in self.programs]
        tables = [
            parameters_table(model.name, parameters, assumed),
            Table(
                "Response time ÷ service time",
                columns(
                    *("CPUs", "load", "ideal :.3f", "partitions :.3f", "~global :.3f"),
                    "best :.3f",
                ),
                [
                    (
                        *(row.cpus, row.load, row.ideal / self.service),
                        row.partition / self.service,
                        row.shared / self.service if math.isfinite(row.shared) else None,
                        row.best_known / self.service,
                    )
                    for row in self.response_times
                ],
                [
                    "load: share of the CPUs' time that the jobs take without reloads",
                    "ideal: one queue, and moving costs nothing: no policy that does not know "
                    "service times has less",
                    "partitions: each CPU has its own jobs, chosen at random, and never reloads",
                    "global: ~ one queue, and a job runs on any CPU; the service time with its "
                    "reload is taken for exponential",
                    "best: the best policy lies between the ideal and this, the lesser of the "
                    "others, as far as the model of the global queue holds",
                ],
            ),
            Table(
                "Where a global queue beats partitions",
                columns(
                    *("CPUs", "from load :.3f", "to load :.3f"),
                    "if reload ÷ service is below :.3f",
                ),
                [
                    (
                        *(found.cpus, *(found.loads or (None, None))),
                        found.largest_reload / self.service,
                    )
                    for found in self.crossings
                ],
            ),
            Table(
                "Programs that share a cache",
                (
                    *columns("program", "lines", "held :,.0f", "P^NA [µs] :,.0f"),
                    *(TableColumn(f"P^A after {name}", "µs", ",.0f") for name in names),
                ),
                [
                    (
                        *(program.name, program.lines, program.held),
                        program.penalty_no_affinity * MICROSECONDS,
                        *(time * MICROSECONDS for time in program.penalty_affinity.values()),
                    )
                    for program in self.programs
                ],
                ["P^A after: to read again what this program replaced (footprints)"],
            ),
        ]
        return [table for table in tables if table.rows]


def queueing_result(model: QueueingModel, *, load: Sequence[float] | None = None) -> QueueingResult:
    """Return between which response times the best policy lies, and what programs lose.

    Parameters
    ----------
    model
        The parameters.
    load
        Loads, in place of :data:`LOADS`.

    Raises
    ------
    OptionError
        When a load is not between 0 and 1.
    """
    return QueueingResult(
        model=model.name,
        service=model.service,
        reload=model.reload,
        response_times=queue_rows(model, load or LOADS),
        crossings=tuple(
            QueueCrossings(
                cpus=cpus,
                loads=crossings(model.service, model.reload, cpus),
                largest_reload=largest_reload(cpus) * model.service,
            )
            for cpus in model.cpus
        ),
        programs=tuple(
            SharedCacheRow(
                name=program.name,
                lines=lines,
                held=model.cache.held(lines),
                penalty_no_affinity=model.cache.penalty_no_affinity(lines),
                penalty_affinity={
                    other.name: model.cache.penalty_affinity(lines, model.footprint(place))
                    for place, other in enumerate(model.programs)
                },
            )
            for position, program in enumerate(model.programs)
            if model.cache is not None
            for lines in [model.footprint(position)]
        ),
    )


def queue_rows(model: QueueingModel, loads: Sequence[float] = LOADS) -> tuple[QueueingRow, ...]:
    """Return the response times of all machines at some loads.

    Raises
    ------
    OptionError
        When a load is not between 0 and 1.
    """
    for load in loads:
        if not 0 <= load < 1:
            raise OptionError(f"must be at least 0 and less than 1, not {load:g}", place="load")
    return tuple(
        QueueingRow(
            cpus=cpus,
            load=load,
            ideal=ideal(model.service, cpus, load),
            partition=partition(model.service, load),
            shared=global_queue(model.service, model.reload, cpus, load),
        )
        for cpus in model.cpus
        for load in loads
    )


QUEUEING = AnalyticModel(
    name="queueing",
    parameters=DocumentType(Format.QUEUEING_MODEL, QueueingModel),
    results=DocumentType(Format.QUEUEING, QueueingResult),
    says=queueing_result,
    formulas=equation.formulas,
)
