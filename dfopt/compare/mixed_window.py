"""Windows whose dispatches leave their fragments in different states, and a bound for them.

What a visit costs then depends on which dispatches come first and last in it, so sizes are not
enough; :mod:`dfopt.compare.packing` is for the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from dfopt.compare.problem import EMPTY, FREE
from dfopt.costs.closed_form import ClosedForm, CpuStart
from dfopt.costs.task_types import task_types
from dfopt.problem.cache_state import CacheState, Leaves
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyF

Kind = tuple[int, Leaves, int]
"""Dispatches of one fragment: what each pays to enter, how it leaves the fragment, how many."""

Cache = tuple[int, Leaves]
"""What a cache holds: a fragment, or :data:`~dfopt.compare.problem.FOREIGN`, and its state."""

State = Cache | int
"""What a CPU begins with: what its cache holds, or ``FREE``, or ``EMPTY``."""


Held = tuple[dict[int, int], ...]
"""How many dispatches of which kinds each CPU runs."""


@dataclass(frozen=True, kw_only=True)
class MixedWindow:
    """The dispatches of one window under f, to be put on CPUs at the least cost.

    Parameters
    ----------
    capacity
        Most dispatches a CPU may run.
    fragments
        The kinds of dispatches of each fragment, ascending.
    write_back
        What a fragment costs that is not left clean, T_w.
    states
        What each CPU begins with.
    final
        Whether in the end every cache that was not left clean is written back.
    by_worst
        Whether the CPU that pays most counts, instead of all together.
    """

    capacity: int
    fragments: tuple[tuple[Kind, ...], ...]
    write_back: int
    states: tuple[State, ...]
    final: bool
    by_worst: bool

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many dispatches each fragment has."""
        return tuple([sum(count for *_, count in kinds) for kinds in self.fragments])

    def kinds(self) -> Iterator[tuple[int, Kind]]:
        """Yield all kinds of dispatches with their fragments; their places are their numbers."""
        for fragment, kinds in enumerate(self.fragments):
            for kind in kinds:
                yield fragment, kind

    def numbers(self, fragment: int) -> list[tuple[int, int]]:
        """Return the numbers of a fragment's kinds with how many dispatches they have."""
        before = sum(map(len, self.fragments[:fragment]))
        return [(before + place, kind[2]) for place, kind in enumerate(self.fragments[fragment])]

    def value(self, costs: Sequence[int]) -> int:
        """Return what counts of what the CPUs pay."""
        return max(costs) if self.by_worst else sum(costs)

    def idle(self, cpu: int) -> int:
        """Return what a CPU pays that runs nothing."""
        state = self.states[cpu]
        held = not isinstance(state, int) and state[1] is not Leaves.CLEAN
        return self.write_back if self.final and held else 0


def renamed(window: MixedWindow, order: list[int]) -> MixedWindow:
    """Return the same window with its fragments in another order."""
    new = {old: number for number, old in enumerate(order)}
    return replace(
        window,
        fragments=tuple([window.fragments[one] for one in order]),
        states=tuple(
            [
                state if isinstance(state, int) else (new.get(state[0], state[0]), state[1])
                for state in window.states
            ]
        ),
    )


def canonical_order(window: MixedWindow) -> list[int]:
    """Return the fragments in an order that does not depend on their names."""
    owners = [0] * len(window.fragments)
    for cpu, state in enumerate(window.states):
        if not isinstance(state, int) and state[0] >= 0:
            owners[state[0]] |= 1 << cpu
    return sorted(range(len(owners)), key=lambda one: (window.fragments[one], owners[one]))


More = tuple[tuple[int, ...], int]
"""What one more visit of a fragment needs: entries that are paid, and exits."""

NO_MORE: More = (), 0


