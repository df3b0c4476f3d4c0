"""What an instance holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Literal

from dfopt.costs.task_types import task_types
from dfopt.files import fingerprint
from dfopt.files.documents import DocumentType
from dfopt.files.formats import Format
from dfopt.problem.cache import CacheState, InitialState, Leaves
from dfopt.problem.instance import Instance, Objective
from dfopt.problem.penalties import Penalty, PenaltyF, PenaltyG, PenaltyMatrix
from dfopt.render import counted
from dfopt.solvers.search import Search
from dfopt.solvers.sizes import packings
from dfopt.structs import (
    DERIVED_DIGITS,
    Digest,
    DocumentPart,
    Natural,
    Positive,
    Share,
    document_of,
    each_of,
)
from dfopt.table import Table, Value, columns, facts

LARGEST_SHOWN = 10
"""At most this many fragments are listed; the JSON document has them all."""


class MatrixSize(DocumentPart, tag="matrix", tag_field="kind"):
    """The size of a matrix, which may be large, and its largest cost.

    Parameters
    ----------
    types
        How many types it has.
    largest_switch
        The largest cost of a switch.
    start, finish
        Whether first tasks, and last ones, have costs of their own.
    """

    types: Positive
    largest_switch: Natural
    start: bool
    finish: bool


class HeldData(DocumentPart):
    """What a cache holds.

    Parameters
    ----------
    df, leaves
        The fragment, and the state it was left in (f and g).
    type
        The type of the task that ran last (matrix).
    """

    df: str | None = None
    leaves: Leaves | None = None
    type: str | None = None

    def __str__(self) -> str:
        """Return it in words."""
        return " ".join(filter(None, (self.df, self.leaves, self.type)))


class SizeRange(DocumentPart):
    """The sizes of tasks.

    Parameters
    ----------
    smallest, largest
        The smallest and the largest of them.
    total
        Of all tasks together.
    room
        What fits on a CPU.
    """

    smallest: Natural
    largest: Natural
    total: Natural
    room: Natural


class TaskGroup(DocumentPart):
    """The tasks of a fragment or of a type.

    Parameters
    ----------
    df, type
        The fragment, or the type under a matrix.
    tasks
        The number of its tasks.
    share
        Of all tasks.
    """

    df: str | None = None
    type: str | None = None
    tasks: Natural
    share: Share


class InstanceInfo(DocumentPart, tag="instance", tag_field="kind"):
    """What an instance holds.

    Parameters
    ----------
    name
        What it is called.
    description, source
        Its labels.
    time_unit
        The unit of all times.
    sha256
        The digest of its document, by which results name it.
    objective
        What is minimised.
    penalty
        What a CPU pays to go from one task to the next; of a matrix only the size.
    cold_start
        Whether the first task on an empty cache pays for loading its data.
    final_write_back
        Whether the last task on a CPU pays for writing back what it did not leave clean.
    cpus
        Number of CPUs.
    capacity
        The largest number of tasks that a CPU may hold, as the instance says it.
    tasks_per_cpu
        The largest number of tasks on a CPU: the capacity, or where sizes count, how many of the
        smallest tasks fit.
    feasible
        Whether all tasks find room; None where tasks have sizes and a first look does not tell.
    missing_capacity
        Number of tasks that certainly find no room; where sizes count, their size.
    sizes
        The sizes of the tasks; None where all are 1.
    initial
        What each CPU's cache holds before its first task; None is an empty cache.
    tasks
        Number of tasks, copies included.
    task_types
        Number of classes of tasks that cost the same.
    leaves
        How many tasks leave their fragment in which state (f); None under other penalties.
    exec
        Execution times of all tasks together; None unless the objective is makespan.
    released, waiting
        Tasks that are released after 0, and those that wait for others.
    fragments
        The fragments with the number of their tasks, the largest first; None under a matrix.
    types
        The same for the types of a matrix; None under other penalties.
    """

    name: str | None
    description: str | None
    source: str | None
    time_unit: str | None
    sha256: Digest
    objective: Objective
    penalty: PenaltyF | PenaltyG | MatrixSize
    cold_start: bool
    final_write_back: bool
    cpus: Positive
    capacity: Positive | Literal["balanced", "unlimited"]
    tasks_per_cpu: Natural
    feasible: bool | None
    missing_capacity: Natural
    sizes: SizeRange | None
    initial: tuple[HeldData | str | None, ...]
    tasks: Natural
    task_types: Natural
    leaves: Annotated[dict[Leaves, Natural], each_of(Leaves)] | None
    exec: Natural | None
    released: Natural
    waiting: Natural
    fragments: tuple[TaskGroup, ...] | None
    types: tuple[TaskGroup, ...] | None

    def tables(self) -> list[Table]:
        """Return the figures, and the groups of tasks."""
        noun = "type" if self.fragments is None else "fragment"
        found = self.fragments or self.types or ()
        groups = [(one.df or one.type, one.tasks, one.share) for one in found]
        penalty = document_of(self.penalty)
        penalty_name = penalty.pop("kind")
        parameters = ", ".join(f"{key} {_shown(value)}" for key, value in penalty.items())
        flags = [flag for flag in ("cold_start", "final_write_back") if getattr(self, flag)]
        sizes = self.sizes
        capacity = f"at most {self.tasks_per_cpu} tasks a CPU"
        if sizes:
            capacity = f"at most a size of {sizes.room} on a CPU"
        if isinstance(self.capacity, str):
            capacity = f"{self.capacity}, {capacity}"
        rows: dict[str, Value] = {
            "name": self.name,
            "description": self.description,
            "source": self.source,
            "time unit": self.time_unit,
            "sha256": self.sha256,
            "objective": self.objective,
            "penalty": f"{penalty_name}: {parameters}",
            "flags": ", ".join(flags) or "none",
            "CPUs": self.cpus,
            "capacity": capacity,
            "feasible": self._feasibility(),
            "initial": self._caches(),
            "tasks": self.tasks,
            "sizes": None
            if sizes is None
            else f"{sizes.smallest} to {sizes.largest}, {sizes.total} in all",
            "task types": f"{self.task_types}; tasks of one type cost the same",
            "leaves": None if self.leaves is None else _distribution(self.leaves),
            "exec": f"{self.exec} in all" if self.exec else None,
            "release": f"{self.released} tasks" if self.released else None,
            "after": f"{self.waiting} tasks wait for others" if self.waiting else None,
        }
        largest = Table(counted(len(groups), noun), columns(noun, "tasks", "share :.1%"), groups)
        return [facts(rows), largest.largest(LARGEST_SHOWN, "tasks", "share")]

    def _feasibility(self) -> str:
        """Return whether all tasks find room, and if not, how many do not."""
        if self.feasible:
            return "yes"
        if self.feasible is None:
            return "not known before a search: the sizes are hard to pack"
        missing = f"{self.missing_capacity} of {self.tasks} tasks"
        if self.sizes:
            missing = f"tasks of a size of {self.missing_capacity}"
        return f"no, there is no room for {missing}; raise capacity or cpus"

    def _caches(self) -> str:
        """Return what the caches hold at the start."""
        held = [
            f"CPU {cpu}: {state}" for cpu, state in enumerate(self.initial) if state is not None
        ]
        if len(held) < len(self.initial):
            held.append("others empty" if held else "all caches empty")
        return "; ".join(held)


INSTANCE_INFO = DocumentType(Format.INFO, InstanceInfo)


def instance_info(instance: Instance) -> InstanceInfo:
    """Return what an instance holds.

    Its fragments, or its types under a matrix, come with the number of their tasks, the largest
    first.
    """
    group = "type" if isinstance(instance.penalty, PenaltyMatrix) else "df"
    sizes: Counter[str] = Counter()
    leaves: Counter[Leaves] = Counter()
    for task in instance.tasks:
        sizes[getattr(task, group)] += task.multiplicity
        leaves[task.leaves] += task.multiplicity
    count = instance.task_count
    groups = tuple(
        TaskGroup(**{group: name}, tasks=size, share=round(size / count, DERIVED_DIGITS))
        for name, size in sorted(sizes.items(), key=lambda item: (-item[1], item[0]))
    )
    left = {state: leaves[state] for state in Leaves}
    runs = instance.objective is Objective.MAKESPAN
    return InstanceInfo(
        name=instance.name,
        description=instance.description,
        source=instance.source,
        time_unit=instance.time_unit,
        sha256=fingerprint(instance),
        objective=instance.objective,
        penalty=_penalty(instance.penalty),
        cold_start=instance.cold_start,
        final_write_back=instance.final_write_back,
        cpus=instance.cpus,
        capacity=instance.capacity,
        tasks_per_cpu=instance.tasks_per_cpu,
        feasible=_is_feasible(instance),
        missing_capacity=instance.missing_capacity,
        sizes=_sizes(instance),
        initial=tuple(map(_cache, instance.initial_states)),
        tasks=count,
        task_types=len(task_types(instance)),
        leaves=left if isinstance(instance.penalty, PenaltyF) else None,
        exec=sum(task.exec * task.multiplicity for task in instance.tasks) if runs else None,
        released=sum(task.multiplicity for task in instance.tasks if task.release),
        waiting=sum(task.multiplicity for task in instance.tasks if task.after),
        fragments=groups if group == "df" else None,
        types=groups if group == "type" else None,
    )


def _is_feasible(instance: Instance) -> bool | None:
    """Return whether all tasks find room; None where a first look does not tell."""
    if instance.missing_capacity:
        return False
    if not instance.has_sizes or next(packings(Search(instance)), None) is not None:
        return True
    return None


def _sizes(instance: Instance) -> SizeRange | None:
    sizes = [task.size for task in instance.tasks]
    if max(sizes, default=1) == 1:
        return None
    total = sum(task.size * task.multiplicity for task in instance.tasks)
    if isinstance(instance.capacity, int):
        room = instance.capacity
    elif instance.has_sizes or min(sizes) == max(sizes):
        room = instance.room * instance.size_unit
    else:
        room = total  # all tasks fit on a CPU
    return SizeRange(smallest=min(sizes), largest=max(sizes), total=total, room=room)


def _penalty(penalty: Penalty) -> PenaltyF | PenaltyG | MatrixSize:
    if not isinstance(penalty, PenaltyMatrix):
        return penalty
    return MatrixSize(
        types=len(penalty.types),
        largest_switch=max(max(row) for row in penalty.switch),
        start=penalty.start is not None,
        finish=penalty.finish is not None,
    )


def _cache(state: InitialState) -> HeldData | str | None:
    if not isinstance(state, CacheState):
        return state
    if state.type is not None:
        return HeldData(type=state.type)
    return HeldData(df=state.df, leaves=state.leaves)


def _shown(value: object) -> str:
    """Return a value in words."""
    return {True: "given", False: "none"}[value] if isinstance(value, bool) else str(value)


def _distribution(counts: Mapping[Leaves, int]) -> str:
    """Return counts with their shares."""
    total = max(1, sum(counts.values()))
    return ", ".join(f"{name} {count} ({count / total:.0%})" for name, count in counts.items())
