"""Reads and writes Perfetto's traces: scheduling events are read, tracks to look at are written.

The events of a CPU come in bundles, in order of time. The bundles of all CPUs stand in the order in
which the recorder read their buffers. A bundle holds switches one by one, or as columns
(``compact_sched``). The columns say which thread runs next, but not which one has run: that is the
thread to which the CPU's switch before went.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from io import BytesIO
from itertools import chain, islice
from typing import Any, BinaryIO

import numpy as np

from dfopt.checks import LARGEST_TOTAL
from dfopt.errors import FileError
from dfopt.problem.instance import LARGEST_CPU_COUNT
from dfopt.structs import replace
from dfopt.trace.dispatches import IDLE, trace_of
from dfopt.trace.events import (
    ANY_CPU,
    STATE_BITS,
    Exits,
    Forks,
    Integers,
    KernelEvents,
    Loss,
    Marks,
    Stop,
    Switches,
    ThreadGroups,
    Wakeups,
)
from dfopt.trace.stretches import nanoseconds_per_unit, paid_so_far, stretches_in_order
from dfopt.trace.trace import Numbering, Trace

PACKET_TAG = b"\x0a"
"""Before each packet: field 1, length-delimited."""

LONGEST_VARINT = 10
MORE = 0x80
"""The bit of a varint's byte that says that another byte follows."""

LARGEST_PACKET = (1 << 28) - 1
"""Bytes of the longest packet: Perfetto writes lengths as four bytes of seven bits each."""

AT_ONCE = 1 << 20
"""At most this many bytes of a packet are read together."""

MOST_INFLATED = 1 << 26
"""A packet that unpacks to more bytes than this is damaged: Perfetto compresses 512 KiB at once."""

DEEPEST_COMPRESSION = 2


def perfetto_classes() -> Any:
    """Return the module of Perfetto's message classes.

    Raises
    ------
    FileError
        When the package is not installed.
    """
    try:
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2
    except ImportError:
        raise FileError(
            "Perfetto's traces need a package more; type 'make venv' in a checkout, or "
            "python -m pip install 'dfopt[perfetto]' in dfopt's environment"
        ) from None
    return perfetto_trace_pb2


def _unpacked(packet_class: Any, data: bytes, depth: int = 0) -> Iterator[Any]:
    """Yield the packet in these bytes, or the packets that are compressed in it."""
    packet = packet_class.FromString(data)
    if not packet.HasField("compressed_packets"):
        yield packet
        return
    if depth == DEEPEST_COMPRESSION:
        raise FileError("is compressed again and again")
    try:
        inner = BytesIO(_inflated(packet.compressed_packets))
        while (message := _message(inner)) is not None:
            yield from _unpacked(packet_class, message, depth + 1)
    except EOFError:
        problem = "is damaged (what is compressed in it ends too early); copy it again"
        raise FileError(problem) from None


def _inflated(data: bytes) -> bytes:
    inflating = zlib.decompressobj()
    try:
        inflated = inflating.decompress(data, MOST_INFLATED)
    except zlib.error as error:
        raise FileError(f"is damaged ({error}); copy it again") from None
    if inflating.unconsumed_tail:
        raise FileError("unpacks to more than 64 MiB; the file is damaged, copy it again")
    if not inflating.eof:
        raise EOFError
    return inflated


def _message(stream: BinaryIO) -> bytes | None:
    """Return the bytes of the next packet in a stream, without tag and length; None at its end.

    Raises
    ------
    EOFError
        When the stream ends within the packet.
    """
    tag = stream.read(1)
    if not tag:
        return None
    if tag != PACKET_TAG:
        raise FileError("is no packet of a trace; the file is damaged, copy it again")
    size = _length(stream)
    if size > LARGEST_PACKET:
        raise FileError(f"claims to have {size} bytes; the file is damaged, copy it again")
    return _read(stream, size)


def _length(stream: BinaryIO) -> int:
    size = 0
    for position in range(LONGEST_VARINT):
        byte = stream.read(1)
        if not byte:
            raise EOFError
        size |= (byte[0] & (MORE - 1)) << (7 * position)
        if byte[0] < MORE:
            return size
    raise FileError("has no length; the file is damaged, copy it again")


