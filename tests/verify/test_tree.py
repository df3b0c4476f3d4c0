"""Trees of cases: values with prices are right, and whatever a tree proves is true."""

import random
from collections import Counter
from collections.abc import Sequence
from itertools import permutations

import pytest

from dfopt import replace
from dfopt.problem.certificate import (
    Count,
    EntryCount,
    Fork,
    GroupResource,
    Leaf,
    MeetingCount,
    Node,
    Over,
    Proof,
    TaskClass,
    UseCount,
    VisitCount,
)
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyF, PenaltyG, PenaltyMatrix
from dfopt.problem.schedule import order_cost
from dfopt.verify.exact_contents import largest_values
from dfopt.verify.relaxed_contents import OrderPrices
from tests.solvers.drawn import drawn_instances
from tests.solvers.optimum import optimum
from tests.verify.test_bound import certified
from tests.weighted import order_value


def untimed(number: int, seed: int, most_tasks: int) -> list[Instance]:
    drawn = drawn_instances(number, seed=seed, most_tasks=most_tasks, kinds=("f", "g"))
    return [instance for instance in drawn if not instance.is_timed and instance.task_count]


def priced_value(instance: Instance, cpu: int, order: Sequence[int], prices: OrderPrices) -> int:
    """Return the value of an order of entries of ``instance.tasks``, from its definition."""
    value = order_value(instance, cpu, order, prices.weights, prices.charges)
    visited = {instance.tasks[number].df for number in order}
    value += sum(price for df, price in prices.visits.items() if df in visited)
    value += sum(price for pair, price in prices.meetings.items() if visited.issuperset(pair))
    for members, tasks, price in prices.holdings:
        value += price * (sum(number in members for number in order) >= tasks)
    return value


def has_few_blocks(instance: Instance, order: Sequence[int]) -> bool:
    """Return whether every fragment has one block, or only the first and the last share one."""
    blocks: list[str | None] = []
    for number in order:
        if not blocks or blocks[-1] != instance.tasks[number].df:
            blocks.append(instance.tasks[number].df)
    twice = [df for df, times in Counter(blocks).items() if times > 1]
    return not twice or (blocks[0] == blocks[-1] and twice == [blocks[0]] and len(blocks) > 2)


def largest_by_trying(instance: Instance, prices: OrderPrices, threshold: int | None) -> list[int]:
    entries = [
        number for number, task in enumerate(instance.tasks) for _ in range(task.multiplicity)
    ]
    largest = [0] * instance.cpus
    for cpu in range(instance.cpus):
        for size in range(1, min(len(entries), instance.tasks_per_cpu) + 1):
            for order in set(permutations(entries, size)):
                if not has_few_blocks(instance, order):
                    continue
                cost = order_cost(instance, cpu, [instance.tasks[number] for number in order])
                value = priced_value(instance, cpu, order, prices)
                if threshold is None:
                    largest[cpu] = max(largest[cpu], value - prices.scale * cost)
                elif cost <= threshold:
                    largest[cpu] = max(largest[cpu], value)
    return largest


def drawn_prices(source: random.Random, instance: Instance, *, least_charge: int) -> OrderPrices:
    fragments = sorted({task.df or "" for task in instance.tasks})
    by_df: dict[str, list[int]] = {}
    for number, task in enumerate(instance.tasks):
        by_df.setdefault(task.df or "", []).append(number)
    weights = [source.randint(-2, 6) for _ in instance.tasks]
    holdings = []
    for numbers in by_df.values():
        if source.random() < 0.5:
            # The tasks of a count must cost and weigh the same.
            alike = [numbers[0]]
            for number in numbers[1:]:
                first, other = instance.tasks[numbers[0]], instance.tasks[number]
                if (first.leaves, first.exec) == (other.leaves, other.exec):
                    alike.append(number)
                    weights[number] = weights[numbers[0]]
            holdings.append((frozenset(alike), source.randint(1, 3), source.choice((-5, 4))))
    pairs = [(a, b) for a in fragments for b in fragments if a < b]
    return OrderPrices(
        weights=weights,
        charges=[source.choice((least_charge, 0, 0, 3)) for _ in instance.tasks],
        visits={df: source.randint(-6, 6) for df in fragments if source.random() < 0.6},
        meetings={pair: source.choice((-7, -1, 5)) for pair in pairs if source.random() < 0.6},
        holdings=holdings,
        scale=source.randint(1, 3),
    )


