"""What is asserted of every search over supports."""

from collections.abc import Callable
from contextlib import suppress

from dfopt.problem.certificate import CompleteSearch
from dfopt.problem.instance import Instance
from dfopt.solvers.exhaustive import solve_exhaustively
from dfopt.solvers.search import Search, SearchOver
from dfopt.verify.checker import check_bound
from tests.claims import result_of


def assert_proven(instance: Instance, search: Search) -> None:
    """Assert that the checker agrees with the bound, unless it is that of a flow."""
    if search.certificate is not None and not isinstance(search.certificate, CompleteSearch):
        result = result_of(
            instance,
            search.schedule,
            lower_bound=search.lower_bound,
            certificate=search.certificate,
        )
        check = check_bound(instance, result)
        assert (check.checked, check.problems) == (True, [])


def assert_optimum_lies_between(instance: Instance, chosen: Callable[[Instance], Search]) -> None:
    """Assert that bound and schedule of a search hold the optimum between them."""
    if instance.is_timed:
        return
    search, exact = chosen(instance), Search(instance)
    with suppress(SearchOver):
        solve_exhaustively(exact)
    assert exact.objective is not None
    assert search.lower_bound <= exact.objective
    assert search.objective is None or search.objective >= exact.objective
    assert_proven(instance, search)
