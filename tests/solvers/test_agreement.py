"""All solvers give the same answers, and the checker believes every one of them."""

from collections import Counter
from collections.abc import Callable
from functools import cache
from importlib import import_module
from itertools import product
from pathlib import Path

import pytest

from dfopt.errors import MethodError
from dfopt.files import read_result, write_result
from dfopt.problem.cache import CacheState, Leaves
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyF, PenaltyG, PenaltyMatrix
from dfopt.problem.result import Status, StopReason
from dfopt.problem.schedule import evaluate, order_cost
from dfopt.solvers import METHODS, solve
from dfopt.solvers.cp_sat.circuit_model import CircuitModel, IntervalModel
from dfopt.solvers.cp_sat.count_model import CountModel
from dfopt.solvers.cp_sat.runner import minimise
from dfopt.solvers.search import Search
from dfopt.verify import verify
from tests.solvers.drawn import FLAGS, KINDS, TURNS, drawn_instances
from tests.solvers.optimum import badly_started, optimum, run

NUMBER = 600

DRAWN = tuple(drawn_instances(NUMBER, seed=7))

known_optimum = cache(optimum)

KIND_OF: dict[type, str] = {PenaltyF: "f", PenaltyG: "g", PenaltyMatrix: "matrix"}


def fits(method: str, instance: Instance) -> bool:
    """Return whether ``method`` is made for such instances, as the documentation says."""
    if method in ("dp", "configuration"):
        return not isinstance(instance.penalty, PenaltyMatrix) and not instance.is_timed
    return True


def check(search: Search, instance: Instance) -> None:
    """Check that a search has ended with the optimum, and with a schedule of that cost."""
    assert search.objective == search.lower_bound == known_optimum(instance), instance
    assert search.schedule is not None
    orders = [cpu.tasks for cpu in search.schedule.cpus]
    assert max(map(len, orders)) <= instance.tasks_per_cpu
    assert sorted(name for order in orders for name in order) == sorted(instance.tasks_by_name())
    assert search.schedule == evaluate(instance, orders)


def has_cost_when_idle(instance: Instance) -> bool:
    """Return whether some CPU pays for its initial state though it runs nothing."""
    return any(order_cost(instance, cpu, ()) for cpu in range(instance.cpus))


def test_every_combination_was_drawn() -> None:
    assert len(DRAWN) >= 500
    drawn = Counter(
        (
            KIND_OF[type(instance.penalty)],
            instance.objective,
            instance.cold_start,
            instance.final_write_back,
        )
        for instance in DRAWN
    )
    assert set(drawn) == set(product(KINDS, Objective, FLAGS, FLAGS))
    assert min(drawn.values()) >= 10
    assert len(TURNS) == 3 * 3 * 2 * 2 * 4
    assert {instance.capacity for instance in DRAWN} >= {"balanced", "unlimited", 1, 2, 3, 4}
    for kind in KINDS:
        of_kind = [instance for instance in DRAWN if KIND_OF[type(instance.penalty)] == kind]
        assert {instance.cpus for instance in of_kind} == {1, 2, 3}
        assert any(instance.initial and None in instance.initial for instance in of_kind)
        assert any(instance.initial and None not in instance.initial for instance in of_kind)
        assert (
            sum(instance.cold_start and "unknown" in instance.initial for instance in of_kind) >= 10
        )
        if kind != "g":
            assert sum(has_cost_when_idle(instance) for instance in of_kind) >= 15
        assert any(task.count for one in of_kind for task in one.tasks)
        assert sum(instance.has_precedence for instance in of_kind) >= 5
        assert sum(instance.is_timed and not instance.has_precedence for instance in of_kind) >= 5
    # Neither trivial nor all alike.
    assert sum(known_optimum(instance) > 0 for instance in DRAWN) >= NUMBER // 2
    assert (
        sum(badly_started(instance).objective != known_optimum(instance) for instance in DRAWN)
        >= 200
    )


@pytest.mark.slow
@pytest.mark.parametrize("method", [name for name in METHODS if name != "exhaustive"])
def test_every_solver_finds_and_proves_the_optimum_by_itself(method: str) -> None:
    """From a bad schedule, and without any bound to begin with."""
    module, function = METHODS[method]
    solver: Callable[[Search], None] = getattr(import_module(module), function)
    worked = 0
    for instance in DRAWN:
        if not fits(method, instance):
            continue
        search = badly_started(instance)
        worked += not search.is_closed
        run(solver, search)
        check(search, instance)
    assert worked >= 200


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "suits"),
    [
        (CountModel, lambda one: not isinstance(one.penalty, PenaltyMatrix) and not one.is_timed),
        (CircuitModel, lambda one: not one.is_timed and one.task_count <= 5),
        (IntervalModel, lambda one: one.objective is Objective.MAKESPAN and one.task_count <= 5),
    ],
)
def test_models_agree_also_where_another_one_would_be_chosen(
    model: Callable[..., CountModel | CircuitModel], suits: Callable[[Instance], bool]
) -> None:
    suited = [instance for instance in DRAWN if suits(instance)]
    for instance in suited[::4]:
        search = badly_started(instance)
        if not search.is_closed:
            run(lambda search: minimise(search, lambda bounds: model(search, bounds)), search)
        check(search, instance)
    assert len(suited[::4]) >= 30


