"""The tasks that an option of a fragment stands for.

Options are found without their tasks, which would take too much memory. The tasks of the few
options that become columns are found by filling the tables of their fragment once more.
"""

from __future__ import annotations

import numpy as np

from dfopt.solvers.compilation.compiled import compiled
from dfopt.solvers.configuration.fragment_knapsack import (
    ENDS,
    EXITS,
    Flags,
    FragmentTasks,
    Integers,
    PricedTasks,
    fill_members,
    row_at_most,
    trace_members,
)
from dfopt.solvers.configuration.fragment_options import (
    ALONE,
    SPLIT,
    Opener,
    duties_of,
    opened_by,
    single,
)


@compiled
def option_content(
    grid: Integers, tasks: PricedTasks, fragment: FragmentTasks, option: Integers, halt: Flags
) -> Integers:
    """Return the tasks of an option by class of its fragment, opener included.

    Parameters
    ----------
    grid, tasks, fragment, halt
        See :func:`~dfopt.solvers.configuration.fragment_options.all_options`.
    option
        Role, row, size, value and token.
    """
    role, size, token = option[0], option[2], option[4]
    classes = fragment.last - fragment.first
    shape = (classes + 1, tasks.duties + 1, len(fragment.rows), size + 1)
    tables = np.empty(shape, np.int64)
    if token < 0:
        duty = ENDS if role == ALONE and tasks.duties & ENDS else EXITS
        fill_members(tables, tasks, fragment, -1, halt)
        spared = Opener(0, 0, fragment.visit, -1)
        source = row_offering(tables[classes, duty], fragment.rows, grid, spared, option)
        return trace_members(tables, tasks, fragment, -1, duty, source, size)
    duty = duties_of(role)
    task_class = int(np.searchsorted(tasks.first_token, token, "right")) - 1
    fill_members(tables, tasks, fragment, task_class, halt)
    for own in (0, ENDS):
        opener = opened_by(tasks, fragment, task_class, token, own)
        source = -1
        if own == 0 or role == SPLIT:
            table = tables[classes, duty & ~own]
            source = row_offering(table, fragment.rows, grid, opener, option)
        if source >= 0:
            left = size - opener.size
            numbers = trace_members(tables, tasks, fragment, task_class, duty & ~own, source, left)
            numbers[task_class - fragment.first] += 1
            return numbers
    numbers = np.zeros(classes, np.int64)
    alone = single(tasks, fragment, task_class, token, duty)
    if size == alone.size and option[3] == alone.value:
        numbers[task_class - fragment.first] = 1
        return numbers
    if halt[0]:
        return numbers
    raise AssertionError("no tasks give an option of the knapsack")


@compiled
def row_offering(
    table: Integers, rows: Integers, grid: Integers, opener: Opener, option: Integers
) -> int:
    """Return the row of ``table`` that gives ``option``, see :func:`offer`; −1 if none does."""
    held = option[2] - opener.size
    if held < 0:
        return -1
    for row in range(len(rows)):
        if table[row, held] + opener.value != option[3]:
            continue
        if row_at_most(grid, rows[row] + opener.cost) == option[1]:
            return row
    return -1
