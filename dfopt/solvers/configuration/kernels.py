"""The hot loops of pricing: what one CPU can hold at which cost, and for what value.

Two knapsacks, one inside the other. :func:`block_options` finds, for each fragment by itself,
what its tasks on one CPU can add in each *place*: how many they are (size), what they cost, and
the most that they are then worth. :func:`fill_knapsack` packs such options, at most one a
fragment, into a CPU. Tables hold the value of an exact size and cost, or ``NEVER``; whatever
is worth no more than something smaller and cheaper is left out.
"""

from __future__ import annotations

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
def bonus(bonuses: Integers, task_class: int, number: int) -> int:
    """Return what holding a number of tasks of a class is worth beside their weights.

    Each row of ``bonuses`` is a class, a number, and the value of holding at least so many.
    """
    total = 0
    for row in range(len(bonuses)):
        if bonuses[row, 0] == task_class and number >= bonuses[row, 1]:
            total += bonuses[row, 2]
    return total


@compiled
def fill_members(
    tables: Integers,
    rows: Integers,
    first: int,
    opener: int,
    step: int,
    roles: int,
    whole: bool,
    count: Integers,
    base: Integers,
    leaving: Integers,
    weight: Integers,
    bonuses: Integers,
) -> None:
    """Find what the tasks of one fragment, apart from its opener, cost and are worth.

    Parameters
    ----------
    tables
        Filled: ``tables[c, r, i, s]`` is the most that ``s`` tasks of the first ``c`` classes
        are worth at the cost ``rows[i]`` when one of them fills each role of the set ``r``.
    rows
        Sorted costs, among them every one that can occur up to the last.
    first
        The fragment's first class.
    opener
        The class that the opener is of, which is not among the tasks; −1 if there is none.
    step
        The size of one task: 1, or 0 where sizes do not count.
    roles
        The union of all roles of interest.
    whole
        Whether all tasks there are must be taken.
    count, base, weight
        Of each class the number of its tasks, and what each costs and is worth.
    leaving
        ``leaving[0, r, c]``, ``leaving[1, r, c]``: what filling the roles ``r`` adds to cost and
        value of a task of class ``c``.
    bonuses
        See :func:`bonus`.
    """
    classes, sets, height, width = tables.shape
    tables[:] = NEVER
    tables[0, 0, 0, 0] = 0
    for place in range(classes - 1):
        one = first + place
        opened = 1 if one == opener else 0
        available = count[one] - opened
        before, after = tables[place], tables[place + 1]
        for done in range(sets):
            for row in range(height):
                largest = -1
                for size in range(width):
                    if before[done, row, size] > NEVER // 2:
                        largest = size
                if largest < 0:
                    continue
                for added in range(sets):
                    if added & done or added & ~roles:
                        continue
                    least = (added & 1) + (added >> 1)
                    if whole:
                        least = max(least, available)
                    for number in range(least, available + 1):
                        if number * step >= width:
                            break
                        cost = rows[row] + leaving[0, added, one] + number * base[one]
                        if cost > rows[height - 1]:
                            break
                        target = row_at_most(rows, cost)
                        worth = leaving[1, added, one] + number * weight[one]
                        worth += bonus(bonuses, one, number + opened)
                        shift = number * step
                        for size in range(min(largest + 1, width - shift)):
                            value = before[done, row, size] + worth
                            after[done | added, target, size + shift] = max(after[done | added, target, size + shift], value)


@compiled
def offer(
    best: Integers,
    grid: Integers,
    place: int,
    table: Integers,
    rows: Integers,
    cost: int,
    size: int,
    value: int,
) -> None:
    """Raise ``best[place]`` to what ``table`` offers, with some cost, size and value on top."""
    height, width = table.shape
    for row in range(height):
        if rows[row] + cost > grid[len(grid) - 1]:
            break
        target = -1
        for held in range(min(width, best.shape[2] - size)):
            worth = table[row, held]
            if worth > NEVER // 2:
                if target < 0:
                    target = row_at_most(grid, rows[row] + cost)
                best[place, target, held + size] = max(best[place, target, held + size], worth + value)


