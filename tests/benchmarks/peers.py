"""The same instances in the words of other solvers: OR-Tools' routing library, and PyJobShop.

Their schedules are costed by dfopt's own definition, so that a mistake in a model shows. Neither
model knows releases or precedence as dfopt means them: there a setup may begin before its task is
ready.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

from ortools.constraint_solver import pywrapcp, routing_enums_pb2

from dfopt import Instance, Objective, evaluate
from dfopt.costs.cost_table import CostTable
from dfopt.solvers.search import Search


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The objective of a peer's schedule, None if it found none, and its bound if it has one."""

    objective: int | None
    lower_bound: int | None


@dataclass(frozen=True, kw_only=True)
class SingleTasks:
    """Each task on its own, with the costs between them: the input of both models."""

    names: list[str]
    exec: list[int]
    switch: list[list[int]]
    start: list[int]
    finish: list[int]


def single_tasks(instance: Instance) -> SingleTasks:
    """Return the tasks of an instance without releases, precedence and warm caches."""
    assert not instance.is_timed
    assert not instance.initial
    search = Search(instance)
    table = CostTable(instance, search.types)
    kinds = [kind for kind, task_type in enumerate(search.types) for _ in task_type.names]
    return SingleTasks(
        names=[name for task_type in search.types for name in task_type.names],
        exec=[table.exec[kind] for kind in kinds],
        switch=[[table.switch[before][after] for after in kinds] for before in kinds],
        start=[table.start[0][kind] for kind in kinds],
        finish=[table.finish[kind] for kind in kinds],
    )


def by_routing(instance: Instance, limit_s: float, workers: int) -> Outcome:
    """Return what guided local search of OR-Tools' routing library finds in the time.

    It runs in one thread, however many ``workers`` there are.

     Each CPU is a vehicle, each task a stop, each switch a way. The most expensive CPU is the span
     of a dimension that starts at 0.
    """
    tasks = single_tasks(instance)
    depot = len(tasks.names)
    manager = pywrapcp.RoutingIndexManager(depot + 1, instance.cpus, depot)
    routing = pywrapcp.RoutingModel(manager)

    def cost(before: int, after: int) -> int:
        left, right = manager.IndexToNode(before), manager.IndexToNode(after)
        if left == depot:
            return 0 if right == depot else tasks.start[right] + tasks.exec[right]
        if right == depot:
            return tasks.finish[left]
        return tasks.switch[left][right] + tasks.exec[right]

    def is_task(index: int) -> int:
        return int(manager.IndexToNode(index) != depot)

    way = routing.RegisterTransitCallback(cost)
    stop = routing.RegisterUnaryTransitCallback(is_task)
    routing.AddDimension(stop, 0, instance.tasks_per_cpu, True, "tasks")
    if instance.objective is Objective.TOTAL_PENALTY:
        routing.SetArcCostEvaluatorOfAllVehicles(way)
    else:
        most = sum(map(max, tasks.switch)) + sum(tasks.exec) + max(tasks.start) + max(tasks.finish)
        routing.AddDimension(way, 0, max(1, most), True, "cost")
        routing.GetDimensionOrDie("cost").SetGlobalSpanCostCoefficient(1)
    settings = pywrapcp.DefaultRoutingSearchParameters()
    settings.first_solution_strategy = routing_enums_pb2.FirstSolutionStrategy.PATH_CHEAPEST_ARC
    settings.local_search_metaheuristic = (
        routing_enums_pb2.LocalSearchMetaheuristic.GUIDED_LOCAL_SEARCH
    )
    settings.time_limit.FromMilliseconds(round(1000 * limit_s))
    solution = routing.SolveWithParameters(settings)
    if solution is None:
        return Outcome(objective=None, lower_bound=None)
    orders: list[list[str]] = []
    for cpu in range(instance.cpus):
        orders.append([])
        index = solution.Value(routing.NextVar(routing.Start(cpu)))
        while not routing.IsEnd(index):
            orders[-1].append(tasks.names[manager.IndexToNode(index)])
            index = solution.Value(routing.NextVar(index))
    schedule = evaluate(instance, orders)
    return Outcome(objective=schedule.value(instance.objective), lower_bound=None)


def by_pyjobshop(instance: Instance, limit_s: float, workers: int) -> Outcome:
    """Return what PyJobShop finds with CP-SAT under makespan, where CPUs start and end free.

    Raises
    ------
    ModuleNotFoundError
        When PyJobShop is not installed; dfopt does not depend on it.
    """
    from pyjobshop import Model

    assert instance.objective is Objective.MAKESPAN
    tasks = single_tasks(instance)
    assert not any((*tasks.start, *tasks.finish))
    model = Model()
    machines = [model.add_machine() for _ in range(instance.cpus)]
    places = [model.add_consumable(capacity=instance.tasks_per_cpu) for _ in machines]
    jobs = [model.add_task(name=name) for name in tasks.names]
    for (job, duration), (machine, place) in product(
        zip(jobs, tasks.exec, strict=True), zip(machines, places, strict=True)
    ):
        model.add_mode(job, [machine, place], duration, demands=[0, 1])
    for machine, (before, left), (after, right) in product(
        machines, enumerate(jobs), enumerate(jobs)
    ):
        if before != after and tasks.switch[before][after]:
            model.add_setup_time(machine, left, right, tasks.switch[before][after])
    result = model.solve(time_limit=limit_s, display=False, num_workers=workers)
    if not result.best.tasks:
        return Outcome(objective=None, lower_bound=None)
    orders: list[list[tuple[int, str]]] = [[] for _ in machines]
    for name, task in zip(tasks.names, result.best.tasks, strict=True):
        orders[min(task.resources)].append((task.start, name))  # the machine, then its places
    schedule = evaluate(instance, [[name for _, name in sorted(order)] for order in orders])
    return Outcome(
        objective=schedule.value(instance.objective), lower_bound=int(result.lower_bound)
    )


PEERS: dict[str, Callable[..., Outcome]] = {"routing": by_routing, "PyJobShop": by_pyjobshop}
