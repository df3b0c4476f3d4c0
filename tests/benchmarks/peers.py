"""The same instances in the words of other solvers: a textbook model, routing, and PyJobShop.

Their schedules are costed by dfopt's own definition, so that a mistake in a model shows. All limits
are in seconds of processor time for each worker, but for PyJobShop's, which has none of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from threading import Event, Thread
from time import process_time

from ortools.constraint_solver import pywrapcp, routing_enums_pb2
from ortools.sat.python import cp_model

from dfopt import Instance, Objective, evaluate
from dfopt.costs.task_types import cost_table, task_types


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The objective of a peer's schedule, None if it found none, and its bound if it has one."""

    objective: int | None
    lower_bound: int | None


@dataclass(frozen=True, kw_only=True)
class SingleTasks:
    """Each task on its own, with the costs between them: the input of all models."""

    names: list[str]
    exec: list[int]
    size: list[int]
    release: list[int]
    after: list[list[int]]
    switch: list[list[int]]
    start: list[list[int]]
    finish: list[int]
    idle: list[int]


def single_tasks(instance: Instance) -> SingleTasks:
    """Return the tasks of an instance."""
    types = task_types(instance)
    table = cost_table(instance, types)
    kinds = [kind for kind, task_type in enumerate(types) for _ in task_type.names]
    examples = [types[kind].example for kind in kinds]
    numbers = {task.id: number for number, task in enumerate(examples)}
    return SingleTasks(
        names=[name for task_type in types for name in task_type.names],
        exec=[table.exec[kind] for kind in kinds],
        size=[types[kind].size for kind in kinds],
        release=[task.release for task in examples],
        after=[[numbers[name] for name in task.after] for task in examples],
        switch=[[table.switch[before][after] for after in kinds] for before in kinds],
        start=[[row[kind] for kind in kinds] for row in table.start],
        finish=[table.finish[kind] for kind in kinds],
        idle=table.idle,
    )