def _read(stream: BinaryIO, size: int) -> bytes:
    """Return the next bytes of a stream; ask for memory only as far as the stream has them."""
    data = stream.read(min(size, AT_ONCE))
    if len(data) == size:
        return data
    whole = bytearray(data)
    while part := stream.read(min(size - len(whole), AT_ONCE)):
        whole += part
    if len(whole) < size:
        raise EOFError
    return bytes(whole)


WAKEUPS = ("sched_waking", "sched_wakeup", "sched_wakeup_new")
EXIT = "sched_process_exit"
EVENTS = (*WAKEUPS, "sched_process_fork", "task_newtask", EXIT, "print")

IN_SAME_PROCESS = 0x10000
"""The flag of a new task that is a thread of its parent's process (CLONE_THREAD)."""

NO_SWITCH = (
    "holds no sched_switch event of the kernel; record the data source linux.ftrace with "
    "sched/sched_switch"
)

UNKNOWN = -1
"""A thread that a column leaves out."""

IDLE_COMM = "swapper"

ENDED = 0x10 | 0x20
"""The bits of a thread's state that say that it has ended (EXIT_DEAD, EXIT_ZOMBIE)."""

IN_INTERRUPT = 0x08 | 0x40
"""The bits of an event's flags that say that a hardware interrupt caused it.

The bit 0x10, a soft interrupt, is not among them: threads raise those themselves, for instance when
they send.
"""

SWITCH_COLUMNS = 8
"""Rows of cpu, time, previous, its comm, its state, next, its comm, its priority."""

MARK = re.compile(r"(?:^|[ :=|])dfopt:df= *([^ \n](?:.*[^ \n])?)[ \n]*\Z")


def read_perfetto(stream: BinaryIO) -> Trace:
    """Return the trace that the scheduling events in a Perfetto trace describe.

    If the file ends within a packet, all packets before it are read. The quality of the trace
    then says that its end could not be understood.

    Parameters
    ----------
    stream
        The file, opened and gunzipped.

    Raises
    ------
    FileError
        When the file is damaged, or holds no switches.
    """
    found, packet_class = _Found(), perfetto_classes().TracePacket
    from google.protobuf.message import DecodeError  # it comes with these classes

    number, is_cut = 1, False
    try:
        # The lengths in the file are not trusted: no more memory is taken than it has.
        while (data := _message(stream)) is not None:
            for packet in _unpacked(packet_class, data):
                found.add(packet)
            number += 1
    except EOFError:
        is_cut = True
    except (FileError, DecodeError) as error:
        problem = "cannot be decoded; the file is damaged, copy it again"
        problem = error.problem if isinstance(error, FileError) else problem
        raise FileError(problem, place=f"packet {number}") from None
    if not found.switch_count:
        raise _without_switches(number if is_cut else None, has_tracks=found.has_tracks)
    events = found.events(number if is_cut else number - 1)
    if is_cut:
        events = replace(events, unparsed=1, first_unparsed=number)
    return trace_of(events)


def _without_switches(cut: int | None, *, has_tracks: bool) -> FileError:
    """Return the error of a file without switches, which ends within the packet ``cut`` if any."""
    if cut is not None:
        return FileError(
            "the file ends within it; it may have been cut short, copy it again; before it the "
            f"file {NO_SWITCH}",
            place=f"packet {cut}",
        )
    if has_tracks:
        return FileError(
            "holds tracks to look at, as dfopt writes them, and no sched_switch event of the "
            "kernel; name the trace that it was made from"
        )
    return FileError(NO_SWITCH)


