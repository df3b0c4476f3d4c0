"""Quick placements of a window's fragments, and the bound that most of them attain.

A fragment of s dispatches is visited by at least ⌈s/k⌉ CPUs, and only the first visit of a CPU
can be free: of the fragment that its cache holds, or of any where the cache is free. That bounds
the cost from below; fragments kept whole, the largest first, mostly attain it.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence

from dfopt.compare.problem import EMPTY, FREE, Placement, WindowProblem

ATTEMPTS = 12
"""So many orders of the fragments are tried before a solver is asked."""


def lower_bound(problem: WindowProblem) -> int:
    """Return what no placement of a window's fragments can undercut."""
    tokens = [cost for costs in problem.fixed for cost in costs]
    for fragment, size in enumerate(problem.sizes):
        visits = -(-size // problem.capacity) - problem.states.count(fragment)
        tokens += (problem.entry(fragment, visit) for visit in range(visits))
    # Only one visit a CPU can be the first; at best it would have been the dearest.
    tokens.sort()
    totals = []
    for used in range(least_cpus(problem), len(problem.states) + 1):
        free = min(problem.states.count(FREE), used)
        paid = tokens[: max(0, len(tokens) - free)]
        exits = max(0, len(paid) - problem.states.count(EMPTY)) + used * problem.final
        totals.append(sum(paid) + exits * problem.exit)
    total = min(totals)
    return -(-total // len(problem.states)) if problem.by_worst else total


def least_cpus(problem: WindowProblem) -> int:
    """Return how many CPUs run something at least; all, where that makes no difference."""
    if not problem.final:
        return len(problem.states)
    return -(-sum(problem.sizes) // problem.capacity)


def pack(problem: WindowProblem) -> Placement:
    """Return a good placement of a window's fragments; mostly it attains :func:`lower_bound`."""
    bound = lower_bound(problem)
    largest_first = sorted(range(len(problem.sizes)), key=lambda one: -problem.sizes[one])
    best = priced(problem, placed(problem, largest_first), bound)
    source = random.Random(0)
    for _ in range(ATTEMPTS):
        if best.is_closed:
            break
        order = sorted(
            largest_first, key=lambda one: -problem.sizes[one] * source.uniform(0.7, 1.3)
        )
        found = priced(problem, placed(problem, order), bound)
        best = min(best, found, key=lambda placement: placement.cost)
    return best


def placed(problem: WindowProblem, order: Sequence[int]) -> list[dict[int, int]]:
    """Return how many dispatches of which fragments each CPU runs, its own fragment first.

    Parameters
    ----------
    problem
        What is placed.
    order
        In which order fragments are placed whole, where they fit most tightly.
    """
    cpus = range(len(problem.states))
    rooms = [problem.capacity] * len(cpus)
    visits: list[dict[int, int]] = [{} for _ in cpus]
    left = list(problem.sizes)

    def put(fragment: int, cpu: int) -> None:
        taken = min(left[fragment], rooms[cpu])
        visits[cpu][fragment] = taken
        rooms[cpu] -= taken
        left[fragment] -= taken

    for cpu in cpus:
        state = problem.states[cpu]
        if state >= 0 and left[state]:
            put(state, cpu)
    # Those where something evicts are taken last: what evicts can be the first as well.
    open_cpus = sorted(
        (cpu for cpu in cpus if problem.states[cpu] == FREE),
        key=lambda cpu: len(problem.evicting(cpu)),
        reverse=True,
    )
    dearest_first = sorted(order, key=lambda one: -problem.entry(one, 0))
    for fragment in dearest_first:
        while left[fragment] and open_cpus:
            put(fragment, open_cpus.pop())
            if left[fragment] <= problem.capacity:
                break
    for fragment in order:
        while left[fragment]:
            put(fragment, _roomy_cpu(problem, rooms, visits, left[fragment]))
    return visits


def _roomy_cpu(
    problem: WindowProblem, rooms: Sequence[int], visits: Sequence[Collection[int]], size: int
) -> int:
    """Return the CPU where a fragment fits best; the roomiest if it fits nowhere."""
    fitting = [cpu for cpu, room in enumerate(rooms) if room >= size]
    if not fitting:
        return max(range(len(rooms)), key=rooms.__getitem__)
    if problem.by_worst:
        return min(fitting, key=lambda cpu: (len(visits[cpu]), rooms[cpu]))
    # The first visit of a free cache costs nothing, and an empty one has nothing to write back.
    return min(
        fitting,
        key=lambda cpu: (
            bool(visits[cpu] or problem.evicting(cpu)) or problem.states[cpu] not in (FREE, EMPTY),
            rooms[cpu],
        ),
    )


def priced(problem: WindowProblem, visited: Sequence[Collection[int]], bound: int) -> Placement:
    """Return a placement with its costs.

    Parameters
    ----------
    problem
        What is placed.
    visited
        The fragments that each CPU visits.
    bound
        A lower bound of the cost.
    """
    fixed = [problem.evicting(cpu) for cpu in range(len(problem.states))]
    paid = [0] * len(problem.sizes)
    for state, visits in zip(problem.states, visited, strict=True):
        for fragment in visits:
            paid[fragment] += fragment != state
    ordered, spared, costs = [], [], []
    spare_fixed = []
    for cpu, (state, visits) in enumerate(zip(problem.states, visited, strict=True)):
        first = state if state in visits else None
        spare_fixed.append(0)
        if state == FREE:
            dearest = max(visits, key=lambda one: problem.entry(one, paid[one] - 1), default=None)
            largest = max(fixed[cpu], default=None)
            if dearest is not None and (
                largest is None or problem.entry(dearest, paid[dearest] - 1) > largest
            ):
                first = dearest
                paid[dearest] -= 1
            elif largest is not None:
                spare_fixed[-1] = largest + problem.exit
        rest = list(visits)
        if first is not None:
            rest.remove(first)
        ordered.append((first, *rest) if first is not None else tuple(rest))
        spared.append(first is not None)
    used = [0] * len(problem.sizes)
    for cpu, state in enumerate(problem.states):
        charged = ordered[cpu][spared[cpu] :]
        cost = sum(fixed[cpu]) - spare_fixed[cpu]
        cost += (len(charged) + len(fixed[cpu])) * problem.exit
        for fragment in charged:
            cost += problem.entry(fragment, used[fragment])
            used[fragment] += 1
        if state == EMPTY and (charged or fixed[cpu]):
            cost -= problem.exit
        if problem.final and (ordered[cpu] or fixed[cpu] or state not in (FREE, EMPTY)):
            cost += problem.exit
        costs.append(cost)
    return Placement(
        visits=tuple(ordered),
        spared=tuple(spared),
        costs=tuple(costs),
        cost=max(costs, default=0) if problem.by_worst else sum(costs),
        lower_bound=bound,
    )
