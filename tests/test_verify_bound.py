"""What the checker calls proven is true, and what is true it can be shown to be."""

import random
from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement, pairwise, permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dfopt.verify.weights as weights_module
from dfopt.certificate import Certificate, DualWeights, Exhaustive, TaskClass
from dfopt.files import fingerprint
from dfopt.instance import Instance, Objective, Task
from dfopt.machine import CacheState, Leaves, PenaltyF, PenaltyG, PenaltyMatrix
from dfopt.penalty import order_cost
from dfopt.result import Result, Status, StopReason
from dfopt.schedule import DeadlockError, evaluate
from dfopt.verify import Verification, verify
from dfopt.verify.enumeration import has_schedule_below
from dfopt.verify.weights import largest_values
from tests.strategies import instances


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


def order_value(
    instance: Instance,
    cpu: int,
    order: Sequence[int],
    weights: Sequence[int],
    charges: Sequence[int],
) -> int:
    """Return the weights of an order less the charges of the entries that it pays."""
    state = instance.initial_states[cpu]
    inside = state.df if state else None
    value = 0
    for position, number in enumerate(order):
        df = instance.tasks[number].df
        free = not position and state is None and not instance.cold_start
        value += weights[number] - (0 if free or df == inside else charges[number])
        inside = df
    return value


def values_by_trying(
    instance: Instance, weights: Sequence[int], charges: Sequence[int], threshold: int | None
) -> list[int]:
    """Return the largest value that each CPU can hold by trying every order of every subset."""
    entries = [entry for entry, task in enumerate(instance.tasks) for _ in range(task.multiplicity)]
    largest = [0] * instance.cpus
    for cpu in range(instance.cpus):
        for size in range(1, min(len(entries), instance.tasks_per_cpu) + 1):
            for order in set(permutations(entries, size)):
                cost = order_cost(instance, cpu, [instance.tasks[entry] for entry in order])
                value = order_value(instance, cpu, order, weights, charges)
                if threshold is None:
                    largest[cpu] = max(largest[cpu], value - cost)
                elif cost <= threshold:
                    largest[cpu] = max(largest[cpu], value)
    return largest


@st.composite
def weighted(draw: st.DrawFn) -> tuple[Instance, list[int], list[int], int | None]:
    """Draw an instance, weights and charges of its tasks, and a threshold where there is one."""
    instance = draw(instances(kinds=("f", "f", "g"), max_tasks=5, max_cpus=2))
    numbers = st.lists(
        st.integers(-4, 9), min_size=len(instance.tasks), max_size=len(instance.tasks)
    )
    charges = st.lists(
        st.sampled_from([0, 0, 1, 3, 8]),
        min_size=len(instance.tasks),
        max_size=len(instance.tasks),
    )
    total = instance.objective is Objective.TOTAL_PENALTY
    return instance, draw(numbers), draw(charges), None if total else draw(st.integers(0, 24))


@given(weighted())
def test_largest_values_are_those_found_by_trying(
    case: tuple[Instance, list[int], list[int], int | None],
) -> None:
    assert largest_values(*case) == values_by_trying(*case)


def test_largest_values_of_instances_with_dear_write_backs() -> None:
    draw = random.Random(1)
    for _ in range(250):
        states = [None, *(CacheState(df=df, leaves=leaves) for df in "AB" for leaves in Leaves)]
        tasks = tuple(
            Task(
                id=f"t{number}",
                df=draw.choice("AABC"),
                lines=draw.choice((0, 1, 2, 50)),
                leaves=draw.choice(list(Leaves)),
            )
            for number in range(5)
        )
        instance = Instance(
            cpus=2,
            capacity=draw.choice((4, 5)),
            penalty=PenaltyF(read_line=1, write_back=20),
            initial=(draw.choice(states), draw.choice(states)),
            tasks=tasks,
        )
        weights = [draw.randint(-1, 9) for _ in tasks]
        charges = [draw.choice((0, 0, 2, 5)) for _ in tasks]
        threshold = draw.choice((2, 3, 22, 45))
        case = (instance, weights, charges, threshold)
        assert largest_values(*case) == values_by_trying(*case)