class _Found:
    """The events in the packets read so far."""

    def __init__(self) -> None:
        self._comms = Numbering()
        self._idle_comm = self._comms[IDLE_COMM]
        self._marks = Numbering()
        self.switch_count = 0
        self._switches: list[Integers] = []
        # Rows of time, waker, woken from columns, with the CPU of the waker.
        self._wakings: list[tuple[int, Integers]] = []
        # For each event its rows, which begin with the time.
        self._rows: dict[str, list[tuple[int, ...]]] = {event: [] for event in EVENTS}
        self._groups: list[tuple[int, ...]] = []
        # Rows of time, parent, child, whether they are threads of one process.
        self._births: list[tuple[int, int, int, bool]] = []
        self._losses: list[Loss] = []
        # For each CPU the sequence of packets that its switches are in.
        self._sources: dict[int, int] = {}
        # The recorder's own counts; the last counts are the valid ones.
        self._statistics: Any = None
        self._cpus: int | None = None
        self._highest = 0
        self._clock: int | None = None
        self._sequences: set[int] = set()
        self.has_tracks = False
        """Whether there are tracks of a viewer; they hold no events of the kernel."""

    def add(self, packet: Any) -> None:
        """Take in a packet."""
        match packet.WhichOneof("data"):
            case "ftrace_events":
                # The first packet of every sequence says that there was no packet before it.
                sequence = packet.trusted_packet_sequence_id
                if packet.previous_packet_dropped and sequence in self._sequences:
                    self._lose(ANY_CPU)
                self._sequences.add(sequence)
                self._add_bundle(packet.ftrace_events, sequence)
            case "process_tree":
                tree, time = packet.process_tree, _time(packet.timestamp)
                self._groups += [
                    (time, _thread(process.pid), process.pid) for process in tree.processes
                ]
                self._groups += [
                    (time, _thread(thread.tid), _thread(thread.tgid)) for thread in tree.threads
                ]
            case "cpu_info":
                self._cpus = _declared(len(packet.cpu_info.cpus)) or self._cpus
            case "system_info":
                # Older classes do not have the number.
                cpus = _declared(getattr(packet.system_info, "num_cpus", 0))
                self._cpus = self._cpus or cpus or None
            case "trace_stats":
                self._statistics = packet.trace_stats
            case "track_descriptor" | "track_event":
                self.has_tracks = True
            case "zstd_compressed_packets":
                raise FileError("is compressed with zstd; record the trace without that")

    def _add_bundle(self, bundle: Any, sequence: int) -> None:
        if bundle.cpu >= LARGEST_CPU_COUNT:
            raise FileError(f"is about CPU {bundle.cpu}; the file is damaged, copy it again")
        self._highest = max(self._highest, bundle.cpu)
        if self._clock not in (None, bundle.ftrace_clock):
            raise FileError("uses another clock than the packets before; record with one clock")
        self._clock = bundle.ftrace_clock
        follows_loss = bundle.lost_events or bool(bundle.error)
        if follows_loss:
            self._lose(bundle.cpu)
        columns = bundle.compact_sched
        switches: list[tuple[int, ...]] = []
        for event in bundle.event:
            name = event.WhichOneof("event")
            if name == "sched_switch":
                switches.append(self._switch(bundle.cpu, event.timestamp, event.sched_switch))
            elif name in self._rows and (row := self._row(name, event)):
                self._rows[name].append(row)
        if (switches or columns.switch_timestamp) and (
            self._sources.setdefault(bundle.cpu, sequence) != sequence
        ):
            raise FileError(
                "holds switches of a CPU whose switches another data source recorded before; "
                "record sched/sched_switch in one linux.ftrace only"
            )
        rows = table(switches, SWITCH_COLUMNS)
        if columns.switch_timestamp:
            rows = np.concatenate([rows, self._switch_rows(bundle.cpu, columns)])
            if switches:
                rows = rows[np.argsort(rows[:, 1], kind="stable")]
        if columns.waking_timestamp:
            self._wakings.append((bundle.cpu, _waking_rows(columns)))
        if follows_loss and len(rows) and rows[0, 2] == UNKNOWN:
            rows[0, 2:5] = (IDLE, self._idle_comm, 0)
        self._switches.append(rows)
        self.switch_count += len(rows)

    def _switch_rows(self, cpu: int, columns: Any) -> Integers:
        time = _times(columns.switch_timestamp)
        state = np.array(columns.switch_prev_state, np.int64)
        following = _whole(columns.switch_next_pid)
        comm = _whole(columns.switch_next_comm_index)
        priority = np.array(columns.switch_next_prio, np.int64)
        names = [self._comms[words(name)] for name in columns.intern_table]
        if not len(time) == len(state) == len(following) == len(comm) == len(priority):
            raise FileError("holds columns of unequal length; the file is damaged, copy it again")
        if comm.max() >= len(names):
            raise FileError(
                "names a comm that it does not hold; the file is damaged, copy it again"
            )
        unknown = np.full(len(time), UNKNOWN)
        named = np.array(names, np.int64)[comm]
        cpus = np.full(len(time), cpu)
        return np.column_stack([cpus, time, unknown, unknown, state, following, named, priority])

    def _lose(self, cpu: int) -> None:
        self._losses.append(Loss(cpu=cpu, switches_before=self.switch_count, events=0))

    def _switch(self, cpu: int, time: int, switch: Any) -> tuple[int, ...]:
        return (
            cpu,
            _time(time),
            _thread(switch.prev_pid),
            self._comms[words(switch.prev_comm)],
            switch.prev_state,
            _thread(switch.next_pid),
            self._comms[words(switch.next_comm)],
            switch.next_prio,
        )

    def _row(self, name: str, event: Any) -> tuple[int, ...] | None:
        time = _time(event.timestamp)
        # On an idle CPU this is the idle thread, 0.
        thread = _thread(event.pid)
        fields = getattr(event, name)
        match name:
            case "sched_process_fork":
                return time, _thread(fields.parent_pid), _thread(fields.child_pid)
            case "task_newtask":
                child, together = _thread(fields.pid), fields.clone_flags & IN_SAME_PROCESS != 0
                self._births.append((time, thread, child, together))
                return time, thread, child
            case "sched_process_exit":
                return time, _thread(fields.pid)
            case "print":
                mark = MARK.search(words(fields.buf))
                return (time, thread, self._marks[mark[1]]) if mark else None
        waker = IDLE if event.common_flags & IN_INTERRUPT else thread
        return time, waker, _thread(fields.pid)

    def events(self, count: int) -> KernelEvents:
        """Return all events; ``count`` is the number of packets."""
        switches = self._all_switches()
        rows = {name: table(rows) for name, rows in self._rows.items() if name != EXIT}
        wakings = np.concatenate([self._all_wakings(switches), rows["sched_waking"]])
        if not len(wakings):
            wakings = np.concatenate([rows[name] for name in WAKEUPS])
        # task_newtask comes before sched_process_fork, for more threads, and names processes.
        forks = rows["task_newtask" if len(rows["task_newtask"]) else "sched_process_fork"]
        self._add_losses_of_buffers()
        return KernelEvents(
            switches=switches,
            wakeups=Wakeups.of(_by_time(wakings)),
            first_wakeups=Wakeups.of(_by_time(rows["sched_wakeup_new"])),
            forks=Forks.of(_by_time(forks)),
            exits=Exits.of(_by_time(table(self._rows[EXIT], 2))),
            groups=ThreadGroups.of(_by_time(table([*self._groups, *self._groups_at_birth()]))),
            marks=Marks.of(_by_time(rows["print"]), names=self._marks.names),
            losses=tuple(self._losses),
            comms=self._comms.names,
            cpus=None if self._cpus is None else max(self._cpus, self._highest + 1),
            lines=count,
        )

    def _all_switches(self) -> Switches:
        """Return all switches; where the thread that ran was left out, it is filled in."""
        rows = np.concatenate([table([], SWITCH_COLUMNS), *self._switches])
        order = np.argsort(rows[:, 0], kind="stable")
        sorted_rows = rows[order]
        unknown = np.flatnonzero(sorted_rows[:, 2] == UNKNOWN)
        before = sorted_rows[unknown - 1]
        has_before = (before[:, 0] == sorted_rows[unknown, 0]) & (unknown > 0)
        sorted_rows[unknown, 2] = np.where(has_before, before[:, 5], IDLE)
        sorted_rows[unknown, 3] = np.where(has_before, before[:, 6], self._idle_comm)
        sorted_rows[unknown, 4] *= has_before
        rows[order] = sorted_rows
        state = rows[:, 4]
        asleep = np.where(state & STATE_BITS, Stop.SLEEPS, Stop.PREEMPTED)
        return Switches(
            cpu=rows[:, 0].astype(np.int32),
            time=rows[:, 1].copy(),
            previous=rows[:, 2].astype(np.int32),
            previous_comm=rows[:, 3].astype(np.int32),
            previous_stop=np.where(state & ENDED, Stop.ENDS, asleep).astype(np.int8),
            next=rows[:, 5].astype(np.int32),
            next_priority=rows[:, 7].astype(np.int32),
        )

    def _all_wakings(self, switches: Switches) -> Integers:
        """Return the wakeups that are given as columns: rows of time, waker, woken."""
        found = [table([])]
        for cpu in sorted({cpu for cpu, _ in self._wakings}):
            rows = np.concatenate([part for number, part in self._wakings if number == cpu])
            mine = switches.cpu == cpu
            times, following = np.maximum.accumulate(switches.time[mine]), switches.next[mine]
            before = np.searchsorted(times, rows[:, 0], side="right") - 1
            ran = np.where(before >= 0, following[before], IDLE) if len(times) else IDLE
            rows[:, 1] = np.where(rows[:, 1] == UNKNOWN, ran, rows[:, 1])
            found.append(rows)
        return np.concatenate(found)

    def _groups_at_birth(self) -> list[tuple[int, ...]]:
        """Return the processes in which new threads begin, as rows of time, thread, process.

        The recorder looks at processes only from time to time, and misses those that end soon.
        """
        process = {thread: group for _, thread, group in reversed(self._groups)}
        found: list[tuple[int, ...]] = []
        for time, parent, child, together in sorted(self._births):
            group = process.get(parent) if together else child
            if group is not None:
                process[child] = group
                found.append((time, child, group))
        return found

    def _add_losses_of_buffers(self) -> None:
        """Note that the recorder's buffers were full; only its own counts show this.

        They lose their oldest events or the last ones; no switches are missing in between.
        """
        if self._statistics is None:
            return
        used = {
            writer.buffer
            for writer in self._statistics.writer_stats
            if writer.sequence_id in self._sequences
        }
        for number, buffer in enumerate(self._statistics.buffer_stats):
            if number in used and buffer.chunks_overwritten:
                self._losses.append(Loss(cpu=ANY_CPU, switches_before=0, events=0))
            if number in used and buffer.chunks_discarded:
                self._lose(ANY_CPU)


