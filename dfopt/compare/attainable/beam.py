"""A beam search for cheap schedules in which no dispatch waits longer than it may.

Dispatches are placed one after the other, about in the order of their starts. Of all partial
schedules with the same number of dispatches, the search keeps the most promising ones. A CPU may
stay idle for a dispatch that is not ready yet.

The search has a *guide*: a schedule that keeps the limit, at first the recorded one. A partial
schedule is *safe* if what it lacks can follow as in the guide. Some safe ones are always kept, and
a safe one always has a safe successor. So the search always ends with a schedule.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dfopt.compare.attainable.arrivals import NONE, Arrivals
from dfopt.compare.attainable.timed_schedule import TimedSchedule, recorded_schedule
from dfopt.compare.attainable.waiting_limit import WaitingLimit
from dfopt.solvers.compilation.compiled import compiled
from dfopt.trace.events import Integers, Numbers

Floats = NDArray[np.float64]

FAR = 2**60
"""A time after all others."""

PLAIN, EVICTS, CUT = 0, 1, 2
"""What stands between dispatches: a block that disturbs nothing, one that evicts, a cut."""

UNKNOWN = -2
"""Stands for the last dispatch of a CPU after a cut."""

(LENGTH, LATEST, LOW, OFFSET, FRAGMENT, PREVIOUS, WAKER, NEXT, RANK, CODE) = range(10)
GUIDE_START, GUIDE_CPU, GUIDE_PLACE = range(10, 13)
"""Columns of the table of dispatches."""

OF, ENTRY, EXIT, ALWAYS, FIRST, LAST = range(6)
"""Columns of the table of what dispatches and blocks cost; the first has their fragments."""

START, END, SORT = range(3)
"""Columns of the table of what stands between dispatches."""

FREE, BEFORE, PASSED = range(3)
"""Columns of a CPU: when it is free, its last dispatch or block, what was passed so far."""

COST, NOW, HASH, SAFE, NODE, BUSY = range(6)
"""Columns of a partial schedule."""

PARENT, ENTRY_NUMBER, ON, AT, CHILD_COST, CHILD_HASH, CHILD_SAFE, CHILD_PASSED, CHILD_BUSY = range(
    9
)
"""Columns of a way to go on from a partial schedule."""

FITTING, LONGEST = 2, 3
"""Ways to choose a dispatch: the most urgent one before the next block, the longest one there."""

PREVIOUS_OPEN, WAKER_OPEN = 1, 2
"""Flags of an open dispatch that cannot start yet."""

CHUNK = 256
"""Dispatches that are placed between two calls of the progress callback."""

HISTORY = 4096
"""After this number of further dispatches, what came before them is decided."""


@compiled
def fitting(fixed: Integers, passed: int, end: int, start: int, length: int) -> tuple[int, int]:
    """Return when a dispatch fits at or after ``start``, and what it passes on its CPU until then.

    ``passed`` to ``end`` are the rows of ``fixed`` that belong to the CPU and may lie ahead.
    """
    while passed < end:
        if fixed[passed, SORT] == CUT:
            if fixed[passed, START] > start:
                # A block may follow that makes the dispatch start after the cut.
                ahead = passed + 1
                while ahead < end and fixed[ahead, SORT] == CUT:
                    ahead += 1
                if ahead == end or start + length <= fixed[ahead, START]:
                    break
                start = max(start, fixed[ahead, END])
                passed = ahead
                continue
        elif start + length <= fixed[passed, START]:
            break
        start = max(start, fixed[passed, END])
        passed += 1
    return start, passed


@compiled
def stepping(before: int, after: int, costs: Integers, matrix: Integers) -> int:
    """Return what it costs that ``after`` follows ``before`` on a CPU."""
    cost = 0
    if before == NONE:
        cost = costs[after, FIRST]
    elif before != UNKNOWN:
        if matrix.shape[0] > 0:
            cost = matrix[costs[before, OF], costs[after, OF]]
        else:
            cost = costs[before, ALWAYS]
            if costs[before, OF] != costs[after, OF]:
                cost += costs[before, EXIT] + costs[after, ENTRY]
    return cost


@compiled
def switching(  # noqa: PLR0913, PLR0917
    before: int,
    passed: int,
    end: int,
    after: int,
    fixed: Integers,
    costs: Integers,
    matrix: Integers,
    count: int,
) -> int:
    """Return what it costs that ``after`` follows, with rows ``passed`` to ``end`` in between.

    If ``after`` is ``NONE``, nothing follows on the CPU.
    """
    total = 0
    for row in range(passed, end):
        if fixed[row, SORT] == CUT:
            before = UNKNOWN
        elif fixed[row, SORT] == EVICTS:
            total += stepping(before, count + row, costs, matrix)
            before = count + row
    if after != NONE:
        return total + stepping(before, after, costs, matrix)
    if before >= 0:
        total += costs[before, LAST]
    return total


@compiled
def offer(  # noqa: PLR0913, PLR0917
    keys: Floats,
    slots: Integers,
    size: Integers,
    which: int,
    most: int,
    children: Integers,
    key: float,
    child: Integers,
) -> None:
    """Put a child into one of the lists of the best children, if it is good enough.

    A list is ordered by key. Of children with the same hash only the best one stays.
    """
    length = size[which]
    if length == most and key >= keys[which, length - 1]:
        return
    place = -1
    for i in range(length):
        if children[which, slots[which, i], CHILD_HASH] == child[CHILD_HASH]:
            if keys[which, i] <= key:
                return
            place = i
            break
    if place < 0:
        if length == most:
            place = length - 1
        else:
            place = length
            slots[which, place] = length
            size[which] = length + 1
    slot = slots[which, place]
    while place > 0 and keys[which, place - 1] > key:
        keys[which, place] = keys[which, place - 1]
        slots[which, place] = slots[which, place - 1]
        place -= 1
    keys[which, place] = key
    slots[which, place] = slot
    for column in range(child.shape[0]):
        children[which, slot, column] = child[column]


@compiled
def extend(  # noqa: PLR0912, PLR0913, PLR0915, PLR0917
    level: int,
    until: int,
    header: Integers,
    needed: Integers,
    table: Integers,
    woken_first: Integers,
    woken: Integers,
    order: Integers,
    low: Integers,
    later: Integers,
    fixed: Integers,
    fixed_first: Integers,
    costs: Integers,
    matrix: Integers,
    weights: Floats,
    settings: Floats,
    cpu_state: Integers,
    state: Integers,
    open_row: Integers,
    open_ready: Integers,
    history: Integers,
    base: int,
) -> int:
    """Place dispatches ``level`` to ``until`` in all kept schedules; return how many are placed.

    It returns early if the lists of open dispatches get too short.
    """
    count, cpus = table.shape[0], fixed_first.shape[0] - 1
    fragments = weights.shape[0]
    width, reserve = int(settings[0]), int(settings[1])
    ahead, urgent_most = int(settings[2]), int(settings[3])
    waiting_weight, late_weight, time_weight, patience = (
        settings[4],
        settings[5],
        settings[6],
        settings[7],
    )
    slots_most = width + reserve
    keys = np.zeros((2, slots_most))
    slots = np.zeros((2, slots_most), np.int64)
    size = np.zeros(2, np.int64)
    children = np.zeros((2, slots_most, 9), np.int64)
    child = np.zeros(9, np.int64)
    first_ready = np.zeros(fragments, np.int64)
    second_ready = np.zeros(fragments, np.int64)
    first_entry = np.zeros(fragments, np.int64)
    urgent_entry = np.zeros(fragments, np.int64)
    urgent_first = np.zeros(fragments, np.int64)
    urgent_second = np.zeros(fragments, np.int64)
    released_entry = np.zeros((cpus, fragments), np.int64)
    fitting_entry = np.zeros((cpus, fragments), np.int64)
    longest_entry = np.zeros((cpus, fragments), np.int64)
    gap = np.zeros(cpus, np.int64)
    urgent = np.zeros(urgent_most + 1, np.int64)
    guide_first = np.zeros(cpus, np.int64)
    guide_second = np.zeros(cpus, np.int64)
    guide_entry = np.zeros(cpus, np.int64)
    free = np.zeros(cpus, np.int64)
    trial = np.zeros(cpus, np.int64)
    ahead_of = np.zeros(cpus, np.int64)
    held = np.zeros(fragments, np.int64)
    capacity = open_row.shape[2]
    while level < until:
        now_side, next_side = level % 2, 1 - level % 2
        admitted = header[0]
        opened = admitted - level
        size[0] = 0
        size[1] = 0
        for x in range(header[1]):
            if state[now_side, x, NODE] < 0:
                continue
            now = state[now_side, x, NOW]
            safe = state[now_side, x, SAFE]
            rank = np.searchsorted(low, now, side="right") + ahead
            reach = low[min(rank, count - 1)]
            for a in range(fragments):
                first_ready[a] = FAR
                second_ready[a] = FAR
                first_entry[a] = NONE
                urgent_entry[a] = NONE
                urgent_first[a] = FAR
                urgent_second[a] = FAR
                for c in range(cpus):
                    released_entry[c, a] = NONE
                    fitting_entry[c, a] = NONE
                    longest_entry[c, a] = NONE
            for c in range(cpus):
                free[c] = cpu_state[now_side, x, c, FREE]
                guide_first[c] = later[c, admitted]
                guide_second[c] = later[c, admitted]
                guide_entry[c] = NONE
                k = cpu_state[now_side, x, c, PASSED]
                start = max(free[c], now)
                while k < fixed_first[c + 1] and fixed[k, START] <= start:
                    start = max(start, fixed[k, END])
                    k += 1
                gap[c] = FAR
                if k < fixed_first[c + 1]:
                    gap[c] = fixed[k, START] - start
            urgent_count = 0
            guide_next = NONE
            unlike_guide = 0
            for e in range(opened):
                row = open_row[now_side, x, e] >> 2
                ready = open_ready[now_side, x, e]
                latest = table[row, LATEST]
                if (
                    urgent_count < urgent_most
                    or latest < table[open_row[now_side, x, urgent[urgent_count - 1]] >> 2, LATEST]
                ):
                    i = min(urgent_count, urgent_most - 1)
                    while (
                        i > 0 and table[open_row[now_side, x, urgent[i - 1]] >> 2, LATEST] > latest
                    ):
                        urgent[i] = urgent[i - 1]
                        i -= 1
                    urgent[i] = e
                    urgent_count = min(urgent_count + 1, urgent_most)
                c = table[row, GUIDE_CPU]
                at = table[row, GUIDE_START]
                unlike_guide += ready > at
                if (
                    guide_entry[c] == NONE
                    or table[row, GUIDE_PLACE]
                    < table[open_row[now_side, x, guide_entry[c]] >> 2, GUIDE_PLACE]
                ):
                    guide_second[c] = min(guide_first[c], later[c, admitted])
                    guide_first[c] = at
                    guide_entry[c] = e
                elif at < guide_second[c]:
                    guide_second[c] = at
                if open_row[now_side, x, e] & 3:
                    continue
                a = table[row, FRAGMENT]
                if ready < first_ready[a]:
                    second_ready[a] = first_ready[a]
                    first_ready[a] = ready
                    first_entry[a] = e
                elif ready < second_ready[a]:
                    second_ready[a] = ready
                if ready > reach:
                    continue
                if latest < urgent_first[a]:
                    urgent_second[a] = urgent_first[a]
                    urgent_first[a] = latest
                    urgent_entry[a] = e
                elif latest < urgent_second[a]:
                    urgent_second[a] = latest
                for c in range(cpus):
                    if ready <= max(free[c], now):
                        other = released_entry[c, a]
                        if (
                            other == NONE
                            or latest < table[open_row[now_side, x, other] >> 2, LATEST]
                        ):
                            released_entry[c, a] = e
                        if table[row, LENGTH] <= gap[c]:
                            other = fitting_entry[c, a]
                            if (
                                other == NONE
                                or latest < table[open_row[now_side, x, other] >> 2, LATEST]
                            ):
                                fitting_entry[c, a] = e
                            other = longest_entry[c, a]
                            if (
                                other == NONE
                                or table[row, LENGTH]
                                > table[open_row[now_side, x, other] >> 2, LENGTH]
                            ):
                                longest_entry[c, a] = e
            guide_cpu = NONE
            if safe:
                for c in range(cpus):
                    if guide_entry[c] != NONE:
                        row = open_row[now_side, x, guide_entry[c]] >> 2
                        if guide_next == NONE or table[row, GUIDE_PLACE] < guide_next:
                            guide_next = table[row, GUIDE_PLACE]
                            guide_cpu = c
            for c in range(cpus):
                for a in range(fragments + 1):
                    for choice in range(4):
                        e = NONE
                        if a == fragments:
                            # What comes next in the guide keeps a safe schedule safe.
                            if c == guide_cpu and choice == 0:
                                e = guide_entry[c]
                        elif choice == 0:
                            e = released_entry[c, a]
                            if e == NONE and first_ready[a] <= reach:
                                e = first_entry[a]
                        elif choice == FITTING:
                            e = fitting_entry[c, a]
                            if e == released_entry[c, a]:
                                e = NONE
                        elif choice == LONGEST:
                            e = longest_entry[c, a]
                            if e == released_entry[c, a] or e == fitting_entry[c, a]:
                                e = NONE
                        else:
                            e = urgent_entry[a]
                            if e == released_entry[c, a] or (
                                released_entry[c, a] == NONE and e == first_entry[a]
                            ):
                                e = NONE
                        if e == NONE:
                            continue
                        if open_row[now_side, x, e] & 3:
                            continue
                        row = open_row[now_side, x, e] >> 2
                        length = table[row, LENGTH]
                        passed = cpu_state[now_side, x, c, PASSED]
                        start, passes = fitting(
                            fixed,
                            passed,
                            fixed_first[c + 1],
                            max(open_ready[now_side, x, e], free[c]),
                            length,
                        )
                        if start > table[row, LATEST]:
                            continue
                        before = cpu_state[now_side, x, c, BEFORE]
                        cost = state[now_side, x, COST] + switching(
                            before, passed, passes, row, fixed, costs, matrix, count
                        )
                        then = max(now, start)
                        end = start + length
                        busy = state[now_side, x, BUSY] + length
                        for i in range(passed, passes):
                            busy += fixed[i, END] - fixed[i, START]
                        key = cost - time_weight * busy
                        for i in range(cpus):
                            trial[i] = free[i]
                            if i == c:
                                trial[i] = end
                            key += time_weight * max(trial[i], then)
                        if (
                            size[0] == width
                            and key >= keys[0, width - 1]
                            and size[1] == reserve
                            and key >= keys[1, reserve - 1]
                        ):
                            continue
                        for i in range(fragments):
                            held[i] = 0
                        mixed = state[now_side, x, HASH] ^ table[row, CODE]
                        for i in range(cpus):
                            last = row if i == c else cpu_state[now_side, x, i, BEFORE]
                            if last >= 0:
                                if costs[last, OF] >= 0:
                                    held[costs[last, OF]] = 1
                                mixed += (
                                    (trial[i] % 1000003)
                                    * 999983
                                    * (
                                        costs[last, OF] * 31
                                        + costs[last, EXIT] % 1009
                                        + costs[last, ALWAYS] % 1013
                                        + 17
                                    )
                                )
                        for i in range(fragments):
                            if not held[i]:
                                ready = first_ready[i]
                                if first_entry[i] == e:
                                    ready = second_ready[i]
                                if ready <= then:
                                    slack = urgent_first[i] - then
                                    if urgent_entry[i] == e:
                                        slack = urgent_second[i] - then
                                    key += (
                                        waiting_weight
                                        * weights[i]
                                        * patience
                                        / (patience + max(slack, 0))
                                    )
                        # Safe: what is left can follow as in the guide.
                        is_safe = unlike_guide == (
                            open_ready[now_side, x, e] > table[row, GUIDE_START]
                        )
                        for i in range(cpus):
                            follows = min(guide_first[i], later[i, admitted])
                            if guide_entry[i] == e:
                                follows = guide_second[i]
                            if trial[i] > follows:
                                is_safe = False
                        i = table[row, NEXT]
                        if i != NONE and end > table[i, GUIDE_START]:
                            is_safe = False
                        for i in range(woken_first[row], woken_first[row + 1]):
                            other = woken[i]
                            if start + table[other, OFFSET] > table[other, GUIDE_START]:
                                is_safe = False
                        if (size[0] == width and key >= keys[0, width - 1]) and not (
                            is_safe and (size[1] < reserve or key < keys[1, reserve - 1])
                        ):
                            continue
                        # Let the most urgent ones follow: each where a CPU is free first.
                        for i in range(cpus):
                            ahead_of[i] = cpu_state[now_side, x, i, PASSED]
                        ahead_of[c] = passes
                        soonest = trial.min()
                        dead = False
                        for k in range(urgent_count):
                            if urgent[k] == e:
                                continue
                            other = open_row[now_side, x, urgent[k]] >> 2
                            ready = open_ready[now_side, x, urgent[k]]
                            if max(ready, soonest) > table[other, LATEST]:
                                dead = True
                                break
                            best = 0
                            for i in range(1, cpus):
                                if trial[i] < trial[best]:
                                    best = i
                            ready, ahead_of[best] = fitting(
                                fixed,
                                ahead_of[best],
                                fixed_first[best + 1],
                                max(ready, trial[best]),
                                table[other, LENGTH],
                            )
                            if ready > table[other, LATEST]:
                                key += late_weight
                            trial[best] = ready + table[other, LENGTH]
                        if dead and not is_safe:
                            continue
                        child[PARENT] = x
                        child[ENTRY_NUMBER] = e
                        child[ON] = c
                        child[AT] = start
                        child[CHILD_COST] = cost
                        child[CHILD_HASH] = mixed
                        child[CHILD_SAFE] = is_safe
                        child[CHILD_PASSED] = passes
                        child[CHILD_BUSY] = busy
                        if not dead:
                            offer(keys, slots, size, 0, width, children, key, child)
                        if is_safe:
                            offer(keys, slots, size, 1, reserve, children, key, child)
        # What the children have to know of: all that they may wake, continue or wait for.
        target = max(admitted, min(count, level + 2))
        for which in range(2):
            for k in range(size[which]):
                slot = slots[which, k]
                x = children[which, slot, PARENT]
                row = open_row[now_side, x, children[which, slot, ENTRY_NUMBER]] >> 2
                start = children[which, slot, AT]
                end = start + table[row, LENGTH]
                now = max(state[now_side, x, NOW], start)
                target = max(target, np.searchsorted(low, now, side="right") + ahead)
                i = table[row, NEXT]
                if i != NONE and low[table[i, RANK]] <= end:
                    target = max(target, table[i, RANK] + 1)
                for i in range(woken_first[row], woken_first[row + 1]):
                    if table[woken[i], LOW] <= end:
                        target = max(target, table[woken[i], RANK] + 1)
        target = min(target, count)
        # A safe schedule has to know what comes next in the guide.
        target = max(target, min(count, needed[level + 1]))
        if target - level > capacity:
            return level
        kept = 0
        for which in range(2):
            for k in range(size[which]):
                slot = slots[which, k]
                if which == 1:
                    known = False
                    for i in range(size[0]):
                        if children[0, slots[0, i], CHILD_HASH] == children[1, slot, CHILD_HASH]:
                            known = children[0, slots[0, i], CHILD_SAFE] == 1
                    if known:
                        continue
                x = children[which, slot, PARENT]
                placed = children[which, slot, ENTRY_NUMBER]
                c = children[which, slot, ON]
                start = children[which, slot, AT]
                row = open_row[now_side, x, placed] >> 2
                end = start + table[row, LENGTH]
                for i in range(cpus):
                    for column in range(3):
                        cpu_state[next_side, kept, i, column] = cpu_state[now_side, x, i, column]
                cpu_state[next_side, kept, c, FREE] = end
                cpu_state[next_side, kept, c, BEFORE] = row
                cpu_state[next_side, kept, c, PASSED] = children[which, slot, CHILD_PASSED]
                state[next_side, kept, COST] = children[which, slot, CHILD_COST]
                state[next_side, kept, NOW] = max(state[now_side, x, NOW], start)
                state[next_side, kept, HASH] = state[now_side, x, HASH] ^ table[row, CODE]
                state[next_side, kept, SAFE] = children[which, slot, CHILD_SAFE]
                state[next_side, kept, NODE] = 0
                state[next_side, kept, BUSY] = children[which, slot, CHILD_BUSY]
                history[level - base, kept, 0] = x
                history[level - base, kept, 1] = row
                history[level - base, kept, 2] = c
                history[level - base, kept, 3] = start
                follower = table[row, NEXT]
                i = 0
                for e in range(opened):
                    if e == placed:
                        continue
                    other = open_row[now_side, x, e]
                    ready = open_ready[now_side, x, e]
                    if other & 3:
                        if other >> 2 == follower:
                            other &= ~PREVIOUS_OPEN
                            ready = max(ready, end)
                        if table[other >> 2, WAKER] == row:
                            other &= ~WAKER_OPEN
                            ready = max(ready, start + table[other >> 2, OFFSET])
                    open_row[next_side, kept, i] = other
                    open_ready[next_side, kept, i] = ready
                    i += 1
                for k2 in range(admitted, target):
                    other = order[k2]
                    flags = 0
                    for e in range(i):
                        earlier = open_row[next_side, kept, e] >> 2
                        if earlier == table[other, PREVIOUS]:
                            flags |= PREVIOUS_OPEN
                        if earlier == table[other, WAKER]:
                            flags |= WAKER_OPEN
                    ready = table[other, LOW]
                    if other == follower:
                        ready = max(ready, end)
                    if table[other, WAKER] == row:
                        ready = max(ready, start + table[other, OFFSET])
                    open_row[next_side, kept, i] = other * 4 + flags
                    open_ready[next_side, kept, i] = ready
                    i += 1
                kept += 1
        if kept == 0:
            return NONE
        header[0] = target
        header[1] = kept
        level += 1
    return level


@dataclass(frozen=True, slots=True, kw_only=True)
class BeamSettings:
    """What a beam search keeps and prefers.

    Parameters
    ----------
    width
        Number of partial schedules that are kept.
    safe
        At most this number of safe ones are kept beside them.
    ahead
        Number of dispatches that are not ready yet and may be waited for.
    urgent
        Number of dispatches that are tried for a guess of how many will be late.
    waiting, late, time
        What a fragment that waits and that no CPU holds counts, a dispatch that will be late, and
        a mean length of idle time; each in entry costs.
    patience
        A fragment that may still wait for this number of mean lengths counts half.
    """

    width: int = 24
    safe: int = 8
    ahead: int = 24
    urgent: int = 24
    waiting: float = 0.4
    late: float = 1.0
    time: float = 0.1
    patience: float = 1e6


def beam_search(  # noqa: PLR0913
    arrivals: Arrivals,
    limit: WaitingLimit,
    *,
    width: int = 24,
    seed: int = 0,
    guide: TimedSchedule | None = None,
    settings: BeamSettings | None = None,
    check: Callable[[], None] | None = None,
) -> TimedSchedule | None:
    """Return a schedule within a waiting limit; None if the search found none.

    Parameters
    ----------
    arrivals
        What was recorded.
    limit
        Only its ``each`` is heeded.
    width
        Number of partial schedules that are kept.
    seed
        For the hashes by which partial schedules are told apart.
    guide
        A schedule that keeps the limit; the recorded one if not given.
    settings
        Other settings than the width; it replaces ``width``.
    check
        Called from time to time; it may raise.
    """
    settings = settings or BeamSettings(width=width)
    guide = guide or recorded_schedule(arrivals)
    if not len(arrivals):
        return guide
    beam = Beam(arrivals, limit, guide, settings, seed)
    return beam.run(check or (lambda: None))


class Beam:
    """A search that is under way: tables of what was given, and the kept partial schedules."""

    def __init__(
        self,
        arrivals: Arrivals,
        limit: WaitingLimit,
        guide: TimedSchedule,
        settings: BeamSettings,
        seed: int,
    ) -> None:
        count, cpus = len(arrivals), arrivals.cpus
        self.count, self.cpus = count, cpus
        random = np.random.default_rng(seed)
        self.origin = int(arrivals.ready_by.min())
        latest = tightened_latest(arrivals, limit)
        low = earliest_starts(arrivals)
        order = np.lexsort((np.arange(count), low))
        rank = np.empty(count, np.int64)
        rank[order] = np.arange(count)
        following = np.full(count, NONE)
        after = np.flatnonzero(arrivals.previous != NONE)
        following[arrivals.previous[after]] = after
        guide_order = np.lexsort((np.arange(count), arrivals.length > 0, guide.start))
        place = np.empty(count, np.int64)
        place[guide_order] = np.arange(count)
        table = np.empty((count, 13), np.int64)
        columns = {
            LENGTH: arrivals.length,
            LATEST: np.minimum(latest, FAR) - self.origin,
            LOW: low - self.origin,
            OFFSET: arrivals.waker_offset,
            FRAGMENT: arrivals.fragment,
            PREVIOUS: arrivals.previous,
            WAKER: arrivals.waker,
            NEXT: following,
            RANK: rank,
            CODE: random.integers(2**60, size=count),
            GUIDE_START: guide.start - self.origin,
            GUIDE_CPU: guide.cpu,
            GUIDE_PLACE: place,
        }
        for column, values in columns.items():
            table[:, column] = values
        self.table = table
        self.order, self.low = order.astype(np.int64), table[order, LOW]
        woken = np.flatnonzero(arrivals.waker != NONE)
        woken = woken[np.argsort(arrivals.waker[woken], kind="stable")]
        self.woken = woken.astype(np.int64)
        self.woken_first = np.searchsorted(arrivals.waker[woken], np.arange(count + 1))
        self.woken_first = self.woken_first.astype(np.int64)
        self.needed = np.empty(count + 1, np.int64)
        self.needed[:count] = np.maximum.accumulate(rank[guide_order]) + 1
        self.needed[count] = count
        self.later = np.full((cpus, count + 1), FAR, np.int64)
        for cpu in range(cpus):
            starts = np.where(table[order, GUIDE_CPU] == cpu, table[order, GUIDE_START], FAR)
            self.later[cpu, :count] = np.minimum.accumulate(starts[::-1])[::-1]
        self._take_blocks(arrivals)
        self.matrix = np.ascontiguousarray(arrivals.costs.matrix, np.int64)
        fragments = int(arrivals.fragment.max()) + 1
        entry = arrivals.costs.entry.astype(float)
        if self.matrix.size:
            entry = self.matrix.mean(axis=0)[arrivals.fragment]
        uses = np.bincount(arrivals.fragment, minlength=fragments)
        self.weights = np.bincount(arrivals.fragment, entry, fragments) / np.maximum(uses, 1)
        typical = max(float(entry.mean()), 1e-9)
        self.settings = np.array(
            [
                settings.width,
                max(settings.safe, 1),
                settings.ahead,
                settings.urgent,
                settings.waiting,
                settings.late * typical,
                settings.time * typical / max(float(arrivals.length.mean()), 1.0),
                settings.patience * max(float(arrivals.length.mean()), 1.0),
            ]
        )
        self.kept_most = settings.width + max(settings.safe, 1)

    def _take_blocks(self, arrivals: Arrivals) -> None:
        """Make the tables of blocks, cuts and costs."""
        blocks, costs, count = arrivals.blocks, arrivals.costs, self.count
        cpu = np.concatenate([blocks.cpu, arrivals.cut_cpu])
        start = np.concatenate([blocks.start, arrivals.cut_time]) - self.origin
        end = np.concatenate([blocks.end, arrivals.cut_time]) - self.origin
        sort = np.concatenate(
            [np.where(blocks.evicts, EVICTS, PLAIN), np.full(len(arrivals.cut_cpu), CUT)]
        )
        number = np.concatenate([np.arange(len(blocks.cpu)), np.full(len(arrivals.cut_cpu), NONE)])
        chosen = np.lexsort((end, sort != CUT, start, cpu))
        self.fixed = np.column_stack([start, end, sort])[chosen].astype(np.int64)
        self.fixed_first = np.searchsorted(cpu[chosen], np.arange(self.cpus + 1)).astype(np.int64)
        self.costs = np.zeros((count + len(chosen), 6), np.int64)
        self.costs[:count] = np.column_stack(
            [arrivals.fragment, costs.entry, costs.exit, costs.always, costs.first, costs.last]
        )
        number = number[chosen]
        own = np.flatnonzero(number != NONE)
        of_block = np.column_stack(
            [
                -1 - own,
                blocks.entry[number[own]],
                blocks.exit[number[own]],
                0 * own,
                blocks.first[number[own]],
                blocks.last[number[own]],
            ]
        )
        self.costs[count + own] = of_block

    def run(self, check: Callable[[], None]) -> TimedSchedule | None:
        """Place all dispatches."""
        count, kept_most = self.count, self.kept_most
        admitted = max(int(self.needed[0]), min(count, int(self.settings[2]) + 1))
        capacity = max(256, 2 * admitted)
        header = np.array([admitted, 1], np.int64)
        cpu_state = np.zeros((2, kept_most, self.cpus, 3), np.int64)
        cpu_state[0, 0, :, FREE] = -FAR // 4
        cpu_state[0, 0, :, BEFORE] = NONE
        cpu_state[0, 0, :, PASSED] = self.fixed_first[:-1]
        state = np.zeros((2, kept_most, 6), np.int64)
        state[0, 0, SAFE] = 1
        open_row = np.zeros((2, kept_most, capacity), np.int64)
        open_ready = np.zeros((2, kept_most, capacity), np.int64)
        first = self.order[:admitted]
        flags = np.where(self.table[first, PREVIOUS] != NONE, PREVIOUS_OPEN, 0)
        flags |= np.where(self.table[first, WAKER] != NONE, WAKER_OPEN, 0)
        open_row[0, 0, :admitted] = first * 4 + flags
        open_ready[0, 0, :admitted] = self.table[first, LOW]
        history = np.zeros((min(2 * HISTORY, count), kept_most, 4), np.int64)
        cpu, start = np.empty(count, np.int32), np.empty(count, np.int64)
        level, base, side = 0, 0, 0
        while level < count:
            check()
            until = min(count, base + 2 * HISTORY, level + CHUNK)
            reached = extend(
                level, until, header, self.needed, self.table, self.woken_first, self.woken,
                self.order, self.low, self.later, self.fixed, self.fixed_first, self.costs,
                self.matrix, self.weights, self.settings, cpu_state, state, open_row, open_ready,
                history, base,
            )  # fmt: skip
            if reached == NONE:
                return None
            if reached < until:
                open_row = np.concatenate([open_row, open_row], axis=2)
                open_ready = np.concatenate([open_ready, open_ready], axis=2)
            level = reached
            if level == base + 2 * HISTORY and level < count:
                self._commit(state[level % 2], int(header[1]), history, cpu, start)
                base += HISTORY
        side = count % 2
        totals = []
        for x in range(int(header[1])):
            total = int(state[side, x, COST]) if state[side, x, NODE] >= 0 else FAR
            for c in range(self.cpus):
                total += switching(
                    cpu_state[side, x, c, BEFORE], cpu_state[side, x, c, PASSED],
                    self.fixed_first[c + 1], NONE, self.fixed, self.costs, self.matrix, count,
                )  # fmt: skip
            totals.append(total)
        x = int(np.argmin(totals))
        for line in range(count - base - 1, -1, -1):
            x = self._take(history[line, x], cpu, start)
        return TimedSchedule(cpu=cpu, start=start + self.origin)

    def _take(self, step: Integers, cpu: Numbers, start: Integers) -> int:
        """Write one placed dispatch down; return the partial schedule before it."""
        parent, row, on, at = step.tolist()
        cpu[row], start[row] = on, at
        return int(parent)

    def _commit(
        self, state: Integers, kept: int, history: Integers, cpu: Numbers, start: Integers
    ) -> None:
        """Decide on the older half of the history: drop what differs there from a safe schedule."""
        ancestors = np.arange(kept)
        for line in range(2 * HISTORY - 1, HISTORY - 1, -1):
            ancestors = history[line, ancestors, 0]
        alive = state[:kept, NODE] >= 0
        order = np.lexsort((state[:kept, COST], state[:kept, SAFE] == 0, ~alive))
        x = int(ancestors[order[0]])
        state[:kept, NODE] = np.where(alive & (ancestors == x), 0, -1)
        for line in range(HISTORY - 1, -1, -1):
            x = self._take(history[line, x], cpu, start)
        history[:HISTORY] = history[HISTORY:]


def earliest_starts(arrivals: Arrivals) -> Integers:
    """Return times before which the dispatches cannot start, whatever runs where."""
    ready = arrivals.ready_by.tolist()
    length, offset = arrivals.length.tolist(), arrivals.waker_offset.tolist()
    for j, (before, waker) in enumerate(
        zip(arrivals.previous.tolist(), arrivals.waker.tolist(), strict=True)
    ):
        if before != NONE:
            ready[j] = max(ready[j], ready[before] + length[before])
        if waker != NONE:
            ready[j] = max(ready[j], ready[waker] + offset[j])
    return np.array(ready, np.int64)


def tightened_latest(arrivals: Arrivals, limit: WaitingLimit) -> Integers:
    """Return latest starts that leave time for what follows a dispatch, or is woken by it."""
    given = arrivals.latest if limit.each is None else arrivals.latest_starts(limit.each)
    latest, length = given.tolist(), arrivals.length.tolist()
    offset = arrivals.waker_offset.tolist()
    previous, wakers = arrivals.previous.tolist(), arrivals.waker.tolist()
    for j in range(len(latest) - 1, -1, -1):
        before, waker = previous[j], wakers[j]
        if before != NONE:
            latest[before] = min(latest[before], latest[j] - length[before])
        if waker != NONE:
            latest[waker] = min(latest[waker], latest[j] - offset[j])
    return np.array(latest, np.int64)
