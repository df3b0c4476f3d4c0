"""Run queues: threads are ready, run, and wait, and a policy decides which of them runs where."""

from dfopt.problem.cache import UNMANAGED
from dfopt.simulate.caches import CacheSizes
from dfopt.simulate.contract import NOBODY, KernelInterface, Policy, SpinLock, State, Thread, Why
from dfopt.simulate.kernel import Kernel
from dfopt.simulate.policies import POLICIES, policy_named
from dfopt.simulate.recorder import Counters
from dfopt.simulate.runs import Runs, Skipped, simulate_all
from dfopt.simulate.scenario import Machine, Scenario
from dfopt.simulate.scenario_document import (
    read_scenario,
    scenario_of_trace,
    shipped_scenarios,
)
from dfopt.simulate.simulation import (
    LockCounts,
    Run,
    Simulation,
    UnfitError,
    simulate_once,
)
from dfopt.simulate.workload import Burst, NewThread, Workload, WorkloadKind
from dfopt.simulate.workloads import WORKLOADS

__all__ = [
    "NOBODY",
    "POLICIES",
    "UNMANAGED",
    "WORKLOADS",
    "Burst",
    "CacheSizes",
    "Counters",
    "Kernel",
    "KernelInterface",
    "LockCounts",
    "Machine",
    "NewThread",
    "Policy",
    "Run",
    "Runs",
    "Scenario",
    "Simulation",
    "Skipped",
    "SpinLock",
    "State",
    "Thread",
    "UnfitError",
    "Why",
    "Workload",
    "WorkloadKind",
    "policy_named",
    "read_scenario",
    "scenario_of_trace",
    "shipped_scenarios",
    "simulate_all",
    "simulate_once",
]
