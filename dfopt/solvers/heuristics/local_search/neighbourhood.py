"""Random moves: two CPUs exchange some of their tasks.

A move begins with a random part of a random CPU, or of a CPU above the target. Single tasks are
exchanged, or some tasks of two parts, or a whole part moves and others come back.
"""

from __future__ import annotations

from dfopt.solvers.compilation.compiled import compiled_in_place
from dfopt.solvers.heuristics.local_search.state import (
    ABOVE,
    BEGIN,
    COUNT,
    FRAGMENT,
    HELD_BY,
    HOLDERS,
    LOAD,
    MOVED,
    PARTS,
    RANDOM,
    SIZE,
    TASK_SIZE,
    TYPE,
    TYPES,
    Integers,
    SearchState,
)

FROM_ABOVE = 0.5
"""Probability that a move begins at a CPU above the target."""

TO_HOLDER = 0.3
"""Probability that the other CPU is one that holds the fragment too."""

ONE_WAY = 0.3
"""Probability that tasks move without any in exchange, where there is room."""

SINGLE, EQUAL, UNEQUAL = 0.4, 0.6, 0.8
"""A random number chooses the exchange. Below SINGLE one task goes each way. Below EQUAL two parts
exchange equal numbers of tasks. Below UNEQUAL two parts exchange as many tasks as there is room
for. Above, a whole part moves, and other tasks come back if there is too little room."""

MOST_GIVEN = 3
"""At most 3 tasks of a fragment move between two CPUs that keep some of it."""

MOST_TASKS_BACK = 6
"""At most 6 single tasks of different sizes come back for those that move."""

LOW_57 = 2**57 - 1
LOW_31 = 2**31 - 1


@compiled_in_place
def random_bits(counters: Integers) -> int:
    """Return the next 64 random bits (Marsaglia's xorshift); the sign is one of them."""
    bits = counters[RANDOM]
    bits ^= bits << 13
    bits ^= (bits >> 7) & LOW_57
    bits ^= bits << 17
    counters[RANDOM] = bits
    return int(bits)


@compiled_in_place
def random_below(counters: Integers, limit: int) -> int:
    """Return one of 0 … limit - 1, all equally likely; ``limit`` is below 2³¹."""
    return ((random_bits(counters) >> 32) & LOW_31) * limit >> 31


@compiled_in_place
def uniform(counters: Integers) -> float:
    """Return a number above 0, at most 1."""
    return (((random_bits(counters) >> 32) & LOW_31) + 1) * 2.0**-31


@compiled_in_place
def propose(state: SearchState) -> tuple[int, int]:  # noqa: PLR0912, PLR0915 - one way after the other
    """Write down a random move and return its CPUs; there may be nothing in it."""
    counters = state.counters
    counters[MOVED] = 0
    cpus = len(state.cpus)
    cpu = random_below(counters, cpus)
    if counters[ABOVE] and uniform(counters) < FROM_ABOVE:
        cpu = state.above[random_below(counters, counters[ABOVE])]
    other = random_below(counters, cpus - 1)
    other += int(other >= cpu)
    if state.cpus[cpu, PARTS] == 0:
        return cpu, other
    part = random_below(counters, state.cpus[cpu, PARTS])
    fragment = state.parts[cpu, part, FRAGMENT]
    holders = state.holdings[fragment, HELD_BY]
    if holders > 1 and uniform(counters) < TO_HOLDER:
        other = state.holders[state.holdings[fragment, HOLDERS] + random_below(counters, holders)]
        if other == cpu:
            return cpu, other
    others = state.cpus[other, PARTS]
    size = state.parts[cpu, part, SIZE]
    room = state.room - state.cpus[other, LOAD]
    own_room = state.room - state.cpus[cpu, LOAD]
    way = uniform(counters)
    if state.has_sizes:
        exchange_sizes(state, cpu, part, other, way)
        return cpu, other
    if others == 0 or (room > 0 and uniform(counters) < ONE_WAY):
        give = 1 if way < SINGLE else min(size, room)
        pick(state, cpu, part, give, -1)
        return cpu, other
    other_part = random_below(counters, others)
    other_size = state.parts[other, other_part, SIZE]
    if way < SINGLE:
        pick(state, cpu, part, 1, -1)
        pick(state, other, other_part, 1, 1)
    elif way < EQUAL:
        give = min(size, other_size)
        pick(state, cpu, part, give, -1)
        pick(state, other, other_part, give, 1)
    elif way < UNEQUAL:
        give = min(size, other_size + room)
        take = min(other_size, size + own_room)
        pick(state, cpu, part, give, -1)
        pick(state, other, other_part, take, 1)
    else:
        pick(state, cpu, part, size, -1)
        # Other tasks come back if there is too little room for the whole part.
        owed = size - room
        for _ in range(others):
            if owed > 0 and state.parts[other, other_part, FRAGMENT] != fragment:
                take = min(owed, state.parts[other, other_part, SIZE])
                pick(state, other, other_part, take, 1)
                owed -= take
            other_part += 1
            if other_part == others:
                other_part = 0
        if owed > 0:
            counters[MOVED] = 0
    net(state)
    return cpu, other


