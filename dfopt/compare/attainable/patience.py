"""An online rule, replayed on the recorded arrivals: change to another fragment with patience."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import NamedTuple, cast

import numpy as np

from dfopt.checks import LARGEST_TOTAL, check_integer
from dfopt.compare.attainable.arrivals import NONE, Arrivals
from dfopt.compare.attainable.timed_schedule import TimedSchedule, cost_of, waits_of
from dfopt.errors import InstanceError
from dfopt.solvers.compilation.compiled import as_plain_python, compiled, compiled_in_place
from dfopt.solvers.interruptible import wait_for
from dfopt.trace.events import Flags, Integers

NEVER = LARGEST_TOTAL
"""A time after everything that happens."""

PLAIN_DISPATCHES = 20_000
"""At most this number of dispatches are replayed as plain Python, without the compiler."""

REPLAYS = 8
"""After at most this number of replays, all places are reserved that may be needed."""

BLOCK, EVICTING_BLOCK = -1, -2
"""Stand for the dispatch of an obstacle that is none."""

PATIENCES = (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
"""The patience of each replay of a curve if none is named: 10 µs to 10 ms in nanoseconds."""

FEW_PATIENCES = (100_000, 1_000_000)
"""The same for a long trace."""

LONG_TRACE = 200_000
"""Dispatches from which on a trace is a long one."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PatientRun:
    """What the rule makes of a trace at one patience; times are in the trace's unit.

    Parameters
    ----------
    patience
        The time for which a dispatch waits before a CPU changes to its fragment.
    cost
        The sum of all switch costs.
    mean_wait
        The mean wait of a dispatch.
    long_wait
        At least 99 % of the dispatches wait for at most this time (nearest rank).
    schedule
        What runs where and when.
    """

    patience: int
    cost: int
    mean_wait: float
    long_wait: int
    schedule: TimedSchedule


def patience_curve(
    arrivals: Arrivals,
    patiences: Sequence[int] | None = None,
    *,
    check: Callable[[], None] = lambda: None,
) -> tuple[PatientRun, ...]:
    """Return what the rule of :func:`run_patiently` costs at several values of its patience.

    Parameters
    ----------
    arrivals
        The dispatches and when they are ready.
    patiences
        The values. None: 0, and those of 10 µs to 10 ms that are shorter than the trace.
    check
        Called every few hundred milliseconds at most; what it raises ends the work.
    """
    if patiences is None:
        end = arrivals.start + arrivals.length
        span = int(end.max() - arrivals.start.min()) if len(arrivals) else 0
        values = FEW_PATIENCES if len(arrivals) >= LONG_TRACE else PATIENCES
        patiences = (0, *(patience for patience in values if patience < span))
    runs = []
    for patience in patiences:
        schedule = run_patiently(arrivals, patience, check=check)
        waits = np.sort(waits_of(arrivals, schedule))
        rank = math.ceil(0.99 * len(waits)) - 1
        runs.append(
            PatientRun(
                patience=patience,
                cost=cost_of(arrivals, schedule),
                mean_wait=float(waits.mean()) if len(waits) else 0.0,
                long_wait=int(waits[rank]) if len(waits) else 0,
                schedule=schedule,
            )
        )
    return tuple(runs)


def run_patiently(
    arrivals: Arrivals, patience: int, *, check: Callable[[], None] = lambda: None
) -> TimedSchedule:
    """Return the schedule of a rule that knows no future: affinity first, others with patience.

    Whenever a CPU is idle, the rule goes through these lines until none applies:

    1. A CPU takes the dispatch of the fragment that it holds that has waited longest. If several
       CPUs hold the fragment, the one does that has run last.
    2. A CPU that holds nothing takes the dispatch that has waited longest of all.
    3. A dispatch that has waited for ``patience`` is taken, the longest waiting first, by the CPU
       that has not run for longest; of several, by that of the lowest number.

    A scheduler can follow it: it looks at what is ready and at what CPUs hold, at nothing else.
    With a patience of 0 no CPU is idle while a dispatch is ready that it could run. A dispatch of
    a fragment that no CPU holds is never left waiting for much longer than ``patience`` if a CPU
    is idle; so a very long patience means that CPUs rest for that time at each change.

    A dispatch is ready as the recording says, once its task's dispatch before it has ended, and
    once its waker has run for as long as it had when it woke it. In two respects the replay knows
    more than a scheduler, because dispatches keep their recorded lengths and are not cut:

    - A dispatch begins only where it ends before the next block of its CPU begins. A scheduler
      would let the block preempt it.
    - Where something that keeps its time follows a dispatch, and the rule would start that too
      late, the dispatch has its recorded place reserved, with those before it that would be late.
      It may run earlier, and gives the place up then. So the schedule is always a possible one,
      since all recorded places together are one. A scheduler would let what follows begin later.

    Parameters
    ----------
    arrivals
        The dispatches and when they are ready.
    patience
        The time for which a dispatch waits before a CPU changes to its fragment.
    check
        Called every few hundred milliseconds at most; what it raises ends the work.

    Raises
    ------
    InstanceError
        When the patience is negative or no integer, or so long that times would be too large.

    References
    ----------
    M. Adamaszek, A. Czumaj, M. Englert and H. Räcke, "Almost Tight Bounds for Reordering Buffer
    Management", STOC 2011, show for one server why waiting before a change pays online.
    """
    check_integer(patience, "patience")
    longest = LARGEST_TOTAL // 2 // max(1, len(arrivals))
    if patience > longest:
        raise InstanceError(
            f"is {patience}, but for {len(arrivals)} dispatches it must be at most {longest}",
            place="patience",
        )
    reserved = np.zeros(len(arrivals), bool)
    for replay in range(REPLAYS + 1):
        schedule = _replayed(arrivals, patience, reserved, check)
        late = schedule.start > arrivals.latest
        if not late.any():
            break
        # Whatever is reserved together with all that it waits for starts as recorded at the
        # latest: so the last replay is in time, and each one before reserves at least one more.
        if replay < REPLAYS - 1:
            reserved |= _before(arrivals, late, schedule.start > arrivals.start)
        else:
            reserved |= _before(arrivals, arrivals.latest < NEVER, np.ones_like(late))
    return schedule


