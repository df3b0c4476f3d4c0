"""One simulation: a scenario under a policy, and its figures."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from random import Random

from msgspec import field

from dfopt.errors import DfoptError
from dfopt.problem.instance import Objective
from dfopt.simulate.caches import CacheCounts, LineCaches, penalty_caches
from dfopt.simulate.contract import Policy, SpinLock
from dfopt.simulate.kernel import Kernel
from dfopt.simulate.policies import policy_with
from dfopt.simulate.recorder import Counters
from dfopt.simulate.scenario import Scenario
from dfopt.structs import DocumentPart, Natural, NonNegative, Positive, Share, replace
from dfopt.trace.service import Service, service_of
from dfopt.trace.trace import Lengths, Trace, TraceHeader


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Simulation:
    """The result of one simulation.

    Parameters
    ----------
    trace
        Its dispatches.
    counters
        What was counted.
    engine
        The kernel as it was at the end.
    caches
        What was counted in caches of lines; None where a penalty was paid.
    unfit
        Why the policy calls itself :meth:`~Policy.unfit`, or None.
    unused
        Which of its rules never came into effect, as :meth:`~Policy.unused` says.
    """

    trace: Trace
    counters: Counters
    engine: Kernel
    caches: CacheCounts | None = None
    unfit: str | None = None
    unused: str | None = None


class UnfitError(DfoptError):
    """A policy makes no sense for a scenario."""


def simulate_once(
    scenario: Scenario, policy: type[Policy], *, seed: int = 0, refuses_unfit: bool = False
) -> Simulation:
    """Simulate a scenario under a policy; the same seed gives the same simulation.

    Parameters
    ----------
    scenario, policy
        The workload on its machine, and the policy that decides.
    seed
        Of the workload and of the policy.
    refuses_unfit
        Whether to refuse a policy that calls itself :meth:`~Policy.unfit`.

    Raises
    ------
    UnfitError
        When the policy is refused.
    DfoptError
        When the policy breaks its contract, or threads wait for each other for ever.
    """
    workload = replace(scenario.workload.build(Random(seed)), settings=scenario.threads)
    machine = scenario.machine
    own = policy_with(policy, scenario.policies.get(policy.name, {}))
    own.scenario = scenario
    why_unfit = own.unfit(workload, machine.cpus)
    if why_unfit is not None and refuses_unfit:
        raise UnfitError(why_unfit)
    lines = None
    if scenario.caches is not None:
        lines = LineCaches(scenario.caches, workload.sizes, machine.cpus, machine.domains)
        caches = lines.of_cpus
    else:
        caches = penalty_caches(
            scenario.penalty,
            workload.fragments,
            machine.cpus,
            cold_start=scenario.cold_start,
            near=scenario.near,
        )
    kernel = Kernel(machine, workload, caches, own, seed=seed)
    with getattr(scenario.workload, "naming_errors", nullcontext)():
        kernel.run(scenario.until)
    trace = kernel.recorder.trace(
        cpus=machine.cpus,
        threads=kernel.threads,
        fragments=workload.fragments,
        header=TraceHeader(
            name=f"{scenario.name}-{policy.name}",
            source=scenario.source,
            policy=policy.name,
            time_unit=scenario.time_unit,
            penalty=scenario.penalty,
            objective=Objective.TOTAL_PENALTY,
            cold_start=scenario.cold_start,
            lengths=Lengths.WITH_SWITCHES,
        ),
    )
    return Simulation(
        trace=trace,
        counters=kernel.counters,
        engine=kernel,
        caches=None if lines is None else lines.counts(),
        unfit=why_unfit,
        unused=own.unused() if why_unfit is None else None,
    )


class LockCounts(DocumentPart):
    """The counts at the spin locks around a policy's queues.

    Parameters
    ----------
    attempts
        The number of operations that wanted a lock.
    misses
        The number of those that found it taken.
    spun
        The time for which CPUs have waited.
    miss_ratio
        The share of the attempts that had to wait; 0 where there were none.
    """

    attempts: Natural
    misses: Natural
    spun: Natural
    miss_ratio: Share


class PaidPenalties(DocumentPart):
    """What was paid.

    Parameters
    ----------
    total
        On all CPUs.
    worst
        On the one that paid the most.
    """

    total: Natural
    worst: Natural = field(name="max")


class TimeFigures(DocumentPart):
    """How long some times were.

    Parameters
    ----------
    count
        How many there were.
    mean, longest
        Their mean and the longest of them; 0 where there were none.
    """

    count: Natural
    mean: NonNegative
    longest: Natural


class Run(DocumentPart):
    """A scenario under a policy, once.

    Parameters
    ----------
    scenario, policy
        Their names.
    seed
        Of the workload and of the policy.
    cpus
        The number of CPUs.
    time_unit
        The unit of all times.
    end
        When the last thread ended, or the time was up, and no CPU was busy any more.
    dispatches
        Stretches in which one thread used one fragment on one CPU: rows of the trace.
    context_switches
        Dispatches after a dispatch of another thread on the same CPU.
    fragment_switches
        Managed dispatches after a managed dispatch of another fragment on the same CPU.
    migrations
        Dispatches with a fragment, or all if none has one, whose thread ran on another CPU before.
    far_migrations
        Those of them that came from another cache domain, where there are domains.
    penalty
        What was paid, on all CPUs and on the one that paid the most.
    executed
        What threads executed, without penalties and waiting.
    overhead
        CPU time between dispatches, on switching, waking up, interrupts and locks around run
        queues.
    spun
        CPU time inside dispatches, on locks around run queues.
    interrupted
        CPU time inside dispatches, on interrupts.
    idle_share
        Share of the CPUs' time in which nothing ran and no policy was at work.
    lock_waits
        How often a thread was blocked on a lock of the program.
    inversions
        Dispatches while a thread of a more urgent band was ready.
    wait
        From ready to running.
    response
        From woken up, or made, to blocked again, or ended.
    locks
        At the spin locks around the policy's queues, if it has some.
    caches
        By CPU, where the scenario has caches of lines.
    service
        How its threads were served: wake-up latency, waits, fairness.
    unfit
        Why the policy, which was named, makes no sense for the scenario, as it says itself.
    unused
        Which of the policy's rules never came into effect, and why, as it says itself.
    trace
        The file beside the summary with its trace.
    """

    scenario: str
    policy: str
    seed: Natural
    cpus: Positive
    time_unit: str
    end: Natural
    dispatches: Natural
    context_switches: Natural
    fragment_switches: Natural
    migrations: Natural
    penalty: PaidPenalties
    executed: Natural
    overhead: Natural
    spun: Natural
    interrupted: Natural
    idle_share: Share
    lock_waits: Natural
    inversions: Natural
    wait: TimeFigures
    response: TimeFigures
    far_migrations: Natural | None = None
    locks: LockCounts | None = None
    caches: CacheCounts | None = None
    service: Service | None = None
    unfit: str | None = None
    unused: str | None = None
    trace: str | None = None

    @property
    def penalty_per_dispatch(self) -> float:
        """The mean penalty of a dispatch."""
        return _ratio(self.penalty.total, self.dispatches)


COUNTED = (
    "end", "dispatches", "context_switches", "fragment_switches", "migrations", "far_migrations",
    "executed", "overhead", "spun", "interrupted", "lock_waits", "inversions",
)  # fmt: skip
"""What a run has from the counters as it is."""


def run_of(simulation: Simulation, *, scenario: str, seed: int) -> Run:
    """Return the figures of a simulation."""
    policy, counters = simulation.engine.policy, simulation.counters
    cpus = len(counters.busy)
    used = sum(counters.busy) + counters.overhead
    return Run(
        scenario=scenario,
        policy=policy.name,
        seed=seed,
        cpus=cpus,
        time_unit=simulation.trace.header.time_unit or "",
        penalty=PaidPenalties(total=sum(counters.penalties), worst=max(counters.penalties)),
        idle_share=1 - _ratio(used, cpus * counters.end) if counters.end else 0.0,
        wait=_times(counters.waits, counters.waited, counters.longest_wait),
        response=_times(counters.responses, counters.responded, counters.longest_response),
        locks=_lock_counts(policy.locks),
        caches=simulation.caches,
        service=service_of(simulation.trace),
        unfit=simulation.unfit,
        unused=simulation.unused,
        **{name: getattr(counters, name) for name in COUNTED},
    )


def _lock_counts(locks: Sequence[SpinLock]) -> LockCounts | None:
    if not locks:
        return None
    attempts, misses = (
        sum(getattr(lock, name) for lock in locks) for name in ("attempts", "misses")
    )
    return LockCounts(
        attempts=attempts,
        misses=misses,
        spun=sum(lock.spun for lock in locks),
        miss_ratio=_ratio(misses, attempts),
    )


def _times(count: int, total: int, longest: int) -> TimeFigures:
    return TimeFigures(count=count, mean=_ratio(total, count), longest=longest)


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
