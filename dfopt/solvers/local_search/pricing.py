"""F* of a CPU as a move would leave it, worked out anew only for the parts that it touches."""

from __future__ import annotations

from dfopt.solvers.compiled import compiled
from dfopt.solvers.local_search.memory import (
    ALONE,
    ARRIVAL,
    BASE,
    BEGIN,
    CPU,
    DEPARTURE,
    END,
    ENTRIES,
    ENTRY,
    EXIT,
    FIRST,
    FRAGMENT,
    FREE,
    FREE_FOR_ALL,
    LAST,
    MIDDLE,
    MOVED,
    OF_FRAGMENT,
    PART,
    PARTS,
    SIZE,
    SPLIT,
    TOUCHED,
    TYPE,
    Layout,
    Memory,
)

IMPOSSIBLE = 2**63 - 1
"""More than any cost; nothing is ever added to it."""

COPIES = 2
"""So many tasks of a type fill all roles: opener and last task of a block may be one task."""


@compiled
def price(memory: Memory, at: Layout, cpu: int, side: int) -> int:
    """Return F* of ``cpu`` after the move at hand, of which it is the first or second CPU.

    The parts that the move touches, as they would be, are left in the memory.
    """
    touched = at.touched + side * 2 * at.part_row
    part = at.part_rows + cpu * at.part_row
    parts = part
    behind_parts = part + memory[at.cpu + cpu * CPU + PARTS] * PART
    change = at.moved
    behind_moved = at.moved + memory[at.counters + MOVED] * ENTRIES
    number = 0
    while change < behind_moved:
        fragment = memory[at.types + memory[change] * TYPE + OF_FRAGMENT]
        behind = change + ENTRIES
        while (
            behind < behind_moved
            and memory[at.types + memory[behind] * TYPE + OF_FRAGMENT] == fragment
        ):
            behind += ENTRIES
        while part < behind_parts and memory[part + FRAGMENT] < fragment:
            part += PART
        begin = end = at.rows + cpu * at.row
        memory[touched + FRAGMENT] = fragment
        memory[touched + BEGIN] = -1
        if part < behind_parts and memory[part + FRAGMENT] == fragment:
            memory[touched + BEGIN] = (part - parts) // PART
            end = begin + memory[part + PART + BEGIN] * ENTRIES
            begin += memory[part + BEGIN] * ENTRIES
        price_part(memory, at, begin, end, change, behind, 1 - 2 * side, touched)
        touched += PART
        number += 1
        change = behind
    memory[at.counters + TOUCHED + side] = number
    return best_ends(memory, at, cpu, side)