@compiled_in_place
def propose_within(state: SearchState) -> tuple[int, int]:
    """Write down an exchange of tasks of one fragment, of which two CPUs hold some."""
    counters = state.counters
    counters[MOVED] = 0
    cpu = random_below(counters, len(state.cpus))
    if counters[ABOVE] and uniform(counters) < FROM_ABOVE:
        cpu = state.above[random_below(counters, counters[ABOVE])]
    if state.cpus[cpu, PARTS] == 0:
        return cpu, cpu
    part = random_below(counters, state.cpus[cpu, PARTS])
    fragment = state.parts[cpu, part, FRAGMENT]
    holders = state.holdings[fragment, HELD_BY]
    other = state.holders[state.holdings[fragment, HOLDERS] + random_below(counters, holders)]
    if other == cpu:
        return cpu, cpu
    other_part = 0
    while state.parts[other, other_part, FRAGMENT] != fragment:
        other_part += 1
    room = state.room - state.cpus[other, LOAD]
    own_room = state.room - state.cpus[cpu, LOAD]
    give = min(state.parts[cpu, part, SIZE], 1 + random_below(counters, MOST_GIVEN))
    take = give - room + random_below(counters, own_room + room + 1)
    take = min(max(take, 0), state.parts[other, other_part, SIZE])
    if give - take > room:
        return cpu, cpu
    pick(state, cpu, part, give, -1)
    if take > 0:
        pick(state, other, other_part, take, 1)
    net(state)
    return cpu, other


@compiled_in_place
def exchange_sizes(state: SearchState, cpu: int, part: int, other: int, way: float) -> None:
    """Write down a move of tasks of different sizes; nothing if there is no room for it.

    A single task of a part moves, or a random number of them, or all. Single tasks of random parts
    come back until there is room.
    """
    counters = state.counters
    room = state.room - state.cpus[other, LOAD]
    own_room = state.room - state.cpus[cpu, LOAD]
    tasks = state.parts[cpu, part, SIZE]
    give = tasks
    if way < SINGLE:
        give = 1
    elif way < UNEQUAL:
        give = 1 + random_below(counters, tasks)
    pick(state, cpu, part, give, -1)
    others = state.cpus[other, PARTS]
    tries = 0
    while others > 0:
        net(state)
        growth = size_of_move(state)
        wants_more = -growth > room
        if tries == 0 and not wants_more and growth + own_room > 0:
            # There is room already; sometimes a task comes back nevertheless.
            wants_more = uniform(counters) >= ONE_WAY
        if not wants_more or tries == MOST_TASKS_BACK:
            break
        other_part = random_below(counters, others)
        tries += 1
        pick(state, other, other_part, 1, 1)
    net(state)
    growth = size_of_move(state)
    if -growth > room or growth > own_room or not may_lose(state, other):
        counters[MOVED] = 0


@compiled_in_place
def size_of_move(state: SearchState) -> int:
    """Return by how much the first CPU of the current move gains size."""
    growth = 0
    for change in range(state.counters[MOVED]):
        growth += state.moved[change, COUNT] * state.types[state.moved[change, TYPE], TASK_SIZE]
    return growth


@compiled_in_place
def may_lose(state: SearchState, other: int) -> bool:
    """Return whether the second CPU holds all tasks that it shall lose."""
    place = 0
    for change in range(state.counters[MOVED]):
        if state.moved[change, COUNT] <= 0:
            continue
        while (
            place < state.cpus[other, TYPES]
            and state.rows[other, place, TYPE] < state.moved[change, TYPE]
        ):
            place += 1
        if (
            place == state.cpus[other, TYPES]
            or state.rows[other, place, TYPE] != state.moved[change, TYPE]
            or state.rows[other, place, COUNT] < state.moved[change, COUNT]
        ):
            return False
    return True


@compiled_in_place
def pick(state: SearchState, cpu: int, part: int, tasks: int, sign: int) -> None:
    """Add random tasks of a part to the current move."""
    moved = state.counters[MOVED]
    left = state.parts[cpu, part, SIZE]
    place = state.parts[cpu, part, BEGIN]
    if tasks == 1:
        skip = random_below(state.counters, left)
        while skip >= state.rows[cpu, place, COUNT]:
            skip -= state.rows[cpu, place, COUNT]
            place += 1
        state.moved[moved, TYPE] = state.rows[cpu, place, TYPE]
        state.moved[moved, COUNT] = sign
        state.counters[MOVED] += 1
        return
    while tasks > 0:
        count = state.rows[cpu, place, COUNT]
        taken = count
        if tasks < left:
            # Every task is as likely to be taken as the others.
            taken = int(count * tasks / left + 1 - uniform(state.counters))
            taken = min(max(taken, tasks - left + count), count, tasks)
        if taken > 0:
            state.moved[moved, TYPE] = state.rows[cpu, place, TYPE]
            state.moved[moved, COUNT] = sign * taken
            moved += 1
        tasks -= taken
        left -= count
        place += 1
    state.counters[MOVED] = moved


@compiled_in_place
def net(state: SearchState) -> None:
    """Sort the types of the current move; tasks that go both ways stay where they are."""
    moved = state.counters[MOVED]
    for place in range(1, moved):
        task_type, count = state.moved[place, TYPE], state.moved[place, COUNT]
        hole = place
        while hole > 0 and state.moved[hole - 1, TYPE] > task_type:
            state.moved[hole, TYPE] = state.moved[hole - 1, TYPE]
            state.moved[hole, COUNT] = state.moved[hole - 1, COUNT]
            hole -= 1
        state.moved[hole, TYPE] = task_type
        state.moved[hole, COUNT] = count
    kept = 0
    for place in range(moved):
        if kept > 0 and state.moved[kept - 1, TYPE] == state.moved[place, TYPE]:
            state.moved[kept - 1, COUNT] += state.moved[place, COUNT]
            if state.moved[kept - 1, COUNT] == 0:
                kept -= 1
        else:
            state.moved[kept, TYPE] = state.moved[place, TYPE]
            state.moved[kept, COUNT] = state.moved[place, COUNT]
            kept += 1
    state.counters[MOVED] = kept
