"""The lines of ``perf script`` and ``perf sched script``.

``comm pid [cpu] time: [period] event: …``, where pid may be pid/tid. Beside events there are
comments, the stack of an event, and records of perf itself (``--show-lost-events`` and others).
"""

from __future__ import annotations

import re

from dfopt.trace.readers.event_lines import EVENT, PID, TIME, usual_event
from dfopt.trace.readers.kernel_text import COMMENT, SURE_COMMENT, Grammar, any_line

# Right-aligned, so that an empty comm is nothing but spaces.
_COMM = r"(?: *+[^ \n]++(?: .*?)?? ++| +)"
# A thread that has ended is -1. The mode of the processor may stand before the time (-F +misc).
_HEAD = (
    rf"{_COMM}(?:(?P<tgid>-1|{PID})/)?+(?P<pid>(?P<gone>-1)|{PID}) ++"
    rf"\[(?P<cpu>[0-9]{{3,5}}+)\] ++(?:[A-Za-z]{{1,5}} ++)?+{TIME} ++"
)
_USUAL = usual_event(f"(?(gone){PID}|(?P=pid))")
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
    line=any_line(f"{_HEAD}{_PERIOD}{EVENT}", COMMENT, "PERF_RECORD_.*", _STACK),
    usual=any_line(f"{_HEAD}{_PERIOD}{_USUAL}", SURE_COMMENT),
    head=re.compile(_HEAD.encode()),
    declared=re.compile(rb"^[ \t]*# nrcpus avail : (?P<cpus>\d{1,5})[ \t]*$", re.MULTILINE),
    loss=re.compile(
        rf"^(?:{_HEAD.replace('P<cpu>', 'P<loss_cpu>')})?".encode()
        + rb"PERF_RECORD_LOST(?:_SAMPLES)? lost (?P<lost>\d{1,18})[ \t]*$",
        re.MULTILINE,
    ),
    loss_words=(b"PERF_RECORD_LOST",),
)
