"""Tours: bounds and schedules against enumeration, and proofs that the checker accepts."""

import itertools
import random
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import assume, given, settings

from dfopt import replace
from dfopt.problem.certificate import Leaf, Over, Proof
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyMatrix
from dfopt.problem.result import StopReason
from dfopt.solvers.facade import solve
from dfopt.solvers.search import Search, SearchOver
from dfopt.solvers.tour import can_be_toured
from dfopt.solvers.tour.branch_and_cut import BranchAndCut, joined
from dfopt.solvers.tour.cut_program import Separator, easily_reduced
from dfopt.solvers.tour.problem import START, TourProblem, tour_problem
from dfopt.solvers.tour.proof import BeginningsSearch
from dfopt.solvers.tour.segment_moves import SegmentMoves
from dfopt.verify import verify
from tests.claims import result_of
from tests.proofs import is_tree, only_leaf, over_of
from tests.solvers.optimum import optimum
from tests.strategies import instances


def nearest_next(problem: TourProblem) -> list[int]:
    """Return a tour that goes on to the cheapest node each time, all visits of a node at once."""
    left = problem.visits.copy()
    left[START] = 0
    tour = [START]
    waiting = problem.precedes[START + 1 :].sum(axis=0)
    while tour[-1] != problem.end:
        free = (left > 0) & (waiting == 0)
        cost = np.where(free, problem.cost[tour[-1]], problem.cost.max() + 1)
        node = int(np.argmin(cost))
        tour += [node] * int(left[node])
        left[node] = 0
        waiting -= problem.precedes[node]
    return tour


def by_branch_and_cut(instance: Instance, most_checks: int | None = None) -> Search:
    """Return the search after branch and cut from a poor tour, without local search."""
    search = Search(instance)
    checks = itertools.count(1)

    def check() -> None:
        search.check()
        if next(checks) == most_checks:
            raise SearchOver(StopReason.TIME_LIMIT)

    problem = tour_problem(search)
    tour = nearest_next(problem)
    search.found([problem.order(tour)])
    with suppress(SearchOver):
        BranchAndCut(
            problem,
            tour,
            found=lambda better: search.found([problem.order(better)]),
            proved=search.proved,
            raise_bound=BeginningsSearch(instance, problem, check).raise_bound,
            check=check,
        ).run()
    return search


def assert_proven(instance: Instance, search: Search) -> None:
    """Assert that the checker agrees with the bound."""
    result = result_of(
        instance, search.schedule, lower_bound=search.lower_bound, certificate=search.certificate
    )
    assert verify(instance, result, require_certificate=True).problems == ()


def drawn(seed: int, *, tasks: int, waiting: float = 0.0, counts: int = 1) -> Instance:
    """Return an instance with one CPU; each task waits for others with some probability."""
    source = random.Random(seed)
    names = tuple(f"T{number}" for number in range(tasks))
    return Instance(
        cpus=1,
        penalty=PenaltyMatrix(
            types=names,
            switch=tuple(tuple(source.randint(0, 30) for _ in names) for _ in names),
            start=tuple(source.randint(0, 30) for _ in names),
            finish=tuple(source.randint(0, 30) for _ in names),
        ),
        objective=Objective.MAKESPAN if waiting else Objective.TOTAL_PENALTY,
        cold_start=True,
        final_write_back=True,
        tasks=tuple(
            Task(
                id=name,
                type=name,
                count=source.randint(1, counts),
                after=tuple(before for before in names[:number] if source.random() < waiting),
            )
            for number, name in enumerate(names)
        ),
    )


@given(instances(kinds=("matrix",), min_tasks=1, max_cpus=1))
@settings(deadline=None)
def test_branch_and_cut_finds_and_proves_the_optimum(instance: Instance) -> None:
    assume(can_be_toured(Search(instance)))
    search = by_branch_and_cut(instance)
    assert search.is_closed
    assert search.objective == optimum(instance)
    assert_proven(instance, search)


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize(("waiting", "counts"), [(0.0, 1), (0.0, 3), (0.2, 1), (0.2, 2)])
def test_more_tasks_against_enumeration(seed: int, waiting: float, counts: int) -> None:
    instance = drawn(seed, tasks=7 if counts == 1 else 4, waiting=waiting, counts=counts)
    search = by_branch_and_cut(instance)
    assert search.objective == search.lower_bound == optimum(instance)
    assert_proven(instance, search)


