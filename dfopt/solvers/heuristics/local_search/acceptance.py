"""Accepts or rejects moves: simulated annealing with a target.

A move that makes things worse by r is made with the probability exp(-r / temperature)
(Metropolis et al. 1953; Kirkpatrick, Gelatt and Vecchi 1983). Under max-penalty and makespan
"worse" is measured by how far the CPUs are above a target, one less than the best objective so
far, since most moves do not change the largest cost. Where CPUs are evened out, the sum of all
costs has a target too.
"""

from __future__ import annotations

from math import log

from dfopt.solvers.compilation.compiled import compiled_in_place
from dfopt.solvers.heuristics.local_search.evaluation import cost_after
from dfopt.solvers.heuristics.local_search.neighbourhood import (
    propose,
    propose_within,
    uniform,
)
from dfopt.solvers.heuristics.local_search.state import (
    ABOVE,
    ALLOWED,
    BEST,
    COST,
    MOVED,
    TARGET,
    TOTAL,
    SearchState,
)
from dfopt.solvers.heuristics.local_search.update import aim, keep_best, make_move

COST_SHARE = 0.2
"""Share of a CPU's cost that counts beside its excess over the target."""

WITHIN = 0.3
"""Where CPUs are evened out, the share of moves that exchange tasks of one fragment."""


@compiled_in_place
def fill(state: SearchState, cpu: int) -> None:
    """Give an empty CPU the tasks of the current move."""
    make_move(state, cpu, 0, cost_after(state, cpu, 0))


@compiled_in_place
def walk(state: SearchState, moves: int, temperature: float, cooling: float, goal: int) -> bool:
    """Try random moves, for one better schedule after the other.

    Parameters
    ----------
    state
        Changed.
    moves
        Number of moves to try.
    temperature, cooling
        Where it begins, and what it is multiplied by before each move.
    goal
        An objective that ends the walk.

    Returns
    -------
    bool
        Whether the best schedule is within the goal.
    """
    for left in range(moves, -1, -1):
        if is_met(state):
            aim(state, goal, state.counters[BEST])
        if state.counters[BEST] <= goal:
            return True
        if left == 0 or len(state.cpus) == 1:
            return False
        temperature *= cooling
        step(state, temperature)
    return False


@compiled_in_place
def is_met(state: SearchState) -> bool:
    """Return whether the objective is within the target."""
    if state.adds_up:
        return bool(state.counters[TOTAL] <= state.counters[TARGET])
    return bool(state.counters[ABOVE] == 0)


@compiled_in_place
def step(state: SearchState, temperature: float) -> None:
    """Try one random move."""
    cpu = other = 0
    allowed = state.counters[ALLOWED]
    if allowed >= 0 and uniform(state.counters) < WITHIN:
        cpu, other = propose_within(state)
    else:
        cpu, other = propose(state)
    if state.counters[MOVED] == 0:
        return
    cost = cost_after(state, cpu, 0)
    other_cost = cost_after(state, other, 1)
    before = state.cpus[cpu, COST]
    other_before = state.cpus[other, COST]
    rise = float(cost - before + other_cost - other_before)
    if not state.adds_up:
        target = state.counters[TARGET]
        excess = max(cost - target, 0) + max(other_cost - target, 0)
        excess_before = max(before - target, 0) + max(other_before - target, 0)
        if allowed < 0:
            rise = COST_SHARE * rise + float(excess - excess_before)
        else:
            total = state.counters[TOTAL]
            after = total + cost - before + other_cost - other_before
            above = max(after - allowed, 0) - max(total - allowed, 0)
            rise = float(excess - excess_before + above)
    if rise > 0 and rise >= -temperature * log(uniform(state.counters)):
        return
    make_move(state, cpu, 0, cost)
    make_move(state, other, 1, other_cost)
    keep_best(state)
