"""What counters say of task types: how fast each is after each other one, and what that costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from msgspec import Meta, field

from dfopt.files.documents import DocumentType
from dfopt.files.formats import Format
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyMatrix
from dfopt.structs import Checked, DocumentPart, Natural, Positive, Share
from dfopt.table import TIME, Table, TableColumn, Uncertain, Value, columns, facts, table_of
from dfopt.time_units import readable_time
from dfopt_models.counters.equations import FORMULAS, idle_share, penalty_after, wasted_share
from dfopt_models.counters.figures import CounterFigures, DeviationRow, PerformanceRow
from dfopt_models.counters.warm_up import Reading, WarmUp, WarmUpPoint, fit_warm_up
from dfopt_models.errors import ModelError
from dfopt_models.model import AnalyticModel, Sourced

AboveZero = Annotated[float, Meta(gt=0)]

TYPE_NUMBERS = ("dispatches", "best_ipc", "best_dispatch")

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
    ipc: AboveZero
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
    dispatches: AboveZero
    best_ipc: AboveZero
    best_dispatch: AboveZero
    after: tuple[AfterType, ...]

    def __post_init__(self) -> None:
        """Check that each type before is there once."""
        super().__post_init__()
        names = [cell.type for cell in self.after]
        for position, name in enumerate(names):
            if name in names[:position]:
                raise ModelError(
                    f"{name!r} is there twice; leave one", place=f"after[{position}].type"
                )

    def after_type(self, name: str) -> AfterType | None:
        """Return how fast it is after another type; None if that is not known."""
        return next((cell for cell in self.after if cell.type == name), None)

    def penalty(self, before: str) -> float | None:
        """Return what the type before costs it, nanoseconds; None if that is not known."""
        cell = self.after_type(before)
        if cell is None:
            return None
        lost = penalty_after(best_dispatch=self.best_dispatch, best_ipc=self.best_ipc, ipc=cell.ipc)
        return float(lost)

    def penalty_error(self, before: str) -> float | None:
        """Return the standard error of the penalty, nanoseconds: to first order that of the IPC."""
        cell = self.after_type(before)
        if cell is None or cell.standard_error is None:
            return None
        return self.best_dispatch * self.best_ipc / cell.ipc**2 * cell.standard_error


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
        return fit_warm_up(self.points, self.reading)


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
        for position, task_type in enumerate(self.types):
            if task_type.name in names[:position]:
                raise ModelError(
                    f"{task_type.name!r} is there twice; leave one", place=f"type[{position}].name"
                )
        for position, task_type in enumerate(self.types):
            for cell, after in enumerate(task_type.after):
                _check_known(after.type, names, f"type[{position}].after[{cell}].type")
        if self.segregation is not None:
            _check_known(self.segregation.type, names, "segregation.type")
            _check_known(self.segregation.harmful_type, names, "segregation.harmful_type")

    def type_named(self, name: str) -> CountedType:
        """Return a task type."""
        return next(task_type for task_type in self.types if task_type.name == name)

    @property
    def penalties(self) -> Mapping[tuple[str, str], float | None]:
        """The penalty of each pair (before, after), nanoseconds; None if it is not known."""
        return {
            (before.name, after.name): after.penalty(before.name)
            for before in self.types
            for after in self.types
        }

    @property
    def unknown_pairs(self) -> tuple[tuple[str, str], ...]:
        """The pairs (before, after) whose penalty is not known."""
        return tuple(pair for pair, penalty in self.penalties.items() if penalty is None)

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
        wasted = wasted_share(harmed_share=given.harmed_share, ipc=after.ipc)
        return OwnCpuFigures(
            idle=idle_share(cpus=given.cpus, time_share=given.time_share, saving=given.saving),
            drain=given.longest_queue * own.best_dispatch,
            wasted_of_type=wasted,
            wasted_of_all=wasted * given.time_share,
            relative_speed=after.ipc / own.best_ipc,
        )


def _check_known(name: str, known: Sequence[str], place: str) -> None:
    if name not in known:
        raise ModelError(f"there is no type {name!r}; known are {', '.join(known)}", place=place)


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


class PairRow(DocumentPart):
    """A task type after another one.

    Parameters
    ----------
    before, after
        Their names.
    penalty
        What the one before costs the other one, nanoseconds; null if that is not known.
    standard_error
        Of the penalty, nanoseconds.
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


class WarmUpRow(DocumentPart):
    """The warm-up of a thread type.

    Parameters
    ----------
    type
        The thread type.
    reading
        How the points were read.
    limit, deficit
        a and D, in the unit of the points.
    time_constant
        τ, milliseconds.
    initial
        Instructions per cycle right after the dispatch.
    lost
        The work that a cold slice loses, milliseconds at full speed.
    error
        The root of the mean squared distance of the points.
    """

    type: str
    reading: Reading
    limit: float
    deficit: float
    time_constant: float
    initial: float
    lost: float
    error: float


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
    warm_up: tuple[WarmUpRow, ...]
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
            *([] if self.figures is None else _figures(self.figures)),
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


def _figures(figures: CounterFigures) -> list[Table]:
    groups = {
        "by CPU (Figure 3)": figures.by_cpu,
        "by CPU and type (Figures 4 and 5)": figures.by_type,
        "threads that are dispatched most often (Figure 6)": figures.by_thread,
        "by what ran before (Figures 8 and 9)": figures.by_predecessor,
        "by slice length (Figure 10)": figures.by_length,
    }
    return [
        *(_performance(title, rows) for title, rows in groups.items()),
        _deviations(figures.deviations),
        table_of("threads that wait (Figure 11)", figures.queues, QUEUES),
    ]


def _performance(title: str, rows: Sequence[PerformanceRow]) -> Table:
    own = table_of(title, rows, PERFORMANCE)
    names = columns(*(name for row in rows[:1] for name in row.group))
    values = [(*row.group.values(), *figures) for row, figures in zip(rows, own.rows, strict=True)]
    return Table(title, (*names, *own.columns), values)


def _deviations(rows: Sequence[DeviationRow]) -> Table:
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
        penalties=tuple(
            PairRow(
                before=before.name,
                after=after.name,
                penalty=after.penalty(before.name),
                standard_error=after.penalty_error(before.name),
                dispatches=None if cell is None else cell.dispatches,
                assumed=cell is not None and "ipc" in cell.assumed,
            )
            for before in model.types
            for after in model.types
            for cell in [after.after_type(before.name)]
        ),
        warm_up=tuple(
            WarmUpRow(type=points.type, **{name: getattr(curve, name) for name in CURVE_NUMBERS})
            for points in model.warm_up
            for curve in [points.curve]
        ),
        segregation=model.segregation_figures(),
        figures=figures,
    )


CURVE_NUMBERS = WarmUpRow.__struct_fields__[1:]


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
    if model.unknown_pairs:
        before, after = model.unknown_pairs[0]
        raise ModelError(
            f"{len(model.unknown_pairs)} of {len(model.types) ** 2} penalties are unknown, such as "
            f"that of {after!r} after {before!r}; add them to a file of the model"
        )
    names = [task_type.name for task_type in model.types]
    switch = tuple(
        tuple(_rounded(after.penalty(before), resolution) for after in model.types)
        for before in names
    )
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


def _rounded(penalty: float | None, resolution: int) -> int:
    assert penalty is not None
    return resolution * round(max(0.0, penalty) / resolution)


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
    formulas=FORMULAS,
)
