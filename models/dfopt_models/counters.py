"""Performance counters at switches: what task types cost each other, and how threads warm up.

How fast a task type is depends on what ran before it. A long dispatch leaves another cache behind
than a short one. So the dispatches of a thread type may be two task types, such as ``PHP`` and
``long PHP``. The model of Ziemba, Upadhyaya and Pai.

How instructions per cycle rise while a thread runs is the curve IPC(t) = a − D·exp(−t/τ). It may be
read in two ways. What a thread reaches *at* the
time t is the instantaneous reading; what counters of a slice of length t give is the mean of the
curve up to t, the cumulative reading.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

import numpy as np
from msgspec import field
from msgspec.structs import force_setattr
from numpy.typing import NDArray

from dfopt.errors import FileError
from dfopt.files.documents import DocumentType
from dfopt.files.formats import Format
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyMatrix
from dfopt.structs import Checked, DocumentPart, Natural, NonNegative, Positive, Share
from dfopt.table import TIME, Table, TableColumn, Uncertain, Value, columns, facts
from dfopt.time_units import readable_time
from dfopt_models.counter_samples import (
    LONGEST_SERIES,
    NOBODY,
    CountedDispatches,
    CounterFigures,
    Floats,
    Integers,
)
from dfopt_models.errors import ModelError, check_distinct, check_known
from dfopt_models.formulas import Equations
from dfopt_models.model import AnalyticModel, PositiveNumber, Sourced

TYPE_NUMBERS = ("dispatches", "best_ipc", "best_dispatch")

UNKNOWN = math.nan
"""Stands for a time that is not given."""

LEAST_POINTS = 3
"""The curve has three parameters."""

STEPS = 64
"""Steps of the quadrature within a range of times."""

LEAST_SAMPLES = 30
"""A mean over fewer dispatches is not given."""

RESAMPLES = 200
"""Times that the dispatches of a pair are drawn anew for its standard error."""

MOST_DRAWN = 2_000
"""Pairs with more dispatches are divided into this number of parts, which are drawn anew."""

PAPER = "Ziemba, Upadhyaya and Pai (2009), section 4"

equation = Equations(
    {
        "penalty": "S_pq [ns] $S_{pq}$: switch penalty of type q after type p",
        "best_dispatch": "t_q [ns]: time of a dispatch of type q at its best",
        "best_ipc": r"IPC_best $\mathit{IPC}_{q}^{*}$: best instructions per cycle of type q",
        "ipc": r"IPC_pq $\mathit{IPC}_{pq}$: instructions per cycle of type q after type p",
        "curve": r"IPC_t $\mathit{IPC}(t)$: instructions per cycle after t",
        "mean": r"IPC_mean $\overline{\mathit{IPC}}(t)$: their mean up to t",
        "limit": "a: instructions per cycle of a warm thread",
        "deficit": "D: what a cold thread lacks of it",
        "time_constant": "tau [ms]: time constant of the warm-up",
        "time": "t [ms]: time since the dispatch",
        "lost": r"t_lost [ms] $t_{\mathrm{lost}}$: time that a cold slice loses",
        "idle": "u: share of time for which the type's own CPU is idle",
        "cpus": "m: CPUs",
        "time_share": "h: the type's share of the CPU time before",
        "saving": "v: share of its time that the type saves",
        "wasted": "w: share of the type's time that the harmful type costs it",
        "harmed_share": "p: share of its dispatches after the harmful type",
    },
    f"derived: from the shares of {PAPER}",
)


class AfterType(Sourced):
    """How fast a task type is directly after another one.

    Parameters
    ----------
    type
        The task type that ran before.
    ipc
        Instructions per cycle, in any unit that all values of the task type share; > 0.
    dispatches
        The number of dispatches that this is the mean of; None if it was not measured here.
    standard_error
        Of ``ipc``, in its unit; None if it is not known.
    """

    type: str
    ipc: PositiveNumber
    dispatches: Natural | None = None
    standard_error: float | None = None


class CountedType(Sourced):
    """A task type, and how fast it is after others.

    Parameters
    ----------
    name
        Its name.
    dispatches
        How often it is dispatched, in any unit that all types share.
    best_ipc
        Instructions per cycle after what suits it best; > 0.
    best_dispatch
        How long a dispatch of mean work takes then, nanoseconds.
    after
        How fast it is after other types, and after its own.
    """

    name: str
    dispatches: PositiveNumber
    best_ipc: PositiveNumber
    best_dispatch: PositiveNumber
    after: tuple[AfterType, ...]

    def __post_init__(self) -> None:
        """Check that each type before is there once."""
        super().__post_init__()
        check_distinct([cell.type for cell in self.after], "after[{}].type")

    @equation(
        "what the type before costs a dispatch",
        source="derived: from instructions per cycle, which the paper gives",
    )
    def penalty(self, ipc: float) -> float:
        """Return the time that a dispatch loses because it runs at ``ipc``, nanoseconds."""
        return self.best_dispatch * (self.best_ipc / ipc - 1)

    def after_type(self, name: str) -> AfterType | None:
        """Return how fast it is after another type; None if that is not known."""
        return next((cell for cell in self.after if cell.type == name), None)


@equation(
    "how a thread becomes faster (the instantaneous reading)",
    name="warm-up",
    source=f"derived: a curve through the points of {PAPER}",
    left="curve",
)
def instantaneous(
    time: Any, limit: Any, deficit: Any, time_constant: Any, exp: Any = np.exp
) -> Any:
    """Return IPC(t)."""
    return limit - deficit * exp(-time / time_constant)


@equation(
    "what counters of a slice give (the cumulative reading)",
    name="warm-up-mean",
    source="derived: the mean of the curve",
    left="mean",
)
def mean_up_to(limit: Any, deficit: Any, time_constant: Any, time: Any) -> Any:
    """Return the mean of IPC from 0 to t, of symbols, in its usual form."""
    from sympy import exp

    return limit - deficit * time_constant / time * (1 - exp(-time / time_constant))


def cumulative(time: Any, limit: Any, deficit: Any, time_constant: Any) -> Any:
    """Return the mean of IPC from 0 to t."""
    relative = time / time_constant
    # (1 − exp(−x)) / x, which is 1 at 0.
    share = np.ones_like(relative)
    np.divide(-np.expm1(-relative), relative, out=share, where=relative > 0)
    return limit - deficit * share


@equation("what a cold slice loses in the end", source="derived: the integral of 1 − IPC(t)/a")
def lost(limit: Any, deficit: Any, time_constant: Any) -> Any:
    """Return the work that a cold slice loses, as time at full speed."""
    return deficit * time_constant / limit


class Reading(StrEnum):
    """What the points of a warm-up curve say."""

    INSTANTANEOUS = "instantaneous"
    CUMULATIVE = "cumulative"


class WarmUpPoint(Checked):
    """The mean of instructions per cycle between two times.

    Parameters
    ----------
    begin
        A time since the dispatch, milliseconds.
    end
        A later time; without it this is a point of the curve.
    limit
        Whether this is where the curve leads; then no time is needed, and ``end`` is infinite.
    ipc
        Instructions per cycle, in any unit that all points share.
    """

    begin: NonNegative = UNKNOWN
    end: NonNegative = UNKNOWN
    limit: bool = False
    ipc: float

    def __post_init__(self) -> None:
        """Settle the times."""
        super().__post_init__()
        if self.limit:
            force_setattr(self, "begin", 0.0 if self.begin is UNKNOWN else self.begin)
            force_setattr(self, "end", math.inf)
        elif self.begin is UNKNOWN:
            raise FileError("is missing; give the time in milliseconds", place="begin")
        elif self.end is UNKNOWN:
            force_setattr(self, "end", self.begin)
        if self.begin > self.end:
            raise FileError("must be from 0 to 'end'", place="begin")


class WarmUp(DocumentPart):
    """A curve IPC(t) = a − D·exp(−t/τ) of a thread type.

    Parameters
    ----------
    type
        The thread type; empty where points are of none.
    reading
        How the points were read.
    limit, deficit
        a and D, in the unit of the points.
    time_constant
        τ, milliseconds.
    initial
        Instructions per cycle right after the dispatch, a − D.
    lost
        The work that a cold slice loses, as time at full speed: D·τ/a, milliseconds.
    error
        The root of the mean squared distance of the points, in their unit.
    """

    type: str
    reading: Reading
    limit: float
    deficit: float
    time_constant: float
    initial: float
    lost: float
    error: float


CURVES = {Reading.INSTANTANEOUS: instantaneous, Reading.CUMULATIVE: cumulative}


def fit_warm_up(points: Sequence[WarmUpPoint], reading: Reading, type_name: str = "") -> WarmUp:
    """Return the curve nearest to points, by least squares; 0 ≤ D ≤ a.

    Raises
    ------
    ModelError
        When there are fewer than three points.
    """
    from scipy.optimize import least_squares

    if len(points) < LEAST_POINTS:
        raise ModelError(
            f"a warm-up curve needs three points or more, and there are {len(points)}; give more "
            "slice lengths"
        )
    ipc = np.array([point.ipc for point in points])
    scale = math.sqrt(1 / len(points))
    fractions = (np.arange(STEPS) + 0.5) / STEPS
    ends = np.array([point.end for point in points])
    is_limit = np.isinf(ends)
    begins = np.array([point.begin for point in points])
    times = begins[:, None] + np.where(is_limit, 0.0, ends - begins)[:, None] * fractions
    longest = float(ends[~is_limit].max(initial=1.0))

    def distances(parameters: Any) -> Floats:
        limit, cold, logarithm = parameters
        deficit = limit * cold  # so that 0 ≤ D ≤ a
        curve = CURVES[reading](times, limit, deficit, float(np.exp(logarithm))).mean(axis=1)
        values: Floats = scale * (np.where(is_limit, limit, curve) - ipc)
        return values

    # The least squares have several minima where the curve is nearly flat; so begin at several τ.
    tops = float(ipc.max())
    fits = [
        least_squares(
            distances,
            (tops, 0.5, np.log(longest * start)),
            bounds=(
                (1e-9 * tops, 0.0, np.log(longest) - 9.0),
                (10 * tops, 1.0, np.log(longest) + 3),
            ),
            xtol=1e-14,
            ftol=1e-14,
            gtol=1e-14,
        )
        for start in (0.05, 0.3, 1.0)
    ]
    best = min(fits, key=lambda fit: fit.cost)
    limit, cold, logarithm = map(float, best.x)
    curve = {"limit": limit, "deficit": limit * cold, "time_constant": float(np.exp(logarithm))}
    return WarmUp(
        type=type_name,
        reading=reading,
        **curve,
        initial=limit - limit * cold,
        lost=lost(**curve),
        error=float(np.sqrt((distances(best.x) ** 2).sum())),
    )


class WarmUpPoints(Sourced):
    """Points of a warm-up curve of a thread type.

    Parameters
    ----------
    type
        The thread type.
    reading
        How the points are to be read.
    points
        At least three.
    """

    type: str
    reading: Reading
    points: tuple[WarmUpPoint, ...]

    @property
    def curve(self) -> WarmUp:
        """The curve nearest to the points."""
        return fit_warm_up(self.points, self.reading, self.type)


class OwnCpu(Sourced):
    """What is known of giving a thread type CPUs of its own.

    Parameters
    ----------
    type
        The task type.
    cpus
        The number of CPUs of the machine; the type gets one of them.
    time_share
        Its share of the CPU time, 0 to 1.
    saving
        The share of its time that it no longer needs, 0 to 1.
    longest_queue
        The largest number of its threads that waited.
    harmful_type
        The task type that slows it down most.
    harmed_share
        The share of its dispatches that came after that type, 0 to 1.
    """

    type: str
    cpus: Positive
    time_share: Share
    saving: Share
    longest_queue: Natural
    harmful_type: str
    harmed_share: Share

    @property
    @equation("idle time of a CPU for one type")
    def idle(self) -> float:
        """The share of time for which a CPU is idle that has a thread type of its own."""
        return 1 - self.cpus * self.time_share * (1 - self.saving)

    @equation("what a harmful type costs, with IPC relative to the type's mean")
    def wasted(self, ipc: float) -> float:
        """Return the time that the type loses after the harmful one, as a share of its time.

        ``ipc`` is relative to the mean of the type.
        """
        return self.harmed_share * (1 / ipc - 1)


class OwnCpuFigures(DocumentPart):
    """What follows for a thread type on a CPU of its own.

    Parameters
    ----------
    idle
        The share of time that its CPU is idle.
    drain
        How long the longest queue takes, nanoseconds.
    wasted_of_type, wasted_of_all
        What the harmful type cost it before, as a share of its own time and of all CPU time.
    relative_speed
        Its speed after the harmful type, as a share of the best.
    """

    idle: float
    drain: float
    wasted_of_type: float
    wasted_of_all: float
    relative_speed: float


class PairRow(DocumentPart):
    """A task type after another one.

    Parameters
    ----------
    before, after
        Their names.
    penalty
        What the one before costs the other one, nanoseconds; null if that is not known.
    standard_error
        Of the penalty, nanoseconds: to first order that of the instructions per cycle.
    dispatches
        The number of dispatches that this is the mean of.
    assumed
        Whether it rests on an assumption.
    """

    before: str
    after: str
    penalty: float | None
    standard_error: float | None
    dispatches: int | None
    assumed: bool


class CountersModel(Checked):
    """Task types with what they cost each other, and what else a file says.

    Parameters
    ----------
    name
        The model's name; the file's name if it is left out.
    types
        The task types.
    warm_up
        Points of warm-up curves.
    segregation
        What is known of giving a type CPUs of its own; None if nothing.

    Raises
    ------
    ModelError
        When there is no type, two have one name, or a table names a type that is not there.
    """

    name: str = "model"
    types: tuple[CountedType, ...] = field(name="type")
    warm_up: tuple[WarmUpPoints, ...] = ()
    segregation: OwnCpu | None = None

    def __post_init__(self) -> None:
        """Check that types have names of their own, and that tables name them."""
        super().__post_init__()
        names = [task_type.name for task_type in self.types]
        if not names:
            raise ModelError("needs at least one type", place="type")
        check_distinct(names, "type[{}].name")
        for position, task_type in enumerate(self.types):
            for cell, after in enumerate(task_type.after):
                check_known(after.type, names, "type", f"type[{position}].after[{cell}].type")
        if self.segregation is not None:
            for name in ("type", "harmful_type"):
                given = getattr(self.segregation, name)
                check_known(given, names, "type", f"segregation.{name}")

    def type_named(self, name: str) -> CountedType:
        """Return a task type."""
        return next(task_type for task_type in self.types if task_type.name == name)

    @property
    def penalties(self) -> tuple[PairRow, ...]:
        """What each type costs each other one, and its own."""
        return tuple(
            _pair(before.name, after, after.after_type(before.name))
            for before in self.types
            for after in self.types
        )

    def segregation_figures(self) -> OwnCpuFigures | None:
        """Return what follows for a type on a CPU of its own; None if the file does not ask."""
        given = self.segregation
        if given is None:
            return None
        own = self.type_named(given.type)
        after = own.after_type(given.harmful_type)
        if after is None:
            raise ModelError(
                f"{given.type!r} has no value after {given.harmful_type!r}; add it to the type",
                place="segregation.harmful_type",
            )
        wasted = given.wasted(after.ipc)
        return OwnCpuFigures(
            idle=given.idle,
            drain=given.longest_queue * own.best_dispatch,
            wasted_of_type=wasted,
            wasted_of_all=wasted * given.time_share,
            relative_speed=after.ipc / own.best_ipc,
        )


def _pair(before: str, after: CountedType, cell: AfterType | None) -> PairRow:
    penalty = error = None
    if cell is not None:
        penalty = after.penalty(cell.ipc)
        if cell.standard_error is not None:
            error = after.best_dispatch * after.best_ipc / cell.ipc**2 * cell.standard_error
    return PairRow(
        before=before,
        after=after.name,
        penalty=penalty,
        standard_error=error,
        dispatches=None if cell is None else cell.dispatches,
        assumed=cell is not None and "ipc" in cell.assumed,
    )


class Mean(StrEnum):
    """How instructions per cycle are averaged."""

    TOTAL = "total"
    DISPATCHES = "dispatches"


def long_threshold(dispatches: CountedDispatches) -> int:
    """Return the slice length that explains best how fast the next dispatch of another type is.

    Of all thresholds tried, it leaves the least variance of instructions per cycle, relative to
    the mean of the type, within the dispatches after a short and after a long other type.

    Returns
    -------
    int
        A length in nanoseconds. Dispatches that ran at least this long are long.
    """
    ipc = dispatches.ipc.copy()
    for kind in np.unique(dispatches.type):
        ipc[dispatches.type == kind] /= ipc[dispatches.type == kind].mean()
    after_other = (
        (dispatches.previous_type != NOBODY)
        & (dispatches.predecessors == 0)
        & (dispatches.previous_length > 0)
    )
    lengths, ipc = dispatches.previous_length[after_other], ipc[after_other]
    if len(ipc) < LEAST_SAMPLES:
        return int(dispatches.length.max()) + 1
    order = np.argsort(lengths, kind="stable")
    lengths, ipc = lengths[order], ipc[order]
    # Split before each place: the variance between both sides, from running sums.
    places = np.flatnonzero(lengths[1:] > lengths[:-1]) + 1
    if not len(places):
        return int(dispatches.length.max()) + 1
    sums = np.concatenate([[0.0], np.cumsum(ipc)])
    below, above = sums[places], sums[-1] - sums[places]
    between = below**2 / places + above**2 / (len(ipc) - places)
    return int(lengths[places[int(np.argmax(between))]])


def task_types(dispatches: CountedDispatches, long_ns: int) -> tuple[list[str], Integers, Integers]:
    """Return the names of the task types, and for each thread type the places of short and long.

    A thread type is divided into a short and a long one if both have :data:`LEAST_SAMPLES`; else
    both places are the same. Thread types without dispatches have :data:`NOBODY`.
    """
    is_long = dispatches.length >= long_ns
    names: list[str] = []
    short, long = np.full((2, len(dispatches.samples.types)), NOBODY)
    for kind in np.unique(dispatches.type):
        own = dispatches.type == kind
        name = dispatches.samples.types[kind]
        short[kind] = long[kind] = len(names)
        names.append(name)
        if LEAST_SAMPLES <= (own & is_long).sum() <= own.sum() - LEAST_SAMPLES:
            long[kind] = len(names)
            names.append(f"long {name}")
    return names, short, long


def counters_model(
    dispatches: CountedDispatches,
    *,
    long_ns: int,
    name: str,
    mean: Mean = Mean.TOTAL,
    seed: int = 0,
) -> CountersModel:
    """Return what samples say of each task type and of each pair.

    Parameters
    ----------
    dispatches
        The dispatches.
    long_ns
        Dispatches of at least this length are long, nanoseconds.
    name
        The model's name.
    mean
        How instructions per cycle are averaged. For the time that is lost the total is right.
    seed
        Of the draws for standard errors.

    Raises
    ------
    ModelError
        When no task type has :data:`LEAST_SAMPLES` dispatches.
    """
    names, short, long = task_types(dispatches, long_ns)

    def task_type(kind: Integers, length: Integers) -> Integers:
        return np.where(length >= long_ns, long[kind], short[kind])

    codes = task_type(dispatches.type, dispatches.length)
    before, length = dispatches.previous_type, dispatches.previous_length
    unknown = (before == NOBODY) | ((length == 0) & (long[before] != short[before]))
    previous = np.where(unknown, NOBODY, task_type(before, length))
    above, below = dispatches.instructions, dispatches.cycles
    if mean is Mean.DISPATCHES:
        above, below = dispatches.ipc, np.ones(len(codes))

    def mean_of(chosen: NDArray[np.bool_]) -> float:
        return float(above[chosen].sum() / below[chosen].sum())

    generator = np.random.default_rng(seed)
    types = []
    for place, task_name in enumerate(names):
        own = codes == place
        if own.sum() < LEAST_SAMPLES:
            continue
        cells = []
        for other, before_name in enumerate(names):
            pair = own & (previous == other)
            if pair.sum() >= LEAST_SAMPLES:
                cells.append(
                    AfterType(
                        type=before_name,
                        ipc=mean_of(pair),
                        dispatches=int(pair.sum()),
                        standard_error=standard_error(above[pair], below[pair], generator),
                    )
                )
        series = np.minimum(dispatches.predecessors, LONGEST_SERIES)
        candidates = [cell.ipc for cell in cells] + [
            mean_of(chosen)
            for length in range(1, LONGEST_SERIES + 1)
            if (chosen := own & (series == length)).sum() >= LEAST_SAMPLES
        ]
        best = max(candidates, default=mean_of(own))
        types.append(
            CountedType(
                name=task_name,
                dispatches=int(own.sum()),
                best_ipc=best,
                best_dispatch=float(
                    dispatches.instructions[own].mean() / (best * dispatches.clock_ghz)
                ),
                after=tuple(cells),
            )
        )
    if not types:
        raise ModelError(
            f"no thread type has {LEAST_SAMPLES} dispatches; record for longer, or merge types"
        )
    return CountersModel(name=name, types=tuple(types))


def standard_error(above: Floats, below: Floats, generator: np.random.Generator) -> float:
    """Return the standard error of a ratio of sums, by the bootstrap."""
    # Sums over parts of equal size stand for their dispatches where there are very many.
    parts = min(len(above), MOST_DRAWN)
    edges = np.arange(parts) * len(above) // parts
    sums: tuple[Floats, Floats] = (np.add.reduceat(above, edges), np.add.reduceat(below, edges))
    drawn = generator.integers(parts, size=(RESAMPLES, parts))
    means = sums[0][drawn].sum(axis=1) / sums[1][drawn].sum(axis=1)
    return float(means.std(ddof=1))


class TypeRow(DocumentPart):
    """A task type.

    Parameters
    ----------
    name, dispatches, best_ipc, best_dispatch
        As in the parameters.
    """

    name: str
    dispatches: float
    best_ipc: float
    best_dispatch: float


class CountersResult(DocumentPart):
    """What ``dfopt model counters --json`` prints.

    Parameters
    ----------
    model
        Its name.
    types
        The task types.
    penalties
        Of all pairs.
    warm_up
        Curves.
    segregation
        What follows for a type on a CPU of its own; null if the parameters do not ask.
    figures
        Those of samples.
    """

    model: str
    types: tuple[TypeRow, ...]
    penalties: tuple[PairRow, ...]
    warm_up: tuple[WarmUp, ...]
    segregation: OwnCpuFigures | None
    figures: CounterFigures | None = None

    def tables(self, model: CountersModel) -> list[Table]:
        """Return all of it as tables."""
        after = (TableColumn(each.name, "ns", TIME) for each in self.types)
        penalties: dict[str, list[Value]] = {each.name: [each.name] for each in self.types}
        for row in self.penalties:
            known = Uncertain(row.penalty, row.standard_error, row.assumed)
            penalties[row.before].append(None if row.penalty is None else known)
        unknown = any(row.penalty is None for row in self.penalties)
        tables = [
            *([] if self.figures is None else self.figures.tables()),
            _types(model),
            Table(
                "penalty of a type (across) after another one (down)",
                (TableColumn("after"), *after),
                list(penalties.values()),
                ["–: too few dispatches; add the value to a file of the model"] * unknown,
            ),
            facts(self._warm_up(model) | self._segregation(model), "warm-up and segregation"),
        ]
        return [Table(self.model), *(table for table in tables if table.rows)]

    def _warm_up(self, model: CountersModel) -> dict[str, Value]:
        return {
            f"warm-up of {row.type}": f"from {row.initial:.2g} to {row.limit:.3g}"
            f", time constant {row.time_constant:.3g} ms; a cold slice loses "
            f"{row.lost:.3g} ms ({'~' if 'reading' in points.assumed else ''}"
            f"{row.reading} reading)"
            for row, points in zip(self.warm_up, model.warm_up, strict=True)
        }

    def _segregation(self, model: CountersModel) -> dict[str, Value]:
        figures, given = self.segregation, model.segregation
        if figures is None or given is None:
            return {}
        name, harmful = given.type, given.harmful_type
        return {
            f"{name} after {harmful}": f"{figures.relative_speed:.1%} of its best speed, "
            f"{1 / figures.relative_speed:.3g} times as long",
            f"lost to {harmful}": f"{figures.wasted_of_type:.1%} of the time of {name}, "
            f"{figures.wasted_of_all:.1%} of all CPU time",
            f"{name} on a CPU of its own": f"idle for {figures.idle:.1%} of the time; the "
            f"longest queue takes {readable_time(figures.drain, 'ns')}",
        }


def _types(model: CountersModel) -> Table:
    whole = sum(each.dispatches for each in model.types)
    rows: list[tuple[Value, ...]] = [
        (each.name, *(_marked(each, name) for name in TYPE_NUMBERS), each.dispatches / whole)
        for each in model.types
    ]
    return Table(
        "task types",
        columns(
            "type", "dispatches :,g", "best IPC :.4g", "best dispatch [ns] :time", "share :.1%"
        ),
        rows,
        ["~: neither measured nor published, but assumed"]
        * any(name in each.assumed for each in model.types for name in TYPE_NUMBERS),
    )


def _marked(task_type: CountedType, name: str) -> Uncertain:
    return Uncertain(getattr(task_type, name), assumed=name in task_type.assumed)


def counters_result(
    model: CountersModel, *, figures: CounterFigures | None = None
) -> CountersResult:
    """Return a model, what follows from it, and the figures it comes from."""
    return CountersResult(
        model=model.name,
        types=tuple(
            TypeRow(name=each.name, **{name: getattr(each, name) for name in TYPE_NUMBERS})
            for each in model.types
        ),
        penalties=model.penalties,
        warm_up=tuple(points.curve for points in model.warm_up),
        segregation=model.segregation_figures(),
        figures=figures,
    )


def counters_instance(
    model: CountersModel,
    *,
    tasks: int,
    cpus: int,
    objective: Objective = Objective.MAX_PENALTY,
    resolution: int = 1,
) -> Instance:
    """Return an instance whose task types cost each other what was measured.

    Parameters
    ----------
    model
        The model.
    tasks
        Their number; each type gets the share of its dispatches, rounded to a whole number.
    cpus
        The number of CPUs.
    objective
        What is minimised.
    resolution
        Penalties are rounded to multiples of this, nanoseconds.

    Raises
    ------
    ModelError
        When a penalty is not known.
    """
    pairs = model.penalties
    unknown = [pair for pair in pairs if pair.penalty is None]
    if unknown:
        raise ModelError(
            f"{len(unknown)} of {len(pairs)} penalties are unknown, such as that of "
            f"{unknown[0].after!r} after {unknown[0].before!r}; add them to a file of the model"
        )
    names = [task_type.name for task_type in model.types]
    costs = [resolution * round(max(0.0, pair.penalty or 0.0) / resolution) for pair in pairs]
    switch = tuple(zip(*[iter(costs)] * len(names), strict=True))
    counts = _apportioned([task_type.dispatches for task_type in model.types], tasks)
    return Instance(
        cpus=cpus,
        penalty=PenaltyMatrix(types=tuple(names), switch=switch),
        objective=objective,
        tasks=tuple(
            Task(id=name, type=name, count=count)
            for name, count in zip(names, counts, strict=True)
            if count
        ),
        name=model.name,
        time_unit="ns",
    )


def _apportioned(shares: Sequence[float], total: int) -> list[int]:
    """Return whole numbers in proportion to shares, by largest remainders."""
    whole = sum(shares)
    exact = [share * total / whole for share in shares]
    counts = [int(value) for value in exact]
    by_remainder = sorted(range(len(exact)), key=lambda place: counts[place] - exact[place])
    for place in by_remainder[: total - sum(counts)]:
        counts[place] += 1
    return counts


COUNTERS = AnalyticModel(
    name="counters",
    parameters=DocumentType(Format.COUNTERS_MODEL, CountersModel),
    results=DocumentType(Format.COUNTERS, CountersResult),
    says=counters_result,
    formulas=equation.formulas,
)
