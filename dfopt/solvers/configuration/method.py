"""The method ``configuration``: the bound of the configuration LP, and schedules out of it."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from dfopt.errors import MethodError
from dfopt.instance import Objective
from dfopt.machine import PenaltyMatrix
from dfopt.ordering import ClosedForm
from dfopt.solvers import first_schedule
from dfopt.solvers.aggregation import Aggregation, contents_of, task_classes
from dfopt.solvers.configuration.claims import least_total, refutation
from dfopt.solvers.configuration.columns import Column, Pool
from dfopt.solvers.configuration.diving import Diving
from dfopt.solvers.configuration.layout import Layout
from dfopt.solvers.configuration.master import Solution
from dfopt.solvers.configuration.relaxation import Offer, Problem, Relaxation, Undecided
from dfopt.solvers.search import Search


def solve_by_configurations(search: Search) -> None:
    """Raise the bound by the configuration LP, dive for schedules that meet it."""
    instance = search.instance
    if isinstance(instance.penalty, PenaltyMatrix) or instance.is_timed:
        raise MethodError("configuration is for penalties f and g without releases or precedence")
    if search.schedule is None:
        first_schedule.improve(search, effort=0.2)
    search.check()
    Configurations(search).run()


class Configurations:
    """The LP of one instance, at whichever limit tells most.

    Parameters
    ----------
    search
        Where bounds and schedules are reported.
    """

    def __init__(self, search: Search) -> None:
        assert search.objective is not None
        self.search = search
        form = ClosedForm(search.instance, search.types)
        self.aggregation = Aggregation(
            instance=search.instance,
            types=search.types,
            form=form,
            cpu_groups=search.cpu_groups,
            classes=task_classes(search.types, form, search.instance.task_count),
        )
        total = search.instance.objective is Objective.TOTAL_PENALTY
        self.layout = Layout(self.aggregation, None if total else search.objective - 1)
        self.problem = Problem.whole(self.layout)
        self.pool = Pool()
        self.random = random.Random(search.seed)

    def run(self) -> None:
        if self.layout.limit is None:
            solution = Relaxation(self.problem, self.pool, self.search.check, self._learn_total).minimise()
            limits = [None]
            solutions = {None: solution}
        else:
            solutions = self._lowest_possible()
        self.search.check()
        for attempt in range(20):
            for limit, solution in sorted(solutions.items()):
                if limit is not None and limit >= self.search.objective: continue
                d = Diving(self.problem, self.pool, limit, self.search.check, self.random)
                cols = d.dive(solution, 5)
                print("dive", attempt, limit, cols is not None, self.search.elapsed)
                if cols: self._found(cols)
                self.search.check()

    def _lowest_possible(self) -> dict:
        search = self.search
        relaxation = Relaxation(self.problem, self.pool, search.check, self._learn)
        possible = search.objective
        solutions = {}
        while possible > search.lower_bound:
            limit = possible - 1 if possible - search.lower_bound < 8 else (possible + search.lower_bound) // 2
            solution = relaxation.decide(limit)
            print(limit, solution is not None, search.elapsed, len(self.pool))
            if solution is not None:
                possible = min(limit, max(c.cost for c, _ in solution.used))
                solutions[possible] = solution
            search.check()
        return solutions

    def _learn(self, offer: Offer, limit: int | None) -> None:
        assert limit is not None
        refuted = offer.refuted(self.search.lower_bound, limit)
        if refuted >= self.search.lower_bound:
            self.search.proved(refuted + 1, refutation(offer, refuted))

    def _learn_total(self, offer: Offer, limit: int | None) -> None:
        bound, certificate = least_total(offer)
        self.search.proved(bound, certificate)

    def _found(self, columns: Sequence[Column]) -> None:
        """Report the schedule that some columns are."""
        waiting = [list(group.cpus) for group in self.layout.groups]
        counts: list[dict[int, int]] = [{} for _ in range(self.search.instance.cpus)]
        openers: list[dict[int, list[int]]] = [{} for _ in counts]
        tokens = [token for one in self.aggregation.classes for token in one.tokens]
        for column in columns:
            cpu = waiting[column.group].pop()
            counts[cpu] = dict(column.content.tasks)
            for token in column.content.tokens:
                one = int(self.layout.token_classes[token])
                openers[cpu].setdefault(one, []).append(tokens[token].entry)
        contents = contents_of(self.aggregation, counts, openers)
        self.search.found(
            [self.aggregation.form.order(cpu, content) for cpu, content in enumerate(contents)]
        )
