"""Dives keep what the LP leaves spare, and local search fills their last CPUs."""

import pytest

from dfopt import replace
from dfopt.generate import zipf
from dfopt.problem.instance import Instance, Objective
from dfopt.solvers.configuration import diving
from dfopt.solvers.configuration.column_generation import NEARLY, ColumnGeneration
from dfopt.solvers.configuration.configuration_search import ConfigurationSearch
from dfopt.solvers.configuration.contents import ColumnPool, columns_of
from dfopt.solvers.configuration.diving import Diving, fill_last_cpus
from dfopt.solvers.configuration.pricing_data import PricingData
from dfopt.solvers.configuration.remaining_problem import RemainingProblem
from dfopt.solvers.search import Search
from tests.solvers.configuration.aggregated import aggregation_of
from tests.solvers.drawn import drawn_instances
from tests.solvers.optimum import badly_started, optimum


def data_of(instance: Instance, limit: int | None) -> PricingData:
    return PricingData(aggregation_of(instance), limit)


def no_check() -> None:
    pass


def test_last_cpus_are_filled_beside_what_is_fixed() -> None:
    instance = zipf(tasks=48, cpus=6, fragments=12, seed=3)
    search = badly_started(instance)
    before = search.objective
    assert before is not None
    data = data_of(instance, before)
    fixed = list(columns_of(data, search.contents()))[:2]
    fill_last_cpus(search, data, fixed, 0, no_check)
    assert search.objective is not None
    assert search.objective < before
    found = list(columns_of(data, search.contents()))
    assert all(column in found for column in fixed)


def test_filling_gives_schedules_whatever_the_instance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diving, "MOVES_PER_CPU", 300)
    improved = 0
    for instance in drawn_instances(150, seed=71, most_tasks=7, kinds=("f", "g")):
        if instance.is_timed or instance.cpus == 1:
            continue
        search = badly_started(instance)
        before = search.objective
        assert before is not None
        is_total = instance.objective is Objective.TOTAL_PENALTY
        data = data_of(instance, None if is_total else before)
        fixed = list(columns_of(data, search.contents()))[: instance.cpus // 2]
        if search.is_closed:
            continue
        fill_last_cpus(search, data, fixed, 0, no_check)
        assert search.objective is not None
        assert optimum(instance) <= search.objective <= before
        improved += search.objective < before
    assert improved >= 10


def test_a_dive_hands_on_what_it_fixed_before_it_failed() -> None:
    instance = zipf(tasks=40, cpus=6, fragments=10, seed=1)
    search = badly_started(instance)
    configurations = ConfigurationSearch(search)
    configurations._find_bound()
    limit = search.lower_bound
    solution = configurations._decided(limit)
    assert solution is not None
    handed_on: list[int] = []

    class Failing(Diving):
        """A dive in which no LP has a solution after the third CPU."""

        def _solved(self, problem: RemainingProblem, *others: object) -> object:  # type: ignore[override]
            if sum(problem.cpus) < 3:
                return None
            return super()._solved(problem, *others)  # type: ignore[arg-type]

    dive = Failing(
        configurations._problem,
        configurations._pool,
        limit,
        no_check,
        configurations._random,
        lambda fixed, rest: handed_on.append(len(fixed)),
    )
    assert dive.dive(solution, 2) is None
    assert handed_on == [3]


def test_the_lp_leaves_spare_what_it_can() -> None:
    instance = zipf(tasks=40, cpus=4, fragments=10, seed=0)
    search = badly_started(instance)
    configurations = ConfigurationSearch(search)
    configurations._find_bound()
    limit = search.lower_bound
    problem = configurations._problem

    def value(spare: float) -> float:
        solution = ColumnGeneration(problem, ColumnPool(), no_check).decide(limit, spare)
        assert solution is not None
        return solution.value

    least = value(4)
    assert least <= value(0) <= 1 + 1e-6
    # More cannot be spare than the whole LP leaves, and a share of it is kept if asked for.
    assert value((1 - least) * 2) <= 1 - NEARLY * (1 - least) / 2 + 1e-6


def test_parts_of_an_instance_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    instance = replace(zipf(tasks=12, cpus=2, fragments=3, seed=0), name=None)
    with caplog.at_level("DEBUG", logger="dfopt.solvers.search"):
        part = Search(instance, is_part=True)
        part.enter("a phase")
        part.found(_dealt(part))
    assert not caplog.records
    assert part.objective is not None


def _dealt(search: Search) -> list[list[int]]:
    cards = [number for number, kind in enumerate(search.types) for _ in kind.names]
    cpus = search.instance.cpus
    return [cards[cpu::cpus] for cpu in range(cpus)]
