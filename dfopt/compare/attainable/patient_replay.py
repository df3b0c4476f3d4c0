"""Replays the rule "change to another fragment with patience" on given arrivals, event by event."""

from __future__ import annotations

import math
from heapq import heappop, heappush
from typing import cast

import numpy as np

from dfopt.compare.attainable.arrivals import NONE, Arrivals
from dfopt.compare.attainable.patient_choice import at_its_place, cpu_for, next_by_rule
from dfopt.compare.attainable.replay_state import (
    BLOCK,
    EVICTING_BLOCK,
    NEVER,
    ReplayInput,
    ReplayState,
)
from dfopt.compare.attainable.timed_schedule import TimedSchedule
from dfopt.solvers.compilation.compiled import as_plain_python, compiled, compiled_in_place
from dfopt.solvers.interruptible import wait_for
from dfopt.trace.events import Flags, Integers

PLAIN_DISPATCHES = 4_000
"""At most this number of dispatches are replayed as plain Python, without the compiler."""


def replayed(
    arrivals: Arrivals, patience: int, *, reserved: Flags, hurry_from: Integers
) -> TimedSchedule:
    """Return the schedule of the rule; :func:`~.patience.run_patiently` says what that is.

    Parameters
    ----------
    arrivals
        The dispatches and when they are ready.
    patience
        The time for which a dispatch waits before a CPU changes to its fragment.
    reserved
        Whether a dispatch has its recorded place reserved.
    hurry_from
        From when on a dispatch is urgent; ``NEVER`` if it is not at all.
    """
    count, cpus = len(arrivals), np.arange(arrivals.cpus)
    fragments = int(arrivals.fragment.max(initial=-1)) + 1
    follows, is_woken = arrivals.previous != NONE, arrivals.waker != NONE
    rows = np.arange(count)
    leader = np.concatenate([arrivals.previous[follows], arrivals.waker[is_woken]])
    lag = np.concatenate(
        [arrivals.length[arrivals.previous[follows]], arrivals.waker_offset[is_woken]]
    )
    by_leader = np.argsort(leader, kind="stable")
    places, blocks, none = np.flatnonzero(reserved), arrivals.blocks, np.full(len(cpus), NEVER)
    obstacle_cpu = np.concatenate([blocks.cpu, arrivals.cpu[places], cpus])
    obstacle_start = np.concatenate([blocks.start, arrivals.start[places], none])
    obstacle_end = np.concatenate([blocks.end, (arrivals.start + arrivals.length)[places], none])
    by_time = np.lexsort((obstacle_end, obstacle_start, obstacle_cpu))
    is_block = np.where(blocks.evicts, EVICTING_BLOCK, BLOCK)
    cut_cpu = np.concatenate([arrivals.cut_cpu, cpus])
    cut_time = np.concatenate([arrivals.cut_time, none])
    by_cut = np.lexsort((cut_time, cut_cpu))
    given = (
        arrivals.fragment,
        arrivals.length,
        np.searchsorted(leader[by_leader], np.arange(count + 1)),
        np.concatenate([rows[follows], rows[is_woken]])[by_leader],
        lag[by_leader],
        obstacle_start[by_time],
        obstacle_end[by_time],
        np.concatenate([is_block, places, np.full(len(cpus), BLOCK)])[by_time],
        cut_time[by_cut],
        hurry_from,
    )
    state = (
        arrivals.ready_by,
        follows.astype(np.int64) + is_woken,
        np.zeros(count),
        np.full(count, NONE),
        np.full(count, NONE),
        np.searchsorted(obstacle_cpu[by_time], cpus),
        np.searchsorted(cut_cpu[by_cut], cpus),
        np.full(len(cpus), -NEVER),
        np.full(len(cpus), -NEVER),
        np.full(len(cpus), NONE),
        np.full(len(cpus), NEVER),
        np.arange(count + fragments),
        np.arange(count + fragments),
        np.arange(count + 1),
        np.arange(count + 1),
        np.append(np.zeros(count), NEVER),
        np.array([count]),
        np.full(len(cpus), count),
        np.full(len(cpus), NEVER),
    )
    initial = np.flatnonzero(~follows & ~is_woken)
    initial = initial[np.argsort(arrivals.ready_by[initial], kind="stable")]
    if count <= PLAIN_DISPATCHES:
        # Lists, since plain Python reads single values of arrays slowly.
        lists = [cast(Integers, column.tolist()) for column in (*given, *state, initial)]
        result = ReplayState(*lists[len(given) : -1])
        with as_plain_python(math.inf, lambda: None):
            _replay(ReplayInput(*lists[: len(given)]), result, lists[-1], patience)
    else:
        columns = [column.astype(np.int64) for column in (*given, *state, initial)]
        result = ReplayState(*columns[len(given) : -1])
        wait_for(
            lambda: _replay(ReplayInput(*columns[: len(given)]), result, columns[-1], patience),
            lambda: None,
        )
    return TimedSchedule(cpu=np.array(result.cpu_of, np.int32), start=np.array(result.start_of))


