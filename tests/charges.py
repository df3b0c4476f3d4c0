"""What single switches cost by definition, and orders by a table."""

from collections.abc import Sequence
from itertools import pairwise

from dfopt.problem.cache import LEAVES, Cache, CacheState, DataUse, Leaves
from dfopt.problem.cost_table import CostTable
from dfopt.problem.instance import Instance, Task
from dfopt.problem.penalties import Penalty, PenaltyMatrix


def use_of(penalty: Penalty, of: Task | CacheState) -> DataUse:
    fragment = penalty.number_of(of.type) if isinstance(penalty, PenaltyMatrix) else of.df
    lines = of.lines or 0 if isinstance(of, Task) else 0
    return DataUse(fragment, LEAVES.index(Leaves(of.leaves)), lines)


def switch_cost(penalty: Penalty, before: Task | CacheState, after: Task) -> int:
    return Cache(penalty).hold(use_of(penalty, before)).enter(use_of(penalty, after))


def start_cost(instance: Instance, cpu: int, first: Task) -> int:
    return instance.cache(cpu).enter(instance.use(first))


def finish_cost(instance: Instance, last: Task) -> int:
    return instance.cache(0).hold(instance.use(last)).finish()


def table_cost(table: CostTable, cpu: int, order: Sequence[int]) -> int:
    """Return F(w) of an order of tasks by a table of costs, without waits."""
    if not order:
        return table.idle[cpu]
    cost = table.start[cpu][order[0]] + table.finish[order[-1]]
    cost += sum(table.switch[before][after] for before, after in pairwise(order))
    return cost + sum(table.exec[task] for task in order)
