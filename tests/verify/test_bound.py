"""Every bound that the checker calls proven is true, and every true bound can be proven."""

import random
from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement, pairwise, permutations
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dfopt.verify.enumeration as enumeration_module
import dfopt.verify.exact_contents as weights_module
import dfopt.verify.layers as dispatching_module
from dfopt.files import fingerprint
from dfopt.problem.cache import Leaves
from dfopt.problem.certificate import (
    Certificate,
    Counting,
    Exhaustive,
    Leaf,
    Proof,
    TaskClass,
)
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyF, PenaltyG, PenaltyMatrix
from dfopt.problem.result import InstanceName, Result, Status, StopReason
from dfopt.problem.schedule import DeadlockError, evaluate
from dfopt.solvers.auto import solve_automatically
from dfopt.solvers.exhaustive import solve_exhaustively
from dfopt.solvers.search import Search
from dfopt.verify import Verification, verify
from dfopt.verify.enumeration import has_schedule_below
from tests.proofs import by_contents, by_supports
from tests.solvers.drawn import drawn_instances
from tests.solvers.optimum import run
from tests.strategies import instances
from tests.weighted import task, values_by_trying, weighted


def best_objective(instance: Instance) -> int | None:
    """Return the optimum by trying every order on every CPU, None where nothing fits."""
    best = None
    names = list(instance.tasks_by_name())
    for order in permutations(names):
        for cuts in combinations_with_replacement(range(len(names) + 1), instance.cpus - 1):
            ends = (0, *cuts, len(names))
            cpus = [order[a:b] for a, b in pairwise(ends)]
            if max(map(len, cpus)) > instance.tasks_per_cpu:
                continue
            try:
                value = evaluate(instance, cpus).value(instance.objective)
            except DeadlockError:
                continue
            best = value if best is None else min(best, value)
    return best


def zipf(tasks: int, cpus: int, fragments: int) -> Instance:
    """Return an instance of the size that the checker is meant for."""
    draw = random.Random(7)
    names = [f"d{number}" for number in range(fragments)]
    shares = [1 / (rank + 1) for rank in range(fragments)]
    return Instance(
        cpus=cpus,
        penalty=PenaltyF(read_line=1, write_back=20),
        tasks=tuple(
            Task(
                id=f"t{number}",
                df=draw.choices(names, shares)[0],
                lines=draw.randint(1, 40),
                leaves=draw.choices(list(Leaves), [0.5, 0.2, 0.3])[0],
            )
            for number in range(tasks)
        ),
    )


# Certificates.

A = TaskClass(df="A")


def certified(instance: Instance, certificate: Certificate, bound: int) -> Verification:
    """Return what the checker says to a bound without a schedule."""
    result = Result(
        instance=InstanceName(name=instance.name, sha256=fingerprint(instance)),
        status=Status.UNKNOWN,
        stop_reason=StopReason.TIME_LIMIT,
        lower_bound=bound,
        certificate=certificate,
    )
    return verify(instance, result)


def rows(instance: Instance, numbers: Sequence[int]) -> dict[TaskClass, int]:
    """Return the classes of tasks, with a number for each."""
    is_f = isinstance(instance.penalty, PenaltyF)
    timed = instance.objective is Objective.MAKESPAN
    classes: dict[TaskClass, int] = {}
    for one, number in zip(instance.tasks, numbers, strict=True):
        key = TaskClass(
            df=one.df or "",
            leaves=one.leaves,
            lines=one.lines if is_f else None,
            exec=one.exec if timed else None,
        )
        classes.setdefault(key, number)
    return classes


def dual_weights(
    instance: Instance, numbers: Sequence[int], charges: Sequence[int], bound: int, slack: int = 0
) -> Proof:
    """Return a certificate whose bin weights are as small as they may be, or by ``slack`` more."""
    weights, entry_charges = rows(instance, numbers), rows(instance, charges)
    total = instance.objective is Objective.TOTAL_PENALTY

    def by_task(classes: dict[TaskClass, int]) -> list[int]:
        return [
            next(number for tasks, number in classes.items() if tasks.holds(task))
            for task in instance.tasks
        ]

    threshold = None if total else bound - 1
    largest = values_by_trying(instance, by_task(weights), by_task(entry_charges), threshold)
    return by_contents(
        weights,
        [value + slack for value in largest],
        charges=entry_charges,
        threshold=bound - 1,
    )


def leaf_of(certificate: Proof) -> Leaf:
    (leaf,) = certificate.nodes
    assert isinstance(leaf, Leaf)
    return leaf


