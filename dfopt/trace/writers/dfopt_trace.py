"""Traces as files of the format ``dfopt-trace/1``, a dispatch a line."""

from __future__ import annotations

import json
from typing import BinaryIO

import numpy as np

from dfopt.files.formats import Format
from dfopt.structs import document_of
from dfopt.trace.events import Integers
from dfopt.trace.trace import LEAVES, NOT_GIVEN, STOPS, Gaps, Trace

AT_ONCE = 20_000
"""Lines that are written together."""


def write_dfopt_trace(trace: Trace, stream: BinaryIO) -> None:
    """Write a trace; data that the format cannot express, such as marks, is left out.

    Parameters
    ----------
    trace
        Its tasks are written by name.
    stream
        The file, as :func:`dfopt.files.storage.replacing` opens it.
    """
    header = {"format": Format.TRACE, "cpus": trace.cpus, **document_of(trace.header)}
    stream.write(f"{_json(header)}\n".encode())
    tasks = [_json(task.name) for task in trace.tasks]
    stream.write("".join(_task_lines(trace, tasks)).encode())
    fragments = [*map(_json, trace.fragments), "null"]  # UNMANAGED, which is -1, means the last
    others, times = _other_lines(trace, tasks)
    # They stand before the dispatches that start with them or after them.
    places = np.searchsorted(trace.start, times, side="left")
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
        here = slice(*np.searchsorted(places, [first, first + len(lines)]).tolist())
        stream.write("".join(_merged(lines, others[here], places[here] - first)).encode())
    stream.write("".join(others[int(np.searchsorted(places, len(trace))) :]).encode())


def _merged(lines: list[str], others: list[str], places: Integers) -> list[str]:
    """Return all lines; each of the others stands before the line whose number is its place."""
    if not others:
        return lines
    is_other = np.zeros(len(lines) + len(others), bool)
    is_other[places + np.arange(len(others))] = True
    of_each = iter(lines), iter(others)
    return [next(of_each[number]) for number in is_other.tolist()]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _ends(trace: Trace, rows: slice) -> list[str]:
    """Return the text after the fragment on each line: the optional keys and the brace."""
    ends = ["}\n"] * len(trace.cpu[rows])
    for key, column, words in (("stop", trace.stop, STOPS), ("leaves", trace.leaves, LEAVES)):
        if column is not None:
            texts = [*(f', "{key}": "{word}"' for word in words), ""]  # NOT_GIVEN means the last
            ends = [
                f"{texts[number]}{end}"
                for number, end in zip(column[rows].tolist(), ends, strict=True)
            ]
    if trace.comm is not None:
        texts = [*(f', "comm": {_json(comm)}' for comm in trace.comms), ""]
        ends = [
            f"{texts[number]}{end}"
            for number, end in zip(trace.comm[rows].tolist(), ends, strict=True)
        ]
    if trace.lines is not None:
        ends = [
            f', "lines": {lines}{end}' if lines != NOT_GIVEN else end
            for lines, end in zip(trace.lines[rows].tolist(), ends, strict=True)
        ]
    return ends


def _task_lines(trace: Trace, tasks: list[str]) -> list[str]:
    """Return the lines about tasks."""
    return [
        f'{{"task": {name}, "weight": {task.weight}}}\n'
        for name, task in zip(tasks, trace.tasks, strict=True)
        if task.weight is not None
    ]


def _other_lines(trace: Trace, tasks: list[str]) -> tuple[list[str], Integers]:
    """Return the lines of gaps and events, in order of time, and these times."""
    gaps, forks = trace.gaps, trace.forks
    lines = _gap_lines(gaps, tasks)
    times = [gaps.start]
    first, usual = trace.first_wakeups, trace.wakeups
    for event, cause, time, by, task in (
        ("fork", "parent", forks.time, forks.parent, forks.child),
        ("first_wakeup", "waker", first.time, first.waker, first.woken),
        ("wakeup", "waker", usual.time, usual.waker, usual.woken),
    ):
        # Idle threads are no tasks.
        known = (task >= 0) & ((by >= 0) | (event != "fork"))
        causes = [*(f', "{cause}": {name}}}\n' for name in tasks), "}\n"]
        lines += [
            f'{{"{event}": {at}, "task": {tasks[woken]}{causes[waker]}'
            for at, woken, waker in zip(
                time[known].tolist(), task[known].tolist(), by[known].tolist(), strict=True
            )
        ]
        times.append(time[known])
    joined = np.concatenate(times)
    order = np.argsort(joined, kind="stable")
    return [lines[number] for number in order.tolist()], joined[order]


def _gap_lines(gaps: Gaps, tasks: list[str]) -> list[str]:
    reasons = [_json(reason) for reason in gaps.reasons]
    ends = [*(f', "task": {name}}}\n' for name in tasks), "}\n"]
    ran_last = [-1] * len(gaps) if gaps.task is None else gaps.task.tolist()
    return [
        f'{{"cpu": {cpu}, "gap": [{start}, {end}], "reason": {reasons[reason]}{ends[task]}'
        for cpu, start, end, reason, task in zip(
            gaps.cpu.tolist(),
            gaps.start.tolist(),
            gaps.end.tolist(),
            gaps.reason.tolist(),
            ran_last,
            strict=True,
        )
    ]
