"""The options of one fragment on a CPU, in each of its roles.

An *option* is a size, a cost and a value that some tasks of the fragment have (see
:mod:`dfopt.solvers.configuration.fragment_knapsack`) when the fragment plays one role on the CPU
(see :class:`~dfopt.costs.role.Role`). An option is dropped if another one of the same role is no
larger, costs no more, and is worth as much.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dfopt.costs.role import Role
from dfopt.solvers.compilation.compiled import compiled
from dfopt.solvers.configuration.fragment_knapsack import (
    ENDS,
    EXITS,
    NEVER,
    Flags,
    FragmentTasks,
    Integers,
    PricedTasks,
    add_class,
    bonus,
    row_at_most,
)

# Compiled code works with the numbers of roles.
MIDDLE, FIRST, LAST = Role.MIDDLE.value, Role.FIRST.value, Role.LAST.value
SPLIT, ALONE = Role.SPLIT.value, Role.ALONE.value
ROLES = len(Role)


class AllFragments(NamedTuple):
    """All fragments.

    Parameters
    ----------
    first_class, first_row
        Where the classes and the rows of each begin.
    rows
        See :class:`FragmentTasks`, one fragment after the other.
    whole, visit
        See :class:`FragmentTasks`.
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


class KnownOptions(NamedTuple):
    """Options that were found before, at the same prices.

    Parameters
    ----------
    start, options
        See :func:`all_options`.
    changed
        For each fragment whether its options have to be found anew.
    """

    start: Integers
    options: Integers
    changed: Flags


class Opener(NamedTuple):
    """The opener of a block: cost, size and value, and the token that pays for it (−1 for none)."""

    cost: int
    size: int
    value: int
    token: int


@compiled
def fragment_at(fragments: AllFragments, number: int) -> FragmentTasks:
    """Return one of the fragments."""
    rows = fragments.rows[fragments.first_row[number] : fragments.first_row[number + 1]]
    return FragmentTasks(
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
    fragment: FragmentTasks,
    task_class: int,
    halt: Flags,
) -> None:
    """Raise ``best`` to what blocks opened with tasks of one class offer.

    Parameters
    ----------
    best, openers
        Values and tokens by role, row and size.
    grid
        The costs of their rows.
    table
        The value of the fragment's tasks without the opener, by set of duties, row and size.
    tasks, fragment, one
        The tasks of the fragment, priced, and the opener's class.
    halt
        Ends the work once it is true.
    """
    nothing = np.zeros((1, 1), np.int64)
    no_cost = np.zeros(1, np.int64)
    may_be_single = tasks.numbers[fragment.first : fragment.last].sum() == 1 or not fragment.whole
    highest = NEVER
    for token in range(tasks.first_token[task_class], tasks.first_token[task_class + 1]):
        if tasks.tokens[token, 1] <= highest:
            continue  # it costs more than another token, and is worth no more
        highest = tasks.tokens[token, 1]
        for role in (MIDDLE, LAST, SPLIT):
            duty = duties_of(role)
            if duty & ~tasks.duties:
                continue
            opener = opened_by(tasks, fragment, task_class, token, 0)
            offer(best[role], openers[role], grid, table[duty], fragment.rows, opener, halt)
            if role == SPLIT:
                # Two blocks: the opener of the second may be its last task too.
                opener = opened_by(tasks, fragment, task_class, token, ENDS)
                offer(best[role], openers[role], grid, table[EXITS], fragment.rows, opener, halt)
            elif may_be_single:
                opener = single(tasks, fragment, task_class, token, duty)
                offer(best[role], openers[role], grid, nothing, no_cost, opener, halt)


@compiled
def opened_by(
    tasks: PricedTasks, fragment: FragmentTasks, task_class: int, token: int, duty: int
) -> Opener:
    """Return a task that opens a block and may have a duty itself, with what the visit is worth."""
    cost = tasks.tokens[token, 0] + tasks.base[task_class] + tasks.leaving[0, duty, task_class]
    value = tasks.tokens[token, 1] + tasks.weight[task_class] + tasks.leaving[1, duty, task_class]
    return Opener(cost, tasks.sizes[task_class], value + fragment.visit, token)


@compiled
def single(
    tasks: PricedTasks, fragment: FragmentTasks, task_class: int, token: int, duty: int
) -> Opener:
    """Return a task that is a block of its own."""
    opener = opened_by(tasks, fragment, task_class, token, duty)
    return Opener(opener.cost, opener.size, opener.value + bonus(tasks, task_class, 1), token)


