"""The state of a replay of the patient rule, and what it does not change."""

from __future__ import annotations

from typing import NamedTuple

from dfopt.checks import LARGEST_TOTAL
from dfopt.trace.events import Integers

NEVER = LARGEST_TOTAL
"""A time after everything that happens."""

BLOCK, EVICTING_BLOCK = -1, -2
"""Stand for the dispatch of an obstacle that is none."""


class ReplayInput(NamedTuple):
    """What a replay does not change. Plain Python takes lists in the place of arrays.

    ``hurry_from`` says from when on a dispatch is urgent.

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
    hurry_from: Integers


class ReplayState(NamedTuple):
    """The state of a replay.

    By dispatch: ``ready``, its time as far as it is known; the number of dispatches ``missing``
    that it waits for and that have not started; whether it ``is_queued``; its CPU and start.

    By CPU: the next ``obstacle`` and the next ``cut``; ``free_at``, until when it is taken;
    ``used_at``, when its last dispatch ended; the fragment ``held``; ``usable_until``, until when
    a dispatch may run that starts now.

    The queues are circular lists: ``behind`` and ``ahead`` are those of the fragments, whose ends
    are the entries after all dispatches; ``younger`` and ``older`` are that of all together.

    So that long queues are not looked through again and again: ``turn`` counts the dispatches as
    they begin to wait. ``not_due`` holds the first of the common queue with which the patience has
    not ended. For each CPU, nothing before ``untried`` in that queue can end by ``tried_until``.
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
    turn: Integers
    not_due: Integers
    untried: Integers
    tried_until: Integers
