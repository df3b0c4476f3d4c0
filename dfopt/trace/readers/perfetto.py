"""Perfetto's traces, as far as they hold the kernel's scheduling events."""

from __future__ import annotations

import re
from typing import Any, BinaryIO

import numpy as np

from dfopt.checks import LARGEST_TOTAL
from dfopt.errors import FileError
from dfopt.problem.instance import LARGEST_CPU_COUNT
from dfopt.structs import replace
from dfopt.trace.dispatches import IDLE, trace_of
from dfopt.trace.events import (
    ANY_CPU,
    Exits,
    Forks,
    Integers,
    KernelEvents,
    Loss,
    Marks,
    ThreadGroups,
    Wakeups,
)
from dfopt.trace.perfetto_packets import PacketCutError, packets
from dfopt.trace.readers.perfetto_bundles import IN_INTERRUPT, Bundles, table, words
from dfopt.trace.trace import Numbering, Trace

WAKEUPS = ("sched_waking", "sched_wakeup", "sched_wakeup_new")
EVENTS = (
    "sched_switch", *WAKEUPS, "sched_process_fork", "task_newtask", "sched_process_exit", "print",
)  # fmt: skip

IN_SAME_PROCESS = 0x10000
"""The flag of a new task that is a thread of its parent's process (CLONE_THREAD)."""

NO_SWITCH = (
    "holds no sched_switch event of the kernel; record the data source linux.ftrace with "
    "sched/sched_switch"
)

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
    found = _Found()
    cut: PacketCutError | None = None
    count = 0
    try:
        for count, packet in packets(stream):
            try:
                found.add(packet)
            except FileError as error:
                raise FileError(error.problem, place=f"packet {count}") from None
    except PacketCutError as error:
        cut, count = error, error.number
    if not found.has_switches:
        raise _without_switches(cut, has_tracks=found.has_tracks)
    events = found.events(count)
    if cut is not None:
        events = replace(events, unparsed=1, first_unparsed=cut.number)
    return trace_of(events)


def _without_switches(cut: PacketCutError | None, *, has_tracks: bool) -> FileError:
    if cut is not None:
        return FileError(f"{cut.problem}; before it the file {NO_SWITCH}", place=cut.place)
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
        self._bundled = Bundles(self._comms)
        self._marks = Numbering()
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

    @property
    def has_switches(self) -> bool:
        """Whether any packet held a switch."""
        return self._bundled.switch_count > 0

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
        switches: list[tuple[int, ...]] = []
        for event in bundle.event:
            name = event.WhichOneof("event")
            if name == "sched_switch":
                switches.append(self._switch(event.timestamp, event.sched_switch))
            elif name in self._rows and (row := self._row(name, event)):
                self._rows[name].append(row)
        if (switches or bundle.compact_sched.switch_timestamp) and (
            self._sources.setdefault(bundle.cpu, sequence) != sequence
        ):
            raise FileError(
                "holds switches of a CPU whose switches another data source recorded before; "
                "record sched/sched_switch in one linux.ftrace only"
            )
        self._bundled.add(
            bundle.cpu, events=switches, columns=bundle.compact_sched, follows_loss=follows_loss
        )

    def _lose(self, cpu: int) -> None:
        self._losses.append(Loss(cpu=cpu, switches_before=self._bundled.switch_count, events=0))

    def _switch(self, time: int, switch: Any) -> tuple[int, ...]:
        return (
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
        switches = self._bundled.switches()
        wakings = np.concatenate([self._bundled.wakings(switches), self._table("sched_waking")])
        if not len(wakings):
            wakings = np.concatenate([self._table(name) for name in WAKEUPS])
        wakeup_time, waker, woken = _by_time(wakings)
        # task_newtask comes before sched_process_fork, for more threads, and names processes.
        forks = self._rows["task_newtask"] or self._rows["sched_process_fork"]
        fork_time, parent, child = _by_time(table(forks))
        exit_time, ended = _by_time(table(self._rows["sched_process_exit"], 2))
        group_time, thread, process = _by_time(table([*self._groups, *self._groups_at_birth()]))
        birth_time, maker, born = _by_time(self._table("sched_wakeup_new"))
        mark_time, marking, fragment = _by_time(self._table("print"))
        self._add_losses_of_buffers()
        return KernelEvents(
            switches=switches,
            wakeups=Wakeups(time=wakeup_time, waker=waker, woken=woken),
            first_wakeups=Wakeups(time=birth_time, waker=maker, woken=born),
            forks=Forks(time=fork_time, parent=parent, child=child),
            exits=Exits(time=exit_time, pid=ended),
            groups=ThreadGroups(time=group_time, pid=thread, tgid=process),
            marks=Marks(time=mark_time, pid=marking, df=fragment, names=self._marks.names),
            losses=tuple(self._losses),
            comms=self._comms.names,
            cpus=None if self._cpus is None else max(self._cpus, self._highest + 1),
            lines=count,
        )

    def _table(self, name: str) -> Integers:
        return table(self._rows[name])

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
