"""Simulations on the machine of Pinter and Zalmanovici, under their scheduler and O(1)."""

from dataclasses import dataclass

from dfopt.problem.penalties import PenaltyF
from dfopt.simulate.run_queue.contract import Policy
from dfopt.simulate.run_queue.costs import CacheSizes
from dfopt.simulate.run_queue.policies.data_affinity import DataAffinity
from dfopt.simulate.run_queue.policies.linux_o1 import LinuxO1
from dfopt.simulate.run_queue.scenario import Machine, Scenario
from dfopt.simulate.run_queue.simulation import Simulation, simulate_once
from dfopt.simulate.run_queue.workload import WorkloadKind

MACHINE = Machine(cpus=2, switch_time=2_000)
SECOND = 1_000_000_000
VANILLA, NEW = LinuxO1, DataAffinity

SPAWN_TIMES = (20_000, 18_000, 19_000, 21_000, 22_000)
"""Times to make a thread, by which runs differ."""

VANILLA_TWICE = {"vanilla twice": [(0.0,)]}
"""What vanilla gains in comparison with itself."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """The same under the O(1) scheduler and under data affinity; seconds, and lines read."""

    time: tuple[float, float]
    lines: tuple[float, float]

    @property
    def gain(self) -> float:
        """By how much the time falls."""
        return 1 - self.time[1] / self.time[0]

    @property
    def fewer(self) -> float:
        """By how much the lines read become fewer."""
        return 1 - self.lines[1] / self.lines[0]

    @property
    def factor(self) -> float:
        """How many times fewer lines are read."""
        return self.lines[0] / self.lines[1]


def simulated(
    kind: WorkloadKind,
    policy: type[Policy],
    miss: int,
    caches: CacheSizes | None = None,
    seed: int = 0,
) -> Simulation:
    """Simulate on the paper's two CPUs."""
    scenario = Scenario(
        name=kind.name,
        workload=kind,
        machine=MACHINE,
        penalty=PenaltyF(read_line=miss, write_back=0),
        caches=caches,
    )
    return simulate_once(scenario, policy, seed=seed)
