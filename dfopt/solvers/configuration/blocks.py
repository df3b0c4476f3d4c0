"""What one fragment can add to a CPU: the inner of the two knapsacks of pricing.

An *option* is a size, a cost and a value that some tasks of the fragment have, see
:mod:`dfopt.solvers.configuration.members`, for one *place* of the fragment's blocks on the CPU;
whatever is worth no more than something smaller and cheaper in the same place is left out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dfopt.solvers.compiled import compiled
from dfopt.solvers.configuration.members import (
    ENDS,
    EXITS,
    NEVER,
    Fragment,
    Integers,
    PricedTasks,
    bonus,
    fill_members,
    row_at_most,
    trace_members,
)

Flags = NDArray[np.bool_]

# Where a fragment's blocks stand: in the middle, first, last, both (two blocks), or all alone.
MIDDLE, FIRST, LAST, SPLIT, ALONE = 0, 1, 2, 3, 4
PLACES = 5


class Fragments(NamedTuple):
    """All fragments.

    Parameters
    ----------
    first_class, first_row
        Where the classes and the rows of each begin.
    rows
        See :class:`Fragment`, one fragment after the other.
    whole, visit
        See :class:`Fragment`.
    paired
        For each whether it may have to be visited even where it is worth nothing.
    may_be_first
        For each whether some CPU spares its first block the entry.
    """

    first_class: Integers
    first_row: Integers
    rows: Integers
    whole: Flags
    visit: Integers
    paired: Flags
    may_be_first: Flags


@compiled
def fragment_at(fragments: Fragments, number: int) -> Fragment:
    """Return one of the fragments."""
    rows = fragments.rows[fragments.first_row[number] : fragments.first_row[number + 1]]
    return Fragment(
        fragments.first_class[number],
        fragments.first_class[number + 1],
        rows,
        fragments.whole[number],
        fragments.visit[number],
    )


@compiled
def offer(
    best: Integers,
    grid: Integers,
    table: Integers,
    rows: Integers,
    cost: int,
    size: int,
    value: int,
) -> None:
    """Raise ``best`` to what ``table`` offers, with some cost, size and value on top."""
    height, width = table.shape
    for row in range(height):
        target = row_at_most(grid, rows[row] + cost)
        if target < 0:
            break
        for held in range(min(width, best.shape[1] - size)):
            if table[row, held] > NEVER // 2:
                worth = table[row, held] + value
                best[target, held + size] = max(best[target, held + size], worth)


@compiled
def offer_opened(
    best: Integers,
    grid: Integers,
    table: Integers,
    tasks: PricedTasks,
    fragment: Fragment,
    one: int,
) -> None:
    """Raise ``best`` to what blocks opened with tasks of one class offer.

    Parameters
    ----------
    best
        By place, row and size.
    grid
        The costs of its rows.
    table
        The last of :func:`fill_members` with this opener.
    tasks, fragment, one
        What there is, and the opener's class.
    """
    nothing = np.zeros((1, 1), np.int64)
    no_cost = np.zeros(1, np.int64)
    may_be_single = tasks.sizes[fragment.first : fragment.last].sum() == 1 or not fragment.whole
    needs_last = tasks.roles & ENDS
    highest = NEVER
    for token in range(tasks.first_token[one], tasks.first_token[one + 1]):
        if tasks.tokens[token, 1] <= highest:
            continue  # dearer, and worth no more
        highest = tasks.tokens[token, 1]
        cost = tasks.tokens[token, 0] + tasks.base[one]
        value = highest + tasks.weight[one] + fragment.visit
        single = value + bonus(tasks, one, 1)
        offer(best[MIDDLE], grid, table[EXITS], fragment.rows, cost, tasks.step, value)
        exit_cost = cost + tasks.leaving[0, EXITS, one]
        exit_value = single + tasks.leaving[1, EXITS, one]
        if may_be_single:
            offer(best[MIDDLE], grid, nothing, no_cost, exit_cost, tasks.step, exit_value)
        if not needs_last:
            continue
        end_cost = cost + tasks.leaving[0, ENDS, one]
        ending = tasks.leaving[1, ENDS, one]
        offer(best[LAST], grid, table[ENDS], fragment.rows, cost, tasks.step, value)
        if may_be_single:
            offer(best[LAST], grid, nothing, no_cost, end_cost, tasks.step, single + ending)
        # Two blocks: the opener of the second may be its last task too.
        offer(best[SPLIT], grid, table[EXITS | ENDS], fragment.rows, cost, tasks.step, value)
        offer(best[SPLIT], grid, table[EXITS], fragment.rows, end_cost, tasks.step, value + ending)


@compiled
def undominated(best: Integers, place: int, floor: int) -> Integers:
    """Return the options of one place: rows of place, row, size and value.

    Parameters
    ----------
    best
        By row and size.
    place
        The place.
    floor
        What an option must be worth more than.
    """
    height, width = best.shape
    options = np.empty((height * width, 4), np.int64)
    highest_at = np.full(width, floor, np.int64)
    total = 0
    for row in range(height):
        highest = floor
        for size in range(width):
            highest = max(highest, highest_at[size])
            value = best[row, size]
            if value > highest:
                highest_at[size] = highest = value
                options[total, 0] = place
                options[total, 1] = row
                options[total, 2] = size
                options[total, 3] = value
                total += 1
    return options[:total].copy()


@compiled
def fragment_options(
    grid: Integers,
    capacity: int,
    tasks: PricedTasks,
    fragment: Fragment,
    may_be_first: bool,
    paired: bool,
) -> Integers:
    """Return what one fragment can add to a CPU, see :func:`all_options`."""
    size = tasks.sizes[fragment.first : fragment.last].sum() * tasks.step
    width = min(capacity, size) + 1
    classes = fragment.last - fragment.first
    best = np.full((PLACES, len(grid), width), NEVER, np.int64)
    tables = np.empty((classes + 1, tasks.roles + 1, len(fragment.rows), width), np.int64)
    if may_be_first:
        fill_members(tables, tasks, fragment, -1)
        last = ENDS if tasks.roles & ENDS else EXITS
        offer(best[FIRST], grid, tables[classes, EXITS], fragment.rows, 0, 0, fragment.visit)
        offer(best[ALONE], grid, tables[classes, last], fragment.rows, 0, 0, fragment.visit)
    for one in range(fragment.first, fragment.last):
        if tasks.sizes[one] > 0:
            fill_members(tables, tasks, fragment, one)
            offer_opened(best, grid, tables[classes], tasks, fragment, one)
    # A block in the middle must be worth more than none, unless there has to be one.
    options = undominated(best[MIDDLE], MIDDLE, NEVER if paired else 0)
    for place in (FIRST, LAST, SPLIT, ALONE):
        if place == LAST or may_be_first:
            options = np.concatenate((options, undominated(best[place], place, NEVER)))
    return options


@compiled
def all_options(
    grid: Integers, capacity: int, tasks: PricedTasks, fragments: Fragments
) -> tuple[Integers, Integers]:
    """Return what each fragment can add to a CPU.

    Parameters
    ----------
    grid
        Sorted costs that an option may have; what lies between two counts as the lower one.
    capacity
        The largest size.
    tasks, fragments
        What there is.

    Returns
    -------
    start
        Where each fragment's options begin.
    options
        For each its place, row in ``grid``, size and value.
    """
    number = len(fragments.whole)
    start = np.zeros(number + 1, np.int64)
    options = np.empty((1024, 4), np.int64)
    for one in range(number):
        own = fragment_options(
            grid,
            capacity,
            tasks,
            fragment_at(fragments, one),
            fragments.may_be_first[one],
            fragments.paired[one],
        )
        begin, end = start[one], start[one] + len(own)
        while end > len(options):
            options = np.concatenate((options, np.empty_like(options)))
        options[begin:end] = own
        start[one + 1] = end
    return start, options[: start[number]].copy()


@compiled
def option_content(
    grid: Integers, tasks: PricedTasks, fragment: Fragment, option: Integers
) -> tuple[Integers, int]:
    """Return the tasks that an option stands for.

    Parameters
    ----------
    grid, tasks, fragment
        See :func:`all_options`.
    option
        Place, row, size and value.

    Returns
    -------
    numbers
        How many tasks of each of the fragment's classes, the opener included.
    token
        With which the block is opened; −1 where its entry is spared.
    """
    place, size = option[0], option[2]
    classes = fragment.last - fragment.first
    tables = np.empty((classes + 1, tasks.roles + 1, len(fragment.rows), size + 1), np.int64)
    if place in (FIRST, ALONE):
        role = ENDS if place == ALONE and tasks.roles & ENDS else EXITS
        fill_members(tables, tasks, fragment, -1)
        source = row_offering(
            tables[classes, role], fragment.rows, grid, 0, 0, fragment.visit, option
        )
        return trace_members(tables, tasks, fragment, -1, role, source, size), -1
    role = EXITS if place == MIDDLE else ENDS if place == LAST else EXITS | ENDS
    for one in range(fragment.first, fragment.last):
        if tasks.sizes[one] == 0:
            continue
        fill_members(tables, tasks, fragment, one)
        for token in range(tasks.first_token[one], tasks.first_token[one + 1]):
            # The opener may be the one that leaves or ends, too.
            for own in (0, EXITS, ENDS):
                if own & ~role or (place == SPLIT and own == EXITS):
                    continue
                cost = tasks.tokens[token, 0] + tasks.base[one] + tasks.leaving[0, own, one]
                value = tasks.tokens[token, 1] + tasks.weight[one] + tasks.leaving[1, own, one]
                value += fragment.visit
                if own and place != SPLIT:
                    value += bonus(tasks, one, 1)
                    row = row_at_most(grid, cost)
                    if size == tasks.step and value == option[3] and row == option[1]:
                        numbers = np.zeros(classes, np.int64)
                        numbers[one - fragment.first] = 1
                        return numbers, token
                    continue
                source = row_offering(
                    tables[classes, role & ~own],
                    fragment.rows,
                    grid,
                    cost,
                    tasks.step,
                    value,
                    option,
                )
                if source >= 0:
                    numbers = trace_members(
                        tables, tasks, fragment, one, role & ~own, source, size - tasks.step
                    )
                    numbers[one - fragment.first] += 1
                    return numbers, token
    raise AssertionError("no tasks give an option of the knapsack")


@compiled
def row_offering(
    table: Integers,
    rows: Integers,
    grid: Integers,
    cost: int,
    size: int,
    value: int,
    option: Integers,
) -> int:
    """Return the row of ``table`` that gives ``option``, see :func:`offer`; −1 if none does."""
    if option[2] < size:
        return -1
    for row in range(len(rows)):
        if table[row, option[2] - size] + value != option[3]:
            continue
        if row_at_most(grid, rows[row] + cost) == option[1]:
            return row
    return -1
