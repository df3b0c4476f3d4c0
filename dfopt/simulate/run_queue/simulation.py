"""One simulation: a scenario under a policy."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from dfopt.errors import DfoptError
from dfopt.problem.instance import Objective
from dfopt.simulate.run_queue.costs import CacheCounts, Costs, LineCaches, penalty_costs
from dfopt.simulate.run_queue.counters import Counters
from dfopt.simulate.run_queue.engine import Engine
from dfopt.simulate.run_queue.policy import Policy
from dfopt.simulate.run_queue.policy_source import policy_with
from dfopt.simulate.run_queue.scenario import Scenario
from dfopt.trace.trace import Trace, TraceHeader


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Simulation:
    """What one simulation left.

    Parameters
    ----------
    trace
        Its dispatches.
    counters
        What was counted.
    engine
        As it was at the end.
    caches
        What was counted in caches of lines; None where a penalty was paid.
    """

    trace: Trace
    counters: Counters
    engine: Engine
    caches: CacheCounts | None = None


class UnfitError(DfoptError):
    """A policy that makes no sense for a scenario."""


def simulate_once(
    scenario: Scenario, policy: type[Policy], *, seed: int = 0, refuses_unfit: bool = False
) -> Simulation:
    """Simulate a scenario under a policy; the same seed gives the same simulation.

    Parameters
    ----------
    scenario, policy
        What runs where, and who decides.
    seed
        Of the workload and of the policy.
    refuses_unfit
        Whether to refuse a policy that calls itself :meth:`~Policy.unfit`.

    Raises
    ------
    UnfitError
        When the policy is refused.
    DfoptError
        When the policy does what it must not, or threads wait for each other for ever.
    """
    workload = scenario.workload.build(Random(seed))
    machine = scenario.machine
    own = policy_with(policy, scenario.policies.get(policy.name, {}))
    own.scenario = scenario
    why_unfit = own.unfit(workload, machine.cpus) if refuses_unfit else None
    if why_unfit is not None:
        raise UnfitError(why_unfit)
    caches = None
    if scenario.caches is not None:
        caches = LineCaches(scenario.caches, workload.sizes, machine.cpus)
    costs: Costs = caches or penalty_costs(
        scenario.penalty, workload.fragments, machine.cpus, cold_start=scenario.cold_start
    )
    engine = Engine(machine, workload, costs, own, seed=seed)
    engine.run(scenario.until)
    trace = engine.recorder.trace(
        cpus=machine.cpus,
        threads=engine.threads,
        fragments=workload.fragments,
        header=TraceHeader(
            name=f"{scenario.name}-{policy.name}",
            source=scenario.source,
            policy=policy.name,
            time_unit=scenario.time_unit,
            penalty=scenario.penalty,
            objective=Objective.TOTAL_PENALTY,
            cold_start=scenario.cold_start,
        ),
    )
    return Simulation(
        trace=trace,
        counters=engine.counters,
        engine=engine,
        caches=None if caches is None else caches.counts(),
    )
