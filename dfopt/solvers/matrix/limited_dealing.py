"""Chooses supports, and deals the tasks to CPUs, where tasks that follow their own type cost.

Both are integer programs. The first one adds up the tasks of all CPUs with the same support;
whether these can be dealt within the limits of each CPU, the second one says.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from math import inf

import numpy as np

from dfopt.solvers.branch_and_price.linear_program import LinearProgram, Undecided
from dfopt.solvers.matrix.contents import Plan, SupportContents
from dfopt.solvers.matrix.dealing import supports_of
from dfopt.solvers.matrix.problem import MatrixProblem, rest_of

MOST_NODES = 2_000
"""At most 2,000 nodes of a branch and bound are looked at."""

Ring = tuple[int, ...]
"""Types that tasks take turns in; a single one follows itself."""


Share = tuple[tuple[int, int], int, int]
"""A group and a support, and the least and the largest number of CPUs with a share of the tasks."""


def chosen_supports(program: SupportContents, alone: Plan) -> Plan | None:
    """Return supports of small rest whose CPUs together have room for all tasks, if found.

    The least rests leave most room for what remains, to deal the tasks to single CPUs.

    Parameters
    ----------
    program
        The program, whose threshold no CPU may exceed.
    alone
        For a group and a support, this number of CPUs have shares of their own.
    """
    shares: list[Share] = []
    for group, permitted in enumerate(program.permitted):
        for index in np.flatnonzero(permitted).tolist():
            key = group, int(program.listing.supports[index])
            number = alone.get(key, 0)
            shares += [(key, 0, 1)] * number
            shares.append((key, 0, program.cpus[group] - number))
    found = _dealt(program, shares)
    if found is None:
        return None
    plan: Plan = {}
    for (key, _, _), (cpus, _) in zip(shares, found, strict=True):
        if cpus:
            plan[key] = plan.get(key, 0) + cpus
    return plan


def dealt_orders(program: SupportContents, plan: Plan) -> list[list[int]] | None:
    """Return an order of types for each CPU within the threshold; None if that is not found.

    Parameters
    ----------
    program
        The program of this threshold.
    plan
        The supports of the CPUs.
    """
    keys = supports_of(program.listing.problem, plan)
    found = _dealt(program, [(key, 1, 1) for key in keys])
    if found is None:
        return None
    orders = []
    for key, (_, rings) in zip(keys, found, strict=True):
        order = list(program.listing.walk(*key))
        for ring, number in rings.items():
            place = order.index(ring[0])
            order[place:place] = ring * number
        orders.append(order)
    return orders


def _dealt(
    program: SupportContents, shares: Sequence[Share]
) -> list[tuple[int, dict[Ring, int]]] | None:
    """Return for each share its number of CPUs and how often each ring is run there.

    Each CPU runs the walk of its support. All other tasks follow their own type, or take turns in
    rings of switches that cost less than that. The CPUs of a share have y times the room of one.
    """
    problem, listing = program.listing.problem, program.listing
    rings = [(a,) for a in range(len(problem.sizes))] + rings_that_pay(problem)
    linear: LinearProgram[tuple[int, Ring | None]] = LinearProgram(
        program.check, f"limits/nodes = {MOST_NODES}", is_integer=True
    )
    for task_type, size in enumerate(problem.sizes):
        linear.add_row(("tasks", task_type), size, size)
    for group, cpus in enumerate(program.cpus):
        linear.add_row(("group", group), cpus, cpus)
    assert program.threshold is not None
    for number, (key, least, most) in enumerate(shares):
        start, support = key
        walk = listing.walk(start, support)
        linear.add_row(("room", number), -inf, 0)
        linear.add_row(("paid", number), -inf, 0)
        cost = rest_of(problem, [0] * len(problem.sizes), start, walk)
        linear.add_column(
            (number, None),
            listing.rest[start][listing.numbers[support]],
            [
                (("group", start), 1),
                (("room", number), len(walk) - problem.capacity),
                (("paid", number), cost - program.threshold),
                *((("tasks", a), walk.count(a)) for a in set(walk)),
            ],
        )
        linear.limit_column((number, None), least, most)
        for ring in rings:
            if all(support >> a & 1 for a in ring):
                rows = [("room", len(ring)), ("paid", _cost(problem, ring))]
                linear.add_column(
                    (number, ring),
                    0,
                    [
                        *(((name, number), entry) for name, entry in rows),
                        *((("tasks", a), 1) for a in ring),
                    ],
                )
                linear.limit_column((number, ring), 0, min(problem.sizes[a] for a in ring))
        if number and least == 0 and shares[number - 1][0] == key:
            # CPUs with a share of their own come first.
            linear.add_row(("order", number), 0)
            linear.enter(("order", number), [(number - 1, None)], most)
            linear.enter(("order", number), [(number, None)], -1)
    try:
        linear.solve()
    except Undecided:
        return None
    found: list[tuple[int, dict[Ring, int]]] = [(0, {}) for _ in shares]
    for (number, of), value in linear.used():
        _, turns = found[number]
        if of is None:
            found[number] = round(value), turns
        else:
            turns[of] = round(value)
    return found


def rings_that_pay(problem: MatrixProblem) -> list[Ring]:
    """Return rings of two or three types that cost less than tasks that follow their own type."""
    types = [a for a, size in enumerate(problem.sizes) if size]
    return [
        ring
        for length in (2, 3)
        for ring in permutations(types, length)
        if ring[0] == min(ring) and _cost(problem, ring) < sum(problem.switch[a][a] for a in ring)
    ]


def _cost(problem: MatrixProblem, ring: Ring) -> int:
    """Return what the switches of a ring cost."""
    return sum(problem.switch[a][b] for a, b in zip(ring, (*ring[1:], ring[0]), strict=True))