def _declared(cpus: int) -> int:
    if cpus > LARGEST_CPU_COUNT:
        raise FileError(f"declares {cpus} CPUs; the file is damaged, copy it again")
    return cpus


def _time(value: int) -> int:
    if value > LARGEST_TOTAL:
        raise FileError("holds a time beyond 2^62; the file is damaged, copy it again")
    return value


def _thread(value: int) -> int:
    # Some fields are unsigned, so that -1 is a large number there.
    if not 0 <= value < 1 << 31:
        raise FileError(f"holds the thread {value}; the file is damaged, copy it again")
    return value


def _by_time(rows: Integers) -> list[Any]:
    """Return the columns of rows, which begin with the time, in the order of time."""
    rows = rows[np.argsort(rows[:, 0], kind="stable")]
    return [rows[:, 0], *rows[:, 1:].T.astype(np.int32)]


def words(text: str | bytes) -> str:
    """Return a text of a packet, which the classes give as bytes where it is not UTF-8."""
    return text if isinstance(text, str) else text.decode("utf-8", "backslashreplace")


def table(rows: list[tuple[int, ...]], width: int = 3) -> Integers:
    """Return rows of numbers as an array, also where there are none."""
    return np.array(rows, np.int64).reshape(-1, width)


def _whole(values: Any) -> Integers:
    column = np.array(values, np.int64)
    if len(column) and column.min() < 0:
        raise FileError(f"holds the number {column.min()}; the file is damaged, copy it again")
    return column


