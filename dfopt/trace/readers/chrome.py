"""Chrome's trace events, where they tell what runs on each CPU.

The events are complete ones (``ph`` is X) of one process: the one named ``CPUs``, or the only
one there is. Its threads are the CPUs, the name of an event is the task, its category the
fragment.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, BinaryIO, TypeVar

import numpy as np

from dfopt.checks import LARGEST_TOTAL, check_name, described
from dfopt.errors import DfoptError, FileError
from dfopt.files.fields import at, choice, integer, string
from dfopt.files.strict_json import Document, described_json
from dfopt.problem.cache_state import Leaves
from dfopt.problem.instance import LARGEST_CPU_COUNT
from dfopt.trace.gaps import quality_of
from dfopt.trace.numbering import Numbering
from dfopt.trace.order import first_disorder
from dfopt.trace.readers.chrome_json import Event, events_in
from dfopt.trace.trace import LEAVES, NOT_GIVEN, UNMANAGED, Gaps, Trace, TraceHeader

CPUS = "CPUs"

PER_MICROSECOND = 1000

T = TypeVar("T")
_leaves = choice(Leaves)


def read_chrome(stream: BinaryIO) -> Trace:
    """Return the trace in a file of Chrome's trace events, as an array or as an object.

    Parameters
    ----------
    stream
        The file, opened and gunzipped.

    Raises
    ------
    FileError
        With the place in the file, when its events do not tell what runs on CPUs.
    """
    events = events_in(stream.read())
    slices, cpus = _slices(events)
    slices.sort(key=lambda one: one.start)
    dispatches = [one for one in slices if not one.is_gap]
    stretches = [one for one in slices if one.is_gap]
    tasks, fragments, reasons = Numbering(), Numbering(), Numbering()
    gaps = Gaps(
        cpu=np.array([one.cpu for one in stretches], np.int32),
        start=np.array([one.start for one in stretches], np.int64),
        end=np.array([one.end for one in stretches], np.int64),
        reason=np.array([reasons[one.name] for one in stretches], np.int32),
        reasons=reasons.names,
    )
    cpu = np.array([one.cpu for one in dispatches], np.int32)
    start = np.array([one.start for one in dispatches], np.int64)
    end = np.array([one.end for one in dispatches], np.int64)
    if disorder := first_disorder(cpu, start, end, gaps):
        row = (stretches if disorder.is_gap else dispatches)[disorder.row]
        raise FileError(disorder.problem, place=row.place)
    lines = np.array([one.lines for one in dispatches], np.int64)
    leaves = np.array([one.leaves for one in dispatches], np.int8)
    return Trace(
        cpus=cpus,
        cpu=cpu,
        start=start,
        end=end,
        task=np.array([tasks[one.name] for one in dispatches], np.int32),
        fragment=np.array(
            [fragments[one.fragment] if one.fragment else UNMANAGED for one in dispatches],
            np.int32,
        ),
        tasks=tasks.tasks,
        fragments=fragments.names,
        lines=lines if (lines != NOT_GIVEN).any() else None,
        leaves=leaves if (leaves != NOT_GIVEN).any() else None,
        gaps=gaps,
        header=TraceHeader(time_unit="ns"),
        quality=quality_of(cpus=cpus, cpu=cpu, gaps=gaps, lines=len(events)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Slice:
    """A dispatch or gap; times in nanoseconds."""

    place: str
    cpu: int
    start: int
    end: int
    name: str
    fragment: str
    lines: int
    leaves: int
    is_gap: bool


def _slices(events: Sequence[Event]) -> tuple[list[_Slice], int]:
    """Return what runs on the CPUs, and how many of these there are."""
    complete = [(place, event) for place, event in events if event.get("ph") == "X"]
    names = [
        (place, event)
        for place, event in events
        if event.get("ph") == "M" and event.get("name") in ("process_name", "thread_name")
    ]
    process = _process(complete, names)
    mine = [(place, event) for place, event in complete if event.get("pid") == process]
    threads = [
        (place, event)
        for place, event in names
        if event.get("pid") == process and event["name"] == "thread_name"
    ]
    slices = [_at(place, _slice, event, place) for place, event in mine]
    declared = [_at(place, _cpu, event) for place, event in threads]
    numbers = [*declared, *(one.cpu for one in slices)]
    if not numbers:
        raise FileError(
            f"hold no complete event (ph X) of the process {CPUS!r}; write what runs "
            "as such events",
            place="traceEvents",
        )
    return slices, 1 + max(numbers)


def _process(complete: Sequence[Event], names: Sequence[Event]) -> object:
    """Return the process whose threads are the CPUs."""
    for place, event in names:
        args = event.get("args")
        if not isinstance(args, dict):
            raise FileError("is missing; it holds the name", place=f"{place}.args")
        if event["name"] == "process_name" and args.get("name") == CPUS:
            return event.get("pid")
    if not complete:
        raise FileError(
            "hold no complete event (ph X); write what runs on CPUs as such events",
            place="traceEvents",
        )
    _, first = complete[0]
    for place, event in complete:
        if event.get("pid") != first.get("pid"):
            raise FileError(
                f"is of another process than those before, and none is named {CPUS!r}; give that "
                "name (by an event process_name) to the one whose threads are the CPUs",
                place=place,
            )
    return first.get("pid")


def _at(place: str, read: Callable[..., T], *values: Any) -> T:
    try:
        return read(*values)
    except DfoptError as error:
        inner = error.within(place)
        raise FileError(inner.problem, place=inner.place) from None


def _slice(event: Document, place: str) -> _Slice:
    for key in ("ts", "dur", "name"):
        if key not in event:
            raise FileError("is missing; a complete event has it", place=key)
    start, length = at("ts", _microseconds, event["ts"]), at("dur", _microseconds, event["dur"])
    args = event.get("args", {})
    if not isinstance(args, dict):
        raise FileError(f"must be an object {{…}}, not {described_json(args)}", place="args")
    return _Slice(
        place=place,
        cpu=_cpu(event),
        start=_nanoseconds(start),
        end=at("dur", _nanoseconds, start + length),
        name=at("name", _text, event["name"]),
        fragment=at("cat", _text, event.get("cat", "")),
        lines=at("args.lines", _count, args["lines"]) if "lines" in args else NOT_GIVEN,
        leaves=LEAVES.index(at("args.leaves", _leaves, args["leaves"]))
        if "leaves" in args
        else NOT_GIVEN,
        is_gap=args.get("gap") is True,
    )


def _cpu(event: Document) -> int:
    cpu = at("tid", _count, event.get("tid"))
    if cpu >= LARGEST_CPU_COUNT:
        raise FileError(
            f"is {cpu}; threads stand for CPUs here, of which at most {LARGEST_CPU_COUNT} are "
            "supported",
            place="tid",
        )
    return cpu


def _microseconds(value: object) -> int | Decimal:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise FileError(f"must be a number of microseconds, not {described_json(value)}")
    if not 0 <= value <= LARGEST_TOTAL // PER_MICROSECOND:
        raise FileError(f"is {described(str(value))}; times go from 0 to 2^62 nanoseconds")
    return value


def _nanoseconds(microseconds: int | Decimal) -> int:
    # Rounded only here, so that slices which touch still do.
    nanoseconds = round(microseconds * PER_MICROSECOND)
    if nanoseconds > LARGEST_TOTAL:
        raise FileError("ends beyond 2^62 nanoseconds; shift the times")
    return nanoseconds


def _count(value: object) -> int:
    return integer(float(value) if isinstance(value, Decimal) else value)


def _text(value: object) -> str:
    check_name(value, "")
    return string(value)
