"""Packing parts: fragments under g cut into as few parts as possible for CPUs of one size.

Under g a CPU pays for every fragment it visits, so all that counts is how many parts each CPU
holds. Fragments and CPUs, joined where one visits the other, fall into *groups*; how many parts
there are depends on the number of groups alone. So the search is for many groups that fill their
CPUs, not for places of single parts. The theorem stands in :mod:`dfopt.solvers.parts.filling`.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from dfopt.problem.certificate import CompleteSearch
from dfopt.solvers.parts.packing import Packing
from dfopt.solvers.parts.quick import QuickGroups
from dfopt.solvers.parts.rules import GroupRules, rules_within
from dfopt.solvers.search import Search

__all__ = ["pack", "prove"]

SOLVER = "parts"

ATTEMPTS = 200
"""So often groups that were found are dissolved to find more of them."""


def pack(search: Search) -> None:
    """Report good schedules, within moments: at most one visit from the optimum if CPUs are alike.

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
        for rules in _ever_harder(packing, own_are_free=own_are_free):
            quick = QuickGroups(rules, source, search.check)
            is_enough = quick.search(ATTEMPTS)
            if packing.total or is_enough:
                packing.report(rules.fill(quick.groups))
            search.check()
            if not is_enough:
                break


def _ever_harder(packing: Packing, *, own_are_free: bool) -> Iterator[GroupRules]:
    """Yield rules for one visit less each time; the first ones need no more than one group.

    Only the total has no such steps: there every group counts.
    """
    visits = packing.least_visits
    while True:
        rules = rules_within(packing, visits, own_are_free=own_are_free)
        if rules is not None and (packing.total or rules.wanted <= 1):
            break
        visits += 1
    while rules is not None and visits >= packing.least_visits:
        if visits < packing.known_visits:
            yield rules
        visits -= 1
        rules = rules_within(packing, visits, own_are_free=own_are_free)


def _raise_bound(search: Search, packing: Packing) -> int:
    """Raise the bound to what counting parts proves; return it as a number of visits."""
    visits = packing.least_visits
    while rules_within(packing, visits, own_are_free=True) is None:
        visits += 1
    _prove_visits(search, packing, visits)
    return visits


def _prove_visits(search: Search, packing: Packing, visits: int) -> None:
    """Report a bound; every objective is a number of visits."""
    bound = visits * packing.visit
    search.proved(bound, CompleteSearch(threshold=bound - 1, solver=SOLVER))


def prove(search: Search) -> None:
    """Raise the bound and improve the schedule until they meet, or until nothing more is known.

    Parameters
    ----------
    search
        On an instance with the penalty g, of which execution times do not count.
    """
    from dfopt.solvers.parts.decision import Undecided, most_groups

    packing = Packing(search)
    if not packing.visit:
        return
    visits = _raise_bound(search, packing)
    search.check()
    while True:
        rules = rules_within(packing, visits, own_are_free=True)
        assert rules is not None, "counting says no more about more visits"
        try:
            most = most_groups(search, packing, rules)
        except Undecided:
            return
        if most >= rules.wanted:
            return
        # Without a limit on parts, every group that is missing costs a visit.
        visits += rules.wanted - most if rules.limit is None else 1
        _prove_visits(search, packing, visits)
        search.check()
