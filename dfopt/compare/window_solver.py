"""One order-free window, solved as an instance: a good schedule, and what none can cost less than.

A window is given in a form that does not depend on the names of fragments and CPUs, so that equal
windows are solved once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, groupby, islice, takewhile
from operator import attrgetter
from random import Random
from typing import NamedTuple, TypeVar

from dfopt.costs.cheap_bounds import cheap_bound
from dfopt.costs.task_types import task_types
from dfopt.problem.cache import CacheState, InitialState, Leaves
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import Penalty, PenaltyF, PenaltyG, PenaltyMatrix
from dfopt.problem.result import StopReason
from dfopt.problem.schedule import combined_cost, order_cost
from dfopt.solvers import parts, solve
from dfopt.solvers.exhaustive import solve_exhaustively
from dfopt.solvers.heuristics import first_schedule
from dfopt.solvers.heuristics.best_insertion import insert_all
from dfopt.solvers.heuristics.constructive import construct
from dfopt.solvers.heuristics.contents import Contents, PartCosts
from dfopt.solvers.matrix import bound_by_flow
from dfopt.solvers.search import Search, SearchOver
from dfopt.structs import replace
from dfopt.trace.trace import LEAVES

CONSTRUCTIONS = 4
"""At most this number of schedules are constructed for a window."""

SHORT_WALKS = 0.001
"""The effort of a local search under a matrix: some milliseconds."""

TINY = 6
"""Windows of at most 6 dispatches are solved to the end within milliseconds."""

SECONDS_PER_WINDOW = 1.0
"""Seconds that the solvers may search for the best schedule of one window."""

MOST_REMEMBERED = 20_000
"""At most 20,000 windows are remembered at once."""

MOST_VISITS = 100
"""Of at most 100 fragments that a CPU runs it is found out whether each may come last."""

LARGEST_SIZES = 2**60
"""No sizes of tasks add up to more."""

UNKNOWN, EMPTY, OTHER = -1, -2, -3
"""In place of a fragment: nothing is known about a cache, it is empty, or it holds another one."""

Kinds = tuple[tuple[int, int, int], ...]
"""Like dispatches: what they pay for entering, the state they leave (an index), their number."""


Found = TypeVar("Found")


class HeldFragment(NamedTuple):
    """The content of a cache: a fragment, and the state in which it was left."""

    fragment: int
    leaves: int = 0


class WindowCpu(NamedTuple):
    """What a CPU holds when a window begins, and the dispatches that evict there."""

    held: HeldFragment
    evicting: Kinds

    def tasks(self, cpu: int) -> list[Task]:
        """Return what evicts, each with a fragment of its own, the most expensive one first."""
        return [
            Task(id=name, df=name, lines=entry, leaves=LEAVES[leaves])
            for number, (entry, leaves, count) in enumerate(reversed(self.evicting))
            for name in (f"evicts {cpu} {number} {copy}" for copy in range(count))
        ]


class WindowTasks(NamedTuple):
    """The dispatches of a window and its CPUs, both in an order that names do not matter for.

    Parameters
    ----------
    fragments
        The dispatches of each fragment. Under a matrix caches may hold further ones.
    types
        The names of the fragments under a matrix; else empty.
    cpus
        The CPUs.
    capacity
        A CPU runs at most this number of dispatches, evicting ones not counted.
    is_final
        Whether everything is written back in the end.
    """

    fragments: tuple[Kinds, ...]
    types: tuple[str, ...]
    cpus: tuple[WindowCpu, ...]
    capacity: int
    is_final: bool

    def tasks(self) -> tuple[Task, ...]:
        """Return the dispatches, those that evict left out."""
        return tuple(
            Task(
                id=f"{fragment} {number}",
                df=str(fragment),
                type=self.types[fragment] if self.types else None,
                lines=entry,
                leaves=LEAVES[leaves],
                count=count,
            )
            for fragment, kinds in enumerate(self.fragments)
            for number, (entry, leaves, count) in enumerate(kinds)
        )

    def state(self, held: HeldFragment) -> InitialState:
        """Return what a cache holds as a state of an instance."""
        if held.fragment == EMPTY:
            return None
        if held.fragment == UNKNOWN:
            return "unknown"
        return CacheState(
            df=str(held.fragment),
            type=self.types[held.fragment] if self.types else None,
            leaves=LEAVES[held.leaves],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowSchedule:
    """A schedule of a window.

    Parameters
    ----------
    costs
        The cost of each CPU.
    lower_bound
        No schedule costs less.
    is_closed
        Whether this one costs no more than that.
    ends
        For each CPU the fragments that may come last at the same cost, with the states in which
        they are left; none if it holds what it held. Empty if nobody asks.
    """

    costs: tuple[int, ...]
    lower_bound: int
    is_closed: bool
    ends: tuple[dict[int, int], ...]


@dataclass(kw_only=True, eq=False)
class WindowSolver:
    """Finds good schedules of windows, and lower bounds.

    Parameters
    ----------
    objective
        What is minimised.
    write_back
        The cost of a fragment that is not left clean.
    matrix
        The penalty if it is a matrix; else entering and writing back are what costs.
    seconds
        Seconds that solvers may search for what constructions leave open, all together.
    thorough
        Whether windows that are not tiny are solved to the end.
    rolling
        Whether schedules say what caches hold at their ends.
    """

    objective: Objective
    write_back: int
    matrix: PenaltyMatrix | None
    seconds: float
    thorough: bool
    rolling: bool

    def __post_init__(self) -> None:
        self.solve = lru_cache(MOST_REMEMBERED)(self._solved)

    def _solved(self, window: WindowTasks) -> WindowSchedule:
        """Return a schedule and a bound of a window that has not been seen before."""
        instance = self._instance(window)
        if any(cpu.evicting for cpu in window.cpus):
            return self._beside_evicting(window, instance)
        search = Search(instance)
        if self.matrix is not None:
            with suppress(SearchOver):
                bound_by_flow(search)
                first_schedule.improve(search, SHORT_WALKS)
        else:
            bound = cheap_bound(instance, search.types)
            if bound.certificate is not None:
                search.proved(bound.value, bound.certificate)
            # Packing knows fragments on CPUs that all begin alike, and is faster there.
            is_free = all(cpu.held.fragment == UNKNOWN for cpu in window.cpus)
            if is_free and parts.counts_parts(instance):
                with suppress(SearchOver):
                    parts.pack(search)
            if search.schedule is None:
                contents = best_of(
                    dealt(search), attrgetter("costs"), instance.objective, bound.value
                )
                if combined_cost(instance.objective, contents.costs) <= bound.value:
                    orders = _tasks(search, contents.orders()) if self.rolling else []
                    return self._schedule(window, instance, contents.costs, bound.value, orders)
                search.found(contents.orders())
        if not search.is_closed:
            self._close(search)
        assert search.schedule is not None
        costs = [cpu.cost for cpu in search.schedule.cpus]
        orders = _tasks(search, search.orders_of(search.schedule))
        return self._schedule(window, instance, costs, search.lower_bound, orders)

    def _beside_evicting(self, window: WindowTasks, instance: Instance) -> WindowSchedule:
        """Return a constructed schedule, with the dispatches that evict where they ran."""
        bounded = with_evicting_anywhere(instance, window)
        bound = cheap_bound(bounded, task_types(bounded)).value
        search = Search(instance)

        def completed(contents: Contents) -> list[list[Task]]:
            return [
                with_evicting(instance, cpu, order, window.cpus[cpu].tasks(cpu))
                for cpu, order in enumerate(_tasks(search, contents.orders()))
            ]

        def costs(orders: Sequence[Sequence[Task]]) -> list[int]:
            return [order_cost(instance, cpu, order) for cpu, order in enumerate(orders)]

        orders = best_of(map(completed, dealt(search)), costs, instance.objective, bound)
        return self._schedule(window, instance, costs(orders), bound, orders)

    def _schedule(
        self,
        window: WindowTasks,
        instance: Instance,
        costs: Sequence[int],
        bound: int,
        orders: Sequence[Sequence[Task]],
    ) -> WindowSchedule:
        ends = [dict(_ends(instance, *order)) for order in enumerate(orders) if self.rolling]
        # Of CPUs that begin alike, the first one pays least.
        cpus = sorted(range(instance.cpus), key=lambda cpu: (window.cpus[cpu], costs[cpu]))
        return WindowSchedule(
            costs=tuple([costs[cpu] for cpu in cpus]),
            lower_bound=bound,
            is_closed=combined_cost(instance.objective, costs) <= bound,
            ends=tuple([ends[cpu] for cpu in cpus]) if self.rolling else (),
        )

    def _close(self, search: Search) -> None:
        """Let solvers look for better schedules and bounds, as far as there is time."""
        is_tiny = search.instance.task_count <= TINY
        if self.seconds <= 0 and not is_tiny:
            return
        began = time.monotonic()
        if parts.counts_parts(search.instance):
            with suppress(SearchOver):
                parts.pack(search)
                parts.prove(search)
        if is_tiny and not search.is_closed:
            with suppress(SearchOver):
                inserted = insert_all(search)
                if inserted is not None:
                    search.found(inserted)
                solve_exhaustively(search)
        elif self.thorough and not search.is_closed:
            seconds = min(SECONDS_PER_WINDOW, self.seconds)
            result = solve(search.instance, time_limit=seconds, workers=1)
            if result.stop_reason is StopReason.INTERRUPT:
                raise KeyboardInterrupt
            assert result.schedule is not None
            search.found(search.orders_of(result.schedule))
            if result.lower_bound and result.certificate is not None:
                search.proved(result.lower_bound, result.certificate)
        # Only searches use up the time, so the results hardly depend on how busy the machine is.
        self.seconds -= time.monotonic() - began

    def _instance(self, window: WindowTasks) -> Instance:
        """Return the instance whose schedules are those of a window without what evicts."""
        is_cold = any(cpu.held.fragment == EMPTY for cpu in window.cpus)
        return Instance(
            cpus=len(window.cpus),
            penalty=self._penalty(window, is_cold=is_cold),
            capacity=window.capacity,
            objective=self.objective,
            initial=tuple([window.state(cpu.held) for cpu in window.cpus]),
            cold_start=is_cold,
            final_write_back=window.is_final,
            tasks=window.tasks(),
        )

    def _penalty(self, window: WindowTasks, *, is_cold: bool) -> Penalty:
        if self.matrix is not None:
            return replace(
                self.matrix,
                start=self.matrix.start if is_cold else None,
                finish=self.matrix.finish if window.is_final else None,
            )
        # Where every change of fragment costs the same, the penalty is g, for which more is known.
        evicting = (cpu.evicting for cpu in window.cpus)
        kinds = {(entry, leaves) for entry, leaves, _ in chain(*window.fragments, *evicting)}
        left = {cpu.held.leaves for cpu in window.cpus if cpu.held.fragment not in (UNKNOWN, EMPTY)}
        left |= {leaves for _, leaves in kinds}
        if len(kinds) == len(left) == 1 and LEAVES[max(left)] is not Leaves.INVALIDATED:
            ((entry, leaves),) = kinds
            leaving = self.write_back if LEAVES[leaves] is Leaves.DIRTY else 0
            if not leaving or not (is_cold or window.is_final):
                return PenaltyG(fill=entry + leaving, write_back=0)
        # Entry costs have no common factor, so a line costs 1.
        return PenaltyF(read_line=1, write_back=self.write_back)


def dealt(search: Search) -> Iterator[Contents]:
    """Yield a few constructed schedules."""
    return islice(construct(search, PartCosts(search.form), Random(search.seed)), CONSTRUCTIONS)


def best_of(
    found: Iterable[Found],
    costs: Callable[[Found], Sequence[int]],
    objective: Objective,
    bound: int,
) -> Found:
    """Return the best schedule, or the first one that attains the bound."""
    best, least = None, 0
    for one in found:
        cost = combined_cost(objective, costs(one))
        if best is None or cost < least:
            best, least = one, cost
        if least <= bound:
            break
    assert best is not None, "there is a schedule"
    return best


def with_evicting_anywhere(instance: Instance, window: WindowTasks) -> Instance:
    """Return an instance that bounds a window in which some dispatches evict.

    Here they may run on any CPU, which is more than they may do. Each has a fragment of its own
    and takes so little room that all of them fit beside ``capacity`` other dispatches.
    """
    evicting = [task for cpu, one in enumerate(window.cpus) for task in one.tasks(cpu)]
    count = max(1, instance.task_count)
    size = min(len(evicting) * count, LARGEST_SIZES // count)
    return replace(
        instance,
        capacity=window.capacity * size + len(evicting),
        tasks=(*(replace(task, size=size) for task in instance.tasks), *evicting),
    )


def with_evicting(
    instance: Instance, cpu: int, order: list[Task], evicting: list[Task]
) -> list[Task]:
    """Return an order of a CPU with its dispatches that evict, put where they cost least.

    Between two fragments they cost no more than they do by themselves.
    """
    first = sum(1 for _ in takewhile(lambda task: task.df == order[0].df, order))
    return min(
        ([*order[:place], *evicting, *order[place:]] for place in (first, 0, len(order))),
        key=lambda tasks: order_cost(instance, cpu, tasks),
    )


def _tasks(search: Search, orders: Sequence[Sequence[int]]) -> list[list[Task]]:
    """Return orders of tasks for orders of their types."""
    return [[search.types[number].example for number in order] for order in orders]


def _ends(instance: Instance, cpu: int, order: Sequence[Task]) -> Iterator[tuple[int, int]]:
    """Yield the fragments that may come last at the same cost, and how they are left."""
    # Of the dispatches of a visit, only the first and the last one matter.
    runs = [list(run) for _, run in groupby(order, lambda task: task.df)]
    visits = [run if len(run) == 1 else [run[0], run[-1]] for run in runs]
    # Under a matrix fragments that end alike now may differ much in what follows them.
    is_matrix = isinstance(instance.penalty, PenaltyMatrix)
    places = range(len(visits)) if len(visits) <= MOST_VISITS and not is_matrix else ()
    least = order_cost(instance, cpu, [*chain(*visits)])
    moved = ([*visits[:place], *visits[place + 1 :], visits[place]] for place in places)
    for one in chain([visits] if visits else [], moved):
        if order_cost(instance, cpu, [*chain(*one)]) == least:
            last = one[-1][-1]
            yield (
                int(str(last.df)) if str(last.df).isdecimal() else OTHER,
                LEAVES.index(last.leaves),
            )
