"""Packing parts: fragments under g cut into as few parts as possible for CPUs of one size.

Under g a CPU pays for every fragment it visits, so all that counts is how many parts each CPU
holds. Fragments and CPUs, joined where one visits the other, fall into *groups*; how many parts
there are depends on the number of groups alone. So the search is for many groups that fill their
CPUs, not for places of single parts. The theorem stands in :mod:`dfopt.solvers.parts.groups`.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Iterator

from dfopt.errors import MethodError
from dfopt.problem.certificate import CompleteSearch, Leaf, Over, Proof
from dfopt.problem.instance import Instance, Objective
from dfopt.problem.penalties import PenaltyG
from dfopt.solvers.parts.groups import GroupGoal, GroupHeuristic, goal_within
from dfopt.solvers.parts.packing import Packing
from dfopt.solvers.search import Search
from dfopt.structs import replace
from dfopt.verify.groups import GroupArgument
from dfopt.verify.tree import flaws

logger = logging.getLogger(__name__)

SOLVER = "parts"

ATTEMPTS = 200
"""Groups are dissolved at most this number of times to find more of them."""


def counts_parts(instance: Instance) -> bool:
    """Return whether only the number of parts of fragments on each CPU counts.

    Where some tasks are larger than others, it also counts how a fragment can be cut.
    """
    return (
        isinstance(instance.penalty, PenaltyG)
        and instance.objective is not Objective.MAKESPAN
        and not instance.has_sizes
    )


def pack(search: Search) -> None:
    """Report good schedules within moments; alike CPUs pay at most one visit above the optimum.

    Parameters
    ----------
    search
        On an instance with the penalty g, of which execution times do not count.
    """
    packing = Packing(search)
    if not packing.visit:
        return
    _raise_bound(search, packing)
    search.check()
    source = random.Random(search.seed)
    for own_are_free in [True, False] if packing.own else [True]:
        for goal in _harder_goals(packing, own_are_free=own_are_free):
            heuristic = GroupHeuristic(goal, source, search.check)
            is_enough = heuristic.search(ATTEMPTS)
            logger.debug("%d of %d full groups", len(heuristic.groups), goal.wanted)
            if packing.total or is_enough:
                packing.report(goal.fill(heuristic.groups))
            search.check()
            if not is_enough:
                break


def _harder_goals(packing: Packing, *, own_are_free: bool) -> Iterator[GroupGoal]:
    """Yield goals with one visit less each time, beginning with one that needs at most one group.

    Under total-penalty every group counts, so that there is no such easy goal.
    """
    visits = packing.least_visits
    while True:
        goal = goal_within(packing, visits, own_are_free=own_are_free)
        if goal is not None and (packing.total or goal.wanted <= 1):
            break
        visits += 1
    while goal is not None and visits >= packing.least_visits:
        if visits < packing.known_visits:
            yield goal
        visits -= 1
        goal = goal_within(packing, visits, own_are_free=own_are_free)


def _raise_bound(search: Search, packing: Packing) -> int:
    """Raise the bound to what counting parts proves; return it as a number of visits."""
    visits = packing.least_visits
    while goal_within(packing, visits, own_are_free=True) is None:
        visits += 1
    _prove_visits(search, packing, visits, Proof(over=Over.GROUPS, nodes=(Leaf(),)))
    return visits


def _prove_visits(search: Search, packing: Packing, visits: int, certificate: Proof | None) -> None:
    """Report a bound; every objective is a number of visits."""
    bound = visits * packing.visit
    if bound <= search.lower_bound:
        return
    if certificate is not None:
        certificate = replace(certificate, threshold=bound - 1)
        if _is_checkable(search, certificate, bound):
            search.proved(bound, certificate)
            return
    search.proved(bound, CompleteSearch(threshold=bound - 1, solver=SOLVER))


def _is_checkable(search: Search, certificate: Proof, bound: int) -> bool:
    """Return whether the checker can follow a certificate; else the bound is a claim."""
    try:
        return not flaws(GroupArgument(search.instance, certificate, bound, lambda: None))
    except MethodError:
        return False


def prove(search: Search) -> None:
    """Raise the bound and improve the schedule until they meet, or until nothing more is known.

    Parameters
    ----------
    search
        On an instance with the penalty g, of which execution times do not count.
    """
    from dfopt.solvers.branch_and_price.linear_program import Undecided
    from dfopt.solvers.parts.group_bound import most_groups

    packing = Packing(search)
    if not packing.visit:
        return
    visits = _raise_bound(search, packing)
    search.check()
    while True:
        goal = goal_within(packing, visits, own_are_free=True)
        assert goal is not None, "counting says no more about more visits"
        try:
            most, certificate = most_groups(search, packing, goal)
        except Undecided:
            return
        logger.debug("at most %d full groups, %d are needed", most, goal.wanted)
        if most >= goal.wanted:
            return
        # Without a limit on parts, every group that is missing costs a visit.
        visits += goal.wanted - most if goal.limit is None else 1
        _prove_visits(search, packing, visits, certificate)
        search.check()
