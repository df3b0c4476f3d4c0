"""The order-free windows of a trace: what their dispatches cost at least, in any order and place.

Each window is an instance. Windows that differ only in the names of fragments and CPUs have the
same form, which is solved once: a good schedule, and what none can cost less than.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, groupby, islice, pairwise, takewhile
from typing import Literal, NamedTuple, TypeVar

import numpy as np

from dfopt.compare.cost_model import CostModel
from dfopt.compare.dispatches import Dispatches, Rows
from dfopt.costs.cheap_bounds import cheap_bound
from dfopt.costs.task_types import task_types
from dfopt.errors import MethodError
from dfopt.problem.cache import EMPTY, OTHER, UNKNOWN, CacheState, InitialState, Leaves
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import Penalty, PenaltyF, PenaltyG, PenaltyMatrix
from dfopt.problem.result import StopReason
from dfopt.problem.schedule import combined_cost, order_cost
from dfopt.solvers import parts, solve
from dfopt.solvers.exhaustive import solve_exhaustively
from dfopt.solvers.heuristics import first_schedule
from dfopt.solvers.heuristics.constructive import Contents, construct
from dfopt.solvers.matrix import bound_by_flow
from dfopt.solvers.search import Search, SearchOver
from dfopt.structs import Record, replace
from dfopt.trace.trace import LEAVES

WindowFigure = Literal["rolling", "bound", "balanced"]
"""What is wanted of windows: a rolling schedule, bounds, or those where all CPUs run as much."""

FEW_WINDOWS, FEW_UNDER_A_MATRIX = 10, 100
"""With at most 10 windows it is worth its time to have each solved to the end; under a matrix,
where that mostly takes milliseconds, with at most 100."""

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

Kinds = tuple[tuple[int, int, int], ...]
"""Like dispatches: what they pay for entering, the state they leave (an index), their number."""

Found = TypeVar("Found")


class WindowPart(NamedTuple):
    """The dispatches of one window of a trace.

    Parameters
    ----------
    kinds
        Fragment, CPU if it evicts, entry, state left; and the number of such dispatches.
    latest
        The row of the last dispatch of each fragment.
    load
        The largest number of managed dispatches that the trace put on one CPU.
    unknown
        CPUs of whose caches nothing is known when the window begins.
    """

    kinds: Counter[tuple[int, int, int, int]]
    latest: dict[int, int]
    load: int
    unknown: Sequence[int]


def window_parts(dispatches: Dispatches, starts: Rows) -> Iterator[WindowPart]:
    """Yield the dispatches of each window."""
    unknown: dict[int, list[int]] = {}
    numbers = np.searchsorted(dispatches.start[starts], dispatches.cuts.time)
    for index, cpu in zip(numbers.tolist(), dispatches.cuts.cpu.tolist(), strict=True):
        unknown.setdefault(index, []).append(cpu)
    fragment = dispatches.fragment.tolist()
    managed_on = np.where(dispatches.managed, dispatches.cpu, -1).tolist()
    evicting_on = np.where(dispatches.managed, -1, dispatches.cpu).tolist()
    columns = (fragment, evicting_on, dispatches.entry.tolist(), dispatches.leaves.tolist())
    kinds = list(zip(*columns, strict=True))
    for number, (first, end) in enumerate(pairwise([*starts.tolist(), len(dispatches)])):
        loads = Counter(managed_on[first:end])
        del loads[-1]
        yield WindowPart(
            kinds=Counter(kinds[first:end]),
            latest=dict(zip(fragment[first:end], range(first, end), strict=True)),
            load=max(loads.values(), default=1),
            unknown=unknown.get(number, ()),
        )


class HeldFragment(NamedTuple):
    """What a cache holds: a fragment or what stands for one, and the state it was left in."""

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


class WindowSchedule(NamedTuple):
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


class WindowCosts(Record):
    """The cost of each CPU in all windows, the sum of bounds, the number of windows closed."""

    costs: tuple[int, ...]
    bound: int
    closed: int


@dataclass(slots=True, kw_only=True, eq=False)
class WindowJob:
    """The windows of one length, solved one after the other.

    Parameters
    ----------
    key
        The number of the length, and what is wanted: bounds, balanced bounds, where no CPU may run
        more than an even share, or a rolling schedule.
    dispatches, starts
        The dispatches, and the first one of each window.
    model
        The costs.
    types
        The names of the fragments under a matrix; else empty.
    seconds
        Seconds that solvers may still search for what constructions leave open.
    """

    key: tuple[int, WindowFigure]
    dispatches: Dispatches
    starts: Rows
    model: CostModel
    types: tuple[str, ...]
    seconds: float

    @property
    def is_rolling(self) -> bool:
        """Whether it is asked what caches hold after each window."""
        return self.key[1] == "rolling"

    def perform(self) -> WindowCosts:
        """Return costs and bounds.

        Notes
        -----
        For the bounds every CPU may begin every window with any fragment in its cache. So the
        windows do not depend on each other, and the sum of their bounds is one for the trace. In
        the rolling schedule each begins with what the one before left. Under ``max-penalty`` the
        largest costs of several windows do not add up, so there the total of each counts.
        """
        model, count = self.model, len(self.starts)
        solved = lru_cache(MOST_REMEMBERED)(self._solved)
        cpus = range(self.dispatches.cpus)
        paid = [0 for _ in cpus]
        bound = closed = 0
        states = [HeldFragment(EMPTY if model.cold_start else UNKNOWN) for _ in cpus]
        for number, part in enumerate(window_parts(self.dispatches, self.starts)):
            for cpu in part.unknown if self.is_rolling or not number else cpus:
                states[cpu] = HeldFragment(UNKNOWN)
            is_final = model.final_write_back and number == count - 1
            window, fragments, places = self._canonical(part, states, paid, is_final=is_final)
            schedule = solved(window)
            bound += schedule.lower_bound
            closed += schedule.is_closed
            for cpu, cost in zip(places, schedule.costs, strict=True):
                paid[cpu] += cost
            for cpu, ends in zip(places, schedule.ends, strict=False):
                # The fragment that the trace used last is the most likely to be used next.
                used = {part.latest[fragments[end]]: end for end in ends if end >= 0}
                if used:
                    last = used[max(used)]
                    states[cpu] = HeldFragment(fragments[last], ends[last])
                elif ends:
                    states[cpu] = HeldFragment(OTHER, ends[OTHER])
        return WindowCosts(costs=tuple(paid), bound=bound, closed=closed)

    def _canonical(
        self,
        part: WindowPart,
        states: Sequence[HeldFragment],
        paid: Sequence[int],
        *,
        is_final: bool,
    ) -> tuple[WindowTasks, list[int], list[int]]:
        """Return a window in its canonical form, with its fragments and its CPUs in their order.

        Among CPUs that begin alike, the one that has paid most comes first.
        """
        by_fragment: dict[int, list[tuple[int, int, int]]] = {}
        evicting: dict[int, list[tuple[int, int, int]]] = {}
        for (fragment, cpu, entry, leaves), number in sorted(part.kinds.items()):
            group = (
                by_fragment.setdefault(fragment, []) if cpu < 0 else evicting.setdefault(cpu, [])
            )
            group.append((entry, leaves, number))
        count = sum(number for group in by_fragment.values() for _, _, number in group)
        most = {
            "observed": part.load,
            "balanced": -(-count // len(states)),
            "unlimited": count,
        }
        wanted = "balanced" if self.key[1] == "balanced" else self.model.capacity
        capacity = wanted if isinstance(wanted, int) else most[wanted]
        holders: dict[int, list[int]] = {}
        for held in states:
            if held.fragment >= 0:
                holders.setdefault(held.fragment, []).append(held.leaves)
                if self.types:
                    by_fragment.setdefault(held.fragment, [])
        kinds = {one: told_apart(group, len(states)) for one, group in by_fragment.items()}
        # Types must keep their names, while all fragments that the window does not use are alike.
        fragments = sorted(kinds)
        if not self.types:
            fragments.sort(key=lambda one: (kinds[one], sorted(holders.get(one, ()))))
        numbers = {fragment: number for number, fragment in enumerate(fragments)}
        cpus = [
            WindowCpu(
                held._replace(fragment=numbers.get(held.fragment, OTHER))
                if held.fragment >= 0
                else held,
                tuple(evicting.get(cpu, ())),
            )
            for cpu, held in enumerate(states)
        ]
        places = sorted(range(len(cpus)), key=lambda cpu: (cpus[cpu], -paid[cpu]))
        window = WindowTasks(
            fragments=tuple([kinds[one] for one in fragments]),
            types=tuple([self.types[one] for one in fragments]) if self.types else (),
            cpus=tuple([cpus[cpu] for cpu in places]),
            capacity=max(1, min(count, capacity)),
            is_final=is_final,
        )
        return window, fragments, places

    def _solved(self, window: WindowTasks) -> WindowSchedule:
        """Return a schedule and a bound of a window that has not been seen before."""
        instance = self._instance(window)
        if any(cpu.evicting for cpu in window.cpus):
            return self._beside_evicting(window, instance)
        search = Search(instance)
        if isinstance(instance.penalty, PenaltyMatrix):
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

                def cost(contents: Contents) -> int:
                    return combined_cost(instance.objective, contents.costs)

                search.found(best_of(dealt(search), cost, bound.value).orders())
        if not search.is_closed:
            self._close(search)
        assert search.schedule is not None
        orders = _tasks(search, search.orders_of(search.schedule))
        return self._schedule(window, instance, search.lower_bound, orders)

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

        orders = best_of(
            map(completed, dealt(search)),
            lambda orders: combined_cost(instance.objective, _costs(instance, orders)),
            bound,
        )
        return self._schedule(window, instance, bound, orders)

    def _schedule(
        self,
        window: WindowTasks,
        instance: Instance,
        bound: int,
        orders: Sequence[Sequence[Task]],
    ) -> WindowSchedule:
        costs = _costs(instance, orders)
        ends = [dict(_ends(instance, *order)) for order in enumerate(orders) if self.is_rolling]
        # Of CPUs that begin alike, the first one pays least.
        cpus = sorted(range(instance.cpus), key=lambda cpu: (window.cpus[cpu], costs[cpu]))
        return WindowSchedule(
            costs=tuple([costs[cpu] for cpu in cpus]),
            lower_bound=bound,
            is_closed=combined_cost(instance.objective, costs) <= bound,
            ends=tuple([ends[cpu] for cpu in cpus]) if self.is_rolling else (),
        )

    def _close(self, search: Search) -> None:
        """Let solvers look for better schedules and bounds, as far as there is time."""
        is_tiny = search.instance.task_count <= TINY
        is_matrix = isinstance(search.instance.penalty, PenaltyMatrix)
        few = FEW_UNDER_A_MATRIX if is_matrix else FEW_WINDOWS
        if self.seconds <= 0 and not is_tiny:
            return
        began = time.monotonic()
        if parts.counts_parts(search.instance):
            with suppress(SearchOver):
                parts.pack(search)
                parts.prove(search)
        if is_tiny and not search.is_closed:
            with suppress(SearchOver):
                solve_exhaustively(search)
        elif len(self.starts) <= few and not search.is_closed:
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
            objective=self.model.objective if len(self.starts) == 1 else Objective.TOTAL_PENALTY,
            initial=tuple([window.state(cpu.held) for cpu in window.cpus]),
            cold_start=is_cold,
            final_write_back=window.is_final,
            tasks=window.tasks(),
        )

    def _penalty(self, window: WindowTasks, *, is_cold: bool) -> Penalty:
        penalty = self.model.penalty
        if isinstance(penalty, PenaltyMatrix):
            return replace(
                penalty,
                start=penalty.start if is_cold else None,
                finish=penalty.finish if window.is_final else None,
            )
        write_back = penalty.write_back if isinstance(penalty, PenaltyF) else 0
        # Where every change of fragment costs the same, the penalty is g, for which more is known.
        evicting = (cpu.evicting for cpu in window.cpus)
        kinds = {(entry, leaves) for entry, leaves, _ in chain(*window.fragments, *evicting)}
        left = {cpu.held.leaves for cpu in window.cpus if cpu.held.fragment not in (UNKNOWN, EMPTY)}
        left |= {leaves for _, leaves in kinds}
        if len(kinds) == len(left) == 1 and LEAVES[max(left)] is not Leaves.INVALIDATED:
            ((entry, leaves),) = kinds
            leaving = write_back if LEAVES[leaves] is Leaves.DIRTY else 0
            if not leaving or not (is_cold or window.is_final):
                return PenaltyG(fill=entry + leaving, write_back=0)
        # Entry costs have no common factor, so a line costs 1.
        return PenaltyF(read_line=1, write_back=write_back)


def dealt(search: Search) -> Iterator[Contents]:
    """Yield a few constructed schedules."""
    return islice(construct(search), CONSTRUCTIONS)


def best_of(found: Iterator[Found], cost: Callable[[Found], int], bound: int) -> Found:
    """Return the best schedule, or the first one that attains the bound; there is at least one."""
    best = next(found)
    while cost(best) > bound and (one := next(found, None)) is not None:
        best = min(best, one, key=cost)
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


def _costs(instance: Instance, orders: Sequence[Sequence[Task]]) -> list[int]:
    """Return what CPUs pay for their orders."""
    return [order_cost(instance, cpu, order) for cpu, order in enumerate(orders)]


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


def told_apart(kinds: list[tuple[int, int, int]], cpus: int) -> Kinds:
    """Return the dispatches of a fragment, ascending, as far as they need to be told apart.

    If all leave it alike, only the first of each visit pays its entry, and a CPU need not pay for
    two visits. So as many of the cheapest entries matter as there are CPUs; the next one stands
    for all others.
    """
    if len({leaves for _, leaves, _ in kinds}) != 1:
        return tuple(kinds)
    counts: Counter[int] = Counter()
    most = 0
    for entry, _, count in kinds:
        if counts.total() <= cpus:
            most = entry
        counts[most] += count
    return tuple([(entry, kinds[0][1], count) for entry, count in counts.items()])


def check_room(dispatches: Dispatches, starts: Rows, capacity: int) -> None:
    """Refuse a capacity that leaves no room for the dispatches of some window.

    Raises
    ------
    MethodError
        With the number of the window's dispatches.
    """
    most = int(np.add.reduceat(dispatches.managed, starts, dtype=np.int64).max())
    if most > capacity * dispatches.cpus:
        raise MethodError(
            f"{dispatches.cpus} CPUs that run {capacity} dispatches each have no room for a window "
            f"of {most}; raise the capacity (`capacity`)"
        )
