"""The offline optimum, window by window."""

from __future__ import annotations

from collections import OrderedDict, deque
from itertools import islice
from typing import ClassVar, Literal

from dfopt.checks import check_integer, described
from dfopt.errors import DfoptError
from dfopt.simulate.run_queue.contract import Thread, TimeSliced, Why
from dfopt.simulate.run_queue.policies.building_blocks.window_plans import BurstClass, Plans
from dfopt.simulate.run_queue.workload import UNMANAGED, Burst


class Clairvoyant(TimeSliced):
    """Ready threads run as an offline solver, which knows their next bursts, deals them out.

    When a CPU has nothing planned left, all ready threads make up a new *window*, those that were
    planned before and have not run included. It has one dispatch for each thread, with the
    fragment, lines and state of the thread's next burst. The window is solved as
    :func:`~dfopt.compare.compare_trace` solves windows: at the least total penalty, from what the
    caches hold. Every CPU runs its part in the order that was found. Planning comes after
    everything else that happens at that moment, so that threads that become ready together are
    planned together.

    It knows more than a scheduler can: the next burst of every ready thread, before it runs. It
    does not know what becomes ready later, what depends on what, or how long bursts take. So it
    is a strong heuristic and no bound: what is cheapest for each window need not be cheapest for
    all. Large windows are solved with limited effort besides.

    Only the penalty counts: a CPU may idle while threads wait for another one, whose cache holds
    their data, and a thread may be put off as long as others are cheaper. A thread of which only
    more than the next burst tells the fragment is taken to use again what it used last; one that
    uses none costs nothing and comes first. A thread that changes to a fragment that is not in
    the cache leaves its CPU, to be planned anew. One that yields takes part in no plan before all
    threads have run that were ready at that time.

    Parameters
    ----------
    window
        At most this number of threads is planned together, those that are ready longest.
    capacity
        ``"balanced"``: each CPU runs at most its share of the window, ⌈n/m⌉ of n dispatches on m
        CPUs; ``"unlimited"``: it may run all of them.
    effort
        Length of the local search where quick methods do not prove a plan to be the best, as a
        share of a whole one.
    seconds
        Seconds that the solvers may take for one window after that; 0: they are not asked. With
        solvers, the same seed need not give the same simulation.
    time_slice
        A thread is planned anew after this time; 0: never.
    """

    name: ClassVar[str] = "clairvoyant"

    def __init__(
        self,
        window: int = 64,
        capacity: Literal["balanced", "unlimited"] = "balanced",
        effort: float = 0.01,
        seconds: float = 0.0,
        time_slice: int = 100_000_000,
    ) -> None:
        check_integer(window, "window", least=1)
        super().__init__(time_slice)
        if capacity not in {"balanced", "unlimited"}:
            raise DfoptError(
                f"must be 'balanced' or 'unlimited', not {described(capacity)}", place="capacity"
            )
        for value, place in ((effort, "effort"), (seconds, "seconds")):
            if not value >= 0:
                raise DfoptError(f"must be at least 0, not {value}", place=place)
        self.window = window
        self.capacity = capacity
        self.effort = effort
        self.seconds = seconds
        self._ready: OrderedDict[Thread, int] = OrderedDict()
        self._yielded: deque[tuple[int, Thread]] = deque()
        self._came = 0
        self._parts: list[deque[Thread]] = []
        # Whether anything became ready, or began to run, since the last plan; whether one is due.
        self._is_news = False
        self._is_due = False

    def begin(self) -> None:
        """Prepare to plan."""
        engine, scenario = self.engine, self.scenario
        self._parts = [deque() for _ in range(engine.cpus)]
        self.plans = Plans(
            scenario.penalty,
            engine.workload.fragments,
            cold_start=scenario.cold_start,
            capacity=self.capacity,
            effort=self.effort,
            seconds=self.seconds,
        )

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> None:
        """Keep it for the next plan; idle CPUs will ask for one."""
        del cpu
        self._came += 1
        self._is_news = True
        if why is Why.NEW or thread.burst is not None:
            thread.own = thread.burst
        if why is Why.YIELDED:
            self._yielded.append((self._came, thread))
        else:
            self._ready[thread] = self._came

    def pick(self, cpu: int) -> Thread | None:
        """Take the next one of this CPU's part."""
        part = self._parts[cpu]
        if not part:
            if self._is_news and (self._ready or self._yielded):
                self._ask_for_a_plan()
            return None
        thread = part.popleft()
        del self._ready[thread]
        self._is_news = True
        if self._yielded and self._is_before_all(self._yielded[0][0]):
            self._ask_for_a_plan()
        return thread

    def changes(self, thread: Thread, fragment: int, cpu: int) -> bool:
        """Leave the CPU unless its cache holds what is used next."""
        del fragment
        thread.own = thread.burst
        return thread.fragment not in (UNMANAGED, self.engine.costs.held[cpu])

    def _is_before_all(self, came: int) -> bool:
        """Whether none of the ready threads came before."""
        return not self._ready or next(iter(self._ready.values())) > came

    def _ask_for_a_plan(self) -> None:
        """Plan as soon as everything else has happened that happens now."""
        if not self._is_due:
            self._is_due = True
            self.engine.call_at(self.engine.now, self._plan)

    def _plan(self) -> None:
        """Deal the ready threads out, and tell the idle CPUs that have a part."""
        self._is_due = self._is_news = False
        while self._yielded and self._is_before_all(self._yielded[0][0]):
            came, thread = self._yielded.popleft()
            self._ready[thread] = came
            self._ready.move_to_end(thread, last=False)
        engine, plans = self.engine, self.plans
        of_class: dict[BurstClass, deque[Thread]] = {}
        loose: list[Thread] = []
        for thread in islice(self._ready, self.window):
            burst = thread.own
            if not isinstance(burst, Burst) or burst.fragment == UNMANAGED:
                loose.append(thread)
            else:
                burst_class = plans.burst_class(burst.fragment, burst.lines, burst.leaves)
                of_class.setdefault(burst_class, deque()).append(thread)
        for part in self._parts:
            part.clear()
        is_busy = [thread is not None for thread in engine.running]
        if of_class:
            states = list(zip(engine.costs.held, engine.costs.left, strict=True))
            counts = {burst_class: len(threads) for burst_class, threads in of_class.items()}
            found = plans.plan(states, is_busy, counts)
            for part, classes in zip(self._parts, found, strict=True):
                part.extend([of_class[burst_class].popleft() for burst_class in classes])
        for thread in loose:
            least = min(range(engine.cpus), key=lambda cpu: (len(self._parts[cpu]), is_busy[cpu]))
            self._parts[least].appendleft(thread)
        for cpu, part in enumerate(self._parts):
            if part:
                engine.offer(cpu)
