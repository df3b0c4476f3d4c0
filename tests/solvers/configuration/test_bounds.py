"""Bounds never exceed the optimum, certificates prove them, and the whole method attains it."""

import contextlib
import random
from collections import Counter
from functools import cache, partial
from math import gcd
from operator import mul
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dfopt import replace
from dfopt.files import read_result, write_instance
from dfopt.generate import zipf
from dfopt.problem.cache import CacheState, Leaves
from dfopt.problem.certificate import EntryCount, Over, Proof, VisitCount
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyF, PenaltyG
from dfopt.problem.result import TimeLimit
from dfopt.solvers.branch_and_price.linear_program import Undecided
from dfopt.solvers.configuration import pricing_data, solve_by_configurations
from dfopt.solvers.configuration.column_generation import ColumnGeneration, first_duals
from dfopt.solvers.configuration.configuration_search import ConfigurationSearch
from dfopt.solvers.configuration.contents import ColumnPool
from dfopt.solvers.configuration.pricing import PricedProblem
from dfopt.solvers.configuration.pricing_data import PricingData
from dfopt.solvers.search import Search, SearchOver
from dfopt_cli.app import app
from tests.proofs import is_tree, only_leaf, over_of
from tests.solvers.configuration.aggregated import aggregation_of
from tests.solvers.configuration.proofs import checked
from tests.solvers.drawn import drawn_instances
from tests.solvers.optimum import badly_started, optimum, run

known_optimum = cache(optimum)


def untimed(number: int, seed: int, most_tasks: int = 6) -> list[Instance]:
    drawn = drawn_instances(number, seed=seed, most_tasks=most_tasks, kinds=("f", "g"))
    return [instance for instance in drawn if not instance.is_timed]


def bounded(search: Search) -> ConfigurationSearch:
    """Raise the bound as far as the LP does."""
    configurations = ConfigurationSearch(search)
    with contextlib.suppress(SearchOver):
        configurations._find_bound()
    return configurations


def check_weights(proof: Proof) -> None:
    """Check that a proof has no needless row, and no larger numbers than necessary."""
    leaf = only_leaf(proof)
    numbers = [value for _, value in (*leaf.weights, *leaf.prices)]
    assert 0 not in numbers
    named = {number for number, _ in leaf.weights}
    named |= {number for count in proof.counts for number in count.classes}  # type: ignore[union-attr]
    assert named == {*range(len(proof.classes))}
    divisor = gcd(*leaf.bin_weights, *numbers)
    # Where costs are weighed, their weight is one of the numbers.
    assert divisor == 1 or leaf.scale % divisor


@pytest.mark.slow
def test_the_bound_is_below_the_optimum_and_the_whole_method_attains_it() -> None:
    """From a bad schedule, without any other bound; each step is judged by the checker."""
    kinds: Counter[type] = Counter()
    telling: Counter[str] = Counter()
    instances = untimed(1200, seed=41)
    for instance in instances:
        search = badly_started(instance)
        if search.is_closed:
            continue
        configurations = bounded(search)
        least = known_optimum(instance)
        assert search.lower_bound <= least, instance
        assert checked(instance, search).ok, instance
        kinds[type(search.certificate)] += 1
        proof = search.certificate
        if isinstance(proof, Proof) and not is_tree(proof):
            check_weights(proof)
            weights = only_leaf(proof).weights
            telling["charges"] += any(isinstance(count, EntryCount) for count in proof.counts)
            telling["negative"] += any(weight < 0 for _, weight in weights)
            telling["classes"] += any(row.leaves is not None for row in proof.classes)
            telling["visits"] += any(isinstance(count, VisitCount) for count in proof.counts)
        telling["LP"] += search.lower_bound == least > 0
        run(lambda _, work=configurations: work.solve(), search)  # type: ignore[misc]
        assert search.objective == least, instance
        verification = checked(instance, search)
        assert verification.ok, (instance, verification.problems)
    assert len(instances) >= 1000
    assert kinds[Proof] >= 0.8 * kinds.total() >= 500
    assert telling["LP"] >= 0.7 * kinds.total()
    assert min(telling["charges"], 8 * telling["negative"], telling["classes"]) >= 15
    assert telling["visits"] >= 15


