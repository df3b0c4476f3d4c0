"""The instance: tasks, machine and objective, frozen and validated.

Whatever can be wrong with several values together is checked here, once, for files and for
Python callers alike.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache, cached_property
from graphlib import CycleError, TopologicalSorter
from math import gcd
from operator import itemgetter
from typing import Annotated, Any, Literal

from msgspec import Meta
from msgspec.structs import asdict, fields

from dfopt.checks import LARGEST_TOTAL, check_type, described
from dfopt.errors import DfoptWarning, InstanceError
from dfopt.problem.cache import (
    EMPTY,
    LEAVES,
    UNKNOWN,
    Cache,
    DataUse,
    InitialState,
    Leaves,
)
from dfopt.problem.penalties import Penalty, PenaltyF, PenaltyG, PenaltyMatrix
from dfopt.render import MOST_COLUMNS, MOST_ROWS, counted, html
from dfopt.structs import REQUIRED, Checked, Natural, Positive, written
from dfopt.table import Table, columns

PENALTY_KINDS = "g is one setup time for all, f a setup by 'lines', matrix has setups s_ij"

LARGEST_TASK_COUNT = 10_000_000

LONGEST_SHOWN_CYCLE = 10

LARGEST_CPU_COUNT = 1_000_000
"""At most this number of CPUs: every CPU has an entry in a schedule, which must fit into memory."""

CpuCount = Annotated[int, Meta(ge=1, le=LARGEST_CPU_COUNT)]
"""A number of CPUs."""


class Objective(StrEnum):
    """What is minimised."""

    MAX_PENALTY = "max-penalty"
    TOTAL_PENALTY = "total-penalty"
    MAKESPAN = "makespan"


class Task(Checked):
    """One task, or ``count`` equal ones.

    Parameters
    ----------
    id
        Unique name. With ``count`` the tasks are called ``id#1`` … ``id#count``.
    df
        The data fragment it uses (penalties f and g).
    type
        Its type (matrix penalty).
    lines
        Cache lines it reads when it finds another fragment in the cache (penalty f).
    leaves
        The state it leaves its fragment in (penalty f); a word such as ``"dirty"`` will do.
    exec
        Execution time; counts under the objective ``makespan``.
    release
        Earliest time at which the switch to it may begin (``makespan`` only).
    after
        Ids of the tasks that must have finished before (``makespan`` only).
    count
        Number of equal tasks that this entry stands for; None is one task called ``id``.
    size
        How much of a CPU's capacity each of these tasks takes.
    """

    id: str
    df: str | None = None
    type: str | None = None
    lines: Natural | None = None
    leaves: Leaves = Leaves.CLEAN
    exec: Natural = 0
    release: Natural = 0
    after: tuple[str, ...] = ()
    count: Positive | None = None
    size: Positive = 1

    @property
    def multiplicity(self) -> int:
        """How many tasks this entry stands for."""
        return 1 if self.count is None else self.count

    @property
    def names(self) -> Iterator[str]:
        """The names of the tasks that this entry stands for."""
        if self.count is None:
            return iter((self.id,))
        return (f"{self.id}#{copy}" for copy in range(1, self.count + 1))


class Instance(Checked, dict=True):
    """One optimisation problem: which task runs where and when, at the least penalty.

    Parameters
    ----------
    cpus
        Number of CPUs (m).
    penalty
        The switch penalty: :class:`PenaltyF`, :class:`PenaltyG` or :class:`PenaltyMatrix`.
    tasks
        The tasks; may be empty.
    capacity
        The sizes of the tasks on a CPU add up to at most this. ``"balanced"`` is an even share,
        ⌈n/m⌉ where all sizes are 1, as in [1]_; see :attr:`room`.
    objective
        The value to minimise, see :class:`Objective`; a word such as ``"makespan"`` will do.
    initial
        The content of each CPU's cache at the start, one entry per CPU: a :class:`CacheState`, None
        for an empty cache, or ``"unknown"``. The empty tuple means that all are empty.
    cold_start
        Whether the first task on an empty cache pays for loading its data. It does not matter
        where the cache's state is unknown.
    final_write_back
        Whether a CPU pays at the end for writing back what its last task did not leave clean. A
        CPU that runs nothing pays for what its cache held at the start.
    name, description, source, time_unit
        Labels without meaning to the solvers.

    Raises
    ------
    InstanceError
        When a value is impossible or two values contradict each other.

    References
    ----------
    .. [1] S. S. Pinter and M. Zalmanovici, "Data Sharing Conscious Scheduling for
       Multi-threaded Applications on SMP Machines", Euro-Par 2006, section 3.
    """

    name: str | None = None
    description: str | None = None
    source: str | None = None
    time_unit: str | None = None
    cpus: CpuCount
    capacity: Positive | Literal["balanced", "unlimited"] = "balanced"
    objective: Objective = Objective.MAX_PENALTY
    penalty: Annotated[Penalty, Meta(extra={"kinds": PENALTY_KINDS})]
    initial: tuple[InitialState, ...] = ()
    cold_start: bool = False
    final_write_back: bool = False
    tasks: Annotated[tuple[Task, ...], REQUIRED] = written(())

    def __post_init__(self) -> None:
        """Check what can be wrong with several values together."""
        super().__post_init__()
        self._check_tasks()
        self._check_initial()
        _check_ids([(task.id, task.count) for task in self.tasks])
        if self.has_precedence:
            _check_precedence({task.id: task.after for task in self.tasks})
        self._check_totals()
        self._warn_of_unused_costs()

    def __reduce__(self) -> tuple[Callable[..., Instance], tuple[object, ...]]:
        # Copies, also those in other processes, are of the same document.
        return _same, (asdict(self), self.document_sha256)

    def __copy__(self) -> Instance:
        return self

    @property
    def document_sha256(self) -> str | None:
        """Digest of the document this was read from; None where it was built in Python."""
        return self.__dict__.get("document_sha256")

    @property
    def size_unit(self) -> int:
        """The greatest common divisor of all sizes. Solvers and the checker measure in it."""
        return self._measures[0]

    @property
    def has_sizes(self) -> bool:
        """Whether some tasks are larger than others and that counts.

        It does not count where all tasks fit on one CPU. If not, only the number of tasks on a CPU
        counts, or not even that.
        """
        return self._measures[1]

    @property
    def total_size(self) -> int:
        """The size of all tasks together, see :meth:`size_of`; n where sizes do not count."""
        return self._measures[2]

    @property
    def room(self) -> int:
        """The largest size that a CPU may hold, see :meth:`size_of`.

        A balanced share is enough for the largest task.
        """
        return self._measures[3]

    @cached_property
    def _measures(self) -> tuple[int, bool, int, int]:
        """Unit of size, whether sizes count, their total and the room of a CPU."""
        unit = gcd(*{task.size for task in self.tasks}) or 1
        total = sum(task.size * task.multiplicity for task in self.tasks) // unit
        largest = max((task.size for task in self.tasks), default=0) // unit
        match self.capacity:
            case "unlimited":
                room = total
            case "balanced":
                room = max(-(-total // self.cpus), largest)
            case capacity:
                room = int(capacity) // unit
        has_sizes = largest > 1 and room < total
        if largest > 1 and not has_sizes:
            total = room = self.task_count  # sizes differ, and all tasks fit on a CPU
        return unit, has_sizes, total, room

    @property
    def task_count(self) -> int:
        """The number of tasks (n), copies included."""
        return sum(task.multiplicity for task in self.tasks)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The size of a task of each entry of ``tasks``, see :meth:`size_of`."""
        return tuple(self.size_of(task) for task in self.tasks)

    def size_of(self, task: Task) -> int:
        """Return the size of a task in units of ``size_unit``; 1 where sizes do not count."""
        return task.size // self.size_unit if self.has_sizes else 1

    @property
    def tasks_per_cpu(self) -> int:
        """The largest number of tasks that a CPU may hold (k); if sizes differ, of the smallest."""
        room = self.room
        if not self.has_sizes:
            return room or min(1, len(self.tasks))
        held = 0
        for size, task in sorted(zip(self.sizes, self.tasks, strict=True), key=itemgetter(0)):
            fitting = min(task.multiplicity, room // size)
            held += fitting
            room -= fitting * size
            if fitting < task.multiplicity:
                break
        return max(1, held)

    @property
    def missing_capacity(self) -> int:
        """What certainly finds no room: a number of tasks, or their size where sizes count.

        If it is positive, the instance is infeasible. Where sizes count, 0 does not say that all
        tasks fit: that is a question of bin packing.
        """
        room = self.room
        sizes = [(self.size_of(task), task.multiplicity) for task in self.tasks]
        missing = sum(size * number for size, number in sizes if size > room)
        fitting = sum(size * number for size, number in sizes if size <= room)
        missing += max(0, fitting - self.cpus * room)
        return missing * (self.size_unit if self.has_sizes else 1)

    @property
    def excess(self) -> str:
        """Why the tasks find no room on the CPUs, in words."""
        if self.has_sizes:
            return (
                f"{self.task_count} tasks of different sizes do not fit on {self.cpus} CPUs that "
                f"hold a size of {self.room * self.size_unit} each"
            )
        return (
            f"{self.task_count} tasks, but {self.cpus} CPUs hold {self.tasks_per_cpu} each; "
            f"there is no room for {counted(self.missing_capacity, 'task')}"
        )

    @property
    def initial_states(self) -> tuple[InitialState, ...]:
        """The initial cache states, one per CPU, with the default filled in."""
        return self.initial or (None,) * self.cpus

    def use(self, of: Task | InitialState) -> DataUse:
        """Return what a task uses, or what a cache holds, as a :class:`Cache` takes it."""
        if of is None or isinstance(of, str):
            return DataUse(EMPTY if of is None else UNKNOWN)
        penalty = self.penalty
        return DataUse(
            penalty.number_of(of.type) if isinstance(penalty, PenaltyMatrix) else of.df,
            LEAVES.index(of.leaves),
            (of.lines or 0) if isinstance(of, Task) else 0,
        )

    def cache(self, cpu: int) -> Cache:
        """Return the cache of a CPU as it is before the first task."""
        cache = Cache(
            self.penalty, cold_start=self.cold_start, final_write_back=self.final_write_back
        )
        return cache.hold(self.use(self.initial[cpu])) if self.initial else cache

    @property
    def has_precedence(self) -> bool:
        """Whether some task must wait for another one."""
        return any(task.after for task in self.tasks)

    @property
    def is_timed(self) -> bool:
        """Whether releases or precedence may force a CPU to wait."""
        return any(task.after or task.release for task in self.tasks)

    def tasks_by_name(self) -> dict[str, Task]:
        """Return the entry of each single task, copies included, in the order of the file."""
        return {name: task for task in self.tasks for name in task.names}

    def _repr_html_(self) -> str:
        """Return the tasks as a table, as notebooks show it.

        It has the columns in which some task differs from the default. A matrix of few types has
        a table of its own.
        """
        used = [
            column.name
            for column in fields(Task)
            if any(getattr(task, column.name) != column.default for task in self.tasks)
        ]
        flags = [flag for flag in ("cold_start", "final_write_back") if getattr(self, flag)]
        penalty: object = self.penalty
        if isinstance(self.penalty, PenaltyMatrix):
            penalty = f"matrix of {counted(len(self.penalty.types), 'type')}"
        tasks, cpus = counted(self.task_count, "task"), counted(self.cpus, "CPU")
        title = f"{self.name or 'instance'}: {tasks} on {cpus}, " + ", ".join(
            [str(self.objective), str(penalty), *flags]
        )
        rows = [
            [
                ", ".join(value) if isinstance(value, tuple) else value
                for value in (getattr(task, column) for column in used)
            ]
            for task in self.tasks[:MOST_ROWS]
        ]
        table = html(Table(title, columns(*used), rows), count=len(self.tasks))
        if isinstance(self.penalty, PenaltyMatrix) and len(self.penalty.types) <= MOST_COLUMNS:
            return f"{table}\n{self.penalty._repr_html_()}"
        return table

    def _check_tasks(self) -> None:
        total = size = 0
        types = frozenset(self.penalty.types if isinstance(self.penalty, PenaltyMatrix) else ())
        for position, task in enumerate(self.tasks):
            place = f"tasks[{position}]"
            match self.penalty:
                case PenaltyMatrix():
                    check_type(task.type, types, place)
                case _ if task.df is None:
                    raise InstanceError("is missing; name the task's fragment", place=f"{place}.df")
                case PenaltyF() if task.lines is None:
                    raise InstanceError(
                        "is missing; say how many lines the task reads", place=f"{place}.lines"
                    )
            if self.objective is not Objective.MAKESPAN and (task.release or task.after):
                key = "release" if task.release else "after"
                raise InstanceError(
                    f"only the objective 'makespan' knows it, and this one is '{self.objective}'",
                    place=f"{place}.{key}",
                )
            total += task.multiplicity
            size += task.multiplicity * task.size
        if size > LARGEST_TOTAL:
            raise InstanceError(
                f"have sizes that add up to {size}, more than 2^62; use a coarser unit",
                place="tasks",
            )
        if total > LARGEST_TASK_COUNT:
            raise InstanceError(
                f"stand for {total} tasks; at most {LARGEST_TASK_COUNT} are supported",
                place="tasks",
            )

    def _check_initial(self) -> None:
        if not self.initial:
            return
        if len(self.initial) != self.cpus:
            raise InstanceError(
                f"has {len(self.initial)} entries but there are {self.cpus} CPUs; "
                "give one per CPU (null for an empty cache)",
                place="initial",
            )
        for position, state in enumerate(self.initial):
            if state is None or state == "unknown":
                continue
            place = f"initial[{position}]"
            if isinstance(self.penalty, PenaltyMatrix):
                check_type(state.type, self.penalty.types, place)
            elif state.df is None:
                raise InstanceError(
                    "is missing; name the fragment in the cache", place=f"{place}.df"
                )

    def _check_totals(self) -> None:
        """Refuse sums that 64-bit solvers could not add up."""
        timed = self.objective is Objective.MAKESPAN
        worst_switch = cache(self._worst_switch)
        total = max((task.release for task in self.tasks), default=0)
        for task in self.tasks:
            total += task.multiplicity * (
                worst_switch(task.type, task.lines or 0) + (task.exec if timed else 0)
            )
        if isinstance(self.penalty, PenaltyF | PenaltyG):
            total += self.cpus * self.penalty.write_back
        elif self.penalty.finish:
            total += self.cpus * max(self.penalty.finish)
        if total > LARGEST_TOTAL:
            raise InstanceError(
                f"the costs can add up to {total}, more than 2^62; use a coarser time unit",
                place="tasks",
            )

    def _worst_switch(self, task_type: str | None, lines: int) -> int:
        match self.penalty:
            case PenaltyF() as penalty:
                return penalty.reading(lines) + penalty.write_back
            case PenaltyG() as penalty:
                return penalty.reading(lines)
            case PenaltyMatrix(types=types, switch=switch, start=start):
                column = types.index(task_type)
                return max(*(row[column] for row in switch), start[column] if start else 0)

    def _warn_of_unused_costs(self) -> None:
        if not isinstance(self.penalty, PenaltyMatrix):
            return
        for key, flag in (("start", "cold_start"), ("finish", "final_write_back")):
            if getattr(self.penalty, key) is not None and not getattr(self, flag):
                warnings.warn(
                    f"penalty.{key} is given but does not count without '{flag}'",
                    DfoptWarning,
                    stacklevel=3,
                )


def _same(fields: dict[str, Any], document_sha256: str | None) -> Instance:
    """Return an instance that was taken apart, without warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DfoptWarning)
        instance = Instance(**fields)
    instance.__dict__["document_sha256"] = document_sha256
    return instance


def _check_ids(entries: Sequence[tuple[str, int | None]]) -> None:
    """Refuse an id that is there twice, or that is also the name of a copy.

    Parameters
    ----------
    entries
        The id and the count of each entry of an instance's tasks.

    Raises
    ------
    InstanceError
        When two tasks would have one name.
    """
    positions: dict[str, int] = {}
    for position, (name, _) in enumerate(entries):
        if name in positions:
            raise InstanceError(
                f"the id {described(name)} is also that of tasks[{positions[name]}]",
                place=f"tasks[{position}].id",
            )
        positions[name] = position
    for position, (name, count) in enumerate(entries):
        base, mark, copy = name.rpartition("#")
        if count is not None or not mark or base not in positions:
            continue
        copies = entries[positions[base]][1] or 0
        # Only short numbers are compared: Python refuses to read very long ones.
        is_number = copy.isascii() and copy.isdigit() and copy[0] != "0"
        if is_number and len(copy) <= len(str(copies)) and int(copy) <= copies:
            raise InstanceError(
                f"the id {described(name)} is also a copy's of tasks[{positions[base]}]",
                place=f"tasks[{position}].id",
            )


def _check_precedence(after: Mapping[str, Sequence[str]]) -> None:
    """Refuse a predecessor that is no task, and tasks that wait for each other.

    Parameters
    ----------
    after
        For each id, in the order of the tasks, the ids that it waits for.

    Raises
    ------
    InstanceError
        When there is such a task.
    """
    for position, names in enumerate(after.values()):
        for index, predecessor in enumerate(names):
            if predecessor not in after:
                raise InstanceError(
                    f"no task has the id {described(predecessor)}",
                    place=f"tasks[{position}].after[{index}]",
                )
    try:
        TopologicalSorter(after).prepare()
    except CycleError as error:
        names = [described(name) for name in reversed(error.args[1])]
        if len(names) > LONGEST_SHOWN_CYCLE:
            names[2:-2] = ["…"]
        cycle = " → ".join(names)
        raise InstanceError(
            f"the tasks wait for each other in a cycle: {cycle}", place="tasks"
        ) from None
