"""A search keeps the best of what is reported to it, and says when it is over."""

import pytest

from dfopt.problem.cache import CacheState
from dfopt.problem.certificate import CompleteSearch
from dfopt.problem.instance import Instance, Task
from dfopt.problem.penalties import PenaltyG
from dfopt.problem.result import Progress, StopReason, TimeLimit
from dfopt.solvers.search import Search, SearchOver

INSTANCE = Instance(
    cpus=3,
    penalty=PenaltyG(fill=1, write_back=1),
    capacity="unlimited",
    initial=(CacheState(df="A"), None, CacheState(df="A")),
    tasks=(Task(id="a", df="A", count=2), Task(id="b", df="B"), Task(id="also", df="A")),
)
A, B = 0, 1


def certificate(bound: int) -> CompleteSearch:
    return CompleteSearch(threshold=bound - 1, solver="test")


def test_types_and_identical_cpus_are_recognised() -> None:
    search = Search(INSTANCE)
    assert [one.names for one in search.types] == [("a#1", "a#2", "also"), ("b",)]
    assert search.cpu_groups == (0, 1, 0)


def test_only_better_schedules_are_kept() -> None:
    search = Search(INSTANCE)
    search.found([[A, B, A, A], [], []])
    assert search.objective == 4
    search.found([[A, A, A, B], [], []])
    assert search.objective == 2
    best = search.schedule
    search.found([[A, B, A, A], [], []])
    search.found([[A, A, A], [], [B]])  # as good, but not better
    assert search.objective == 2
    assert search.schedule is best
    assert best is not None
    assert best.cpus[0].tasks == ("a#1", "a#2", "also", "b")
    assert [step.objective for step in search.history] == [4, 2]


def test_only_better_bounds_are_kept() -> None:
    search = Search(INSTANCE)
    search.proved(0, certificate(0))
    assert search.certificate is None
    search.proved(2, certificate(2))
    search.proved(1, certificate(1))
    search.proved(2, CompleteSearch(threshold=1, solver="another"))
    assert search.lower_bound == 2
    assert search.certificate == certificate(2)
    assert [step.lower_bound for step in search.history] == [2]


def test_every_improvement_is_reported_once() -> None:
    steps: list[Progress] = []
    search = Search(INSTANCE, on_progress=steps.append)
    search.found([[A, A, A, B], [], []])
    search.found([[A, A, A, B], [], []])
    search.proved(1, certificate(1))
    assert tuple(progress.step for progress in steps) == search.history
    assert [(step.lower_bound, step.objective) for step in steps] == [(0, 2), (1, 2)]


def test_it_is_over_when_bound_and_schedule_meet() -> None:
    search = Search(INSTANCE, stop=TimeLimit(1000))
    search.check()
    search.found([[A, A, A, B], [], []])
    search.proved(1, certificate(1))
    assert not search.is_closed
    assert search.stop_reason() is None
    search.check()
    search.proved(2, certificate(2))
    assert search.is_closed
    with pytest.raises(SearchOver) as over:
        search.check()
    assert over.value.reason is StopReason.PROOF


def test_it_is_over_when_a_criterion_says_so() -> None:
    search = Search(INSTANCE, stop=TimeLimit(0))
    with pytest.raises(SearchOver) as over:
        search.check()
    assert over.value.reason is StopReason.TIME_LIMIT
    # A proof is the better reason.
    search.found([[A, A, A], [B], []])
    assert search.objective == 0
    assert search.stop_reason() is StopReason.PROOF