@compiled
def _replay(  # noqa: PLR0912, PLR0915 - one loop, event by event
    given: ReplayInput, state: ReplayState, initial: Integers, patience: int
) -> None:
    """Let the rule start every dispatch; ``initial`` are those that wait for no other one."""
    ready, missing, free_at = state.ready, state.missing, state.free_at
    first_follower, follower, lag = given.first_follower, given.follower, given.lag
    end = len(given.fragment)
    # A heap of the dispatches whose ready time is known, and still to come.
    to_come = [(0, 0)]
    to_come.clear()
    # A heap of the ready ones that are urgent or get so, those of them that fit nowhere now, and
    # those that cannot end by a time, so that they fit nowhere before a CPU is usable for longer.
    urgent = [(0, 0)]
    urgent.clear()
    unfit = [(0, 0)]
    unfit.clear()
    too_long = [(0, 0)]
    too_long.clear()
    too_long_until = -NEVER
    for dispatch in initial:
        to_come.append((ready[dispatch], dispatch))
    unstarted, queued = end, 0
    now = -NEVER
    while unstarted:
        while to_come and to_come[0][0] <= now:
            dispatch = heappop(to_come)[1]
            queued += 1
            _queue(given, state, dispatch, queued)
            if given.hurry_from[dispatch] < NEVER:
                heappush(urgent, (given.hurry_from[dispatch], dispatch))
        dispatch, cpu = at_its_place(given, state, now)
        usable = max(state.usable_until) if dispatch == NONE else -NEVER
        if usable > too_long_until:
            too_long_until = usable
            while too_long:
                heappush(urgent, too_long.pop())
        while dispatch == NONE and usable >= now and urgent and urgent[0][0] <= now:
            other = urgent[0][1]
            if state.is_queued[other]:
                cpu = NONE
                if now + given.length[other] <= usable:
                    cpu = cpu_for(given, state, other, now)
                if cpu != NONE:
                    dispatch = other
                elif now + given.length[other] > too_long_until:
                    too_long.append(urgent[0])
                else:
                    unfit.append(urgent[0])
            heappop(urgent)
        next_urgent = urgent[0][0] if urgent else NEVER
        while unfit:
            heappush(urgent, unfit.pop())
        if dispatch == NONE:
            dispatch, cpu = next_by_rule(given, state, now, patience)
        if dispatch != NONE:
            _start(given, state, dispatch, cpu, now)
            unstarted -= 1
            for index in range(first_follower[dispatch], first_follower[dispatch + 1]):
                other = follower[index]
                ready[other] = max(ready[other], now + lag[index])
                missing[other] -= 1
                if not missing[other]:
                    heappush(to_come, (ready[other], other))
            continue
        # Nothing more can start now. The next thing that happens is that a reserved place is not
        # taken, that a dispatch gets ready or urgent, a CPU gets free or meets an obstacle, or that
        # the patience with a dispatch ends.
        if _lapses(given, state, now):
            continue
        following = NEVER
        if to_come:
            following = to_come[0][0]
        is_idle = False
        for cpu, free in enumerate(free_at):
            if free > now:
                following = min(following, free)
            else:
                is_idle = True
                following = min(following, given.obstacle_start[state.obstacle[cpu]])
        if is_idle:
            dispatch = state.not_due[0]
            while dispatch != end and ready[dispatch] + patience <= now:
                dispatch = state.younger[dispatch]
            state.not_due[0] = dispatch
            if dispatch != end:
                following = min(following, ready[dispatch] + patience)
            following = min(following, next_urgent)
        now = following


@compiled_in_place
def _queue(given: ReplayInput, state: ReplayState, dispatch: int, turn: int) -> None:
    """Let a dispatch wait at the ends of both queues."""
    end = len(given.fragment)
    own = end + given.fragment[dispatch]
    last = state.ahead[own]
    state.behind[last], state.ahead[dispatch] = dispatch, last
    state.behind[dispatch], state.ahead[own] = own, dispatch
    last = state.older[end]
    state.younger[last], state.older[dispatch] = dispatch, last
    state.younger[dispatch], state.older[end] = end, dispatch
    state.is_queued[dispatch] = 1
    state.turn[dispatch] = turn
    _move_marks(state, end, dispatch)


@compiled_in_place
def _move_marks(state: ReplayState, dispatch: int, following: int) -> None:
    """Let what points at a dispatch of the common queue, or at its end, point at another one."""
    if state.not_due[0] == dispatch:
        state.not_due[0] = following
    for cpu, untried in enumerate(state.untried):
        if untried == dispatch:
            state.untried[cpu] = following


@compiled_in_place
def _start(given: ReplayInput, state: ReplayState, dispatch: int, cpu: int, now: int) -> None:
    """Take a dispatch out of its queues, and let a CPU run it."""
    ahead, behind = state.ahead[dispatch], state.behind[dispatch]
    state.behind[ahead], state.ahead[behind] = behind, ahead
    older, younger = state.older[dispatch], state.younger[dispatch]
    state.younger[older], state.older[younger] = younger, older
    _move_marks(state, dispatch, younger)
    state.is_queued[dispatch] = 0
    state.cpu_of[dispatch], state.start_of[dispatch] = cpu, now
    state.held[cpu] = given.fragment[dispatch]
    state.free_at[cpu] = state.used_at[cpu] = now + given.length[dispatch]


@compiled_in_place
def _lapses(given: ReplayInput, state: ReplayState, now: int) -> bool:
    """Give up the places that are reserved from now on for dispatches that are not ready."""
    lapses = False
    for cpu, index in enumerate(state.obstacle):
        if given.obstacle_start[index] <= now:
            state.obstacle[cpu] += 1
            lapses = True
    return lapses
