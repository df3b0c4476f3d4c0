"""What is imported has the optimum of the problem in the file."""

import itertools
import math
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfopt import solve
from dfopt.files.imported import import_instance
from dfopt.problem.instance import Instance
from tests.files.imported.written import (
    Matrix,
    bins_with_colours,
    bins_with_setups,
    lines,
    saved,
    task_graph,
    triplets,
    tsplib,
)


@st.composite
def tables(draw: st.DrawFn, *, symmetric: bool = False) -> Matrix:
    size = draw(st.integers(3, 6))
    costs = [[draw(st.integers(0, 20)) for _ in range(size)] for _ in range(size)]
    if symmetric:
        costs = [[costs[min(i, j)][max(i, j)] for j in range(size)] for i in range(size)]
    return costs


def optimum(instance: Instance) -> int:
    result = solve(instance, method="exhaustive", workers=1)
    assert result.objective is not None
    assert result.objective == result.lower_bound
    return result.objective


def shortest_tour(costs: Matrix) -> int:
    return min(
        sum(costs[i][j] for i, j in itertools.pairwise((0, *order, 0)))
        for order in itertools.permutations(range(1, len(costs)))
    )


def best_order(costs: Matrix) -> int:
    last = len(costs) - 1
    return min(
        sum(costs[i][j] for i, j in itertools.pairwise((0, *order, last)))
        for order in itertools.permutations(range(1, last))
        if not any(costs[i][j] == -1 for i, j in itertools.combinations((0, *order, last), 2))
    )


@settings(max_examples=60, deadline=None)
@given(costs=tables())
def test_the_optimum_of_an_asymmetric_table_is_its_shortest_tour(
    tmp_path_factory: pytest.TempPathFactory, costs: Matrix
) -> None:
    path = saved(tmp_path_factory.mktemp("t"), tsplib(costs))
    assert optimum(import_instance(path)) == shortest_tour(costs)


@settings(max_examples=60, deadline=None)
@given(
    costs=tables(symmetric=True),
    layout=st.sampled_from(
        [f"{half}{diagonal}_{by}" for half in ("UPPER", "LOWER") for diagonal in ("", "_DIAG")
         for by in ("ROW", "COL")]
    ),
)  # fmt: skip
def test_every_layout_of_a_symmetric_table_is_read(
    tmp_path_factory: pytest.TempPathFactory, costs: Matrix, layout: str
) -> None:
    folder = tmp_path_factory.mktemp("t")
    instance = import_instance(saved(folder, tsplib(costs, "TSP", layout)))
    whole = import_instance(saved(folder, tsplib(costs, "TSP")))
    assert instance == whole
    assert optimum(instance) == shortest_tour(costs)


@settings(max_examples=80, deadline=None)
@given(costs=tables(), seed=st.integers(0, 1000))
def test_the_optimum_of_a_sequential_ordering_is_its_best_order(
    tmp_path_factory: pytest.TempPathFactory, costs: Matrix, seed: int
) -> None:
    last = len(costs) - 1
    order = [0, *random.Random(seed).sample(range(1, last), last - 1), last]
    rank = {city: position for position, city in enumerate(order)}
    drawn = random.Random(seed + 1)
    table = [list(row) for row in costs]
    for i, j in itertools.permutations(range(last + 1), 2):
        ends = j == 0 or i == last
        if ends or (rank[j] < rank[i] and drawn.random() < 0.4 and {i, j}.isdisjoint({0, last})):
            table[i][j] = -1
    folder = tmp_path_factory.mktemp("t")
    imported = [
        import_instance(saved(folder, text))
        for text in (
            tsplib(table, "SOP"),
            lines(table),
            lines([[last + 1], *table]),
        )
    ]
    assert len({instance.penalty for instance in imported}) == 1
    assert optimum(imported[0]) == best_order(table)
    assert imported[0].tasks == imported[1].tasks == imported[2].tasks


def test_distances_are_rounded_as_tsplib_says(tmp_path: Path) -> None:
    points = {"1": (0, 0), "2": (1, 1), "3": (2.5, 0), "4": (1e1, 7)}
    places = lines([city, *point] for city, point in points.items())
    tables = {}
    for weights in ("EUC_2D", "CEIL_2D", "MAN_2D", "MAX_2D", "ATT", "GEO"):
        text = (
            f"NAME : p\nTYPE : TSP (four points)\nDIMENSION : 4\nEDGE_WEIGHT_TYPE : {weights}\n"
            f"NODE_COORD_SECTION\n{places}EOF\n"
        )
        tables[weights] = import_instance(saved(tmp_path, text)).penalty
    # From 2 at (1, 1) to 3 at (2.5, 0) and 4 at (10, 7).
    assert math.hypot(1.5, 1) == pytest.approx(1.803, abs=1e-3)
    assert {weights: table.switch[0] for weights, table in tables.items()} == {  # type: ignore[union-attr]
        "EUC_2D": (0, 2, 11),
        "CEIL_2D": (0, 2, 11),
        "MAN_2D": (0, 3, 15),
        "MAX_2D": (0, 2, 9),
        "ATT": (0, 1, 4),
        "GEO": (0, 233, 1203),
    }