@contextmanager
def stopped_after(seconds: float, stop: Callable[[], None]) -> Iterator[None]:
    """Stop what the block does after some processor time."""
    over, began = Event(), process_time()

    def watch() -> None:
        while not over.wait(0.05):
            if process_time() - began > seconds:
                stop()
                return

    thread = Thread(target=watch)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def by_circuits(  # noqa: PLR0912
    instance: Instance, limit_s: float, workers: int
) -> Outcome:
    """Return what CP-SAT finds with the textbook model: a circuit per CPU through its tasks.

    Where tasks wait, each has a time for the switch to it and one for its end.
    """
    tasks = single_tasks(instance)
    count = depot = len(tasks.names)
    most = max(map(max, [*tasks.switch, *tasks.start])) + max(tasks.finish)
    horizon = max(tasks.release) + sum(tasks.exec) + most * count
    model = cp_model.CpModel()
    objective = model.new_int_var(0, horizon, "")
    begin = [model.new_int_var(release, horizon, "") for release in tasks.release]
    end = [model.new_int_var(0, horizon, "") for _ in begin]
    for task, before in enumerate(tasks.after):
        for one in before:
            model.add(begin[task] >= end[one])
    circuits = []
    costs = []
    for start, idle in zip(tasks.start, tasks.idle, strict=True):
        arcs = {pair: model.new_bool_var("") for pair in product(range(count + 1), repeat=2)}
        circuits.append(arcs)
        model.add_circuit([(*pair, arc) for pair, arc in arcs.items()])
        sizes = (size * (1 - arcs[task, task]) for task, size in enumerate(tasks.size))
        model.add(sum(sizes) <= instance.room)
        cost: cp_model.LinearExprT = idle * arcs[depot, depot]
        for (before, after), arc in arcs.items():
            if before == after:
                continue
            if after == depot:
                cost += tasks.finish[before] * arc
            else:
                row = start if before == depot else tasks.switch[before]
                cost += (row[after] + tasks.exec[after]) * arc
            if instance.is_timed and after == depot:
                model.add(objective >= end[before] + tasks.finish[before]).only_enforce_if(arc)
            elif instance.is_timed:
                takes = row[after] + tasks.exec[after]
                model.add(end[after] >= begin[after] + takes).only_enforce_if(arc)
                if before != depot:
                    model.add(begin[after] >= end[before]).only_enforce_if(arc)
        costs.append(cost)
    for task in range(count):
        model.add_exactly_one(~arcs[task, task] for arcs in circuits)
    if instance.objective is Objective.TOTAL_PENALTY:
        costs = [sum(costs)]
    for cost in costs:
        model.add(objective >= cost)
    model.minimize(objective)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = workers
    with stopped_after(limit_s * workers, solver.stop_search):
        status = solver.solve(model)
    found = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    bound = -int(-solver.best_objective_bound // 1)
    return Outcome(objective=int(solver.objective_value) if found else None, lower_bound=bound)


SPAN_WEIGHT = 100
"""Of the most expensive CPU for routing, where the sum of all costs has the weight 1."""


def by_routing(instance: Instance, limit_s: float, workers: int) -> Outcome:
    """Return what guided local search of OR-Tools' routing library finds in the time.

    It runs in one thread, however many ``workers`` there are. Each CPU is a vehicle, each task a
    stop, each switch a way. The most expensive CPU is the span of a dimension that starts at 0.
    """
    del workers
    assert not instance.is_timed
    assert not instance.initial
    tasks = single_tasks(instance)
    depot = len(tasks.names)
    manager = pywrapcp.RoutingIndexManager(depot + 1, instance.cpus, depot)
    routing = pywrapcp.RoutingModel(manager)
    ways = [
        [cost + exec for cost, exec in zip(row, tasks.exec, strict=True)] + [finish]
        for row, finish in zip([*tasks.switch, tasks.start[0]], [*tasks.finish, 0], strict=True)
    ]
    way = routing.RegisterTransitMatrix(ways)
    routing.SetArcCostEvaluatorOfAllVehicles(way)
    size = routing.RegisterUnaryTransitVector([*tasks.size, 0])
    routing.AddDimension(size, 0, instance.room, True, "size")
    if instance.objective is not Objective.TOTAL_PENALTY:
        routing.AddDimension(way, 0, max(1, sum(map(max, ways))), True, "cost")
        routing.GetDimensionOrDie("cost").SetGlobalSpanCostCoefficient(SPAN_WEIGHT)
    best: list[int] = []

    def note() -> None:
        orders: list[list[str]] = []
        for cpu in range(instance.cpus):
            orders.append([])
            index = routing.NextVar(routing.Start(cpu)).Value()
            while not routing.IsEnd(index):
                orders[-1].append(tasks.names[manager.IndexToNode(index)])
                index = routing.NextVar(index).Value()
        best.append(evaluate(instance, orders).value(instance.objective))

    settings = pywrapcp.DefaultRoutingSearchParameters()
    settings.first_solution_strategy = routing_enums_pb2.FirstSolutionStrategy.PATH_CHEAPEST_ARC
    settings.local_search_metaheuristic = (
        routing_enums_pb2.LocalSearchMetaheuristic.GUIDED_LOCAL_SEARCH
    )
    routing.AddAtSolutionCallback(note)
    routing.CloseModelWithParameters(settings)
    began = process_time()
    limit = routing.solver().CustomLimit(lambda: process_time() - began > limit_s)
    routing.AddSearchMonitor(limit)
    routing.SolveWithParameters(settings)
    return Outcome(objective=min(best, default=None), lower_bound=None)


def by_pyjobshop(instance: Instance, limit_s: float, workers: int) -> Outcome:
    """Return what PyJobShop finds with CP-SAT under makespan, where CPUs start and end free.

    With releases and precedence, a setup may begin there before its task is ready.

    Raises
    ------
    ModuleNotFoundError
        When PyJobShop is not installed; dfopt does not depend on it.
    """
    from pyjobshop import Model

    assert instance.objective is Objective.MAKESPAN
    tasks = single_tasks(instance)
    assert not any((*tasks.start[0], *tasks.finish, *instance.initial))
    model = Model()
    machines = [model.add_machine() for _ in range(instance.cpus)]
    places = [model.add_consumable(capacity=instance.room) for _ in machines]
    jobs = [
        model.add_task(name=name, earliest_start=release)
        for name, release in zip(tasks.names, tasks.release, strict=True)
    ]
    for (job, duration, size), (machine, place) in product(
        zip(jobs, tasks.exec, tasks.size, strict=True), zip(machines, places, strict=True)
    ):
        model.add_mode(job, [machine, place], duration, demands=[0, size])
    for machine, (before, left), (after, right) in product(
        machines, enumerate(jobs), enumerate(jobs)
    ):
        if before != after and tasks.switch[before][after]:
            model.add_setup_time(machine, left, right, tasks.switch[before][after])
    for job, before in zip(jobs, tasks.after, strict=True):
        for one in before:
            model.add_end_before_start(jobs[one], job)
    result = model.solve(time_limit=limit_s, display=False, num_workers=workers)
    if not result.best.tasks:
        return Outcome(objective=None, lower_bound=None)
    orders: list[list[tuple[int, str]]] = [[] for _ in machines]
    for name, task in zip(tasks.names, result.best.tasks, strict=True):
        orders[min(task.resources)].append((task.start, name))  # the machine, then its places
    schedule = evaluate(instance, [[name for _, name in sorted(order)] for order in orders])
    bound = None if instance.is_timed else int(result.lower_bound)
    return Outcome(objective=schedule.value(instance.objective), lower_bound=bound)


PEERS: dict[str, Callable[..., Outcome]] = {
    "circuits": by_circuits,
    "routing": by_routing,
    "PyJobShop": by_pyjobshop,
}
