"""Plans for the clairvoyant policy: a window of threads is put on CPUs at the least penalty.

A window of threads is a window as :mod:`dfopt.compare.windows` solves them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING, Literal

from dfopt.problem.penalties import PenaltyF, PenaltyMatrix
from dfopt.simulate.run_queue.workload import CLEAN, UNMANAGED

if TYPE_CHECKING:
    from dfopt.compare.cost_model import TypeCosts
    from dfopt.compare.windows.window import Cache, DispatchClass
    from dfopt.problem.penalties import Penalty

BurstClass = tuple[int, int, int]
"""Fragment, entry cost and leave state: dispatches that no penalty tells apart."""

CacheContent = tuple[int, int]
"""The fragment that a cache holds, and the state it was left in."""

Plan = tuple[tuple[BurstClass, ...], ...]
"""By CPU: the classes of its dispatches, in order."""


class Plans:
    """Plans windows; equal windows are planned once.

    Parameters
    ----------
    penalty
        The costs of switches.
    fragments
        Names of the fragments, which are types of a matrix.
    cold_start
        Whether the first fragment on a CPU is paid for.
    capacity
        At most this number of dispatches runs on one CPU, as in
        :class:`~dfopt.problem.instance.Instance`.
    effort
        Length of the local search in windows that quick methods leave open, as a share of a
        whole one.
    seconds
        Seconds that the solvers may take for one window; 0: they are not asked.
    """

    def __init__(  # noqa: PLR0913 - options, all by keyword
        self,
        penalty: Penalty,
        fragments: Sequence[str],
        *,
        cold_start: bool,
        capacity: Literal["balanced", "unlimited"],
        effort: float,
        seconds: float,
    ) -> None:
        # Loaded at the first plan, like the solvers, because loading takes long.
        from dfopt.compare.windows.window_solver import WindowSolver

        self._penalty = penalty
        self._types = _types(penalty, fragments)
        self._write_back = penalty.write_back if isinstance(penalty, PenaltyF) else 0
        self._cold_start = cold_start
        self._capacity = capacity
        self._solver = WindowSolver(
            leaves_differ=self._write_back > 0,
            types=self._types,
            seconds=inf if seconds else 0,
            thorough=bool(seconds),
            effort=effort,
            seconds_per_window=seconds,
        )

    @property
    def solved(self) -> int:
        """The number of different windows so far."""
        return self._solver.solved

    def burst_class(self, fragment: int, lines: int, leaves: int) -> BurstClass:
        """Return the class of a dispatch, without the values that do not change the penalty."""
        match self._penalty:
            case PenaltyMatrix():
                return fragment, 0, CLEAN
            case PenaltyF(read_line=read_line):
                return fragment, lines * read_line, leaves if self._write_back else CLEAN
            case penalty:
                return fragment, penalty.fill + penalty.write_back, CLEAN

    def plan(
        self,
        contents: Sequence[CacheContent],
        is_busy: Sequence[bool],
        counts: dict[BurstClass, int],
    ) -> Plan:
        """Return for each CPU the classes of its dispatches, in order.

        Parameters
        ----------
        contents
            By CPU: the content of its cache.
        is_busy
            By CPU: whether it has to end something first. Among CPUs with the same content, the
            others run most.
        counts
            The number of dispatches of each class.
        """
        from dfopt.compare.windows.window import DispatchClass, WindowProblem

        # Among fragments that are alike, the one with the longest waiting threads comes first.
        waiting = list(dict.fromkeys(fragment for fragment, _, _ in counts))
        own: dict[int, list[DispatchClass]] = {
            fragment: [] for fragment in (waiting if self._types is None else sorted(waiting))
        }
        for (fragment, entry, leaves), count in sorted(counts.items()):
            own[fragment].append(DispatchClass(entry, leaves, count))
        fragments = list(own)
        states = [self._state(held, left, fragments) for held, left in contents]

        alike = {content: cpu for cpu, content in reversed(list(enumerate(contents)))}

        def rank(cpu: int) -> tuple[object, ...]:
            """Return the sort key of a CPU, first without the names of fragments."""
            held, left = states[cpu]
            is_used = self._types is None and held >= 0
            classes = own[fragments[held]] if is_used else []
            # A CPU that runs something comes first: idle CPUs keep the content of their caches for
            # threads that come back.
            return classes, left, held, not is_busy[cpu], alike[contents[cpu]]

        # CPUs that begin alike stand together, so that equal windows are recognised.
        cpus = sorted(range(len(states)), key=rank)
        total = sum(counts.values())
        window = WindowProblem(
            capacity=total if self._capacity == "unlimited" else -(-total // len(cpus)),
            fragments=tuple(tuple(classes) for classes in own.values()),
            states=tuple(states[cpu] for cpu in cpus),
            write_back=self._write_back,
            types=() if self._types is None else tuple(fragments),
        )
        solved = self._solver.solve(window, (0,) * len(cpus))
        classes = [
            (fragments[fragment], entry, leaves)
            for fragment in solved.fragments
            for entry, leaves, _ in window.fragments[fragment]
        ]
        found: list[tuple[BurstClass, ...]] = [()] * len(cpus)
        for number, order in zip(solved.cpus, solved.schedule.orders(), strict=True):
            found[number] = tuple([classes[own_class] for own_class in order])
        # Among CPUs with the same content, the idle ones run most.
        places = range(len(cpus))
        group = [alike[contents[cpu]] for cpu in cpus]
        idle_first = sorted(places, key=lambda place: (group[place], is_busy[cpus[place]]))
        most_first = sorted(places, key=lambda place: (group[place], -len(found[place])))
        parts: list[tuple[BurstClass, ...]] = [()] * len(cpus)
        for place, other in zip(idle_first, most_first, strict=True):
            parts[cpus[place]] = found[other]
        return tuple(parts)

    def _state(self, held: int, left: int, fragments: Sequence[int]) -> Cache:
        """Return the content of a cache, with the window's numbers of fragments."""
        from dfopt.compare.windows.window import EMPTY, FOREIGN, UNKNOWN, Cache

        if held == UNMANAGED:
            return EMPTY if self._cold_start else UNKNOWN
        if self._types is not None:
            return Cache(held)
        number = fragments.index(held) if held in fragments else FOREIGN
        return Cache(number, left if self._write_back else CLEAN)


def _types(penalty: Penalty, fragments: Sequence[str]) -> TypeCosts | None:
    """Return the costs between fragments that are types of a matrix."""
    from dfopt.compare.cost_model import TypeCosts

    if not isinstance(penalty, PenaltyMatrix):
        return None
    types = [penalty.types.index(name) for name in fragments]
    start = penalty.start or (0,) * len(penalty.types)
    return TypeCosts(
        switch=tuple(tuple(penalty.switch[before][after] for after in types) for before in types),
        start=tuple(start[task_type] for task_type in types),
        finish=(0,) * len(types),
    )
