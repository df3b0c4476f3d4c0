"""Kernel traces that are text: of perf and ftrace, also in the web pages of Android's systrace.

A :class:`Grammar` describes the lines of one program, :data:`PERF` or :data:`FTRACE`.

Lines of ``perf script`` and ``perf sched script`` are ``comm pid [cpu] time: [period] event: …``,
where pid may be pid/tid. Beside events there are comments, the stack of an event, and records of
perf itself (``--show-lost-events`` and others).

Lines of tracefs, of ``trace-cmd report`` and of systrace are
``comm-pid (tgid) [cpu] flags time: event: …``; tgid and flags may be missing, and the latency
format has ``2d..1.`` for CPU and flags. In the pages of systrace they stand in a
``<script class="trace-data">``, in older pages in a JavaScript string ``linuxPerfData``. The rest
of a page is a viewer, and scripts with other data.

An event has at most three forms: its fields by name (``perf script``, tracefs, ``trace-cmd report
-N`` and ``-R``), the form of trace-cmd's plugin, and the form of kernels before 2.6.34. A comm is
at most 15 bytes of anything, even of text that these patterns look for. The patterns find the right
end of a comm all the same: the text after it is longer than 15 bytes, or must reach the end of the
line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from dfopt.errors import FileError
from dfopt.render import counted
from dfopt.structs import Record, replace
from dfopt.trace.dispatches import trace_of
from dfopt.trace.event_columns import EventColumns, Fields, Row
from dfopt.trace.events import ANY_CPU, KernelEvents, Loss
from dfopt.trace.trace import Trace

Pattern = re.Pattern[bytes]

COMMENT = r"[ \t]*+#.*"
SURE_COMMENT = r"[ \t]*+#(?!.*\d: ).*"
"""A line that is certainly a comment; the line of an event may begin with ``#``, too."""

GONE = -1
"""The number that perf writes for a thread that no longer exists."""

SWITCH = b"sched_switch: "
"""What the line of a switch holds, in each form."""

MOST_UNPARSED = 0.5
"""A text is something else if more than this share of its lines cannot be understood."""

END_OF_LINE = ord("\n")
PIECE = 1 << 17
"""Bytes in a piece: a piece and the rows made of it should fit in the processor's caches."""

LONGEST_LINE = 1 << 26


class Grammar(Record):
    """The form of the lines of one program.

    Parameters
    ----------
    name
        The name of such text in errors.
    remedy
        The command by which a user gets such text.
    hints
        Patterns of lines in other forms, each with the way to get this form instead.
    line
        Matches any single line with its end. Its groups are those of
        :data:`EVENT` and those of the head: ``pid``, ``tgid``,
        ``cpu``, ``flags``. The last group, ``unparsed``, holds a line that is not understood.
    usual
        A faster pattern for events in their usual form. It does not understand all lines that
        ``line`` understands; those that it understands it reads in the same way.
    head
        Matches the beginning of a line with an event.
    declared
        Finds the number of CPUs that the file declares. The group ``cpus`` counts all of them;
        ``online`` counts those in use, which may have higher numbers than that. The groups ``kept``
        and ``written``, if any, are the numbers of events that are still there, and of all events.
    loss
        Finds a line about lost events, with the groups ``loss_cpu`` and ``lost``.
    loss_words
        Every such line holds at least one of these.
    """

    name: str
    remedy: str
    hints: tuple[tuple[Pattern, str], ...]
    line: Pattern
    usual: Pattern
    head: Pattern
    declared: Pattern
    loss: Pattern
    loss_words: tuple[bytes, ...]


def any_line(*forms: str) -> Pattern:
    """Return a pattern for one line with its end: in one of these forms, blank, or unknown.

    Terminals and web pages may have put blanks behind it.
    """
    known = "|".join(forms)
    return re.compile(rf"(?:(?:{known}|)[ \t]*+\n|(?P<unparsed>.*)\n)".encode())


class Piece(Record):
    """Consecutive lines of a text.

    Parameters
    ----------
    first_line
        Number of the first line in the file, counted from 1.
    text
        The lines, each with its end.
    cut
        Whether the file ends within the last line; its end was added.
    """

    first_line: int
    text: bytes
    cut: bool = False


def pieces_of(stream: BinaryIO) -> Iterator[Piece]:
    """Yield a text in pieces of whole lines, of about :data:`PIECE` bytes."""
    line = 1
    while text := stream.read(PIECE):
        text += stream.readline(LONGEST_LINE)
        cut = not text.endswith(b"\n")
        if cut and len(text) >= LONGEST_LINE:
            raise FileError("is longer than any line of a trace", place=f"line {line}")
        yield Piece(first_line=line, text=text + b"\n" if cut else text, cut=cut)
        line += int(np.count_nonzero(np.frombuffer(text, np.uint8) == END_OF_LINE))


