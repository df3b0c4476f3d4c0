"""Hand-made threads under a policy, and what came of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar

from dfopt.problem.cache_domains import cache_domains
from dfopt.problem.penalties import Penalty, PenaltyG
from dfopt.simulate.contract import Policy
from dfopt.simulate.scenario import Machine, Scenario
from dfopt.simulate.simulation import Simulation, simulate_once
from dfopt.simulate.workload import Burst, NewThread, Step, Workload

FREE = PenaltyG(fill=0, write_back=0)

Make = Callable[[], Sequence[NewThread]]


@dataclass(frozen=True, kw_only=True)
class HandMade:
    """Threads as a function makes them; their programs are used up by each simulation."""

    name: ClassVar[str] = "hand-made"

    make: Make
    fragments: tuple[str, ...] = ("a", "b", "c")

    def build(self, random: Random) -> Workload:
        del random
        return Workload(
            threads=tuple(self.make()),
            fragments=self.fragments,
            sizes=(20,) * len(self.fragments),
        )


def thread(name: str, *steps: Burst | Step, **values: Any) -> NewThread:
    """Return a thread that does these steps, with values of :class:`NewThread`."""
    return NewThread(name=name, steps=iter(steps), **values)


def simulated(  # noqa: PLR0913 - options, all by keyword
    policy: type[Policy],
    make: Make,
    *,
    cpus: int = 1,
    domains: str | None = None,
    penalty: Penalty = FREE,
    cold_start: bool = True,
    seed: int = 0,
    **parameters: object,
) -> Simulation:
    """Simulate threads under a policy with these parameters."""
    scenario = Scenario(
        name="hand-made",
        workload=HandMade(make=make),
        machine=Machine(cpus=cpus, domains=None if domains is None else cache_domains(domains)),
        penalty=penalty,
        cold_start=cold_start,
        policies={policy.name: parameters},
    )
    return simulate_once(scenario, policy, seed=seed)


def order(done: Simulation, cpu: int = 0) -> list[str]:
    """Return the names of the threads of a CPU's dispatches, in order of time."""
    trace = done.trace
    rows = zip(trace.cpu.tolist(), trace.task.tolist(), strict=True)
    return [trace.tasks[task].name for where, task in rows if where == cpu]


def places(done: Simulation, name: str) -> list[tuple[int, int]]:
    """Return where, and from when on, each dispatch of a thread was."""
    trace = done.trace
    rows = zip(trace.cpu.tolist(), trace.start.tolist(), trace.task.tolist(), strict=True)
    return [(cpu, start) for cpu, start, task in rows if trace.tasks[task].name == name]
