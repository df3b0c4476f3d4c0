"""The best order of one CPU's tasks: F(w) of an order and F*(W) of a set."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence

from dfopt.costs.closed_form import ClosedForm
from dfopt.costs.task_types import task_types
from dfopt.errors import MethodError
from dfopt.problem.instance import Instance
from dfopt.problem.penalties import PenaltyMatrix
from dfopt.problem.result import Status, StopReason
from dfopt.solvers.facade import solve
from dfopt.structs import replace


def best_order(instance: Instance, cpu: int, names: Sequence[str]) -> tuple[int, tuple[str, ...]]:
    """Return F*(W) and an order that attains it.

    Under f and g it has a closed form; under a table of switch costs it is solved as an instance.

    Parameters
    ----------
    instance
        The instance that the names belong to; waits for releases or precedence do not count.
    cpu
        The CPU that runs the tasks, for its initial cache state.
    names
        The names of the tasks W.

    Returns
    -------
    cost : int
        The least F(w) over all orders w of W, in the instance's time unit.
    order : tuple of str
        An order of ``names`` with that cost.

    Raises
    ------
    MethodError
        When no order was proven to be the best one.
    """
    if isinstance(instance.penalty, PenaltyMatrix):
        return _solved(instance, cpu, names)
    types = task_types(instance)
    type_of = {name: index for index, task_type in enumerate(types) for name in task_type.names}
    members: defaultdict[int, deque[str]] = defaultdict(deque)
    for name in names:
        members[type_of[name]].append(name)
    content = {task_type: len(own) for task_type, own in members.items()}
    form = ClosedForm(instance, types)
    order = form.order(cpu, content)
    return form.cost(cpu, content), tuple(members[task_type].popleft() for task_type in order)


def _solved(instance: Instance, cpu: int, names: Sequence[str]) -> tuple[int, tuple[str, ...]]:
    tasks = instance.tasks_by_name()
    result = solve(
        replace(
            instance,
            cpus=1,
            capacity="unlimited",
            initial=(instance.initial_states[cpu],),
            tasks=tuple(
                replace(tasks[name], id=name, count=None, release=0, after=()) for name in names
            ),
        ),
        workers=1,
    )
    if result.stop_reason is StopReason.INTERRUPT:
        raise KeyboardInterrupt
    if result.status is not Status.OPTIMAL or result.schedule is None:
        raise MethodError("no order was proven to be the best one; give fewer tasks")
    (found,) = result.schedule.cpus
    return found.cost, found.tasks
