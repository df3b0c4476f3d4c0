"""Cheap bounds are bounds, are worth something, and are proven by what comes with them."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfopt.costs.cheap_bounds import Bound, cheap_bound
from dfopt.costs.task_types import task_types
from dfopt.files import fingerprint
from dfopt.generate import tight, uniform, zipf
from dfopt.problem.cache import CacheState, Leaves
from dfopt.problem.certificate import CompleteSearch, Counting, Over
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyF, PenaltyG, PenaltyMatrix
from dfopt.problem.result import InstanceName, Result, Status, StopReason
from dfopt.problem.schedule import evaluate
from dfopt.verify import Verification, verify
from tests.proofs import by_contents, over_of
from tests.solvers.drawn import drawn_instances
from tests.solvers.optimum import optimum
from tests.strategies import instances, orders


def bound_of(instance: Instance) -> Bound:
    return cheap_bound(instance, task_types(instance))


def verification_of(instance: Instance, bound: Bound) -> Verification:
    """Check a bound as part of a result without a schedule."""
    result = Result(
        instance=InstanceName(name=instance.name, sha256=fingerprint(instance)),
        status=Status.UNKNOWN,
        stop_reason=StopReason.TIME_LIMIT,
        lower_bound=bound.value,
        certificate=bound.certificate,
    )
    return verify(instance, result)


@pytest.mark.slow
def test_bounds_hold_on_many_drawn_instances() -> None:
    positive, attained, proven = 0, 0, Counter[str]()
    for instance in drawn_instances(1200, seed=4):
        bound, least = bound_of(instance), optimum(instance)
        assert bound.value <= least, instance
        verification = verification_of(instance, bound)
        assert verification.ok, (instance, bound, verification.problems)
        assert verification.bound_checked is not isinstance(bound.certificate, CompleteSearch)
        positive += bound.value > 0
        attained += bound.value == least > 0
        proven[type(bound.certificate).__name__] += 1
    # A bound that is always 0 would pass all of this.
    assert positive >= 700
    assert attained >= 350
    assert proven["Proof"] >= 400
    assert proven["Counting"] >= 200
    assert proven["CompleteSearch"] <= 30


@pytest.mark.slow
@settings(max_examples=100)
@given(st.data())
def test_no_schedule_is_below_the_bound(data: st.DataObject) -> None:
    """Also where there are too many tasks to know the optimum."""
    instance = data.draw(instances(max_tasks=10, max_cpus=4, timed=data.draw(st.booleans())))
    bound = bound_of(instance)
    schedule = evaluate(instance, data.draw(orders(instance)))
    assert bound.value <= schedule.value(instance.objective)
    assert verification_of(instance, bound).ok


@pytest.mark.slow
@pytest.mark.parametrize("objective", Objective)
@pytest.mark.parametrize(
    "penalty", [PenaltyF(read_line=1, write_back=20), PenaltyG(fill=40, write_back=20)]
)
@pytest.mark.parametrize("seed", range(2))
def test_the_weights_prove_the_bounds_of_larger_instances(
    objective: Objective, penalty: PenaltyF | PenaltyG, seed: int
) -> None:
    for instance in (
        zipf(tasks=120, cpus=7, fragments=23, seed=seed, objective=objective, penalty=penalty),
        uniform(tasks=60, cpus=4, fragments=30, seed=seed, objective=objective, penalty=penalty),
        tight(cpus=5, per_cpu=9, fragments=12, seed=seed, objective=objective, penalty=penalty),
    ):
        bound = bound_of(instance)
        assert bound.value > 0
        verification = verification_of(instance, bound)
        assert verification.ok, verification.problems
        assert verification.bound_checked


def g_instance(*sizes: int, **fields: object) -> Instance:
    """Return an instance under g with fragments of these sizes; a visit costs 10."""
    settings: dict[str, object] = {
        "cpus": 2,
        "penalty": PenaltyG(fill=6, write_back=4),
        "tasks": tuple(Task(id=f"t{n}", df=f"D{n}", count=size) for n, size in enumerate(sizes)),
    }
    return Instance(**{**settings, **fields})  # type: ignore[arg-type]


def test_some_cpu_visits_its_even_share_of_the_fragments() -> None:
    # Five fragments on two CPUs: three on one, of which the first is free.
    assert bound_of(g_instance(2, 2, 2, 2, 2)).value == 20
    assert bound_of(g_instance(2, 2, 2, 2, 2, cold_start=True)).value == 30
    assert bound_of(g_instance(2, 2, 2, 2, 2, initial=(CacheState(df="X"), None))).value == 20
    assert bound_of(g_instance(2, 2, 2, 2, 2, initial=(CacheState(df="X"),) * 2)).value == 30
    together = g_instance(2, 2, 2, 2, 2, objective=Objective.TOTAL_PENALTY, cold_start=True)
    assert bound_of(together).value == 50


def test_a_fragment_that_fits_on_no_cpu_is_visited_more_than_once() -> None:
    # Three CPUs of two tasks, two fragments of three: two parts each, so some CPU has two.
    instance = g_instance(3, 3, cpus=3, cold_start=True)
    proof = by_contents({}, (1, 1, 1), visits={"D0": 1, "D1": 1}, threshold=19)
    assert bound_of(instance) == Bound(value=20, certificate=proof)
    assert optimum(instance) == 20
    together = g_instance(3, 3, cpus=3, cold_start=True, objective=Objective.TOTAL_PENALTY)
    bound = bound_of(together)
    assert bound.value == optimum(together) == 40
    assert verification_of(together, bound).bound_checked


def test_f_counts_entries_exits_and_own_write_backs() -> None:
    instance = Instance(
        cpus=1,
        penalty=PenaltyF(read_line=1, write_back=100),
        cold_start=True,
        final_write_back=True,
        tasks=(
            Task(id="a", df="A", lines=3, leaves=Leaves.DIRTY),
            Task(id="b", df="B", lines=5, leaves=Leaves.CLEAN),
            Task(id="c", df="C", lines=7, leaves=Leaves.INVALIDATED),
        ),
    )
    bound = bound_of(instance)
    assert bound.value == optimum(instance) == (3 + 100) + 5 + (7 + 100)
    assert over_of(bound.certificate) is Over.CONTENTS


def test_the_longest_task_under_makespan() -> None:
    bound = bound_of(
        g_instance(
            cpus=3,
            objective=Objective.MAKESPAN,
            tasks=(Task(id="long", df="A", exec=90), Task(id="short", df="A", exec=1, count=2)),
        )
    )
    assert bound.value == 90
    assert over_of(bound.certificate) is Over.CONTENTS


def test_execution_times_are_shared_evenly() -> None:
    bound = bound_of(
        g_instance(objective=Objective.MAKESPAN, tasks=(Task(id="one", df="A", exec=7, count=5),))
    )
    assert bound.value == 18  # ⌈35 / 2⌉
    assert over_of(bound.certificate) is Over.CONTENTS


def test_the_longest_chain_of_releases_and_predecessors() -> None:
    chain = g_instance(
        cpus=3,
        objective=Objective.MAKESPAN,
        tasks=(
            Task(id="end", df="A", exec=5, after=("middle", "early")),
            Task(id="early", df="A", exec=1),
            Task(id="middle", df="A", exec=7, release=20, after=("early",)),
        ),
    )
    assert bound_of(chain) == Bound(
        value=32, certificate=Counting(threshold=31, argument="critical-path")
    )


def test_every_task_is_arrived_at() -> None:
    table = PenaltyMatrix(types=("x", "y"), switch=((9, 4), (3, 9)), start=(2, 8))
    instance = Instance(
        cpus=1,
        penalty=table,
        cold_start=True,
        objective=Objective.TOTAL_PENALTY,
        tasks=(Task(id="x", type="x"), Task(id="y", type="y")),
    )
    # x for 3 and y for 4, but the first one may be x for 2.
    assert bound_of(instance) == Bound(
        value=6, certificate=Counting(threshold=5, argument="arrivals")
    )
    assert optimum(instance) == 6


def test_nothing_is_claimed_about_nothing() -> None:
    assert bound_of(g_instance()) == Bound(value=0, certificate=None)
    assert bound_of(g_instance(1, 1)) == Bound(value=0, certificate=None)
    free = g_instance(3, 3, 3, penalty=PenaltyG(fill=0, write_back=0))
    assert bound_of(free) == Bound(value=0, certificate=None)


def test_initial_states_that_cost_something_are_counted() -> None:
    # Whatever comes first, the state in the cache is written back: T_w = 9.
    instance = Instance(
        cpus=1,
        penalty=PenaltyF(read_line=1, write_back=9),
        initial=(CacheState(df="A", leaves=Leaves.INVALIDATED),),
        tasks=(Task(id="a", df="A", lines=2), Task(id="b", df="B", lines=3)),
    )
    assert optimum(instance) == 9 + 3
    assert 0 < bound_of(instance).value <= 12


@pytest.mark.parametrize(
    ("objective", "value"),
    [(Objective.MAX_PENALTY, 4), (Objective.TOTAL_PENALTY, 4 + 4), (Objective.MAKESPAN, 4)],
)
def test_cpus_without_tasks_write_back_their_initial_states(
    objective: Objective, value: int
) -> None:
    dirty = CacheState(df="B", leaves=Leaves.DIRTY)
    instance = Instance(
        cpus=4,
        penalty=PenaltyF(read_line=1, write_back=4),
        tasks=(Task(id="a", df="A", lines=0),),
        objective=objective,
        initial=(dirty, dirty, dirty, "unknown"),
        final_write_back=True,
        capacity="unlimited",
    )
    bound = bound_of(instance)
    assert bound.value >= value
    assert bound.value <= optimum(instance)
    # What an idle CPU pays in any case would be a negative bin weight.
    is_total = objective is Objective.TOTAL_PENALTY
    assert verification_of(instance, bound).bound_checked is not is_total
