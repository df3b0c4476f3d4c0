"""Replays the rule "change to another fragment with patience" on given arrivals, event by event."""

from __future__ import annotations

import numpy as np

from dfopt.compare.dispatches import NONE, Dispatches
from dfopt.native.library import rows_of
from dfopt.native.trace import (
    BLOCK,
    EVICTING_BLOCK,
    FOLLOWER,
    NEVER,
    OBSTACLE,
    WAITING,
    PatientInput,
    patient_placements,
)
from dfopt.trace.events import Flags, Integers
from dfopt.trace.trace import UNMANAGED


def replayed(
    dispatches: Dispatches, patience: int, *, reserved: Flags, hurry_from: Integers
) -> Dispatches:
    """Return the schedule of the rule; :func:`~.patience.run_patiently` says what that is.

    Parameters
    ----------
    dispatches
        The dispatches and when they are ready.
    patience
        The time for which a dispatch waits before a CPU changes to its fragment.
    reserved
        Whether a dispatch has its recorded place reserved.
    hurry_from
        From when on a dispatch is urgent; ``NEVER`` if it is not at all.
    """
    count, cpus = len(dispatches), np.arange(dispatches.cpus)
    follows, is_woken = dispatches.previous != NONE, dispatches.waker != NONE
    rows, before = np.arange(count), dispatches.previous[follows]
    leader = np.concatenate([before, dispatches.waker[is_woken]])
    followers = rows_of(
        FOLLOWER,
        dispatch=np.concatenate([rows[follows], rows[is_woken]]),
        lag=np.concatenate([dispatches.length[before], dispatches.waker_offset[is_woken]]),
    )
    by_leader = np.argsort(leader, kind="stable")
    places, fixed, none = np.flatnonzero(reserved), dispatches.fixed, np.full(len(cpus), NEVER)
    is_block = np.where(fixed.fragment == UNMANAGED, EVICTING_BLOCK, BLOCK)
    obstacle_cpu = np.concatenate([fixed.cpu, dispatches.cpu[places], cpus])
    obstacles = rows_of(
        OBSTACLE,
        start=np.concatenate([fixed.start, dispatches.start[places], none]),
        end=np.concatenate([fixed.end, dispatches.end[places], none]),
        dispatch=np.concatenate([is_block, places, np.full(len(cpus), BLOCK)]),
    )
    by_time = np.lexsort((obstacles["end"], obstacles["start"], obstacle_cpu))
    cut_cpu = np.concatenate([dispatches.cuts.cpu, cpus])
    cuts = np.concatenate([dispatches.cuts.time, none])
    by_cut = np.lexsort((cuts, cut_cpu))
    placements = patient_placements(
        PatientInput(
            dispatches=rows_of(
                WAITING,
                fragment=dispatches.fragment,
                length=dispatches.length,
                ready=dispatches.ready_by,
                missing=follows.astype(np.int64) + is_woken,
                hurry_from=hurry_from,
            ),
            followers=followers[by_leader],
            first_follower=np.searchsorted(leader[by_leader], np.arange(count + 1)),
            obstacles=obstacles[by_time],
            first_obstacle=np.searchsorted(obstacle_cpu[by_time], cpus),
            cuts=cuts[by_cut],
            first_cut=np.searchsorted(cut_cpu[by_cut], cpus),
        ),
        patience,
    )
    return dispatches.moved(placements["cpu"], placements["start"].copy())
