"""Bin packing by the configuration LP: tasks, known by their sizes alone, that fit on a CPU.

That is an instance of a single fragment whose visits cost nothing. Its linear program is that of
Gilmore and Gomory (1961): it asks for the multiple of the CPUs that holds all tasks. Its prices
prove that tasks do not fit (Farley 1990); they are nearly always strong enough, since the optimum
is hardly ever more than one above the program's value. A dive rounds its solution to a packing.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress

from dfopt.problem.certificate import CompleteSearch, Leaf, Over, Proof, ProofRows, TaskClass
from dfopt.problem.instance import Instance, Task
from dfopt.problem.penalties import PenaltyG
from dfopt.solvers.aggregation import Aggregation
from dfopt.solvers.branch_and_price.linear_program import Undecided
from dfopt.solvers.branch_and_price.prices import Prices
from dfopt.solvers.configuration.column_generation import ColumnGeneration
from dfopt.solvers.configuration.contents import ColumnPool, Feature
from dfopt.solvers.configuration.diving import Diving
from dfopt.solvers.configuration.pricing import Refutation
from dfopt.solvers.configuration.pricing_data import PricingData
from dfopt.solvers.configuration.proof_tree import in_smallest_numbers
from dfopt.solvers.configuration.remaining_problem import RemainingProblem, Stock
from dfopt.solvers.heuristics.constructive import Packing, groups_of
from dfopt.solvers.search import Search, SearchOver

LARGEST_TABLE = 50_000_000
"""At most this number of table entries for a knapsack: some tenths of a second."""

TURNS = 60
"""A dive turns back at most 60 times."""


def packed_by_patterns(search: Search) -> Packing | Proof | None:
    """Return contents of the CPUs that hold all tasks, or weights which prove that none do.

    None where neither is found.
    """
    instance = _sizes_alone(search.instance)
    if len(instance.tasks) * (instance.room + 1) > LARGEST_TABLE:
        return None
    data = PricingData(Aggregation.of(Search(instance)), 0, search.check)
    stock = Stock(data.counts, data.token_counts)
    problem = RemainingProblem(data, stock, (instance.cpus,))
    pool = ColumnPool()
    # Prices by size say least where the sizes just fill the CPUs.
    start: Prices[Feature, float] = Prices(
        weights=[1 / data.counts.sum()] * len(data.counts),
        charges=[0.0] * len(data.entries),
        features={},
        bins=[0.0],
        cost=0.0,
    )
    relaxation = ColumnGeneration(problem, pool, search.check, start=start)
    try:
        solution = relaxation.decide(0)
    except Undecided:
        return None
    if solution is None:
        assert relaxation.refuting is not None
        return _weights(search, relaxation.refuting)
    dive = Diving(problem, pool, 0, search.check, random.Random(search.seed))
    columns = dive.dive(solution, TURNS)
    if columns is None:
        return None
    classes = data.aggregation.classes
    return _contents(
        search,
        [{classes[number].size: held for number, held in one.content.tasks} for one in columns],
    )


def packed_by_search(search: Search) -> Packing | CompleteSearch:
    """Return contents of the CPUs that hold all tasks, or that CP-SAT excludes them."""
    from dfopt.solvers.cp_sat.count_model import CountModel
    from dfopt.solvers.cp_sat.runner import is_solvable

    sizes = Search(
        _sizes_alone(search.instance),
        stop=lambda _: search.stop_reason(),
        seed=search.seed,
        workers=search.workers,
        is_part=True,
    )
    # A first schedule costs nothing, so that it ends the search.
    with suppress(SearchOver):
        if not is_solvable(sizes, lambda: CountModel(sizes, (0, 0))):
            return CompleteSearch(solver="cp-sat")
    if sizes.schedule is None:
        search.check()
    patterns = [
        {sizes.types[number].size: held for number, held in own.items()} for own in sizes.contents()
    ]
    return _contents(search, patterns)


def _sizes_alone(instance: Instance) -> Instance:
    """Return the instance with a single fragment, whose visits cost nothing."""
    numbers: Counter[int] = Counter()
    for task, size in zip(instance.tasks, instance.sizes, strict=True):
        numbers[size] += task.multiplicity
    return Instance(
        cpus=instance.cpus,
        capacity=instance.room,
        penalty=PenaltyG(fill=0, write_back=0),
        tasks=tuple(
            Task(id=str(size), df="any", size=size, count=number)
            for size, number in numbers.items()
        ),
    )


def _weights(search: Search, refutation: Refutation) -> Proof:
    """Return what refutes that the tasks fit as a proof, in the smallest numbers that prove it."""
    problem = refutation.problem
    smallest = in_smallest_numbers(refutation, problem, 0, search.check)
    unit, classes = search.instance.size_unit, problem.data.aggregation.classes
    rows = ProofRows(Over.SIZES)
    leaf = Leaf(
        weights=tuple(
            (rows.of(TaskClass(size=one.size * unit)), weight)
            for one, weight in zip(classes, smallest.prices.weights, strict=True)
            if weight
        ),
        bin_weights=smallest.bins,
    )
    return rows.proof([leaf], None)


def _contents(search: Search, patterns: Sequence[Mapping[int, int]]) -> Packing:
    """Return contents of these sizes; a CPU takes tasks of few fragments if it can."""
    fragment_of = {
        number: place for place, group in enumerate(groups_of(search)) for number in group
    }
    waiting: dict[int, Counter[int]] = defaultdict(Counter)
    for number, task_type in enumerate(search.types):
        waiting[task_type.size][number] = task_type.count
    packing: Packing = [{} for _ in range(search.instance.cpus)]
    for held, pattern in zip(packing, patterns, strict=False):
        visited: Counter[int] = Counter()
        # Contents of the program may hold more tasks of a size than there are left.
        for size, wanted in sorted(pattern.items(), reverse=True):
            for _ in range(min(wanted, waiting[size].total())):
                left = [number for number, count in waiting[size].items() if count]
                number = max(left, key=lambda number: visited[fragment_of[number]])
                waiting[size][number] -= 1
                held[number] = held.get(number, 0) + 1
                visited[fragment_of[number]] += 1
    return packing
