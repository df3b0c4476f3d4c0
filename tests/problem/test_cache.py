"""Every case of the switch penalties, by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfopt.problem.cache import EMPTY, UNMANAGED, Cache, CacheState, DataUse, InitialState, Leaves
from dfopt.problem.cost_table import CostTable
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import Penalty, PenaltyF, PenaltyG, PenaltyMatrix
from dfopt.problem.schedule import order_cost
from tests.charges import finish_cost, start_cost, switch_cost, table_cost
from tests.strategies import instances

F = PenaltyF(read_line=2, write_back=7)
G = PenaltyG(fill=4, write_back=3)
MATRIX = PenaltyMatrix(types=("x", "y"), switch=((1, 2), (3, 4)), start=(50, 60), finish=(700, 800))

CLEAN, DIRTY, INVALIDATED = Leaves.CLEAN, Leaves.DIRTY, Leaves.INVALIDATED


def task(df: str, lines: int = 3, leaves: Leaves = CLEAN, **fields: int) -> Task:
    """Return a task of a fragment; it does not matter what it is called."""
    return Task(id=f"{df}{lines}{leaves}", df=df, lines=lines, leaves=leaves, **fields)


def typed(name: str) -> Task:
    return Task(id=name, type=name)


def machine(
    penalty: Penalty,
    *states: InitialState,
    cold_start: bool = False,
    final_write_back: bool = False,
    objective: Objective = Objective.MAX_PENALTY,
) -> Instance:
    """Return an instance without tasks."""
    return Instance(
        cpus=len(states) or 1,
        penalty=penalty,
        initial=states,
        cold_start=cold_start,
        final_write_back=final_write_back,
        objective=objective,
    )


@pytest.mark.parametrize(
    ("leaves", "within", "between"),
    [(CLEAN, 0, 3 * 2), (DIRTY, 0, 3 * 2 + 7), (INVALIDATED, 7, 3 * 2 + 7)],
)
def test_f_depends_on_what_is_left_and_on_what_is_read(
    leaves: Leaves, within: int, between: int
) -> None:
    before = task("A", lines=100, leaves=leaves)
    for after_leaves in Leaves:
        assert switch_cost(F, before, task("A", leaves=after_leaves)) == within
        assert switch_cost(F, before, task("B", leaves=after_leaves)) == between
    state = CacheState(df="A", leaves=leaves)
    assert switch_cost(F, state, task("A")) == within
    assert switch_cost(F, state, task("B")) == between


@pytest.mark.parametrize("leaves", Leaves)
def test_g_depends_on_the_fragments_alone(leaves: Leaves) -> None:
    before = task("A", lines=100, leaves=leaves)
    assert switch_cost(G, before, task("A")) == 0
    assert switch_cost(G, before, task("B")) == 4 + 3
    assert switch_cost(G, before, Task(id="b", df="B")) == 4 + 3


@pytest.mark.parametrize(
    ("before", "after", "cost"), [("x", "x", 1), ("x", "y", 2), ("y", "x", 3), ("y", "y", 4)]
)
def test_a_table_is_read_from_row_to_column_and_its_diagonal_counts(
    before: str, after: str, cost: int
) -> None:
    assert switch_cost(MATRIX, typed(before), typed(after)) == cost
    assert switch_cost(MATRIX, CacheState(type=before), typed(after)) == cost


def test_reading_into_a_clean_cache() -> None:
    assert F.reading(5) == 5 * 2
    assert G.reading(5) == 4 + 3


@pytest.mark.parametrize(
    ("penalty", "first", "cost"),
    [
        (F, task("A"), 3 * 2),
        (G, task("A"), 4 + 3),
        (MATRIX, typed("x"), 50),
        (MATRIX, typed("y"), 60),
    ],
)
def test_a_cold_start_costs_the_reading(penalty: Penalty, first: Task, cost: int) -> None:
    for states in ((), (None,)):
        cold = machine(penalty, *states, cold_start=True, final_write_back=True)
        assert start_cost(cold, 0, first) == cost


@pytest.mark.parametrize(("penalty", "first"), [(F, task("A")), (G, task("A"))])
def test_without_a_cold_start_an_empty_cpu_starts_for_nothing(
    penalty: Penalty, first: Task
) -> None:
    assert start_cost(machine(penalty, None), 0, first) == 0
    assert start_cost(machine(penalty), 0, first) == 0


@pytest.mark.filterwarnings("ignore:penalty")
def test_the_ends_of_a_table_count_with_their_flags_only() -> None:
    assert start_cost(machine(MATRIX), 0, typed("x")) == 0
    assert finish_cost(machine(MATRIX), typed("x")) == 0
    bare = PenaltyMatrix(types=MATRIX.types, switch=MATRIX.switch)
    with_flags = machine(bare, cold_start=True, final_write_back=True)
    assert start_cost(with_flags, 0, typed("x")) == 0
    assert finish_cost(with_flags, typed("x")) == 0


@pytest.mark.parametrize("cold_start", [False, True])
@pytest.mark.parametrize(
    ("state", "same", "other"),
    [
        (CacheState(df="A", leaves=CLEAN), 0, 3 * 2),
        (CacheState(df="A", leaves=DIRTY), 0, 3 * 2 + 7),
        (CacheState(df="A", leaves=INVALIDATED), 7, 3 * 2 + 7),
    ],
)
def test_from_an_initial_state_the_first_task_is_switched_to(
    state: CacheState, same: int, other: int, *, cold_start: bool
) -> None:
    with_state = machine(F, state, cold_start=cold_start)
    assert start_cost(with_state, 0, task("A")) == same
    assert start_cost(with_state, 0, task("B")) == other


def test_every_cpu_has_its_own_initial_state() -> None:
    mixed = machine(F, CacheState(df="A"), None, CacheState(df="B", leaves=DIRTY), cold_start=True)
    assert [start_cost(mixed, cpu, task("A")) for cpu in range(3)] == [0, 6, 13]
    in_g = machine(G, CacheState(df="A"), None, CacheState(df="B", leaves=INVALIDATED))
    assert [start_cost(in_g, cpu, task("A")) for cpu in range(3)] == [0, 0, 7]
    in_table = machine(MATRIX, CacheState(type="y"), None, cold_start=True, final_write_back=True)
    assert [start_cost(in_table, cpu, typed("x")) for cpu in range(2)] == [3, 50]


@pytest.mark.parametrize(("leaves", "cost"), [(CLEAN, 0), (DIRTY, 7), (INVALIDATED, 7)])
def test_the_final_write_back_is_for_what_is_not_clean(leaves: Leaves, cost: int) -> None:
    last = task("A", leaves=leaves)
    assert finish_cost(machine(F, final_write_back=True), last) == cost
    assert finish_cost(machine(F), last) == 0
    assert finish_cost(machine(G, final_write_back=True), last) == 0


def test_the_finish_of_a_table() -> None:
    ending = machine(MATRIX, cold_start=True, final_write_back=True)
    assert finish_cost(ending, typed("x")) == 700
    assert finish_cost(ending, typed("y")) == 800


ORDER = [
    task("A", lines=1, leaves=INVALIDATED, exec=10),
    task("A", lines=2, leaves=DIRTY, exec=20),
    task("B", lines=3, exec=30),
    task("A", lines=4, leaves=DIRTY, exec=40),
]


@pytest.mark.parametrize(
    ("cold_start", "final_write_back", "cost"),
    [
        (False, False, 7 + (6 + 7) + 8),
        (True, False, 2 + 7 + (6 + 7) + 8),
        (False, True, 7 + (6 + 7) + 8 + 7),
        (True, True, 2 + 7 + (6 + 7) + 8 + 7),
    ],
)
def test_an_order_costs_the_sum_of_its_switches(
    cost: int, *, cold_start: bool, final_write_back: bool
) -> None:
    for objective in Objective:
        one = machine(
            F, cold_start=cold_start, final_write_back=final_write_back, objective=objective
        )
        exec_total = 100 if objective is Objective.MAKESPAN else 0
        assert order_cost(one, 0, ORDER) == cost + exec_total


def test_an_order_in_g_and_in_a_table() -> None:
    assert order_cost(machine(G), 0, ORDER) == 2 * 7
    assert order_cost(machine(G, CacheState(df="B")), 0, ORDER) == 3 * 7
    both_ends = machine(MATRIX, cold_start=True, final_write_back=True)
    names = "xxyyx"
    assert order_cost(both_ends, 0, [typed(name) for name in names]) == 50 + 1 + 2 + 4 + 3 + 700


@pytest.mark.parametrize("objective", Objective)
def test_a_cpu_that_runs_nothing_pays_for_the_final_write_back_of_its_state(
    objective: Objective,
) -> None:
    states = (*(CacheState(df="A", leaves=leaves) for leaves in Leaves), None, "unknown")

    def costs(penalty: Penalty, *states: InitialState, final_write_back: bool = True) -> list[int]:
        one = machine(
            penalty,
            *states,
            cold_start=True,
            final_write_back=final_write_back,
            objective=objective,
        )
        return [order_cost(one, cpu, []) for cpu in range(one.cpus)]

    assert costs(F, *states) == [0, 7, 7, 0, 0]
    assert costs(F, *states, final_write_back=False) == [0] * 5
    assert costs(G, *states) == [0] * 5
    in_table = (CacheState(type="x"), CacheState(type="y"), None, "unknown")
    assert costs(MATRIX, *in_table) == [700, 800, 0, 0]


@pytest.mark.parametrize("cold_start", [False, True])
def test_on_an_unknown_cache_the_first_task_is_free(*, cold_start: bool) -> None:
    for penalty in (F, G):
        one = machine(penalty, "unknown", cold_start=cold_start)
        assert start_cost(one, 0, task("A")) == 0
    one = machine(MATRIX, "unknown", cold_start=True, final_write_back=True)
    assert start_cost(one, 0, typed("x")) == 0
    assert order_cost(one, 0, [typed("x")]) == 700


@given(instances(timed=False))
def test_tables_say_what_caches_charge(instance: Instance) -> None:
    table = CostTable(instance, instance.tasks)
    uses = [instance.use(task) for task in instance.tasks]
    for cpu in range(instance.cpus):
        assert table.idle[cpu] == instance.cache(cpu).finish()
        for first, use in enumerate(uses):
            cache = instance.cache(cpu)
            assert table.start[cpu][first] == cache.enter(use)
            assert table.finish[first] == cache.finish()
            switches = [instance.cache(cpu).hold(use).enter(after) for after in uses]
            assert table.switch[first] == switches


@given(instances(min_tasks=1, timed=False), st.lists(st.integers(0, 5)))
def test_an_order_costs_what_its_table_says(instance: Instance, numbers: list[int]) -> None:
    table = CostTable(instance, instance.tasks)
    order = [number % len(instance.tasks) for number in numbers]
    for cpu in range(instance.cpus):
        tasks = [instance.tasks[number] for number in order]
        assert order_cost(instance, cpu, tasks) == table_cost(table, cpu, order)


def test_what_uses_no_data_leaves_a_cache_as_it_is() -> None:
    cache = Cache(F, cold_start=True)
    assert cache.enter(DataUse(UNMANAGED)) == 0
    assert cache.fragment == EMPTY
    assert cache.enter(DataUse("A", 1, lines=3)) == 6
    assert cache.enter(DataUse(UNMANAGED)) == 0
    assert (cache.fragment, cache.leaves) == ("A", 1)


def test_a_use_that_goes_on_takes_nothing_back_that_was_written() -> None:
    cache = Cache(F)
    cache.enter(DataUse("A", 2))
    assert cache.go_on(DataUse("A", 0)) == 0
    assert cache.enter(DataUse("A")) == 7
    cache.go_on(DataUse("A", 1))
    assert cache.enter(DataUse("B", lines=1)) == 2 + 7
