"""Simulations on the machine of Pinter and Zalmanovici, under their scheduler and O(1)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean

from section import Row, constants, evidence
from shares import is_clearly_above, percents, points, with_interval
from words import listed

from dfopt.problem.penalties import PenaltyF
from dfopt.simulate.run_queue.contract import Policy
from dfopt.simulate.run_queue.costs import CacheSizes
from dfopt.simulate.run_queue.policies.data_affinity import DataAffinity
from dfopt.simulate.run_queue.policies.linux_o1 import LinuxO1
from dfopt.simulate.run_queue.scenario_document import read_scenario
from dfopt.simulate.run_queue.simulation import Simulation, simulate_once
from dfopt.simulate.run_queue.workload import WorkloadKind

SHIPPED = {name: read_scenario(name) for name in ("chat", "custom", "hackbench")}
"""The scenarios that come with dfopt; what the report changes in them is named below."""

MACHINE = SHIPPED["chat"].machine
SECOND = 1_000_000_000
VANILLA, NEW = LinuxO1, DataAffinity

SPAWN_TIMES = (20_000, 18_000, 19_000, 21_000, 22_000)
"""Times to make a thread, by which runs differ."""

VANILLA_TWICE = {"vanilla twice": [(0.0,)]}
"""What vanilla gains in comparison with itself."""


STEP = 0.01
"""The least by which a gain that grows must grow."""


def is_step(differences: Sequence[float]) -> bool:
    """Return whether gains that differ so are larger, and not by chance."""
    return fmean(differences) >= STEP and is_clearly_above(differences)


def growth(shape: str, published: Sequence[float], runs: Sequence[Sequence[float]]) -> Row:
    """Return whether the gain grows with every step.

    Parameters
    ----------
    shape
        Where.
    published
        Gains by step.
    runs
        For each step the gains of all runs.
    """
    return evidence(
        shape=shape,
        published=percents(published),
        simulated=listed(f"{with_interval([100 * gain for gain in row], 0)} %" for row in runs),
        criterion=f"at least {points([STEP])} more with every step, and more than 0 with the 95 % "
        "interval of the differences",
        passes=lambda found: all(
            is_step([after - before for before, after in zip(*step, strict=True)])
            for step in pairwise(found)
        ),
        found=runs,
        without={
            "vanilla twice": [[[0.0] * len(row) for row in runs]],
            "any constant": [
                [[gain] * len(row) for row in runs]
                for (gain, *_) in constants(published)["any constant"]
            ],
        },
    )


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
    """Simulate a shipped scenario with another workload, penalty, and caches."""
    scenario = replace(
        SHIPPED[kind.name],
        workload=kind,
        penalty=PenaltyF(read_line=miss, write_back=0),
        caches=caches,
    )
    return simulate_once(scenario, policy, seed=seed)
