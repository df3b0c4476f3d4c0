"""What a simulation counts."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True, kw_only=True)
class Counters:
    """Sums over a simulation; times are in its unit.

    Parameters
    ----------
    dispatches
        Stretches in which one thread used one fragment on one CPU: rows of the trace.
    context_switches
        Dispatches that follow one of another thread on their CPU.
    fragment_switches
        Managed dispatches that follow one of another fragment on their CPU.
    migrations
        Dispatches of a thread that ran on another CPU before.
    penalties
        What was paid on each CPU.
    executed
        What threads executed, penalties and waiting apart.
    busy
        By CPU: how long dispatches lasted.
    overhead
        CPU time between dispatches, on switching and on spin locks: waiting for them, and holding
        them.
    spun
        CPU time inside dispatches, on spin locks.
    lock_waits
        How often a thread was blocked on a lock of the program.
    inversions
        How often a thread was picked while one of a more urgent band was ready.
    waits, waited, longest_wait
        From ready to running: how often, how long altogether, and the longest.
    responses, responded, longest_response
        From woken up, or made, to blocked again, or ended.
    end
        When the last thread ended, or the time was up, and no CPU was busy any more.
    """

    dispatches: int = 0
    context_switches: int = 0
    fragment_switches: int = 0
    migrations: int = 0
    penalties: list[int] = field(default_factory=list)
    executed: int = 0
    busy: list[int] = field(default_factory=list)
    overhead: int = 0
    spun: int = 0
    lock_waits: int = 0
    inversions: int = 0
    waits: int = 0
    waited: int = 0
    longest_wait: int = 0
    responses: int = 0
    responded: int = 0
    longest_response: int = 0
    end: int = 0
