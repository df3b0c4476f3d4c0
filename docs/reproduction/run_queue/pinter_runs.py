"""Simulations on the machine of Pinter and Zalmanovici, under their scheduler and O(1)."""

from dfopt import replace
from dfopt.problem.penalties import PenaltyF
from dfopt.simulate.caches import CacheSizes
from dfopt.simulate.contract import Policy
from dfopt.simulate.policies.data_affinity import DataAffinity
from dfopt.simulate.policies.linux_o1 import LinuxO1
from dfopt.simulate.scenario_document import read_scenario
from dfopt.simulate.simulation import Simulation, simulate_once
from dfopt.simulate.workload import WorkloadKind

SHIPPED = {name: read_scenario(name) for name in ("chat", "custom", "hackbench")}
"""The scenarios that come with dfopt; what the report changes in them is named below."""

MACHINE = SHIPPED["chat"].machine
SECOND = 1_000_000_000
VANILLA, NEW = LinuxO1, DataAffinity

SPAWN_TIMES = (20_000, 18_000, 19_000, 21_000, 22_000)
"""Times to make a thread, by which runs differ."""


def simulated(
    kind: WorkloadKind,
    policy: type[Policy],
    miss: int,
    caches: CacheSizes | None = None,
    seed: int = 0,
) -> Simulation:
    """Simulate a shipped scenario with another workload, penalty, and caches."""
    scenario = replace(
        SHIPPED[kind.name],
        workload=kind,
        penalty=PenaltyF(read_line=miss, write_back=0),
        caches=caches,
    )
    return simulate_once(scenario, policy, seed=seed)