def _times(differences: Any) -> Integers:
    """Return times; all but the first are given as differences from the one before."""
    if sum(differences) > LARGEST_TOTAL:
        raise FileError("holds a time beyond 2^62; the file is damaged, copy it again")
    return np.cumsum(np.array(differences, np.int64))


def _waking_rows(columns: Any) -> Integers:
    time, woken = _times(columns.waking_timestamp), _whole(columns.waking_pid)
    flags = np.array(columns.waking_common_flags, np.int64)
    if len(time) != len(woken):
        raise FileError("holds columns of unequal length; the file is damaged, copy it again")
    if len(flags) != len(time):  # older versions did not record them
        flags = np.zeros(len(time), np.int64)
    waker = np.where(flags & IN_INTERRUPT, IDLE, UNKNOWN)
    return np.column_stack([time, waker, woken])


MACHINE = 1
"""The track above those of the CPUs."""

GAP = "gap"
"""The category of a gap."""

SEQUENCE = 1
INCREMENTAL_STATE_CLEARED = 1

PACKETS_AT_ONCE = 10_000
"""Packets that are written together."""


def write_perfetto(trace: Trace, stream: BinaryIO, *, costs: Integers | None = None) -> None:
    """Write a trace that Perfetto's viewer shows.

    Parameters
    ----------
    trace
        Every dispatch becomes a slice on the track of its CPU, with the fragment as category.
    stream
        The file, as :func:`dfopt.files.storage.replacing` opens it.
    costs
        The cost of the switch to each dispatch; a counter on each CPU then shows their sum.

    Raises
    ------
    FileError
        When Perfetto's classes are not installed, or times are too long.
    """
    messages = perfetto_classes()
    factor = nanoseconds_per_unit(trace)
    packets = chain(
        _tracks(trace, with_counters=costs is not None),
        _slices(trace, factor),
        () if costs is None else _counters(trace, costs, factor),
    )
    while piece := list(islice(packets, PACKETS_AT_ONCE)):
        stream.write(messages.Trace(packet=piece).SerializeToString())


