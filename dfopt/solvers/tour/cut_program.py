"""The linear program of a tour: how often each arc is used, with the cuts found so far.

Each node is left and entered as often as it is visited: the assignment relaxation. Cuts that its
solution violates are added, and arcs that would make it cheaper, until there are neither. Its dual
values bound all tours, see :mod:`~dfopt.solvers.tour.proof`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from ortools.linear_solver import pywraplp

from dfopt.solvers.tour.problem import Floats, Integers, TourProblem
from dfopt.solvers.tour.separation import Cut, Separator

FIRST_ARCS = 6
"""The program begins with the 6 cheapest arcs from each node, and to it."""

TOLERANCE = 1e-7

MOST_ARCS = 300
"""At most this number of arcs are added at once."""

SLOW = 0.02
"""Rounds of cuts that raise the bound by less than this share of what is missing are slow."""

SLOW_ROUNDS = 4
"""After 4 slow rounds one after the other the search branches."""

Arc = tuple[int, int]
"""The nodes at its ends."""

Ranges = Mapping[Arc, tuple[int, int]]
"""The least and the largest number of times that some arcs are used."""


class NoSolutionError(Exception):
    """Says that GLOP does not solve the linear program."""


@dataclass(frozen=True, slots=True, eq=False)
class ArcPrices:
    """Dual values: what leaving and entering each node costs, and what crossing each cut costs."""

    leaving: Floats
    entering: Floats
    cuts: dict[int, float]


@dataclass(frozen=True, slots=True, eq=False)
class TourRelaxation:
    """A solution of the linear program.

    Parameters
    ----------
    value
        What all arcs cost together; tours cost at least that.
    flow
        How often each arc is used.
    missing
        How much of the conditions cannot be met with these ranges of the arcs.
    prices
        The dual values.
    is_tour
        Whether the flow is a tour, or several that hang together.
    """

    value: float
    flow: Floats
    missing: float
    prices: ArcPrices
    is_tour: bool


class CutProgram:
    """The linear program.

    Parameters
    ----------
    problem
        The tour.
    arcs
        Some arcs that make up a tour.
    dear
        More than any tour of interest costs.
    check
        Called often; what it raises ends the work.
    """

    def __init__(
        self, problem: TourProblem, arcs: Iterable[Arc], dear: int, check: Callable[[], None]
    ) -> None:
        self.problem = problem
        self.cuts: list[Cut] = []
        self._numbers: dict[bytes, int] = {}
        self._separator = Separator(problem, check)
        self._check = check
        self._dear = float(dear)
        self._build(dict.fromkeys([*arcs, *self._cheap_arcs()]), [])

    def _build(self, arcs: Iterable[Arc], cuts: Iterable[Cut]) -> None:
        """Begin a new program with these arcs and cuts."""
        self._changed: Ranges = {}
        self._solver = solver = pywraplp.Solver.CreateSolver("GLOP")
        self._infinity = solver.infinity()
        self._objective = solver.Objective()
        self._objective.SetMinimization()
        self._lacking: list[pywraplp.Variable] = []
        visits = self.problem.visits.astype(float).tolist()
        self._leave = [solver.Constraint(number, number) for number in visits[:-1]]
        self._enter = [solver.Constraint(number, number) for number in visits[1:]]
        for row in (*self._leave, *self._enter):
            self._relax(row, 1.0)
            self._relax(row, -1.0)
        self._rows: dict[int, pywraplp.Constraint] = {}
        self._variables: dict[Arc, pywraplp.Variable] = {}
        self._has = np.zeros((len(visits), len(visits)), dtype=np.bool_)
        for arc in arcs:
            self._add_arc(arc)
        for cut in cuts:
            self._add_cut(cut)

    def _relax(self, row: pywraplp.Constraint, sign: float) -> None:
        lacking = self._solver.NumVar(0.0, self._infinity, "")
        row.SetCoefficient(lacking, sign)
        self._objective.SetCoefficient(lacking, self._dear)
        self._lacking.append(lacking)

    def _cheap_arcs(self) -> list[Arc]:
        problem = self.problem
        cost = easily_reduced(problem)
        near = np.zeros(cost.shape, dtype=np.bool_)
        rows = np.argsort(cost[:-1], axis=1, kind="stable")[:, :FIRST_ARCS]
        np.put_along_axis(near[:-1], rows, values=True, axis=1)
        columns = np.argsort(cost[:, 1:], axis=0, kind="stable")[:FIRST_ARCS]
        np.put_along_axis(near[:, 1:], columns, values=True, axis=0)
        return [(tail, head) for tail, head in np.argwhere(near & (problem.most > 0)).tolist()]

    def _add_arc(self, arc: Arc) -> None:
        tail, head = arc
        if self._has[tail, head]:
            return
        self._has[tail, head] = True
        # How often an arc is used follows from the visits; to say it again would only allow arcs of
        # negative reduced cost.
        variable = self._solver.NumVar(0.0, self._infinity, "")
        self._variables[arc] = variable
        self._objective.SetCoefficient(variable, float(self.problem.cost[arc]))
        self._leave[tail].SetCoefficient(variable, 1.0)
        self._enter[head - 1].SetCoefficient(variable, 1.0)
        for number, row in self._rows.items():
            cut = self.cuts[number]
            if cut.tails[tail] and cut.heads[head]:
                row.SetCoefficient(variable, 1.0)

    def _add_cut(self, cut: Cut) -> bool:
        """Add a cut to the program; return False if it is there already."""
        number = self._numbers.setdefault(cut.key, len(self.cuts))
        if number == len(self.cuts):
            self.cuts.append(cut)
        if number in self._rows:
            return False
        row = self._solver.Constraint(1.0, self._infinity)
        self._relax(row, 1.0)
        self._rows[number] = row
        for (tail, head), variable in self._variables.items():
            if cut.tails[tail] and cut.heads[head]:
                row.SetCoefficient(variable, 1.0)
        return True

    def _limit(self, ranges: Ranges) -> None:
        """Let arcs be used as often as the ranges say, and others as often as tours can."""
        for arc in self._changed.keys() - ranges.keys():
            if arc in self._variables:
                self._variables[arc].SetBounds(0.0, self._infinity)
        for arc, (least, most) in ranges.items():
            if least:
                self._add_arc(arc)
            if arc in self._variables and self._changed.get(arc) != (least, most):
                is_limited = most < self.problem.most[arc]
                highest = float(most) if is_limited else self._infinity
                self._variables[arc].SetBounds(float(least), highest)
        self._changed = dict(ranges)

    def solve(self, ranges: Ranges, cutoff: float) -> TourRelaxation:
        """Return a solution for ranges of some arcs.

        Parameters
        ----------
        ranges
            How often arcs may be used.
        cutoff
            Solutions that cost more than this need no cuts.
        """
        self._limit(ranges)
        slow, before = 0, -np.inf
        while True:
            self._check()
            relaxed = self._optimum()
            if relaxed.value > cutoff or slow >= SLOW_ROUNDS:
                if self._add_arcs(relaxed.prices, ranges):
                    continue
                return relaxed
            gained = relaxed.value - before
            slow = slow + 1 if gained < SLOW * max(1.0, cutoff - relaxed.value) else 0
            before = relaxed.value
            cuts = self._separator.violated(relaxed.flow)
            new = [cut for cut in cuts if self._add_cut(cut)]
            if new:
                continue
            if self._add_arcs(relaxed.prices, ranges):
                slow, before = 0, -np.inf
                continue
            is_whole = bool(np.abs(relaxed.flow - relaxed.flow.round()).max() < TOLERANCE * 10)
            if is_whole and not cuts and relaxed.missing < TOLERANCE:
                return TourRelaxation(
                    relaxed.value, relaxed.flow, relaxed.missing, relaxed.prices, is_tour=True
                )
            return relaxed

    def value_within(self, ranges: Ranges) -> float:
        """Return the value without further cuts or arcs."""
        self._limit(ranges)
        return self._optimum().value

    def _optimum(self) -> TourRelaxation:
        """Return a solution with the arcs and cuts so far."""
        if self._solver.Solve() != pywraplp.Solver.OPTIMAL:
            # GLOP sometimes fails on degenerate programs: start from nothing.
            ranges = self._changed
            self._build(list(self._variables), [self.cuts[number] for number in self._rows])
            self._limit(ranges)
            if self._solver.Solve() != pywraplp.Solver.OPTIMAL:
                raise NoSolutionError
        size = self.problem.end + 1
        flow = np.zeros((size, size))
        for arc, variable in self._variables.items():
            value = variable.solution_value()
            if value > TOLERANCE:
                flow[arc] = value
        leaving, entering = np.zeros(size), np.zeros(size)
        leaving[:-1] = [row.dual_value() for row in self._leave]
        entering[1:] = [row.dual_value() for row in self._enter]
        cuts = {
            number: price
            for number, row in self._rows.items()
            if (price := row.dual_value()) > TOLERANCE
        }
        return TourRelaxation(
            self._objective.Value(),
            flow,
            sum(variable.solution_value() for variable in self._lacking),
            ArcPrices(leaving, entering, cuts),
            is_tour=False,
        )

    def _add_arcs(self, prices: ArcPrices, ranges: Ranges) -> bool:
        """Add arcs of negative reduced cost; return whether there were any."""
        reduced = reduced_costs(self.problem, self.cuts, prices)
        reduced[self._has | (self.problem.most <= 0)] = np.inf
        for arc, (least, most) in ranges.items():
            if not most:
                reduced[arc] = np.inf
            # Where an arc takes all visits, no other one is left.
            if least == self.problem.visits[arc[0]]:
                reduced[arc[0], :] = np.inf
            if least == self.problem.visits[arc[1]]:
                reduced[:, arc[1]] = np.inf
        reduced[reduced > -TOLERANCE * 10] = np.inf
        cheap = np.argsort(reduced, axis=None, kind="stable")[:MOST_ARCS]
        tails, heads = np.unravel_index(cheap, reduced.shape)
        new = [
            (tail, head)
            for tail, head in zip(tails.tolist(), heads.tolist(), strict=True)
            if reduced[tail, head] < 0
        ]
        for arc in new:
            self._add_arc(arc)
        return bool(new)


def easily_reduced(problem: TourProblem) -> Integers:
    """Return the cost of each arc less that of the cheapest one from its tail, then to its head."""
    cost = np.where(problem.most > 0, problem.cost, problem.cost.max() + 1)
    cost[:-1] -= cost[:-1].min(axis=1, keepdims=True)
    cost[:, 1:] -= cost[:-1, 1:].min(axis=0)
    return cost


def reduced_costs(problem: TourProblem, cuts: Sequence[Cut], prices: ArcPrices) -> Floats:
    """Return the cost of each arc less what its ends and its cuts are worth."""
    reduced = problem.cost - prices.leaving[:, None] - prices.entering[None, :]
    credit_cuts(reduced, cuts, prices.cuts)
    return reduced


def credit_cuts(
    reduced: npt.NDArray[Any], cuts: Sequence[Cut], prices: Mapping[int, float]
) -> None:
    """Take the prices of cuts from the costs of their arcs."""
    for number, price in prices.items():
        cut = cuts[number]
        reduced[np.ix_(cut.tails, cut.heads)] -= price
