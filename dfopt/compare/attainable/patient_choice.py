"""Which dispatch the patient rule starts next, and on which CPU."""

from __future__ import annotations

from dfopt.compare.attainable.arrivals import NONE
from dfopt.compare.attainable.replay_state import EVICTING_BLOCK, NEVER, ReplayInput, ReplayState
from dfopt.solvers.compilation.compiled import compiled_in_place


@compiled_in_place
def at_its_place(given: ReplayInput, state: ReplayState, now: int) -> tuple[int, int]:
    """Return a dispatch that starts at its reserved place now, and its CPU; or ``NONE`` twice.

    Pass over the obstacles that have begun. If nobody starts, find out for each CPU until when a
    dispatch may run that starts now; -``NEVER`` if the CPU is not idle.
    """
    for cpu, _ in enumerate(state.held):
        while given.cut_time[state.cut[cpu]] <= now:
            state.held[cpu] = NONE
            state.cut[cpu] += 1
        while True:
            index = state.obstacle[cpu]
            dispatch = given.obstacle_dispatch[index]
            if dispatch >= 0 and state.cpu_of[dispatch] != NONE:
                # It ran earlier.
                state.obstacle[cpu] += 1
                continue
            if given.obstacle_start[index] > now:
                break
            if dispatch >= 0:
                if state.is_queued[dispatch]:
                    return dispatch, cpu
                break
            state.obstacle[cpu] += 1
            state.free_at[cpu] = max(state.free_at[cpu], given.obstacle_end[index])
            if dispatch == EVICTING_BLOCK:
                state.held[cpu] = NONE
        is_idle = state.free_at[cpu] <= now
        state.usable_until[cpu] = given.obstacle_start[state.obstacle[cpu]] if is_idle else -NEVER
    return NONE, NONE


@compiled_in_place
def cpu_for(given: ReplayInput, state: ReplayState, dispatch: int, now: int) -> int:
    """Return the CPU for a dispatch that waits no longer, or ``NONE`` if it fits on none.

    That is one that holds its fragment, else one that holds nothing, else the one that has not run
    for longest.
    """
    finish, chosen = now + given.length[dispatch], NONE
    for cpu, until in enumerate(state.usable_until):
        if finish > until:
            continue
        if state.held[cpu] == given.fragment[dispatch]:
            return cpu
        if chosen == NONE or (
            state.held[chosen] != NONE
            and (state.held[cpu] == NONE or state.used_at[cpu] < state.used_at[chosen])
        ):
            chosen = cpu
    return chosen


@compiled_in_place
def _first_fitting(given: ReplayInput, state: ReplayState, now: int, ready_by: int) -> int:
    """Return the first of the common queue that some CPU has room for, or that is ready too late.

    If there is neither, return what stands for the end of the queue.
    """
    end, latest = len(given.fragment), -NEVER
    dispatch = end
    for cpu, until in enumerate(state.usable_until):
        if until < now:
            continue
        latest = max(latest, until)
        if state.tried_until[cpu] != until:
            state.tried_until[cpu], state.untried[cpu] = until, state.younger[end]
        if state.turn[state.untried[cpu]] < state.turn[dispatch]:
            dispatch = state.untried[cpu]
    while (
        dispatch != end
        and now + given.length[dispatch] > latest
        and state.ready[dispatch] <= ready_by
    ):
        dispatch = state.younger[dispatch]
    for cpu, until in enumerate(state.usable_until):
        if until >= now and state.turn[state.untried[cpu]] < state.turn[dispatch]:
            state.untried[cpu] = dispatch
    return dispatch


@compiled_in_place
def next_by_rule(
    given: ReplayInput, state: ReplayState, now: int, patience: int
) -> tuple[int, int]:
    """Return the dispatch that starts next by the rule, and its CPU; or ``NONE`` twice."""
    end, held, usable_until = len(given.fragment), state.held, state.usable_until
    is_idle, is_empty = False, False
    for cpu, until in enumerate(usable_until):
        if until > now:
            is_idle = True
            is_empty = is_empty or held[cpu] == NONE
    if not is_idle:
        return NONE, NONE
    # Affinity first.
    chosen, chosen_cpu = NONE, NONE
    for cpu, until in enumerate(usable_until):
        room = until - now
        if room < 0 or held[cpu] == NONE:
            continue
        if chosen_cpu != NONE and state.used_at[cpu] <= state.used_at[chosen_cpu]:
            continue
        dispatch = state.behind[end + held[cpu]]
        while dispatch < end and given.length[dispatch] > room:
            dispatch = state.behind[dispatch]
        if dispatch < end:
            chosen, chosen_cpu = dispatch, cpu
    if chosen_cpu != NONE:
        return chosen, chosen_cpu
    # Then CPUs that have nothing to lose, and dispatches that have waited for long.
    dispatch = _first_fitting(given, state, now, NEVER if is_empty else now - patience)
    while dispatch != end:
        is_due = state.ready[dispatch] + patience <= now
        if not is_due and not is_empty:
            break
        cpu = cpu_for(given, state, dispatch, now)
        if cpu != NONE and (is_due or held[cpu] == NONE):
            return dispatch, cpu
        dispatch = state.younger[dispatch]
    return NONE, NONE
