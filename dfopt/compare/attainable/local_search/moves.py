"""Random changes of the order in which dispatches run: two segments change places.

A *segment* is some dispatches in a row on a CPU, perhaps none: then a change moves the other
segment. What a change costs follows from the few places at which other elements meet.
"""

from __future__ import annotations

from dfopt.compare.attainable.local_search.layout import (
    AFTER,
    ALWAYS,
    BEFORE,
    CUT,
    ENTRY,
    EXIT,
    FIRST,
    FRAGMENT,
    HEAD,
    LAST,
    LATE_COUNT,
    LATES,
    MOVES,
    NOBODY,
    OPENERS,
    OPENING,
    OPENS,
    RANDOM,
    RANK,
    RANKED,
    ROLE,
    TAIL,
    Stretch,
    Table,
)
from dfopt.solvers.compilation.compiled import compiled_in_place

LONGEST_SEGMENT = 128
"""At most 128 dispatches are in a segment."""

FROM_LATE, FROM_OPENER = 20, 80
"""A random number below 100 chooses where a change begins: below 20 at something late or a few
places before it, if anything is late; otherwise below 80 at the first dispatch of a visit."""

TO_FRAGMENT, TO_FIXED, TO_OTHER, VISITS, NEIGHBOURS = 60, 63, 70, 90, 95
"""Another one chooses the change, see :func:`propose`."""

NO_CHANGE = (NOBODY, NOBODY, NOBODY, NOBODY, NOBODY)

LOW_57 = 2**57 - 1
LOW_31 = 2**31 - 1


@compiled_in_place
def random_below(counters: Table, limit: int) -> int:
    """Return one of 0 … limit - 1, all equally likely (Marsaglia's xorshift); limit < 2³¹."""
    bits = counters[RANDOM]
    bits ^= bits << 13
    bits ^= (bits >> 7) & LOW_57
    bits ^= bits << 17
    counters[RANDOM] = bits
    return int(((bits >> 32) & LOW_31) * limit >> 31)


@compiled_in_place
def meeting_cost(stretch: Stretch, left: int, right: int) -> int:
    """Return what it costs if element ``right`` follows ``left`` on a CPU."""
    rows = stretch.rows
    left_role, right_role = rows[left, ROLE], rows[right, ROLE]
    if CUT in (left_role, right_role):
        return 0
    if left_role == HEAD:
        return 0 if right_role == TAIL else int(rows[right, FIRST])
    if right_role == TAIL:
        return int(rows[left, LAST])
    fragment, other = rows[left, FRAGMENT], rows[right, FRAGMENT]
    if stretch.matrix.shape[0]:
        return int(stretch.matrix[fragment, other])
    cost = rows[left, ALWAYS]
    if fragment != other:
        cost += rows[left, EXIT] + rows[right, ENTRY]
    return int(cost)


@compiled_in_place
def note_opening(stretch: Stretch, element: int) -> None:
    """Note whether a dispatch is the first one of a visit."""
    rows, lists, counters = stretch.rows, stretch.lists, stretch.counters
    if rows[element, ROLE] != MOVES:
        return
    opens = rows[rows[element, BEFORE], FRAGMENT] != rows[element, FRAGMENT]
    place = rows[element, OPENS]
    if opens and place == NOBODY:
        rows[element, OPENS] = counters[OPENING]
        lists[OPENERS, counters[OPENING]] = element
        counters[OPENING] += 1
    elif not opens and place != NOBODY:
        counters[OPENING] -= 1
        moved = lists[OPENERS, counters[OPENING]]
        lists[OPENERS, place] = moved
        rows[moved, OPENS] = place
        rows[element, OPENS] = NOBODY


@compiled_in_place
def near_in_fragment(stretch: Stretch, element: int) -> int:
    """Return a random dispatch of the same fragment that was recorded at about the same time."""
    rows, lists, counters = stretch.rows, stretch.lists, stretch.counters
    reach = 1 << random_below(counters, 7)
    distance = 1 + random_below(counters, reach)
    if random_below(counters, 2):
        distance = -distance
    rank = rows[element, RANK] + distance
    if rank < 0 or rank >= lists[RANKED, lists.shape[1] - 1]:
        return NOBODY
    near = lists[RANKED, rank]
    return int(near) if rows[near, FRAGMENT] == rows[element, FRAGMENT] else NOBODY


@compiled_in_place
def near(stretch: Stretch, element: int, dispatches: int) -> int:
    """Return a random dispatch that was recorded at about the same time."""
    counters = stretch.counters
    reach = 1 << random_below(counters, 7)
    distance = 1 + random_below(counters, reach)
    if random_below(counters, 2):
        distance = -distance
    other = element + distance
    return other if 0 <= other < dispatches else NOBODY


@compiled_in_place
def visit_begin(rows: Table, element: int) -> int:
    """Return the first dispatch of the visit of a dispatch, or one close before it."""
    for _ in range(LONGEST_SEGMENT):
        before = rows[element, BEFORE]
        if rows[before, ROLE] != MOVES or rows[before, FRAGMENT] != rows[element, FRAGMENT]:
            break
        element = before
    return int(element)


@compiled_in_place
def visit_end(rows: Table, element: int, most: int) -> int:
    """Return the last dispatch of the visit of a dispatch, or one at most ``most`` after it."""
    for _ in range(most):
        after = rows[element, AFTER]
        if rows[after, ROLE] != MOVES or rows[after, FRAGMENT] != rows[element, FRAGMENT]:
            break
        element = after
    return int(element)


