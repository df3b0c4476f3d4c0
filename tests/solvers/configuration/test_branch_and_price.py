"""Branching decides what the LP leaves open, whichever feature it takes first and by itself."""

import contextlib
from collections.abc import Iterator
from functools import cache
from itertools import chain

import pytest

from dfopt.generate import uniform, zipf
from dfopt.problem.cache import CacheState, Leaves
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyF
from dfopt.solvers.branch_and_price.linear_program import Undecided
from dfopt.solvers.branch_and_price.prices import Prices, Solution
from dfopt.solvers.configuration import branch_and_price, solve_by_configurations
from dfopt.solvers.configuration.branch_and_price import BranchAndPrice
from dfopt.solvers.configuration.column_generation import ColumnGeneration
from dfopt.solvers.configuration.configuration_search import (
    ConfigurationSearch,
    Overtaken,
    settle_idle_costs,
)
from dfopt.solvers.configuration.contents import (
    RULES,
    Column,
    CpuContent,
    Feature,
    HoldsAtLeast,
    OpensWithToken,
    VisitsFragment,
    VisitsPair,
)
from dfopt.solvers.configuration.diving import Diving
from dfopt.solvers.configuration.master import LpSolution
from dfopt.solvers.configuration.remaining_problem import RemainingProblem
from dfopt.solvers.search import Search, SearchOver
from tests.solvers.configuration.enumeration import limited
from tests.solvers.configuration.proofs import checked
from tests.solvers.drawn import drawn_instances
from tests.solvers.optimum import badly_started, optimum, run

MORE_FRAGMENTS = [
    generate(tasks=9, cpus=3, fragments=5, seed=seed, objective=objective, exec=4)
    for generate in (zipf, uniform)
    for seed in range(5)
    for objective in Objective
]

known_optimum = cache(optimum)

Branch = tuple[Feature, float]
Rule = type[VisitsFragment] | type[OpensWithToken] | type[VisitsPair] | type[HoldsAtLeast]


def untimed(number: int, seed: int, most_tasks: int) -> Iterator[Instance]:
    drawn = drawn_instances(number, seed=seed, most_tasks=most_tasks, kinds=("f", "g"))
    return (instance for instance in drawn if not instance.is_timed)


def branch_only(search: Search) -> None:
    """Close a search by linear programs and branching, without dives or other models."""
    settle_idle_costs(search)
    configurations = ConfigurationSearch(search)
    configurations._find_bound()
    while True:
        search.check()
        configurations._branch(configurations._middle_limit())


def branch_in_order(solution: LpSolution, rules: tuple[Rule, ...]) -> Branch | None:
    """Return a feature of the first rule with one that a fraction of a CPU has."""
    for rule in rules:
        uses: dict[Feature, float] = {}
        for column, number in solution.used.items():
            for feature in rule.all_of(column.content):
                uses[feature] = uses.get(feature, 0.0) + number
        for feature, number in uses.items():
            if abs(number - round(number)) > branch_and_price.FRACTION:
                return feature, number
    return None