@given(st.data())
def test_optimum_of_one_cpu_can_be_proven(data: st.DataObject) -> None:
    instance = data.draw(instances(kinds=("f", "g"), min_tasks=1, max_tasks=4, max_cpus=1))
    best = best_objective(instance)
    assert best is not None
    dear = [100] * len(instance.tasks)
    none = [0] * len(instance.tasks)
    if best:
        certificate = dual_weights(instance, dear, none, best)
        assert certified(instance, certificate, best).bound_checked
        if max(leaf_of(certificate).bin_weights):
            few = dual_weights(instance, dear, none, best, slack=-1)
            assert not certified(instance, few, best).bound_checked
    certificate = dual_weights(instance, dear, none, best + 1)
    assert not certified(instance, certificate, best + 1).ok


@given(weighted(), st.integers(1, 12))
def test_whatever_is_called_proven_is_true(
    case: tuple[Instance, list[int], list[int], int | None], bound: int
) -> None:
    instance, weights, charges, _ = case
    certificate = dual_weights(instance, weights, charges, bound)
    found = certified(instance, certificate, bound)
    best = best_objective(instance)
    assert found.ok is found.bound_checked
    assert not found.ok or best is None or best >= bound


@pytest.mark.parametrize("objective", Objective)
def test_rows_may_name_what_tells_tasks_apart(objective: Objective) -> None:
    timed = objective is Objective.MAKESPAN
    instance = Instance(
        cpus=1,
        objective=objective,
        penalty=PenaltyF(read_line=1, write_back=0),
        cold_start=True,
        tasks=(Task(id="a", df="A", lines=3, exec=5), Task(id="b", df="B", lines=3, exec=5)),
    )
    bound = 16 if timed else 6
    certificate = dual_weights(instance, [50, 50], [0, 0], bound)
    assert {row.exec for row in certificate.classes} == {5 if timed else None}
    assert certified(instance, certificate, bound).bound_checked
    assert not certified(instance, certificate, bound - 1).ok


def test_classes_must_be_about_the_instance() -> None:
    tasks = (Task(id="a", df="A", type="A", lines=1, exec=1, count=2),)

    def problems(penalty: PenaltyF | PenaltyMatrix, row: TaskClass) -> tuple[str, ...]:
        instance = Instance(cpus=1, penalty=penalty, tasks=tasks)
        certificate = by_contents({A: 1}, [1], charges={row: 0}, threshold=0)
        return certified(instance, certificate, 1).problems

    f = PenaltyF(read_line=1, write_back=1)
    assert not any("classes" in text for text in problems(f, TaskClass(df="A", lines=1)))
    assert any("holds for no task" in text for text in problems(f, TaskClass(df="B")))
    table = PenaltyMatrix(types=("A",), switch=((1,),))
    assert any("penalties f and g" in text for text in problems(table, TaskClass(df="A")))


def test_a_task_weighs_what_its_classes_weigh_together() -> None:
    tasks = (Task(id="a", df="A", count=2),)
    penalty = PenaltyG(fill=1, write_back=1)
    instance = Instance(cpus=2, penalty=penalty, cold_start=True, tasks=tasks)
    for weight, proven in ((1, True), (0, False)):
        weights = {A: 1, TaskClass(df="A", exec=0): weight}
        proof = by_contents(weights, [2, 1], threshold=1)
        assert certified(instance, proof, 2).ok is proven


@pytest.mark.parametrize("bound", [float("nan"), 1.5, 2**70])
def test_only_integers_of_64_bits_are_bounds(bound: Any) -> None:
    instance = Instance(
        cpus=2, penalty=PenaltyG(fill=1, write_back=1), tasks=(Task(id="a", df="A", count=2),)
    )
    for certificate in (Exhaustive(), Counting(argument="arrivals")):
        assert any(
            "lower_bound" in text for text in certified(instance, certificate, bound).problems
        )


@pytest.mark.parametrize("weight", [0.5, float("nan")])
def test_weights_that_are_no_integers_prove_nothing(weight: Any) -> None:
    # Nothing is less than NaN, and nothing is more.
    instance = Instance(
        cpus=2,
        penalty=PenaltyMatrix(types=("a",), switch=((0,),)),
        tasks=(Task(id="a", type="a"),),
    )
    leaf = Leaf(bin_weights=(weight, 0), prices=((0, weight),))
    assert not certified(instance, by_supports("a", "a", [leaf]), 1).bound_checked


def test_dual_weights_of_a_large_instance() -> None:
    # At a cost of 40 a CPU can hold three tasks that invalidate, and there are more than 48.
    instance = zipf(200, 16, 40)
    lossy = Leaves.INVALIDATED
    fragments = sorted({task.df or "" for task in instance.tasks if task.leaves is lossy})
    weights = {TaskClass(df=df, leaves=lossy): 10 for df in fragments}
    for bin_weights in ((30,) * 16, (30,) * 15 + (29,)):
        certificate = by_contents(weights, bin_weights, threshold=40)
        found = certified(instance, certificate, 41)
        assert found.bound_checked is (bin_weights[-1] == 30)
    assert found.problems == (
        "certificate.nodes[0].bin_weights[15]: is 29, but the CPU can hold 30",
    )