def f_instance(
    *tasks: tuple[str, int, Leaves, int, int],
    penalty: tuple[int, int],
    objective: Objective,
    initial: tuple[CacheState, ...] = (),
) -> Instance:
    """Return an instance with 3 CPUs of up to 4 tasks: fragment, lines, state left, exec, count."""
    read_line, write_back = penalty
    return Instance(
        cpus=3,
        penalty=PenaltyF(read_line=read_line, write_back=write_back),
        tasks=tuple(
            Task(id=f"t{n}", df=df, lines=lines, leaves=leaves, exec=length, count=count)
            for n, (df, lines, leaves, length, count) in enumerate(tasks)
        ),
        capacity=3 if initial else 4,
        objective=objective,
        initial=initial,
    )


CLEAN, DIRTY, INVALIDATED = Leaves.CLEAN, Leaves.DIRTY, Leaves.INVALIDATED

TELLING = [
    # A fragment alone on its CPU must really be alone there.
    f_instance(
        ("A", 0, DIRTY, 0, 4),
        ("A", 6, CLEAN, 0, 1),
        ("C", 1, INVALIDATED, 0, 1),
        ("B", 6, INVALIDATED, 0, 1),
        penalty=(1, 2),
        objective=Objective.TOTAL_PENALTY,
    ),
    # Three roles of a split fragment need three tasks.
    f_instance(
        ("B", 1, CLEAN, 0, 3),
        ("A", 1, CLEAN, 2, 1),
        ("A", 0, DIRTY, 0, 1),
        ("B", 6, INVALIDATED, 2, 1),
        penalty=(0, 6),
        objective=Objective.MAKESPAN,
        initial=(
            CacheState(df="Z", leaves=INVALIDATED),
            CacheState(df="Z", leaves=INVALIDATED),
            CacheState(df="B", leaves=DIRTY),
        ),
    ),
    f_instance(
        ("A", 2, CLEAN, 1, 1),
        ("A", 4, CLEAN, 3, 1),
        ("B", 0, INVALIDATED, 2, 2),
        ("A", 5, CLEAN, 3, 1),
        ("A", 6, CLEAN, 3, 1),
        penalty=(1, 4),
        objective=Objective.MAKESPAN,
        initial=(CacheState(df="B", leaves=DIRTY),) * 3,
    ),
]
"""Instances that tell a solver with a rule left out from a right one."""


@pytest.mark.parametrize("instance", TELLING)
@pytest.mark.parametrize("method", [name for name in METHODS if name != "exhaustive"])
def test_no_rule_is_left_out(method: str, instance: Instance) -> None:
    module, function = METHODS[method]
    search = badly_started(instance)
    run(getattr(import_module(module), function), search)
    check(search, instance)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_every_result_is_believed_by_the_checker(method: str, tmp_path: Path) -> None:
    for number, instance in enumerate(DRAWN[::2]):
        if not fits(method, instance):
            with pytest.raises(MethodError, match=f"{method}.* for the penalties f and g"):
                solve(instance, method=method)
            continue
        result = solve(instance, method=method, workers=1)
        assert (result.status, result.stop_reason) == (Status.OPTIMAL, StopReason.PROOF)
        assert result.objective == result.lower_bound == known_optimum(instance)
        assert result.method == method
        verification = verify(instance, result, require_certificate=True)
        assert verification.ok, (instance, result, verification.problems)
        if number % 4 == 0:
            write_result(result, tmp_path / "result.json")
            again = read_result(tmp_path / "result.json")
            assert again == result
            assert verify(instance, again, require_certificate=True).ok


@pytest.mark.parametrize("method", METHODS)
def test_an_instance_without_room_is_infeasible(method: str) -> None:
    for instance in DRAWN[:24]:
        if instance.task_count <= instance.cpus or not fits(method, instance):
            continue
        crowded = Instance(
            cpus=instance.cpus,
            penalty=instance.penalty,
            tasks=instance.tasks,
            objective=instance.objective,
            initial=instance.initial,
            cold_start=instance.cold_start,
            final_write_back=instance.final_write_back,
            capacity=1,
        )
        result = solve(crowded, method=method)
        assert (result.status, result.stop_reason) == (Status.INFEASIBLE, StopReason.PROOF)
        assert (result.objective, result.lower_bound, result.gap) == (None, None, None)
        assert result.schedule is None
        assert result.certificate is None
        assert verify(crowded, result, require_certificate=True).ok


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("objective", "cost"),
    [(Objective.MAX_PENALTY, 5), (Objective.TOTAL_PENALTY, 10), (Objective.MAKESPAN, 5)],
)
def test_without_tasks_initial_states_are_written_back(
    method: str, objective: Objective, cost: int
) -> None:
    dirty = CacheState(df="A", leaves=DIRTY)
    instance = Instance(
        cpus=4,
        penalty=PenaltyF(read_line=1, write_back=5),
        objective=objective,
        initial=(dirty, None, "unknown", dirty),
        cold_start=True,
        final_write_back=True,
    )
    result = solve(instance, method=method)
    assert (result.status, result.objective, result.lower_bound) == (Status.OPTIMAL, cost, cost)
    assert verify(instance, result, require_certificate=True).ok


@pytest.mark.parametrize("method", METHODS)
def test_no_task_costs_nothing(method: str) -> None:
    for penalty in (PenaltyF(read_line=1, write_back=1), PenaltyG(fill=1, write_back=1)):
        instance = Instance(cpus=2, penalty=penalty, cold_start=True, final_write_back=True)
        result = solve(instance, method=method)
        assert (result.status, result.objective, result.lower_bound) == (Status.OPTIMAL, 0, 0)
        assert result.gap == 0.0
        assert result.schedule is not None
        assert [cpu.tasks for cpu in result.schedule.cpus] == [(), ()]
        assert verify(instance, result, require_certificate=True).ok