def read_kernel_text(pieces: Iterable[Piece], grammar: Grammar, other: Grammar) -> Trace:
    """Return the trace in a text.

    Parameters
    ----------
    pieces
        The text.
    grammar
        The form that its lines must have.
    other
        The form that they must not have. A trace has one clock and one set of threads, so lines of
        another program come from another recording.

    Raises
    ------
    FileError
        When the text is no such trace, or more than one trace.
    """
    reading = _Reading(grammar, other)
    for piece in pieces:
        reading.add(piece)
    return trace_of(reading.events())


@dataclass(slots=True)
class _Unparsed:
    """How many lines could not be understood, and the first of them."""

    count: int = 0
    first: int | None = None
    words: bytes = b""

    def add(self, line: int, words: bytes = b"") -> None:
        if not self.count:
            self.first, self.words = line, words
        self.count += 1


class _Reading:
    def __init__(self, grammar: Grammar, other: Grammar) -> None:
        self._grammar = grammar
        self._other = other
        self._fields = Fields(grammar.line)
        self._usual_fields = Fields(grammar.usual)
        self._usual_tries = 1
        self._columns = EventColumns()
        self._losses: list[Loss] = []
        self._cpus: int | None = None
        self._online: int | None = None
        self._overwritten = 0
        self._lines = 0
        self._blanks = 0
        self._unparsed, self._unparsed_switches = _Unparsed(), _Unparsed()

    def add(self, piece: Piece) -> None:
        text = piece.text
        if b"\r" in text:
            text = text.replace(b"\r\n", b"\n")
        if self._cpus is None and self._online is None and not self._columns.switch_count:
            declared = self._grammar.declared.search(text)
            if declared is not None:
                found = declared.groupdict()
                self._cpus, self._online = _number(found, "cpus"), _number(found, "online")
                self._overwritten = int(found.get("written") or 0) - int(found.get("kept") or 0)
        line, position = piece.first_line, 0
        if any(words in text for words in self._grammar.loss_words):
            for loss in self._grammar.loss.finditer(text):
                before = text[position : loss.start()]
                self._add_lines(before, line)
                self._losses.append(self._loss(loss["loss_cpu"], loss["lost"]))
                self._lines += 1
                line += before.count(b"\n") + 1
                position = loss.end() + 1
        self._add_lines(text[position:], line, cut=piece.cut)

    def _loss(self, cpu: bytes | None, events: bytes | None) -> Loss:
        return Loss(
            cpu=ANY_CPU if cpu is None else int(cpu),
            switches_before=self._columns.switch_count,
            events=int(events or 0),
        )

    def _add_lines(self, text: bytes, first_line: int, *, cut: bool = False) -> None:
        rows, fields = self._found(text)
        self._lines += len(rows)
        last = rows[-1:]
        if cut and (fields.having(last, "fork") or fields.having(last, "mark")):
            # The last word of the line may be incomplete.
            self._unparsed.add(first_line + len(rows) - 1)
            del rows[-1]
        if fields.have(rows, "unparsed"):
            self._blanks += text.count(b"\n\n")
            for line, words in enumerate(fields.words(rows, "unparsed"), first_line):
                if words:
                    self._check_program(words, line)
                    self._unparsed.add(line, words)
                    if SWITCH in words:
                        self._unparsed_switches.add(line, words)
        if fields is self._fields:  # the usual pattern does not match such lines
            previous = fields.words(rows, "previous")
            self._check_threads(fields.words(rows, "pid"), previous, first_line)
        if self._cpus is not None:
            self._check_cpus(fields.words(rows, "cpu"), self._cpus, first_line)
        self._columns.add(rows, fields)

    def _found(self, text: bytes) -> tuple[list[Row], Fields]:
        # The usual pattern is given up once it has failed more often than it has matched.
        if self._usual_tries:
            rows: list[Row] = self._grammar.usual.findall(text)
            if not self._usual_fields.have(rows, "unparsed"):
                self._usual_tries += 1
                return rows, self._usual_fields
            self._usual_tries -= 1
        return self._grammar.line.findall(text), self._fields

    def _check_program(self, text: bytes, line: int) -> None:
        if self._other.head.match(text) and not self._grammar.head.match(text):
            raise FileError(
                f"is {self._other.name}, but what precedes it is {self._grammar.name}; "
                "name a file with one recording only",
                place=f"line {line}",
            )

    @staticmethod
    def _check_threads(running: list[bytes], left: list[bytes], first_line: int) -> None:
        """Refuse a line if its own thread is not the one that its switch leaves.

        Wake-ups and processes are taken from the lines' own threads, so these must be right.
        """
        for line, (thread, previous) in enumerate(zip(running, left, strict=True), first_line):
            if previous and thread != previous and int(thread) not in (int(previous), GONE):
                raise FileError(
                    f"is about thread {int(thread)}, but its sched_switch is from thread "
                    f"{int(previous)}; print tid and not pid alone, and record outside of "
                    "containers",
                    place=f"line {line}",
                )

    @staticmethod
    def _check_cpus(words: Sequence[bytes], cpus: int, first_line: int) -> None:
        beyond = {word for word in set(words) if word and int(word) >= cpus}
        for line, word in enumerate(words, first_line) if beyond else ():
            if word in beyond:
                raise FileError(
                    f"is an event on CPU {int(word)}, but the header declares {cpus} CPUs; "
                    "correct the header",
                    place=f"line {line}",
                )

    def events(self) -> KernelEvents:
        """Return the events that were found.

        Raises
        ------
        FileError
            When most lines, or all switches, could not be understood.
        """
        unparsed, switches = self._unparsed, self._unparsed_switches
        wrong = None
        if switches.count and not self._columns.switch_count:
            unparsed = switches
            wrong = f"{counted(switches.count, 'sched_switch line')}, none of which is"
        elif unparsed.count > MOST_UNPARSED * (self._lines - self._blanks):
            wrong = f"{unparsed.count} lines, out of {self._lines}, that are no"
        if wrong is not None:
            hints = self._grammar.hints
            remedies = (remedy for form, remedy in hints if form.search(unparsed.words))
            raise FileError(
                f"is the first of {wrong} {self._grammar.name}; "
                f"{next(remedies, self._grammar.remedy)}",
                place=f"line {unparsed.first}",
            )
        events = self._columns.events()
        cpus = self._cpus
        if self._online is not None and len(events.switches.cpu):
            cpus = max(self._online, int(events.switches.cpu.max()) + 1)
        return replace(
            events,
            losses=tuple(self._losses),
            cpus=cpus,
            overwritten=max(0, self._overwritten),
            lines=self._lines,
            unparsed=unparsed.count,
            first_unparsed=unparsed.first,
        )