@pytest.mark.parametrize("limit", ["LARGEST_TABLE", "MOST_TASKS"])
def test_what_would_need_too_much_memory_is_not_checked(
    limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance = zipf(20, 2, 4)
    certificate = by_contents(rows(instance, [1] * 20), [0, 0], threshold=4)
    monkeypatch.setattr(weights_module, limit, 19)
    found = certified(instance, certificate, 5)
    assert found.ok
    assert not found.bound_checked
    assert "too large" in found.unchecked[0]


# Enumeration.


@pytest.mark.slow
@settings(max_examples=300)
@given(st.data())
def test_enumeration_finds_the_optimum(data: st.DataObject) -> None:
    timed = data.draw(st.booleans())
    instance = data.draw(
        instances(min_tasks=1, max_tasks=4, timed=timed, feasible=data.draw(st.booleans()))
    )
    best = best_objective(instance)
    if best is None:
        assert not has_schedule_below(instance, 10**9)
        return
    assert not has_schedule_below(instance, best)
    assert has_schedule_below(instance, best + 1)
    if best:
        assert certified(instance, Exhaustive(threshold=best - 1), best).bound_checked
    assert not certified(instance, Exhaustive(), best + 1).ok


@pytest.mark.parametrize(
    ("objective", "best"), [(Objective.MAX_PENALTY, 9), (Objective.TOTAL_PENALTY, 14)]
)
def test_enumeration_counts_what_the_objective_does(objective: Objective, best: int) -> None:
    instance = Instance(
        cpus=2,
        objective=objective,
        penalty=PenaltyF(read_line=1, write_back=5),
        cold_start=True,
        final_write_back=True,
        tasks=(
            task("a1", 4, "dirty"),
            task("a2", 4, "dirty"),
            task("b1", 0, "invalidated"),
            task("b2", 0),
        ),
    )
    assert not has_schedule_below(instance, best)
    assert has_schedule_below(instance, best + 1)


@pytest.mark.parametrize(
    ("after", "module", "limit", "value"),
    [
        ((), enumeration_module, "MOST_STATES", 20),
        ((), enumeration_module, "MOST_SUMS", 100),
        ((), enumeration_module, "MOST_HOLDINGS", 100),
        (("t0",), dispatching_module, "MOST_STEPS", 1000),
    ],
)
def test_enumeration_is_for_small_instances(
    after: tuple[str, ...],
    module: ModuleType,
    limit: str,
    value: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    instance = Instance(
        cpus=3,
        objective=Objective.MAKESPAN,
        penalty=PenaltyG(fill=1, write_back=1),
        cold_start=True,
        tasks=tuple(
            Task(id=f"t{number}", df="ABC"[number % 3], exec=number, after=after if number else ())
            for number in range(8)
        ),
    )
    least = best_by(solve_exhaustively, instance)
    assert certified(instance, Exhaustive(threshold=least - 1), least).bound_checked
    assert not certified(instance, Exhaustive(threshold=least), least + 1).ok
    monkeypatch.setattr(module, limit, value)
    found = certified(instance, Exhaustive(threshold=least - 1), least)
    assert found.ok
    assert not found.bound_checked
    assert "too many schedules" in found.unchecked[0]


def best_by(solver: Callable[[Search], None], instance: Instance) -> int:
    search = Search(instance)
    run(solver, search)
    assert search.objective is not None
    return search.objective


@pytest.mark.slow
def test_enumeration_by_kinds_agrees_with_enumeration_by_tasks() -> None:
    waits = 0
    for instance in drawn_instances(500, seed=31, most_tasks=7):
        least = best_by(solve_exhaustively, instance)
        for bound in (least - 1, least, least + 1, least + 3):
            assert has_schedule_below(instance, bound) is (least < bound), (instance, bound)
        waits += instance.has_precedence
    assert waits >= 25


def test_many_tasks_of_few_kinds_are_enumerated() -> None:
    """Three types of 20 tasks each on seven CPUs: far too many to tell the tasks apart."""
    instance = Instance(
        cpus=7,
        penalty=PenaltyMatrix(types=("x", "y", "z"), switch=((0, 3, 5), (2, 0, 4), (6, 1, 0))),
        tasks=tuple(Task(id=name, type=name, count=20) for name in "xyz"),
    )
    least = best_by(solve_automatically, instance)
    assert least > 0
    assert certified(instance, Exhaustive(threshold=least - 1), least).bound_checked
    assert not certified(instance, Exhaustive(threshold=least), least + 1).ok
