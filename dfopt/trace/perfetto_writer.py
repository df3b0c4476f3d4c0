"""Traces for Perfetto's viewer: a track for each CPU, and a counter of its switch costs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from typing import Any, BinaryIO

import numpy as np

from dfopt.trace.events import Integers
from dfopt.trace.perfetto import framed, perfetto_classes
from dfopt.trace.stretches import nanoseconds_per_unit, paid_so_far, stretches_in_order
from dfopt.trace.trace import Trace

MACHINE = 1
"""The track above those of the CPUs."""

GAP = "gap"
"""The category of a gap."""

SEQUENCE = 1

AT_ONCE = 10_000


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
    writer = _Writer(perfetto_classes(), trace)
    counters = () if costs is None else writer.counters(costs)
    data = map(framed, chain(writer.tracks(costs is not None), writer.slices(), counters))
    while piece := b"".join(islice(data, AT_ONCE)):
        stream.write(piece)


class _Writer:
    """The packets of one trace."""

    def __init__(self, classes: Any, trace: Trace) -> None:
        self._classes = classes
        self._trace = trace
        self._factor = nanoseconds_per_unit(trace)

    def tracks(self, with_counters: bool) -> Iterator[Any]:
        """Yield the packets that describe the tracks."""
        name = self._trace.header.name or "CPUs"
        packet = self._packet()
        packet.first_packet_on_sequence = True
        packet.sequence_flags = self._classes.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
        packet.track_descriptor.uuid = MACHINE
        packet.track_descriptor.name = name
        packet.track_descriptor.child_ordering = self._classes.TrackDescriptor.EXPLICIT
        yield packet
        for cpu in range(self._trace.cpus):
            yield self._track(_slices_of(cpu), f"CPU {cpu}", 2 * cpu)
            if with_counters:
                packet = self._track(_counter_of(cpu), f"CPU {cpu} penalty", 2 * cpu + 1)
                unit = self._trace.header.time_unit
                packet.track_descriptor.counter.SetInParent()
                if unit:
                    packet.track_descriptor.counter.unit_name = unit
                yield packet

    def _track(self, track: int, name: str, rank: int) -> Any:
        packet = self._packet()
        descriptor = packet.track_descriptor
        descriptor.uuid, descriptor.parent_uuid = track, MACHINE
        descriptor.name, descriptor.sibling_order_rank = name, rank
        return packet

    def slices(self) -> Iterator[Any]:
        """Yield the packets of the dispatches and gaps, those of a CPU in their order."""
        trace, gaps, event_class = self._trace, self._trace.gaps, self._classes.TrackEvent
        columns = [
            np.concatenate(pair).tolist()
            for pair in (
                (trace.cpu, gaps.cpu),
                (trace.start, gaps.start),
                (trace.end, gaps.end),
            )
        ]
        for number in stretches_in_order(trace).tolist():
            cpu, start, end = (column[number] for column in columns)
            packet = self._event(_slices_of(cpu), start, event_class.TYPE_SLICE_BEGIN)
            if number < len(trace):
                self._describe(packet.track_event, number)
            else:
                packet.track_event.name = gaps.reasons[gaps.reason[number - len(trace)]]
                packet.track_event.categories.append(GAP)
            yield packet
            yield self._event(_slices_of(cpu), end, event_class.TYPE_SLICE_END)

    def _describe(self, event: Any, row: int) -> None:
        """Add the fields of a dispatch: its name, its fragment as category, lines and leaves."""
        trace = self._trace
        name, comm = trace.tasks[trace.task[row]].name, trace.comm_of(row)
        event.name = f"{comm} {name}" if comm else name
        fragment = trace.fragment_of(row)
        if fragment is not None:
            event.categories.append(fragment)
        for key, value in trace.notes_of(row).items():
            kind = "int_value" if isinstance(value, int) else "string_value"
            event.debug_annotations.add(name=key, **{kind: value})

    def counters(self, costs: Integers) -> Iterator[Any]:
        """Yield the packets of the costs, added up on each CPU."""
        trace = self._trace
        first = int(trace.start[0]) if len(trace) else 0
        last = [(first, 0)] * trace.cpus
        for cpu, (time, paid) in enumerate(last):
            yield self._counted(cpu, time, paid)
        columns = (trace.cpu.tolist(), trace.start.tolist(), trace.end.tolist())
        for cpu, start, end, paid in zip(*columns, paid_so_far(trace, costs), strict=True):
            if paid != last[cpu][1]:
                yield self._counted(cpu, start, paid)
            last[cpu] = end, paid
        for cpu, (time, paid) in enumerate(last):
            yield self._counted(cpu, time, paid)

    def _counted(self, cpu: int, time: int, value: int) -> Any:
        packet = self._event(_counter_of(cpu), time, self._classes.TrackEvent.TYPE_COUNTER)
        packet.track_event.counter_value = value
        return packet

    def _event(self, track: int, time: int, event_type: int) -> Any:
        packet = self._packet()
        packet.timestamp = time * self._factor
        packet.track_event.type = event_type
        packet.track_event.track_uuid = track
        return packet

    def _packet(self) -> Any:
        return self._classes.TracePacket(trusted_packet_sequence_id=SEQUENCE)


def _slices_of(cpu: int) -> int:
    return 2 * cpu + 2


def _counter_of(cpu: int) -> int:
    return 2 * cpu + 3