Packet = dict[str, Any]
"""The fields of a packet; those of messages within it are dictionaries, too."""


def _tracks(trace: Trace, *, with_counters: bool) -> Iterator[Packet]:
    """Yield the packets that describe the tracks."""
    machine = {"uuid": MACHINE, "name": trace.header.name or "CPUs", "child_ordering": "EXPLICIT"}
    yield {
        **_packet(track_descriptor=machine),
        "first_packet_on_sequence": True,
        "sequence_flags": INCREMENTAL_STATE_CLEARED,
    }
    unit = trace.header.time_unit
    for cpu in range(trace.cpus):
        yield _track(_slices_of(cpu), f"CPU {cpu}", 2 * cpu)
        if with_counters:
            counter = {"unit_name": unit} if unit else {}
            yield _track(_counter_of(cpu), f"CPU {cpu} penalty", 2 * cpu + 1, counter=counter)


def _track(track: int, name: str, rank: int, **fields: object) -> Packet:
    described = {"uuid": track, "parent_uuid": MACHINE, "name": name, "sibling_order_rank": rank}
    return _packet(track_descriptor=described | fields)


def _slices(trace: Trace, factor: int) -> Iterator[Packet]:
    """Yield the packets of the dispatches and gaps, those of a CPU in their order."""
    gaps = trace.gaps
    columns = [
        np.concatenate(pair).tolist()
        for pair in ((trace.cpu, gaps.cpu), (trace.start, gaps.start), (trace.end, gaps.end))
    ]
    for number in stretches_in_order(trace).tolist():
        cpu, start, end = (column[number] for column in columns)
        track = _slices_of(cpu)
        if number < len(trace):
            said = _said_of(trace, number)
        else:
            said = {"name": gaps.reasons[gaps.reason[number - len(trace)]], "categories": [GAP]}
        yield _event(track, start * factor, "TYPE_SLICE_BEGIN", **said)
        yield _event(track, end * factor, "TYPE_SLICE_END")


def _said_of(trace: Trace, row: int) -> dict[str, Any]:
    """Return the fields of a dispatch: its name, its fragment as category, lines and leaves."""
    comm, fragment = trace.comm_of(row), trace.fragment_of(row)
    return {
        "name": " ".join(filter(None, (comm, trace.tasks[trace.task[row]].name))),
        "categories": [] if fragment is None else [fragment],
        "debug_annotations": [
            {"name": key, "int_value" if isinstance(value, int) else "string_value": value}
            for key, value in trace.notes_of(row).items()
        ],
    }


def _counters(trace: Trace, costs: Integers, factor: int) -> Iterator[Packet]:
    """Yield the packets of the costs, added up on each CPU."""

    def counted(cpu: int, time: int, paid: int) -> Packet:
        return _event(_counter_of(cpu), time * factor, "TYPE_COUNTER", counter_value=paid)

    first = int(trace.start[0]) if len(trace) else 0
    last = [(first, 0)] * trace.cpus
    for cpu in range(trace.cpus):
        yield counted(cpu, *last[cpu])
    columns = (trace.cpu.tolist(), trace.start.tolist(), trace.end.tolist())
    for cpu, start, end, paid in zip(*columns, paid_so_far(trace, costs), strict=True):
        if paid != last[cpu][1]:
            yield counted(cpu, start, paid)
        last[cpu] = end, paid
    for cpu in range(trace.cpus):
        yield counted(cpu, *last[cpu])


def _event(track: int, time: int, kind: str, **fields: object) -> Packet:
    event = {"type": kind, "track_uuid": track, **fields}
    return _packet(timestamp=time, track_event=event)


def _packet(**fields: object) -> Packet:
    return {"trusted_packet_sequence_id": SEQUENCE, **fields}


def _slices_of(cpu: int) -> int:
    return 2 * cpu + 2


def _counter_of(cpu: int) -> int:
    return 2 * cpu + 3
