"""What one fragment can add to a CPU: the inner of the two knapsacks of pricing.

An *option* is a size, a cost and a value that some tasks of the fragment have, see
:mod:`dfopt.solvers.configuration.members`, for one *place* of the fragment's blocks on the CPU;
whatever is worth no more than something smaller and cheaper in the same place is left out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dfopt.solvers.compiled import compiled
from dfopt.solvers.configuration.members import (
    ENDS,
    EXITS,
    NEVER,
    Flags,
    Fragment,
    Integers,
    PricedTasks,
    add_class,
    bonus,
    fill_members,
    row_at_most,
    trace_members,
)

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


class Opener(NamedTuple):
    """What opens a block: cost, size and value, and the token it is paid with (−1 for none)."""

    cost: int
    size: int
    value: int
    token: int


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
    openers: Integers,
    grid: Integers,
    table: Integers,
    rows: Integers,
    opener: Opener,
    halt: Flags,
) -> None:
    """Raise ``best`` to what ``table`` offers with an opener on top; note the opener's token."""
    height, width = table.shape
    for row in range(height):
        target = row_at_most(grid, rows[row] + opener.cost)
        if target < 0 or halt[0]:
            break
        for held in range(min(width, best.shape[1] - opener.size)):
            if table[row, held] > NEVER // 2:
                worth = table[row, held] + opener.value
                if worth > best[target, held + opener.size]:
                    best[target, held + opener.size] = worth
                    openers[target, held + opener.size] = opener.token


@compiled
def offer_opened(
    best: Integers,
    openers: Integers,
    grid: Integers,
    table: Integers,
    tasks: PricedTasks,
    fragment: Fragment,
    one: int,
    halt: Flags,
) -> None:
    """Raise ``best`` to what blocks opened with tasks of one class offer.

    Parameters
    ----------
    best, openers
        Values and tokens by place, row and size.
    grid
        The costs of their rows.
    table
        What the fragment's tasks other than the opener offer, by set of roles, row and size.
    tasks, fragment, one
        What there is, and the opener's class.
    halt
        Ends the work once it is true.
    """
    nothing = np.zeros((1, 1), np.int64)
    no_cost = np.zeros(1, np.int64)
    may_be_single = tasks.sizes[fragment.first : fragment.last].sum() == 1 or not fragment.whole
    highest = NEVER
    for token in range(tasks.first_token[one], tasks.first_token[one + 1]):
        if tasks.tokens[token, 1] <= highest:
            continue  # dearer, and worth no more
        highest = tasks.tokens[token, 1]
        for place in (MIDDLE, LAST, SPLIT):
            role = roles_of(place)
            if role & ~tasks.roles:
                continue
            opener = opened_by(tasks, fragment, one, token, 0)
            offer(best[place], openers[place], grid, table[role], fragment.rows, opener, halt)
            if place == SPLIT:
                # Two blocks: the opener of the second may be its last task too.
                opener = opened_by(tasks, fragment, one, token, ENDS)
                offer(best[place], openers[place], grid, table[EXITS], fragment.rows, opener, halt)
            elif may_be_single:
                opener = single(tasks, fragment, one, token, role)
                offer(best[place], openers[place], grid, nothing, no_cost, opener, halt)


@compiled
def opened_by(tasks: PricedTasks, fragment: Fragment, one: int, token: int, role: int) -> Opener:
    """Return a task that opens a block and may fill a role itself, with what the visit is worth."""
    cost = tasks.tokens[token, 0] + tasks.base[one] + tasks.leaving[0, role, one]
    value = tasks.tokens[token, 1] + tasks.weight[one] + tasks.leaving[1, role, one]
    return Opener(cost, tasks.step, value + fragment.visit, token)


@compiled
def single(tasks: PricedTasks, fragment: Fragment, one: int, token: int, role: int) -> Opener:
    """Return a task that is a block of its own."""
    opener = opened_by(tasks, fragment, one, token, role)
    return Opener(opener.cost, opener.size, opener.value + bonus(tasks, one, 1), token)


@compiled
def roles_of(place: int) -> int:
    """Return the roles that the tasks of blocks in one place fill, apart from the opener's."""
    return EXITS if place == MIDDLE else ENDS if place == LAST else EXITS | ENDS


