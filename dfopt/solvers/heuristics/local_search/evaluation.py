"""The cost of a move: F* of a CPU as the move would leave it.

Only the parts that the move touches are worked out anew; then the best first and last fragment
are chosen among all parts.
"""

from __future__ import annotations

from dfopt.solvers.compilation.compiled import compiled_in_place
from dfopt.solvers.heuristics.local_search.state import (
    ALONE,
    ARRIVAL,
    BASE,
    BEGIN,
    COUNT,
    DEPARTURE,
    END,
    ENTRY,
    EXIT,
    FIRST,
    FRAGMENT,
    FREE,
    FREE_FOR_ALL,
    IDLE,
    LAST,
    MIDDLE,
    MOVED,
    OF_FRAGMENT,
    PARTS,
    SIZE,
    SPLIT,
    TOUCHED,
    TYPE,
    SearchState,
)

IMPOSSIBLE = 2**63 - 1
"""More than any cost; nothing is ever added to it."""

COPIES = 2
"""At most 2 tasks of a type matter: one opens a block, another one ends it."""


@compiled_in_place
def cost_after(state: SearchState, cpu: int, side: int) -> int:
    """Return F* of ``cpu`` after the current move.

    Parameters
    ----------
    state
        The parts that the move touches, as they would be, are written to ``touched``.
    cpu
        A CPU of the move.
    side
        0 for its first CPU, 1 for its second.
    """
    part = touched = change = 0
    parts, moved = state.cpus[cpu, PARTS], state.counters[MOVED]
    while change < moved:
        fragment = state.types[state.moved[change, TYPE], OF_FRAGMENT]
        behind = change + 1
        while behind < moved and state.types[state.moved[behind, TYPE], OF_FRAGMENT] == fragment:
            behind += 1
        while part < parts and state.parts[cpu, part, FRAGMENT] < fragment:
            part += 1
        begin = end = 0
        state.touched[side, touched, FRAGMENT] = fragment
        state.touched[side, touched, BEGIN] = -1
        if part < parts and state.parts[cpu, part, FRAGMENT] == fragment:
            state.touched[side, touched, BEGIN] = part
            begin = state.parts[cpu, part, BEGIN]
            end = state.parts[cpu, part + 1, BEGIN]
        evaluate_part(state, cpu, side, begin, end, change, behind, touched)
        touched += 1
        change = behind
    state.counters[TOUCHED + side] = touched
    return cost_with_best_ends(state, cpu, side)


@compiled_in_place
def evaluate_part(  # noqa: PLR0912, PLR0913, PLR0915, PLR0917 - one pass
    state: SearchState,
    cpu: int,
    side: int,
    begin: int,
    end: int,
    change: int,
    behind: int,
    touched: int,
) -> None:
    """Write down the cost of a part in each role after the current move.

    Its tasks stand in the CPU's row from ``begin`` to ``end``; those that come or go stand in
    ``moved`` from ``change`` to ``behind``. Of all tasks only the two cheapest openers, the three
    cheapest closers and the two cheapest last ones matter. Types are sorted by their entries, so
    that the openers are tasks 0 and 1.
    """
    sign = 1 - 2 * side
    size = base = entry_1 = entry_2 = 0
    exit_1 = exit_2 = exit_3 = end_1 = end_2 = IMPOSSIBLE
    closer_1 = closer_2 = closer_3 = final_1 = -1
    task = 0
    while begin < end or change < behind:
        # Merge the row with the move: both are sorted by type.
        count = 0
        if begin < end and (
            change == behind or state.rows[cpu, begin, TYPE] <= state.moved[change, TYPE]
        ):
            task_type = state.rows[cpu, begin, TYPE]
            count = state.rows[cpu, begin, COUNT]
            begin += 1
        else:
            task_type = state.moved[change, TYPE]
        if change < behind and state.moved[change, TYPE] == task_type:
            count += sign * state.moved[change, COUNT]
            change += 1
        size += count
        base += count * state.types[task_type, BASE]
        leaving = state.types[task_type, EXIT]
        ending = state.types[task_type, END]
        for _ in range(min(count, COPIES)):
            if task == 0:
                entry_1 = state.types[task_type, ENTRY]
            elif task == 1:
                entry_2 = state.types[task_type, ENTRY]
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
    state.touched[side, touched, SIZE] = size
    if size == 0:
        return
    if size == 1:
        state.touched[side, touched, MIDDLE] = base + entry_1 + exit_1
        state.touched[side, touched, FIRST] = -entry_1
        state.touched[side, touched, LAST] = end_1 - exit_1
        state.touched[side, touched, ALONE] = end_1 - entry_1 - exit_1
        state.touched[side, touched, SPLIT] = IMPOSSIBLE
        return
    # One block: its opener is another task than its closer, or than the CPU's last task.
    middle = entry_1 + exit_1 if closer_1 else min(entry_1 + exit_2, entry_2 + exit_1)
    last = entry_1 + end_1 if final_1 else min(entry_1 + end_2, entry_2 + end_1)
    # Two blocks: the opener of the second one may be the CPU's last task too.
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
    state.touched[side, touched, MIDDLE] = base + middle
    state.touched[side, touched, FIRST] = exit_1 - middle
    state.touched[side, touched, LAST] = last - middle
    state.touched[side, touched, ALONE] = end_1 - middle
    state.touched[side, touched, SPLIT] = split - middle


