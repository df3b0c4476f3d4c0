"""Patterns of the kernel's scheduling events in text, after the head of the line.

An event has at most three forms: its fields by name (``perf script``, tracefs, ``trace-cmd report
-N`` and ``-R``), the form of trace-cmd's plugin, and the form of kernels before 2.6.34. A comm is
at most 15 bytes of anything, even of text that these patterns look for. The patterns find the right
end of a comm all the same: the text after it is longer than 15 bytes, or must reach the end of the
line.
"""

from __future__ import annotations

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
