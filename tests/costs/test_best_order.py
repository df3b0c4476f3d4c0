"""F* is the least F over all permutations, and the order returned attains it."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfopt.costs.task_types import task_types
from dfopt.problem.cache import CacheState, Leaves
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyF, PenaltyG, PenaltyMatrix
from dfopt.problem.schedule import order_cost
from dfopt.solvers.best_order import best_order
from tests.costs.held_karp import HeldKarp
from tests.solvers.drawn import drawn_instances
from tests.strategies import instances

CLEAN, DIRTY, INVALIDATED = Leaves.CLEAN, Leaves.DIRTY, Leaves.INVALIDATED


def costs_of_all_orders(
    instance: Instance, cpu: int, names: Sequence[str]
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield every order of the named tasks, with its cost by definition."""
    by_name = instance.tasks_by_name()
    for order in permutations(names):
        yield order_cost(instance, cpu, [by_name[name] for name in order]), order


def cost_of(instance: Instance, cpu: int, order: Sequence[str]) -> int:
    by_name = instance.tasks_by_name()
    return order_cost(instance, cpu, [by_name[name] for name in order])


def blocks(instance: Instance, order: Sequence[str]) -> list[tuple[str | None, int]]:
    """Return the fragments that the order visits, with how many tasks it runs there."""
    by_name = instance.tasks_by_name()
    return [
        (df, len(list(members)))
        for df, members in groupby(order, key=lambda name: by_name[name].df)
    ]


def is_split(instance: Instance, order: Sequence[str]) -> bool:
    """Return whether the order visits some fragment twice."""
    visited = [df for df, _ in blocks(instance, order)]
    return len(visited) > len(set(visited))


def one_cpu(
    *tasks: Task, initial: CacheState | None = None, read_line: int = 1, write_back: int = 20
) -> Instance:
    return Instance(
        cpus=1,
        penalty=PenaltyF(read_line=read_line, write_back=write_back),
        tasks=tasks,
        initial=(initial,) if initial else (),
    )


TWO_IN_THE_LAST_BLOCK = one_cpu(
    Task(id="p", df="A", lines=50, leaves=CLEAN),
    Task(id="o", df="A", lines=1, leaves=DIRTY),
    Task(id="l", df="A", lines=50, leaves=INVALIDATED),
    Task(id="b", df="B", lines=1),
    initial=CacheState(df="A", leaves=DIRTY),
)
"""p leaves for nothing, o comes back cheaply, and l is spared its own write-back at the end."""

ONE_IN_THE_LAST_BLOCK = one_cpu(
    Task(id="p", df="A", lines=50, leaves=CLEAN),
    Task(id="l", df="A", lines=1, leaves=INVALIDATED),
    Task(id="b", df="B", lines=3, leaves=CLEAN),
    initial=CacheState(df="A", leaves=DIRTY),
)
"""Entering b and then l costs 4; without coming back, l would pay its own write-back."""


def test_a_split_whose_last_block_holds_two_tasks() -> None:
    assert best_order(TWO_IN_THE_LAST_BLOCK, 0, "polb") == (2, ("p", "b", "o", "l"))
    others = [
        cost
        for cost, order in costs_of_all_orders(TWO_IN_THE_LAST_BLOCK, 0, "polb")
        if not is_split(TWO_IN_THE_LAST_BLOCK, order)
        or blocks(TWO_IN_THE_LAST_BLOCK, order)[-1][1] == 1
    ]
    assert min(others) > 2


def test_a_split_whose_last_block_holds_one_task() -> None:
    assert best_order(ONE_IN_THE_LAST_BLOCK, 0, "plb") == (4, ("p", "b", "l"))
    assert is_split(ONE_IN_THE_LAST_BLOCK, "pbl")
    others = [
        cost
        for cost, order in costs_of_all_orders(ONE_IN_THE_LAST_BLOCK, 0, "plb")
        if not is_split(ONE_IN_THE_LAST_BLOCK, order)
    ]
    assert min(others) > 4


def test_no_task_and_one_task() -> None:
    instance = one_cpu(
        Task(id="p", df="A", lines=50, leaves=INVALIDATED),
        initial=CacheState(df="B", leaves=DIRTY),
    )
    assert best_order(instance, 0, ()) == (0, ())
    assert best_order(instance, 0, ("p",)) == (70, ("p",))