@compiled_in_place
def cost_with_best_ends(  # noqa: PLR0912, PLR0915 - one pass
    state: SearchState, cpu: int, side: int
) -> int:
    """Return the cost of ``cpu`` with the best first and last fragment after the move."""
    free = state.cpus[cpu, FREE]
    parts, touched = state.cpus[cpu, PARTS], state.counters[TOUCHED + side]
    fragments = cost = alone = 0
    first_1 = first_2 = last_1 = last_2 = split = IMPOSSIBLE
    first_at = last_at = -1
    slot = 0
    for part in range(parts + touched):
        # First the parts that stay as they are, then those that the move touches.
        if part < parts:
            while slot < touched and state.touched[side, slot, BEGIN] < part:
                slot += 1
            if slot < touched and state.touched[side, slot, BEGIN] == part:
                continue
            fragment = state.parts[cpu, part, FRAGMENT]
            middle = state.parts[cpu, part, MIDDLE]
            first = state.parts[cpu, part, FIRST]
            last = state.parts[cpu, part, LAST]
            alone = state.parts[cpu, part, ALONE]
            both = state.parts[cpu, part, SPLIT]
        else:
            if state.touched[side, part - parts, SIZE] == 0:
                continue
            fragment = state.touched[side, part - parts, FRAGMENT]
            middle = state.touched[side, part - parts, MIDDLE]
            first = state.touched[side, part - parts, FIRST]
            last = state.touched[side, part - parts, LAST]
            alone = state.touched[side, part - parts, ALONE]
            both = state.touched[side, part - parts, SPLIT]
        fragments += 1
        cost += middle
        if last < last_1:
            last_1, last_2 = last, last_1
            last_at = fragment
        elif last < last_2:
            last_2 = last
        if free == FREE_FOR_ALL or free == fragment:  # noqa: PLR1714, SIM109
            if first < first_1:
                first_1, first_2 = first, first_1
                first_at = fragment
            elif first < first_2:
                first_2 = first
            split = min(split, both)
    if fragments == 0:
        return int(state.cpus[cpu, IDLE])
    cost += state.cpus[cpu, ARRIVAL]
    departure = state.cpus[cpu, DEPARTURE]
    spared = first_at >= 0
    if fragments == 1:
        return int(cost + (alone if spared else departure + last_1))
    saving = split if spared else IMPOSSIBLE
    if free != FREE_FOR_ALL:
        saving = min(saving, departure + last_1)
    if spared:
        if first_at != last_at:
            saving = min(saving, first_1 + last_1)
        else:
            saving = min(saving, first_1 + last_2)
            if first_2 != IMPOSSIBLE:
                saving = min(saving, first_2 + last_1)
    return int(cost + saving)
