"""The rolling schedule made real: who opens each visit, in which order, with room for the rest."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import count

import networkx as nx

from dfopt.compare import CostModel
from dfopt.compare.demand import WindowedRuns
from dfopt.compare.problem import EMPTY, FREE
from dfopt.compare.rolling import Step
from dfopt.problem.cache_state import Leaves
from dfopt.problem.instance import Task
from dfopt.problem.penalties import PenaltyF
from tests.compare.naive import State, first_cost, left_cost


def assert_room(step: Step, capacity: int) -> None:
    """Assert that the dispatches of each fragment can be dealt to its visits."""
    demand = step.demand
    left = dict(zip(demand.fragments, demand.sizes, strict=True))
    graph = nx.DiGraph()
    for cpu, order in enumerate(step.orders):
        assert len(set(order)) == len(order) <= capacity
        graph.add_edge(("cpu", cpu), "end", capacity=capacity - len(order))
        for fragment in order:
            left[fragment] -= 1  # the dispatch that opens the visit
            graph.add_edge(("fragment", fragment), ("cpu", cpu))
    assert min(left.values(), default=0) >= 0
    for fragment, rest in left.items():
        graph.add_edge("begin", ("fragment", fragment), capacity=rest)
    if left:
        assert nx.maximum_flow_value(graph, "begin", "end") == sum(left.values())


def sequences(
    step: Step, windows: WindowedRuns, states: Sequence[State], names: Iterator[int]
) -> list[list[Task]]:
    """Return for each CPU the dispatches that change what its cache holds, in order.

    Among the visits that are paid for, the cheapest dispatches are dealt out in the order of the
    CPUs; what evicts stays on its CPU, with a fragment of its own, named by ``names``.
    """
    demand, placement = step.demand, step.placement
    leaves = Leaves.DIRTY if windows.exit else Leaves.CLEAN
    costs = dict(zip(demand.fragments, demand.entries, strict=True))
    paid: defaultdict[int, int] = defaultdict(int)

    def opener(fragment: int, cost: int) -> Task:
        return Task(id="opener", df=str(fragment), lines=cost, leaves=leaves)

    found = []
    for cpu, order in enumerate(step.orders):
        own = costs_of_evicting(step, cpu)
        # Where the cache is free and no visit is spared, the dearest that evicts comes first.
        evicting = [
            Task(id="evicts", df=f"evicts {cpu}.{next(names)}", lines=cost, leaves=leaves)
            for cost in sorted(own, reverse=True)
        ]
        visits = []
        for place, fragment in enumerate(order):
            if place == 0 and placement.spared[cpu]:
                visits.append(opener(fragment, 10**9 if states[cpu] == FREE else 0))
            else:
                listed = costs[fragment]
                visits.append(opener(fragment, listed[min(paid[fragment], len(listed) - 1)]))
                paid[fragment] += 1
        cut = int(placement.spared[cpu])
        found.append([*visits[:cut], *evicting, *visits[cut:]])
    return found


def costs_of_evicting(step: Step, cpu: int) -> tuple[int, ...]:
    """Return the entry costs of what evicts on a CPU."""
    return step.demand.fixed[cpu] if step.demand.fixed else ()


def costs_of_steps(
    steps: Sequence[Step], windows: WindowedRuns, model: CostModel
) -> Iterator[list[int]]:
    """Yield what each CPU pays in each window, dispatch by dispatch."""
    penalty = PenaltyF(read_line=1, write_back=windows.exit)
    states: list[State] = [EMPTY if model.cold_start else FREE] * windows.cpus
    names = count()
    for number, step in enumerate(steps):
        for cpu in windows.freed.get(number, ()):
            states[cpu] = FREE
        costs = []
        for cpu, sequence in enumerate(sequences(step, windows, states, names)):
            cost = 0
            for task in sequence:
                cost += first_cost(penalty, states[cpu], task)
                states[cpu] = task
            if model.final_write_back and number == len(steps) - 1:
                cost += left_cost(penalty, states[cpu])
            costs.append(cost)
        yield costs