def test_what_a_cpu_without_tasks_costs() -> None:
    for instance in drawn_instances(200, seed=3):
        rule = HeldKarp(instance, task_types(instance))
        for cpu in range(instance.cpus):
            cost = order_cost(instance, cpu, ())
            assert best_order(instance, cpu, ()) == (cost, ())
            assert (rule.cost(cpu, {}), rule.order(cpu, {})) == (cost, [])


def test_fewer_tasks_may_cost_more() -> None:
    """A task that reads few lines opens the block of its fragment; one that reads many follows."""
    instance = Instance(
        cpus=1,
        penalty=PenaltyF(read_line=1, write_back=0),
        cold_start=True,
        tasks=(Task(id="much", df="A", lines=10), Task(id="little", df="A", lines=1)),
    )
    assert best_order(instance, 0, ("much", "little")) == (1, ("little", "much"))
    assert best_order(instance, 0, ("much",)) == (10, ("much",))


def test_one_fragment_alone_uses_both_ends() -> None:
    tasks = (
        Task(id="a", df="A", lines=9, leaves=INVALIDATED),
        Task(id="b", df="A", lines=9, leaves=INVALIDATED),
    )
    # The first one's own write-back is paid, the last one's is spared.
    assert best_order(one_cpu(*tasks), 0, "ab")[0] == 20
    assert best_order(one_cpu(*tasks, initial=CacheState(df="A")), 0, "ab")[0] == 20
    assert best_order(one_cpu(*tasks, initial=CacheState(df="B")), 0, "ab")[0] == 29


def test_the_free_fragment_is_left_to_the_end_where_that_is_cheaper() -> None:
    # Beginning with A would be free, but A is dear to leave: B first, A last.
    instance = one_cpu(
        Task(id="a", df="A", lines=1, leaves=DIRTY),
        Task(id="b", df="B", lines=1, leaves=CLEAN),
        initial=CacheState(df="A", leaves=CLEAN),
    )
    assert best_order(instance, 0, "ab") == (2, ("b", "a"))


def test_only_the_named_tasks_are_ordered() -> None:
    instance = Instance(
        cpus=2,
        penalty=PenaltyG(fill=2, write_back=1),
        initial=(CacheState(df="A"), CacheState(df="B")),
        tasks=(Task(id="a", df="A", count=3), Task(id="b", df="B"), Task(id="c", df="C")),
    )
    assert best_order(instance, 1, ("a#3", "b", "a#1")) == (3, ("b", "a#3", "a#1"))
    assert best_order(instance, 0, ("a#3", "b", "a#1"))[0] == 3
    assert best_order(instance, 1, ("a#2", "c"))[0] == 6


def check_all_orders(instance: Instance, cpu: int, names: Sequence[str]) -> tuple[bool, bool]:
    """Check F*; return whether it needs a split, and one with two tasks in its last block."""
    cost, order = best_order(instance, cpu, names)
    assert sorted(order) == sorted(names)
    assert cost_of(instance, cpu, order) == cost
    unsplit, short = [], []
    least = None
    for one, candidate in costs_of_all_orders(instance, cpu, names):
        least = one if least is None else min(least, one)
        if not is_split(instance, candidate):
            unsplit.append(one)
        elif blocks(instance, candidate)[-1][1] == 1:
            short.append(one)
    assert cost == least, (instance, cpu, names)
    return min(unsplit) > cost, min(unsplit + short) > cost


@pytest.mark.slow
def test_the_closed_form_on_many_drawn_sets_of_tasks() -> None:
    """Also: the drawn sets need splits, and splits with two tasks in the last block."""
    source = random.Random(1)
    splits = long_splits = 0
    for instance in drawn_instances(900, seed=1, most_tasks=6, kinds=("f", "g")):
        names = list(instance.tasks_by_name())
        if len(names) > 5 and source.random() < 0.6:
            names.remove(source.choice(names))
        source.shuffle(names)
        split, long_split = check_all_orders(instance, source.randrange(instance.cpus), names)
        splits += split
        long_splits += long_split
    for instance in _two_fragments(250, seed=2):
        split, long_split = check_all_orders(instance, 0, list(instance.tasks_by_name()))
        splits += split
        long_splits += long_split
    assert splits >= 20
    assert long_splits >= 4