def on_one_cpu(*tasks: Task, **options: Any) -> Instance:
    return Instance(cpus=1, penalty=PenaltyF(read_line=1, write_back=20), tasks=tasks, **options)


def task(name: str, lines: int, leaves: str = "clean") -> Task:
    return Task(id=name, df=name[0].upper(), lines=lines, leaves=Leaves(leaves))


# Instance, weights, charges, threshold; the largest value; and the only orders of that value.
ODD_CASES: dict[str, tuple[tuple[Instance, list[int], list[int], int], int, set[str]]] = {
    "the first and the last block share a fragment": (
        (
            on_one_cpu(task("a1", 50), task("a2", 1, "invalidated"), task("b", 1)),
            [1, 1, 1],
            [0, 0, 0],
            2,
        ),
        3,
        {"a1 b a2"},
    ),
    "and then need three tasks with roles": (
        (
            on_one_cpu(
                task("a1", 50),
                task("a2", 1, "dirty"),
                task("a3", 50, "invalidated"),
                task("b", 1),
                initial=(CacheState(df="A", leaves=Leaves.DIRTY),),
            ),
            [1, 1, 1, 1],
            [0, 0, 0, 0],
            2,
        ),
        4,
        {"a1 b a2 a3"},
    ),
    "it is better to start elsewhere": (
        (
            on_one_cpu(
                task("a", 1, "dirty"),
                task("b", 1),
                initial=(CacheState(df="A", leaves=Leaves.INVALIDATED),),
            ),
            [1, 1],
            [0, 0],
            22,
        ),
        2,
        {"b a"},
    ),
    "the dearer task enters, for its charge": (
        (on_one_cpu(task("a1", 1), task("a2", 3), cold_start=True), [5, 5], [8, 0], 3),
        10,
        {"a2 a1"},
    ),
    "a task of negative weight enters": (
        (on_one_cpu(task("a1", 1), task("a2", 50), cold_start=True), [-2, 9], [0, 0], 1),
        7,
        {"a1 a2"},
    ),
    "the first one enters free, so that its charge does not matter": (
        (on_one_cpu(task("a", 9), task("b", 9)), [5, 5], [8, 1], 9),
        9,
        {"a b"},
    ),
}


@pytest.mark.parametrize("case", ODD_CASES)
def test_odd_cases(case: str) -> None:
    claim, largest, best = ODD_CASES[case]
    instance, weights, charges, threshold = claim
    found = set()
    for size in range(1, len(weights) + 1):
        for order in permutations(range(len(weights)), size):
            tasks = [instance.tasks[number] for number in order]
            value = order_value(instance, 0, order, weights, charges)
            if value == largest and order_cost(instance, 0, tasks) <= threshold:
                found.add(" ".join(task.id for task in tasks))
    assert found == best
    assert largest_values(*claim) == values_by_trying(*claim) == [largest]


def test_weights_may_exceed_64_bits() -> None:
    instance, weights, charges, threshold = ODD_CASES["the dearer task enters, for its charge"][0]
    huge = 2**62
    weights, charges = [huge * weight for weight in weights], [huge * charge for charge in charges]
    assert largest_values(instance, weights, charges, threshold) == [10 * huge]
    assert largest_values(instance, weights, charges, None) == [10 * huge - 3]


def test_costs_may_be_as_large_as_instances_allow() -> None:
    lines = 2**60
    instance = on_one_cpu(task("a", lines), task("b", lines), task("c", lines), cold_start=True)
    for threshold, value in ((lines - 1, 0), (3 * lines - 1, 2), (3 * lines, 3), (2**70, 3)):
        assert largest_values(instance, [1, 1, 1], [0, 0, 0], threshold) == [value]
    assert largest_values(instance, [lines + 1, 0, lines + 2], [0, 0, 0], None) == [3]


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
        instance_name=instance.name,
        instance_sha256=fingerprint(instance),
        status=Status.UNKNOWN,
        stop_reason=StopReason.TIME_LIMIT,
        lower_bound=bound,
        certificate=certificate,
    )
    return verify(instance, result)


