"""Bounds by even shares are true and can be checked."""

from collections import Counter
from contextlib import suppress

import pytest

from dfopt import GapLimit, Instance, Objective, PenaltyMatrix, TimeLimit, replace, solve
from dfopt.generate import matrix, zipf
from dfopt.problem.certificate import CompleteSearch, Counting, EvenShares
from dfopt.problem.result import FirstOf
from dfopt.solvers.configuration import solve_by_configurations
from dfopt.solvers.even_shares import counts_executions, even_share, share_evenly
from dfopt.solvers.matrix import bound_by_flow, choose_supports
from dfopt.solvers.search import Search, SearchOver
from dfopt.verify import verify
from tests.patience import PATIENCE_S
from tests.solvers.drawn import drawn_instances
from tests.solvers.optimum import optimum
from tests.verify.test_bound import certified


def least_total(search: Search) -> None:
    if isinstance(search.instance.penalty, PenaltyMatrix):
        choose_supports(search)
        bound_by_flow(search)
    else:
        solve_by_configurations(search)


def shared(instance: Instance) -> Search:
    """Return a search that knows an even share of the least total penalty."""
    search = Search(instance)
    with suppress(SearchOver):
        share_evenly(search, least_total)
    return search


def check_shares(number: int, seed: int) -> Counter[str]:
    """Compare bounds, schedules and certificates with enumeration; count what was seen."""
    seen = Counter[str]()
    for drawn in drawn_instances(number, seed=seed, most_tasks=6):
        instance = replace(drawn, objective=Objective.MAKESPAN)
        if not counts_executions(instance):
            continue
        search = shared(instance)
        least = optimum(instance)
        assert search.lower_bound <= least, instance
        assert search.objective is None or search.objective >= least, instance
        seen["exact"] += search.lower_bound == least
        match search.certificate:
            case EvenShares() as certificate:
                seen["shared"] += 1
                found = certified(instance, certificate, search.lower_bound)
                assert found.bound_checked, (instance, found)
                higher = replace(certificate, threshold=search.lower_bound)
                assert not certified(instance, higher, search.lower_bound + 1).ok
                more = replace(certificate, total_penalty=certificate.total_penalty + 1)
                above = even_share(instance, more.total_penalty)
                more = replace(more, threshold=above - 1)
                assert not certified(instance, more, above).ok or above <= least
    return seen


def test_even_shares_are_true_bounds() -> None:
    seen = check_shares(150, seed=3)
    assert seen["shared"] >= 20
    assert seen["exact"] >= 10


@pytest.mark.slow
def test_more_even_shares_are_true_bounds() -> None:
    assert check_shares(400, seed=5)["shared"] >= 50


def test_even_shares_need_makespan_and_tasks_that_do_not_wait() -> None:
    instance = zipf(tasks=12, cpus=2, fragments=3, exec=5, objective=Objective.MAKESPAN)
    certificate = EvenShares(
        threshold=0, total_penalty=0, proof=Counting(argument="arrivals", threshold=-1)
    )
    assert certified(instance, certificate, 1).bound_checked
    for other in (
        replace(instance, objective=Objective.MAX_PENALTY),
        replace(instance, tasks=(replace(instance.tasks[0], release=1), *instance.tasks[1:])),
    ):
        found = certified(other, certificate, 1)
        assert not found.ok
        assert "even-shares" in found.problems[0]
    waiting = replace(instance, tasks=(replace(instance.tasks[0], release=1), *instance.tasks[1:]))
    assert not counts_executions(waiting)
    assert not counts_executions(zipf(tasks=12, cpus=2, fragments=3))


def test_the_inner_proof_is_checked() -> None:
    instance = zipf(tasks=12, cpus=2, fragments=3, exec=5, objective=Objective.MAKESPAN)
    total = 1_000
    bound = even_share(instance, total)
    certificate = EvenShares(
        threshold=bound - 1,
        total_penalty=total,
        proof=Counting(argument="arrivals", threshold=total - 1),
    )
    found = certified(instance, certificate, bound)
    assert not found.ok
    assert "certificate.proof: " in found.problems[0]


@pytest.mark.slow
def test_many_tasks_with_executions_come_near_their_bound() -> None:
    instance = zipf(tasks=60, cpus=5, fragments=12, exec=60, objective=Objective.MAKESPAN)
    result = solve(instance, stop=FirstOf(GapLimit(0.018), TimeLimit(PATIENCE_S)), workers=1)
    assert verify(instance, result).bound_checked
    assert result.gap is not None
    assert result.gap < 0.02


def test_a_matrix_with_executions_is_bounded_by_supports() -> None:
    drawn = matrix(tasks=40, cpus=4, types=3, exec=20, objective=Objective.MAKESPAN, triangle=True)
    search = shared(drawn)
    assert isinstance(search.certificate, EvenShares)
    assert certified(drawn, search.certificate, search.lower_bound).bound_checked
    unchecked = CompleteSearch(threshold=search.lower_bound - 1)
    again = Search(drawn)
    again.proved(search.lower_bound, unchecked)
    again.proved(search.lower_bound, search.certificate)
    assert again.certificate == search.certificate
    again.proved(search.lower_bound, unchecked)
    assert again.certificate == search.certificate
    assert len(again.history) == 1