def _two_fragments(number: int, *, seed: int) -> Iterator[Instance]:
    """Yield instances in which a split often pays: A is in the cache, and must be left."""
    source = random.Random(seed)
    for _ in range(number):
        a_tasks = [
            Task(
                id=f"a{place}",
                df="A",
                lines=source.choice((0, 1, 9)),
                leaves=source.choice(list(Leaves)),
            )
            for place in range(source.randint(3, 4))
        ]
        yield one_cpu(
            *a_tasks,
            Task(id="b", df="B", lines=1, leaves=source.choice((CLEAN, CLEAN, DIRTY))),
            initial=source.choice((None, CacheState(df="A", leaves=source.choice(list(Leaves))))),
            write_back=source.randint(4, 9),
        )


@pytest.mark.slow
@settings(max_examples=150)
@given(instances(kinds=("f", "g"), min_tasks=1, max_tasks=5), st.data())
def test_the_closed_form_on_any_set_of_tasks(instance: Instance, data: st.DataObject) -> None:
    names = data.draw(st.lists(st.sampled_from(list(instance.tasks_by_name())), unique=True))
    cpu = data.draw(st.integers(0, instance.cpus - 1))
    if names:
        check_all_orders(instance, cpu, names)


@pytest.mark.parametrize("kinds", [("matrix",), ("f",), ("g",)])
def test_held_and_karp_on_every_penalty(kinds: tuple[str]) -> None:
    for instance in drawn_instances(100, seed=3, most_tasks=5, kinds=kinds):
        types = task_types(instance)
        content = Counter({kind: one.count for kind, one in enumerate(types)})
        rule = HeldKarp(instance, types)
        names = list(instance.tasks_by_name())
        for cpu in range(instance.cpus):
            least = min(cost for cost, _ in costs_of_all_orders(instance, cpu, names))
            order = rule.order(cpu, content)
            tasks = [types[kind].example for kind in order]
            assert rule.cost(cpu, content) == least
            cost, order_of_names = best_order(instance, cpu, names)
            assert cost == cost_of(instance, cpu, order_of_names) == least
            assert Counter(order_of_names) == Counter(names)
            assert order_cost(instance, cpu, tasks) == least
            assert Counter(order) == content
        assert rule.order(0, {}) == []


def test_a_table_may_make_every_type_be_visited_many_times() -> None:
    # Alternating is free, staying is not.
    instance = Instance(
        cpus=1,
        penalty=PenaltyMatrix(types=("x", "y"), switch=((5, 0), (0, 5))),
        tasks=(Task(id="x", type="x", count=4), Task(id="y", type="y", count=4)),
    )
    cost, order = best_order(instance, 0, list(instance.tasks_by_name()))
    assert cost == 0
    assert {name[0] for name in order[::2]} in ({"x"}, {"y"})
    # With five of x and three of y, at least one x follows an x.
    uneven = [f"x#{copy}" for copy in range(1, 5)] + ["y#1", "y#2"]
    assert best_order(instance, 0, uneven)[0] == 5


@pytest.mark.parametrize("leaves", Leaves)
def test_many_copies_are_ordered_as_few_are(leaves: Leaves) -> None:
    """Each further copy costs its own write-back where it invalidates, and its execution."""

    def with_copies(count: int) -> Instance:
        return Instance(
            cpus=1,
            objective=Objective.MAKESPAN,
            penalty=PenaltyF(read_line=1, write_back=20),
            initial=(CacheState(df="A", leaves=DIRTY),),
            tasks=(
                Task(id="a", df="A", lines=4, leaves=leaves, exec=3, count=count),
                Task(id="p", df="A", lines=9, leaves=CLEAN),
                Task(id="b", df="B", lines=1),
            ),
        )

    few, many = with_copies(3), with_copies(1000)
    cost, order = best_order(many, 0, list(many.tasks_by_name()))
    each = 3 + (20 if leaves is INVALIDATED else 0)
    assert cost == best_order(few, 0, list(few.tasks_by_name()))[0] + 997 * each
    assert cost == cost_of(many, 0, order)
    assert len(set(order)) == 1002
