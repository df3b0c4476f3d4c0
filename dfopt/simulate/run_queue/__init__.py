"""Run queues: threads are ready, run, and wait, and a policy decides who runs where."""

from dfopt.simulate.run_queue.costs import CacheSizes
from dfopt.simulate.run_queue.counters import Counters
from dfopt.simulate.run_queue.engine import Engine
from dfopt.simulate.run_queue.figures import LockCounts, Run
from dfopt.simulate.run_queue.machine import Machine
from dfopt.simulate.run_queue.policies import POLICIES
from dfopt.simulate.run_queue.policy import NOBODY, Policy, Why
from dfopt.simulate.run_queue.policy_source import policy_named
from dfopt.simulate.run_queue.runs import Runs, Skipped, simulate_all
from dfopt.simulate.run_queue.scenario import Scenario
from dfopt.simulate.run_queue.scenario_document import read_scenario, shipped_scenarios
from dfopt.simulate.run_queue.simulation import Simulation, UnfitError, simulate_once
from dfopt.simulate.run_queue.spin_lock import SpinLock
from dfopt.simulate.run_queue.steps import UNMANAGED, Burst, NewThread
from dfopt.simulate.run_queue.thread import State, Thread
from dfopt.simulate.run_queue.workload import Workload, WorkloadKind
from dfopt.simulate.run_queue.workloads import WORKLOADS

__all__ = [
    "NOBODY",
    "POLICIES",
    "UNMANAGED",
    "WORKLOADS",
    "Burst",
    "CacheSizes",
    "Counters",
    "Engine",
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
    "shipped_scenarios",
    "simulate_all",
    "simulate_once",
]
