"""A recorded trace in which a CPU takes turns between two fragments, and a proof that it must."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from msgspec.structs import asdict

from dfopt.compare import CostModel
from dfopt.compare.attainable.bound.proof import DispatchPrices, StretchPrices, WaitingProof
from dfopt.compare.attainable.bound.proof_document import SavedProof, digest_of
from dfopt.compare.dispatches import Dispatches, movable_dispatches
from dfopt.trace import Trace, read_trace
from dfopt.trace.labels import label

EVENT = "{comm:>16}-{pid:<6}[000] d... {time}: {event}"
WAKING = "sched_waking: comm={0} pid={1} prio=120 target_cpu=000"
SWITCH = (
    "sched_switch: prev_comm={0} prev_pid={1} prev_prio=120 prev_state={2} ==> "
    "next_comm={3} next_pid={4} next_prio=120"
)
IDLE = ("swapper/0", 0)
LABELS = "comm:^(a|b)$"


def alternating_text(names: Sequence[str] = "ababa") -> str:
    """Return a trace of ftrace in which tasks run for 20 µs after each other, as they are woken."""
    pids = {name: 10 + number for number, name in enumerate(sorted(set(names)))}
    lines = ["# tracer: nop"]
    for turn, name in enumerate(names):
        task = (name, pids[name])
        begin, end = f"1.{100 * turn + 100:06}", f"1.{100 * turn + 120:06}"
        for time, running, event in (
            (begin, IDLE, WAKING.format(*task)),
            (begin, IDLE, SWITCH.format(*IDLE, "R", *task)),
            (end, task, SWITCH.format(*task, "S", *IDLE)),
        ):
            lines.append(EVENT.format(comm=running[0], pid=running[1], time=time, event=event))
    return "\n".join(lines) + "\n"


def written_trace(path: Path, names: Sequence[str] = "ababa") -> Trace:
    """Write such a trace; return it with labels."""
    path.write_text(alternating_text(names))
    return label(read_trace(path), LABELS)


def alternating_proof(arrivals: Dispatches) -> WaitingProof:
    """Return a proof that each dispatch but the first one changes the fragment."""
    count = len(arrivals)
    return WaitingProof(
        wait=0,
        uses_lengths=False,
        scale=1,
        stretches=(
            StretchPrices(
                begin=int(arrivals.start[0]),
                end=int(arrivals.start[-1]) + 1,
                hits=DispatchPrices(dispatch=np.arange(count), price=np.full(count, 2)),
            ),
        ),
    )


def saved_proof(trace: Trace, model: CostModel | None = None, bound: int = 4) -> SavedProof:
    """Return the proof with what it speaks about."""
    model = model or CostModel()
    arrivals = movable_dispatches(trace, model)
    return SavedProof(
        trace="trace.txt",
        sha256=digest_of(arrivals),
        model=model,
        lower_bound=bound,
        **asdict(alternating_proof(arrivals)),
    )
