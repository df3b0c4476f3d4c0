"""The schedule of a window made real: dispatch by dispatch, priced by the definition."""

from collections import Counter
from collections.abc import Sequence

from dfopt.compare.windows.bound_and_roll import RollingStep
from dfopt.compare.windows.uniform import Placement
from dfopt.compare.windows.window import FOREIGN, renamed
from dfopt.problem.instance import Task
from tests.compare.naive import State, Window, least_order, order_cost, window_of


def assert_is_possible(step: RollingStep) -> None:
    """Assert that the CPUs run all dispatches, within the capacity, for what they pay."""
    window = renamed(step.window, step.solved.fragments)
    schedule, one_by_one = step.solved.schedule, window_of(window)
    orders = schedule.orders()
    ran = Counter(number for order in orders for number in order)
    assert ran == {number: one.copies for number, (_, one) in enumerate(window.classes())}
    assert max(map(len, orders)) <= window.capacity
    assert schedule.cost == window.value(schedule.costs)
    examples = {int(task.id.partition(".")[0]): task for task in one_by_one.tasks}
    latest = [step.demand.latest[fragment] for fragment in step.solved.fragments]
    for cpu, order in enumerate(orders):
        state, fixed = one_by_one.states[cpu], one_by_one.fixed[cpu]
        tasks = [examples[number] for number in order]
        left = schedule.state_after(cpu, latest)
        if isinstance(schedule, Placement):
            sequence = in_sequence(schedule, cpu, tasks, fixed, latest)
            assert order_cost(one_by_one, state, sequence) == schedule.costs[cpu]
            ends = sequence[-1:]
        else:
            cost, ends = least(one_by_one, state, [*tasks, *fixed])
            assert cost == schedule.costs[cpu]
        assert (left is None) == (not ends)
        if left is not None:
            fragments = {FOREIGN if task in fixed else int(task.df or 0) for task in ends}
            assert left.fragment in fragments


def least(window: Window, state: State, tasks: Sequence[Task]) -> tuple[int, list[Task]]:
    """Return the least cost of running tasks, and those that may come last at that cost."""
    costs = least_order(window, state, tasks)
    cost = min(costs.values())
    return cost, [tasks[place] for place, own in costs.items() if own == cost and place >= 0]


def in_sequence(
    placement: Placement,
    cpu: int,
    tasks: Sequence[Task],
    fixed: Sequence[Task],
    latest: Sequence[int],
) -> list[Task]:
    """Return the tasks of a CPU in the order that its placement means.

    What evicts comes after a visit that is free, and otherwise first, the most expensive ahead.
    """
    sequence = placement.sequence(cpu, latest)
    by_fragment = {
        fragment: [task for task in tasks if task.df == str(fragment)] for fragment in sequence
    }
    cut = int(placement.spared[cpu])
    evicting = sorted(fixed, key=lambda task: -(task.lines or 0))
    return [
        *(task for fragment in sequence[:cut] for task in by_fragment[fragment]),
        *evicting,
        *(task for fragment in sequence[cut:] for task in by_fragment[fragment]),
    ]