def rows(instance: Instance, numbers: Sequence[int]) -> Iterator[tuple[TaskClass, int]]:
    """Return rows of a certificate, one for each class of tasks, with a number for each."""
    is_f = isinstance(instance.penalty, PenaltyF)
    timed = instance.objective is Objective.MAKESPAN
    classes: dict[TaskClass, int] = {}
    for task, number in zip(instance.tasks, numbers, strict=True):
        key = TaskClass(
            df=task.df or "",
            leaves=task.leaves,
            lines=task.lines if is_f else None,
            exec=task.exec if timed else None,
        )
        classes.setdefault(key, number)
    return iter(classes.items())


def dual_weights(
    instance: Instance, numbers: Sequence[int], charges: Sequence[int], bound: int, slack: int = 0
) -> DualWeights:
    """Return a certificate whose bin weights are as small as they may be, or by ``slack`` more."""
    weights, entry_charges = tuple(rows(instance, numbers)), tuple(rows(instance, charges))
    total = instance.objective is Objective.TOTAL_PENALTY

    def by_task(classes: Sequence[tuple[TaskClass, int]]) -> list[int]:
        return [
            next(number for tasks, number in classes if tasks.holds(task))
            for task in instance.tasks
        ]

    threshold = None if total else bound - 1
    largest = values_by_trying(instance, by_task(weights), by_task(entry_charges), threshold)
    return DualWeights(
        threshold=threshold,
        lower_bound=bound if total else None,
        bin_weights=tuple(value + slack for value in largest),
        weights=weights,
        entry_charges=entry_charges,
    )


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
        if max(certificate.bin_weights):
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
    assert {tasks.exec for tasks, _ in certificate.weights} == {5 if timed else None}
    assert certified(instance, certificate, bound).bound_checked
    assert not certified(instance, certificate, bound - 1).ok


def test_rows_must_be_about_the_instance() -> None:
    def problems(penalty: PenaltyF | PenaltyG | PenaltyMatrix, row: TaskClass) -> tuple[str, ...]:
        tasks = (Task(id="a", df="A", type="A", lines=1, exec=1, count=2),)
        instance = Instance(cpus=1, penalty=penalty, tasks=tasks)
        certificate = DualWeights(
            threshold=0,
            bin_weights=(1,),
            weights=((TaskClass(df="A"), 1),),
            entry_charges=((row, 0),),
        )
        return certified(instance, certificate, 1).problems

    f, g = PenaltyF(read_line=1, write_back=1), PenaltyG(fill=1, write_back=1)
    assert any("entry_charges[0].lines" in text for text in problems(g, TaskClass(df="A", lines=1)))
    assert not any("entry_charges" in text for text in problems(f, TaskClass(df="A", lines=1)))
    assert any("entry_charges[0].exec" in text for text in problems(f, TaskClass(df="A", exec=1)))
    assert any("holds for no task" in text for text in problems(f, TaskClass(df="B")))
    table = PenaltyMatrix(types=("A",), switch=((1,),))
    assert any("penalties f and g" in text for text in problems(table, TaskClass(df="A")))


