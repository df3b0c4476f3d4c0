"""The order-free windows of a trace: what their dispatches cost at least, in any order and place.

Windows that differ only in the names of fragments and CPUs are one window, which is solved once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from dfopt.compare.cost_model import CostModel
from dfopt.compare.dispatches import Dispatches, Rows
from dfopt.compare.window_solver import (
    EMPTY,
    OTHER,
    UNKNOWN,
    HeldFragment,
    Kinds,
    WindowCpu,
    WindowSolver,
    WindowTasks,
)
from dfopt.errors import MethodError
from dfopt.problem.instance import Objective
from dfopt.problem.penalties import PenaltyF, PenaltyMatrix

WindowFigure = Literal["rolling", "bound", "balanced"]
"""What is wanted of windows: a rolling schedule, bounds, or those where all CPUs run as much."""

FEW_WINDOWS, FEW_UNDER_A_MATRIX = 10, 100
"""With at most 10 windows it is worth its time to have each solved to the end; under a matrix,
where that mostly takes milliseconds, with at most 100."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowPart:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowCosts:
    """The cost of each CPU in all windows, the sum of bounds, the number of windows closed."""

    costs: tuple[int, ...]
    bound: int
    closed: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
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
        Seconds that solvers may search.
    """

    key: tuple[int, WindowFigure]
    dispatches: Dispatches
    starts: Rows
    model: CostModel
    types: tuple[str, ...]
    seconds: float

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
        rolling = self.key[1] == "rolling"
        matrix = model.penalty if isinstance(model.penalty, PenaltyMatrix) else None
        solver = WindowSolver(
            objective=model.objective if count == 1 else Objective.TOTAL_PENALTY,
            write_back=model.penalty.write_back if isinstance(model.penalty, PenaltyF) else 0,
            matrix=matrix,
            seconds=self.seconds,
            thorough=count <= (FEW_WINDOWS if matrix is None else FEW_UNDER_A_MATRIX),
            rolling=rolling,
        )
        cpus = range(self.dispatches.cpus)
        paid = [0 for _ in cpus]
        bound = closed = 0
        states = [HeldFragment(EMPTY if model.cold_start else UNKNOWN) for _ in cpus]
        for number, part in enumerate(window_parts(self.dispatches, self.starts)):
            for cpu in part.unknown if rolling or not number else cpus:
                states[cpu] = HeldFragment(UNKNOWN)
            is_final = model.final_write_back and number == count - 1
            window, fragments, places = self._canonical(part, states, paid, is_final=is_final)
            schedule = solver.solve(window)
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
            capacity=max(1, min(count, self._capacity(part.load, count))),
            is_final=is_final,
        )
        return window, fragments, places

    def _capacity(self, load: int, count: int) -> int:
        """Return how many of ``count`` dispatches a CPU may run at most."""
        wanted = "balanced" if self.key[1] == "balanced" else self.model.capacity
        match wanted:
            case "observed":
                return load
            case "balanced":
                return -(-count // self.dispatches.cpus)
            case "unlimited":
                return count
        return int(wanted)


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