def _number(found: dict[str, bytes | None], name: str) -> int | None:
    digits = found.get(name)
    return None if digits is None else int(digits)


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


_BEGIN = re.compile(
    rb"(?P<script><script\b[^>]*\bclass=\"trace-data\"[^>]*>)|\blinuxPerfData\s*=\s*(?P<quote>[\"'])"
)
_END_OF_SCRIPT = re.compile(rb"</script\s*>")
_END_OF_STRING = {quote: re.compile(rb"(?<!\\)" + quote) for quote in (b'"', b"'")}

_FTRACE = re.compile(
    rb"(?:[ \t\r]*\n)*(?:# tracer|TRACE:|version = |cpus=|%b)" % FTRACE.head.pattern
)
_COMPRESSED = re.compile(rb"\s*(?:TRACE:\s*)?(?:eJ|eNo|eF4|eAE|H4sI)[A-Za-z0-9+/]{20}")
"""The beginnings of zlib and gzip data in base64."""

_ESCAPE = re.compile(rb"\\(.|\n)")
_ESCAPED = {b"n": b"\n", b"t": b"\t", b"r": b"\r"}


def read_systrace(stream: BinaryIO) -> Trace:
    """Return the trace in a web page of systrace.

    Raises
    ------
    FileError
        With line and remedy, when the page holds no text of ftrace.
    """
    return read_ftrace_pieces(_sections(pieces_of(stream)))


def _sections(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Yield the parts of a page that are text of ftrace."""
    found = False
    end: re.Pattern[bytes] | None = None
    wanted: bool | None = None
    for piece in pieces:
        page, position = piece.text, 0
        while position < len(page):
            if end is None:
                begin = _BEGIN.search(page, position)
                if begin is None:
                    break
                position, wanted = begin.end(), None
                end = _END_OF_SCRIPT if begin["script"] else _END_OF_STRING[begin["quote"]]
                continue
            over = end.search(page, position)
            text = page[position : over.start() if over else len(page)]
            line = piece.first_line + page.count(b"\n", 0, position)
            text = _plain(text, escaped=end is not _END_OF_SCRIPT)
            if wanted is None and text.strip():
                wanted = _is_ftrace(text, line)
            if wanted:
                found = True
                yield Piece(first_line=line, text=text, cut=piece.cut and over is None)
            position = over.end() if over else len(page)
            end = None if over else end
    if not found:
        raise FileError(
            "is a web page without the text of ftrace; name a trace that systrace or atrace wrote"
        )


def _plain(text: bytes, *, escaped: bool) -> bytes:
    """Return the text of a section without escapes; its last line has an end."""
    # Some versions escape the ends of lines even outside of strings.
    text = text.replace(b"\\n\\\n", b"\n")
    if escaped:
        text = _ESCAPE.sub(_unescaped, text)
    return text if text.endswith(b"\n") else text + b"\n"


def _unescaped(escape: re.Match[bytes]) -> bytes:
    # Within a string systrace ends a line only at the end of a line of the trace.
    return _ESCAPED.get(escape[1], escape[1])


def _is_ftrace(text: bytes, line: int) -> bool:
    if _COMPRESSED.match(text):
        raise FileError(
            "the trace in this web page is compressed; record it again without compression, "
            "such as by systrace --no-compress",
            place=f"line {line}",
        )
    return _FTRACE.match(text) is not None
