"""Switches as the lines of every dialect, and back."""

from dataclasses import dataclass
from io import BytesIO

from dfopt.trace.formats import read_ftrace, read_perf

LETTERS = {b"S": 1, b"D": 2, b"R": 0, b"R+": 256, b"Z": 32, b"X": 16}


@dataclass(frozen=True)
class Switch:
    """A switch: time in microseconds, threads as pairs of pid and comm, the next one's priority."""

    cpu: int
    time: int
    previous: tuple[int, bytes]
    next: tuple[int, bytes]
    state: bytes = b"S"
    priority: int = 120

    @property
    def seconds(self):
        return b"%d.%06d" % divmod(self.time, 1_000_000)


def fields(switch, arrow=b" ==>"):
    return (
        b"prev_comm=%b prev_pid=%d prev_prio=120 prev_state=%b%b next_comm=%b next_pid=%d "
        b"next_prio=%d"
    ) % (
        switch.previous[1],
        switch.previous[0],
        switch.state,
        arrow,
        switch.next[1],
        switch.next[0],
        switch.priority,
    )


def numeric_fields(switch):
    state = b"prev_state=%b" % switch.state
    return fields(switch, b"").replace(state, b"prev_state=%d" % LETTERS[switch.state], 1)


def plugin(switch, state=b"%b"):
    return b"%b:%d [120] %b ==> %b:%d [%d]" % (
        switch.previous[1],
        switch.previous[0],
        state % switch.state,
        switch.next[1],
        switch.next[0],
        switch.priority,
    )


def old(switch):
    return b"task " + plugin(switch, b"(%b)")


def perf(switch):
    pid, comm = switch.previous
    return b"%16b %5d [%03d] %b:       sched:sched_switch: %b" % (
        comm,
        pid,
        switch.cpu,
        switch.seconds.rjust(12),
        fields(switch),
    )


def perf_ns(switch):
    return perf(switch).replace(b":    ", b"000:    ", 1)


def perf_ids_and_period(switch):
    pid, comm = switch.previous
    return b"%16b %5d/%-5d [%03d] %b:          1 sched_switch: %b" % (
        comm,
        pid // 2 or -1,
        pid,
        switch.cpu,
        switch.seconds.rjust(12),
        fields(switch),
    )


def header(switch, between=b"", flags=b"d..2. "):
    # The head of a line may name the thread that comes next, or none that it knows.
    return b"%16b-%-7d %b[%03d] %b%12b: " % (
        switch.next[1],
        switch.previous[0],
        between,
        switch.cpu,
        flags,
        switch.seconds,
    )


def tracefs(switch):
    return header(switch) + b"sched_switch: " + fields(switch)


def tracefs_ids(switch):
    tgid = b"(%7d) " % (switch.previous[0] // 2) if switch.previous[0] else b"(-------) "
    return header(switch, tgid) + b"sched_switch: " + fields(switch)


def systrace(switch):
    return header(switch, flags=b"") + b"sched_switch: " + fields(switch)


def report(switch):
    return header(switch, flags=b"") + b"sched_switch:          " + plugin(switch)


def report_no_plugins(switch):
    return header(switch, flags=b"") + b"sched_switch:          " + fields(switch)


def report_raw(switch):
    return header(switch, flags=b"") + b"sched_switch:          " + numeric_fields(switch)


def report_latency(switch):
    return b"%8b-%-5d %3dd..2. %12b: sched_switch:         %b" % (
        switch.next[1][:8],
        switch.previous[0],
        switch.cpu,
        switch.seconds,
        plugin(switch),
    )


def old_kernel(switch):
    return header(switch, flags=b"") + b"sched_switch: " + old(switch)


PERF = (perf, perf_ns, perf_ids_and_period)
NAMED = (*PERF, tracefs, tracefs_ids, systrace, report_no_plugins, report_raw)
"""Dialects in which a comm stands after its name, so that it may begin with spaces."""

DIALECTS = (*NAMED, report, report_latency, old_kernel)


def text_of(switches, dialect):
    return b"".join(dialect(switch) + b"\n" for switch in switches)


def read(text, dialect=tracefs):
    """Return the trace in a text of a dialect."""
    return (read_perf if dialect in PERF else read_ftrace)(BytesIO(text))


def dispatches(trace):
    """Return the dispatches as tuples: CPU, start, end, thread, comm; times in nanoseconds."""
    return [
        (cpu, start, end, trace.tasks[task].tid, trace.comms[comm])
        for cpu, start, end, task, comm in zip(
            trace.cpu.tolist(),
            trace.start.tolist(),
            trace.end.tolist(),
            trace.task.tolist(),
            trace.comm.tolist(),
            strict=True,
        )
    ]
