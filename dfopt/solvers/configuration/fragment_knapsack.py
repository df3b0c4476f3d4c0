"""Cost and worth of one fragment's tasks on a CPU: a knapsack over the task classes.

Pricing looks for the content of a CPU that is worth most by the LP's dual values, which is a
knapsack problem (Gilmore and Gomory 1961). Costs and values add up over fragments, so there are
two knapsacks: this one inside every fragment, and one across fragments.

A fragment's tasks on one CPU have a *size* (their number, where no task is larger than others), a
cost, and a value. Tables hold the largest value for an exact size and cost, or ``NEVER``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dfopt.solvers.compilation.compiled import compiled

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

NEVER = -(2**61)
"""The value of an impossible choice; all other values stay far above half of it."""

# Duties beside opening a block: closing one before another fragment, and being the CPU's last task.
# Their sum says which duties are done.
EXITS, ENDS = 1, 2


class PricedTasks(NamedTuple):
    """All tasks by class, with costs and values.

    Parameters
    ----------
    duties
        The sum of all duties that make a difference.
    numbers, sizes, base, weight
        For each class the number of its tasks, and the size, the cost and the worth of each. Sizes
        are 0 where they do not count.
    leaving
        ``leaving[0, r, c]``, ``leaving[1, r, c]``: what doing the duties ``r`` adds to
        cost and value of a task of class ``c``.
    bonuses
        Rows of a class, a number, and what holding at least this number of its tasks is worth.
    first_token
        Where the tokens of each class begin.
    tokens
        For each token the cost and the value of opening a block with it.
    """

    duties: int
    numbers: Integers
    sizes: Integers
    base: Integers
    weight: Integers
    leaving: Integers
    bonuses: Integers
    first_token: Integers
    tokens: Integers


class FragmentTasks(NamedTuple):
    """One fragment.

    Parameters
    ----------
    first, last
        Its first class, and the one after its last.
    rows
        Sorted costs, among them all that its tasks but the opener can have up to the last.
    whole
        Whether it must not be split over CPUs.
    visit
        The worth of a visit, beside its tasks.
    """

    first: int
    last: int
    rows: Integers
    whole: bool
    visit: int


@compiled
def row_at_most(rows: Integers, cost: int) -> int:
    """Return the last of the sorted ``rows`` that is not above ``cost``.

    −1 where ``cost`` lies outside of them: beyond the last it is too much.
    """
    low, high = 0, len(rows)
    if cost > rows[high - 1]:
        return -1
    while low < high:
        middle = (low + high) // 2
        if rows[middle] <= cost:
            low = middle + 1
        else:
            high = middle
    return low - 1


@compiled
def bonus(tasks: PricedTasks, task_class: int, number: int) -> int:
    """Return the worth of holding a number of tasks of a class, beside their weights."""
    total = 0
    for row in range(len(tasks.bonuses)):
        if tasks.bonuses[row, 0] == task_class and number >= tasks.bonuses[row, 1]:
            total += tasks.bonuses[row, 2]
    return total


@compiled
def number_range(
    tasks: PricedTasks, fragment: FragmentTasks, task_class: int, opener: int
) -> tuple[int, int]:
    """Return the least and the most tasks of a class that can be taken beside the opener."""
    available = tasks.numbers[task_class] - (1 if task_class == opener else 0)
    return (available if fragment.whole else 0), available


@compiled
def fill_members(
    tables: Integers, tasks: PricedTasks, fragment: FragmentTasks, opener: int, halt: Flags
) -> None:
    """Find cost and worth of the tasks of a fragment apart from its opener.

    Parameters
    ----------
    tables
        Filled: ``tables[c, r, i, s]`` is the most that tasks of size ``s``, of the first ``c``
        classes, are worth at the cost ``rows[i]`` when the duties ``r`` are done by some of them.
    tasks, fragment
        The tasks of the fragment, priced.
    opener
        The class of the opener, which is not among the tasks; −1 if there is none.
    halt
        Ends the work, with tables of no use, once it is true.
    """
    tables[0] = NEVER
    tables[0, 0, 0, 0] = 0
    for index in range(len(tables) - 1):
        task_class = fragment.first + index
        add_class(tables[index], tables[index + 1], tasks, fragment, opener, task_class, halt)


@compiled
def add_class(
    before: Integers,
    after: Integers,
    tasks: PricedTasks,
    fragment: FragmentTasks,
    opener: int,
    task_class: int,
    halt: Flags,
) -> None:
    """Fill ``after`` from ``before``: tasks of one more class may be added.

    Both are by set of duties, row and size, see :func:`fill_members`.
    """
    sets, height, _ = before.shape
    after[:] = NEVER
    for done in range(sets):
        for row in range(height):
            if halt[0]:
                return
            for added in range(sets):
                if not added & done and not added & ~tasks.duties:
                    add_members(
                        before, after, tasks, fragment, opener, task_class, done, added, row
                    )


@compiled
def add_members(
    table: Integers,
    result: Integers,
    tasks: PricedTasks,
    fragment: FragmentTasks,
    opener: int,
    task_class: int,
    done: int,
    added: int,
    row: int,
) -> None:
    """Add tasks of one class, some of which do the duties ``added``, to one row of a table."""
    rows = fragment.rows
    before = table[done, row]
    after = result[done | added]
    width = len(before)
    largest = width - 1
    while largest >= 0 and before[largest] <= NEVER // 2:
        largest -= 1
    least, available = number_range(tasks, fragment, task_class, opener)
    for number in range(max(least, (added & 1) + (added >> 1)), available + 1):
        shift = number * tasks.sizes[task_class]
        cost = rows[row] + tasks.leaving[0, added, task_class] + number * tasks.base[task_class]
        if largest < 0 or shift >= width or cost > rows[len(rows) - 1]:
            break
        worth = worth_of(tasks, opener, task_class, added, number)
        better = after[row_at_most(rows, cost)]
        for size in range(min(largest + 1, width - shift)):
            better[size + shift] = max(better[size + shift], before[size] + worth)


@compiled
def worth_of(tasks: PricedTasks, opener: int, task_class: int, added: int, number: int) -> int:
    """Return the worth of a number of tasks of a class that do the duties ``added``."""
    held = number + (1 if task_class == opener else 0)
    worth: int = tasks.leaving[1, added, task_class] + number * tasks.weight[task_class]
    return worth + bonus(tasks, task_class, held)


@compiled
def trace_members(
    tables: Integers,
    tasks: PricedTasks,
    fragment: FragmentTasks,
    opener: int,
    done: int,
    row: int,
    size: int,
) -> Integers:
    """Return the number of tasks of each class that leads to an entry of :func:`fill_members`."""
    classes = fragment.last - fragment.first
    numbers = np.zeros(classes, np.int64)
    for index in range(classes - 1, -1, -1):
        numbers[index], done, row, size = members_before(
            tables, tasks, fragment, opener, index, done, row, size
        )
    return numbers


@compiled
def members_before(
    tables: Integers,
    tasks: PricedTasks,
    fragment: FragmentTasks,
    opener: int,
    index: int,
    done: int,
    row: int,
    size: int,
) -> tuple[int, int, int, int]:
    """Return the number of added tasks of one class, and the entry that they were added to."""
    rows = fragment.rows
    task_class = fragment.first + index
    value = tables[index + 1, done, row, size]
    least, available = number_range(tasks, fragment, task_class, opener)
    for added in range(done + 1):
        if added & ~done:
            continue
        for number in range(max(least, (added & 1) + (added >> 1)), available + 1):
            before = size - number * tasks.sizes[task_class]
            if before < 0:
                break
            worth = worth_of(tasks, opener, task_class, added, number)
            cost = rows[row] - tasks.leaving[0, added, task_class] - number * tasks.base[task_class]
            source = row_at_most(rows, cost)
            if source < 0 or rows[source] != cost:
                continue
            if tables[index, done & ~added, source, before] + worth == value:
                return number, done & ~added, source, before
    raise AssertionError("the tables of a fragment contradict each other")
