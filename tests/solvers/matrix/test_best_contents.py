"""The program over contents: true bounds, checked proofs, and schedules that attain them."""

import pytest

from dfopt.problem.certificate import Over
from dfopt.problem.instance import Instance, Objective
from dfopt.solvers.matrix import best_contents, by_type_of_matrix
from dfopt.solvers.matrix.problem import MatrixProblem, matrix_problem, rest_of
from dfopt.solvers.matrix.support_list import SupportList
from dfopt.solvers.search import Search
from tests.proofs import over_of
from tests.solvers.matrix.claims_of_supports import assert_proven
from tests.solvers.matrix.held_karp import SupportCosts
from tests.solvers.matrix.test_supports import chosen, drawn


def matrix_problem_of(instance: Instance) -> tuple[MatrixProblem, list[int]]:
    """Return an instance as the tasks of types."""
    types, _ = by_type_of_matrix(Search(instance).types)
    return matrix_problem(instance, types)


@pytest.mark.parametrize("most", [1, 4, 9])
def test_supports_that_are_not_listed_are_not_forgotten(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawings = [drawn(seed, tasks=9, types=4, cpus=3) for seed in range(1, 40, 2)]
    objectives = [chosen(instance).objective for instance in drawings]
    monkeypatch.setattr(best_contents, "MOST_SUPPORTS", most)
    for instance, objective in zip(drawings, objectives, strict=True):
        search = chosen(instance)
        assert objective is not None
        assert search.lower_bound <= objective
        assert_proven(instance, search)


def test_list_takes_a_support_in() -> None:
    problem, _ = matrix_problem_of(drawn(1, tasks=40, types=5, cpus=4))
    prices = [0] * 5
    everything = SupportCosts(problem, prices)
    listing = SupportList(problem, prices, most=6)
    assert len(listing.supports) == 7
    for support in range(1, 32):
        listing.add(support)
        walk = listing.walk(0, support)
        rest = int(listing.rest[0][listing.numbers[support]])
        assert rest == everything.rest[0][support] == rest_of(problem, prices, 0, walk)
        assert sum(1 << task_type for task_type in set(walk)) == support


def test_all_supports_are_listed_up_to_the_reach() -> None:
    for seed in range(5):
        problem, _ = matrix_problem_of(drawn(seed, tasks=40, types=6, cpus=4, warm=True))
        prices = [0] * 6
        everything = SupportCosts(problem, prices)
        for most in (3, 10, 30, 100):
            listing = SupportList(problem, prices, most=most)
            for start, rest in enumerate(everything.rest):
                for support, least in enumerate(rest.tolist()):
                    if support and least <= listing.reach:
                        assert listing.rest[start][listing.numbers[support]] == least
                        walk = listing.walk(start, support)
                        assert rest_of(problem, prices, start, walk) == least


@pytest.mark.parametrize("seed", range(2))
def test_twenty_types_are_proven(seed: int) -> None:
    instance = drawn(seed, tasks=120, types=20, cpus=5)
    search = chosen(instance)
    assert search.is_closed
    assert over_of(search.certificate) is Over.SUPPORTS
    assert_proven(instance, search)


def test_types_that_fill_no_cpu_together_count_with_their_sizes() -> None:
    # Each CPU has room for 10 tasks. Alone a and b fill no CPU, so both have to run c too.
    instance = drawn(1, tasks=30, types=3, cpus=3)
    sizes = (6, 8, 16)
    tasks = tuple(
        type(task)(id=task.id, type=task.type, count=size)
        for task, size in zip(instance.tasks, sizes, strict=True)
    )
    instance = Instance(
        cpus=3, penalty=instance.penalty, objective=Objective.TOTAL_PENALTY, tasks=tasks
    )
    search = chosen(instance)
    assert search.is_closed
    assert_proven(instance, search)