@compiled
def block_options(
    grid: Integers,
    capacity: int,
    step: int,
    needs_last: bool,
    may_be_first: Flags,
    whole: Flags,
    paired: Flags,
    visit: Integers,
    first_class: Integers,
    first_row: Integers,
    all_rows: Integers,
    count: Integers,
    base: Integers,
    leaving: Integers,
    weight: Integers,
    bonuses: Integers,
    first_token: Integers,
    tokens: Integers,
) -> tuple[Integers, Integers]:
    """Return what each fragment can add to a CPU, without what is dominated.

    Parameters
    ----------
    grid
        Sorted costs that an option may have; what lies between two counts as the lower one.
    capacity
        The largest size.
    needs_last
        Whether a CPU's last block differs from any other.
    may_be_first
        For each fragment whether some CPU spares its first block the entry.
    whole
        For each fragment whether it must not be split over CPUs.
    paired
        For each fragment whether it may have to be visited even where it is worth nothing.
    visit
        For each fragment what visiting it is worth, beside its tasks.
    first_class, first_row, first_token
        Where the classes and the rows of each fragment, and the tokens of each class, begin.
    all_rows
        The rows of :func:`fill_members`, fragment by fragment.
    bonuses
        See :func:`bonus`.
    tokens
        For each token the cost and the value of opening a block with it.

    Returns
    -------
    start
        Where each fragment's options begin.
    options
        For each its place, row in ``grid``, size and value.
    """
    fragments = len(first_class) - 1
    width = capacity + 1 if step else 1
    start = np.zeros(fragments + 1, np.int64)
    options = np.empty((1024, 4), np.int64)
    total = 0
    roles = EXITS | ENDS if needs_last else EXITS
    sets = roles + 1
    single = np.zeros((1, 1), np.int64)
    nothing = np.zeros(1, np.int64)
    for fragment in range(fragments):
        low, high = first_class[fragment], first_class[fragment + 1]
        rows = all_rows[first_row[fragment] : first_row[fragment + 1]]
        held = 0
        for one in range(low, high):
            held += count[one]
        own_width = min(width, held * step + 1)
        every, extra = whole[fragment], visit[fragment]
        best = np.full((PLACES, len(grid), own_width), NEVER, np.int64)
        tables = np.empty((high - low + 1, sets, len(rows), own_width), np.int64)
        if may_be_first[fragment]:
            fill_members(
                tables, rows, low, -1, step, roles, every, count, base, leaving, weight, bonuses
            )
            table = tables[high - low]
            offer(best, grid, FIRST, table[EXITS], rows, 0, 0, extra)
            offer(best, grid, ALONE, table[ENDS if needs_last else EXITS], rows, 0, 0, extra)
        for opener in range(low, high):
            if count[opener] == 0:
                continue
            fill_members(
                tables, rows, low, opener, step, roles, every, count, base, leaving, weight, bonuses
            )
            table = tables[high - low]
            highest = NEVER
            for token in range(first_token[opener], first_token[opener + 1]):
                if tokens[token, 1] <= highest:
                    continue  # dearer, and worth no more
                highest = tokens[token, 1]
                cost = tokens[token, 0] + base[opener]
                value = highest + weight[opener] + extra
                single_value = value + bonus(bonuses, opener, 1)
                exit_cost = cost + leaving[0, EXITS, opener]
                exit_value = single_value + leaving[1, EXITS, opener]
                offer(best, grid, MIDDLE, table[EXITS], rows, cost, step, value)
                if held == 1 or not every:
                    offer(best, grid, MIDDLE, single, nothing, exit_cost, step, exit_value)
                if not needs_last:
                    continue
                end_cost = cost + leaving[0, ENDS, opener]
                end_value = value + leaving[1, ENDS, opener]
                offer(best, grid, LAST, table[ENDS], rows, cost, step, value)
                if held == 1 or not every:
                    end_single = single_value + leaving[1, ENDS, opener]
                    offer(best, grid, LAST, single, nothing, end_cost, step, end_single)
                if may_be_first[fragment]:
                    offer(best, grid, SPLIT, table[EXITS | ENDS], rows, cost, step, value)
                    offer(best, grid, SPLIT, table[EXITS], rows, end_cost, step, end_value)
        for place in range(PLACES):
            highest_at = np.full(own_width, NEVER, np.int64)
            if place == MIDDLE and not paired[fragment]:
                highest_at[0] = 0  # no block at all
            for row in range(len(grid)):
                highest = NEVER
                for size in range(own_width):
                    highest = max(highest, highest_at[size])
                    value = best[place, row, size]
                    if value > highest:
                        highest_at[size] = highest = value
                        if total == len(options):
                            options = np.concatenate((options, np.empty_like(options)))
                        options[total, 0] = place
                        options[total, 1] = row
                        options[total, 2] = size
                        options[total, 3] = value
                        total += 1
        start[fragment + 1] = total
    return start, options[:total].copy()


