"""Random programs of threads, and what must be true of every simulation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from typing import Any, ClassVar

from hypothesis import strategies as st

from dfopt.problem.cache import Cache, Leaves
from dfopt.problem.instance import Task
from dfopt.problem.penalties import Penalty, PenaltyF, PenaltyG, PenaltyMatrix
from dfopt.simulate.kernel import Kernel
from dfopt.simulate.steps import (
    Acquire,
    Channel,
    Device,
    InputOutput,
    Mutex,
    Receive,
    Release,
    Send,
    Sleep,
    Spawn,
    Yield,
)
from dfopt.simulate.workload import (
    CLEAN,
    INVALIDATED,
    UNMANAGED,
    Burst,
    NewThread,
    Workload,
)
from dfopt.trace.service import service_of
from dfopt.trace.trace import LEAVES, Trace
from tests.charges import use_of

FRAGMENTS = ("a", "b", "c")
CHANNELS = 2
SAVIOUR_AT = 400
"""When a thread sends whatever may still be waited for."""

Operation = tuple[Any, ...]


@dataclass(frozen=True, kw_only=True)
class Programs:
    """A workload of threads given as lists of operations."""

    name: ClassVar[str] = "programs"

    threads: tuple[tuple[Operation, ...], ...]
    arrivals: tuple[int, ...]
    nice: tuple[int, ...]
    names: list[str] = field(default_factory=list)

    def build(self, random: Random) -> Workload:
        del random
        things = _Things()
        threads = [
            NewThread(
                name=f"t{number}",
                steps=things.steps(operations, f"t{number}"),
                kind="odd" if number % 2 else "even",
                application=number % 2,
                nice=nice,
                arrival=arrival,
            )
            for number, (operations, arrival, nice) in enumerate(
                zip(self.threads, self.arrivals, self.nice, strict=True)
            )
        ]
        saviour = NewThread(name="saviour", steps=things.rescue(), arrival=SAVIOUR_AT)
        return Workload(
            threads=(*threads, saviour), fragments=FRAGMENTS, sizes=(20,) * len(FRAGMENTS)
        )

    def executed(self) -> dict[str, int]:
        """Return how long each thread has to execute."""
        times: dict[str, int] = {"saviour": 1}
        for number, operations in enumerate(self.threads):
            _add_times(times, operations, f"t{number}")
        return times


def _add_times(times: dict[str, int], operations: Sequence[Operation], name: str) -> None:
    times[name] = 0
    children = 0
    for kind, *values in operations:
        if kind in ("burst", "locked"):
            times[name] += values[0]
        elif kind == "spawn":
            _add_times(times, values[0], f"{name}.{children}")
            children += 1


class _Things:
    """Channels, locks and devices of one simulation."""

    def __init__(self) -> None:
        self.channels = [Channel(f"channel {number}") for number in range(CHANNELS)]
        self.mutex = Mutex("the lock")
        self.disk = Device("the disk")

    def steps(self, operations: Sequence[Operation], name: str) -> Iterator[Any]:
        children = 0
        for kind, *values in operations:
            match kind:
                case "burst":
                    yield Burst(*values)
                case "locked":
                    yield Acquire(self.mutex)
                    yield Burst(*values)
                    yield Release(self.mutex)
                case "send":
                    yield Send(self.channels[values[0]], values[1])
                case "receive":
                    yield Receive(self.channels[values[0]])
                case "sleep":
                    yield Sleep(values[0])
                case "disk":
                    yield InputOutput(self.disk, values[0])
                case "yield":
                    yield Yield()
                case "spawn":
                    child = f"{name}.{children}"
                    children += 1
                    yield Spawn(NewThread(name=child, steps=self.steps(values[0], child)))

    def rescue(self) -> Iterator[Any]:
        yield Burst(1)
        for channel in self.channels:
            yield Send(channel, 1000)


BURST = st.tuples(
    st.integers(0, 20),
    st.sampled_from([UNMANAGED, 0, 1, 2]),
    st.integers(0, 9),
    st.sampled_from([CLEAN, 1, INVALIDATED]),
    st.booleans(),
)
SIMPLE = st.one_of(
    BURST.map(lambda burst: ("burst", *burst)),
    BURST.map(lambda burst: ("burst", *burst)),
    BURST.map(lambda burst: ("locked", *burst)),
    st.tuples(st.just("send"), st.integers(0, CHANNELS - 1), st.integers(1, 3)),
    st.tuples(st.just("receive"), st.integers(0, CHANNELS - 1)),
    st.tuples(st.just("sleep"), st.integers(0, 30)),
    st.tuples(st.just("disk"), st.integers(1, 30)),
    st.just(("yield",)),
)
CHILD = st.lists(SIMPLE, max_size=4).map(tuple)
OPERATIONS = st.lists(SIMPLE | st.tuples(st.just("spawn"), CHILD), max_size=8).map(tuple)


@st.composite
def programs(draw: st.DrawFn, *, most: int = 5) -> Programs:
    """Draw a workload."""
    count = draw(st.integers(1, most))
    return Programs(
        threads=tuple(draw(OPERATIONS) for _ in range(count)),
        arrivals=tuple(draw(st.integers(0, 40)) for _ in range(count)),
        nice=tuple(draw(st.sampled_from([-20, 0, 0, 5, 19])) for _ in range(count)),
    )


def penalties() -> st.SearchStrategy[Penalty]:
    """Draw a penalty for the fragments of the programs."""
    cost = st.integers(0, 9)
    size = len(FRAGMENTS)
    row = st.tuples(*[cost] * size)
    return st.one_of(
        st.builds(PenaltyF, read_line=cost, write_back=cost),
        st.builds(PenaltyG, fill=cost, write_back=cost),
        st.builds(
            PenaltyMatrix,
            types=st.just(FRAGMENTS),
            switch=st.tuples(*[row] * size),
            start=st.none() | row,
        ),
    )


def check_trace(trace: Trace) -> None:
    """Check that no CPU, and no thread, is in two places at once."""
    for key in (trace.cpu, trace.task):
        of_each: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for one, start, end in zip(key, trace.start, trace.end, strict=True):
            of_each[int(one)].append((int(start), int(end)))
        for stretches in of_each.values():
            assert all(start <= end for start, end in stretches)
            assert all(before[1] <= after[0] for before, after in pairwise(sorted(stretches)))


def check_counters(trace: Trace, kernel: Kernel) -> None:
    """Check all counters that a trace can tell against the trace."""
    counters, cpus = kernel.counters, kernel.cpus
    assert counters.dispatches == len(trace)
    rows = list(zip(trace.cpu.tolist(), trace.task.tolist(), trace.fragment.tolist(), strict=True))
    last_task: dict[int, int] = {}
    last_cpu: dict[int, int] = {}
    held: dict[int, int] = {}
    switches = migrations = fragment_switches = 0
    counts_fragments = bool((trace.fragment != UNMANAGED).any())
    for cpu, task, fragment in rows:
        switches += last_task.get(cpu, task) != task
        moved = last_cpu.get(task, cpu) != cpu
        migrations += moved and (fragment != UNMANAGED or not counts_fragments)
        last_task[cpu], last_cpu[task] = task, cpu
        if fragment != UNMANAGED:
            fragment_switches += held.get(cpu, fragment) != fragment
            held[cpu] = fragment
    assert counters.context_switches == switches
    assert counters.migrations == migrations == service_of(trace).migrations
    assert counters.fragment_switches == fragment_switches
    for cpu in range(cpus):
        own = trace.cpu == cpu
        assert counters.busy[cpu] == int((trace.end - trace.start)[own].sum())
    assert counters.executed == sum(thread.run_time for thread in kernel.threads)
    # Work is conserved: what lasted was executed, paid, spun away, or taken by interrupts.
    spent = counters.executed + sum(counters.penalties) + counters.spun + counters.interrupted
    assert sum(counters.busy) == spent
    assert min(counters.spun, counters.interrupted, counters.overhead) >= 0
    assert cpus * counters.end >= sum(counters.busy) + counters.overhead
    assert counters.end >= max(trace.end, default=0)


def paid(trace: Trace, penalty: Penalty, *, cold_start: bool) -> list[int]:
    """Return what each CPU of a trace pays, by the definition of the penalties."""
    costs = [0] * trace.cpus
    caches = [Cache(penalty, cold_start=cold_start) for _ in costs]
    assert trace.lines is not None
    assert trace.leaves is not None
    for row, cpu in enumerate(trace.cpu.tolist()):
        if trace.fragment[row] == UNMANAGED:
            continue
        name = trace.fragments[trace.fragment[row]]
        leaves: Leaves = LEAVES[trace.leaves[row]]
        task = Task(id="x", df=name, type=name, lines=int(trace.lines[row]), leaves=leaves)
        costs[cpu] += caches[cpu].enter(use_of(penalty, task))
    return costs
