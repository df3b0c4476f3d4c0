"""The content of one CPU that is worth most: the knapsack across fragments.

It takes at most one option of each fragment, see
:mod:`dfopt.solvers.configuration.fragment_options`. A content is dropped if another one is no
larger, costs no more, and is worth as much.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dfopt.solvers.compilation.compiled import compiled
from dfopt.solvers.configuration.fragment_knapsack import NEVER, Flags, Integers, row_at_most
from dfopt.solvers.configuration.fragment_options import ALONE, FIRST, SPLIT


class Choices(NamedTuple):
    """The options that the knapsack chooses from.

    Parameters
    ----------
    start, options
        See :func:`~dfopt.solvers.configuration.fragment_options.all_options`.
    spared
        For each fragment whether its entry is spared when it comes first.
    may_miss, may_visit
        For each fragment whether the CPU need not visit it, and whether it can.
    """

    start: Integers
    options: Integers
    spared: Flags
    may_miss: Flags
    may_visit: Flags


@compiled
def ends_after(ends: int, role: int) -> int:
    """Return the ends of a CPU that are taken (1 the first, 2 the last) once a fragment is added.

    −1 where it cannot be added. The number of a role is the sum of the ends that it takes.
    """
    return -1 if role == ALONE or ends & role else ends | role


@compiled
def is_open(choices: Choices, fragment: int, role: int) -> bool:
    """Return whether a fragment can play a role on this CPU."""
    if not choices.may_visit[fragment]:
        return False
    return bool(choices.spared[fragment] or role not in (FIRST, SPLIT))


@compiled
def fill_knapsack(tables: Integers, grid: Integers, choices: Choices, halt: Flags) -> None:
    """Find the most that one CPU can hold.

    Parameters
    ----------
    tables
        Filled: ``tables[a, e, s, i]`` is the most that tasks of size ``s``, of the first ``a``
        fragments, are worth at the cost ``grid[i]`` with the ends ``e`` taken. There are many more
        costs than sizes, so that loops over the last index are long.
    grid
        The costs of the rows, sorted.
    choices
        The options to choose from.
    halt
        Ends the work, with tables of no use, once it is true.
    """
    fragments, sets, width, height = tables.shape
    tables[0] = NEVER
    tables[0, 0, 0, 0] = 0
    alive = np.zeros((sets, height), np.bool_)
    alive[0, 0] = True
    reach = 0
    for fragment in range(fragments - 1):
        before, after = tables[fragment], tables[fragment + 1]
        if choices.may_miss[fragment]:
            after[:] = before
        else:
            after[:] = NEVER
        longest = 0
        for number in range(choices.start[fragment], choices.start[fragment + 1]):
            option = choices.options[number]
            if halt[0]:
                return
            if is_open(choices, fragment, option[0]):
                longest = max(longest, option[2])
                for ends in range(sets):
                    goal = ends_after(ends, option[0])
                    if goal >= 0:
                        add_option(before[ends], after[goal], alive[ends], grid, option, reach)
        reach = min(width - 1, reach + longest)
        for ends in range(sets):
            drop_dominated(after[ends], alive[ends], reach)


@compiled
def add_option(
    before: Integers, after: Integers, alive: Flags, grid: Integers, option: Integers, reach: int
) -> None:
    """Raise ``after`` to what ``before`` gives with an option on top.

    Parameters
    ----------
    before, after
        By size and row.
    alive
        For each row of ``before`` whether it holds anything.
    grid
        The costs of the rows.
    option
        Role, row, size, value and token.
    reach
        The largest size in ``before``.
    """
    width, height = before.shape
    cost, size, value = option[1], option[2], option[3]
    sizes = min(reach, width - 1 - size) + 1
    if height > 1 and grid[height - 1] == height - 1:
        # Rows are costs. Every row is shifted: that is faster than to skip those that are empty.
        for other in range(sizes):
            source, target = before[other, : height - cost], after[other + size, cost:]
            for row in range(len(source)):
                target[row] = max(target[row], source[row] + value)
        return
    for row in range(height):
        total = grid[row] + grid[cost]
        if total > grid[height - 1]:
            break
        if alive[row]:
            goal = row_at_most(grid, total)
            for other in range(sizes):
                better = before[other, row] + value
                after[other + size, goal] = max(after[other + size, goal], better)


@compiled
def drop_dominated(table: Integers, alive: Flags, reach: int) -> None:
    """Drop what is worth no more than something smaller and cheaper; note the rows left."""
    highest_in = np.full(table.shape[1], NEVER // 2, np.int64)
    alive[:] = False
    for size in range(reach + 1):
        highest = NEVER // 2
        for row in range(table.shape[1]):
            highest = max(highest, highest_in[row])
            if table[size, row] > highest:
                highest = table[size, row]
                alive[row] = True
            else:
                table[size, row] = NEVER
            highest_in[row] = highest


@compiled
def trace_knapsack(
    tables: Integers, grid: Integers, choices: Choices, ends: int, row: int, size: int
) -> Integers:
    """Return the option of each fragment that leads to an entry of the last table; −1 for none."""
    fragments = len(tables) - 1
    chosen = np.full(fragments, -1, np.int64)
    for fragment in range(fragments - 1, -1, -1):
        value = tables[fragment + 1, ends, size, row]
        if not choices.may_miss[fragment] or tables[fragment, ends, size, row] != value:
            chosen[fragment], ends, row, size = option_before(
                tables, grid, choices, fragment, ends, row, size
            )
    return chosen


@compiled
def option_before(
    tables: Integers,
    grid: Integers,
    choices: Choices,
    fragment: int,
    ends: int,
    row: int,
    size: int,
) -> tuple[int, int, int, int]:
    """Return the option of a fragment that was added, and the entry to which it was."""
    before = tables[fragment]
    value = tables[fragment + 1, ends, size, row]
    for number in range(choices.start[fragment], choices.start[fragment + 1]):
        role, own_row, own_size, own_value = choices.options[number, :4]
        if own_size > size or not is_open(choices, fragment, role):
            continue
        # A cost between two rows counts as the lower one; no cost may lie beyond the last row.
        first = np.searchsorted(grid, grid[row] - grid[own_row])
        beyond = grid[row + 1] if row + 1 < len(grid) else grid[row] + 1
        last = np.searchsorted(grid, beyond - grid[own_row])
        for source_ends in range(len(before)):
            if ends_after(source_ends, role) != ends:
                continue
            for source in range(first, last):
                if before[source_ends, size - own_size, source] + own_value == value:
                    return number, source_ends, source, size - own_size
    raise AssertionError("the tables of the knapsack contradict each other")