def test_a_scarce_clean_task_is_the_exit_of_one_cpu_only() -> None:
    """Rows that ask for at least all tasks would let both CPUs have it."""
    instance = Instance(
        cpus=2,
        penalty=PenaltyF(read_line=1, write_back=20),
        capacity=3,
        cold_start=True,
        final_write_back=True,
        tasks=(
            Task(id="clean", df="A", lines=1),
            Task(id="dirty", df="A", lines=1, leaves=Leaves.DIRTY, count=4),
        ),
    )
    search = badly_started(instance)
    bounded(search)
    assert search.lower_bound == known_optimum(instance) == 21
    assert over_of(search.certificate) is Over.CONTENTS
    assert checked(instance, search).bound_checked


def test_a_task_of_the_first_state_spares_one_cpu_its_departure() -> None:
    """Rows that ask for at least all tasks would let both CPUs begin with it."""
    instance = Instance(
        cpus=2,
        penalty=PenaltyF(read_line=1, write_back=20),
        capacity=2,
        initial=(CacheState(df="A", leaves=Leaves.DIRTY),) * 2,
        tasks=(Task(id="home", df="A", lines=1), Task(id="away", df="B", lines=1, count=2)),
    )
    search = badly_started(instance)
    bounded(search)
    assert search.lower_bound == known_optimum(instance) == 21
    assert checked(instance, search).ok


def scaled(instance: Instance, factor: int) -> Instance:
    """Return an instance with all costs multiplied."""
    match instance.penalty:
        case PenaltyF(read_line=read_line, write_back=write_back):
            penalty: PenaltyF | PenaltyG = PenaltyF(
                read_line=factor * read_line, write_back=factor * write_back
            )
        case PenaltyG(fill=fill, write_back=write_back):
            penalty = PenaltyG(fill=factor * fill, write_back=factor * write_back)
    tasks = tuple(replace(task, exec=factor * task.exec) for task in instance.tasks)
    return replace(instance, penalty=penalty, tasks=tasks)


@pytest.mark.slow
@pytest.mark.parametrize("factor", [10**6 + 3, 2**53 + 1])
def test_the_unit_of_time_does_not_matter(factor: int) -> None:
    raised = 0
    for instance in untimed(100, seed=42):
        small, large = badly_started(instance), badly_started(scaled(instance, factor))
        if small.is_closed:
            continue
        rows = [bounded(search)._problem.data for search in (small, large)]
        if instance.objective is Objective.TOTAL_PENALTY:
            # Bounds are rounded up to integers, of which there are more now.
            assert factor * (small.lower_bound - 1) <= large.lower_bound
            assert large.lower_bound <= factor * known_optimum(instance)
        else:
            assert large.lower_bound == factor * small.lower_bound
            assert rows[0].cost_grid.is_exact
            assert rows[1].cost_grid.is_exact
        assert checked(large.instance, large).ok
        run(solve_by_configurations, large)
        assert large.objective == factor * known_optimum(instance)
        assert checked(large.instance, large).ok
        raised += small.lower_bound > 0
    assert raised >= 40


def test_the_grid_does_not_grow_with_the_numbers() -> None:
    for objective in (Objective.MAX_PENALTY, Objective.MAKESPAN):
        instance = zipf(tasks=60, cpus=5, fragments=15, seed=1, objective=objective, exec=9)
        scales = [
            PricingData(aggregation_of(scaled(instance, factor)), 150 * factor).cost_grid
            for factor in (1, 10**9)
        ]
        assert all(scale.is_exact for scale in scales)
        assert len(scales[1].costs) <= len(scales[0].costs) <= 151
        assert scales[1].unit == 10**9 * scales[0].unit