def test_the_diagonal_of_a_tour_does_not_matter(tmp_path: Path) -> None:
    costs = [[-1, 3, 8], [4, 9999, 5], [1, 1, 100000000]]
    assert optimum(import_instance(saved(tmp_path, tsplib(costs)))) == 3 + 5 + 1


def test_a_task_graph_is_its_tasks_without_dummies(tmp_path: Path) -> None:
    text = task_graph([2, 3, 4, 1], [[], [1], [1], [2, 3]])
    path = saved(tmp_path, text + "# a remark\n", "g.stg")
    instance = import_instance(path, cpus=2)
    assert instance.name == "g-m2"
    assert [(task.id, task.exec, task.after) for task in instance.tasks] == [
        ("1", 2, ()), ("2", 3, ("1",)), ("3", 4, ("1",)), ("4", 1, ("2", "3")),
    ]  # fmt: skip
    assert optimum(instance) == 7
    assert optimum(import_instance(path, cpus=1)) == 10


def test_a_task_graph_may_have_only_the_last_dummy(tmp_path: Path) -> None:
    both = import_instance(saved(tmp_path, task_graph([2, 3], [[], [1]])), cpus=2)
    rows = "2 1\n1 2 0\n2 3 1 1\n3 0 1 2\n"
    assert import_instance(saved(tmp_path, rows), cpus=2).tasks == both.tasks


def test_a_task_that_takes_no_time_stays_in_the_middle(tmp_path: Path) -> None:
    path = saved(tmp_path, task_graph([2, 0, 3], [[], [1], [2]]))
    instance = import_instance(path, cpus=1)
    assert [task.id for task in instance.tasks] == ["1", "2", "3"]
    assert optimum(instance) == 5


def fits(capacity: int, classes: list[tuple[int, list[int]]], bins: int) -> bool:
    items = [(group, weight) for group, (_, weights) in enumerate(classes) for weight in weights]
    for choice in itertools.product(range(bins), repeat=len(items)):
        loads = [0] * bins
        for bin_, (_, weight) in zip(choice, items, strict=True):
            loads[bin_] += weight
        for bin_, group in {(b, group) for b, (group, _) in zip(choice, items, strict=True)}:
            loads[bin_] += classes[group][0]
        if max(loads) <= capacity:
            return True
    return False


@settings(max_examples=40, deadline=None)
@given(
    classes=st.lists(
        st.tuples(st.integers(0, 5), st.lists(st.integers(1, 9), min_size=1, max_size=3)),
        min_size=1,
        max_size=2,
    ),
    capacity=st.integers(5, 30),
    bins=st.integers(1, 3),
)
def test_items_fit_exactly_if_the_optimum_is_at_most_the_capacity(
    tmp_path_factory: pytest.TempPathFactory,
    classes: list[tuple[int, list[int]]],
    capacity: int,
    bins: int,
) -> None:
    path = saved(tmp_path_factory.mktemp("t"), bins_with_setups(capacity, classes))
    instance = import_instance(path, cpus=bins)
    assert (optimum(instance) <= capacity) == fits(capacity, classes, bins)


def least_fragmentation(bins: int, capacity: int, items: list[tuple[int, int]]) -> int | None:
    found = []
    for choice in itertools.product(range(bins), repeat=len(items)):
        placed = list(zip(choice, items, strict=True))
        loads = [sum(weight for b, (_, weight) in placed if b == bin_) for bin_ in range(bins)]
        if max(loads) <= capacity:
            found.append(len({(bin_, colour) for bin_, (colour, _) in placed}))
    return min(found, default=None)


@settings(max_examples=60, deadline=None)
@given(
    items=st.lists(st.tuples(st.integers(0, 2), st.integers(1, 5)), min_size=1, max_size=6),
    capacity=st.integers(5, 9),
    bins=st.integers(1, 3),
)
def test_the_optimum_is_the_least_fragmentation_of_colours(
    tmp_path_factory: pytest.TempPathFactory,
    items: list[tuple[int, int]],
    capacity: int,
    bins: int,
) -> None:
    folder = tmp_path_factory.mktemp("t")
    path = saved(folder, bins_with_colours(bins, capacity, items))
    result = solve(import_instance(path), method="exhaustive", workers=1)
    assert result.objective == least_fragmentation(bins, capacity, items)
    path = saved(folder, bins_with_colours(7, capacity, items))
    assert import_instance(path, cpus=bins).cpus == bins


def test_triplets_have_a_third_as_many_bins_of_a_thousand(tmp_path: Path) -> None:
    items = [(0, 300), (0, 300), (1, 400), (1, 500), (0, 250), (2, 250)]
    instance = import_instance(saved(tmp_path, triplets(items)))
    assert (instance.cpus, instance.capacity) == (2, 1000)
    assert optimum(instance) == least_fragmentation(2, 1000, items)
