"""The best placement of a window, remembered: windows of a trace are much alike."""

from __future__ import annotations

from dataclasses import replace

from dfopt.compare.packing import pack
from dfopt.compare.problem import Placement, WindowProblem
from dfopt.compare.search_time import SearchTime


class BestPlacements:
    """Finds the best placements, each problem once.

    Parameters
    ----------
    seconds
        How long solvers may search for what quick placements leave open, all together.
    thorough
        Whether the slower solvers are asked too, which is worth their time for few windows.
    """

    def __init__(self, seconds: float, *, thorough: bool) -> None:
        self._time = SearchTime(seconds)
        self._thorough = thorough
        self._known: dict[WindowProblem, Placement] = {}

    def of(self, problem: WindowProblem) -> Placement:
        """Return the best placement that could be found, and the bound that could be proven."""
        order = _canonical_order(problem)
        canonical = _renamed(problem, order)
        known = self._known.get(canonical)
        if known is None:
            known = self._known[canonical] = self._found(canonical)
        visits = tuple([tuple([order[one] for one in cpu]) for cpu in known.visits])
        return replace(known, visits=visits)

    def _found(self, problem: WindowProblem) -> Placement:
        placement = pack(problem)
        if placement.is_closed:
            return placement
        # Imported for the few windows that need it: solvers take a while to load.
        from dfopt.compare.exact import improved, is_solvable, load_solvers

        if self._time.is_over or not is_solvable(problem):
            return placement
        load_solvers()
        return self._time.spent(
            lambda seconds: improved(problem, placement, seconds, thorough=self._thorough)
        )


def _canonical_order(problem: WindowProblem) -> list[int]:
    """Return the fragments in an order that does not depend on their names."""
    sizes, entries = problem.sizes, problem.entries
    owners = [0] * len(sizes)
    for cpu, state in enumerate(problem.states):
        if state >= 0:
            owners[state] |= 1 << cpu
    return sorted(range(len(sizes)), key=lambda one: (-sizes[one], entries[one], owners[one]))


def _renamed(problem: WindowProblem, order: list[int]) -> WindowProblem:
    """Return the same problem with its fragments in another order."""
    new = {old: number for number, old in enumerate(order)}
    return replace(
        problem,
        sizes=tuple([problem.sizes[one] for one in order]),
        entries=tuple([problem.entries[one] for one in order]),
        states=tuple([new.get(state, state) for state in problem.states]),
    )