@pytest.mark.parametrize(("tasks", "waiting", "counts"), [(30, 0.0, 1), (14, 0.1, 1), (18, 0.0, 9)])
def test_auto_proves_tours_so_that_the_checker_agrees(
    tasks: int, waiting: float, counts: int
) -> None:
    instance = drawn(1, tasks=tasks, waiting=waiting, counts=counts)
    result = solve(instance, workers=1)
    assert over_of(result.certificate) is Over.ORDERS
    assert verify(instance, result, require_certificate=True).problems == ()


def test_a_tree_of_cases_is_proven() -> None:
    proofs = [by_branch_and_cut(drawn(seed, tasks=14)).certificate for seed in range(12)]
    assert any(map(is_tree, proofs))
    assert {over_of(proof) for proof in proofs} == {Over.ORDERS}


def test_beginnings_are_in_proofs_that_the_checker_accepts() -> None:
    instance = drawn(5, tasks=16, waiting=0.1)
    search = by_branch_and_cut(instance)
    leaf = only_leaf(search.certificate)
    assert leaf.beginnings
    assert_proven(instance, search)
    wrong = replace(search.certificate, nodes=(replace(leaf, beginnings=False),))
    result = result_of(instance, search.schedule, lower_bound=search.lower_bound, certificate=wrong)
    problems = verify(instance, result, require_certificate=True).problems
    assert any("no more than orders may cost" in problem for problem in problems)


def test_a_limit_leaves_a_bound_that_the_checker_accepts() -> None:
    instance = drawn(5, tasks=40, waiting=0.03)
    search = by_branch_and_cut(instance, most_checks=13)
    assert not search.is_closed
    assert search.lower_bound > 0
    assert_proven(instance, search)


def problem_of(instance: Instance) -> TourProblem:
    return tour_problem(Search(instance))


@pytest.mark.parametrize("waiting", [0.0, 0.15])
def test_local_search_finds_valid_tours_no_worse(waiting: float) -> None:
    problem = problem_of(drawn(3, tasks=15, waiting=waiting, counts=2))
    tour = nearest_next(problem)
    better = SegmentMoves(problem, 0, lambda: None).improved(tour, easily_reduced(problem), 1)
    assert sorted(better) == sorted(tour)
    assert problem.cost_of(better) < problem.cost_of(tour)
    position = {node: place for place, node in enumerate(better)}
    assert (
        all(position[before] < position[after] for before, after in np.argwhere(problem.precedes))
        or not waiting
    )


@pytest.mark.parametrize("seed", range(20))
def test_every_order_satisfies_the_cuts(seed: int) -> None:
    """Cuts that an average of some orders violates, and no order."""
    source = random.Random(seed)
    problem = problem_of(drawn(seed, tasks=7, waiting=0.25))
    size = problem.end + 1

    def some_order() -> list[int]:
        left, order = set(range(1, problem.end)), [0]
        while left:
            free = [
                node for node in left if not any(problem.precedes[other, node] for other in left)
            ]
            order.append(source.choice(sorted(free)))
            left.remove(order[-1])
        return [*order, problem.end]

    flow = np.zeros((size, size))
    for node in range(1, problem.end):  # mostly one predecessor each: hardly ever a tour
        flow[source.randrange(problem.end), node] += 1.0
    cuts = Separator(problem, lambda: None).violated(flow)
    assert cuts
    for _ in range(100):
        order = some_order()
        for cut in cuts:
            assert any(
                cut.tails[tail] and cut.heads[head] for tail, head in itertools.pairwise(order)
            )


def test_arcs_are_joined_to_a_tour() -> None:
    arcs = np.zeros((5, 5), dtype=np.int64)
    for tail, head in ((0, 1), (1, 2), (2, 1), (1, 1), (1, 3), (3, 4)):
        arcs[tail, head] += 1
    tour = joined(arcs)
    assert (tour[0], tour[-1]) == (0, 4)
    assert sorted(itertools.pairwise(tour)) == sorted(
        [(0, 1), (1, 2), (2, 1), (1, 1), (1, 3), (3, 4)]
    )


def test_beginnings_close_what_weights_leave_open() -> None:
    """With precedence few beginnings are left at the root of the tree."""
    instances_ = [drawn(seed, tasks=14, waiting=0.1) for seed in range(8)]
    searches = [by_branch_and_cut(instance) for instance in instances_]
    used = []
    for instance, search in zip(instances_, searches, strict=True):
        certificate = search.certificate
        assert isinstance(certificate, Proof)
        used += [leaf.beginnings for leaf in certificate.nodes if isinstance(leaf, Leaf)]
        assert_proven(instance, search)
    assert any(used)
