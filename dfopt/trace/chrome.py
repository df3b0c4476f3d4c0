"""Traces as Chrome's trace events, if the events say which tasks run on each CPU.

These are the complete events (``ph`` is X) of one process: the process with the name ``CPUs``, or
the only one in the file. Its threads are the CPUs. The name of an event is the task, its category
the fragment. If the text of ftrace stands beside the events, in the string ``systemTraceEvents``,
that is the trace instead.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from io import BytesIO
from itertools import chain, islice
from typing import Any, BinaryIO, TypeVar

from dfopt.checks import LARGEST_TOTAL, check_name, described
from dfopt.errors import DfoptError, FileError
from dfopt.files.storage import decoded, placed
from dfopt.files.strict import Document
from dfopt.problem.cache import Leaves
from dfopt.problem.instance import LARGEST_CPU_COUNT
from dfopt.structs import Natural, Record, replace
from dfopt.trace.events import Integers
from dfopt.trace.kernel_text import read_ftrace
from dfopt.trace.stretches import first_disorder, nanoseconds_per_unit, paid_so_far, quality_of
from dfopt.trace.trace import Dispatch, Gaps, Trace, TraceHeader, trace_of_dispatches
from dfopt.type_reader import at, described_value, reader

CPUS = "CPUs"
"""The name of the process that has the CPUs as its threads."""

PROCESS = 0
"""The number of that process in files that dfopt writes."""

AT_ONCE = 10_000
"""Events that are written together."""

PER_MICROSECOND = 1000

Event = tuple[str, Document]
"""An event and its place in the file."""

MOST_DIGITS = 40
"""At most this many digits are parsed as an integer; a longer number is too large in any case."""

CUT = "it may have been cut short, copy it again"

T = TypeVar("T")
_leaves, _natural = reader(Leaves), reader(Natural)


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
    document = _document(stream.read())
    text = document.get("systemTraceEvents") if isinstance(document, dict) else None
    if isinstance(text, str) and text.strip():
        with placed("systemTraceEvents"):
            return read_ftrace(BytesIO(text.encode("utf-8", "replace")))
    events = _events(document)
    slices, cpus = _slices(events)
    slices.sort(key=lambda event: event.dispatch.start)
    dispatches = [event for event in slices if not event.is_gap]
    gaps = [event for event in slices if event.is_gap]
    # The name of a gap is its reason.
    unknown = trace_of_dispatches([event.dispatch for event in gaps], cpus=cpus)
    trace = trace_of_dispatches(
        [event.dispatch for event in dispatches],
        cpus=cpus,
        gaps=Gaps(
            cpu=unknown.cpu,
            start=unknown.start,
            end=unknown.end,
            reason=unknown.task,
            reasons=tuple(task.name for task in unknown.tasks),
        ),
        header=TraceHeader(time_unit="ns"),
    )
    if disorder := first_disorder(trace):
        row = (gaps if disorder.is_gap else dispatches)[disorder.row]
        raise FileError(disorder.problem, place=row.place)
    return replace(trace, quality=quality_of(trace, len(events)))


class _Slice(Record):
    """A dispatch or gap, whose name is its reason, and its place in the file."""

    place: str
    dispatch: Dispatch
    is_gap: bool


def _slices(events: Sequence[Event]) -> tuple[list[_Slice], int]:
    """Return the dispatches and gaps of all CPUs, and the number of CPUs."""
    complete = [(place, event) for place, event in events if event.get("ph") == "X"]
    names = [
        (place, event)
        for place, event in events
        if event.get("ph") == "M" and event.get("name") in ("process_name", "thread_name")
    ]
    process = _process(complete, names)
    slices = [
        _at(place, _slice, event, place) for place, event in complete if event.get("pid") == process
    ]
    declared = [
        _at(place, _cpu, event)
        for place, event in names
        if event.get("pid") == process and event["name"] == "thread_name"
    ]
    numbers = [*declared, *(event.dispatch.cpu for event in slices)]
    if not numbers:
        raise FileError(
            f"hold no complete event (ph X) of the process {CPUS!r}; write what runs "
            "as such events",
            place="traceEvents",
        )
    return slices, 1 + max(numbers)


def _process(complete: Sequence[Event], names: Sequence[Event]) -> object:
    """Return the process that has the CPUs as its threads."""
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
        raise FileError(f"must be an object {{…}}, not {described_value(args)}", place="args")
    dispatch = Dispatch(
        cpu=_cpu(event),
        start=_nanoseconds(start),
        end=at("dur", _nanoseconds, start + length),
        task=at("name", _text, event["name"]),
        fragment=at("cat", _text, event.get("cat", "")) or None,
        lines=at("args.lines", _count, args["lines"]) if "lines" in args else None,
        leaves=at("args.leaves", _leaves, args["leaves"]) if "leaves" in args else None,
    )
    return _Slice(place=place, dispatch=dispatch, is_gap=args.get("gap") is True)


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
        raise FileError(f"must be a number of microseconds, not {described_value(value)}")
    if not 0 <= value <= LARGEST_TOTAL // PER_MICROSECOND:
        raise FileError(f"is {described(str(value))}; times go from 0 to 2^62 nanoseconds")
    return value


def _nanoseconds(microseconds: int | Decimal) -> int:
    # Rounded only here, so that two slices that touch each other still do so afterwards.
    nanoseconds = round(microseconds * PER_MICROSECOND)
    if nanoseconds > LARGEST_TOTAL:
        raise FileError("ends beyond 2^62 nanoseconds; shift the times")
    return nanoseconds


def _count(value: object) -> int:
    count: int = _natural(float(value) if isinstance(value, Decimal) else value)
    return count


def _text(value: object) -> str:
    check_name(value, "")
    return str(value)


def _events(document: object) -> list[Event]:
    """Return the events in a document, an array of them or an object that holds it.

    Raises
    ------
    FileError
        When it has no such array.
    """
    if isinstance(document, dict):
        if "traceEvents" not in document:
            raise FileError("is missing; Chrome's trace events stand here", place="traceEvents")
        document = document["traceEvents"]
    if not isinstance(document, list):
        raise FileError(
            f"must be an array of events, not {described_value(document)}", place="traceEvents"
        )
    events = [(f"traceEvents[{number}]", event) for number, event in enumerate(document)]
    for place, event in events:
        if not isinstance(event, dict):
            raise FileError(f"must be an object {{…}}, not {described_value(event)}", place=place)
    return events


def _document(data: bytes) -> object:
    text = decoded(data, "a trace")
    if not text.strip():
        raise FileError("is empty; it should hold trace events")
    try:
        return _DECODER.decode(text)
    except RecursionError:
        raise FileError("is nested too deep; flatten it") from None
    except json.JSONDecodeError as error:
        # Programs that record a trace need not close the array.
        if text.lstrip().startswith("["):
            try:
                return _DECODER.decode(text.rstrip().removesuffix(",") + "]")
            except (ValueError, RecursionError):
                pass
        ended = text.rstrip()
        ends = error.pos >= len(ended) or (
            error.msg != "Extra data" and not ended.endswith(("}", "]"))
        )
        problem = f"the document ends too early; {CUT}" if ends else f"{error.msg}; correct it"
        raise FileError(problem, place=f"line {error.lineno}, column {error.colno}") from None


def _number(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise FileError(f"holds the number {described(text)}; times go up to 2^62") from None


def _integer(text: str) -> int | Decimal:
    # Python itself refuses to read very long integers.
    return int(text) if len(text) <= MOST_DIGITS else _number(text)


def _no_number(text: str) -> None:
    raise FileError(f"holds {text}, which is no JSON; give a finite number")


_DECODER = json.JSONDecoder(parse_float=_number, parse_int=_integer, parse_constant=_no_number)


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
    events = chain(_names(trace), _slice_lines(trace, factor), _gap_lines(trace, factor))
    if costs is not None:
        events = chain(events, _counters(trace, costs, factor))
    before = '{"displayTimeUnit": "ns", "traceEvents": [\n'
    while piece := ",\n".join(islice(events, AT_ONCE)):
        stream.write(f"{before}{piece}".encode())
        before = ",\n"
    stream.write(b"\n]}\n")


def _names(trace: Trace) -> Iterator[str]:
    """Yield the metadata; it also tells how many CPUs there are."""
    names = [("process_name", 0, CPUS)]
    names += [("thread_name", cpu, f"CPU {cpu}") for cpu in range(trace.cpus)]
    for event, cpu, name in names:
        metadata = {"ph": "M", "pid": PROCESS, "tid": cpu, "name": event, "args": {"name": name}}
        yield _json(metadata)


def _slice_lines(trace: Trace, factor: int) -> Iterator[str]:
    names = [_json(task.name) for task in trace.tasks]
    fragments = [f', "cat": {_json(name)}' for name in trace.fragments] + [""]  # UNMANAGED is -1
    columns = zip(trace.task.tolist(), trace.fragment.tolist(), strict=True)
    for row, (begin, (task, fragment)) in enumerate(
        zip(_slices_begun(trace, factor), columns, strict=True)
    ):
        notes, comm = trace.notes_of(row), trace.comm_of(row)
        notes |= {} if comm is None else {"comm": comm}
        more = f', "args": {_json(notes)}' if notes else ""
        yield f"{begin}{names[task]}{fragments[fragment]}{more}}}"


def _gap_lines(trace: Trace, factor: int) -> Iterator[str]:
    gaps = trace.gaps
    for begin, reason in zip(_slices_begun(gaps, factor), gaps.reason.tolist(), strict=True):
        yield f'{begin}{_json(gaps.reasons[reason])}, "cat": "gap", "args": {{"gap": true}}}}'


def _slices_begun(rows: Trace | Gaps, factor: int) -> Iterator[str]:
    """Yield the events of dispatches or gaps up to their names."""
    columns = (rows.cpu, rows.start * factor, rows.end * factor)
    for cpu, start, end in zip(*(column.tolist() for column in columns), strict=True):
        yield (
            f'{{"ph": "X", "pid": {PROCESS}, "tid": {cpu}, "ts": {_in_microseconds(start)}, '
            f'"dur": {_in_microseconds(end - start)}, "name": '
        )


def _counters(trace: Trace, costs: Integers, factor: int) -> Iterator[str]:
    starts = (trace.start * factor).tolist()
    for cpu, start, paid in zip(trace.cpu.tolist(), starts, paid_so_far(trace, costs), strict=True):
        yield (
            f'{{"ph": "C", "pid": {PROCESS}, "ts": {_in_microseconds(start)}, '
            f'"name": "CPU {cpu} penalty", "args": {{"penalty": {paid}}}}}'
        )


def _in_microseconds(nanoseconds: int) -> str:
    whole, rest = divmod(nanoseconds, PER_MICROSECOND)
    return f"{whole}.{rest:03}" if rest else str(whole)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