@pytest.mark.slow
@pytest.mark.parametrize("first", RULES, ids=lambda rule: rule.__name__)
def test_branching_alone_finds_and_proves_the_optimum(
    first: Rule, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[type] = []
    left_over: list[int] = []
    rules = (first, *(rule for rule in RULES if rule is not first))

    def branch(node: RemainingProblem, solution: LpSolution) -> Branch | None:
        found = branch_in_order(solution, rules)
        if found is not None:
            taken.append(type(found[0]))
        return found

    monkeypatch.setattr(branch_and_price, "_branch", branch)
    monkeypatch.setattr(Diving, "dive", lambda *_: None)
    leave = ConfigurationSearch._leave_to_cp_sat

    def leave_to_cp_sat(self: ConfigurationSearch, limit: int) -> None:
        left_over.append(limit)
        leave(self, limit)

    monkeypatch.setattr(ConfigurationSearch, "_leave_to_cp_sat", leave_to_cp_sat)
    number = 0
    for instance in chain(untimed(250, seed=44, most_tasks=7), MORE_FRAGMENTS):
        search = badly_started(instance)
        if not search.is_closed:
            run(branch_only, search)
            number += 1
        assert search.objective == known_optimum(instance), instance
        assert checked(instance, search).ok
    assert number >= 200
    assert taken.count(first) >= 20
    assert len(left_over) <= 2


@pytest.mark.slow
@pytest.mark.parametrize("broken", [ColumnGeneration, BranchAndPrice])
def test_what_rounding_errors_hide_is_left_to_cp_sat(
    broken: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No LP has an answer, or no branching has one."""
    asked: list[int] = []

    def undecided(*_: object) -> None:
        asked.append(1)
        raise Undecided

    monkeypatch.setattr(broken, "decide" if broken is ColumnGeneration else "search", undecided)
    monkeypatch.setattr(Diving, "dive", lambda *_: None)
    for instance in chain(untimed(30, seed=45, most_tasks=6), MORE_FRAGMENTS[::2]):
        search = badly_started(instance)
        if not search.is_closed:
            run(branch_only, search)
        assert search.objective == known_optimum(instance)
        assert checked(instance, search).ok
    assert len(asked) >= 10


@pytest.mark.slow
def test_the_whole_method_survives_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def undecided(*_: object) -> None:
        raise Undecided

    monkeypatch.setattr(ColumnGeneration, "decide", undecided)
    for instance in MORE_FRAGMENTS[:10]:
        search = badly_started(instance)
        run(solve_by_configurations, search)
        assert search.objective == known_optimum(instance)
        assert checked(instance, search).ok


@pytest.mark.slow
def test_a_branch_without_an_answer_is_not_taken_for_an_impossible_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []

    class Hidden:
        """An LP of a branch whose answer rounding errors hide."""

        def __init__(self, *_: object, **__: object) -> None:
            asked.append(1)

        def decide(self, limit: int) -> None:
            raise Undecided

    monkeypatch.setattr(branch_and_price, "ColumnGeneration", Hidden)
    monkeypatch.setattr(Diving, "dive", lambda *_: None)
    for instance in chain(untimed(100, seed=46, most_tasks=6), MORE_FRAGMENTS[::2]):
        search = badly_started(instance)
        if not search.is_closed:
            run(branch_only, search)
        assert search.objective == known_optimum(instance)
        assert checked(instance, search).ok
    assert len(asked) >= 20


def test_a_schedule_that_costs_more_than_the_lp_says_refutes_nothing() -> None:
    """The LP knows no cost of idle CPUs: its schedule seems to keep the limit."""
    kept = CacheState(df="A", leaves=Leaves.INVALIDATED)
    instance = Instance(
        cpus=3,
        penalty=PenaltyF(read_line=1, write_back=2),
        tasks=(
            Task(id="a", df="A", lines=1, leaves=Leaves.DIRTY),
            Task(id="b", df="A", lines=5),
            Task(id="c", df="B", lines=1, leaves=Leaves.INVALIDATED, count=2),
        ),
        capacity=2,
        objective=Objective.TOTAL_PENALTY,
        initial=(CacheState(df="C", leaves=Leaves.CLEAN), kept, kept),
        final_write_back=True,
    )
    assert known_optimum(instance) == 9
    search = badly_started(instance)
    configurations = ConfigurationSearch(search)
    for _ in range(2):  # the second call goes on with the tree of the first
        configurations._branch(8, most_nodes=15)
    assert search.lower_bound <= 8
    configurations._branch(8)
    assert search.lower_bound == search.objective == 9


@pytest.mark.slow
def test_a_tree_may_grow_in_many_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Diving, "dive", lambda *_: None)
    refuted = 0
    for instance in chain(untimed(150, seed=47, most_tasks=7), MORE_FRAGMENTS[::3]):
        least = known_optimum(instance)
        search = badly_started(instance)
        if search.is_closed:
            continue
        configurations = ConfigurationSearch(search)
        for limit in (least - 1, least):
            for nodes in range(1, 12):
                with contextlib.suppress(Overtaken, SearchOver):
                    configurations._branch(limit, most_nodes=nodes)
                assert search.lower_bound <= least
        assert checked(instance, search).ok
        refuted += search.lower_bound == least
    assert refuted >= 100


def test_pairs_come_first_that_share_fragments_with_limited_ones() -> None:
    whole = ConfigurationSearch(badly_started(MORE_FRAGMENTS[0]))._problem
    node = limited(whole, VisitsPair(0, 1), 0, 1)
    # Half of each: every fragment is on one CPU, every pair on half of one.
    used = {
        Column(0, CpuContent(tasks=(), tokens=(), fragments=pair), 0): 0.5
        for pair in ((2, 3), (1, 2), (1, 3))
    }
    duals: Prices[Feature, float] = Prices(weights=[], charges=[], features={}, bins=[], cost=0.0)
    solution = Solution(value=1.0, missing=0.0, used=used, duals=duals)
    assert branch_and_price._branch(whole, solution) == (VisitsPair(2, 3), 0.5)
    assert branch_and_price._branch(node, solution) == (VisitsPair(1, 2), 0.5)