@compiled
def ends_after(ends: int, place: int) -> int:
    """Return which ends of a CPU are taken (1 the first, 2 the last) once a block is added.

    −1 where the block cannot be added.
    """
    taken = 0
    if place == FIRST:
        taken = 1
    elif place == LAST:
        taken = 2
    elif place == SPLIT:
        taken = 3
    elif place == ALONE:
        return -1
    return -1 if ends & taken else ends | taken


@compiled
def fill_knapsack(
    tables: Integers,
    grid: Integers,
    spared: Flags,
    may_miss: Flags,
    may_visit: Flags,
    start: Integers,
    options: Integers,
) -> None:
    """Find the most that one CPU can hold.

    Parameters
    ----------
    tables
        Filled: ``tables[a, e, i, s]`` is the most that ``s`` tasks of the first ``a`` fragments
        are worth at the cost ``grid[i]`` with the ends ``e`` taken, see :func:`ends_after`.
    grid
        The costs of the rows, sorted.
    spared
        For each fragment whether its entry is spared when it comes first.
    may_miss, may_visit
        For each fragment whether the CPU need not visit it, and whether it can.
    start, options
        See :func:`block_options`.
    """
    fragments, sets, height, width = tables.shape
    tables[0] = NEVER
    tables[0, 0, 0, 0] = 0
    alive = np.zeros((sets, height), np.bool_)
    alive[0, 0] = True
    uniform = grid[height - 1] == height - 1
    reach = 0
    highest_at = np.empty(width, np.int64)
    for fragment in range(fragments - 1):
        before, after = tables[fragment], tables[fragment + 1]
        if may_miss[fragment]:
            after[:] = before
        else:
            after[:] = NEVER
        longest = 0
        end = start[fragment + 1] if may_visit[fragment] else start[fragment]
        for option in range(start[fragment], end):
            place, row, size, value = options[option]
            if place in (FIRST, SPLIT) and not spared[fragment]:
                continue
            longest = max(longest, size)
            for ends in range(sets):
                goal = ends_after(ends, place)
                if goal < 0:
                    continue
                target = 0
                for source in range(height):
                    total = grid[source] + grid[row]
                    if total > grid[height - 1]:
                        break
                    if not alive[ends, source]:
                        continue
                    if uniform:
                        target = total
                    else:
                        target = row_at_most(grid, total)
                    held = before[ends, source]
                    better = after[goal, target]
                    for other in range(min(reach, width - 1 - size) + 1):
                        better[other + size] = max(better[other + size], held[other] + value)
        reach = min(width - 1, reach + longest)
        for ends in range(sets):
            highest_at[:] = NEVER // 2
            for row in range(height):
                highest = NEVER // 2
                alive[ends, row] = False
                for size in range(reach + 1):
                    highest = max(highest, highest_at[size])
                    if after[ends, row, size] > highest:
                        highest_at[size] = highest = after[ends, row, size]
                        alive[ends, row] = True
                    else:
                        after[ends, row, size] = NEVER


@compiled
def trace_knapsack(
    tables: Integers,
    grid: Integers,
    spared: Flags,
    may_miss: Flags,
    start: Integers,
    options: Integers,
    ends: int,
    row: int,
    size: int,
) -> Integers:
    """Return which option of each fragment leads to an entry of the last table; −1 for none."""
    fragments, sets, height, _ = tables.shape
    chosen = np.full(fragments - 1, -1, np.int64)
    for fragment in range(fragments - 2, -1, -1):
        before = tables[fragment]
        value = tables[fragment + 1, ends, row, size]
        if may_miss[fragment] and before[ends, row, size] == value:
            continue
        found = False
        for option in range(start[fragment], start[fragment + 1]):
            place, own_row, own_size, own_value = options[option]
            if own_size > size or (place in (FIRST, SPLIT) and not spared[fragment]):
                continue
            for source_ends in range(sets):
                if ends_after(source_ends, place) != ends:
                    continue
                for source in range(height):
                    if before[source_ends, source, size - own_size] + own_value != value:
                        continue
                    if row_at_most(grid, grid[source] + grid[own_row]) == row:
                        chosen[fragment] = option
                        ends, row, size = source_ends, source, size - own_size
                        found = True
                        break
                if found:
                    break
            if found:
                break
        if not found:
            raise AssertionError("the tables of the knapsack contradict each other")
    return chosen