@pytest.mark.slow
@pytest.mark.parametrize("least_charge", [0, -4])
def test_largest_values_with_prices_are_those_found_by_trying(least_charge: int) -> None:
    """With charges below 0, orders that pay for more entries than they need count as well."""
    source = random.Random(5)
    exact = 0
    instances = untimed(220, seed=6, most_tasks=5)
    for instance in instances:
        prices = drawn_prices(source, instance, least_charge=least_charge)
        total = instance.objective is Objective.TOTAL_PENALTY
        threshold = None if total else source.randint(0, 20)
        found = largest_values(instance, prices, threshold)
        truth = largest_by_trying(instance, prices, threshold)
        assert all(map(int.__ge__, found, truth)), (instance, prices, threshold)
        exact += found == truth
    assert exact >= (len(instances) if not least_charge else 0.7 * len(instances))


def drawn_tree(source: random.Random, instance: Instance, bound: int) -> Proof:
    """Return a tree of a few forks with small numbers at its leaves."""
    fragments = sorted({task.df or "" for task in instance.tasks})
    classes = tuple(TaskClass(df=df) for df in fragments)
    numbers = range(len(classes))
    counts: list[Count] = [VisitCount(classes=(row,)) for row in numbers]
    counts += [EntryCount(classes=(row,)) for row in numbers]
    counts += [VisitCount(classes=(row,), tasks=2) for row in numbers]
    counts += [MeetingCount(classes=(a, b)) for a in numbers for b in numbers if a < b]

    def subtree(depth: int) -> list[Node]:
        if depth and source.random() < 0.7:
            fork = Fork(count=source.randrange(len(counts)), at_most=source.randint(0, 2))
            return [fork, *subtree(depth - 1), *subtree(depth - 1)]
        weights = tuple((number, source.randint(0, 4)) for number in numbers)
        prices = tuple(
            (number, source.randint(-3, 6))
            for number in range(len(counts))
            if source.random() < 0.3
        )
        is_total = instance.objective is Objective.TOTAL_PENALTY
        scale = source.randint(1, 3) if is_total else 1
        return [Leaf(weights=weights, prices=prices, scale=scale)]

    return Proof(
        over=Over.CONTENTS,
        threshold=bound - 1,
        classes=classes,
        counts=tuple(counts),
        nodes=tuple(subtree(2)),
    )


