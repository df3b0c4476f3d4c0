"""Instances with weights, and the values of orders by trying all of them."""

from collections.abc import Sequence
from itertools import permutations

from hypothesis import strategies as st

from dfopt.problem.cache import CacheState, Leaves
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.schedule import order_cost
from dfopt.verify.exact_contents import largest_values
from dfopt.verify.relaxed_contents import OrderPrices
from tests.strategies import instances


def order_value(
    instance: Instance,
    cpu: int,
    order: Sequence[int],
    weights: Sequence[int],
    charges: Sequence[int],
) -> int:
    """Return the weights of an order less the charges of the entries that it pays."""
    state = instance.initial_states[cpu]
    inside = state.df if isinstance(state, CacheState) else None
    all_free = state == "unknown" or (state is None and not instance.cold_start)
    value = 0
    for position, number in enumerate(order):
        df = instance.tasks[number].df
        free = not position and all_free
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


def largest_by_weights(
    instance: Instance, weights: Sequence[int], charges: Sequence[int], threshold: int | None
) -> list[int]:
    """Return the largest values by weights and charges alone."""
    return largest_values(instance, OrderPrices(weights=weights, charges=charges), threshold)


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


def task(name: str, lines: int, leaves: str = "clean") -> Task:
    return Task(id=name, df=name[0].upper(), lines=lines, leaves=Leaves(leaves))