@compiled
def trace_members(
    tables: Integers,
    rows: Integers,
    first: int,
    opener: int,
    step: int,
    count: Integers,
    base: Integers,
    leaving: Integers,
    weight: Integers,
    bonuses: Integers,
    done: int,
    row: int,
    size: int,
) -> Integers:
    """Return how many tasks of each class lead to an entry of :func:`fill_members`."""
    classes, sets, height, _ = tables.shape
    numbers = np.zeros(classes - 1, np.int64)
    for place in range(classes - 2, -1, -1):
        one = first + place
        opened = 1 if one == opener else 0
        available = count[one] - opened
        value = tables[place + 1, done, row, size]
        found = False
        for added in range(sets):
            if added & ~done:
                continue
            for number in range((added & 1) + (added >> 1), available + 1):
                if number * step > size:
                    break
                worth = leaving[1, added, one] + number * weight[one]
                worth += bonus(bonuses, one, number + opened)
                cost = leaving[0, added, one] + number * base[one]
                for source in range(height):
                    if rows[source] + cost > rows[row]:
                        break
                    if rows[source] + cost < rows[row]:
                        continue
                    if tables[place, done & ~added, source, size - number * step] + worth == value:
                        numbers[place] = number
                        done, row, size = done & ~added, source, size - number * step
                        found = True
                        break
                if found:
                    break
            if found:
                break
        if not found:
            raise AssertionError("the tables of a fragment contradict each other")
    return numbers


@compiled
def block_content(
    grid: Integers,
    step: int,
    needs_last: bool,
    whole: bool,
    visit: int,
    first: int,
    last: int,
    rows: Integers,
    count: Integers,
    base: Integers,
    leaving: Integers,
    weight: Integers,
    bonuses: Integers,
    first_token: Integers,
    tokens: Integers,
    option: Integers,
) -> tuple[Integers, int]:
    """Return the tasks that an option of :func:`block_options` stands for.

    Parameters
    ----------
    whole, visit
        Whether the fragment must not be split, and what visiting it is worth.
    first, last
        The fragment's first class, and the one after its last.
    rows
        The fragment's own rows.
    option
        Place, row, size and value. For the others see :func:`block_options`.

    Returns
    -------
    numbers
        How many tasks of each of the fragment's classes, the opener included.
    token
        With which the block is opened; −1 where its entry is spared.
    """
    place, row, size, value = option
    value -= visit
    roles = EXITS | ENDS if needs_last else EXITS
    width = size + 1
    tables = np.empty((last - first + 1, roles + 1, len(rows), width), np.int64)
    for opener in range(first - 1, last):
        opened = opener >= first
        if opened == (place in (FIRST, ALONE)) or (opened and count[opener] == 0):
            continue
        fill_members(
            tables,
            rows,
            first,
            opener if opened else -1,
            step,
            roles,
            whole,
            count,
            base,
            leaving,
            weight,
            bonuses,
        )
        table = tables[last - first]
        begin = first_token[opener] if opened else 0
        end = first_token[opener + 1] if opened else 1
        for token in range(begin, end):
            cost = tokens[token, 0] + base[opener] if opened else 0
            worth = tokens[token, 1] + weight[opener] if opened else 0
            own = step if opened else 0
            # What the opener may do besides: nothing, leave alone, or end.
            for besides in range(roles + 1 if opened else 1):
                if place == FIRST:
                    needed = EXITS
                elif place == ALONE:
                    needed = ENDS if needs_last else EXITS
                elif place == MIDDLE:
                    needed = EXITS
                elif place == LAST:
                    needed = ENDS
                else:
                    needed = EXITS | ENDS
                if besides & ~needed or (place == SPLIT and besides & EXITS):
                    continue
                alone = besides != 0 and place != SPLIT
                more = cost + (leaving[0, besides, opener] if opened else 0)
                extra = worth + (leaving[1, besides, opener] if opened else 0)
                if own > size:
                    continue
                if alone:
                    extra += bonus(bonuses, opener, 1)
                    if size == own and value == extra and row_at_most(grid, more) == row:
                        numbers = np.zeros(last - first, np.int64)
                        numbers[opener - first] = 1
                        return numbers, token
                    continue
                for source in range(len(rows)):
                    if table[needed & ~besides, source, size - own] + extra != value:
                        continue
                    if row_at_most(grid, rows[source] + more) != row:
                        continue
                    numbers = trace_members(
                        tables,
                        rows,
                        first,
                        opener if opened else -1,
                        step,
                        count,
                        base,
                        leaving,
                        weight,
                        bonuses,
                        needed & ~besides,
                        source,
                        size - own,
                    )
                    if opened:
                        numbers[opener - first] += 1
                        return numbers, token
                    return numbers, -1
    raise AssertionError("no tasks give an option of the knapsack")
