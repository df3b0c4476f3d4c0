"""Traces as files of the format ``dfopt-trace/1``, a dispatch a line."""

from __future__ import annotations

import json
from typing import BinaryIO

import numpy as np

from dfopt.trace.readers.dfopt_trace_lines import header_to_document
from dfopt.trace.trace import LEAVES, NOT_GIVEN, Trace

AT_ONCE = 20_000
"""Lines that are written together."""


def write_dfopt_trace(trace: Trace, stream: BinaryIO) -> None:
    """Write a trace; data that the format cannot express, such as comms, is left out.

    Parameters
    ----------
    trace
        Its tasks are written by name.
    stream
        The file, as :func:`dfopt.files.storage.replacing` opens it.
    """
    stream.write(f"{_json(header_to_document(trace))}\n".encode())
    tasks = [_json(task.name) for task in trace.tasks]
    fragments = [*map(_json, trace.fragments), "null"]  # UNMANAGED, which is -1, means the last
    gaps = _gap_lines(trace)
    # A gap stands before the dispatches that start with it or after it.
    places = np.searchsorted(trace.start, trace.gaps.start, side="left")
    for first in range(0, len(trace), AT_ONCE):
        rows = slice(first, first + AT_ONCE)
        columns = zip(
            trace.cpu[rows].tolist(),
            trace.start[rows].tolist(),
            trace.end[rows].tolist(),
            trace.task[rows].tolist(),
            trace.fragment[rows].tolist(),
            _ends(trace, rows),
            strict=True,
        )
        lines = [
            f'{{"cpu": {cpu}, "start": {start}, "end": {end}, "task": {tasks[task]}, '
            f'"df": {fragments[fragment]}{rest}'
            for cpu, start, end, task, fragment, rest in columns
        ]
        here = slice(*np.searchsorted(places, [first, first + len(lines)]))
        for place, line in zip(places[here][::-1], gaps[here][::-1], strict=True):
            lines.insert(int(place) - first, line)
        stream.write("".join(lines).encode())
    stream.write("".join(gaps[int(np.searchsorted(places, len(trace))) :]).encode())


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _ends(trace: Trace, rows: slice) -> list[str]:
    """Return the text after the fragment on each line: the optional keys and the brace."""
    count = len(trace.cpu[rows])
    ends = ["}\n"] * count
    if trace.leaves is not None:
        words = [*(f', "leaves": "{word}"}}\n' for word in LEAVES), "}\n"]
        ends = [words[number] for number in trace.leaves[rows].tolist()]
    if trace.lines is not None:
        ends = [
            f', "lines": {lines}{end}' if lines != NOT_GIVEN else end
            for lines, end in zip(trace.lines[rows].tolist(), ends, strict=True)
        ]
    return ends


def _gap_lines(trace: Trace) -> list[str]:
    gaps = trace.gaps
    reasons = [_json(reason) for reason in gaps.reasons]
    return [
        f'{{"cpu": {cpu}, "gap": [{start}, {end}], "reason": {reasons[reason]}}}\n'
        for cpu, start, end, reason in zip(
            gaps.cpu.tolist(),
            gaps.start.tolist(),
            gaps.end.tolist(),
            gaps.reason.tolist(),
            strict=True,
        )
    ]
