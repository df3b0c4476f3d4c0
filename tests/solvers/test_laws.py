"""Laws between the optimum of an instance and the optima of similar instances."""

from collections.abc import Sequence

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dfopt import replace
from dfopt.costs.cheap_bounds import cheap_bound
from dfopt.costs.task_types import task_types
from dfopt.problem.cache import CacheState, InitialState, Leaves
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyF, PenaltyG, PenaltyMatrix
from dfopt.problem.schedule import evaluate
from dfopt.solvers import METHODS, solve
from dfopt.solvers.best_order import best_order
from tests.charges import start_cost, switch_cost
from tests.costs.held_karp import HeldKarp
from tests.solvers.optimum import optimum
from tests.strategies import FRAGMENTS, instances, orders

any_instance = st.booleans().flatmap(
    lambda timed: instances(min_tasks=1, max_tasks=4 if timed else 5, timed=timed)
)
untimed = instances(min_tasks=1, max_tasks=5)

few = settings(max_examples=60)


@few
@given(any_instance, st.data())
def test_the_order_of_the_tasks_does_not_matter(instance: Instance, data: st.DataObject) -> None:
    shuffled = replace(instance, tasks=tuple(data.draw(st.permutations(instance.tasks))))
    assert optimum(shuffled) == optimum(instance)


@few
@given(any_instance, st.data())
def test_the_names_of_fragments_and_types_do_not_matter(
    instance: Instance, data: st.DataObject
) -> None:
    new_names = data.draw(st.permutations(["u", "v", *FRAGMENTS]))
    rename = dict(zip(FRAGMENTS, new_names, strict=False))

    def renamed(one: Task | CacheState) -> dict[str, str | None]:
        return {
            "df": rename[one.df] if one.df else None,
            "type": rename[one.type] if one.type else None,
        }

    penalty = instance.penalty
    if isinstance(penalty, PenaltyMatrix):
        penalty = replace(penalty, types=tuple(rename[name] for name in penalty.types))
    other = replace(
        instance,
        penalty=penalty,
        tasks=tuple(replace(task, **renamed(task)) for task in instance.tasks),
        initial=tuple(
            replace(state, **renamed(state)) if isinstance(state, CacheState) else state
            for state in instance.initial
        ),
    )
    assert optimum(other) == optimum(instance)


@few
@given(any_instance, st.data())
def test_which_cpu_is_which_does_not_matter(instance: Instance, data: st.DataObject) -> None:
    shuffled = replace(instance, initial=tuple(data.draw(st.permutations(instance.initial))))
    assert optimum(shuffled) == optimum(instance)


@few
@given(any_instance, st.integers(0, 5))
def test_the_unit_of_time_does_not_matter(instance: Instance, factor: int) -> None:
    def scaled(row: Sequence[int] | None) -> tuple[int, ...] | None:
        return None if row is None else tuple(factor * cost for cost in row)

    match instance.penalty:
        case PenaltyF(read_line=read_line, write_back=write_back):
            penalty = PenaltyF(read_line=factor * read_line, write_back=factor * write_back)
        case PenaltyG(fill=fill, write_back=write_back):
            penalty = PenaltyG(fill=factor * fill, write_back=factor * write_back)
        case PenaltyMatrix(types=types, switch=switch, start=start, finish=finish):
            penalty = PenaltyMatrix(
                types=types,
                switch=tuple(scaled(row) for row in switch),
                start=scaled(start),
                finish=scaled(finish),
            )
    tasks = tuple(
        replace(task, exec=factor * task.exec, release=factor * task.release)
        for task in instance.tasks
    )
    assert optimum(replace(instance, penalty=penalty, tasks=tasks)) == factor * optimum(instance)


@few
@given(any_instance)
def test_more_room_never_costs_more(instance: Instance) -> None:
    tight = optimum(instance)
    wider = optimum(replace(instance, capacity=instance.tasks_per_cpu + 1))
    assert optimum(replace(instance, capacity="unlimited")) <= wider <= tight


@few
@given(any_instance)
def test_another_cpu_never_costs_more(instance: Instance) -> None:
    """It may stay empty."""
    fixed = replace(instance, capacity=instance.tasks_per_cpu)
    more = replace(fixed, cpus=fixed.cpus + 1, initial=(*fixed.initial_states, None))
    assert optimum(more) <= optimum(fixed)


@few
@given(any_instance)
def test_what_the_ends_cost_is_never_a_gain(instance: Instance) -> None:
    if isinstance(instance.penalty, PenaltyMatrix):
        instance = replace(instance, penalty=replace(instance.penalty, start=None, finish=None))
    neither = replace(instance, cold_start=False, final_write_back=False)
    cold = replace(neither, cold_start=True)
    both = replace(cold, final_write_back=True)
    assert optimum(neither) <= optimum(cold) <= optimum(both)
    assert optimum(neither) <= optimum(replace(neither, final_write_back=True)) <= optimum(both)


