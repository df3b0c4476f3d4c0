"""The names of an instance's tasks: each stands for one task, and none waits for itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

from dfopt.checks import described
from dfopt.errors import InstanceError

LONGEST_SHOWN_CYCLE = 10


def check_ids(entries: Sequence[tuple[str, int | None]]) -> None:
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


def check_precedence(after: Mapping[str, Sequence[str]]) -> None:
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
