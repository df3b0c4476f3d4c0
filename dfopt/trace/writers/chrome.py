"""Traces as JSON for Chrome's viewer, in the convention that dfopt reads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain, islice
from typing import BinaryIO

from dfopt.trace.events import Integers
from dfopt.trace.time_units import nanoseconds_per_unit
from dfopt.trace.trace import LEAVES, NOT_GIVEN, Trace

CPUS = "CPUs"
"""The name of the process that has the CPUs as its threads."""

PROCESS = 0

AT_ONCE = 10_000

PER_MICROSECOND = 1000


def write_chrome(trace: Trace, stream: BinaryIO, *, costs: Integers | None = None) -> None:
    """Write a trace as JSON that chrome://tracing and Perfetto's viewer show.

    Parameters
    ----------
    trace
        Every dispatch becomes a complete event on the thread that stands for its CPU.
    stream
        The file, as :func:`dfopt.files.storage.replacing` opens it.
    costs
        The cost of the switch to each dispatch; a counter for each CPU then shows their sum.

    Raises
    ------
    FileError
        When times are too long.
    """
    factor = nanoseconds_per_unit(trace)
    counters = iter(()) if costs is None else _counters(trace, costs, factor)
    events = chain(_names(trace), _slices(trace, factor), _gaps(trace, factor), counters)
    before = '{"displayTimeUnit": "ns", "traceEvents": [\n'
    while piece := ",\n".join(islice(events, AT_ONCE)):
        stream.write(f"{before}{piece}".encode())
        before = ",\n"
    stream.write(b"\n]}\n")


def _names(trace: Trace) -> Iterator[str]:
    """Yield the metadata; it also tells how many CPUs there are."""
    yield _metadata("process_name", 0, CPUS)
    for cpu in range(trace.cpus):
        yield _metadata("thread_name", cpu, f"CPU {cpu}")


def _metadata(event: str, cpu: int, name: str) -> str:
    return _json({"ph": "M", "pid": PROCESS, "tid": cpu, "name": event, "args": {"name": name}})


def _slices(trace: Trace, factor: int) -> Iterator[str]:
    names = [_json(task.name) for task in trace.tasks]
    fragments = [f', "cat": {_json(name)}' for name in trace.fragments] + [""]  # UNMANAGED is -1
    for row, (cpu, start, end, task, fragment) in enumerate(
        zip(
            trace.cpu.tolist(),
            (trace.start * factor).tolist(),
            (trace.end * factor).tolist(),
            trace.task.tolist(),
            trace.fragment.tolist(),
            strict=True,
        )
    ):
        notes = _notes(trace, row)
        more = f', "args": {_json(notes)}' if notes else ""
        yield _slice(cpu, start, end, f"{names[task]}{fragments[fragment]}{more}")


def _gaps(trace: Trace, factor: int) -> Iterator[str]:
    gaps = trace.gaps
    for cpu, start, end, reason in zip(
        gaps.cpu.tolist(),
        (gaps.start * factor).tolist(),
        (gaps.end * factor).tolist(),
        gaps.reason.tolist(),
        strict=True,
    ):
        name = _json(gaps.reasons[reason])
        yield _slice(cpu, start, end, f'{name}, "cat": "gap", "args": {{"gap": true}}')


def _slice(cpu: int, start: int, end: int, rest: str) -> str:
    return (
        f'{{"ph": "X", "pid": {PROCESS}, "tid": {cpu}, "ts": {_microseconds(start)}, '
        f'"dur": {_microseconds(end - start)}, "name": {rest}}}'
    )


def _notes(trace: Trace, row: int) -> dict[str, int | str]:
    notes: dict[str, int | str] = {}
    if trace.lines is not None and trace.lines[row] != NOT_GIVEN:
        notes["lines"] = int(trace.lines[row])
    if trace.leaves is not None and trace.leaves[row] != NOT_GIVEN:
        notes["leaves"] = str(LEAVES[trace.leaves[row]])
    if trace.comm is not None:
        notes["comm"] = trace.comms[trace.comm[row]]
    return notes


def _counters(trace: Trace, costs: Integers, factor: int) -> Iterator[str]:
    sums = [0] * trace.cpus
    for cpu, start, cost in zip(
        trace.cpu.tolist(), (trace.start * factor).tolist(), costs.tolist(), strict=True
    ):
        sums[cpu] += cost
        yield (
            f'{{"ph": "C", "pid": {PROCESS}, "ts": {_microseconds(start)}, '
            f'"name": "CPU {cpu} penalty", "args": {{"penalty": {sums[cpu]}}}}}'
        )


def _microseconds(nanoseconds: int) -> str:
    whole, rest = divmod(nanoseconds, PER_MICROSECOND)
    return f"{whole}.{rest:03}" if rest else str(whole)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
