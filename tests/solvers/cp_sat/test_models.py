"""Each model on instances made by hand, whose optimum is plain."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import pytest
from ortools.sat.python import cp_model

from dfopt import replace
from dfopt.costs.task_types import named_orders
from dfopt.problem.cache import CacheState, Leaves
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyF, PenaltyG, PenaltyMatrix
from dfopt.problem.schedule import evaluate
from dfopt.solvers.aggregation import Aggregation
from dfopt.solvers.cp_sat.circuit_model import CircuitModel, IntervalModel
from dfopt.solvers.cp_sat.count_model import CountModel
from dfopt.solvers.search import Search
from tests.costs.test_best_order import ONE_IN_THE_LAST_BLOCK, TWO_IN_THE_LAST_BLOCK
from tests.problem.test_schedule import WORKED_EXAMPLE
from tests.solvers.optimum import badly_started, optimum

CLEAN, DIRTY, INVALIDATED = Leaves.CLEAN, Leaves.DIRTY, Leaves.INVALIDATED

Model = CountModel | CircuitModel


def quiet_solver() -> cp_model.CpSolver:
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_time_in_seconds = 30
    # Otherwise Ctrl-C would kill Python from then on, and tests press it.
    solver.parameters.catch_sigint_signal = False
    return solver


def solved(model: Model) -> tuple[str, list[list[int]] | None]:
    """Return what CP-SAT says of a model, and the schedule it finds."""
    solver = quiet_solver()
    status = solver.status_name(solver.solve(model.model))
    return status, model.orders(solver.value) if status in ("OPTIMAL", "FEASIBLE") else None


def value_of(search: Search, orders: Sequence[Sequence[int]]) -> int:
    """Return what a schedule of a model is worth, after checking that it is one."""
    instance = search.instance
    assert Counter(kind for order in orders for kind in order) == {
        kind: one.count for kind, one in enumerate(search.types)
    }
    assert max(map(len, orders)) <= instance.tasks_per_cpu
    schedule = evaluate(instance, named_orders(search.types, orders))
    return schedule.value(instance.objective)


def least(
    model: type[CountModel | CircuitModel], instance: Instance, most: int = 10_000
) -> int | None:
    """Return the least objective up to ``most`` that the model finds; None if there is none."""
    for search in (Search(instance), badly_started(instance)):  # without and with a hint
        status, orders = solved(model(search, (0, most)))
        if orders is None:
            assert status == "INFEASIBLE"
            assert solved(model(badly_started(instance), (0, most)))[0] == "INFEASIBLE"
            return None
        assert status == "OPTIMAL"
        values = {value_of(search, orders)}
    (value,) = values
    return value


def table(*types: str, cpus: int = 2, **fields: object) -> Instance:
    """Return an instance whose tasks of equal type follow each other for 5, others for 1."""
    names = tuple(dict.fromkeys(types))
    switch = tuple(tuple(5 if a == b else 1 for b in names) for a in names)
    return Instance(
        cpus=cpus,
        penalty=PenaltyMatrix(types=names, switch=switch),
        tasks=tuple(Task(id=f"t{n}", type=name) for n, name in enumerate(types)),
        **fields,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("instance", "value"),
    [
        (table("x", "x"), 0),  # one each
        (table("x", "x", cpus=1), 5),
        (table("x", "x", "y", cpus=1), 2),  # x y x
        (table("x", "x", "x", "y"), 5),  # one CPU has two of x
        (table("x", "x", "y", "y"), 1),
        (table("x", "x", "y", "y", objective=Objective.TOTAL_PENALTY), 2),
        (table("x", "x", "y", "y", cpus=3, capacity="unlimited"), 1),
        (table("x", "y", initial=(CacheState(type="x"), CacheState(type="y"))), 1),
        (table("x", "x", initial=(CacheState(type="x"), None)), 5),
        (table("x", "x", initial=(CacheState(type="x"), None), capacity="unlimited"), 5),
    ],
)
def test_a_circuit_per_cpu(instance: Instance, value: int) -> None:
    assert optimum(instance) == value
    assert least(CircuitModel, instance) == value
    assert least(CircuitModel, instance, most=value) == value
    if value:
        assert least(CircuitModel, instance, most=value - 1) is None


def test_circuits_count_starts_and_finishes() -> None:
    instance = Instance(
        cpus=1,
        penalty=PenaltyMatrix(
            types=("x", "y"), switch=((0, 10), (20, 0)), start=(100, 200), finish=(1000, 3000)
        ),
        cold_start=True,
        final_write_back=True,
        objective=Objective.MAKESPAN,
        tasks=(Task(id="x", type="x", exec=30_000), Task(id="y", type="y", exec=40_000)),
    )
    assert least(CircuitModel, instance, most=100_000) == 71_220  # y first, x last
    without_finish = replace(
        instance, final_write_back=False, penalty=replace(instance.penalty, finish=None)
    )
    assert least(CircuitModel, without_finish, most=100_000) == 70_110  # x first, y last


def test_intervals_wait() -> None:
    assert least(IntervalModel, WORKED_EXAMPLE) == 15
    assert least(IntervalModel, WORKED_EXAMPLE, most=14) is None


def test_intervals_do_not_wait_in_a_ring_within_an_instant() -> None:
    """No task takes any time, so times alone would let a wait for d, d for c, c for b, b for a."""
    names = ("a", "b", "c", "d")
    free = {("a", "b"), ("c", "d")}
    instance = Instance(
        cpus=2,
        penalty=PenaltyMatrix(
            types=names,
            switch=tuple(tuple(0 if (x, y) in free else 1 for y in names) for x in names),
        ),
        objective=Objective.MAKESPAN,
        capacity=2,
        tasks=(
            Task(id="a", type="a", after=("d",)),
            Task(id="b", type="b"),
            Task(id="c", type="c", after=("b",)),
            Task(id="d", type="d"),
        ),
    )
    assert optimum(instance) == 1
    assert least(IntervalModel, instance) == 1
    assert least(IntervalModel, instance, most=0) is None


@pytest.mark.parametrize(
    ("instance", "value"), [(TWO_IN_THE_LAST_BLOCK, 2), (ONE_IN_THE_LAST_BLOCK, 4)]
)
def test_counts_split_a_fragment_over_both_ends(instance: Instance, value: int) -> None:
    assert least(CountModel, instance) == value
    assert least(CountModel, instance, most=value - 1) is None


def f_instance(*tasks: tuple[str, int, Leaves], cpus: int = 1, **fields: object) -> Instance:
    """Return an instance with t_r = 1, T_w = 20."""
    return Instance(
        cpus=cpus,
        penalty=PenaltyF(read_line=1, write_back=20),
        tasks=tuple(
            Task(id=f"t{n}", df=df, lines=lines, leaves=leaves)
            for n, (df, lines, leaves) in enumerate(tasks)
        ),
        **fields,  # type: ignore[arg-type]
    )


BOTH_ENDS = {"cold_start": True, "final_write_back": True}

ONE_CLEAN = f_instance(
    ("A", 1, CLEAN), *(("A", 1, DIRTY) for _ in range(4)), cpus=2, capacity=3, **BOTH_ENDS
)


@pytest.mark.parametrize(
    ("instance", "value"),
    [
        # The one clean task cannot be the last one on both CPUs.
        (ONE_CLEAN, 21),
        (replace(ONE_CLEAN, objective=Objective.TOTAL_PENALTY), 22),
        # One task alone opens and closes: its own entry and its own exit.
        (f_instance(("A", 7, DIRTY), ("B", 3, CLEAN), **BOTH_ENDS), 7 + 20 + 3),
        # Two tasks share these duties: the cheap reader opens, the clean one closes.
        (f_instance(("A", 1, DIRTY), ("A", 9, CLEAN), ("B", 3, CLEAN), **BOTH_ENDS), 1 + 3),
        # The clean one cannot do both where it is the cheap reader too: 1 + 20, or 9.
        (f_instance(("A", 1, CLEAN), ("A", 9, DIRTY), ("B", 3, CLEAN), **BOTH_ENDS), 9 + 3),
        # Two CPUs want the one cheap reader.
        (f_instance(("A", 1, CLEAN), *(("A", 5, CLEAN),) * 3, cpus=2, cold_start=True), 5),
        # A goes last, where its own write-back is spared; first it would cost 3 + 20.
        (f_instance(("A", 9, INVALIDATED), ("B", 3, CLEAN)), 9),
        # The last of two is spared its own, the first is not.
        (f_instance(("A", 9, INVALIDATED), ("A", 9, INVALIDATED)), 20),
        # A state that must be written back, but not for its own fragment.
        (f_instance(("A", 9, CLEAN), initial=(CacheState(df="A", leaves=DIRTY),)), 0),
        (f_instance(("B", 9, CLEAN), initial=(CacheState(df="A", leaves=DIRTY),)), 29),
        (f_instance(("A", 9, CLEAN), initial=(CacheState(df="A", leaves=INVALIDATED),)), 20),
        # An idle CPU writes nothing back.
        (
            f_instance(
                ("B", 9, CLEAN),
                cpus=2,
                initial=(CacheState(df="A", leaves=INVALIDATED), CacheState(df="B")),
            ),
            0,
        ),
    ],
)
def test_counts_of_classes(instance: Instance, value: int) -> None:
    assert optimum(instance) == value
    assert least(CountModel, instance) == value
    if value:
        assert least(CountModel, instance, most=value - 1) is None


def test_counts_under_makespan_tell_execution_times_apart() -> None:
    instance = Instance(
        cpus=2,
        penalty=PenaltyG(fill=1, write_back=1),
        objective=Objective.MAKESPAN,
        cold_start=True,
        tasks=tuple(Task(id=f"t{n}", df="A", exec=n) for n in (4, 3, 2, 1)),
    )
    assert least(CountModel, instance) == 2 + 5
    assert least(CountModel, replace(instance, capacity=3)) == 2 + 5


def test_classes_differ_in_what_counts_and_tokens_are_the_cheapest() -> None:
    instance = f_instance(
        *(("A", lines, CLEAN) for lines in (5, 3, 3, 8)),
        ("A", 2, DIRTY),
        ("B", 2, DIRTY),
        cpus=3,
    )
    classes = Aggregation.of(Search(instance)).classes
    assert [(task_class.fragment, task_class.count) for task_class in classes] == [
        (0, 4),
        (0, 1),
        (1, 1),
    ]
    assert [[(t.entry, t.count) for t in one.tokens] for one in classes] == [
        [(3, 2), (5, 1)],
        [(2, 1)],
        [(2, 1)],
    ]
    # Under g no task of a fragment differs from another.
    in_g = replace(instance, penalty=PenaltyG(fill=1, write_back=1))
    assert [task_class.count for task_class in Aggregation.of(Search(in_g)).classes] == [5, 1]


def g_instance(*sizes: int, cpus: int = 2, **fields: object) -> Instance:
    """Return an instance with fragments of these sizes; a visit costs 10."""
    return Instance(
        cpus=cpus,
        penalty=PenaltyG(fill=6, write_back=4),
        tasks=tuple(Task(id=f"t{n}", df=f"D{n}", count=size) for n, size in enumerate(sizes)),
        **fields,  # type: ignore[arg-type]
    )


TOTAL = {"objective": Objective.TOTAL_PENALTY}


@pytest.mark.parametrize(
    ("instance", "value"),
    [
        (g_instance(3, 3), 0),
        (g_instance(3, 3, cold_start=True), 10),
        (g_instance(2, 2, 2, cpus=2), 10),  # one is cut: 2 + 1 and 2 + 1
        (g_instance(2, 2, 2, cpus=2, cold_start=True), 20),
        (g_instance(2, 2, 2, cpus=2, cold_start=True, **TOTAL), 40),
        (g_instance(2, 2, 2, cpus=2, cold_start=True, capacity=4, **TOTAL), 30),
        (g_instance(2, 2, 2, cpus=2, **TOTAL), 20),
        (g_instance(5, 1), 10),  # the first fragment fits on no CPU
        (g_instance(5, 1, capacity="unlimited"), 0),
        (g_instance(6, cpus=3, cold_start=True, **TOTAL), 30),
        (g_instance(3, 3, initial=(CacheState(df="D1"), CacheState(df="D0"))), 0),
        (g_instance(3, 3, initial=(CacheState(df="X"), CacheState(df="D0"))), 10),
        (g_instance(3, 3, initial=(CacheState(df="D0"), CacheState(df="D0"))), 10),
        (g_instance(3, 3, initial=(CacheState(df="D0"), CacheState(df="D0")), **TOTAL), 10),
        # Cut in two, both parts are where they are in the cache already.
        (
            g_instance(
                2, 1, 1, initial=(CacheState(df="D0"), CacheState(df="D0")), cold_start=True
            ),
            10,
        ),
        (g_instance(3, 1, initial=(CacheState(df="D0"), CacheState(df="D0")), **TOTAL), 10),
        (g_instance(3, 3, 3, 3, 3, 3, cpus=3, cold_start=True), 20),
        (g_instance(4, 4, 4, 4, 4, cpus=4, cold_start=True), 20),
    ],
)
def test_parts_of_fragments(instance: Instance, value: int) -> None:
    assert least(CountModel, instance) == value
    if instance.task_count <= 10:
        assert optimum(instance) == value


HINTED: list[tuple[type[CountModel | CircuitModel], Instance]] = [
    (CountModel, f_instance(*((df, 3, DIRTY) for df in "ABCABC"), cpus=2)),
    (CircuitModel, table("x", "x", "y", "y", "z")),
    (
        CircuitModel,
        table("x", "x", "y", "y", initial=(CacheState(type="y"), CacheState(type="x"))),
    ),
]


@pytest.mark.parametrize(("model", "instance"), HINTED)
def test_hints_are_complete_and_fit(
    model: type[CountModel | CircuitModel], instance: Instance
) -> None:
    """With every hinted variable fixed there is a solution, no worse than the schedule."""
    search = badly_started(instance)
    assert search.objective is not None
    built = model(search, (0, search.objective))
    hint = built.model.proto.solution_hint
    assert len(hint.vars) > 0
    assert len(set(hint.vars)) == len(hint.vars)
    for number, value in zip(hint.vars, hint.values, strict=True):
        variable = built.model.get_int_var_from_proto_index(number)
        built.model.add(variable == value)
    status, orders = solved(built)
    assert status == "OPTIMAL"
    assert orders is not None
    assert value_of(search, orders) <= search.objective


def test_circuits_visit_what_they_say() -> None:
    """The orders read back cost what the model says that they cost."""
    instance = table("x", "x", "y", "z", "z", "y", cpus=2, objective=Objective.TOTAL_PENALTY)
    search = Search(instance)
    model = CircuitModel(search, (0, 100))
    solver = quiet_solver()
    assert solver.solve(model.model) == cp_model.OPTIMAL
    orders = model.orders(solver.value)
    switches = sum(
        model.table.switch[before][after] for order in orders for before, after in pairwise(order)
    )
    assert solver.objective_value == value_of(search, orders) == switches
