"""Notes who ran where, and makes a trace of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dfopt.simulate.run_queue.thread import Thread
from dfopt.trace.quality import Quality
from dfopt.trace.trace import Trace, TraceHeader, TraceTask


class Recorder:
    """Columns of dispatches, in the order in which they ended.

    ``rows`` has seven entries a dispatch: CPU, start, end, thread, fragment, lines, leaves.
    """

    __slots__ = ("rows",)

    def __init__(self) -> None:
        self.rows: list[tuple[int, int, int, int, int, int, int]] = []

    def trace(
        self, *, cpus: int, threads: Sequence[Thread], fragments: Sequence[str], header: TraceHeader
    ) -> Trace:
        """Return everything noted so far as a trace."""
        table = np.array(self.rows, np.int64).reshape(len(self.rows), 7)
        table = table[np.lexsort((table[:, 0], table[:, 1]))]
        cpu, start, end, task, fragment, lines, leaves = table.T
        return Trace(
            cpus=cpus,
            cpu=cpu.astype(np.int32),
            start=start.copy(),
            end=end.copy(),
            task=task.astype(np.int32),
            fragment=fragment.astype(np.int32),
            tasks=tuple(TraceTask(name=thread.name) for thread in threads),
            fragments=tuple(fragments),
            lines=lines.copy(),
            leaves=leaves.astype(np.int8),
            header=header,
            quality=Quality(events=len(table)),
        )
