from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfopt import solve
from dfopt.problem.cache_state import CacheState
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import Penalty, PenaltyF, PenaltyG, PenaltyMatrix
from dfopt.problem.schedule import evaluate
from dfopt.simulate.run_queue.policies.building_blocks.window_plans import (
    BurstClass,
    CacheContent,
    Plan,
    Plans,
)
from dfopt.simulate.run_queue.workload import CLEAN, DIRTY, UNMANAGED
from dfopt.trace.trace import LEAVES

NAMES = ("a", "b", "c")
EMPTY: CacheContent = (UNMANAGED, CLEAN)
IDLE = [False] * 3
LINES = PenaltyF(read_line=1, write_back=10)


def plans(
    penalty: Penalty,
    *,
    cold_start: bool = True,
    capacity: Literal["balanced", "unlimited"] = "balanced",
    effort: float = 0.01,
) -> Plans:
    return Plans(
        penalty, NAMES, cold_start=cold_start, capacity=capacity, effort=effort, seconds=0.0
    )


def test_nobody_writes_back_what_a_better_order_leaves_clean() -> None:
    clean, dirty, other = (0, 5, CLEAN), (0, 5, DIRTY), (1, 5, CLEAN)
    (found,) = plans(LINES).plan([EMPTY], IDLE[:1], {clean: 1, dirty: 1, other: 1})
    assert found in {(dirty, clean, other), (other, clean, dirty), (other, dirty, clean)}


def test_each_cpu_goes_on_with_what_it_holds() -> None:
    planner = plans(PenaltyG(fill=3, write_back=1))
    a, b = planner.burst_class(0, 5, DIRTY), planner.burst_class(1, 5, CLEAN)
    assert planner.plan([(1, CLEAN), (0, DIRTY)], IDLE[:2], {a: 2, b: 2}) == ((b, b), (a, a))


def test_capacity_says_how_many_a_cpu_runs() -> None:
    penalty = PenaltyG(fill=3, write_back=1)
    a = (0, 0, CLEAN)
    assert plans(penalty).plan([EMPTY, EMPTY], IDLE[:2], {a: 4}) == ((a, a), (a, a))
    found = plans(penalty, capacity="unlimited").plan([EMPTY, EMPTY], IDLE[:2], {a: 4})
    assert sorted(found) == [(), (a,) * 4]


def test_a_matrix_knows_the_fragments_by_name() -> None:
    # Of the penalty's types in another order than the fragments: a → c → b → a is cheap.
    penalty = PenaltyMatrix(types=("c", "b", "a"), switch=((9, 1, 9), (9, 9, 1), (1, 9, 9)))
    planner = plans(penalty)
    a, b, c = (planner.burst_class(fragment, 4, DIRTY) for fragment in range(3))
    assert planner.plan([(0, CLEAN)], IDLE[:1], {a: 1, b: 1, c: 1}) == ((c, b, a),)


@pytest.mark.filterwarnings("error")
def test_costs_that_do_not_count_are_left_out() -> None:
    penalty = PenaltyMatrix(
        types=NAMES, switch=((0, 1, 1), (1, 0, 1), (1, 1, 0)), start=(9, 9, 0), finish=(0, 9, 9)
    )
    found = plans(penalty, cold_start=False).plan([EMPTY], IDLE[:1], {(0, 0, CLEAN): 1})
    assert found == (((0, 0, CLEAN),),)


def test_equal_windows_are_solved_once() -> None:
    planner = plans(LINES)
    window: dict[BurstClass, int] = {(0, 5, CLEAN): 2, (1, 5, CLEAN): 1}
    first = planner.plan([EMPTY, EMPTY], IDLE[:2], window)
    assert planner.plan([EMPTY, EMPTY], IDLE[:2], dict(reversed(window.items()))) == first
    assert planner.solved == 1
    planner.plan([EMPTY, (0, CLEAN)], IDLE[:2], window)
    assert planner.solved == 2
    # The same CPUs the other way round.
    one, other = planner.plan([EMPTY, (0, CLEAN)], IDLE[:2], window)
    assert planner.plan([(0, CLEAN), EMPTY], IDLE[:2], window) == (other, one)
    assert planner.solved == 2


