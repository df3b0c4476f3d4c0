"""What the kernel's scheduling events look like in text, after the head of the line.

An event has up to three forms: its fields by name (``perf script``, tracefs, ``trace-cmd report
-N`` and ``-R``), that of trace-cmd's plugin, and that of kernels before 2.6.34. A comm is up to
15 bytes of anything, even of what these patterns look for. They hold all the same: what follows
a comm is longer than 15 bytes, or has to reach the end of the line.
"""

from __future__ import annotations

PID = r"\d{1,9}"
TIME = r"(?P<time>[1-8]?\d{1,9}\.\d{6})(?P<nanoseconds>\d{3})?:"
"""Seconds, with six or nine places."""

_COMM = ".{0,15}?"
_PRIO = r"-?\d{1,9}"
_BRACKETS = rf"\[{_PRIO}\]"
_MORE = r"(?: (?!pid=|prio=)\w+=[^ \n]*)*(?: \[\d+\])?"
"""What some kernels add."""

_SWITCH = (
    "(?P<switch>switch): +(?:"
    rf"prev_comm=(?P<comm>.*?) prev_pid=(?P<previous>{PID}) prev_prio={_PRIO} "
    rf"prev_state=(?P<state>[^ \n]+) (?:==> )?next_comm=.*? next_pid=(?P<next>{PID}) "
    rf"next_prio={_PRIO}{_MORE}"
    rf"|task (?P<old_comm>{_COMM}):(?P<old_previous>{PID}) {_BRACKETS} "
    rf"\((?P<old_state>[^ \n]+)\) ==> {_COMM}:(?P<old_next>{PID}) {_BRACKETS}"
    rf"|(?P<plugin_comm>{_COMM}):(?P<plugin_previous>{PID}) {_BRACKETS} "
    rf"(?P<plugin_state>[^ \n]+) ==> {_COMM}:(?P<plugin_next>{PID}) {_BRACKETS})"
)
_WAKEUP = (
    "(?P<wakeup>waking|wakeup_new|wakeup): +(?:"
    rf"comm=.*? pid=(?P<woken>{PID}) prio={_PRIO}{_MORE}"
    rf"|(?:task )?{_COMM}:(?P<plugin_woken>{PID}) {_BRACKETS}{_MORE}(?: CPU:\d+)?)"
)
_FORK = (
    "(?P<fork>process_fork): +(?:"
    rf"comm=.*? pid=(?P<parent>{PID}) child_comm=.*? child_pid=(?P<child>{PID})"
    rf"|parent {_COMM}:(?P<old_parent>{PID}) +child {_COMM}:(?P<old_child>{PID}))"
)
_EXIT = (
    "(?P<exit>process_exit): +(?:"
    rf"comm=.*? pid=(?P<ended>{PID}) prio={_PRIO}{_MORE}"
    rf"|task {_COMM}:(?P<old_ended>{PID}) {_BRACKETS})"
)
_MARKERS = "(?:ftrace:)?(?:tracing_mark_write|b?print|bputs|0): "
_MARK = rf"{_MARKERS}(?:.*[ :=])?dfopt:df=(?P<mark>[^ \n](?:.*[^ \n])?) *"
# An event that is wanted but cannot be understood is not some other event. Besides events by
# their names, there are perf's own records and what the function tracer writes.
_OTHER = (
    "(?!(?:sched:)?sched_(?:switch|waking|wakeup|wakeup_new|process_fork|process_exit):"
    rf"|{_MARKERS}(?:.*[ :=])?dfopt:df= *\n)"
    r"(?:[^ \n]+:(?:[ \t].*)?|PERF_RECORD_.*|[^ \n]+ <-.*)"
)

EVENT = f"(?:(?:sched:)?sched_(?:{_SWITCH}|{_WAKEUP}|{_FORK}|{_EXIT})|{_MARK}|{_OTHER})"
"""Any event; the groups say what it is."""

QUICK_PID = "[0-9]{1,9}+"
_WORD = r"[^ \n]++"
_NUMBER = "-?[0-9]{1,9}+"
QUICK_TIME = r"(?P<time>[0-9]{1,9}+\.[0-9]{6})(?P<nanoseconds>[0-9]{3})?+:"
QUICK_EVENT = (
    "(?:sched:)?+sched_(?:"
    rf"(?P<switch>switch): ++prev_comm=(?P<comm>{_WORD}) prev_pid=(?P<previous>{QUICK_PID}) "
    rf"prev_prio={_NUMBER} prev_state=(?P<state>{_WORD}) (?:==> )?+next_comm={_WORD} "
    rf"next_pid=(?P<next>{QUICK_PID}) next_prio={_NUMBER}"
    rf"|(?P<wakeup>waking|wakeup|wakeup_new): ++comm={_WORD} pid=(?P<woken>{QUICK_PID}) "
    rf"prio={_NUMBER}(?: success={_NUMBER})?+ target_cpu={_NUMBER}"
    rf"|(?P<fork>process_fork): ++comm={_WORD} pid=(?P<parent>{QUICK_PID}) "
    rf"child_comm={_WORD} child_pid=(?P<child>{QUICK_PID})"
    "|(?:stat_[a-z]++|migrate_task|process_exec): .*+)"
)
"""The usual forms of the usual events, found in half the time: comms without spaces only."""
