"""The lines of perf and of ftrace, as patterns.

Lines of ``perf script`` and ``perf sched script`` are ``comm pid [cpu] time: [period] event: …``,
where pid may be pid/tid. Beside events there are comments, the stack of an event, and records of
perf itself (``--show-lost-events`` and others).

Lines of tracefs, of ``trace-cmd report`` and of systrace are
``comm-pid (tgid) [cpu] flags time: event: …``; tgid and flags may be missing, and the latency
format has ``2d..1.`` for CPU and flags.

An event has at most three forms: its fields by name (``perf script``, tracefs, ``trace-cmd report
-N`` and ``-R``), the form of trace-cmd's plugin, and the form of kernels before 2.6.34. A comm is
at most 15 bytes of anything, even of text that these patterns look for. The patterns find the right
end of a comm all the same: the text after it is longer than 15 bytes, or must reach the end of the
line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import BinaryIO

from dfopt.trace.kernel_text import (
    COMMENT,
    SURE_COMMENT,
    Grammar,
    Piece,
    any_line,
    pieces_of,
    read_kernel_text,
)
from dfopt.trace.trace import Trace

PID = "[0-9]{1,9}+"
TIME = r"(?P<time>[1-8]?[0-9]{1,9}\.[0-9]{6})(?P<nanoseconds>[0-9]{3})?+:"
"""Seconds, with six or nine places."""

_COMM = ".{0,15}?"
_PRIO = "-?[0-9]{1,9}+"
_BRACKETS = rf"\[{_PRIO}\]"
_MORE = r"(?: (?!pid=|prio=)\w++=[^ \n]*+)*+(?: \[[0-9]++\])?+"
"""Fields that some kernels add."""

_SWITCH = (
    rf"prev_comm=(?P<comm>.*?) prev_pid=(?P<previous>{PID}) prev_prio={_PRIO} "
    rf"prev_state=(?P<state>[^ \n]++) (?:==> )?+next_comm=.*? next_pid=(?P<next>{PID}) "
    rf"next_prio=(?P<priority>{_PRIO}){_MORE}"
)
_SWITCH_OTHERWISE = (
    rf"task (?P<old_comm>{_COMM}):(?P<old_previous>{PID}) {_BRACKETS} "
    rf"\((?P<old_state>[^ \n]+)\) ==> {_COMM}:(?P<old_next>{PID}) "
    rf"\[(?P<old_priority>{_PRIO})\]"
    rf"|(?P<plugin_comm>{_COMM}):(?P<plugin_previous>{PID}) {_BRACKETS} "
    rf"(?P<plugin_state>[^ \n]++) ==> {_COMM}:(?P<plugin_next>{PID}) "
    rf"\[(?P<plugin_priority>{_PRIO})\]"
)
_WAKEUP = rf"comm=.*? pid=(?P<woken>{PID}) prio={_PRIO}{_MORE}"
_WAKEUP_OTHERWISE = (
    rf"(?:task )?{_COMM}:(?P<plugin_woken>{PID}) {_BRACKETS}{_MORE}(?: CPU:[0-9]++)?"
)
_FORK = (
    rf"(?:parent_)?+comm=.*? (?:parent_)?+pid=(?P<parent>{PID}) "
    rf"child_comm=.*? child_pid=(?P<child>{PID})"
)
_FORK_OTHERWISE = rf"parent {_COMM}:(?P<old_parent>{PID}) +child {_COMM}:(?P<old_child>{PID})"
_EXIT = rf"comm=.*? pid=(?P<ended>{PID}) prio={_PRIO}{_MORE}"
_EXIT_OTHERWISE = rf"task {_COMM}:(?P<old_ended>{PID}) {_BRACKETS}"

_MARKER = "(?:ftrace:)?+(?:tracing_mark_write|b?print|bputs|0): (?:.*[ :=])?dfopt:df="
_MARK = rf"{_MARKER} *+(?P<mark>[^ \n](?:.*[^ \n])?) *"

# The event of a probe may have the same name. The place in its brackets is no comm: it is too long.
_PROBE = r"\((?=[^)\n]{15})[^ )+\n]++\+0x[0-9a-f]++/0x[0-9a-f]++(?: <- [^ )\n]++)?+\)"
_WANTED = (
    "(?:sched:)?sched_(?:switch|waking|wakeup|wakeup_new|process_fork|process_exit):"
    f"(?! ++{_PROBE})"
)
# Events by their names, system calls that begin without arguments or that return, perf's own
# records, the lines of the function tracer, and beginnings of stacks.
_OTHERS = (
    r"(?:[^ \n]+:(?:[ \t].*+)?|\w++(?:\(\)| -> [^ \n]++)|PERF_RECORD_.*|[^ \n]+ <-.*"
    "|<(?:user )?+stack trace>)"
)

_FAILED = r"(?:\[FAILED TO PARSE\] )?+"
"""trace-cmd writes this if it cannot print an event in its own form; fields by name follow."""


def _event(switch: str, wakeup: str, fork: str, ended: str) -> str:
    # A wanted event that cannot be understood must not count as another event.
    return (
        f"(?:sched:)?+sched_(?:(?P<switch>switch): ++{_FAILED}(?:{switch})"
        f"|(?P<wakeup>waking|wakeup_new|wakeup): ++{_FAILED}(?:{wakeup})"
        "|(?:stat_[a-z]++|migrate_task): .*+"
        f"|(?P<fork>process_fork): ++{_FAILED}(?:{fork})"
        f"|(?P<exit>process_exit): ++{_FAILED}(?:{ended}))"
        f"|(?!{_WANTED}|{_MARKER}){_OTHERS}"
    )


def usual_event(thread: str) -> str:
    """Return a fast pattern for events with fields by name, comms without spaces, and no marks.

    Its groups say which event it is, and hold the fields.

    Parameters
    ----------
    thread
        Matches the number of the thread from which a switch of this line must come.
    """
    forms = _SWITCH.replace(f"<previous>{PID}", f"<previous>{thread}"), _WAKEUP, _FORK, _EXIT
    words = (form.replace(".*?", r"[^ \n]++") for form in forms)
    return f"(?:{_event(*words)})"


_EVENT = _event(
    f"{_SWITCH}|{_SWITCH_OTHERWISE}",
    f"{_WAKEUP}|{_WAKEUP_OTHERWISE}",
    f"{_FORK}|{_FORK_OTHERWISE}",
    f"{_EXIT}|{_EXIT_OTHERWISE}",
)
EVENT = f"(?:{_EVENT}|{_MARK})"
"""An event in any form."""

# Right-aligned, so that an empty comm is nothing but spaces.
_PERF_COMM = r"(?: *+[^ \n]++(?: .*?)?? ++| +)"
# A thread that has ended is -1. The mode of the processor may stand before the time (-F +misc).
_PERF_HEAD = (
    rf"{_PERF_COMM}(?:(?P<tgid>-1|{PID})/)?+(?P<pid>(?P<gone>-1)|{PID}) ++"
    rf"\[(?P<cpu>[0-9]{{3,5}}+)\] ++(?:[A-Za-z]{{1,5}} ++)?+{TIME} ++"
)
_PERF_USUAL = usual_event(f"(?(gone){PID}|(?P=pid))")
_PERIOD = "(?:[0-9]++ ++)?+"
# Terminals and web pages make spaces of the tab; behind them only a whole frame is certain.
_STACK = (
    r"(?:\t *[0-9a-f]{1,16} .*| ++[0-9a-f]{1,16} (?:.*\+0x[0-9a-f]++|[^ \n]++) \(.*\)"
    r"|[ \t]+.* \(inlined\))"
)

PERF = Grammar(
    name="perf script text",
    remedy="render it by `perf script -F comm,tid,cpu,time,event,trace` with times in seconds",
    hints=(),
    line=any_line(f"{_PERF_HEAD}{_PERIOD}{EVENT}", COMMENT, "PERF_RECORD_.*", _STACK),
    usual=any_line(f"{_PERF_HEAD}{_PERIOD}{_PERF_USUAL}", SURE_COMMENT),
    head=re.compile(_PERF_HEAD.encode()),
    declared=re.compile(rb"^[ \t]*# nrcpus avail : (?P<cpus>\d{1,5})[ \t]*$", re.MULTILINE),
    loss=re.compile(
        rf"^(?:{_PERF_HEAD.replace('P<cpu>', 'P<loss_cpu>')})?".encode()
        + rb"PERF_RECORD_LOST(?:_SAMPLES)? lost (?P<lost>\d{1,18})[ \t]*$",
        re.MULTILINE,
    ),
    loss_words=(b"PERF_RECORD_LOST",),
)

_FTRACE_HEAD = (
    rf" *+.*?-(?P<pid>{PID}) ++(?:\( *+(?:(?P<tgid>{PID})|-++)\) ++)?+"
    rf"(?=\[|[0-9]+[^ 0-9\n])\[?+(?P<cpu>[0-9]{{1,5}}+)\]?+ *(?P<flags>[^ 0-9\n][^ \n]*+)?+ ++"
    # trace-cmd report --ts-diff: the time since the line before.
    rf"{TIME} ++(?:\(\+[0-9]++\) ++)?+"
)
_FTRACE_USUAL = usual_event("(?P=pid)")
_AROUND = (
    r"[ \t]*(?:version = \d+|cpus=\d+|CPU \d+ is empty|TRACE:|capturing trace\.\.\..*|=> .*)",
    r" *dummy-0+ +\[\d+\] 0\.0: 0: trace_event_clock_sync: .*",
)
"""The lines that these programs write before, between and after the events."""

FTRACE = Grammar(
    name="ftrace text",
    remedy="print it as tracefs, or trace-cmd report, does without options",
    hints=(
        (re.compile(rb" type: \d+$"), "print it with options/raw, hex and bin off"),
        (re.compile(rb"=0x[0-9a-f]+ \("), "print it with options/fields off"),
        (re.compile(rb"\d(?:us.?: |ms \(\+)"), "print it with options/latency-format off"),
        (re.compile(rb"^[a-z_]+: [a-z_]+="), "print it with options/context-info on"),
        (
            re.compile(rb"^(?!.*\d\.(?:\d{6}|\d{9}): ).*(?:\[\d+\]|\d\S{4,}) *(?:\S+ +)?\d+: "),
            "record with a trace_clock that counts seconds, such as mono",
        ),
    ),
    line=any_line(f"{_FTRACE_HEAD}{EVENT}", COMMENT, *_AROUND),
    usual=any_line(f"{_FTRACE_HEAD}{_FTRACE_USUAL}", SURE_COMMENT, *_AROUND),
    head=re.compile(_FTRACE_HEAD.encode()),
    declared=re.compile(
        rb"^[ \t]*(?:# entries-in-buffer/entries-written: "
        rb"(?P<kept>\d{1,18})/(?P<written>\d{1,18}) +#P:(?P<online>\d{1,5})"
        rb"|cpus=(?P<cpus>\d{1,5}))[ \t]*$",
        re.MULTILINE,
    ),
    loss=re.compile(
        rb"^[ \t]*CPU[: ](?P<loss_cpu>\d{1,5})(?: \[(?:LOST )?|: )(?:(?P<lost>\d{1,18}) )?"
        rb"(?:EVENTS(?: DROPPED)?\]|events lost)[ \t]*$",
        re.MULTILINE,
    ),
    loss_words=(b" EVENTS]", b"EVENTS DROPPED]", b" events lost"),
)


def read_perf(stream: BinaryIO) -> Trace:
    """Return the trace in the text of ``perf script`` or ``perf sched script``.

    Raises
    ------
    FileError
        With line and remedy, when it is no such trace.
    """
    return read_kernel_text(pieces_of(stream), PERF, other=FTRACE)


def read_ftrace(stream: BinaryIO) -> Trace:
    """Return the trace in the text of tracefs or ``trace-cmd report``.

    Raises
    ------
    FileError
        With line and remedy, when it is no such trace.
    """
    return read_ftrace_pieces(pieces_of(stream))


def read_ftrace_pieces(pieces: Iterable[Piece]) -> Trace:
    """Return the trace in pieces of such text.

    Raises
    ------
    FileError
        With line and remedy, when it is no such trace.
    """
    return read_kernel_text(pieces, FTRACE, other=PERF)
