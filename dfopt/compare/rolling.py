"""A real schedule: every window at its best from what the one before left in the caches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dfopt.compare.best import BestPlacements
from dfopt.compare.demand import Demand, WindowedRuns, demands
from dfopt.compare.problem import FOREIGN, FREE, Placement, WindowProblem
from dfopt.compare.rules import WindowRules, first_states


@dataclass(frozen=True, slots=True, kw_only=True)
class RollingCosts:
    """What the rolling schedule pays on each CPU, and how many windows are proven best."""

    costs: tuple[int, ...]
    closed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One window of the rolling schedule.

    Parameters
    ----------
    demand
        What was to be scheduled.
    placement
        Where it goes, in numbers of the window's fragments.
    orders
        The trace's fragments that each CPU visits, in order.
    """

    demand: Demand
    placement: Placement
    orders: tuple[tuple[int, ...], ...]


def rolling_costs(windows: WindowedRuns, rules: WindowRules, best: BestPlacements) -> RollingCosts:
    """Return what a schedule pays that looks one window ahead; see :func:`rolling_steps`."""
    costs = [0] * windows.cpus
    closed = 0
    for step in rolling_steps(windows, rules, best):
        costs = [before + paid for before, paid in zip(costs, step.placement.costs, strict=True)]
        closed += step.placement.is_closed
    return RollingCosts(costs=tuple(costs), closed=closed)


def rolling_steps(
    windows: WindowedRuns, rules: WindowRules, best: BestPlacements
) -> Iterator[Step]:
    """Yield window by window what is best from what the window before left in the caches.

    Notes
    -----
    Of the fragments that may come last on a CPU, the one comes last that the trace itself used
    last: what is in use now will likely be used next. After a gap a CPU is free again.
    """
    states = first_states(windows, rules)
    last = len(windows) - 1
    for number, demand in enumerate(demands(windows)):
        for cpu in windows.freed.get(number, ()):
            states[cpu] = FREE
        local = {fragment: place for place, fragment in enumerate(demand.fragments)}
        problem = WindowProblem(
            capacity=demand.capacity(rules.capacity, windows.cpus),
            sizes=tuple(demand.sizes),
            entries=tuple(demand.entries),
            exit=windows.exit,
            # A fragment that the window does not use is as good as any other.
            states=tuple(local.get(state, FOREIGN) if state >= 0 else state for state in states),
            fixed=demand.fixed,
            final=rules.ends_written and number == last,
            by_worst=rules.by_worst,
        )
        placement = best.of(problem)
        orders = tuple(_order(demand, placement, cpu) for cpu in range(windows.cpus))
        for cpu, order in enumerate(orders):
            states[cpu] = _state_after(demand, placement, order, cpu, states[cpu])
        yield Step(demand=demand, placement=placement, orders=orders)


def _order(demand: Demand, placement: Placement, cpu: int) -> tuple[int, ...]:
    """Return the fragments of a CPU in the order in which it runs them."""
    visits, spared = placement.visits[cpu], placement.spared[cpu]
    rest = sorted(visits[spared:], key=demand.latest.__getitem__)
    return tuple(demand.fragments[one] for one in (*visits[:spared], *rest))


def _state_after(
    demand: Demand, placement: Placement, order: tuple[int, ...], cpu: int, before: int
) -> int:
    evicts = bool(demand.fixed) and bool(demand.fixed[cpu])
    if not order:
        return FOREIGN if evicts else before
    if evicts and len(order) == 1 and placement.spared[cpu]:
        return FOREIGN
    return order[-1]
