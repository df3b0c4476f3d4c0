"""Random moves: which two CPUs exchange which tasks."""

from __future__ import annotations

from dfopt.solvers.compiled import compiled
from dfopt.solvers.local_search.memory import (
    ABOVE,
    BEGIN,
    CPU,
    ENTRIES,
    FRAGMENT,
    HELD_BY,
    HOLDERS,
    HOLDING,
    LOAD,
    MOVED,
    PART,
    PARTS,
    RANDOM,
    SIZE,
    Layout,
    Memory,
)

FROM_ABOVE = 0.5
"""How often a move begins at a CPU above the target."""

TO_HOLDER = 0.3
"""How often the other CPU is one that holds the fragment too."""

ONE_WAY = 0.3
"""How often tasks move without any in exchange, where there is room."""

SINGLE, EQUAL, UNEQUAL = 0.4, 0.6, 0.8
"""Up to here single tasks are exchanged, equally many of two parts, two parts as far as there is
room; beyond, a whole part moves, and what there is no room for comes back."""

LOW_57 = 2**57 - 1
LOW_31 = 2**31 - 1


@compiled
def fresh(memory: Memory, at: Layout) -> int:
    """Return the next 64 random bits (Marsaglia's xorshift); the sign is one of them."""
    bits = memory[at.counters + RANDOM]
    bits ^= bits << 13
    bits ^= (bits >> 7) & LOW_57
    bits ^= bits << 17
    memory[at.counters + RANDOM] = bits
    return int(bits)


@compiled
def below(memory: Memory, at: Layout, number: int) -> int:
    """Return one of 0 … number - 1, all equally likely; ``number`` is below 2³¹."""
    return ((fresh(memory, at) >> 32) & LOW_31) * number >> 31


@compiled
def uniform(memory: Memory, at: Layout) -> float:
    """Return a number above 0, at most 1."""
    return (((fresh(memory, at) >> 32) & LOW_31) + 1) * 2.0**-31


@compiled
def propose(  # noqa: PLR0912, PLR0915 - one way after the other
    memory: Memory, at: Layout
) -> tuple[int, int]:
    """Write down a random move and return its CPUs; there may be nothing in it."""
    moved = at.counters + MOVED
    memory[moved] = 0
    cpu = below(memory, at, at.cpus)
    if memory[at.counters + ABOVE] and uniform(memory, at) < FROM_ABOVE:
        cpu = memory[at.above + below(memory, at, memory[at.counters + ABOVE])]
    other = below(memory, at, at.cpus - 1)
    other += int(other >= cpu)
    record = at.cpu + cpu * CPU
    if memory[record + PARTS] == 0:
        return cpu, other
    part = at.part_rows + cpu * at.part_row + below(memory, at, memory[record + PARTS]) * PART
    fragment = memory[part + FRAGMENT]
    holding = at.fragments + fragment * HOLDING
    holders = memory[holding + HELD_BY]
    if holders > 1 and uniform(memory, at) < TO_HOLDER:
        other = memory[memory[holding + HOLDERS] + below(memory, at, holders)]
        if other == cpu:
            return cpu, other
    other_record = at.cpu + other * CPU
    others = memory[other_record + PARTS]
    size = memory[part + SIZE]
    room = at.capacity - memory[other_record + LOAD]
    own_room = at.capacity - memory[record + LOAD]
    way = uniform(memory, at)
    if others == 0 or (room > 0 and uniform(memory, at) < ONE_WAY):
        give = 1 if way < SINGLE else min(size, room)
        pick(memory, at, cpu, part, give, -1)
        return cpu, other
    other_parts = at.part_rows + other * at.part_row
    place = below(memory, at, others)
    other_part = other_parts + place * PART
    other_size = memory[other_part + SIZE]
    if way < SINGLE:
        pick(memory, at, cpu, part, 1, -1)
        pick(memory, at, other, other_part, 1, 1)
    elif way < EQUAL:
        give = min(size, other_size)
        pick(memory, at, cpu, part, give, -1)
        pick(memory, at, other, other_part, give, 1)
    elif way < UNEQUAL:
        give = min(size, other_size + room)
        take = min(other_size, size + own_room)
        pick(memory, at, cpu, part, give, -1)
        pick(memory, at, other, other_part, take, 1)
    else:
        pick(memory, at, cpu, part, size, -1)
        # What comes back makes up for what there is no room for.
        owed = size - room
        for _ in range(others):
            if owed > 0 and memory[other_part + FRAGMENT] != fragment:
                take = min(owed, memory[other_part + SIZE])
                pick(memory, at, other, other_part, take, 1)
                owed -= take
            place += 1
            other_part += PART
            if place == others:
                place = 0
                other_part = other_parts
        if owed > 0:
            memory[moved] = 0
    tidy(memory, at)
    return cpu, other


@compiled
def pick(  # noqa: PLR0913, PLR0917
    memory: Memory, at: Layout, cpu: int, part: int, number: int, sign: int
) -> None:
    """Add ``number`` random tasks of a part to the move at hand."""
    moved = at.moved + memory[at.counters + MOVED] * ENTRIES
    left = memory[part + SIZE]
    entry = at.rows + cpu * at.row + memory[part + BEGIN] * ENTRIES
    if number == 1:
        skip = below(memory, at, left)
        while skip >= memory[entry + 1]:
            skip -= memory[entry + 1]
            entry += ENTRIES
        memory[moved] = memory[entry]
        memory[moved + 1] = sign
        memory[at.counters + MOVED] += 1
        return
    while number > 0:
        count = memory[entry + 1]
        taken = count
        if number < left:
            # Every task is as likely to be taken as the others.
            taken = int(count * number / left + 1 - uniform(memory, at))
            taken = min(max(taken, number - left + count), count, number)
        if taken > 0:
            memory[moved] = memory[entry]
            memory[moved + 1] = sign * taken
            moved += ENTRIES
        number -= taken
        left -= count
        entry += ENTRIES
    memory[at.counters + MOVED] = (moved - at.moved) // ENTRIES


@compiled
def tidy(memory: Memory, at: Layout) -> None:
    """Sort the types of the move at hand; what goes both ways stays where it is."""
    begin = at.moved
    behind = begin + memory[at.counters + MOVED] * ENTRIES
    for place in range(begin + ENTRIES, behind, ENTRIES):
        kind, count = memory[place], memory[place + 1]
        hole = place
        while hole > begin and memory[hole - ENTRIES] > kind:
            memory[hole] = memory[hole - ENTRIES]
            memory[hole + 1] = memory[hole - ENTRIES + 1]
            hole -= ENTRIES
        memory[hole] = kind
        memory[hole + 1] = count
    kept = begin
    for place in range(begin, behind, ENTRIES):
        if kept > begin and memory[kept - ENTRIES] == memory[place]:
            memory[kept - ENTRIES + 1] += memory[place + 1]
            if memory[kept - ENTRIES + 1] == 0:
                kept -= ENTRIES
        else:
            memory[kept] = memory[place]
            memory[kept + 1] = memory[place + 1]
            kept += ENTRIES
    memory[at.counters + MOVED] = (kept - begin) // ENTRIES
