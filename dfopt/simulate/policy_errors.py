"""The errors about mistakes of policies and workloads."""

from __future__ import annotations

from collections.abc import Sequence

from dfopt.errors import DfoptError
from dfopt.simulate.contract import Policy, State, Thread
from dfopt.simulate.workload import NewThread

STALLED = 1_000_000
"""An endless loop has at least this number of dispatches, or calls of the policy, at one moment.

A deadlock has at least this number of calls without a thread that acts in between or later.
"""


def wrong_pick(policy: Policy, cpu: int, picked: object) -> DfoptError:
    """Return the error of a policy that picks something that is no thread, or cannot run."""
    if isinstance(picked, Thread):
        return DfoptError(
            f"the policy {policy.name!r} lets {picked.name} run on CPU {cpu}, which is "
            f"{picked.state.value}; pick ready threads only"
        )
    return DfoptError(
        f"the policy {policy.name!r} picks {picked!r} for CPU {cpu}; return a thread, or None"
    )


def forbidden_cpu(policy: Policy, cpu: int, thread: Thread) -> DfoptError:
    """Return the error of a policy that lets a thread run where it may not."""
    allowed = ", ".join(map(str, sorted(thread.cpus_allowed or ())))
    return DfoptError(
        f"the policy {policy.name!r} lets {thread.name} run on CPU {cpu}, but it may run on "
        f"{allowed} only; look at cpus_allowed in pick()"
    )


def no_cpu(new: NewThread, cpus: int) -> DfoptError:
    """Return the error of a thread that may run on no CPU of the machine."""
    allowed = ", ".join(map(str, sorted(new.cpus_allowed or ())))
    return DfoptError(
        f"the thread {new.name} may run on CPU {allowed} only, but there are only 0 to "
        f"{cpus - 1}; allow one of them"
    )


def wrong_cpu(policy: Policy, cpus: int, named: object) -> DfoptError:
    """Return the error of a policy that names a CPU that does not exist."""
    return DfoptError(
        f"the policy {policy.name!r} names CPU {named!r}, but there are only 0 to {cpus - 1}; "
        "name one of them"
    )


def wrong_slice(policy: Policy, thread: Thread, time_slice: object) -> DfoptError:
    """Return the error of a policy that gives a thread an impossible time slice."""
    return DfoptError(
        f"the policy {policy.name!r} gives {thread.name} a time slice of {time_slice}; "
        "give it a positive integer, or 0 for one without an end"
    )


def wrong_call(policy: Policy, now: int, time: object) -> DfoptError:
    """Return the error of a policy that wants to be called at an impossible time."""
    return DfoptError(
        f"the policy {policy.name!r} asks at {now} for a call at {time}; name a time that is an "
        "integer and not over"
    )


def wrong_time(policy: Policy, now: int, time: object) -> DfoptError:
    """Return the error of a policy that spends an impossible time."""
    return DfoptError(
        f"the policy {policy.name!r} spends a time of {time} at {now}; name an integer that is "
        "not negative"
    )


def stalled(policy: Policy, now: int) -> DfoptError:
    """Return the error of a loop without an end."""
    return DfoptError(
        f"under the policy {policy.name!r} time stands still at {now}: threads are picked again "
        "and again and execute nothing"
    )


def endless() -> DfoptError:
    """Return the error of times that are too large for 64 bits."""
    return DfoptError("the simulation lasts longer than 2^62; give its times a larger unit")


def stuck(policy: Policy, threads: Sequence[Thread]) -> DfoptError:
    """Return the error of a simulation in which threads wait, but nothing happens any more."""
    lost = [thread.name for thread in threads if thread.state is State.READY]
    if lost:
        return DfoptError(
            f"the policy {policy.name!r} has lost {len(lost)} ready threads, {lost[0]} among "
            "them: all CPUs are idle; let pick() return them"
        )
    blocked = [thread for thread in threads if thread.state is State.BLOCKED]
    return DfoptError(
        f"the workload is in a deadlock: {len(blocked)} threads wait for each other, "
        f"{blocked[0].name} for {blocked[0].waits_for}"
    )
