"""Counting certificates are counted anew."""

import pytest

from dfopt import replace
from dfopt.costs.cheap_bounds import cheap_bounds
from dfopt.costs.task_types import task_types
from dfopt.problem.certificate import Counting
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyG
from dfopt.verify.counting import ARGUMENTS, counted_bound
from tests.solvers.drawn import drawn_instances
from tests.solvers.optimum import optimum
from tests.verify.test_bound import certified


@pytest.mark.slow
def test_every_argument_gives_a_bound_and_that_of_the_solver() -> None:
    # The bound by energy is worked out later, and only for tasks that wait.
    given = dict.fromkeys(ARGUMENTS.keys() - {"energy"}, 0)
    for instance in drawn_instances(700, seed=12):
        least = optimum(instance)
        for argument in ARGUMENTS:
            assert (counted_bound(instance, argument) or 0) <= least, instance
        for bound in cheap_bounds(instance, task_types(instance)):
            if isinstance(bound.certificate, Counting):
                assert counted_bound(instance, bound.certificate.argument) == bound.value
                given[bound.certificate.argument] += 1
    assert min(given.values()) >= 5, given


CHAIN = Instance(
    cpus=2,
    objective=Objective.MAKESPAN,
    penalty=PenaltyG(fill=0, write_back=0),
    tasks=(Task(id="b", df="A", exec=5, after=("a",)), Task(id="a", df="A", exec=2, release=3)),
)


def test_no_more_is_proven_than_was_counted() -> None:
    path = Counting(argument="critical-path", threshold=9)
    assert certified(CHAIN, path, 10).bound_checked
    assert not certified(CHAIN, replace(path, threshold=10), 11).ok
    assert not certified(CHAIN, path, 11).ok
    found = certified(CHAIN, Counting(argument="hope"), 10)
    assert "no argument 'hope'" in found.problems[0]


def test_energy_counts_beyond_64_bits() -> None:
    # All CPUs together have more than 2^63 units of time.
    instance = Instance(
        cpus=16,
        objective=Objective.MAKESPAN,
        penalty=PenaltyG(fill=0, write_back=0),
        tasks=tuple(Task(id=name, df="A", exec=1 << 60) for name in "ab"),
    )
    assert counted_bound(instance, "energy") == 1 << 60
