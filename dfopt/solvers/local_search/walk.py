"""Simulated annealing, a chunk of moves at a time."""

from __future__ import annotations

from math import log

from dfopt.solvers.compiled import compiled
from dfopt.solvers.local_search.memory import (
    ABOVE,
    BEST,
    COST,
    CPU,
    MOVED,
    TARGET,
    TOTAL,
    Layout,
    Memory,
)
from dfopt.solvers.local_search.moving import aim, keep_best, put
from dfopt.solvers.local_search.pricing import price
from dfopt.solvers.local_search.proposing import propose, uniform

COST_SHARE = 0.2
"""How much of a CPU's cost counts as energy beside its excess over the target."""


@compiled
def fill(memory: Memory, at: Layout, cpu: int) -> None:
    """Give an empty CPU what stands in the move at hand."""
    put(memory, at, cpu, 0, price(memory, at, cpu, 0))


@compiled
def walk(  # noqa: PLR0913, PLR0917
    memory: Memory, at: Layout, moves: int, temperature: float, cooling: float, goal: int
) -> bool:
    """Try so many random moves, for one better schedule after the other.

    Return whether the best one is within ``goal``, which ends it.
    """
    for left in range(moves, -1, -1):
        if is_met(memory, at):
            aim(memory, at, goal, memory[at.counters + BEST])
        if memory[at.counters + BEST] <= goal:
            return True
        if left == 0 or at.cpus == 1:
            return False
        temperature *= cooling
        step(memory, at, temperature)
    return False


@compiled
def is_met(memory: Memory, at: Layout) -> bool:
    """Return whether the objective is within the target."""
    if at.adds_up:
        return bool(memory[at.counters + TOTAL] <= memory[at.counters + TARGET])
    return bool(memory[at.counters + ABOVE] == 0)


@compiled
def step(memory: Memory, at: Layout, temperature: float) -> None:
    """Try one random move."""
    cpu, other = propose(memory, at)
    if memory[at.counters + MOVED] == 0:
        return
    cost = price(memory, at, cpu, 0)
    other_cost = price(memory, at, other, 1)
    before = memory[at.cpu + cpu * CPU + COST]
    other_before = memory[at.cpu + other * CPU + COST]
    rise = float(cost - before + other_cost - other_before)
    if not at.adds_up:
        target = memory[at.counters + TARGET]
        excess = max(cost - target, 0) + max(other_cost - target, 0)
        excess_before = max(before - target, 0) + max(other_before - target, 0)
        rise = COST_SHARE * rise + float(excess - excess_before)
    if rise > 0 and rise >= -temperature * log(uniform(memory, at)):
        return
    put(memory, at, cpu, 0, cost)
    put(memory, at, other, 1, other_cost)
    keep_best(memory, at)