@pytest.mark.parametrize(
    ("certificate", "problem"),
    [
        (DualWeights(threshold=1, bin_weights=(2, 1), weights=((A, 2),)), ""),
        (DualWeights(threshold=1, bin_weights=(2, 1), weights=((A, 2), (A, 2))), "weights[1]"),
        (
            DualWeights(
                threshold=1, bin_weights=(2, 1), weights=((A, 2),), entry_charges=((A, -1),)
            ),
            "entry_charges[0]",
        ),
        (DualWeights(threshold=1, bin_weights=(2, -1), weights=((A, 2),)), "bin_weights[1]"),
    ],
)
def test_certificate_is_refused_for_its_form_alone(certificate: DualWeights, problem: str) -> None:
    # Two tasks on two CPUs; the claims hold, but for the sign of what must not be negative.
    tasks = (Task(id="a", df="A", count=2),)
    penalty = PenaltyG(fill=1, write_back=1)
    instance = Instance(cpus=2, penalty=penalty, cold_start=True, tasks=tasks)
    found = certified(instance, certificate, 2).problems
    assert any(problem in text for text in found) if problem else not found


@pytest.mark.parametrize("objective", [Objective.TOTAL_PENALTY, Objective.MAX_PENALTY])
def test_certificate_must_fit_the_objective(objective: Objective) -> None:
    instance = Instance(
        cpus=1,
        objective=objective,
        penalty=PenaltyG(fill=1, write_back=1),
        cold_start=True,
        tasks=(Task(id="a", df="A"),),
    )
    weights = ((TaskClass(df="A"), 2),)
    by_threshold = DualWeights(threshold=1, bin_weights=(0,), weights=weights)
    by_bound = DualWeights(lower_bound=2, bin_weights=(0,), weights=weights)
    total = objective is Objective.TOTAL_PENALTY
    assert certified(instance, by_threshold, 2).bound_checked is not total
    assert certified(instance, by_bound, 2).bound_checked is total
    both = DualWeights(threshold=1, lower_bound=2, bin_weights=(0,), weights=weights)
    assert not certified(instance, both, 2).ok


def test_dual_weights_of_a_large_instance() -> None:
    # At a cost of 40 a CPU can hold three tasks that invalidate, and there are more than 48.
    instance = zipf(200, 16, 40)
    lossy = Leaves.INVALIDATED
    fragments = sorted({task.df or "" for task in instance.tasks if task.leaves is lossy})
    weights = tuple((TaskClass(df=df, leaves=lossy), 10) for df in fragments)
    for bin_weights in ((30,) * 16, (30,) * 15 + (29,)):
        certificate = DualWeights(threshold=40, bin_weights=bin_weights, weights=weights)
        found = certified(instance, certificate, 41)
        assert found.bound_checked is (bin_weights[-1] == 30)
    assert found.problems == ("certificate.bin_weights[15]: is 29, but the CPU can hold 30",)


@pytest.mark.parametrize("limit", ["LARGEST_TABLE", "MOST_TASKS"])
def test_what_would_need_too_much_memory_is_not_checked(
    limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance = zipf(20, 2, 4)
    certificate = DualWeights(
        threshold=4,
        bin_weights=(0, 0),
        weights=tuple(rows(instance, [1] * 20)),
    )
    monkeypatch.setattr(weights_module, limit, 19)
    found = certified(instance, certificate, 5)
    assert found.ok
    assert not found.bound_checked
    assert "too large" in found.unchecked[0]


# Enumeration.


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


@pytest.mark.parametrize(("after", "most"), [((), 10), (("t0",), 7)])
def test_enumeration_is_for_tiny_instances(after: tuple[str, ...], most: int) -> None:
    def instance(tasks: int) -> Instance:
        return Instance(
            cpus=3,
            objective=Objective.MAKESPAN,
            penalty=PenaltyG(fill=1, write_back=1),
            cold_start=True,
            tasks=tuple(
                Task(
                    id=f"t{number}",
                    df="ABC"[number % 3],
                    exec=number,
                    after=after if number else (),
                )
                for number in range(tasks)
            ),
        )

    assert certified(instance(most), Exhaustive(threshold=0), 1).bound_checked
    found = certified(instance(most + 1), Exhaustive(threshold=0), 1)
    assert found.ok
    assert not found.bound_checked
    assert f"{most} tasks at most" in found.unchecked[0]
