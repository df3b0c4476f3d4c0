"""Lists of the best ways to go on from partial schedules."""

from __future__ import annotations

from typing import NamedTuple

from dfopt.compare.attainable.beam_search.layout import (
    Factors,
    Table,
)
from dfopt.solvers.compilation.compiled import compiled_in_place

# Columns of Scratch.children: the partial schedule from which it comes, what is placed, on which
# CPU and when; then as in BeamStates.
PARENT, ROW, ON, AT, CHILD_PASSED, CHILD_COST, CHILD_HASH, CHILD_SAFE, CHILD_UNLIKE = range(9)

CHILD_BUSY, CHILD_STARTS, CHILD_LONG = range(9, 12)

CHILD_COLUMNS = 12

# Columns of Scratch.guide: the first dispatch of the guide on a CPU that is left, its start, and
# the start of the one after it.
GUIDE_ROW, GUIDE_FIRST, GUIDE_SECOND = range(3)

BEST, SAFEST = range(2)
"""The lists of children: the best ones, and the best ones of those that are safe."""


class Scratch(NamedTuple):
    """What is known of the partial schedule that is gone on with, and the lists of children.

    Parameters
    ----------
    fragments, choices, urgent
        See :mod:`~dfopt.compare.attainable.beam_search.candidates`.
    guide
        Shape (m, 3).
    gaps, free, ahead
        Shape (m,): the time until the next block, when CPUs are free, what they have passed.
    held
        Shape (f,): the number of CPUs that hold each fragment.
    child
        Shape (CHILD_COLUMNS,): the one that is looked at.
    children
        Shape (2, n, CHILD_COLUMNS): those in the lists.
    keys, slots
        Shape (2, n): what they are worth, ascending, and their rows of ``children``.
    lengths
        Shape (2,): the numbers of children in the lists.
    """

    fragments: Table
    choices: Table
    urgent: Table
    guide: Table
    gaps: Table
    free: Table
    ahead: Table
    held: Table
    waiting: Factors
    child: Table
    children: Table
    keys: Factors
    slots: Table
    lengths: Table


@compiled_in_place
def offer(scratch: Scratch, group: int, most: int, key: float) -> None:
    """Put the child into a list, if it is good enough.

    Of children with the same hash only the best one stays.
    """
    keys, slots, children, child = scratch.keys, scratch.slots, scratch.children, scratch.child
    length = scratch.lengths[group]
    if length == most and key >= keys[group, length - 1]:
        return
    position = -1
    for i in range(length):
        if children[group, slots[group, i], CHILD_HASH] == child[CHILD_HASH]:
            if keys[group, i] <= key:
                return
            position = i
            break
    if position < 0:
        if length == most:
            position = length - 1
        else:
            position = length
            slots[group, position] = length
            scratch.lengths[group] = length + 1
    slot = slots[group, position]
    while position > 0 and keys[group, position - 1] > key:
        keys[group, position] = keys[group, position - 1]
        slots[group, position] = slots[group, position - 1]
        position -= 1
    keys[group, position] = key
    slots[group, position] = slot
    for column in range(CHILD_COLUMNS):
        children[group, slot, column] = child[column]


@compiled_in_place
def room(scratch: Scratch, width: int, reserve: int, key: float, is_safe: bool) -> bool:
    """Return whether one of the lists has room for a child that is worth at least ``key``."""
    if scratch.lengths[BEST] < width or key < scratch.keys[BEST, width - 1]:
        return True
    if not is_safe:
        return False
    return bool(scratch.lengths[SAFEST] < reserve or key < scratch.keys[SAFEST, reserve - 1])