def test_windows_that_differ_in_names_alone_are_solved_once() -> None:
    planner = plans(LINES)
    for one, other in [(0, 1), (1, 0), (2, 0)]:
        window: dict[BurstClass, int] = {(one, 5, DIRTY): 2, (other, 7, CLEAN): 2}
        found = planner.plan([(other, CLEAN), (one, DIRTY)], IDLE[:2], window)
        assert found == (((other, 7, CLEAN),) * 2, ((one, 5, DIRTY),) * 2)
    assert planner.solved == 1


def test_of_equal_cpus_idle_ones_run_most() -> None:
    planner = plans(LINES, capacity="unlimited")
    a, held = (0, 5, CLEAN), [(0, CLEAN)] * 3
    for idle in range(3):
        is_busy = [cpu != idle for cpu in range(3)]
        assert planner.plan(held, is_busy, {a: 1})[idle] == (a,)


def cost(plan: Plan, states: list[CacheContent], penalty: Penalty) -> tuple[int, Instance]:
    """Return what a plan costs, and the instance it is for."""
    is_matrix = isinstance(penalty, PenaltyMatrix)
    kinds = [kind for part in plan for kind in part]
    instance = Instance(
        cpus=len(plan),
        penalty=penalty,
        objective=Objective.TOTAL_PENALTY,
        cold_start=True,
        initial=tuple(
            None
            if held == UNMANAGED
            else CacheState(type=NAMES[held])
            if is_matrix
            else CacheState(df=NAMES[held], leaves=LEAVES[left])
            for held, left in states
        ),
        tasks=tuple(
            Task(id=str(number), type=NAMES[fragment])
            if is_matrix
            else Task(id=str(number), df=NAMES[fragment], lines=lines, leaves=LEAVES[leaves])
            for number, (fragment, lines, leaves) in enumerate(kinds)
        ),
    )
    numbers = iter(range(len(kinds)))
    orders = [[str(next(numbers)) for _ in part] for part in plan]
    return evaluate(instance, orders).value(Objective.TOTAL_PENALTY), instance


PENALTIES: list[Penalty] = [
    LINES,
    PenaltyG(fill=3, write_back=1),
    PenaltyMatrix(types=NAMES, switch=((1, 7, 2), (3, 0, 5), (8, 4, 2)), start=(5, 1, 3)),
]


@pytest.mark.parametrize("penalty", PENALTIES, ids=lambda penalty: type(penalty).__name__)
@settings(max_examples=50)
@given(
    window=st.lists(
        st.tuples(st.integers(0, 2), st.integers(1, 9), st.integers(0, 2)), min_size=1, max_size=6
    ),
    states=st.lists(st.tuples(st.integers(-1, 2), st.integers(0, 2)), min_size=1, max_size=3),
)
def test_small_windows_are_solved_to_the_optimum(
    penalty: Penalty, window: list[BurstClass], states: list[CacheContent]
) -> None:
    planner = plans(penalty, effort=0.0)
    kinds = [planner.burst_class(*kind) for kind in window]
    states = [(held, CLEAN if held == UNMANAGED else left) for held, left in states]
    plan = planner.plan(states, IDLE[: len(states)], {kind: kinds.count(kind) for kind in kinds})
    assert sorted(kind for part in plan for kind in part) == sorted(kinds)
    paid, instance = cost(plan, states, penalty)
    assert paid == solve(instance, method="exhaustive", workers=1).objective


def test_a_time_limit_leaves_a_schedule() -> None:
    planner = Plans(LINES, NAMES, cold_start=True, capacity="balanced", effort=1.0, seconds=1e-9)
    window: dict[BurstClass, int] = {(0, 5, CLEAN): 20, (1, 7, DIRTY): 13, (2, 3, CLEAN): 8}
    plan = planner.plan([EMPTY] * 3, IDLE, window)
    assert sum(map(len, plan)) == 41
