"""Branching decisions lose no schedule, leave no fraction, and pricing stays exact under them."""

import contextlib
import random
from collections.abc import Iterator
from itertools import islice

import pytest

from dfopt.solvers.branch_and_price.linear_program import TOLERANCE, Undecided
from dfopt.solvers.configuration.column_generation import ColumnGeneration
from dfopt.solvers.configuration.contents import (
    RULES,
    Column,
    ColumnPool,
    Feature,
    HoldsAtLeast,
    OpensWithToken,
    VisitsFragment,
    VisitsPair,
)
from dfopt.solvers.configuration.master import LpSolution, Master
from dfopt.solvers.configuration.remaining_problem import RemainingProblem
from tests.solvers.configuration.enumeration import all_columns, limited, problems

Schedule = tuple[Column, ...]
Rule = type[VisitsFragment] | type[OpensWithToken] | type[VisitsPair] | type[HoldsAtLeast]

MOST_SCHEDULES = 300


def all_schedules(problem: RemainingProblem, columns: list[Column]) -> Iterator[Schedule]:
    """Yield all ways to give every task to a CPU; columns of one group come in order."""
    groups = [group for group, cpus in enumerate(problem.cpus) for _ in range(cpus)]

    def go_on(cpu: int, first: int, left: RemainingProblem, chosen: Schedule) -> Iterator[Schedule]:
        if not left.stock.tasks.any():
            yield chosen
            return
        if cpu == len(groups):
            return
        if cpu and groups[cpu] != groups[cpu - 1]:
            first = 0
        for number, column in enumerate(columns[first:], first):
            if column.group == groups[cpu] and left.admits(column):
                yield from go_on(cpu + 1, number, left.without(column), (*chosen, column))
        # This CPU and all others of its group stay empty.
        other = next((at for at in range(cpu, len(groups)) if groups[at] != groups[cpu]), None)
        if other is not None:
            yield from go_on(other, 0, left, chosen)

    return go_on(0, 0, problem, ())


def having(feature: Feature, schedule: Schedule) -> int:
    return sum(feature.is_had_by(column.content) for column in schedule)


def keeps(problem: RemainingProblem, schedule: Schedule) -> bool:
    """Return whether pricing finds all columns of a schedule, and the schedule keeps all limits."""
    return all(map(problem.admits, schedule)) and all(
        least <= having(feature, schedule) <= most
        for feature, (least, most) in problem.limits.items()
    )


def children(
    problem: RemainingProblem, feature: Feature, fraction: float
) -> tuple[RemainingProblem, ...]:
    """Return the two nodes in which at most, or more than, a fractional number of CPUs have it."""
    least, most = problem.limits.get(feature, (0, sum(problem.cpus)))
    return (
        limited(problem, feature, least, int(fraction)),
        limited(problem, feature, int(fraction) + 1, most),
    )


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_children_share_all_schedules_and_exclude_the_fraction(rule: Rule) -> None:
    """One decision after the other; each keeps or drops whole schedules."""
    tried = divided = 0
    for whole, source in problems(500, seed=7):
        columns = all_columns(whole, whole.data.limit)
        features = sorted(
            {one for column in columns for one in rule.all_of(column.content)}, key=repr
        )
        node = whole
        schedules = list(islice(all_schedules(whole, columns), MOST_SCHEDULES))
        for feature in source.sample(features, min(3, len(features))):
            least, most = node.limits.get(feature, (0, sum(node.cpus)))
            if least == most or not schedules:
                break
            fraction = source.randrange(least, most) + 0.5
            fewer, more = children(node, feature, fraction)
            kept = [
                [schedule for schedule in schedules if keeps(child, schedule)]
                for child in (fewer, more)
            ]
            assert kept[0] == [
                schedule for schedule in schedules if having(feature, schedule) < fraction
            ]
            assert kept[1] == [
                schedule for schedule in schedules if having(feature, schedule) > fraction
            ]
            assert not fewer.limits[feature][0] <= fraction <= fewer.limits[feature][1]
            assert not more.limits[feature][0] <= fraction <= more.limits[feature][1]
            tried += 1
            divided += bool(kept[0]) and bool(kept[1])
            node, schedules = source.choice(list(zip((fewer, more), kept, strict=True)))
    assert tried >= 60
    assert divided >= 10


def value_by_enumeration(node: RemainingProblem, limit: int) -> float | None:
    """Return the value of the LP over all columns; None if these cannot provide everything."""
    within = None if node.data.limit is None else limit
    whole = RemainingProblem.whole_of(node.data)
    columns = [column for column in all_columns(whole, within) if node.admits(column)]
    master = Master(node, columns, lambda: None)
    while (solution := master.solve()).missing > TOLERANCE:
        if not master.raise_price():
            return None
    return solution.value


def check_solution(node: RemainingProblem, solution: LpSolution) -> None:
    """Check that the LP's solution keeps all decisions."""
    for feature, (least, most) in node.limits.items():
        uses = sum(n for column, n in solution.used.items() if feature.is_had_by(column.content))
        assert least - 1e-5 <= uses <= most + 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_column_generation_is_exact_under_branching_decisions(rule: Rule) -> None:
    """It allows a limit just where the LP over all columns does."""
    allowed = refused = 0
    for whole, source in problems(200, seed=8):
        limit = whole.data.limit
        if limit is None:
            limit = source.randint(0, 12)
        node = decided(whole, rule, source)
        if node is None:
            continue
        value = value_by_enumeration(node, limit)
        enough = 1.0 if whole.data.limit is not None else float(limit)
        if value is not None and abs(value - enough) < 1e-5:
            continue  # rounding decides
        solution = None
        with contextlib.suppress(Undecided):
            solution = ColumnGeneration(node, ColumnPool(), lambda: None).decide(limit)
        assert (solution is not None) == (value is not None and value <= enough), node
        if solution is not None:
            check_solution(node, solution)
        allowed += solution is not None
        refused += solution is None
    assert allowed >= 5
    assert refused >= 5


def decided(whole: RemainingProblem, rule: Rule, source: random.Random) -> RemainingProblem | None:
    """Return a node two decisions below ``whole``; None if there is nothing to decide."""
    columns = all_columns(whole, whole.data.limit)
    features = sorted({one for column in columns for one in rule.all_of(column.content)}, key=repr)
    if not features or sum(whole.cpus) < 2:
        return None
    node = whole
    for feature in source.sample(features, min(2, len(features))):
        least, most = node.limits.get(feature, (0, sum(whole.cpus)))
        if least == most:
            continue  # the sizes leave no choice
        fraction = source.randrange(least, most) + 0.5
        node = source.choice(children(node, feature, fraction))
    return node