def in_nanoseconds(source: random.Random, tasks: int) -> Instance:
    """Return an instance whose costs have no common divisor and hardly any equal sums."""

    def time(most: int) -> int:
        return source.randint(1, most) * 10**6 + source.randint(0, 999)

    return Instance(
        cpus=2,
        penalty=PenaltyF(read_line=time(3), write_back=time(6)),
        objective=source.choice((Objective.MAKESPAN, Objective.MAX_PENALTY)),
        cold_start=source.random() < 0.5,
        final_write_back=source.random() < 0.5,
        capacity=source.choice(("balanced", "unlimited", tasks // 2 + 1)),
        tasks=tuple(
            Task(
                id=f"t{number}",
                df=source.choice("ABCDE"),
                lines=source.randint(1, 6),
                leaves=source.choice(list(Leaves)),
                exec=time(9),
            )
            for number in range(tasks)
        ),
    )


@pytest.mark.slow
@pytest.mark.parametrize("most_rows", [16, pricing_data.MOST_ROWS])
def test_bounds_hold_where_costs_are_rounded(
    most_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Contents then seem cheaper than they are, and may be no schedule within the limit."""
    monkeypatch.setattr(pricing_data, "MOST_ROWS", most_rows)
    source = random.Random(5)
    exact = rounded = 0
    for _ in range(12):
        instance = in_nanoseconds(source, tasks=8)
        search = badly_started(instance, stop=TimeLimit(600))
        assert search.objective is not None
        costs = PricingData(aggregation_of(instance), search.objective - 1).cost_grid
        exact, rounded = exact + costs.is_exact, rounded + (not costs.is_exact)
        configurations = bounded(search)
        least = known_optimum(instance)
        assert 0.9 * least < search.lower_bound <= least
        assert checked(instance, search).bound_checked
        run(lambda search, work=configurations: work.solve(), search)  # type: ignore[misc]
        assert search.objective == least
        assert checked(instance, search).ok
    assert (rounded if most_rows == 16 else exact) >= 4


@pytest.mark.slow
def test_the_certificate_of_a_larger_instance_is_checked_through_the_command_line(
    tmp_path: Path,
) -> None:
    instance_file, result_file = tmp_path / "instance.json", tmp_path / "result.json"
    write_instance(zipf(tasks=60, cpus=5, fragments=15, seed=3), instance_file)
    options = ["--method", "configuration", "--workers", "1", "-o", str(result_file)]
    solved = CliRunner().invoke(app, ["solve", str(instance_file), *options])
    assert solved.exit_code == 0
    result = read_result(result_file)
    assert isinstance(result.certificate, Proof)
    check_weights(result.certificate)
    weights = [abs(weight) for _, weight in only_leaf(result.certificate).weights]
    assert max(weights) <= 10**5
    verified = CliRunner().invoke(
        app, ["verify", str(instance_file), str(result_file), "--require-certificate"]
    )
    assert verified.exit_code == 0, verified.stderr


def test_prices_never_outgrow_64_bits() -> None:
    """Huge prices are scaled down: wrapped sums would refute limits that can be kept."""
    instance = zipf(tasks=40, cpus=4, fragments=10, seed=3)
    search = badly_started(instance)
    assert search.objective is not None
    relaxation = ColumnGeneration(ConfigurationSearch(search)._problem, ColumnPool(), lambda: None)
    start = first_duals(relaxation.problem, search.objective - 1)
    for factor in (1.0, 1e6, 1e12, 1e15):
        larger = start.each(partial(mul, factor))
        prices = larger.rounded(relaxation._scale_of(larger))
        offer = PricedProblem(relaxation.problem, prices)
        assert not offer.refutes(search.objective - 1)
        assert offer.worth < 2**58
    with pytest.raises(Undecided):
        relaxation._scale_of(start.each(partial(mul, 1e30)))