@compiled
def duties_of(role: int) -> int:
    """Return the duties of a role's tasks, apart from opening a paid block."""
    return EXITS if role == MIDDLE else ENDS if role == LAST else EXITS | ENDS


@compiled
def undominated(best: Integers, openers: Integers, role: int, floor: int) -> Integers:
    """Return the options of one role: rows of role, row, size, value and the opener's token.

    Parameters
    ----------
    best, openers
        By row and size.
    role
        The role.
    floor
        An option must be worth more than this.
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
                options[total, 0] = role
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
    fragment: FragmentTasks,
    may_be_first: bool,
    paired: bool,
    halt: Flags,
) -> Integers:
    """Return the options of one fragment on a CPU, see :func:`all_options`.

    The opener is not among the tasks that fill the block. So each class that can open it needs
    a table of all other tasks. The classes are halved again and again, and the tables of one
    half begin with the other half added: κ log κ additions, where κ tables from nothing take κ².
    """
    size = 0
    for task_class in range(fragment.first, fragment.last):
        size += tasks.numbers[task_class] * tasks.sizes[task_class]
    width = min(capacity, size) + 1
    classes = fragment.last - fragment.first
    depth = 1
    while 1 << (depth - 1) < classes:
        depth += 1
    best = np.full((ROLES, len(grid), width), NEVER, np.int64)
    openers = np.full((ROLES, len(grid), width), -1, np.int64)
    tables = np.empty((depth, tasks.duties + 1, len(fragment.rows), width), np.int64)
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
        for task_class in range(added, end):
            spare[:] = table
            add_class(spare, table, tasks, fragment, -1, task_class, halt)
        if last - first > 1:
            middle = (first + last) // 2
            waiting.append((middle, last, level + 1, first, middle))
            waiting.append((first, middle, level + 1, middle, last))
        elif tasks.numbers[first] > 0:
            add_class(table, spare, tasks, fragment, first, first, halt)
            offer_opened(best, openers, grid, spare, tasks, fragment, first, halt)
        if halt[0]:
            break
    if may_be_first:
        # The last table lacks but the last class.
        add_class(tables[level], spare, tasks, fragment, -1, fragment.last - 1, halt)
        ending = ENDS if tasks.duties & ENDS else EXITS
        spared = Opener(0, 0, fragment.visit, -1)
        for role, duty in ((FIRST, EXITS), (ALONE, ending)):
            offer(best[role], openers[role], grid, spare[duty], fragment.rows, spared, halt)
    # A block in the middle must be worth more than none, unless there has to be one.
    options = undominated(best[MIDDLE], openers[MIDDLE], MIDDLE, NEVER if paired else 0)
    for role in (FIRST, LAST, SPLIT, ALONE):
        if role == LAST or may_be_first:
            own = undominated(best[role], openers[role], role, NEVER)
            options = np.concatenate((options, own))
    return options


@compiled
def all_options(
    grid: Integers,
    capacity: int,
    tasks: PricedTasks,
    fragments: AllFragments,
    known: KnownOptions,
    halt: Flags,
) -> tuple[Integers, Integers]:
    """Return the options of each fragment on a CPU.

    Parameters
    ----------
    grid
        Sorted costs that an option may have; a cost between two of them counts as the lower one.
    capacity
        The largest size.
    tasks, fragments
        All priced tasks, and the fragments.
    known
        The options of fragments of which nothing has changed.
    halt
        Ends the work, with options of no use, once it is true.

    Returns
    -------
    start
        Where each fragment's options begin.
    options
        For each its role, row in ``grid``, size and value, and the token that opens its paid
        block (−1 if there is none).
    """
    number = len(fragments.whole)
    start = np.zeros(number + 1, np.int64)
    options = np.empty((1024, 5), np.int64)
    for fragment in range(number):
        if known.changed[fragment]:
            own = fragment_options(
                grid,
                capacity,
                tasks,
                fragment_at(fragments, fragment),
                fragments.may_be_first[fragment],
                fragments.paired[fragment],
                halt,
            )
        else:
            own = known.options[known.start[fragment] : known.start[fragment + 1]]
        begin, end = start[fragment], start[fragment] + len(own)
        while end > len(options):
            options = np.concatenate((options, np.empty_like(options)))
        options[begin:end] = own
        start[fragment + 1] = end
    return start, options[: start[number]].copy()
