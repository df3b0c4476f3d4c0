"""The lines of tracefs, of ``trace-cmd report`` and of systrace.

``comm-pid (tgid) [cpu] flags time: event: …``; tgid and flags may be missing, and the latency
format has ``2d..1.`` for CPU and flags.
"""

from __future__ import annotations

import re

from dfopt.trace.readers.event_lines import EVENT, PID, TIME, usual_event
from dfopt.trace.readers.kernel_text import COMMENT, SURE_COMMENT, Grammar, any_line

_HEAD = (
    rf" *+.*?-(?P<pid>{PID}) ++(?:\( *+(?:(?P<tgid>{PID})|-++)\) ++)?+"
    rf"(?=\[|[0-9]+[^ 0-9\n])\[?+(?P<cpu>[0-9]{{1,5}}+)\]?+ *(?P<flags>[^ 0-9\n][^ \n]*+)?+ ++"
    # trace-cmd report --ts-diff: the time since the line before.
    rf"{TIME} ++(?:\(\+[0-9]++\) ++)?+"
)
_USUAL = usual_event("(?P=pid)")
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
    line=any_line(f"{_HEAD}{EVENT}", COMMENT, *_AROUND),
    usual=any_line(f"{_HEAD}{_USUAL}", SURE_COMMENT, *_AROUND),
    head=re.compile(_HEAD.encode()),
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
