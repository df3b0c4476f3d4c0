"""What counters say of task types: how fast each is after each other one, and what that costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dfopt_models.counters.equations import idle_share, penalty_after, wasted_share
from dfopt_models.counters.warm_up import Reading, WarmUp, WarmUpPoint, fit_warm_up
from dfopt_models.errors import ModelError


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterType:
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
    sources
        Where the numbers come from.
    """

    type: str
    ipc: float
    dispatches: int | None = None
    standard_error: float | None = None
    sources: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.ipc > 0:
            raise ModelError(f"must be above 0, not {self.ipc:g}", place="ipc")


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedType:
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
    sources
        Where the numbers come from.
    """

    name: str
    dispatches: float
    best_ipc: float
    best_dispatch: float
    after: tuple[AfterType, ...]
    sources: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("dispatches", "best_ipc", "best_dispatch"):
            value = getattr(self, name)
            if not value > 0:
                raise ModelError(f"must be above 0, not {value:g}", place=name)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmUpPoints:
    """Points of a warm-up curve of a thread type, and how they are to be read."""

    type: str
    reading: Reading
    points: tuple[WarmUpPoint, ...]
    sources: Mapping[str, str] = field(default_factory=dict)

    @property
    def curve(self) -> WarmUp:
        """The curve nearest to the points."""
        return fit_warm_up(self.points, self.reading)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnCpu:
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
    sources
        Where the numbers come from.
    """

    type: str
    cpus: int
    time_share: float
    saving: float
    longest_queue: int
    harmful_type: str
    harmed_share: float
    sources: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.cpus < 1:
            raise ModelError(f"must be at least 1, not {self.cpus}", place="cpus")
        for name in ("time_share", "saving", "harmed_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise ModelError(f"must be from 0 to 1, not {getattr(self, name):g}", place=name)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnCpuFigures:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class CountersModel:
    """Task types with what they cost each other, and what else a file says.

    Parameters
    ----------
    name
        The model's name.
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

    name: str
    types: tuple[CountedType, ...]
    warm_up: tuple[WarmUpPoints, ...] = ()
    segregation: OwnCpu | None = None

    def __post_init__(self) -> None:
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
