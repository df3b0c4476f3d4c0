"""What one fragment can add to a CPU: the inner of the two knapsacks of pricing.

A fragment's tasks on one CPU have a *size* (how many they are), a cost, and a value. Tables hold
the largest value for an exact size and cost, or ``NEVER``. An *option* is one such entry for one
*place* of the fragment's blocks on the CPU; whatever is worth no more than something smaller and
cheaper in the same place is left out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dfopt.solvers.compiled import compiled

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

NEVER = -(2**61)
"""Stands for what is impossible; values stay far above half of it."""

# Where a fragment's blocks stand: in the middle, first, last, both (two blocks), or all alone.
MIDDLE, FIRST, LAST, SPLIT, ALONE = 0, 1, 2, 3, 4
PLACES = 5

# Roles of tasks other than the opener: one that leaves for another fragment, one that is last.
EXITS, ENDS = 1, 2


class PricedTasks(NamedTuple):
    """All tasks by class, with costs and values.

    Parameters
    ----------
    step
        The size of one task: 1, or 0 where sizes do not count.
    roles
        The union of all roles that make a difference.
    sizes, base, weight
        For each class the number of its tasks, and what each costs and is worth.
    leaving
        ``leaving[0, r, c]``, ``leaving[1, r, c]``: what filling the set of roles ``r`` adds to
        cost and value of a task of class ``c``.
    bonuses
        Rows of a class, a number, and what holding at least so many tasks of it is worth.
    first_token
        Where the tokens of each class begin.
    tokens
        For each token the cost and the value of opening a block with it.
    """

    step: int
    roles: int
    sizes: Integers
    base: Integers
    weight: Integers
    leaving: Integers
    bonuses: Integers
    first_token: Integers
    tokens: Integers


class Fragment(NamedTuple):
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
        What visiting it is worth, beside its tasks.
    """

    first: int
    last: int
    rows: Integers
    whole: bool
    visit: int


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
    """Return what holding a number of tasks of a class is worth beside their weights."""
    total = 0
    for row in range(len(tasks.bonuses)):
        if tasks.bonuses[row, 0] == task_class and number >= tasks.bonuses[row, 1]:
            total += tasks.bonuses[row, 2]
    return total


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
def number_range(tasks: PricedTasks, fragment: Fragment, one: int, opener: int) -> tuple[int, int]:
    """Return how many tasks of a class, beside the opener, must be taken, and how many can."""
    available = tasks.sizes[one] - (1 if one == opener else 0)
    return (available if fragment.whole else 0), available


@compiled
def fill_members(tables: Integers, tasks: PricedTasks, fragment: Fragment, opener: int) -> None:
    """Find what the tasks of a fragment, apart from its opener, cost and are worth.

    Parameters
    ----------
    tables
        Filled: ``tables[c, r, i, s]`` is the most that tasks of size ``s``, of the first ``c``
        classes, are worth at the cost ``rows[i]`` when one of them fills each role in ``r``.
    tasks, fragment
        What there is.
    opener
        The class of the opener, which is not among the tasks; −1 if there is none.
    """
    classes, sets, height, _ = tables.shape
    tables[:] = NEVER
    tables[0, 0, 0, 0] = 0
    for place in range(classes - 1):
        one = fragment.first + place
        for done in range(sets):
            for row in range(height):
                for added in range(sets):
                    if not added & done and not added & ~tasks.roles:
                        add_members(tables, tasks, fragment, opener, one, done, added, row)


@compiled
def add_members(
    tables: Integers,
    tasks: PricedTasks,
    fragment: Fragment,
    opener: int,
    one: int,
    done: int,
    added: int,
    row: int,
) -> None:
    """Add tasks of one class, some of which fill the roles ``added``, to a row of the tables."""
    rows = fragment.rows
    before = tables[one - fragment.first, done, row]
    after = tables[one - fragment.first + 1, done | added]
    width = len(before)
    largest = width - 1
    while largest >= 0 and before[largest] <= NEVER // 2:
        largest -= 1
    least, available = number_range(tasks, fragment, one, opener)
    for number in range(max(least, (added & 1) + (added >> 1)), available + 1):
        shift = number * tasks.step
        cost = rows[row] + tasks.leaving[0, added, one] + number * tasks.base[one]
        if largest < 0 or shift >= width or cost > rows[len(rows) - 1]:
            break
        worth = worth_of(tasks, opener, one, added, number)
        better = after[row_at_most(rows, cost)]
        for size in range(min(largest + 1, width - shift)):
            better[size + shift] = max(better[size + shift], before[size] + worth)


@compiled
def worth_of(tasks: PricedTasks, opener: int, one: int, added: int, number: int) -> int:
    """Return what a number of tasks of a class are worth that fill the roles ``added``."""
    held = number + (1 if one == opener else 0)
    worth: int = tasks.leaving[1, added, one] + number * tasks.weight[one]
    return worth + bonus(tasks, one, held)


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
def trace_members(
    tables: Integers,
    tasks: PricedTasks,
    fragment: Fragment,
    opener: int,
    done: int,
    row: int,
    size: int,
) -> Integers:
    """Return how many tasks of each class lead to an entry of :func:`fill_members`."""
    classes = fragment.last - fragment.first
    numbers = np.zeros(classes, np.int64)
    for place in range(classes - 1, -1, -1):
        numbers[place], done, row, size = members_before(
            tables, tasks, fragment, opener, place, done, row, size
        )
    return numbers


@compiled
def members_before(
    tables: Integers,
    tasks: PricedTasks,
    fragment: Fragment,
    opener: int,
    place: int,
    done: int,
    row: int,
    size: int,
) -> tuple[int, int, int, int]:
    """Return how many tasks of one class were added, and the entry to which they were."""
    rows = fragment.rows
    one = fragment.first + place
    value = tables[place + 1, done, row, size]
    least, available = number_range(tasks, fragment, one, opener)
    for added in range(done + 1):
        if added & ~done:
            continue
        for number in range(max(least, (added & 1) + (added >> 1)), available + 1):
            before = size - number * tasks.step
            if before < 0:
                break
            worth = worth_of(tasks, opener, one, added, number)
            cost = rows[row] - tasks.leaving[0, added, one] - number * tasks.base[one]
            source = row_at_most(rows, cost)
            if source < 0 or rows[source] != cost:
                continue
            if tables[place, done & ~added, source, before] + worth == value:
                return number, done & ~added, source, before
    raise AssertionError("the tables of a fragment contradict each other")


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
