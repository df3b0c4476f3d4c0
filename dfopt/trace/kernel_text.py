"""Kernel traces that are text.

A :class:`Grammar` describes the lines of one program: :data:`dfopt.trace.kernel_lines.PERF` or
:data:`dfopt.trace.kernel_lines.FTRACE`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from dfopt.errors import FileError
from dfopt.render import counted
from dfopt.structs import replace
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
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
        :data:`~dfopt.trace.kernel_lines.EVENT` and those of the head: ``pid``, ``tgid``,
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
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
