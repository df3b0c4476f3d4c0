"""The cheapest way to run a window of threads, remembered: windows repeat."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from dfopt.problem.cache_state import CacheState
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyF, PenaltyG, PenaltyMatrix
from dfopt.simulate.run_queue.program import CLEAN, UNMANAGED

if TYPE_CHECKING:
    from dfopt.problem.penalties import Penalty
    from dfopt.problem.schedule import Schedule

TINY = 6
"""Up to so many dispatches everything is tried, within milliseconds."""

Kind = tuple[int, int, int]
"""Fragment, lines and how it is left: dispatches that no penalty tells apart."""

State = tuple[int, int]
"""What a cache holds, and how it was left."""

Plan = tuple[tuple[Kind, ...], ...]
"""By CPU: the kinds of dispatches, in order."""


class Plans:
    """Plans windows, equal ones once.

    Parameters
    ----------
    penalty
        What switches cost.
    fragments
        Names of the fragments, which are types of a matrix.
    cold_start
        Whether the first fragment on a CPU is paid for.
    capacity
        Most dispatches on one CPU, as in :class:`~dfopt.problem.instance.Instance`.
    effort
        Of a whole local search, for windows that are not tiny.
    seconds
        How long the solvers may take for one window; 0: as long as the effort asks for.
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
        # Loaded when somebody plans, like the solvers: it takes a while.
        from dfopt.trace.trace import LEAVES

        if isinstance(penalty, PenaltyMatrix):
            # What does not count is left out: instances warn of it.
            penalty = replace(penalty, start=penalty.start if cold_start else None, finish=None)
        self._penalty = penalty
        self._fragments = fragments
        self._leaves = LEAVES
        self._cold_start = cold_start
        self._capacity = capacity
        self._effort = effort
        self._seconds = seconds
        self._is_matrix = isinstance(penalty, PenaltyMatrix)
        self._tells_lines = isinstance(penalty, PenaltyF)
        self._known: dict[tuple[tuple[State, ...], tuple[tuple[Kind, int], ...]], Plan] = {}

    @property
    def solved(self) -> int:
        """How many windows differed."""
        return len(self._known)

    def kind(self, fragment: int, lines: int, leaves: int) -> Kind:
        """Return the kind of a dispatch; what the penalty does not see is left out."""
        return (fragment, lines, leaves) if self._tells_lines else (fragment, 0, CLEAN)

    def plan(
        self, states: Sequence[State], is_busy: Sequence[bool], counts: dict[Kind, int]
    ) -> Plan:
        """Return for each CPU what it runs, in order.

        Parameters
        ----------
        states
            By CPU: what its cache holds.
        is_busy
            By CPU: whether it has to end something first; of CPUs whose caches hold the same,
            those that have not run most.
        counts
            How many dispatches there are of each kind.
        """
        if not self._tells_lines:
            states = [(held, CLEAN) for held, _ in states]
        names = self._canonical(states, counts)
        new = {old: number for number, old in enumerate(names)}
        states = [(new.get(held, held), left) for held, left in states]
        cpus = sorted(range(len(states)), key=lambda cpu: (states[cpu], is_busy[cpu]))
        renamed = [
            ((new[fragment], lines, leaves), count)
            for (fragment, lines, leaves), count in counts.items()
        ]
        window = (tuple([states[cpu] for cpu in cpus]), tuple(sorted(renamed)))
        known = self._known.get(window)
        if known is None:
            known = self._known[window] = self._solved(*window)
        parts: list[tuple[Kind, ...]] = [()] * len(cpus)
        for cpu, part in zip(cpus, known, strict=True):
            parts[cpu] = tuple(
                [(names[fragment], lines, leaves) for fragment, lines, leaves in part]
            )
        return tuple(parts)

    def _canonical(self, states: Sequence[State], counts: dict[Kind, int]) -> Sequence[int]:
        """Return the fragments in an order that depends on their numbers under a matrix alone."""
        if self._is_matrix:
            return range(len(self._fragments))
        told: dict[int, tuple[list[tuple[int, ...]], list[int]]] = {}
        for (fragment, lines, leaves), count in counts.items():
            told.setdefault(fragment, ([], []))[0].append((lines, leaves, count))
        for held, left in states:
            if held != UNMANAGED:
                told.setdefault(held, ([], []))[1].append(left)
        for dispatches, holders in told.values():
            dispatches.sort()
            holders.sort()
        return sorted(told, key=told.__getitem__)

    def _solved(self, states: Sequence[State], counts: Sequence[tuple[Kind, int]]) -> Plan:
        instance = Instance(
            cpus=len(states),
            penalty=self._penalty,
            capacity=self._capacity,
            objective=Objective.TOTAL_PENALTY,
            initial=tuple(self._cache(*state) for state in states),
            cold_start=self._cold_start,
            tasks=tuple(
                self._task(str(number), kind, count) for number, (kind, count) in enumerate(counts)
            ),
        )
        schedule = _best(instance, self._effort, self._seconds)
        found = [
            (state, tuple([counts[int(name.partition("#")[0])][0] for name in cpu.tasks]))
            for state, cpu in zip(states, schedule.cpus, strict=True)
        ]
        # Of CPUs in the same state, which stand together, the first run most.
        return tuple([part for _, part in sorted(found, key=lambda one: (one[0], -len(one[1])))])

    def _cache(self, held: int, left: int) -> CacheState | None:
        if held == UNMANAGED:
            return None
        if isinstance(self._penalty, PenaltyMatrix):
            return CacheState(type=self._fragments[held])
        return CacheState(df=str(held), leaves=self._leaves[left])

    def _task(self, name: str, kind: Kind, count: int) -> Task:
        fragment, lines, leaves = kind
        if isinstance(self._penalty, PenaltyMatrix):
            return Task(id=name, type=self._fragments[fragment], count=count)
        return Task(
            id=name, df=str(fragment), lines=lines, leaves=self._leaves[leaves], count=count
        )


def _best(instance: Instance, effort: float, seconds: float) -> Schedule:
    """Return the best schedule that can be found with so much effort; one thread, one seed."""
    # Loaded when somebody plans; other policies need no solvers.
    from dfopt.bounds import cheap_bound
    from dfopt.problem.stop import TimeLimit
    from dfopt.solvers import first_schedule, parts
    from dfopt.solvers.exhaustive import solve_exhaustively
    from dfopt.solvers.search import Search, SearchOver

    search = Search(instance, stop=TimeLimit(seconds) if seconds else None)
    bound = cheap_bound(instance, search.types)
    if bound.certificate is not None:
        search.proved(bound.value, bound.certificate)
    if isinstance(instance.penalty, PenaltyG):
        with suppress(SearchOver):
            parts.pack(search)
    with suppress(SearchOver):
        # There is a schedule before it looks at the clock.
        if not search.is_closed:
            first_schedule.improve(search, effort)
            search.check()
            if instance.task_count <= TINY:
                solve_exhaustively(search)
    schedule = search.end().schedule
    assert schedule is not None, "no window is without a schedule"
    return schedule