@pytest.mark.slow
def test_whatever_a_tree_proves_is_true() -> None:
    source = random.Random(8)
    proven = Counter[bool]()
    for instance in untimed(250, seed=9, most_tasks=6):
        least = optimum(instance)
        for bound in (least, least + 1, max(1, least // 2), least + 3):
            for _ in range(3):
                found = certified(instance, drawn_tree(source, instance, bound), bound)
                if bound and found.bound_checked:
                    assert bound <= least, instance
                    proven[bound == least] += 1
    assert proven[True] >= 20


THREE = Instance(
    cpus=2,
    penalty=PenaltyG(fill=1, write_back=0),
    cold_start=True,
    tasks=tuple(Task(id=df.lower(), df=df, count=2) for df in "ABC"),
)
"""Three fragments of two tasks on two CPUs of three: some CPU visits two."""

BY_VISITS = Proof(
    over=Over.CONTENTS,
    threshold=1,
    classes=tuple(TaskClass(df=df) for df in "ABC"),
    counts=tuple(VisitCount(classes=(number,)) for number in range(3)),
    nodes=(Leaf(prices=((0, 1), (1, 1), (2, 1))),),
)


def test_a_fragment_is_visited_by_some_cpu() -> None:
    assert certified(THREE, BY_VISITS, 2).bound_checked
    assert optimum(THREE) == 2
    assert not certified(THREE, replace(BY_VISITS, threshold=2), 3).ok


def test_cases_that_no_schedule_belongs_to_need_no_prices() -> None:
    never = (Fork(count=0, at_most=0), Leaf(), *BY_VISITS.nodes)
    assert certified(THREE, replace(BY_VISITS, nodes=never), 2).bound_checked
    swapped = (never[0], never[2], never[1])
    assert not certified(THREE, replace(BY_VISITS, nodes=swapped), 2).ok


LEAF = Leaf(prices=((0, 1), (1, 1), (2, 1)))
FORK = Fork(count=0, at_most=1)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"nodes": ()}, "ends before all cases"),
        ({"nodes": (FORK, LEAF)}, "ends before all cases"),
        ({"nodes": (LEAF, LEAF)}, "complete without"),
        ({"nodes": (Fork(count=3, at_most=1), LEAF, LEAF)}, "a count that is not there"),
        ({"nodes": (replace(LEAF, prices=((3, 1),)),)}, "not there"),
        ({"nodes": (replace(LEAF, weights=((3, 1),)),)}, "not there"),
        ({"nodes": (replace(LEAF, scale=0),)}, "scale"),
        ({"nodes": (replace(LEAF, scale=2),)}, "because costs have a threshold"),
        ({"nodes": (replace(LEAF, bin_weights=(1, 1, 1)),)}, "has 3 entries for 2 CPUs"),
        ({"nodes": (Leaf(),)}, "worth 0"),
        ({"classes": (TaskClass(df="Z"),)}, "no task"),
        ({"counts": (VisitCount(classes=(3,)),)}, "a class that is not there"),
        ({"counts": (MeetingCount(classes=(0, 0)),)}, "two fragments"),
        ({"counts": (VisitCount(classes=(0,), tasks=0),)}, "at least 1"),
        ({"counts": (UseCount(of=GroupResource.ROOM),)}, "nothing to count in contents"),
        ({"threshold": 0}, "threshold"),
        ({"over": Over.SUPPORTS}, "for the penalty matrix"),
        ({"over": Over.ORDERS}, "for the penalty matrix"),
        ({"over": Over.SIZES}, "without any schedule"),
    ],
)
def test_a_tree_is_refused_for_its_form(changes: dict[str, object], problem: str) -> None:
    tree = replace(BY_VISITS, **changes)  # type: ignore[arg-type]
    found = certified(THREE, tree, 2)
    assert not found.bound_checked
    assert any(problem in text for text in found.problems), found.problems


def test_forks_are_complete_and_narrow_what_is_counted() -> None:
    forked = (FORK, LEAF, LEAF)
    assert certified(THREE, replace(BY_VISITS, nodes=forked), 2).bound_checked
    # A leaf that holds only where two CPUs visit A.
    twice = Leaf(prices=((0, 2),))
    assert not certified(THREE, replace(BY_VISITS, nodes=(FORK, twice, LEAF)), 2).ok
    assert not certified(THREE, replace(BY_VISITS, nodes=(FORK, LEAF, twice)), 2).ok
    more = Leaf(prices=((0, 1), (1, 1)))
    assert certified(THREE, replace(BY_VISITS, nodes=(FORK, LEAF, more)), 2).bound_checked


def test_counts_must_be_of_tasks_that_weigh_the_same() -> None:
    count = VisitCount(classes=(0, 1))
    leaf = Leaf(weights=((0, 9),), prices=((0, 9),))
    tree = replace(BY_VISITS, counts=(count,), nodes=(leaf,))
    found = certified(THREE, tree, 2)
    assert "do not cost or weigh the same" in found.problems[0]


def test_trees_are_for_f_and_g() -> None:
    table = Instance(
        cpus=1,
        penalty=PenaltyMatrix(types=("A",), switch=((1,),)),
        tasks=(Task(id="a", type="A", df="A", count=3),),
    )
    assert any("f and g" in text for text in certified(table, BY_VISITS, 2).problems)


def test_fractions_of_a_cost_need_a_scale() -> None:
    """Under total-penalty half a visit is worth half of its cost."""
    instance = Instance(
        cpus=3,
        penalty=PenaltyF(read_line=1, write_back=0),
        cold_start=True,
        objective=Objective.TOTAL_PENALTY,
        tasks=tuple(Task(id=df.lower(), df=df, lines=1, count=2) for df in "ABC"),
    )
    rows = tuple(TaskClass(df=df) for df in "ABC")
    leaf = Leaf(weights=tuple((number, 1) for number in range(3)), scale=2)
    tree = Proof(over=Over.CONTENTS, threshold=2, classes=rows, nodes=(leaf,))
    assert certified(instance, tree, 3).bound_checked
    assert not certified(instance, replace(tree, nodes=(replace(leaf, scale=3),)), 3).ok
    assert not certified(instance, replace(tree, threshold=3), 4).ok
