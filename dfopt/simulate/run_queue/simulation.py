"""One simulation: a scenario under a policy, and its figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from random import Random
from typing import Any

from dfopt.errors import DfoptError
from dfopt.problem.instance import Objective
from dfopt.short_repr import short_repr
from dfopt.simulate.run_queue.contract import Policy
from dfopt.simulate.run_queue.costs import CacheCounts, Costs, LineCaches, penalty_costs
from dfopt.simulate.run_queue.kernel import Kernel
from dfopt.simulate.run_queue.policies import policy_with
from dfopt.simulate.run_queue.recorder import Counters
from dfopt.simulate.run_queue.scenario import Scenario
from dfopt.simulate.run_queue.spin_lock import SpinLock
from dfopt.structs import replace
from dfopt.trace.lengths import Lengths
from dfopt.trace.service import Service, service_of
from dfopt.trace.trace import Trace, TraceHeader


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
    caches = None
    if scenario.caches is not None:
        caches = LineCaches(scenario.caches, workload.sizes, machine.cpus, machine.domains)
    costs: Costs = caches or penalty_costs(
        scenario.penalty,
        workload.fragments,
        machine.cpus,
        cold_start=scenario.cold_start,
        near=scenario.near,
    )
    kernel = Kernel(machine, workload, costs, own, seed=seed)
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
        caches=None if caches is None else caches.counts(),
        unfit=why_unfit,
        unused=own.unused() if why_unfit is None else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LockCounts:
    """The counts at the spin locks around a policy's queues.

    Parameters
    ----------
    attempts, misses
        The number of operations that wanted a lock, and the number of those that found it taken.
    spun
        The time for which CPUs have waited.
    """

    attempts: int
    misses: int
    spun: int

    @property
    def miss_ratio(self) -> float:
        """Share of the attempts that had to wait; 0 where there were none."""
        return self.misses / self.attempts if self.attempts else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A scenario under a policy, once.

    Parameters
    ----------
    scenario, policy, seed
        The names and the seed that give the same run again.
    time_unit
        The unit of all times.
    counters
        What was counted.
    locks
        At the policy's locks; None where it has none.
    caches
        In caches of lines; None where a penalty was paid.
    service
        How its threads were served: wake-up latency, waits, fairness.
    unfit
        Why the policy makes no sense for the scenario, as it says itself; None where it does.
    unused
        Which of the policy's rules never came into effect, as it says itself.
    trace
        Name of the file its trace was written to.
    """

    scenario: str
    policy: str
    seed: int
    time_unit: str
    counters: Counters
    locks: LockCounts | None = None
    caches: CacheCounts | None = None
    service: Service | None = None
    unfit: str | None = None
    unused: str | None = None
    trace: str | None = None

    __repr__ = short_repr

    @property
    def cpus(self) -> int:
        """Number of CPUs."""
        return len(self.counters.busy)

    @property
    def penalty(self) -> int:
        """The sum of the penalties of all CPUs."""
        return sum(self.counters.penalties)

    @property
    def penalty_per_dispatch(self) -> float:
        """The mean penalty of a dispatch."""
        return _ratio(self.penalty, self.counters.dispatches)

    @property
    def idle_share(self) -> float:
        """Share of the CPUs' time in which nothing ran and no policy was at work."""
        counters = self.counters
        used = sum(counters.busy) + counters.overhead
        return 1 - _ratio(used, self.cpus * counters.end) if counters.end else 0.0

    @property
    def mean_wait(self) -> float:
        """Mean time from ready to running."""
        return _ratio(self.counters.waited, self.counters.waits)

    @property
    def mean_response(self) -> float:
        """Mean time from woken up to blocked again."""
        return _ratio(self.counters.responded, self.counters.responses)

    def to_document(self) -> dict[str, Any]:
        """Return its row of a document ``dfopt-run-queue/1``."""
        counters = self.counters
        document: dict[str, Any] = {
            "scenario": self.scenario,
            "policy": self.policy,
            "seed": self.seed,
            "cpus": self.cpus,
            "time_unit": self.time_unit,
            "end": counters.end,
            "dispatches": counters.dispatches,
            "context_switches": counters.context_switches,
            "fragment_switches": counters.fragment_switches,
            "migrations": counters.migrations,
            "penalty": {"total": self.penalty, "max": max(counters.penalties)},
            "executed": counters.executed,
            "overhead": counters.overhead,
            "spun": counters.spun,
            "interrupted": counters.interrupted,
            "idle_share": self.idle_share,
            "lock_waits": counters.lock_waits,
            "inversions": counters.inversions,
            "wait": _times(counters.waits, self.mean_wait, counters.longest_wait),
            "response": _times(counters.responses, self.mean_response, counters.longest_response),
        }
        if counters.far_migrations is not None:
            document["far_migrations"] = counters.far_migrations
        if self.locks is not None:
            document["locks"] = asdict(self.locks) | {"miss_ratio": self.locks.miss_ratio}
        if self.caches is not None:
            document["caches"] = {
                key: list(row) for key, row in asdict(self.caches).items() if row is not None
            }
        if self.service is not None:
            document["service"] = self.service.to_document()
        if self.unfit is not None:
            document["unfit"] = self.unfit
        if self.unused is not None:
            document["unused"] = self.unused
        if self.trace is not None:
            document["trace"] = self.trace
        return document


def run_of(simulation: Simulation, *, scenario: str, seed: int) -> Run:
    """Return the figures of a simulation."""
    policy = simulation.engine.policy
    return Run(
        scenario=scenario,
        policy=policy.name,
        seed=seed,
        time_unit=simulation.trace.header.time_unit or "",
        counters=simulation.counters,
        locks=_lock_counts(policy.locks),
        caches=simulation.caches,
        service=service_of(simulation.trace),
        unfit=simulation.unfit,
        unused=simulation.unused,
    )


def _lock_counts(locks: Sequence[SpinLock]) -> LockCounts | None:
    if not locks:
        return None
    return LockCounts(
        attempts=sum(lock.attempts for lock in locks),
        misses=sum(lock.misses for lock in locks),
        spun=sum(lock.spun for lock in locks),
    )


def _times(count: int, mean: float, longest: int) -> dict[str, Any]:
    return {"count": count, "mean": mean, "longest": longest}


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