@compiled
def price_part(  # noqa: PLR0912, PLR0913, PLR0915, PLR0917 - one pass
    memory: Memory,
    at: Layout,
    begin: int,
    end: int,
    change: int,
    behind: int,
    sign: int,
    part: int,
) -> None:
    """Price the entries from ``begin`` to ``end`` with those from ``change`` on added to them.

    Of all tasks only the two cheapest openers, the three cheapest closers and the two cheapest
    last ones matter. Types are sorted by their entries, so that the openers are tasks 0 and 1.
    """
    size = base = entry_1 = entry_2 = 0
    exit_1 = exit_2 = exit_3 = end_1 = end_2 = IMPOSSIBLE
    closer_1 = closer_2 = closer_3 = final_1 = -1
    task = 0
    while begin < end or change < behind:
        count = 0
        if begin < end and (change == behind or memory[begin] <= memory[change]):
            kind = memory[begin]
            count = memory[begin + 1]
            begin += ENTRIES
        else:
            kind = memory[change]
        if change < behind and memory[change] == kind:
            count += sign * memory[change + 1]
            change += ENTRIES
        record = at.types + kind * TYPE
        size += count
        base += count * memory[record + BASE]
        leaving = memory[record + EXIT]
        ending = memory[record + END]
        for _ in range(min(count, COPIES)):
            if task == 0:
                entry_1 = memory[record + ENTRY]
            elif task == 1:
                entry_2 = memory[record + ENTRY]
            if leaving < exit_1:
                exit_1, exit_2, exit_3 = leaving, exit_1, exit_2
                closer_1, closer_2, closer_3 = task, closer_1, closer_2
            elif leaving < exit_2:
                exit_2, exit_3 = leaving, exit_2
                closer_2, closer_3 = task, closer_2
            elif leaving < exit_3:
                exit_3 = leaving
                closer_3 = task
            if ending < end_1:
                end_1, end_2 = ending, end_1
                final_1 = task
            elif ending < end_2:
                end_2 = ending
            task += 1
    memory[part + SIZE] = size
    if size == 0:
        return
    if size == 1:
        memory[part + MIDDLE] = base + entry_1 + exit_1
        memory[part + FIRST] = -entry_1
        memory[part + LAST] = end_1 - exit_1
        memory[part + ALONE] = end_1 - entry_1 - exit_1
        memory[part + SPLIT] = IMPOSSIBLE
        return
    middle = entry_1 + exit_1 if closer_1 else min(entry_1 + exit_2, entry_2 + exit_1)
    last = entry_1 + end_1 if final_1 else min(entry_1 + end_2, entry_2 + end_1)
    split = exit_1 + (entry_1 if closer_1 else entry_2) + (end_1 if closer_1 != final_1 else end_2)
    split = min(
        split,
        exit_2 + (entry_1 if closer_2 else entry_2) + (end_1 if closer_2 != final_1 else end_2),
    )
    if closer_3 >= 0:
        split = min(
            split,
            exit_3 + (entry_1 if closer_3 else entry_2) + (end_1 if closer_3 != final_1 else end_2),
        )
    memory[part + MIDDLE] = base + middle
    memory[part + FIRST] = exit_1 - middle
    memory[part + LAST] = last - middle
    memory[part + ALONE] = end_1 - middle
    memory[part + SPLIT] = split - middle


@compiled
def best_ends(  # noqa: PLR0912, PLR0915 - one pass
    memory: Memory, at: Layout, cpu: int, side: int
) -> int:
    """Return what ``cpu`` costs with the best first and last fragment after the move."""
    record = at.cpu + cpu * CPU
    free = memory[record + FREE]
    parts = memory[record + PARTS]
    row = at.part_rows + cpu * at.part_row
    touched = at.touched + side * 2 * at.part_row
    behind_touched = touched + memory[at.counters + TOUCHED + side] * PART
    number = cost = alone = 0
    first_1 = first_2 = last_1 = last_2 = split = IMPOSSIBLE
    first_at = last_at = -1
    slot = touched
    for place in range(parts + memory[at.counters + TOUCHED + side]):
        if place < parts:
            part = row + place * PART
            while slot < behind_touched and memory[slot + BEGIN] < place:
                slot += PART
            if slot < behind_touched and memory[slot + BEGIN] == place:
                continue
        else:
            part = touched + (place - parts) * PART
            if memory[part + SIZE] == 0:
                continue
        number += 1
        cost += memory[part + MIDDLE]
        fragment = memory[part + FRAGMENT]
        alone = memory[part + ALONE]
        last = memory[part + LAST]
        if last < last_1:
            last_1, last_2 = last, last_1
            last_at = fragment
        elif last < last_2:
            last_2 = last
        if free == FREE_FOR_ALL or free == fragment:  # noqa: PLR1714, SIM109
            first = memory[part + FIRST]
            if first < first_1:
                first_1, first_2 = first, first_1
                first_at = fragment
            elif first < first_2:
                first_2 = first
            split = min(split, memory[part + SPLIT])
    if number == 0:
        return 0
    cost += memory[record + ARRIVAL]
    spared = first_at >= 0
    if number == 1:
        return int(cost + (alone if spared else memory[record + DEPARTURE] + last_1))
    saving = split if spared else IMPOSSIBLE
    if free != FREE_FOR_ALL:
        saving = min(saving, memory[record + DEPARTURE] + last_1)
    if spared:
        if first_at != last_at:
            saving = min(saving, first_1 + last_1)
        else:
            saving = min(saving, first_1 + last_2)
            if first_2 != IMPOSSIBLE:
                saving = min(saving, first_2 + last_1)
    return int(cost + saving)
