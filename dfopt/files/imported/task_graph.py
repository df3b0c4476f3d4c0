"""STG, the Standard Task Graph Set: tasks with execution times and precedence, P|prec|Cmax.

The first line is the number of tasks without the dummies; some files have a second number there,
which is not used. Every further line is a task: its number, its time, the number of its
predecessors, and these. A dummy of the number 0 may stand first, and one stands last. The number
of processors is not in the file.
"""

from __future__ import annotations

from dfopt.errors import FileError
from dfopt.files.imported.source_text import (
    LineReader,
    SourceLine,
    check_acyclic,
    integers,
    is_integers,
)
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyG

FIRST_DUMMY = "0"
FIXED_FIELDS = 3
MOST_IN_FIRST_LINE = 2
DATA = "all"
"""The fragment of every task: nothing is ever switched."""


def is_task_graph(lines: list[SourceLine]) -> bool:
    """Whether the lines are those of a task graph."""
    first, second = lines[0], lines[min(1, len(lines) - 1)]
    return (
        is_integers(first)
        and len(first.words) <= MOST_IN_FIRST_LINE
        and is_integers(second)
        and len(second.words) >= FIXED_FIELDS
    )


def read_task_graph(lines: list[SourceLine], name: str, cpus: int | None) -> Instance:
    """Return the instance of a task graph on some CPUs.

    A dummy takes no time. The first one can run at time 0 before everything else, and the last
    one when all others have ended, so both are left out.

    Raises
    ------
    FileError, InstanceError
        When the number of CPUs is not given, or the file is cut off or contradicts itself.
    """
    if cpus is None:
        raise FileError("a task graph does not say how many CPUs there are; give `cpus`")
    reader = LineReader(line for line in lines if not line.text.startswith("#"))
    count = integers(reader.next("the number of tasks"), least=1)[0]
    times: dict[str, int] = {}
    after: dict[str, tuple[str, ...]] = {}
    places: dict[str, SourceLine] = {}
    # The dummy at the beginning, if there is one, comes on top of these.
    while len(times) < count + 1 + (FIRST_DUMMY in times):
        line = reader.next(f"one of {count} tasks or a dummy")
        task, time, predecessors = task_of(line)
        if task in times:
            raise line.error(f"the task {task} is there twice; remove one")
        times[task], after[task], places[task] = time, predecessors, line
    reader.check_end(f"the dummy after the last of {count} tasks")
    for task, predecessors in after.items():
        for predecessor in predecessors:
            if predecessor not in times:
                raise places[task].error(f"there is no task {predecessor}; correct it")
    check_acyclic(after, places)
    dummies = dummies_of(times, after)
    return Instance(
        name=f"{name}-m{cpus}",
        description=f"the shortest schedule of a task graph of {len(times) - len(dummies)} tasks "
        "(P|prec|Cmax); nothing is switched",
        source="STG",
        cpus=cpus,
        capacity="unlimited",
        objective=Objective.MAKESPAN,
        penalty=PenaltyG(fill=0, write_back=0),
        tasks=tuple(
            Task(
                id=task,
                df=DATA,
                exec=times[task],
                after=tuple(other for other in after[task] if other not in dummies),
            )
            for task in times
            if task not in dummies
        ),
    )


def task_of(line: SourceLine) -> tuple[str, int, tuple[str, ...]]:
    """Return the name of a task, its time, and its predecessors, each once."""
    numbers = integers(line)
    if len(numbers) < FIXED_FIELDS:
        raise line.error(
            f"has {len(numbers)} numbers; a task has a number, a time, and the number of its "
            "predecessors"
        )
    task, time, count, *predecessors = numbers
    if count and len(predecessors) == 2 * count:
        raise line.error(
            "has a number after each predecessor, a time of communication, which cannot be said; "
            "take a graph without communication"
        )
    if len(predecessors) != count:
        raise line.error(
            f"names {len(predecessors)} predecessors and says that there are {count}; correct it"
        )
    return str(task), time, tuple(dict.fromkeys(map(str, predecessors)))


def dummies_of(times: dict[str, int], after: dict[str, tuple[str, ...]]) -> set[str]:
    """Return the first task if it waits for nothing, and the last one if nothing waits for it.

    Both only if they take no time.
    """
    *_, last = times
    first = next(iter(times))
    awaited = {other for predecessors in after.values() for other in predecessors}
    found = {first} if not after[first] else set()
    if last not in awaited:
        found.add(last)
    return {task for task in found if times[task] == 0}