@few
@given(any_instance, st.data())
def test_a_task_that_takes_longer_or_reads_more_is_never_a_gain(
    instance: Instance, data: st.DataObject
) -> None:
    position = data.draw(st.integers(0, len(instance.tasks) - 1))
    task = instance.tasks[position]
    key = data.draw(st.sampled_from(("exec", "lines", "release")))
    if key == "release" and instance.objective is not Objective.MAKESPAN:
        key = "exec"
    more = replace(task, **{key: (getattr(task, key) or 0) + data.draw(st.integers(1, 4))})
    tasks = (*instance.tasks[:position], more, *instance.tasks[position + 1 :])
    assert optimum(replace(instance, tasks=tasks)) >= optimum(instance)


@few
@given(untimed)
def test_the_largest_cost_and_the_sum_of_costs(instance: Instance) -> None:
    largest = optimum(replace(instance, objective=Objective.MAX_PENALTY))
    total = optimum(replace(instance, objective=Objective.TOTAL_PENALTY))
    assert largest <= total <= instance.cpus * largest


@few
@given(untimed)
def test_makespan_without_execution_is_the_largest_penalty(instance: Instance) -> None:
    idle = tuple(replace(task, exec=0) for task in instance.tasks)
    makespan = replace(instance, tasks=idle, objective=Objective.MAKESPAN)
    assert optimum(makespan) == optimum(replace(instance, objective=Objective.MAX_PENALTY))


@few
@given(untimed)
def test_one_cpu_costs_its_best_order(instance: Instance) -> None:
    alone = replace(instance, cpus=1, initial=instance.initial[:1], capacity="unlimited")
    types = task_types(alone)
    everything = {number: one.count for number, one in enumerate(types)}
    least, order = best_order(alone, 0, list(alone.tasks_by_name()))
    assert optimum(alone) == HeldKarp(alone, types).cost(0, everything) == least
    assert sorted(order) == sorted(alone.tasks_by_name())


@few
@given(untimed)
def test_copies_are_tasks_of_their_own(instance: Instance) -> None:
    single = tuple(
        replace(task, id=name, count=None) for task in instance.tasks for name in task.names
    )
    assert optimum(replace(instance, tasks=single)) == optimum(instance)


@few
@given(instances(kinds=("g",), min_tasks=1, max_tasks=5, initial=False))
def test_g_is_f_where_every_task_reads_all_and_leaves_it_dirty(instance: Instance) -> None:
    assert isinstance(instance.penalty, PenaltyG)
    instance = replace(instance, cold_start=False, final_write_back=False)
    like_g = replace(
        instance,
        penalty=PenaltyF(read_line=1, write_back=instance.penalty.write_back),
        tasks=tuple(
            replace(task, lines=instance.penalty.fill, leaves=Leaves.DIRTY)
            for task in instance.tasks
        ),
    )
    assert optimum(like_g) == optimum(instance)


@few
@given(instances(kinds=("f", "g"), min_tasks=1, max_tasks=5))
def test_f_and_g_are_tables(instance: Instance) -> None:
    """Every task and every initial state becomes a type."""
    states = [state for state in instance.initial if isinstance(state, CacheState)]
    sources = [*instance.tasks, *states]
    no_way = [0] * len(states)  # no task is of a state's type
    table = replace(
        instance,
        penalty=PenaltyMatrix(
            types=tuple(str(number) for number in range(len(sources))),
            switch=tuple(
                (*(switch_cost(instance.penalty, one, task) for task in instance.tasks), *no_way)
                for one in sources
            ),
            start=(*_cold_starts(instance), *no_way) if instance.cold_start else None,
            # A CPU without tasks pays for the type of its initial state.
            finish=_final_write_backs(instance, sources) if instance.final_write_back else None,
        ),
        tasks=tuple(replace(task, type=str(number)) for number, task in enumerate(instance.tasks)),
        initial=_numbered(instance.initial, len(instance.tasks)),
    )
    assert optimum(table) == optimum(instance)


def _cold_starts(instance: Instance) -> list[int]:
    empty = replace(instance, initial=())
    return [start_cost(empty, 0, task) for task in instance.tasks]


def _final_write_backs(instance: Instance, sources: Sequence[Task | CacheState]) -> tuple[int, ...]:
    penalty = instance.penalty
    assert isinstance(penalty, PenaltyF | PenaltyG)
    flushed = isinstance(penalty, PenaltyF)
    return tuple(
        penalty.write_back if flushed and source.leaves is not Leaves.CLEAN else 0
        for source in sources
    )


def _numbered(states: Sequence[InitialState], first: int) -> tuple[InitialState, ...]:
    numbers = iter(range(first, first + len(states)))
    return tuple(
        CacheState(type=str(next(numbers))) if isinstance(state, CacheState) else state
        for state in states
    )


@few
@given(any_instance, st.data())
def test_bounds_are_below_and_schedules_above_the_optimum(
    instance: Instance, data: st.DataObject
) -> None:
    schedule = evaluate(instance, data.draw(orders(instance)))
    bound = cheap_bound(instance, task_types(instance))
    assert bound.value <= optimum(instance) <= schedule.value(instance.objective)


@settings(max_examples=40)
@given(any_instance, st.sampled_from(list(METHODS)))
def test_every_method_agrees_on_any_instance(instance: Instance, method: str) -> None:
    if method in ("dp", "configuration"):
        assume(not instance.is_timed and not isinstance(instance.penalty, PenaltyMatrix))
    result = solve(instance, method=method, workers=1)
    assert result.objective == result.lower_bound == optimum(instance)