def _before(arrivals: Arrivals, dispatches: Flags, among: Flags) -> Flags:
    """Return these dispatches, and all that they wait for, directly or not, ``among`` others."""
    found = dispatches & among
    # What a dispatch waits for started no later than it did in the recording.
    for dispatch in range(len(found) - 1, -1, -1):
        if found[dispatch]:
            for cause in (arrivals.previous[dispatch], arrivals.waker[dispatch]):
                if cause != NONE and among[cause]:
                    found[cause] = True
    return found


class _Given(NamedTuple):
    """What a replay does not change. Plain Python takes lists in the place of arrays.

    The followers of dispatch j, which start only after it, stand at the places from
    ``first_follower[j]`` to just before ``first_follower[j + 1]``: the next dispatch of its task
    ``lag`` after its start, and those that it wakes. ``obstacle_*`` are blocks and reserved places,
    by CPU and time, and after those of each CPU one that begins ``NEVER``; so are ``cut_time``.
    """

    fragment: Integers
    length: Integers
    first_follower: Integers
    follower: Integers
    lag: Integers
    obstacle_start: Integers
    obstacle_end: Integers
    obstacle_dispatch: Integers
    cut_time: Integers


class _State(NamedTuple):
    """The state of a replay.

    By dispatch: ``ready``, its time as far as it is known; the number of dispatches ``missing``
    that it waits for and that have not started; whether it ``is_queued``; its CPU and start.

    By CPU: the next ``obstacle`` and the next ``cut``; ``free_at``, until when it is taken;
    ``used_at``, when its last dispatch ended; the fragment ``held``; ``usable_until``, until when
    a dispatch may run that starts now.

    The queues are circular lists: ``behind`` and ``ahead`` are those of the fragments, whose ends
    are the entries after all dispatches; ``younger`` and ``older`` are that of all together.
    """

    ready: Integers
    missing: Integers
    is_queued: Integers
    cpu_of: Integers
    start_of: Integers
    obstacle: Integers
    cut: Integers
    free_at: Integers
    used_at: Integers
    held: Integers
    usable_until: Integers
    behind: Integers
    ahead: Integers
    younger: Integers
    older: Integers


def _replayed(
    arrivals: Arrivals, patience: int, reserved: Flags, check: Callable[[], None]
) -> TimedSchedule:
    """Return the schedule of the rule if these dispatches have their recorded places reserved."""
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
    )
    initial = np.flatnonzero(~follows & ~is_woken)
    initial = initial[np.argsort(arrivals.ready_by[initial], kind="stable")]
    if count <= PLAIN_DISPATCHES:
        # Lists, since plain Python reads single values of arrays slowly.
        lists = [cast(Integers, column.tolist()) for column in (*given, *state, initial)]
        result = _State(*lists[len(given) : -1])
        with as_plain_python(math.inf, check):
            _replay(_Given(*lists[: len(given)]), result, lists[-1], patience)
    else:
        columns = [column.astype(np.int64) for column in (*given, *state, initial)]
        result = _State(*columns[len(given) : -1])
        wait_for(
            lambda: _replay(_Given(*columns[: len(given)]), result, columns[-1], patience), check
        )
    return TimedSchedule(cpu=np.array(result.cpu_of, np.int32), start=np.array(result.start_of))


