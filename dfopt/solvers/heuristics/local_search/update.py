"""Making a move: rows, parts and lists after tasks have come and gone."""

from __future__ import annotations

from dfopt.solvers.compilation.compiled import compiled_in_place
from dfopt.solvers.heuristics.local_search.state import (
    ABOVE,
    ABOVE_PLACE,
    BEGIN,
    BEST,
    COST,
    COUNT,
    FRAGMENT,
    HELD_BY,
    HOLDERS,
    LOAD,
    MOVED,
    OF_FRAGMENT,
    OVER,
    PART_COLUMNS,
    PARTS,
    SIZE,
    TARGET,
    TASK_SIZE,
    TOTAL,
    TOUCHED,
    TYPE,
    TYPES,
    SearchState,
)


@compiled_in_place
def make_move(state: SearchState, cpu: int, side: int, cost: int) -> None:
    """Make the current move on ``cpu``, after which the CPU costs ``cost``."""
    update_parts(state, cpu, side)
    update_types(state, cpu, 1 - 2 * side)
    update_cost(state, cpu, cost)


@compiled_in_place
def update_parts(state: SearchState, cpu: int, side: int) -> None:
    """Replace the touched parts; the last one first, so that places stay what they were."""
    for slot in range(state.counters[TOUCHED + side] - 1, -1, -1):
        fragment = state.touched[side, slot, FRAGMENT]
        part = state.touched[side, slot, BEGIN]
        parts = state.cpus[cpu, PARTS]
        holders = state.holdings[fragment, HOLDERS]
        if state.touched[side, slot, SIZE] == 0:
            for place in range(part, parts - 1):
                for column in range(PART_COLUMNS):
                    state.parts[cpu, place, column] = state.parts[cpu, place + 1, column]
            state.cpus[cpu, PARTS] -= 1
            state.holdings[fragment, HELD_BY] -= 1
            last = holders + state.holdings[fragment, HELD_BY]
            for holder in range(holders, last):
                if state.holders[holder] == cpu:
                    state.holders[holder] = state.holders[last]
            continue
        if part < 0:
            part = parts
            while part > 0 and state.parts[cpu, part - 1, FRAGMENT] > fragment:
                for column in range(PART_COLUMNS):
                    state.parts[cpu, part, column] = state.parts[cpu, part - 1, column]
                part -= 1
            state.cpus[cpu, PARTS] += 1
            state.holders[holders + state.holdings[fragment, HELD_BY]] = cpu
            state.holdings[fragment, HELD_BY] += 1
        for column in range(PART_COLUMNS):
            state.parts[cpu, part, column] = state.touched[side, slot, column]


@compiled_in_place
def update_types(state: SearchState, cpu: int, sign: int) -> None:
    """Merge the current move into the row of types, and find where its parts begin."""
    old = change = types = 0
    behind_old, behind = state.cpus[cpu, TYPES], state.counters[MOVED]
    while old < behind_old or change < behind:
        count = 0
        if old < behind_old and (
            change == behind or state.rows[cpu, old, TYPE] <= state.moved[change, TYPE]
        ):
            task_type = state.rows[cpu, old, TYPE]
            count = state.rows[cpu, old, COUNT]
            old += 1
        else:
            task_type = state.moved[change, TYPE]
        if change < behind and state.moved[change, TYPE] == task_type:
            growth = sign * state.moved[change, COUNT]
            count += growth
            state.cpus[cpu, LOAD] += growth * state.types[task_type, TASK_SIZE]
            change += 1
        if count:
            state.merged[types, TYPE] = task_type
            state.merged[types, COUNT] = count
            types += 1
    state.cpus[cpu, TYPES] = types
    part = 0
    fragment = -1
    for place in range(types):
        task_type = state.merged[place, TYPE]
        state.rows[cpu, place, TYPE] = task_type
        state.rows[cpu, place, COUNT] = state.merged[place, COUNT]
        if state.types[task_type, OF_FRAGMENT] != fragment:
            fragment = state.types[task_type, OF_FRAGMENT]
            state.parts[cpu, part, BEGIN] = place
            part += 1
    state.parts[cpu, part, BEGIN] = types


@compiled_in_place
def update_cost(state: SearchState, cpu: int, cost: int) -> None:
    """Note what ``cpu`` costs now, and whether that is above the target."""
    before = state.cpus[cpu, COST]
    best = state.counters[BEST]
    state.cpus[cpu, COST] = cost
    state.counters[TOTAL] += cost - before
    state.counters[OVER] += int(cost >= best) - int(before >= best)
    if state.cpus[cpu, ABOVE_PLACE] < 0:
        list_if_above(state, cpu)
    elif cost <= state.counters[TARGET]:
        # The last CPU of the list takes its place.
        above = state.counters[ABOVE] - 1
        last = state.above[above]
        place = state.cpus[cpu, ABOVE_PLACE]
        state.above[place] = last
        state.cpus[last, ABOVE_PLACE] = place
        state.cpus[cpu, ABOVE_PLACE] = -1
        state.counters[ABOVE] = above


@compiled_in_place
def aim(state: SearchState, goal: int, known: int) -> None:
    """Aim at one less than the best objective so far, down to ``goal``.

    Only a schedule that costs less than ``known`` is news. To aim at a far goal from the start
    leads to worse schedules where it is out of reach.
    """
    compare_with(state, known)
    set_target(state, max(goal, state.counters[BEST] - 1))


@compiled_in_place
def compare_with(state: SearchState, known: int) -> None:
    """Let only a schedule that costs less than ``known`` be news."""
    best = min(known, state.counters[BEST])
    state.counters[BEST] = best
    state.counters[OVER] = 0
    for cpu in range(len(state.cpus)):
        state.counters[OVER] += int(state.cpus[cpu, COST] >= best)
    keep_best(state)


@compiled_in_place
def set_target(state: SearchState, target: int) -> None:
    """Aim at a target, and list the CPUs above it."""
    state.counters[TARGET] = target
    state.counters[ABOVE] = 0
    for cpu in range(len(state.cpus)):
        state.cpus[cpu, ABOVE_PLACE] = -1
        list_if_above(state, cpu)


@compiled_in_place
def list_if_above(state: SearchState, cpu: int) -> None:
    """Put ``cpu``, which is not there, in the list of the CPUs above the target."""
    if state.cpus[cpu, COST] > state.counters[TARGET]:
        above = state.counters[ABOVE]
        state.cpus[cpu, ABOVE_PLACE] = above
        state.above[above] = cpu
        state.counters[ABOVE] = above + 1


@compiled_in_place
def keep_best(state: SearchState) -> None:
    """Keep the current contents of the CPUs if they are better than the best so far."""
    if state.adds_up:
        if state.counters[TOTAL] >= state.counters[BEST]:
            return
        best = state.counters[TOTAL]
    else:
        if state.counters[OVER] > 0:
            return
        best = 0
        over = 0
        for cpu in range(len(state.cpus)):
            cost = state.cpus[cpu, COST]
            if cost > best:
                best = cost
                over = 0
            over += int(cost == best)
        state.counters[OVER] = over
    state.counters[BEST] = best
    for cpu in range(len(state.cpus)):
        types = state.cpus[cpu, TYPES]
        state.best_types[cpu] = types
        for place in range(types):
            state.best_rows[cpu, place, TYPE] = state.rows[cpu, place, TYPE]
            state.best_rows[cpu, place, COUNT] = state.rows[cpu, place, COUNT]