class Needs:
    """What the fragments of a window need at least, whatever is done with the others.

    Parameters
    ----------
    window
        What is scheduled.
    order
        The fragments, in an order.

    Notes
    -----
    At least ⌈s/k⌉ CPUs visit a fragment of s dispatches. Each visit begins and ends with
    dispatches of its own; only the first one of a CPU may be spared its entry, and only the last
    one what its dispatch leaves.
    """

    def __init__(self, window: MixedWindow, order: Sequence[int]) -> None:
        self._window = window
        self._holders = Counter(one[0] for one in window.states if not isinstance(one, int))
        self._known: dict[tuple[int, int, int, More], int] = {}
        self._entries: list[tuple[int, int]] = []
        """Ascending, each with the place of its fragment in the order."""
        self._forced = [0]
        self._invalidated = [0]
        for place, fragment in enumerate(order):
            entries, closers, invalidated = self._offers(fragment)
            visits = self._visits(fragment)
            paid = entries[: max(0, visits - self._holders[fragment])]
            self._entries += ((entry, place) for entry in paid)
            self._forced.append(max(0, visits - closers))
            self._invalidated.append(invalidated)
        self._entries.sort()
        self.always = window.write_back * sum(self._invalidated)
        """What is paid for dispatches that leave their fragment invalidated."""

    def _visits(self, fragment: int) -> int:
        return -(-self._window.sizes[fragment] // self._window.capacity)

    def _offers(self, fragment: int) -> tuple[list[int], int, int]:
        """Return entries, ascending, and how many end visits for nothing or leave invalidated."""
        kinds = self._window.fragments[fragment]
        most = len(self._window.states) + 1
        return (
            [entry for entry, _, count in kinds for _ in range(min(count, most))],
            sum(count for _, left, count in kinds if left is not Leaves.DIRTY),
            sum(count for _, left, count in kinds if left is Leaves.INVALIDATED),
        )

    def more(self, fragment: int) -> More:
        """Return what a fragment needs if it is visited once more than it must."""
        entries, closers, _ = self._offers(fragment)
        visits = self._visits(fragment)
        paid = visits - self._holders[fragment]
        return tuple(entries[paid : paid + 1]) if paid >= 0 else (), int(visits >= closers)

    def least(self, place: int, free: int, lasts: int, more: More = NO_MORE) -> int:
        """Return what the fragments from a place on cost, besides what is paid always.

        Parameters
        ----------
        place
            In the order of the fragments.
        free, lasts
            How many CPUs spare a first visit its entry, and a last one what it leaves.
        more
            What they need besides.
        """
        key = place, free, lasts, more
        if key not in self._known:
            entries = [entry for entry, at in self._entries if at >= place]
            entries = sorted([*entries, *more[0]])
            writes = sum(self._forced[place + 1 :]) + more[1]
            if not self._window.final:
                # What was invalidated and comes last on its CPU is not yet written back.
                spared = min(lasts, sum(self._invalidated[place + 1 :]))
                writes = max(0, writes - (lasts - spared)) - spared
            reads = sum(entries[: max(0, len(entries) - free)])
            self._known[key] = reads + self._window.write_back * writes
        return self._known[key]


def lower_bound(window: MixedWindow, *, cut: Iterable[int] = ()) -> int:
    """Return what no schedule of a window undercuts.

    Parameters
    ----------
    window
        What is scheduled.
    cut
        If there are any: of schedules that visit one of these fragments more often than they must.
    """
    needs = Needs(window, range(len(window.fragments)))
    cpus = range(len(window.states))
    # What a CPU holds costs more, or less, where it runs something.
    tolls = sorted(_toll(window, cpu) - window.idle(cpu) for cpu in cpus)
    free = window.states.count(FREE)
    least_used = -(-sum(window.sizes) // window.capacity)
    total = needs.always + sum(map(window.idle, cpus))
    total += min(
        needs.least(0, min(free, used), used, more) + sum(tolls[:used])
        for used in range(least_used, len(cpus) + 1)
        for more in {needs.more(fragment) for fragment in cut} or {NO_MORE}
    )
    return -(-total // len(cpus)) if window.by_worst else total


def _toll(window: MixedWindow, cpu: int) -> int:
    """Return what a CPU pays at least for what it holds, if it runs something."""
    state = window.states[cpu]
    if isinstance(state, int):
        return 0
    fragment, left = state
    stays = fragment >= 0 and left is Leaves.DIRTY
    return 0 if left is Leaves.CLEAN or stays else window.write_back


def instance_of(window: MixedWindow) -> Instance:
    """Return the instance whose types of tasks are the kinds of a window, in their order.

    One CPU of which nothing is known frees all: no instance can say both, so that a schedule pays
    more than the instance says; what bounds the one bounds the other.
    """
    return Instance(
        cpus=len(window.states),
        # Entry costs are no multiples of anything, so a line costs 1.
        penalty=PenaltyF(read_line=1, write_back=window.write_back),
        capacity=window.capacity,
        objective=Objective.MAX_PENALTY if window.by_worst else Objective.TOTAL_PENALTY,
        initial=tuple(
            None if isinstance(state, int) else CacheState(df=str(state[0]), leaves=state[1])
            for state in window.states
        ),
        cold_start=EMPTY in window.states and FREE not in window.states,
        final_write_back=window.final,
        tasks=tuple(
            Task(id=str(number), df=str(fragment), lines=entry, leaves=left, count=count)
            for number, (fragment, (entry, left, count)) in enumerate(window.kinds())
        ),
    )


def form_of(window: MixedWindow, instance: Instance) -> ClosedForm:
    """Return what knows the best order of a window's kinds, from what each CPU begins with."""
    form = ClosedForm(instance, task_types(instance))
    form.starts = tuple(
        CpuStart(free_for_all=state == FREE) if isinstance(state, int) else start
        for state, start in zip(window.states, form.starts, strict=True)
    )
    return form