@compiled
def _replay(  # noqa: PLR0912 - one loop that reads in one go
    given: _Given, state: _State, initial: Integers, patience: int
) -> None:
    """Let the rule start every dispatch; ``initial`` are those that wait for no other one."""
    ready, missing, free_at = state.ready, state.missing, state.free_at
    first_follower, follower, lag = given.first_follower, given.follower, given.lag
    end = len(given.fragment)
    # A heap of the dispatches whose ready time is known, and still to come.
    to_come = [(0, 0)]
    to_come.clear()
    for dispatch in initial:
        to_come.append((ready[dispatch], dispatch))
    unstarted = end
    now = -NEVER
    while unstarted:
        while to_come and to_come[0][0] <= now:
            _queue(given, state, heappop(to_come)[1])
        dispatch, cpu = _chosen(given, state, now, patience)
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
        # taken, that a dispatch gets ready, a CPU gets free or meets an obstacle, or that the
        # patience with a dispatch ends.
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
            dispatch = state.younger[end]
            while dispatch != end and ready[dispatch] + patience <= now:
                dispatch = state.younger[dispatch]
            if dispatch != end:
                following = min(following, ready[dispatch] + patience)
        now = following


@compiled_in_place
def _queue(given: _Given, state: _State, dispatch: int) -> None:
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


@compiled_in_place
def _start(given: _Given, state: _State, dispatch: int, cpu: int, now: int) -> None:
    """Take a dispatch out of its queues, and let a CPU run it."""
    ahead, behind = state.ahead[dispatch], state.behind[dispatch]
    state.behind[ahead], state.ahead[behind] = behind, ahead
    older, younger = state.older[dispatch], state.younger[dispatch]
    state.younger[older], state.older[younger] = younger, older
    state.is_queued[dispatch] = 0
    state.cpu_of[dispatch], state.start_of[dispatch] = cpu, now
    state.held[cpu] = given.fragment[dispatch]
    state.free_at[cpu] = state.used_at[cpu] = now + given.length[dispatch]


@compiled_in_place
def _lapses(given: _Given, state: _State, now: int) -> bool:
    """Give up the places that are reserved from now on for dispatches that are not ready."""
    lapses = False
    for cpu, index in enumerate(state.obstacle):
        if given.obstacle_start[index] <= now:
            state.obstacle[cpu] += 1
            lapses = True
    return lapses


@compiled_in_place
def _at_its_place(given: _Given, state: _State, cpu: int, now: int) -> int:
    """Pass over the obstacles that have begun; return who starts at its reserved place now.

    If nobody does, find out until when a dispatch that starts now may run; -``NEVER`` if the CPU
    is not idle.
    """
    while given.cut_time[state.cut[cpu]] <= now:
        state.held[cpu] = NONE
        state.cut[cpu] += 1
    while True:
        index = state.obstacle[cpu]
        dispatch = given.obstacle_dispatch[index]
        if dispatch >= 0 and state.cpu_of[dispatch] != NONE:
            # It ran elsewhere.
            state.obstacle[cpu] += 1
            continue
        if given.obstacle_start[index] > now:
            break
        if dispatch >= 0:
            if state.is_queued[dispatch]:
                return int(dispatch)
            break
        state.obstacle[cpu] += 1
        state.free_at[cpu] = max(state.free_at[cpu], given.obstacle_end[index])
        if dispatch == EVICTING_BLOCK:
            state.held[cpu] = NONE
    is_idle = state.free_at[cpu] <= now
    state.usable_until[cpu] = given.obstacle_start[state.obstacle[cpu]] if is_idle else -NEVER
    return NONE


@compiled_in_place
def _chosen(  # noqa: PLR0912 - the rule, line by line
    given: _Given, state: _State, now: int, patience: int
) -> tuple[int, int]:
    """Return the dispatch that starts next, and its CPU; or ``NONE`` twice."""
    end, held, usable_until = len(given.fragment), state.held, state.usable_until
    is_idle, is_empty = False, False
    for cpu, _ in enumerate(held):
        dispatch = _at_its_place(given, state, cpu, now)
        if dispatch != NONE:
            return dispatch, cpu
        if usable_until[cpu] > now:
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
    dispatch = state.younger[end]
    while dispatch != end:
        is_due = state.ready[dispatch] + patience <= now
        if not is_due and not is_empty:
            break
        finish = now + given.length[dispatch]
        for cpu, until in enumerate(usable_until):
            if finish > until:
                continue
            if held[cpu] == NONE:
                return dispatch, cpu
            if is_due and (chosen_cpu == NONE or state.used_at[cpu] < state.used_at[chosen_cpu]):
                chosen_cpu = cpu
        if chosen_cpu != NONE:
            return dispatch, chosen_cpu
        dispatch = state.younger[dispatch]
    return NONE, NONE
