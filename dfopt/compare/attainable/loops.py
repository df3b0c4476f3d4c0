"""The compiled loops of a frontier, in parts that several processes compile beside each other.

Each part is what a frontier does, on a trace of four dispatches. So it compiles what the frontier
needs, or loads it from disk.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from dfopt.compare.attainable.arrivals import Arrivals, arrivals_of
from dfopt.compare.attainable.bound.bound import lower_bound
from dfopt.compare.attainable.schedule_within import ScheduleSearch
from dfopt.compare.attainable.timed_schedule import recorded_schedule
from dfopt.compare.attainable.waiting_limit import WaitingLimit
from dfopt.compare.cost_model import CostModel
from dfopt.errors import DfoptError
from dfopt.parallel import available_processors
from dfopt.parallel.pool import performed
from dfopt.solvers.compilation.compiled import is_missing
from dfopt.trace.trace import UNMANAGED, Trace, TraceTask

NOBODY_LATER = WaitingLimit(each=0)


@dataclass(frozen=True, slots=True)
class Loops:
    """The compiled loops that one function calls.

    Parameters
    ----------
    call
        A function of this module.
    """

    call: Callable[[Arrivals], object]

    def perform(self) -> None:
        """Compile the loops, or load them."""
        self.call(few_arrivals())


def few_arrivals() -> Arrivals:
    """Return four dispatches of two fragments on two CPUs, which a block makes different."""
    rows = ((0, 0, 4, 0), (1, 0, 3, 1), (0, 4, 6, UNMANAGED), (1, 4, 8, 0), (0, 7, 9, 1))
    cpu, start, end, fragment = np.array(rows).T
    trace = Trace(
        cpus=2,
        cpu=cpu.astype(np.int32),
        start=start,
        end=end,
        task=np.arange(len(rows), dtype=np.int32),
        fragment=fragment.astype(np.int32),
        tasks=tuple(TraceTask(name=str(number)) for number in range(len(rows))),
        fragments=("a", "b"),
    )
    return arrivals_of(trace, CostModel(unmanaged="evict"), timeline_only=True)


def search_beams(arrivals: Arrivals) -> None:
    """Call the beam search."""
    search = ScheduleSearch(arrivals, NOBODY_LATER)
    search.report(recorded_schedule(arrivals))
    search.sweep(2 * len(arrivals), 1)


def bound(arrivals: Arrivals) -> None:
    """Call the search for prices."""
    lower_bound(arrivals, 0, uses_lengths=True)


def missing_loops() -> list[Loops]:
    """Return what other processes could put on disk for this one, the longest work first."""
    from dfopt.compare.attainable.beam_search.extension import place_all
    from dfopt.compare.attainable.bound.cpu_paths import cheapest_path

    parts = (
        (search_beams, place_all),
        (bound, cheapest_path),
    )
    return [Loops(call) for call, loop in parts if is_missing(loop)]


def compile_beside(parts: Sequence[Loops], workers: int | None) -> None:
    """Let several processes compile loops, which this one then finds on disk.

    Parameters
    ----------
    parts
        What they compile.
    workers
        At most this number of processes work at once; None: one for each processor.
    """
    processes = min(workers or available_processors(), len(parts))
    if processes > 1:
        with suppress(DfoptError):  # one was killed; this process compiles what is missing
            for _ in performed(parts, processes):
                pass