@compiled_in_place
def visits_end(rows: Table, element: int, visits: int) -> int:
    """Return the last dispatch of some visits in a row that begin with a dispatch."""
    for _ in range(LONGEST_SEGMENT):
        after = rows[element, AFTER]
        if rows[after, ROLE] != MOVES:
            break
        if rows[after, FRAGMENT] != rows[element, FRAGMENT]:
            visits -= 1
            if visits == 0:
                break
        element = after
    return int(element)


@compiled_in_place
def some_before(stretch: Stretch, element: int) -> int:
    """Return a dispatch, or one a few places before it on its CPU."""
    rows, counters = stretch.rows, stretch.counters
    for _ in range(random_below(counters, 1 << random_below(counters, 5))):
        before = rows[element, BEFORE]
        if before == NOBODY or rows[before, ROLE] != MOVES:
            break
        element = before
    return int(element)


@compiled_in_place
def is_between(rows: Table, element: int, begin: int, end: int) -> bool:
    """Return whether an element belongs to a segment."""
    for _ in range(LONGEST_SEGMENT + 1):
        if begin == element:
            return True
        if begin == end:
            return False
        begin = rows[begin, AFTER]
    return True


@compiled_in_place
def random_begin(stretch: Stretch, low: int, high: int) -> int:
    """Return the dispatch at which a change begins."""
    rows, lists, counters = stretch.rows, stretch.lists, stretch.counters
    begin = low + random_below(counters, high - low)
    choice = random_below(counters, 100)
    if counters[LATE_COUNT] and choice < FROM_LATE:
        late = int(lists[LATES, random_below(counters, counters[LATE_COUNT])])
        return some_before(stretch, late if low <= late < high else begin)
    if choice < FROM_OPENER:
        if high - low < lists[RANKED, lists.shape[1] - 1]:
            return visit_begin(rows, begin)
        return int(lists[OPENERS, random_below(counters, counters[OPENING])])
    return begin


@compiled_in_place
def propose(  # noqa: PLR0911, PLR0912 - each way to change the order ends where it is known
    stretch: Stretch, low: int, high: int
) -> tuple[int, int, int, int, int]:
    """Return a random change.

    Parameters
    ----------
    stretch
        The stretch.
    low, high
        The first segment begins with one of the dispatches ``low`` … ``high`` - 1, or with one
        of the same visit.

    Returns
    -------
    tuple of int
        The first and the last dispatch of the first segment, or ``NOBODY`` if there is no change;
        those of the second segment, or ``NOBODY`` if the first segment moves; if it moves: the
        element behind which it goes.
    """
    rows, counters = stretch.rows, stretch.counters
    dispatches = int(stretch.lists[RANKED, stretch.lists.shape[1] - 1])
    begin = random_begin(stretch, low, high)
    choice = random_below(counters, 100)
    if choice < TO_FRAGMENT:
        # A part of a visit goes next to a dispatch of its fragment.
        end = begin
        shape = random_below(counters, 4)
        if shape == 0:
            end = visit_end(rows, begin, LONGEST_SEGMENT)
        elif shape == 1:
            end = visit_end(rows, begin, 1 << random_below(counters, 6))
        elif shape == 2:  # noqa: PLR2004 - one of the four
            begin = end = visit_end(rows, begin, LONGEST_SEGMENT)
        target = near_in_fragment(stretch, begin)
        if target == NOBODY:
            return NO_CHANGE
        behind = int(rows[target, BEFORE]) if random_below(counters, 2) else target
        return moved(rows, begin, end, behind)
    if choice < TO_FIXED:
        # A part of a visit goes behind something that keeps its time, perhaps on an idle CPU.
        behind = dispatches + random_below(counters, len(rows) - dispatches)
        if rows[behind, AFTER] == NOBODY:
            return NO_CHANGE
        end = visit_end(rows, begin, LONGEST_SEGMENT) if random_below(counters, 2) else begin
        return moved(rows, begin, end, behind)
    target = near(stretch, begin, dispatches)
    if target == NOBODY:
        return NO_CHANGE
    if choice < TO_OTHER:
        # A visit goes between two others.
        end = visit_end(rows, begin, LONGEST_SEGMENT)
        return moved(rows, begin, end, int(rows[visit_begin(rows, target), BEFORE]))
    if choice < VISITS:
        # Some visits change places with some others.
        if random_below(counters, 4):
            target = visit_begin(rows, target)
        end = visits_end(rows, begin, 1 + random_below(counters, 4))
        other = visits_end(rows, target, 1 + random_below(counters, 4))
        if is_between(rows, target, begin, end) or is_between(rows, begin, target, other):
            return NO_CHANGE
        return begin, end, target, other, NOBODY
    # Two dispatches change places.
    if choice < NEIGHBOURS and rows[rows[begin, AFTER], ROLE] == MOVES:
        target = int(rows[begin, AFTER])
    return begin, begin, target, target, NOBODY


@compiled_in_place
def moved(rows: Table, begin: int, end: int, behind: int) -> tuple[int, int, int, int, int]:
    """Return the change that moves a segment behind an element, if that changes anything."""
    if behind == rows[begin, BEFORE] or is_between(rows, behind, begin, end):
        return NO_CHANGE
    return begin, end, NOBODY, NOBODY, behind
