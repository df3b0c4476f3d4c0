"""Making moves: rows, parts and lists after tasks have come and gone."""

from __future__ import annotations

from dfopt.solvers.compiled import compiled
from dfopt.solvers.local_search.memory import (
    ABOVE,
    ABOVE_PLACE,
    BEGIN,
    BEST,
    COST,
    CPU,
    ENTRIES,
    FRAGMENT,
    HELD_BY,
    HOLDERS,
    HOLDING,
    LOAD,
    MOVED,
    OF_FRAGMENT,
    OVER,
    PART,
    PARTS,
    SIZE,
    TARGET,
    TOTAL,
    TOUCHED,
    TYPE,
    TYPES,
    Layout,
    Memory,
)


@compiled
def put(memory: Memory, at: Layout, cpu: int, side: int, cost: int) -> None:
    """Make the move at hand on ``cpu``, for which it has been priced."""
    put_parts(memory, at, cpu, side)
    put_types(memory, at, cpu, 1 - 2 * side)
    put_cost(memory, at, cpu, cost)


@compiled
def put_parts(memory: Memory, at: Layout, cpu: int, side: int) -> None:
    """Replace the touched parts; the last one first, so that places stay what they were."""
    row = at.part_rows + cpu * at.part_row
    number = at.cpu + cpu * CPU + PARTS
    for slot in range(memory[at.counters + TOUCHED + side] - 1, -1, -1):
        touched = at.touched + side * 2 * at.part_row + slot * PART
        fragment = memory[touched + FRAGMENT]
        part = row + memory[touched + BEGIN] * PART
        behind = row + memory[number] * PART
        holding = at.fragments + fragment * HOLDING
        holders = memory[holding + HOLDERS]
        if memory[touched + SIZE] == 0:
            for place in range(part, behind - PART):
                memory[place] = memory[place + PART]
            memory[number] -= 1
            memory[holding + HELD_BY] -= 1
            last = holders + memory[holding + HELD_BY]
            for holder in range(holders, last):
                if memory[holder] == cpu:
                    memory[holder] = memory[last]
            continue
        if memory[touched + BEGIN] < 0:
            part = behind
            while part > row and memory[part - PART + FRAGMENT] > fragment:
                part -= PART
            for place in range(behind - 1, part - 1, -1):
                memory[place + PART] = memory[place]
            memory[number] += 1
            memory[holders + memory[holding + HELD_BY]] = cpu
            memory[holding + HELD_BY] += 1
        for field in range(PART):
            memory[part + field] = memory[touched + field]


@compiled
def put_types(memory: Memory, at: Layout, cpu: int, sign: int) -> None:
    """Merge the move at hand into the row of types, and find where its parts begin."""
    record = at.cpu + cpu * CPU
    row = at.rows + cpu * at.row
    old, behind_old = row, row + memory[record + TYPES] * ENTRIES
    change, behind = at.moved, at.moved + memory[at.counters + MOVED] * ENTRIES
    new = at.merged
    while old < behind_old or change < behind:
        count = 0
        if old < behind_old and (change == behind or memory[old] <= memory[change]):
            kind = memory[old]
            count = memory[old + 1]
            old += ENTRIES
        else:
            kind = memory[change]
        if change < behind and memory[change] == kind:
            growth = sign * memory[change + 1]
            count += growth
            memory[record + LOAD] += growth
            change += ENTRIES
        if count:
            memory[new] = kind
            memory[new + 1] = count
            new += ENTRIES
    types = (new - at.merged) // ENTRIES
    memory[record + TYPES] = types
    part = at.part_rows + cpu * at.part_row + BEGIN
    fragment = -1
    for place in range(types):
        kind = memory[at.merged + place * ENTRIES]
        memory[row + place * ENTRIES] = kind
        memory[row + place * ENTRIES + 1] = memory[at.merged + place * ENTRIES + 1]
        if memory[at.types + kind * TYPE + OF_FRAGMENT] != fragment:
            fragment = memory[at.types + kind * TYPE + OF_FRAGMENT]
            memory[part] = place
            part += PART
    memory[part] = types


@compiled
def put_cost(memory: Memory, at: Layout, cpu: int, cost: int) -> None:
    """Note what ``cpu`` costs now, and whether that is above the target."""
    record = at.cpu + cpu * CPU
    before = memory[record + COST]
    best = memory[at.counters + BEST]
    memory[record + COST] = cost
    memory[at.counters + TOTAL] += cost - before
    memory[at.counters + OVER] += int(cost >= best) - int(before >= best)
    if memory[record + ABOVE_PLACE] < 0:
        list_if_above(memory, at, cpu)
    elif cost <= memory[at.counters + TARGET]:
        number = memory[at.counters + ABOVE] - 1
        last = memory[at.above + number]
        place = memory[record + ABOVE_PLACE]
        memory[at.above + place] = last
        memory[at.cpu + last * CPU + ABOVE_PLACE] = place
        memory[record + ABOVE_PLACE] = -1
        memory[at.counters + ABOVE] = number


@compiled
def aim(memory: Memory, at: Layout, goal: int, known: int) -> None:
    """Aim at one less than the best so far, down to ``goal``; less than ``known`` is news.

    To aim at a far goal from the start leads to worse schedules where it is out of reach.
    """
    best = min(known, memory[at.counters + BEST])
    memory[at.counters + BEST] = best
    memory[at.counters + OVER] = 0
    for cpu in range(at.cpus):
        memory[at.counters + OVER] += int(memory[at.cpu + cpu * CPU + COST] >= best)
    keep_best(memory, at)
    memory[at.counters + TARGET] = max(goal, memory[at.counters + BEST] - 1)
    memory[at.counters + ABOVE] = 0
    for cpu in range(at.cpus):
        memory[at.cpu + cpu * CPU + ABOVE_PLACE] = -1
        list_if_above(memory, at, cpu)


@compiled
def list_if_above(memory: Memory, at: Layout, cpu: int) -> None:
    """Put ``cpu``, which is not there, in the list of the CPUs above the target."""
    record = at.cpu + cpu * CPU
    if memory[record + COST] > memory[at.counters + TARGET]:
        number = memory[at.counters + ABOVE]
        memory[record + ABOVE_PLACE] = number
        memory[at.above + number] = cpu
        memory[at.counters + ABOVE] = number + 1


@compiled
def keep_best(memory: Memory, at: Layout) -> None:
    """Keep what the CPUs hold now if it is better than the best so far."""
    if at.adds_up:
        if memory[at.counters + TOTAL] >= memory[at.counters + BEST]:
            return
        best = memory[at.counters + TOTAL]
    else:
        if memory[at.counters + OVER] > 0:
            return
        best = 0
        over = 0
        for cpu in range(at.cpus):
            cost = memory[at.cpu + cpu * CPU + COST]
            if cost > best:
                best = cost
                over = 0
            over += int(cost == best)
        memory[at.counters + OVER] = over
    memory[at.counters + BEST] = best
    for cpu in range(at.cpus):
        types = memory[at.cpu + cpu * CPU + TYPES]
        memory[at.best_types + cpu] = types
        for place in range(cpu * at.row, cpu * at.row + types * ENTRIES):
            memory[at.best_rows + place] = memory[at.rows + place]