@compiled
def undominated(best: Integers, openers: Integers, place: int, floor: int) -> Integers:
    """Return the options of one place: rows of place, row, size, value and the opener's token.

    Parameters
    ----------
    best, openers
        By row and size.
    place
        The place.
    floor
        What an option must be worth more than.
    """
    height, width = best.shape
    total = 0
    options = np.empty((64, 5), np.int64)
    highest_at = np.full(width, floor, np.int64)
    for row in range(height):
        highest = floor
        for size in range(width):
            highest = max(highest, highest_at[size])
            value = best[row, size]
            if value > highest:
                highest_at[size] = highest = value
                if total == len(options):
                    options = np.concatenate((options, np.empty_like(options)))
                options[total, 0] = place
                options[total, 1] = row
                options[total, 2] = size
                options[total, 3] = value
                options[total, 4] = openers[row, size]
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
    halt: Flags,
) -> Integers:
    """Return what one fragment can add to a CPU, see :func:`all_options`.

    The opener is not among the tasks that fill the block. So each class that can open it needs
    a table of all other tasks. The classes are halved again and again, and the tables of one
    half begin with the other half added: κ log κ additions, where κ tables from nothing take κ².
    """
    size = tasks.sizes[fragment.first : fragment.last].sum() * tasks.step
    width = min(capacity, size) + 1
    classes = fragment.last - fragment.first
    depth = 1
    while 1 << (depth - 1) < classes:
        depth += 1
    best = np.full((PLACES, len(grid), width), NEVER, np.int64)
    openers = np.full((PLACES, len(grid), width), -1, np.int64)
    tables = np.empty((depth, tasks.roles + 1, len(fragment.rows), width), np.int64)
    spare = np.empty_like(tables[0])
    tables[0] = NEVER
    tables[0, 0, 0, 0] = 0
    # Ranges of classes that are left out of a table, and their level; those to be added first.
    waiting = [(fragment.first, fragment.last, 0, 0, 0)]
    while waiting:
        first, last, level, added, end = waiting.pop()
        table = tables[level]
        if level:
            table[:] = tables[level - 1]
        for one in range(added, end):
            spare[:] = table
            add_class(spare, table, tasks, fragment, -1, one, halt)
        if last - first > 1:
            middle = (first + last) // 2
            waiting.append((middle, last, level + 1, first, middle))
            waiting.append((first, middle, level + 1, middle, last))
        elif tasks.sizes[first] > 0:
            add_class(table, spare, tasks, fragment, first, first, halt)
            offer_opened(best, openers, grid, spare, tasks, fragment, first, halt)
        if halt[0]:
            break
    if may_be_first:
        # The last table lacks but the last class.
        add_class(tables[level], spare, tasks, fragment, -1, fragment.last - 1, halt)
        ending = ENDS if tasks.roles & ENDS else EXITS
        spared = Opener(0, 0, fragment.visit, -1)
        for place, role in ((FIRST, EXITS), (ALONE, ending)):
            offer(best[place], openers[place], grid, spare[role], fragment.rows, spared, halt)
    # A block in the middle must be worth more than none, unless there has to be one.
    options = undominated(best[MIDDLE], openers[MIDDLE], MIDDLE, NEVER if paired else 0)
    for place in (FIRST, LAST, SPLIT, ALONE):
        if place == LAST or may_be_first:
            own = undominated(best[place], openers[place], place, NEVER)
            options = np.concatenate((options, own))
    return options


@compiled
def all_options(
    grid: Integers, capacity: int, tasks: PricedTasks, fragments: Fragments, halt: Flags
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
    halt
        Ends the work, with options of no use, once it is true.

    Returns
    -------
    start
        Where each fragment's options begin.
    options
        For each its place, row in ``grid``, size and value, and the token that opens its paid
        block (−1 if there is none).
    """
    number = len(fragments.whole)
    start = np.zeros(number + 1, np.int64)
    options = np.empty((1024, 5), np.int64)
    for one in range(number):
        own = fragment_options(
            grid,
            capacity,
            tasks,
            fragment_at(fragments, one),
            fragments.may_be_first[one],
            fragments.paired[one],
            halt,
        )
        begin, end = start[one], start[one] + len(own)
        while end > len(options):
            options = np.concatenate((options, np.empty_like(options)))
        options[begin:end] = own
        start[one + 1] = end
    return start, options[: start[number]].copy()


@compiled
def option_content(
    grid: Integers, tasks: PricedTasks, fragment: Fragment, option: Integers, halt: Flags
) -> Integers:
    """Return how many tasks of each class of its fragment an option stands for, opener included.

    Parameters
    ----------
    grid, tasks, fragment, halt
        See :func:`all_options`.
    option
        Place, row, size, value and token.
    """
    place, size, token = option[0], option[2], option[4]
    classes = fragment.last - fragment.first
    shape = (classes + 1, tasks.roles + 1, len(fragment.rows), size + 1)
    tables = np.empty(shape, np.int64)
    if token < 0:
        role = ENDS if place == ALONE and tasks.roles & ENDS else EXITS
        fill_members(tables, tasks, fragment, -1, halt)
        spared = Opener(0, 0, fragment.visit, -1)
        source = row_offering(tables[classes, role], fragment.rows, grid, spared, option)
        return trace_members(tables, tasks, fragment, -1, role, source, size)
    role = roles_of(place)
    one = int(np.searchsorted(tasks.first_token, token, "right")) - 1
    fill_members(tables, tasks, fragment, one, halt)
    for own in (0, ENDS):
        opener = opened_by(tasks, fragment, one, token, own)
        source = -1
        if own == 0 or place == SPLIT:
            table = tables[classes, role & ~own]
            source = row_offering(table, fragment.rows, grid, opener, option)
        if source >= 0:
            left = size - opener.size
            numbers = trace_members(tables, tasks, fragment, one, role & ~own, source, left)
            numbers[one - fragment.first] += 1
            return numbers
    numbers = np.zeros(classes, np.int64)
    alone = single(tasks, fragment, one, token, role)
    if size == alone.size and option[3] == alone.value:
        numbers[one - fragment.first] = 1
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
